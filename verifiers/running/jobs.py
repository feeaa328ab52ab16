"""Jobs: what it takes to judge a claim, as generators that ask for tasks.

A job yields lists of tasks, is sent what they gave, and returns its rows. It computes nothing that
takes long itself, so any number of jobs share one pool of workers, and what a job decides
depends only on the tasks' results, in their order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeGuard

from driftproof.toolkit.cases import Case
from driftproof.toolkit.discover import Leaf
from driftproof.toolkit.draws import BLOCK
from driftproof.toolkit.errors import DriftproofError, UndecidableError
from driftproof.toolkit.located import telling_the_file
from driftproof.toolkit.readings import ByProof, Undecided
from driftproof.toolkit.verdict import Row, Verdict, row_from
from driftproof.verifiers.claim_types.bound import BoundClaim
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.claim_types.comparison import ComparisonClaim
from driftproof.verifiers.claim_types.limit import LimitClaim
from driftproof.verifiers.claim_types.rate import RateClaim
from driftproof.verifiers.judges import (
    assumed,
    bounds,
    comparisons,
    curves,
    declared,
    enclosed,
    followed,
    proofs,
    rates,
    slope,
)
from driftproof.verifiers.judges.decide import undecided
from driftproof.verifiers.judges.evidence import Measured, joined
from driftproof.verifiers.judges.rows import case_entry, row_of
from driftproof.verifiers.running.scheduler import Result

Source = Claim[Any] | Leaf
Job = Generator[list["ClaimTask"], list[Result], list[Row]]

BUDGETS = {"smoke": 4, "quick": 16, "full": 256}
"""The most blocks of 64 replicates that a case may take."""


@dataclass(frozen=True)
class ClaimTask:
    """One task of judging a claim.

    Attributes:
        claim: the claim, or the leaf it can be loaded from in another process.
        kind: "exact", "block", "shadowed block", "proof", "schedule", "known" (an exact left
            side), "compare", "attack" (of a problem's declared constants), "enclosed" (balls),
            "class" (the worst case over a class of functions), or "limit" (a potential or a cycle).
        tier, number: which case of the claim, by profile and position ("known": the horizon).
        form: which form, by position.
        upto: of "enclosed", the comparison that doubles refute, and how many there are.
        case: the case's key (part of the task's name).
        siblings: of "class", whether negative controls are compared with the worst case too.
        effort: the steps of its run: longer ones are started first.
    """

    claim: Source
    kind: str
    tier: str = "full"
    number: int = 0
    case: str = ""
    form: int = 0
    seed: int = 0
    block: int = 0
    upto: tuple[int, int] | None = None
    device: str = "cpu"
    siblings: bool = False
    effort: float = 0.0

    @property
    def path(self) -> Path | None:
        """The user's file that the claim is in, if it is one."""
        return users_file(self.claim)

    @property
    def name(self) -> str:
        """Everything but the code that the task's result depends on."""
        parts = (
            # what a problem declares is checked once, whichever claims rest on it
            "" if self.kind == "attack" else self.claim.name,
            self.kind,
            self.case,
            self.form,
            self.seed,
            self.block,
            *(self.upto or ()),
            self.device,
            *["siblings"] * self.siblings,
        )
        return "\0".join(map(str, parts))

    def work(self) -> bytes:
        """Do the task."""
        claim = loaded(self.claim)
        with blaming(self.claim):
            try:
                return self._result(claim)
            except UndecidableError as error:  # the case costs its row, and no other
                return self._unjudged(claim, error)

    def _unjudged(self, claim: Claim[Any], error: UndecidableError) -> bytes:
        """Return what stands for a result that cannot be had."""
        if self.kind == "class":
            return json.dumps({"undecidable": error.told}).encode()
        if isinstance(claim, BoundClaim) and self.kind in ("exact", "block", "shadowed block"):
            return Measured(error.told).pack()
        if self.kind not in ("limit", "compare", "enclosed"):
            raise error
        cases = claim.classes if isinstance(claim, LimitClaim) else claim.cases_for(self.tier)
        form, case = claim.forms[self.form], case_entry(cases[self.number])
        return pack_rows([row_of(claim, form, case, undecided(), None, error.told)])

    def _result(self, claim: Claim[Any]) -> bytes:
        form = claim.forms[self.form]
        if self.kind == "proof":
            return pack_rows([proofs.judge(claim, form, _steps_of(claim, form))])
        if self.kind == "class":
            from driftproof.verifiers.judges import theorems, worst_cases

            assert isinstance(claim, BoundClaim)
            forms = [claim.forms[k] for k in _sharing(claim, self.siblings)[self.form]]
            case = claim.classes[self.number]
            judge = theorems if theorems.has_letters(case) else worst_cases
            return worst_cases.pack(judge.measure(claim, case, forms))
        if isinstance(claim, LimitClaim):
            from driftproof.verifiers.judges import limits

            case = claim.classes[self.number]
            return pack_rows([limits.judge(claim, case, form)])
        if self.kind == "attack":
            return json.dumps(declared.look(claim.cases_for(self.tier)[self.number])).encode()
        if isinstance(claim, RateClaim) and self.kind == "known":
            return json.dumps(rates.known(claim, self.number)).encode()
        if isinstance(claim, RateClaim) and self.kind == "schedule":
            notation = claim.notation(claim.cases_for(self.tier)[0])
            return pack_rows([rates.judge_schedule(claim, form, form.right, notation)])
        case = claim.cases_for(self.tier)[self.number]
        if isinstance(claim, ComparisonClaim):
            applies = bounds.unmet(claim, case, form) is None
            compared = claim.compared(case, form.right) if applies else []
            row = comparisons.judge(claim, case, form, compared)
            return pack_rows([assumed.noted(claim, case, form, bounds.roles_of(case), row)])
        if isinstance(claim, BoundClaim) and self.kind == "enclosed":
            return pack_rows([enclosed.judge(claim, case, form, upto=self.upto)])
        assert isinstance(claim, BoundClaim | RateClaim)
        if self.kind == "exact":
            return bounds.measure_exactly(claim, case, self.device, self.form).pack()
        return bounds.measure_block(
            claim,
            case,
            self.seed,
            self.block,
            self.device,
            self.form,
            shadowed=self.kind == "shadowed block",
        ).pack()


