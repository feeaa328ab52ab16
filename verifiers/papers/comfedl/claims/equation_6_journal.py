"""Equation (6) of the journal version, which divides by γ twice.

**Kind.** Identity of the minimisers.

**Finding.** A misprint. Read as printed, g(f^i/γ) is exp(f^i/γ²): (6) is then (5) with γ² in the
place of γ, and has other minimisers unless γ = 1. The text below (6) says what was meant: the new
loss is exp(f^i/γ), as in the preprint. (1/n) Σ exp(f^i/γ) = exp(V/γ), where V is the objective of
(5), and exp(·/γ) is increasing: one set of minimisers.
"""

import sympy

from driftproof.synthetic.problems.kl_dro import KLDRO
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Erratum, intended, literal
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers.comfedl.claims import _equation_6


@comparison(
    name="comfedl/equation-6-journal",
    source="ComFedL, arXiv v3, (6)",
    statement=r"\mathrm{argmin}_w \frac1n\sum_{i=1}^n g\big(f^i(w)/\gamma\big) = "
    r"\mathrm{argmin}_w \gamma\log\Big(\frac1n\sum_{i=1}^n\exp\big(f^i(w)/\gamma\big)\Big),"
    r"\quad g(\cdot)=\exp(\cdot/\gamma)",
    cases=grid(
        KLDRO(clients=sweep(2, 4), dim=1, form="log", temperature=sweep(0.2, 2.0), ball=3.0)
    ),
    edition="ComFedL, arXiv v3",
    readings={
        "g = exp(·/γ) of f/γ: divided twice": literal(
            lambda f, gamma: sympy.exp((f / gamma) / gamma)
        ),
        "divided by γ once": intended(
            _equation_6.exponential,
            quote="below (6): “In our ComFedL problem (6), while we have a new loss function "
            "exp(f^i(w)/γ), and its gradient in the form of (exp(f^i(w)/γ)/γ)∇f^i(w)”",
        ),
    },
    erratum=Erratum(
        "misprint",
        changes="The paper is not affected: it goes on with exp(f/γ). Code that takes the formula "
        "literally solves the robust problem with γ² for γ.",
        depends="nothing",
    ),
    false_siblings=[
        ("twice the temperature", _equation_6.of_twice_the_temperature),
        ("multiplied by the temperature", lambda f, gamma: sympy.exp(f * gamma)),
    ],
    prove=_equation_6.steps,
    explain=(
        "Read as printed, the journal's (6) is exp(f/γ²): the problem with γ² for γ. The text "
        "below it, and the preprint, have exp(f/γ)."
    ),
)
def exponential_divided_twice(
    case: Case[KLDRO, None], outer: _equation_6.OuterFunction
) -> list[Comparison]:
    return _equation_6.compare(case.problem, outer)
