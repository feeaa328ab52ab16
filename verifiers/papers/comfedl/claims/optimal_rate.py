"""Whether O(1/√T) is the optimal rate.

**Kind.** Symbolic: a floor in closed form, and exponents of T.

**Source.** ComFedL, arXiv v3, prints the same sentence without "optimal", and its abstract has lost
"fast".

**Floor.** n = 2, m = 1, f^±(w) = w ∓ 1, g(y) = y²/2 for |y| ≤ 2 and straight beyond, no noise,
w_0 = 1: G_f = 1, G_g = 2, L_f = 0, L_g = L = 1. As g is common, Remark 2 has it too. Both remarks
have 0 < η ≤ 1. With q = (1 − η)^τ and p = 1 − q a round is w ↦ qw ± p, either sign with probability
½. It never leaves [−1, 1], where F'(w) = w. So E w_s² is v + (1 − v)q^{2s}, v = p/(1 + q), and its
mean over S = T/τ rounds is at least 1/(2√S) ≥ 1/(2√T), **for every step size of the remarks and
every τ**. Minibatches change nothing.
"""

from enum import Enum
from typing import NamedTuple

from sympy import Add, Rational, diff, expand, expand_log, log, simplify, sqrt, symbols

from driftproof.toolkit.constants import Expression, Letters, substituted
from driftproof.toolkit.readings import Erratum, intended, literal, narrower
from driftproof.verifiers.algebra.symbolic import Step, computed, nonnegative, vanishes
from driftproof.verifiers.claim_types.bound import RightSide
from driftproof.verifiers.claim_types.proof import proof
from driftproof.verifiers.papers.comfedl.claims._theorem_bounds import plus
from driftproof.verifiers.papers.comfedl.claims.full_participation import (
    full_participation,
    right_side,
)

T, a1 = symbols("T alpha_1", positive=True)
HALF, THIRD = Rational(1, 2), Rational(1, 3)


class Subject(Enum):
    """Of what an order is claimed."""

    BOUND = "the best that the bound of Theorem 1 gives"
    ALGORITHM = "no schedule does better, for all m that Theorem 1 allows"
    METHODS = "no method that asks the same oracles does better"
    ALL_CLIENTS = "no schedule does better with all clients, m = n"
    REACHED = "a schedule does as well with all clients, m = n"


class Order(NamedTuple):
    """An order T^power, and of what it is claimed."""

    subject: Subject
    power: Expression


def powers(right: RightSide, a: Expression, b: Expression) -> set[Expression]:
    """Return the exponents of T in a bound's terms at η = T^-a and minibatches of T^b."""
    notation = full_participation.notation(full_participation.cases[0])
    letters = {"eta": T**-a, "b": T**b, "b1": T**b}
    stated = substituted(right(Letters(notation)), letters)
    terms = Add.make_args(expand(stated))
    return {simplify(T * diff(expand_log(log(term), force=True), T)) for term in terms}


def largest(right: RightSide, a: Expression, b: Expression) -> Expression:
    return max(powers(right, a, b))


@proof(
    name="comfedl/optimal-rate",
    source="ComFedL, arXiv v1, Remarks 1 and 2",
    statement=r"\alpha_1=\tfrac12,\;\alpha_2=\alpha_3=1,\;\tau=O(1):\quad "
    r"O\Big(\frac1{\sqrt T}\Big)"
    r"\text{ is optimal}",
    edition="ComFedL, arXiv v1",
    readings={
        "no schedule of Remark 1 gives ComFedL a better order": literal(
            Order(Subject.ALGORITHM, -HALF),
            quote="“our ComFedL algorithm reaches an optimal convergence rate”: among the step "
            "sizes and minibatches of the sentence before",
        ),
        "no method with these oracles has a better order": literal(
            Order(Subject.METHODS, -HALF),
            quote="the same words, as “optimal” is used: among the methods that ask the same "
            "oracles",
        ),
        "no schedule of Remark 1 gives the bound of Theorem 1 a better order": intended(
            Order(Subject.BOUND, -HALF),
            quote="Remark 1 speaks of the bound: “our ComFedL algorithm has a convergence rate of "
            "O(1/T^{1−α1} + τ/T^{α1} + …). When α1 = ½, …”: the choice that balances its terms",
        ),
        "with all clients, m = n, no schedule of Remark 1 gives a better order": narrower(
            Order(Subject.ALL_CLIENTS, -HALF),
            why="Algorithm 1 samples m of n clients, and Theorem 1 allows every m",
        ),
    },
    erratum=Erratum(
        "overstated",
        changes="O(1/√T) is the best that the schedules of Remark 1 give while clients are "
        "sampled. It is not optimal among methods: with all clients, the same algorithm has "
        "O(T^(-2/3)) at η = T^(-1/3), with fewer samples.",
        depends="nothing",
    ),
    corrected=Order(Subject.REACHED, -2 * THIRD),
    correction=(
        "With all clients, m = n, put η = T^{-1/3} and b = b1 = T^{2/3} into the bound of "
        "comfedl/full-participation, whose proof stands there: the initial gap's term is of order "
        "T^{-2/3}, the bracket of order T^{-1/3}, and its square of order T^{-2/3}. Lτη ≤ 1 holds "
        "from T = (Lτ)³ on."
    ),
    false_siblings=[
        ("O(T^{-1/3}) is optimal", Order(Subject.ALGORITHM, -THIRD)),
        ("O(T^{-3/4}) is optimal", Order(Subject.ALGORITHM, -Rational(3, 4))),
        ("the bound gives T^{-3/4}", Order(Subject.BOUND, -Rational(3, 4))),
        ("the bound's best is only T^{-1/3}", Order(Subject.BOUND, -THIRD)),
        ("T^{-1} at η = T^{-1/3}", Order(Subject.REACHED, Rational(-1))),
    ],
    explain=(
        "The preprint calls O(1/√T) optimal, the journal version no longer does. It is, as long as "
        "clients may be sampled: on one instance with m < n the left side is at least 1/(2√T) for "
        "every schedule of Remark 1. Among all methods it is not: with all clients, m = n, a "
        "sharper analysis of the same algorithm gives O(T^(-2/3)), with fewer samples."
    ),
)
def optimal_rate(order: Order) -> list[Step]:
    subject, exponent = order
    if subject is Subject.BOUND:
        mean = ((a1 - 1) + (-a1)) / 2
        return [
            vanishes(mean - exponent, r"\tfrac12\big((\alpha_1-1)+(-\alpha_1)\big)"),
            _at_most(largest(plus, HALF, Rational(1)), exponent, r"\alpha_1 = \tfrac12"),
        ]
    if subject is Subject.ALGORITHM:
        at_a_half = largest(plus, HALF, Rational(1))
        floor, steps = sampled_floor()
        power = simplify(T * diff(log(floor), T))
        none_below = power >= exponent and at_a_half >= exponent
        told = f"the floor has the power {power}, the remark's schedule reaches {at_a_half}"
        return [
            _at_most(at_a_half, exponent, r"\alpha_1 = \tfrac12"),
            *steps,
            computed(
                rf"\text{{no schedule of Remark 1 is below }} T^{{{exponent}}}", none_below, told
            ),
        ]
    reached = largest(right_side, THIRD, 2 * THIRD)
    if subject is Subject.REACHED:
        return [_at_most(reached, exponent, r"\alpha_1 = \tfrac13,\;\alpha_2 = \tfrac23")]
    told = f"at η = T^(-1/3), b = b1 = T^(2/3), m = n the left side is O(T^({reached}))"
    return [
        computed(r"\text{every order is } T^{-1/2} \text{ or slower}", reached >= exponent, told)
    ]


