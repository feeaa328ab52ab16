"""Judges a bound over a whole class of functions: proved by a certificate, or refuted by functions.

What is measured (``measure``) is the worst case of every comparison that the left side makes, in
doubles, and for each form a certificate that proves its right side, or functions of the class that
exceed it; both are exact, and both are files. ``judge`` reads the verdict off them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, inf, isfinite, log10
from typing import Any, ClassVar

import numpy as np

from driftproof.synthetic.classes.conditions import Constraint
from driftproof.synthetic.classes.function_class import OFF_LINE, FunctionClassProblem
from driftproof.synthetic.classes.relations import OF_CLIENTS, similar
from driftproof.toolkit.cases import Case, roles_of
from driftproof.toolkit.engines.symbolic import ROUNDS
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.gram.exact import GramForm, Second, Vector
from driftproof.toolkit.letters import Letter
from driftproof.toolkit.rationals import decimal
from driftproof.toolkit.series import Counterexample
from driftproof.toolkit.tolerances import CLASS
from driftproof.toolkit.verdict import Evidence, Row, Verdict
from driftproof.verifiers.claim_types.bound import RunClaim
from driftproof.verifiers.claim_types.claim import Form
from driftproof.verifiers.judges import bounds
from driftproof.verifiers.judges.decide import Comparisons, Decision, Interval, decide, undecided
from driftproof.verifiers.judges.evidence import instance
from driftproof.verifiers.judges.judge import ClaimTask, Group, Tasks
from driftproof.verifiers.judges.rows import case_entry, row_of
from driftproof.verifiers.judges.runs import MeasuredOnce, lead_of
from driftproof.verifiers.worst_case.builder import build
from driftproof.verifiers.worst_case.certificate import certify
from driftproof.verifiers.worst_case.check_counterexample import functions_of
from driftproof.verifiers.worst_case.counterexample import simple, steps_of
from driftproof.verifiers.worst_case.exact import Exact
from driftproof.verifiers.worst_case.face import Optimum, optimum
from driftproof.verifiers.worst_case.linear_operators import SIZES, curves_above
from driftproof.verifiers.worst_case.program import Solved
from driftproof.verifiers.worst_case.region import letters_of
from driftproof.verifiers.worst_case.sdp import ROUNDED, WorstCase
from driftproof.verifiers.worst_case.solve import UnboundedError, UnsolvedError, solve
from driftproof.verifiers.worst_case.witness import Witness, witness
from driftproof.verifiers.worst_case.written import Right, certificate, counterexample

NEAR = Fraction(1, 10**6)
"""How far the solver's value has to lie above a right side for rough functions to be sought, and
may lie below it for those that attain it; relative to it. Neither decides anything."""
MAYBE = Fraction(1, 10**4)
"""How far it may lie above it for a proof to be tried: of some programs a solver knows no more."""
LEAST = Fraction(1, 10**20)
"""By how much at least a multiple of a right side exceeds it: enough for the enclosure of it."""
STARTS = (1, 4, 30)
"""How far from x* a start is taken to refute what speaks of all starts."""
APART = (1, 30, 1000)
"""The ζ of clients that are taken to refute what speaks of all clients."""
REPLAYED = f"replayed in doubles for {len(ROUNDS)} rounds"
"""Said of a verdict that speaks of all rounds: what its text was seen to do (docs/soundness.md)."""


def measure(
    claim: RunClaim, case: Case, forms: Sequence[Form], any_dimension: bool = False
) -> dict[str, Any]:
    """Return the worst case of every comparison, and what it means for each form, as data.

    Args:
        forms: those that share a left side.
        any_dimension: see ``build``.
    """
    left = forms[0].left or claim.left
    assert left is not None
    assert isinstance(case.problem, FunctionClassProblem)
    rights = {form: right_side(claim, case, form) for form in forms}
    comparisons: list[dict[str, Any]] = []
    programs = build(
        case.algorithm, case.problem, rounds=case.rounds, left=left, any_dimension=any_dimension
    )
    for number, program in enumerate(programs):
        made: dict[str, Any] = {"moment": program.about["moment"], "value": None, "forms": {}}
        comparisons.append(made)
        known: dict[GramForm, Functions] = {}
        for form, right in rights.items():
            factors = factors_of(claim, case, form)
            own = program.less(factors)
            try:
                if own.objective not in known:
                    known[own.objective] = Functions(own, solve(own))
            except UnsolvedError as error:
                made["forms"][form.key] = {"open": f"{error.got}. {error.remedy}"}
                continue
            except UnboundedError:
                near = _near_start(own, right) or _similar(case, left, number, factors, right)
                if near is None:
                    raise
                own, known[own.objective] = near
            worst = known[own.objective]
            # of a negative control the verdict counts, and nothing is shown
            shown = form.form != "sibling"
            found = _compared(worst, right, shown=shown)
            if own.lines and own.loose == OFF_LINE and worst.solved.value > right.high:
                # what refutes has searches that end on their lines, at steps that are known
                on_lines = replace(case.problem, line_steps=steps_of(own, worst.solved))
                with suppress(DriftproofError):  # there are none such, or too few
                    there = build(case.algorithm, on_lines, rounds=case.rounds, left=left)[number]
                    there = there.less(factors)
                    again = _compared(Functions(there, solve(there)), right, shown=shown)
                    if "dimension" in again:
                        own, found = there, again
            made["forms"][form.key] = found
            found["grows"] = len(own.relations) > len(program.relations)
            made["value"] = found["value"] = worst.solved.value
            refuting = found.pop("functions", None)
            if refuting is not None:
                found["ran"] = _ran(own, refuting, number, factors)
    return {"loose": program.loose, "comparisons": comparisons}


def _near_start(program: WorstCase, right: Right) -> tuple[WorstCase, Functions] | None:
    """Bound the start of a program without a largest value, so that functions can be shown.

    Returns:
        The first of ``STARTS`` for which the right side is exceeded; None: none is.
    """
    starts = [
        Vector.basis(Second(j) if name == "y_0" else j)
        for j, name in enumerate(program.vectors)
        if name in ("x_0", "y_0")
    ]
    squares = sum((v * v for v in (*starts, *program.own)), GramForm())
    for R in STARTS if starts else ():
        within = Constraint("start", squares, Fraction(R) ** 2)
        near = replace(program, relations=(*program.relations, within))
        if (functions := _exceeding(near, right)) is not None:
            return near, functions
    return None


def _similar(
    case: Case, left: Any, number: int, factors: Mapping[str, Fraction], right: Right
) -> tuple[WorstCase, Functions] | None:
    """Return clients that nothing relates at the first ζ of ``APART`` that exceeds a right side.

    Before it at the first ζ of ``SIZES``, at which functions of one variable do.
    """
    whole = case.problem
    assert isinstance(whole, FunctionClassProblem)
    related = any(of.kind in OF_CLIENTS for of in whole.relations)
    tried = [*((zeta, True) for zeta in SIZES), *((zeta, False) for zeta in APART)]
    for zeta, on_a_line in tried if whole.clients > 1 and not related else ():
        near = replace(whole, conditions=(*whole.conditions, similar(zeta)))
        try:
            made = build(case.algorithm, near, rounds=case.rounds, left=left)
        except DriftproofError:  # the class has no such relation
            return None
        program = made[number].less(factors)
        if on_a_line and curves_above(program, right.high) is None:
            continue
        if (functions := _exceeding(program, right)) is not None:
            return program, functions
    return None


def _exceeding(program: WorstCase, right: Right) -> Functions | None:
    """Return nearly the worst functions, if they are above a right side."""
    try:
        solved = solve(program)
    except DriftproofError:
        return None
    return Functions(program, solved) if solved.value > right.high else None


def _compared(worst: Functions, right: Right, *, shown: bool) -> dict[str, Any]:
    """Return what is proved of a worst case and a right side, with the file that shows it.

    Args:
        shown: whether functions that refute it should be simple.
    """
    program, solved = worst.program, worst.solved
    value, made = Fraction(solved.value), dict[str, Any]()
    size = max(abs(right.high), worst.exact.scale)
    near = NEAR * size
    if value <= right.high + MAYBE * size:
        try:
            proof = certify(worst.exact, solved, at_most=right.low, at=lambda: worst.best)
        except DriftproofError as error:
            made["open"] = error.got
        else:
            proved = proof.bound <= right.low
            stated = right if proved else _larger(right, proof.bound)
            try:
                file = certificate(program, stated, proof.multipliers)
            except DriftproofError as error:
                return made | {"open": error.got}
            made |= {"bound": str(proof.bound), "proved": stated.text, "file": file}
            if proved and value < right.low - near:
                return made
    clearly = value > right.high + near
    for found in worst.above(right, clearly=clearly, shown=shown):
        if program.inexact and right.high < found.value <= right.high + ROUNDED * abs(right.high):
            made |= {
                "attained": str(right.high),
                "open": "functions of the class exceed the right "
                f"side by less than rounding: {program.inexact} is in the steps",
            }
            continue
        made |= {"attained": str(found.value), "what": found.what}
        if found.value > right.high:
            made["dimension"] = len(found.coordinates[0])
            made.pop("file", None)  # a certificate of a larger right side
            if not shown:
                return made
            try:
                file = counterexample(program, right, found)
            except DriftproofError as error:  # two points of one place, say
                made |= {"attained": str(right.high), "open": error.got}
                continue
            return made | {"functions": found, "file": file}
    return made


@dataclass(frozen=True)
class Functions:
    """Functions of the class that are nearly as bad as possible, each sought once."""

    program: WorstCase
    solved: Solved

    def above(self, right: Right, *, clearly: bool, shown: bool) -> Iterator[Witness]:
        """Yield functions that may exceed a right side, or attain it: simple and cheap ones first.

        Args:
            clearly: whether the worst case is above the right side by more than a solver's error.
            shown: whether they should be simple.
        """
        wanted = clearly and (shown or self.program.lines)  # nothing else meets their equations
        if wanted and (found := simple(self.program, self.solved, right.high)):
            yield found
        if clearly and self.rough is not None:
            yield self.rough
        if self.sharp is not None:
            yield self.sharp

    @cached_property
    def exact(self) -> Exact:
        """The program in fractions."""
        return Exact(self.program)

    @cached_property
    def best(self) -> Optimum:
        """The worst case to many digits."""
        return optimum(self.exact, self.exact.near(self.solved))

    @cached_property
    def rough(self) -> Witness | None:
        """As near to the worst case as doubles come."""
        return witness(self.exact, self.solved, digits=False)

    @cached_property
    def sharp(self) -> Witness | None:
        """As near as is possible."""
        return (
            self.rough
            if self.program.loose
            else witness(self.exact, self.solved, at=lambda: self.best)
        )


def _larger(right: Right, bound: Fraction) -> Right:
    """Return the smallest multiple of a right side, in short decimals, that a bound is at most.

    Of a right side that is not above 0 it is the bound itself.
    """
    if right.low <= 0:
        return Right(str(bound))
    excess = max(bound / right.low - 1, LEAST)
    unit = Fraction(10) ** (floor(log10(excess)) - 1)
    return Right(f"({1 + ceil(excess / unit) * unit})*({right.text})", right.letters)


def _ran(program: WorstCase, found: Witness, number: int, factors: Mapping[str, Fraction]) -> float:
    """Return what a comparison is when the text runs, in doubles, on functions that were found."""
    assert program.replay is not None
    _, left, parts = program.replay(np.array(found.coordinates, dtype=float), found.values)[number]
    return float(left.constant - sum(of * parts[name].constant for name, of in factors.items()))


def right_side(claim: RunClaim, case: Case, form: Form) -> Right:
    """Return a right side as an expression in letters, with their numbers, all exact.

    Hyper-parameters are the fractions that the run over the class takes them for.

    Raises:
        DriftproofError: it has a value that no certificate can hold.
    """
    return _right(claim, case, expression_of(claim, case, form))


def _right(claim: RunClaim, case: Case, expression: Any) -> Right:
    import sympy

    notation = claim.notation(case)
    roles = {**roles_of(case), **case.problem.exact_constants}
    for symbol in sorted(expression.free_symbols, key=str):
        role = notation[symbol.name]
        if role not in roles:
            why = case.problem.why_unproven(role)
            raise DriftproofError(f"{symbol.name}, {role}, in a right side", "known letters", why)
        if roles[role] == inf:
            raise DriftproofError(
                f"{symbol.name} in a right side over {case.problem}, of which nothing bounds it",
                "letters that the class bounds",
                "add start_gap(delta) or start_within(R), or leave the letter out",
            )
    letters = {
        symbol.name: decimal(roles[notation[symbol.name]])
        for symbol in sorted(expression.free_symbols, key=str)
    }
    right = Right(sympy.sstr(expression), letters)
    try:
        assert right.ends
    except (ArithmeticError, ValueError, SyntaxError) as error:
        raise DriftproofError(
            f"the right side {right.text} over {case.problem}: {error}",
            "an expression of + - * / ** sqrt exp log Abs Min Max, real at these numbers",
            "write it with these, or state it on cases",
        ) from error
    return right


def expression_of(claim: RunClaim, case: Case, form: Form) -> Any:
    """Return a right side in letters, without what is measured, its numbers as fractions."""
    return _in_fractions(bounds.split_right(form.right, claim.notation(case))[0])


def _in_fractions(expression: Any) -> Any:
    import sympy

    return expression.xreplace({x: _fraction(x) for x in expression.atoms(sympy.Float)})


def expressions_of_factors(claim: RunClaim, case: Case, form: Form) -> dict[str, Any]:
    """Return what each measured mean in a right side is multiplied by, in letters."""
    factors = bounds.split_right(form.right, claim.notation(case))[1]
    return {name: _in_fractions(of) for name, of in factors.items()}


def factors_of(claim: RunClaim, case: Case, form: Form) -> dict[str, Fraction]:
    """Return what each measured mean in a right side is multiplied by, exactly.

    Raises:
        DriftproofError: it is no fraction.
    """
    expressions = expressions_of_factors(claim, case, form)
    made = {name: _right(claim, case, of) for name, of in expressions.items()}
    irrational = [name for name, of in made.items() if of.low < of.high]
    if irrational:
        raise DriftproofError(
            f"an irrational multiple of the measured {', '.join(irrational)}",
            "a fraction",
            "choose hyper-parameters for which it is one",
        )
    return {name: of.low for name, of in made.items()}


def _fraction(number: Any) -> Any:
    """Return what a number of a right side stands for: a double as ``decimal`` reads it."""
    import sympy

    if sympy.Float(float(number))._mpf_ != number._mpf_:  # == compares digits, too
        return sympy.Rational(number)
    return sympy.Rational(decimal(float(number)))


def judge(claim: RunClaim, case: Case, form: Form, measured: Mapping[str, Any]) -> Row:
    """Return the row of one form over one class.

    SUPPORTED: every comparison has a certificate of a bound that is at most the right side.
    REFUTED: of one there are functions of the class on which it exceeds the right side. Else
    INCONCLUSIVE. Nothing is rounded.
    """
    right, loose = right_side(claim, case, form), measured["loose"]
    comparisons = [{**made, **made["forms"].get(form.key, {})} for made in measured["comparisons"]]
    facts: dict[str, Any] = {"rhs": float(right.low), "comparisons": len(comparisons)}
    decision = decided(comparisons, right)
    if decision.verdict is Verdict.REFUTED:
        assert decision.worst is not None
        return _refuted(claim, case, form, decision, comparisons[decision.worst], facts)
    worst = max(comparisons, key=_value)
    if worst["value"] is None:
        return row(claim, case, form, undecided(), worst["open"], **facts)
    low, high = worst.get("attained"), worst.get("bound")
    facts["lhs"] = {"mean": worst["value"], "low": None, "high": None}
    for end, proved, nearer in (("low", low, max), ("high", high, min)):
        if proved is not None:
            facts["lhs"][end] = float(Fraction(proved))
            facts["lhs"]["mean"] = nearer(facts["lhs"]["mean"], facts["lhs"][end])
    facts["proofs"] = {
        file_name(claim, case, form, made["moment"]): made["file"]
        for made in comparisons
        if "file" in made
    }
    if decision.verdict is Verdict.SUPPORTED:
        irrational = (
            "the right side is irrational: what is proved is the lower end of its enclosure"
        )
        said = (
            f"proved of more than this class: {loose}" * (bool(loose) and not decision.attained),
            irrational if right.low < right.high else "",
            REPLAYED if case.problem.of_all_rounds else "",
        )
        reason = "; ".join(filter(None, said))
    else:
        reason = _undecided(worst, loose, right)
    return row(claim, case, form, decision, reason, **facts)


def decided(comparisons: Sequence[Mapping[str, Any]], right: Right) -> Decision:
    """Return what is proved of a worst case: by functions from below, by a certificate from above.

    A certificate counts if it is one of the statement itself.
    """
    low = [Fraction(made["attained"]) if "attained" in made else -inf for made in comparisons]
    high = [right.low if _proves(made, right) else inf for made in comparisons]
    sides = Interval(np.array(low, object), np.array(high, object))
    ends = Interval(*(np.array([end], object) for end in (right.low, right.high)))
    return decide(Comparisons(sides, ends, np.array([abs(right.low)], object)), CLASS)


def _proves(made: Mapping[str, Any], right: Right) -> bool:
    """Tell whether a comparison has a certificate of the statement itself."""
    if "bound" not in made or Fraction(made["bound"]) > right.low:
        return False
    stated = json.loads(made["file"])["conclusion"] if "file" in made else {}
    return stated.get("right") == right.text and stated["letters"] == right.written


def _refuted(
    claim: RunClaim,
    case: Case,
    form: Form,
    decision: Decision,
    made: Mapping[str, Any],
    facts: Mapping[str, Any],
) -> Row:
    """Return the row of a comparison that functions of the class exceed."""
    value, right = float(Fraction(made["attained"])), facts["rhs"]
    worst = (
        "the left side is unbounded over the class" if made["grows"] else "the worst case is about"
    )
    worst += "" if made["grows"] else f" {made['value']:.6g}"
    reason = (
        f"there are functions of the class, in dimension {made['dimension']}, with "
        f"left ≥ {value:.6g} above right = {right:.6g}: {made['what']}; {worst}; {made['moment']}"
    )
    if made.get("ran") is not None:
        reason += f"; run on them, in doubles: {made['ran']:.6g}"
    shown: dict[str, Any] = {}
    if "file" in made:
        file = file_name(claim, case, form, made["moment"], "counterexample-")
        reason += (
            f". driftproof check shows their points, gradients and values: certificates/{file}"
        )
        shown = {
            "proofs": {file: made["file"]},
            "series": Counterexample(functions_of(made["file"]).said[1:]),
        }
    lhs = {"mean": max(made["value"], value), "low": value, "high": None}
    return row(claim, case, form, decision, reason, lhs=lhs, **shown, **facts)


def _undecided(worst: Mapping[str, Any], loose: str, right: Right) -> str:
    """Return what is known where neither a certificate nor functions decide."""
    if "proved" in worst:
        said = f"proved: left ≤ {worst['proved']}"
    else:
        said = f"the worst case is {worst['value']:.9g}, right = {float(right.low):.9g}"
    if loose:
        return f"{said}; it is an upper bound: {loose}"
    return f"{said}; {worst.get('open', 'neither a certificate nor functions decide')}"


def _value(made: Mapping[str, Any]) -> float:
    """Return a comparison's worst case; one that nothing is known of is the worst."""
    return inf if made["value"] is None else float(made["value"])


