r"""Runs of Algorithm 1 whose gradient stays away from 0 at every horizon, step by step.

Both are without noise, with u averaged as printed, on clients with different g.

**A line.** ``bias-amplification``, F client-wise. While |u| ≤ 3 the means follow x' = −βm, u' =
γ((x + 1)/2 − u), m' = α(u/2 − m) in the time ηt, once pη → 0. The only rest point is x = −1.

**Federated MAML.** K = 3 clients with one task each, L_k(x) = 1 − cos(x − c_k), c = (3, −3, 0), λ =
½, so that g_k(x) = x − ½ sin(x − c_k). Start at x_0 = 23/10, α = γ = 1, β = 1/1000, any schedule
with pη → 0. With ḡ the mean of the g_k, H(x, u) = (1/K) Σ (1 − λ cos(x − c_k)) sin(u − c_k) and
G(x) = H(x, ḡ(x)), a root of G is a rest point. No client's direction is longer than M = 3/2. So, up
to terms that vanish with pη:

1. |ū_{t+1} − ḡ(x̄_t)| ≤ (3/2)βM = (9/4)β: ḡ moves by at most (3/2)βηM a step, and a share η of the
   distance is forgotten. It is 0 at t = 0.
2. z̄_t = G(x̄_t) + e, |e| ≤ (3/2)(9/4)β, and |G'| ≤ λ + (3/2)² = 11/4. So m̄_{t+1} − G(x̄_t) is at
   most (11/4)βM + (27/8)β = (15/2)β, after a first part, at most 2M in size, that is forgotten. All
   of that part moves x by no more than D = 2Mβ.
3. If G > (15/2)β on [x_0 + r − 2D, x_0 + r] and G < −(15/2)β on [x_0 − r, x_0 − r + 2D], x̄ can
pass neither, so it stays in [x_0 − r, x_0 + r] for ever. There |F'| is bounded below.

The inequalities of step 3 are decided on a grid, with 11/4 as Lipschitz constant of G and of F'.
"""

from collections.abc import Callable, Sequence

import numpy as np
import sympy

from driftproof.verifiers.algebra.symbolic import Step, computed, vanishes

CENTRES = np.array([3.0, -3.0, 0.0])
START, RATE, RADIUS = 2.3, 0.5, 0.1
FACTOR = 1e-3
FLOOR = 0.02
"""Of ‖∇F(x̄_t)‖², on Federated MAML at every t."""
LIPSCHITZ = 2.75
"""Of G and of F'."""
POINTS = 20_001
ROUNDING = 1e-9


def rest(x: np.ndarray) -> np.ndarray:
    """Return G(x) at points."""
    inner = x[:, None] - RATE * np.sin(x[:, None] - CENTRES)
    stretch = 1 - RATE * np.cos(x[:, None] - CENTRES)
    values: np.ndarray = (stretch * np.sin(inner.mean(1, keepdims=True) - CENTRES)).mean(1)
    return values


def gradient(x: np.ndarray) -> np.ndarray:
    """Return F'(x) at points."""
    inner = x[:, None] - RATE * np.sin(x[:, None] - CENTRES)
    stretch = 1 - RATE * np.cos(x[:, None] - CENTRES)
    values: np.ndarray = (stretch * np.sin(inner - CENTRES)).mean(1)
    return values


def least(function: Callable[[np.ndarray], np.ndarray], low: float, high: float) -> float:
    """Return a lower bound on a function of one variable over [low, high]."""
    at = np.linspace(low, high, POINTS)
    return float(function(at).min() - LIPSCHITZ * (high - low) / (POINTS - 1) / 2 - ROUNDING)


def meta_learning() -> list[Step]:
    """Return the steps for Federated MAML."""
    jump = 3 * FACTOR
    top = least(rest, START + RADIUS - 2 * jump, START + RADIUS)
    bottom = least(lambda x: -rest(x), START - RADIUS, START - RADIUS + 2 * jump)
    away = max(least(gradient, START - RADIUS, START + RADIUS), 0.0) ** 2
    off = 7.5 * FACTOR
    return [
        computed(r"G > \tfrac{15}2\beta \text{ above}", top > off, f"at least {top:.4f} > {off}"),
        computed(
            r"G < -\tfrac{15}2\beta \text{ below}", bottom > off, f"−G ≥ {bottom:.4f} > {off}"
        ),
        computed(
            rf"\|\nabla F(\bar x_t)\|^2 \ge {FLOOR} \text{{ for every }} t",
            away > FLOOR,
            f"F'² is at least {away:.4f} where the run stays",
        ),
    ]


def two_lines() -> list[Step]:
    """Return the steps for the two clients of ``bias-amplification``."""
    a, b, g, x, u, m, s = sympy.symbols("alpha beta gamma x u m s", positive=True)
    field = sympy.Matrix([-b * m, g * ((x + 1) / 2 - u), a * (u / 2 - m)])
    matrix = field.jacobian([x, u, m])
    stated = s**3 + (a + g) * s**2 + a * g * s + a * g * b / 4
    slack = sympy.symbols("r", positive=True)
    routh = ((a + g) * a * g - a * g * b / 4).subs(b, 4 * (a + g) - slack)
    gradient = (5 * sympy.Integer(-1) - 1) / sympy.Integer(2)
    return [
        vanishes(
            (s * sympy.eye(3) - matrix).det() - stated,
            r"s^3+(\alpha+\gamma)s^2+\alpha\gamma s+\alpha\gamma\beta/4 \text{ is characteristic}",
        ),
        vanishes(
            routh - a * g * slack / 4,
            r"\text{stable for } \beta<4(\alpha+\gamma), \text{ by Routh–Hurwitz}",
        ),
        vanishes(
            sum(abs(part.subs({x: -1, u: 0, m: 0})) for part in field),
            r"\text{the rest point is } x=-1,\; u=m=0",
        ),
        vanishes(gradient**2 - 9, r"\|\nabla F(-1)\|^2 = 9"),
    ]


def refuted_by(floor: Sequence[Step], says: str, why: str) -> Step:
    """Return the step that a floor refutes, if every step of the floor holds; else it is open."""
    return computed(says, False if all(step.holds for step in floor) else None, why)
