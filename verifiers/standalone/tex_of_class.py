r"""A counterexample over a class as LaTeX: its functions' points, and both sides, in fractions."""

import json
import re
from collections.abc import Container
from fractions import Fraction
from operator import gt
from typing import Any

import sympy

from driftproof.toolkit.constants import LATEX, latex
from driftproof.toolkit.report.latex_text import latex_text
from driftproof.verifiers.standalone.formulas import Piece, integral_of, letter
from driftproof.verifiers.standalone.of_formulas import steps
from driftproof.verifiers.standalone.read_back import LEFT, RIGHT, Reading
from driftproof.verifiers.standalone.refusal import NoScriptError
from driftproof.verifiers.standalone.terms import NOTHING, Term, number_text, on_values, settled
from driftproof.verifiers.standalone.tex import LONGEST, ROWS, aligned, cases, heading, row_of
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
    drawn = "knot" in str(found["fields"])
    if found["fields"] and not drawn:
        raise NoScriptError("its operators turn: they are no functions with values")
    vectors, ending = found["coordinates"], found["conclusion"]
    dimension = len(next(iter(vectors.values())))
    given = {
        _name(name, j, dimension): Fraction(x)
        for name, of in vectors.items()
        for j, x in enumerate(of)
    }
    given |= {_name(name): Fraction(x) for name, x in found["numbers"].items()}

    def total(of: dict[str, str], j: int | None = None) -> Term:
        names = {name: _name(name, j, dimension) for name in of}
        return sum(
            (
                Term(Fraction(c), bare=True) * Term(given[names[name]], names[name])
                for name, c in of.items()
            ),
            NOTHING,
        )

    def quadratic(of: dict[str, Any]) -> Term:
        products = (
            Term(Fraction(c), bare=True) * total(u, j) * total(v, j)
            for c, u, v in of["products"]
            for j in range(dimension)
        )
        return sum(products, NOTHING) + total(of["values"])

    lines = []
    for function, of in found["functions"].items():
        for label, point in of["points"].items():
            here = [(label, point["x"]), (f"∇{function}({label})", point["g"])]
            parts = [
                (_name(name, j, dimension), total(x, j))
                for name, x in here
                for j in range(dimension)
            ]
            parts.append((_name(f"{function}({label})"), total(point["f"])))
            lines += [Line(name, x.text, Term(x.value)) for name, x in parts if name not in given]
    for name, condition in found["assumptions"].items():
        x, limit = quadratic(condition), condition.get("at_most", condition.get("equals"))
        said = "at most" if "at_most" in condition else "equal to"
        said = f"{said} ${number_text(Fraction(limit))}$"
        lines.append(Line(rf"\text{{{latex_text(name)}}}", x.text, Term(x.value), said=said))
    letters = {name: sympy.Symbol(_own(name, ending["letters"])) for name in ending["letters"]}
    for name, x in ending["letters"].items():
        made = latex(letters[name])
        gap = LATEX.get(name, "").removeprefix(r"\left(").removesuffix(r"\right)")
        said = "" if letters[name].name == name else rf"${gap} \le {made}$"
        lines.append(Line(made, "", Term(Fraction(x)), said=said))
    left = quadratic(ending) + Term(Fraction(ending["constant"]), bare=True)
    lines.append(Line(LEFT, left.text, Term(left.value)))
    rows = [row_of(Line(name, "", Term(x))) for name, x in given.items()] + [*map(row_of, lines)]
    of_letters = rows[-1 - len(letters) : -1]
    rows = [*of_letters, *_run(found)] if drawn else list(dict.fromkeys(rows))
    reading, right = Reading(), latex(sympy.sympify(ending["right"], locals=letters))
    reading.read(rows)
    rows.append(row_of(Line(RIGHT, right, Term(reading.value(right)))))
    reading.read(rows[-1:])
    if not on_values(gt, reading.letters[LEFT], reading.letters[RIGHT]):
        raise NoScriptError("in fractions its left side is not above the right side")
    kinds = [
        f"${_name(function)}$ {kind} ({', '.join(f'{a} = {b}' for a, b in letters.items())})"
        for function, of in found["functions"].items()
        for kind, letters in of["classes"].items()
    ]
    text = "\n".join(
        [
            *heading(claim, form),
            *_told(found["about"]),
            f"There are functions, {'; '.join(kinds)}, with",
            *aligned([*rows, rf"{LEFT} &> {RIGHT}"]),
            SLOPES if drawn else POINTS,
            "",
        ]
    )
    if (len(rows) > ROWS and not drawn) or len(text) > LONGEST:
        raise NoScriptError(f"it takes {len(rows)} lines, of functions in {dimension} dimensions")
    return text


