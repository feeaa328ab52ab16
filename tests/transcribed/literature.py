"""Statements of the literature, from the sources that docs/literature.md links."""

FIXED = {"T": 3, "S": 3, "tau": 2, "mu": 0.2, "L": 1.5, "eta": 0.3, "alpha": 0.3, "beta_2": 0.4}
WHERE = {"kappa": "L / mu", "steps": "tau * S"}
BOUNDS = {
    ("heavy-ball-norm", "printed"): "((sqrt(kappa) - 1) / (sqrt(kappa) + 1)) ** 2 * before",
    ("gda-convex-concave", "printed"): "R**2",
    ("fedavg-fixed-point", "printed"): "0 * R",
    ("fedprox-fixed-point", "printed"): "0 * R",
    ("curve-convex-two-over-l", "printed"): "before",
    ("nesterov-descent", "printed"): "before",
    ("subgradient-descent", "printed"): "before",
    ("last-iterate", "printed"): "R * G / sqrt(T)",
    ("frank-wolfe-linear", "printed"): "L / 2 * D**2 * (1 - 1 / kappa) ** T",
    ("sgd-constant-step", "printed"): "(R - eta * mu * R) ** 2",
    ("local-steps-are-steps", "printed"): "R**2 / (4 * steps * eta + 2 / L)",
    ("peaceman-rachford", "printed"): "0 * R",
    ("extragradient-mokhtari", "printed"): "R**2 - mu * R**2 / (4 * L)",
    ("fedavg-main-theorem", "printed"): "F_gap * (1 - eta * mu / 2) ** S",
    ("subgradient-best", "printed"): "R * G / sqrt(T)",
    ("sufficient-descent", "printed"): "before",
    ("gradient-norm-falls", "printed"): "before",
    ("curve-convex", "printed"): "before",
    ("gd-values-strongly-convex", "printed"): (
        "L / 2 * ((kappa - 1) / (kappa + 1)) ** (2 * S) * R**2"
    ),
    ("sgd-one-step", "printed"): (
        "(eta * R * (L - mu) / 2"
        " + sqrt(R**2 * (1 - eta * (mu + L) / 2) ** 2 + (eta * zeta) ** 2)) ** 2"
    ),
    ("lyapunov-values", "printed"): "before",
    ("lyapunov-gradients", "printed"): "before",
    ("nonconvex-average", "printed"): "2 * L * F_gap / S",
    ("extragradient-nonexpansive", "printed"): "R**2",
    ("contractive-halpern", "printed"): (
        "(1 + 1 / 2) ** 2 * R**2 / sum(2**k for k in range(T + 1)) ** 2"
    ),
    ("gd-long-steps", "printed"): (
        "L * R**2 / 2 * max(1 / (2 * S * eta * L + 1), (1 - eta * L) ** (2 * S))"
    ),
    ("subgradient-decaying", "printed"): "R * G / sqrt(1 + T)",
    ("gd-corollary", "printed"): "2 * L * R**2 / (4 + S)",
    ("frank-wolfe", "printed"): "2 * L * D**2 / (1 + T)",
    ("gda-strongly-convex-concave", "printed"): "R**2 * (1 + (2 * eta * L) ** 2 - 2 * eta * mu)",
    ("proximal-point", "printed"): "R**2 / (2 * eta * T)",
    ("projected-gradient", "printed"): "L * R**2 / (2 * T)",
    ("projected-gradient-strongly-convex", "printed"): (
        "L * R**2 / 2 * (1 - 1 / kappa) ** T + R * lambda_ * sqrt((1 - 1 / kappa) ** T)"
    ),
    ("gd-distance", "printed"): "R**2 * (1 - 1 / kappa)",
    ("heavy-ball-ghadimi", "printed"): "F_gap * (1 - mu * alpha) ** T",
}
BOUNDS |= {
    ("adam-regret", "printed"): (
        "(2 * r) ** 2 * G * sqrt(T) / (2 * alpha * T)"
        " + alpha * G**2 * sqrt(T) / sqrt(1 - beta_2) / T"
        " + (2 * r) ** 2 * G * sqrt(1 - beta_2) / (2 * alpha) / T"
    ),
    ("amsgrad-regret", "printed"): (
        "(2 * r) ** 2 * G * sqrt(T) / (alpha * T)"
        " + alpha * sqrt(1 + log(T)) * G * sqrt(T) / (sqrt(1 - beta_2) * T)"
    ),
    ("signsgd-one-sample", "printed"): "(sqrt(L) * (F_gap + 0.5) + 2 * sigma) / sqrt(K)",
    ("signsgd-large-batch", "printed"): "(sqrt(L) * (F_gap + 0.5) + 2 * sigma) / sqrt(K)",
}
ORDERS = {}
CONDITIONS = {}
ASSUMED = []
