"""Local-SCGDM (2022), (34) and (28): false in the first round.

Both unroll a round from its average, m_{s_t p} and u_{s_t p}. The first round has none: Algorithm
1 starts with m_1 = z_0 and u_1 = g(x_0), without the factors αη and γη. The instance: two clients,
g_1(x) = 2x and g_2(x) = 1 − x, f(y) = y²/2, no noise, x_0 = 1/4, t = 1. The two sides are those of
client 1: m_1 − m̄_1 in (34), and u_1 − ū_1, before the norm is taken, in (28).
"""

# case: 8ab790adbec3

a, c = (2.0, -1.0), (0.0, 1.0)  # g_k(x) = a_k x + c_k
K, eta, alpha, gamma, x_0 = 2, 0.1, 1.0, 1.0, 0.25

g_0 = [a[k] * x_0 + c[k] for k in range(K)]
u_1 = g_0  # line 3
z_0 = [a[k] * u_1[k] for k in range(K)]  # line 4, f'(y) = y
m_1 = z_0  # line 5; p > 1, so nothing is averaged after this step

sides = {
    "printed: (34), every t": (
        m_1[0] - sum(m_1) / K,
        alpha * eta * (1 - alpha * eta) ** 0 * (z_0[0] - sum(z_0) / K),  # t' = 0 alone
    ),
    "printed: (28), every t": (
        u_1[0] - sum(u_1) / K,
        gamma * eta * (1 - gamma * eta) ** 0 * (g_0[0] - sum(g_0) / K),
    ),
}
for form, (left, right) in sides.items():
    assert abs(left - right) > 0.01
    print(f"REFUTED {form}: left = {left!r} != right = {right!r}")
