r"""Equation (6) of the journal version, which divides by γ twice.

**Statement.** Instead of (5) one can solve min_w (1/n) Σ g(f^i(w)/γ) with g(·) = exp(·/γ).

**Kind.** Identity of the minimisers.

**Source.** 001, (6).

**Finding.** g(f^i/γ) is exp(f^i/γ²): (6) is then (5) with γ² in the place of γ, and has other
minimisers unless γ = 1. The preprint's g = exp is right, as is (1/n) Σ exp(f^i/γ), with which the
journal version goes on.
"""

import sympy

from synthetic.problems import KLDRO
from toolkit import claim, grid
from verifiers.claims.comfedl import _equation_6


@claim(
    name="comfedl/equation-6-journal",
    kind="identity",
    source="001, (6)",
    statement=r"\mathrm{argmin}_w \frac1n\sum_{i=1}^n g\big(f^i(w)/\gamma\big) = "
    r"\mathrm{argmin}_w \gamma\log\Big(\frac1n\sum_{i=1}^n\exp\big(f^i(w)/\gamma\big)\Big),"
    r"\quad g(\cdot)=\exp(\cdot/\gamma)",
)
class ExponentialDividedTwice:
    cases = grid(KLDRO(clients=[2, 4], dim=1, form="log", temperature=[0.2, 2.0], ball=3.0))
    editions = "001"
    correction = (
        "(1/n) Σ exp(f^i/γ) = exp(V/γ), where V is the objective of (5); exp(·/γ) is increasing, "
        "so both have the same minimisers. Printed as g(f^i/γ), g has to be exp; with g = exp(·/γ) "
        "the argument has to be f^i."
    )
    false_siblings = [
        ("twice the temperature", lambda f, gamma: sympy.exp(f / (2 * gamma))),
        ("multiplied by the temperature", lambda f, gamma: sympy.exp(f * gamma)),
    ]
    prove = _equation_6.steps
    compare = _equation_6.compare

    def right(f, gamma):
        return sympy.exp((f / gamma) / gamma)

    def corrected(f, gamma):
        return sympy.exp(f / gamma)

    explain = (
        "Read as printed, the journal's (6) is exp(f/γ²): the problem with γ² for γ. The preprint "
        "has it right."
    )
