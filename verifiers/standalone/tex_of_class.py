r"""A counterexample over a class as LaTeX: its functions' points, and both sides, in fractions."""

import json
import re
from collections.abc import Container
from fractions import Fraction
from itertools import pairwise
from operator import gt
from typing import Any

import sympy

from driftproof.toolkit.constants import LATEX, latex
from driftproof.toolkit.letters import shown
from driftproof.toolkit.rationals import root as rational_root
from driftproof.toolkit.report.latex_text import latex_text
from driftproof.toolkit.report.listed import listed
from driftproof.verifiers.standalone.formulas import Piece, integral_of, letter
from driftproof.verifiers.standalone.of_formulas import steps
from driftproof.verifiers.standalone.own_start import ROUNDS, Points, stays_away, steep
from driftproof.verifiers.standalone.read_back import LEFT, RIGHT, Reading
from driftproof.verifiers.standalone.refusal import NoScriptError
from driftproof.verifiers.standalone.terms import NOTHING, Term, number_text, on_values, settled
from driftproof.verifiers.standalone.tex import (
    LONGEST,
    ROWS,
    aligned,
    cases,
    counted,
    heading,
    kind_of,
    linear,
    of_draws,
    of_method,
    rounding_of,
    row_of,
    update_of,
)
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
    drawn, _ = _slopes(found)
    vectors, ending, about = found["coordinates"], found["conclusion"], About(claim, found)
    if "start-anywhere" in found["about"]:
        if about.sizeless:
            found["assumptions"].pop("start", None)
        _forget(found)
    away = None
    for rising in (False, True) if about.cycle and "c_0" in vectors else ():
        shown, points = _slopes(found, rising=rising)
        if points and (away := stays_away(about.method, points.values(), about.rounds)):
            drawn = shown
            break
    ending["products"] = about.by_outcome(ending["products"])
    dimension = len(next(iter(vectors.values())))
    given = {
        _name(name, j, dimension): Fraction(x)
        for name, of in vectors.items()
        for j, x in enumerate(of)
        if Fraction(x) or dimension == 1
    }
    given |= {_name(name): Fraction(x) for name, x in found["numbers"].items()}

    def total(of: dict[str, str], j: int | None = None) -> Term:
        names = {_name(name, j, dimension): Term(Fraction(c), bare=True) for name, c in of.items()}
        return sum((c * Term(given[x], x) for x, c in names.items() if x in given), NOTHING)

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
            slope = f"{'∇' * (function[0] != 'A')}{function}({label})"  # an operator has no values
            here = [(label, point["x"]), (slope, point["g"])]
            parts = [
                (_name(name, j, dimension), total(x, j))
                for name, x in here
                for j in range(dimension)
            ]
            parts = [part for part in parts if part[1].value or dimension == 1]
            if function[0] != "A" and "normal-cone" not in of["classes"]:
                parts.append((_name(f"{function}({label})"), total(point["f"])))
            lines += [Line(name, x.text, Term(x.value)) for name, x in parts if name not in given]
    for name, condition in found["assumptions"].items():
        x, limit = quadratic(condition), condition.get("at_most", condition.get("equals"))
        called, said = about.condition(
            name, f"${number_text(Fraction(limit))}$", "at_most" in condition
        )
        lines.append(Line(called, x.text, Term(x.value), said=said))
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
    rows = [*of_letters, *_run(found, about, drawn)] if drawn else list(dict.fromkeys(rows))
    reading, right = Reading(), latex(sympy.sympify(ending["right"], locals=letters))
    reading.read(rows)
    rows.append(row_of(Line(RIGHT, right, Term(reading.value(right)))))
    reading.read(rows[-1:])
    if not on_values(gt, reading.letters[LEFT], reading.letters[RIGHT]):
        raise NoScriptError("in fractions its left side is not above the right side")
    text = "\n".join(
        [
            *heading(claim, form),
            *about.told(away),
            f"Let {_classes(found)}, with{about.least * _valued(found)}",
            *aligned([*rows, rf"{LEFT} &> {RIGHT}"]),
            *[f"${about.x}^{{*}} = 0$, as are coordinates that are not listed."] * (dimension > 1),
            *_exist(found, drawn, about),
            *rounding_of(about.method),
            "",
        ]
    )
    if (len(rows) >= ROWS and not drawn) or len(text) > LONGEST:
        raise NoScriptError(f"it takes {len(rows)} lines, of functions in {dimension} dimensions")
    return text


