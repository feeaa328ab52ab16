r"""FedNest's sample complexity (slides "Theory: Comparison" and "Conclusion").

**Statement.** O(ε^{−2}) samples and O(1) batches for (1/K) Σ E‖∇f(x^k)‖² ≤ ε, the same as ALSET's,
for bilevel, minimax, compositional and single-level problems.

**Kind.** Complexity, by algebra from fednest/theorem: K = (C/ε)² iterations.

**Readings.** With the Neumann samples left out it is K times a constant. Counted, a k costs
E(N' + 1) = (N + 1)/2 Hessian samples a client, and the floor of fednest/theorem asks for N of the
order log(1/ε): ε^{−2} log(1/ε) by this route. Whether another choice of steps saves the logarithm
on every problem is open: no lower bound for the class is at hand.
"""

import sympy

from toolkit import claim
from verifiers.symbolic import Step, vanishes

epsilon, constant, per_round = sympy.symbols("epsilon C c", positive=True)
q = sympy.Rational(1, 2)
ROUNDS = (constant / epsilon) ** 2
TERMS = sympy.log(1 / epsilon)


def without_series(rounds):
    return rounds * per_round


def with_series(rounds):
    return rounds * (per_round + (TERMS + 1) / 2)


def too_few(rounds):
    return sympy.sqrt(rounds) * per_round


@claim(
    name="fednest/theorem-samples",
    kind="complexity",
    source="002, Theory: Comparison with Previous Results; Conclusion",
    statement=r"\text{batch size } \mathcal O(1),\quad \text{samples complexity } "
    r"\mathcal O(\epsilon^{-2})",
)
class Samples:
    readings = {
        "Neumann samples not counted": without_series,
        "Neumann samples counted": with_series,
    }
    false_siblings = [("the root of it", too_few)]

    def prove(right):
        share = sympy.limit(right(ROUNDS) * epsilon**2, epsilon, 0)
        met = vanishes(constant / sympy.sqrt(ROUNDS) - epsilon, r"C/\sqrt K = \epsilon")
        if right is without_series or right is too_few:
            # exactly of this order: neither more nor less
            of_order = bool(share.is_finite) and share != 0
            return [met, Step(r"\text{samples} = \Theta(\epsilon^{-2})", of_order,
                              f"samples·ε² tends to {share}")]  # fmt: skip
        enough = sympy.solve(sympy.Eq(q ** sympy.Symbol("N") / 2, sympy.sqrt(epsilon)))
        return [
            met,
            Step(
                r"(q^N/(2-q^N))^2 \le \epsilon \text{ needs } q^N \le 2\sqrt\epsilon:\; "
                r"N \ge \log_{1/q}\tfrac1{2\sqrt\epsilon}",
                bool(enough),
                f"the floor of fednest/theorem, q = ½: N = {sympy.simplify(enough[0])}"
                if enough else "no solution",
            ),
            Step(
                r"\text{samples} = \mathcal O(\epsilon^{-2})",
                None,
                f"open: by this route samples·ε² tends to {share}; no lower bound decides",
            ),
        ]  # fmt: skip

    explain = (
        "As counted without the Neumann samples. With them the route through fednest/theorem costs "
        "a factor log(1/ε), which nothing here shows to be necessary."
    )
