r"""FedNest with several local steps against ALSET (slide "Theory: Comparison …").

**Kind.** Bound, for τ > 1 local steps of sizes α/τ and β/τ: (1/K) Σ ‖∇F(x^k)‖² of FedNest over the
same mean of ALSET, α = β = 1/√K. "The same convergence" is read as a ratio that tends to 1: at most
1 + 1/√K (the constant 1 is ours). The runs have no noise and the whole series of N = ⌈κ_g log K⌉
terms, so that what is left is the clients' drift. ALSET is FedNest with τ = 1
(fednest/same-as-alset).
"""

from dataclasses import dataclass, replace
from math import ceil, log

import torch

from driftproof.synthetic.problems.quadratic_bilevel import QuadraticBilevel
from driftproof.toolkit.algorithms.fednest import FedNest
from driftproof.toolkit.cases import Case
from driftproof.toolkit.engines.enumerated import NoiselessContext
from driftproof.toolkit.federation import run
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers.fednest.claims import assumptions as given
from driftproof.verifiers.papers.fednest.claims._rates import condition, stationarity

PROBLEM = QuadraticBilevel(
    clients=4,
    hessian_heterogeneity=0.3,
    cross_heterogeneity=0.4,
    offset_heterogeneity=0.5,
    target_heterogeneity=0.6,
    regulariser=0.5,
    regulariser_heterogeneity=0.4,
    tilt=0.5,
)


@dataclass(frozen=True)
class Excess:
    """How far the ratio may lie above 1: factor·K^{−power}."""

    factor: float
    power: float

    def at(self, rounds: int) -> float:
        """Return the right side after so many rounds."""
        decay: float = rounds**-self.power
        return 1 + self.factor * decay


def instance(steps: int, horizon: int) -> Case[QuadraticBilevel, FedNest]:
    size = horizon**-0.5 / steps
    method = FedNest(
        inner_steps=steps,
        outer_steps=steps,
        inner_step_size=size,
        outer_step_size=size,
        terms=ceil(condition(PROBLEM) * log(horizon)),
        series="summed",
    )
    return Case(PROBLEM, method, horizon)


def mean_square(case: Case[QuadraticBilevel, FedNest]) -> float:
    """Return (1/K) Σ ‖∇F(x^k)‖²."""
    ctx = NoiselessContext(case.problem.clients, dtype=torch.float64, device="cpu")
    outcome = run(case.problem, case.algorithm, ctx, rounds=case.rounds, left=stationarity)
    return float(outcome.values[0, 0])


@comparison(
    name="fednest/same-as-alset-local-steps",
    kind="bound",
    source="FedNest (2022), slides, Theory: Comparison with Previous Results",
    sentence="fednest/same-as-alset",
    assumes=[given.SMOOTH, given.CONVEX],
    statement=r"\text{FedNest enjoys the same convergence as non-federated alternating SGD (ALSET),"
    r" despite objective heterogeneity}",
    cases=[instance(steps, K) for K in (16, 64, 256) for steps in (5, 20)],
    full=[instance(steps, K) for K in (1024, 4096) for steps in (5, 20)],
    right=Excess(1.0, 0.5),
    false_siblings=[
        ("never above ALSET's", Excess(0.0, 0.5)),
        ("1 + 1/K", Excess(1.0, 1.0)),
        ("1 + 1/(10√K)", Excess(0.1, 0.5)),
    ],
    explain=(
        "The drift of several local steps adds a share of order 1/√K to ALSET's left side: 1.5 % "
        "at K = 256, on clients that differ in everything."
    ),
)
def ratio_to_alset(case: Case[QuadraticBilevel, FedNest], excess: Excess) -> list[Comparison]:
    method, steps = case.algorithm, case.algorithm.inner_steps
    alset = replace(
        method,
        inner_steps=1,
        outer_steps=1,
        inner_step_size=method.inner_step_size * steps,
        outer_step_size=method.outer_step_size * steps,
    )
    ratio = mean_square(case) / mean_square(replace(case, algorithm=alset))
    what = f"FedNest over ALSET, τ = {steps}, K = {case.rounds}"
    return [Comparison(what, ratio, ratio, excess.at(case.rounds), case.rounds)]
