"""Broken algorithms judged: every breakage, by one claim of a paper after the other."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any

from driftproof.toolkit.cases import Case
from driftproof.toolkit.discover import Leaf, leaves
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.groups import number
from driftproof.toolkit.verdict import Row, Verdict
from driftproof.verifiers import record
from driftproof.verifiers.broken import BIASED, BREAKAGES, COHORT, SIGN, broken, told_apart
from driftproof.verifiers.claim_types.bound import BoundClaim
from driftproof.verifiers.claim_types.claim import Claim
from driftproof.verifiers.claim_types.comparison import ComparisonClaim
from driftproof.verifiers.running.jobs import blaming
from driftproof.verifiers.running.scheduler import Cache, Result, run_jobs
from driftproof.verifiers.verify import Settings, judge

CASES = {"identity": 2, "bound": 24, "existence": 4}
"""Cases of a claim on which a broken algorithm is judged: the cheapest that tell it apart."""
ORDER = tuple(CASES)
"""The kinds of claims that judge a broken algorithm: an identity sees most, and is cheap.

A count says nothing of what an algorithm comes to, and a rate takes long.
"""
EVERY_SAMPLE = (
    "the statements hold for every sample, or assume that there is no noise: so they hold for "
    "biased samples too"
)
UNSPOKEN = {
    ("fedihgp", COHORT): "the statement is on the mean of p_{N'}, and the mean over cohorts that "
    "are drawn anew for each term is that of all clients",
    ("fedinn", BIASED): EVERY_SAMPLE,
    ("fedinn", COHORT): "the statements on drift hold for every cohort, so for all clients too; "
    "the others assume that all take part",
    ("fedout", BIASED): EVERY_SAMPLE,
    ("fedout", SIGN): "the statements bound how far clients drift, and their proofs use |α| "
    "alone: steps of the wrong sign drift no further than they allow",
}
"""Of an algorithm and a breakage: why no statement of driftproof's claims can notice it."""
AnyClaim = Claim[Any]


@dataclass(frozen=True)
class Judgement:
    """What a claim says of a broken algorithm.

    Attributes:
        cases: on how many it was judged, those that tell it from the whole one.
        refused: the key of a form that is supported there and refuted of the broken one ("": none).
        open: on how many rows nothing was established.
        ratio, own: if it was not refused, the largest left / right that was met, of the broken and
            of the whole algorithm (None: none was).
    """

    cases: int
    refused: str = ""
    open: int = 0
    ratio: float | None = None
    own: float | None = None


@dataclass(frozen=True)
class Breakage:
    """A broken algorithm and what became of it.

    Attributes:
        paper, algorithm: the claims of which paper, the name of which algorithm.
        breakage: what it does wrongly.
        cases: on how many of the cases that were looked at it differs.
        refused: the claim and form that was refuted ("": none was).
        tried: how many claims judged it.
        expected: whether one has to refuse it: an identity was tried, which compares the algorithm
            with a transcription. Bounds alone need not notice.
        reason: why none refused it.
    """

    paper: str
    algorithm: str
    breakage: str
    cases: int
    refused: str
    tried: int
    expected: bool
    reason: str = ""


@dataclass(frozen=True)
class _Trial:
    """A unit of work: one claim judges one broken algorithm.

    Attributes:
        leaf: the claim.
        algorithm: the name of the algorithm's leaf.
    """

    leaf: Leaf
    algorithm: str
    breakage: str
    seed: int

    @property
    def path(self) -> Path | None:
        """The user's file that the claim is in, if it is one."""
        return self.leaf.path if self.leaf.module is None else None

    @property
    def name(self) -> str:
        """Everything but the code that the result depends on."""
        parts = ("broken", self.leaf.name, self.algorithm, self.breakage, str(self.seed))
        return "\0".join(parts)

    def work(self) -> bytes:
        """Return the ``Judgement`` as JSON."""
        with blaming(self.leaf):
            claim = self.leaf.load()
            judgement = tried(claim, self.algorithm, self.breakage, self.seed)
            return json.dumps(asdict(judgement)).encode()


def tried(claim: AnyClaim, algorithm: str, breakage: str, seed: int = 0) -> Judgement:
    """Judge a broken algorithm by a claim.

    Args:
        claim: that may have cases of several algorithms.
        algorithm: the name of the algorithm's leaf.
    """
    of_it = {k: case for k, case in enumerate(claim.cases_for("quick")) if _runs(case, algorithm)}
    cases = [of_it[k] for k in islice(told_apart(of_it, breakage), CASES[claim.kind])]
    if not cases:
        return Judgement(0)
    plain = replace(claim, full=(), prove=None, false_siblings=())
    settings = Settings(seed=seed)
    recorded, whole_rows = record.read().get(claim.name), list[Row]()
    if recorded is None:
        whole_rows = judge([replace(plain, cases=cases)], settings)
        recorded = {}
        for row in whole_rows:
            recorded.setdefault(row.form_key, {})[row.case["key"]] = row.verdict
    others = [replace(case, algorithm=broken(case.algorithm, breakage)) for case in cases]
    whole = {other.key: case.key for other, case in zip(others, cases, strict=True)}
    rows = list[Row]()
    with suppress(DriftproofError, ArithmeticError, RuntimeError, ValueError):  # it may not run
        rows = judge([replace(plain, cases=others)], settings)
    supported = []
    for row in rows:
        known = recorded.get(row.form_key, {}).get(whole.get(str(row.case["key"]), ""))
        if known == Verdict.SUPPORTED:
            if row.verdict is Verdict.REFUTED:
                return Judgement(len(cases), row.form_key)
            supported.append(row)
    whole_rows = whole_rows or judge([replace(plain, cases=cases)], settings)
    forms = {row.form_key for row in supported}
    own = [row for row in whole_rows if row.form_key in forms and row.verdict is Verdict.SUPPORTED]
    undecided = sum(row.verdict is Verdict.INCONCLUSIVE for row in supported)
    return Judgement(len(cases), "", undecided, largest(supported), largest(own))


