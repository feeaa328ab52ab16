"""Local-SCGDM (2022), Remark 3.6: no rate O(1/√T) for clients with different inner functions.

The instance: two clients have g_1(x) = 2x and g_2(x) = 1 − x, and the same f: f' is y, cut off at
±3; no noise. On the schedule of Corollary 3.5 with α = γ = 1 the clients agree more and more as T
grows, and the means follow x' = −βm, u' = (x + 1)/2 − u, m' = u/2 − m. This is stable, as β < 8,
and rests at x = −1 alone, where F'(x) = (5x − 1)/2 = −3. So the mean squared gradient tends to 9,
not to 0. The run starts at x_0 = −1. The right side is what O(1/√T) makes of the mean at the
smallest T.
"""

from math import sqrt

a, c = (2.0, -1.0), (0.0, 1.0)  # g_k(x) = a_k x + c_k
K, alpha, gamma, x_0 = 2, 1.0, 1.0, -1.0
L_f, C_f = 1.0, 3.0  # f' is y, cut off at ±3
L_g, C_g = 0.0, 2.0  # g_k' is 2 or −1
L_F = C_g**2 * L_f + C_f * L_g
beta = 1 / sqrt(16 * C_g**4 * L_f**2 + 8 * L_F**2)  # as the remark has it


def df(y):
    return min(max(y, -3.0), 3.0)


def dF(x):
    return sum(a[k] * df(a[k] * x + c[k]) for k in range(K)) / K


def mean_squared_gradient(p):
    """Run Algorithm 1 with T = p⁴ and η = 1/√T, return (1/T) Σ ‖∇F(x̄_t)‖² and the last x̄."""
    T, eta = p**4, p**-2.0
    x, u, m, total = [x_0] * K, [0.0] * K, [0.0] * K, 0.0
    for t in range(T):
        total += dF(sum(x) / K) ** 2
        for k in range(K):
            g = a[k] * x[k] + c[k]
            u[k] = g if t == 0 else (1 - gamma * eta) * u[k] + gamma * eta * g  # lines 3 and 7
            z = a[k] * df(u[k])  # lines 4 and 8
            m[k] = z if t == 0 else (1 - alpha * eta) * m[k] + alpha * eta * z  # lines 5 and 9
            x[k] -= beta * eta * m[k]  # line 11
        if (t + 1) % p == 0:  # lines 12 to 15
            u, m, x = [sum(u) / K] * K, [sum(m) / K] * K, [sum(x) / K] * K
    return total / T, sum(x) / K


means = {}
for p in (5, 10, 20):
    T, eta = p**4, p**-2.0
    assert eta <= 1 / (2 * beta * L_F) and p <= 1 / (4 * beta * eta * 4 * C_g**2 * L_f)  # L_g = 0
    means[T], end = mean_squared_gradient(p)
    print(f"T = {T}: mean squared gradient {means[T]}, at the end x = {end}, {dF(end) ** 2}")
smallest, largest = min(means), max(means)
left, right = means[largest], means[smallest] * sqrt(smallest / largest)
assert left > 1.01 * right
print(f"REFUTED printed: any clients: left = {left!r} > right = {right!r}")
