"""Writes a certificate for all values of letters in a region as a theorem of Coq.

Letters are real variables, and the theorem is for all functions of the classes, and all points that
obey its equations. D·(right − left) = Σ (Dλ_k)(right_k − left_k) + Σ (Dd_j)‖v_j‖² + D·gap is one
identity of polynomials, D a common denominator; if its degree is large, the squares are taken off
one after the other. That a factor is at least 0 is proved by a form Σ e_k u^k v^(n − k) of it, u
and v the distances of a letter from its ends, e_k of earlier letters, shown in the same way.
Nothing here has to be believed: Coq decides about the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

from flint import fmpq, fmpq_mpoly

from driftproof.toolkit.ratios import Ratio, vanishes
from driftproof.verifiers.worst_case.expression import sqrt
from driftproof.verifiers.worst_case.signs import Region
from driftproof.verifiers.worst_case.statement import CLASSES, Combination, Condition, Statement
from driftproof.verifiers.worst_case.theorem import (
    CURVED,
    UntranslatedError,
    argument,
    bracketed,
    matrix,
)

OWN = re.compile(
    "[RESOQZ]|[A-Za-z]_[0-9]+|xs|pi|forall|exists|fun|let|in|at|as|if|then|else|for|fix|match|with|"
    "end|return|where|using|Type|Set|Prop|zero|add|scale|ip|sum|mean"
)
"""What a letter cannot be called in Coq, or in these files."""
EVERY = "Theorem every_round"
RAISED = 6
"""By how much a degree is raised until all e_k are at least 0."""
LARGE = 16
"""The largest degree of D for which all squares are in one identity."""
START = """Lemma above a b : 0 <= b - a -> a <= b. Proof. lra. Qed.
Lemma below a b : a <= b -> 0 <= b - a. Proof. lra. Qed.
Lemma equal t a b : a = b -> 0 <= t * (b - a). Proof. intros ->. lra. Qed.
Lemma moved a b c : a + (- b) <= c -> a <= b + c. Proof. lra. Qed.
Lemma same {E : space} (u v : E) : (forall w, ⟨u, w⟩ = ⟨v, w⟩) -> u = v.
Proof.
  intro K. specialize (K (u - v)%V). assert (H : ‖u - v‖² = 0) by (rewrite ip_add, ip_scale; lra).
  apply ip_definite in H. apply (cancel (scale (-1) v)).
  rewrite (add_comm _ _ u), (add_comm _ _ v), H, add_opposite. reflexivity. Qed.
Ltac inner := expand; rewrite ?ip_zero, ?ip_zero_r.
Ltac inner_in H := expand_in H; rewrite ?ip_zero, ?ip_zero_r in H.
Ltac unfolded := unfold fedavg, average, mean;
  cbn [gradient_descent map sum length Z.of_nat Pos.of_succ_nat Pos.succ].
