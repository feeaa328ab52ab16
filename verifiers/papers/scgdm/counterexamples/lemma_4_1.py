"""Local-SCGDM (2022), (11), (12), (25), (26), (28) and (34): false at t = 1, or after an average.

The instance: two clients have g_1(x) = 2x and g_2(x) = 1 − x, and the same f: f' is y, cut off at
±3. There is no noise, so one sample a step and two are the same algorithm. With p = 2 the clients
are averaged after two steps (lines 12 to 15): x_2 is a jump to the mean, and m_2 the mean momentum.
But the proofs of the lemmas take x_t − x_{t−1} for −βη m_t.
"""

a, c = (2.0, -1.0), (0.0, 1.0)  # g_k(x) = a_k x + c_k
K, p, eta, alpha, gamma, beta, x_0 = 2, 2, 0.1, 1.0, 1.0, 1.0, 0.25
L_f, C_f = 1.0, 3.0  # f' is y, cut off at ±3
L_g, C_g = 0.0, 2.0  # g_k' is 2 or −1
L_F = C_g**2 * L_f + C_f * L_g
assert (
    0 < alpha * eta < 1 and 0 < gamma * eta < 1
)  # all that is asked beside Assumptions 3.1 to 3.3


def g(k, x):
    return a[k] * x + c[k]


def df(y):
    return min(max(y, -3.0), 3.0)


def dF(k, x):
    return a[k] * df(g(k, x))


x, u, m, x_t = [x_0] * K, [0.0] * K, [0.0] * K, [x_0] * K
for t in range(3):  # Algorithm 1
    x_before, x_t, m_t, u_t = x_t, list(x), list(m), list(u)  # as they are stored
    for k in range(K):
        u[k] = g(k, x[k]) if t == 0 else (1 - gamma * eta) * u[k] + gamma * eta * g(k, x[k])
        z = a[k] * df(u[k])  # lines 3, 4, 7 and 8
        m[k] = z if t == 0 else (1 - alpha * eta) * m[k] + alpha * eta * z  # lines 5 and 9
        x[k] -= beta * eta * m[k]  # line 11
    u_next, m_next = list(u), list(m)
    if t == 0:
        u_1, m_1 = u_next, m_next
    if (t + 1) % p == 0:  # lines 12 to 15
        u, m, x = [sum(u) / K] * K, [sum(m) / K] * K, [sum(x) / K] * K

for k in range(K):
    print(f"client {k + 1}, t = {t}: x_t - x_(t-1) = {x_t[k] - x_before[k]}, but", end=" ")
    print(f"-beta eta m_t = {-beta * eta * m_t[k]}")


def of_momentum(L):  # both sides for client 1, without noise
    left = (m_next[0] - dF(0, x_t[0])) ** 2
    right = (1 - alpha * eta) * (m_t[0] - dF(0, x_before[0])) ** 2
    right += 2 * alpha * eta * C_g**2 * L_f**2 * (u_next[0] - g(0, x_t[0])) ** 2
    right += 2 * eta * beta**2 * L**2 / alpha * m_t[0] ** 2
    assert left > 1.01 * right
    return f"left = {left!r} > right = {right!r}"


# -- lemma-4.1
# case: d3c3f45bb2d2
# At t = 2 (11) fails for client 1, with L_f as printed and with the L_F of its proof as well.
print(f"REFUTED lemma-4.1, printed: two samples, as in the proofs: {of_momentum(L_f)}")
print(f"REFUTED lemma-4.1, printed: one sample, as in Algorithm 1: {of_momentum(L_f)}")
print(f"REFUTED lemma-4.1, printed: two samples, and L_F as in the proof: {of_momentum(L_F)}")

# -- lemma-4.1-proof
# case: d3c3f45bb2d2
# At t = 2 the last step of (25) fails for client 1.
print(f"REFUTED lemma-4.1-proof, printed: two samples, as written there: {of_momentum(L_F)}")
print(f"REFUTED lemma-4.1-proof, printed: one sample: {of_momentum(L_F)}")

# -- lemma-4.2
# case: d3c3f45bb2d2
# At t = 2 the last step of (26), and the lemma, fail for client 2.
left = (u_next[1] - g(1, x_t[1])) ** 2
right = eta * beta**2 * C_g**2 / gamma * m_t[1] ** 2  # and no noise
right += (1 - gamma * eta) * (u_t[1] - g(1, x_before[1])) ** 2
assert left > 1.01 * right
print(f"REFUTED lemma-4.2, printed: as printed: left = {left!r} > right = {right!r}")

# -- equation-34
# case: 8ab790adbec3
# (34) and (28), false in the first round: both unroll a round from its average, m_{s_t p} and
# u_{s_t p}. The first round has none: Algorithm 1 starts with m_1 = z_0 and u_1 = g(x_0), without
# the factors αη and γη. The sides are those of client 1 at t = 1, before the norm is taken in (28).
for form, of, factor in (
    ("printed: (34), every t", m_1, alpha * eta),
    ("printed: (28), every t", u_1, gamma * eta),
):
    left = of[0] - sum(of) / K
    right = factor * left  # z_0 = m_1 and g(x_0) = u_1; t' = 0 alone, with the power 0 of 1 − αη
    assert abs(left - right) > 0.01
    print(f"REFUTED equation-34, {form}: left = {left!r} != right = {right!r}")
