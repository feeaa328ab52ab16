r"""A counterexample over a class as LaTeX: its functions' points, and both sides, in fractions."""

import json
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from operator import gt
from typing import Any

import sympy

from driftproof.toolkit.constants import LATEX, MEASURED, Letters, expressed, latex
from driftproof.toolkit.letters import shown
from driftproof.toolkit.rationals import decimal
from driftproof.toolkit.rationals import root as rational_root
from driftproof.toolkit.report.latex_text import latex_text
from driftproof.toolkit.report.listed import listed
from driftproof.verifiers.standalone.formulas import Piece, integral_of, letter
from driftproof.verifiers.standalone.of_formulas import nearest
from driftproof.verifiers.standalone.read_back import LEFT, RIGHT, Reading, of_table
from driftproof.verifiers.standalone.refusal import NoScriptError
from driftproof.verifiers.standalone.right import means_of
from driftproof.verifiers.standalone.terms import (
    NOTHING,
    Term,
    bracketed,
    number_text,
    on_values,
    settled,
)
from driftproof.verifiers.standalone.tex import (
    INTERVALS,
    LONGEST,
    ROWS,
    aligned,
    cases,
    counted,
    heading,
    kind_of,
    linear,
    met,
    multiples,
    of_draws,
    of_method,
    rounding_of,
    row_of,
    update_of,
)
from driftproof.verifiers.standalone.told import Line
from driftproof.verifiers.worst_case import cycles


