"""Runs the command on mutated inputs of every kind, and counts what goes wrong.

``python -m tests.benchmarks.fuzz --inputs 100000 --seed 0`` prints the table of
docs/reliability.md. What goes wrong is kept in ``--keep``, a file each; ``--only claim:17`` runs
one input again and shows what it told. An input is drawn from (seed, kind, number) alone.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests import fuzzing
from tests.fuzzing import KINDS, Corpus, Input, Outcome, attempts, make

BATCH = {"claim": 1, "ledger": 10}
"""Inputs of a child process; of a claim's file, whose code runs there, one."""
MANY = 50
SHARES = {"options": 10, "claim": 4, "data": 33, "ledger": 3, "certificate": 30, "results": 20}
"""Of a hundred inputs."""


def main() -> int:
    """Run the inputs, and print a line for each kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--each", type=int, help="so many of each kind instead")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number to begin with")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "fuzz-kept")
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--minutes", type=float, default=1e9, help="end after so many")
    parser.add_argument("--only", metavar="KIND:NUMBER")
    chosen = parser.parse_args()
    base = Path("/dev/shm") if Path("/dev/shm").is_dir() else None
    folder = Path(tempfile.mkdtemp(prefix="fuzz-", dir=base))
    try:
        corpus = Corpus(chosen.corpus or folder / "corpus")
        warm()
        if chosen.only:
            kind, _, number = chosen.only.partition(":")
            one = drawn(kind, int(number), chosen.seed, corpus)
            print(one.words)
            (outcome,) = attempts([one], folder / "run")
            print(outcome.told, outcome, sep="\n")
            return bool(outcome.wrong)
        return run(chosen, corpus, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def warm() -> None:
    """Import what the command will import; a child has it at hand when it asks for it."""
    from tests.warm import withhold
    from toolkit.discover import KINDS as LEAVES
    from toolkit.discover import leaves

    fuzzing._commands()
    for kind in LEAVES:
        leaves(kind)
    withhold()


def drawn(kind: str, number: int, seed: int, corpus: Corpus) -> Input:
    """Return an input by its number."""
    return make(kind, random.Random(f"{seed}/{kind}/{number}"), corpus)


def run(chosen: argparse.Namespace, corpus: Corpus, folder: Path) -> int:
    """Run every input, on some processes, and print what became of them."""
    kinds = chosen.kinds.split(",")
    whole = sum(SHARES[kind] for kind in kinds)
    counts = {k: chosen.each or chosen.inputs * SHARES[k] // whole for k in kinds}
    children = []
    for worker in range(chosen.workers):
        child = os.fork()
        if child == 0:
            file = folder / f"tally-{worker}.json"
            try:
                tally(chosen, counts, corpus, folder / f"run-{worker}", worker, file)
            except BaseException:  # noqa: BLE001 - a defect of the harness
                traceback.print_exc()
            finally:
                os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    parts = [json.loads((folder / f"tally-{w}.json").read_text()) for w in range(chosen.workers)]
    print_table(kinds, parts)
    return 1 if any(part["wrong"] for part in parts) else 0


def tally(
    chosen: argparse.Namespace,
    counts: dict[str, int],
    corpus: Corpus,
    folder: Path,
    worker: int,
    file: Path,
) -> None:
    """Run this worker's share of the inputs, and write what became of them."""
    began = time.monotonic()
    told: dict[str, dict[str, float]] = {
        kind: {"inputs": 0, "seconds": 0.0, "slowest": 0.0, "memory": 0} for kind in counts
    }
    statuses, wrong = Counter[str](), Counter[str]()
    for kind, numbers in batches(counts, chosen.first, worker, chosen.workers):
        if time.monotonic() - began > 60 * chosen.minutes:
            break
        start = time.monotonic()
        inputs = [drawn(kind, number, chosen.seed, corpus) for number in numbers]
        outcomes = attempts(inputs, folder)
        about = told[kind]
        about["inputs"] += len(numbers)
        about["seconds"] += time.monotonic() - start
        for number, one, outcome in zip(numbers, inputs, outcomes, strict=True):
            about["slowest"] = max(about["slowest"], outcome.seconds)
            about["memory"] = max(about["memory"], outcome.memory)
            statuses[f"{kind} {'long' if outcome.long else outcome.status}"] += 1
            if outcome.wrong:
                wrong[f"{kind} {outcome.wrong}"] += 1
                keep(chosen, kind, number, one, outcome)
        file.write_text(json.dumps({"told": told, "statuses": statuses, "wrong": wrong}))
        (chosen.keep / f"so-far-{worker}.json").parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, chosen.keep / f"so-far-{worker}.json")


def batches(
    counts: dict[str, int], first: int, worker: int, workers: int
) -> Iterator[tuple[str, list[int]]]:
    """Yield kinds in turns, with the numbers of some inputs, each kind as often as its share."""
    left = {
        kind: [first + n for n in range(count) if n % workers == worker]
        for kind, count in counts.items()
    }
    total = {kind: max(1, len(numbers)) for kind, numbers in left.items()}
    while any(left.values()):
        kind = max(left, key=lambda k: len(left[k]) / total[k])
        size = BATCH.get(kind, MANY)
        yield kind, left[kind][:size]
        left[kind] = left[kind][size:]


def keep(chosen: argparse.Namespace, kind: str, number: int, one: Input, outcome: Outcome) -> None:
    """Write an input that went wrong, and what was told, to a folder of its own."""
    place = chosen.keep / f"{kind}-{chosen.seed}-{number}"
    shutil.rmtree(place, ignore_errors=True)
    (place / "here").mkdir(parents=True)
    one.made(place / "here")
    head = f"{outcome.wrong}\nstatus {outcome.status}, {outcome.seconds:.1f} s, "
    head += f"{outcome.memory / 2**20:.0f} MiB\n{list(one.words)!r}\n{outcome.written}\n\n"
    (place / "told").write_text(head + outcome.told, encoding="utf-8", errors="replace")
    print(f"{kind}:{number} {outcome.wrong} {outcome.told.strip()[-150:]!r}", flush=True)


def print_table(kinds: list[str], parts: list[dict[str, dict[str, dict[str, float]]]]) -> None:
    """Print a line for each kind."""
    print("| kind | inputs | exit 0 | 1 | 2 | 3 | went wrong | ms each | slowest, s | MiB |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    total: Counter[str] = Counter()
    for kind in kinds:
        of = [part["told"][kind] for part in parts]
        inputs = int(sum(p["inputs"] for p in of))
        status = [
            int(sum(part["statuses"].get(f"{kind} {s}", 0) for part in parts)) for s in range(4)
        ]
        bad = int(
            sum(n for part in parts for k, n in part["wrong"].items() if k.startswith(f"{kind} "))
        )
        each = 1000 * sum(p["seconds"] for p in of) / max(1, inputs)
        slowest, memory = max(p["slowest"] for p in of), max(p["memory"] for p in of) / 2**20
        total.update(inputs=inputs, bad=bad)
        cells = [kind, f"{inputs:,}", *map(str, status), str(bad), f"{each:.0f}",
                 f"{slowest:.1f}", f"{memory:.0f}"]  # fmt: skip
        print(f"| {' | '.join(cells)} |")
    print(f"{total['inputs']:,} inputs, {total['bad']} went wrong")


if __name__ == "__main__":
    sys.exit(main())
