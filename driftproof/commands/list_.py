"""``driftproof list``: what there is."""

import click

from driftproof.commands._shared import as_json, print_json, table
from driftproof.commands.show import ALL_ROLES, print_roles
from driftproof.toolkit.discover import KINDS, Leaf, kind_named, leaves


@click.command("list")
@click.argument("kind", required=False)
@as_json
def command(kind: str | None, as_json: bool) -> None:
    """List everything there is, or one KIND of it.

    KIND is claims, problems, algorithms, datasets, networks, splits, experiments, kernels or
    cases. It may be roles: what the letters of the papers stand for.
    """
    if kind in ALL_ROLES:
        print_roles(as_json)
        return
    kinds = [kind_named(kind)] if kind else list(KINDS.values())
    if as_json:
        print_json(
            [
                {
                    "kind": leaf.kind,
                    "name": leaf.name,
                    "source": _source(leaf) or None,
                    "statement": leaf.metadata.get("statement"),
                    "summary": leaf.summary,
                }
                for each in kinds
                for leaf in leaves(each.name).values()
            ]
        )
        return
    for each in kinds:
        named = leaves(each.name).values()
        table(
            [each.plural, "what", "source"],
            [(leaf.name, leaf.summary, _source(leaf)) for leaf in named],
        )


def _source(leaf: Leaf) -> str:
    """Return where a leaf is from: a paper, the algorithms that a kernel runs, a case's kernel."""
    metadata = leaf.metadata
    source = metadata.get("source") or metadata.get("algorithm") or metadata.get("kernel") or ""
    return source if isinstance(source, str) else ", ".join(source)
