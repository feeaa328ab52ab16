r"""A counterexample as LaTeX: the functions, each step in a line, and both sides.

All is computed once by the algorithm's, the problem's and the measure's own text (``told``), and a
second time from the LaTeX alone (``read_back``): what the two do not agree on is not written.
"""

import inspect
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from fractions import Fraction
from operator import eq, gt, le, lt
from typing import Any

import numpy as np
import sympy

from driftproof.synthetic.building_blocks.curves import Curve, Number
from driftproof.synthetic.building_blocks.piecewise_family import declared
from driftproof.toolkit.at_optimum import AT_OPTIMUM, DISSIMILARITY, FIELD, MINIMA_GAP, OF_X
from driftproof.toolkit.balls import RefusedError, precision
from driftproof.toolkit.balls.operations import hull
from driftproof.toolkit.balls.tensor import BITS, ball, fraction, lift
from driftproof.toolkit.cases import Case, roles_of
from driftproof.toolkit.constants import MEASURED, ROLES, RUN_ROLES, Letters, expressed, latex
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.engines.balls import run_in_balls
from driftproof.toolkit.problem import with_overrides
from driftproof.toolkit.rationals import INEXACT, decimal, in_fractions, rounded
from driftproof.toolkit.report.latex_text import latex_text
from driftproof.toolkit.report.listed import listed
from driftproof.toolkit.tolerances import STORED
from driftproof.verifiers.claim_types.claim import Form
from driftproof.verifiers.judges.assumptions import conjuncts, relation_of
from driftproof.verifiers.judges.bounds import coefficients
from driftproof.verifiers.judges.enclosed import MOST
from driftproof.verifiers.standalone.formulas import Curves, Piece
from driftproof.verifiers.standalone.read_back import ALONE, LEFT, RIGHT, Reading
from driftproof.verifiers.standalone.refusal import NoScriptError
from driftproof.verifiers.standalone.script import outcome_of
from driftproof.verifiers.standalone.terms import (
    DIGITS,
    NOTHING,
    Term,
    bracketed,
    digits_of_intervals,
    number_text,
    on_values,
    settled,
    term,
)
from driftproof.verifiers.standalone.told import Line, Told
from driftproof.verifiers.worst_case.on_paper.inequalities import words

MOST_NUMBERS = 2_000
"""Coordinates of all clients after all steps, at most."""
ROWS, LONGEST = 64, 20_000
"""Lines of a part, of which more are left out in the middle, and letters of a text, at most."""
NUMBER = re.compile(r"(?<=\^\{\()\d+(?=\)\} &=)|(?<=^M_\{)\d+(?=\} &=)")
"""Which step, or which term of the left side, a row is of."""
_NUMBER = r"(?<![\w{}.])(?<!\^\{\()-?(?:\\frac\{\d+\}\{\d+\}|\d+(?:\.\d+)?(?![\d}]))"
NUMERAL = re.compile(rf"(?:\\left)?\({_NUMBER}(?:\\right)?\)|{_NUMBER}")
"""A number of a formula, and no index, with its brackets."""
INTERVALS = r"Here $[a \pm b]$ is a number within $b$ of $a$."
ROUNDED = (
    "Numbers of the method that are no short fractions are rounded; all is exact of those written "
    "here."
)
WORDED = re.compile(r"[A-Za-z]{2,} [A-Za-z]{2,}")
"""Words, and no formula."""
DOUBLE = re.compile(r"(?<!\[)(?<!\[-)\b\d\.\d{15,17}(?!\d).* = ")
"""A double among what a step is computed of, and no interval."""
MANY_LETTERS = 15
"""More has a double that is no short decimal."""
MOST_DIGITS = 12
"""Of what is an upper end."""
MOST_DECIMALS = 16 * DIGITS
"""Of an interval, where fewer leave open on which piece of a function a point lies."""


