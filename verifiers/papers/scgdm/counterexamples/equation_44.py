"""Local-SCGDM (2022), (44): E‖u_1 − g(x_0)‖² is at most δ_g², not equal to it.

The instance: g(x; ξ) = x + ξ sin x with a coin ξ = ±1, and x_0 = 0. The variance of g(x; ξ) is
sin² x: at most δ_g² = 1, which x = π/2 attains, and 0 at x_0.
"""

from math import pi, sin


def variance(x):
    return sum((x + xi * sin(x) - x) ** 2 for xi in (1, -1)) / 2


left, right = variance(0.0), variance(pi / 2)  # δ_g²: no x has a larger one
assert left < right
print(f"REFUTED printed: equal: left = {left!r} != right = {right!r}")
