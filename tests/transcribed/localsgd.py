"""Local gradient descent: statements known in the literature, from docs/localsgd.md."""

FIXED = {"tau": 3, "S": 4}
WHERE = {"rho": "(1 - eta * mu) ** tau", "b": "tau * (tau - 1) / 4 * eta**2 * (L - mu) * zeta"}
BOUNDS = {
    ("gradient-descent", "printed"): "L * R**2 / (4 * S * eta * L + 2)",
    ("stationarity", "printed"): "F_gap / (eta * S * (1 - eta * L / 2))",
    ("contraction", "printed"): "(1 - eta * mu) ** (2 * tau) * R**2",
    ("bias", "printed"): "b**2",
    ("rounds", "printed"): "(rho**S * R + b * (1 - rho**S) / (1 - rho)) ** 2",
    ("drift", "printed"): "tau**2 * eta**2 * (zeta + L * R) ** 2",
}
ORDERS = {}
CONDITIONS = {}
ASSUMED = []
