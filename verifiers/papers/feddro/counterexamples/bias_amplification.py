"""FedDRO (2023), abstract and [C1]: the bias "is amplified during local updates".

It may shrink. The instance: K = 3, g_k(x) = x + c_k, c = (2, -1, -1), f' is y cut off at ±1, h = 0.
All ∇g_k agree; f and g_k meet Assumptions 3.2-3.4 with B_f = L_f = B_g = 1, and any L_g, Δ_g > 0.
Algorithm 1, Case I: between two averages each client steps along ∇g_k(x_k)∇f(g_k(x_k)), line 5.
"""

from fractions import Fraction as Q

# case: ed2e6e2890f0

K, eta, steps, start = 3, Q(1, 64), 9, Q(3, 10)  # steps is I
c = (2, -1, -1)


def f_prime(y):
    return min(max(y, Q(-1)), Q(1))


def nabla_Phi(x):
    return f_prime(sum(x + shift for shift in c) / K)  # f' of the mean of the g_k


def biases():
    """b_j = (1/K) Σ_k ∇g_k(x_k)∇f(y_k) - ∇Φ(x̄), after j = 0, 1, ... local steps."""
    x, made = [start] * K, []
    for _ in range(steps):
        directions = [f_prime(x_k + shift) for x_k, shift in zip(x, c, strict=True)]  # (6)
        made.append(sum(directions) / K - nabla_Phi(sum(x) / K))
        x = [x_k - eta * u for x_k, u in zip(x, directions, strict=True)]  # line 5
    return made


b = biases()
print("b_j:", ", ".join(f"{float(x):.5f}" for x in b))
# the first client's f' is 1 throughout, f'' is 1 at the two others and at g(x̄):
# (1/K) Σ (F_k'' - Φ'')F_k' = -1/3 at the start, so b_j = b_0 + ηj/3, and b_0 < 0
assert all(b[j] == b[0] + eta * j / 3 for j in range(steps))
left, right = abs(b[0]), abs(b[-1])
assert left > right
print(f"REFUTED printed: on every instance: left = {float(left)!r} > right = {float(right)!r}")
