"""Judges a bound over a class of functions for all values of free letters: proved by a certificate.

The worst case is looked at with numbers for the letters, at the ends of the region and inside. At
the tightest of these points the statement is judged as any other (``worst_cases``), and refuted if
it is false there. Else multipliers are sought as functions of the letters (``worst_case.region``).
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from math import inf, isfinite
from typing import Any

from driftproof.synthetic.classes.function_class import FunctionClassProblem
from driftproof.synthetic.classes.relations import start_within
from driftproof.toolkit.cases import Case, roles_of
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.letters import Letter, shown
from driftproof.toolkit.rationals import decimal
from driftproof.toolkit.ratios import Ratio
from driftproof.toolkit.verdict import Evidence, Row, Verdict
from driftproof.verifiers.claim_types.bound import RunClaim
from driftproof.verifiers.claim_types.claim import Form
from driftproof.verifiers.judges import assumptions, at_numbers, worst_cases
from driftproof.verifiers.judges.decide import inapplicable, settled, undecided, withdrawn
from driftproof.verifiers.judges.evidence import instance
from driftproof.verifiers.judges.judge import ClaimTask
from driftproof.verifiers.judges.rows import case_entry, row_of
from driftproof.verifiers.judges.worst_cases import letters_in
from driftproof.verifiers.worst_case.builder import build
from driftproof.verifiers.worst_case.exact import fraction, rational
from driftproof.verifiers.worst_case.expression import evaluate
from driftproof.verifiers.worst_case.homogeneous import units
from driftproof.verifiers.worst_case.region import (
    Point,
    Sample,
    at,
    ends_and_middle,
    multipliers,
    point_of,
)
from driftproof.verifiers.worst_case.room import families
from driftproof.verifiers.worst_case.sdp import WorstCase
from driftproof.verifiers.worst_case.signs import Region
from driftproof.verifiers.worst_case.solve import UnboundedError
from driftproof.verifiers.worst_case.written import Right, theorem

TRIED = 3
"""At how many points a statement is judged that is false there as far as a solver tells."""
DIGITS = 6
"""Of a point's tightness: what a solver's rounding changes does not choose between points."""
SIXTEENTHS = range(1, 16)
"""Where in a letter's range a text is run with numbers too."""


def with_numbers(case: Case, point: Point) -> Case:
    """Return a case with numbers for its letters."""
    values = case.algorithm.values().items()
    chosen = {name: float(at(of, point)) for name, of in values if isinstance(of, Letter)}
    problem = FunctionClassProblem(
        conditions=at(case.problem.conditions, point), clients=case.problem.clients
    )
    return Case(problem, replace(case.algorithm, **chosen), case.rounds)


def _at(case: Case, point: Point, start: float | None) -> Case:
    """Return a case with numbers for its letters, and perhaps with a bound on the start.

    What is false with such a bound is false without it.
    """
    numbers = with_numbers(case, point)
    if start is None:
        return numbers
    conditions = (*numbers.problem.conditions, start_within(R=start))
    return replace(
        numbers, problem=FunctionClassProblem(conditions=conditions, clients=case.problem.clients)
    )


def measure(claim: RunClaim, case: Case, forms: Sequence[Form]) -> dict[str, Any]:
    """Return for each form the tightest point that was looked at, and the proof if there is one.

    Raises:
        DriftproofError: the region is empty, or holds values for which nothing is defined.
    """
    try:
        return _measured(claim, case, forms)
    except (ArithmeticError, ValueError) as error:
        free = ", ".join(map(shown, letters_in(case).values()))
        raise DriftproofError(
            f"{free}: {error}",
            "a region that is not empty, with rational ends, on which class and method are defined",
            "leave an end out: for_all('0 < mu < L'), say",
        ) from error


