r"""A counterexample as LaTeX: the functions, each step in a line, and both sides.

All is computed once by the algorithm's, the problem's and the measure's own text (``told``), and a
second time from the LaTeX alone (``read_back``): what the two do not agree on is not written.
"""

import inspect
import re
from collections.abc import Iterable
from dataclasses import fields
from fractions import Fraction
from operator import gt
from typing import Any

import sympy

from driftproof.synthetic.building_blocks.curves import Curve, Number
from driftproof.synthetic.building_blocks.piecewise_family import declared
from driftproof.toolkit.balls import RefusedError, precision
from driftproof.toolkit.balls.operations import hull
from driftproof.toolkit.balls.tensor import ball
from driftproof.toolkit.cases import Case, roles_of
from driftproof.toolkit.constants import ROLES, RUN_ROLES, Letters, expressed, latex
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.engines.balls import run_in_balls
from driftproof.toolkit.rationals import INEXACT, decimal
from driftproof.toolkit.report.latex_text import latex_text
from driftproof.toolkit.tolerances import STORED
from driftproof.verifiers.claim_types.claim import Form
from driftproof.verifiers.judges.enclosed import MOST
from driftproof.verifiers.standalone.formulas import Curves, Piece
from driftproof.verifiers.standalone.read_back import LEFT, RIGHT, Reading
from driftproof.verifiers.standalone.refusal import NoScriptError
from driftproof.verifiers.standalone.right import means_of
from driftproof.verifiers.standalone.script import outcome_of
from driftproof.verifiers.standalone.terms import (
    NOTHING,
    Term,
    number_text,
    on_values,
    settled,
    term,
)
from driftproof.verifiers.standalone.told import Line, Told

MOST_NUMBERS = 2_000
"""Coordinates of all clients after all steps, at most."""
ROWS, LONGEST = 48, 20_000
"""Lines of a part, of which more are left out in the middle, and letters of a text, at most."""


def tex_of(claim: Any, form: Form, case: Case) -> tuple[str, float, float]:
    """Return the LaTeX of a case that breaks a form of a claim, and both sides.

    Raises:
        NoScriptError: with the reason why there is none.
    """
    if not claim.measures or case.algorithm is None:
        raise NoScriptError(f"no run decides it (@{claim.way}), so there is none to write down")
    if means_of(claim, case, form.right):
        raise NoScriptError("its right side names measured means")
    measure = form.left or claim.left
    curves, told = Curves(case.problem), Told(case)
    try:
        outcome, _, until = outcome_of(claim, form, case, cut=True)
        how, count = outcome.how, outcome.taken.shape[1]
        numbers = until * case.algorithm.local_steps * case.problem.clients * case.problem.dim
        if numbers > MOST_NUMBERS:
            raise NoScriptError(f"its steps have {numbers:,} numbers, too many to follow")
        with precision(operations=MOST), curves.named():
            run_in_balls(
                case.problem,
                case.algorithm,
                rounds=case.rounds,
                left=told.measuring(measure),
                axes=how[1:],
                upto=count - 1 if how[0] == "each" else None,
                exact=lambda _: told,
            )
            sides = [*_left(told, how[0]), *_right(claim, case, form, curves)]
            rows = _rows(case, curves, told.lines, sides)
            reading = Reading()
            reading.read([row for block in rows.values() for row in block])
            if not on_values(gt, reading.letters[LEFT], reading.letters[RIGHT]):
                raise NoScriptError("in fractions its left side is not above the right side")
    except (RefusedError, ArithmeticError) as error:
        raise NoScriptError(f"its numbers cannot be written as fractions: {error}") from None
    left, right = (float(ball(reading.letters[side]).mid()) for side in (LEFT, RIGHT))
    text = _text(claim, form, case, rows)
    if len(text) > LONGEST:
        raise NoScriptError(f"its LaTeX would have {len(text):,} characters")
    return text, left, right


def _left(told: Told, how: str) -> list[Line]:
    """Return the lines of what is measured, and of the left side."""
    if how not in ("each", "average", "smallest"):
        raise NoScriptError("it measures means given the past")
    made = [told.mean(values) for of in told.moments for values in _comparisons(of)]
    lines = [Line(f"M_{{{s}}}", x.text, settled(x)) for s, x in enumerate(made)]
    if how == "average" and len(made) > 1:
        kept = [Term(line.value.value, line.subject) for line in lines]
        mean = sum(kept[1:], kept[0]) / Term(Fraction(len(kept)), bare=True)
        return [*lines, Line(LEFT, mean.text, settled(mean))]
    best = max if how == "each" else min
    line = best(lines, key=lambda line: float(line.value.mid()))
    return [Line(LEFT, line.text, line.value)]


def _comparisons(of: Any) -> Iterable[Any]:
    entries = of.value.entries
    return list(entries) if of.by_client else [entries]


