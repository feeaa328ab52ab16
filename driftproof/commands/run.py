"""``driftproof run``: repeat an experiment of a paper."""

import os
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from driftproof.commands import _shared as shared
from driftproof.toolkit.discover import find
from driftproof.toolkit.errors import DriftproofError


@click.command()
@click.argument("experiment", shell_complete=shared.names_of("experiment"))
@click.option(
    "--profile", type=click.Choice(["smoke", "quick", "paper"]), default="quick", show_default=True
)
@click.option(
    "--engine",
    type=click.Choice(["batched", "wire"]),
    default="batched",
    show_default=True,
    help="wire: one process a client, which send each other messages; a run at a time, unless "
    "--workers is given.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="Folder of the full data set; a CSV, ARFF or libsvm file; or FILE.py::FOLDER, read by the "
    "data set of your file.",
)
@click.option("--label", default="", help="Of a CSV or ARFF file the column of the classes.")
@click.option(
    "--device",
    default="cpu",
    show_default=True,
    help="cpu, or cuda: where networks are trained; other experiments stay on the CPU.",
)
@shared.out
@shared.seed
@shared.workers
@shared.cluster
@shared.resume
@shared.as_json
@click.pass_context
def command(
    ctx: click.Context,
    experiment: str,
    profile: str,
    engine: str,
    data: Path | None,
    label: str,
    device: str,
    out: Path | None,
    seed: int,
    workers: int,
    cluster: str | None,
    resume: bool,
    as_json: bool,
) -> int:
    """Run EXPERIMENT and judge the paper's sentences about it.

    Exit status 0 if it ran, whatever became of the sentences; 2 bad input, or a client
    failed on the wire; 3 a data set is missing. Finished runs stay in the ledger: --resume goes on.
    """
    from driftproof.toolkit.dataset import named, read
    from driftproof.toolkit.environment import check_device
    from driftproof.verifiers.claim_types.sources import blaming
    from driftproof.verifiers.experiment import Plan, run_experiment

    if engine == "wire" and cluster is not None:
        raise DriftproofError(
            "--engine wire with --cluster: a run's clients are processes of one machine",
            "one of the two",
            "leave out --cluster",
        )
    if engine == "wire" and ctx.get_parameter_source("workers") is not ParameterSource.COMMANDLINE:
        workers = 1  # a run's clients keep the cores busy, and the first that fails ends all
    leaf = find("experiment", experiment)
    out = shared.folder(out, leaf.name)
    if data is not None:
        file, what = named(data)
        what = os.path.realpath(what) if file.suffix == ".py" else label or what
        data = Path("::".join(filter(None, (os.path.realpath(file), what))))
        read(data)  # a bad folder is refused before anything is run
    check_device(device)
    with (
        shared.working_on(cluster, workers) as workers,
        shared.progress("run", quiet=ctx.obj["quiet"]) as (started, ended, _),
        blaming(leaf),
    ):
        plan = Plan(
            profile=profile,
            seed=seed,
            data=data,
            engine=engine,
            workers=workers,
            device=device,
            resume=resume,
        )
        head = run_experiment(
            leaf.load(), plan, out, typed=leaf.typed, started=started, ended=ended
        )
    if as_json:
        shared.print_json({key: value for key, value in head.items() if key != "panels"})
    else:
        summary(head, out)
    return 0


def summary(head: dict[str, Any], out: Path) -> None:
    """Print what a reader wants first."""
    for line in head["setting"][:1]:
        click.echo(line)
    shared.table(
        ["sentence", "setting", "verdict", "why"],
        [(s["text"], s["setting"], s["verdict"], s["why"]) for s in head["sentences"]],
        title=f"{head['experiment']} ({head['source']})",
    )
    for finding in head["findings"]:
        click.echo(f"finding: {finding}")
    click.echo(head["memory"])
    click.echo(f"page: {out / 'index.html'}")