def tex_of(
    claim: Any, form: Form, case: Case, digits: int = DIGITS
) -> tuple[str, float, float, float]:
    """Return the LaTeX of a case that breaks a form of a claim, and both sides.

    Args:
        digits: of its intervals, at first; where these are too wide, it has more.

    Raises:
        NoScriptError: with the reason why there is none.
    """
    if not claim.measures or case.algorithm is None:
        raise NoScriptError(f"no run decides it (@{claim.way}), so there is none to write down")
    measure = form.left or claim.left
    curves, told = Curves(case.problem), Told(case)
    try:
        outcome, _, until = outcome_of(claim, form, case, cut=True)
        how, count = outcome.how, outcome.taken.shape[1]
        numbers = until * case.algorithm.local_steps * case.problem.clients * case.problem.dim
        if numbers > MOST_NUMBERS:
            raise NoScriptError(f"its steps have {numbers:,} numbers, too many to follow")
        known = case.problem.solution
        problem = case.problem
        if least := curves.least(known.minimiser):  # x* and F* are those of the formulas
            x = replace(known, minimiser=np.array(least[: problem.dim]), exact=True)
            exact = {"solution": x, "gap": curves.above, "enclosed_solution": curves.lower}
            problem = with_overrides(problem, **exact)
        bits = max(BITS, 4 * digits)
        with precision(bits, MOST), digits_of_intervals(digits), curves.named():
            run_in_balls(
                problem,
                case.algorithm,
                rounds=case.rounds,
                left=told.measuring(measure),
                axes=how[1:],
                upto=count - 1 if how[0] == "each" else None,
                exact=lambda _: told,
            )
            left_side, means = _left(told, how[0], coefficients(claim, case, form.right))
            sides = [*left_side, *_right(claim, case, form, curves, means)]
            assumed = met(claim, form, case, curves=curves)
            if "^{*}" in f"{sides}{assumed}":
                sides[:0] = _stars(curves, case.problem.dim, f"{sides}{assumed}")
            rows = _rows(case, curves, told.lines(sides), sides, assumed)
            reading = Reading()
            every = [row for block in rows.values() for row in block]
            told_before = {row.partition(" &")[0] for row in every}
            assumed = met(claim, form, case, told_before, curves)
            reading.read(every)
            others = [x for name, x in reading.letters.items() if name.startswith("M_{")]
            lefts = [reading.letters[LEFT], *others * (how[0] == "smallest")]
            right = reading.letters[RIGHT]
            if any(on_values(le, left, right) for left in lefts):
                raise NoScriptError("in fractions its left side is not above the right side")
            if not all(on_values(gt, left, right) for left in lefts):
                raise RefusedError("its intervals leave open which side is larger", open=True)
    except (RefusedError, ArithmeticError) as error:
        if getattr(error, "open", False) and digits < MOST_DECIMALS:
            return tex_of(claim, form, case, 2 * digits)
        raise NoScriptError(f"its numbers cannot be written as fractions: {error}") from None
    both = [ball(reading.letters[side]) for side in (LEFT, RIGHT)]
    left, right = (float(x.mid()) for x in both)
    text = _text(claim, form, case, rows, how, assumed, told.begun)
    if len(text) > LONGEST:
        raise NoScriptError(f"its LaTeX would have {len(text):,} characters")
    return text, left, right, float(max(x.rad() for x in both))


def _left(told: Told, how: str, factors: Mapping[str, float]) -> tuple[list[Line], dict[str, Term]]:
    """Return the lines of what is measured, and of the left side; and the measured means by name.

    Args:
        factors: of the means in the right side. Of several comparisons the worst is told.
    """
    if how not in ("each", "average", "smallest"):
        raise NoScriptError("it measures means given the past")

    def taken(name: str) -> list[Term]:
        values = [(of.parts[name] if name else of.value).entries for of in told.moments]
        by_client = told.moments[0].by_client
        return [told.mean(x) for of in values for x in (of if by_client else [of])]

    made, means = taken(""), {name: taken(name) for name in factors}
    lines = [Line(f"M_{{{s}}}", x.text, settled(x)) for s, x in enumerate(made)]
    if how == "average" and len(made) > 1:
        kept = [Term(line.value.value, line.subject) for line in lines]
        count = Term(Fraction(len(kept)), bare=True)
        mean = sum(kept[1:], kept[0]) / count
        text = rf"\frac{{1}}{{{len(kept)}}} \sum_{{s=0}}^{{{len(kept) - 1}}} M_{{s}}"
        averages = {name: sum(of[1:], of[0]) / count for name, of in means.items()}
        return [*lines, Line(LEFT, text, settled(mean))], averages

    def over(s: int) -> float:
        less = sum(factors[name] * float(ball(of[s].value).mid()) for name, of in means.items())
        return float(ball(lines[s].value.value).mid()) - less

    best = (min if how == "smallest" else max)(range(len(lines)), key=over)
    line, beside = lines[best], {name: of[best] for name, of in means.items()}
    if how == "smallest" and len(lines) > 1:
        return [*lines, Line(LEFT, line.subject, line.value, said="the smallest")], beside
    return [Line(LEFT, line.text, line.value)], beside


