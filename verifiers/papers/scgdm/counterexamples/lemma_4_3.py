"""Local-SCGDM (2022), Lemma 4.3, (13) and (37): false where clients differ.

The instance: two clients have g(x) = x, f_1(y) = y and f_2(y) = −y, so z = 1 and z = −1 at every
step. There is no noise: 0.001 is an upper bound on it, for the lemma asks for positive σ_f, σ_g and
δ_g. The lemma makes the distance of the models vanish with the noise. But the clients walk in
opposite directions between two averages, whatever the noise is.
"""

from math import sqrt

slope = (1.0, -1.0)  # f_k' everywhere
K, T, p, eta, alpha, gamma, beta, x_0 = 2, 2, 2, 0.1, 1.0, 1.0, 0.1, 1.0
C_f, C_g = 1.0, 1.0  # |f_k'| = g' = 1
L_f, L_g = 1.0, 1.0  # f_k' and g' are constant: any positive number will do
sigma_f = sigma_g = delta_g = 0.001  # there is no noise

x, u, m, left = [x_0] * K, [0.0] * K, [0.0] * K, 0.0
for t in range(T):  # Algorithm 1
    left += sum((sum(x) / K - x[k]) ** 2 for k in range(K))
    for k in range(K):
        u[k] = x[k] if t == 0 else (1 - gamma * eta) * u[k] + gamma * eta * x[k]  # lines 3 and 7
        z = slope[k]  # lines 4 and 8
        m[k] = z if t == 0 else (1 - alpha * eta) * m[k] + alpha * eta * z  # lines 5 and 9
        x[k] -= beta * eta * m[k]  # line 11
    if (t + 1) % p == 0:  # lines 12 to 15
        u, m, x = [sum(u) / K] * K, [sum(m) / K] * K, [sum(x) / K] * K

scale = T * K * p**2 * beta**2 * eta**2
right = 256 * scale * C_g**2 * L_f**2 * delta_g**2
right += 16 * scale * C_g**2 * sigma_f**2 + 48 * scale * C_f**2 * sigma_g**2
longest = 1 / (4 * beta * eta * sqrt(6 * C_f**2 * L_g**2 + 16 * C_g**4 * L_f**2))
print(f"p = {p} <= {longest}; alpha eta = gamma eta = {alpha * eta} < 1")
assert 1 < p <= longest and max(alpha, gamma) * eta < 1
assert left > 1.01 * right
print(f"REFUTED printed: as printed: left = {left!r} > right = {right!r}")
