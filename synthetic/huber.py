"""The radial Huber function: the one convex function that attains both of its constants."""

from __future__ import annotations

import torch
from torch import Tensor


def huber_value(z: Tensor, slope: Tensor | float, curvature: float) -> Tensor:
    r"""Return L‖z‖²/2 within ‖z‖ ≤ G/L and G‖z‖ − G²/(2L) beyond: [clients, replicates].

    G = slope bounds the gradient and L = curvature its Lipschitz constant, on all of R^p, and both
    are attained: ∇ = (G/δ)·(projection of z on the ball of radius δ = G/L).
    """
    norm = torch.linalg.vector_norm(z, dim=-2)
    knee = slope / curvature
    return torch.where(norm <= knee, 0.5 * curvature * norm**2, slope * norm - 0.5 * slope * knee)


def huber_gradient(z: Tensor, slope: Tensor | float, curvature: float) -> Tensor:
    """Return min(L, G/‖z‖)·z: the shape of z, [clients, inner_dim, replicates]."""
    norm = torch.linalg.vector_norm(z, dim=-2, keepdim=True)
    knee = slope / curvature
    return z * torch.where(norm <= knee, torch.full_like(norm, curvature), slope / norm)
