"""f_i = h_i(x) + u_i(y) + w_i xy, piecewise linear derivatives, above quadratic g_i."""

from typing import Any

from driftproof.verifiers.standalone.curves import CURVES
from driftproof.verifiers.standalone.refusal import NoScriptError

CURVES_OF = {"plain": "dh", "upper": "du"}
"""What the curves are called in a script."""
DEFAULTS = {"plain": ((0.0, 0.0),), "upper": ((1.0, -1.0), (3.0, 1.0))}
"""What an empty field stands for, for each client and coordinate."""

TEXT = (
    CURVES
    + """
a, c, shift, w = np.array(levels)[..., None]  # of g_i = a y²/2 − (c x + shift) y, and w xy of f_i
def f_x(x, y, xi=0.0):  # ∇_x f_i
    return each(curve, dh, x) + w * y  #? not x_noise
    return each(curve, dh, x) + w * y + e * x_noise * xi  #? x_noise
def f_y(x, y, xi=0.0):  # ∇_y f_i
    return each(curve, du, y) + w * x  #? not y_noise
    return each(curve, du, y) + w * x + e * y_noise * xi  #? y_noise
def g_y(x, y, zeta=0.0):  # ∇_y g_i
    return a * y - c * x - shift  #? not value_noise
    return a * y - c * x - shift + e * value_noise * zeta  #? value_noise
def g_yy(x, y, v, zeta=0.0):  # ∇²_yy g_i v
    return a * v
def g_xy(x, y, v, zeta=0.0):  # ∇²_xy g_i v
    return -c * v
def lower_solution(x):  # y*(x)
    return (c.mean(0) * x + shift.mean(0)) / a.mean(0)
def gradient(x):  # F', of F(x) = the mean f_i(x, y*(x))
    every, y = np.array([x] * clients), np.array([lower_solution(x)] * clients)
    return f_x(every, y).mean(0) + c.mean(0) / a.mean(0) * f_y(every, y).mean(0)
def objective(x):  # F
    x, y = np.array([x] * clients), np.array([lower_solution(x)] * clients)
    return (each(area, dh, x) + each(area, du, y) + w * x * y).sum(1).mean(0)
"""
)


def numbers(problem: Any) -> dict[str, Any]:
    """Return a_i, c_i, e_i and w_i of each client, and ℓ_{g,1}."""
    if problem.curvature_noise or problem.cross_noise:
        raise NoScriptError("piecewise-bilevel is written in numpy without noise of second order")
    shape = problem.clients, problem.dim

    def filled(vectors: Any, default: float) -> Any:
        return vectors or ((default,) * shape[1],) * shape[0]

    levels = (
        filled(problem.curvature, 1.0), filled(problem.cross, 1.0), filled(problem.offsets, 0.0),
        filled(problem.coupling, 0.0),
    )  # fmt: skip
    return {"levels": levels, "ell_g1": problem.constants["lower_smoothness"]}
