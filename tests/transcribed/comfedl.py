"""ComFedL (arXiv v1 and v3)."""

FIXED = {}
WHERE = {
    "sigma": "max(sigma_1, sigma_2, sigma_3)",
    "H": "sqrt(G_g**2 * L_f**2 + G_f**4 * L_g**2)",
    "first": "F_gap / (T * eta)",
    "last": "L * tau * eta * G_g**2 * G_f**2 + L * eta / 2 * G_f**2 * G_g**2",
    "drift": "sqrt(5) * H * tau * G_g * G_f * eta",
    "outer": "sqrt(5) * G_f * sigma / sqrt(b1)",
    "inner": "sqrt(5) * G_g * sigma / sqrt(b) + sqrt(5) * L_g * G_f * sigma / sqrt(b)",
    "moved": "(G_g**2 * L_f**2 + G_f**4 * L_g**2) * tau**2 * eta**2 * G_g**2 * G_f**2",
}
BOUNDS = {
    ("lemma-2", "printed"): "tau**2 * eta**2 * G_g**2 * G_f**2",
    ("lemma-3", "printed"): "5 * moved + 5 * G_f**2 * sigma**2 / b1 + 5 * G_g**2 * sigma**2 / b"
    "+ 5 * L_g**2 * G_f**2 * sigma**2 / b",
    ("lemma-4", "printed"): "4 * moved + 4 * G_g**2 * sigma**2 / b"
    "+ 4 * L_g**2 * G_f**2 * sigma**2 / b",
    ("theorem-1", "printed: the product that is printed"): "first"
    "+ G_f * G_g * (drift * outer + inner) + last",
    ("theorem-1", "printed: a plus sign is missing"): "first"
    "+ G_f * G_g * (drift + outer + inner) + last",
    ("theorem-1", "corrected"): "first + G_f * G_g * ((G_g * L_f + G_f**2 * L_g) * (tau - 1) / 2"
    "* G_f * G_g * eta + L_g * G_f * sigma_2 / sqrt(b)) + L * tau * eta / 2 * G_f**2 * G_g**2",
    ("theorem-2", "printed"): "first + G_f * G_g * (2 * H * tau * eta * G_g * G_f"
    "+ 2 * G_g * sigma / sqrt(b) + 2 * L_g * G_f * sigma / sqrt(b)) + last",
}
SPECIAL = "T**(alpha_1 - 1) + tau * T**-alpha_1 + T**(-0.5 * alpha_2)"
ORDERS = {
    ("remark-1", "printed"): SPECIAL + "+ T**(-0.5 * alpha_3)",
    ("remark-2", "printed"): SPECIAL,
}
CONDITIONS = {}
ASSUMED = [
    (
        "lemma-2 lemma-3 lemma-4 theorem-1 theorem-2",
        {
            "Assumption 1": "inner_smoothness outer_smoothness objective_smoothness",
            "Assumption 2": "inner_gradient_bound outer_gradient_bound",
            "Assumption 3": "inner_gradient_noise inner_value_noise outer_gradient_noise",
            "Assumption 4": "initial_gap",
        },
    )
]
