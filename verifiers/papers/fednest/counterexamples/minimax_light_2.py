"""FedNest (2022), "LFedNest performs slightly better than FedAvg-S", held to it with a series.

The minimax experiment takes no series, and without one the sentence holds for all clients. With the
series that the slides give LFedNest it is false: p_i is of each client's own ∇_y f_i, whose mean
alone is 0 at y*(x). So it stops farther from the saddle point. The instance: four clients, all take
part; f_i = −(y²/2 − b_i y + A_i x y) + x²/2, g_i = −f_i; equal steps; both are run to their limits.
"""

# case: 737df06a6add

import numpy as np

A, b, lam = (1.3, 0.7, 1.3, 0.7), (1.3, 0.7, 1.3, 0.7), 1.0
alpha, beta, m, tau = 0.05, 0.05, 4, 5
ell_g1 = max(np.linalg.norm([[-lam, a], [a, 1.0]], 2) for a in A)  # of the Hessians of g_i
x_star = np.mean(A) * np.mean(b) / (np.mean(A) ** 2 + lam)  # where ∇_x f = ∇_y f = 0
y_star = np.mean(b) - np.mean(A) * x_star


def df_y(i, x, y):  # ∇_y f_i = −∇_y g_i
    return b[i] - y - A[i] * x


def p(i, x, y, products):  # Σ_{n ≤ products} (1 − H_i/ℓ_{g,1})^n ∇_y f_i/ℓ_{g,1}, H_i = 1
    return sum((1 - 1 / ell_g1) ** n * df_y(i, x, y) / ell_g1 for n in range(products + 1))


def LFedNest(x, y, products):
    ys, xs = [y] * m, [x] * m
    for i in range(m):
        for _ in range(tau):  # FedInn by SGD
            ys[i] += beta * df_y(i, x, ys[i])
    y = sum(ys) / m
    for i in range(m):
        for _ in range(tau):  # FedOut by SGD: ∇_x f_i − ∇²_xy g_i p_i, ∇²_xy g_i = A_i
            xs[i] -= alpha * (lam * xs[i] - A[i] * y - A[i] * p(i, xs[i], y, products))
    return sum(xs) / m, y


def FedAvg_S(x, y, alternating):  # Hou et al. (2021): local descent-ascent
    xs, ys = [x] * m, [y] * m
    for i in range(m):
        for _ in range(tau):
            y_next = ys[i] + beta * df_y(i, xs[i], ys[i])
            xs[i] -= alpha * (lam * xs[i] - A[i] * (y_next if alternating else ys[i]))
            ys[i] = y_next
    return sum(xs) / m, sum(ys) / m


def limit(one_round, choice, x=1.0, y=0.0):
    for _ in range(300):
        x, y = one_round(x, y, choice)
    return float((x - x_star) ** 2 + (y - y_star) ** 2)


print(f"FedIHGP with N = 1, so N' = 0: {limit(LFedNest, 0)}; below: N = 1 product, as in the code")
left, right = limit(LFedNest, 1), limit(FedAvg_S, False)
assert min(left, limit(LFedNest, 0)) > 1.01 * max(right, limit(FedAvg_S, True))
form = "printed: with local series, all clients take part"
print(f"REFUTED {form}: left = {left!r} > right = {right!r}")
