"""FedNest (2022), "FedNest converges linearly to the saddle point", if clients are sampled.

The slides print means over all clients, and with these the sentence holds. Held to sampled clients,
with means over these alone, as in the public code, it is false: E‖z_K − z*‖² tends to a positive
number, since each cohort has a saddle point of its own. The instance: two clients, one drawn for
each call of FedInn and of FedOut, in dimension 1; f_i = −(y²/2 − b_i y + A_i x y) + λx²/2 and
g_i = −f_i; no series (∇_y f = 0 at y*(x)), no noise. A round is an affine map of z = (x, y) for
each pair of cohorts, so that second moments are exact.
"""

# case: d764011d5ab9

import numpy as np

A, b, lam = (1.5, 0.5), (1.5, 0.5), 0.1
beta, tau_y, alpha, tau_x = 0.4, 3, 0.1, 2  # step size and local steps of FedInn and of FedOut
x_star = np.mean(A) * np.mean(b) / (np.mean(A) ** 2 + lam)  # where ∇_x f = ∇_y f = 0
z_star = np.array([x_star, np.mean(b) - np.mean(A) * x_star])


def FedSVRG(gradient, start, size, steps, cohort):
    q, ends = sum(gradient(i, start) for i in cohort) / len(cohort), []
    for i in cohort:
        v = start
        for _ in range(steps):
            v = v - size * (gradient(i, v) - gradient(i, start) + q)
        ends.append(v)
    return sum(ends) / len(cohort)


def FedNest(z, inner, outer):
    x, y = z
    y = FedSVRG(lambda i, v: v - b[i] + A[i] * x, y, beta, tau_y, inner)  # ∇_y g_i
    x = FedSVRG(lambda i, v: lam * v - A[i] * y, x, alpha, tau_x, outer)  # ∇_x f_i
    return np.array([x, y])


def error(K, cohorts):
    """E‖z_K − z*‖² from z = (1, 0): v = (z − z*, 1) ← Fv, and E v⊗v ← (E F⊗F) E v⊗v."""
    moments = np.zeros((9, 9))
    for inner in cohorts:
        for outer in cohorts:
            shift = FedNest(z_star, inner, outer) - z_star
            columns = [FedNest(z_star + e, inner, outer) - z_star - shift for e in np.eye(2)]
            F = np.vstack([np.column_stack([*columns, shift]), [0, 0, 1]])
            moments += np.kron(F, F) / len(cohorts) ** 2
    v = np.append(np.array([1.0, 0.0]) - z_star, 1.0)
    v_v = np.linalg.matrix_power(moments, K) @ np.kron(v, v)
    return float(v_v[0] + v_v[4])  # the means of (x − x*)² and of (y − y*)²


for K in (1, 10, 100, 1000):
    print(f"K = {K}: {error(K, [(0,), (1,)])}, with all clients {error(K, [(0, 1)])}")
left, right = error(1000, [(0,), (1,)]), 0.0
assert left > right + 1e-3 > 1e9 * error(1000, [(0, 1)])
print("left: E||z_K - z*||^2 at K = 1000; right: the limit that the sentence says")
print(f"REFUTED printed: clients are sampled: left = {left!r} > right = {right!r}")
