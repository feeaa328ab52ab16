"""All clients at once in torch: ``vmap(grad(loss))`` of torch.func.

In w1 the replicates are the last axis, [clients, d, replicates]: a ``vmap`` over them outside of
the one over clients computes with a copy of all matrices for each, and takes twenty times as long
at d = 100, R = 64. They are columns of what the loss of a client takes (losses of independent
columns are added), and not a second ``vmap`` inside with in_dims = out_dims = −1, which gives the
same numbers up to a third slower. In w2 each replicate has rows of its own, so clients and
replicates are one axis of one ``vmap``.

Not compiled: ``torch.compile`` needs a C++ compiler on the machine and many seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from driftproof.gpu_bench.peer import arrays, peer

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    from driftproof.gpu_bench.workload import Round


@peer(name="torch.func", workload="w1", extra=None, source="torch.func.vmap of torch.func.grad")
def w1(data: Mapping[str, Any]) -> Round:
    """The loss is λ/2 ‖x‖² − yᵀ(y/2 − b + Ax); descent in x, ascent in y."""
    import torch
    from torch.func import grad, vmap

    inputs = arrays(data, "matrices", "offsets", "starts")
    matrices, offsets, starts = (torch.from_numpy(v) for v in inputs)
    lam, eta, steps = data["regulariser"], data["step_size"], data["local_steps"]
    (clients, d, _), offsets = matrices.shape, offsets[:, :, None]

    def loss(x: Tensor, y: Tensor, a: Tensor, b: Tensor) -> Tensor:
        total: Tensor = lam / 2 * (x * x).sum() - (y * (0.5 * y - b + a @ x)).sum()
        return total

    gradients = vmap(grad(loss, argnums=(0, 1)))

    def run() -> np.ndarray:
        x, y = (v.expand(clients, *v.shape) for v in (starts[:d], starts[d:]))
        for _ in range(steps):
            down, up = gradients(x, y, matrices, offsets)
            x, y = x.sub(down, alpha=eta), y.add(up, alpha=eta)
        ends: np.ndarray = torch.cat([x.mean(0), y.mean(0)]).numpy()
        return ends

    return run


@peer(name="torch.func", workload="w2", extra=None, source="torch.func.vmap of torch.func.grad")
def w2(data: Mapping[str, Any]) -> Round:
    """The loss of a minibatch is exp(f_B/γ); the rows are gathered before it, by one call."""
    import torch
    from torch.func import grad, vmap
    from torch.nn.functional import softplus

    inputs = arrays(data, "features", "labels", "starts")
    features, labels, starts = (torch.from_numpy(v) for v in inputs)
    gamma, eta = data["temperature"], data["step_size"]
    clients, samples, d = features.shape
    rows, signs = features.view(-1, d), labels.view(-1)
    first = samples * torch.arange(clients)[:, None, None]
    chosen = (torch.from_numpy(data["chosen"]).permute(0, 1, 3, 2) + first).flatten(1, 2)
    steps, pairs, batch = chosen.shape
    numbers = chosen.contiguous().view(steps, -1)

    def loss(w: Tensor, drawn: Tensor, sign: Tensor) -> Tensor:
        return torch.exp(softplus(-sign * (drawn @ w)).mean() / gamma)

    gradients = vmap(grad(loss))

    def run() -> np.ndarray:
        w = starts.T.expand(clients, -1, -1).reshape(pairs, d)
        for step in numbers:
            drawn = rows.index_select(0, step).view(pairs, batch, d)
            sign = signs.index_select(0, step).view(pairs, batch)
            w = w.sub(gradients(w, drawn, sign), alpha=eta)
        ends: np.ndarray = w.view(clients, -1, d).mean(0).T.numpy()
        return ends

    return run
