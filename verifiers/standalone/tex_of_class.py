r"""A counterexample over a class as LaTeX: its functions' points, and both sides, in fractions."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from operator import gt
from typing import Any

import sympy

from driftproof.toolkit.constants import latex
from driftproof.toolkit.report.latex_text import latex_text
from driftproof.verifiers.standalone.read_back import LEFT, RIGHT, Reading
from driftproof.verifiers.standalone.refusal import NoScriptError
from driftproof.verifiers.standalone.terms import NOTHING, Term, number_text, on_values
from driftproof.verifiers.standalone.tex import LONGEST, ROWS, aligned, heading, row_of
from driftproof.verifiers.standalone.told import Line


def tex_of_class(claim: Any, form: str, counterexample: str) -> str:
    """Return the LaTeX of functions of a class that break a bound.

    Args:
        counterexample: its file, as ``driftproof check`` takes it. That the points satisfy the
            conditions of the class is checked by its script.

    Raises:
        NoScriptError: with the reason why there is none.
    """
    found = json.loads(counterexample)
    if found["fields"]:
        raise NoScriptError("its operators turn: they are no functions with values")
    vectors, ending = found["coordinates"], found["conclusion"]
    dimension = len(next(iter(vectors.values())))
    given = {_name(name, j, dimension): Fraction(x)
             for name, of in vectors.items() for j, x in enumerate(of)}  # fmt: skip
    given |= {_name(name): Fraction(x) for name, x in found["numbers"].items()}

    def total(of: dict[str, str], j: int | None = None) -> Term:
        names = {name: _name(name, j, dimension) for name in of}
        return sum((Term(Fraction(c), bare=True) * Term(given[names[name]], names[name])
                    for name, c in of.items()), NOTHING)  # fmt: skip

    def quadratic(of: dict[str, Any]) -> Term:
        products = (
            Term(Fraction(c), bare=True) * total(u, j) * total(v, j)
            for c, u, v in of["products"] for j in range(dimension)
        )  # fmt: skip
        return sum(products, NOTHING) + total(of["values"])

    lines = []
    for function, of in found["functions"].items():
        for label, point in of["points"].items():
            here = [(label, point["x"]), (f"∇{function}({label})", point["g"])]
            parts = [(_name(name, j, dimension), total(x, j))
                     for name, x in here for j in range(dimension)]  # fmt: skip
            parts.append((_name(f"{function}({label})"), total(point["f"])))
            lines += [Line(name, x.text, Term(x.value)) for name, x in parts if name not in given]
    for name, condition in found["assumptions"].items():
        x, limit = quadratic(condition), condition.get("at_most", condition.get("equals"))
        said = "at most" if "at_most" in condition else "equal to"
        said = f"{said} ${number_text(Fraction(limit))}$"
        lines.append(Line(rf"\text{{{latex_text(name)}}}", x.text, Term(x.value), said=said))
    letters = {name: sympy.Symbol(name) for name in ending["letters"]}
    lines += [Line(latex(letters[name]), "", Term(Fraction(x)))
              for name, x in ending["letters"].items()]  # fmt: skip
    left = quadratic(ending) + Term(Fraction(ending["constant"]), bare=True)
    lines.append(Line(LEFT, left.text, Term(left.value)))
    rows = [row_of(Line(name, "", Term(x))) for name, x in given.items()] + [*map(row_of, lines)]
    rows = list(dict.fromkeys(rows))
    reading, right = Reading(), latex(sympy.sympify(ending["right"], locals=letters))
    reading.read(rows)
    rows.append(row_of(Line(RIGHT, right, Term(reading.value(right)))))
    reading.read(rows[-1:])
    if not on_values(gt, reading.letters[LEFT], reading.letters[RIGHT]):
        raise NoScriptError("in fractions its left side is not above the right side")
    kinds = [
        f"${_name(function)}$ {kind} ({', '.join(f'{a} = {b}' for a, b in letters.items())})"
        for function, of in found["functions"].items() for kind, letters in of["classes"].items()
    ]  # fmt: skip
    text = "\n".join([
        *heading(claim, form),
        f"Of {latex_text(found['about'])}. There are functions, {'; '.join(kinds)}, with",
        *aligned([*rows, rf"{LEFT} &> {RIGHT}"]),
        "They exist, for these points satisfy the interpolation conditions of their classes.", "",
    ])  # fmt: skip
    if len(rows) > ROWS or len(text) > LONGEST:
        raise NoScriptError(f"it takes {len(rows)} lines, of functions in {dimension} dimensions")
    return text


def _name(name: str, coordinate: int | None = None, dimension: int = 1) -> str:
    """Return what a file calls a vector or a number, or its coordinate, as LaTeX."""
    made = re.sub(r"_(\w+)", r"_{\1}", name.replace("*", "^{*}").replace("∇", r"\nabla "))
    if not re.fullmatch(r"[\w\\{}^*(), ]+", made):
        raise NoScriptError(f"{name} has no LaTeX")
    return made if coordinate is None or dimension == 1 else f"[{made}]_{{{coordinate + 1}}}"
