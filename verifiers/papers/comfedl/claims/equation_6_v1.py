"""Equation (6) of the preprint: the logarithm of (5) may be left out.

**Kind.** Identity of the minimisers: (5) is γ log of (6), and γ log is increasing.
"""

import sympy

from driftproof.synthetic.problems.kl_dro import KLDRO
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers.comfedl.claims import _equation_6


@comparison(
    name="comfedl/equation-6-v1",
    source="ComFedL, arXiv v1, (6)",
    statement=r"\mathrm{argmin}_w \frac1n\sum_{i=1}^n g\big(f^i(w)/\gamma\big) = "
    r"\mathrm{argmin}_w \gamma\log\Big(\frac1n\sum_{i=1}^n\exp\big(f^i(w)/\gamma\big)\Big),"
    r"\quad g(\cdot)=\exp(\cdot)",
    cases=grid(KLDRO(clients=sweep(4, 1), form="log", temperature=sweep(0.2, 2.0), ball=3.0)),
    edition="ComFedL, arXiv v1",
    right=_equation_6.exponential,
    false_siblings=[
        ("twice the temperature", _equation_6.of_twice_the_temperature),
        ("squared losses", lambda f, gamma: sympy.exp((f / gamma) ** 2)),
    ],
    prove=_equation_6.steps,
)
def exponential(case: Case[KLDRO, None], outer: _equation_6.OuterFunction) -> list[Comparison]:
    return _equation_6.compare(case.problem, outer)
