r"""Equation (6) of the preprint: the logarithm of (5) may be left out.

**Statement.** Instead of (5) one can solve min_w (1/n) Σ g(f^i(w)/γ) with g = exp.

**Kind.** Identity of the minimisers: (5) is γ log of (6), and γ log is increasing.

**Source.** 000, (6).
"""

import sympy

from synthetic.problems import KLDRO
from toolkit import claim, grid
from verifiers.claims.comfedl import _equation_6


@claim(
    name="comfedl/equation-6-v1",
    kind="identity",
    source="000, (6)",
    statement=r"\mathrm{argmin}_w \frac1n\sum_{i=1}^n g\big(f^i(w)/\gamma\big) = "
    r"\mathrm{argmin}_w \gamma\log\Big(\frac1n\sum_{i=1}^n\exp\big(f^i(w)/\gamma\big)\Big),"
    r"\quad g(\cdot)=\exp(\cdot)",
)
class Exponential:
    cases = grid(KLDRO(clients=[4, 1], form="log", temperature=[0.2, 2.0], ball=3.0))
    editions = "000"
    false_siblings = [
        ("twice the temperature", lambda f, gamma: sympy.exp(f / (2 * gamma))),
        ("squared losses", lambda f, gamma: sympy.exp((f / gamma) ** 2)),
    ]
    prove = _equation_6.steps
    compare = _equation_6.compare

    def right(f, gamma):
        return sympy.exp(f / gamma)
