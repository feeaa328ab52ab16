"""FedNest (slides of ICML 2022), and the explicit forms that its orders are corrected to."""

FIXED = {"N": 6, "tau": 3, "tau_x": 4}
WHERE = {
    "kappa": "ell_g1 / mu_g",
    "bias": "ell_f0 / mu_g * ((kappa - 1) / kappa) ** N",
    # a call moves tau * beta * gradient, less at most what ell_g1 times its own drift adds up to
    "way": "tau * beta * ell_g1 - sum(j * beta**2 * ell_g1**2 for j in range(tau))",
    "way_x": "tau * alpha * L - sum(j * alpha**2 * L**2 for j in range(tau))",
}
BOUNDS = {
    ("fedihgp-bias", "printed"): "bias",
    ("neumann", "printed: sums, as printed", "printed: means, as in FedIHGP", "corrected"): "bias",
    ("fedinn-convergence", "printed: any τ", "printed: τβℓ_{g,1} ≤ 1"): "before",
    (
        "fedinn-convergence",
        "printed: any τ, equal Hessians",
    ): "(1 - beta * mu_g) ** (2 * tau) * before",
    (
        "fedinn-convergence",
        "corrected",
    ): "(1 - (1 - (1 - beta * ell_g1) ** tau) / kappa) ** 2 * before",
    ("fedinn-convergence-strongly-convex", "corrected"): "((1 - beta * mu_g) ** tau * R) ** 2",
    ("fedinn-descent", "corrected"): "(1 - (2 * way - way**2) / kappa) * F_gap",
    ("fedsvrg-convex", "corrected"): "2 * L * R**2 / (4 + K * (2 * way_x - way_x**2))",
    ("inner-drift-convex", "corrected"): "tau**2 * beta**2 * q**2",
    (
        "inner-drift-strongly-convex",
        "corrected",
    ): "(beta * sum((1 - beta * mu_g) ** j for j in range(tau)) * q) ** 2",
    (
        "outer-drift-smooth",
        "corrected",
    ): "(alpha * sum((1 + alpha * ell_f1) ** j for j in range(tau_x)) * h) ** 2",
    ("inner-drift-bound", "corrected"): "beta**2 * steps",
    ("inner-drift-from-start", "corrected"): "(tau * beta * ell_g1 * D) ** 2",
    (
        "outer-drift-from-start",
        "corrected",
    ): "(tau_x * alpha * lambda_ * D) ** 2 * exp(2 * tau_x * alpha * ell_f1)",
    ("outer-drift-bound", "corrected"): "alpha**2 * (1 + alpha * ell_f1) ** (2 * (tau_x - 1)) "
    "* steps",
}
ORDERS = {
    # τβ² at β = 1/τ is 1/τ; corrected, τ²β² is 1
    ("inner-drift", "printed"): "1 / T",
    ("outer-drift", "printed"): "1 / T",
    ("inner-drift", "corrected"): "1",
    ("outer-drift", "corrected"): "1",
    ("theorem", "printed"): "1 / sqrt(K)",
    ("theorem-lower", "printed"): "1 / sqrt(K)",
    ("theorem-minimax", "printed"): "1 / sqrt(K)",
    ("theorem-single-level", "printed"): "1 / sqrt(K)",
    ("theorem-compositional", "printed"): "1 / sqrt(K)",
}
CONDITIONS = {}
ASSUMED = []
