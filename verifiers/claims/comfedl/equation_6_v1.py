r"""Equation (6) of the preprint: the logarithm of (5) may be left out.

**Statement.** Instead of (5) one can solve min_w (1/n) Σ g(f^i(w)/γ) with g = exp.

**Kind.** Identity of the minimisers: (5) is γ log of (6), and γ log is increasing.

**Source.** 000, (6).
"""

from typing import Any

import sympy

from synthetic.problems.kl_dro import KLDRO
from toolkit.cases import Case, grid
from toolkit.constants import Expression, Letters
from toolkit.parameters import sweep
from verifiers.claim_types.comparison import comparison
from verifiers.claims.comfedl import _equation_6
from verifiers.compared import Comparison


def right(f: Letters, gamma) -> Expression:
    return sympy.exp(f / gamma)


@comparison(
    name="comfedl/equation-6-v1",
    source="000, (6)",
    statement=r"\mathrm{argmin}_w \frac1n\sum_{i=1}^n g\big(f^i(w)/\gamma\big) = "
    r"\mathrm{argmin}_w \gamma\log\Big(\frac1n\sum_{i=1}^n\exp\big(f^i(w)/\gamma\big)\Big),"
    r"\quad g(\cdot)=\exp(\cdot)",
    cases=grid(KLDRO(clients=sweep(4, 1), form="log", temperature=sweep(0.2, 2.0), ball=3.0)),
    edition="000",
    false_siblings=[
        ("twice the temperature", lambda f, gamma: sympy.exp(f / (2 * gamma))),
        ("squared losses", lambda f, gamma: sympy.exp((f / gamma) ** 2)),
    ],
    prove=_equation_6.steps,
    right=right,
)
def exponential(case: Case, right: Any) -> list[Comparison]:
    return _equation_6.compare(case, right)
