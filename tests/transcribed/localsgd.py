"""Local gradient descent: statements known in the literature, from docs/localsgd.md."""

FIXED = {"tau": 3, "S": 4, "K": 4, "mu": 0.2}  # L is above it
WHERE = {
    "errors": "sigma**2 / N + 6 * L * Gamma + 8 * (E - 1) ** 2 * G**2",
    "factor": "L / mu / (gamma + S * E)",
    "from_start": "mu * gamma / 2 * R**2",
    "rho_s": "(1 - 2 * eta * mu + eta**2 * L**2) ** (tau / 2)",
    "b_s": "tau * (tau - 1) / 2 * eta**2 * sqrt(L**2 - mu**2) * zeta",
    "rho": "(1 - eta * mu) ** tau",
    "b": "tau * (tau - 1) / 4 * eta**2 * (L - mu) * zeta",
    "a": "12 / 7 * L * eta**3 * zeta**2 * tau**2 * (tau - 1)",
    "steps": "tau * S",
}
BOUNDS = {
    ("li-theorem-1", "printed"): "factor * (2 * errors / mu + from_start)",
    ("li-theorem-1-noise", "printed"): (
        "factor * (2 * sigma**2 / (N * mu) + mu * gamma * start / 2)"
    ),
    ("li-theorem-2", "printed"): "factor * (2 * (errors + 4 / K * E**2 * G**2) / mu + from_start)",
    ("li-theorem-3", "printed"): (
        "factor * (2 * (errors + (N - K) / (N - 1) * 4 / K * E**2 * G**2) / mu + from_start)"
    ),
    ("gradient-descent", "printed"): "L * R**2 / (4 * S * eta * L + 2)",
    ("stationarity", "corrected"): "F_gap / (eta * S * (1 - eta * L / 2))",
    ("contraction", "corrected"): "(1 - eta * mu) ** (2 * tau) * R**2",
    ("bias", "corrected"): "b**2",
    ("rounds", "corrected"): "(rho**S * R + b * (1 - rho**S) / (1 - rho)) ** 2",
    ("any-state", "corrected"): (
        "(1 - eta * mu) ** (2 * tau) * before + 2 * eta**3 * zeta**2 * (L - mu)"
        " * (1 - eta * mu) ** 3 / (2 - eta * (L + mu)) / (2 + eta * (L - 3 * mu))"
    ),
    ("drift", "corrected"): "tau**2 * eta**2 * (zeta + L * R) ** 2",
    ("scaffold", "corrected"): "(1 - K * eta_l * eta_g * mu) * R**2",
    (
        "gradient-tracking",
        "corrected",
    ): "((1 - 2 * eta * mu + eta**2 * L**2) ** K + eta**4 * L**4 / 4"
    " * sum(k**2 * (k - 1) ** 2 for k in range(K))) * R**2",
    ("saddle-contraction", "corrected"): "(1 - 2 * eta * mu + eta**2 * L**2) ** tau * R**2",
    ("saddle-rounds", "corrected"): "(rho_s**K * R + b_s * (1 - rho_s**K) / (1 - rho_s)) ** 2",
    ("saddle-bias", "corrected"): "tau**2 * (tau - 1) ** 2 / 4 * eta**4 * (L**2 - mu**2) * zeta**2",
    ("textbook-convex", "corrected"): (
        "3 * R**2 / (2 * eta * steps) + 12 / 5 * L * eta**2 * zeta**2 * tau * (tau - 1)"
    ),
    ("textbook-strongly-convex", "printed: the standard proof's"): (
        "rho**S * R**2 + a * (1 - rho**S) / (1 - rho)"
    ),
    ("textbook-strongly-convex", "printed: contraction and bias"): (
        "(rho**S * R + b * (1 - rho**S) / (1 - rho)) ** 2"
    ),
    ("textbook-nonconvex", "corrected"): (
        "9 * F_gap / (4 * eta * steps) + 5 / 4 * L**2 * eta**2 * zeta**2 * tau * (tau - 1)"
    ),
}
ORDERS = {}
CONDITIONS = {}
ASSUMED = []
