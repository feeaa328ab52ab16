r"""Whether (1/n) Σ G(f^i) has the minimisers of (5), V = γ log((1/n) Σ exp(f^i/γ)), for a given G.

By algebra: a function of the losses is an increasing function of V if and only if its partial
derivatives are proportional to those of V, which are exp(f^i/γ). By certified optima: V at the
minimiser of (1/n) Σ G(f^i) against the minimum of V.
"""

from collections.abc import Callable

import numpy as np
import sympy
import torch

from driftproof.synthetic.certificates.smooth import minimise_smooth_on_ball
from driftproof.synthetic.problems.kl_dro import KLDRO
from driftproof.toolkit.constants import Expression
from driftproof.verifiers.algebra.symbolic import Step, nonnegative, vanishes
from driftproof.verifiers.claim_types.compared import Comparison

OuterFunction = Callable[[Expression, Expression], Expression]
"""G: from a loss and the temperature γ to what (6) averages, g(f^i/γ)."""

x, y = sympy.symbols("x y", positive=True)
gamma = sympy.Symbol("gamma", positive=True)


def exponential(loss: Expression, temperature: Expression) -> Expression:
    return sympy.exp(loss / temperature)


def of_twice_the_temperature(loss: Expression, temperature: Expression) -> Expression:
    return sympy.exp(loss / (2 * temperature))


def steps(outer: OuterFunction) -> list[Step]:
    """Return the proof that ∂/∂f^i of the two objectives are proportional and of one sign."""
    slope = sympy.diff(outer(x, gamma), x)
    ratio = slope * sympy.exp(y / gamma) - slope.subs(x, y) * sympy.exp(x / gamma)
    says = r"G'(f^i)\,e^{f^j/\gamma} = G'(f^j)\,e^{f^i/\gamma}"
    return [
        vanishes(ratio / sympy.exp((x + y) / gamma), says),
        nonnegative(slope, r"G \text{ is increasing}"),
    ]


def compare(problem: KLDRO, outer: OuterFunction) -> list[Comparison]:
    """Compare min V with V at the minimiser of (1/n) Σ G(f^i)."""
    expression = outer(x, sympy.Rational(problem.temperature))
    value, slope = (sympy.lambdify(x, e, "numpy") for e in (expression, sympy.diff(expression, x)))

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        at = torch.from_numpy(w)[:, None].requires_grad_()
        losses = problem.losses(at)[:, 0]
        numbers = losses.detach().numpy()
        shares = torch.from_numpy(np.broadcast_to(slope(numbers), numbers.shape) / len(numbers))
        (gradient,) = torch.autograd.grad((shares * losses).sum(), at)
        return float(np.mean(value(numbers))), gradient[:, 0].numpy()

    point = minimise_smooth_on_ball(objective, np.zeros(problem.dim), problem.ball)
    robust = float(problem.objective(torch.from_numpy(point)[:, None]))
    low, high = problem.solution.low, problem.solution.high
    return [Comparison("(5) at the minimiser of (6)", low, high, robust)]