def _measured(claim: RunClaim, case: Case, forms: Sequence[Form]) -> dict[str, Any]:
    left = forms[0].left or claim.left
    assert left is not None
    written = region_of(claim, case)
    region = Region(written)
    for letter in letters_in(case).values():  # a right side is simplified as if its letters were
        if not region.nonnegative(letter):
            raise DriftproofError(
                f"for_all({repr(letter).removeprefix('all ')!r})",
                "a range without negative numbers",
                "begin it at 0 or above",
            )
    programs = build(case.algorithm, case.problem, rounds=case.rounds, left=left)
    _check_text(case, left, region, programs)
    looked = [  # where a run in doubles takes the numbers for what they are
        point
        for point in ends_and_middle(region)
        if all(decimal(float(of)) == of for of in point.values())
    ]
    if not looked:
        raise DriftproofError(
            f"the region {region.said}, whose ends and middle have more digits than doubles",
            "a region with a few points of short decimals",
            "choose constants of few digits, L = 1 say",
        )
    made: dict[str, Any] = {"region": region.said, "forms": {}}
    for form in forms:
        made["forms"][form.key] = found = dict[str, Any]()
        own = [program.less(factors_of(claim, case, form, region)) for program in programs]
        values = [_values(program, region) for program in own]
        met = [
            (point, [value(point) for value in values])
            for point in looked
            if assumptions.outside(claim, with_numbers(case, point), form) is None
        ]
        for point, _ in met:
            at_numbers.check(claim, form, with_numbers(case, point))
        if not met:
            found["unmet"] = assumptions.outside(claim, with_numbers(case, looked[0]), form)
            continue

        def tightness(of: tuple[Point, list[float]], form: Form = form) -> float:
            right = worst_cases.right_side(claim, with_numbers(case, of[0]), form).low
            ratio = max(of[1]) / float(right) if right else max(of[1])
            return round(ratio, DIGITS) if isfinite(ratio) else ratio

        above = [of for of in met if tightness(of) > 1][:TRIED]
        starts = any(relation.kind.startswith("start-") for relation in case.problem.relations)
        solvable = case.problem.function_class.solvable
        free, refuted = bool(programs[0].lacking) and solvable and not starts, False
        for point, reached in above or [max(met, key=tightness)]:
            found["point"] = {name: str(value) for name, value in point.items()}
            found["value"] = max(reached)
            for start in [None] if not free else worst_cases.STARTS if above else []:
                found["start"] = start
                numbers = _at(case, point, start)
                found["measured"] = worst_cases.measure(claim, numbers, [form])
                row = worst_cases.judge(claim, numbers, form, found["measured"])
                if refuted := row.verdict is Verdict.REFUTED:
                    break
            if refuted:
                break
        if refuted:
            continue
        try:
            found["files"] = _proved(claim, case, form, own, written)
        except DriftproofError as error:
            found["open"] = error.got
    return made


def _check_text(case: Case, left: Any, region: Region, programs: Sequence[WorstCase]) -> None:
    """Raise DriftproofError if an algorithm does with numbers what it does not do with letters."""
    for k in SIXTEENTHS:
        shares = [Fraction(k * (2 * i + 1) % 16, 16) for i in range(len(region.free))]
        inside = point_of(region, shares)
        point = {name: decimal(float(f"{float(of):.{DIGITS}g}")) for name, of in inside.items()}
        numbers = with_numbers(case, point)
        run = build(numbers.algorithm, numbers.problem, rounds=case.rounds, left=left)
        in_letters = [replace(at(program, point), about={}) for program in programs]
        if in_letters != [replace(program, about={}) for program in run]:
            raise DriftproofError(
                f"other steps of {case.algorithm} at {point} than in letters",
                "a text that is the same for all values of the letter",
                "give the parameter a number, or a case for each",
            )