def _right(claim: Any, case: Case, form: Form, curves: Curves) -> list[Line]:
    """Return the lines of the letters of the right side, and of that."""
    notation, roles = claim.notation(case), roles_of(case)
    expression = expressed(form.right, Letters(notation))
    lines = []
    for symbol in sorted(expression.free_symbols, key=str):
        role = notation[symbol.name]
        proven = role in case.problem.constants or role == "initial_gap"
        says = ROLES.get(role) or RUN_ROLES.get(role) or role.replace("_", " ")
        gap = curves.gap(case.problem.start()) if role == "initial_gap" else None
        known = (
            Line(latex(symbol), gap[0].text, settled(gap[0]), said=f"least at ${gap[1]}$")
            if gap
            else Line(latex(symbol), "", _letter(roles[role], proven=proven), said=latex_text(says))
        )
        lines.append(known)
    text = latex(expression)
    value = Reading({line.subject: line.value.value for line in lines}).value(text)
    return [*lines, Line(RIGHT, text, settled(value))]


def _letter(value: Any, *, proven: bool) -> Term:
    """Return a number of a right side; what was computed in doubles may be a few roundings off."""
    known, exact = len(INEXACT), decimal(value)
    if len(INEXACT) == known:
        return Term(exact)
    off = ball(Fraction(STORED)) * abs(ball(exact))
    return settled(hull(ball(exact) - off, ball(exact) + off) if proven else exact)


def _rows(case: Case, curves: Curves, steps: list[Line], sides: list[Line]) -> dict[str, list[str]]:
    """Return the rows of the text: of functions, letters, steps and sides."""
    said = " ".join(line.text for line in (*steps, *sides))
    method = case.algorithm
    letters = {
        latex(sympy.Symbol(name)): term(getattr(method, role))
        for name, role in method.notation.items()
        if type(getattr(method, role, None)) is float
    }
    own = {name: Line(name, "", x) for name, x in letters.items() if name in said}
    return {
        "functions": [rf"{name}(x) &= {cases(of)}" for name, of in curves.used.items()],
        "letters": [row_of(line) for line in own.values()],
        "steps": [row_of(line) for line in steps],
        "sides": [row_of(line) for line in sides if line.text or line.subject not in own],
    }


def row_of(line: Line) -> str:
    """Return a line as LaTeX."""
    parts = [part for part in (line.text, line.value.text) if part]
    said = line.said or (line.chance != 1 and f"with probability ${number_text(line.chance)}$")
    remark = rf" && \text{{{said}}}" if said else ""
    return f"{line.subject} &= {' = '.join(dict.fromkeys(parts))}{remark}"


def cases(pieces: list[Piece]) -> str:
    """Return a piecewise polynomial."""
    x = Term(Fraction(2), "x")
    texts, ends = [], [None, *(end for end, _ in pieces)]
    for (end, coefficients), start in zip(pieces, ends, strict=False):
        made = NOTHING
        for n in reversed(range(len(coefficients))):
            power = x**n if n > 1 else x if n else Term(Fraction(1), bare=True)
            made = made + Term(coefficients[n], bare=True) * power
        low = "" if start is None else rf"{number_text(start)} \le "
        high = "" if end is None else rf" \le {number_text(end)}"
        texts.append(f"{made.text} & {low}x{high}")
    if len(pieces) == 1:
        return texts[0].partition(" & ")[0]
    return r"\begin{cases} " + r" \\ ".join(texts) + r" \end{cases}"


def _text(claim: Any, form: Form, case: Case, rows: dict[str, list[str]]) -> str:
    """Return the whole text."""
    method, problem = case.algorithm, case.problem
    assert method is not None
    start = ", ".join(number_text(decimal(x)) for x in problem.start().tolist())
    step = (
        (inspect.getdoc(type(method)) or type(method).__name__).partition("\n")[0].replace("`", "")
    )
    steps = [r"Then, $(t)$ being what holds after $t$ steps,", *aligned(rows["steps"])]
    return "\n".join(
        [
            *heading(claim, form.key),
            f"Let there be {counted(problem.clients, 'client')}{_family(problem)}, where",
            *aligned(rows["functions"]),
            f"Run {latex_text(str(method))} ({latex_text(step.rstrip('.'))}) from ${start}$"
            f" for {counted(case.rounds, 'round')}" + (", with" if rows["letters"] else "."),
            *aligned(rows["letters"]),
            *steps * bool(rows["steps"]),
            "The two sides of the bound are",
            *aligned([*rows["sides"], rf"{LEFT} &> {RIGHT}"]),
            *[r"Here $[a \pm b]$ is a number within $b$ of $a$."] * (r"\pm" in str(rows)),
            *[f"The assumptions are met: {'; '.join(map(_assumption, claim.assumes))}."]
            * bool(claim.assumes),
            "",
        ]
    )


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
            value = kind.filled(value, problem.clients, problem.dim)
        elif isinstance(kind, Curve) or name in ("clients", "dim") or value == default[name]:
            continue
        numbers.append(f"{latex_text(name)} = {latex_text(str(value))}")
    known = leaves("problem").get(getattr(problem, "leaf_name", ""))
    # K is the number of clients there, and may be another letter of the claim
    stated = re.sub(
        r"(?<![A-Za-z])K(?![A-Za-z])",
        f"{{{problem.clients}}}",
        known.metadata["statement"] if known else "",
    )
    said = [f"of ${stated}$"] * bool(stated)
    return ", ".join(["", *said, *numbers])


def _assumption(one: Any) -> str:
    return latex_text(one.name) + (f", ${one.statement}$" if one.statement else "")


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
