r"""Remark 3.7: samples and communications to reach ε.

**Statement.** To make (1/T) Σ ‖∇F(x̄_t)‖ ≤ ε, T should be as large as O(1/ε⁴); the batch is O(1), so
this is the sample complexity; communications are T/p = O(1/ε³).

**Kind.** Complexity, by algebra: from a bound CT^{−1/2} on the mean squared gradient, p = T^{1/4};
T/p communications of T steps by the count on the wire.

**Reading.** ε is on the norm. On its square, as 004's Table 1 and Definition 3.6 have it, the same
bound gives ε⁻² samples and ε^{−3/2} communications.

**Depends** on the order O(1/√T), which holds for the corrected Theorem 3.4 and is false as printed
for clients with different g (scgdm/remark-3.6).
"""

from sympy import Rational, simplify, solve, sqrt, symbols

from synthetic.problems import BoundedComposition
from toolkit import claim, grid
from toolkit.algorithms import LocalSCGDM
from verifiers.claims._wire import counted
from verifiers.ground_truth import Comparison
from verifiers.symbolic import argued, vanishes

T, C, epsilon = symbols("T C epsilon", positive=True)


@claim(
    name="scgdm/remark-3.7",
    kind="complexity",
    source="003, Remark 3.7",
    statement=r"\frac1T\sum_{t=0}^{T-1}\|\nabla F(\bar x_t)\|\le\epsilon:\quad "
    r"T=O(1/\epsilon^4),\quad T/p=O(1/\epsilon^3)",
)
class Complexity:
    cases = grid(BoundedComposition(clients=2), LocalSCGDM(local_steps=[1, 4]), rounds=5)
    right = (-4, -3)
    false_siblings = [
        ("ε on the square", (-2, Rational(-3, 2))),
        ("communications as many as samples", (-4, -4)),
    ]

    def compare(case, right):
        """Count the communications of T steps on the wire, one process a client."""
        count, samples = float(counted(case).rounds), case.rounds * case.algorithm.local_steps
        stated = samples if right[0] == right[1] else case.rounds  # T, or T/p
        return [Comparison("communications of T steps", count, count, float(stated))]

    def prove(right):
        samples, communications = right
        # by Jensen the mean norm is at most the root of the mean square, C/√T
        (steps,) = solve(sqrt(C / sqrt(T)) - epsilon, T)
        rounds = steps / steps ** Rational(1, 4)
        return [
            argued(
                r"\frac1T\sum\|\nabla F\| \le \big(\tfrac1T\sum\|\nabla F\|^2\big)^{1/2}"
                r" \le (C/\sqrt T)^{1/2}",
                "Jensen's inequality for the square",
            ),
            vanishes(
                simplify(epsilon * steps.diff(epsilon) / steps) - samples,
                rf"T = C^2/\epsilon^4 \sim \epsilon^{{{samples}}}",
            ),
            vanishes(
                simplify(epsilon * rounds.diff(epsilon) / rounds) - communications,
                rf"T/p = T^{{3/4}} \sim \epsilon^{{{communications}}}",
            ),
        ]

    explain = "Right, given the order O(1/√T) and ε on the norm."
