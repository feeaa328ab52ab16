"""``driftproof plot``: one figure for a paper, its data beside it."""

from pathlib import Path
from typing import Any

import click

from driftproof.commands._shared import names_of


@click.command()
@click.argument("claim", shell_complete=names_of("claim", "experiment"))
@click.option("--case", type=int, help="The number of the one case to judge, from 1 on.")
@click.option("--form", metavar="GLOB", help="The form to draw, as show names it.")
@click.option(
    "--x", help="Below the plot: rounds, or a letter that varies over the cases (T, tau, eta)."
)
@click.option("--figure", default="", help="What ends the plot's name, where there are several.")
@click.option("--profile", type=click.Choice(["smoke", "quick", "full"]), help="How many cases.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="svg, pdf, pgf or png.")
@click.option(
    "--no-title", is_flag=True, help="Leave title and remarks to the paper: they are printed."
)
def command(claim: str, figure: str, out: Path, no_title: bool, **options: Any) -> int:
    """Judge CLAIM, and write one of its plots to a file, its data as CSV beside it.

    CLAIM may be an experiment; --figure names one of its panels then. Matplotlib's own
    settings apply: what a style sheet has may stand in a matplotlibrc. Of a certificate or a
    counterexample, a JSON file, the functions are drawn, with the iterates on them.
    """
    from driftproof.verifiers.plotted import drawn, write

    made = drawn(claim, figure, **{k: v for k, v in options.items() if v is not None})
    said = [*[made[0]] * no_title, *(text.get_text() for text in made[1].texts)]
    data = write(made, out, title=not no_title)
    click.echo("\n".join([f"plot: {out}", f"data: {data}", *said]))
    return 0
