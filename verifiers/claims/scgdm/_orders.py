"""What an order O(1/√T) of the mean squared gradient costs in samples and communications."""

from sympy import Rational, simplify, solve, sqrt, symbols

from verifiers.symbolic import argued, vanishes

T, C, epsilon = symbols("T C epsilon", positive=True)


def spent(samples, communications):
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
            simplify(epsilon * steps.diff(epsilon) / steps) - samples,
            rf"T = C^2/\epsilon^4 \sim \epsilon^{{{samples}}}",
        ),
        vanishes(
            simplify(epsilon * rounds.diff(epsilon) / rounds) - communications,
            rf"T/p = T^{{3/4}} \sim \epsilon^{{{communications}}}",
        ),
    ]
