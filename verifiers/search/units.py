"""The units of a search, which workers do and the ledger keeps: a climb, and a confirmation."""

from __future__ import annotations

import json
import traceback
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from driftproof.toolkit.cases import Case
from driftproof.toolkit.climb import climb
from driftproof.toolkit.draws import TooManyAtoms
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.verdict import Evidence, Row, Verdict
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.claim_types.sources import Source, blaming, loaded, users_file
from driftproof.verifiers.judges import assumed
from driftproof.verifiers.judges.declared import rests_on_constants
from driftproof.verifiers.judges.judge import OUTSIDE, judge_named
from driftproof.verifiers.judges.scores import score
from driftproof.verifiers.search.equalities import kept
from driftproof.verifiers.search.families import FAMILIES
from driftproof.verifiers.search.finding import CANDIDATE, CONFIRMED, NOTHING, VERIFIED, place
from driftproof.verifiers.search.generic import ENOUGH, Generic
from driftproof.verifiers.search.letters import LackingError
from driftproof.verifiers.search.shipped import Shipped
from driftproof.verifiers.search.shrink import shrunk
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
CLEAR_RATIO = 1.99
"""The left / right that a simple case keeps, if there is as much: 2, but for rounding errors."""
PLENTY = 4.0
"""The left / right at which no larger one is looked for: simpler numbers will cost some of it."""
NEARLY = 0.98
"""Which share of the largest left / right the strongest case keeps for the sake of few digits."""
MOST_STEPS = 1024
"""Steps of a longer run in which a violation may grow."""

FEW_ROUNDS = 1, 2, 4, 8
"""Of so many rounds the cohorts may have few enough outcomes to be enumerated."""


