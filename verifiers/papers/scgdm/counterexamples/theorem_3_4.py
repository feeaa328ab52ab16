"""Local-SCGDM (2022), Theorem 3.4, (6): false for clients with different inner functions.

The instance: two clients have g_1(x) = 2x and g_2(x) = 1 − x, and the same f: f' is y, cut off at
±3. There is no noise. So one sample a step and two are the same algorithm, and every term of (6) is
0 but the first, with L_g or with L_f in the third. F'(x) = (5x − 1)/2 near 0, so F is least at 1/5.
The run starts there: the first term is 0 too, at every T. But Algorithm 1 averages u, and with one
u = (x + 1)/2 for both its mean direction is (x + 1)/4, not F'(x): it leaves. All is in fractions.
"""

# case: cfa426ed11c9

from fractions import Fraction

a, c = (2, -1), (0, 1)  # g_k(x) = a_k x + c_k
K, p, eta, alpha, gamma, beta, x_0 = 2, 2, Fraction(1, 20), 1, 1, Fraction(1, 20), Fraction(1, 5)
L_f, C_f = 1, 3  # f' is y, cut off at ±3
L_g, C_g = 0, 2  # g_k' is 2 or −1
L_F = C_g**2 * L_f + C_f * L_g


def df(y):
    return min(max(y, -3), 3)


def dF(x):
    return sum(a[k] * df(a[k] * x + c[k]) for k in range(K)) / 2


def mean_squared_gradient(T):
    x, u, m, left = [x_0] * K, [0] * K, [0] * K, 0
    for t in range(T):  # Algorithm 1
        left += dF(sum(x) / K) ** 2 / T
        for k in range(K):
            g = a[k] * x[k] + c[k]
            u[k] = g if t == 0 else (1 - gamma * eta) * u[k] + gamma * eta * g  # lines 3 and 7
            z = a[k] * df(u[k])  # lines 4 and 8
            m[k] = z if t == 0 else (1 - alpha * eta) * m[k] + alpha * eta * z  # lines 5 and 9
            x[k] -= beta * eta * m[k]  # line 11
        if (t + 1) % p == 0:  # lines 12 to 15
            u, m, x = [sum(u) / K] * K, [sum(m) / K] * K, [sum(x) / K] * K
    return left


assert dF(x_0) == 0  # F is convex, so x_0 is its minimiser, and F(x_0) - F(x_*) = 0
right = 0 / (beta * eta)  # (6) as σ_f, σ_g, δ_g → 0, at every T
assert max(alpha, gamma) < 1 / eta
assert 8 * beta**2 * (C_g**4 * L_f**2 * (1 + 1) + L_F**2) <= 1  # β, at α = γ = 1
assert eta <= min(1, 1 / (2 * beta * L_F))
assert (4 * beta * eta * p) ** 2 * (6 * C_f**2 * L_g**2 + 16 * C_g**4 * L_f**2) <= 1
print(f"T = 2: left = {mean_squared_gradient(2)}; T = 3: left = {mean_squared_gradient(3)}")
left = mean_squared_gradient(400)
assert left > right
for form in (
    "printed: two samples, as in the proofs", "printed: one sample, as in Algorithm 1",
    "printed: two samples, and L_f in the third term",
):  # fmt: skip
    print(f"REFUTED {form}: left = {float(left)!r} > right = {float(right)!r}")
