"""What a class says of its points: by the prover, by the checker, and of functions of the class.

The inequality of a class is written twice, so that a mistake in one is a disagreement. Both are
compared at random triples, and with functions of the class in fractions, which have to meet them.
"""

import random
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from flint import fmpq

from driftproof.synthetic.classes import conditions, inequalities
from driftproof.toolkit.gram.exact import GramForm, Vector
from driftproof.verifiers.worst_case import statement
from driftproof.verifiers.worst_case.classes import CLASSES, IN_COQ
from driftproof.verifiers.worst_case.exact import fraction, rational
from driftproof.verifiers.worst_case.statement import Condition
from driftproof.verifiers.worst_case.witness import at_gram

COQ = Path(__file__).parents[1] / "driftproof" / "coq"
ZERO, ONE = Fraction(0), Fraction(1)
Plane = tuple[Fraction, Fraction]
Known = tuple[Plane, Plane, Fraction]
"""A point, the gradient there, and the value."""
TURNS = [
    (ONE, ZERO),
    (ZERO, ONE),
    *((Fraction(a, 5), Fraction(b, 5)) for a, b in ((3, 4), (-4, 3))),
]
"""Directions of length 1."""


def dot(u: Plane, v: Plane) -> Fraction:
    return u[0] * v[0] + u[1] * v[1]


def times(c: Fraction, u: Plane) -> Plane:
    return c * u[0], c * u[1]


def plus(u: Plane, v: Plane) -> Plane:
    return u[0] + v[0], u[1] + v[1]


def turned(u: Plane) -> Plane:
    return -u[1], u[0]


# -- both inequalities, at numbers


def by_prover(kind: str, constants: dict[str, Fraction], known: list[Known]) -> Fraction:
    """Return by how much the prover's inequality is exceeded."""
    of = inequalities.condition(kind, **constants)
    vectors = [v for x, g, _ in known for v in (x, g)]
    gram = [[dot(u, v) for v in vectors] for u in vectors]
    triples = [
        conditions.Triple(
            0, Vector.basis(2 * k), Vector.basis(2 * k + 1), GramForm.value(k), f"{k}"
        )
        for k in range(len(known))
    ]
    return at_gram(of.quantity(*triples), gram, [f for _, _, f in known]) - of.bound


def by_checker(kind: str, constants: dict[str, Fraction], known: list[Known]) -> Fraction:
    """Return by how much the checker's inequality is exceeded."""
    names = [(f"x{k}", f"g{k}", f"f{k}") for k in range(len(known))]
    where = {
        name: v
        for (x, g, _), (p, n, _) in zip(names, known, strict=True)
        for name, v in ((x, p), (g, n))
    }
    values = {f: value for (_, _, f), (_, _, value) in zip(names, known, strict=True)}
    triples = [statement.Triple(*({name: fmpq(1)} for name in of)) for of in names]
    of = statement.CONDITIONS[kind](*map(rational, constants.values()), *triples)

    def vector(combination):
        total = (ZERO, ZERO)
        for name, c in combination.items():
            total = plus(total, times(fraction(c), where[name]))
        return total

    left = sum((fraction(c) * dot(vector(u), vector(v)) for c, u, v in of.products), ZERO)
    left += sum((fraction(a) * values[name] for name, a in of.numbers.items()), ZERO)
    return left - fraction(of.right)


# -- random triples, and functions of each class


def number(rng: random.Random, low: int = -9, high: int = 9) -> Fraction:
    return Fraction(rng.randint(low * 4, high * 4), rng.randint(1, 4))


def constants_of(rng: random.Random, kind: str) -> dict[str, Fraction]:
    """Return constants in their range: at least 0, the first one larger."""
    first, *rest = [Fraction(rng.randint(1, 12), 4), Fraction(rng.randint(0, 3), 4)]
    drawn = [first + rest[0], *rest]
    return dict(zip(CLASSES[kind].constants, drawn, strict=False))