@dataclass(frozen=True)
class Climb:
    """One climb in one structure.

    Attributes:
        claim: the claim, or the leaf it can be loaded from in another process.
        form: which form, by position.
        structure: as data.
        template: the number of the claim's case whose families it takes.
        seed: of the climb and of sampled noise.
        long: whether it goes on for many generations: in structures that look promising.
    """

    claim: Source
    form: int
    structure: Structure
    template: int
    seed: int
    long: bool = False

    @property
    def path(self) -> Path | None:
        """The user's file that the claim is in, if it is one."""
        return users_file(self.claim)

    @property
    def name(self) -> str:
        """Everything but the code that the result depends on."""
        of = json.dumps(asdict(self.structure), sort_keys=True)
        parts = (type(self).__name__, self.claim.name, self.form, of, self.template, self.seed,
                 self.long)  # fmt: skip
        return "\0".join(map(str, parts))

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

    def _result(self) -> dict[str, Any]:
        """Climb, and return the ratio, the place and the number of evaluations."""
        try:
            space = self.space()
            climbed = climb(
                space.ratios, space.size, population=min(POPULATION, space.candidates),
                first=space.candidates, seed=self.seed, generations=self._generations(space),
                enough=ENOUGH,  # what is a violation is confirmed first, and climbed on from then
            )  # fmt: skip
        except (DriftproofError, LackingError, TooManyAtoms) as error:
            return {"ratio": None, "why": in_a_line(error)}
        except Exception as error:
            if self.structure.family not in FAMILIES:
                raise
            return {"ratio": None, "why": in_a_line(error)}  # it lacks an oracle, say
        return {
            "ratio": climbed.ratio, "at": climbed.at.tolist(), "evaluations": climbed.evaluations,
            **self._place(space, climbed.at, met=climbed.ratio >= 0),
        }  # fmt: skip

    def _generations(self, space: Generic | Shipped) -> int:
        """Return how many generations a climb may take: fewer, the longer a run is."""
        if isinstance(space, Shipped):
            return SHIPPED_GENERATIONS[self.long]
        length = max(1, self.structure.rounds * self.structure.local_steps)
        return min(GENERATIONS[self.long], max(2, STEPS[self.long] // length))

    def _place(self, space: Generic | Shipped, at: np.ndarray, met: bool) -> dict[str, Any]:
        """Return where a climb ended, or the first assumption that is not met there."""
        claim = loaded(self.claim)
        try:
            case = space.case(at)
            if case is None:
                return {"unmet": "their parameters do not go together"}
            unmet = None if met else assumed.outside(claim, case, claim.forms[self.form])
        except DriftproofError as error:
            return {"unmet": in_a_line(error)}
        return {"place": place(case)} if met else {"unmet": unmet or "a condition on the run"}

    def space(self) -> Generic | Shipped:
        """Return the candidates that it climbs over."""
        claim: Any = loaded(self.claim)
        form, template = claim.forms[self.form], claim.cases_for("full")[self.template]
        algorithm = template.algorithm
        if algorithm is not None:
            algorithm = _plain(algorithm, counts=claim.measures)
        if self.structure.family in FAMILIES:
            assert algorithm is not None
            return Generic(claim, form, algorithm, self.structure, self.seed)
        return Shipped(claim, form, _plain(template.problem), algorithm, self.structure, self.seed)


@dataclass(frozen=True)
class Confirmation(Climb):
    """Judge the case at which a climb ended, and make it simple.

    Attributes:
        at: the place of the climb.
        strongest: whether the case with the largest left / right is shown, not the simplest one.
    """

    at: tuple[float, ...] = ()
    strongest: bool = False

    @property
    def name(self) -> str:
        """Everything but the code that the result depends on."""
        return super().name + "\0" + json.dumps([self.at, self.strongest])

    def _result(self) -> dict[str, Any]:
        """Climb on, and return the status, the simplest case and the judge's row of it."""
        claim, space = loaded(self.claim), self.space()
        form, at = claim.forms[self.form], np.array(self.at)
        try:
            climbed = climb(
                space.ratios, space.size, population=min(POPULATION, space.candidates), first=0,
                seed=self.seed, generations=self._generations(space), start=at,
                enough=np.inf if self.strongest else PLENTY,
            )  # fmt: skip
            found: dict[str, Any] = {}
            for place_ in (climbed.at, at):  # no judge may confirm what is higher
                case = space.case(place_)
                assert case is not None
                found = confirmed(claim, form, case, self.seed, strongest=self.strongest)
                if found["status"] in (CONFIRMED, VERIFIED):
                    break
            return found
        except DriftproofError as error:
            if self.structure.family not in FAMILIES:
                raise
            # its solution is not known as well as a judge wants it, say
            return {"status": NOTHING, "reason": in_a_line(error)}


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
    return f"{type(error).__name__}: {error}"


def confirmed(
    claim: Claim[Any], form: Form, case: Case, seed: int, *, strongest: bool = False
) -> dict[str, Any]:
    """Return what becomes of a candidate: its status, the case that is shown, and both sides.

    Args:
        strongest: show the case with the largest left / right instead of the simplest one.
    """
    first = judged(claim, form, case, seed)
    refuted = first.verdict is Verdict.REFUTED
    if not refuted or rests_on_constants(claim, form, first):
        shorter = [replace(case, rounds=rounds) for rounds in FEW_ROUNDS if rounds < case.rounds]
        for simpler in (_without_noise(case), *shorter):
            if simpler != case and score(claim, form, simpler, seed) >= ENOUGH:
                found = confirmed(
                    claim, form, simpler, seed, strongest=strongest
                )  # what is sampled takes more to show
                if not refuted or found["status"] in (CONFIRMED, VERIFIED):
                    return found
    if not refuted:
        return _outcome(CANDIDATE if _is_open(first) else NOTHING, case, first)
    balls = _in_balls(claim, form, case, first)
    if balls is not None and balls.verdict is Verdict.SUPPORTED:
        return _outcome(NOTHING, case, balls)  # it was rounding, and more than a run can show
    mended, attempts = partial(kept, claim, form), ATTEMPTS if claim.measures else FEW_ATTEMPTS
    for largest in dict.fromkeys((_longer(claim, form, case, seed), case)):
        top = score(claim, form, largest, seed)
        keep = NEARLY * top if strongest else CLEAR_RATIO if top >= CLEAR_RATIO else (1 + top) / 2
        breaks = partial(_reaches, claim, form, seed, max(keep, ENOUGH))
        simple = shrunk(largest, breaks, attempts, mended)
        row = judged(claim, form, simple, seed) if simple != case else first
        shown = _in_balls(claim, form, simple, row) if simple != case else balls
        sampled = row.evidence is Evidence.SEQUENTIAL is not first.evidence
        open_ = shown is not None and shown.verdict is Verdict.SUPPORTED
        if row.verdict is Verdict.REFUTED and not open_ and not sampled:
            break
    else:
        largest, simple, row, shown = case, case, first, balls
    if not claim.measures:
        # its function was written for its own cases: elsewhere it may lose digits, or presume more
        result = _outcome(CANDIDATE, simple, row)
        return result | {"reason": f"{BEYOND}; {result['reason']}"}
    apart = shown is not None and shown.verdict is Verdict.REFUTED
    result = _outcome(VERIFIED if apart else CONFIRMED, simple, row)
    whole = judged(claim, form, largest, seed)
    if whole.verdict is Verdict.REFUTED and (whole.ratio or 0) * NEARLY > (row.ratio or np.inf):
        result["strongest"] = {**place(largest), "ratio": whole.ratio}
    return result


def _reaches(claim: Claim[Any], form: Form, seed: int, ratio: float, case: Case) -> bool:
    return score(claim, form, case, seed) >= ratio


def _longer(claim: Claim[Any], form: Form, case: Case, seed: int) -> Case:
    """Return the case with so many rounds and local steps that left / right is larger."""
    best, ratio = case, score(claim, form, case, seed)
    while (of := best.algorithm) is not None and 2 * best.rounds * of.local_steps <= MOST_STEPS:
        twice = [replace(best, rounds=2 * best.rounds)]
        if "local_steps" in of.values():
            more = altered(of, {"local_steps": 2 * of.local_steps})
            twice += [] if more is None else [replace(best, algorithm=more)]
        longer = [one for one in (kept(claim, form, tried) for tried in twice) if one is not None]
        scores = [score(claim, form, one, seed) for one in longer]
        if max(scores, default=OUTSIDE) <= ratio:
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
        "status": status, **place(case), "lhs": row.lhs, "rhs": row.rhs, "ratio": row.ratio,
        "reason": row.reason or f"the judge says {row.verdict}",
        "evidence": None if row.evidence is None else str(row.evidence),
    }  # fmt: skip


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
