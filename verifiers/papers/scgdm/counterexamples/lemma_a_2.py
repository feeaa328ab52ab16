"""Local-SCGDM (2022), Lemma A.2, (33): false where clients differ.

The instance: two clients have g(x) = x, f_1(y) = y and f_2(y) = −y, so z = 1 and z = −1 at every
step. There is no noise, and f_k' and g' are constant: 0.01 is an upper bound on all of L_f, L_g,
σ_f and σ_g, for the lemma asks for positive ones. The gradients of the two clients stay 2 apart,
whatever these are. It is shown at t + 1 = 1, with u_{t+1} as it is printed and with the u_{t+2} of
which Algorithm 1 makes z_{t+1}.
"""

slope = (1.0, -1.0)  # f_k' everywhere
K, p, eta, alpha, gamma, beta, x_0 = 2, 2, 0.1, 1.0, 1.0, 0.1, 1.0
C_f, C_g = 1.0, 1.0  # |f_k'| = g' = 1
L_f = L_g = sigma_f = sigma_g = 0.01  # 0 is enough


def apart(values):
    """Return Σ_k ‖v_k − v̄‖²."""
    return sum((value - sum(values) / K) ** 2 for value in values)


x, u, m, z = [x_0] * K, [0.0] * K, [0.0] * K, [0.0] * K
for t in range(2):  # Algorithm 1; p = 2, so that nothing is averaged before the end
    x_t, u_t = list(x), list(u)
    for k in range(K):
        u[k] = x[k] if t == 0 else (1 - gamma * eta) * u[k] + gamma * eta * x[k]  # lines 3 and 7
        z[k] = slope[k]  # lines 4 and 8
        m[k] = z[k] if t == 0 else (1 - alpha * eta) * m[k] + alpha * eta * z[k]  # lines 5 and 9
        x[k] -= beta * eta * m[k]  # line 11

assert max(alpha, gamma) * eta < 1
left = apart(z)  # of z_1, which is made of x_1 and u_2
for form, estimates in (("printed: u as printed", u_t), ("printed: u as z uses it", u)):
    right = 48 * C_f**2 * L_g**2 * apart(x_t) + 16 * C_g**2 * L_f**2 * apart(estimates)
    right += 8 * K * C_g**2 * sigma_f**2 + 24 * K * C_f**2 * sigma_g**2
    assert left > 1.01 * right
    print(f"REFUTED {form}: left = {left!r} > right = {right!r}")
