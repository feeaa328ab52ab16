"""Every client's exact derivatives at one point, and the point where a run starts."""

import torch


def start(problem):
    """Return (x⁰, y⁰), [upper_dim, 1] and [lower_dim, 1]."""
    held = torch.from_numpy(problem.start())[:, None]
    return held[: problem.upper_dim], held[problem.upper_dim :]


def derivatives(problem, x, y):
    """Return ∇_y f_i, ∇²_yy g_i and ∇²_xy g_i at (x, y) as arrays, clients first."""
    oracles = problem.oracles(torch.float64)
    every, others = (v.expand(problem.clients, *v.shape) for v in (x, y))
    units = torch.eye(len(y), dtype=x.dtype)
    matrices = [
        torch.cat([of(every, others, u[None, :, None].expand_as(others), None) for u in units], 2)
        for of in (oracles.lower_hessian_product, oracles.lower_cross_product)
    ]
    gradients = oracles.upper_grad_y(every, others, None)[..., 0]
    return [held.numpy().copy() for held in (gradients, *matrices)]