@contextmanager
def blaming(source: Source) -> Iterator[None]:
    """Put what a user's own file raises in terms of that file, and note of which claim it is."""
    try:
        with telling_the_file(users_file(source)):
            yield
    except DriftproofError as error:
        error.claim = source.name
        raise


def _guarded(job: Job, source: Source) -> Job:
    with blaming(source):
        return (yield from job)


def loaded(source: Source) -> Claim[Any]:
    """Return a claim, wherever it comes from."""
    claim: Claim[Any] = source.load() if isinstance(source, Leaf) else source
    return claim


def users_file(source: Source) -> Path | None:
    """Return the user's own file that a claim is in, if it is in one."""
    return source.path if _is_users(source) else None


def _is_users(source: Source) -> TypeGuard[Leaf]:
    return isinstance(source, Leaf) and source.module is None


def jobs_for(
    source: Source, claim: Claim[Any], *, profile: str, seed: int, device: str, siblings: bool
) -> list[Job]:
    """Return the jobs that judge a claim's forms (with or instead of its false siblings)."""
    budget = BUDGETS[profile]
    wanted = _judged(claim, siblings)
    jobs: list[Job] = [
        _undecided(claim, claim.forms[k])
        for k in wanted
        if isinstance(claim.forms[k].right, Undecided)
    ]
    base = ClaimTask(source, "", tier=profile, seed=seed, device=device)
    jobs += [
        _rows_of(replace(base, kind="proof", form=k))
        for k in wanted
        if isinstance(claim.forms[k].right, ByProof)
    ]
    wanted = [k for k in wanted if not isinstance(claim.forms[k].right, Undecided | ByProof)]
    cases = claim.cases_for(profile)
    if claim.prove is not None:
        jobs += [_rows_of(replace(base, kind="proof", form=k)) for k in wanted]
    if isinstance(claim, RateClaim):
        jobs.append(_rate_where_believed(claim, base, profile, wanted))
    elif isinstance(claim, ComparisonClaim):
        for number, case in enumerate(cases):
            at = replace(base, kind="compare", number=number, case=case.key)
            for k in wanted:
                job = partial(_compared, replace(at, form=k))
                jobs.append(_where_believed(claim, [at], [claim.forms[k]], job))
    elif isinstance(claim, LimitClaim):
        for number, case in enumerate(claim.classes_for(profile)):
            at = replace(base, kind="limit", number=number, case=case.key)
            jobs += [_rows_of(replace(at, form=k)) for k in wanted]
    elif isinstance(claim, BoundClaim):
        for lead, numbers in _by_left(claim, wanted).items():
            forms = [claim.forms[k] for k in numbers]
            for number, case in enumerate(cases):
                at = replace(base, number=number, case=case.key, form=lead, effort=_steps(case))
                job = partial(_bound, claim, case, at=at, budget=budget)
                jobs.append(_where_believed(claim, [at], forms, job))
            for number, case in enumerate(claim.classes_for(profile)):
                at = replace(
                    base, kind="class", number=number, case=case.key, form=lead, siblings=siblings
                )
                jobs.append(_over_class(claim, case, forms, at))
    return [_guarded(job, source) for job in jobs]


