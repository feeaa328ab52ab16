r"""The theorem, second half: the lower level's error (slide "Theory").

**Kind.** Rate, for the step sizes of fednest/theorem, measured over the iterates k ≥ K/4.

**Readings.** "If we choose the stepsize properly, then [this half] and [that]": the same step sizes
have to give both halves, so this one is as undecided as the whole (fednest/theorem). By itself it
is measured to hold for α = 1/√(K log K), β = 1/√K, with which the other half is √(log K/K). Another
choice does not: y^k follows every move of x^k, the variance of N'
included, and for α = β = 1/√K and N ≥ κ_g log K the error is of order log K/√K on the instance of
``_rates``. **Floor** there: g(y; ζ) = ½y² + vζy, f = 0, E(y^K)² tends to
βv²/(2 − β) ≥ v²/(2√K), so no better order holds.
"""

from dataclasses import replace

from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.readings import Stated, Undecided, literal, narrower
from driftproof.verifiers.claim_types.rate import Floor, Schedule, rate
from driftproof.verifiers.papers.fednest.claims import _rates as rates
from driftproof.verifiers.papers.fednest.claims import assumptions as given
from driftproof.verifiers.papers.fednest.claims._derivatives import minimiser
from driftproof.verifiers.papers.fednest.claims.theorem import AS_BETA, SLOWER

SCALARS = replace(rates.PROBLEM, dim=1, lower_dim=1, slope=0.2, lower_start=0.0)
AT_REST = replace(SCALARS, distance=float(minimiser(SCALARS)[0]))
"""Started at the solution, so that what is measured is the noise alone."""


def at(horizon: int) -> rates.FedNestCase:
    return rates.slower(AT_REST, horizon)


@rate(
    name="fednest/theorem-lower",
    source="FedNest (2022), slides, Theorem (Informal)",
    sentence="fednest/theorem",
    assumes=[*given.ASSUMED],
    statement=r"\mathbb{E}\big[\|y^K-y^*(x^K)\|^2\big] = \mathcal O(\order)",
    cases=[at(horizon) for horizon in rates.HORIZONS],
    full=[at(horizon) for horizon in rates.LONGER],
    readings={
        "N ≥ κ_g log K, α = β = 1/√K": narrower(
            Stated(Schedule(AS_BETA, rates.ROOT), assumes=(rates.LONG_SERIES,)),
            why="one choice of the step sizes among many",
        ),
        "N ≥ κ_g log K, α = 1/√(K log K), β = 1/√K": narrower(
            Stated(Schedule(SLOWER, rates.ROOT), assumes=(rates.LONG_SERIES,)),
            why="with this choice the theorem's other half is not of order 1/√K",
        ),
        "some choice, for both halves": literal(
            Undecided(
                "half of fednest/theorem: whether some choice gives both halves is open",
                by="what decides fednest/theorem, for one choice and both halves",
            )
        ),
    },
    horizon=rates.K,
    size=rates.rounds,
    size_name="K, rounds",
    floors=[
        Floor(f"{rates.INSTANCE}: y follows x", rates.floor_of_the_lower_level),
        Floor("g = ½y² with noise of variance 1, f = 0", lambda at: at["beta"] / 2),
    ],
    exact=rates.exact(at, rates.lower_error),
    horizons=rates.whole_terms(AT_REST),
    false_siblings=rates.faster(SLOWER),
    explain=(
        "With equal step sizes the lower level follows the noise of the series, of order log K/√K; "
        "with smaller steps on x it is measured as stated, but the other half of the theorem is "
        "not."
    ),
)
def lower_error(view: Steps) -> Reduction:
    return rates.lower_error(view)
