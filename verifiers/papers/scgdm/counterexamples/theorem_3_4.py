"""Local-SCGDM (2022), Theorem 3.4 and what rests on it: false for different inner functions.

The instance: two clients have g_1(x) = 2x and g_2(x) = 1 − x, and the same f: f' is y, cut off at
±3. There is no noise, so one sample a step and two are the same algorithm. F'(x) = (5x − 1)/2 near
0, so F is least at 1/5. But Algorithm 1 averages u, and with one u = (x + 1)/2 for both its mean
direction is (x + 1)/4, not F'(x): it makes for x = −1, where F' is −3.
"""

from fractions import Fraction
from math import sqrt

a, c = (2, -1), (0, 1)  # g_k(x) = a_k x + c_k
K, alpha, gamma = 2, 1, 1
L_f, C_f = 1, 3  # f' is y, cut off at ±3
L_g, C_g = 0, 2  # g_k' is 2 or −1
L_F = C_g**2 * L_f + C_f * L_g


def F(x):
    y = [a[k] * x + c[k] for k in range(K)]
    return sum(v**2 / 2 if abs(v) <= 3 else 3 * abs(v) - 4.5 for v in y) / K


def dF(x):
    return sum(a[k] * min(max(a[k] * x + c[k], -3), 3) for k in range(K)) / K


def run(T, p, eta, beta, x_0):
    """Run Algorithm 1, and return the mean models x̄_0, …, x̄_T."""
    assert max(alpha, gamma) < 1 / eta and eta <= min(1, 1 / (2 * beta * L_F))
    # β and p, with 10^(−12) for rounding: Remark 3.6 takes the largest β
    assert 8 * beta**2 * (C_g**4 * L_f**2 * (1 + 1) + L_F**2) <= 1 + 1e-12  # at α = γ = 1
    assert (4 * beta * eta * p) ** 2 * (6 * C_f**2 * L_g**2 + 16 * C_g**4 * L_f**2) <= 1
    x, u, m, means = [x_0] * K, [0] * K, [0] * K, [x_0]
    for t in range(T):
        for k in range(K):
            g = a[k] * x[k] + c[k]
            u[k] = g if t == 0 else (1 - gamma * eta) * u[k] + gamma * eta * g  # lines 3 and 7
            z = a[k] * min(max(u[k], -3), 3)  # lines 4 and 8
            m[k] = z if t == 0 else (1 - alpha * eta) * m[k] + alpha * eta * z  # lines 5 and 9
            x[k] -= beta * eta * m[k]  # line 11
        if (t + 1) % p == 0:  # lines 12 to 15
            u, m, x = [sum(u) / K] * K, [sum(m) / K] * K, [sum(x) / K] * K
        means.append(sum(x) / K)
    return means


# -- theorem-3.4
# case: cfa426ed11c9
# The run starts at 1/5. So every term of (6) is 0, the first too, at every T. All is in fractions.
T, x_0 = 400, Fraction(1, 5)
p, eta, beta = 2, Fraction(1, 20), Fraction(1, 20)
assert dF(x_0) == 0  # F is convex, so x_0 is its minimiser, and F(x_0) - F(x_*) = 0
left = sum(dF(x) ** 2 / T for x in run(T, p, eta, beta, x_0)[:-1])
right = 0 / (beta * eta)  # (6) as σ_f, σ_g, δ_g → 0
assert left > right
for form in (
    "printed: two samples, as in the proofs",
    "printed: one sample, as in Algorithm 1",
    "printed: two samples, and L_f in the third term",
):
    print(f"REFUTED theorem-3.4, {form}: left = {float(left)!r} > right = {float(right)!r}")

# -- corollary-3.5
# case: 91fefd5997e9
# η = T^(−1/2), p = T^(1/4), T = 10⁴. Every term of (7) is 0 but the first.
T, largest = 10**4, 0.051031036307
left = sum(dF(x) ** 2 / T for x in run(T, 10, 0.01, largest, 1.0)[:-1])
right = 2 * (F(1.0) - F(1 / 5)) / (largest * sqrt(T))  # (7) as σ_f, σ_g, δ_g → 0
assert left > 1.01 * right
for form in (
    "printed: two samples, as in the proofs",
    "printed: one sample, as in Algorithm 1",
    "printed: two samples, and L_f in the third term",
):
    print(f"REFUTED corollary-3.5, {form}: left = {left!r} > right = {right!r}")

largest = 1 / sqrt(16 * C_g**4 * L_f**2 + 8 * L_F**2)  # as Remark 3.6 has it
means = {p**4: run(p**4, p, p**-2.0, largest, -1.0)[:-1] for p in (4, 5, 10, 20)}  # by T
squares = {T: sum(dF(x) ** 2 for x in means[T]) / T for T in means}
sizes = {T: sum(abs(dF(x)) for x in means[T]) / T for T in means}

# -- remark-3.6
# The clients agree more and more as T grows, and the means follow x' = −βm, u' = (x + 1)/2 − u,
# m' = u/2 − m. This is stable, as β < 8, and rests at x = −1 alone. So the mean squared gradient
# tends to 9, not to 0. The right side is what O(1/√T) makes of the mean at T = 625.
left, right = squares[20**4], squares[5**4] * sqrt(5**4 / 20**4)
assert left > 1.01 * right
print(f"REFUTED remark-3.6, printed: any clients: left = {left!r} > right = {right!r}")

# -- remark-3.7
# So the mean gradient tends to 3, while T = O(1/ε⁴) says that it falls like T^(−1/4).
left, right = sizes[20**4], sizes[5**4] * (5**4 / 20**4) ** (1 / 4)
assert left > 1.01 * right
print(f"REFUTED remark-3.7, printed: any clients: left = {left!r} > right = {right!r}")

# -- comparisons
# The paper says that O(1/ε⁴) samples and O(1/ε³) communications make the mean gradient ε, fewer
# than the O(1/ε⁸) samples of others. For ε = 1/2 it is more than 4ε after 16/ε⁴, after 625/ε⁴ =
# 39/ε⁸ and after 625/ε⁸ samples, and it does not fall.
right = 1 / 2  # ε
assert all(left > 4 * right for left in (sizes[4**4], sizes[10**4], sizes[20**4]))
left = sizes[20**4]
print(f"REFUTED comparisons, printed: its own side, any clients: left = {left!r} > right = {right}")
