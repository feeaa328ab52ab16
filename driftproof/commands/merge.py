"""``driftproof merge``: one ledger of the ledgers of separate runs."""

from __future__ import annotations

from pathlib import Path

import click

from driftproof.commands import _shared as shared


@click.command()
@click.argument(
    "folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), required=True,
    help="Folder of the new ledger.",
)  # fmt: skip
def command(folders: tuple[Path, ...], out: Path) -> None:
    """Merge the ledgers of runs that were made apart, on several machines, say.

    The commands that wrote them go on with --resume --out OUT, and compute nothing that any of
    them has. A unit that two ledgers have with other bits is an error. The folders stay as they
    are.
    """
    from verifiers.merging import merge

    merged = merge(folders, out)
    shared.tell(
        f"{out}: {merged.units:,} units, of {' + '.join(f'{n:,}' for n in merged.of)} in "
        f"{len(folders)} ledgers ({merged.shared:,} in more than one)"
    )
    shared.tell(f"The commands that wrote them go on with --resume --out {out}.")
