"""Every client's exact derivatives at one point, where a run starts, and the solution."""

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit.bilevel import BilevelProblem
from driftproof.toolkit.oracles import Bilevel


def start(problem: BilevelProblem) -> tuple[Tensor, Tensor]:
    """Return (x⁰, y⁰), [upper_dim, 1] and [lower_dim, 1]."""
    z = torch.from_numpy(problem.start())[:, None]
    return z[: problem.upper_dim], z[problem.upper_dim :]


def minimiser(problem: BilevelProblem) -> np.ndarray:
    """Return x*, of a problem whose infimum is attained."""
    x = problem.solution.minimiser
    assert x is not None
    return x


def derivatives(
    problem: BilevelProblem, x: Tensor, y: Tensor
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ∇_y f_i, ∇²_yy g_i and ∇²_xy g_i at (x, y) as arrays, clients first."""
    oracles: Bilevel = problem.oracles(torch.float64)
    every, others = (v.expand(problem.clients, *v.shape) for v in (x, y))
    units = torch.eye(len(y), dtype=x.dtype)
    hessians, crosses = (
        torch.cat([of(every, others, u[None, :, None].expand_as(others), None) for u in units], 2)
        for of in (oracles.lower_hessian_product, oracles.lower_cross_product)
    )
    gradients = oracles.upper_grad_y(every, others, None)[..., 0]
    return gradients.numpy().copy(), hessians.numpy().copy(), crosses.numpy().copy()
