"""ComFedL, equation (6): only g = exp, of f^i(w)/γ divided by γ once, has the minimiser of (5).

(6), min_w (1/n) Σ g(f^i(w)/γ), is to be solved instead of (5), min_w γ log((1/n) Σ exp(f^i(w)/γ)).
The instance has two clients, f^1(w) = w² and f^2(w) = 2(w - 1)².
Both sums are strictly convex, so each has one minimiser, where its derivative is 0.
"""

from math import exp, log

n = 2


def losses(w):
    return [w**2, 2 * (w - 1) ** 2]


def slopes(w):
    return [2 * w, 4 * (w - 1)]


def of_5(w, gamma):
    """(5): γ log((1/n) Σ exp(f^i/γ))."""
    return gamma * log(sum(exp(f / gamma) for f in losses(w)) / n)


def minimiser(g_prime, gamma):
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


def compared(g_prime, gamma, power=1):
    """Return (5) at the minimiser of (6) with g and γ^power, and the minimum of (5)."""
    best = minimiser(exp, gamma)  # (5) is an increasing function of the sum with g = exp
    assert all(of_5(best, gamma) <= of_5(best + d, gamma) for d in [-0.1, -1e-3, 1e-3, 0.1])
    left, right = of_5(minimiser(g_prime, gamma**power), gamma), of_5(best, gamma)
    assert left > right + 1e-4
    return f"left = {left!r} > right = {right!r}"


# -- equation-6-journal
# g(·) = exp(·/γ) of f^i(w)/γ divides by γ twice: as printed (6) has exp(f^i/γ²), and is (5) with γ²
# in place of γ. Its minimiser is another one, unless γ = 1; here γ = 1/2.
form = "printed: g = exp(·/γ) of f/γ: divided twice"
print(f"REFUTED equation-6-journal, {form}: {compared(exp, 0.5, power=2)}")

# -- equation-6-monotone
# "We can apply the other monotonically increasing functions" for g, in 2021. But the logarithm may
# be left out because it is applied to the whole sum; g is applied to each loss. Here γ = 1. With
# g(y) = y (6) is the plain average, which the robust problem was to replace.
form = "printed: any g keeps the minimisers of (5): g(y) = y"
print(f"REFUTED equation-6-monotone, {form}: {compared(lambda y: 1.0, 1.0)}")
form = "printed: any g keeps the minimisers of (5): g(y) = log(1 + exp(y))"
print(f"REFUTED equation-6-monotone, {form}: {compared(lambda y: exp(y) / (1 + exp(y)), 1.0)}")
