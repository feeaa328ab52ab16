"""The units of a search, which workers do and the ledger keeps: a climb, and a confirmation."""

import json
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from driftproof.toolkit.cases import Case
from driftproof.toolkit.climb import climb
from driftproof.toolkit.draws import TooManyAtoms
from driftproof.toolkit.engines.enumerated import Drew
from driftproof.toolkit.errors import DriftproofError, UndecidableError
from driftproof.toolkit.verdict import Evidence, Row, Verdict
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.claim_types.sources import Source, blaming, loaded, users_file
from driftproof.verifiers.judges import assumptions
from driftproof.verifiers.judges.audit_gate import rests_on_constants
from driftproof.verifiers.judges.judge import OUTSIDE, judge_named
from driftproof.verifiers.judges.scores import score, scored
from driftproof.verifiers.search.batched_space import ENOUGH, BatchedSpace
from driftproof.verifiers.search.equalities import kept
from driftproof.verifiers.search.families import FAMILIES
from driftproof.verifiers.search.finding import CANDIDATE, CONFIRMED, NOTHING, VERIFIED, place
from driftproof.verifiers.search.letters import LackingError
from driftproof.verifiers.search.shrink import shrunk
from driftproof.verifiers.search.single_space import SingleSpace
from driftproof.verifiers.search.structure import Structure, altered
from driftproof.verifiers.verify import Settings, judge

GENERATIONS, SHIPPED_GENERATIONS = (8, 60), (3, 15)
"""Of a short climb and of a long one: beside each other, and one case at a time."""
BEYOND = "the sides differ on this case, which is none of the claim's: is it one that is meant?"
STEPS = 4_000, 8_000
"""Steps of all its generations together, which a climb in a piecewise family is not to exceed."""
POPULATION = 64
"""Candidates of a generation, after a look at many more at random."""
ATTEMPTS, FEW_ATTEMPTS = 500, 120
"""Changes that are tried to make a case simpler: of a bound, and of what takes longer."""
CLEAR = 0.02
"""By which share a sampled mean has to be above the right side where no interval is known."""
MARGIN = 0.01
"""What is left of a violation when its case is made simpler, at most (half of it, at least)."""
CLEAR_RATIO = 1.99
"""The left / right of a simple case, if there is as much: 2, but for rounding errors."""
PLENTY = 4.0
"""The left / right at which no larger one is looked for: simpler numbers will cost some of it."""
NEARLY = 0.98
"""Which share of the largest left / right the strongest case keeps for the sake of few digits."""
AGAIN = 40
"""How often a case is run until it is judged and simple, about."""
MOST_STEPS = 1024
"""Steps of a longer run in which a violation may grow."""

FEW_ROUNDS = tuple(2**k for k in range(12))
"""Of so many rounds cohorts may have few enough outcomes to be enumerated, and balls run."""


class Unit(ABC):
    """A unit of the search of a form: what workers do, and in which file its claim is."""

    claim: Source
    form: int

    @property
    def path(self) -> Path | None:
        """The user's file that the claim is in, if it is one."""
        return users_file(self.claim)

    def work(self) -> bytes:
        """Do it, and return the outcome as JSON.

        What a claim's own code raises is returned as {"failed": …}: it costs that claim its row,
        and the other claims nothing.
        """
        import cma  # noqa: F401 - no climb is charged for the import

        try:
            # far away numbers overflow; such a candidate is outside, and nobody has to read of it
            with blaming(self.claim), np.errstate(all="ignore"):
                claim = loaded(self.claim)
                check(claim, self.form)
                clock = judge_named(claim.searched).clock
                began = clock()
                result = self._result() | {"seconds": clock() - began}
        except Exception as error:  # noqa: BLE001 - anybody's
            result = {"failed": failure(error)}
        return json.dumps(result).encode()

    @abstractmethod
    def _result(self) -> dict[str, Any]:
        """Return what it finds."""