def largest(rows: Sequence[Row]) -> float | None:
    """Return the largest left / right of some rows (None: none has one)."""
    ratios = [row.ratio for row in rows if row.ratio is not None and isfinite(row.ratio)]
    return max(ratios, default=None)


def _runs(case: Case, algorithm: str) -> bool:
    return case.algorithm is not None and case.algorithm.leaf_name == algorithm


def broken_judged(chosen: Sequence[Leaf], *, seed: int, workers: int) -> list[Breakage]:
    """Judge every breakage of the algorithms of some claims by the claims of their papers."""
    papers = {leaf.name.partition("/")[0] for leaf in chosen if leaf.module is not None}
    known = {leaf.name: leaf for leaf in leaves("claim").values()} | {x.name: x for x in chosen}
    selected = {leaf.name for leaf in chosen}
    able: dict[tuple[str, str], list[tuple[tuple[int, float], Leaf]]] = {}
    wanted: set[tuple[str, str]] = set()
    for leaf in known.values():
        paper = leaf.name.partition("/")[0]
        if paper not in papers and leaf.name not in selected:
            continue
        with blaming(leaf):
            claim = leaf.load()
        if not _judges_runs(claim):
            continue
        for name, effort in _efforts(claim).items():
            order = (ORDER.index(claim.kind), effort)
            able.setdefault((paper, name), []).append((order, leaf))
            if leaf.name in selected:
                wanted.add((paper, name))
    jobs = []
    for paper, name in sorted(wanted):
        in_order = [leaf for _, leaf in sorted(able[paper, name], key=_first)]
        jobs += [_breakage(paper, name, breakage, in_order, seed) for breakage in BREAKAGES]
    if not jobs:
        return []
    units = Cache(None, resume=False)
    found: list[Breakage] = run_jobs(jobs, units, workers=max(1, min(workers, len(jobs))))
    return found


def _first(pair: tuple[tuple[int, float], Leaf]) -> tuple[tuple[int, float], str]:
    return pair[0], pair[1].name


def _judges_runs(claim: AnyClaim) -> bool:
    """Whether a claim says something of what an algorithm comes to on a case."""
    return isinstance(claim, BoundClaim | ComparisonClaim) and claim.kind in ORDER


def _efforts(claim: AnyClaim) -> dict[str, float]:
    """Return the algorithms of a claim's cases, with the steps of the shortest run of each."""
    efforts: dict[str, float] = {}
    for case in claim.cases_for("quick"):
        if case.algorithm is not None:
            steps = float(case.rounds * case.algorithm.local_steps)
            name = case.algorithm.leaf_name
            efforts[name] = min(steps, efforts.get(name, steps))
    return efforts


def _breakage(
    paper: str, algorithm: str, breakage: str, able: Sequence[Leaf], seed: int
) -> Generator[list[_Trial], list[Result], Breakage]:
    """Ask one claim after the other, until one refuses the broken algorithm."""
    judged: list[Judgement] = []
    identities = False
    for leaf in able:
        ((blob, _),) = yield [_Trial(leaf, algorithm, breakage, seed)]
        last = Judgement(**json.loads(blob))
        if last.cases:
            judged.append(last)
            identities = identities or leaf.load().kind == "identity"
        if last.refused:
            break
    refused = f"{leaf.name}, {last.refused}" if last.refused else ""
    return Breakage(
        paper, algorithm, breakage, sum(j.cases for j in judged), refused, len(judged), identities,
        "" if refused or not judged else _why(algorithm, breakage, judged),
    )  # fmt: skip


def _why(algorithm: str, breakage: str, judged: Sequence[Judgement]) -> str:
    """Say why a broken algorithm went unnoticed."""
    ratio, own = (
        max((x for x in (getattr(j, name) for j in judged) if x is not None), default=None)
        for name in ("ratio", "own")
    )
    undecided = sum(j.open for j in judged)
    met = compared(f"{undecided} rows" if undecided else "", ratio, own, "the whole algorithm")
    return "; ".join(filter(None, (met, UNSPOKEN.get((algorithm, breakage), ""))))


def compared(undecided: str, ratio: float | None, own: float | None, whose: str) -> str:
    """Say what judging something came to that was not refused.

    Args:
        undecided: on how much of it nothing was established ("": on all of it something was).
        ratio: the largest left / right that was met (None: none was).
        own: that of ``whose``, which it is compared with.

    >>> compared("", 0.9, 1.0, "the claim itself")
    'left / right is at most 0.9 (of the claim itself 1)'
    """
    said = [f"undecided on {undecided}"] if undecided else []
    if ratio is not None:
        beside = f" (of {whose} {number(own)})" if own is not None else ""
        said.append(f"left / right is at most {number(ratio)}{beside}")
    return ", ".join(said) or "nothing was compared"
