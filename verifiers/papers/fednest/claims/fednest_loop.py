r"""FedNest's loop, as code: driftproof's FedNest and its light forms are the printed ones.

For k = 0, …, K − 1 FedInn is one or multiple FedSVRGs on y, FedOut is FedSVRG + FedIHGP on x;
LFedNest and FedNest_SGD by the communication table: SGD for SVRG, a local series for the global
one.

**Kind.** Identity, to rounding: the slides line by line, client by client (``_transcribed``),
against the federation on the same draws, with different noisy clients and with sampled ones.
"""

from driftproof.synthetic.problems.quadratic_bilevel import QuadraticBilevel
from driftproof.synthetic.problems.quadratic_minimax import QuadraticMinimax
from driftproof.toolkit.algorithms._nested import Nested
from driftproof.toolkit.algorithms.fednest import FedNest
from driftproof.toolkit.algorithms.fednest_sgd import FedNestSGD
from driftproof.toolkit.algorithms.lfednest import LFedNest
from driftproof.toolkit.algorithms.lfednest_svrg import LFedNestSVRG
from driftproof.toolkit.bilevel import BilevelProblem
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers._pseudo_code import models
from driftproof.verifiers.papers.fednest.claims._transcribed import NAME, Loop, transcribed

NOISY = QuadraticBilevel(
    clients=5,
    dim=2,
    lower_dim=3,
    hessian_heterogeneity=0.3,
    cross_heterogeneity=0.4,
    offset_heterogeneity=0.5,
    target_heterogeneity=0.6,
    regulariser=0.5,
    regulariser_heterogeneity=0.3,
    tilt=0.2,
    upper_noise=0.3,
    lower_value_noise=0.2,
    lower_curvature_noise=0.2,
    cross_noise=0.2,
)


def on_noisy_clients(method: type[Nested]) -> list[Case[QuadraticBilevel, Nested]]:
    given = method(
        inner_calls=2, inner_steps=3, outer_steps=2, terms=4, batch=2, participation=sweep(1.0, 0.4)
    )
    return grid(NOISY, given, rounds=4)


def on_minimax(method: type[Nested]) -> list[Case[QuadraticMinimax, Nested]]:
    problem = QuadraticMinimax(clients=3, heterogeneity=0.4, gradient_noise=0.3)
    return grid(problem, method(inner_steps=2, outer_steps=2, terms=3), rounds=3)


@comparison(
    name="fednest/fednest-loop",
    source="FedNest (2022), slides, Proposed Algorithm: FedNest; table of LFedNest",
    statement=r"y^{k+1} = \mathrm{FedInn}(x^k,y^k,\beta^k),\quad x^{k+1} = \mathrm{FedOut}(x^k,"
    r"y^{k+1},\alpha^k)",
    cases=[
        *on_noisy_clients(FedNest),
        *on_noisy_clients(FedNestSGD),
        *on_noisy_clients(LFedNest),
        *on_noisy_clients(LFedNestSVRG),
        *on_minimax(FedNest),
        *on_minimax(LFedNest),
    ],
    right=Loop.PRINTED,
    false_siblings=[
        ("one shared gradient for all calls of a round", Loop.STALE),
        ("p_n summed over S_n, undivided", Loop.UNDIVIDED),
        ("y of the first client for the mean", Loop.OWN),
    ],
)
def pseudo_code(case: Case[BilevelProblem, Nested], loop: Loop) -> list[Comparison]:
    return models(case, NAME, transcribed, loop, fields=("x", "y"))
