"""Runs of the kernels' Triton variants, shared by the tests on values and on machine code."""

from __future__ import annotations

from typing import Any

import torch

from synthetic.problems import (
    KLDRO,
    AveragedComposition,
    BiasAmplification,
    BoundedComposition,
    QuadraticMinimax,
)
from toolkit.algorithms import ComFedL, FedAvg, FedDRO, LocalSCGDM
from toolkit.federation import sampled_context
from toolkit.kernels.registry import kernel_of

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
"""Compiled on a GPU; interpreted where there is none."""

NOISY = BoundedComposition(
    clients=3, dim=2, inner_dim=3, inner_curvature=0.4, heterogeneity=0.6,
    opposition_slope=0.7, opposition_curvature=2.0, opposition_centre=0.5, inner_value_noise=0.2,
    inner_gradient_noise=0.3, outer_gradient_noise=0.2, distance=0.8,
)  # fmt: skip
COMPOSED = AveragedComposition(
    clients=5, dim=3, inner_dim=2, inner_curvature=0.5, inner_heterogeneity=0.4, inner_offset=0.6,
    plain_slope=0.5, plain_tilt=0.2, inner_value_noise=0.2, inner_gradient_noise=0.3,
    plain_noise=0.1, distance=1.1,
)  # fmt: skip
COMPILED = [
    (FedAvg(batch=2), QuadraticMinimax(clients=3, dim=10, gradient_noise=0.2), 64),
    (FedAvg(participation=0.4), QuadraticMinimax(clients=3, dim=64), 1),
    (FedAvg(participation=0.4), QuadraticMinimax(clients=3, dim=100, gradient_noise=0.2), 64),
    (ComFedL(local_steps=2, batch=50), KLDRO(clients=2, dim=64, samples=5), 4),
    (ComFedL(local_steps=2, batch=3), KLDRO(clients=2, dim=1, samples=5), 1),
    (LocalSCGDM(samples="one"), NOISY, 64),
    (LocalSCGDM(averaged="u"), BiasAmplification(), 1),
    (LocalSCGDM(), BoundedComposition(clients=16, dim=10, inner_dim=10), 64),
    (FedDRO(batch=4), COMPOSED, 5),
    (FedDRO(first_step="computed"), AveragedComposition(clients=64, inner_curvature=0.3), 64),
]
"""What is compiled for a Hopper GPU where there is none: algorithm, problem, replicates."""


class Run:
    """One algorithm on one problem in one precision, from a start at which all differ."""

    def __init__(
        self, algorithm: Any, problem: Any, replicates: int, *, dtype: torch.dtype = torch.float64,
        device: str = DEVICE, block: int = 1, t: int = 0, seed: int = 0,
    ) -> None:  # fmt: skip
        self.algorithm, self.problem = algorithm, problem
        self.ctx = sampled_context(
            problem, ("triton", str(seed)), replicates=replicates, block=block, dtype=dtype,
            device=device,
        )  # fmt: skip
        self.ctx.t, self.ctx.local_steps, self.ctx.horizon = t, algorithm.local_steps, 9
        self.oracles = problem.oracles(dtype, device, self.ctx.local)
        begun = algorithm.init(self.ctx, self.oracles, torch.from_numpy(problem.start()))
        random = torch.Generator().manual_seed(seed)
        self.state = type(begun)(
            *(x + 0.3 * torch.randn(x.shape, generator=random).to(x) for x in begun)
        )

    @property
    def variant(self) -> Any:
        """The Triton variant of the kernel that serves this pair."""
        kernel = kernel_of(self.algorithm, self.problem)
        assert kernel is not None
        return kernel.variants["triton"]

    def fused(self, steps: int, **more: Any) -> Any:
        """Take steps in the kernel, of a state whose strides are not those of a new tensor."""
        strided = type(self.state)(*(x.permute(2, 0, 1).contiguous().permute(1, 2, 0)
                                     for x in self.state))  # fmt: skip
        return self.variant.advance(self.ctx, self.oracles, self.algorithm, strided, steps, **more)

    def plain(self, steps: int) -> tuple[list[Any], float]:
        """Take plain steps; return the states before each and after the last, and the reach."""
        first, reach, states = self.ctx.t, 0.0, [self.state]
        for self.ctx.t in range(first, first + steps):
            states.append(self.algorithm.step(self.ctx, self.oracles, states[-1]))
            iterate = self.ctx.marks[self.algorithm.iterate]
            reach = max(reach, float((iterate * iterate).sum(1).max()) ** 0.5)
        return states, reach
