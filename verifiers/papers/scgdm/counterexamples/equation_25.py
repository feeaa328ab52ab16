"""Local-SCGDM (2022), (25), fourth equality: the cross term of C and D is left out.

(25) says E‖A + αη(B + C + D)‖² = E‖A + αηC‖² + α²η²E‖B + D‖², with B = vᵀ(∇f(u; ζ) − ∇f(u)),
C = vᵀ(∇f(u) − ∇f(g)), D = (v − ∇g)ᵀ∇f(g), v = ∇g(x_t; ξ_t) and u = u_{t+1}. v is in C and in D.
The instance: one client, g(x; ξ) = (1 + ξ/2)x with a coin ξ = ±1, f(y) = y²/2 where the run stays,
x_t = 1, αη = γη = 1/2. So B = 0. The past has left A = 0 and u_t = 3/2.
"""

from fractions import Fraction
from itertools import product

half = Fraction(1, 2)
a, c, s, u_t, g = half, half, half, Fraction(3, 2), 1  # αη, γη, noise, u_t, g(x_t)


def sides(outcomes):
    left = right = 0
    for of_jacobian, of_value in outcomes:
        v = 1 + s * of_jacobian
        u = (1 - c) * u_t + c * (1 + s * of_value)  # line 7
        C, D = v * (u - g), (v - 1) * g  # f'(y) = y
        left += (a * (C + D)) ** 2 / Fraction(len(outcomes))
        right += ((a * C) ** 2 + (a * D) ** 2) / Fraction(len(outcomes))
    return float(left), float(right)


for form, outcomes in (
    ("printed: one ξ_t for g and ∇g, as in Algorithm 1", [(1, 1), (-1, -1)]),
    ("printed: two samples", list(product((1, -1), repeat=2))),
):
    left, right = sides(outcomes)
    assert left > 1.01 * right
    print(f"REFUTED {form}: left = {left!r} != right = {right!r}")
