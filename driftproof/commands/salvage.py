"""``driftproof salvage``: what is whole in a ledger that is damaged."""

from __future__ import annotations

from pathlib import Path

import click

from driftproof.commands import _shared as shared


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), required=True,
    help="Folder of the new ledger.",
)  # fmt: skip
def command(folder: Path, out: Path) -> None:
    """Take all that is whole in the damaged ledger of DIR to a new one.

    The command that wrote it goes on with --resume --out OUT, and computes what is missing. If the
    last finished run is whole, driftproof report OUT makes its page. DIR stays as it is.
    """
    from toolkit.salvage import salvage

    found = salvage(folder / "ledger.sqlite", out / "ledger.sqlite")
    run = "the last finished run that is whole" if found.head else "no finished run"
    shared.tell(f"{out}: {len(found.units):,} units and {run}, each as it was written")
    if found.damaged:
        shared.tell(f"{found.damaged:,} units are damaged, and left out.")
    if found.unknown:
        shared.tell(
            f"{found.unknown:,} units are of an older driftproof, which kept no digest to check "
            "them by, and left out."
        )
    shared.tell(f"The command that wrote {folder} goes on with --resume --out {out}.")