"""
Row = list[Any]


def called(letters: Iterable[str]) -> dict[str, str]:
    """Return what letters are called in Coq."""
    return {name: f"{name}_" if OWN.fullmatch(name) else name for name in letters}


class Signs:
    """Facts about polynomials on a region, each with its proof.

    Attributes:
        lines: what Coq is told to prove, in order.
    """

    def __init__(self, written: Sequence[Sequence[str]], said: Callable[[str], str]) -> None:
        self.region, self.lines = Region(written), list[str]()
        self.names, self.zero = called(self.region.free), Ratio.letter(next(iter(self.region.free)))
        for letter in self.region.free.values():
            self.zero = self.zero + letter
        self.zero = self.zero * 0
        self.middle = dict.fromkeys(self.region.free, Fraction(1, 2))
        self.middle = {name: of.at(self.middle) for name, of in self.region.maps.items()}
        self.known: dict[str, str] = {}
        self.ends: dict[str, list[tuple[Ratio, Ratio]]] = {}
        self.hypotheses: list[tuple[str, str]] = []
        for low, above, name, *upper in written:
            x, sides = self.names[name], [(low, above, 1)]
            self.hypotheses.append((f"low_{x}", f"{said(low)} {above} {x}"))
            if upper:
                self.hypotheses.append((f"high_{x}", f"{x} {upper[0]} {said(upper[1])}"))
                sides.append((upper[1], upper[0], -1))
            self.ends[name] = []
            for end, sign, way in sides:
                value = self.full(self.region.number(end))
                times = self._positive(value.bottom)
                own = times * way * (self.region.free[name] - value)
                factor, proof = self.product(times.top, strictly=True)
                text, apart = self.text(own.top), f"{x} - {bracketed(said(end))}"
                if way < 0:
                    apart = f"{bracketed(said(end))} - {x}"
                how = "Rmult_lt_0_compat" if sign == "<" else "Rmult_le_pos"
                proof = proof if sign == "<" else f"(Rlt_le _ _ {proof})"
                self._fact(text, sign == "<", [
                    f"replace ({text}) with (({factor}) * ({apart})) by (field; lra).",
                    f"apply {how}; [exact {proof} | lra].",
                ])  # fmt: skip
                self.ends[name].append((own, times))

    def _positive(self, of: fmpq_mpoly) -> Ratio:
        """Return a polynomial, or minus it, so that it is above 0 in the middle of the region."""
        point = (self.middle[name] for name in of.context().names())
        value = of(*(fmpq(v.numerator, v.denominator) for v in point))
        return self.full(Ratio(of if value > 0 else -of))

    def full(self, of: Any) -> Ratio:
        """Return a number as a function of all letters."""
        made: Ratio = self.zero + of
        return made

    def text(self, of: fmpq_mpoly) -> str:
        """Return a polynomial as Coq reads it."""
        return re.sub(r"[A-Za-z_]\w*", lambda m: self.names[m[0]], str(of)).replace("*", " * ")

    def ratio(self, of: Any) -> str:
        """Return a rational function as Coq reads it, in brackets where it is a sum."""
        value = self.full(of)
        top, bottom = self.text(value.top), self.text(value.bottom)
        if bottom == "1":
            return f"({top})" if " " in top.replace(" * ", "") or top[0] == "-" else top
        return f"(({top}) / ({bottom}))"

    def _fact(self, text: str, strict: bool, proof: Sequence[str]) -> None:
        k = len(self.known)
        self.known[text] = f"S_{k}" if strict else f"W_{k}"
        sign = "<" if strict else "<="
        self.lines.append(f"assert ({self.known[text]} : 0 {sign} {text}).")
        self.lines.append(f"{{ {' '.join(proof)} }}")
        if strict:
            self.lines.append(f"pose proof (Rlt_le _ _ S_{k}) as W_{k}.")

    def product(self, of: fmpq_mpoly, *, strictly: bool) -> tuple[str, str]:
        """Return a polynomial as a product of factors, and a proof of its sign."""
        constant, factors = of.factor()
        parts: list[tuple[str, str]] = []
        for factor, power in factors:
            power, turned = int(power), self._positive(factor).top
            constant *= 1 if turned == self.full(Ratio(factor)).top else (-1) ** power
            factor = turned
            text = self.text(factor)
            try:
                name = self._sign(factor, text)
                if strictly and name[0] == "W":
                    raise _refused(text)
            except UntranslatedError:
                if strictly or power != 2:
                    raise
                parts.append((f"({text})^2", f"(pow2_ge_0 ({text}))"))
                continue
            own = name if strictly else f"W{name[1:]}"
            how = "pow_lt" if strictly else "pow_le"
            plain = (f"({text})", own)
            parts.append(plain if power == 1 else (f"({text})^{power}", f"({how} _ {power} {own})"))
        if constant <= 0:
            raise _refused(self.text(of))
        both, sign = ("Rmult_lt_0_compat", "<") if strictly else ("Rmult_le_pos", "<=")
        if constant != 1 or not parts:
            number = str(fmpq(constant))
            parts.insert(0, (number, f"(ltac:(lra) : 0 {sign} {number})"))
        made = parts[0]
        for text, proof in parts[1:]:
            made = (f"{made[0]} * {text}", f"({both} _ _ {made[1]} {proof})")
        return made

    def _sign(self, of: fmpq_mpoly, text: str) -> str:
        """Return the name of a fact about a polynomial that is not negative in the middle."""
        if text in self.known:
            return self.known[text]
        degrees = dict(zip(of.context().names(), of.degrees(), strict=True))
        letter = [name for name in self.ends if degrees[name]][-1]
        for size in range(degrees[letter], degrees[letter] + RAISED + 1):
            before, count = dict(self.known), len(self.lines)
            try:
                return self._form(Ratio(of), text, letter, size)
            except UntranslatedError:
                self.known = before
                del self.lines[count:]
        raise _refused(text)

    def _form(self, of: Ratio, text: str, letter: str, size: int) -> str:
        """Prove a sign by a form Σ e_k u^k v^(size − k), e_k of earlier letters."""
        x, ends = self.full(self.region.free[letter]), self.ends[letter]
        low = x - ends[0][0] / ends[0][1]
        length = ends[1][0] / ends[1][1] + x - low if ends[1:] else self.full(1)
        moved = self.full(of.put({letter: low + length * x}))
        place = moved.top.context().names().index(letter)
        q = [self.full(0)] * (size + 1)
        for powers, c in moved.top.terms():
            rest = [0 if k == place else int(n) for k, n in enumerate(powers)]
            term = Ratio(moved.top.context().from_dict({tuple(rest): c}), moved.bottom)
            q[int(powers[place])] += term
        if ends[1:]:
            q = [
                sum((fmpq(comb(k, j) * comb(size, k), comb(size, j)) * q[j] for j in range(k + 1)),
                    self.full(0)) / (ends[1][1] ** (size - k) * length**size)
                for k in range(size + 1)
            ]  # fmt: skip
        e = [of / ends[0][1] ** k for k, of in enumerate(q)]
        if not all(map(self.region.nonnegative, e)):
            raise _refused(text)
        times = self._positive(common(e).top)
        factor, positive = self.product(times.top, strictly=True)
        u, v = (self.text(end.top) for end, _ in (ends * 2)[:2])
        firm = {u: self.known[u][0] == "S", v: self.known[v][0] == "S"}
        terms: list[tuple[bool, str, str]] = []
        for k, c in enumerate(e):
            if vanishes(c):
                continue
            powers_of = [(u, k), (v, size - k)] if ends[1:] else [(u, k)]
            strict = all(firm[w] for w, n in powers_of if n)
            try:
                made, proof = self.product((times * c).top, strictly=strict)
            except UntranslatedError:
                if not strict:
                    raise
                strict = False
                made, proof = self.product((times * c).top, strictly=False)
            for w, n in powers_of:
                if n:
                    both, one = ("Rmult_lt_0_compat", "lt") if strict else ("Rmult_le_pos", "le")
                    own = ("S" if strict else "W") + self.known[w][1:]
                    made = f"{made} * ({w})" + f"^{n}" * (n > 1)
                    own = f"(pow_{one} _ {n} {own})" if n > 1 else own
                    proof = f"({both} _ _ {proof} {own})"
            terms.append((strict, made, proof))
        terms.sort(key=lambda term: not term[0])
        strict, total, proof = terms[0]
        how = "Rplus_lt_le_0_compat" if strict else "Rplus_le_le_0_compat"
        for its, made, more in terms[1:]:
            more = f"(Rlt_le _ _ {more})" if its else more
            total, proof = f"{total} + {made}", f"({how} _ _ {proof} {more})"
        sign = "lt" if strict else "le"
        self._fact(text, strict, [
            f"apply (Rmult_{sign}_reg_l ({factor}));", f"[exact {positive} | rewrite Rmult_0_r].",
            f"replace (({factor}) * ({text})) with ({total}) by field.", f"exact {proof}.",
        ])  # fmt: skip
        return self.known[text]


class OverRegion:
    """A certificate of one space over a region, in the words of Coq.

    Attributes:
        algorithm: the recursion of algorithms.v that gives the points ("": equations do).
    """

    def __init__(self, file: Mapping[str, Any], fractions: Callable[..., str]) -> None:
        self.file = file
        names = called(Region(file["region"]).free)
        self.signs = Signs(file["region"], lambda of: fractions(of, {}, names))
        self.it = Statement(dict(file), self.signs.region)
        ending = file["conclusion"]
        self.right = fractions(ending["right"], ending["letters"], names)
        self.basis: list[tuple[str, Row]] = []  # what vectors are written in
        self.reduced: list[tuple[int, Row, Row]] = []
        self.points: list[tuple[str, Row]] = [("xs", self.row({}))]
        self.starts, self.equations = ["xs"], list[tuple[str, str]]()
        self.gradients: dict[str, Row] = {}  # by what they are called
        self.values: list[str] = []
        self.numbers: dict[str, str] = {}
        self.at: dict[tuple[str, str], str] = {}  # function and name of a point → its point
        self.apart: dict[str, Row] = {}
        self.members = self._members()
        self._points()
        self._ending()
        self.defined = [n for n, _ in self.equations if " " not in n]
        self.recursions = self._recursions()
        self.algorithm = (list(self.recursions.values()) or [" "])[-1].split(" ")[0]

    # --- vectors --------------------------------------------------------------------------------

    def row(self, of: Combination) -> Row:
        """Return a combination as a row of its coefficients."""
        return [self.signs.full(of.get(name, 0)) for name in self.it.vectors]

    def _solve(self, row: Row) -> tuple[Row, Row]:
        """Return what is left of a row without the basis, and its coefficients in the basis."""
        left, made = list(row), [self.signs.zero] * len(self.basis)
        for column, reduced, own in self.reduced:
            if not vanishes(c := left[column]):
                left = [x - c * y for x, y in zip(left, reduced, strict=True)]
                for k, y in enumerate(own):
                    made[k] += c * y
        return left, made

    def _known(self, row: Row) -> bool:
        return all(map(vanishes, self._solve(row)[0]))

    def _new(self, text: str, row: Row) -> None:
        left, made = self._solve(row)
        column = next(k for k, x in enumerate(left) if not vanishes(x))
        own = [-x / left[column] for x in made] + [1 / left[column]]
        self.basis.append((text, row))
        self.reduced.append((column, [x / left[column] for x in left], own))

    def _points(self) -> None:
        """Say what each unknown vector is: a start, a gradient, or a combination of these."""
        order = list(self.it.triples)
        pending = [(k, at, t) for k, name in enumerate(order)
                   for at, t in self.it.triples[name].items()]  # fmt: skip
        shifts: dict[int, str] = {}
        while pending:
            those = [p for p in pending if self._known(self.row(p[2].x))]
            k, at, triple = (those or pending)[0]
            pending.remove((k, at, triple))
            row = self.row(triple.x)
            name = next((p for p, other in self.points if _alike(row, other)), "")
            if not name:
                name = self._name(at)
                if those:
                    self.equations.append((name, self._from(row)))
                else:
                    self.starts.append(name)
                    self._new(f"{name} - xs", row)
                    self.apart[f"{name} - xs"] = row
                self.points.append((name, row))
            self.at[order[k], at] = name
            g, gradient = f"g_{k} {name}", self.row(triple.g)
            if g in self.gradients:
                raise UntranslatedError(f"{order[k]} twice at one point", "each point once")
            if self._known(gradient):
                self.equations.append((g, self.linear(gradient)))
            else:
                self._new(g, gradient)
            self.gradients[g] = gradient
            value = f"f_{k} {name}"
            self.values.append(value)
            named = [n for n, c in triple.f.items() if not vanishes(c)]
            if not named:
                shifts.setdefault(k, value)
            elif len(named) > 1 or not vanishes(triple.f[named[0]] - 1) or named[0] in self.numbers:
                raise UntranslatedError("values that depend on each other", "free values")
            else:
                self.numbers[named[0]] = value
        for name, value in self.numbers.items():
            k = int(value.split()[0][2:])
            self.numbers[name] = f"{value} - {shifts[k]}" if k in shifts else value
        units = [self.row({name: fmpq(1)}) for name in self.it.vectors]
        if not all(map(self._known, units)) or set(self.it.values) - set(self.numbers):
            raise UntranslatedError("vectors or values of no point", "those of functions at points")
        self.own = [self.linear(unit) for unit in units]

    def _name(self, at: str) -> str:
        names, k = {p for p, _ in self.points}, len(self.points)
        name = at if re.fullmatch(r"[w-z]_[0-9]+", at) else f"x_{k}"
        while name in names:
            k, name = k + 1, f"x_{k + 1}"
        return name

    def _from(self, row: Row) -> str:
        """Return a point as an earlier one and what is added to it."""
        apart = [(p, _minus(row, other)) for p, other in self.points]
        solved = [(p, self._solve(rest)[1]) for p, rest in apart]
        base, rest = min(solved, key=lambda pair: sum(not vanishes(x) for x in pair[1]))
        return f"{base}{self._terms(rest)}"

    def linear(self, row: Row) -> str:
        """Return a combination of starts and gradients as text."""
        made = self._terms(self._solve(row)[1])
        return made.removeprefix(" + ") or "zero"

    def _terms(self, of: Row) -> str:
        return self._sum([(c, bracketed(t)) for c, (t, _) in zip(of, self.basis, strict=True)])

    def _sum(self, of: Iterable[tuple[Ratio, str]]) -> str:
        made = ""
        for c, text in of:
            if not vanishes(c):
                size = "" if vanishes(c - 1) else f"{self.signs.ratio(c)} * "
                made += f" + {size}{text}"
        return made

    def vector(self, row: Row) -> str:
        """Return a combination as text: the difference of two points, or a sum."""
        for k, (p, one) in enumerate(self.points):
            for q, two in self.points[:k]:
                for text, sign in ((f"{p} - {q}", 1), (f"{q} - {p}", -1)):
                    if _alike(row, [sign * (x - y) for x, y in zip(one, two, strict=True)]):
                        self.apart[text] = row
                        return text
        return self.linear(row)

    def quantity(self, of: Condition) -> str:
        """Return the left side of a condition."""
        terms = []
        for c, u, v in of.products:
            one, two = self.vector(self.row(u)), self.vector(self.row(v))
            terms.append((self.signs.full(c), f"‖{one}‖²" if one == two else f"⟨{one}, {two}⟩"))
        terms += [(self.signs.full(a), f"({self.numbers[n]})") for n, a in of.numbers.items()]
        return self._sum(terms).removeprefix(" + ") or "0"

    def form(self, terms: Iterable[tuple[Ratio, Condition]]) -> list[Row]:
        """Return the matrix of a sum of conditions."""
        return matrix(terms, self.it.vectors, self.signs.zero)

    def _ending(self) -> None:
        """Write the left side as ‖u‖² and the negative of a rest, and u as y_0 − xs."""
        of, signs = self.it.conclusion, self.signs
        Q, self.rest, self.contracting = self.form([(signs.full(1), of)]), "", ("", "", "")
        self.left, size = self.quantity(of), sum(not vanishes(x) for row in Q for x in row)
        for k, row in enumerate(Q):
            root = _root(row[k])
            if root is None or of.numbers:
                continue
            w = [x / root for x in row]
            left = [[x - w[i] * y for x, y in zip(Q[i], w, strict=True)] for i in range(len(Q))]
            off = any(not vanishes(left[i][j]) for i, j in combinations(range(len(Q)), 2))
            own = [(i, signs.full(-left[i][i])) for i in range(len(Q))]
            those = [(i, c) for i, c in own if not vanishes(c)]
            if off or len(those) > 1 or size == 1:
                continue
            try:
                parts = [signs.product(c.top, strictly=False) for _, c in those]
            except UntranslatedError:
                continue
            if any(not vanishes(c * 0 + Ratio(c.bottom) - 1) for _, c in those):
                continue
            if any(vanishes(x + 1) and "g_" not in t
                   for x, (t, _) in zip(self._solve(w)[1], self.basis, strict=True)):  # fmt: skip
                w = [-x for x in w]
            name = next((p for p, other in self.points if _alike(w, other)), "y_0")
            if name == "y_0":
                self.equations.append((name, self._from(w)))
                self.points.append((name, w))
            self.left = f"‖{self.vector(w)}‖²"
            for (i, _), (factor, proof) in zip(those, parts, strict=True):
                unit = [signs.full(j == i) for j in range(len(w))]
                self.contracting = (factor, proof, self.vector(unit))
                self.rest = f"{factor} * ‖{self.contracting[2]}‖²"
            return

    def squares(self, S: list[Row]) -> list[tuple[list[Row], Ratio, Row]]:
        """Return matrices, S the first, each with the square that it is more than the next one.

        A square is a weight, at least 0, and a row of polynomials. The last one is the matrix.
        """
        region, left, zero = self.signs.region, set(range(len(S))), self.signs.zero
        made: list[tuple[list[Row], Ratio, Row]] = []
        while left:
            fits: list[tuple[int, int, Row, Ratio]] = []
            for k in left:
                after = [j for j in left if j != k and not vanishes(S[k][j])]
                if vanishes(S[k][k]):
                    if not after:
                        fits.append((-1, k, [], self.signs.zero))
                    continue
                row = [S[k][j] / S[k][k] if j in after else self.signs.full(j == k)
                       for j in range(len(S))]  # fmt: skip
                times = common(row)
                if region.nonnegative(S[k][k]) and region.nonnegative(1 / times**2):
                    size = sum(map(int, (*S[k][k].top.degrees(), *times.top.degrees())))
                    fits.append((size, k, row, times))
            if not fits:
                raise UntranslatedError("pivots that vanish in the region", "pivots above 0")
            size, k, row, times = min(fits, key=lambda fit: fit[:2])
            left.remove(k)
            if size < 0:
                continue
            those = {k, *left}
            before = [[x if {i, j} <= those else zero for j, x in enumerate(S[i])]
                      for i in range(len(S))]  # fmt: skip
            made.append((before, S[k][k] / times**2, [x * times for x in row]))
            for i in left:
                for j in left:
                    S[i][j] -= row[i] * row[j] * S[k][k]
        return made

    # --- the file -------------------------------------------------------------------------------

    def lines(self) -> list[str]:
        """Return all of the file after its first lines."""
        signs, it, ending = self.signs, self.it, self.it.conclusion
        self.terms: list[tuple[Ratio, Condition]] = []
        self.weights: list[tuple[Ratio, str]] = []  # with the inequality that each multiplies
        self.conditions: list[str] = []
        self.interpolated: list[str] = []
        self.facts: dict[str, str] = {}
        letters = " ".join(signs.names.values())
        self.letters, self.region = f"({letters} : R)", signs.hypotheses
        self.about_letters = " ".join([letters, *(n for n, _ in self.region)])
        region = [f"  {said} ->" for _, said in self.region]
        for written, kind, name, *at in self.file["multipliers"]:
            times = signs.full(signs.region.number(written))
            if not vanishes(times):
                self._multiplied(times, kind, name, at)
        squares = self.squares(self.form([*self.terms, (signs.full(-1), ending)]))
        constant = signs.full(signs.region.number(self.file["conclusion"]["constant"]))
        gap = signs.full(ending.right - sum(t * c.right for t, c in self.terms))
        bound = signs.full(ending.right + constant)
        every = [gap, bound, constant, *(signs.full(c) for c, _, _ in ending.products)]
        every += [w for w, _ in self.weights] + [x for of in squares[:1] for r in of[0] for x in r]
        D = signs._positive(common([*every, *(w for _, w, _ in squares)]).top)
        if stepwise := sum(map(int, D.top.degrees())) > LARGE:
            D = signs._positive(common(every).top)
        self.divided, proof = signs.product(D.top, strictly=True)
        firm = self._fact(f"0 < {self.divided}", proof)
        for factor, _ in bound.bottom.factor()[1]:
            text, proof = signs.product(signs._positive(factor).top, strictly=True)
            self._fact(f"0 < {text}", proof)
        self.parts: list[str] = []  # of the sum
        for times, name in self.weights:
            if name[0] == "a" and list(it.assumptions.values())[int(name[8:])].equality:
                self.parts.append(f"(equal {argument(signs.ratio(D * times))} _ _ {name})")
            else:
                self._part(D * times, f"(below _ _ {name})")
        chain = self._chain(squares) if stepwise else []
        for _, times, row in [] if stepwise else squares:
            self._part(D * times, f"(ip_pos _ ({self._in_own(row)})%V)")
        if stepwise:
            bs = " ".join(f"b_{k}" for k in range(len(self.own)))
            self._part(D / self._times(squares[0][0]), f"(rest_0 E {bs} {self.about_letters})")
        if not vanishes(gap):
            self._part(D * gap, "Rle_0_1")
        self.left += "" if vanishes(constant) else f" + {signs.ratio(constant)}"
        by, proof, _ = self.contracting
        contracts = self._fact(f"0 <= {by}", proof) if by else ""
        known = " & ".join(f"P_{k}" for k in range(len(self.facts)))
        self.known = f"  destruct (signs {self.about_letters}) as ({known})."
        return [
            *START.splitlines(), "", f"Lemma signs : forall {self.letters},", *region,
            "  " + " /\\ ".join(f"({said})" for said in self.facts) + ".",
            "Proof.", f"  intros {self.about_letters}.", *(f"  {line}" for line in signs.lines),
            f"  exact ({_conj(list(self.facts.values()))}).", "Qed.", "",
            f"Lemma right_side : forall {self.letters},", *region,
            f"  ({self.divided}) * ({self.right}) = {signs.ratio(D * bound)}.",
            "Proof.", f"  intros {self.about_letters}.", self.known,
            "  cbv zeta. field; repeat split; lra.", "Qed.", "",
            *(line or self.known for line in chain), *(made := self._theorems(firm, contracts)),
            f"Print Assumptions {'every_round' if any(EVERY in x for x in made) else 'bound'}.",
        ]  # fmt: skip

    def _times(self, S: list[Row]) -> Ratio:
        """Return a common denominator of a matrix."""
        return self.signs._positive(common(x for row in S for x in row).top)

    def _chain(self, squares: Sequence[tuple[list[Row], Ratio, Row]]) -> list[str]:
        """Return a lemma for each matrix, the last one first; "" is where the signs are known."""
        signs, bs, made = self.signs, [f"b_{k}" for k in range(len(self.own))], list[str]()
        for k, (S, weight, v) in reversed(list(enumerate(squares))):
            own, after = self._times(S), [self._times(of) for of, _, _ in squares[k + 1 : k + 2]]
            every = signs._positive(common([weight, *(1 / c for c in [own, *after])]).top)
            text, proof = signs.product((every / own).top, strictly=True)
            firm = self._fact(f"0 < {text}", proof)
            terms = [(c * (S[i][j] * own), f"⟨{bs[i]}, {bs[j]}⟩")
                     for i in range(len(S)) for j in range(i, len(S))
                     for c in [1 if i == j else 2]]  # fmt: skip
            form = self._sum(terms).removeprefix(" + ")
            square, proof = signs.product((every * weight).top, strictly=False)
            fact = self._fact(f"0 <= {square}", proof)
            part = f"Rmult_le_pos _ _ {fact} (ip_pos _ ({self._in_own(v)})%V)"
            for c in after:
                more, proof = signs.product((every / c).top, strictly=False)
                rest = f"(rest_{k + 1} E {' '.join(bs)} {self.about_letters})"
                part = f"Rplus_le_le_0_compat _ _ ({part})"
                part += f" (Rmult_le_pos _ _ {self._fact(f'0 <= {more}', proof)} {rest})"
            made += [
                f"Lemma rest_{k} : forall (E : space) ({' '.join(bs)} : E) {self.letters},",
                *(f"  {said} ->" for _, said in self.region), f"  0 <= {form}.", "Proof.",
                f"  intros E {' '.join(bs)} {self.about_letters}.", "",
                f"  apply (Rmult_le_reg_l ({text}) _ _ {firm}). rewrite Rmult_0_r.",
                f"  pose proof ({part}) as K. inner_in K.",
                "  eapply Rle_trans; [exact K | apply Req_le].",
                f"  clear. {_turned(bs)} field; lra.", "Qed.",
            ]  # fmt: skip
        return made

    def _multiplied(self, times: Ratio, kind: str, name: str, at: list[str]) -> None:
        """Take an inequality with its multiplier."""
        signs, it = self.signs, self.it
        if kind == "assumption":
            self.terms.append((times, it.assumptions[name]))
            self.weights.append((times, f"assumed_{list(it.assumptions).index(name)}"))
            return
        k, constants = list(it.constants).index(name), it.constants[name][kind]
        one, two = (it.triples[name][p] for p in at)
        self.terms.append((times, CLASSES[kind][2](*constants, one, two)))
        large = signs.full(constants[0])
        least = signs.full(constants[1] if constants[1:] else CURVED[kind] * large)
        self.weights.append((times / (2 * (large - least)), f"C_{len(self.conditions)}"))
        text, proof = signs.product((large - least).top, strictly=True)
        self._fact(f"0 < {text}", proof)
        L = argument(signs.ratio(large))
        mu = {-1: f"(- {L})", 0: "0", 1: argument(signs.ratio(least))}[CURVED[kind]]
        x, y = (self.at[name, p] for p in at)
        self.apart[f"{y} - {x}"] = self.row(two.minus(one).x)
        f, g = f"f_{k}", f"g_{k}"
        self.conditions.append(
            f"({mu} < {L} -> 2 * ({L} - {mu}) * ({f} {y} - {f} {x} - ⟨{g} {y}, {y} - {x}⟩)"
            f" + ‖{g} {y} - {g} {x}‖² + {L} * {mu} * ‖{y} - {x}‖²"
            f" - 2 * {mu} * ⟨{g} {y} - {g} {x}, {y} - {x}⟩ <= 0)"
        )
        member = f"member_{k}_{list(it.constants[name]).index(kind)}"
        self.interpolated.append(f"(fun lt => interpolation {mu} {L} {f} {g} lt {member} {x} {y})")

    def _fact(self, text: str, proof: str) -> str:
        """Return the name of a fact about letters."""
        self.facts.setdefault(text, proof)
        return f"P_{list(self.facts).index(text)}"

    def _part(self, times: Ratio, what: str) -> None:
        text, proof = self.signs.product(times.top, strictly=False)
        self.parts.append(f"(Rmult_le_pos _ _ {self._fact(f'0 <= {text}', proof)} {what})")

    def _in_own(self, row: Row) -> str:
        """Return a combination of the file's own vectors."""
        made = self._sum((c, f"b_{k}") for k, c in enumerate(row))
        return made.removeprefix(" + ") or "zero"

    def _members(self) -> list[tuple[str, str]]:
        kinds = {kind for of in self.it.constants.values() for kind in of}
        for kind in sorted(kinds - set(CURVED)):
            raise UntranslatedError(
                f"{kind} functions, for all values of letters", f"one of {', '.join(CURVED)}"
            )
        return [
            (f"member_{k}_{j}", " ".join([kind.replace("-", "_"),
             *(argument(self.signs.ratio(c)) for c in constants), f"f_{k} g_{k}"]))
            for k, kinds in enumerate(self.it.constants.values())
            for j, (kind, constants) in enumerate(kinds.items())
        ]  # fmt: skip

    def _theorems(self, firm: str, contracts: str) -> list[str]:
        """Return the identity, about any vectors, and the theorem, about functions.

        A round that takes ‖x − x*‖² to ρ‖x − x*‖² + c at most, from any x, has a theorem about
        every number of rounds too.
        """
        signs, region = self.signs, self.region
        points = [(n, t) for n, t in self.equations if " " not in n]
        sums = [(f"is_{n.replace(' ', '_')}", f"{n} = {_vector(t)}")
                for n, t in self.equations if " " in n]  # fmt: skip
        equations = [(f"is_{n}", f"{n} = {_vector(t)}") for n, t in points]
        assumed = [
            (f"assumed_{k}", f"{self.quantity(of)} {'=' if of.equality else '<='} "
             + signs.ratio(of.right)) for k, of in enumerate(self.it.assumptions.values())
        ]  # fmt: skip
        given, defined = [*equations, *sums, *assumed], self.defined
        own = {g: f"h_{k}" for k, g in enumerate(self.gradients)}
        own |= {f: f"v_{k}" for k, f in enumerate(self.values)}
        hs, vs = ([n for n in own.values() if n[0] == letter] for letter in "hv")

        def put(text: str) -> str:
            return re.sub(r"\b[fg]_[0-9]+ \w+", lambda m: own[m[0]], text)

        left = f"{self.left} + (- ({self.rest}))" if self.rest else self.left
        ended = f"{self.left} <= {self.rest} + ({self.right})" if self.rest else (
            f"{self.left} <= ({self.right})")  # fmt: skip
        names = " ".join(n for n, _ in [*region, *given])
        letters, vectors = " ".join(signs.names.values()), [*self.starts, *defined]
        bs = [f"b_{k}" for k in range(len(self.own))]
        every = [*self.apart.items(), *((own[g], r) for g, r in self.gradients.items())]
        made = [
            f"Lemma identity : forall (E : space) {self.letters}",
            f"  ({' '.join([*vectors, *hs])} : E) ({' '.join(vs)} : R),",
            *(f"  {put(said)} ->" for _, said in [*region, *given]),
            *(f"  {put(said)} ->" for said in self.conditions),
            f"  {put(left)} <= ({self.right}).", "Proof.",
            f"  intros E {' '.join([letters, *vectors, *hs, *vs])} {names}.", self.known,
            *(f"  pose (b_{k} := {_vector(put(t))})." for k, t in enumerate(self.own)),
        ]  # fmt: skip
        for k, (text, row) in enumerate(every):
            clear = f"clear {' '.join(f'E_{j}' for j in range(k))}. " * (k > 0)
            made.append(f"  assert (E_{k} : {_vector(text)} = {_vector(self._in_own(row))}).")
            made.append(f"  {{ {clear}unfold {', '.join(bs)}. subst. apply same; intro. inner."
                        " field; lra. }")  # fmt: skip
        rewritten = "rewrite " + ", ".join(f"?E_{k}" for k in range(len(every)))
        cs = [f"C_{k}" for k in range(len(self.conditions))]
        made.append(f"  clearbody {' '.join(bs)}. intros {' '.join(cs)}.")
        made += [f"  specialize ({c} ltac:(lra))." for c in cs]
        made += [f"  {rewritten} in {name}." for name in [*cs, *(n for n, _ in assumed)]]
        made.append(f"  {rewritten}.")
        for k, part in enumerate(self.parts):
            made.append(f"  pose proof {part} as K_{k}. inner_in K_{k}.")
            if k:
                made.append(f"  apply (Rplus_le_le_0_compat _ _ K_{k - 1}) in K_{k}.")
        fs = [f"{h}_{k}" for k in range(len(self.it.constants)) for h in "fg"]
        functions = " ".join(f"({f} : E -> {'R' if f[0] == 'f' else 'E'})" for f in fs)
        made += [
            f"  apply (Rmult_le_reg_l ({self.divided}) _ _ {firm}).",
            f"  rewrite (right_side {self.about_letters}). apply above.",
            f"  eapply Rle_trans; [exact K_{len(self.parts) - 1} | apply Req_le].",
            f"  clear. inner. {_turned(bs)} field; lra.", "Qed.", "",
        ]  # fmt: skip
        recursions, members = self.recursions, self.members

        def theorem(name: str, of: Sequence[str], said: Sequence[tuple[str, str]],
                    ended: str = ended) -> list[str]:  # fmt: skip
            return [
                f"{name} : forall (E : space) {self.letters} {functions} ({' '.join(of)} : E),",
                *(f"  ({text}) ->" for _, text in said), f"  {ended}.", "Proof.",
                f"  intros E {' '.join([letters, *fs, *of])} {' '.join(n for n, _ in said)}.",
            ]  # fmt: skip

        first = "Lemma points_of_the_certificate" if recursions else "Theorem bound"
        made += [
            *theorem(first, vectors, [*region, *members, *given]),
            f"  {'apply moved; ' * bool(self.rest)}exact (identity E {letters} {' '.join(vectors)}",
            f"    {' '.join(f'({t})' for t in own)} {names}",
            *(f"    {i}" for i in self.interpolated), "  ).", "Qed.",
        ]  # fmt: skip
        if recursions:
            again = theorem("Theorem bound", self.starts, [*region, *members, *sums, *assumed])
            iterates = [f"({recursions[n]})" for n in defined]
            put_in = " ".join([letters, *fs, *self.starts, *iterates])
            made += [
                "", *(_replaced(line, recursions) for line in again),
                f"  apply (points_of_the_certificate E {put_in});",
                "    try assumption; apply same; intro; unfolded; inner; field; lra.", "Qed.",
            ]  # fmt: skip
            factor, _, apart = self.contracting
            start, after = self.starts[1], f"‖({recursions.get('y_0')}) - xs‖²"
            from_any = all(start not in text for _, text in [*sums, *assumed])
            if from_any and apart == f"{start} - xs" and _replaced(self.left, recursions) == after:
                ended = (
                    f"forall rounds, {after.replace(' 1)', ' rounds)')} <= "
                    f"({factor})^rounds * ‖{apart}‖² + ({self.right}) * geometric ({factor}) rounds"
                )
                made += [
                    "", *theorem(EVERY, self.starts, [*region, *members, *sums, *assumed], ended),
                    self.known, f"  apply (adding_up _ _ _ _ _ _ {contracts}). intro x.",
                    f"  apply (bound E {' '.join([letters, *fs])} xs x); assumption.", "Qed.",
                ]  # fmt: skip
        return made

    def _recursions(self) -> dict[str, str]:
        """Return what iterates of algorithms.v the points are; Coq proves that they are."""
        rows, made, defined = dict(self.points), dict[str, str](), self.defined
        if len(self.starts) != 2 or "algorithm: name = fedavg," not in self.file["about"]:
            return {}
        start, mean, steps = self.starts[1], [self.signs.zero] * len(self.own), set[int]()
        clients, eta = [f"g_{k}" for k in range(len(self.it.constants))], None
        for g in clients:
            at, k = start, 0
            while f"{g} {at}" in self.gradients:
                mean = [x + y / len(clients) for x, y in
                        zip(mean, self.gradients[f"{g} {at}"], strict=True)]  # fmt: skip
                found = None
                for n in defined:
                    moved = _ratio(_minus(rows[at], rows[n]), self.gradients[f"{g} {at}"])
                    if n not in made and moved is not None and n != "y_0":
                        found, eta = n, moved
                        break
                k += 1
                if found is None:
                    break
                step = argument(self.signs.ratio(eta))
                made[found] = f"gradient_descent {step} {g} {start} {k}"
                at = found
            steps.add(k)
        if "y_0" in defined and len(steps) == 1:
            eta = _ratio(_minus(rows[start], rows["y_0"]), mean)
            if eta is not None:
                step = argument(self.signs.ratio(eta))
                made["y_0"] = f"fedavg {step} {steps.pop()} [{'; '.join(clients)}] {start} 1"
        return made if set(made) == set(defined) else {}


