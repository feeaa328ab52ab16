"""Searches a claim's forms for counterexamples: which climbs, for how long, and what they found.

A search is a job: it asks for units of work and is sent their results, in order, so that the
scheduler spreads it, the ledger keeps what was done and ``--resume`` goes on. With a number of
climbs instead of seconds, what it finds depends on its seed alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from driftproof.toolkit.at_optimum import AT_OPTIMUM
from driftproof.toolkit.constants import MODULI
from driftproof.toolkit.ledger import Ledger
from driftproof.toolkit.readings import ByProof, Undecided
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.claim_types.sources import Source, blaming, loaded, users_file
from driftproof.verifiers.running.scheduler import Cache, Result, Task, run_jobs
from driftproof.verifiers.search.batched_space import ENOUGH
from driftproof.verifiers.search.families import FAMILIES, family_for
from driftproof.verifiers.search.finding import (
    CANDIDATE,
    CONFIRMED,
    FAILED,
    NOT_SEARCHED,
    NOTHING,
    VERIFIED,
    Finding,
    elsewhere,
    noisy,
)
from driftproof.verifiers.search.letters import known_violation, letters_of, roles_in
from driftproof.verifiers.search.shrink import steps_of
from driftproof.verifiers.search.single_space import movable
from driftproof.verifiers.search.structure import (
    KINDS,
    MOST_STEPS,
    STEPS_AT_FIRST,
    Choices,
    Structure,
    as_long,
)
from driftproof.verifiers.search.units import (
    CLEAR_RATIO,
    NEARLY,
    PLENTY,
    Climb,
    Confirmation,
    OwnCase,
    could_be_clearer,
    failure,
    reaching,
    size,
)

TOGETHER = 2
"""Climbs that a search asks for at once, however many workers there are."""
LEADERS = 4
"""Of how many of the best structures a later climb may take one, with something changed.

It may then take long; a structure that is new is tried for a few generations only. Both get the
same work, in evaluations times steps.
"""
GENERIC = 2.0
"""The time of a space of piecewise families, in units of that of one of the claim's own."""
FAILURES = 6
"""Structures that cannot be run after which a space without any that can is left alone."""
DRAWS = 100
"""Structures that are drawn until one may meet the assumptions, by its counts alone."""
MOST_CLIENTS = 12
"""Clients of a structure, where no fewer meet the assumptions."""
FEW = 0.01
"""Below which share of candidates that meet every assumption that is told."""
GROWTH = 1.6
"""By how much the longest run of a space grows with each of its climbs."""
Job = Generator[Sequence[Task], list[Result], Finding]


class _Interrupted(BaseException):
    """Ends a search with the largest left / right that it has seen."""


@dataclass(frozen=True)
class Effort:
    """How much a search of one form may take.

    Attributes:
        seconds: of work on one core.
        climbs: instead of that, how many climbs (None: as many as the seconds allow).
        seed: of every draw.
        controls: whether the claim's false siblings are searched too.
        strongest: whether the case with the largest left / right is shown, not the simplest one.
        same_problem: whether only the problem families of the claim's own cases are searched.
    """

    seconds: float = 30.0
    climbs: int | None = None
    seed: int = 0
    controls: bool = True
    strongest: bool = False
    same_problem: bool = False

    @property
    def shown(self) -> float | None:
        """The seconds in which a violation is made simple, once it is judged."""
        return self.seconds / 2 if self.climbs is None else None


