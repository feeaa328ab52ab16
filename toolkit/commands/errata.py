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
    lines: list[tuple[str, ...]] = []
    for e in found:
        reading = e["form"].removeprefix("printed").removeprefix(": ")
        instead = [f"corrected: {e['corrected']}"] if e["corrected"] != "none" else []
        instead += [f"read as: {other}" for other in e["supported_readings"]]
        finding = "as above" if lines and lines[-1][0] == e["claim"] else e["finding"]
        lines.append((e["claim"], e["verdict"], reading, finding, "; ".join(instead) or "–"))
    shared.table(["claim", "as printed", "reading", "finding", "what holds"], lines)
