r"""What the rates of the theorem share, and the instances that refute.

**A fixed N.** For each N there is a problem on which FedNest never moves, whatever the steps α^k
and β^k and the numbers of local steps, and ‖∇F(x^k)‖² ≥ 64^{−N}/16: docs/fednest.md has it, and
``tests/test_fednest.py`` runs it. φ is the Huber function that is ½x² for |x| ≤ 1.

**Constant steps.** One client, f = φ(x) − y/2, g = ½(y − x)², no noise: ℓ_{g,1} = 2, μ_g = 1,
F' = x − ½ near, and every assumption of the slides is met. FedIHGP gives p = −(N/4)2^{−N'}, whose
mean is −½(1 − 2^{−N}) and whose variance is v/4,

    v = (N/3)(1 − 4^{−N}) − (1 − 2^{−N})² ≥ N/4 − 1:

**it grows with N**, whatever the batch and the number of clients, since N' is drawn once. While |x|
≤ 1, x⁺ = x − α(x + p), so that, e = x − x̂ and x̂ = ½(1 − 2^{−N}),

* E e^k = (1 − α)^k e⁰, and F' = e − 2^{−N}/2;
* Var e^k tends to αv/(4(2 − α)) ≥ αv/8: E F'(x^k)² ≥ α(N − 4)/32 in the limit;
* from x⁰ = 0 the two means have one sign, and the mean over k < K of E F'(x^k)² is at least
  4^{−N}/4 + 0.027/(αK) + α(N − 4)/64 for 2 ≤ αK, α ≤ 1: the last two together are at least
  0.04((N − 4)/K)^½, and 4^{−N} ≥ K^{−½} log K unless N ≥ ¼ log₂ K (1 − o(1)). So **for any step
  size that is constant over the run and any N, it is at least (log K/K)^½/100 for large K**.

The noise is bounded by αN/4 a step, so a run leaves |x| ≤ 1 with a probability that is
exponentially small in 1/(αN), which the constants above have room for. On the lower level y^k −
y*(x^k) follows every move of x: for α = β one unit of noise leaves α(1 − α)^{j−2}(1 − jα) after j
steps, so E(y^K − x^K)² ≥ α(N − 4)/640 for K ≥ 1/α. (``outgrown`` proves
the floor of the limit; ``tests/test_fednest.py`` has the others in numbers, by the exact recursion
of the second moments.)
"""

from collections.abc import Callable, Mapping, Sequence
from math import ceil, exp, floor, log
from typing import TypeAlias, TypedDict

import sympy
from sympy import Integer, Rational, symbols

from driftproof.synthetic.problems.quadratic_bilevel import QuadraticBilevel
from driftproof.toolkit.algorithms.fednest import FedNest
from driftproof.toolkit.bilevel import BilevelProblem
from driftproof.toolkit.cases import Assumption, Case
from driftproof.toolkit.constants import Expression
from driftproof.toolkit.engines.second_moments import second_moments
from driftproof.toolkit.measure import Reduction, States, Steps, average, sq
from driftproof.verifiers.algebra.symbolic import Step, finite_limit, nonnegative, vanishes
from driftproof.verifiers.claim_types.bound import Measure
from driftproof.verifiers.claim_types.rate import Exact, Floor, Schedule

K = symbols("K", positive=True)
TERMS = symbols("N", positive=True)
HORIZONS = (64, 128, 256)
"""Where FedNest is run, and the exact left side compared with the runs."""
LONGER = (512, 1024)
EXACT = tuple(4**k for k in range(3, 11))
"""Where the left side is computed exactly: 64 … 2²⁰."""


ROOT = K ** Rational(-1, 2)
GROWING = 2 * sympy.log(K)
"""κ_g log K on ``INSTANCE``."""
LONG_SERIES = Assumption(
    "Theorem (Informal)",
    r"N\ge\kappa_g\log K",
    relation=lambda c: c.ell_g1 / c.mu_g * sympy.log(c.K) <= c.N,
)
INSTANCE = "f = φ(x) − y/2, g = ½(y − x)²"
"""The instance of the floors for constant steps."""
PROBLEM = QuadraticBilevel(
    clients=2,
    dim=2,
    smallest=0.9,
    hessian_heterogeneity=0.1,
    offset_heterogeneity=0.5,
    target_heterogeneity=0.3,
    upper_slope=20.0,
    slope=0.6,
    tilt=0.2,
    cross=0.8,
    upper_noise=0.3,
    lower_value_noise=0.3,
)
"""Different noisy clients; with a slope on x, ∇_y f is not 0 at the solution.

The noise is bounded and the runs stay far inside the quadratic part of the Huber function,
‖y − a_i‖ ≤ 20, so that second moments are known at every horizon
(``toolkit.engines.second_moments``).
"""


