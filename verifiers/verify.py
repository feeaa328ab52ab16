"""Verifies a selection of claims: jobs, workers, ledger, results and page."""

import ast
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from driftproof.toolkit.discover import KINDS, Leaf, leaves, parse, path_from_here
from driftproof.toolkit.draws import BLOCK
from driftproof.toolkit.environment import check_device, environment
from driftproof.toolkit.errors import DriftproofError, unknown_name
from driftproof.toolkit.ledger import Ledger
from driftproof.toolkit.report.files import write_report
from driftproof.toolkit.tolerances import LEVEL
from driftproof.toolkit.verdict import Row
from driftproof.verifiers import baseline
from driftproof.verifiers.claim_types.sources import Source, blaming, claims_in, loaded, users_file
from driftproof.verifiers.in_print.entry import claim_entry, over_draws
from driftproof.verifiers.judges.evidence import Measured
from driftproof.verifiers.judges.inherited import inherit
from driftproof.verifiers.judges.judge import BUDGETS
from driftproof.verifiers.judges.runs import exact
from driftproof.verifiers.running.jobs import jobs_for
from driftproof.verifiers.running.scheduler import Cache, Job, run_jobs

LONG = 3200
"""Steps of 64 runs beside each other of a case, of which a user is told before they are made."""


@dataclass(frozen=True)
class Settings:
    """How to verify.

    Attributes:
        profile: smoke, quick or full.
        seed: of every draw.
        workers: processes.
        device: cpu, or a CUDA device by name.
        siblings: whether false siblings are judged too (``driftproof controls``).
        resume: whether finished units of an earlier run are taken from the ledger.
        prove: whether Coq checks the certificates of classes too, and proofs are printed.
    """

    profile: str = "quick"
    seed: int = 0
    workers: int = 1
    device: str = "cpu"
    siblings: bool = False
    resume: bool = False
    prove: bool = False

    def __post_init__(self) -> None:
        if self.profile not in BUDGETS:
            raise unknown_name("profile", self.profile, BUDGETS)


def select(patterns: Sequence[str], note: Callable[[str], None] = lambda text: None) -> list[Leaf]:
    """Return the claims that names, globs or paths of Python files select (all, if none).

    ``theorem.py::mine/drift`` is one claim of a file, by its name or its function's, and
    ``theorem.py::mine/*`` are several.

    Args:
        note: see ``claims_in``.
    """
    ways = KINDS["claim"].decorators
    chosen: dict[str, Leaf] = {}
    for pattern in patterns or ("*",):
        file, _, within = pattern.partition("::")
        if file.endswith(".py") or (os.path.sep in file and Path(file).exists()):
            matching = {leaf.name: leaf for leaf in claims_in(Path(file), note)}
            if within:
                every = matching
                matching = {
                    name: leaf
                    for name, leaf in every.items()
                    if fnmatchcase(name, within) or leaf.symbol == within
                }
                if every and not matching:
                    raise unknown_name(f"claim of {file}", within, every)
            for name, leaf in matching.items():
                other = chosen.get(name) or leaves("claim", name).get(name)
                if other is not None and other.path.resolve() != leaf.path:
                    raise DriftproofError(
                        f"{file} and {path_from_here(other.path)} both have a claim called "
                        f"{name!r}",
                        "a name of its own for each claim",
                        "rename yours",
                    )
            if not matching:
                raise DriftproofError(
                    f"{file} has no claim",
                    f"a function under one of {', '.join(f'@{way}' for way in ways)}",
                    "driftproof new claim NAME writes one to start from",
                )
        else:
            known = leaves("claim")
            matching = {name: leaf for name, leaf in known.items() if fnmatchcase(name, pattern)}
            if not matching:
                raise unknown_name("claim", pattern, known, or_file=True)
        chosen |= matching
    return list(chosen.values())


