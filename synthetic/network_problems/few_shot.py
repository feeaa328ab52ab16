"""Few-shot classification: each time a new task is drawn, N classes of which K drawings are shown.

One draw holds every random number of a task: the classes of the client that it has, in an order
that gives them their labels, and an order of each class's drawings, of which the first K are the
support and the next ones the query. So the support and the query of one draw belong together.

Drawings turned by a multiple of 90° are a class of their own, as in Santoro et al. 2016, whose
augmentation Finn et al. 2017 follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.network_problems.samples import Batch, Source
from driftproof.toolkit.draws import Uniforms
from driftproof.toolkit.errors import DriftproofError

TURNS = 4
LEVELS = 255.0


@dataclass(frozen=True, eq=False)
class FewShot:
    """What clients draw their tasks from.

    Attributes:
        images: of each client, [characters, drawings, side, side], bytes.
        ways: N.
        shots: K.
        queries: drawings a class in the query.
        part: "support" or "query", of the same task where the draw is the same.

    Raises:
        DriftproofError: a client has fewer than N classes, or fewer drawings than are shown.
    """

    images: Sequence[np.ndarray]
    ways: int
    shots: int
    queries: int
    part: Literal["support", "query"] = "support"

    def __post_init__(self) -> None:
        needed = self.shots + self.queries
        for client, images in enumerate(self.images):
            if TURNS * len(images) < self.ways or images.shape[1] < needed:
                raise DriftproofError(
                    f"client {client}: {len(images)} characters, {images.shape[1]} drawings",
                    f"{self.ways} classes or more (a character is {TURNS}), {needed} drawings",
                    "take fewer ways, shots or queries, or clients with more characters",
                )

    @property
    def clients(self) -> int:
        """How many clients."""
        return len(self.images)

    def held(self, dtype: torch.dtype, device: str, clients: range | None) -> FewShotTasks:
        """Return the tasks of some clients (None: all)."""
        return FewShotTasks(self, dtype, device, clients or range(self.clients))


class FewShotTasks(Source):
    """Support or query of drawn tasks."""

    def __init__(self, of: FewShot, dtype: torch.dtype, device: str, clients: range) -> None:
        own = [of.images[k] for k in clients]
        counts = [len(images) for images in own]
        self._of, self._dtype, self.clients = of, dtype, len(own)
        self._drawings = own[0].shape[1]
        every = torch.from_numpy(np.concatenate(own)).flatten(0, 1)
        turned = [torch.rot90(every, turn, (1, 2)) for turn in range(TURNS)]
        self._images = torch.stack(turned).flatten(0, 1)[:, None].to(device)
        self._total = len(every)
        self._most = TURNS * max(len(images) for images in of.images)
        classes = torch.tensor([TURNS * count for count in counts], device=device)
        # keys of classes that a client lacks are 1, above every uniform number
        self._lacking = torch.arange(self._most, device=device) >= classes[:, None]
        first = torch.tensor([0, *np.cumsum(counts)[:-1].tolist()], device=device)
        self._first = first[:, None, None]
        weight = torch.full((self.clients, 1, 1), 1.0 / of.clients, dtype=dtype)
        self.client_weights = weight.to(device)

    def law(self, batch: int) -> Uniforms:
        """Return a key for every class and for every drawing of the chosen ones: one task."""
        return Uniforms(self._most + self._of.ways * self._drawings)

    def pieces(self, draw: Tensor | None, replicates: int) -> Iterator[Batch]:
        """Yield the support or the query of a draw [clients, keys, replicates].

        There are too many tasks for all of them at once (no draw).
        """
        assert draw is not None
        of, keys = self._of, draw.mT
        lacking = self._lacking[:, None].expand(-1, replicates, -1)
        classes = keys[..., : self._most].masked_fill(lacking, 1.0).argsort(-1)[..., : of.ways]
        of_class = keys[..., self._most :].reshape(*keys.shape[:2], of.ways, self._drawings)
        own = of_class.argsort(-1)
        shown = slice(of.shots) if of.part == "support" else slice(of.shots, of.shots + of.queries)
        drawings = own[..., shown]
        character = (self._first + classes // TURNS)[..., None]
        number = classes[..., None] % TURNS * self._total + character * self._drawings + drawings
        number = number.flatten(0, 1).flatten(1)  # [units, ways·drawings]
        images = self._images[number].to(self._dtype) / LEVELS
        labels = torch.arange(of.ways, device=draw.device).repeat_interleave(drawings.shape[-1])
        targets = labels.expand(len(number), -1)
        yield Batch(images, targets, torch.full_like(targets, 1.0 / len(labels), dtype=self._dtype))