def anything(rng: random.Random, kind: str, constants: dict[str, Fraction]) -> Known:
    return *(((number(rng), number(rng))) for _ in range(2)), number(rng)


def bent(rng: random.Random, low: Fraction, high: Fraction) -> Callable[[Plane], Known]:
    """Return low/2·‖x‖² + (high − low)/2·max(0, ⟨u, x⟩ − s)², of unit u."""
    u, s = rng.choice(TURNS), number(rng, -1, 1)

    def at(x: Plane) -> Known:
        beyond = max(ZERO, dot(u, x) - s)
        value = low * dot(x, x) / 2 + (high - low) * beyond**2 / 2
        return x, plus(times(low, x), times((high - low) * beyond, u)), value

    return at


def kinked(rng: random.Random, mu: Fraction = ZERO) -> Callable[[Plane], Known]:
    """Return k|⟨u, x⟩ − s| + μ/2·‖x‖²."""
    u, s, k = rng.choice(TURNS), number(rng, -1, 1), number(rng, 1, 3)

    def at(x: Plane) -> Known:
        off = dot(u, x) - s
        gradient = plus(times(k if off > 0 else -k, u), times(mu, x))
        return x, gradient, k * abs(off) + mu / 2 * dot(x, x)

    return at


def linear(a: Fraction, b: Fraction) -> Callable[[Plane], Known]:
    """Return the operator aI + bJ, J a quarter turn."""
    return lambda x: (x, plus(times(a, x), times(b, turned(x))), ZERO)


def member(rng: random.Random, kind: str, c: dict[str, Fraction]) -> Callable[[Plane], Known]:
    """Return a function, or operator, of a class, as its value at a point."""
    u, L, mu = rng.choice(TURNS), c.get("L", ZERO), c.get("mu", ZERO)
    half = (L + mu) / 2, (L - mu) / 2  # of cocoercive operators: aI + bN with N of length 1
    return {
        "smooth": lambda: bent(rng, -L, L),
        "smooth-convex": lambda: bent(rng, ZERO, L),
        "smooth-strongly-convex": lambda: bent(rng, mu, L),
        "convex": lambda: kinked(rng),
        "strongly-convex": lambda: kinked(rng, c["mu"]),
        "normal-cone": lambda: in_box(rng, Fraction(2)),
        "diameter": lambda: in_box(rng, c["D"]),
        "bounded-gradients": lambda: (
            lambda x: (x, times(c["G"] * min(ONE, max(-ONE, dot(u, x))), u), ZERO)
        ),
        "strongly-monotone": lambda: linear(mu + abs(number(rng)) * rng.randint(0, 1), number(rng)),
        "lipschitz": lambda: linear(L * u[0], L * u[1]),
        "cocoercive": lambda: linear(half[0] + half[1] * u[0], half[1] * u[1]),
    }[kind]()


def in_box(rng: random.Random, D: Fraction) -> Callable[[Plane], Known]:
    """Return the nearest point of a box of diagonal D, with the normal that leads to it."""
    sides = D * Fraction(3, 5), D * Fraction(4, 5)

    def at(x: Plane) -> Known:
        inside = tuple(min(max(of, ZERO), side) for of, side in zip(x, sides, strict=True))
        return inside, plus(x, times(-ONE, inside)), ZERO

    return at


def drawn(kind: str, count: int = 60) -> Iterator[tuple[dict[str, Fraction], list[Known], bool]]:
    """Yield constants and as many triples as an inequality takes, and whether of one function."""
    rng = random.Random(kind)
    for k in range(count):
        constants = constants_of(rng, kind)
        of = member(rng, kind, constants)
        points = [(number(rng, -2, 2), number(rng, -2, 2)) for _ in range(CLASSES[kind].points)]
        yield constants, [of(x) for x in points], True
        if k % 2:
            yield constants, [anything(rng, kind, constants) for _ in points], False


