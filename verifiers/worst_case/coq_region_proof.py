"""Proves a theorem for all values of letters in a region, in Coq.

D·(right − left) = Σ (Dλ_k)(right_k − left_k) + Σ (Dd_j)‖v_j‖² + D·gap is one identity of
polynomials, D a common denominator; if its degree is large, the squares are taken off one by one.
Nothing here has to be believed: Coq decides about the file.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from driftproof.toolkit.ratios import Ratio, vanishes
from driftproof.verifiers.worst_case.classes import CURVED, curvatures
from driftproof.verifiers.worst_case.coq_region import OverRegion
from driftproof.verifiers.worst_case.coq_signs import common
from driftproof.verifiers.worst_case.coq_text import UntranslatedError, argument, heading
from driftproof.verifiers.worst_case.coq_words import matrix
from driftproof.verifiers.worst_case.statement import CONDITIONS, Condition

LARGE = 16
"""The largest degree of D for which all squares are in one identity."""
Matrix = list[list[Any]]
Square = tuple[Matrix, Ratio, list[Any]]
"""A matrix, and the square that it is more than the next one: its weight, a row of polynomials."""


class InRegion:
    """A certificate over a region with its proof."""

    instead = ""  # no right side is irrational here

    def __init__(self, of: OverRegion) -> None:
        self.of, self.signs = of, of.signs
        self.algorithm, self.statements = of.algorithm, of.statements
        self.own = [f"b_{k}" for k in range(len(of.own))]
        pairs = ", ".join(f"?(ip_sym _ {b} {a})" for a, b in combinations(self.own, 2))
        turned = f"rewrite {pairs}. " * bool(pairs)
        signs = " ".join(name for name, _ in self.signs.hypotheses)  # an assumption may have 1/L
        self.is_the_sum = (
            f"eapply Rle_trans; [exact K | apply Req_le]. clear - {signs}. "
            f"inner. {turned}field; lra."
        )

    def text(self, said: Sequence[str]) -> str:
        """Return all of the file, with what is said in words."""
        of = self.of
        lemma, *theorems = self.statements()
        made = [*heading(said, "regions"), *lemma, *(f"  {line}" for line in self._proof()), "Qed."]
        named = " ".join([*self.signs.names.values(), *of.functions])
        if theorems:
            iterates = " ".join([*of.starts, *(f"({of.recursions[n]})" for n in of.defined)])
            made += [
                "",
                *theorems[0],
                "  intros.",
                f"  apply (points_of_the_certificate E {named} {iterates});",
                "    try assumption; iterate.",
                "Qed.",
            ]
        if theorems[1:]:
            given = [*self.signs.hypotheses, *of.member, *of.sums, *of.assumed]
            names = " ".join([*of.starts, *(name for name, _ in given)])
            made += [
                "",
                *theorems[1],
                f"  intros E {named} {names}.",
                *(f"  {line}" for line in self.signs.lines),
                f"  assert (rho : 0 <= {of.contracts[0]}) by positive.",
                "  apply (adding_up _ _ _ _ _ _ rho). intro x.",
                f"  apply (bound E {named} xs x); assumption.",
                "Qed.",
            ]
        last = "every_round" if theorems[1:] else "bound"
        return "\n".join([*made, f"Print Assumptions {last}.", ""])

    def _proof(self) -> list[str]:
        """Return the proof: signs, inequalities, vectors in terms of the file's, and the sum."""
        of, signs, ending = self.of, self.signs, self.of.it.conclusion
        self.terms: list[tuple[Ratio, Condition]] = []
        self.weights: list[tuple[Ratio, str]] = []  # with the inequality that each multiplies
        taken = list(self._taken())
        S = matrix([*self.terms, (signs.full(-1), ending)], of.it.vectors, signs.zero)
        squares = self._squares([list(row) for row in S])
        gap = signs.full(ending.right - sum(t * c.right for t, c in self.terms))
        bound = signs.full(ending.right + of.constant)
        every = [gap, bound, of.constant, *(signs.full(c) for c, _, _ in ending.products)]
        every += [*(w for w, _ in self.weights), *_entries(S)]
        D = signs.positive(common([*every, *(w for _, w, _ in squares)]).top)
        if stepwise := sum(map(int, D.top.degrees())) > LARGE:
            D = signs.positive(common(every).top)
        divided = signs.product(D.top, strictly=True)
        for factor, _ in bound.bottom.factor()[1]:
            signs.product(signs.positive(factor).top, strictly=True)
        parts = [self._weighted(D * w, name) for w, name in self.weights]
        chain = list(self._chain(squares)) if stepwise else []
        if stepwise:
            parts.append(self._times(D / self._bottom(S), "rest_0"))
        else:
            parts += [self._times(D * weight, self._square(v)) for _, weight, v in squares]
        if not vanishes(gap):
            parts.append(self._times(D * gap, "Rle_0_1"))
        vectors = self._vectors()
        letters, points = signs.names.values(), [*of.starts, *of.defined]
        names = [name for name, _ in [*signs.hypotheses, *of.member, *of.given]]
        return [
            f"intros E {' '.join([*letters, *of.functions, *points, *names])}.",
            *signs.lines,
            f"assert (right_side : ({divided}) * ({of.right}) = {signs.ratio(D * bound)})",
            "  by (cbv zeta; field; repeat split; lra).",
            *taken,
            *vectors,
            *chain,
            "pose proof (Rle_refl 0) as K.",
            *(f"added K {part}." for part in parts),
            "apply moved. " * bool(of.rest),
            f"apply (Rmult_le_reg_l ({divided})); [positive|]. rewrite right_side. apply above.",
            self.is_the_sum,
        ]

    def _taken(self) -> Iterator[str]:
        """Yield what Coq derives of the classes, and note all that is added up."""
        of, it, signs = self.of, self.of.it, self.signs
        for written, kind, name, *at in of.file["multipliers"]:
            times = signs.full(signs.region.number(written))
            if vanishes(times):
                continue
            if kind == "assumption":
                self.terms.append((times, it.assumptions[name]))
                self.weights.append((times, f"assumed_{list(it.assumptions).index(name)}"))
                continue
            k, constants = list(it.constants).index(name), it.constants[name][kind]
            triples, points = [it.triples[name][p] for p in at], [of.at[name, p] for p in at]
            self.terms.append((times, CONDITIONS[kind](*constants, *triples)))
            if points[1:]:
                x, y = points
                of.apart[f"{y} - {x}"] = of.row(triples[1].minus(triples[0]).x)
            member = f"member_{k}_{list(it.constants[name]).index(kind)}"
            C = f"C_{len(self.weights)}"
            if kind not in CURVED:
                self.weights.append((times, C))
                yield f"pose proof ({member} {' '.join(points)}) as {C}."
                continue
            least, large = map(signs.full, curvatures(kind, constants))
            self.weights.append((times / (2 * (large - least)), C))
            L = argument(signs.ratio(large))
            mu = f"(- {L})" if kind == "smooth" else argument(signs.ratio(least))
            apart = signs.product((large - least).top, strictly=True)
            yield f"of_class {C} ({apart}) (interpolation {mu} {L} f_{k} g_{k}) {member} {x} {y}."

    def _vectors(self) -> list[str]:
        """Return what writes all vectors in terms of the file's own, b_0 and so on."""
        of, own = self.of, " ".join(self.own)
        made = [f"pose ({b} := ({t})%V)." for b, t in zip(self.own, of.own, strict=True)]
        hs = {g: f"h_{k}" for k, g in enumerate(of.gradients)}
        made += [f"set ({h} := {g}) in *. clearbody {h}." for g, h in hs.items()]
        every = [*of.apart.items(), *((hs[g], row) for g, row in of.gradients.items())]
        for k, (text, row) in enumerate(every):
            earlier = " ".join(f"E_{j}" for j in range(k))
            made.append(f"assert (E_{k} : ({text})%V = ({self._in_own(row)})%V).")
            cleared = f"clear {earlier}. " * bool(k)
            made.append(f"{{ {cleared}subst {own}. subst. same_vectors. }}")
        rewritten = "rewrite " + ", ".join(f"?E_{k}" for k in range(len(every)))
        classes = [name for _, name in self.weights if name[0] == "C"]
        made += [f"{rewritten} in {name}." for name in [*classes, *(n for n, _ in of.assumed)]]
        return [*made, f"{rewritten}.", f"clearbody {own}."]

    def _in_own(self, row: Sequence[Any]) -> str:
        """Return a combination of the file's own vectors."""
        return self.signs.sum(zip(row, self.own, strict=True)) or "zero"

    def _square(self, row: Sequence[Any]) -> str:
        return f"(ip_pos _ ({self._in_own(row)})%V)"

    def _weighted(self, times: Ratio, name: str) -> str:
        """Return an inequality with its multiplier."""
        if name[0] == "a" and list(self.of.it.assumptions.values())[int(name[8:])].equality:
            return f"(equal {argument(self.signs.ratio(times))} _ _ {name})"
        return self._times(times, f"(below _ _ {name})")

    def _times(self, times: Ratio, what: str) -> str:
        """Return the proof that a product with what is at least 0 is so."""
        return f"(Rmult_le_pos _ _ (ltac:(positive) : 0 <= {self.signs.product(times.top)}) {what})"

    # --- squares --------------------------------------------------------------------------------

    def _squares(self, S: Matrix) -> list[Square]:
        """Return S and what is left of it after each square."""
        left, zero = set(range(len(S))), self.signs.zero
        made: list[Square] = []
        while left:
            fits = [fit for k in left for fit in self._pivot(S, k, left)]
            if not fits:
                raise UntranslatedError("pivots that vanish in the region", "pivots above 0")
            size, k, row, times = min(fits, key=lambda fit: fit[:2])
            those = set(left)
            left.remove(k)
            if size < 0:
                continue
            before = [
                [x if {i, j} <= those else zero for j, x in enumerate(S[i])] for i in range(len(S))
            ]
            made.append((before, S[k][k] / times**2, [x * times for x in row]))
            for i in left:
                for j in left:
                    S[i][j] -= row[i] * row[j] * S[k][k]
        return made

    def _pivot(
        self, S: Matrix, k: int, left: set[int]
    ) -> Iterator[tuple[int, int, list[Any], Ratio]]:
        """Yield the degree of a pivot, if it is one, its place, its row, and their denominator."""
        full, region = self.signs.full, self.signs.region
        after = [j for j in left if j != k and not vanishes(S[k][j])]
        if vanishes(S[k][k]):
            if not after:
                yield -1, k, [], self.signs.zero
            return
        row = [S[k][j] / S[k][k] if j in after else full(j == k) for j in range(len(S))]
        times = common(row)
        if region.nonnegative(S[k][k]) and region.nonnegative(1 / times**2):
            yield sum(map(int, (*S[k][k].top.degrees(), *times.top.degrees()))), k, row, times

    def _bottom(self, S: Matrix) -> Ratio:
        """Return a common denominator of a matrix."""
        return self.signs.positive(common(_entries(S)).top)

    def _chain(self, squares: Sequence[Square]) -> Iterator[str]:
        """Yield, the last one first, that the form of each matrix is at least 0."""
        signs = self.signs
        for k, (S, weight, v) in reversed(list(enumerate(squares))):
            own, after = self._bottom(S), [self._bottom(of) for of, _, _ in squares[k + 1 : k + 2]]
            every = signs.positive(common([weight, *(1 / c for c in [own, *after])]).top)
            square = self._times(every * weight, self._square(v))
            for c in after:
                rest = self._times(every / c, f"rest_{k + 1}")
                square = f"(Rplus_le_le_0_compat _ _ {square} {rest})"
            size, b = range(len(S)), self.own
            form = self.signs.sum(
                (S[i][j] * own * (2 if i < j else 1), f"⟨{b[i]}, {b[j]}⟩")
                for i in size
                for j in size[i:]
            )
            times = signs.product((every / own).top, strictly=True)
            yield f"assert (rest_{k} : 0 <= {form})."
            yield f"{{ apply (Rmult_le_reg_l ({times})); [positive|]. rewrite Rmult_0_r."
            yield f"  pose proof {square} as K. inner_in K. {self.is_the_sum} }}"


def _entries(S: Matrix) -> Iterator[Ratio]:
    return (x for row in S for x in row)
