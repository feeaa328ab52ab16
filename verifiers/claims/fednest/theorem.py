r"""The theorem: FedNest's rate for bilevel problems (slide "Theory").

**Statement.** "If we choose the stepsize properly, then the iterates of FedNest satisfy"
(1/K) Σ_k E‖∇f(x^k)‖² = O(1/√K).

**Kind.** Rate, measured with α = β = 1/√K on different noisy clients; asymptotic evidence, as the
constants are not in the text.

**Readings.** No condition on N is printed. For any fixed N it is false, whatever the step sizes:
the bias of FedIHGP is a floor (``_rates``). With N ≥ κ_g log K it is supported here. E‖p_{N'}‖²
grows like N, so what a proof by variance bounds gives is √(log K/K); no instance separates the two,
so this stays open.
"""

from sympy import Rational, log

from synthetic.problems import QuadraticBilevel
from toolkit import claim
from verifiers.claims.fednest import _rates as parts
from verifiers.claims.fednest import assumptions as given
from verifiers.rate import Floor, Schedule

PROBLEM = QuadraticBilevel(
    clients=2, dim=2, smallest=0.9, hessian_heterogeneity=0.1, target_heterogeneity=0.5,
    offset_heterogeneity=0.5, upper_slope=2.0, tilt=0.2, upper_noise=0.3, lower_value_noise=0.3,
    lower_curvature_noise=0.1, cross_noise=0.1, cross=0.5,
)  # fmt: skip
K, N = parts.K, parts.TERMS
STEPS = {"alpha": K ** Rational(-1, 2), "beta": K ** Rational(-1, 2)}


@claim(
    name="fednest/theorem",
    kind="rate",
    source="002, Theorem (Informal)",
    assumes=[*given.ASSUMED],
    statement=r"\frac1K\sum_{k=1}^K\mathbb{E}\big[\|\nabla f(x^k)\|^2\big] = \mathcal O\Big("
    r"\frac1{\sqrt K}\Big)",
)
class Stationarity:
    cases = [parts.instance(PROBLEM, horizon) for horizon in parts.HORIZONS]
    full = [parts.instance(PROBLEM, horizon) for horizon in parts.LONGER]
    left = parts.stationarity
    readings = {
        "N fixed": Schedule({**STEPS, "N": N}, K ** Rational(-1, 2)),
        "N ≥ κ_g log K": Schedule({**STEPS, "N": log(K)}, K ** Rational(-1, 2)),
    }
    rate = parts.rate(
        Floor("f = ½x² + ½(y − 1)², g = ½(y − x)², ℓ_{g,1} = 2", parts.floor_of_fixed_series)
    )
    false_siblings = [("any N, 1/K", Schedule({**STEPS, "N": N}, 1 / K))]
    explain = (
        "A fixed number of Neumann terms leaves a floor that no step size removes; with N growing "
        "like κ_g log K the measured rate is the stated one."
    )