def _proved(
    claim: RunClaim, case: Case, form: Form, programs: Sequence[Any], written: Any
) -> dict[str, str]:
    region, files = Region(written), dict[str, str]()
    right = right_side(claim, case, form, region)
    for program in programs:
        file = worst_cases.file_name(claim, case, form, program.about["moment"], "theorem-")
        for of_solution in (False, True):  # a face may be good in a part of the region alone
            bound = right.of_letters(region)
            try:
                found = multipliers(program, region, bound, of_solution=of_solution)
                files[file] = theorem(program, right, written, found)
                break
            except DriftproofError as error:
                reason = error
        else:
            with suppress(ArithmeticError, ValueError):  # a pole, or rounding
                for found in families(program, region, bound):
                    with suppress(DriftproofError):
                        files[file] = theorem(program, right, written, found)
                        break
            if file not in files:
                raise reason
    return files


def right_side(claim: RunClaim, case: Case, form: Form, region: Region) -> Right:
    """Return a right side as an expression in letters, with numbers of those that are fixed.

    Raises:
        DriftproofError: it is no rational function of the free letters.
    """
    return _right(claim, case, worst_cases.expression_of(claim, case, form), region)


def factors_of(claim: RunClaim, case: Case, form: Form, region: Region) -> dict[str, Any]:
    """Return what each measured mean in a right side is multiplied by, as a function of letters.

    Raises:
        DriftproofError: it is no rational function of the free letters.
    """
    expressions = worst_cases.expressions_of_factors(claim, case, form)
    return {
        name: _exact(_right(claim, case, of, region).of_letters(region))
        for name, of in expressions.items()
    }


def _right(claim: RunClaim, case: Case, expression: Any, region: Region) -> Right:
    import sympy

    names = {symbol.name for symbol in expression.free_symbols}
    fixed = {name: of for name, of in _fixed(claim, case).items() if name in names}
    right = Right(sympy.sstr(expression), fixed)
    try:
        right.of_letters(region)
    except (ArithmeticError, ValueError, SyntaxError) as error:
        raise DriftproofError(
            f"the right side {right.text} in letters: {error}",
            "a rational function of the free letters",
            "give the letters under a root or in an exponent numbers",
        ) from error
    return right


def _exact(of: Any) -> Any:
    return of if isinstance(of, Ratio) else fraction(of)


def _fixed(claim: RunClaim, case: Case) -> dict[str, Fraction]:
    """Return the numbers of the letters that have one."""
    notation, free = claim.notation(case), letters_in(case)
    roles = {**roles_of(case), **case.problem.exact_constants, **case.algorithm.values()}
    own = {name: roles[role] for name, role in notation.items() if role in roles}
    for name, letter in free.items():
        if own.get(name) is not letter:
            raise DriftproofError(
                f"for_all({name!r} …) for a parameter that the statement calls otherwise",
                f"one of the letters {', '.join(sorted(notation))} for its own parameter",
                "name the letter as the notation of the algorithm or the class has it",
            )
    numbers = {name: of for name, of in own.items() if isinstance(of, int | float | Fraction)}
    return {name: decimal(of) for name, of in numbers.items() if isfinite(of)}


def region_of(claim: RunClaim, case: Case) -> list[list[str]]:
    """Return a case's letters with their ends, each after those that its ends speak of."""
    free, fixed = letters_in(case), _fixed(claim, case)
    written: list[list[str]] = []
    done: dict[str, Any] = {}
    left = dict(free)
    while left:
        ready = [
            name for name, letter in left.items() if not _names(letter.low, letter.high) & set(left)
        ]
        if not ready:
            raise DriftproofError(
                f"the ranges {', '.join(map(shown, left.values()))}, which need each other",
                "an order in which each speaks of earlier ones alone",
                "write the ends of one of them in numbers",
            )
        letter = left.pop(ready[0])
        ends = [_end(text, fixed, done) for text in (letter.low, letter.high) if text]
        signs = ["<" if letter.above else "<=", "<" if letter.below else "<="]
        upper = [signs[1], ends[1]] if letter.high else []
        written.append([ends[0], signs[0], letter.name, *upper])
        done[letter.name] = letter
    return written


def _names(*texts: str) -> set[str]:
    """Return the letters in some expressions."""
    return {name for text in texts for name in re.findall("[A-Za-z][A-Za-z0-9_]*", text)}