def _steps_of(claim: Claim[Any], form: Form) -> Sequence[Any]:
    """Return the steps that decide a form by algebra: its own, or the claim's."""
    if isinstance(form.right, ByProof):
        return form.right.steps()
    assert claim.prove is not None
    return claim.prove(form.right)


def _undecided(claim: Claim[Any], form: Form) -> Job:
    """Say what is known of a reading that nothing decides, and what would decide it."""
    yield []
    case = {"key": "open", "label": "for all choices"}
    return [row_of(claim, form, case, undecided(), None, str(form.right))]


def _where_believed(
    claim: Claim[Any],
    at: Sequence[ClaimTask],
    forms: Sequence[Form],
    judge: Callable[[Sequence[Form]], Job],
) -> Job:
    """Judge forms on cases; those that are a user's own are checked and attacked before."""
    units = [(item, claim.cases_for(item.tier)[item.number]) for item in at]
    units = [(item, case) for item, case in units if declared.to_check(case)]
    if not units:
        return (yield from judge(forms))
    wanted = [
        replace(item, kind="attack", case=declared.key_of(case), form=0, seed=0, device="cpu")
        for item, case in units
    ]
    cases = [case for _, case in units]
    return (yield from declared.believing(claim, cases, forms, wanted, judge))


def _compared(item: ClaimTask, forms: Sequence[Form]) -> Job:
    """Judge the one form of a comparison."""
    return (yield from _rows_of(item))


def _rate_where_believed(
    claim: RateClaim, base: ClaimTask, profile: str, wanted: Sequence[int]
) -> Job:
    """Judge a rate; of several horizons of one problem, the first is looked at."""
    horizons = enumerate(_horizons(claim, profile))
    first = {declared.key_of(case): number for number, case in reversed(list(horizons))}
    tier = "quick" if profile == "smoke" else profile
    at = [replace(base, tier=tier, number=number) for number in sorted(first.values())]

    def judge(forms: Sequence[Form]) -> Job:
        kept = [k for k in wanted if any(claim.forms[k] is form for form in forms)]
        return _rate(claim, base, profile, kept)

    return (yield from _where_believed(claim, at, [claim.forms[k] for k in wanted], judge))


def _by_left(claim: BoundClaim, wanted: Sequence[int]) -> dict[int, list[int]]:
    """Return the forms that share a measured side, under the number that names its measurement."""
    numbers: dict[int, list[int]] = {}
    for k in wanted:
        own = claim.forms[k].left
        same = (j for j, form in enumerate(claim.forms) if form.left is own)
        numbers.setdefault(next(same) if own is not None else 0, []).append(k)
    return numbers


def _rows_of(item: ClaimTask) -> Job:
    """Judge in the worker: the row is the result."""
    ((blob, seconds),) = yield [item]
    return [replace(row, seconds=seconds) for row in unpack_rows(blob)]


