"""Assumptions 1–4 of ComFedL (arXiv v1 and v3), as code.

The norm of a Jacobian is the spectral norm (the notation of both papers); the variance of a
Jacobian is taken in the Frobenius norm, in which the variance of a minibatch mean is σ²/b (in the
spectral norm it need not be). σ > 0 is read as σ ≥ 0: a noiseless problem satisfies Assumption 3
with every σ > 0, and the right sides are continuous at σ = 0.
"""

from functools import cache

import sympy

from driftproof.toolkit.cases import Assumption
from driftproof.toolkit.constants import Expression, Letters

A1 = Assumption(
    "Assumption 1",
    r"\|\nabla f^i(w_1;\xi)-\nabla f^i(w_2;\xi)\|\le L_f\|w_1-w_2\|,\;"
    r"\|\nabla g^i(y_1;\zeta)-\nabla g^i(y_2;\zeta)\|\le L_g\|y_1-y_2\|,\;"
    r"\|\nabla F(w_1)-\nabla F(w_2)\|\le L\|w_1-w_2\|",
    ("inner_smoothness", "outer_smoothness", "objective_smoothness"),
)
A2 = Assumption(
    "Assumption 2",
    r"\|\nabla f^i(w;\xi)\|\le G_f,\;\|\nabla g^i(y;\zeta)\|\le G_g",
    ("inner_gradient_bound", "outer_gradient_bound"),
)
A3 = Assumption(
    "Assumption 3",
    r"\mathbb{E}\|\nabla f^i(w;\xi)-\nabla f^i(w)\|^2\le\sigma_1^2,\;"
    r"\mathbb{E}\|f^i(w;\xi)-f^i(w)\|^2\le\sigma_2^2,\;"
    r"\mathbb{E}\|\nabla g^i(y;\zeta)-\nabla g^i(y)\|^2\le\sigma_3^2,\;"
    r"\sigma=\max(\sigma_1,\sigma_2,\sigma_3)",
    ("inner_gradient_noise", "inner_value_noise", "outer_gradient_noise"),
)
A4 = Assumption("Assumption 4", r"F^*=\inf_w F(w)>-\infty", ("initial_gap",))
EQUAL_BATCHES = Assumption(
    "Theorem 1", r"b=b_1>0", relation=lambda c: sympy.Eq(c.b, c.b1, evaluate=False)
)


def sigma(c: Letters) -> Expression:
    """Return σ = max(σ_1, σ_2, σ_3)."""
    return _largest(c.sigma_1, c.sigma_2, c.sigma_3)


@cache  # sympy takes milliseconds to order the arguments of a maximum
def _largest(*letters: Expression) -> Expression:
    return sympy.Max(*letters)
