"""Local-SCGDM (2022), abstract and Remark 3.7: O(1/ε⁴) samples are not enough.

The paper says that O(1/ε⁴) samples and O(1/ε³) communications make the mean gradient ε, fewer than
the O(1/ε⁸) samples of others. The instance: two clients have g_1(x) = 2x and g_2(x) = 1 − x, and
the same f: f' is y, cut off at ±3; no noise. Algorithm 1 averages u, and so it follows the mean of
the two g_k to x = −1, where F'(x) = (5x − 1)/2 = −3. Start at x_0 = −1 and take ε = 1/2. On the
schedule of Corollary 3.5 with α = γ = 1 the mean gradient is more than 4ε after 16/ε⁴, after 625/ε⁴
= 39/ε⁸ and after 625/ε⁸ samples, and it does not fall.
"""

from math import sqrt

a, c = (2.0, -1.0), (0.0, 1.0)  # g_k(x) = a_k x + c_k
K, alpha, gamma, x_0 = 2, 1.0, 1.0, -1.0
L_f, C_f = 1.0, 3.0  # f' is y, cut off at ±3
L_g, C_g = 0.0, 2.0  # g_k' is 2 or −1
L_F = C_g**2 * L_f + C_f * L_g
beta = 1 / sqrt(16 * C_g**4 * L_f**2 + 8 * L_F**2)  # as in Remark 3.6


def df(y):
    return min(max(y, -3.0), 3.0)


def dF(x):
    return sum(a[k] * df(a[k] * x + c[k]) for k in range(K)) / K


def mean_gradient(p):
    """Run Algorithm 1 with T = p⁴ and η = 1/√T, and return (1/T) Σ ‖∇F(x̄_t)‖."""
    T, eta = p**4, p**-2.0
    x, u, m, total = [x_0] * K, [0.0] * K, [0.0] * K, 0.0
    for t in range(T):
        total += abs(dF(sum(x) / K))
        for k in range(K):
            g = a[k] * x[k] + c[k]
            u[k] = g if t == 0 else (1 - gamma * eta) * u[k] + gamma * eta * g  # lines 3 and 7
            z = a[k] * df(u[k])  # lines 4 and 8
            m[k] = z if t == 0 else (1 - alpha * eta) * m[k] + alpha * eta * z  # lines 5 and 9
            x[k] -= beta * eta * m[k]  # line 11
        if (t + 1) % p == 0:  # lines 12 to 15
            u, m, x = [sum(u) / K] * K, [sum(m) / K] * K, [sum(x) / K] * K
    return total / T


epsilon = 1 / 2
for p in (4, 10, 20):
    T, eta = p**4, p**-2.0
    assert eta <= 1 / (2 * beta * L_F) and p <= 1 / (4 * beta * eta * 4 * C_g**2 * L_f)  # L_g = 0
    left, right = mean_gradient(p), epsilon
    print(f"T = {T} = {T * epsilon**4:.0f}/ε⁴ = {T * epsilon**8:.0f}/ε⁸: mean gradient {left}")
    assert left > 4 * right
print("left: the mean gradient after the last T; right: ε")
form = "printed: its own side, any clients"
print(f"REFUTED {form}: left = {left!r} > right = {right!r}")