FedNestCase: TypeAlias = Case[BilevelProblem, FedNest]


def condition(problem: BilevelProblem) -> float:
    """Return κ_g."""
    held = problem.constants
    return held["lower_smoothness"] / held["lower_strong_convexity"]


def whole_terms(problem: BilevelProblem) -> tuple[int, ...]:
    """Return horizons to 10⁹ and more at which κ_g log K is hardly below a whole number.

    There N = ⌈κ_g log K⌉ is κ_g log K: in between, rounding up moves the left side by a few per
    cent, which is no part of its order.
    """
    return tuple(floor(exp(count / condition(problem))) for count in range(12, 40, 3))


def instance(
    problem: BilevelProblem,
    horizon: int,
    *,
    terms: int | None = None,
    steps: tuple[float, float] = (1, 1),
) -> FedNestCase:
    """Return FedNest's case of K rounds.

    Args:
        terms: N; ⌈κ_g log K⌉ unless given.
        steps: α and β, times √K.
    """
    if terms is None:
        terms = ceil(condition(problem) * log(horizon))
    alpha, beta = (share * horizon**-0.5 for share in steps)
    method = FedNest(inner_step_size=beta, outer_step_size=alpha, terms=terms)
    return Case(problem, method, horizon)


def slower(problem: BilevelProblem, horizon: int) -> FedNestCase:
    """Return the case with α = 1/√(K log K), β = 1/√K and N = ⌈κ_g log K⌉."""
    return instance(problem, horizon, steps=(log(horizon) ** -0.5, 1))


def stationarity(view: States) -> Reduction:
    """Return ‖∇F(x^k)‖², averaged over k = 0, …, K − 1 (the slides: 1, …, K)."""
    return average("round", sq(view.gradient(view.mean("x"))))