def _forget(found: dict[str, Any]) -> None:
    """Leave out what a state holds beside x_0, if no point, gradient or side depends on it."""
    others = {name: of for name, of in found["assumptions"].items() if name != "start"}
    used = json.dumps([found["functions"], others, found["conclusion"]])
    start = found["assumptions"].get("start", {"products": []})
    for name in [*found["coordinates"]]:
        if name.startswith("c_") and f'"{name}"' not in used:
            del found["coordinates"][name]
            start["products"] = [of for of in start["products"] if name not in of[1]]


def _own(name: str, letters: Container[str]) -> str:
    """Return a letter's name: where it is typeset as a difference, that is at most Δ."""
    if not LATEX.get(name, "").startswith(r"\left("):
        return name
    return "Delta_0" if "Delta" in letters else "Delta"


BOUNDED = {
    "start-distance": r"\|x_{0} - x^{*}\|^{2}",
    "start-gap": r"F(x_{0}) - F^{*}",
    "start-gradient": r"\|\nabla F(x_{0})\|^{2}",
    "similar": r"\frac{1}{n} \sum_{i} \|\nabla f_{i}(x^{*})\|^{2}",
}
"""What a condition bounds."""
SOURCE = "Taylor, Hendrickx and Glineur 2017"
PAIRS = r"""They exist, for every two points $x$ and $y$ of one of them satisfy
\[ f(x) \ge f(y) + \langle \nabla f(y), x - y \rangle + \frac{1}{2 (1 - \mu/L)}
  \left(\frac{1}{L} \|\nabla f(x) - \nabla f(y)\|^2 + \mu \|x - y\|^2
  - \frac{2 \mu}{L} \langle \nabla f(x) - \nabla f(y), x - y \rangle\right) \]"""


NUMBERED = (
    r"Here $x_{1}, x_{2}, \dots$ are numbered as gradients and values are taken at them, client"
    "\nby client: $x_{k}$ need not be the model after round $k$."
)


X = r"\bx(?=[_^])"
"""Where the variable is named."""


