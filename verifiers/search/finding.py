"""The outcome of a search for one form of a claim."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from driftproof.toolkit.case_text import case_of, pasted
from driftproof.toolkit.cases import Case, roles_of
from driftproof.verifiers.claim_types.claim import Claim
from driftproof.verifiers.judges.bounds import split_right
from driftproof.verifiers.search.conditions import Conditions
from driftproof.verifiers.search.letters import letters_of, roles_in

NOT_SEARCHED, NOTHING, FAILED = "not searched", "nothing found", "failed"
CANDIDATE = "candidate"
CONFIRMED, VERIFIED = "confirmed", "verified"


@dataclass(frozen=True)
class Finding:
    """The largest left / right that was met, and what became of a violation.

    Attributes:
        claim, form: what was searched ("sibling: …" is a control).
        status: "verified" (both sides enclosed apart in ball arithmetic), "confirmed" (refuted by
            the judge of ``verify``, exactly or at its level), "candidate" (a ratio above 1 that no
            judge confirmed), "nothing found", "not searched", or "failed" (an error ended it).
        ratio: the largest left / right met.
        case: where: the case's parameters, as results.json holds them; shrunk if it is confirmed.
        label: the case in words.
        python: the case as Python that can be pasted.
        strongest: the case with the largest left / right, if that is larger: ratio, case, label,
            python.
        lhs, rhs: both sides on it, as the judge measured them.
        evidence: the judge's.
        reason: what the judge said, or why nothing was searched.
        evaluations: candidates that were looked at.
        climbs: how many climbs.
        seconds: of work, on one core each.
        left_out: the problem families that could not be searched, and why.
        elsewhere: of a violation on a problem of no case: what would keep the statement to those.
    """

    claim: str
    form: str
    status: str
    ratio: float | None = None
    case: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""
    python: str = ""
    strongest: Mapping[str, Any] | None = None
    lhs: Mapping[str, Any] | None = None
    rhs: float | None = None
    evidence: str | None = None
    reason: str = ""
    evaluations: int = 0
    climbs: int = 0
    seconds: float = 0.0
    left_out: Mapping[str, str] = field(default_factory=dict)
    elsewhere: str = ""

    @property
    def found(self) -> bool:
        """Whether a violation was confirmed."""
        return self.status in (CONFIRMED, VERIFIED)

    @property
    def is_control(self) -> bool:
        """Whether it is of a false sibling."""
        return self.form.startswith("sibling")


def place(case: Case) -> dict[str, Any]:
    """Return the fields of a finding that say where it is."""
    return {"case": case.parameters(), "label": str(case), "python": pasted(case)}


def noisy(case: Mapping[str, Any]) -> bool:
    """Say whether the parameters of a case have noise in its problem."""
    sizes = [x for name, x in case["problem"].items() if "noise" in name]
    return any(isinstance(x, float) and x > 0 for x in sizes)


def remade(finding: Finding, claim: Claim[Any]) -> Case:
    """Return a finding's case again; a user's own problem or algorithm is in the claim's cases."""
    parts = (part for case in claim.cases_for("full") for part in (case.problem, case.algorithm))
    return case_of(finding.case, {type(part) for part in parts if part is not None})


def elsewhere(finding: Finding, claim: Claim[Any]) -> str:
    """Say which assumption would keep a claim to the problems of its cases, or to their numbers.

    "": it is on such a problem, and with numbers that a case has or the claim speaks of.
    """
    case = remade(finding, claim)
    found, own = case.problem, {type(of.problem): of.problem for of in claim.cases_for("full")}
    new = [f"{name} = {value!r}" for name, value in _unnamed(finding, claim, case).items()]
    said = []
    if new:
        what = f"{' and '.join(new)}: no case has that, and no assumption or right side reads it"
        said.append(f"{what}. A claim about its cases' values takes an Assumption more")
    if type(found) not in own:
        names = ", ".join(kind.__name__ for kind in own)
        every = (set(x.constants) for x in own.values())
        roles = sorted(set.intersection(*every) - {*found.constants})
        how = (
            f"roles=({roles[0]!r},)"
            if roles
            else f"applies=lambda case: isinstance(case.problem, ({names},))"
        )
        said.append(
            f"no case has a {type(found).__name__}, but no assumption excludes it. A claim about "
            f"{names} alone takes one more: Assumption(…, {how}). --same-problem searches it alone"
        )
    return "; ".join(said)


def _unnamed(finding: Finding, claim: Claim[Any], case: Case) -> dict[str, float]:
    """Return numbers of a case that none of the claim's has, and of which it does not speak."""
    if case.algorithm is None:
        return {}
    (form,) = (of for of in claim.forms if of.key == finding.form)
    assumes, notation = (*claim.assumes, *form.assumes), claim.notation(case)
    named = letters_of(assumes, notation) | roles_in(form.right, notation)
    named |= Conditions(assumes, case.algorithm, case.rounds, roles_of(case)).read
    every = claim.cases_for("full")
    new = dict[str, float]()
    for part, own in (
        (case.problem, [of.problem for of in every]),
        (case.algorithm, [of.algorithm for of in every]),
    ):
        alike = [of.values() for of in own if type(of) is type(part)]
        for name, value in part.values().items() if alike else ():
            known = name in named or value in [of[name] for of in alike]
            new |= {name: value} if isinstance(value, float) and not known else {}
    counted = {"rounds", "steps"} & named or split_right(form.right, notation)[1]
    if not counted and case.rounds not in {of.rounds for of in every}:
        new["rounds"] = case.rounds
    return new


def power(findings: list[Finding], claim: str) -> tuple[int, int]:
    """Return of how many of a claim's false siblings a violation was met, and how many there are.

    Of identities, which no search refutes by itself, candidates count.
    """
    controls = [f for f in findings if f.claim == claim and f.is_control]
    searched = [f for f in controls if f.status not in (NOT_SEARCHED, FAILED)]
    return sum(f.found or f.status == CANDIDATE for f in searched), len(searched)
