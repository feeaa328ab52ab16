"""Puts on record what searches met of each bound; of two ratios the larger one stays.

A climb may overrate what it sampled, so a case is measured again with draws of its own, and a
violation is judged again. What is on record already is measured with the code of today, too.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from driftproof.toolkit.cases import Case
from driftproof.toolkit.draws import TooManyAtoms
from driftproof.toolkit.federation import run_exactly
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers import searched
from driftproof.verifiers.claim_types.bound import BoundClaim
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.running.jobs import Source, blaming, loaded, users_file
from driftproof.verifiers.running.scheduler import Cache, Result, Task, run_jobs
from driftproof.verifiers.search.finding import CONFIRMED, NOTHING, Finding
from driftproof.verifiers.search.generic import ENOUGH, in_total_expectation
from driftproof.verifiers.search.score import ATOMS, OUTSIDE, score
from driftproof.verifiers.search.shrink import shrunk
from driftproof.verifiers.search.units import FEW_ATTEMPTS, judged
from driftproof.verifiers.searched import FOUND, Searched

FRESH = 2**32
"""Added to a search's seed, it gives the draws with which its cases are measured."""
GIVEN_AWAY = 0.01
"""Of what a ratio has left to 1, how much may be lost to a simpler case."""
SIMPLIFYING = 20.0
"""Seconds that may go into making one case simple, about."""
Job = Generator[Sequence[Task], list[Result], Searched | None]


@dataclass(frozen=True)
class Remeasured:
    """Both sides of a form on a case that a search met, measured anew.

    Attributes:
        claim: the claim, or the leaf it can be loaded from in another process.
        form: which form, by position.
        entry: what is known of the case.
        simple: whether its case is made simple before.
    """

    claim: Source
    form: int
    entry: Searched
    simple: bool = False

    @property
    def path(self) -> Path | None:
        """The user's file that the claim is in, if it is one."""
        return users_file(self.claim)

    @property
    def name(self) -> str:
        """Everything but the code that the result depends on."""
        entry = json.dumps(asdict(self.entry), sort_keys=True)
        return f"{type(self).__name__}\0{self.claim.name}\0{self.form}\0{entry}\0{self.simple}"

    def work(self) -> bytes:
        """Return the entry with what its case gives today, as JSON (null: ``measured``)."""
        with blaming(self.claim):
            claim, entry = loaded(self.claim), self.entry
            form = claim.forms[self.form]
            today = measured(claim, form, _simplified(claim, form, entry) if self.simple else entry)
            return json.dumps(None if today is None else asdict(today)).encode()


def record(
    sources: Sequence[Source],
    findings: Sequence[Finding],
    seed: int,
    *,
    workers: int = 1,
    started: Callable[[int], None] = lambda total: None,
    ended: Callable[[str], None] = lambda claim: None,
) -> list[tuple[str, str]]:
    """Put the tightest cases of bounds on record, and return the claims and forms that changed.

    Of other statements, of false siblings, and of what no judge confirmed, nothing is recorded.
    What is on record of forms that a searched claim has no longer is dropped.

    Args:
        sources: the claims that were searched.
        findings: of all their forms.
        seed: of the search.
        started: called with the number of forms to measure.
        ended: called with the claim's name when one of its forms is measured.
    """
    recorded = searched.read()
    jobs, keys = list[Job](), list[tuple[str, str]]()
    by_key = {(f.claim, f.form): f for f in findings}
    for source in sources:
        claim = loaded(source)
        of_claim = recorded.pop(claim.name, {})
        for number, form in enumerate(claim.forms):
            new, old = by_key.get((claim.name, form.key)), of_claim.get(form.key)
            if claim.kind == "bound" and form.form != "sibling" and (new or old):
                jobs.append(_better(source, number, _entry(new, seed), old))
                keys.append((claim.name, form.key))
    started(len(jobs))
    better: list[Searched | None] = run_jobs(
        jobs, Cache(None, resume=False), workers=max(1, min(workers, len(jobs))),
        done=lambda number: ended(keys[number][0]),
    )  # fmt: skip
    before, changed = searched.read(), []
    for (name, key), entry in zip(keys, better, strict=True):
        if entry is not None:
            recorded.setdefault(name, {})[key] = entry
        if before.get(name, {}).get(key) != entry:
            changed.append((name, key))
    searched.write(recorded)
    return changed


