"""Local gradient descent: statements known in the literature, from docs/localsgd.md."""

FIXED = {"tau": 3, "S": 4, "K": 4}
WHERE = {"rho": "(1 - eta * mu) ** tau", "b": "tau * (tau - 1) / 4 * eta**2 * (L - mu) * zeta"}
BOUNDS = {
    ("gradient-descent", "printed"): "L * R**2 / (4 * S * eta * L + 2)",
    ("stationarity", "printed"): "F_gap / (eta * S * (1 - eta * L / 2))",
    ("contraction", "printed"): "(1 - eta * mu) ** (2 * tau) * R**2",
    ("bias", "printed"): "b**2",
    ("rounds", "printed"): "(rho**S * R + b * (1 - rho**S) / (1 - rho)) ** 2",
    ("drift", "printed"): "tau**2 * eta**2 * (zeta + L * R) ** 2",
    ("scaffold", "printed"): "(1 - K * eta_l * eta_g * mu) * R**2",
    ("gradient-tracking", "printed"): "((1 - 2 * eta * mu + eta**2 * L**2) ** K + eta**4 * L**4 / 4"
    " * sum(k**2 * (k - 1) ** 2 for k in range(K))) * R**2",
    ("saddle-contraction", "printed"): "(1 - 2 * eta * mu + eta**2 * L**2) ** tau * R**2",
    ("saddle-bias", "printed"): "tau**2 * (tau - 1) ** 2 / 4 * eta**4 * (L**2 - mu**2) * zeta**2",
}
ORDERS = {}
CONDITIONS = {}
ASSUMED = []
