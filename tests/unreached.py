"""The declared constants that no search reaches to 0.97, how far one comes, and why."""

REACHED = {
    ("analytic-maml", "inner_gradient_bound"): {3: 0.8054, 4: 0.9631},
    ("analytic-maml", "inner_gradient_moment"): {3: 0.7685, 4: 0.9631},
    ("analytic-maml", "inner_mean_smoothness"): {3: 0.8674, 4: 0.9202},
    ("analytic-maml", "inner_smoothness"): {3: 0.7963, 4: 0.9202},
    ("analytic-maml", "outer_gradient_bound"): {2: 0.8031, 3: 0.9576},
    ("analytic-maml", "outer_smoothness"): {3: 0.9576},
    ("averaged-composition", "objective_smoothness"): {2: 0.7879},
    ("bias-amplification", "objective_smoothness"): {3: 0.6667},
    ("bounded-composition", "objective_smoothness"): {2: 0.5882},
    ("bounded-composition", "outer_mean_smoothness"): {3: 0.75},
    ("bounded-composition", "outer_smoothness"): {3: 0.75},
    ("compositional-bilevel", "objective_smoothness"): {1: 0.7879},
    ("kl-dro", "inner_gradient_bound"): {1: 0.0626},
    ("kl-dro", "inner_gradient_noise"): {0: 0.705, 3: 0.907},
    ("kl-dro", "inner_smoothness"): {1: 0.0283},
    ("kl-dro", "inner_value_noise"): {0: 0.8706, 3: 0.9428},
    ("kl-dro", "objective_smoothness"): {0: 0.0816, 1: 0.1095, 2: 0.5866, 3: 0.1127, 4: 0.4064},
    ("kl-dro", "outer_gradient_bound"): {1: 0.8685},
    ("kl-dro", "outer_smoothness"): {1: 0.7543},
    ("kl-dro", "field_gradient_noise"): {2: 0.7906, 4: 0.907},
    ("logistic-bilevel", "lower_gradient_noise"): {0: 0.8436},
    ("logistic-bilevel", "lower_hessian_noise"): {0: 0.5947, 1: 0.7075},
    ("logistic-bilevel", "lower_hessian_smoothness"): {0: 0.8948, 1: 0.8463},
    ("logistic-bilevel", "lower_noise_bound"): {0: 0.8657, 1: 0.9055},
    ("logistic-bilevel", "objective_smoothness"): {0: 0.3514, 1: 0.4164, 2: 0.2878},
    ("logistic-bilevel", "upper_gradient_bound"): {0: 0.7226},
    ("logistic-bilevel", "upper_gradient_noise"): {0: 0.8595, 1: 0.9037},
    ("logistic-bilevel", "upper_noise_bound"): {0: 0.7819, 1: 0.9037},
    ("maml", "objective_smoothness"): {2: 0.9501, 3: 0.9564},
    ("maml", "outer_gradient_bound"): {2: 0.9417, 3: 0.6857},
    ("maml", "outer_smoothness"): {2: 0.8963, 3: 0.6774},
    ("penalised-dro", "plain_smoothness"): {2: 0.5206, 3: 0.7514},
    ("penalised-dro", "inner_gradient_heterogeneity"): {0: 0.3116, 1: 0.2604, 2: 0.393, 3: 0.5677},
    ("penalised-dro", "inner_gradient_moment"): {0: 0.7818, 1: 0.9215, 2: 0.8764},
    ("penalised-dro", "inner_gradient_noise"): {0: 0.4803, 1: 0.5021, 2: 0.6622},
    ("penalised-dro", "inner_mean_smoothness"): {0: 0.5296, 1: 0.8087},
    ("penalised-dro", "inner_smoothness"): {0: 0.8582, 1: 0.9192},
    ("penalised-dro", "inner_value_noise"): {0: 0.9419, 2: 0.9401},
    ("penalised-dro", "loss_depth"): {0: 0.5817, 1: 0.7605, 2: 0.5817},
    ("penalised-dro", "objective_smoothness"): {0: 0.4248, 1: 0.4614, 2: 0.4269, 3: 0.2053},
    ("penalised-dro", "plain_gradient_heterogeneity"): {2: 0.3374, 3: 0.5095},
    ("penalised-dro", "plain_gradient_noise"): {2: 0.5685},
    ("piecewise-composition", "inner_gradient_bound"): {2: 0.963},
    ("piecewise-composition", "inner_smoothness"): {2: 0.8911},
    ("piecewise-terms", "field_smoothness"): {2: 0.2222},
    ("piecewise-terms", "objective_smoothness"): {2: 0.2222},
    ("quadratic-bilevel", "lower_sample_smoothness"): {2: 0.9254},
}
"""(problem, role) → {number of the example: largest found over declared}."""

SEPARATE = "a product or sum of bounds on its factors, which are not largest at one point"
FAR = "the bound takes every row to lie along one direction; the data's rows do not"
HALF = (
    "half the range, or the size, of a sample's value bounds its deviation; three samples have less"
)
APART = "two clients' gradients are taken to be opposite and both largest"

REASONS = {
    "analytic-maml": "tasks with different centres, or signs, are steepest at different points",
    "averaged-composition": SEPARATE,
    "piecewise-composition": "the noise's wave is not largest where the inner function is",
    "bias-amplification": "the clients' Huber functions are never curved at one point all at once",
    "bounded-composition": SEPARATE,
    "compositional-bilevel": SEPARATE,
    "kl-dro": f"{FAR}; for deviations: {HALF}",
    "logistic-bilevel": f"{SEPARATE}; for deviations: {HALF}",
    "maml": SEPARATE,
    "penalised-dro": f"{FAR}; for deviations: {HALF}; for heterogeneity: {APART}",
    "piecewise-terms": "the steepest piece lies outside of the box, and L is of the whole line",
    "quadratic-bilevel": "a sum of norms of matrices whose eigenvectors differ",
}
"""Why, by problem; the problem's own docstring has the derivation."""