def file_name(claim: RunClaim, case: Case, form: Form, moment: str, kind: str = "") -> str:
    """Return the name of a file: of which claim, case, moment and, of several, form it is."""
    forms = [one.key for one in claim.forms if one.form != "sibling"]
    which = f"{_slug(form.key)}-" if len(forms) > 1 else ""
    return f"{claim.name.replace('/', '-')}-{which}{kind}{case.key}-{_slug(moment)}.json"


def _slug(words: str) -> str:
    return re.sub("[^a-z0-9]+", "-", words.lower().removeprefix("the ")).strip("-")


def row(
    claim: RunClaim,
    case: Case,
    form: Form,
    decision: Decision,
    reason: str,
    evidence: Evidence = Evidence.CLASS,
    **facts: Any,
) -> Row:
    """Return a row of a form over a class, with the letters' numbers."""
    roles = roles_of(case) if decision.verdict is not Verdict.INAPPLICABLE else {}
    roles = {name: number for name, number in roles.items() if isfinite(number)}  # no gap is known
    return row_of(
        claim,
        form,
        case_entry(case),
        decision,
        evidence,
        reason,
        instance=instance(roles, claim.notation(case)),
        **facts,
    )


def letters_in(case: Case) -> dict[str, Letter]:
    """Return the letters for all of whose values a case stands."""
    conditions = case.problem.conditions if isinstance(case.problem, FunctionClassProblem) else ()
    own = case.algorithm.values() if case.algorithm is not None else {}
    return letters_of((conditions, own))


