"""Writes the file of a theorem: the certificate in whole numbers, the theorem, and its proof."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Sequence
from itertools import combinations
from math import lcm

from flint import fmpq

from driftproof.verifiers.worst_case import check
from driftproof.verifiers.worst_case.expression import evaluate
from driftproof.verifiers.worst_case.squares import squares
from driftproof.verifiers.worst_case.statement import ZERO, Combination, Condition, number
from driftproof.verifiers.worst_case.theorem import (
    Function,
    Row,
    Theorem,
    UntranslatedError,
    bracketed,
    one_space,
    text,
)

CURVED = {"smooth": -1, "smooth-convex": 0, "smooth-strongly-convex": 1}
"""Classes between two parabolas → what the lower one is: −L, 0 or mu."""
OTHERS = {
    "bounded-gradients": "Bounded", "strongly-monotone": "Monotone", "lipschitz": "Lipschitz",
    "cocoercive": "Cocoercive",
}  # fmt: skip


def coq(certificate: str) -> str:
    """Return a Coq file whose last theorem is what a certificate proves.

    Raises:
        UntranslatedError: it is of a kind that is not translated.
        RefusedCertificateError: it does not prove what it says.
        ArithmeticError, LookupError, SyntaxError, TypeError, ValueError: it is no certificate.
    """
    said = check.check(certificate).said
    return _File(Theorem(one_space(json.loads(certificate))), said).text()


class _File:
    """The parts of a file, of one theorem.

    The vectors of the Coq certificate are those of the file divided by ``scale``, so that all
    combinations are of whole numbers.
    """

    def __init__(self, of: Theorem, said: Sequence[str]) -> None:
        self.of, self.said = of, said
        self.functions = list(of.functions.values())
        it = of.it
        conditions = [it.conclusion, *it.assumptions.values()]
        rows = [part for f in self.functions for t in f.triples.values() for part in (t.x, t.g)]
        rows += [w for c in conditions for _, u, v in c.products for w in (u, v)]
        rows += [dict(zip(of.vectors, p.row, strict=True)) for p in of.defined]
        self.scale = lcm(1, *(int(c.q) for row in rows for c in row.values()))
        self._taken()

    def _taken(self) -> None:
        """Collect the inequalities with their multipliers, all of them times a common number."""
        of, it = self.of, self.of.it
        weights: dict[object, fmpq] = {}
        total: list[tuple[fmpq, Condition]] = []
        self.used: dict[str, dict[str, dict[tuple[int, ...], fmpq]]] = {}
        for written, kind, name, *at in of.file["multipliers"]:
            times = number(written)
            if kind == "assumption":
                weights[name] = weights.get(name, ZERO) + times
                total.append((times, it.assumptions[name]))
                continue
            f = of.functions[name]
            condition = check.CLASSES[kind][2](*f.classes[kind], *(f.triples[p] for p in at))
            total.append((times, condition))
            places = tuple(list(f.triples).index(p) for p in at)
            here = self.used.setdefault(name, {}).setdefault(kind, {})
            here[places] = here.get(places, ZERO) + times / self._constants(kind, f.classes[kind])[1]
        places = {name: j for j, name in enumerate(of.vectors)}
        size = len(places)
        S = [[ZERO] * size for _ in range(size)]
        for times, c in [*total, (fmpq(-1), it.conclusion)]:
            for a, u, v in c.products:
                for n, x in u.items():
                    for m, y in v.items():
                        z = times * a * x * y / 2
                        S[places[n]][places[m]] += z
                        S[places[m]][places[n]] += z
        found = squares(S)
        if found is None:
            raise UntranslatedError("squares of thousands of digits", "a certificate of fewer digits")
        self.factors = {name: self._factor(c) for name, c in it.assumptions.items()}
        self.ending = self._factor(it.conclusion)
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
        first, *rest = [int((c * q).p) for c in constants]
        if kind in CURVED:
            mu = rest[0] if rest else CURVED[kind] * first
            return f"Curved ({mu}) {first} {q}", 2 * q * (first - mu)
        values = f"{rest[0]} {first} {q}" if rest else f"{first} {q}"
        return f"{OTHERS[kind]} {values}", q if kind == "strongly-monotone" else q * q

    @staticmethod
    def _factor(of: Condition) -> int:
        return lcm(1, int(of.right.q), *(int(c.q) for c, _, _ in of.products),
                   *(int(a.q) for a in of.numbers.values()))  # fmt: skip

    def _whole(self, row: Row) -> str:
        return listed(_trimmed(int((x * self.scale).p) for x in row))

    def _row(self, of: Combination) -> str:
        return self._whole(self.of.row(of))

    def _numbers(self, of: Combination, times: int) -> str:
        values = [of.get(name, ZERO) * times for name in self.of.values]
        if any(x.q != 1 for x in values):
            raise UntranslatedError("points of which fractions of values are known", "values")
        return listed(_trimmed(int(x.p) for x in values))

    def _condition(self, of: Condition, times: int) -> str:
        products = [f"({(c * times).p}, {self._row(u)}, {self._row(v)})" for c, u, v in of.products]
        right = (of.right * times).p
        return f"Cond {listed(products)} {self._numbers(of.numbers, times)} ({right})"

    # --- the file -------------------------------------------------------------------------------

    def text(self) -> str:
        """Return all of it."""
        return "\n".join([*self._heading(), *self._certificate(), *self._theorem()]) + "\n"

    def _heading(self) -> list[str]:
        of = self.of
        proved = (
            f"for the iterates of {of.algorithm} (algorithms.v)" if of.algorithm
            else "for points that obey the equations of the theorem"
        )
        said = [line.replace("(*", "( *").replace("*)", "* )") for line in self.said]
        return [
            "(* Written by driftproof prove. The last statement is proved: for every real inner",
            "   product space, all functions of the classes, and all starts with its conditions,",
            f"   {proved}. The certificate says:", *(f"     {line}" for line in said), "*)",
            "Require Import algorithms reading.", "From Coq Require Import Lra.", "",
        ]  # fmt: skip

    def _certificate(self) -> list[str]:
        of, it = self.of, self.of.it
        made, uses = ["Open Scope Z_scope."], []
        for k, (name, f) in enumerate(of.functions.items()):
            triples = [f"Triple {self._row(t.x)} {self._row(t.g)} {self._numbers(t.f, 1)}"
                       for t in f.triples.values()]  # fmt: skip
            taken = []
            for kind, places in self.used.get(name, {}).items():
                items = [f"({(w * self.common).p}, ({p[0]}, {p[-1]})%nat)" for p, w in places.items()]
                taken.append(f"({self._constants(kind, f.classes[kind])[0]}, {listed(items)})")
            made.append(f"Definition points_{k} : list triple := {listed(triples)}.")
            made.append(f"Definition taken_{k} : list (class * list (Z * (nat * nat))) := {listed(taken)}.")
            uses.append(f"Used points_{k} taken_{k}")
        assumed = []
        for k, (name, c) in enumerate(it.assumptions.items()):
            made.append(f"Definition assumption_{k} := {self._condition(c, self.factors[name])}.")
            times = self.weights.get(name, ZERO) / self.factors[name] * self.common
            assumed.append(f"Assumed ({times.p}) {str(c.equality).lower()} assumption_{k}")
        made.append(f"Definition ending := {self._condition(it.conclusion, self.ending)}.")
        own = [f"({d}, {listed(r)})" for d, r in self.squares]
        made.append(
            f"Definition the_certificate := Certificate {len(of.vectors)} {listed(uses)} "
            f"{listed(assumed)} {self.common // self.ending} ending "
            f"{listed(map(listed, self.found.basis))} {listed(map(listed, self.gram))} {listed(own)}."
        )
        made.append("Lemma checked : check the_certificate = true. Proof. vm_compute; reflexivity. Qed.")
        return [*made, "Open Scope R_scope.", ""]

    def _conclusion(self) -> str:
        of, ending = self.of, self.of.file["conclusion"]
        constant = number(ending["constant"])
        left = of.quantity(of.it.conclusion) + f" + {text(constant)}" * (constant != 0)
        self.value = of.it.conclusion.right + constant
        try:
            self.right = f"({_fractions(ending['right'], ending['letters'])})%Q"
        except UntranslatedError:
            self.right = f"({text(self.value)})%Q"
        return f"{left} <= Q2R {self.right}"

    def _theorem(self) -> list[str]:
        of = self.of
        names = []
        for k, f in enumerate(self.functions):
            names += [f"({f.f} : E -> R)"] * self._has_values(f) + [f"({f.g} : E -> E)"]
            del k
        low = "(low : R)" * of.lower
        starts = f"({' '.join([*of.variables, *of.free])} : E)" * bool(of.variables or of.free)
        classes = []
        for k, f in enumerate(self.functions):
            for j, (kind, constants) in enumerate(f.classes.items()):
                values = " ".join(_arg(text(c)) for c in constants)
                both = f"{f.f} {f.g}" if kind in CURVED else f.g
                classes.append((f"member_{k}_{j}", f"{kind.replace('-', '_')} {values} {both}"))
        given = [*classes, *of.hypotheses]
        points = [(f"is_{p.name}", f"{p.name} = ({p.equation})%V") for p in of.defined]
        ending = self._conclusion()
        own = f"({' '.join(p.name for p in of.defined)} : E)" * bool(of.defined)
        before = " ".join(["(E : space)", *names, low, starts])
        lemma = "points_of_the_certificate" if of.algorithm else "bound"
        made = [
            f"{'Lemma' if of.algorithm else 'Theorem'} {lemma} : forall {before} {own},",
            *(f"  ({said}) ->" for _, said in [*given, *points]), f"  {ending}.",
            "Proof.", f"  intros {_intros(names, of, own)} {' '.join(n for n, _ in [*given, *points])}.",
            *self._proof(), "Qed.",
        ]  # fmt: skip
        if of.algorithm:
            for p in reversed(of.defined):
                ending = _replaced(ending, p.name, p.recursion)
            arguments = " ".join(
                ["E", *(n.split()[0][1:] for n in names), *["low"] * of.lower, *of.variables,
                 *of.free, *(f"({p.recursion})" for p in of.defined)]
            )  # fmt: skip
            made += [
                "", f"Theorem bound : forall {before},", *(f"  ({said}) ->" for _, said in given),
                f"  {ending}.", "Proof.",
                f"  intros. apply (points_of_the_certificate {arguments}); try assumption; reflexivity.",
                "Qed.",
            ]  # fmt: skip
        return [*made, "Print Assumptions bound."]

    def _has_values(self, f: Function) -> bool:
        return f.g[0] == "g"

    def _proof(self) -> list[str]:
        of, it, D = self.of, self.of.it, self.scale
        reads = f"reads {D} l {of.origin}"
        made = [f"pose (l := {listed(f'({a})%V' for a in of.atoms)} : list E)."]
        made.append(f"pose (ws := {listed(of.numbers)} : list R).")
        for k, atom in enumerate(of.atoms):
            made.append(f"assert (atom_{k} : {reads} ({atom})%V 0 (unit_row {k} {D})) by (apply reads_atom; reflexivity).")
        for k, value in enumerate(of.numbers):
            made.append(f"assert (number_{k} : nth_error ws {k} = Some ({value})) by reflexivity.")
        sums = [*([(it.conclusion, self.ending)]), *((c, self.factors[n]) for n, c in it.assumptions.items())]
        done: set[str] = set()
        for c, times in sums:
            row = self._numbers(c.numbers, times)
            if row in done:
                continue
            done.add(row)
            total = " + ".join(f"({(a * times).p}) * ({of.numbers[of.values.index(n)]})" for n, a in c.numbers.items() if a != 0)
            made.append(f"assert (total_{len(done)} : total {row}%Z ws = {total or '0'}) by (clear; subst ws; cbn [total]; ring).")
        made.append("assert (size : (length (scaled %d l) <= %d)%%nat) by (clear; apply le_n)." % (D, len(of.atoms)))
        made.append("clearbody l ws.")
        if of.solution:
            made.append(f"assert (at_xs : {reads} xs 1 (map inject_Z [])) by apply reads_origin.")
        for p in of.points.values():
            if p.name in of.variables and p.name != "xs":
                k = next(j for j, x in enumerate(p.row) if x != 0)
                start = f"apply reads_start; exact atom_{k}" if of.solution else f"eapply start_at_zero; exact atom_{k}"
                made.append(f"assert (at_{p.name} : {reads} {p.name} 1 (unit_row {k} {D})) by ({start}).")
        for k, (at, row) in enumerate(of.equations):
            said = dict(of.hypotheses)[f"sum_{k}"]
            how = (
                f"eapply reads_opposite; [exact sum_{k}|read]" if said.endswith("%V = zero")
                else f"rewrite sum_{k}; read"
            )
            made.append(f"assert (sum_at_{k} : exists a r, {reads} ({at}) a r /\\ (Qeq_bool a 0 && same r {self._whole(row)}%Z)%bool = true) by (do 2 eexists; split; [{how} | decided]).")
            made.append(f"destruct sum_at_{k} as (? & ? & ? & _).") if False else made.append(f"assert (gradient_{k} : {reads} ({at}) 0 (map inject_Z {self._whole(row)}%Z)) by (destruct sum_at_{k} as (? & ? & G & C); eapply reads_vector; eassumption). clear sum_at_{k}.")
        for p in of.defined:
            made.append(f"assert (at_{p.name} : {reads} {p.name} 1 (map inject_Z {self._whole(p.row)}%Z)) by (eapply reads_point; [exact is_{p.name} | read | decided]). clear is_{p.name}.")
        rows = {self._row(w): w for c in [it.conclusion, *it.assumptions.values()] for _, u, v in c.products for w in (u, v)}
        for k, (row, w) in enumerate(rows.items()):
            made.append(f"assert (vector_{k} : ({of.vector(of.row(w))})%V = comb {row}%Z (scaled {D} l)) by vector.")
        stated = "stated; rewrite <- ?" + ", <- ?".join(f"vector_{k}" for k in range(len(rows))) if rows else "stated"
        stated += "; rewrite ?" + ", ?".join(f"total_{k + 1}" for k in range(len(done)))
        fs = []
        for k, f in enumerate(self.functions):
            name = f.f if self._has_values(f) else "(fun _ => 0)"
            fs.append(f"({name}, {f.g}, {f.shift})")
            made.append(f"assert (function_{k} : describes (scaled {D} l) ws {of.origin} {name} {f.g} ({f.shift}) (Used points_{k} taken_{k})).")
            made.append("{ split; cbn [points taken]; [unfold points_%d | unfold taken_%d]." % (k, k))
            realised = []
            for t in f.triples.values():
                at = of.points[of.row(t.x)].name
                place = next((j for j, n in enumerate(of.values) if t.f.get(n, ZERO) != 0), None)
                value = "beta_nothing" if place is None else f"eapply value_read; [exact number_{place} | decided]"
                realised.append(f"apply Forall_cons; [apply (realises {D} l ws {of.origin} _ _ _ _ {at}); [point | vector | {value}]|].")
            made += ["  - " + " ".join([*realised, "apply Forall_nil."])]
            members = [f"apply Forall_cons; [{self._member(k, list(f.classes).index(kind), kind)}|]." for kind in self.used.get(list(of.functions)[k], {})]
            made += ["  - " + " ".join([*members, "apply Forall_nil. }"])]
        for k, (name, c) in enumerate(it.assumptions.items()):
            how, where = of.assumed[k]
            unfolded = f"unfold assumption_{k}; {stated}"
            if where:
                if how == "bounded":
                    large = max(cs[0] for f in self.functions for kind, cs in f.classes.items() if kind in CURVED)
                    pairs = listed(f"({f.f}, {f.g})" for f in self.functions)
                    steps = f"pose proof (mean_descent ({text(large)}) low {pairs} ltac:(lra) ltac:(discriminate) ltac:(repeat (apply Forall_cons; [cbn [fst snd]; eapply upper_bound; eassumption|]); apply Forall_nil) bounded {where}) as K"
                else:
                    steps = f"pose proof (similar {where}) as K"
                gradients = [f"({f.g} {where})" for f in self.functions]
                turned = "".join(f", ?(ip_sym _ {b} {a})" for a, b in combinations(gradients, 2))
                swap = f"rewrite {turned[2:]} in *; " if turned else ""
                proof = f"{steps}; {unfolded}; multiplied K; {swap}linear K"
            elif how in dict(of.hypotheses):
                proof = f"{unfolded}; linear {how}"
            else:
                proof = f"{unfolded}; clear; lra"
            also = proof if c.equality else "exact I"
            made.append(f"assert (met_{k} : forall t, assumption_holds (scaled {D} l) ws (Assumed t {str(c.equality).lower()} assumption_{k})) by (intro t; split; cbn [inequality equality]; [{proof} | {also}]).")
        described = "".join(f"apply Forall2_cons; [exact function_{k}|]; " for k in range(len(fs)))
        met = "".join(f"apply Forall_cons; [apply met_{k}|]; " for k in range(len(it.assumptions)))
        made.append(f"pose proof (sound (scaled {D} l) ws {of.origin} the_certificate {listed(fs)} checked size ltac:({described}apply Forall2_nil) ltac:({met}apply Forall_nil)) as K.")
        made.append("cbn [conclusion the_certificate] in K. unfold ending in K. revert K; " + stated + "; intro K.")
        made.append(f"apply (right_side _ _ ({self.value.p} # {self.value.q})); [unfold Q2R; cbn [Qnum Qden]; linear K | decided].")
        return ["  " + line for line in made]

    @staticmethod
    def _member(k: int, j: int, kind: str) -> str:
        name = f"member_{k}_{j}"
        if kind in CURVED:
            return f"eapply curved_by; [exact {name} | lra | lra]"
        return f"cbn [member fst]; eapply {kind.replace('-', '_')}_by; [exact {name} | lra..]"


def _intros(names: Sequence[str], of: Theorem, own: str) -> str:
    plain = [n.split()[0][1:] for n in names]
    return " ".join(["E", *plain, *["low"] * of.lower, *of.variables, *of.free,
                     *(p.name for p in of.defined)])  # fmt: skip


def _arg(of: str) -> str:
    return of if of.isdigit() else f"({of})"


def _replaced(of: str, name: str, by: str) -> str:
    import re

    return re.sub(rf"(?<![\w.]){re.escape(name)}(?!\w)", lambda _: f"({by})", of)


def _trimmed(of: Iterable[int]) -> list[str]:
    made = list(of)
    while made and made[-1] == 0:
        made.pop()
    return [str(x) for x in made]


def listed(items: Iterable[object]) -> str:
    """Return a list as Coq reads it."""
    return f"[{'; '.join(map(str, items))}]"


def _fractions(right: str, letters: dict[str, str]) -> str:
    """Return a right side as an expression of fractions, its letters given values.

    Raises:
        UntranslatedError: it has a function, or a power that is no whole number.
    """
    values = {name: number(value) for name, value in letters.items()}

    def written(node: ast.expr) -> str:
        match node:
            case ast.Constant(int() as whole):
                return str(whole)
            case ast.Name(name) if name in values:
                return f"{name}"
            case ast.UnaryOp(ast.USub(), of):
                return f"(- {written(of)})"
            case ast.BinOp(one, ast.Pow(), two):
                inside = {n.id: values[n.id] for n in ast.walk(two) if isinstance(n, ast.Name)}
                power = evaluate(ast.unparse(two), inside)
                if isinstance(power, fmpq) and power.q == 1:
                    return f"({written(one)} ^ ({power.p}))"
            case ast.BinOp(one, operator, two) if (sign := SIGNS.get(type(operator))):
                return f"({written(one)} {sign} {written(two)})"
        raise UntranslatedError(f"{ast.unparse(node)} in a right side", "a fraction")

    made = written(ast.parse(right.strip(), mode="eval").body)
    given = "".join(
        f"let {name} := ({value.p} # {value.q}) in " for name, value in values.items()
    )
    return given + made


SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
