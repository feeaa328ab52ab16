"""``driftproof controls``: are false relatives of the claims refused?"""

import click

from driftproof.commands import _shared as shared


@click.command()
@click.argument("select", nargs=-1, shell_complete=shared.names_of("claim"))
@shared.seed
@shared.workers
@shared.cluster
@shared.as_json
@click.pass_context
def command(
    ctx: click.Context,
    select: tuple[str, ...],
    seed: int,
    workers: int,
    cluster: str | None,
    as_json: bool,
) -> int:
    """Judge false siblings: each must be refused, and no true claim."""
    with (
        shared.working_on(cluster, workers) as workers,
        shared.progress("controls", quiet=ctx.obj["quiet"]) as (started, ended, _),
    ):
        from driftproof.verifiers import verify as judging
        from driftproof.verifiers.controls import checked

        settings = judging.Settings(seed=seed, workers=workers, siblings=True)
        chosen = judging.select(select)
        checks = checked(judging.judge(chosen, settings, started=started, ended=ended))
    if as_json:
        shared.print_json([vars(one) for one in checks])
    else:
        shared.table(
            ["claim", "control", "verdict", "as it must be"],
            [(c.claim, c.control, c.verdict, c.answer) for c in checks],
        )
        for one in checks:
            if not one.recorded:
                shared.tell(f"{one.claim}, {one.control}: {_unrecorded(one.claim)}")
    return 0 if all(one.good for one in checks) else 1


def _unrecorded(claim: str) -> str:
    """Say what to do about a form that is refuted and has no verdict on record."""
    from driftproof.toolkit.discover import leaves

    if claim in leaves("claim"):
        next_step = f"driftproof verify {claim} --record puts that on record"
    else:
        next_step = "say what is wrong with it (erratum=…) and what holds instead (corrected=…)"
    return (
        "it is refuted, and no verdict on it is on record. If you think that it is true, look at "
        f"the case that refutes it (driftproof verify). If it is false, {next_step}."
    )