@dataclass(frozen=True)
class OwnCase(Unit):
    """One of the claim's own cases: its ratio; or what the judge says of it, made simple.

    Attributes:
        claim, form, seed: as a climb has them.
        number: of the case.
        confirm: whether it is judged.
        strongest: whether the case with the largest left / right is shown, not the simplest one.
        seconds: see ``within``.
    """

    claim: Source
    form: int
    number: int
    seed: int
    confirm: bool = False
    strongest: bool = False
    seconds: float | None = None

    @property
    def name(self) -> str:
        """Everything but the code that the result depends on."""
        of = self.form, self.number, self.seed, self.confirm, self.strongest, self.seconds
        return "\0".join(map(str, (type(self).__name__, self.claim.name, *of)))

    def _result(self) -> dict[str, Any]:
        """Return the ratio and the place, or what ``confirmed`` does.

        What nothing decides costs it alone; a mistake in the claim is told, as ``verify`` does.
        """
        claim = loaded(self.claim)
        form, case = claim.forms[self.form], claim.cases_for("full")[self.number]
        try:
            with blaming(self.claim):
                if self.confirm:
                    left = within(self.seconds)
                    return confirmed(claim, form, case, self.seed, left, strongest=self.strongest)
                try:
                    found = scored(claim, form, case, self.seed)
                except (UndecidableError, Drew, ArithmeticError):
                    found = OUTSIDE
                return {"ratio": found, "place": place(case)}
        except UndecidableError as error:
            return {"ratio": OUTSIDE, "place": {}, "status": NOTHING, "reason": failure(error)}