def falsify(
    sources: Sequence[Source],
    effort: Effort,
    *,
    workers: int = 1,
    ledger: Ledger | None = None,
    resume: bool = False,
    started: Callable[[int], None] = lambda total: None,
    ended: Callable[[str], None] = lambda claim: None,
    made: Callable[[Finding], None] = lambda finding: None,
    told: Callable[[str], None] = lambda what: None,
) -> list[Finding]:
    """Search claims and return a finding for each of their forms.

    Args:
        started: called with the number of forms.
        ended: called with the claim's name when the search of one of its forms ends.
        made: called with each finding then; after an interruption, before it is raised again, with
            what each search has seen so far.
        told: called with a line on each violation before it is judged and made simple.
    """

    def kept(job: Job) -> Job:
        made(finding := (yield from job))
        return finding

    jobs: list[Job] = []
    owner: list[str] = []
    for source in sources:
        claim = loaded(source)
        for number, form in enumerate(claim.forms):
            if form.form != "sibling" or effort.controls:
                jobs.append(kept(_whole(source, claim, number, effort, told)))
                owner.append(claim.name)
    started(len(jobs))
    units = Cache(ledger, resume=resume)
    try:
        findings: list[Finding] = run_jobs(
            jobs,
            units,
            workers=max(1, min(workers, TOGETHER * len(jobs))),
            done=lambda number: ended(owner[number]),
        )
    except KeyboardInterrupt:
        for job in jobs:
            with suppress(_Interrupted, StopIteration):
                job.throw(_Interrupted())
        raise
    return findings


def _whole(
    source: Source, claim: Claim[Any], number: int, effort: Effort, told: Callable[[str], None]
) -> Job:
    """Search one form. An error costs it its row, and no other form anything."""
    form = claim.forms[number]
    nothing = Finding(claim.name, form.key, NOT_SEARCHED)
    try:
        with blaming(source):
            decided = isinstance(form.right, ByProof | Undecided)
            spaces, unlike = (
                ([], {}) if decided else spaces_of(claim, same_problem=effort.same_problem)
            )
            if not spaces:
                reason = _why_not(claim, form.right)
                return replace(nothing, reason=reason, left_out=unlike)
            found = yield from _search(source, claim, number, effort, spaces, told)
            made = replace(nothing, **found | {"left_out": unlike | found["left_out"]})
            return replace(made, elsewhere=elsewhere(made, claim)) if made.found else made
    except Exception as error:  # noqa: BLE001 - anybody's
        return replace(nothing, status=FAILED, reason=failure(error))


@dataclass(eq=False)
class _Visited:
    """What became of the climbs of one space.

    Attributes:
        leaders: the best structures, each of its own kind, best first, with their ratios.
        drawn, climbs, failures: how many structures were drawn, were run, and could not be.
        spent: seconds, those of a piecewise family at half price.
        longest: how many steps a run may have.
        new, changed: the work of climbs in new structures, and in changed leaders.
        useless: why no structure of it can be run ("": some can).
        nearest: the largest score, below 0 where a candidate does not meet the assumptions, and
            what it does not meet.
    """

    space: Space
    leaders: list[tuple[float, Structure]] = field(default_factory=list)
    drawn: int = 0
    climbs: int = 0
    failures: int = 0
    spent: float = 0.0
    new: float = 0.0
    changed: float = 0.0
    longest: float = STEPS_AT_FIRST
    useless: str = ""
    nearest: tuple[float, str] = (-np.inf, "")

    @property
    def unmet(self) -> str:
        """What no candidate met, where none met every assumption."""
        met, unmet = self.nearest
        return f"no candidate met every assumption: {unmet}" if met < 0 and unmet else ""

    @property
    def family(self) -> str:
        return self.space.choices.family

    @property
    def pace(self) -> float:
        """What a climb adds to ``spent``, about (∞: none was made)."""
        return self.spent / self.climbs if self.climbs else np.inf

    def keep(self, ratio: float, structure: Structure) -> None:
        """Put a structure among the leaders if it is one."""
        by_ratio = sorted([*self.leaders, (ratio, structure)], key=lambda leader: -leader[0])
        best = {leader.kind: (ratio, leader) for ratio, leader in reversed(by_ratio)}
        self.leaders = sorted(best.values(), key=lambda leader: -leader[0])[:LEADERS]

    def fail(self, why: str) -> None:
        """Note a structure that cannot be run; a space without any that can is left out."""
        self.failures += 1
        if not self.leaders and self.failures >= FAILURES:
            self.useless = why