def _bound(claim: BoundClaim, case: Case, forms: Sequence[Form], at: ClaimTask, budget: int) -> Job:
    """Judge a bound: exactly if its noise can be enumerated, else in growing numbers of blocks."""
    if all(bounds.unmet(claim, case, form) is not None for form in forms):
        nothing = Measured("exact")
        return [bounds.judge(claim, case, form, nothing) for form in forms]
    ((blob, seconds),) = yield [replace(at, kind="exact")]
    measured = Measured.unpack(blob)
    certain = measured.kind == "exact" and measured.values.shape[1] == 1
    # of what is printed given the past, a mean over pasts says nothing
    if measured.kind == "exact" and (certain or not claim.conditional):
        rows = [bounds.judge(claim, case, form, measured) for form in forms]
        unsure = [k for k, row in enumerate(rows) if enclosed.left_open(row, measured)]
        asked = [
            replace(at, kind="enclosed", form=claim.forms.index(forms[k]), upto=rows[k].at)
            for k in unsure
        ]
        results = (yield asked) if asked else []
        for k, (blob, took) in zip(unsure, results, strict=True):
            rows[k] = enclosed.better(rows[k], unpack_rows(blob)[0])
            seconds += took
        return _finished(claim, case, forms, rows, measured, seconds)
    blocks: list[Measured] = []
    undecided, decided = list(forms), dict[int, Row]()
    # a false sibling has to be refuted on some case, not decided on each: it adds no work
    own = [form for form in forms if form.form != "sibling"] or list(forms)
    while any(form in undecided for form in own) and len(blocks) < budget:
        chunk = range(len(blocks), min(budget, max(1, 2 * len(blocks))))
        for blob, took in (yield [replace(at, kind="block", block=b) for b in chunk]):
            blocks.append(Measured.unpack(blob))
            seconds += took
        measured = joined(blocks)
        if measured.kind != "sampled" or not _more_would_do(claim, forms, measured):
            budget = 0
        for form in list(undecided):
            row = bounds.judge(claim, case, form, measured)
            last = len(blocks) >= budget and row.verdict is Verdict.INCONCLUSIVE
            if (last or row.reason == bounds.UNMEASURED) and _unshadowed(measured):
                ((blob, took),) = yield [replace(at, kind="shadowed block")]
                blocks[0] = Measured.unpack(blob)
                seconds, measured = seconds + took, joined(blocks)
                row = bounds.judge(claim, case, form, measured)
            decided[id(form)] = row
            if row.verdict is not Verdict.INCONCLUSIVE:
                undecided.remove(form)
    rows = [decided[id(form)] for form in forms]
    return _finished(claim, case, forms, rows, measured, seconds)


def _over_class(claim: BoundClaim, case: Case, forms: Sequence[Form], at: ClaimTask) -> Job:
    """Judge a bound over a whole class of functions."""
    from driftproof.verifiers.judges import theorems, worst_cases

    ((blob, seconds),) = yield [at]
    measured = json.loads(blob)
    if "undecidable" in measured:
        given = case_entry(case), undecided(), None, measured["undecidable"]
        return [row_of(claim, form, *given) for form in forms]
    if theorems.has_letters(case):
        rows = [theorems.judge(claim, case, form, measured) for form in forms]
        return [replace(row, seconds=seconds) for row in rows]
    roles = bounds.roles_of(case)
    rows = [
        assumed.noted(claim, case, form, roles, worst_cases.judge(claim, case, form, measured))
        for form in forms
    ]
    return [replace(row, seconds=seconds) for row in rows]


def _judged(claim: Claim[Any], siblings: bool) -> list[int]:
    """Return the numbers of a claim's forms, with its negative controls or without."""
    return [k for k, form in enumerate(claim.forms) if siblings or form.form != "sibling"]


def _sharing(claim: BoundClaim, siblings: bool) -> dict[int, list[int]]:
    """Return all forms that are judged by a run, by the number that names their measurement."""
    odd = (Undecided, ByProof)
    run = [k for k in _judged(claim, siblings) if not isinstance(claim.forms[k].right, odd)]
    return _by_left(claim, run)


