"""One of the processes that torchrun starts: ``torchrun … -m driftproof.toolkit.wire FILE``."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from driftproof.toolkit.cases import Case
from driftproof.toolkit.discover import import_path
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.wire.failure import ServerLost, WireFailure
from driftproof.toolkit.wire.results import Record, Traffic

FAREWELL = 3
"""Seconds that a process which is told to end still has: another one may be about to say why."""
HEARING = 2
"""Seconds for the server to say why it ends."""
EXAMPLE = "torchrun --nproc-per-node 4 -m driftproof.toolkit.wire FILE"


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--replicates", type=click.IntRange(1), default=1, show_default=True)
@click.option("--patience", type=float, default=60.0, show_default=True, help="Seconds.")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="JSON of counts and iterates.")
def command(
    file: Path, seed: int, replicates: int, patience: float, device: str, out: Path | None
) -> int:
    """Run the Case called ``case`` in FILE over the processes that torchrun started.

    Clients are spread over the processes evenly; rank 0 is the server and writes --out. Draws are
    keyed by (seed, case.key): sampled_context(case.problem, (str(seed), case.key)) is the batched
    run with the same noise. Exit status 0, or 2 if a client failed.
    """
    from driftproof.toolkit.wire.member import Task, join, take_part

    rank, world = _placed()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # torchrun passes it on as SIGTERM
    signal.signal(signal.SIGTERM, lambda *unused: signal.alarm(FAREWELL))
    record = Record()
    case = _case(file)
    assert case.algorithm is not None
    assert case.rounds
    names = str(seed), case.key
    task = Task(
        case.problem, case.algorithm, names, case.rounds, replicates,
        patience=patience, device=device,
    )  # fmt: skip
    join(device, one_machine=os.environ.get("LOCAL_WORLD_SIZE") == str(world))
    failure, whole = None, False
    try:
        take_part(task, rank, world, record.hear)
        whole = True
    except WireFailure as error:
        failure = error
        _known_to_all(say=True)
    except ServerLost as lost:
        # on each machine one of those who wait says so, unless the server could still speak
        first = rank == 1 or os.environ.get("LOCAL_RANK") == "0"
        if not _known_to_all(say=False) and first:
            failure = WireFailure(
                "stalled" if lost.late else "ended", (0,), lost.number, "the server is beside it"
            )
    if rank == 0:
        _write(out, case, seed, replicates, world, record, failure)
    if failure is not None:
        raise failure
    return 0 if whole else 2


def _placed() -> tuple[int, int]:
    """Return this process's rank and how many there are."""
    try:
        return int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    except (KeyError, ValueError) as error:
        raise DriftproofError(
            "no RANK and WORLD_SIZE in the environment",
            "a process that torchrun started",
            f"{EXAMPLE}; docs/cluster.md has it for many machines",
        ) from error


def _case(file: Path) -> Case:
    """Return the case of a user's file."""
    case = getattr(import_path(file), "case", None)
    if not isinstance(case, Case) or case.algorithm is None:
        raise DriftproofError(
            f"case = {case!r} in {file}",
            "a Case with a problem, an algorithm and rounds",
            "write case = Case(BoundedComposition(clients=4), ComFedL(), rounds=20)",
        )
    return case


def _known_to_all(*, say: bool) -> bool:
    """Say in the processes' common store that the failure is told, or return whether it is.

    The store is on the server's machine, and asking it has no end while the link is down.
    """
    from torch.distributed import distributed_c10d

    known = threading.Event()

    def ask() -> None:
        with suppress(RuntimeError):  # the store went with the machine that had it
            store = distributed_c10d._get_default_store()
            if say:
                store.set("driftproof/told", "yes")
            while not store.check(["driftproof/told"]):
                time.sleep(0.1)
            known.set()

    threading.Thread(target=ask, daemon=True).start()
    return known.wait(HEARING)


def _write(
    out: Path | None,
    case: Case,
    seed: int,
    replicates: int,
    world: int,
    record: Record,
    failure: WireFailure | None,
) -> None:
    """Print one line, and write what was done to a file."""
    run = record.so_far()
    counts = {f.name: getattr(run, f.name) for f in fields(Traffic)}
    if failure is None:
        click.echo(f"{case}: " + ", ".join(f"{name} {value}" for name, value in counts.items()))
    if out is None:
        return
    details: dict[str, Any] | None = None
    if failure is not None:
        details = {
            "what": failure.what, "clients": failure.clients, "round": failure.number,
            "got": failure.got, "wanted": failure.wanted, "remedy": failure.remedy,
        }  # fmt: skip
    head = {
        "schema": 1, "what": "wire", **case.parameters(), "seed": seed, "replicates": replicates,
        "processes": world, "traffic": counts, "failure": details,
        "iterates": run.iterates.tolist(),
        "state": {name: x.tolist() for name, x in run.state.items()},
    }  # fmt: skip
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(head), encoding="utf-8")


def main() -> None:
    """Run the command, and leave at once: other processes may be gone already."""
    status = 2
    try:
        status = command.main(prog_name="driftproof.toolkit.wire", standalone_mode=False) or 0
    except DriftproofError as error:
        status = error.exit_code
        if isinstance(error, WireFailure) or os.environ.get("RANK", "0") == "0":
            outcome = (
                f"driftproof: {error.got}\n    wanted: {error.wanted}\n    remedy: {error.remedy}"
            )
            click.echo(outcome, err=True)
    except click.ClickException as error:
        error.show()
    except OSError as error:
        click.echo(f"driftproof: {error}", err=True)
    sys.stdout.flush()
    os._exit(status)


if __name__ == "__main__":
    main()