def _stars(curves: Curves, dim: int, said: str) -> list[Line]:
    """Return the lines of x* (and y*), of the derivatives there, and of F* where it is used."""
    best, slopes = curves.best, curves.slopes()
    lines = [Line(x.text, "", Term(x.value)) for x in best]
    f = "f" if len(best) > dim else "F"
    for x, parts in zip(best, zip(*slopes, strict=True), strict=True):
        mean = sum(parts, NOTHING) / Term(Fraction(len(slopes)), bare=True)
        by = rf"\partial_{{{x.text.replace('^{*}', '')}}} {f}" if len(best) > 1 else f"{f}'"
        name = f"{by}({', '.join(one.text for one in best)})"
        lines.append(Line(name, mean.text * (mean.text != name), settled(mean)))
    lines[-1] = replace(lines[-1], said="$F$ is least there" * (f == "F"))
    if "F^{*}" in said:
        least = curves.mean([])
        lines.append(Line("F^{*}", least.text, settled(least)))
    return lines


def _right(
    claim: Any, case: Case, form: Form, curves: Curves, means: Mapping[str, Term]
) -> list[Line]:
    """Return the lines of the letters of the right side, and of that."""
    expression = expressed(form.right, Letters(claim.notation(case)))
    free = next(x for x in ("A", "B", "D", "Q") if x not in claim.notation(case))
    named = {name: sympy.Symbol(f"{free}_{k}") for k, name in enumerate(means, 1)}
    expression = expression.subs(
        {sympy.Symbol(MEASURED + name, real=True): x for name, x in named.items()}
    )
    measured = [
        Line(
            latex(named[name]),
            x.text,
            settled(x),
            said=f"${latex(sympy.Symbol(MEASURED + name), claim.measured)}$",
        )
        for name, x in means.items()
    ]
    others = expression.free_symbols - {*named.values()}
    ones = [x for x in others if claim.notation(case)[x.name] == "clients"]
    expression = expression.subs({x: 1 for x in ones if case.problem.clients == 1})
    symbols = expression.free_symbols - {*named.values()}
    others = expression.xreplace({x**2: sympy.S.One for x in symbols}).free_symbols
    lines = _letters(claim, case, symbols, curves, symbols - others)
    text = latex(expression)
    known = {line.subject: line.value.value for line in (*lines.values(), *measured)}
    value = Reading(known).value(text)
    most = any(line.most for line in lines.values())
    return [
        *measured,
        *lines.values(),
        Line(RIGHT, text, _most(value) if most else settled(value), most=most),
    ]


