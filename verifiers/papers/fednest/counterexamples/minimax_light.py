"""FedNest (2022), "LFedNest performs slightly better than FedAvg-S", held to one cohort a round.

The slide says it of one figure, and in that setting it holds. Said of sampled clients with one call
of FedInn a round (T = 1), which is more than the slide says, it is false: the limit of
E‖z_K − z*‖² is the larger one for LFedNest. The instance: four clients, two drawn, in dimension 1;
f_i = −(y²/2 − b_i y + A_i x y) + λx²/2; the same step sizes and numbers of local steps; no series.
A round is an affine map of z = (x, y) for each draw, so that second moments are exact.
"""

# case: 11fc9fca1f95

from functools import partial
from itertools import combinations, product

import numpy as np

A, b, lam, alpha, beta, tau = (2.0, 0.0, 2.0, 0.0), (2.0, 0.0, 2.0, 0.0), 0.1, 0.05, 0.05, 20
cohorts = list(combinations(range(4), 2))
x_star = np.mean(A) * np.mean(b) / (np.mean(A) ** 2 + lam)  # where ∇_x f = ∇_y f = 0
z_star = np.array([x_star, np.mean(b) - np.mean(A) * x_star])


def steps(z, i, of_x=1, of_y=1, alternating=True):
    """τ local steps of client i: ascent in y, descent in x, or both jointly."""
    x, y = z
    for _ in range(tau):
        y_next = y + of_y * beta * (b[i] - y - A[i] * x)  # ∇_y f_i
        x = x - of_x * alpha * (lam * x - A[i] * (y_next if alternating else y))  # ∇_x f_i
        y = y_next
    return np.array([x, y])


def LFedNest(z, inner, outer):  # SGD on y, then SGD on x, on a cohort each
    z = sum(steps(z, i, of_x=0) for i in inner) / 2
    return sum(steps(z, i, of_y=0) for i in outer) / 2


def FedAvg_S(z, cohort, alternating):  # Hou et al. (2021)
    return sum(steps(z, i, alternating=alternating) for i in cohort) / 2


def limit(outcomes):
    """Return lim E‖z_K − z*‖²: v = (z − z*, 1) ← Fv, and E v⊗v ← (E F⊗F) E v⊗v."""
    moments = np.zeros((9, 9))
    for one in outcomes:
        shift = one(z_star) - z_star
        columns = [one(z_star + e) - z_star - shift for e in np.eye(2)]
        F = np.vstack([np.column_stack([*columns, shift]), [0, 0, 1]])
        moments += np.kron(F, F) / len(outcomes)
    v_v = np.linalg.matrix_power(moments, 10**4)[:, 8]  # from z* on
    return float(v_v[0] + v_v[4])


left = limit([partial(LFedNest, inner=S, outer=R) for S, R in product(cohorts, cohorts)])
right = limit([partial(FedAvg_S, cohort=S, alternating=True) for S in cohorts])
other = limit([partial(FedAvg_S, cohort=S, alternating=False) for S in cohorts])
print(f"FedAvg-S's limit with x and y in turn: {right}, simultaneously: {other}")
assert left > 1.01 * max(right, other)
form = "printed: N = 0, clients are sampled, on every member, T = 1"
print(f"REFUTED {form}: left = {left!r} > right = {right!r}")
