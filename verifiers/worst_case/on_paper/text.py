r"""A certificate as a theorem with its proof, in LaTeX.

Each line of formulas has one form, which ``read_back`` knows.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from driftproof.toolkit.ratios import vanishes
from driftproof.toolkit.report.listed import listed
from driftproof.verifiers.worst_case.check import positive_semidefinite
from driftproof.verifiers.worst_case.classes import CURVED, curvatures
from driftproof.verifiers.worst_case.coq_words import matrix
from driftproof.verifiers.worst_case.on_paper.fewest import condition
from driftproof.verifiers.worst_case.on_paper.inequalities import both_ways, whole, words
from driftproof.verifiers.worst_case.on_paper.latex import UnprintableError, name_of, pieces
from driftproof.verifiers.worst_case.on_paper.squares import Square, at_a_point, length, squares
from driftproof.verifiers.worst_case.on_paper.words import (
    Words,
    added,
    free_vectors,
    minus,
    nonzero,
    same,
)
from driftproof.verifiers.worst_case.statement import ONE, ZERO, Condition, Statement

SYMBOLS = "ABCDEHKMNPQST"
"""What inequalities are called."""
WIDTH = 100
"""Characters of a line of the sum."""
CHARACTERS = 5000
"""The longest text: about a page."""
Key = tuple[str, ...]
"""A class, a function and points, or "assumption" and its name."""


class OnPaper(Words):
    """A certificate of one space as a theorem with its proof.

    Raises:
        UnprintableError: it would be no proof that a person can check.
    """

    def __init__(self, it: Statement, multipliers: Mapping[Key, Any]) -> None:
        super().__init__(it)
        self.multipliers, self.weak = dict(multipliers), set[Key]()
        self.goal = it.conclusion
        if any(not same(u, v) for _, u, v in self.goal.products):
            own = self._squares([(ONE, self.goal)], signed=True)
            turned = [-1 if vanishes(self.moved(one.line) + 1) else 1 for one in own]
            lines = [
                {v: sign * c for v, c in one.line.items()}
                for sign, one in zip(turned, own, strict=True)
            ]
            products = [(one.times, u, u) for one, u in zip(own, lines, strict=True)]
            self.goal = self.goal._replace(products=products)
        self._end()

    def _end(self) -> None:
        """Call x^+ what the conclusion is about, if that is no point of a function."""
        for _, u, v in self.goal.products:
            own = nonzero(u)
            named = any(same(own, x) for x in self.points.values()) or len(own) == 1
            if same(u, v) and not named and vanishes(self.moved(own) - 1):
                self.points["x^+"] = own
                self.step("x^+")
                return

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
        u, whole_one = minus(g, {v: mu * c for v, c in x.items()}), condition(self.it, key)
        return whole_one._replace(products=[*whole_one.products, (-1 / (2 * (L - mu)), u, u)])

    def rows(self) -> tuple[list[str], dict[str, list[str]], list[Any]]:
        """Return the inequalities' forms, what each number multiplies, and those of a sign."""
        forms: dict[str, str] = {}
        used: dict[str, list[str]] = {}
        numbers, left = [], dict(self.multipliers)
        for key in list(left):
            if key not in left:
                continue
            times, (kind, name, *points) = left.pop(key), key
            equal = kind == "assumption" and self.it.assumptions[name].equality
            if kind == "assumption":
                text = self.printer.sum(self.terms(self.it.assumptions[name]))
            else:
                constants, turned = self.it.constants[name][kind], (kind, name, *points[::-1])
                form = whole(kind, constants, self.printer, weaker=key in self.weak)
                both = both_ways(kind, constants, self.printer)
                if both and self._turned(key):
                    form, times = both, times * both.scale
                    left.pop(turned)
                    points.sort(key=lambda at: (at[-1] != "*", at))
                text = f"{self.form(forms, form.text, name)}_{{{self._at(name, points)}}}"
            used.setdefault(self.printer.number(times), []).append(text)
            numbers += [] if equal else [times]
        return list(forms.values()), used, numbers

    def _at(self, function: str, points: list[str]) -> str:
        label = self.names("g", function, "x*")[0][3:-1].partition(",")[0]
        index = ",".join(at.partition("_")[2] or "*" for at in points)
        return index if len(self.it.triples) == 1 else f"{label};{index}"

    def form(self, forms: dict[str, str], text: str, function: str) -> str:
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
        left = self.printer.sum(self.terms(self.goal))
        after = self.printer.sum([*((one.times, one.text) for one in rest), (gap, "")])
        total = added(left, after)
        stated = [of for of in self.it.assumptions.values() if of.products or of.numbers]
        suppose = [*(text for text in self.given if "x^*" not in text), *map(self.said, stated)]
        multiplied = "; ".join(
            f"{', '.join(f'${text}$' for text in rows)} by ${c}$" for c, rows in used.items()
        )
        signs = sorted(
            {
                s
                for c in [*numbers, *(one.times for one in rest), gap]
                for s in self.printer.signs(c)
            },
            key=lambda s: (len(s), s),
        )
        factors = f"${'$, $'.join(signs)}$ {'are' if signs[1:] else 'is'}"
        why = f", since in the region {factors} not negative" if signs else ""
        last = ["the last term"] * (not vanishes(gap))
        many = "the multipliers" + " of inequalities" * any(of.equality for of in stated)
        signed = [many, *["the numbers before the squares"] * bool(rest), *last]
        every = " of each function $c$" * (len(self.it.triples) > 1)
        smooth = any(key[0] in CURVED for key in self.multipliers)
        source = " (Taylor, Hendrickx and Glineur 2017)" * smooth
        points = "two points" if any("j}&" in form for form in forms) else "point"
        left_out = [*["the squares"] * bool(rest), *last]
        proof = " ".join(
            [*(row for rows in used.values() for row in rows), total, *forms, *self.halves]
        )
        define = [f"Define ${'$, $'.join(self.steps)}$."] * bool(self.steps)
        lines = [
            *self.stated(define, [f"${text}$" for text in suppose], self.said(self.goal), proof),
            *[f"At any {points}{every}, the class says{source}", *aligned(forms, ".")]
            * bool(forms),
            f"Multiply {multiplied}; and add. The sum, which is at most $0$, is",
            *aligned(_broken(total), "."),
            f"Here {listed(signed)} are at least $0${why}.",
            *[f"Leave out {listed(left_out)}: what remains is the claim."] * bool(left_out),
            "\\end{proof}",
            "",
        ]
        text = "\n".join(lines)
        if len(text) > CHARACTERS:
            raise UnprintableError(
                f"a proof of {len(text):,} characters",
                f"at most {CHARACTERS:,}, about a page",
                "take fewer steps or rounds, or one client; driftproof prove FILE has Coq check it",
            )
        return text

    def stated(self, define: list[str], suppose: list[str], claim: str, proof: str) -> list[str]:
        """Return the theorem, and how its proof begins."""
        solution = [text for text in self.given if "x^*" in text]
        said = " ".join([*define, *solution, *suppose, claim])
        return [
            "\\begin{theorem}",
            *self._region(),
            *self._classes(),
            *self._any(said),
            *[f"Let $x^*$ be a point where ${'$, $'.join(solution)}$."] * bool(solution),
            *self._starts(),
            *define,
            *[f"Suppose that {', '.join(suppose)}."] * bool(suppose),
            "Then",
            f"\\[ {claim}. \\]",
            "\\end{theorem}",
            "\\begin{proof}",
            *self._written(said, proof),
        ]

    def _region(self) -> list[str]:
        numbers = self.it.numbers
        made = []
        for (name, ends), closed in zip(
            getattr(numbers, "ends", {}).items(), getattr(numbers, "closed", []), strict=True
        ):
            low, *high = (self.printer.number(end) for end in ends)
            below, above = ("\\le " if own else "<" for own in closed)
            made.append(f"{low}{below}{name_of(name)}{above + high[0] if high else ''}")
        letters = [f"For all ${'$, $'.join(made)}$ the following holds."] * bool(made)
        return ["All points are in one Hilbert space, where functions are defined.", *letters]

    def _classes(self) -> list[str]:
        """Say what the functions are; those of which the same is said stand together."""
        alike: dict[str, list[str]] = {}
        for function, kinds in self.it.constants.items():
            operator = function[0] == "A"
            said = [
                words(kind, c, self.printer.number, operator=operator) for kind, c in kinds.items()
            ]
            own = self.names("f", function, "x*")[1].partition("(")[0]
            alike.setdefault(" and ".join(said) or "any function", []).append(f"${own}$")
        return [f"Let {listed(names)} be {said}." for said, names in alike.items()]

    def _any(self, said: str) -> list[str]:
        """Say of x* or f* in the theorem what it is where no function's point is it."""
        bases = [self.base(f) for f in self.it.triples if self.base(f).endswith("^*")]
        loose = ["x^*"] * ("x^*" not in self.points) + bases
        return [
            f"Let ${name}$ be any {'point' if name == 'x^*' else 'number'}."
            for name in loose
            if name in said
        ]

    def _starts(self) -> list[str]:
        """Say of the points from which others are made that they may be anywhere."""
        starts = [f"${self.called[v].short}$" for v in free_vectors(self.it)]
        several = "any points" if starts[1:] else "any point"
        return [f"Let {listed(starts)} be {several}."] * bool(starts)

    def _written(self, said: str, proof: str) -> list[str]:
        """Say what is 0 in the proof, and what its short names stand for."""
        normal, names = ["$x^*=0$"] * ("x^*" in said), list[str]()
        for function in self.it.triples:
            (g, gradient), (f, value) = (self.names(w, function, "x*") for w in "gf")
            base = self.base(function)
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


def aligned(lines: list[str], end: str) -> list[str]:
    """Return displayed formulas."""
    return ["\\begin{align*}", "\\\\\n".join(lines) + end, "\\end{align*}"]


def _broken(text: str) -> list[str]:
    """Return a sum in lines."""
    lines = [""]
    for piece in pieces(text):
        if lines[-1] and len(lines[-1]) + len(piece) > WIDTH:
            lines.append("")
        lines[-1] += piece
    return [f"&{line}" for line in lines]