def _letters(
    claim: Any,
    case: Case,
    symbols: Iterable[Any],
    curves: Curves | None,
    squared: Container[Any] = (),
) -> dict[Any, Line]:
    """Return the line of each letter, or of its square, where that is all there is of a root."""
    notation, roles, lines = claim.notation(case), roles_of(case), dict[Any, Line]()
    for symbol in sorted(symbols, key=str):
        role = notation[symbol.name]
        proven = role in case.problem.constants or role == "initial_gap"
        says = ROLES.get(role) or RUN_ROLES.get(role) or role.replace("_", " ")
        subject, says = latex(symbol), latex_text(says)
        if case.problem.offers == "class" and case.problem.clients > 1:  # it is of every function
            says = re.sub("the objective('s gradient)?", _each_of, says)
        if not case.problem.two_levels:  # there is no y
            of = r"each $\\nabla f_{i}$" if case.problem.clients > 1 else r"$\\nabla F$"
            says = re.sub(r"each client's (\(descent-ascent\) )?gradient field", of, says)
        if curves and curves.best and (size := _at_least(role, case, curves)) is not None:
            root = size.sqrt() if role in AT_OPTIMUM - {MINIMA_GAP} else size
            if not isinstance(root.value, Fraction) and symbol in squared:
                subject, root = latex(symbol**2), size
            short = Term(root.value, rf"\sqrt{{{settled(size).text}}}")
            value = settled(root) if isinstance(root.value, Fraction) else short
            lines[symbol] = Line(subject, root.text, value)
            continue
        value = _letter(roles[role], proven=proven)
        if role == "field_heterogeneity" and curves and (apart := curves.apart()) is not None:
            value = Term(apart) if ball(value.value).contains(ball(apart)) else value
        most = role in AT_OPTIMUM and not isinstance(value.value, Fraction)  # an upper end
        value = _most(value.value) if most else value
        lines[symbol] = Line(subject, "", value, said=says, most=most)
    return lines


def _each_of(found: re.Match[str]) -> str:
    """Return what is said of the objective as it is said of each client's function."""
    return r"each $\nabla f_{i}$" if found[1] else "each $f_{i}$"


def _at_least(role: str, case: Case, curves: Curves) -> Term | None:
    """Return what x* decides, or its square if it is a root (None: it is another quantity)."""
    start = case.problem.start()
    if role == "initial_gap":
        return term(lift(curves.above(start[:, None]))[0])
    if role not in AT_OPTIMUM or role == MINIMA_GAP:
        return curves.minima_gap() if role == MINIMA_GAP else None
    apart = [x - Term(decimal(float(at))) for x, at in zip(curves.best, start, strict=True)]
    each = [apart[: case.problem.dim if role == OF_X else None]]
    of = curves.slopes() if role in (DISSIMILARITY, FIELD) else each
    return sum((x**2 for parts in of for x in parts), NOTHING) / Term(Fraction(len(of)), bare=True)


def _most(value: Any) -> Term:
    """Return a short number that is not below another one."""
    return Term(Fraction(rounded(fraction(ball(value).upper()), MOST_DIGITS, up=True)))


def met(
    claim: Any, form: Form, case: Case, known: Container[str] = (), curves: Curves | None = None
) -> list[str]:
    """Return that the assumptions hold, with both sides of each relation, and its letters.

    Args:
        known: letters that are told elsewhere.

    Raises:
        NoScriptError: with these numbers one is not met.
    """
    if not (assumed := (*claim.assumes, *form.assumes)):
        return []
    key = claim.notation(case).key
    related = [one for one in assumed if one.relation is not None]
    relations = {one: in_fractions(relation_of(one, key).formula) for one in related}
    symbols = {x for of in relations.values() for x in of.free_symbols}
    lines = _letters(claim, case, symbols, curves)
    numbers = {x: line.value.value for x, line in lines.items()}
    exact = {x: sympy.Rational(str(of)) for x, of in numbers.items() if isinstance(of, Fraction)}
    reading = Reading({line.subject: line.value.value for line in lines.values()})
    said, told = [], set[Any]()
    for one in assumed:
        formula = relations.get(one)
        if formula is not None and formula.subs(exact) == sympy.false:
            raise NoScriptError(f"in fractions an assumption is not met ({one.name})")
        parts = [x for x in conjuncts(formula) if any(of.subs(exact) != 0 for of in x.args)]
        told |= {x for part in parts for x in part.free_symbols}  # and nothing of 0 ≤ 0
        both = []
        with suppress(NoScriptError):  # as of max, with which no text is read back
            both = [_sides(part, reading) for part in parts]
        stated, since = assumption(one), listed(both)  # of a tie both are the same
        said.append(stated + f", since {since}" * (since not in stated))
    rows = [row_of(line) for x, line in lines.items() if x in told and line.subject not in known]
    ending = "; with" if rows else "."
    return [f"The assumptions are met: {'; '.join(said)}{ending}", *aligned(rows)]