POINTS = "They exist, for these points satisfy the interpolation conditions of their classes."
SLOPES = "Each is of its class, by the slopes of its derivative."


def _own(name: str, letters: Container[str]) -> str:
    """Return a letter's name: where it is typeset as a difference, that is at most Δ."""
    if not LATEX.get(name, "").startswith(r"\left("):
        return name
    return "Delta_0" if "Delta" in letters else "Delta"


def _told(about: str) -> list[str]:
    """Return what is run, and what the left side is of, as sentences."""
    of = dict(part.split(": ", 1) for part in about.split("; ") if ": " in part)
    method, _, values = of.get("algorithm", "the method").removeprefix("name = ").partition(", ")
    with_ = f" with {latex_text(values.replace('_', ' '))}" if values else ""
    clients = int(of.get("clients", 1))
    shared = f", on {clients} clients, whose functions have the mean $F$" if clients > 1 else ""
    made = [f"Run {latex_text(method)}{with_}, for {of.get('rounds', 'some')} rounds{shared}."]
    if "recurs()" in about:
        made.append("Then its state is the first one again, so it runs in a cycle for ever: below,")
        made.append("two of its points differ, and there is no limit. $c_{0}$ is what else than")
        made.append("$x_{0}$ it remembers at first.")
    elif "moment" in of:
        made.append(f"The left side is {latex_text(of['moment'])}.")
    return made


PYTHON = {
    r"Fraction\((\d+), (\d+)\)": r"\\frac{\1}{\2}",
    r"\bdf_(\d+)\(": r"f_{\1}'(",
    r"\bf_(\d+)\(": r"f_{\1}(",
    "x_star": "x^{*}",
    r"\b([a-z])_(\d+)": r"\1_{\2}",
    r"\*\*2": "^{2}",
    r" \* ": r" \\cdot ",
}
"""What the steps of a script have, and its LaTeX."""


def _run(found: dict[str, Any]) -> list[str]:
    """Return functions of one variable and the run on them, each line with what it comes to."""
    reading, rows = Reading(), list[str]()
    for name, field in found["fields"].items():
        s, p, q, k = map(Fraction, field.values())
        pieces: list[Piece] = [(k, (s, p)), (None, (s + (p - q) * k, q))]
        slopes = pieces[p == q :]
        both = {f"{_name(name)}'": slopes, _name(name): integral_of(slopes, Fraction(0))}
        rows += [rf"{called}(x) &= {cases(of)}" for called, of in both.items()]
    reading.read(rows)
    for subject, text, sign, limit in steps(found):
        named = rf"\text{{{latex_text(subject)}}}" if sign or subject == "left" else subject
        for python, tex in PYTHON.items():
            named, text, limit = (re.sub(python, tex, of) for of in (named, text, limit))
        said = f"at most ${limit}$" if sign == "<=" else sign and f"equal to ${limit}$"
        rows.append(row_of(Line(named, text, settled(Term(reading.value(text))), said=said)))
        reading.read(rows[-1:])
    return rows


def _name(name: str, coordinate: int | None = None, dimension: int = 1) -> str:
    """Return what a file calls a vector or a number, or its coordinate, as LaTeX."""
    made = re.sub(r"[^\W\d_]+(_[^\W\d_]+)*", lambda word: letter(word[0], []), name)
    made = re.sub(r"(?<!\\)_(\w+)", r"_{\1}", made.replace("*", "^{*}").replace("∇", r"\nabla "))
    if not re.fullmatch(r"[\w\\{}^*(), ]+", made):
        raise NoScriptError(f"{name} has no LaTeX")
    return made if coordinate is None or dimension == 1 else f"[{made}]_{{{coordinate + 1}}}"
