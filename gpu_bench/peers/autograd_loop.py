"""A loop over clients in torch, gradients by autograd: how most federated code is written.

The loss of one client is written down, ``torch.autograd.grad`` differentiates it, the step is taken
in place. Replicates lie side by side in one tensor and their losses are added: the columns are
independent of each other, so the gradient of the sum holds the gradient of each, and R replicates
cost a client one graph a step, not R.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gpu_bench.peer import arrays, peer

if TYPE_CHECKING:
    import numpy as np

    from gpu_bench.workload import Round


@peer(name="autograd loop", workload="w1", extra=None, source="torch.autograd.grad")
def w1(data: Mapping[str, Any]) -> Round:
    """Columns [d, replicates]; f = λ/2 ‖x‖² − yᵀ(y/2 − b + Ax), descent in x, ascent in y."""
    import torch

    inputs = arrays(data, "matrices", "offsets", "starts")
    matrices, offsets, starts = (torch.from_numpy(v) for v in inputs)
    lam, eta, steps = data["regulariser"], data["step_size"], data["local_steps"]
    d = matrices.shape[1]

    def run() -> np.ndarray:
        total_x, total_y = torch.zeros_like(starts[:d]), torch.zeros_like(starts[d:])
        for a, b in zip(matrices, offsets[:, :, None], strict=True):
            x, y = (v.clone().requires_grad_() for v in (starts[:d], starts[d:]))
            for _ in range(steps):
                loss = lam / 2 * (x * x).sum() - (y * (0.5 * y - b + a @ x)).sum()
                down, up = torch.autograd.grad(loss, (x, y))
                with torch.no_grad():
                    x.sub_(down, alpha=eta)
                    y.add_(up, alpha=eta)
            total_x += x.detach()
            total_y += y.detach()
        ends: np.ndarray = (torch.cat([total_x, total_y]) / len(matrices)).numpy()
        return ends

    return run


@peer(name="autograd loop", workload="w2", extra=None, source="torch.autograd.grad")
def w2(data: Mapping[str, Any]) -> Round:
    """Rows [replicates, d], since each has a minibatch of its own; the loss is exp(f_B/γ)."""
    import torch
    from torch.nn.functional import softplus

    inputs = arrays(data, "features", "labels", "starts")
    features, labels, starts = (torch.from_numpy(v) for v in inputs)
    gamma, eta = data["temperature"], data["step_size"]
    chosen = torch.from_numpy(data["chosen"]).permute(1, 0, 3, 2).contiguous()  # K, τ, R, batch

    def run() -> np.ndarray:
        total = torch.zeros_like(starts.T)
        for rows, signs, steps in zip(features, labels, chosen, strict=True):
            w = starts.T.clone(memory_format=torch.contiguous_format).requires_grad_()
            for numbers in steps:
                drawn, sign = rows[numbers], signs[numbers]
                margin = sign * torch.bmm(drawn, w[:, :, None])[:, :, 0]
                loss = torch.exp(softplus(-margin).mean(1) / gamma).sum()
                (gradient,) = torch.autograd.grad(loss, w)
                with torch.no_grad():
                    w.sub_(gradient, alpha=eta)
            total += w.detach()
        ends: np.ndarray = (total / len(features)).T.numpy()
        return ends

    return run
