r"""The theorem, second half: the lower level's error (slide "Theory").

**Statement.** E‖y^K − y*(x^K)‖² = O(1/√K).

**Kind.** Rate, of the last iterate, α = β = 1/√K, different noisy clients; asymptotic evidence.

**Floor.** Scalars, g(y; ζ) = ½y² + vζy, f = 0: y^{k+1} = (1 − β)y^k − βvζ, so E(y^K)² tends to
βv²/(2 − β) ≥ v²/(2√K): no better order holds for this schedule.
"""

from sympy import Rational

from toolkit import claim
from verifiers.claims.fednest import _rates as parts
from verifiers.claims.fednest import assumptions as given
from verifiers.claims.fednest.theorem import PROBLEM, STEPS
from verifiers.rate import Floor, Schedule

K = parts.K


@claim(
    name="fednest/theorem-lower",
    kind="rate",
    source="002, Theorem (Informal)",
    assumes=[*given.ASSUMED],
    statement=r"\mathbb{E}\big[\|y^K-y^*(x^K)\|^2\big] = \mathcal O\Big(\frac1{\sqrt K}\Big)",
)
class LowerLevel:
    cases = [parts.instance(PROBLEM, horizon) for horizon in parts.HORIZONS]
    full = [parts.instance(PROBLEM, horizon) for horizon in parts.LONGER]
    left = parts.lower_error
    right = Schedule(STEPS, K ** Rational(-1, 2))
    rate = parts.rate(Floor("g = ½y² with noise of variance 1, f = 0", lambda at: at["beta"] / 2))
    false_siblings = [("a faster rate, 1/K", Schedule(STEPS, 1 / K))]
    explain = "Measured, at the last iterate; noise in ∇_y g attains the order."
