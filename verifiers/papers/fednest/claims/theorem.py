"""The theorem: FedNest's rate for bilevel problems (slide "Theory")."""

import sympy

from driftproof.toolkit.measure import Reduction, States
from driftproof.toolkit.readings import Stated, Undecided, literal, narrower
from driftproof.verifiers.algebra.symbolic import Step
from driftproof.verifiers.claim_types.rate import Schedule, rate
from driftproof.verifiers.papers.fednest.claims import _rates as rates
from driftproof.verifiers.papers.fednest.claims import assumptions as given

K, ROOT = rates.K, rates.ROOT
AS_BETA = {**rates.AT_ROOT, "N": rates.GROWING}
SLOWER = AS_BETA | {"alpha": (K * sympy.log(K)) ** -sympy.Rational(1, 2)}

AT_ROOT = Schedule(AS_BETA, ROOT)


def steps(right: Schedule) -> list[Step]:
    """Return why α = β = 1/√K with a series that grows does not give 1/√K."""
    return rates.outgrown(right) if right is AT_ROOT else []


def at(horizon: int) -> rates.FedNestCase:
    return rates.slower(rates.PROBLEM, horizon)


@rate(
    name="fednest/theorem",
    source="FedNest (2022), slides, Theorem (Informal)",
    assumes=[*given.ASSUMED],
    statement=r"\frac1K\sum_{k=1}^K\mathbb{E}\big[\|\nabla f(x^k)\|^2\big] = \mathcal O(\order)",
    cases=[at(horizon) for horizon in rates.HORIZONS],
    full=[at(horizon) for horizon in rates.LONGER],
    readings={
        "N fixed, any step sizes": narrower(
            Schedule({"N": rates.TERMS}, ROOT), why="the slides leave the choice of N open"
        ),
        "N ≥ κ_g log K, α = β = 1/√K": narrower(
            Stated(AT_ROOT, assumes=(rates.LONG_SERIES,)),
            why="one choice of the step sizes among many",
        ),
        "any N, any steps constant over the run": narrower(
            Schedule({"steps": "constant"}, ROOT), why="the slides write α^k and β^k"
        ),
        "some choice of α^k, β^k and N": literal(
            Undecided(
                "no step size that is constant over the run gives 1/√K; on the instance that shows "
                "it α_k = 1/(k + 1) does, and whether some choice does on every problem is open",
                by="a problem on which each choice fails, or step sizes α_k, β_k with a proof; the "
                "ICML 2022 text (arXiv 2205.02215) may name its own",
            )
        ),
    },
    corrected=Stated(Schedule(SLOWER, sympy.sqrt(sympy.log(K) / K)), assumes=(rates.LONG_SERIES,)),
    correction=(
        "E‖p_{N'} − E p_{N'}‖² ≤ (N/ℓ²) Σ_j (1 − μ_g/ℓ)^{2j} ℓ_{f,0}² ≤ N ℓ_{f,0}²/(μ_g ℓ): a "
        "descent lemma with noise of variance O(N) gives 1/(αK) + αN + bias², which is of order "
        "√(N/K) for α = 1/√(KN), and the bias is below it for N ≥ κ_g log K."
    ),
    horizon=K,
    size=rates.rounds,
    size_name="K, rounds",
    floors=rates.FLOORS,
    exact=rates.exact(at, rates.stationarity),
    horizons=rates.whole_terms(rates.PROBLEM),
    false_siblings=[
        ("N ≥ κ_g log K, α = β = 1/√K: 1/√K", Schedule(AS_BETA, ROOT)),
        ("1/√K with the corrected form's step sizes", Schedule(SLOWER, ROOT)),
        (
            "√(log K)/K with constant steps",
            Schedule({"steps": "constant"}, sympy.sqrt(sympy.log(K)) / K),
        ),
    ],
    prove=steps,
    explain=(
        "For each fixed number of Neumann terms FedNest stands still on an instance where the "
        "gradient is not 0, whatever the step sizes. A growing one brings variance that grows with "
        "it, since N' is drawn once: no step size that is constant over the run gives 1/√K. Step "
        "sizes that change with k are neither shown to do so nor excluded. √(log K/K) is measured."
    ),
)
def stationarity(view: States) -> Reduction:
    return rates.stationarity(view)