def _sides(relation: Any, reading: Reading) -> str:
    """Return both sides of a relation, and what they come to.

    Raises:
        NoScriptError: in fractions it does not hold, as an equality within a tolerance.
    """
    pair = (relation.lts, relation.gts) if hasattr(relation, "lts") else relation.args
    values = [reading.value(latex(x)) for x in pair]
    if not on_values({"==": eq, "<": lt, ">": lt}.get(relation.rel_op, le), *values):
        raise NoScriptError("what it comes to does not show that it holds")
    texts = [
        [latex(x)] * (not x.is_number) + [settled(Term(value)).text]
        for x, value in zip(pair, values, strict=True)
    ]
    if relation.rel_op == "==":
        texts = [[*texts[0], *texts[1]]]
    sign = {"<": " < ", ">": " < "}.get(relation.rel_op, r" \le ")
    return f"${sign.join(' = '.join(dict.fromkeys(of)) for of in texts)}$"


def _letter(value: Any, *, proven: bool) -> Term:
    """Return a number of a right side; what was computed in doubles may be a few roundings off."""
    known, exact = len(INEXACT), decimal(value)
    if len(INEXACT) == known:
        return Term(exact)
    off = ball(Fraction(STORED)) * abs(ball(exact))
    return settled(hull(ball(exact) - off, ball(exact) + off) if proven else exact)


def _rows(
    case: Case, curves: Curves, steps: list[Line], sides: list[Line], assumed: list[str]
) -> dict[str, list[str]]:
    """Return the rows of the text: of functions, letters, steps and sides."""
    said = " ".join(f"{line.subject} {line.text}" for line in (*steps, *sides))
    said += " ".join(assumed)
    method, period = case.algorithm, case.algorithm.local_steps
    letters = {
        latex(sympy.Symbol(name)): term(getattr(method, role))
        for name, role in method.notation.items()
        if type(getattr(method, role, None)) is float
    }
    own = {name: Line(name, "", x) for name, x in letters.items() if name in said}
    shown = [line for line in sides if line.text or line.subject not in own]
    return {
        "functions": [
            rf"{name}({x}) &= {cases(of, x)}"
            for name, of in curves.used.items()
            if re.search(rf"{re.escape(name)}(\\left)?\(", said)
            for x in [curves.variable(name)]
        ],
        "letters": [row_of(line) for line in own.values()],
        "steps": told_once([*map(row_of, steps)], period),
        "sides": told_once([*map(row_of, shown)], period),
    }


def told_once(rows: list[str], period: int) -> list[str]:
    """Return rows, those that differ in evenly spaced numbers alone as one, with a remark."""
    for evenly in (False, True):
        own, made = [int((*NUMBER.findall(row), -1)[0]) for row in rows], list[str]()
        keys = [_in_k(row, n, evenly=evenly) for row, n in zip(rows, own, strict=True)]
        for row, key, number in zip(rows, keys, own, strict=True):
            every = [n for n, other in zip(own, keys, strict=True) if other == key]
            if len({*np.diff(every)}) != 1:
                every = [n for n in every if (n - number) % period == 0]
            if len(every) < 4 or len({*np.diff(every)}) != 1 or " && " in row:
                made.append(row)
            elif number == every[0]:
                of = rf"{'s' if row[0] == 'M' else 'k'} = {number}, {every[1]}, \dots, {every[-1]}"
                made.append(rf"{key} && \text{{for ${of}$}}")
        rows = made
    return rows


def _in_k(row: str, n: int, *, evenly: bool) -> str:
    """Return a row in k, its number: with ``evenly`` also its first value and its last one."""
    k = "s" if row[0] == "M" else "k"
    if re.search(ALONE % k, row):  # a letter of its own
        return row
    text = NUMBER.sub(k, row)
    if not evenly or k == "s" or not (found := NUMERAL.findall(text)) or " && " in row:
        return text
    ends = [Reading().value(found[of]) for of in (0, -1)]
    grows = ends[1] - ends[0]

    def moved(at: re.Match[str]) -> str:
        x = Reading().value(at[0])
        made = multiples([(grows, k), (x - n * grows, "")])
        beside = re.search(r"( -|cdot) $", text[: at.start()]) or at[0][-1] == ")"
        made = bracketed(made) if beside or text[at.end() :].startswith((r" \cdot", "^")) else made
        return made if x in ends else at[0]

    return NUMERAL.sub(moved, text)


