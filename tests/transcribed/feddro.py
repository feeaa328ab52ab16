"""FedDRO (2023)."""

FIXED = {"I": 7}
WHERE = {
    "initial": "2 * (Phi_gap + e_0**2) / sqrt(b * K * T)",
    "smooth": "0 + B_f * L_g + B_g**2 * L_f",  # Theorem 4.2 has h = 0
    "L": "B_f * L_g + B_g**2 * L_f",
    "zeta": "B_f * Delta_g + B_g * L_f * delta",
    "drift": "sum(j**2 for j in range(I)) / I",  # the mean of j² over a round of I steps
}
BOUNDS = {
    # the other terms have a factor 0 where these are judged
    ("theorem-5.1", "printed"): "initial",
    ("corollary-5.2", "printed"): "initial",
    ("lemma-3.5", "printed"): "L_h + B_f * L_g + B_g**2 * L_f",
    # not in the text: 2(Φ(x̄⁰) − Φ*)/(ηT) and L_Φ² times the mean squared distance of the models
    ("theorem-4.2", "printed: Φ is bounded below"): "2 * Phi_gap / (eta * T)"
    "+ smooth**2 * eta**2 * B_g**2 * B_f**2 * drift",
    **{
        ("bias-amplification", f"printed: {reading}"): "bias"
        for reading in ("on every instance", "on some instance", "from a common start, in Case II")
    },
    # j(j − 1)/2 pairs of steps, times G
    ("bias-amplification", "corrected"): "pairs * (eta * smooth)**2 * (1 + L_Phi / smooth)",
    ("bias-drift", "corrected"): "L * sum(zeta * eta * (1 + eta * L)**i for i in range(I - 1))",
    ("bias-bound", "corrected"): "B_g * L_f * delta "
    "+ L * sum(zeta * eta * (1 + eta * L)**i for i in range(I - 1))",
}
ORDERS = {}
CONDITIONS = {
    ("_theorem", "STEP_SIZE"): ("eta", "<=", "1 / L_Phi"),
    ("theorem_4_2", "SMALL"): ("eta", "<=", "1 / smooth"),
    ("bias_amplification", "SMALL"): ("eta", "<=", "1 / smooth"),
}
SMOOTH = {
    "Assumption 3.2": "outer_smoothness plain_smoothness inner_mean_smoothness "
    "outer_gradient_bound inner_gradient_moment"
}
ASSUMED = [
    ("lemma-3.5", SMOOTH),
    (
        "theorem-4.1 theorem-4.2 theorem-5.1 corollary-5.2 bias-amplification bias-bound "
        "bias-drift",
        SMOOTH
        | {
            "Assumption 3.3": "plain_gradient_noise inner_gradient_noise inner_value_noise",
            "Assumption 3.4": "plain_gradient_heterogeneity inner_gradient_heterogeneity",
        },
    ),
]