def judge(
    sources: Sequence[Source],
    settings: Settings,
    *,
    ledger: Ledger | None = None,
    started: Callable[[int], None] = lambda total: None,
    ended: Callable[[str], None] = lambda claim: None,
    progress: Callable[[str], None] = lambda text: None,
) -> list[Row]:
    """Judge claims and return their rows, with the verdicts on record beside them.

    Args:
        started: called with the number of jobs.
        ended: called with the claim's name when one of its jobs ends.
        progress: told once of a user's claim that takes many long runs, before they are made.
    """
    check_device(settings.device)
    jobs: list[Job] = []
    owner: list[str] = []
    for source in sources:
        claim = loaded(source)
        of_claim = jobs_for(
            source,
            claim,
            profile=settings.profile,
            seed=settings.seed,
            device=settings.device,
            siblings=settings.siblings,
        )
        if not of_claim:
            raise DriftproofError(
                f"claim {claim.name} has nothing to judge it by",
                "cases with left(view), or prove, or compare",
                "add cases = grid(…) and def left(view)",
            )
        jobs += of_claim
        owner += [claim.name] * len(of_claim)
    started(len(jobs))
    cache = Cache(ledger, resume=settings.resume)
    workers = max(1, min(settings.workers, len(jobs)))
    told = set[str]()

    def each(task: Any, result: Any) -> None:
        steps, name = int(task.effort), task.claim.name
        if task.path is None or task.do is not exact or name in told:
            return
        sampled = Measured.unpack(result[0]).kind != "exact"
        if sampled and steps * BUDGETS[settings.profile] >= LONG:
            told.add(name)
            progress(
                f"{name}: up to {BUDGETS[settings.profile]} blocks of {BLOCK} runs for each case, "
                f"of {steps:,} steps; for a first look take fewer rounds, or --profile smoke"
            )

    grouped = run_jobs(
        jobs, cache, workers=workers, done=lambda number: ended(owner[number]), each=each
    )
    return baseline.expected(inherit([row for rows in grouped for row in rows]))


def verify(
    chosen: Sequence[Source],
    settings: Settings,
    out: Path,
    *,
    failed: Mapping[str, DriftproofError] | None = None,
    started: Callable[[int], None] = lambda total: None,
    ended: Callable[[str], None] = lambda claim: None,
    progress: Callable[[str], None] = lambda text: None,
    about: Mapping[str, Any] | None = None,
) -> tuple[dict[str, Any], list[Row]]:
    """Verify claims and write ``results.json``, ``index.html`` and tables to a folder.

    Args:
        failed: why other claims, which the page names too, could not be judged.
        about: what else the ledger is to know of the run.
    """
    head = header(chosen, settings)  # a claim that does not load leaves no folder behind
    head |= about or {}
    if failed:
        head["failed"] = {name: str(error) for name, error in failed.items()}
    with Ledger(out / "ledger.sqlite") as ledger:
        rows = judge(
            chosen, settings, ledger=ledger, started=started, ended=ended, progress=progress
        )
        if settings.prove:
            from driftproof.verifiers.worst_case.machine_checked import machine_checked
            from driftproof.verifiers.worst_case.on_paper.printed import with_proofs

            rows = [*map(with_proofs, machine_checked(rows, settings.workers, progress))]
        head["union_bound"] = union_bound(rows)
        for source in chosen:
            of_claim = (row for row in rows if row.claim == source.name)
            if said := over_draws(source, of_claim):
                head["claims"][source.name]["over_draws"] = said
        ledger.finish(head, [row.stored() for row in rows])
        write_report(out, head, rows, plots=False)
    return head, rows


def union_bound(rows: Sequence[Row]) -> float:
    """Return the probability, at most, that chance made any of these verdicts wrong."""
    return LEVEL * sum(row.alpha is not None for row in rows)


def header(chosen: Sequence[Source], settings: Settings) -> dict[str, Any]:
    """Return what describes a run as a whole."""
    return {
        "schema": 1,
        "profile": settings.profile,
        "seed": settings.seed,
        "union_bound": None,
        "selection": [
            source.name if (file := users_file(source)) is None else f"{file.name} ({source.name})"
            for source in chosen
        ],
        "claims": {source.name: claim_entry(source) for source in chosen},
        "problems": _problems(chosen),
        "environment": environment(settings.device, settings.workers),
    }


def _problems(chosen: Sequence[Source]) -> dict[str, Any]:
    """Return the statement and the formulas of every problem that the claims run on."""
    known, problems = leaves("problem"), {}
    for source in chosen:
        with blaming(source):
            names = {case.problem.leaf_name for case in loaded(source).cases_for("full")}
        for name in names & set(known):
            about = ast.get_docstring(parse(known[name].path)) or ""
            problems[name] = {"statement": known[name].metadata["statement"], "about": about}
    return problems
