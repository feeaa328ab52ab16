"""Local-SCGDM (ICML 2022)."""

TWO = "printed: two samples, as in the proofs"
ONE = "printed: one sample, as in Algorithm 1"
MENDED = "printed: two samples, and L_f in the third term"
ALIKE = "printed: two samples, L_f, clients with one f and one g"

FIXED = {}
WHERE = {
    "L_F": "C_g**2 * L_f + C_f * L_g",  # section 3.2
    # (6), with L_g and with L_f in the third term
    "outside": "2 * F_gap / (beta * eta * T)"
    "+ 6 * (C_g**2 * sigma_f**2 + C_g**2 * L_f**2 * delta_g**2 + C_f**2 * sigma_g**2)"
    "  / (alpha * eta * T)"
    "+ 2 * gamma * eta * C_g**2 * L_f**2 * delta_g**2"
    "+ 2 * alpha * eta * (C_g**2 * sigma_f**2 + C_f**2 * sigma_g**2)"
    "+ 2 * gamma**2 * eta**2 * C_g**2 * L_f**2 * delta_g**2"
    "+ 32 * p**2 * beta**2 * eta**2 * L_F**2"
    "  * (16 * C_g**2 * L_f**2 * delta_g**2 + C_g**2 * sigma_f**2 + 3 * C_f**2 * sigma_g**2)",
    "theorem": "outside + 4 * C_g**2 * L_g**2 * delta_g**2 / (gamma * eta * T)",
    "theorem_mended": "outside + 4 * C_g**2 * L_f**2 * delta_g**2 / (gamma * eta * T)",
    # (7), likewise
    "scheduled": "2 * F_gap / (beta * sqrt(T))"
    "+ 6 * (C_g**2 * sigma_f**2 + C_g**2 * L_f**2 * delta_g**2 + C_f**2 * sigma_g**2)"
    "  / (alpha * sqrt(T))"
    "+ 2 * gamma * C_g**2 * L_f**2 * delta_g**2 / sqrt(T)"
    "+ 2 * alpha * (C_g**2 * sigma_f**2 + C_f**2 * sigma_g**2) / sqrt(T)"
    "+ 2 * gamma**2 * C_g**2 * L_f**2 * delta_g**2 / T"
    "+ 32 * beta**2 * L_F**2"
    "  * (16 * C_g**2 * L_f**2 * delta_g**2 + C_g**2 * sigma_f**2 + 3 * C_f**2 * sigma_g**2)"
    "  / sqrt(T)",
    "corollary": "scheduled + 4 * C_g**2 * L_g**2 * delta_g**2 / (gamma * sqrt(T))",
    "corollary_mended": "scheduled + 4 * C_g**2 * L_f**2 * delta_g**2 / (gamma * sqrt(T))",
    # (11) and the last line of (25), but for the third term
    "remembered": "(1 - alpha * eta) * past + 2 * alpha * eta * C_g**2 * L_f**2 * inner"
    "+ 2 * alpha**2 * eta**2 * (C_g**2 * sigma_f**2 + C_f**2 * sigma_g**2)",
    "spread": "48 * C_f**2 * L_g**2 * models + 8 * K * C_g**2 * sigma_f**2"
    "+ 24 * K * C_f**2 * sigma_g**2",
    # (17) and (41), with P_{t+1} − P_t of (14) and (39) but for E F(x̄_{t+1})
    "seventeen": "objective + beta / alpha * (error - next_error)"
    "+ 2 * beta * C_g**2 * L_f**2 / gamma * (inner - next_inner)"
    "- beta * eta / 2 * gradient + beta * eta * L_F**2 * models"
    "+ 2 * beta * gamma * eta**2 * C_g**2 * L_f**2 * delta_g**2"
    "+ 2 * alpha * beta * eta**2 * (C_g**2 * sigma_f**2 + C_f**2 * sigma_g**2)"
    "+ 2 * beta * gamma**2 * eta**3 * C_g**2 * L_f**2 * delta_g**2",
    "curved": "2 * eta * beta**3 * C_g**4 * L_f**2 / gamma**2"
    "+ 2 * eta**2 * beta**3 * C_g**2 * L_f**2 * C_g**2 / gamma"
    "+ 2 * eta * beta**3 * L_F**2 / alpha**2 - beta * eta / 4",
}
BOUNDS = {
    ("theorem-3.4", TWO, ONE): "theorem",
    ("theorem-3.4", MENDED, ALIKE): "theorem_mended",
    ("corollary-3.5", TWO, ONE): "corollary",
    ("corollary-3.5", MENDED, ALIKE): "corollary_mended",
    ("smoothness", "printed"): "L_F",
    ("lemma-3.9", "printed: L_f"): "L_1",
    ("lemma-3.9", "printed: L_g"): "lambda_ * L_2",
    ("lemma-3.9", "printed: C_f²"): "sigma_1**2 + G**2",
    ("lemma-3.9", "printed: C_g²"): "(1 + lambda_ * L_1) ** 2 + lambda_**2 * sigma_2**2",
    ("lemma-3.9", "printed: C_g², σ_2 in the Frobenius norm"):
        "(1 + lambda_ * L_1) ** 2 + lambda_**2 * sigma_2F**2",
    ("lemma-3.9", "printed: σ_f²"): "sigma_1**2",
    ("lemma-3.9", "printed: σ_g²"): "lambda_**2 * sigma_2**2",
    ("lemma-3.9", "printed: δ_g²"): "lambda_**2 * sigma_1**2",
    ("lemma-3.9", "printed: Lipschitz constant of ∇F"):
        "(1 + lambda_ * L_1) ** 2 * L_1 + lambda_ * G * L_2",
    ("lemma-3.9", "printed: C_g², every norm Frobenius"):
        "(1 + lambda_ * L_1) ** 2 + lambda_**2 * sigma_2F**2",
    ("lemma-3.9", "printed: C_g² with d(1 + λL_1)², every norm Frobenius"):
        "d * (1 + lambda_ * L_1) ** 2 + lambda_**2 * sigma_2F**2",
    ("lemma-3.9", "printed: σ_g², every norm Frobenius"): "lambda_**2 * sigma_2F**2",
    ("lemma-3.9-tasks", "printed: σ_f²", "printed: σ_f², each task on its own"): "sigma_1**2",
    ("lemma-3.9-tasks", "printed: C_f²"): "sigma_1**2 + G**2",
    ("lemma-4.1", TWO, ONE): "remembered + 2 * eta * beta**2 * L_f**2 / alpha * momentum",
    ("lemma-4.1", "printed: two samples, and L_F as in the proof",
     "printed: the same, between communications"):
        "remembered + 2 * eta * beta**2 * L_F**2 / alpha * momentum",
    ("lemma-4.1-proof", "printed: two samples, as written there",
     "printed: between communications", "printed: one sample"):
        "remembered + 2 * eta * beta**2 * L_F**2 / alpha * momentum",
    ("lemma-4.1", "corrected"): "remembered + 2 * L_F**2 / (alpha * eta) * moved",
    ("lemma-4.1-proof", "corrected"): "remembered + 2 * L_F**2 / (alpha * eta) * moved",
    ("lemma-4.2", "corrected"): "(1 - gamma * eta) * past + (gamma * eta * delta_g) ** 2"
    "+ C_g**2 / (gamma * eta) * moved",
    ("lemma-4.2", "printed: as printed", "printed: between communications"):
        "eta * beta**2 * C_g**2 / gamma * momentum"
        "+ gamma**2 * eta**2 * delta_g**2 + (1 - gamma * eta) * past",
    # (13) over T: the measured side is a mean over t
    ("lemma-4.3", "printed: as printed", "printed: clients with one f and one g"):
        "(256 * T * K * p**2 * beta**2 * eta**2 * C_g**2 * L_f**2 * delta_g**2"
        "+ 16 * T * K * p**2 * beta**2 * eta**2 * C_g**2 * sigma_f**2"
        "+ 48 * T * K * p**2 * beta**2 * eta**2 * C_f**2 * sigma_g**2) / T",
    ("lemma-a.1", "printed: as printed", "printed: clients with one g"):
        "8 * p * K * delta_g**2 + 8 * C_g**2 * models",
    ("lemma-a.2", "printed: u as printed"): "spread + 16 * C_g**2 * L_f**2 * before",
    ("lemma-a.2", "printed: u as z uses it",
     "printed: u as z uses it, clients with one f and one g"):
        "spread + 16 * C_g**2 * L_f**2 * used",
    ("lemma-a.2", "corrected"): "4 * C_f**2 * L_g**2 * models + 4 * C_g**2 * L_f**2 * used"
    "+ K * C_g**2 * sigma_f**2 + 4 * K * C_f**2 * sigma_g**2 + 4 * clients",
    ("potential", "printed: (40), and (16) as (40)"): "seventeen + curved * momentum"
    "+ (beta * eta - eta * beta) * error"
    "+ (2 * (1 - gamma * eta) * eta * beta * C_g**2 * L_f**2"
    "   - 2 * eta * beta * C_g**2 * L_f**2) * inner",
    ("potential", "printed: (17) and (41)"): "seventeen",
    ("potential-descent", "printed: as printed", "printed: clients with one f and one g"):
        "before - beta * eta / 2 * gradient - beta * eta / 4 * each_momentum"
        "+ beta * eta * error + beta * eta * L_F**2 * models",
}  # fmt: skip
ORDERS = {}
CONDITIONS = {
    ("assumptions", "STEP_SIZE"): ("eta", "<", "1 / max(alpha, gamma)"),
    ("assumptions", "STEP_FACTOR"): (
        "beta",
        "<=",
        "sqrt((1 / 8) / (C_g**4 * L_f**2 / gamma**2+ C_g**4 * L_f**2 / gamma + L_F**2 / alpha**2))",
    ),
    ("assumptions", "SMALL_STEP"): (
        "eta",
        "<=",
        "min(1, 1 / (2 * beta * (C_g**2 * L_f + C_f * L_g)))",
    ),
    ("assumptions", "PERIOD"): (
        "p",
        "<=",
        "1 / (4 * beta * eta* sqrt(6 * C_f**2 * L_g**2 + 16 * C_g**4 * L_f**2))",
    ),
}
ASSUMED = [
    (
        "theorem-3.4 corollary-3.5 lemma-4.1 lemma-4.1-proof lemma-4.2 lemma-4.3 lemma-a.1 "
        "lemma-a.2 potential potential-descent",
        {
            "Assumption 3.1": "inner_mean_smoothness outer_mean_smoothness",
            "Assumption 3.2": "inner_gradient_moment outer_gradient_moment",
            "Assumption 3.3": "inner_gradient_noise inner_value_noise outer_gradient_noise",
        },
    )
]
