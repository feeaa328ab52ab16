"""``driftproof errata``: statements that do not hold as printed."""

from __future__ import annotations

import click

from driftproof.commands import _shared as shared


@click.command()
@shared.as_json
def command(as_json: bool) -> None:
    """List the statements that do not hold as printed, by severity, with what holds instead."""
    from driftproof.verifiers.errata import errata

    entries = errata()
    if as_json:
        shared.print_json(entries)
        return
    lines: list[tuple[str, ...]] = []
    for e in entries:
        form = ", ".join(["corrected", e["restricted"]] if e["restricted"] else ["corrected"])
        instead = [f"{form}: {e['corrected']}"] if e["corrected"] else []
        instead += [f"read as: {reading}" for reading in e["holds"] if reading]
        severity = e["severity"] + (f" (counted at {e['same_as']})" if e["same_as"] else "")
        severity += " (rests on one character)" if e["one_character"] else ""
        lines.append((e["claim"], severity, e["changes"], "; ".join(instead) or "–"))
    shared.table(["claim", "severity", "what it changes", "what holds"], lines)
