"""ComFedL (journal version), equation (6): g(·) = exp(·/γ) of f^i(w)/γ divides by γ twice.

(6) is to be solved instead of (5), min_w γ log((1/n) Σ exp(f^i(w)/γ)).
Read as printed, (6) has exp(f^i/γ²), and is (5) with γ² in place of γ.
Its minimiser is another one, unless γ = 1. Divided by γ once, the two problems have one minimiser.
The instance has two clients, f^1(w) = w², f^2(w) = 2(w - 1)² and γ = 1/2.
Both sums are strictly convex, so each has one minimiser, where its derivative is 0.
"""

from math import exp, log

gamma, n = 0.5, 2


def losses(w):
    return [w**2, 2 * (w - 1) ** 2]


def slopes(w):
    return [2 * w, 4 * (w - 1)]


def of_5(w):
    """(5): γ log((1/n) Σ exp(f^i/γ))."""
    return gamma * log(sum(exp(f / gamma) for f in losses(w)) / n)


def minimiser(temperature):
    """The minimiser of (1/n) Σ exp(f^i/temperature): bisection on its increasing derivative."""
    low, high = 0.0, 1.0  # the derivative is negative at 0 and positive at 1
    for _ in range(100):
        w = (low + high) / 2
        pairs = zip(losses(w), slopes(w), strict=True)
        derivative = sum(exp(f / temperature) * s for f, s in pairs)
        low, high = (w, high) if derivative < 0 else (low, w)
    return (low + high) / 2


once, twice = minimiser(gamma), minimiser(gamma**2)
# the logarithm is increasing: (5) and the sum of exp(f^i/γ) are least at the same w
assert all(of_5(once) <= of_5(once + shift) for shift in [-0.1, -1e-3, 1e-3, 0.1])
print(f"minimiser of (5) and of (6) divided once: {once}, divided twice: {twice}")
print("(5) at the minimiser of the printed (6), and its minimum:")
left, right = of_5(twice), of_5(once)
assert left > right + 1e-4
form = "printed: g = exp(·/γ) of f/γ: divided twice"
print(f"REFUTED {form}: left = {left!r} > right = {right!r}")
