"""Checks the certificate of a worst case exactly. Nothing else of driftproof is trusted, no solver.

A certificate says: for all functions of some classes, if the assumptions hold at the points named,
so does the conclusion. Points and gradients combine unknown vectors v_1 … v_d of any dimension,
those of two spaces being orthogonal: (x, y) is x + y. Values combine unknown numbers F. Condition
k is ⟨Q_k, G⟩ + a_k·F ≤ b_k, with the Gram matrix G = (⟨v_i, v_j⟩) ⪰ 0; 0 is the conclusion.

The proof is multipliers λ_k, at least 0 (of either sign for an equality), of which is checked that

    Σ λ_k a_k = a_0,    S = Σ λ_k Q_k − Q_0 ⪰ 0,    Σ λ_k b_k = b_0.

Then ⟨Q_0, G⟩ + a_0·F = Σ λ_k (⟨Q_k, G⟩ + a_k·F) − ⟨S, G⟩ ≤ Σ λ_k b_k = b_0. All numbers are
fractions; S ⪰ 0 is decided by an exact LDLᵀ. docs/certificates.md says how to read a file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any, NamedTuple

from flint import fmpq

SCHEMA = "driftproof worst case 1"
ZERO, ONE = fmpq(0), fmpq(1)
Combination = dict[str, fmpq]  # name → coefficient, of unknown vectors or of unknown numbers


class RefusedCertificateError(Exception):
    """The file can be read, and does not prove what it says."""


class Condition(NamedTuple):
    """Σ c⟨u, v⟩ over the products (c, u, v), plus Σ a F over the numbers, ≤ or = right."""

    products: Sequence[tuple[fmpq, Combination, Combination]]
    numbers: Combination
    right: fmpq = ZERO
    equality: bool = False


class Triple(NamedTuple):
    """A point, the gradient there (or an operator's value), and the function's value."""

    x: Combination
    g: Combination
    f: Combination

    def minus(self, other: Triple) -> Triple:
        """Return the differences, each of which is a combination again."""
        pairs = zip(self, other, strict=True)
        return Triple(*({n: a.get(n, ZERO) - b.get(n, ZERO) for n in a | b} for a, b in pairs))


def curved(L: fmpq, mu: fmpq, i: Triple, j: Triple) -> Condition:
    """Return f_j − f_i − ⟨g_j, x_j − x_i⟩ + (‖Δg‖² + Lμ‖Δx‖² − 2μ⟨Δg, Δx⟩)/(2(L − μ)) ≤ 0.

    L-smooth functions of curvature ≥ μ satisfy it: Taylor, Hendrickx & Glineur 2017, Theorem 4.
    """
    if not mu < L:
        raise ValueError(f"L = {L} is not above mu = {mu}")
    (x, g, f), c = j.minus(i), 1 / (2 * (L - mu))
    return Condition([(-ONE, j.g, x), (c, g, g), (c * L * mu, x, x), (-2 * c * mu, g, x)], f)


def operator(xx: fmpq, gx: fmpq, gg: fmpq, i: Triple, j: Triple) -> Condition:
    """Return xx‖Δx‖² + gx⟨Δg, Δx⟩ + gg‖Δg‖² ≤ 0."""
    x, g, _ = j.minus(i)
    return Condition([(xx, x, x), (gx, g, x), (gg, g, g)], {})


CLASSES: dict[str, tuple[str, str, Callable[..., Condition]]] = {
    "smooth": ("L-Lipschitz gradient", "L", lambda L, i, j: curved(L, -L, i, j)),
    "smooth-convex": ("convex, L-Lipschitz gradient", "L", lambda L, i, j: curved(L, ZERO, i, j)),
    "smooth-strongly-convex": ("mu-strongly convex, L-Lipschitz gradient", "L mu", curved),
    "bounded-gradients": ("‖g‖ ≤ G", "G", lambda G, i: Condition([(ONE, i.g, i.g)], {}, G * G)),
    "strongly-monotone": ("⟨Δg, Δx⟩ ≥ mu ‖Δx‖²", "mu", lambda m, *at: operator(m, -ONE, ZERO, *at)),
    "cocoercive": ("⟨Δg − mu Δx, L Δx − Δg⟩ ≥ 0", "L mu",
                   lambda L, mu, *at: operator(L * mu, -L - mu, ONE, *at)),
    "lipschitz": ("L-Lipschitz operator", "L", lambda L, *at: operator(-L * L, ZERO, ONE, *at)),
}  # fmt: skip
"""Class → its definition, its constants, and a condition that any (two) of its triples meet."""


def positive_semidefinite(matrix: Sequence[Sequence[fmpq]]) -> bool:
    """Decide exactly, by LDLᵀ, whether a rational matrix is symmetric and positive semidefinite.

    >>> positive_semidefinite([[fmpq(1), fmpq(1)], [fmpq(1), fmpq(1)]])
    True
    """
    rows, size = [list(row) for row in matrix], len(matrix)
    if any(rows[i][j] != rows[j][i] for i in range(size) for j in range(i)):
        return False
    for k in range(size):
        pivot, after = rows[k][k], [j for j in range(k + 1, size) if rows[k][j] != 0]
        if pivot < 0 or (pivot == 0 and after):
            return False
        for number, i in enumerate(after):
            factor = rows[k][i] / pivot
            for j in after[number:]:  # the upper triangle: the lower one is its mirror image
                rows[i][j] -= factor * rows[k][j]
    return True


def check(text: str) -> list[str]:
    """Return lines that say what a certificate proves.

    Raises:
        RefusedCertificateError: it does not prove that.
        ArithmeticError, LookupError, TypeError, ValueError: it is no certificate.
    """
    keys = "schema about vectors values functions assumptions conclusion multipliers digest"
    schema, about, vectors, values, functions, assumptions, *rest = _fields(json.loads(text), keys)
    if schema != SCHEMA:
        raise ValueError(f"schema {schema!r}, not {SCHEMA!r}")
    said = [f"said of it, not checked: {about}", "proved, in any dimension: if"]
    spaces = vectors if isinstance(vectors, dict) else {"": vectors}
    space = {name: letter for letter, names in spaces.items() for name in names}
    said += [f"  space {of} is that of {', '.join(names)}," for of, names in spaces.items() if of]
    constants, triples, assumed = {}, {}, {}
    for name, function in functions.items():
        classes, points = _fields(function, "classes points")
        for kind, written in classes.items():
            meaning, letters, _ = CLASSES[kind]
            constants[name, kind] = [_number(c) for c in _fields(written, letters)]
            told = ", ".join([kind, *(f"{c} = {written[c]}" for c in letters.split())])
            said.append(f"  {name} is {told} ({meaning}),")
        for at, written in points.items():
            triples[name, at] = Triple(*map(_sum, _fields(written, "x g f")))
            x, g, f = (_combined(part.items()) for part in triples[name, at])
            said.append(f"    at {at} = {x}: gradient {g}, value {f},")
    for name, written in assumptions.items():
        assumed[name] = _condition(written, "equals" if "equals" in written else "at_most")
        said.append(f"  {name}: {_told(assumed[name])},")
    conclusion = _condition(rest[0], "at_most")
    said.append(f"then {_told(conclusion)}, about {float(conclusion.right):.9g}.")

    terms = [(-ONE, conclusion)]
    for written, kind, name, *at in rest[1]:
        if kind == "assumption":
            condition = assumed[name]
        else:
            condition = CLASSES[kind][2](*constants[name, kind], *(triples[name, p] for p in at))
        times = _number(written)
        if times < 0 and not condition.equality:
            raise RefusedCertificateError(f"{times}, below 0, multiplies {kind} {name} {at}")
        terms.append((times, condition))
    S, left = dict.fromkeys(product(space, space), ZERO), dict.fromkeys(values, ZERO)
    for times, condition in terms:
        for c, u, v in condition.products:
            for (one, a), (two, b) in product(u.items(), v.items()):
                if space[one] == space[two]:
                    S[one, two] += times * c * a * b / 2
                    S[two, one] += times * c * a * b / 2
        for name, a in condition.numbers.items():
            left[name] += times * a
    if any(a != 0 for a in left.values()):
        raise RefusedCertificateError(f"the values do not cancel: {_combined(left.items())} left")
    if not positive_semidefinite([[S[u, v] for v in space] for u in space]):
        raise RefusedCertificateError("the matrix S is not positive semidefinite")
    if (gap := sum((times * of.right for times, of in terms), ZERO)) > 0:
        raise RefusedCertificateError(f"the multipliers prove a bound that is larger by {gap}")
    return said


def _fields(written: Any, keys: str) -> list[Any]:
    if set(written) != set(keys.split()):
        raise ValueError(f"{sorted(written)} where the fields are {keys}")
    return [written[key] for key in keys.split()]


def _number(written: str) -> fmpq:
    if not re.fullmatch("-?[0-9]+(/[0-9]+)?", written):
        raise ValueError(f"{written!r} is no fraction")
    return fmpq(written)


def _sum(written: dict[str, str]) -> Combination:
    return {name: _number(times) for name, times in written.items()}


def _condition(written: Any, side: str) -> Condition:
    products, numbers, right = _fields(written, f"products values {side}")
    terms = [(_number(c), _sum(u), _sum(v)) for c, u, v in products]
    return Condition(terms, _sum(numbers), _number(right), side == "equals")


def _told(of: Condition) -> str:
    inner = ((_combined(u.items()), _combined(v.items()), c) for c, u, v in of.products)
    products = [(f"‖{u}‖²" if u == v else f"⟨{u}, {v}⟩", c) for u, v, c in inner]
    left = _combined([*products, *of.numbers.items()])
    return f"{left} {'=' if of.equality else '≤'} {of.right}"


def _combined(terms: Iterable[tuple[str, fmpq]]) -> str:
    """Return 2 x − g for [("x", 2), ("g", −1)]."""
    text = "".join(f" {'+' if c > 0 else '−'} {abs(c)} {name}" for name, c in terms if c != 0)
    return re.sub("([+−]) 1 ", r"\1 ", text).removeprefix(" + ").strip() or "0"
