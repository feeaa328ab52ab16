r"""FedNest's loop, as code: driftproof's FedNest and its light forms are the printed ones.

**Statement.** For k = 0, …, K − 1: y^{k+1} = FedInn(x^k, y^k, β^k), one or multiple FedSVRGs on y;
x^{k+1} = FedOut(x^k, y^{k+1}, α^k), FedSVRG + FedIHGP on x; LFedNest and FedNest_SGD by the
communication table: SGD for SVRG, a local series for the global one.

**Kind.** Identity, to rounding: the slides line by line, client by client (``_transcribed``),
against the federation on the same draws, with different noisy clients and with sampled ones.
"""

from typing import Any

from synthetic.problems.quadratic_bilevel import QuadraticBilevel
from synthetic.problems.quadratic_minimax import QuadraticMinimax
from toolkit.algorithms.fednest import FedNest
from toolkit.algorithms.fednest_sgd import FedNestSGD
from toolkit.algorithms.lfednest import LFedNest
from toolkit.algorithms.lfednest_svrg import LFedNestSVRG
from toolkit.cases import Case, grid
from verifiers.claim_types.comparison import comparison
from verifiers.claims._pseudo_code import models
from verifiers.claims.fednest._transcribed import NAME, transcribed
from verifiers.compared import Comparison

NOISY = QuadraticBilevel(
    clients=5, dim=2, lower_dim=3, hessian_heterogeneity=0.3, cross_heterogeneity=0.4,
    offset_heterogeneity=0.5, target_heterogeneity=0.6, regulariser=0.5,
    regulariser_heterogeneity=0.3, tilt=0.2, upper_noise=0.3, lower_value_noise=0.2,
    lower_curvature_noise=0.2, cross_noise=0.2,
)  # fmt: skip
SHAPE = {"inner_calls": 2, "inner_steps": 3, "outer_steps": 2, "terms": 4, "batch": 2}


@comparison(
    name="fednest/fednest-loop",
    source="002, Proposed Algorithm: FedNest; table of LFedNest",
    statement=r"y^{k+1} = \mathrm{FedInn}(x^k,y^k,\beta^k),\quad x^{k+1} = \mathrm{FedOut}(x^k,"
    r"y^{k+1},\alpha^k)",
    cases=[
        *(
            case
            for method in (FedNest, FedNestSGD, LFedNest, LFedNestSVRG)
            for case in grid(NOISY, method(participation=[1.0, 0.4], **SHAPE), rounds=4)
        ),
        *(
            case
            for method in (FedNest, LFedNest)
            for case in grid(
                QuadraticMinimax(clients=3, heterogeneity=0.4, gradient_noise=0.3),
                method(inner_steps=2, outer_steps=2, terms=3),
                rounds=3,
            )
        ),
    ],
    right="",
    false_siblings=[
        ("one shared gradient for all calls of a round", "stale"),
        ("p_n summed over S_n, undivided", "undivided"),
        ("y of the first client for the mean", "own"),
    ],
)
def pseudo_code(case: Case, right: Any) -> list[Comparison]:
    return models(case, NAME, transcribed, right, fields=("x", "y"))
