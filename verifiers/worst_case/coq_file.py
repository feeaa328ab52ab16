"""Writes the file of a theorem: the certificate in whole numbers, the theorem, and its proof."""

from collections.abc import Sequence
from itertools import combinations
from math import lcm

from flint import fmpq

from driftproof.verifiers.worst_case.classes import CLASSES, CURVED, curvatures
from driftproof.verifiers.worst_case.coq_text import (
    UntranslatedError,
    heading,
    listed,
    statement,
    text,
    trimmed,
    whole,
)
from driftproof.verifiers.worst_case.coq_words import Row, matrix
from driftproof.verifiers.worst_case.squares import squares
from driftproof.verifiers.worst_case.statement import (
    CONDITIONS,
    ZERO,
    Combination,
    Condition,
    number,
)
from driftproof.verifiers.worst_case.theorem import Function, Theorem


class AtNumbers:
    """A certificate of one space whose letters have values, in the words of Coq.

    The vectors of the Coq certificate are those of the file divided by ``scale``, so that all
    combinations are of whole numbers.
    """

    def __init__(self, of: Theorem) -> None:
        self.of, self.instead, self.algorithm = of, "", of.algorithm
        self.functions = list(of.functions.values())
        it = of.it
        conditions = [of.ending, *it.assumptions.values()]
        rows = [part for f in self.functions for t in f.triples.values() for part in (t.x, t.g)]
        rows += [w for c in conditions for _, u, v in c.products for w in (u, v)]
        rows += [dict(zip(of.vectors, p.row, strict=True)) for p in of.defined]
        self.scale = lcm(1, *(int(c.q) for row in rows for c in row.values()))

    def _taken(self) -> None:
        """Collect the inequalities with their multipliers, all of them times a common number."""
        of, it = self.of, self.of.it
        weights: dict[str, fmpq] = {}
        total: list[tuple[fmpq, Condition]] = []
        self.used: dict[str, dict[str, dict[tuple[int, ...], fmpq]]] = {}
        for written, kind, name, *at in of.file["multipliers"]:
            times = number(written)
            if kind == "assumption":
                weights[name] = weights.get(name, ZERO) + times
                total.append((times, it.assumptions[name]))
                continue
            f = of.functions[name]
            condition = CONDITIONS[kind](*f.classes[kind], *(f.triples[p] for p in at))
            total.append((times, condition))
            places = tuple(list(f.triples).index(p) for p in at)
            here = self.used.setdefault(name, {}).setdefault(kind, {})
            here[places] = (
                here.get(places, ZERO) + times / self._constants(kind, f.classes[kind])[1]
            )
        found = squares(matrix([*total, (fmpq(-1), of.ending)], of.vectors))
        if found is None:
            raise UntranslatedError(
                "squares of thousands of digits", "a certificate of fewer digits"
            )
        self.factors = {name: self._factor(c) for name, c in it.assumptions.items()}
        self.ending = self._factor(of.ending)
        every = [1 / fmpq(self.ending), *(w / self.factors[n] for n, w in weights.items())]
        every += [w for f in self.used.values() for k in f.values() for w in k.values()]
        # products are of scaled vectors: a matrix of theirs has scale² for each 1 here
        common = lcm(1, *(int(w.q) for w in every), found.factor)
        more = common * self.scale**2 // found.factor
        self.common, self.found = common, found
        self.gram = [[x * more for x in row] for row in found.gram]
        self.squares = [(d * more, r) for d, r in found.squares]
        self.weights = weights

    @staticmethod
    def _constants(kind: str, constants: Sequence[fmpq]) -> tuple[str, int]:
        """Return a class as certificates.v has it, and how often its condition is meant there."""
        q = lcm(*(int(c.q) for c in constants))
        numbers = [int((c * q).p) for c in constants]
        if kind in CURVED:
            mu, L = curvatures(kind, numbers)
            return f"Curved ({mu}) {L} {q}", 2 * q * (L - mu)
        values = " ".join(map(str, [*reversed(numbers), q]))
        constructor = CLASSES[kind].constructor
        return f"{constructor} {values}", q if constructor == "Monotone" else q * q

    @staticmethod
    def _factor(of: Condition) -> int:
        return lcm(
            1,
            int(of.right.q),
            *(int(c.q) for c, _, _ in of.products),
            *(int(a.q) for a in of.numbers.values()),
        )

    def _whole(self, row: Row) -> str:
        return listed(trimmed(int((x * self.scale).p) for x in row))

    def _row(self, of: Combination) -> str:
        return self._whole(self.of.row(of))

    def _numbers(self, of: Combination, times: int) -> str:
        values = [of.get(name, ZERO) * times for name in self.of.values]
        if any(x.q != 1 for x in values):
            raise UntranslatedError("points of which fractions of values are known", "values")
        return listed(trimmed(int(x.p) for x in values))

    def _condition(self, of: Condition, times: int) -> str:
        products = [f"({(c * times).p}, {self._row(u)}, {self._row(v)})" for c, u, v in of.products]
        right = (of.right * times).p
        return f"Cond {listed(products)} {self._numbers(of.numbers, times)} ({right})"

    # --- the file -------------------------------------------------------------------------------

    def text(self, said: Sequence[str]) -> str:
        """Return all of it, with what is said in words."""
        self._taken()
        lemma, *theorem = self.statements()
        made = [*heading(said, "reading"), *self._certificate(), *lemma, *self._proof(), "Qed."]
        if theorem:
            made += ["", *theorem[0], *self._of_the_iterates(), "Qed."]
        return "\n".join([*made, "Print Assumptions bound.", ""])

    def _certificate(self) -> list[str]:
        of, it = self.of, self.of.it
        made, uses = ["Open Scope Z_scope."], []
        for k, (name, f) in enumerate(of.functions.items()):
            triples = [
                f"Triple {self._row(t.x)} {self._row(t.g)} {self._numbers(t.f, 1)}"
                for t in f.triples.values()
            ]
            taken = []
            for kind, places in self.used.get(name, {}).items():
                items = [
                    f"({whole(int((w * self.common).p))}, ({p[0]}, {p[-1]})%nat)"
                    for p, w in places.items()
                ]
                taken.append(f"({self._constants(kind, f.classes[kind])[0]}, {listed(items)})")
            made.append(f"Definition points_{k} : list triple := {listed(triples)}.")
            made.append(
                f"Definition taken_{k} : list (class * list (Z * (nat * nat))) := {listed(taken)}."
            )
            uses.append(f"Used points_{k} taken_{k}")
        assumed = []
        for k, (name, c) in enumerate(it.assumptions.items()):
            made.append(f"Definition assumption_{k} := {self._condition(c, self.factors[name])}.")
            times = self.weights.get(name, ZERO) / self.factors[name] * self.common
            assumed.append(
                f"Assumed ({whole(int(times.p))}) {str(c.equality).lower()} assumption_{k}"
            )
        made.append(f"Definition ending := {self._condition(of.ending, self.ending)}.")
        own = [f"({whole(d)}, {listed(map(whole, r))})" for d, r in self.squares]
        basis, gram = ([listed(map(whole, r)) for r in of] for of in (self.found.basis, self.gram))
        made.append(
            f"Definition the_certificate := Certificate {len(of.vectors)} {listed(uses)} "
            f"{listed(assumed)} {whole(self.common // self.ending)} ending "
            f"{listed(basis)} {listed(gram)} {listed(own)}."
        )
        made.append(
            "Lemma checked : check the_certificate = true. Proof. vm_compute; reflexivity. Qed."
        )
        return [*made, "Open Scope R_scope.", ""]

    def statements(self) -> list[list[str]]:
        """Return what is proved of points with equations, and then of iterates, if they are."""
        of = self.of
        left, right, self.value, self.instead = of.sides(of.ending.right)
        ending = of.stated(f"{left} <= Q2R {right}")
        points = [(f"is_{p.name}", f"{p.name} = ({p.equation})%V") for p in of.defined]
        own = f"({' '.join(p.name for p in of.defined)} : E)" * bool(of.defined)
        starts = f"({' '.join([*of.variables, *of.free])} : E)" * bool(of.variables or of.free)
        before = " ".join(["(E : space)", *of.names, "(low : R)" * of.lower, starts])
        given = [*of.member, *of.hypotheses]
        self.given = [*given, *points]
        kind = "Lemma points_of_the_certificate" if of.algorithm else "Theorem bound"
        made = [statement(f"{kind} : forall {before} {own},", self.given, ending)]
        if of.algorithm:
            made.append(
                statement(f"Theorem bound : forall {before},", given, of.recursions(ending))
            )
        return made

    def _of_the_iterates(self) -> list[str]:
        """Return the proof that the iterates are points with these equations."""
        of = self.of
        iterates = (f"({p.recursion})" for p in of.defined)
        arguments = " ".join(["E", *of.arguments, *iterates])
        return [f"  intros. apply (points_of_the_certificate {arguments});", "    recursion."]

    def _proof(self) -> list[str]:
        """Return the proof: what is read of the points, then the certificate (reading.v)."""
        of, it = self.of, self.of.it
        known = f"{self.scale}%Z l {of.origin}"
        sums = [
            (of.ending, self.ending),
            *((c, self.factors[n]) for n, c in it.assumptions.items()),
        ]
        numbers = {self._numbers(c.numbers, times): (c.numbers, times) for c, times in sums}
        rows = {self._row(w): w for c, _ in sums for _, u, v in c.products for w in (u, v)}
        bound = " ".join(["E", *of.arguments, *(p.name for p in of.defined)])
        made = [
            f"intros {bound}",
            f"  {' '.join(n for n, _ in self.given)}.",
            f"pose (l := {listed(f'({atom})%V' for atom in of.atoms.values())} : list E).",
            f"pose (ws := {listed(of.numbers.values())} : list R).",
        ]
        made += [f"unknown {known} ({atom})%V {k}%nat." for k, atom in enumerate(of.atoms.values())]
        made += [f"number ws ({value}) {k}%nat." for k, value in enumerate(of.numbers.values())]
        for k, (written, (combination, times)) in enumerate(numbers.items()):
            parts = [(a * times, f"({of.numbers[n]})") for n, a in combination.items()]
            total = " + ".join(f"({a.p}) * {value}" for a, value in parts) or "0"
            made.append(f"assert (total_{k} : total {written}%Z ws = {total}) by added_up ws.")
        made.append(
            f"assert (size : (length (scaled {self.scale} l) <= {len(of.atoms)})%nat)"
            " by apply le_n. clearbody l ws."
        )
        made += [f"origin {known}."] * of.solution
        for p in of.points.values():
            if p.name in of.variables and p.name != "xs":
                made.append(
                    f"start {known} {p.name} {next(k for k, x in enumerate(p.row) if x)}%nat."
                )
        made += [
            f"determined {known} ({at}) ({self._whole(determined)}%Z : row) sum_{k}."
            for k, (at, determined) in enumerate(of.equations)
        ]
        for p in of.defined:
            made.append(f"iterate {known} {p.name} ({self._whole(p.row)}%Z : row) is_{p.name}.")
            if (first := of.points[p.row].name) != p.name:
                made.append(f"twin {p.name} {first}.")
        for k, (written, w) in enumerate(rows.items()):
            made.append(
                f"assert (row_{k} : ({of.vector(of.row(w))})%V = comb {written}%Z"
                f" (scaled {self.scale} l)) by vector."
            )
        rewritten = [
            "stated",
            *(f"rewrite <- ?row_{k}" for k in range(len(rows))),
            *(f"rewrite ?total_{k}" for k in range(len(numbers))),
        ]
        stated = "; ".join(rewritten)
        fs = [f"({_value(f)}, {f.g}, {f.shift})" for f in self.functions]
        space = f"(scaled {self.scale} l) ws"
        for k, f in enumerate(self.functions):
            made.append(
                f"assert (function_{k} : describes {space} {of.origin} {_value(f)} {f.g}"
                f" ({f.shift}) (Used points_{k} taken_{k}))."
            )
            points = [f"triple {of.points[of.row(t.x)].name}." for t in f.triples.values()]
            used = self.used.get(list(of.functions)[k], {})
            members = [f"is_member member_{k}_{list(f.classes).index(kind)}." for kind in used]
            made.append(f"{{ split; [unfold points_{k} | unfold taken_{k}].")
            made.append(f"  - {' '.join([*points, 'apply Forall_nil.'])}")
            made.append(f"  - {' '.join([*members, 'apply Forall_nil.'])} }}")
        for k, c in enumerate(it.assumptions.values()):
            proof = f"unfold assumption_{k}; {self._assumption(k, stated)}"
            made.append(
                f"assert (met_{k} : forall t, assumption_holds {space}"
                f" (Assumed t {str(c.equality).lower()} assumption_{k}))"
            )
            made.append(f"  by (intro t; split; [{proof} | {proof if c.equality else 'exact I'}]).")
        made.append(
            f"pose proof (sound {space} {of.origin} the_certificate {listed(fs)} checked"
            " size ltac:(each) ltac:(each)) as K."
        )
        made.append(
            f"cbn [conclusion the_certificate] in K; unfold ending in K; revert K; {stated}."
        )
        made.append(f"concluded ({self.value.p} # {self.value.q}).")
        return ["  " + line for line in made]

    def _assumption(self, k: int, stated: str) -> str:
        """Return the proof that an assumption of the certificate is one of the theorem's."""
        of = self.of
        how, where = of.assumed[k]
        if not where:
            return f"{stated}; linear {how}" if how in dict(of.hypotheses) else f"{stated}; lra"
        known = f"similar {where}"
        if how == "bounded":
            constants = [(f.classes[kind][0], kind) for f in self.functions for kind in f.classes]
            large = max(L for L, kind in constants if kind in CURVED)
            pairs = listed(f"({f.f}, {f.g})" for f in self.functions)
            known = (
                f"mean_descent ({text(large)}) low {pairs} ltac:(lra) ltac:(discriminate)"
                f" ltac:(below) bounded {where}"
            )
        gradients = [f"({f.g} {where})" for f in self.functions]
        turned = [f"rewrite ?(ip_sym _ {b} {a}) in *" for a, b in combinations(gradients, 2)]
        return "; ".join(
            [f"pose proof ({known}) as K", stated, "multiplied K", *turned, "linear K"]
        )


def _value(f: Function) -> str:
    return f.f if f.has_values else "(fun _ => 0)"