def _search(
    source: Source,
    claim: Claim[Any],
    number: int,
    effort: Effort,
    spaces: Sequence[Space],
    told: Callable[[str], None],
) -> Generator[Sequence[Task], list[Result], dict[str, Any]]:
    """Climb until the budget is spent or a judge has confirmed a violation.

    Returns:
        The fields of the finding.
    """
    form = claim.forms[number]
    name = f"{effort.seed}\0{claim.name}\0{form.key}".encode()
    random = np.random.default_rng(int.from_bytes(hashlib.blake2b(name).digest()[:8], "little"))
    visited = [_Visited(space) for space in spaces]
    best: tuple[float, dict[str, Any]] = (-np.inf, {})
    nearest = -np.inf, ""  # to the assumptions, where none met them all
    seconds, climbs, evaluations, inside = 0.0, 0, 0, 0
    candidate: dict[str, Any] | None = None
    unclear: dict[str, Any] | None = None  # confirmed, by so little that more is sought
    known: list[tuple[dict[str, Any], OwnCase | Confirmation]] = []  # what is confirmed, and how
    every = claim.cases_for("full")
    noisy_ones = any(noisy(case.parameters()) for case in every)
    seeks = claim.measures and form.form != "sibling"
    # where more is sought to the end, only the strongest is made simple, then
    judging = 0.0 if effort.strongest and seeks else effort.shown

    def foreign(result: dict[str, Any]) -> bool:
        """Say whether a violation has a noise that no case of the claim has."""
        return not noisy_ones and noisy(result["case"])

    def rank(result: dict[str, Any]) -> tuple[bool, bool, bool, float]:
        clear = size(result) >= CLEAR_RATIO or effort.strongest
        surely = result["status"] == VERIFIED and not effort.strongest
        return not foreign(result), clear, surely, size(result)

    def ended(**result: Any) -> dict[str, Any]:
        if unclear is not None:  # what was found is not lost
            found = result.get("status") in (CONFIRMED, VERIFIED)
            result = max(unclear, result, key=rank) if found else unclear
        if known:  # what is shown may have become simple at the cost of its ratio
            alike = [of for of, _ in known if foreign(of) <= foreign(result)]
            result = reaching(result, *alike)
        why = {
            at.family: at.useless or at.unmet * (result.get("status") == NOTHING) for at in visited
        }
        left_out = {family: of for family, of in why.items() if of}
        return result | {
            "evaluations": evaluations,
            "climbs": climbs,
            "seconds": seconds,
            "left_out": left_out,
        }

    def judged(
        check: OwnCase | Confirmation, ratio: float, where: dict[str, Any]
    ) -> Generator[Sequence[Task], list[Result], dict[str, Any] | None]:
        """Have a violation judged; return the finding, if it ends the search."""
        nonlocal seconds, candidate, unclear
        if form.form != "sibling":
            what = "it is judged" + ", and made simple" * (check.seconds != 0)
            told(f"{claim.name}: left / right = {ratio:.3g}; {what}")
        try:
            ((blob, _),) = yield [check]
        except _Interrupted:
            return ended(status=CANDIDATE, ratio=ratio, **where, reason="interrupted, not judged")
        result = json.loads(blob)
        if "failed" in result:
            return ended(status=FAILED, reason=result["failed"])
        seconds += result.pop("seconds")
        if result["status"] == CANDIDATE:
            candidate = max(filter(None, (candidate, result)), key=rank)
        if done := result["status"] in (CONFIRMED, VERIFIED):
            known.append((result, check))
        if not done and form.form != "sibling":
            told(f"{claim.name}: not confirmed: {result['reason'] or result['status']}")
        if done and seeks and (effort.strongest or could_be_clearer(result) or foreign(result)):
            unclear = max(filter(None, (unclear, result)), key=rank)
            return None
        return ended(**result) if done or (candidate and not claim.measures) else None

    own: list[tuple[float, dict[str, Any], OwnCase]] = []
    cases = claim.cases_for("full") if begins_with_own(source, form) else []
    shortest = sorted(range(len(cases)), key=lambda k: steps_of(cases[k]))
    for k in range(0, len(cases), TOGETHER):
        if effort.climbs is None and seconds >= effort.seconds:
            break
        some = shortest[k : k + TOGETHER]
        asked = [OwnCase(source, number, case, effort.seed) for case in some]
        for one, (blob, _) in zip(asked, (yield asked), strict=True):
            result = json.loads(blob)
            if "failed" in result:
                return ended(status=FAILED, reason=result["failed"])
            seconds, evaluations = seconds + result["seconds"], evaluations + 1
            own.append((result["ratio"], result["place"], one))
    for of_own, where, one in sorted(own, key=lambda of: -of[0]):
        if of_own >= ENOUGH:
            one = replace(one, confirm=True, strongest=effort.strongest, seconds=judging)
            if found := (yield from judged(one, of_own, where)):
                return found
            if unclear:
                break
    met = max((of[:2] for of in own if of[0] < ENOUGH), key=lambda of: of[0], default=best)

    at_home = {case.problem.leaf_name for case in every}
    while (seconds < effort.seconds) if effort.climbs is None else (climbs < effort.climbs):
        open_spaces = [at for at in visited if not at.useless]
        if unclear and not foreign(unclear) and size(unclear) == np.inf:
            break
        if unclear and unclear["case"]["problem"]["name"] in at_home:  # elsewhere it is another one
            open_spaces = [at for at in open_spaces if at.family in at_home]
        if not open_spaces:
            break
        count = TOGETHER if effort.climbs is None else min(TOGETHER, effort.climbs - climbs)
        chosen = [open_spaces[(climbs + k) % len(open_spaces)] for k in range(count)]
        if effort.climbs is None:  # each space the same time: a cheap one gets more climbs
            least = min(open_spaces, key=lambda at: at.spent)
            also = min(open_spaces, key=lambda at: at.spent + (at is least) * at.pace)
            chosen = [least, also]
        wanted, judged_from, enough = [], CLEAR_RATIO, PLENTY
        if unclear is None or foreign(unclear):
            judged_from = enough = ENOUGH
        elif effort.strongest:
            judged_from, enough = size(unclear) / NEARLY, np.inf
        left = (effort.seconds - seconds) / count if effort.climbs is None else np.inf
        for at in chosen:
            draw, most = at.space.choices, int(at.longest)
            at.climbs, at.longest = at.climbs + 1, min(at.longest * GROWTH, MOST_STEPS)
            again = at.drawn >= KINDS and bool(at.leaders) and at.changed <= at.new
            own_first = at.family not in FAMILIES and not at.drawn
            for attempt in range(DRAWS):
                if again:
                    nth = min(int(random.geometric(0.5)), len(at.leaders)) - 1  # the best mostly
                    _, leader = at.leaders[nth]
                    structure = draw.changed(leader, random, most)
                else:
                    # generic spaces begin with different kinds of structures
                    moved = 3 * visited.index(at) if at.family in FAMILIES else 0
                    nth = (at.drawn + moved) % KINDS if at.drawn < KINDS else at.drawn
                    structure, at.drawn = draw.draw(random, most, nth), at.drawn + 1
                if attempt >= DRAWS // 2:
                    structure = _with_many_clients(structure, random)
                if unclear and foreign(unclear):
                    structure = replace(structure, noises=(), rare=0.5)
                mended = with_rounds(claim, form, structure, random, most)
                if mended is not None:
                    structure = mended
                    break
            template = int(random.choice(at.space.templates))
            if own_first and claim.measures:  # a climb takes long: the first is near a case
                template = max(at.space.templates, key=lambda k: steps_of(every[k]))
                structure = as_long(structure, every[template])
            wanted.append(
                Climb(
                    source,
                    number,
                    structure,
                    template,
                    int(random.integers(2**31)),
                    again,
                    enough,
                    left,
                )
            )
        try:
            results = yield wanted
        except _Interrupted:
            break
        climbs += count
        for at, unit, (blob, _) in zip(chosen, wanted, results, strict=True):
            result = json.loads(blob)
            if "failed" in result:
                return ended(status=FAILED, reason=result["failed"])
            seconds += result["seconds"]
            at.spent += result["seconds"] / (GENERIC if at.family in FAMILIES else 1)
            ratio, where = result["ratio"], result.get("place", {})
            if ratio is None:
                at.fail(result["why"])
                nearest = max(nearest, (-np.inf, result["why"]))
                continue
            evaluations, inside = evaluations + result["evaluations"], inside + result["inside"]
            of = unit.structure
            work = result["evaluations"] * max(1, of.rounds * of.local_steps)
            at.new, at.changed = at.new + (not unit.long) * work, at.changed + unit.long * work
            at.keep(ratio, unit.structure)
            at.nearest = max(at.nearest, (ratio, result.get("unmet", "")))
            if ratio < 0:
                nearest = max(nearest, (ratio, result["unmet"]))
            if best[0] < ratio < ENOUGH:
                best = ratio, where
            if ratio >= judged_from:
                fields = {name: getattr(unit, name) for name in Climb.__dataclass_fields__}
                at_end = tuple(result["at"])
                check = Confirmation(
                    **fields, at=at_end, strongest=effort.strongest, seconds=judging
                )
                if found := (yield from judged(check, ratio, where)):
                    return found
                best = (0.0, where) if best[0] < 0 else best  # rounding, lucky draws, a candidate
                if not (known and known[-1][1] is check):
                    at.leaders = at.leaders[1:]  # what no judge confirms leads nowhere
    if unclear and effort.strongest:
        first, how = max(known, key=lambda of: rank(of[0]))
        unclear = None
        yield from judged(replace(how, seconds=effort.shown), size(first), {})
        simple: dict[str, Any] | None = unclear
        unclear = simple if simple and size(simple) >= NEARLY * size(first) else first
        return ended()
    if candidate is not None:
        return ended(**candidate)
    if best[0] < 0:
        tried = evaluations - len(own)
        unmet = f"none of {tried:,} candidates met every assumption; the nearest: "
        reason = (unmet if tried else "") + (nearest[1] or "no climb was made")
        return ended(reason=reason, ratio=met[0] if met[0] >= 0 else None)
    best = max(met, best, key=lambda of: of[0])
    few = ""
    if inside < FEW * (drawn := evaluations - len(own)):
        few = f"of {drawn:,} candidates {inside:,} met every assumption: nearly nothing was tried. "
        few += "An equality between constants, as L = 1, is met by luck; say L ≤ 1, or leave it out"
    return ended(status=NOTHING, ratio=max(best[0], 0.0), **best[1], reason=few)


