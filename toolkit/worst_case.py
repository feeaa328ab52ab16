r"""Worst-case weights of losses: the exact inner maximum of distributionally robust objectives."""

from __future__ import annotations

from typing import Literal, TypeAlias

import torch
from jaxtyping import Float
from torch import Tensor

Geometry: TypeAlias = Literal["cvar", "chi-square-ball", "chi-square-penalty", "kl-penalty"]


def worst_case_weights(
    losses: Float[Tensor, "entries replicates"],
    shares: Float[Tensor, "entries _"],
    geometry: Geometry,
    size: float | Tensor,
) -> Float[Tensor, "entries replicates"]:
    r"""Return the weights q in the simplex that maximise Σ q_i ℓ_i, kept near the shares s.

    * "cvar": q_i ≤ s_i/size, the mean of the worst ``size`` of the mass;
    * "chi-square-ball": D(q) ≤ size, D(q) = ½ Σ s_i (q_i/s_i − 1)²;
    * "chi-square-penalty": less size·D(q);
    * "kl-penalty": less size·Σ q_i log(q_i/s_i).

    The last has q_i ∝ s_i e^{ℓ_i/size}. For χ² q_i ∝ s_i max(0, h − d_i) with the depths
    d_i = max ℓ − ℓ_i below a height h, found from the sorted depths: whether h lies above a depth
    is told by sums over those before it. Where several losses are largest and "cvar" has mass for
    some of them alone, the first are taken.

    The worst half of four equal shares; then those of mean + √(2ρ)·deviation, ρ = 1/50:

    >>> losses = torch.tensor([[1.0], [4.0], [2.0], [3.0]])
    >>> shares = torch.full((4, 1), 0.25)
    >>> worst_case_weights(losses, shares, "cvar", 0.5).ravel()
    tensor([0.0000, 0.5000, 0.0000, 0.5000])
    >>> q = worst_case_weights(losses, shares, "chi-square-ball", 0.02)
    >>> round(float((q * losses).sum()), 4), round(2.5 + (2 * 0.02 * 1.25) ** 0.5, 4)
    (2.7236, 2.7236)

    Args:
        losses: ℓ.
        shares: s, which sum to 1.
        geometry: what keeps q near s.
        size: α, ρ or λ, above 0 (α at most 1).
    """
    depth = losses.amax(0, keepdim=True) - losses
    if geometry == "kl-penalty":
        return _normalised(shares * torch.exp(-depth / size))
    ordered, places = depth.sort(dim=0, stable=True)
    share = shares.expand_as(depth).gather(0, places)
    mass = share.cumsum(0)
    if geometry == "cvar":
        taken = torch.minimum(share, (size - (mass - share)).clamp(min=0.0)) / size
        return torch.zeros_like(losses).scatter(0, places, taken)
    first, second = (share * ordered).cumsum(0), (share * ordered * ordered).cumsum(0)
    below = ordered * mass - first  # Σ s_i (d − d_i) over the depths d_i up to d
    if geometry == "chi-square-penalty":
        last = (below < size).sum(0, keepdim=True) - 1
        height = (size + first.gather(0, last)) / mass.gather(0, last)
        return _normalised(shares * (height - depth).clamp(min=0.0))
    squares = second - 2 * ordered * first + ordered * ordered * mass
    inside = (squares > (1 + 2 * size) * below * below) | (ordered <= 0)
    last = inside.sum(0, keepdim=True) - 1
    within, mean, square = (x.gather(0, last) for x in (mass, first, second))
    mean, square = mean / within, square / within
    room = ((1 + 2 * size) * within - 1).clamp(min=torch.finfo(losses.dtype).tiny)
    height = mean + ((square - mean * mean).clamp(min=0.0) / room).sqrt()
    weights = shares * (height - depth).clamp(min=0.0)
    largest = shares * (depth <= 0)  # the ball reaches as far as all mass on the largest losses
    return _normalised(torch.where(weights.sum(0, keepdim=True) > 0, weights, largest))


def _normalised(weights: Tensor) -> Tensor:
    return weights / weights.sum(0, keepdim=True)
