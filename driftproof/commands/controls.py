"""``driftproof controls``: are false relatives of the claims refused?"""

from __future__ import annotations

import click

from driftproof.commands import _shared as shared


@click.command()
@click.argument("select", nargs=-1)
@shared.seed
@shared.workers
@shared.as_json
@click.pass_context
def command(
    ctx: click.Context, select: tuple[str, ...], seed: int, workers: int, as_json: bool
) -> int:
    """Judge false siblings and broken algorithms: each must be refused, and no true claim."""
    from verifiers.controls import check

    with shared.progress("controls", quiet=ctx.obj["quiet"]) as (started, ended):
        checks = check(select, seed=seed, workers=workers, started=started, ended=ended)
    if as_json:
        shared.print_json([vars(checked) for checked in checks])
    else:
        shared.table(
            ["claim", "control", "verdict", "as it must be"],
            [(c.claim, c.control, c.verdict, "yes" if c.good else "NO") for c in checks],
        )
    return 0 if all(checked.good for checked in checks) else 1
