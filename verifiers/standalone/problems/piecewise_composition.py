"""F = (1/K) Σ_k [h_k + g_k(f_k)], whose derivatives are piecewise linear."""

from driftproof.verifiers.standalone.curves import CURVES

CURVES_OF = {"inner": "df", "outer": "dg", "plain": "dh"}
"""What the curves are called in a script."""
DEFAULTS = {"inner": ((0.0, 1.0),), "outer": ((1.0, -1.0), (3.0, 1.0)), "plain": ((0.0, 0.0),)}
"""What an empty field stands for, for each client and coordinate."""

TEXT = (
    CURVES
    + """
def inner(x):  # f_k(x); f_k(0) is the offset  #? not inner_noise
    return x  #? not inner_noise and not inner and not offsets
    return each(area, df, x)  #? not inner_noise and inner and not offsets
    return each(area, df, x) + np.array(offsets)[:, :, None]  #? not inner_noise and offsets
def inner(x, xi=0.0):  # f_k(x; ξ); f_k(0) is the offset  #? inner_noise
    size = value_noise + gradient_noise / wave * np.sin(wave * x[:, :1])  #? gradient_noise
    moved = e * value_noise * xi  #? inner_noise and not gradient_noise and offsets
    moved = e * size * xi  #? gradient_noise and offsets
    return each(area, df, x) + e * value_noise * xi  #? inner_noise and not gradient_noise and not offsets
    return each(area, df, x) + e * size * xi  #? gradient_noise and not offsets
    return each(area, df, x) + np.array(offsets)[:, :, None] + moved  #? inner_noise and offsets
def d_inner(x):  #? not inner_noise
    return each(curve, df, x)  #? not inner_noise
def d_inner(x, xi=0.0):  #? inner_noise
    return each(curve, df, x)  #? inner_noise and not gradient_noise
    return each(curve, df, x) + e * xi * gradient_noise * np.cos(wave * x[:, :1])  #? gradient_noise
def d_outer(y):  # g_k'(y)  #? not outer_noise
    return each(curve, dg, y)  #? not outer_noise
def d_outer(y, zeta=0.0):  # g_k'(y; ζ)  #? outer_noise
    return each(curve, dg, y) + e * outer_noise * zeta  #? outer_noise
def d_plain(x):  # h_k'(x)  #? not plain_noise
    return each(curve, dh, x)  #? not plain_noise
def d_plain(x, xi=0.0):  # h_k'(x; ξ)  #? plain_noise
    return each(curve, dh, x) + e * plain_noise * xi  #? plain_noise
def own_gradients(x):  # of each F_k at each client's own x
    return d_inner(x) * d_outer(inner(x))  #? not plain
    return d_plain(x) + d_inner(x) * d_outer(inner(x))  #? plain
def gradients(x):  # of each client, at one x [d, outcomes]
    x = np.array([x] * clients)
    y = inner(x)  #? not averaged_inside
    y = np.array([inner(x).mean(0)] * clients)  #? averaged_inside
    return d_inner(x) * d_outer(y)  #? not plain
    return d_plain(x) + d_inner(x) * d_outer(y)  #? plain
def gradient(x):  # F'
    return gradients(x).mean(0)
def objective(x):  # F
    x = np.array([x] * clients)
    y = inner(x)  #? not averaged_inside
    y = np.array([inner(x).mean(0)] * clients)  #? averaged_inside
    return each(area, dg, y).sum(1).mean(0)  #? not plain
    return (each(area, dh, x) + each(area, dg, y)).sum(1).mean(0)  #? plain
"""
)
