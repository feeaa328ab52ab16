"""Local-SCGDM (2022), Lemma A.1, (27) and (32): false for different inner functions.

The instance: two clients have g_1(x) = x + 5, g_2(x) = x − 5 and f(y) = y, so z = 1 for both and
their models agree at every step. There is no noise: 0.01 is an upper bound on it, for the lemma
asks for a positive δ_g. The proof, in (31), compares g_k at one point with the mean of all the g_j
as if they were one function. Take p = 3 and t = 5, in the second round, where every u is defined:
u_3 is the average, and at t' = 4 the estimates are apart again.
"""

offset = (5.0, -5.0)  # g_k(x) = x + offset_k
K, p, t_of_lemma, eta, alpha, gamma, beta, x_0 = 2, 3, 5, 0.1, 1.0, 1.0, 0.1, 0.0
C_g = 1.0  # g_k' = 1
delta_g = 0.01  # there is no noise

x, u, m = [x_0] * K, [0.0] * K, [0.0] * K
apart_u, apart_x = [0.0], [0.0]  # Σ_k ‖u_t' − ū_t'‖² (none of u_0) and Σ_k ‖x_t' − x̄_t'‖², by t'
for t in range(t_of_lemma):  # Algorithm 1
    for k in range(K):
        g = x[k] + offset[k]
        u[k] = g if t == 0 else (1 - gamma * eta) * u[k] + gamma * eta * g  # lines 3 and 7
        z = 1.0  # lines 4 and 8
        m[k] = z if t == 0 else (1 - alpha * eta) * m[k] + alpha * eta * z  # lines 5 and 9
        x[k] -= beta * eta * m[k]  # line 11
    if (t + 1) % p == 0:  # lines 12 to 15
        u, m, x = [sum(u) / K] * K, [sum(m) / K] * K, [sum(x) / K] * K
    apart_u.append(sum((u[k] - sum(u) / K) ** 2 for k in range(K)))
    apart_x.append(sum((x[k] - sum(x) / K) ** 2 for k in range(K)))

start = t_of_lemma // p * p  # s_t p
left = sum(apart_u[start:t_of_lemma])
right = 8 * p * K * delta_g**2 + 8 * C_g**2 * sum(apart_x[start:t_of_lemma])
print(f"t' = {start}, ..., {t_of_lemma - 1}: estimates {apart_u[start:t_of_lemma]} apart")
assert max(alpha, gamma) * eta < 1
assert left > 1.01 * right
print(f"REFUTED printed: as printed: left = {left!r} > right = {right!r}")
