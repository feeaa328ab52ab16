"""What an order O(1/√T) of the mean squared gradient costs in samples and communications."""

from collections.abc import Callable
from typing import NamedTuple

from sympy import Rational, simplify, solve, sqrt, symbols

from driftproof.toolkit.constants import Expression
from driftproof.verifiers.algebra.symbolic import Step, argued, vanishes
from driftproof.verifiers.papers.scgdm.claims._floors import refuted_by, two_lines

T, C, epsilon = symbols("T C epsilon", positive=True)


class Costs(NamedTuple):
    """The powers of ε that count samples and communications."""

    samples: Expression
    communications: Expression


PRINTED = Costs(-4, -3)
"""Of Remark 3.7: 1/ε⁴ samples, 1/ε³ communications."""


class Complexity(NamedTuple):
    """Costs that are claimed, and the steps that lead there or fail to."""

    derivation: Callable[[Costs], list[Step]]
    costs: Costs

    def steps(self) -> list[Step]:
        """Return the steps to the costs."""
        return self.derivation(self.costs)


def power_of_epsilon(expression: Expression) -> Expression:
    """Return the power of ε in an expression."""
    return simplify(epsilon * expression.diff(epsilon) / expression)


def given_the_order(costs: Costs) -> list[Step]:
    """Return the steps from C/√T to ε^samples steps and ε^communications rounds, ε on the norm."""
    (steps,) = solve(sqrt(C / sqrt(T)) - epsilon, T)  # by Jensen: the mean norm is at most this
    rounds = steps / steps ** Rational(1, 4)
    return [
        argued(
            r"\frac1T\sum\|\nabla F\| \le \big(\tfrac1T\sum\|\nabla F\|^2\big)^{1/2}"
            r" \le (C/\sqrt T)^{1/2}",
            "Jensen's inequality for the square",
        ),
        vanishes(
            power_of_epsilon(steps) - costs.samples,
            rf"T = C^2/\epsilon^4 \sim \epsilon^{{{costs.samples}}}",
        ),
        vanishes(
            power_of_epsilon(rounds) - costs.communications,
            rf"T/p = T^{{3/4}} \sim \epsilon^{{{costs.communications}}}",
        ),
    ]


def for_any_clients(costs: Costs) -> list[Step]:
    """Return the same steps, and those that refute the order for clients with different g."""
    floor = two_lines()
    says = r"\text{some } T \text{ makes } \tfrac1T\sum\|\nabla F(\bar x_t)\| \le 1"
    why = (
        "not for two clients with different g: they tend to x = −1, where the norm is 3, by "
        "the four steps before"
    )
    return [*given_the_order(costs), *floor, refuted_by(floor, says, why)]
