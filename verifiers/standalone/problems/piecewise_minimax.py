"""f_i = h_i(x) + b_i xy − k_i(y), whose derivatives are piecewise linear, and g_i = −f_i."""

from typing import Any

from driftproof.verifiers.standalone.curves import CURVES, LINEAR

CURVES_OF = {"plain": "dh", "lower": "dk"}
"""What the curves are called in a script."""
DEFAULTS = {"plain": ((0.0, 0.0),), "lower": ((0.0, 2.0), (1.0, 3.0))}
"""What an empty field stands for, for each client and coordinate."""

TEXT = (
    CURVES
    + LINEAR.partition("\ndef area")[0].replace("def curve", "def onward")
    + """
def bend(points, x):  # the slope of onward
    (k, p) = np.transpose(points)
    return (np.diff(p) / np.diff(k))[np.clip(np.searchsorted(k, x, "right") - 1, 0, len(k) - 2)]
coupling = np.array(factors)[:, :, None]  # b_i
start = np.zeros((clients, 2 * d, OUTCOMES))  # (x, y)  #? of_field
def d_loss(z):  # the field (∇_x f_i, −∇_y f_i) at z = (x, y)  #? of_field
    x, y = z[:, :d], z[:, d:]  #? of_field
    return np.concatenate([f_x(x, y), g_y(x, y)], 1)  #? of_field
def f_x(x, y, xi=0.0):  # ∇_x f_i
    return each(curve, dh, x) + coupling * y  #? plain and not x_noise
    return coupling * y + 0 * x  #? not plain and not x_noise
    return each(curve, dh, x) + coupling * y + e * x_noise * xi  #? x_noise
def f_y(x, y, xi=0.0):  # ∇_y f_i = −∇_y g_i
    return -g_y(x, y, xi)
def g_y(x, y, zeta=0.0):  # ∇_y g_i
    return each(onward, dk, y) - coupling * x  #? not y_noise
    return each(onward, dk, y) - coupling * x + e * y_noise * zeta  #? y_noise
def g_yy(x, y, v, zeta=0.0):  # ∇²_yy g_i v
    return each(bend, dk, y) * v
def g_xy(x, y, v, zeta=0.0):  # ∇²_xy g_i v
    return -coupling * v
def lower_solution(x):  # y*(x): the mean k' is b̄x there
    at = [sorted({k for row in dk for k, _ in row[j]}) for j in range(d)]
    means = [[sum(onward(row[j], k) for row in dk) / clients for k in at[j]] for j in range(d)]
    inverses = [list(zip(values, knots)) for values, knots in zip(means, at)]
    return np.array([onward(p, z) for p, z in zip(inverses, coupling.mean(0) * x)])
def gradient(x):  # F', of F(x) = max over y of the mean f
    x = x[:d]  # of (x, y)  #? of_field
    y = lower_solution(x)
    return f_x(np.array([x] * clients), np.array([y] * clients)).mean(0)
"""
)


def numbers(problem: Any) -> dict[str, Any]:
    """Return each client's b_i, and ℓ_{g,1}, which the step of a Neumann series takes."""
    factors = problem.coupling or ((1.0,) * problem.dim,) * problem.clients
    return {"factors": factors, "ell_g1": problem.constants["lower_smoothness"]}