def lower_error(view: Steps) -> Reduction:
    """Return ‖y^k − y*(x^k)‖², averaged over k ≥ K/4.

    The slides state it of k = K; constant steps of order 1/√K have forgotten the start before K/4,
    so that these k have the law of the last, and their mean varies less.
    """
    problem = view.problem
    assert isinstance(problem, BilevelProblem)
    x, y = view.round_start("x"), view.round_start("y")
    late = view.horizon - view.horizon // 4
    share = view.horizon / late * (view.round >= view.horizon // 4)
    return average("round", share * sq(y - problem.lower_solution(x)))


def floor_of_fixed_series(at: Mapping[str, Expression]) -> Expression | None:
    """Return 64^{−N}/16 for a schedule whose N is a constant, for any steps."""
    count = at.get("N")
    if count is None or count.has(K):
        return None
    return Integer(64) ** -count / 16 * K**0


def floor_of_the_draw(at: Mapping[str, Expression]) -> Expression | None:
    """Return α(N − 4)/32 for a schedule whose N grows."""
    count = at.get("N")
    if count is None or not count.has(K):
        return None
    return at["alpha"] * (count - 4) / 32


def outgrown(right: Schedule) -> list[Step]:
    """Return the steps by which the variance of N' refutes the order of a schedule."""
    j, n = symbols("j N", positive=True, integer=True)
    alpha, variance = symbols("alpha v", positive=True)
    r = symbols("r", nonnegative=True)
    small = 1 / (2 + r)
    drawn, power = n / 4 * Rational(1, 2) ** j, Rational(1, 4) ** n
    mean = sympy.summation(drawn, (j, 0, n - 1)) / n
    stated = n / 3 * (1 - power) - (1 - Rational(1, 2) ** n) ** 2
    settled = alpha * variance / (4 * (2 - alpha))
    floor: Expression = floor_of_the_draw({"alpha": alpha, "N": K})
    return [
        vanishes(
            sympy.summation(drawn**2, (j, 0, n - 1)) / n - mean**2 - stated / 4,
            r"\mathrm{Var}\,p = \tfrac v4,\; v = \tfrac N3(1-4^{-N})-(1-2^{-N})^2",
        ),
        nonnegative(
            n / 3 * (1 - small**2) - (1 - small) ** 2 - n / 4 + 1,
            r"v \ge \tfrac N4-1, \text{ as } 2^{-N} = 1/(2+r) \text{ for some } r\ge0",
        ),
        vanishes(
            (1 - alpha) ** 2 * settled + alpha**2 * variance / 4 - settled,
            r"\mathrm{Var}\,x^k \to \tfrac{\alpha v}{4(2-\alpha)}",
        ),
        nonnegative(
            (settled - floor.subs(K, 4 * variance + 4)).subs(alpha, 1 / (1 + r)),
            r"v = \tfrac N4-1,\ \alpha = 1/(1+r) \le 1:\; "
            r"\tfrac{\alpha v}{4(2-\alpha)} \ge \tfrac{\alpha(N-4)}{32}",
        ),
        finite_limit(
            floor_of_the_draw(right.letters) / right.in_horizon,
            K,
            sympy.oo,
            r"\text{the floor over the stated order stays bounded as } K\to\infty",
            "the floor over the order",
        ),
    ]


def floor_of_constant_steps(at: Mapping[str, Expression]) -> Expression | None:
    """Return √(log K/K)/100 for every step size that is constant over the run, and every N."""
    return sympy.sqrt(sympy.log(K) / K) / 100 if at.get("steps") == "constant" else None


def floor_of_the_lower_level(at: Mapping[str, Expression]) -> Expression | None:
    """Return α(N − 4)/640 where α = β and N grows."""
    if at["alpha"] != at["beta"] or "N" not in at:
        return None
    return at["alpha"] * (at["N"] - 4) / 640


def rounds(case: FedNestCase) -> float:
    """Return K of a case."""
    return case.rounds


def exact(case: Callable[[int], FedNestCase], left: Measure) -> Exact:
    """Return the exact left side, by second moments, as a function of K.

    Args:
        case: from K to the case that is measured.
    """
    return lambda horizon: second_moments(case(horizon), ("x", "y")).average(left)


FLOORS = [
    Floor("Lagrange's weights, where FedNest stands still", floor_of_fixed_series),
    Floor(f"{INSTANCE}: the variance of N'", floor_of_the_draw),
    Floor(f"{INSTANCE}, from x⁰ = 0, for each α and N", floor_of_constant_steps),
]
AT_ROOT = {"alpha": ROOT, "beta": ROOT}
"""α = β = 1/√K."""


def faster(letters: Mapping[str, Expression]) -> list[tuple[str, Schedule]]:
    """Return orders that are a little below 1/√K, by name: false where 1/√K is attained."""
    return [
        ("faster by K^{1/10}", Schedule(letters, ROOT * K ** Rational(-1, 10))),
        ("faster by a logarithm", Schedule(letters, ROOT / sympy.log(K))),
    ]


class OneOverRoot(TypedDict):
    """The fields that rates of order 1/√K at α = β = 1/√K have in common."""

    cases: Sequence[Case]
    full: Sequence[Case]
    right: Schedule
    horizon: Expression
    size: Callable[[Case], float]
    size_name: str
    exact: Exact
    horizons: Sequence[int]
    false_siblings: Sequence[tuple[str, Schedule]]


def one_over_root(problem: BilevelProblem, *, terms: int) -> OneOverRoot:
    """Return the fields of the rate 1/√K of FedNest with N terms on a problem.

    Its second moments are known at every horizon.
    """

    def at(horizon: int) -> FedNestCase:
        return instance(problem, horizon, terms=terms)

    return {
        "cases": [at(horizon) for horizon in HORIZONS],
        "full": [at(horizon) for horizon in LONGER],
        "right": Schedule(AT_ROOT, ROOT),
        "horizon": K,
        "size": rounds,
        "size_name": "K, rounds",
        "exact": exact(at, stationarity),
        "horizons": EXACT,
        "false_siblings": faster(AT_ROOT),
    }
