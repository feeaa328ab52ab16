r"""A problem on which every step leads away from the one stationary point of Φ.

f(y) = −√(1 + y²), g_1(x) = x + 1, g_2(x) = x − 1, h = 0, x̄⁰ = 2. Then g(x) = x, Φ(x) = −√(1 + x²),
and its one stationary point is its maximum, 0. The assumptions of FedDRO's paper hold with
B_f = L_f = B_g = 1, L_g = Δ_g = 0 and no noise. As long as all x_k ≥ 2, every embedding that a
client may hold (its own g_k(x_k), or a mean of them) is at least 1, f' is negative there, and a
step of any positive size moves x_k up. So x_k^t ≥ 2 for ever, whatever is shared and when.
"""

import sympy

from driftproof.verifiers.algebra.symbolic import Step, nonnegative, vanishes

y = sympy.Symbol("y", real=True)
OUTER = -sympy.sqrt(1 + y**2)
SLOPE, BEND = sympy.diff(OUTER, y), sympy.diff(OUTER, y, 2)
beyond = sympy.Symbol("u", nonnegative=True)
step = sympy.Symbol("eta", positive=True)
GRADIENT = SLOPE.subs(y, 2 + beyond) ** 2
"""‖∇Φ‖² at x = 2 + u."""


def steps() -> list[Step]:
    """Return the steps that show it, for every sequence of positive step sizes."""
    held = sympy.Symbol("y_k", nonnegative=True)
    return [
        nonnegative(1 - SLOPE**2, r"|f'(y)| \le B_f = 1"),
        nonnegative(1 - BEND**2, r"|f''(y)| \le L_f = 1"),
        vanishes((y + 1 + y - 1) / 2 - y, r"\tfrac12(g_1(x)+g_2(x)) = x"),
        nonnegative(2 + beyond - 1, r"x_k\ge2 \text{ gives } y_k \ge 2-1 \ge 0"),
        nonnegative(
            -step * SLOPE.subs(y, held),
            r"x_k^{t+1}-x_k^t = -\eta^t f'(y_k) \ge 0 \text{ for } y_k\ge0,\ \eta^t>0",
        ),
        nonnegative(
            GRADIENT - sympy.Rational(4, 5),
            r"\|\nabla\Phi(\bar x^t)\|^2 \ge \tfrac45 \text{ for } \bar x^t \ge 2",
        ),
    ]
