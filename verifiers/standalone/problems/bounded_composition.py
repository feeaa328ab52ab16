"""F(w) = (1/n) Σ_i g^i(f^i(w)) of lines, sines and Huber functions, in one coordinate."""

from typing import Any

from driftproof.verifiers.standalone.refusal import NoScriptError

TEXT = """
s, b_i = np.reshape([slopes, targets], (2, clients, 1, 1))  # of f^i, and of Huber's functions
o_i, sign = np.reshape([offsets, signs], (2, clients, 1, 1))
k = 2 * inner_curvature / inner_slope  #? inner_curvature
start = np.full((clients, 1, OUTCOMES), distance)
def huber(z, slope, curvature):
    inside = np.minimum(abs(z), slope / curvature)
    return curvature * inside**2 / 2 + slope * (abs(z) - inside)
def inner(w):  # f^i(w)  #? not inner_noise
def inner(w, xi=0.0):  # f^i(w; ξ)  #? inner_noise
    w = (w + np.sin(k * w) / k) / 2  #? inner_curvature and not inner_noise
    value = s * (w + np.sin(k * w) / k) / 2  #? inner_curvature and inner_noise
    value = s * w  #? not inner_curvature and inner_noise
    value = value + inner_value_noise * xi  #? inner_value_noise
    value = value + inner_gradient_noise * xi * np.sin(w)  #? inner_gradient_noise
    return s * w  #? not inner_noise and not any(offsets)
    return s * w + o_i  #? not inner_noise and any(offsets)
    return value + o_i  #? inner_noise
def d_inner(w):  #? not inner_noise
def d_inner(w, xi=0.0):  #? inner_noise
    return s * (1 + np.cos(k * w)) / 2  #? inner_curvature and not inner_gradient_noise
    slope = s * (1 + np.cos(k * w)) / 2  #? inner_curvature and inner_gradient_noise
    return slope + inner_gradient_noise * xi * np.cos(w)  #? inner_curvature and inner_gradient_noise
    return s + inner_gradient_noise * xi * np.cos(w)  #? not inner_curvature and inner_gradient_noise
    return s  #? not inner_curvature and not inner_gradient_noise
def d_outer(y):  # ∇g^i(y)  #? not outer_noise
def d_outer(y, zeta=0.0):  # ∇g^i(y; ζ)  #? outer_noise
    return np.clip(outer_curvature * (y - b_i), -outer_slope, outer_slope)  #? not outer_noise and not opposition_slope
    grad = np.clip(outer_curvature * (y - b_i), -outer_slope, outer_slope)  #? outer_noise or opposition_slope
    most, bend = opposition_slope, opposition_curvature  #? opposition_slope
    grad = grad + sign * np.clip(bend * (y - opposition_centre), -most, most)  #? opposition_slope
    return grad  #? not outer_noise and opposition_slope
    return grad + outer_gradient_noise * zeta  #? outer_noise
def own_gradients(w):  # of each F^i at each client's own w
    return d_inner(w) * d_outer(inner(w))
def gradients(w):  # of each client, at one w [1, outcomes]
    return d_inner(w) * d_outer(inner(np.array([w] * clients)))
def gradient(w):  # ∇F
    return gradients(w).mean(0)
def objective(w):  # F: the opposed parts cancel
    return huber(inner(np.array([w] * clients)) - b_i, outer_slope, outer_curvature)[:, 0].mean(0)
"""


def numbers(problem: Any) -> dict[str, Any]:
    """Return each client's numbers, and refuse a member of several coordinates."""
    if max(problem.dim, problem.inner_dim) > 1:
        raise NoScriptError("bounded-composition is written in numpy for one coordinate")
    if problem.inner_value_noise and problem.inner_gradient_noise:
        raise NoScriptError("bounded-composition is written in numpy for one inner noise at a time")
    signs = problem.signs
    return {
        "slopes": tuple(problem.scales.tolist()), "signs": tuple(signs.tolist()),
        "targets": tuple((problem.heterogeneity * signs).tolist()),
        "offsets": tuple((problem.inner_offset * signs).tolist()),
    }  # fmt: skip