@dataclass(frozen=True)
class Climb(Unit):
    """One climb in one structure.

    Attributes:
        claim: the claim, or the leaf it can be loaded from in another process.
        form: which form, by position.
        structure: as data.
        template: the number of the claim's case whose families it takes.
        seed: of the climb and of sampled noise.
        long: whether it goes on for many generations: in structures that look promising.
        enough: the left / right at which it ends.
        most: seconds of work after which it ends (∞: it depends on the seed alone).
    """

    claim: Source
    form: int
    structure: Structure
    template: int
    seed: int
    long: bool = False
    enough: float = ENOUGH
    most: float = np.inf

    @property
    def name(self) -> str:
        """Everything but the code that the result depends on."""
        of = json.dumps(asdict(self.structure), sort_keys=True)
        parts = (
            type(self).__name__,
            self.claim.name,
            self.form,
            of,
            self.template,
            self.seed,
            self.long,
            self.enough,
            self.most,
        )
        return "\0".join(map(str, parts))

    def _result(self) -> dict[str, Any]:
        """Climb, and return the ratio, the place and the number of evaluations."""
        clock = judge_named(loaded(self.claim).searched).clock
        end = clock() + self.most
        try:
            space = self.space(late := lambda: clock() >= end)
            climbed = climb(
                space.ratios,
                space.size,
                population=min(POPULATION, space.candidates),
                first=space.candidates,
                seed=self.seed,
                generations=self._generations(space),
                enough=self.enough,  # a violation is confirmed first, and climbed on from then
                late=late,
            )
            where = self._place(space, climbed.at, met=climbed.ratio >= 0)
        except (DriftproofError, LackingError, TooManyAtoms) as error:
            return {"ratio": None, "why": in_a_line(error)}
        except Exception as error:
            if self.structure.family in FAMILIES:
                return {"ratio": None, "why": in_a_line(error)}  # it lacks an oracle, say
            own = loaded(self.claim).cases_for("full")[self.template].problem.clients
            if own == (tried := self.structure.clients):
                raise
            why = f"with clients={tried} instead of {own}: {in_a_line(error)}; if its data are of "
            why += f"{own} clients alone, write clients: Literal[{own}] = {own}"
            return {"ratio": None, "why": why}
        return {
            "ratio": climbed.ratio,
            "at": climbed.at.tolist(),
            "evaluations": climbed.evaluations,
            "inside": climbed.inside,
            **where,
        }

    def _generations(self, space: BatchedSpace | SingleSpace) -> int:
        """Return how many generations a climb may take: fewer, the longer a run is."""
        if isinstance(space, SingleSpace):
            return SHIPPED_GENERATIONS[self.long]
        length = max(1, self.structure.rounds * self.structure.local_steps)
        return min(GENERATIONS[self.long], max(2, STEPS[self.long] // length))

    def _place(
        self, space: BatchedSpace | SingleSpace, at: np.ndarray, met: bool
    ) -> dict[str, Any]:
        """Return where a climb ended, or the first assumption that is not met there."""
        claim = loaded(self.claim)
        try:
            case = space.case(at)
            if case is None:
                return {"unmet": "their parameters do not go together"}
            unmet = None if met else assumptions.outside(claim, case, claim.forms[self.form])
        except DriftproofError as error:
            return {"unmet": in_a_line(error)}
        return {"place": place(case)} if met else {"unmet": unmet or "a condition on the run"}

    def space(self, late: Callable[[], bool] = lambda: False) -> BatchedSpace | SingleSpace:
        """Return the candidates that it climbs over, until it is late."""
        claim: Any = loaded(self.claim)
        form, template = claim.forms[self.form], claim.cases_for("full")[self.template]
        algorithm = template.algorithm
        if algorithm is not None:
            algorithm = _plain(algorithm, counts=claim.measures)
        if self.structure.family in FAMILIES:
            assert algorithm is not None
            return BatchedSpace(claim, form, algorithm, self.structure, self.seed)
        return SingleSpace(
            claim, form, _plain(template.problem), algorithm, self.structure, self.seed, late
        )


@dataclass(frozen=True)
class Confirmation(Climb):
    """Judge the case at which a climb ended, and make it simple.

    Attributes:
        at: the place of the climb.
        strongest: whether the case with the largest left / right is shown, not the simplest one.
        seconds: see ``within``.
    """

    at: tuple[float, ...] = ()
    strongest: bool = False
    seconds: float | None = None

    @property
    def name(self) -> str:
        """Everything but the code that the result depends on."""
        return super().name + "\0" + json.dumps([self.at, self.strongest, self.seconds])

    def _result(self) -> dict[str, Any]:
        """Climb on, and return the status, the simplest case and the judge's row of it."""
        left, found = within(self.seconds), None
        claim, space = loaded(self.claim), self.space(late := lambda: left() <= 0)
        form, at = claim.forms[self.form], np.array(self.at)
        case = space.case(at)
        assert case is not None
        try:
            found = confirmed(claim, form, case, self.seed, left, strongest=self.strongest)
            if left() <= 0 or not could_be_clearer(found, self.strongest):
                return found
            climbed = climb(
                space.ratios,
                space.size,
                population=min(POPULATION, space.candidates),
                first=0,
                seed=self.seed,
                generations=self._generations(space),
                start=at,
                enough=np.inf if self.strongest else PLENTY,
                late=late,
            )
            higher = space.case(climbed.at)
            if higher is None or climbed.ratio < (size(found) if self.strongest else CLEAR_RATIO):
                return found
            more = confirmed(claim, form, higher, self.seed, left, strongest=self.strongest)
            if more["status"] not in (CONFIRMED, VERIFIED):
                return found
            return reaching(max(found, more, key=size), found, more)
        except DriftproofError as error:
            # its solution is not known as well as a judge wants it, say, or the family has a
            # parameter of which its own methods know nothing
            return found or {"status": NOTHING, "reason": in_a_line(error)}


def failure(error: Exception) -> str:
    """Say in a line what a search failed of: a mistake that can be mended, or a defect of ours."""
    if isinstance(error, DriftproofError):
        return in_a_line(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(frame.filename).name}, line {frame.lineno}"
    return f"internal error, {in_a_line(error)} ({where}); please report it with the command"


def in_a_line(error: Exception) -> str:
    """Return an error's text in one line."""
    if isinstance(error, DriftproofError):
        return error.told
    if isinstance(error, LackingError):
        return f"no candidate has a {error}"
    return f"{type(error).__name__}: {error}"


def within(seconds: float | None) -> Callable[[], float]:
    """Return what says for how many seconds more a violation may be made simpler.

    Args:
        seconds: from now on (None: without end, so that the outcome depends on the seed alone).
    """
    end = np.inf if seconds is None else time.monotonic() + seconds
    return lambda: end - time.monotonic()


def confirmed(
    claim: Claim[Any],
    form: Form,
    case: Case,
    seed: int,
    left: Callable[[], float] = lambda: np.inf,
    *,
    strongest: bool = False,
) -> dict[str, Any]:
    """Return what becomes of a candidate: its status, the case that is shown, and both sides.

    Args:
        left: see ``within``.
        strongest: show the case with the largest left / right instead of the simplest one.
    """
    first = judged(claim, form, case, seed)
    refuted = first.verdict is Verdict.REFUTED
    if refuted and not claim.measures and case in claim.cases_for("full"):
        return _outcome(CONFIRMED, case, first)  # elsewhere its function may presume more
    if not refuted or (rests_on_constants(claim, form, first) and not strongest):
        shorter = [replace(case, rounds=rounds) for rounds in FEW_ROUNDS if rounds < case.rounds]
        for simpler in (_without_noise(case), *shorter):
            if simpler == case or score(claim, form, simpler, seed) < ENOUGH:
                continue
            # what is sampled takes more to show, and balls refuse long runs
            if judged(claim, form, simpler, seed).verdict is Verdict.REFUTED:
                found = confirmed(claim, form, simpler, seed, left, strongest=strongest)
                if found["status"] in (CONFIRMED, VERIFIED):
                    return reaching(found, *[_outcome(CONFIRMED, case, first)] * refuted)
            if left() <= 0:
                break
    if not refuted:
        return _outcome(CANDIDATE if _is_open(first) else NOTHING, case, first)
    balls = _in_balls(claim, form, case, first)
    if balls is not None and balls.verdict is Verdict.SUPPORTED:
        return _outcome(NOTHING, case, balls)  # it was rounding, and more than a run can show
    of = score(claim, form, case, seed)
    loose, largest, whole = 1.0 + min(MARGIN, 0.5 * (of - 1.0)), case, first
    made = None if strongest else _simple(claim, form, case, loose, seed, first, left)
    if made is None or (made[1].ratio or np.inf) < CLEAR_RATIO:  # of a right side of 0 it is None
        longer = _longer(claim, form, case, seed, np.inf if strongest else PLENTY, left)
        if longer != case and (row := _refuted(claim, form, longer, seed)) is not None:
            largest, whole = longer, row
        top = score(claim, form, largest, seed)
        clear = NEARLY * top if strongest else CLEAR_RATIO
        if top >= clear:
            made = _simple(claim, form, largest, clear, seed, first, left) or made
    simple, row, shown = made or (case, first, balls)
    if not claim.measures:
        # its function was written for its own cases: elsewhere it may lose digits, or presume more
        result = _outcome(CANDIDATE, simple, row)
        return result | {"reason": f"{BEYOND}; {result['reason']}"}
    apart = shown is not None and shown.verdict is Verdict.REFUTED
    result = _outcome(VERIFIED if apart else CONFIRMED, simple, row)
    return reaching(result, _outcome(CONFIRMED, largest, whole), _outcome(CONFIRMED, case, first))


def size(found: Mapping[str, Any]) -> float:
    """Return the left / right of a violation: infinite if its right side is 0."""
    return np.inf if found["ratio"] is None else float(found["ratio"])


def reaching(shown: Mapping[str, Any], *others: Mapping[str, Any]) -> dict[str, Any]:
    """Return a violation that is shown, beside it the strongest that is known, if that has more."""
    every = [one for of in (shown, *others) for one in (of, of.get("strongest")) if one]
    top = max(every, key=size)
    has_more = NEARLY * size(top) > size(shown)
    fields = {name: top[name] for name in ("case", "label", "python", "ratio")}
    return {**shown, "strongest": fields if has_more else None}


def could_be_clearer(found: Mapping[str, Any], strongest: bool = False) -> bool:
    """Say whether a larger ratio is looked for: of what is confirmed, and not clear."""
    confirmed_ = found["status"] in (CONFIRMED, VERIFIED)
    return confirmed_ and size(found) < (np.inf if strongest else CLEAR_RATIO)


def _refuted(claim: Claim[Any], form: Form, case: Case, seed: int) -> Row | None:
    """Return the judge's row of a case that it refutes, and that balls do not support."""
    row = judged(claim, form, case, seed)
    if row.verdict is not Verdict.REFUTED:
        return None
    balls = _in_balls(claim, form, case, row)
    return None if balls is not None and balls.verdict is Verdict.SUPPORTED else row


def _simple(
    claim: Claim[Any],
    form: Form,
    start: Case,
    ratio: float,
    seed: int,
    first: Row,
    left: Callable[[], float],
) -> tuple[Case, Row, Row | None] | None:
    """Return a simple case that keeps a ratio, with what the judge and balls say of it.

    None if they do not refute it, or only by samples what was refuted by more. A score takes what
    rounding errors leave of two sides of nearly 0 for a violation. Where one such case was taken,
    it is begun again, and each case that the score lets pass is judged.
    """
    enough = max(ratio, ENOUGH)

    def breaks(tried: Case) -> bool:
        return score(claim, form, tried, seed) >= enough

    def is_refuted(tried: Case) -> bool:
        return breaks(tried) and judged(claim, form, tried, seed).verdict is Verdict.REFUTED

    attempts = ATTEMPTS if claim.measures else FEW_ATTEMPTS
    surely = () if first.evidence is Evidence.SEQUENTIAL else (is_refuted,)
    for simpler in (breaks, *surely):
        own = claim.cases_for("full")
        simple = shrunk(
            start, simpler, attempts, partial(kept, claim, form), own, lambda: left() <= 0
        )
        row = judged(claim, form, simple, seed)
        if row.verdict is not Verdict.REFUTED:
            continue
        shown = _in_balls(claim, form, simple, row)
        open_ = shown is not None and shown.verdict is Verdict.SUPPORTED
        if not open_ and (row.evidence is not Evidence.SEQUENTIAL or not surely):
            return simple, row, shown
    return None


def _longer(
    claim: Claim[Any], form: Form, case: Case, seed: int, enough: float, left: Callable[[], float]
) -> Case:
    """Return the case with so many rounds and local steps that left / right is larger.

    Runs are no longer than can be made ``AGAIN`` times in the seconds that are left.
    """
    best, ratio = case, score(claim, form, case, seed)
    while ratio < enough and (of := best.algorithm) is not None:
        if 2 * best.rounds * of.local_steps > MOST_STEPS:
            break
        twice = [replace(best, rounds=2 * best.rounds)]
        if "local_steps" in of.values():
            more = altered(of, {"local_steps": 2 * of.local_steps})
            twice += [] if more is None else [replace(best, algorithm=more)]
        longer = [one for one in (kept(claim, form, tried) for tried in twice) if one is not None]
        before = left()
        scores = [score(claim, form, one, seed) for one in longer]
        slow = before < np.inf and AGAIN * (before - left()) > left()
        if max(scores, default=OUTSIDE) <= ratio or slow:
            break
        ratio = max(scores)
        best = longer[scores.index(ratio)]
    return best


def _is_open(row: Row) -> bool:
    """Whether a judge that could not decide measured a left side above the right one.

    By more than rounding, and than lucky draws where there is no interval: else it was that.
    """
    left = row.lhs or {}
    mean = left.get("mean")
    if row.verdict is not Verdict.INCONCLUSIVE or mean is None or row.rhs is None:
        return False
    least = (CLEAR if left.get("low") is None else ENOUGH - 1.0) * abs(row.rhs)
    return bool(mean - (row.margin or 0.0) - row.rhs > least)


def _without_noise(case: Case) -> Case:
    """Return the case with every size of noise of its problem 0, if that is a member."""
    fields = {
        name: 0.0
        for name, value in case.problem.values().items()
        if "noise" in name and isinstance(value, float)
    }
    problem = altered(case.problem, fields)
    return case if problem is None else replace(case, problem=problem)


def judged(claim: Claim[Any], form: Form, case: Case, seed: int) -> Row:
    """Return the row of a form on one case, by the judge of ``verify``."""
    alone = claim.on(case)
    vars(alone)["forms"] = (form,)  # another form may have nothing to say of this case
    rows = judge([alone], Settings(profile="quick", seed=seed, siblings=form.form == "sibling"))
    return next(row for row in rows if (row.form, row.reading) == (form.form, form.reading))


def _in_balls(claim: Claim[Any], form: Form, case: Case, row: Row) -> Row | None:
    """Return what ball arithmetic says of a bound on a case: the judge's row, if that is of it."""
    if row.evidence is Evidence.ENCLOSED:
        return row
    return judge_named(claim.searched).enclosed(claim, case, form)


def _outcome(status: str, case: Case, row: Row) -> dict[str, Any]:
    return {
        "status": status,
        **place(case),
        "lhs": row.lhs,
        "rhs": row.rhs,
        "ratio": row.ratio,
        "reason": row.reason or f"the judge says {row.verdict}",
        "evidence": None if row.evidence is None else str(row.evidence),
    }


def check(claim: Claim[Any], number: int) -> None:
    """Raise what is wrong with a form on the claim's first case, once a process.

    A letter or a quantity that there is not would else put every candidate outside.

    Raises:
        DriftproofError: the right side, or the measure, cannot be evaluated.
    """
    if (claim, number) not in _CHECKED:
        judge_named(claim.searched).check(claim, claim.forms[number], claim.cases_for("full")[0])
        _CHECKED.add((claim, number))


_CHECKED: set[tuple[Claim[Any], int]] = set()


def _plain(part: Any, counts: bool = True) -> Any:
    """Return a problem or an algorithm with its defaults, but for words and flags.

    A statement may presume those of its cases without an assumption that says so. A class that
    has no such member keeps all its values.

    Args:
        counts: whether whole numbers become defaults too.
    """
    kept_as = (str, bool) if counts else (str, bool, int)
    words = {name: value for name, value in part.values().items() if isinstance(value, kept_as)}
    try:
        return type(part)(**words)
    except (TypeError, DriftproofError):
        return part