def row_of(line: Line) -> str:
    """Return a line as LaTeX."""
    parts = [part for part in (line.text, line.value.text) if part]
    said = line.said or (line.chance != 1 and f"with probability ${number_text(line.chance)}$")
    remark = rf" && \text{{{said}}}" if said else ""
    first, last = ("=", " = ") if not line.most else ("=" if line.text else r"\le", r" \le ")
    return f"{line.subject} &{first} {last.join(dict.fromkeys(parts))}{remark}"


def cases(pieces: list[Piece], of: str = "x") -> str:
    """Return a piecewise polynomial of x, or of another variable."""
    x = Term(Fraction(2), of)
    texts, ends = [], [None, *(end for end, _ in pieces)]
    for (end, powers), start in zip(pieces, ends, strict=False):
        made = NOTHING
        for n in reversed(range(len(powers))):
            power = x**n if n > 1 else x if n else Term(Fraction(1), bare=True)
            made = made + Term(powers[n], bare=True) * power
        low = "" if start is None else rf"{number_text(start)} \le "
        high = "" if end is None else rf" \le {number_text(end)}"
        texts.append(f"{made.text} & {low}{of}{high}")
    if len(pieces) == 1:
        return texts[0].partition(" & ")[0]
    return r"\begin{cases} " + r" \\ ".join(texts) + r" \end{cases}"


def _text(
    claim: Any,
    form: Form,
    case: Case,
    rows: dict[str, list[str]],
    how: Any,
    assumed: list[str],
    begun: list[str],
) -> str:
    """Return the whole text."""
    method, problem = case.algorithm, case.problem
    assert method is not None
    start = ", ".join(number_text(decimal(x)) for x in problem.start().tolist())
    step = (inspect.getdoc(type(method)) or "").partition("\n")[0]
    step *= not step.startswith(f"{type(method).__name__}(")  # Python's own, where there is none
    for name, role in method.notation.items():
        step = step.replace(f"``{role}``", f"${latex(sympy.Symbol(name))}$")
    step = latex_text(step.replace("`", "").rstrip(".")) if "$" not in step else step.rstrip(".")
    told = [row.partition(" &= ")[0] for row in rows["letters"]]
    notation = {**method.notation, **claim.letters}
    steps = [r"Then, $(t)$ being what holds after $t$ steps,", *aligned(rows["steps"])]
    least, each = "minimum" if how[0] == "smallest" else "mean", listed(how[1:]).replace("_", " ")
    terms = f", where $M_{{s}}$ is term $s$ of the {least} on the left, one for each {each}:"
    return "\n".join(
        [
            *heading(claim, form.key),
            f"Let there be {counted(problem.clients, 'client')}{_family(problem)}, where",
            *aligned(rows["functions"]),
            f"Run {of_method(method, told, notation)}{f' ({step})' * bool(step)} from ${start}$"
            f" for {counted(case.rounds, 'round')}" + (", with" if rows["letters"] else "."),
            *aligned(rows["letters"]),
            *[f"At the start {listed(begun)}."] * bool(begun),
            *of_draws(method, problem.clients),
            *steps * bool(rows["steps"]),
            "The two sides of the bound are" + terms * ("M_{" in str(rows["sides"])),
            *aligned([*rows["sides"], rf"{LEFT} &> {RIGHT}"]),
            *[INTERVALS] * (r"\pm" in f"{rows}{assumed}"),
            *assumed,
            *(rounding_of(method, f"{rows}") or [ROUNDED] * any(map(DOUBLE.search, rows["steps"]))),
            "",
        ]
    )


