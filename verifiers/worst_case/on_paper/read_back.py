r"""Reads a printed proof as a referee does, and compares it with what the certificate states.

Read are the region, the points, what is supposed, the conclusion, the class's inequalities, the
multipliers, the sum, and what is said to be at least 0. Of the words nothing is read but where
formulas stand.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any

from flint import fmpq

from driftproof.toolkit.ratios import Ratio, vanishes
from driftproof.verifiers.worst_case.classes import CLASSES
from driftproof.verifiers.worst_case.on_paper.formulas import Formulas, UnreadError
from driftproof.verifiers.worst_case.on_paper.latex import pieces
from driftproof.verifiers.worst_case.statement import (
    CONDITIONS,
    ONE,
    ZERO,
    Combination,
    Condition,
    Statement,
    Triple,
)

PLACED = re.compile(r"(\\nabla )?([A-Za-z])(?:_\{(\w+)\})?\(x(?:_\{(\w+)\}|\^(\*))\)")
SHIFTS = "x* in space", "f at x*"
"""Symbols that no text can name: where x* is, and values there."""
GENERIC = "x_i", "x_j", "g_i", "g_j", "f_i", "f_j"
"""What an inequality of a class speaks of."""


def read_back(
    text: str, it: Statement, names: Mapping[str, str], basis: Iterable[str], starts: Iterable[str]
) -> None:
    """Check a printed proof of a statement.

    Args:
        names: what the statement's vectors, values and letters are called in print.
        basis: what has no definition in print.
        starts: what of it is a point, and is not measured from x* in the theorem.

    Raises:
        UnreadError: the text does not prove the statement, or not in words that are known here.
    """
    Reader(text, it, names, basis, starts)


class Reader:
    """A printed proof that is read, line by line."""

    def __init__(
        self,
        text: str,
        it: Statement,
        names: Mapping[str, str],
        basis: Iterable[str],
        starts: Iterable[str],
    ) -> None:
        self.text, self.it, self.names = text, it, names
        self.many = len(it.triples) > 1
        self.read = Formulas([*basis, *GENERIC, *SHIFTS], self._alias)
        self.generic = {name: self.read.known.pop(name) for name in GENERIC}
        self.moved = copy(self.read)
        self.moved.known = dict(self.read.known)
        self._move(starts)
        self._region()
        self._classes()
        self._starts()
        self._definitions()
        self._statement()
        self._forms()
        self._proof()

    def _alias(self, name: str) -> str:
        r"""Return the name that the proof has for \nabla f_{0}(x_{1}), f(x_{1}) or f_{c,j}."""
        if found := PLACED.fullmatch(name):
            nabla, letter, label, index, star = found.groups()
            what = "g" if nabla or letter == "A" else "f"
            label = label or (letter if self.many else "")
            return f"{what}_{{{label + ',' * bool(label)}{index or star}}}"
        return re.sub(r"_\{c,([ij])\}", r"_\1", name)

    def _move(self, starts: Iterable[str]) -> None:
        """Say what points and values are if x* is X, and values there are F, F², ….

        A statement that is the same then does not depend on what is 0 in the proof.
        """
        known = self.moved.known
        X, F = map(known.pop, SHIFTS)
        known |= {name: known[name] + X for name in starts} | {"x^*": X}
        for k, (function, points) in enumerate(self.it.triples.items(), 1):
            known |= {self._named(function, "*")[2]: F**k, f"{self._bare(function)}^*": F**k}
            values = {v for t in points.values() for v, c in t.f.items() if not vanishes(c)}
            known |= {self.names[v]: known[self.names[v]] + F**k for v in values}

    def _named(self, function: str, index: str) -> tuple[str, str, str]:
        """Return what a point is called, and gradient and value there."""
        own = f"{{{_label(function)},{index}}}" if self.many else f"{{{index}}}"
        return "x^*" if index == "*" else f"x_{{{index}}}", f"g_{own}", f"f_{own}"

    def _bare(self, function: str) -> str:
        letter, _, label = function.partition("_")
        return f"{letter}_{{{label}}}" if self.many and label else letter

    def _line(self, start: str, end: str = "", *, wanted: bool = True) -> str:
        found = re.findall(rf"^{re.escape(start)}(.*){re.escape(end)}$", self.text, re.M)
        if len(found) != 1 and (wanted or found):
            raise UnreadError(f"{len(found)} lines that begin with {start!r}")
        return found[0] if found else ""

    def _same(self, one: Any, other: Any, what: str) -> None:
        if one != other:
            raise UnreadError(f"{what}: {one} in print, {other} in the certificate")

    # --- what the certificate says, in the same symbols ----------------------------------------

    def _number(self, of: Any) -> Any:
        """Return a number of the certificate in the symbols of the text."""
        field, known = self.read.field, self.read.known
        if not isinstance(of, Ratio):
            return field(int(fmpq(of).p)) / int(fmpq(of).q)
        letters = [known[self.names[name]] for name in of.letters]
        top, bottom = (
            _put(part.terms(), letters, lambda c: field(int(c.p)) / int(c.q))
            for part in (of.top, of.bottom)
        )
        return top / bottom

    def _ratio(self, of: Any) -> Any:
        """Return a number that was read as one of the certificate's kind; None if it is none."""
        letters = {self.names[name]: Ratio.letter(name) for name in self.it.numbers.free}
        symbols = [letters.get(str(symbol)) for symbol in self.read.field.symbols]
        other = {k for k, letter in enumerate(symbols) if letter is None}
        if any(powers[k] for part in (of.numer, of.denom) for powers in part for k in other):
            return None
        top, bottom = (
            _put(part.terms(), symbols, lambda c: fmpq(int(c.numerator), int(c.denominator)))
            for part in (of.numer, of.denom)
        )
        return top / bottom

    def _is_nonnegative(self, of: Any) -> bool:
        """Tell whether a number is at least 0; a vector or a value in it is no number."""
        value = self._ratio(of)
        return value is not None and self.it.numbers.nonnegative(value)

    def _nonnegative(self, of: Any) -> None:
        self.numbers.append(of)
        if not self._is_nonnegative(of):
            raise UnreadError(f"{of}, which may be below 0")

    def _sum(self, of: Combination) -> Any:
        total, known = self.read.field.zero, self.read.known
        for v, c in of.items():
            total = total + self._number(c) * (self.generic.get(v) or known[self.names[v]])
        return total

    def _condition(self, of: Condition) -> Any:
        total = self._sum(of.numbers) - self._number(of.right)
        for c, u, v in of.products:
            total = total + self._number(c) * self._sum(u) * self._sum(v)
        return total

    # --- the theorem ---------------------------------------------------------------------------

    def _region(self) -> None:
        line = self._line("For all ", wanted=False)
        parts = [re.split(r"(<|\\le )", formula) for formula in _formulas(line)]
        ends = getattr(self.it.numbers, "ends", {})
        closed = getattr(self.it.numbers, "closed", [])
        if [part[2] for part in parts] != [self.names[name] for name in ends]:
            raise UnreadError(f"the region {line}")
        for part, its, own in zip(parts, ends.values(), closed, strict=True):
            for end, number in zip([part[0], *part[4:5]], its, strict=True):
                self._same(self.read(end), self._number(number), "an end of the region")
            signs = [sign != "<" for sign in part[1::2]]
            self._same(signs, list(own)[: len(signs)], "an end of the region")

    def _classes(self) -> None:
        """Compare the constants of classes; their names are words."""
        said = dict[str, list[Any]]()
        for names, of in re.findall(r"^Let (.*) be (?!any |a point )(.*)\.$", self.text, re.M):
            said |= {name: [*map(self.read, _formulas(of))] for name in _formulas(names)}
        stated = dict[str, list[Any]]()
        for function, kinds in self.it.constants.items():
            own = stated.setdefault(self._bare(function), [])
            for kind, constants in kinds.items():
                L, mu = [*constants, ZERO, ZERO][:2]
                of = [1 / (L - mu), mu] if kind == "cocoercive" else [mu, L]
                own += [self._number(c) for c in of if not vanishes(c)]
        self._same(said, stated, "classes")

    def _starts(self) -> None:
        """Compare the points that may be anywhere: what no gradient is made of."""
        said = {
            f
            for of in re.findall(r"^Let (.*) be any points?\.$", self.text, re.M)
            for f in _formulas(of)
        }
        gradients = {
            v
            for points in self.it.triples.values()
            for t in points.values()
            for v, c in t.g.items()
            if not vanishes(c)
        }
        free = {self.names[v] for v in self.it.vectors if v not in gradients}
        self._same(said - {"x^*"}, free, "points that may be anywhere")

    def _definitions(self) -> None:
        """Take what is normalised and written in the proof, then the theorem's definitions."""
        normal = re.findall(r"^Let (.*) without loss of generality", self.text, re.M)
        short = re.findall(r"[Ww]rite (.*)\.$", self.text, re.M)
        starts = "Let $x^*$ be a point where ", "Suppose that "
        supposed = [f for of in starts for f in _formulas(self._line(of, wanted=False))]
        self.supposed = [f for f in supposed if not self._is_definition(f) and "\\in" not in f]
        both = [
            *_formulas(*short),
            *_formulas(self._line("Define ", wanted=False)),
            *filter(self._is_definition, supposed),
        ]
        for read, formulas in ((self.read, [*_formulas(*normal), *both]), (self.moved, both)):
            for name, _, right in (formula.partition("=") for formula in formulas):
                if "i}" not in name:
                    read.define(name, right)
                elif self._alias(right) != name:  # g_i = ∇f(x_i)
                    raise UnreadError(f"{name} is {right}")

    def _is_definition(self, formula: str) -> bool:
        left = formula.partition("=")[0]
        return bool(
            "=" in formula and (PLACED.fullmatch(left) or re.fullmatch(r"[gf]_\{[^{}]*\}", left))
        )

    def _statement(self) -> None:
        """Compare points, what is supposed, and the conclusion."""
        for function, points in self.it.triples.items():
            for at, triple in points.items():
                own = self._named(function, at.partition("_")[2] or "*")
                for name, of in zip(own, triple, strict=True):
                    if name in self.read.known or name[0] != "f":  # some values are not in print
                        self._same(self.read(name), self._sum(of), name)
        conditions = [self._inequality(formula) for formula in self.supposed]
        stated = [
            (self._condition(of), of.equality)
            for of in self.it.assumptions.values()
            if of.products or of.numbers
        ]
        self._same(conditions, stated, "what is supposed")
        self.assumed = dict(conditions)
        (shown,) = re.findall(r"\\\[ (.*)\. \\\]", self.text) or [""]
        self.goal, equality = self._inequality(shown)
        self._same(
            (self.goal, equality), (self._condition(self.it.conclusion), False), "conclusion"
        )

    def _inequality(self, formula: str) -> tuple[Any, bool]:
        """Return the left less the right side, and whether they are equal."""
        left, sign, right = (*re.split(r"(\\le |=)", formula), "", "")[:3]
        if not sign or formula.count("\\le ") + formula.count("=") != 1:
            raise UnreadError(f"{formula!r}, which is no inequality")
        value = self.read(left) - self.read(right)
        if value != self.moved(left) - self.moved(right):
            raise UnreadError(f"{formula}, which depends on where x* is, or on a value there")
        return value, sign == "="

    # --- the proof -----------------------------------------------------------------------------

    def _forms(self) -> None:
        """Take the class's inequalities, and compare each with those of the classes."""
        self.forms: dict[str, str] = {}
        self.held, self.numbers = set[tuple[str, str]](), list[Any]()
        for line in self._aligned():
            found = re.fullmatch(r"([A-Z])_\{(c;)?(i(?:,j)?)\}&:=(.*)\\le 0\.?", line)
            if found:
                self.forms[found[1]] = found[4]

    def _aligned(self) -> Iterator[str]:
        for block in re.findall(r"\\begin\{align\*\}\n(.*?)\n\\end\{align\*\}", self.text, re.S):
            yield from block.split("\\\\\n")

    def _holds(self, form: str, function: str) -> None:
        """Check that an inequality follows from a class: one, two added, or one less a square."""
        if (key := (form, str(self.it.constants[function]))) in self.held:
            return
        value = self.read(form, self.generic)
        at = [Triple({f"x_{k}": ONE}, {f"g_{k}": ONE}, {f"f_{k}": ONE}) for k in "ij"]
        for kind, constants in self.it.constants[function].items():
            points = CLASSES[kind].points
            there, back = (
                self._condition(CONDITIONS[kind](*constants, *order[:points]))
                for order in (at, at[::-1])
            )
            for way in (there, there + back)[:points] if value else ():
                if self._is_nonnegative(way / value) or self._is_square(way - value):
                    self.held.add(key)
                    return
        raise UnreadError(f"{form}, which is no inequality of {function}")

    def _is_square(self, of: Any) -> bool:
        """Tell whether it is a square, times a number that is at least 0."""
        for factor, power in of.numer.factor_list()[1]:
            of = of if power % 2 else of / self.read.field(factor) ** power
        return self._is_nonnegative(of)

    def _row(self, text: str) -> Any:
        """Return the left side of an inequality that is counted."""
        found = re.fullmatch(r"([A-Z])_\{(?:(\w+);)?([\w*]+(?:,[\w*]+)?)\}", text)
        if not found or found[1] not in self.forms:
            value = self.read(text)
            if value not in self.assumed:
                raise UnreadError(f"{text}, which is not supposed")
            return value
        symbol, label, points = found.groups()
        functions = {_label(name) if self.many else None: name for name in self.it.triples}
        if label not in functions:
            raise UnreadError(f"{text}: no function {label}")
        self._holds(self.forms[symbol], functions[label])
        given = {
            f"{name[0]}_{k}": self.read.known[name]
            for k, index in zip("ij", points.split(","), strict=False)
            for name in self._named(functions[label], index)
            if name in self.read.known
        }
        return self.read(self.forms[symbol], given)

    def _proof(self) -> None:
        """Add up, compare with the sum, and look at its signs."""
        total = self.read.field.zero
        line = self._line("Multiply ", "; and add. The sum, which is at most $0$, is")
        for rows, times in re.findall(r"((?:\$[^$]*\$(?:, )?)+) by \$([^$]*)\$", line):
            c = self.read(times)
            for row in _formulas(rows):
                value = self._row(row)
                if not self.assumed.get(value, False):
                    self._nonnegative(c)
                total = total + c * value
        lines = list(self._aligned())[len(self.forms) :]
        shown = "".join(line.removeprefix("&") for line in lines).removesuffix(".")
        self._same(self.read(shown), total, "the sum")
        parts = list(pieces(shown))
        first = self.read.field.zero
        while parts and first != self.goal:
            first = first + self.read(parts.pop(0))
        self._same(first, self.goal, "the first terms of the sum")
        for part in parts:
            self._square(part)
        least, *factors = _formulas(self._line("Here "))
        if least != "0":
            raise UnreadError(f"at least {least}")
        for formula in factors:
            factor, numbers = self.read(formula), list(self.numbers)
            self._nonnegative(factor)
            if all(part.rem(factor.numer) for c in numbers for part in (c.numer, c.denom)):
                raise UnreadError(f"{formula}, a factor of no number")

    def _square(self, text: str) -> None:
        """Check that a term is a number that is at least 0, times squares perhaps."""
        before, bars, after = text.partition("\\|")
        if before.rstrip().endswith("(") and after.endswith(")"):
            before, after = before.rstrip()[:-1], after[:-1]
        each = list(pieces(bars + after)) if bars else []
        if not all(re.fullmatch(r"\+?\\\|((?!\\\|).)*\\\|\^2", one) for one in each):
            raise UnreadError(f"{text}, which is no sum of squares")
        self._nonnegative(self.read(before if before.strip(" +") else "1"))


def _label(function: str) -> str:
    return function.partition("_")[2] or function


def _formulas(*lines: str) -> list[str]:
    return [formula for line in lines for formula in re.findall(r"\$([^$]*)\$", line)]


def _put(terms: Iterable[Any], values: Sequence[Any], number: Callable[[Any], Any]) -> Any:
    """Return a polynomial with values for its symbols."""
    total = number(fmpq(0))
    for powers, c in terms:
        term = number(c)
        for value, power in zip(values, powers, strict=True):
            term = term * value ** int(power) if power else term
        total = total + term
    return total