def begins_with_own(source: Source, form: Form) -> bool:
    """Whether a search begins with the claim's own cases: of a user's form, not of a control.

    What is shipped has its verdicts on record; controls show what the climbs find by themselves.
    """
    return users_file(source) is not None and form.form != "sibling"


@dataclass(frozen=True)
class Space:
    """Where climbs take place: a family's structures, and the cases whose types they take."""

    choices: Choices
    templates: tuple[int, ...]


def spaces_of(
    claim: Claim[Any], *, same_problem: bool = False
) -> tuple[list[Space], dict[str, str]]:
    """Return the spaces of a claim: piecewise families if its problems are theirs, then its own.

    Args:
        same_problem: leave out the families that no case has.

    Returns:
        And the families that may not stand in for its problems, with the reason.
    """
    if not claim.searched or claim.is_existence:
        return [], {}
    cases = claim.cases_for("full")
    runs = claim.measures
    asked = _asked(claim)
    generic: dict[tuple[Any, ...], tuple[Choices, list[int]]] = {}
    own: dict[tuple[type, type], list[int]] = {}
    unlike: dict[str, str] = {}
    for number, case in enumerate(cases):
        own.setdefault((type(case.problem), type(case.algorithm)), []).append(number)
        if runs and case.algorithm is not None:
            family, why = family_for(case.algorithm, case.problem)
            if why:
                unlike[why.partition(" ")[0]] = why
            if family is not None:
                drawn = family.choices(case.algorithm, case.problem, asked)
                if same_problem and drawn.family != case.problem.leaf_name:
                    continue
                key = (type(case.algorithm), drawn.family, drawn.fixed)
                generic.setdefault(key, (drawn, []))[1].append(number)
    spaces = [Space(drawn, tuple(numbers)) for drawn, numbers in generic.values()]
    for numbers in own.values():
        case = cases[numbers[0]]
        piecewise = case.problem.leaf_name in FAMILIES
        if piecewise and any(numbers[0] in space.templates for space in spaces):
            continue
        drawn = Choices(
            case.problem.leaf_name, case.algorithm, moved=movable(case.problem), counts_move=runs
        )
        spaces.append(Space(drawn, tuple(numbers)))
    return spaces, unlike


