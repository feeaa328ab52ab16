r"""The theorem, second half: the lower level's error (slide "Theory").

**Statement.** E‖y^K − y*(x^K)‖² = O(1/√K), for the step sizes of fednest/theorem.

**Kind.** Rate, measured over the iterates k ≥ K/4.

**Readings.** The sentence says that some step sizes exist; α = 1/√(K log K), β = 1/√K are such, as
far as is measured. Another choice is not: y^k follows every move of x^k, the variance of N'
included, and for α = β = 1/√K and N ≥ κ_g log K the error is of order log K/√K on the instance of
``_rates``. **Floor** there: g(y; ζ) = ½y² + vζy, f = 0, E(y^K)² tends to
βv²/(2 − β) ≥ v²/(2√K), so no better order holds.
"""

from dataclasses import replace

from sympy import Rational, log

from toolkit.measure import Reduction, View
from toolkit.readings import literal, narrower
from verifiers.claim_types.rate import Floor, Schedule, rate
from verifiers.claims.fednest import _rates as parts
from verifiers.claims.fednest import assumptions as given
from verifiers.claims.fednest.theorem import AS_BETA, SLOWER

K, ROOT = parts.K, parts.ROOT
SCALARS = replace(parts.PROBLEM, dim=1, lower_dim=1, slope=0.2, lower_start=0.0)
AT_REST = replace(SCALARS, distance=float(SCALARS.solution.minimiser[0]))
"""Started at the solution, so that what is measured is the noise alone."""


def at(horizon):
    return parts.slower(AT_REST, horizon)


@rate(
    name="fednest/theorem-lower",
    source="002, Theorem (Informal)",
    assumes=[*given.ASSUMED],
    statement=r"\mathbb{E}\big[\|y^K-y^*(x^K)\|^2\big] = \mathcal O(\order)",
    cases=[at(horizon) for horizon in parts.HORIZONS],
    full=[at(horizon) for horizon in parts.LONGER],
    readings={
        "N ≥ κ_g log K, α = β = 1/√K": narrower(
            Schedule(AS_BETA, ROOT),
            why="one choice of the step sizes among many",
        ),
        "some choice: N ≥ κ_g log K, α = 1/√(K log K), β = 1/√K": literal(Schedule(SLOWER, ROOT)),
    },
    horizon=parts.K,
    size=parts.rounds,
    size_name="K, rounds",
    floors=[
        Floor(f"{parts.INSTANCE}: y follows x", parts.floor_of_the_lower_level),
        Floor("g = ½y² with noise of variance 1, f = 0", lambda at: at["beta"] / 2),
    ],
    exact=parts.exact(at, parts.lower_error),
    horizons=parts.whole_terms(AT_REST),
    false_siblings=[
        ("faster by K^{1/10}", Schedule(SLOWER, ROOT * K ** Rational(-1, 10))),
        ("faster by a logarithm", Schedule(SLOWER, ROOT / log(K))),
    ],
    explain=(
        "With equal step sizes the lower level follows the noise of the series, of order log K/√K; "
        "with smaller steps on x, as the slide leaves one free to choose, it is measured as stated."
    ),
)
def lower_level(view: View) -> Reduction:
    return parts.lower_error(view)