def _end(text: str, fixed: Mapping[str, Fraction], done: Mapping[str, Any]) -> str:
    """Return an end of a range in letters that are free."""
    given = {name: rational(of) for name, of in fixed.items() if name in _names(text)}
    try:
        return str(evaluate(text, given, done))
    except (ArithmeticError, ValueError, SyntaxError) as error:
        raise DriftproofError(
            f"the end {text!r} of a range: {error}",
            "a rational expression in letters of the statement",
            'write for_all("0 < eta <= 1/L"), say',
        ) from error


def _values(program: WorstCase, region: Region) -> Callable[[Point], float]:
    """Return a function from points to the worst case, less what a solver's rounding may add.

    Points that differ in units alone have one program, which is solved once.
    """
    scale, known = units(program, region), dict[tuple[Fraction, ...], float]()

    def value(point: Point) -> float:
        shared = scale.shared(point)
        key = tuple(shared.values())
        if key not in known:
            known[key] = _value(program, shared)
        return known[key] * float(scale.size(point))

    return value


def _value(program: WorstCase, point: Point) -> float:
    try:
        sample = Sample(program, point)
        return sample.optimum - float(worst_cases.NEAR * sample.exact.scale)
    except UnboundedError:
        return inf
    except DriftproofError:  # nothing is known of it
        return -inf


def judge(claim: RunClaim, case: Case, form: Form, measured: Mapping[str, Any]) -> Row:
    """Return the row of one form: SUPPORTED for all values of the letters, or REFUTED at some."""
    found, region = measured["forms"][form.key], measured["region"]
    if "point" not in found:
        return row_of(claim, form, case_entry(case), inapplicable(), None, found["unmet"])
    point = {name: Fraction(of) for name, of in found["point"].items()}
    row = None
    if "measured" in found:
        numbers = _at(case, point, found["start"])
        row = worst_cases.judge(claim, numbers, form, found["measured"])
    if row is None or row.verdict is Verdict.INCONCLUSIVE:  # the solver alone says how tight it is
        numbers = with_numbers(case, point)
        right = float(worst_cases.right_side(claim, numbers, form).low)
        value = min(found["value"], right) if "files" in found else found["value"]
        row = row_of(
            claim,
            form,
            case_entry(case),
            undecided(),
            rhs=right,
            comparisons=1,
            lhs={"mean": value, "low": None, "high": None},
            instance=instance(roles_of(numbers), claim.notation(numbers)),
        )
    row = assumptions.flag_edge_cases(claim, numbers, form, row)
    row = replace(row, case=case_entry(case))
    where = ", ".join(f"{name} = {of}" for name, of in point.items())
    if row.verdict is Verdict.REFUTED:
        return replace(row, reason=f"at {where}: {row.reason}")
    if "files" in found:
        reason = f"proved for all {region}, in every dimension; the numbers are those at {where}"
        if case.problem.of_all_rounds:
            reason += f"; {worst_cases.REPLAYED}"
        return replace(
            row,
            verdict=settled(True).verdict,
            evidence=Evidence.THEOREM,
            reason=reason,
            proofs={**row.proofs, **found["files"]},
        )
    known = "proved" if row.verdict is Verdict.SUPPORTED else "not refuted"
    reason = f"{known} at {where}, the tightest point that was looked at; for all {region} open: "
    reason += found["open"]
    return withdrawn(row, reason)


def worst(claim: Any, task: ClaimTask) -> bytes:
    """Do the task of looking for the tightest point, and for a proof for all."""
    case, _ = task.of(claim)
    return json.dumps(measure(claim, case, [claim.forms[int(k)] for k in task.args])).encode()


class ForAll(worst_cases.OverClass):
    """Judges a bound over a class of functions for all values of its letters."""

    edges = False  # those of its tightest point are in the row
    on_numbers = False  # of its region those points are looked at that meet every assumption
    letters = True
    task = staticmethod(worst)
    judge = staticmethod(judge)


JUDGE = ForAll()