def _entry(finding: Finding | None, seed: int) -> Searched | None:
    """Return what a finding says of a case (None: nothing that can be recorded)."""
    if finding is None or finding.status not in (NOTHING, *FOUND) or not finding.case:
        return None
    return Searched(
        finding.ratio, finding.status, False, finding.case, round(finding.seconds, 1),
        finding.evaluations, seed,
    )  # fmt: skip


def _better(source: Source, form: int, new: Searched | None, old: Searched | None) -> Job:
    """Measure what is new and what is on record, and return the one that stays."""
    wanted = [Remeasured(source, form, entry, entry is new) for entry in (old, new) if entry]
    results = yield wanted
    entries = [Searched(**entry) for blob, _ in results if (entry := json.loads(blob))]
    return max(entries, key=_rank, default=None)  # of equal ones the first: what is on record


def _rank(entry: Searched) -> tuple[bool, float, bool]:
    """Return what makes an entry better: a mean over samples may exceed 1 by chance alone."""
    ratio = 1.0 if entry.ratio is None else min(entry.ratio, 1.0)
    return entry.found, round(ratio, 6), not entry.sampled


def measured(claim: Claim[Any], form: Form, entry: Searched) -> Searched | None:
    """Return an entry with what its case gives today (None: no case, no violation, left is 0)."""
    case = searched.remade(entry.case)
    ratio = OUTSIDE if case is None else score(claim, form, case, entry.seed + FRESH)
    if case is None or ratio <= 0:
        return None
    sampled = _has_to_be_sampled(claim, form, case)
    if not entry.found and (sampled or ratio < ENOUGH):
        return replace(entry, ratio=ratio, sampled=sampled)
    row = judged(claim, form, case, entry.seed + FRESH)
    if row.verdict is not Verdict.REFUTED:
        return None
    status = entry.status if entry.found else CONFIRMED
    return replace(entry, ratio=row.ratio, sampled=sampled, status=status)


def _has_to_be_sampled(claim: Claim[Any], form: Form, case: Case) -> bool:
    if not isinstance(claim, BoundClaim):
        return False
    left = in_total_expectation(form.left or claim.left)
    try:
        run_exactly(case.problem, case.algorithm, rounds=case.rounds, left=left, limit=ATOMS)
    except TooManyAtoms:
        return True
    return False


def _simplified(claim: Claim[Any], form: Form, entry: Searched) -> Searched:
    """Return an entry with a case as simple as is as tight, but for a little."""
    case, began = searched.remade(entry.case), time.process_time()
    ratio = OUTSIDE if case is None else score(claim, form, case, entry.seed)
    if case is None or entry.found or not 0 < ratio < ENOUGH:
        return entry
    attempts = min(FEW_ATTEMPTS, int(SIMPLIFYING / max(time.process_time() - began, 1e-9)))
    least = ratio - GIVEN_AWAY * ratio * max(0.0, 1.0 - ratio)

    def is_tight(tried: Case) -> bool:
        return least <= score(claim, form, tried, entry.seed) < ENOUGH

    return replace(entry, case=_brief(shrunk(case, is_tight, attempts)))


def _brief(case: Case) -> dict[str, Any]:
    """Return a case's parameters that are not their defaults, as ``remade`` takes them."""
    parts: Mapping[str, Any] = {"problem": case.problem, "algorithm": case.algorithm}
    brief: dict[str, Any] = {
        name: {"name": part.leaf_name, **part.changed()} for name, part in parts.items() if part
    }
    return brief | ({"rounds": case.rounds} if case.rounds else {})
