"""Linear speed-up, what its three claims share: the instance, its exact left side and the floor.

**Kind.** Rate in the number of clients, the minibatch or the number of steps alone, the other two
fixed; exact second moments, since the constants of the bound are not in the text.

**Instance.** Theorem 5.1's schedule η = √(|b|K/T), β = 4B_g⁴L_f²η, I = 1 ≤ T^{1/4}/(|b|K)^{3/4};
clients with different h and g, noise of variance v² in g and σ_h² in ∇h, which a larger K or |b|
has to average. h and g are affine and f is quadratic on the whole run (a Huber function with its
knee at 20), so that the left side is known exactly (``toolkit.engines.second_moments``).

**Floor.** f = 0, h(x) = x²/2 near 0, noise of variance 1 in ∇h: E(x̄^{t+1})² = (1 − η)²E(x̄^t)² +
η²/(|b|K) tends to η/((2 − η)|b|K), so the left side is at least η/(3|b|K) = 1/(3√(|b|KT)) for long
runs.
"""

from collections.abc import Callable, Mapping

from sympy import Rational, log, sqrt, symbols

from driftproof.synthetic.problems.averaged_composition import AveragedComposition
from driftproof.toolkit.algorithms.feddro import FedDRO
from driftproof.toolkit.cases import Case
from driftproof.toolkit.constants import Expression
from driftproof.toolkit.engines.second_moments import second_moments
from driftproof.verifiers.claim_types.rate import Exact, Floor, Schedule
from driftproof.verifiers.papers.feddro.claims import _theorem as parts

n = symbols("n", positive=True)
K, b, T = symbols("K b T", positive=True)
ORDER = 1 / sqrt(b * K * T)
STEPS = 2**15
"""T where K or |b| varies: I = 1 is admitted up to |b|K = 32."""
VARIED = (2, 4, 8, 16, 32)


def instance(
    *, clients: int = 2, batch: int = 1, steps: int = STEPS
) -> Case[AveragedComposition, FedDRO]:
    problem = AveragedComposition(
        clients=clients,
        inner_slope=0.7,
        inner_heterogeneity=0.2,
        inner_value_noise=0.3,
        outer_slope=20.0,
        plain_noise=0.5,
        plain_tilt=0.2,
        distance=0.2,
    )
    return parts.run(problem, steps, batch=batch)


def floor(at: Mapping[str, Expression]) -> Expression:
    """Return 1/(3√(|b|KT)) along a schedule."""
    return 1 / (3 * sqrt(at["b"] * at["K"] * at["T"]))


FLOORS = [Floor("h(x) = x²/2 with noise of variance 1", floor)]


def exact(case: Callable[[int], Case]) -> Exact:
    """Return the exact left side, by second moments, as a function of what varies.

    Args:
        case: from its value to the case.
    """
    return lambda value: second_moments(case(value), ("x", "x_previous", "y")).average(
        parts.squared_gradient
    )


def siblings(letters: Mapping[str, Expression], varied: Expression) -> list[tuple[str, Schedule]]:
    """Return a faster speed-up by a tenth of a power, and by a logarithm."""
    return [
        ("faster by a tenth of a power", Schedule(letters, ORDER * varied ** Rational(-1, 10))),
        ("faster by a logarithm", Schedule(letters, ORDER / log(varied))),
    ]
