"""Local-SCGDM (2022), (15) and (38), (16) and (40), (17) and (41): false where clients differ.

The instance: two clients have g_1(x) = 2x and g_2(x) = 1 − x, and the same f: f' is y, cut off at
±3. There is no noise. The run starts at x_0 = 1/5, where F is least: the two gradients, 0.8 and
−0.8, cancel, so the mean model does not move at t = 0. But (15) subtracts the mean square of the
clients' momenta, and says that F falls.
"""

from math import sqrt

a, c = (2.0, -1.0), (0.0, 1.0)  # g_k(x) = a_k x + c_k
K, p, eta, alpha, gamma, x_0 = 2, 2, 0.05, 1.0, 1.0, 0.2
L_f, C_f, L_g, C_g = 1.0, 3.0, 0.0, 2.0  # f' is y, cut off at ±3; g_k' is 2 or −1
L_F = C_g**2 * L_f + C_f * L_g


def F(x):
    y = [a[k] * x + c[k] for k in range(K)]
    return sum(v**2 / 2 if abs(v) <= 3 else 3 * abs(v) - 4.5 for v in y) / K


def df(y):
    return min(max(y, -3.0), 3.0)


def errors(x, u, m):
    """Return (1/K) Σ ‖m_{t+1} − ∇F_k(x_t)‖² and (1/K) Σ ‖u_{t+1} − g_k(x_t)‖²."""
    g = [a[k] * x[k] + c[k] for k in range(K)]
    of_m = sum((m[k] - a[k] * df(g[k])) ** 2 for k in range(K)) / K
    return of_m, sum((u[k] - g[k]) ** 2 for k in range(K)) / K


# Algorithm 1; p = 2, so that nothing is averaged before x_1, u_1, m_1 are used
u_1 = [a[k] * x_0 + c[k] for k in range(K)]  # line 3
m_1 = [a[k] * df(u_1[k]) for k in range(K)]  # lines 4 and 5
squares, gradient = sum(m**2 for m in m_1) / K, sum(m_1) / K  # m_{1,k} is the gradient of client k
A_0, B_0 = errors([x_0] * K, u_1, m_1)
assert max(alpha, gamma) * eta < 1


def first_step(beta):
    assert eta <= min(1, 1 / (2 * beta * L_F))
    return [x_0 - beta * eta * m_1[k] for k in range(K)]  # line 11


# -- potential
# case: b3ad9a5ff2b7
# The displays take over the error of (38). Printed are E F(x̄_1) on the left and all else of P_1 −
# P_0 ≤ … on the right.
beta = 0.05
x_1 = first_step(beta)
u_2 = [(1 - gamma * eta) * u_1[k] + gamma * eta * (a[k] * x_1[k] + c[k]) for k in range(K)]  # 7
m_2 = [(1 - alpha * eta) * m_1[k] + alpha * eta * a[k] * df(u_2[k]) for k in range(K)]  # 8 and 9
(A_1, B_1), V = errors(x_1, u_2, m_2), C_g**2 * L_f**2
least = F(x_0) + beta / alpha * (A_0 - A_1) + 2 * beta * V / gamma * (B_0 - B_1)
least -= beta * eta / 2 * gradient**2  # (17): the models agree at t = 0, and there is no noise
bracket = 2 * eta * beta**3 * (C_g**2 * V * (1 / gamma**2 + eta / gamma) + L_F**2 / alpha**2)
whole = least + (bracket - beta * eta / 4) * squares  # (40); B_0 = 0
assert beta <= sqrt(1 / 8 / (C_g**2 * V * (1 / gamma**2 + 1 / gamma) + L_F**2 / alpha**2))
left = F(sum(x_1) / K)
for form, right in (("printed: (40), and (16) as (40)", whole), ("printed: (17) and (41)", least)):
    assert left > (1 + 1e-9) * right
    print(f"REFUTED potential, {form}: left = {left!r} > right = {right!r}")

# -- potential-descent
# case: 7da45cddc336
# (15) at t = 0. The proof loses the error in the fifth line of (38), which puts ∇F^(k) for ∇F.
beta = 0.5
left = F(sum(first_step(beta)) / K)
right = F(x_0) - beta * eta / 2 * gradient**2 - beta * eta / 4 * squares
right += beta * eta * A_0 + beta * eta * L_F**2 / K * 0.0  # the models are all at x_0
assert left > 1.01 * right
print(f"REFUTED potential-descent, printed: as printed: left = {left!r} > right = {right!r}")
