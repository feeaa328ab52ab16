"""``driftproof conform``: an implementation beside the printed algorithm."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from driftproof.commands import _shared as shared
from driftproof.toolkit.discover import find, import_path, leaves, typed
from driftproof.toolkit.errors import DriftproofError, unknown_name
from driftproof.toolkit.parameters import constraints

if TYPE_CHECKING:
    from driftproof.toolkit.algorithm import Algorithm


@click.command()
@click.argument("implementation", metavar="FILE::FUNCTION")
@click.argument("algorithm", shell_complete=shared.names_of("algorithm"))
@click.option("--instances", type=click.IntRange(1), default=100, show_default=True)
@click.option(
    "--rounds",
    type=click.IntRange(1),
    default=8,
    show_default=True,
    help="Rounds of an instance, at most; a later difference is not found.",
)
@shared.seed
@shared.as_json
def command(
    implementation: str, algorithm: str, instances: int, rounds: int, seed: int, as_json: bool
) -> int:
    """Run an implementation beside an algorithm, and name the first iterate that differs.

    FUNCTION takes (state, clients, cohort) and returns the state after a round; it may be a class
    with step, or with fit and aggregate (docs/conform.md). ALGORITHM is a name, scaffold say, or a
    file of your own, FILE or FILE::CLASS. Its parameters are drawn if FUNCTION asks for them, but
    for those that are given: "scaffold(local_steps=3)".

    Exit status 0 if no difference was found, 1 if one was, 2 if the two cannot be compared.
    """
    from driftproof.verifiers.conform.conforming import first_departure

    of, given = _algorithm(algorithm)
    code = _function(implementation)
    told, agreed = first_departure(code, of, instances, seed, given, rounds)
    if as_json:
        asked = {"implementation": implementation, "algorithm": algorithm, "seed": seed}
        asked |= {"instances": instances, "rounds": rounds}
        head = {"schema": 1, "command": "conform", **asked}
        shared.print_json(head | {"conforms": not told, "said": (told or agreed).splitlines()})
    else:
        click.echo(told or f"{implementation}: {agreed}")
    return 1 if told else 0


def _function(named: str) -> Any:
    file, _, name = named.partition("::")
    module = import_path(Path(file).resolve())
    if not hasattr(module, name):
        own = [
            word
            for word, x in vars(module).items()
            if getattr(x, "__module__", "") == module.__name__
        ]
        raise unknown_name(f"function of {file}", name, own)
    return getattr(module, name)


def _algorithm(text: str) -> tuple[type[Algorithm], dict[str, Any]]:
    """Return the class of a name or a user's file, and the parameters that stand after it."""
    name, bracket, given = text.partition("(")
    known = {leaf.symbol: leaf.name for leaf in leaves("algorithm").values()}
    cls: type[Algorithm] = find("algorithm", known.get(name, name)).load()
    if not bracket:
        return cls, {}
    try:
        call: Any = ast.parse(f"_({given}", mode="eval").body
        words = {str(word.arg): _value(cls, word, f"_({given}") for word in call.keywords}
        cls(*map(ast.literal_eval, call.args), **words)
        return cls, words
    except (SyntaxError, ValueError, TypeError, AttributeError) as error:
        why = "" if isinstance(error, ValueError) else f": {error}"  # ast's word for no literal
        raise DriftproofError(
            f"{text}{why}",
            f"{typed(cls)}(parameter=value, …)",
            f"driftproof show {typed(cls)} lists its parameters",
        ) from error


def _value(cls: type[Algorithm], given: ast.keyword, text: str) -> Any:
    """Return a literal; of a parameter that is one of some words, the text where it is none."""
    try:
        return ast.literal_eval(given.value)
    except ValueError:
        limits = constraints(cls).get(str(given.arg))
        if limits is None or not any(isinstance(word, str) for word in limits.choices):
            raise
        return ast.get_source_segment(text, given.value)