def agree(kind: str) -> bool:
    """Tell whether prover and checker say the same, of whatever triples."""
    return all(by_prover(kind, *of) == by_checker(kind, *of) for *of, _ in drawn(kind))


def hold(kind: str, by: Callable[..., Fraction]) -> bool:
    """Tell whether all functions that are drawn meet an inequality."""
    return all(by(kind, *of) <= 0 for *of, is_member in drawn(kind) if is_member)


# -- the tests


@pytest.mark.parametrize("kind", CLASSES)
def test_prover_and_checker_say_what_is_so_of_a_class(kind):
    assert agree(kind)
    assert hold(kind, by_prover)
    attained = [by_checker(kind, *of) for *of, is_member in drawn(kind) if is_member]
    assert max(attained) == 0
    assert any(by_checker(kind, *of) > 0 for *of, is_member in drawn(kind) if not is_member)


def test_every_class_has_one_name():
    assert set(CLASSES) == set(statement.CONDITIONS) == set(inequalities.INEQUALITIES)
    for kind, of in CLASSES.items():
        made = inequalities.condition(kind, **constants_of(random.Random(0), kind))
        assert (tuple(made.constants), made.of == "triples") == (of.constants, of.points == 1)
        assert any(made.values) == (of.of == "values")


MUTANTS = {
    ("diameter", "D for D²"): (
        lambda own: lambda D, *at: own(D, *at)._replace(right=D),
        lambda own: lambda D: {**own(D), "bound": D},
    ),
    ("bounded-gradients", "G for G²"): (
        lambda own: lambda G, i: own(G, i)._replace(right=G),
        lambda own: lambda G: {**own(G), "bound": G},
    ),
    ("normal-cone", "the cone at the other point"): (
        lambda own: lambda i, j: Condition([(fmpq(1), i.g, i.minus(j).x)], {}),
        lambda own: lambda: {"products": {("difference", "one"): ONE}},
    ),
    ("convex", "the subgradient at the other point"): (
        lambda own: lambda i, j: Condition([(fmpq(1), i.g, i.minus(j).x)], j.minus(i).f),
        lambda own: lambda: {**own(), "products": {("difference", "one"): ONE}},
    ),
    ("strongly-convex", "2μ for μ"): (
        lambda own: lambda mu, *at: own(2 * mu, *at),
        lambda own: lambda mu: own(2 * mu),
    ),
    ("smooth-convex", "L/2 for L"): (
        lambda own: lambda L, *at: own(L / 2, *at),
        lambda own: lambda L: own(L / 2),
    ),
    ("lipschitz", "L/2 for L"): (
        lambda own: lambda L, *at: own(L / 2, *at),
        lambda own: lambda L: own(L / 2),
    ),
}
"""Class and mistake → what it makes of the checker's inequality, and of the prover's."""


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(("kind", "mistake"), MUTANTS)
def test_a_mistake_on_either_side_is_seen(kind, mistake, side, monkeypatch):
    """By the other side, and by a function of the class that it excludes."""
    table = (statement.CONDITIONS, inequalities.INEQUALITIES)[side]
    monkeypatch.setitem(table, kind, MUTANTS[kind, mistake][side](table[kind]))
    assert not agree(kind)
    assert not hold(kind, (by_checker, by_prover)[side])


def test_coq_defines_the_same_classes_of_the_same_constants():
    """And certificates.v has a constructor of each, with the constants and their denominator."""
    defined = (COQ / "classes.v").read_text(encoding="utf-8")
    certificates = (COQ / "certificates.v").read_text(encoding="utf-8")
    for kind in IN_COQ:
        of = CLASSES[kind]
        said = of.definition(kind, of.constants, "f", "g")
        assert f"Definition {said} :=" in defined
        (written,) = re.findall(rf"\| {of.constructor} \((.*) q : Z\)", certificates)
        assert set(of.constants) <= set(written.split())