def of_method(
    method: Any, told: Container[str] = (), notation: Mapping[str, str] | None = None
) -> str:
    r"""Return a method and its numbers in the field's letters, but those that are told elsewhere.

    >>> from driftproof.toolkit.algorithms import FedAvg
    >>> print(of_method(FedAvg(local_steps=4, step_size=0.5)))
    FedAvg with $\tau = 4$ local steps and step size $\eta = \frac{1}{2}$
    """
    notation = method.notation if notation is None else notation
    letters = {role: latex(sympy.Symbol(name)) for name, role in notation.items()}
    said: list[str] = []
    for name, value in method.values().items():
        letter, named = letters.get(name, ""), latex_text(name.replace("_", " "))
        wanted = name in method.changed() or (type(value) is float and letter)
        if letter in told or not wanted or name == "participation":
            continue
        number = "" if type(value) not in (int, float) else number_text(decimal(value))
        number = f"${letter} = {number}$" if letter and number else f"${number}$" if number else ""
        if number and type(value) is int and named.endswith("s"):
            said.append(f"{number} {named if value > 1 else named[:-1]}")
        else:
            said.append(f"{named} {number or latex_text(_plain(value))}")
    return latex_text(type(method).__name__) + f" with {listed(said)}" * bool(said)


def _plain(value: Any) -> str:
    """Return a parameter that is no number as a reader knows it, and not as Python does."""
    if isinstance(value, tuple | list):
        return f"({', '.join(map(_plain, value))})"
    number = isinstance(value, float | Fraction)
    return str(decimal(value)) if number else getattr(value, "__name__", str(value))


def update_of(method: Any) -> list[str]:
    """Return a method's update as it is published, unless a word among its parameters alters it."""
    words = any(not isinstance(x, int | float) for x in method.changed().values())
    altered = words and not method.stated_for_words
    undefined = r"\mathcal" in method.stated  # samples and cohorts, of which nobody speaks here
    return [rf"\[ {method.stated} \]"] * bool(method.stated and not altered and not undefined)


def rounding_of(method: Any, text: str) -> list[str]:
    """Return a sentence on a method's numbers of many digits, if a text has some."""
    numbers = [x for x in method.values().values() if type(x) is float] if method else []
    long = [number_text(decimal(x)) for x in numbers if len(repr(x)) > MANY_LETTERS]
    return [ROUNDED] * any(x in text for x in long)


def kind_of(classes: Mapping[str, Mapping[str, Any]], *, operator: bool = False) -> str:
    """Return what a function is, by the conditions of its class and their constants."""
    numbers = {kind: [Fraction(x) for x in of.values()] for kind, of in classes.items()}
    said = [words(kind, of, number_text, operator=operator) for kind, of in numbers.items()]
    return " and ".join(said) or "any function"


def linear(of: Sequence[Sequence[Fraction]], saddle: bool, shift: Sequence[Any] = (0, 0)) -> str:
    """Return the function, the saddle function or the operator with a linear field."""
    if len(of) == 1:
        return multiples([(of[0][0] / 2, "x^{2}")])
    (p, b), (c, r), (s, u) = *of, shift
    if saddle:
        square = [(p / 2, "x^{2}"), (b, "x y"), (-r / 2, "y^{2}")]
        return multiples([*square, (s, "x"), (-u, "y")])
    return (
        f"({multiples([(p, 'x'), (b, 'y'), (s, '')])}, {multiples([(c, 'x'), (r, 'y'), (u, '')])})"
    )


def multiples(terms: Iterable[tuple[Any, str]]) -> str:
    """Return a sum of multiples of letters; "" stands for 1."""
    made = (Term(Fraction(c), bare=True) * Term(Fraction(1), x, bare=not x) for c, x in terms)
    return sum(made, NOTHING).text


def of_draws(method: Any, clients: int) -> list[str]:
    """Return which clients take part in a round, if not all do, as sentences."""
    size = method.cohort_size(clients)
    if size == clients:
        return []
    chance = number_text(Fraction(size, clients))
    drawn = f"{counted(size, 'client')} of the {clients} {'is' if size == 1 else 'are'} drawn"
    each = f"In each round {drawn}, each with"
    return [f"{each} probability ${chance}$; the left side is the mean over that."]