def _more_would_do(claim: BoundClaim, forms: Sequence[Form], measured: Measured) -> bool:
    """Say whether further replicates can decide anything: without a range, further pasts do not."""
    if measured.how[:1] != (bounds.GIVEN_PAST,) or claim.conditional:
        return True
    return any((form.range or claim.range) is not None for form in forms)


def _unshadowed(measured: Measured) -> bool:
    """Say whether sampled replicates have no bound on their rounding errors yet."""
    return measured.kind == "sampled" and len(measured.values) > 0 and not len(measured.shadow)


def _finished(
    claim: BoundClaim,
    case: Case,
    forms: Sequence[Form],
    rows: list[Row],
    measured: Measured,
    seconds: float,
) -> list[Row]:
    """Add at which edge of its assumptions a case lies, what the plots need, and the time."""
    roles = bounds.roles_of(case)
    pairs = zip(forms, rows, strict=True)
    rows = [assumed.noted(claim, case, form, roles, row) for form, row in pairs]
    return [
        replace(row, seconds=seconds)
        if row.form == "sibling"  # the page does not show it
        else replace(row, seconds=seconds, series=curves.curves(claim, case, row, measured))
        for row in rows
    ]


def _rate(claim: RateClaim, base: ClaimTask, profile: str, wanted: Sequence[int]) -> Job:
    """Judge a rate's schedules by algebra, and its slope on the grid of horizons."""
    schedules = [replace(base, kind="schedule", form=k) for k in wanted]
    form, cases = followed.measured_form(claim), _horizons(claim, profile)
    known = [
        replace(base, kind="known", number=at, case=f"T = {at}")
        for at in rates.known_horizons(claim, cases)
    ]
    runs = [*known, *_runs(claim, base, profile)]
    # at smoke's size runs are asked for only where algebra says nothing: they take longer than it
    results = yield (schedules if profile == "smoke" else [*schedules, *runs])
    judged = [row for blob, _ in results[: len(schedules)] for row in unpack_rows(blob)]
    rows = [
        row for row in judged
        # without a bound and a floor the measured slope alone decides
        if row.verdict is not Verdict.INCONCLUSIVE
        or claim.derived
        or (row.form, row.reading) != (form.form, form.reading)
    ]  # fmt: skip
    if profile == "smoke" and any(row.form != "sibling" for row in rows):
        return rows
    results = (yield runs) if profile == "smoke" else results[len(schedules) :]
    exact = {item.number: json.loads(blob) for item, (blob, _) in zip(known, results)}  # noqa: B905
    blocks = [Measured.unpack(blob) for blob, _ in results[len(known) :]]
    each = len(blocks) // len(cases)
    measured = [joined(blocks[k : k + each]) for k in range(0, len(blocks), each)]
    decided = slope.judge_slope(claim, form, cases, measured, exact)
    return [*rows, replace(decided, seconds=sum(seconds for _, seconds in results))]


def _horizons(claim: RateClaim, profile: str) -> Sequence[Case]:
    """Return the cases of a rate's grid; smoke has the first five."""
    return claim.cases_for("quick")[:5] if profile == "smoke" else claim.cases_for(profile)


def _runs(claim: RateClaim, base: ClaimTask, profile: str) -> list[ClaimTask]:
    tier = "quick" if profile == "smoke" else profile
    blocks = -(-claim.replicates // BLOCK)
    return [
        replace(base, kind="block", tier=tier, number=number, case=case.key, block=block,
                effort=_steps(case))
        for number, case in enumerate(_horizons(claim, profile))
        for block in range(blocks)
    ]  # fmt: skip


def _steps(case: Case) -> float:
    """Return how many local steps of all clients a case's run has."""
    if case.algorithm is None:
        return 0.0
    return float(case.rounds * case.algorithm.local_steps)


def pack_rows(rows: Sequence[Row]) -> bytes:
    """Return rows as JSON."""
    return json.dumps([vars(row) for row in rows]).encode()


def unpack_rows(blob: bytes) -> list[Row]:
    """Return what ``pack_rows`` was given."""
    return [row_from(entry) for entry in json.loads(blob)]