def _with_many_clients(structure: Structure, random: np.random.Generator) -> Structure:
    """Return the structure with more clients than are drawn at first, and small otherwise."""
    clients = int(random.integers(5, MOST_CLIENTS + 1))
    part = clients if random.random() < 0.5 else int(random.integers(1, clients + 1))
    return replace(structure, clients=clients, taking_part=part, dim=1, knots=1)


def with_rounds(
    claim: Claim[Any], form: Form, structure: Structure, random: np.random.Generator, most: int
) -> Structure | None:
    """Return the structure with a horizon at which its counts may meet the assumptions.

    Its own horizon if that does, or else any other (None: there is none up to ``most`` steps).
    Relations that name another role than counts, or noise that is on, are left to the candidates.
    """
    of = structure
    others = np.arange(1, most // of.local_steps + 1) if of.rounds else np.zeros(0, int)
    rounds = np.concatenate([[of.rounds], others])
    roles: dict[str, Any] = {
        name: value for name, value in of.options if isinstance(value, int | float)
    } | {
        "clients": of.clients,
        "dim": of.dim,
        "local_steps": of.local_steps,
        "cohort_size": of.taking_part,
        "rounds": rounds,
        "steps": rounds * of.local_steps,
    }
    if of.family in FAMILIES:
        for role, names in NOISY.items():
            is_on = any(name in of.noises for name in names)
            roles[role] = np.array([[1e-8], [1e6]]) if is_on else 0.0
    notation = claim.notation(claim.cases_for("full")[0])
    numbers = {
        role: np.broadcast_to(np.asarray(x, float), (2, len(rounds))).ravel()
        for role, x in roles.items()
    }
    holds = np.ones(len(rounds), bool)
    for assumption in (*claim.assumes, *form.assumes):
        if assumption.relation is not None:
            broken = known_violation([assumption], notation, numbers)
            holds &= broken.reshape(2, -1).min(0) == 0
    if holds[0] or not holds.any():
        return structure if holds[0] else None
    return replace(structure, rounds=int(random.choice(rounds[holds])))


NOISY = {
    "field_gradient_noise": ("plain_noise",),
    "plain_gradient_noise": ("plain_noise",),
    "inner_gradient_noise": ("gradient_noise",),
    "inner_value_noise": ("value_noise", "gradient_noise"),
    "outer_gradient_noise": ("outer_noise",),
}
"""The roles that are 0 unless one of these noises is on, and may be anything then."""


def _asked(claim: Claim[Any]) -> set[str]:
    """Return the constants that assumptions name or relate, or that there are of some F alone."""
    asked = {role for assumption in claim.assumes for role in assumption.roles}
    for notation in map(claim.notation, claim.cases_for("full")[:1]):
        asked |= letters_of(claim.assumes, notation)
        for form in claim.forms if claim.measures else ():
            if not isinstance(form.right, ByProof | Undecided):
                asked |= roles_in(form.right, notation) & (AT_OPTIMUM | MODULI)
    return asked


def _why_not(claim: Claim[Any], right: Any) -> str:
    if isinstance(right, ByProof):
        return "decided by algebra"
    if isinstance(right, Undecided):
        return "a reading that nothing decides"
    if claim.is_existence:
        return "it says that something exists: an instance where it fails refutes nothing"
    if getattr(claim, "classes", ()):
        return "a claim over a whole class: driftproof verify finds its worst case"
    return f"of kind {claim.way}, which is not searched: driftproof verify judges it"
