"""Local-SCGDM (2022), Lemma 4.1, (11): false just after a communication.

The instance: two clients have g_1(x) = 2x and g_2(x) = 1 − x, and the same f: f' is y, cut off at
±3. There is no noise, so one sample a step and two are the same algorithm. The proof takes x_t −
x_{t−1} for −βη m_t. But with p = 2 the clients are averaged after two steps (lines 12 to 15): x_2
is a jump to the mean, and m_2 is the mean momentum. At t = 2 the lemma fails for client 1, with L_f
as printed and with the L_F of its proof, (25), as well.
"""

# case: d3c3f45bb2d2

a, c = (2.0, -1.0), (0.0, 1.0)  # g_k(x) = a_k x + c_k
K, p, eta, alpha, gamma, beta, x_0 = 2, 2, 0.1, 1.0, 1.0, 1.0, 0.25
L_f, C_f = 1.0, 3.0  # f' is y, cut off at ±3
L_g, C_g = 0.0, 2.0  # g_k' is 2 or −1
L_F = C_g**2 * L_f + C_f * L_g
assert 0 < alpha * eta < 1  # all that the lemma asks beside Assumptions 3.1 to 3.3
assert gamma * eta < 1  # and Algorithm 1


def g(k, x):
    return a[k] * x + c[k]


def df(y):
    return min(max(y, -3.0), 3.0)


def dF(k, x):
    return a[k] * df(g(k, x))


x, u, m, x_t = [x_0] * K, [0.0] * K, [0.0] * K, x_0
for t in range(3):  # Algorithm 1
    x_before, x_t, m_t = x_t, x[0], m[0]  # of client 1, as they are stored
    for k in range(K):
        u[k] = g(k, x[k]) if t == 0 else (1 - gamma * eta) * u[k] + gamma * eta * g(k, x[k])
        z = a[k] * df(u[k])  # lines 3, 4, 7 and 8
        m[k] = z if t == 0 else (1 - alpha * eta) * m[k] + alpha * eta * z  # lines 5 and 9
        x[k] -= beta * eta * m[k]  # line 11
    u_next, m_next = u[0], m[0]
    if (t + 1) % p == 0:  # lines 12 to 15
        u, m, x = [sum(u) / K] * K, [sum(m) / K] * K, [sum(x) / K] * K

print(f"t = {t}: x_t - x_(t-1) = {x_t - x_before}, but -beta eta m_t = {-beta * eta * m_t}")
left = (m_next - dF(0, x_t)) ** 2
for form, L in (
    ("printed: two samples, as in the proofs", L_f),
    ("printed: one sample, as in Algorithm 1", L_f),
    ("printed: two samples, and L_F as in the proof", L_F),
):
    right = (1 - alpha * eta) * (m_t - dF(0, x_before)) ** 2
    right += 2 * alpha * eta * C_g**2 * L_f**2 * (u_next - g(0, x_t)) ** 2
    right += 2 * eta * beta**2 * L**2 / alpha * m_t**2  # and no noise
    assert left > 1.01 * right
    print(f"REFUTED {form}: left = {left!r} > right = {right!r}")
