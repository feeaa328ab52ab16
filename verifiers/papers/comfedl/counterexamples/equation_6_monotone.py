"""ComFedL (2021), after (6): "we can apply the other monotonically increasing functions" for g.

(6), min_w (1/n) Σ g(f^i(w)/γ), is to be solved instead of (5), min_w γ log((1/n) Σ exp(f^i(w)/γ)).
With another increasing g than exp it has another minimiser, and does not solve (5).
The logarithm may be left out because it is applied to the whole sum; g is applied to each loss.
The instance has two clients, f^1(w) = w², f^2(w) = 2(w - 1)² and γ = 1.
With g(y) = y (6) is the plain average, which the robust problem was to replace.
"""

from math import exp, log

gamma, n = 1.0, 2


def losses(w):
    return [w**2, 2 * (w - 1) ** 2]


def slopes(w):
    return [2 * w, 4 * (w - 1)]


def of_5(w):
    return gamma * log(sum(exp(f / gamma) for f in losses(w)) / n)


def minimiser(g_prime):
    """The minimiser of (1/n) Σ g(f^i/γ), by bisection on the derivative (1/n) Σ g'(f^i/γ) ∇f^i/γ.

    g is increasing and convex and both losses are strictly convex, so the derivative increases;
    it is negative at w = 0, where only f^2 has a slope, and positive at w = 1, where only f^1 has.
    """
    low, high = 0.0, 1.0
    for _ in range(100):
        w = (low + high) / 2
        pairs = zip(losses(w), slopes(w), strict=True)
        derivative = sum(g_prime(f / gamma) * s / gamma for f, s in pairs) / n
        low, high = (w, high) if derivative < 0 else (low, w)
    return (low + high) / 2


best = minimiser(exp)  # (5) is an increasing function of the sum with g = exp
assert all(of_5(best) <= of_5(best + shift) for shift in [-0.1, -1e-3, 1e-3, 0.1])
print(f"(5) is least at w = {best}")
print("left: (5) at the minimiser of (6) with g; right: the minimum of (5)")
increasing = {
    "printed: any g keeps the minimisers of (5): g(y) = y": lambda y: 1.0,
    "printed: any g keeps the minimisers of (5): g(y) = log(1 + exp(y))": (
        lambda y: exp(y) / (1 + exp(y))
    ),
}
for form, g_prime in increasing.items():
    left, right = of_5(minimiser(g_prime)), of_5(best)
    assert left > right + 1e-4
    print(f"REFUTED {form}: left = {left!r} > right = {right!r}")
