"""Euclidean projection on the probability simplex."""

import torch
from torch import Tensor


def project_on_simplex(x: Tensor) -> Tensor:
    r"""Return the nearest point of {p ≥ 0, Σ p = 1} to each column of x, [entries, replicates].

    p = max(x − θ, 0) with the θ at which p sums to 1, found from the sorted entries
    (Held, Wolfe & Crowder 1974).

    >>> project_on_simplex(torch.tensor([[0.9], [0.5], [-1.0]])).ravel()
    tensor([0.7000, 0.3000, 0.0000])
    """
    ordered = x.sort(0, descending=True).values
    count = torch.arange(1, len(x) + 1, dtype=x.dtype, device=x.device)[:, None]
    shift = (ordered.cumsum(0) - 1.0) / count
    support = (ordered > shift).sum(0, keepdim=True)
    projected: Tensor = (x - shift.gather(0, support - 1)).clamp(min=0.0)
    return projected
