r"""What the rates of 002's theorem share: α = β = 1/√K, and N ~ κ_g log K.

**Floor for a fixed N.** FedOut follows E h = ∇_x f − ∇²_xy g H^{-1}(I − (I − H/ℓ)^N)∇_y f, which
vanishes elsewhere than ∇F. One client, f = ½x² + ½(y − 1)² and g = ½(y − x)², where the run stays
(Huber functions and a larger ℓ_{g,1} = 2 beyond): with q = 1 − 1/2, the limit is x̂ = (1 − q^N)/(2 −
q^N) for every small step, F'(x̂) = −q^N/(2 − q^N), and the mean of ‖∇F(x^k)‖² tends to at least its
square as K → ∞ (no noise, or, by Jensen's inequality, with it).
"""

from math import ceil, log

from sympy import Rational, Symbol, symbols

from toolkit import Case, average, each, sq
from toolkit.algorithms import FedNest
from verifiers.rate import Rate

K = symbols("K", positive=True)
TERMS = Symbol("N", positive=True)
HORIZONS = (64, 128, 256, 512, 1024)
LONGER = (2048, 4096, 8192)


def instance(problem, horizon, *, terms=None):
    """Return FedNest's case of K rounds: α = β = 1/√K, N = ⌈κ_g log K⌉ unless given."""
    if terms is None:
        held = problem.constants
        kappa = held["lower_smoothness"] / held["lower_strong_convexity"]
        terms = ceil(kappa * log(horizon))
    step = horizon**-0.5
    method = FedNest(inner_step_size=step, outer_step_size=step, terms=terms)
    return Case(problem, method, horizon)


def stationarity(view):
    """Return ‖∇F(x^k)‖², averaged over k."""
    return average("round", sq(view.gradient(view.round_start("x"))))


def lower_error(view):
    """Return ‖y^k − y*(x^k)‖² at each k; a rate looks at the last."""
    x, y = view.round_start("x"), view.round_start("y")
    return each("round", sq(y - view.problem.lower_solution(x)))


def floor_of_fixed_series(at):
    """Return the square of q^N/(2 − q^N), q = ½, for a schedule whose N is a constant."""
    count = at.get("N")
    if count is None or count.has(K):
        return None
    left = Rational(1, 2) ** count
    return (left / (2 - left)) ** 2 * K**0


def rate(*floors):
    """Return the rate 1/√K, judged by its slope in K (and floors at N = 20, where N is fixed)."""
    return Rate(
        horizon=K, bound=None, source="", special={TERMS: 20}, exponent=-0.5,
        size=lambda case: case.rounds, size_name="K, rounds", floors=floors,
    )  # fmt: skip
