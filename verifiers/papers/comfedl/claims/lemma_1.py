"""Lemma 1: the KL-regularised minimax problem is a log-sum-exp composition.

**Kind.** Identity of (4) and (5), at every w; hence the minimum over w is the same, at the same w.

**Routes.** By algebra: that the right side M solves e^{M/γ} = (1/n) Σ e^{f_i/γ} is checked for
n = 1, …, 4, and the rest for every n. With M the right side and ρ_i = exp((f_i − M)/γ)/n,
each coordinate satisfies r_i f_i − γ r_i log(n r_i) = r_i M − γ r_i log(r_i/ρ_i); summed over the
simplex this is M − γ KL(r‖ρ), and KL ≥ 0 by x log x ≥ x − 1, with equality at r = ρ. By certified
optima: weak duality for the maximum over r, and for the saddle value over w.
"""

from collections.abc import Callable, Sequence

import numpy as np
import sympy
import torch

from driftproof.synthetic.building_blocks.losses import LOSSES
from driftproof.synthetic.certificates.penalised import divergence_of
from driftproof.synthetic.problems.kl_dro import KLDRO
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.constants import Expression
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.algebra.symbolic import Step, convex_with_minimum, vanishes
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.judges.comparisons import maximum_over_simplex

Objective = Callable[[Sequence[Expression], Expression], Expression]
"""From the losses and the temperature γ to the maximum over r."""


def log_mean_exp(losses: Sequence[Expression], temperature: Expression) -> Expression:
    """Return γ log((1/n) Σ exp(f_i/γ)), the right side, for sympy expressions."""
    total = sum(sympy.exp(f / temperature) for f in losses)
    return temperature * sympy.log(total / len(losses))


def steps(right: Objective) -> list[Step]:
    f, r, gamma, top, n, x = sympy.symbols("f r gamma M n x", positive=True)
    steps = []
    for count in (1, 2, 3, 4):  # M is what solves exp(M/γ) = (1/n) Σ exp(f_i/γ)
        losses = sympy.symbols(f"f_1:{count + 1}", positive=True)
        mean = sum(sympy.exp(loss / gamma) for loss in losses) / count
        value = sympy.exp(right(losses, gamma) / gamma)
        says = rf"e^{{M/\gamma}} = \frac1n\sum_i e^{{f_i/\gamma}},\; n={count}"
        steps.append(vanishes(sympy.log(value) - sympy.log(mean), says))
    rho = sympy.exp((f - top) / gamma) / n
    left = r * f - gamma * r * sympy.log(n * r)
    steps.append(
        vanishes(
            left - (r * top - gamma * r * sympy.log(r / rho)),
            r"r_if_i-\gamma r_i\log(nr_i) = r_iM-\gamma r_i\log(r_i/\rho_i)",
        )
    )
    says = r"x\log x-x+1 \ge 0,\; x = r_i/\rho_i"
    steps.append(convex_with_minimum(x * sympy.log(x) - x + 1, x, 1, 0, says))
    return steps


LOSSES_OF_CLIENTS = KLDRO(
    clients=sweep(3, 1, 8),
    temperature=sweep(1.0, 0.1, 10.0),
    loss=sweep("logistic", "sigmoid"),
    ball=1.0,
)


@comparison(
    name="comfedl/lemma-1",
    source="ComFedL, arXiv v1 and v3, Lemma 1",
    statement=r"\max_{r\in\Lambda_n}\sum_{i=1}^n r_i f^i(w) - \gamma\sum_{i=1}^n r_i\log(nr_i)"
    r" = \gamma\log\Big(\frac1n\sum_{i=1}^n\exp\big(f^i(w)/\gamma\big)\Big) "
    "\n"
    r"\Lambda_n=\left\{r\in\mathbb{R}^n_+\,\middle|\,\sum_{i=1}^n r_i=1\right\}",
    cases=grid(LOSSES_OF_CLIENTS),
    right=log_mean_exp,
    false_siblings=[
        ("without 1/n", lambda f, gamma: log_mean_exp(f, gamma) + gamma * sympy.log(len(f))),
        ("inverse temperature", lambda f, gamma: log_mean_exp(f, 1 / gamma)),
    ],
    prove=steps,
)
def robust_value(case: Case[KLDRO, None], right: Objective) -> list[Comparison]:
    problem = case.problem
    gamma = problem.temperature
    points = {"w = 0": np.zeros(problem.dim), "w = e": np.eye(problem.dim)[0]}
    if LOSSES[problem.loss].convex:
        points["w = w*"] = problem.solution.minimiser
    compared = []
    for what, w in points.items():
        losses = problem.losses(torch.from_numpy(w)[:, None])[:, 0].numpy()
        value = float(right([sympy.Float(f, 30) for f in losses], sympy.Rational(gamma)))
        spread = float(np.ptp(losses) / gamma)
        compared.append(Comparison(what, *maximum_over_simplex(losses, gamma), value, spread))
    if LOSSES[problem.loss].convex:
        compared.append(_saddle(problem, compared[-1]))
    return compared


def _saddle(problem: KLDRO, at_minimiser: Comparison) -> Comparison:
    """Enclose min_w max_r by max_r at w* from above and min_w at r* from below."""
    w = torch.from_numpy(problem.solution.minimiser)[:, None]
    r = problem.robust_weights(w)
    found = problem.robust_optimum(r[:, 0].numpy())  # of the mean with weights r
    low = found.low - problem.temperature * divergence_of(r[:, 0].numpy(), "kl")
    return Comparison("min over w", low, at_minimiser.high, at_minimiser.value, at_minimiser.x)
