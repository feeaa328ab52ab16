"""``driftproof conform``: an implementation beside the printed algorithm."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from driftproof.commands import _shared as shared
from driftproof.toolkit.discover import find, import_path, leaves
from driftproof.toolkit.errors import DriftproofError, unknown_name

if TYPE_CHECKING:
    from driftproof.toolkit.algorithm import Algorithm


@click.command()
@click.argument("implementation", metavar="FILE::FUNCTION")
@click.argument("algorithm", shell_complete=shared.names_of("algorithm"))
@click.option("--instances", type=click.IntRange(1), default=100, show_default=True)
@shared.seed
def command(implementation: str, algorithm: str, instances: int, seed: int) -> int:
    """Run an implementation beside an algorithm, and name the first iterate that differs.

    FUNCTION takes (state, clients, cohort) and returns the state after a round; it may be a class
    with step, or with fit and aggregate (docs/conform.md). ALGORITHM is a name, scaffold say, whose
    parameters are drawn if FUNCTION asks for them; or with parameters, "scaffold(local_steps=3)".

    Exit status 0 if no difference was found, 1 if one was, 2 if the two cannot be compared.
    """
    from driftproof.verifiers.conform.conforming import first_departure

    told = first_departure(_function(implementation), _algorithm(algorithm), instances, seed)
    click.echo(told or f"{implementation}: no difference from {algorithm} in {instances} instances")
    return 1 if told else 0


def _function(named: str) -> Any:
    file, _, name = named.partition("::")
    module = import_path(Path(file).resolve())
    if not hasattr(module, name):
        own = [
            word for word, x in vars(module).items()
            if getattr(x, "__module__", "") == module.__name__
        ]  # fmt: skip
        raise unknown_name(f"function of {file}", name, own)
    return getattr(module, name)


def _algorithm(text: str) -> Algorithm | type[Algorithm]:
    """Return the class of a name or a user's file; a member, if parameters stand after it."""
    name, bracket, given = text.partition("(")
    known = {leaf.symbol: leaf.name for leaf in leaves("algorithm").values()}
    cls: type[Algorithm] = find("algorithm", known.get(name, name)).load()
    if not bracket:
        return cls
    try:
        call: Any = ast.parse(f"_({given}", mode="eval").body
        words = {word.arg: ast.literal_eval(word.value) for word in call.keywords}
        return cls(*map(ast.literal_eval, call.args), **words)
    except (SyntaxError, ValueError, TypeError, AttributeError) as error:
        raise DriftproofError(
            f"{text}: {error}", f"{cls.leaf_name}(parameter=value, …)",
            f"driftproof show {cls.leaf_name} lists its parameters",
        ) from error  # fmt: skip
