"""A workload made ready: fresh inputs, rotated beyond the caches, every way to run its round."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from driftproof.gpu_bench.workload import Workload
from driftproof.toolkit.federation import sampled_context
from driftproof.toolkit.kernels.registry import Fused, Variant, kernel_of
from driftproof.toolkit.memory import keep_freed_memory

PLAIN_STEPS = "plain steps"
CACHES = 64 << 20
"""Bytes of inputs to rotate through: beyond the second-level caches of processors and GPUs."""
ROUNDS_DRAWN = 1000
"""Rounds whose draws are taken in turn."""

State = Any


class Prepared:
    """One workload in one precision on one device.

    Args:
        workload: what is run.
        seed: of the inputs; a benchmark takes a fresh one each time.
        dtype: "float64" or "float32".
        device: "cpu" or "cuda".
        rotate: whether to keep as many inputs as exceed the caches (False: one).
    """

    def __init__(
        self, workload: Workload, *, seed: int, dtype: str, device: str = "cpu", rotate: bool = True
    ) -> None:
        keep_freed_memory()
        self.workload, self.dtype, self.device = workload, dtype, device
        algorithm = workload.algorithm
        self.ctx = sampled_context(
            workload.problem,
            ("bench", str(seed)),
            replicates=workload.replicates,
            dtype=getattr(torch, dtype),
            device=device,
        )
        self.ctx.local_steps, self.ctx.horizon = algorithm.local_steps, ROUNDS_DRAWN + 2
        self.kernel: Fused | None = kernel_of(algorithm, workload.problem)
        cost = self.cost
        size = cost.bytes if cost is not None else 0.0
        sets = int(np.clip(np.ceil(CACHES / max(size, 1.0)), 2, 16)) if rotate else 1
        self._sets = [self._inputs(np.random.default_rng([seed, number])) for number in range(sets)]

    @property
    def cost(self) -> Any:
        """What one round costs at least (None: its kernel does not say)."""
        if self.kernel is None or self.kernel.cost is None:
            return None
        of = self.workload
        size = torch.finfo(getattr(torch, self.dtype)).bits // 8
        return self.kernel.cost(of.algorithm, of.problem, of.replicates, size)

    @property
    def rotated(self) -> int:
        """How many inputs are taken in turn."""
        return len(self._sets)

    def starts(self, number: int = 0) -> np.ndarray:
        """Return where the round of one input starts, [dim, replicates]."""
        return self.result(self._sets[number][1])

    def result(self, state: State) -> np.ndarray:
        """Return what a round gives: the mean over clients of the fields that peers have too."""
        fields = [getattr(state, name).double().mean(0) for name in self.workload.fields]
        return torch.cat(fields).cpu().numpy()

    def draws(self, name: str, t: int) -> np.ndarray:
        """Return what is drawn t steps into the first round that is timed."""
        of = self.workload
        oracles = self._sets[0][0]
        self.ctx.t = of.algorithm.local_steps + t
        drawn = self.ctx.draw(of.law(oracles), name)
        assert drawn is not None
        return drawn.cpu().numpy()

    def first_start(self) -> State:
        """Return the state from which the first call's round starts."""
        return self._sets[0][1]

    def plain_from(self, state: State) -> State:
        """Return the state one round of plain steps after another one, with the first draws."""
        return self._stepped(self._sets[0][0], state, self._begin(0))

    def variants(self) -> dict[str, Callable[[int], State]]:
        """Return every way to run a round here, by name; the first is what the federation takes."""
        of = self.workload
        fitting = (
            [] if self.kernel is None else list(self.kernel.on(of.algorithm, of.problem, self.ctx))
        )
        fused = {variant.name: self._fused(variant) for variant in fitting}
        return fused | {PLAIN_STEPS: self._plain}

    def poison(self) -> None:
        """Leave not-a-numbers where the next tensors will lie, so that unwritten results show."""
        spoilt = [torch.full_like(x, float("nan")) for x in self._sets[0][1] for _ in range(3)]
        for x in spoilt:
            x.add_(1.0)
        del spoilt

    def _inputs(self, random: np.random.Generator) -> tuple[Any, State]:
        """Return oracles of their own and a start at which clients agree and replicates do not."""
        of, kind = self.workload, getattr(torch, self.dtype)
        oracles = of.problem.oracles(kind, self.device)
        state = of.algorithm.init(self.ctx, oracles, torch.from_numpy(of.problem.start()))
        return oracles, type(state)(*(self._fresh(x, random) for x in state))

    def _fresh(self, x: Tensor, random: np.random.Generator) -> Tensor:
        moved = random.standard_normal((1, *x.shape[1:])) * 0.1
        start = torch.from_numpy(moved).to(x.device, x.dtype) + x[:1]
        return start.expand_as(x)

    def _begin(self, number: int) -> int:
        """Return the step at which a call's round starts: never the first, which may differ."""
        return self.workload.algorithm.local_steps * (1 + number % ROUNDS_DRAWN)

    def _fused(self, variant: Variant) -> Callable[[int], State]:
        of = self.workload
        more = {"record": ""} if variant.many_rounds else {}

        def call(number: int) -> State:
            oracles, state = self._sets[number % len(self._sets)]
            self.ctx.t = self._begin(number)
            return variant(
                self.ctx, oracles, of.algorithm, state, of.algorithm.local_steps, **more
            )[0]

        return call

    def _plain(self, number: int) -> State:
        oracles, state = self._sets[number % len(self._sets)]
        return self._stepped(oracles, state, self._begin(number))

    def _stepped(self, oracles: Any, state: State, begin: int) -> State:
        ctx = self.ctx
        for ctx.t in range(begin, begin + self.workload.algorithm.local_steps):
            state = self.workload.algorithm.step(ctx, oracles, state)
        return state
