"""Sine waves y = A sin(x + φ) as tasks, as in the meta-learning of Finn et al. 2017.

A sample of a task is a set of points, uniform on [−5, 5]; the inner and the outer function see sets
of their own. All at once, "all samples" are a fixed even grid, whose means are those of the uniform
law up to the grid's error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.network_problems.samples import Batch, Source
from driftproof.toolkit.draws import Uniforms

REACH = 5.0
"""x is uniform on [−5, 5]."""


@dataclass(frozen=True, eq=False)
class SineWaves:
    """Each client's tasks.

    Attributes:
        amplitude, phase: A and φ, [clients, tasks, seeds]; with one seed, every replicate has these
            tasks, otherwise replicate r has those of seed r.
        points: in a sample of a task.
        grid: points of the even grid.
        together: whether a client's tasks are one: its sample is the points of all of them, as
            plain training sees them.
    """

    amplitude: np.ndarray
    phase: np.ndarray
    points: int = 10
    grid: int = 51
    together: bool = False

    @property
    def clients(self) -> int:
        """How many clients."""
        return len(self.amplitude)

    def held(self, dtype: torch.dtype, device: str, clients: range | None) -> SinePoints:
        """Return the points of some clients (None: all)."""
        return SinePoints(self, dtype, device, clients or range(self.clients))

    def values(self, x: np.ndarray) -> np.ndarray:
        """Return every task's curve at points [n], [clients, tasks, seeds, n]."""
        curve: np.ndarray = self.amplitude[..., None] * np.sin(x + self.phase[..., None])
        return curve


class SinePoints(Source):
    """Points of the clients' sine waves and the values there."""

    def __init__(self, waves: SineWaves, dtype: torch.dtype, device: str, clients: range) -> None:
        own = slice(clients.start, clients.stop)
        self.clients, self._tasks = len(clients), waves.amplitude.shape[1]
        self.tasks = 1 if waves.together else self._tasks
        self._amplitude, self._phase = (
            torch.from_numpy(array[own]).to(device, dtype)
            for array in (waves.amplitude, waves.phase)
        )
        self._points = waves.points
        self._grid = torch.linspace(-REACH, REACH, waves.grid, dtype=dtype, device=device)
        weight = torch.full((self.clients, 1, 1), 1.0 / waves.clients, dtype=dtype)
        self.client_weights = weight.to(device)

    def law(self, batch: int) -> Uniforms:
        """Return uniform numbers in [0, 1), a point each: ``batch`` sets of points a task."""
        return Uniforms(self._tasks * batch * self._points)

    def pieces(self, draw: Tensor | None, replicates: int) -> Iterator[Batch]:
        """Yield the points of a draw [clients, tasks·points, replicates], or the grid."""
        shape = (self.clients, self._tasks, -1, replicates)
        if draw is None:
            x = self._grid[:, None].expand(*shape[:2], len(self._grid), replicates)
        else:
            x = (2 * REACH * draw - REACH).view(shape)
        y = self._amplitude[:, :, None] * torch.sin(x + self._phase[:, :, None])
        x, y = (v.reshape(self.clients * self.tasks, -1, replicates).mT for v in (x, y))
        x, y = x.flatten(0, 1), y.flatten(0, 1)
        yield Batch(x[..., None], y, torch.full_like(x, 1.0 / x.shape[1]))