def tex_of_class(claim: Any, form: str, counterexample: str) -> str:
    """Return the LaTeX of functions of a class that break a bound.

    Args:
        counterexample: its file, as ``driftproof check`` takes it. That the points satisfy the
            conditions of the class is checked by its script.

    Raises:
        NoScriptError: with the reason why there is none.
    """
    found = _from_one(json.loads(counterexample))
    about = About(claim, found)
    if "start-anywhere" in found["about"]:
        if about.sizeless:
            found["assumptions"].pop("start", None)
        _forget(found)
    order = _needed(found)
    vectors, ending = found["coordinates"], found["conclusion"]
    begin = partial(cycles.from_rest, found, about.rounds, about.method)
    rest = begin() if about.limit else None
    drawn = _slopes(found, rising=rest is not None)
    ending["products"] = about.by_outcome(ending["products"])
    dimension, spaces = len(next(iter(vectors.values()))), found["vectors"]
    formulas, seen = _formulas(found, drawn), {f"{about.point}*": dict[str, str]()}
    ends, start = _ends(found, about) if formulas else {}, f"{about.point}_0"

    def named(name: str, j: int = 0) -> tuple[str, int]:
        """Return a coordinate of a vector or of a point, and the sign that it has in A."""
        if not formulas or name[:2] == "c_":
            return _name(name, j, dimension), 1
        function, _, at = name.partition("(")
        where = [_name("xy"[k] + (at.split(")")[0] or name)[1:]) for k in range(dimension)]
        part = _part(function[2:], j, about.saddle) if about.plane else f"{_name(function[1:])}'"
        sign = -1 if at and j and about.saddle else 1
        return f"{part}({', '.join(where)})" if at else where[j], sign

    def total(of: dict[str, Any], j: int = 0) -> Term:
        mine = [*spaces.values()][j] if isinstance(spaces, dict) else [*vectors]
        here = {at: {n: x[n] for n in x if n in mine} for at, x in {**seen, "": of}.items()}
        base, rest = nearest(here.pop(""), here)
        at = sum(Fraction(c) * Fraction(vectors[n][j]) for n, c in here[base].items())
        shown = base[1:] != "*" and (at or dimension == 1 or formulas)
        made = Term(Fraction(at), named(base, j)[0]) if shown else NOTHING
        terms = ((c, Fraction(vectors[n][j]), *named(n, j)) for n, c in rest)
        kept = (of for of in terms if of[1] or dimension == 1 or formulas)
        return summed(((c * sign, Term(x * sign, text)) for c, x, text, sign in kept), made)

    def quadratic(of: dict[str, Any]) -> Term:
        parts = product(map(_scaled, of["products"]), range(dimension))
        squares = summed((c, total(u, j) * total(v, j)) for (c, u, v), j in parts)
        return squares + values(of["values"])

    def values(of: dict[str, Any]) -> Term:
        numbers = found["numbers"]
        return summed((c, Term(Fraction(numbers[n]), _name(n))) for n, c in of.items())

    numbers = ((n, x) for n, x in found["numbers"].items() if "(" not in n)
    lines = [Line(_name(n), "", Term(Fraction(x))) for n, x in numbers]
    share = Term(Fraction(1, about.clients), bare=True)

    def tell(label: str, x: Any, said: str = "") -> None:
        """Add the lines of a point's or of a gradient's coordinates."""
        for j in range(dimension):
            (name, sign), term = named(label, j), total(x, j)
            term = -term if sign < 0 and term.value else term
            if term.value or dimension == 1 or formulas:
                text = term.text if term.text != name else ""
                lines.append(Line(name, text, Term(term.value), said=said))

    def coordinates(of: dict[str, Any]) -> str:
        """Return the coordinates of a combination of vectors."""
        parts = [number_text(total(of, j).value) for j in range(dimension)]
        return bracketed(", ".join(parts)) if dimension > 1 else parts[0]

    cycle = _table(found, about, coordinates, values, formulas=bool(formulas))
    for own in vectors:  # gradients without formulas come first, as implicit steps need them
        if not cycle and (own[:2] == "c_" or (not formulas and "(" in own)):
            tell(own, {own: "1"})
    at_star = (f for f, of in found["functions"].items() if of["points"].keys() & {"x*", "z*"})
    *_, sums = ("", *at_star)
    for label, (function, of) in product(order * (not cycle), found["functions"].items()):
        if (p := of["points"].get(label)) is None:
            continue
        star, valued = label[1:] == "*", function[0] != "A" and "normal-cone" not in of["classes"]
        if label not in seen or star:
            tell(label, p["x"])
        seen[label] = p["x"]
        if not (formulas and _is_own(p["g"], function, label)):
            said = "" if star else "to come back to the first state"
            said = about.solves if star and function == sums else said  # the last one says it
            slope = f"{'∇' * (function[0] != 'A')}{function}({label})"
            tell(slope, p["g"], said * bool(formulas))
        name, f = _name(f"{function}({label})"), values(p["f"])
        if valued and not (formulas and (f.text == name or not _valued(found))):
            lines.append(Line(name, f.text if f.text != name else "", Term(f.value)))
    ended, returns = ending["products"], bool(ends)
    u = {n: c for _, u, _ in ended for n, c in u.items()}
    run = {**seen.get(start, {"": ""}), **{n: c for n, c in u.items() if "(" in n}}
    if len(ended) == 1 + about.saddle and run == u not in seen.values():  # where the run ends
        ends = ends or {f"{about.point}_{sum(',' not in at for at in seen) - 1}": u}
    for label, of in ends.items():
        tell(label, of)
        seen[label] = of
    mean = share * sum(map(total, ends.values()), NOTHING)
    begun = (of["points"].get(start, {"g": {}})["g"] for of in found["functions"].values())
    for name, x, said in (
        ("x_{1}", mean, "the mean of the clients is $x_{0}$ again"),
        ("F'(x_{0})", share * sum(map(total, begun), NOTHING), "so $x_{0}$ does not minimise $F$"),
    ) * returns:
        lines.append(Line(name, x.text, Term(x.value), said=said))
    sides = [ending, *found["assumptions"].values()]
    exact = [quadratic(side).value for side in sides]
    last = _of_last(found, about) if about.alone else {}
    for label, of in last.items():
        tell(label, of)
        vectors[label], seen[label] = (
            [str(total(of, j).value) for j in range(dimension)],
            {label: "1"},
        )
    vectors |= {"x*": ["0"] * dimension} if last else {}
    means = _of_means(found, sides) if not (about.cycle or about.plane) else {}
    for label, parts in means.items():
        if label[0] == "F":
            lines.append(Line(_name(label), values(parts).text, Term(values(parts).value)))
            found["numbers"][label] = str(lines[-1].value.value)
        else:
            tell(label, parts)
            vectors[label] = [str(total(parts, j).value) for j in range(dimension)]
    if [quadratic(side).value for side in sides] != exact:
        raise NoScriptError("what is written of means is not what was found; please report it")
    for name, condition in found["assumptions"].items():
        x, limit = quadratic(condition), condition.get("at_most", condition.get("equals"))
        if name == "similar":  # as it is defined, and not as the search has it
            at, squares = f"{about.point}*", NOTHING
            for (f, of), j in product(found["functions"].items(), range(dimension)):
                called, _ = named(f"{'∇' * (f[0] != 'A')}{f}({at})", j)
                g = Term(total(of["points"][at]["g"], j).value, called)
                squares += g**2 if g.value or formulas else NOTHING
            x = share * squares if (share * squares).value == x.value else x
        called, said = about.condition(name, Fraction(limit), "at_most" in condition)
        lines.append(Line(called, x.text, Term(x.value), said=said))
    letters = {name: sympy.Symbol(_own(name, ending["letters"])) for name in ending["letters"]}
    for name, x in ending["letters"].items():
        made = latex(letters[name])
        gap = LATEX.get(name, "").removeprefix(r"\left(").removesuffix(r"\right)")
        said = "" if letters[name].name == name else rf"${gap} \le {made}$"
        lines.append(Line(made, "", Term(Fraction(x)), said=said))
    left = quadratic(ending) + Term(Fraction(ending["constant"]), bare=True)
    lines.append(Line(LEFT, left.text * (not cycle), Term(left.value)))
    shorter = lines if cycle else [*map(_shorter, lines)]
    rows = list(dict.fromkeys(map(row_of, shorter)))
    reading, right = Reading(), latex(sympy.sympify(ending["right"], locals=letters))
    reading.read([*formulas, *of_table("\n".join(cycle)), *rows])
    rule = cycle[0].removeprefix(r"\[ x_{t+1} = ").removesuffix(r", \]") if cycle else ""
    rested = _rested(rest, reading, lambda read: begin(partial(read, rule))) if rest else []
    start_is = r"in motion, $x_{-1} \ne x_{0}$" if about.motion else OTHER
    told = f"Counterexample for a start {start_is}}}"
    elsewhere = about.limit and "c_1" in vectors and not rested
    rows.append(row_of(Line(RIGHT, right, settled(Term(reading.value(right))))))
    reading.read(rows[-1:])
    if not on_values(gt, reading.letters[LEFT], reading.letters[RIGHT]):
        raise NoScriptError("in fractions its left side is not above the right side")
    if about.limit:  # of a fixed point F'(x_0) says it all
        rows = rows[: -2 - (returns or about.rounds > 1) * len(letters)]
    else:
        rows.append(rf"{LEFT} &> {RIGHT}")
    forms = [of for of in getattr(claim, "forms", ()) if of.key == form]
    plain = dimension > 1 and not formulas and not cycle
    setting = about.told(_valued(found), [*last])
    text = "\n".join(
        [
            *(h.replace("Counterexample}", told) if elsewhere else h for h in heading(claim, form)),
            f"Let {_classes(found)}, {'namely' if formulas else 'with the values below.'}",
            *aligned(formulas),
            *_exist(found, drawn, about),
            *setting,
            *(
                _brought(claim, forms[0], about.case)
                if forms and about.case and not about.limit
                else []
            ),
            *["Beside $x_{0}$ the method remembers $c_{i}$, of client $i$."]
            * (not cycle and any(own[:2] == "c_" for own in vectors)),
            *cycle,
            *aligned(rows),
            *about.ended(rested) * about.cycle,
            *[f"${about.x}^{{*}} = 0$, as are coordinates that are not listed."] * plain,
            *(met(claim, forms[0], about.case, reading.letters) if forms and about.case else []),
            *rounding_of(about.method, "\n".join([*setting, *rows])),
            *[INTERVALS] * (r"\pm" in str(rows)),
            "",
        ]
    )
    if about.ahead:  # gradients are taken at y_k, and the last point is an x again
        final = max(ITERATE.findall(text), key=int, default="0")
        text = ITERATE.sub(lambda at: at[0] if at[1] in ("0", final) else f"y_{{{at[1]}}}", text)
    if (len(rows) >= ROWS and not formulas) or len(text) > LONGEST:
        raise NoScriptError(f"it takes {len(rows)} lines, of functions in {dimension} dimensions")
    return text


