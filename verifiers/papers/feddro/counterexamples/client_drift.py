"""FedDRO (2023), [C2]: "client drift during local updates […] lead[s] to divergence".

The instance: K = 2, g_1(x) = 2x, g_2(x) = 1 - x, f' is y cut off at ±3, h = 0; Φ is least at -1.
Algorithm 1 in Case I takes x_k - x_k* to (1 - ηa_k²)^I times that, a = (2, -1), x* = (0, 1), so
each round takes [0, 1] into itself and x̄ converges in it; with I = 1, too, without any drift.
"""

K, eta, start = 2, 1 / 16, 0.25


def f_prime(y):
    return min(max(y, -3.0), 3.0)


def run(local, rounds=2000):
    """Algorithm 1, Case I: x̄ after so many rounds, and the largest |x̄| of all."""
    x, largest = start, 0.0
    for _ in range(rounds):
        models = [x, x]
        for _ in range(local):  # line 5 with (6): x_k - η∇g_k(x_k)∇f(g_k(x_k))
            one, two = models
            models = [one - eta * 2 * f_prime(2 * one), two + eta * f_prime(1 - two)]
        x = sum(models) / K
        largest = max(largest, abs(x))
    return x, largest


end, largest = run(local=8)
assert abs(run(local=8, rounds=1999)[0] - end) < 1e-15  # it rests
print(f"REFUTED printed: the iterates diverge: left = {largest!r} != right = {float('inf')!r}")
alone, _ = run(local=1)
assert abs(alone - 1 / 5) < 1e-12  # (1 - q)/((1 - p) + (1 - q)), p = 1 - 4η, q = 1 - η
left, right = alone + 1, 0.0  # x̄ is so far from the one stationary point
assert left > 1 > right
form = "printed: drift is the cause: none with one local step"
print(f"REFUTED {form}: left = {left!r} != right = {right!r}")
