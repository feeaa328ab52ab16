"""``driftproof report``: rebuild the page from the ledger."""

from __future__ import annotations

from pathlib import Path

import click

from toolkit.commands._shared import verifiers


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def command(folder: Path) -> None:
    """Rebuild results.json, index.html and the plots of DIR from its ledger."""
    from toolkit.ledger import Ledger

    with Ledger(folder / "ledger.sqlite", create=False) as ledger:
        head, rows = ledger.latest()
    verifiers("rebuild").rebuild(folder, head, rows)
    click.echo(f"page: {folder / 'index.html'}")