def _minus(one: Row, two: Row) -> Row:
    return [x - y for x, y in zip(one, two, strict=True)]


def _ratio(one: Row, two: Row) -> Ratio | None:
    """Return c where one is c times the other."""
    k = next((k for k, y in enumerate(two) if not vanishes(y)), None)
    if k is None or vanishes(one[k]):
        return None
    c: Ratio = one[k] / two[k]
    if not _alike(one, [c * y for y in two]):
        return None
    return c


def _root(of: Ratio) -> Ratio | None:
    """Return the square root of a function that is a square."""
    made: Ratio = of * 0 + 1
    for part, way in ((of.top, 1), (of.bottom, -1)):
        constant, factors = part.factor()
        root = sqrt(fmpq(constant)) if constant > 0 else None
        if not isinstance(root, fmpq) or any(power % 2 for _, power in factors):
            return None
        for factor, power in factors:
            made *= Ratio(factor) ** (way * int(power) // 2)
        made *= root if way > 0 else 1 / root
    return made


def _vector(text: str) -> str:
    return text if text.isidentifier() else f"({text})%V"


def _replaced(text: str, names: Mapping[str, str]) -> str:
    for name, other in names.items():
        text = re.sub(rf"(?<![\w.]){name}(?!\w)", f"({other})", text)
    return text


def _turned(names: Sequence[str]) -> str:
    """Return what writes ⟨b, a⟩ as ⟨a, b⟩."""
    pairs = ", ".join(f"?(ip_sym _ {b} {a})" for a, b in combinations(names, 2))
    return f"rewrite {pairs}." if pairs else ""


def _conj(of: Sequence[str]) -> str:
    return of[0] if len(of) == 1 else f"conj {of[0]} ({_conj(of[1:])})"


def _alike(one: Row, two: Row) -> bool:
    return all(vanishes(x - y) for x, y in zip(one, two, strict=True))


def common(of: Iterable[Ratio]) -> Ratio:
    """Return the least common denominator of rational functions of the same letters."""
    made: Ratio | None = None
    for value in of:
        own = Ratio(value.bottom)
        made = own if made is None else made * own / Ratio(made.top.gcd(own.top))
    assert made is not None
    return made


def _refused(text: str) -> UntranslatedError:
    return UntranslatedError(
        f"a sign that is not shown: that of {text}", "coefficients of one sign in Bernstein's form"
    )
