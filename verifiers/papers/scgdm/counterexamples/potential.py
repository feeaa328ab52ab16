"""Local-SCGDM (2022), (16) and (40), (17) and (41): false where clients differ.

The instance: two clients have g_1(x) = 2x and g_2(x) = 1 − x, and the same f: f' is y, cut off at
±3. There is no noise. The run starts at x_0 = 1/5, where F is least and the two gradients cancel,
so the mean model does not move at t = 0. The displays take over the error of (38), which subtracts
the mean square of the clients' momenta. Printed are E F(x̄_1) on the left and all else of P_1 − P_0
≤ … on the right.
"""

# case: b3ad9a5ff2b7

from math import sqrt

a, c = (2.0, -1.0), (0.0, 1.0)  # g_k(x) = a_k x + c_k
K, p, eta, alpha, gamma, beta, x_0 = 2, 2, 0.05, 1.0, 1.0, 0.05, 0.2
L_f, C_f, L_g, C_g = 1.0, 3.0, 0.0, 2.0  # f' is y, cut off at ±3; g_k' is 2 or −1
L_F = C_g**2 * L_f + C_f * L_g


def f(y):
    return y**2 / 2 if abs(y) <= 3 else 3 * abs(y) - 4.5


def df(y):
    return min(max(y, -3.0), 3.0)


def F(x):
    return sum(f(a[k] * x + c[k]) for k in range(K)) / K


def errors(x, u, m):
    """Return (1/K) Σ ‖m_{t+1} − ∇F_k(x_t)‖² and (1/K) Σ ‖u_{t+1} − g_k(x_t)‖²."""
    g = [a[k] * x[k] + c[k] for k in range(K)]
    of_m = sum((m[k] - a[k] * df(g[k])) ** 2 for k in range(K)) / K
    return of_m, sum((u[k] - g[k]) ** 2 for k in range(K)) / K


# Algorithm 1; p = 2, so that nothing is averaged before x_1, u_1, m_1 are used
u_1 = [a[k] * x_0 + c[k] for k in range(K)]  # line 3
m_1 = [a[k] * df(u_1[k]) for k in range(K)]  # lines 4 and 5
x_1 = [x_0 - beta * eta * m_1[k] for k in range(K)]  # line 11
u_2 = [(1 - gamma * eta) * u_1[k] + gamma * eta * (a[k] * x_1[k] + c[k]) for k in range(K)]  # 7
m_2 = [(1 - alpha * eta) * m_1[k] + alpha * eta * a[k] * df(u_2[k]) for k in range(K)]  # 8 and 9
(A_0, B_0), (A_1, B_1) = errors([x_0] * K, u_1, m_1), errors(x_1, u_2, m_2)
gradient = sum(a[k] * df(a[k] * x_0 + c[k]) for k in range(K)) / K

left, V = F(sum(x_1) / K), C_g**2 * L_f**2
least = F(x_0) + beta / alpha * (A_0 - A_1) + 2 * beta * V / gamma * (B_0 - B_1)
least -= beta * eta / 2 * gradient**2  # (17): the models agree at t = 0, and there is no noise
bracket = 2 * eta * beta**3 * (C_g**2 * V * (1 / gamma**2 + eta / gamma) + L_F**2 / alpha**2)
whole = least + (bracket - beta * eta / 4) * sum(m**2 for m in m_1) / K  # (40); B_0 = 0
most = sqrt(1 / 8 / (C_g**2 * V * (1 / gamma**2 + 1 / gamma) + L_F**2 / alpha**2))
print(f"beta = {beta} <= {most}; eta = {eta} <= min(1, {1 / (2 * beta * L_F)})")
assert beta <= most and eta <= min(1, 1 / (2 * beta * L_F)) and max(alpha, gamma) * eta < 1
for form, right in (
    ("printed: (40), and (16) as (40)", whole), ("printed: (17) and (41)", least),
):  # fmt: skip
    assert left > (1 + 1e-9) * right
    print(f"REFUTED {form}: left = {left!r} > right = {right!r}")