class About:
    """What a file says of the run, and what of that the claim says too."""

    def __init__(self, claim: Any, found: dict[str, Any]) -> None:
        before, _, conditions = found["about"].partition("conditions: ")
        conditions, _, self.moment = conditions.partition("; moment: ")
        self.conditions, self.vectors = conditions.split("; "), found["coordinates"]
        self.points = {point for of in found["functions"].values() for point in of["points"]}
        self.x = "z" if "z*" in self.points else "x"  # of saddle functions z = (x, y)
        self.cycle = "recurs()" in self.conditions
        self.functions = [*map(_name, found["functions"])]
        of = dict(part.split(": ", 1) for part in before.split("; ") if ": " in part)
        self.rounds, self.clients = int(of.get("rounds", 1)), int(of.get("clients", 1))
        cases, self.called = getattr(claim, "classes", ()), of.get("algorithm", "the method")
        self.method = next((x.algorithm for x in cases if self._called(x.algorithm)), None)
        self.notation = {**getattr(self.method, "notation", {}), **getattr(claim, "letters", {})}
        stated = [str(part) for x in cases for part in x.problem.conditions] or self.conditions
        self.stated = {re.split(r"\W", part)[0] for part in stated}
        star, gap = "x*" in self.points, "start-gap" in conditions
        self.least = rf" $F^{{*}} = {'F(x^{*}) = ' * star}0$ and" * (star or gap)
        self.sizeless = "start-anywhere()" in stated or (self.cycle and "start" not in self.stated)

    def _called(self, method: Any) -> bool:
        values = {"name": method.leaf_name, **method.values()}.items()
        return bool(self.called == ", ".join(f"{k} = {shown(value)}" for k, value in values))

    def by_outcome(self, products: list[Any]) -> list[Any]:
        """Return u² + k²v² as ½(u + kv)² + ½(u − kv)², where one client of two is drawn once."""
        cohort = self.method.cohort_size(2) if self.method else 0
        if (len(products), self.clients, self.rounds, cohort) != (2, 2, 1, 1):
            return products
        (c, u, a), (d, v, b) = products
        k = rational_root(Fraction(d))
        if u != a or v != b or Fraction(c) != 1 or k**2 != Fraction(d):
            return products
        sums = [
            {n: Fraction(u.get(n, 0)) + x * Fraction(v.get(n, 0)) for n in {**u, **v}}
            for x in (k, -k)
        ]
        return [["1/2", *[{n: str(x) for n, x in of.items() if x}] * 2] for of in sums]

    def condition(self, name: str, limit: str, most: bool) -> tuple[str, str]:
        """Return what an assumption bounds, and the remark on it: is it one of the claim's?"""
        kinds = (part.partition("(")[0] for part in self.conditions)
        kind = next((kind for kind in kinds if kind.partition("-")[0] == name), "")
        if name.startswith("smallest"):
            measured = "M_{" + ", ".join(re.findall(r"\d+", name)) + "}"
            return f"m - {measured}", f"at most $0$: $m$ is the smallest, ${measured}$ one of them"
        if kind == "start-anywhere" and not any(of.startswith("c_") for of in self.vectors):
            kind = "start-distance"
        called, _, number = name.rstrip(")").partition(", (")
        if called == "line search":
            said = "$g$ is the gradient where a line search ends, $d$ its direction"
            return rf"\langle g, d \rangle_{{{number}}}", f"equal to $0$: {said}"
        number = f"_{{{number}}}" * bool(number)
        bounded = BOUNDED.get(kind, rf"\text{{{latex_text(called)}}}{number}")
        bounded = bounded.replace("{n}", f"{{{self.clients}}}")
        bounded = re.sub(X, self.x, bounded)
        if name in ("start", "similar") and name not in self.stated:
            return bounded, "of these functions; no condition of the claim bounds it"
        return bounded, f"{'at most' if most else 'equal to'} {limit}"

    def told(self, away: tuple[int, float] | None) -> list[str]:
        """Return what is run, what ``stays_away`` found, and what the left side is of."""
        method = (
            of_method(self.method, notation=self.notation)
            if self.method
            else latex_text(self.called)
        )
        of, *others = self.functions
        if self.clients > 1:
            of = rf"\frac{{1}}{{{self.clients}}} \sum_{{i}} {of[0]}_{{i}}"
        mean = " + ".join([of, *(name for name in others if "_" not in name)])
        shared = (
            f"{counted(self.clients, 'client')}, with ${'A' if mean[0] == 'A' else 'F'} = {mean}$"
        )
        update = update_of(self.method) if self.method else []
        run = f"Run {method} for {counted(self.rounds, 'round')} on {shared}"
        made = [run + (":" if update else "."), *update]
        made += of_draws(self.method, self.clients) if self.method else []
        if len(self.points) > 2:  # beside x* and x_0
            made.append(re.sub(X, self.x, NUMBERED))
        if not self.cycle:
            when = "taken " * self.moment.startswith("after") + latex_text(self.moment)
            return [*made, f"The left side is {when}."] if self.moment else made
        if self.rounds == 1:
            made.append(
                "The round ends where it began, at $x_{0}$, which is not $x^{*}$: there a run"
            )
            made.append("stays for ever.")
        else:
            made.append("Then its state is the first one again, so it runs in a cycle for ever:")
            made.append("below, two of its points differ, and there is no limit.")
        made.append("Where a gradient has a formula, it is the one that this asks for.")
        if "c_0" in self.vectors:
            known = getattr(self.method, "begins", {}).get("own") if self.clients == 1 else None
            begins = "$c_{0}$ as what the method remembers beside $x_{0}$"
            if known:
                begins = (
                    f"${known} = c_{{0}}$, where the method's own start has ${known} = x_{{0}}$"
                )
            made.append(f"It begins with {begins}.")
            if away is None:
                return [*made, "Of a run from the method's own start this says nothing."]
            begun = f"rest, ${known} = x_{{0}}" if known else "its own start, $x_{0}"
            made.append(
                f"Run from {begun} = {away[0]}$ instead, in doubles, it does not converge to"
                f" $x^{{*}}$ either:\n$\\|x\\|$ is about ${away[1]:.4g}$ after {ROUNDS} rounds,"
                f" and the same again {counted(self.rounds, 'round')} later."
            )
        return made