def sampled_floor() -> tuple[Expression, list[Step]]:
    """Return 1/(2√T), and why ComFedL on the instance is never below it with 0 < η ≤ 1.

    q from 0 to less than 1 is z/(1 + z), z ≥ 0. A w from more than −1 to 1 is (1 − k)/(1 + k), and
    √S, at least 1, is 1 + k, k ≥ 0.
    """
    z, k, s, d = symbols("z k s d", nonnegative=True)
    q, w, root = z / (1 + z), (1 - k) / (1 + k), 1 + k
    p, x = 1 - q, 2 * root**2 * (1 - q)
    limit = p / (1 + q)
    square = limit + (1 - limit) * q ** (2 * s)
    least = limit + (1 - limit) / (1 + root**2 * (1 - q**2))
    halved = p / 2 + (1 - p / 2) / (1 + x)
    squares = (x - root) ** 2 + root**2 + 2 * root * k
    return 1 / (2 * sqrt(T)), [
        nonnegative(1 - (q * w + p), r"qw + p \le 1"),
        nonnegative(1 + (q * w - p).subs(k, 1 / k), r"qw - p \ge -1"),
        vanishes(
            ((q * w + p) ** 2 + (q * w - p) ** 2) / 2 - (q**2 * w**2 + p**2),
            r"\tfrac12(qw + p)^2 + \tfrac12(qw - p)^2 = q^2w^2 + p^2",
        ),
        vanishes(
            q**2 * square + p**2 - square.subs(s, s + 1),
            r"E w_s^2 = v + (1 - v)q^{2s},\; v = p/(1 + q):\;"
            r" E w_0^2 = 1,\; E w_{s+1}^2 = q^2 E w_s^2 + p^2",
        ),
        nonnegative(
            1 / (1 + (s + 1) * d) - (1 - d) / (1 + s * d),
            r"(1 - d)^S \le 1/(1 + Sd) \text{, from one S to the next, so }"
            r"\tfrac1S\sum_{s<S}(1 - d)^s \ge 1/(1 + Sd)",
        ),
        nonnegative(
            least - halved, r"d = 1 - q^2:\; v + (1 - v)/(1 + Sd) \ge p/2 + (1 - p/2)/(1 + 2Sp)"
        ),
        vanishes(
            halved - 1 / (2 * root) - squares / (4 * root**2 * (1 + x)),
            r"x = 2Sp:\; p/2 + (1 - p/2)/(1 + x) - 1/(2\sqrt S)"
            r" = \big((x - \sqrt S)^2 + S + 2\sqrt S(\sqrt S - 1)\big)/(4S(1 + x))",
        ),
        nonnegative(squares, r"(x - \sqrt S)^2 + S + 2\sqrt S(\sqrt S - 1) \ge 0"),
    ]


def _at_most(largest_power: Expression, exponent: Expression, where: str) -> Step:
    says = rf"\text{{every term of the bound is }} O(T^{{{exponent}}}) \text{{ at }} {where}"
    return computed(says, largest_power <= exponent, f"the largest power is {largest_power}")