def _shorter(line: Line) -> Line:
    """Write what comes to a very long number as an interval around it."""
    long = line.text and len(line.value.text) > LONG_NUMBER
    return replace(line, value=settled(line.value)) if long else line


def summed(terms: Iterable[tuple[Any, Term]], first: Term = NOTHING) -> Term:
    """Return a sum of multiples; what is multiplied with the same number is added first."""
    alike = dict[Fraction, Term]()
    for c, x in terms:
        alike[Fraction(c)] = alike.get(Fraction(c), NOTHING) + x
    return sum((Term(c, bare=True) * x for c, x in alike.items()), first)


def _forget(found: dict[str, Any]) -> None:
    """Leave out what a state holds beside x_0, if no point, gradient or side depends on it."""
    others = {name: of for name, of in found["assumptions"].items() if name != "start"}
    used = json.dumps([found["functions"], others, found["conclusion"]])
    start = found["assumptions"].get("start", {"products": []})
    for name in [*found["coordinates"]]:
        if name.startswith("c_") and f'"{name}"' not in used:
            del found["coordinates"][name]
            start["products"] = [of for of in start["products"] if name not in of[1]]


def _is_own(g: dict[str, str], function: str, at: str) -> bool:
    """Say whether a gradient is an unknown of its own, and follows from no others."""
    return bool(g) and all(n.strip("∇").startswith(function) and f"({at})" in n for n in g)