def _classes(found: dict[str, Any]) -> str:
    """Return which classes the functions are of, those of one class together."""
    alike: dict[str, list[str]] = {}
    for name, of in found["functions"].items():
        kind = kind_of(of["classes"], operator=name[0] == "A")
        alike.setdefault(kind, []).append(f"${_name(name)}$")
    return "; ".join(f"{listed(names)} be {kinds}" for kinds, names in alike.items())


def _letter_of_class(name: str, about: About) -> str:
    """Return a letter of a class as LaTeX: with an index if a number of the method has it too."""
    taken = about.method is not None and about.notation.get(name) in about.method.values()
    return latex(sympy.Symbol(name)) + "_{f}" * taken


def _bend(classes: dict[str, Any]) -> tuple[Fraction, Fraction] | None:
    """Return the ends of f'' in a class of smooth functions (None: it is another one)."""
    (kind, of), *more = classes.items()
    if more or not kind.startswith("smooth"):
        return None
    most = Fraction(of["L"])
    return Fraction(of.get("mu", -most if kind == "smooth" else 0)), most


def _exist(found: dict[str, Any], drawn: dict[str, list[Piece]], about: About) -> list[str]:
    """Return why there are such functions."""
    ends = {_name(name): _bend(of["classes"]) for name, of in found["functions"].items()}
    texts = {name: [*map(number_text, of or ())] for name, of in ends.items()}
    if drawn:
        kink = " (on both sides of a kink)" * any(len(of) > 1 for of in drawn.values())
        said = [rf"${of[0]} \le {name}'' \le {of[1]}$" for name, of in texts.items()]
        return [f"Each is of its class, since {listed(said)}{kink}."]
    if fields := {name: of for name, of in found["fields"].items() if "matrix" in of}:
        those, saddle = list[str](), isinstance(found["vectors"], dict)
        for name, field in fields.items():
            of = [[*map(Fraction, row)] for row in field["matrix"]]
            text = linear(of, saddle, [*map(Fraction, field["shift"])])
            called = _name(name.replace("A", "f") if saddle else name)
            field_of = rf" with ${_name(name)} = (\nabla_x {called}, -\nabla_y {called})$" * saddle
            those.append(f"${called}(x, y) = {text}${field_of}")
        return [f"They are those of {listed(those)}."]
    pair, *others = set(ends.values())
    if pair is None or others or pair[0] == pair[1]:
        return [f"They exist, by the interpolation conditions of their classes ({SOURCE})."]
    theorem = "Theorem 4" if pair[0] >= 0 else "on composite problems, Theorem 3.10"
    mu, most = map(number_text, pair)
    L, modulus = (_letter_of_class(name, about) for name in ("L", "mu"))
    pairs = re.sub(r"\bL\b", L, PAIRS).replace(r"\mu", modulus)
    return [pairs, rf"with ${L} = {most}$ and ${modulus} = {mu}$ ({SOURCE}, {theorem})."]


