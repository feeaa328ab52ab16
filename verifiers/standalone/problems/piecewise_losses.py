"""F = (1/K) Σ_k F_k, whose derivatives are piecewise linear."""

from driftproof.verifiers.standalone.curves import CURVES, LINEAR

CURVES_OF = {"gradients": "dF"}
"""What the curves are called in a script."""
DEFAULTS = {"gradients": ((1.0, -1.0), (3.0, 1.0))}
"""What an empty field stands for, for each client and coordinate."""

OWN = """
def d_loss(x):  # F_k'(x)  #? not noise
    return each(curve, dF, x)  #? not noise
def d_loss(x, xi=0.0):  # F_k'(x; ξ)  #? noise
    return each(curve, dF, x) + e * noise * xi  #? noise
def own_gradients(x):  # of each F_k at each client's own x
    return d_loss(x)
def gradients(x):  # of each client, at one x [d, outcomes]
    return d_loss(np.array([x] * clients))
def gradient(x):  # F'
    return gradients(x).mean(0)
def objective(x):  # F
    return each(area, dF, np.array([x] * clients)).sum(1).mean(0)
"""
TEXT, LINEAR_TEXT = CURVES + OWN, LINEAR + OWN