def _points(found: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield each function's points, with what is known there."""
    for function, of in found["functions"].items():
        yield from ((function, at, p) for at, p in of["points"].items())


def _needed(found: dict[str, Any]) -> list[str]:
    """Leave out points on which neither a side nor a condition depends, and number the others.

    Returns:
        The points, in the order of the run.

    Of several clients x_(i,k) is the k-th point at which client i alone takes a gradient.
    """
    functions, numbers, names = found["functions"], Counter[str](), dict[str, str]()
    stated = json.dumps([found["assumptions"], found["conclusion"]], ensure_ascii=False)
    used, points = {*re.findall(r'"([^"]+)"', stated)}, [*_points(found)]
    for _ in points:
        for function, at, p in points:
            if at[1:] == "*" or not _is_own(p["g"], function, at) or used & {*p["g"], *p["f"]}:
                used |= {*p["x"], *p["g"], *p["f"]}
    for function, at, p in points:
        if p["g"] and not used & {*p["g"], *p["f"]}:
            del functions[function]["points"][at]
    for part in ("coordinates", "numbers"):
        found[part] = {name: x for name, x in found[part].items() if name in used}
    asked = [name.rpartition("(")[2].split(")")[0] for name in found["coordinates"]]
    clients = [name for name in functions if name != "h"]
    order = dict.fromkeys(["x*", "z*", *asked, *(at for _, at, _ in _points(found))])
    rests = "start-at-minimiser" in found["about"]  # at x*: x_0 is no point of its own
    for at in order:
        alone = [name[2:] for name in clients if at in functions[name]["points"]]
        if re.fullmatch(r"[xz]_\d+", at) and (at[1:] != "_0" or rests):
            of = f"{alone[0]}," * (len(clients) > 1 and len(alone) == 1)
            numbers[of] += 1
            names[at] = f"{at[:2]}{of}{numbers[of]}"
    text = re.sub(r"\b[xz]_\d+\b", lambda at: names.get(at[0], at[0]), json.dumps(found))
    found.update(json.loads(text))
    return [names.get(at, at) for at in order]


def _own(name: str, letters: Container[str]) -> str:
    """Return a letter's name: where it is typeset as a difference, that is at most Δ."""
    if not LATEX.get(name, "").startswith(r"\left("):
        return name
    return "Delta_0" if "Delta" in letters else "Delta"


LONG_NUMBER = 60
"""Of how many letters a number is written as an interval: a fraction of 25 digits has fewer."""
BOUNDED = {
    "start-distance": r"\|x_{0} - x^{*}\|^{2}",
    "start-gap": r"F(x_{0}) - F^{*}",
    "start-gradient": r"\|\nabla F(x_{0})\|^{2}",
    "similar": r"\frac{1}{n} \sum_{i} \|\nabla f_{i}(x^{*})\|^{2}",
}
"""What a condition bounds."""
LIMITS = {
    "start-distance": "initial_distance",
    "start-gap": "initial_gap",
    "start-gradient": "initial_gradient",
    "similar": ("gradient_dissimilarity", "field_dissimilarity"),
}
"""Of which role the bound, or its root, is."""
SOURCE = "Taylor, Hendrickx and Glineur 2017"
PAIRS = r"""for every two points $x$ and $y$ of one of them satisfy
\[ f(x) \ge f(y) + \langle \nabla f(y), x - y \rangle + \frac{1}{2 (1 - \mu/L)}
  \left(\frac{1}{L} \|\nabla f(x) - \nabla f(y)\|^2 + \mu \|x - y\|^2
  - \frac{2 \mu}{L} \langle \nabla f(x) - \nabla f(y), x - y \rangle\right) \]"""


OTHER = "that need not be the method's own"
NUMBERED = r"Here $x_{i,k}$ is the $k$-th point at which client $i$ alone takes its gradient."


ITERATE = re.compile(r"\bx_\{(\d+)\}")
"""A point of one client's run."""
X = r"\bx(?=[_^])"
"""Where the variable is named."""


class About:
    """What a file says of the run, and what of that the claim says too."""

    def __init__(self, claim: Any, found: dict[str, Any]) -> None:
        before, _, conditions = found["about"].partition("conditions: ")
        conditions, _, self.moment = conditions.partition("; moment: ")
        self.conditions, self.found = conditions.split("; "), found
        self.points = {at for _, at, _ in _points(found)}
        self.saddle = "z*" in self.points
        self.plane = "matrix" in str(found["fields"])
        self.x = "z" if self.saddle or self.plane else "x"  # z = (x, y)
        self.point = "z" if self.saddle else "x"
        what = "is the saddle point" if self.saddle else "solves $A(z) = 0$"
        self.solves = f"so ${self.x}^{{*}}$ {what if self.plane else 'minimises $F$'}"
        self.cycle = "recurs()" in self.conditions
        rests = "start-at-minimiser()" in self.conditions
        self.start = f"{self.point}{'*' if rests else '_0'}"
        self.limit = self.cycle and getattr(claim, "way", "") == "limit"
        self.functions = [*map(_name, found["functions"])]
        of = dict(part.split(": ", 1) for part in before.split("; ") if ": " in part)
        self.rounds, self.clients = int(of.get("rounds", 1)), int(of.get("clients", 1))
        cases, self.called = getattr(claim, "classes", ()), of.get("algorithm", "the method")
        self.case = next((x for x in cases if self._called(x.algorithm)), None)
        self.method = self.case.algorithm if self.case else None
        self.motion = self.rounds > 1 and cycles.in_motion(self.method)
        self.ahead = getattr(self.method, "begins", {}).get("own") == "y_{0}" and not self.cycle
        numbers = self.method.values().values() if self.method else ()
        cohort = self.method.cohort_size(self.clients) if self.method else 0
        self.alone = not (self.cycle or self.plane or self.saddle) and cohort == self.clients > 1
        self.sizes = {decimal(x) for x in numbers if type(x) is float}
        self.notation = {**getattr(self.method, "notation", {}), **getattr(claim, "letters", {})}
        stated = [str(part) for x in cases for part in x.problem.conditions] or self.conditions
        self.stated = {re.split(r"\W", part)[0] for part in stated}
        star, gap = "x*" in self.points, "start-gap" in conditions
        self.least = rf"$F^{{*}} = {'F(x^{*}) = ' * star}0$" * (star or gap)
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

    def condition(self, name: str, limit: Fraction, most: bool) -> tuple[str, str]:
        """Return what an assumption bounds, and the remark on it: is it one of the claim's?"""
        kinds = (part.partition("(")[0] for part in self.conditions)
        kind = next((kind for kind in kinds if kind.partition("-")[0] == name), "")
        if name.startswith("smallest"):
            measured = "M_{" + ", ".join(re.findall(r"\d+", name)) + "}"
            return f"m - {measured}", f"at most $0$: $m$ is the smallest, ${measured}$ one of them"
        if kind == "start-anywhere" and not any(
            of.startswith("c_") for of in self.found["coordinates"]
        ):
            kind = "start-distance"
        called, _, number = name.rstrip(")").partition(", (")
        if called == "line search":
            said = "$g$ is the gradient where a line search ends, $d$ its direction"
            return rf"\langle g, d \rangle_{{{number}}}", f"equal to $0$: {said}"
        number = f"_{{{number}}}" * bool(number)
        bounded = BOUNDED.get(kind, rf"\text{{{latex_text(called)}}}{number}")
        bounded = bounded.replace("{n}", f"{{{self.clients}}}")
        bounded = re.sub(X, self.x, bounded)
        if self.plane and not self.saddle:
            bounded = bounded.replace(r"\nabla f", "A")
        if name in ("start", "similar") and name not in self.stated:
            return bounded, "of these functions; no condition of the claim bounds it"
        number = f"${self._letter_of(kind, limit)}{number_text(limit)}$"
        return bounded, f"{'at most' if most else 'equal to'} {number}"

    def _letter_of(self, kind: str, limit: Fraction) -> str:
        r"""Return ``\Delta = `` of the letter on the right that is such a bound, or its square."""
        letters = self.found["conclusion"]["letters"]
        roles = {**getattr(self.case, "problem", self).notation, **self.notation}
        for name, x in ((name, Fraction(x)) for name, x in letters.items()):
            if roles.get(name, "").startswith(LIMITS.get(kind, ("-",))) and limit in (x, x * x):
                squared = "" if kind == "start-gap" else "^{2}"
                return f"{latex(sympy.Symbol(_own(name, letters)))}{squared} = "
        return ""

    def told(self, valued: bool = False, last: Sequence[str] = ()) -> list[str]:
        """Return what is run, and what the left side is of."""
        method = (
            of_method(self.method, notation=self.notation)
            if self.method
            else latex_text(self.called)
        )
        own = " + ".join(name for name in self.functions if "_" in name)
        mean = rf"\frac{{1}}{{{self.clients}}} ({own})" if " " in own else own
        mean = " + ".join([mean, *(name for name in self.functions if "_" not in name)])
        name = "A" if own[0] == "A" else "F"
        if self.saddle:
            name, mean = "f", mean.replace("A", "f")
        rounds = f" for {counted(self.rounds, 'round')}" * (not self.limit)
        begun = rf" from ${self.x}_{{0}}{f' = {self.x}^{{*}} = 0' * (self.start[1:] == '*')}$"
        rounds = begun * (not self.cycle and self.start in self.points) + rounds
        run = f"Run {method}{rounds} on {counted(self.clients, 'client')}, with ${name} = {mean}$"
        made = [f"{run}{f' and {self.least}' * bool(valued and self.least)}."]
        made += of_draws(self.method, self.clients) if self.method else []
        if any("," in at for _, at, _ in _points(self.found)):
            where = listed([f"${_name(at)}$" for at in last])
            ends = f"; {where} are a gradient step further" * bool(last)
            made.append(re.sub(X, self.x, NUMBERED).replace(".", f"{ends}."))
        if getattr(self.method, "begins", {}) and not self.cycle:
            made += update_of(self.method)
            made += ["Here $y_{0} = x_{0}$."] * self.ahead
        if self.plane:
            made.append("Points are $z = (x, y)$, and $z^{*} = 0$.")
        if not self.cycle:
            when = "taken " * self.moment.startswith("after") + latex_text(self.moment)
            one = self.moment in ("", "the mean over 1 moments")
            return made if one else [*made, f"The left side is {when}."]
        if self.rounds == 1:
            made.append("The round ends where it began, at $x_{0}$, which is not $x^{*}$: there a")
            made.append("run stays for ever.")
        return made

    def ended(self, rested: list[str]) -> list[str]:
        """Return what a cycle says of the limit, and of a run from the method's own start."""
        so = ", so $x_{t}$ does not converge to $x^{*}$" * self.limit
        made = [f"The iterates repeat with period {self.rounds}{so}."] * (self.rounds > 1)
        if rested or not (self.limit and "c_1" in self.found["coordinates"]):
            return made + rested
        own = "rest" if self.motion else "the method's own start"
        own = f"A run from {own}, which need not"
        doubles = " In doubles a run may\nleave the cycle, if it is not attracting."
        return [*made, f"{own} come there, is not refuted.{doubles * (self.rounds > 1)}"]


def _scaled(of: Any) -> Any:
    """Return c (kx)² as ck² x²."""
    c, u, v = of
    if u != v or len(u) != 1:
        return of
    ((name, k),) = u.items()
    return Fraction(c) * Fraction(k) ** 2, {name: "1"}, {name: "1"}


def _of_means(found: dict[str, Any], sides: Iterable[Any]) -> dict[str, dict[str, str]]:
    """Write F and ∇F of clients in combinations that have them; return their parts."""
    functions, made = [*found["functions"]], dict[str, dict[str, str]]()
    several = functions[1:] and "h" not in functions
    points = dict.fromkeys(at for _, at, _ in _points(found) if several)
    for side, at, mark in product(sides, points, ("", "∇")):
        label, parts = f"{mark}F({at})", [f"{mark}{f}({at})" for f in functions]
        for of in (side["values"], *(u for _, *both in side["products"] for u in both)):
            sizes = {Fraction(of.get(part, 0)) for part in parts}
            if len(sizes) == 1 and (size := sizes.pop()):
                made[label] = dict.fromkeys(parts, f"1/{len(parts)}")
                for part in parts:
                    del of[part]
                of[label] = str(len(parts) * size)
    return made


def _brought(claim: Any, form: Any, case: Any) -> list[str]:
    """Return which terms of a statement's right side stand on the left below, as judged."""
    if not (names := means_of(claim, case, form.right)):
        return []
    symbols = [sympy.Symbol(MEASURED + name) for name in names]
    whole = latex(expressed(form.right, Letters(claim.notation(case))), claim.measured)
    measured = listed([f"${latex(x, claim.measured)}$" for x in symbols])
    return [
        f"The right side is ${whole}$: its terms with {measured}",
        f"are brought to the left, so that ${LEFT}$ has all that is measured.",
    ]


def _of_last(found: dict[str, Any], about: About) -> dict[str, dict[str, str]]:
    """Write a mean of squares of clients' last points, less x* or x_0, as one; return the points.

    Where these are is tried with each size of the method: what the squares come to has to agree.
    """
    ended = found["conclusion"]["products"]
    chains = {f[2:]: [*of["points"].items()] for f, of in found["functions"].items() if "_" in f}
    begins = next(iter(found["functions"].values()))["points"].get(about.start, {"x": {}})["x"]
    for size in about.sizes:
        made = dict[str, dict[str, str]]()
        for client, chain in chains.items():
            own = [p for at, p in chain if "," in at or at == about.start]
            made[f"x_{client},{len(own)}"] = _moved(own[-1]["x"], own[-1]["g"], -size)
        for base, x in {about.start: begins, "x*": {}}.items():
            each = [_moved(of, x, Fraction(-1)) for of in made.values()]
            squares = [(Fraction(1, len(each)), of, of) for of in each]
            if len(made) == about.clients and _form(squares) == _form(ended):
                ended[:] = [[f"1/{len(made)}", *[{label: "1", base: "-1"}] * 2] for label in made]
                return made
    return {}


def _moved(x: dict[str, str], g: dict[str, str], size: Fraction) -> dict[str, str]:
    """Return x + size·g."""
    total = {n: Fraction(x.get(n, 0)) + size * Fraction(g.get(n, 0)) for n in {**x, **g}}
    return {n: str(c) for n, c in total.items() if c}


def _form(products: Iterable[Any]) -> dict[tuple[str, ...], Fraction]:
    """Return the coefficient of each product of two unknown vectors."""
    made = dict[tuple[str, ...], Fraction]()
    for c, u, v in products:
        for (n, x), (m, y) in product(u.items(), v.items()):
            pair = (*sorted((n, m)),)
            made[pair] = made.get(pair, Fraction(0)) + Fraction(c) * Fraction(x) * Fraction(y)
    return {pair: c for pair, c in made.items() if c}


def _from_one(found: dict[str, Any]) -> dict[str, Any]:
    """Number clients from 1 on, as everywhere in a text: f_0 of a file is f_1."""
    kept = {name: found["conclusion"][name] for name in ("right", "letters")}
    text = json.dumps(found | {"about": ""}, ensure_ascii=False)
    text = re.sub(r"\b([fAc])_(\d+)\b", lambda x: f"{x[1]}_{int(x[2]) + 1}", text)
    made: dict[str, Any] = json.loads(text)
    made["conclusion"] |= kept
    return made | {"about": found["about"]}


def _table(
    found: dict[str, Any], about: About, numbers: Any, value: Any, *, formulas: bool
) -> list[str]:
    """Return the rule of a cycle, where it begins, and a table over t: if a round is one gradient.

    ``numbers`` says as LaTeX what vectors come to, and ``value`` what values of functions do.
    """
    rounds, functions = about.rounds * about.limit * (not about.plane), found["functions"]
    if (cycle := cycles.cycle_of(found, rounds)) is None:
        return []
    (a, back, c, at, own), first = cycle, next(iter(functions.values()))["points"]
    names = [_name(f) for f in functions]
    slopes = [f"{f}'(x_{{t}})" if formulas else rf"\nabla {f}(x_{{t}})" for f in names]
    values = [f"{f}(x_{{t}})" for f in names] * (not formulas)
    x, before, *of = (Term(Fraction(2 + n), f) for n, f in enumerate(("x_{t}", "x_{t-1}", *slopes)))
    one, two, three = (Term(k, bare=True) for k in (a + back, c, -back))
    rule = one * x + two * sum(of, NOTHING) + three * (x - before)
    mean = {of: Fraction(1, len(own)) for of in own}
    begins = f"$x_{{-1}} = {numbers(mean)}$ and " * bool(own)
    rows = [["t", "x_{t}", *slopes, *values, "x_{t+1}"]]
    for t, label in enumerate(["x*", *at]):
        parts = [of["points"][label] for of in functions.values()]
        after = numbers(first[at[t % rounds]]["x"]) if t else ""
        cells = [numbers(parts[0]["x"]), *(numbers(p["g"]) for p in parts)]
        cells += [number_text(value(p["f"]).value) for p in parts] * (not formulas)
        rows.append([f"{t - 1}" if t else "*", *cells, after])
    head, *body = (" & ".join(row).strip() for row in rows)
    zero = "the gradients have mean $0$" if names[1:] else "the gradient is $0$"
    return [
        rf"\[ x_{{t+1}} = {rule.text}, \]",
        f"from {begins}$x_{{0}} = {numbers(first[at[0]]['x'])}$:",
        rf"\[ \begin{{array}}{{c|{'c' * (len(rows[0]) - 1)}}}",
        rf"  {head} \\ \hline",
        *(rf"  {row} \\" for row in body),
        r"\end{array} \]",
        f"In row $*$ {zero}, so $x^{{*}} = 0$ minimises $F$.",
    ]


def _rested(rest: tuple[Any, ...], read: Reading, again: Any) -> list[str]:
    """Return the proof that a run from rest comes to a cycle, read back with the text's f'.

    ``again`` takes a rule, of x_t and x_{t−1}, and computes it once more.

    Raises:
        NoScriptError: the text does not say what was computed.
    """
    (start, after, room, L, p, q, A, B, C), reading = rest, Reading(read.letters)
    r, moved = number_text(room), multiples([(p, "d_{t}"), (q, "d_{t-1}")])
    V = multiples([(A, "x^{2}"), (2 * B, "x y"), (C, "y^{2}")]).replace(r" \cdot ", " ")
    reading.functions |= read.functions
    reading.read([f"r &= {r}", rf"V(x, y) &= {V}"])

    def value(text: str, here: Fraction, before: Fraction) -> Any:
        for of in "xd":
            reading.letters |= {f"{of}_{{t}}": here, f"{of}_{{t-1}}": before}
        return reading.value(text)

    wrong = (again(value), reading.letters["r"]) != (rest, room) or A * C <= B**2
    for d, e in (map(Fraction, of) for of in ((1, 0), (0, 1), (1, 1))):
        falls = value(f"V(d_{{t}}, d_{{t-1}}) - V({moved}, d_{{t}})", d, e)
        wrong |= falls != d**2 + e**2
    if wrong:
        raise NoScriptError("its LaTeX does not say what a run from rest does; please report it")
    return [
        f"A run $y_{{t}}$ from rest, $y_{{-1}} = y_{{0}} = {start}$, comes to this cycle too.",
        rf"Let $d_{{t}} = y_{{t+{after}}} - x_{{t}}$. Where $|d_{{t}}| \le r = {r}$,",
        rf"$f_{{1}}'$ has slope ${number_text(L)}$, so \[ d_{{t+1}} = {moved}, \]",
        "and $V(d_{t}, d_{t-1})$ falls by $d_{t}^{2} + d_{t-1}^{2}$ in each round, where",
        rf"\[ V(x, y) = {V} \]",
        r"is positive definite. So $V(x, y) \ge x^{2} + y^{2}$, and as $V(d_{0}, d_{-1})",
        r"\le r^{2}$ in fractions, all $|d_{t}| \le r$, and $d_{t} \to 0$.",
    ]


OF_SADDLES = (
    r"(\S+-strongly )?monotone and (\S+-Lipschitz)",
    r"\1convex in $x$ and \1concave in $y$, with a \2 gradient",
)
"""What a field is, and what its saddle function is."""


def _classes(found: dict[str, Any]) -> str:
    """Return which classes the functions are of, those of one class together."""
    alike: dict[str, list[str]] = {}
    for name, of in found["functions"].items():
        kind = kind_of(of["classes"], operator=name[0] == "A")
        if isinstance(found["vectors"], dict):
            name, kind = name.replace("A", "f"), re.sub(*OF_SADDLES, kind)
        alike.setdefault(kind, []).append(f"${_name(name)}$")
    return "; ".join(f"{listed(names)} be {kinds}" for kinds, names in alike.items())


def _letter_of_class(name: str, about: About) -> str:
    """Return a letter of a class as LaTeX: with an index if a number of the method has it too."""
    taken = about.method is not None and about.notation.get(name) in about.method.values()
    return latex(sympy.Symbol(name)) + "_{f}" * taken


def _exist(found: dict[str, Any], drawn: dict[str, list[Piece]], about: About) -> list[str]:
    """Return why there are such functions."""
    ends = {_name(name): cycles.bend_of(of["classes"]) for name, of in found["functions"].items()}
    texts = {name: [*map(number_text, of or ())] for name, of in ends.items()}
    said, of_class = list[str](), f"{'Each' if len(ends) > 1 else 'It'} is of its class"
    if drawn:
        kink = " (on both sides of a kink)" * any(len(of) > 1 for of in drawn.values())
        said = [rf"${of[0]} \le {name}'' \le {of[1]}$" for name, of in texts.items()]
        return [f"{of_class}, since {listed(said)}{kink}."]
    for name, field in found["fields"].items() if about.plane else ():
        m, n = map(Fraction, field["matrix"][0])
        size = " + ".join(f"{bracketed(number_text(x))}^{{2}}" for x in (m, n) if x)
        f, size = f"f_{{{name[2:]}}}", f"{size} = {number_text(m * m + n * n)}"
        bent = rf"$\partial_{{x}}^{{2}} {f} = -\partial_{{y}}^{{2}} {f} = {number_text(m)}$"
        if not about.saddle:
            bent, f = rf"the symmetric part of ${_name(name)}'$ is ${number_text(m)}\,I$", ""
        of = rf"\nabla^{{2}} {f}" if f else f"{_name(name)}'"
        said.append(rf"{bent} and $\|{of}\|^{{2}} = {size}$")
    if said:
        return [f"{of_class}, since {listed(said)}."]
    pair, *others = set(ends.values())
    one = len(ends) == 1
    exist = "Such a function exists" if one else "Such functions exist"
    if pair is None or others or pair[0] == pair[1]:
        classes = "its class" if one else "their classes"
        return [f"{exist}, by the interpolation conditions of {classes} ({SOURCE})."]
    theorem = "Theorem 4" if pair[0] >= 0 else "on composite problems, Theorem 3.10"
    mu, most = map(number_text, pair)
    L, modulus = (_letter_of_class(name, about) for name in ("L", "mu"))
    pairs = re.sub(r"\bL\b", L, PAIRS).replace(r"\mu", modulus)
    pairs = pairs.replace(" of one of them", " below" if one else " of one of them")
    return [
        f"{exist}, {pairs}",
        rf"with ${L} = {most}$ and ${modulus} = {mu}$ ({SOURCE}, {theorem}).",
    ]


def _slopes(found: dict[str, Any], *, rising: bool) -> dict[str, list[Piece]]:
    """Return each f' of one variable, piecewise linear, if it is of its class."""
    made = dict[str, list[Piece]]()
    for name, field in found["fields"].items() if "knot" in str(found["fields"]) else ():
        s, p, q, k = map(Fraction, field.values())
        pieces: list[Piece] = [(k, (s, p)), (None, (s + (p - q) * k, q))]
        made[name] = pieces[p == q :]
    if _valued(found):
        return made
    for name, (points, mu, most) in cycles.curves_of(found).items():
        lines = list[Piece]()
        for (y, e), (x, g) in pairwise(cycles.steep(points, mu, most) if rising else points):
            line = (g - (g - e) / (x - y) * x, (g - e) / (x - y))
            lines = [*(lines[:-1] if lines and lines[-1][1] == line else lines), (x, line)]
        made[name] = [*lines[:-1], (None, lines[-1][1])]
    return made


def _valued(found: dict[str, Any]) -> bool:
    """Say whether values of functions are measured, and not their gradients alone."""
    return any(of["values"] for of in (found["conclusion"], *found["assumptions"].values()))


def _formulas(found: dict[str, Any], drawn: dict[str, list[Piece]]) -> list[str]:
    """Return the functions' formulas, if they have some, with those of what is computed of them."""
    rows = list[str]()
    for name, slopes in drawn.items():
        both = {f"{_name(name)}'": slopes}
        if len(slopes) == 1 or _valued(found):
            both = {_name(name): integral_of(slopes, Fraction(0)), **both}
        rows += [rf"{called}(x) &= {cases(of)}" for called, of in both.items()]
    saddle = isinstance(found["vectors"], dict)
    for name, field in found["fields"].items() if not drawn else ():
        matrix = [[*map(Fraction, row)] for row in field["matrix"]]
        shift = [*map(Fraction, field["shift"])]
        if saddle:
            rows.append(rf"f_{{{name[2:]}}}(x, y) &= {linear(matrix, saddle, shift)}")
        for j, (row, c) in enumerate(zip(matrix, shift, strict=True)):
            terms = zip((*row, c), ("x", "y", ""), strict=True)
            part = multiples([((-1) ** (saddle * j) * of, x) for of, x in terms])
            rows.append(rf"{_part(name[2:], j, saddle)}(x, y) &= {part}")
    return [row.replace(r" \cdot ", " ") for row in rows]


def _part(number: str, j: int, saddle: bool) -> str:
    """Return a client's partial derivative, or its operator's coordinate."""
    return rf"\partial_{{{'xy'[j]}}} f_{{{number}}}" if saddle else f"A_{{{number},{j + 1}}}"


def _ends(found: dict[str, Any], about: About) -> dict[str, dict[str, str]]:
    """Return where local steps of one size end whose mean is x_0 again (empty: they are others).

    Gradients that follow from this are unknowns of their own from now on, as functions have them.
    """
    made, last = dict[str, dict[str, str]](), list[tuple[str, Any]]()
    total, sizes = dict[str, Fraction](), set[Fraction]()
    if not about.cycle or about.rounds > 1 or len(found["functions"]) != about.clients > 1:
        return {}
    for name, of in found["functions"].items():
        chain = [(f"∇{name}({at})", p) for at, p in of["points"].items() if at != "x*"]
        for (own, p), (_, q) in pairwise(chain):
            ((n, size), *others) = nearest(q["x"], {"": p["x"]})[1]
            sizes |= {size, *(Fraction(0) for _ in (*others, *[n] * (n != own)))}
        last.append(chain[-1])
        made[f"x_{name[2:]},{len(chain)}"] = chain[-1][1]["x"] | {
            chain[-1][0]: str(*list(sizes)[:1])
        }
        for n, c in (of for _, p in chain for of in p["g"].items()):
            total[n] = total.get(n, Fraction(0)) + Fraction(c)
    if len(sizes) != 1 or any(total.values()):
        return {}
    for own, p in last:
        x = sum(Fraction(c) * Fraction(found["coordinates"][n][0]) for n, c in p["g"].items())
        found["coordinates"][own], p["g"] = [str(x)], {own: "1"}
    return made


def _name(name: str, coordinate: int | None = None, dimension: int = 1) -> str:
    """Return what a file calls a vector or a number, or its coordinate, as LaTeX."""
    made = re.sub(r"[^\W\d_]+(_[^\W\d_]+)*", lambda word: letter(word[0], []), name)
    made = re.sub(
        r"(?<!\\)_([\w,]*\w)", r"_{\1}", made.replace("*", "^{*}").replace("∇", r"\nabla ")
    )
    if not re.fullmatch(r"[\w\\{}^*(), ]+", made):
        raise NoScriptError(f"{name} has no LaTeX")
    return made if coordinate is None or dimension == 1 else f"[{made}]_{{{coordinate + 1}}}"
