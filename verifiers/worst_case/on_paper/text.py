r"""A certificate as a theorem with its proof, in LaTeX.

The theorem speaks of x*, ∇f(x_i) and f(x_i). In the proof x* = 0 and f(x*) = 0, which loses
nothing (docs/certificates.md), and gradients and values have short names. Each line of formulas has
one form, which ``read_back`` knows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from itertools import combinations
from typing import Any, NamedTuple

from driftproof.toolkit.ratios import vanishes
from driftproof.verifiers.worst_case.check import positive_semidefinite
from driftproof.verifiers.worst_case.classes import CURVED, curvatures
from driftproof.verifiers.worst_case.coq_words import matrix
from driftproof.verifiers.worst_case.on_paper.fewest import condition
from driftproof.verifiers.worst_case.on_paper.inequalities import both_ways, whole, words
from driftproof.verifiers.worst_case.on_paper.latex import (
    Printer,
    UnprintableError,
    name_of,
    pieces,
)
from driftproof.verifiers.worst_case.on_paper.squares import Square, at_a_point, length, squares
from driftproof.verifiers.worst_case.statement import (
    ONE,
    ZERO,
    Combination,
    Condition,
    Statement,
    Triple,
)

SYMBOLS = "ABCDEHKMNPQST"
"""What inequalities are called."""
WIDTH = 100
"""Characters of a line of the sum."""
CHARACTERS = 5000
"""The longest text: about a page."""
HALF = ONE / 2
POINT = re.compile(r"[a-z](_\d+|\*)")
Key = tuple[str, ...]
"""A class, a function and points, or "assumption" and its name."""


class Called(NamedTuple):
    """What a vector or a value is called: in the proof, and in the theorem, as Σ c·text."""

    short: str
    long: list[tuple[Any, str]]


class OnPaper:
    """A certificate of one space as a theorem with its proof.

    Attributes:
        it: what it states.
        called: what each vector and value is called.
        points: names of points → where they are.
        given: what gradients and values are that others determine, in the words of the theorem.
        halves: gradients as sums and differences of means and half differences.
        steps: the points, each from those before it.

    Raises:
        UnprintableError: it would be no proof that a person can check.
    """

    def __init__(self, it: Statement, multipliers: Mapping[Key, Any]) -> None:
        self.it, self.printer, self.multipliers = it, Printer(it.numbers), dict(multipliers)
        self.triples = [
            (function, at, Triple(*map(_nonzero, triple)))
            for function, points in it.triples.items() for at, triple in points.items()
        ]  # fmt: skip
        self.called: dict[str, Called] = {}
        self.weak = set[Key]()
        self.points: dict[str, Combination] = {}
        self.given, self.halves, self.steps = list[str](), list[str](), list[str]()
        self._name()
        self.weights = self._weights()
        for name in [name for name, x in self.points.items() if x]:
            if name not in (self.called[v].short for v in it.vectors):
                self._step(name)
        self.goal = it.conclusion
        if any(not _same(u, v) for _, u, v in self.goal.products):
            own = self._squares([(ONE, self.goal)], signed=True)
            turned = [-1 if vanishes(self._moved(one.line) + 1) else 1 for one in own]
            lines = [{v: sign * c for v, c in one.line.items()}
                     for sign, one in zip(turned, own, strict=True)]  # fmt: skip
            products = [(one.times, u, u) for one, u in zip(own, lines, strict=True)]
            self.goal = self.goal._replace(products=products)
        self._end()

    # --- names ---------------------------------------------------------------------------------

    def _names(self, what: str, function: str, at: str) -> tuple[str, str]:
        r"""Return what g or f of a function is called at a point: g_{0} and \nabla f(x_{0})."""
        letter, _, number = function.partition("_")
        label = "" if len(self.it.triples) == 1 else number or letter
        index = at.partition("_")[2] or "*"
        short = f"{what}_{{{label},{index}}}" if label else f"{what}_{{{index}}}"
        if what == "g" and not self._smooth(function):
            return short, short
        own = letter + f"_{{{label}}}" * (label not in ("", letter))
        nabla = "\\nabla " * (what == "g" and letter == "f")
        return short, f"{nabla}{own}({_point(at)})"

    def _smooth(self, function: str) -> bool:
        """Tell whether a function has a gradient, or is an operator."""
        return not {"convex", "normal-cone"} & self.it.constants[function].keys()

    def _call(self, of: str, short: str, long: list[tuple[Any, str]] | None = None) -> None:
        self.called.setdefault(of, Called(short, long or [(ONE, short)]))

    def _name(self) -> None:
        """Name points, vectors and values."""
        if odd := [at for _, at, _ in self.triples if not POINT.fullmatch(at)]:
            raise UnprintableError(f"points {', '.join(odd)}", "x*, x_0, x_1, …", "rename them")
        for _, at, t in self.triples:
            if not _same(self.points.setdefault(_point(at), t.x), t.x):
                raise UnprintableError(
                    f"two points {at}", "points with one index each", "rename one"
                )
            if _alone(t.x):
                self._call(next(iter(t.x)), _point(at))
        for function, at, t in self.triples:
            for what, of in (("g", t.g), ("f", t.f)):
                short, long = self._names(what, function, at)
                if _alone(of):
                    self._call(next(iter(of)), short, [(ONE, long)])
        for (f, at, t), (h, there, u) in combinations(self.triples, 2):
            mean, apart = (*t.g, "", "")[:2]
            one, other = {mean: ONE, apart: ONE}, {mean: ONE, apart: -ONE}
            if apart and _same(t.g, one) and _same(u.g, other) and mean not in self.called:
                (g, long), (k, wide) = self._names("g", f, at), self._names("g", h, there)
                m, d = name_of(mean), name_of(apart)
                self._call(mean, m, [(HALF, long), (HALF, wide)])
                self._call(apart, d, [(HALF, long), (-HALF, wide)])
                self.halves += [f"{g}={m}+{d}", f"{k}={m}-{d}"]
        for v in [*self.it.vectors, *self.it.values]:
            if v not in self.called and re.search(r"[∇(]", v):
                raise UnprintableError(
                    f"{v}, which no point of the file has as its own",
                    "vectors that are points, gradients, or means of two gradients",
                    "driftproof check FILE says what is proved",
                )  # fmt: skip
            self._call(v, name_of(v))
        halved = {text.partition("=")[0] for text in self.halves}
        for function, at, t in self.triples:
            for what, of in (("g", t.g), ("f", t.f)):
                short, long = self._names(what, function, at)
                normal = what == "f" and (
                    (at.endswith("*") and not of) or not self._valued(function)
                )
                if short not in halved and not normal and self.short(of) != short:
                    self.given.append(f"{long}={self.long(of)}")
            if not self._smooth(function) and t.g:
                letter = self._names("f", function, at)[1]
                self.given.append(f"{self._names('g', function, at)[0]}\\in\\partial {letter}")

    def _valued(self, function: str) -> bool:
        return any(t.f for name, _, t in self.triples if name == function)

    def _weights(self) -> Combination:
        """Return how much a translation of all points moves each vector: 1, or not at all."""
        gradients = {v for _, _, t in self.triples for v in t.g}
        free = [v for v in self.it.vectors if v not in gradients]
        for starts in ([v for v in free if self.called[v].short in self.points], free):
            self.weights = dict.fromkeys(starts, ONE)
            moved: list[Any] = [self._moved(x) for x in self.points.values()]
            if all(vanishes(s) or vanishes(s - 1) for s in moved):
                return self.weights
        raise UnprintableError(
            "points that do not move with x*", "means of starts, less multiples of gradients",
            "driftproof check FILE says what is proved",
        )  # fmt: skip

    def _moved(self, of: Combination) -> Any:
        return sum((c * self.weights.get(v, ZERO) for v, c in of.items()), ZERO)

    # --- vectors and conditions ----------------------------------------------------------------

    def short(self, of: Combination) -> str:
        """Return a combination in the words of the proof."""
        for name, x in self.points.items():
            if x and _same(x, of):
                return name
        return self.printer.sum((c, self.called[v].short) for v, c in of.items())

    def long(self, of: Combination) -> str:
        """Return a combination in the words of the theorem."""
        made: Combination = {}
        for v, c in of.items():
            for times, text in self.called[v].long:
                made[text] = made.get(text, ZERO) + c * times
        return self.printer.sum((c, text) for text, c in made.items())

    def _from_solution(self, of: Combination) -> str:
        """Return a vector in the words of the theorem, which has points and x*."""
        points = {name: x for name, x in self.points.items() if x}
        for name, x in [*points.items(), ("x^*", dict[str, Any]())]:
            for other, y in points.items():
                if _same(_minus(y, x), of):
                    return f"{other}-{name}"
        return _added(self.long(of), self.printer.sum([(-self._moved(of), "x^*")]))

    def _step(self, name: str) -> None:
        """Say where a point is, from one before it where that is shorter."""
        x = self.points[name]
        base = "" if vanishes(self._moved(x) - 1) else "x^*"
        ways = [_added(base, self.long(x)) if base else self.long(x)]
        for before, old in self.points.items():
            if before == name:
                break
            if old and vanishes(self._moved(old) - self._moved(x)):
                ways.append(_added(before, self.long(_minus(x, old))))
        self.steps.append(f"{name}={min(ways, key=len)}")

    def _end(self) -> None:
        """Call x^+ what the conclusion is about, if that is no point of a function."""
        for _, u, v in self.goal.products:
            own = _nonzero(u)
            named = any(_same(own, x) for x in self.points.values()) or len(own) == 1
            if _same(u, v) and not named and vanishes(self._moved(own) - 1):
                self.points["x^+"] = own
                self._step("x^+")
                return

    def _said(self, of: Condition) -> str:
        """Return a condition in the words of the theorem, with few minus signs."""
        left, right = list[tuple[Any, str]](), list[tuple[Any, str]]()
        for c, u, v in of.products:
            one, two = (self._from_solution(_nonzero(w)) for w in (u, v))
            text = f"\\|{one}\\|^2" if one == two else f"\\langle {one},{two}\\rangle"
            minus = self.printer.signed(c)[0] == "-" and len(of.products) > 1
            (right if minus else left).append((-c if minus else c, text))
        for function in self.it.triples:
            values = {v for f, _, t in self.triples if f == function for v in t.f}
            own = [(a, v) for v, a in of.numbers.items() if v in values]
            left += [(a, self.called[v].long[0][1]) for a, v in own]
            left.append((-sum((a for a, _ in own), ZERO), self._base(function)))
        of_points = {v for _, _, t in self.triples for v in t.f}
        left += [(a, self.called[v].short) for v, a in of.numbers.items() if v not in of_points]
        sign = "=" if of.equality else "\\le "
        return f"{self.printer.sum(left)}{sign}{self.printer.sum([*right, (of.right, '')])}"

    def _base(self, function: str) -> str:
        """Return what values of a function are measured from."""
        at_solution = self._names("f", function, "x*")[1]
        known = "x*" in self.it.triples[function]
        return at_solution if known else f"{at_solution.partition('(')[0]}^*"

    def _terms(self, of: Condition) -> list[tuple[Any, str]]:
        """Return a condition, less its right side, in the words of the proof."""
        made = []
        for c, u, v in of.products:
            one, two = self.short(_nonzero(u)), self.short(_nonzero(v))
            made.append((c, f"\\|{one}\\|^2" if one == two else f"\\langle {one},{two}\\rangle"))
        return [*made, *((a, self.called[v].short) for v, a in of.numbers.items()), (-of.right, "")]

    # --- what is added -------------------------------------------------------------------------

    def _squares(self, terms: list[tuple[Any, Condition]], *, signed: bool = False) -> list[Square]:
        names = {v: self.called[v].short for v in self.it.vectors}
        return squares(matrix(terms, self.it.vectors), names, self.printer, signed=signed)

    def _weaken(self) -> tuple[dict[Key, Condition], list[Square]]:
        """Return the inequalities, and what is left of their sum.

        One that bounds a value is taken without its last square where what is left is shorter so.
        """
        now = {key: condition(self.it, key) for key in self.multipliers}
        best, at = self._rest(now), at_a_point(self.it.numbers)
        for key in self.multipliers:
            if key[0] in CURVED and not self._turned(key):
                tried = {**now, key: self._weaker(key)}
                S = matrix(self._all(tried), self.it.vectors)
                if not positive_semidefinite([[at(x) for x in row] for row in S]):
                    continue
                with suppress(UnprintableError):
                    if length(found := self._rest(tried)) < length(best):
                        now, best = tried, found
                        self.weak.add(key)
        return now, best

    def _all(self, conditions: Mapping[Key, Condition]) -> list[tuple[Any, Condition]]:
        """Return what is added up, less the conclusion."""
        counted = [(c, conditions[key]) for key, c in self.multipliers.items()]
        return [*counted, (-ONE, self.it.conclusion)]

    def _rest(self, conditions: Mapping[Key, Condition]) -> list[Square]:
        return self._squares(self._all(conditions))

    def _turned(self, key: Key) -> bool:
        """Tell whether the same inequality with i and j exchanged is counted as often."""
        other = self.multipliers.get((*key[:2], *key[:1:-1]))
        return other is not None and vanishes(other - self.multipliers[key])

    def _weaker(self, key: Key) -> Condition:
        kind, name, i, j = key
        mu, L = curvatures(kind, self.it.constants[name][kind])
        x, g, _ = self.it.triples[name][j].minus(self.it.triples[name][i])
        u, whole_one = _minus(g, {v: mu * c for v, c in x.items()}), condition(self.it, key)
        return whole_one._replace(products=[*whole_one.products, (-1 / (2 * (L - mu)), u, u)])

    def rows(self) -> tuple[list[str], dict[str, list[str]], list[Any]]:
        """Return the inequalities' forms, what each number multiplies, and these numbers."""
        forms: dict[str, str] = {}
        used: dict[str, list[str]] = {}
        numbers, left = [], dict(self.multipliers)
        for key in list(left):
            if key not in left:
                continue
            times, (kind, name, *points) = left.pop(key), key
            if kind == "assumption":
                text = self.printer.sum(self._terms(self.it.assumptions[name]))
            else:
                constants, turned = self.it.constants[name][kind], (kind, name, *points[::-1])
                form = whole(kind, constants, self.printer, weaker=key in self.weak)
                both = both_ways(kind, constants, self.printer)
                if both and self._turned(key):
                    form, times = both, times * both.scale
                    left.pop(turned)
                    points.sort(key=lambda at: (at[-1] != "*", at))
                text = f"{self._form(forms, form.text, name)}_{{{self._at(name, points)}}}"
            used.setdefault(self.printer.number(times), []).append(text)
            numbers.append(times)
        return list(forms.values()), used, numbers

    def _at(self, function: str, points: list[str]) -> str:
        label = self._names("g", function, "x*")[0][3:-1].partition(",")[0]
        index = ",".join(at.partition("_")[2] or "*" for at in points)
        return index if len(self.it.triples) == 1 else f"{label};{index}"

    def _form(self, forms: dict[str, str], text: str, function: str) -> str:
        """Return the symbol of an inequality, which is displayed once."""
        if len(self.it.triples) > 1:
            text = re.sub(r"([fg])_([ij])", r"\1_{c,\2}", text)
        if text not in forms:
            taken = {*self.it.numbers.free, *(name[0] for name in self.it.triples)}
            symbol = [letter for letter in SYMBOLS if letter not in taken][len(forms)]
            index = "i,j" if "j" in text else "i"
            index = index if len(self.it.triples) == 1 else f"c;{index}"
            forms[text] = f"{symbol}_{{{index}}}&:={text}\\le 0"
        return forms[text][0]

    # --- the text ------------------------------------------------------------------------------

    def latex(self) -> str:
        """Return the theorem and the proof."""
        conditions, rest = self._weaken()
        forms, used, numbers = self.rows()
        bound = sum((c * conditions[key].right for key, c in self.multipliers.items()), ZERO)
        gap = self.it.conclusion.right - bound
        left = self.printer.sum(self._terms(self.goal))
        added = self.printer.sum([*((one.times, one.text) for one in rest), (gap, "")])
        total = _added(left, added)
        stated = [of for of in self.it.assumptions.values() if of.products or of.numbers]
        suppose = [*self.given, *map(self._said, stated)]
        multiplied = "; ".join(
            f"{', '.join(f'${text}$' for text in rows)} by ${c}$" for c, rows in used.items()
        )
        signs = sorted({s for c in [*numbers, *(one.times for one in rest), gap]
                        for s in self.printer.signs(c)}, key=lambda s: (len(s), s))  # fmt: skip
        why = f", as ${'$, $'.join(signs)}$ {'are' if signs[1:] else 'is'}" if signs else ""
        signed = ["the multipliers", *["the numbers before squares"] * bool(rest),
                  *["the last term"] * (not vanishes(gap))]  # fmt: skip
        every = " of each function $c$" * (len(self.it.triples) > 1)
        said = " ".join([*self.steps, *suppose, self._said(self.goal)])
        proof = " ".join(
            [*(row for rows in used.values() for row in rows), total, *forms, *self.halves]
        )
        lines = [
            "\\begin{theorem}", *self._region(), *self._classes(), *self._any(said),
            *[f"Define ${'$, $'.join(self.steps)}$."] * bool(self.steps),
            *[f"Suppose that ${'$, $'.join(suppose)}$."] * bool(suppose),
            "Then", f"\\[ {self._said(self.goal)}. \\]", "\\end{theorem}", "\\begin{proof}",
            *self._written(said, proof),
            *[f"At any two points{every}, the class says", *_aligned(forms, ".")] * bool(forms),
            f"Multiply {multiplied}; and add. The sum, which is at most $0$, is",
            *_aligned(_broken(total), "."),
            f"Here {' and '.join(signed)} are at least $0${why}.", "\\end{proof}", "",
        ]  # fmt: skip
        text = "\n".join(lines)
        if len(text) > CHARACTERS:
            raise UnprintableError(
                f"a proof of {len(text):,} characters", f"at most {CHARACTERS:,}, about a page",
                "take fewer steps or rounds, or one client; driftproof prove FILE has Coq check it",
            )  # fmt: skip
        return text

    def _region(self) -> list[str]:
        numbers = self.it.numbers
        made = []
        for (name, ends), closed in zip(
            getattr(numbers, "ends", {}).items(), getattr(numbers, "closed", []), strict=True
        ):
            low, *high = (self.printer.number(end) for end in ends)
            below, above = ("\\le " if own else "<" for own in closed)
            made.append(f"{low}{below}{name_of(name)}{above + high[0] if high else ''}")
        return [f"For all ${'$, $'.join(made)}$ the following holds."] if made else []

    def _classes(self) -> list[str]:
        """Say what the functions are; those of which the same is said stand together."""
        alike: dict[str, list[str]] = {}
        for function, kinds in self.it.constants.items():
            operator = function[0] == "A"
            said = [words(kind, c, self.printer, operator=operator) for kind, c in kinds.items()]
            own = self._names("f", function, "x*")[1].partition("(")[0]
            alike.setdefault(" and ".join(said) or "any function", []).append(f"${own}$")
        return [f"Let {' and '.join(names)} be {said}." for said, names in alike.items()]

    def _any(self, said: str) -> list[str]:
        """Say of x* or f* in the theorem what it is where no function's point is it."""
        bases = [self._base(f) for f in self.it.triples if self._base(f).endswith("^*")]
        loose = ["x^*"] * ("x^*" not in self.points) + bases
        return [f"Let ${name}$ be any {'point' if name == 'x^*' else 'number'}."
                for name in loose if name in said]  # fmt: skip

    def _written(self, said: str, proof: str) -> list[str]:
        """Say what is 0 in the proof, and what its short names stand for."""
        normal, names = ["$x^*=0$"] * ("x^*" in said), list[str]()
        for function in self.it.triples:
            (g, gradient), (f, value) = (self._names(w, function, "x*") for w in "gf")
            base = self._base(function)
            if re.search(rf"(?<!nabla ){re.escape(base)}", said) or (
                "f_" in proof and base.endswith(")")
            ):
                normal.append(f"${base}=0$")
            for short, long in ((g, gradient), (f, value)):
                own, of = (x.replace("x^*", "x_{i}").replace("*", "i") for x in (short, long))
                if own != of and own.replace("i}", "") in proof:
                    names.append(f"${own}={of}$")
        names += [f"${text}$" for text in self.halves]
        parts = [f"let {', '.join(normal)} without loss of generality"] * bool(normal)
        text = ", and ".join([*parts, *[f"write {', '.join(names)}"] * bool(names)])
        return [f"{text[0].upper()}{text[1:]}."] if text else []


def _alone(of: Combination) -> bool:
    """Tell whether a combination is one name, once."""
    return len(of) == 1 and all(vanishes(c - 1) for c in of.values())


def _point(at: str) -> str:
    """Return the name of a point: x_{0} of z_0, too."""
    return name_of(f"x{at[1:]}")


def _nonzero(of: Combination) -> Combination:
    return {name: c for name, c in of.items() if not vanishes(c)}


def _minus(one: Combination, other: Combination) -> Combination:
    return _nonzero({v: one.get(v, ZERO) - other.get(v, ZERO) for v in one | other})


def _same(one: Combination, other: Combination) -> bool:
    return not _minus(one, other)


def _added(one: str, other: str) -> str:
    if other in ("", "0"):
        return one
    return f"{one}{'' if other[0] == '-' else '+'}{other}"


def _aligned(lines: list[str], end: str) -> list[str]:
    return ["\\begin{align*}", "\\\\\n".join(lines) + end, "\\end{align*}"]


def _broken(text: str) -> list[str]:
    """Return a sum in lines."""
    lines = [""]
    for piece in pieces(text):
        if lines[-1] and len(lines[-1]) + len(piece) > WIDTH:
            lines.append("")
        lines[-1] += piece
    return [f"&{line}" for line in lines]
