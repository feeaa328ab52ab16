"""Assumptions 3.2–3.4 of FedDRO (2023), as code.

f has no noise. B_g is a mean-squared Lipschitz constant; a root mean square of ∇g_k(x; ζ), sup over
x, is one. Positive constants are read as non-negative (right sides are continuous at 0).
"""

from driftproof.toolkit.cases import Assumption

A32 = Assumption(
    "Assumption 3.2",
    r"f, h_k, g_k \text{ are } L_f\text{-}, L_h\text{-}, L_g\text{-smooth},\; \|\nabla f\|\le B_f,"
    r"\; \mathbb{E}\|g_k(x_1;\zeta)-g_k(x_2;\zeta)\|^2\le B_g^2\|x_1-x_2\|^2",
    (
        "outer_smoothness",
        "plain_smoothness",
        "inner_mean_smoothness",
        "outer_gradient_bound",
        "inner_gradient_moment",
    ),
)
A33 = Assumption(
    "Assumption 3.3",
    r"\mathbb{E}\|\nabla h_k(x;\xi)-\nabla h_k(x)\|^2\le\sigma_h^2,\;"
    r"\mathbb{E}\|\nabla g_k(x;\zeta)-\nabla g_k(x)\|^2\le\sigma_g^2,\;"
    r"\mathbb{E}\|g_k(x;\zeta)-g_k(x)\|^2\le\sigma_g^2",
    ("plain_gradient_noise", "inner_gradient_noise", "inner_value_noise"),
)
A34 = Assumption(
    "Assumption 3.4",
    r"\sup_x\|\nabla h_k(x)-\nabla h(x)\|^2\le\Delta_h^2,\;"
    r"\sup_x\|\nabla g_k(x)-\nabla g(x)\|^2\le\Delta_g^2",
    ("plain_gradient_heterogeneity", "inner_gradient_heterogeneity"),
)
BOUNDED_BELOW = Assumption("Read with", r"\inf\Phi>-\infty", ("initial_gap",))
ASSUMED = [A32, A33, A34]

QUIET = Assumption(
    "Without the constants left out",
    "no noise and no gradient heterogeneity: the terms with constants that the text does not give "
    "are 0",
    applies=lambda case: not any(case.problem.constants[role] for role in (*A33.roles, *A34.roles)),
)
AVERAGED = Assumption(
    "Problem (2)",
    "the objective is h + f(g) with g averaged inside",
    applies=lambda case: case.problem.inside,
)
