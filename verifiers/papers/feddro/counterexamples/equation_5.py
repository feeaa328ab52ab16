"""FedDRO (2023), equation (5): said to be equivalent to (3) with the χ²-divergence. It is not.

(3) is min_x max_p Σ p_i ℓ(x; ζ_i) - λ (m/2) Σ (p_i - 1/m)² over the simplex.
(5) minimises -(1/(2λm)) Σ ℓ_i² + (1/(2λ)) ((1/m) Σ ℓ_i)², which is -Var(ℓ)/(2λ).
It has no mean loss, and it spreads the losses as far as it can: the opposite of robust learning.
The instance: m = 2, λ = 1 and ℓ = 1 + s, 1 - s with s(x) = 2x/(1 + x²), smooth on the real line.
s is 0 at x = 0, and is largest in size, 1, at x = 1 and x = -1.
"""

penalty, m = 1.0, 2  # λ
grid = [k / 1000 for k in range(-5000, 5001)]  # it contains 0, 1 and -1


def losses(x):
    s = 2 * x / (1 + x**2)
    return [1 + s, 1 - s]


def objective_of_3(p, ell):
    divergence = m / 2 * sum((q - 1 / m) ** 2 for q in p)
    return sum(q * loss for q, loss in zip(p, ell, strict=True)) - penalty * divergence


def of_3(x):
    """The inner maximum at x: with p = (q, 1 - q) it is a parabola in q, cut off at 0 and 1.

    Its derivative is ℓ_1 - ℓ_2 - 2λ(2q - 1).
    """
    ell = losses(x)
    q = min(max(0.5 + (ell[0] - ell[1]) / (4 * penalty), 0.0), 1.0)
    return objective_of_3([q, 1 - q], ell)


def of_5(x):
    ell = losses(x)
    squares = sum(loss**2 for loss in ell)
    return -squares / (2 * penalty * m) + (sum(ell) / m) ** 2 / (2 * penalty)


for x in [-1.0, 0.0, 0.5, 1.0]:  # the closed form against every q on a grid
    highest = max(objective_of_3([k / 1000, 1 - k / 1000], losses(x)) for k in range(1001))
    assert highest <= of_3(x) + 1e-12 < highest + 1e-5
best_of_3, best_of_5 = min(grid, key=of_3), min(grid, key=of_5)
# (3) is 1 + s²/2 >= 1 here, with equality at x = 0 alone; (5) is -s²/2 >= -1/2, at x = ±1 alone
print(f"(3) is least at x = {best_of_3}: {of_3(best_of_3)}")
print(f"(5) is least at x = {best_of_5}: {of_5(best_of_5)}, where (3) is {of_3(best_of_5)}")
left, right = of_3(best_of_5), of_3(best_of_3)
assert left > right + 0.1
print(f"REFUTED printed: the same minimisers: left = {left!r} > right = {right!r}")
left, right = of_3(best_of_3), of_5(best_of_5)
assert abs(left - right) > 0.1
print(f"REFUTED printed: equal values: left = {left!r} != right = {right!r}")
