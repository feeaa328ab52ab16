"""Local-SCGDM (2022), (42) and (46): false, for they have L_g where the potential has L_f.

(42) puts in the potential P_0 of (39), whose last term is 2βC_g²L_f²E‖u_1 − g(x_0)‖²/γ. It prints
L_g for this L_f, and half of what 2P_0/(βηT) gives. (46) has the whole, but L_g too. With a linear
g L_g is 0, so nothing pays for the first estimate. The instance: one client, g(x; ξ) = x + ξ with a
fair coin ξ = ±1, f' is y, cut off at ±3, start at the minimum. P_T is exact: all 2^(T+1) outcomes
are run.
"""

from itertools import product
from math import sqrt

T, eta, alpha, gamma, beta, x_0 = 6, 0.5, 1.8, 0.2, 0.06, 0.0  # one client: x̄ is x, for any p
C_g, L_g, delta_g = 1.0, 0.0, 1.0  # ∇g(x; ξ) = 1 and E(g(x; ξ) − g(x))² = E ξ² = 1
C_f, L_f = 3.0, 1.0  # f' is y, cut off at ±3
sigma_f = sigma_g = 0.0  # ∇f and ∇g have no noise
L_F = C_g**2 * L_f + C_f * L_g


def f(y):  # also F, since g(x) = x
    return y**2 / 2 if abs(y) <= 3 else 3 * abs(y) - 4.5


def df(y):
    return min(max(y, -3.0), 3.0)


P = [0.0] * (T + 1)  # (39)
for coins in product((-1.0, 1.0), repeat=T + 1):
    x, u, m = x_0, 0.0, 0.0
    for t, xi in enumerate(coins):  # Algorithm 1
        u = x + xi if t == 0 else (1 - gamma * eta) * u + gamma * eta * (x + xi)  # lines 3 and 7
        z = df(u)  # lines 4 and 8
        m = z if t == 0 else (1 - alpha * eta) * m + alpha * eta * z  # lines 5 and 9
        errors = beta / alpha * (m - df(x)) ** 2 + 2 * beta * C_g**2 * L_f**2 / gamma * (u - x) ** 2
        P[t] += (f(x) + errors) / 2 ** (T + 1)
        x -= beta * eta * m  # line 11

left = 2 * (P[0] - P[T]) / (beta * eta * T)  # (42), lines 1 and 2
A_0 = B_0 = 1.0  # E(m_1 − F'(0))² and E(u_1 − g(0))², as m_1 = u_1 = ξ; and F(x_0) = F(x_*)
right_42 = A_0 / (alpha * eta * T) + 2 * C_g**2 * L_g**2 * B_0 / (gamma * eta * T)
first = C_g**2 * sigma_f**2 + C_g**2 * L_f**2 * delta_g**2 + C_f**2 * sigma_g**2
right_46 = 6 * first / (alpha * eta * T) + 4 * C_g**2 * L_g**2 * delta_g**2 / (gamma * eta * T)
most = sqrt(1 / 8 / (C_g**4 * L_f**2 * (1 / gamma**2 + 1 / gamma) + L_F**2 / alpha**2))
print(f"alpha = {alpha}, gamma = {gamma} < 1/eta = {1 / eta}; beta = {beta} <= {most}")
print(f"eta = {eta} <= min(1, {1 / (2 * beta * L_F)}); P_0 = {P[0]}, P_T = {P[T]}")
assert max(alpha, gamma) < 1 / eta and beta <= most and eta <= min(1, 1 / (2 * beta * L_F))
for form, right in (("printed: (42)", right_42), ("printed: (46)", right_46)):
    assert left > 1.01 * right
    print(f"REFUTED {form}: left = {left!r} > right = {right!r}")
