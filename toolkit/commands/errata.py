"""``driftproof errata``: statements that are not true as printed."""

from __future__ import annotations

import click

from toolkit.commands import _shared as shared


@click.command()
@shared.as_json
def command(as_json: bool) -> None:
    """List statements refuted as printed, or whose hypothesis no instance meets, on record."""
    found = shared.verifiers("errata").errata()
    if as_json:
        shared.print_json(found)
        return
    shared.table(
        ["claim", "as printed", "finding", "corrected"],
        [(e["claim"], e["verdict"], e["finding"], e["corrected"]) for e in found],
    )