PYTHON = {
    r"Fraction\((-?)(\d+), (\d+)\)": r"\1\\frac{\2}{\3}",
    r"\bdf_(\d+)\(": r"f_{\1}'(",
    r"\bf_(\d+)\(": r"f_{\1}(",
    "x_star": "x^{*}",
    r"\b([a-z])_(\d+)": r"\1_{\2}",
    r"\*\*2": "^{2}",
    r" \* ": r" \\cdot ",
}
"""What the steps of a script have, and its LaTeX."""


def _slopes(found: dict[str, Any], *, rising: bool = False) -> tuple[Any, dict[str, Points]]:
    """Return each f' of one variable, piecewise linear, if it is of its class, and its points."""
    vectors, made, points_of = found["coordinates"], dict[str, list[Piece]](), dict[str, Points]()
    for name, field in found["fields"].items() if "knot" in str(found["fields"]) else ():
        s, p, q, k = map(Fraction, field.values())
        pieces: list[Piece] = [(k, (s, p)), (None, (s + (p - q) * k, q))]
        made[name] = pieces[p == q :]
    if found["fields"] or _valued(found) or len(next(iter(vectors.values()))) > 1:
        return made, {}

    def at(of: dict[str, str]) -> Fraction:
        return sum((Fraction(c) * Fraction(vectors[x][0]) for x, c in of.items()), Fraction(0))

    for name, of in found["functions"].items():
        points = sorted({(at(p["x"]), at(p["g"])) for p in of["points"].values()})
        bend = _bend(of["classes"])
        if bend is None or bend[0] < 0 or len(dict(points)) < max(2, len(points)):
            return {}, {}
        slopes = [(g - e) / (x - y) for (y, e), (x, g) in pairwise(points)]
        if not bend[0] <= min(slopes) <= max(slopes) <= bend[1]:
            return {}, {}
        bent = steep(points, *bend) if rising and bend[0] < bend[1] else points
        points_of[name], lines = bent, list[Piece]()
        for (y, e), (x, g) in pairwise(bent):
            line = (g - (g - e) / (x - y) * x, (g - e) / (x - y))
            lines = [*(lines[:-1] if lines and lines[-1][1] == line else lines), (x, line)]
        made[name] = [*lines[:-1], (None, lines[-1][1])]
    return made, points_of


def _valued(found: dict[str, Any]) -> bool:
    """Say whether values of functions are measured, and not their gradients alone."""
    return any(of["values"] for of in (found["conclusion"], *found["assumptions"].values()))


def _run(found: dict[str, Any], about: About, drawn: dict[str, list[Piece]]) -> list[str]:
    """Return functions of one variable and the run on them, each line with what it comes to."""
    reading, rows = Reading(), list[str]()
    for name, slopes in drawn.items():
        both = {f"{_name(name)}'": slopes, _name(name): integral_of(slopes, Fraction(0))}
        rows += [rf"{called}(x) &= {cases(of)}" for called, of in both.items()][
            : 1 + _valued(found)
        ]
    reading.read(rows)
    for subject, text, sign, limit in steps(found):
        named = LEFT if subject == "left" else subject
        for python, tex in PYTHON.items():
            named, text, limit = (re.sub(python, tex, of) for of in (named, text, limit))
        said = ""
        if subject == "gradients at x*":
            named, said = "F'(x^{*})", "so $x^{*}$ minimises $F$"
            text = rf"\frac{{1}}{{{about.clients}}} \cdot {text}" if about.clients > 1 else text
        elif subject[0] == "∇":
            named, text = text, limit
        elif sign:
            named, said = about.condition(subject, f"${limit}$", sign == "<=")
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
