"""Judges a bound over a whole class of functions: proved by a certificate, or refuted by functions.

What is measured (``measure``) is the worst case of every comparison that the left side makes, with
a certificate of each. Of right sides it knows only that functions are looked for where one is
exceeded. ``judge`` is a pure function of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import inf, isfinite
from typing import Any

import torch

from synthetic.classes.whole import WholeClass
from toolkit.cases import Case
from toolkit.engines.enumerated import EnumeratedContext
from toolkit.errors import DriftproofError
from toolkit.federation import Outcome, run
from toolkit.verdict import Evidence, Row, Verdict
from verifiers.claim_types.bound import BoundClaim
from verifiers.claim_types.claim import Form
from verifiers.judges import bounds
from verifiers.judges.evidence import instance
from verifiers.judges.rows import case_entry, row_of
from verifiers.worst_case import check_counterexample
from verifiers.worst_case.builder import build
from verifiers.worst_case.certificate import certify
from verifiers.worst_case.counterexample import counterexample
from verifiers.worst_case.functions import WorstFunctions, functions
from verifiers.worst_case.program import Solved
from verifiers.worst_case.record import WorstCase
from verifiers.worst_case.solve import UnsolvedError, solve
from verifiers.worst_case.witness import witness

EXCESS = Fraction(1, 10**6)
"""What a proved bound may exceed the right side by, relative to it: then both are equal."""
NOISE = Fraction(1, 10**8)
"""What the solver's value may exceed a right side by, relative to it, before functions are sought
that do: a right side that is too small by less than the solver sees is not refuted."""
ROUNDED = Fraction(1, 10**12)
"""What functions must exceed a right side by, relative to it: it was rounded to a double."""


def measure(claim: BoundClaim, case: Case, forms: Sequence[Form]) -> dict[str, Any]:
    """Return the worst case of every comparison, as data.

    Args:
        forms: those that share a left side; functions are looked for above each right side.
    """
    left = forms[0].left or claim.left
    assert left is not None
    assert isinstance(case.problem, WholeClass)
    comparisons: list[dict[str, Any]] = []
    rights = {form.key: _right(claim, case, form) for form in forms if _applies(claim, case, form)}
    shown = [rights[form.key] for form in forms if form.key in rights and form.form != "sibling"]
    for program in build(case.algorithm, case.problem, rounds=case.rounds, left=left):
        loose = program.loose
        made: dict[str, Any] = {"moment": program.about["moment"], "value": None}
        comparisons.append(made)
        try:
            solved = solve(program)
        except UnsolvedError as error:
            made["open"] = f"{error.got}. {error.remedy}"
            continue
        made["value"] = solved.value
        try:
            met = [right for right in rights.values() if right >= Fraction(solved.value)]
            certificate = certify(program, solved, enough=min(met, default=None))
            made |= {"bound": str(certificate.bound), "certificate": certificate.text}
        except DriftproofError as error:
            made["open"] = error.got
        above = any(_exceeds(solved, right, NOISE) for right in rights.values())
        found = witness(program, solved) if above or program.loose else None
        if found is not None:
            made |= {"attained": str(found.value), "what": found.what}
        if not above:
            continue
        if found is not None:
            made["ran"] = _ran(case, program, solved, left, len(comparisons) - 1)
        exceeded = [right for right in shown if _exceeds(solved, right)]
        simple = counterexample(program, solved, max(exceeded)) if exceeded else None
        if simple is not None:
            made |= {"dimension": simple.dimension, "counterexample": simple.text}
            made["simple"] = float(simple.value)
            of_simple = simple.solved(solved)
            made["simple ran"] = _ran(case, program, of_simple, left, len(comparisons) - 1)
    return {"loose": loose, "comparisons": comparisons}


def _exceeds(solved: Solved, right: Fraction, excess: Fraction = EXCESS) -> bool:
    return Fraction(solved.value) > right + excess * abs(right)


def _ran(
    case: Case, program: WorstCase, solved: Solved, left: Callable[[Any], Any], number: int
) -> float | None:
    """Return what a comparison is when the algorithm is run, in doubles, on functions as bad.

    None: functions of the class have no formula here. Clients that are sampled are enumerated.
    """
    try:
        problem = functions(program, solved, case.problem.clients, case.problem.level)
    except DriftproofError:
        return None
    problem = replace(problem, of=case.problem.constants)
    ctx = EnumeratedContext(problem.clients)
    made = _run_from(problem, case, ctx, left)
    if ctx.atom_count > 1:
        made = _run_from(problem, case, ctx.enumerate(), left)
    return float(made.values[number] @ made.weights)


def _run_from(
    problem: WorstFunctions, case: Case, ctx: EnumeratedContext, left: Callable[[Any], Any]
) -> Outcome:
    """Run from x_0, or from the state that the functions come with."""
    begun = None
    if problem.own is not None:
        start, own = (torch.from_numpy(part)[..., None] for part in (problem.first, problem.own))
        begun = 0, case.algorithm.anywhere(ctx, problem.oracles(ctx.dtype), start, own)
    return run(problem, case.algorithm, ctx, rounds=case.rounds, left=left, begun=begun)


def _applies(claim: BoundClaim, case: Case, form: Form) -> bool:
    return bounds.unmet(claim, case, form) is None and not _lacking(claim, case, form)


def _lacking(claim: BoundClaim, case: Case, form: Form) -> list[str]:
    return bounds.lacking_constants(claim, case, form.right)


def _right(claim: BoundClaim, case: Case, form: Form) -> Fraction:
    return Fraction(bounds.right_side(claim, case, form.right)[1])


def judge(claim: BoundClaim, case: Case, form: Form, measured: Mapping[str, Any]) -> Row:
    """Return the row of one form over one class.

    SUPPORTED: every comparison has a certificate of at most (1 + 1e-6)·right. REFUTED: of one
    there are functions of the class on which it exceeds the right side. Else INCONCLUSIVE.
    """
    broken = bounds.unmet(claim, case, form)
    if broken is not None:
        return _row(claim, case, form, Verdict.INAPPLICABLE, broken)
    lacking = _lacking(claim, case, form)
    if lacking:
        reason = f"the right side needs {', '.join(lacking)}, of which the class says nothing"
        return _row(claim, case, form, Verdict.INAPPLICABLE, reason)
    right = _right(claim, case, form)
    comparisons = measured["comparisons"]
    most = right + EXCESS * abs(right)
    worst = max(comparisons, key=_value)
    facts: dict[str, Any] = {"rhs": float(right), "comparisons": len(comparisons)}
    least = right + ROUNDED * abs(right)
    attained = [made for made in comparisons if Fraction(made.get("attained", right)) > least]
    if attained:
        made = max(attained, key=lambda made: Fraction(made["attained"]))
        file = _file(claim, case, made["moment"], "counterexample-")
        return _refuted(claim, case, form, made, file, facts)
    if worst["value"] is None:
        return _row(claim, case, form, Verdict.INCONCLUSIVE, worst["open"], **facts)
    facts["lhs"] = {"mean": worst["value"], "low": None, "high": _high(worst)}
    if all("bound" in made and Fraction(made["bound"]) <= most for made in comparisons):
        loose, value = measured["loose"], Fraction(worst["value"])
        if Fraction(worst.get("attained", 0)) > value - EXCESS * abs(value):
            loose = ""  # some function of the class is as bad
        equal = not loose and value > right - EXCESS * abs(right)
        certificates = {
            _file(claim, case, made["moment"]): made["certificate"] for made in comparisons
        }
        return _row(
            claim, case, form, Verdict.SUPPORTED, loose, attained=equal,
            margin=float(EXCESS * abs(right)), proofs=certificates, **facts,
        )  # fmt: skip
    return _row(
        claim, case, form, Verdict.INCONCLUSIVE, _undecided(measured, worst, right), **facts
    )


def _refuted(
    claim: BoundClaim,
    case: Case,
    form: Form,
    made: Mapping[str, Any],
    file: str,
    facts: Mapping[str, Any],
) -> Row:
    """Return the row of a comparison that functions of the class exceed.

    Args:
        file: where its simple counterexample goes, if there is one.
        facts: what the row says of the right side.
    """
    value, right = float(Fraction(made["attained"])), facts["rhs"]
    reason = (
        f"there are functions of the class with left ≥ {value:.6g} above right = {right:.6g}: "
        f"{made['what']}; {made['moment']}"
    )
    if made.get("ran") is not None:
        reason += f"; run on functions made from them, in doubles: {made['ran']:.6g}"
    shown: dict[str, Any] = {}
    if form.form != "sibling" and made.get("simple", 0.0) > right:
        text = made["counterexample"]
        shown = {
            "proofs": {file: text},
            "series": {"counterexample": check_counterexample.check(text)[1:]},
        }
        reason += (
            f". Simple ones in dimension {made['dimension']} have left = {made['simple']:.6g}, "
            f"in fractions; run on them, in doubles: {made['simple ran']:.6g}. "
            f"driftproof check shows their points, gradients and values: certificates/{file}"
        )
    lhs = {"mean": made["value"], "low": value, "high": _high(made)}
    return _row(claim, case, form, Verdict.REFUTED, reason, lhs=lhs, **shown, **facts)


def _undecided(measured: Mapping[str, Any], worst: Mapping[str, Any], right: Fraction) -> str:
    told = f"the worst case is {worst['value']:.6g}, right = {float(right):.6g}"
    if measured["loose"]:
        return f"{told}; it is an upper bound: {measured['loose']}"
    return f"{told}; {worst.get('open', 'neither a certificate nor functions decide')}"


def _value(made: Mapping[str, Any]) -> float:
    """Return a comparison's worst case; one that nothing is known of is the worst."""
    return inf if made["value"] is None else float(made["value"])


def _high(made: Mapping[str, Any]) -> float | None:
    return float(Fraction(made["bound"])) if "bound" in made else None


def _file(claim: BoundClaim, case: Case, moment: str, kind: str = "") -> str:
    """Return the name of a certificate's file, which tells of which moment of the run it is."""
    when = re.sub("[^a-z0-9]+", "-", moment.removeprefix("the "))
    return f"{claim.name.replace('/', '-')}-{kind}{case.key}-{when}.json"


def _row(
    claim: BoundClaim, case: Case, form: Form, verdict: Verdict, reason: str, **facts: Any
) -> Row:
    roles = bounds.roles_of(case) if verdict is not Verdict.INAPPLICABLE else {}
    roles = {name: number for name, number in roles.items() if isfinite(number)}  # no gap is known
    return row_of(
        claim, form, case_entry(case), verdict, Evidence.CLASS, reason,
        instance=instance(roles, claim.notation(case)), **facts,
    )  # fmt: skip


def pack(measured: Mapping[str, Any]) -> bytes:
    """Return what was measured as JSON."""
    return json.dumps(measured).encode()
