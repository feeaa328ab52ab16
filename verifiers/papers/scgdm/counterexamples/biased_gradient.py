"""Local-SCGDM (2022), section 1: a stochastic gradient need not be biased for a nonlinear f.

The instance: f(y) = y²/2 and g(x; ξ) = x + ξ with a coin ξ = ±1, at x = 1. ∇g(x; ξ) f'(g(x; ξ)) is
x + ξ, whose mean is F'(x) = x. So its bias, which is said not to be 0, is 0; both sides are means.
"""

x, coins = 1.0, (1.0, -1.0)
estimate = sum(1.0 * (x + xi) for xi in coins) / 2  # E ∇g f'(g(x; ξ)), with f'(y) = y
gradient = x  # F(x) = f(E g(x; ξ)) = x²/2
assert estimate == gradient
left, right = 0.0 if estimate == gradient else 1.0, 1.0  # whether they differ, as is said
assert left != right
print(f"REFUTED printed: for every nonlinear f: left = {left!r} != right = {right!r}")