def counted(number: int, what: str) -> str:
    """Return how many there are.

    >>> counted(1, "client"), counted(2, "round")
    ('one client', '2 rounds')
    """
    return f"one {what}" if number == 1 else f"{number} {what}s"


def heading(claim: Any, form: str) -> list[str]:
    """Return the first lines of a text: what it contradicts."""
    return [
        f"% {claim.name}, {form}: a counterexample, written by driftproof",
        "% needs amsmath; each line was read back from this text and computed once more",
        rf"\paragraph{{Counterexample}} to {latex_text(claim.source)},",
        rf"\[ {claim.statement} \]",
    ]


def _family(problem: Any) -> str:
    """Return what a problem's functions are parts of, and its numbers."""
    family: type = type(problem)
    kinds, default = declared(family), {f.name: f.default for f in fields(problem)}
    numbers = []
    for name, value in problem.values().items():
        kind = kinds.get(name)
        if isinstance(kind, Number):
            value = kind.filled(value, (problem.clients, problem.dim))
            if kind.letter and problem.dim == 1:
                numbers.append(f"with ${_each(kind.letter, [x for (x,) in value])}$")
                continue
        elif isinstance(kind, Curve) or isinstance(value, str) or value == default[name]:
            continue  # the formulas show it, as tails
        elif name in ("clients", "dim"):
            continue
        said = f"{latex_text(name)} $"
        if (name, problem.dim, getattr(problem, "rare", 0)) == ("noise", 1, 0.5):
            said = r"a sampled gradient being, with either sign as likely, the true one $\pm "
        size = number_text(decimal(value)) if isinstance(value, float) else _plain(value)
        numbers.append(f"{said}{size}$")
    known = leaves("problem").get(getattr(problem, "leaf_name", ""))
    stated = known.metadata["statement"] if known else ""
    if problem.clients == 1:  # their functions have no index, and no mean
        stated = re.sub(r"_[ik]\b", "", re.sub(r"\\frac1(\w)\\sum_\{\w=1\}\^\1 ?", "", stated))
    mean = rf"\\frac{{1}}{{{problem.clients}}}\\sum_{{\2=1}}^{{{problem.clients}}}"
    stated = re.sub(r"\\frac1(\w)\\sum_\{(\w)=1\}\^\1", mean, stated)
    sides = (part.split(" = ") for part in stated.split(r",\quad ") if "linear}" not in part)
    stated = r",\quad ".join(" = ".join(x) for x in sides if len({*map(str.lower, x)}) == len(x))
    return ", ".join(["", *[f"with ${stated}$"] * bool(stated), *numbers])


def _each(name: str, values: Sequence[float]) -> str:
    """Return the clients' numbers by their letter, equal ones together."""
    names = [f"{name}_{{{k}}}" if len(values) > 1 else name for k in range(1, len(values) + 1)]
    texts = [number_text(decimal(x)) for x in values]
    if len({*texts}) == 1:
        return " = ".join([*names, texts[0]])
    return ", ".join(f"{x} = {text}" for x, text in zip(names, texts, strict=True))


def assumption(one: Any) -> str:
    """Return an assumption as the paper calls it, and what it says: a formula, or words."""
    if "\\" not in one.statement and WORDED.search(one.statement):
        return latex_text(f"{one.name}, {one.statement}")
    named = one.statement.startswith(latex(sympy.Symbol(one.name)))  # of a tie: eta = 1/L
    parts = [latex_text(one.name)] * (not named) + [f"${one.statement}$"] * bool(one.statement)
    return ", ".join(parts)


def aligned(rows: list[str]) -> list[str]:
    """Return rows as LaTeX; of very many, those in the middle are left out."""
    if not rows:
        return []
    if len(rows) > ROWS:
        half = ROWS // 2
        left_out = rf"&\;\;\vdots && \text{{({len(rows) - ROWS} lines)}}"
        rows = [*rows[:half], left_out, *rows[-half:]]
    return [
        r"\begin{align*}",
        *(f"  {row} \\\\" for row in rows[:-1]),
        f"  {rows[-1]}.",
        r"\end{align*}",
    ]
