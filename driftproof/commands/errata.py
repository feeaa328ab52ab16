"""``driftproof errata``: statements that do not hold as printed."""

from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click

from driftproof.commands import _shared as shared


@click.command()
@click.argument("select", nargs=-1, shell_complete=shared.names_of("claim"))
@shared.as_json
@click.pass_context
def command(ctx: click.Context, select: tuple[str, ...], as_json: bool) -> None:
    """List the statements that do not hold as printed, by severity, with what holds instead.

    SELECT is a name or a glob of claims (all, if there is none), or a Python file of your own,
    whose claims are judged.
    """
    from driftproof.verifiers import baseline

    own = [word for word in select if word.endswith(".py")]
    names = [word for word in select if word not in own]
    _check(names)
    entries = _of_files(own, quiet=ctx.obj["quiet"]) if own else []
    entries += [
        entry
        for entry in baseline.errata()
        if not select or any(fnmatchcase(entry["claim"], name) for name in names)
    ]
    if as_json:
        shared.print_json(entries)
        return
    lines: list[tuple[str, ...]] = []
    for e in entries:
        form = ", ".join(["corrected", e["restricted"]] if e["restricted"] else ["corrected"])
        instead = [f"{form}: {e['corrected']}"] if e["corrected"] else []
        instead += [f"read as: {reading}" for reading in e["holds"] if reading]
        severity = e["severity"] or "refuted, no erratum="
        severity += f" (counted at {e['same_as']})" if e["same_as"] else ""
        severity += " (rests on one character)" if e["one_character"] else ""
        lines.append((e["claim"], severity, e["changes"] or "–", "; ".join(instead) or "–"))
    if lines:
        shared.table(["claim", "severity", "what it changes", "what holds"], lines)
    else:
        shared.tell("Nothing here is known to be false as printed.")


def _check(names: list[str]) -> None:
    from driftproof.toolkit.discover import leaves
    from driftproof.toolkit.errors import unknown_name

    for name in names:
        if not any(fnmatchcase(claim, name) for claim in leaves("claim")):
            raise unknown_name("claim", name, leaves("claim"))


def _of_files(files: list[str], *, quiet: bool) -> list[dict[str, Any]]:
    """Judge the claims of files, into the folder that ``driftproof verify`` takes for them."""
    from driftproof.verifiers import verify as judging
    from driftproof.verifiers.in_print.errata import of_run

    chosen = judging.select(files, shared.note)
    out = shared.folder(None, "-".join(Path(file).stem for file in files))
    return of_run(*shared.verified(chosen, judging.Settings(resume=True), out, quiet=quiet))