def worst(claim: Any, task: ClaimTask) -> bytes:
    """Do the task of measuring the worst case for the forms that are its arguments."""
    case, _ = task.of(claim)
    return json.dumps(measure(claim, case, [claim.forms[int(k)] for k in task.args])).encode()


class OverClass(MeasuredOnce):
    """Judges a bound over a class of functions, at numbers."""

    letters: ClassVar[bool] = False
    task = staticmethod(worst)
    judge = staticmethod(judge)

    def numbers(self, claim: Any, profile: str) -> Sequence[int]:
        """Return the classes that have letters, or those that have none."""
        every = claim.class_numbers(profile)
        return [k for k in every if bool(letters_in(claim.every_case[k])) == self.letters]

    def rows(self, claim: Any, group: Group, ask: ClaimTask, profile: str) -> Tasks:
        """Judge forms over a class."""
        case, forms = claim.every_case[group.cases[0]], [claim.forms[k] for k in group.forms]
        lead, args = lead_of(claim, group.forms[0]), tuple(group.forms)
        ((blob, _),) = yield [
            replace(ask, do=self.task, number=group.cases[0], case=case.key, form=lead, args=args)
        ]
        return [self.judge(claim, case, form, json.loads(blob)) for form in forms]


JUDGE = OverClass()
