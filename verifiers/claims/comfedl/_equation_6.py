r"""Whether (1/n) Σ G(f^i) has the minimisers of (5), V = γ log((1/n) Σ exp(f^i/γ)), for a given G.

By algebra: a function of the losses is an increasing function of V if and only if its partial
derivatives are proportional to those of V, which are exp(f^i/γ). By certified optima: V at the
minimiser of (1/n) Σ G(f^i) against the minimum of V.
"""

import numpy as np
import sympy
import torch

from synthetic.certificates.smooth import minimise_smooth_on_ball
from verifiers.compared import Comparison
from verifiers.symbolic import nonnegative, vanishes

x, y = sympy.symbols("x y", positive=True)
gamma = sympy.Symbol("gamma", positive=True)


def steps(function):
    """Return the proof that ∂/∂f^i of the two objectives are proportional and of one sign."""
    slope = sympy.diff(function(x, gamma), x)
    ratio = slope * sympy.exp(y / gamma) - slope.subs(x, y) * sympy.exp(x / gamma)
    says = r"G'(f^i)\,e^{f^j/\gamma} = G'(f^j)\,e^{f^i/\gamma}"
    return [
        vanishes(ratio / sympy.exp((x + y) / gamma), says),
        nonnegative(slope, r"G \text{ is increasing}"),
    ]


def compare(case, function):
    """Compare min V with V at the minimiser of (1/n) Σ G(f^i), on a KLDRO problem."""
    problem = case.problem
    expression = function(x, sympy.Rational(problem.temperature))
    value, slope = (sympy.lambdify(x, e, "numpy") for e in (expression, sympy.diff(expression, x)))

    def objective(w):
        at = torch.from_numpy(w)[:, None].requires_grad_()
        losses = problem.losses(at)[:, 0]
        held = losses.detach().numpy()
        shares = torch.from_numpy(np.broadcast_to(slope(held), held.shape) / len(held))
        (gradient,) = torch.autograd.grad((shares * losses).sum(), at)
        return float(np.mean(value(held))), gradient[:, 0].numpy()

    def robust(w):
        at = torch.from_numpy(w)[:, None]
        return float(problem.objective(at)), problem.gradient(at)[:, 0].numpy()

    start = np.zeros(problem.dim)
    scale = 1.0 / float(np.linalg.norm(objective(start)[1]))  # the solver's tolerance is absolute
    point, _ = minimise_smooth_on_ball(
        lambda w: tuple(scale * part for part in objective(w)), start, problem.ball
    )
    # two routes to the minimum of (5): cvxpy's cone, and L-BFGS; each has its own certificate
    _, certificate = minimise_smooth_on_ball(robust, start, problem.ball)
    low = max(problem.solution.low, certificate["primal"] - certificate["frank_wolfe_gap"])
    high = min(problem.solution.high, certificate["primal"])
    return [Comparison("(5) at the minimiser of (6)", low, high, robust(point)[0])]
