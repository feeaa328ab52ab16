"""Broken algorithms judged: every breakage, by one claim of a paper after the other."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from toolkit.cases import Case
from toolkit.discover import Leaf, leaves
from toolkit.errors import DriftproofError
from toolkit.verdict import Verdict
from verifiers import record
from verifiers.broken import BREAKAGES, broken, told_apart
from verifiers.claim_types.bound import BoundClaim
from verifiers.claim_types.claim import Claim
from verifiers.claim_types.comparison import ComparisonClaim
from verifiers.running.jobs import blaming
from verifiers.running.scheduler import Result, Units, run_jobs
from verifiers.verify import Settings, judge

CASES = {"identity": 2, "bound": 24, "existence": 4}
"""Cases of a claim on which a broken algorithm is judged: the cheapest that tell it apart."""
ORDER = tuple(CASES)
"""The kinds of claims that judge a broken algorithm: an identity sees most, and is cheap.

A count says nothing of what an algorithm comes to, and a rate takes long.
"""
AnyClaim = Claim[Any]


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
    """

    paper: str
    algorithm: str
    breakage: str
    cases: int
    refused: str
    tried: int
    expected: bool


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
        """Return on how many cases the algorithm differs, and which form is refuted, as JSON."""
        with blaming(self.leaf):
            claim = self.leaf.load()
            return json.dumps(tried(claim, self.algorithm, self.breakage, self.seed)).encode()


def tried(claim: AnyClaim, algorithm: str, breakage: str, seed: int = 0) -> tuple[int, str]:
    """Judge a broken algorithm by a claim.

    Args:
        claim: that may have cases of several algorithms.
        algorithm: the name of the algorithm's leaf.

    Returns:
        On how many cases it was judged, those that tell it from the whole one, and the key of a
        form that is supported there and refuted of the broken one ("": none).
    """
    of_it = {k: case for k, case in enumerate(claim.cases_for("quick")) if _runs(case, algorithm)}
    cases = [of_it[k] for k in islice(told_apart(of_it, breakage), CASES[claim.kind])]
    if not cases:
        return 0, ""
    plain = replace(claim, full=(), prove=None, false_siblings=())
    settings = Settings(seed=seed)
    recorded = record.read().get(claim.name)
    if recorded is None:
        rows = judge([replace(plain, cases=cases)], settings)
        recorded = {}
        for row in rows:
            recorded.setdefault(row.form_key, {})[row.case["key"]] = row.verdict
    others = [replace(case, algorithm=broken(case.algorithm, breakage)) for case in cases]
    whole = {other.key: case.key for other, case in zip(others, cases, strict=True)}
    with suppress(DriftproofError, ArithmeticError, RuntimeError, ValueError):  # it may not run
        for row in judge([replace(plain, cases=others)], settings):
            known = recorded.get(row.form_key, {}).get(whole.get(str(row.case["key"]), ""))
            if row.verdict is Verdict.REFUTED and known == Verdict.SUPPORTED:
                return len(cases), row.form_key
    return len(cases), ""


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
    units = Units(None, resume=False)
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
    cases = count = 0
    identities = False
    for leaf in able:
        ((blob, _),) = yield [_Trial(leaf, algorithm, breakage, seed)]
        told, form = json.loads(blob)
        cases, count = cases + told, count + bool(told)
        identities = identities or bool(told and leaf.load().kind == "identity")
        if form:
            refused = f"{leaf.name}, {form}"
            return Breakage(paper, algorithm, breakage, cases, refused, count, identities)
    return Breakage(paper, algorithm, breakage, cases, "", count, identities)
