r"""The assumptions of FedNest (2022) (slide "Theory"), and what single statements need.

**Lipschitz**: f_i, ∇f_i, ∇g_i, ∇²g_i with ℓ_{f,0}, ℓ_{f,1}, ℓ_{g,1}, ℓ_{g,2}, in z = (x, y).
**Strong convexity**: g_i(x, ·) with μ_g for all x. **Noise**: unbiased, bounded variances.
"""

from driftproof.toolkit.cases import Assumption

LIPSCHITZ = Assumption(
    "Lipschitz (1)",
    r"f_i, \nabla f_i, \nabla g_i, \nabla^2 g_i: \ell_{f,0}, \ell_{f,1}, "
    r"\ell_{g,1}, \ell_{g,2}",
    roles=(
        "upper_gradient_bound",
        "upper_smoothness",
        "lower_smoothness",
        "lower_hessian_smoothness",
    ),
)
SMOOTH = Assumption(
    "Lipschitz (1), without f_i itself",
    r"\nabla f_i, \nabla g_i, \nabla^2 g_i: \ell_{f,1}, "
    r"\ell_{g,1}, \ell_{g,2}",
    roles=("upper_smoothness", "lower_smoothness", "lower_hessian_smoothness"),
)
CONVEX = Assumption(
    "Strong convexity (2)",
    r"g_i(x,\cdot) \text{ is } \mu_g\text{-strongly convex}",
    roles=("lower_strong_convexity",),
)
NOISE = Assumption(
    "Noise (3)",
    r"\nabla f_i, \nabla g_i, \nabla^2 g_i: \text{ unbiased, bounded variances}",
    roles=("upper_gradient_noise", "lower_gradient_noise"),
)
ASSUMED = (LIPSCHITZ, CONVEX, NOISE)
