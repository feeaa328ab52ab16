"""The enumerated context: one replicate per atom of the noise, so that means are expectations."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit.draws import Law, TooManyAtoms, Words, elements, outcomes_of
from driftproof.toolkit.engines.batched import BatchedContext
from driftproof.toolkit.errors import DriftproofError

Key = tuple[str, int, int, tuple[int, ...]]


class Drew(Exception):  # noqa: N818 - a signal between context and federation, never shown
    """A run that was thought to have no noise asked for a draw."""


class NoiselessContext(BatchedContext):
    """One replicate of a run without noise, or equal copies of it; the first draw ends it."""

    def __init__(self, clients: int, *, dtype: torch.dtype, device: str, copies: int = 1) -> None:
        super().__init__(Words(), clients, replicates=copies, dtype=dtype, device=device)

    def _sample(self, law: Law, name: str, step: int, clients: range) -> np.ndarray:
        raise Drew


class EnumeratedContext(BatchedContext):
    """Runs every combination of the noise's atoms at once, each with its probability.

    A first run with ``atoms=None`` meets every draw and counts; ``enumerate`` then makes the
    context in which replicate j is the j-th combination, in mixed radix. Draws are known by name,
    step, client and element, never by call order.

    Args:
        limit: the most atoms to enumerate.
        copies: how often each atom is run, for those that jitter tells apart; copy c of atom j is
            replicate c·atoms + j.
    """

    fusable = False

    def __init__(
        self,
        clients: int,
        *,
        limit: int = 4096,
        dtype: torch.dtype = torch.float64,
        device: str = "cpu",
        atoms: dict[Key, tuple[int, int]] | None = None,
        copies: int = 1,
    ) -> None:
        self._digits = {} if atoms is None else atoms  # key → (stride, radix)
        self._counting = atoms is None
        self._limit = limit
        replicates = copies * self._total()
        super().__init__(Words(), clients, replicates=replicates, dtype=dtype, device=device)
        self._probabilities = np.full(self.replicates, 1.0 / copies)
        self._weighted: set[Key] = set()

    def enumerate(self, dtype: torch.dtype = torch.float64, copies: int = 1) -> EnumeratedContext:
        """Return the context that runs all atoms found by this counting run."""
        return EnumeratedContext(
            self.clients,
            limit=self._limit,
            dtype=dtype,
            device=self.device,
            atoms=self._digits,
            copies=copies,
        )

    def repeated(self, firsts: Sequence[int]) -> EnumeratedContext:
        """Return the context in which a replicate has its draws again from each of some steps on.

        They are met at first + step, where they were met at ``step``.
        """
        made = EnumeratedContext(self.clients, limit=self._limit, atoms=self._digits)
        made._digits = {
            (name, step + first, client, index): digit
            for (name, step, client, index), digit in self._digits.items()
            for first in firsts
        }
        return made

    @property
    def atom_count(self) -> int:
        """How many atoms the draws met so far have."""
        return self._total()

    @property
    def digits(self) -> dict[Key, tuple[int, int]]:
        """Every draw met so far, with its stride and radix among the atoms."""
        return self._digits

    @property
    def weights(self) -> Tensor:
        """The atoms' probabilities, shared by their copies (complete once the run has ended)."""
        return torch.from_numpy(self._probabilities)

    def _sample(self, law: Law, name: str, step: int, clients: range) -> np.ndarray:
        drawn = [
            [self._element(law, (name, step, client, index)) for index in elements(law)]
            for client in clients
        ]
        values = np.array(drawn)  # [clients, elements, replicates, …]
        values = values.reshape(len(clients), *law.shape, self.replicates, *values.shape[3:])
        # an element whose atoms are vectors (a subset's mask) has its entries before the replicates
        return np.moveaxis(values, -1, 1) if values.ndim > len(law.shape) + 2 else values

    def _element(self, law: Law, key: Key) -> np.ndarray:
        values, probabilities = outcomes_of(law, key[2])
        if key not in self._digits:
            if not self._counting:
                name, step, client, _ = key
                raise DriftproofError(
                    f"the draw {name!r} of client {client} in step {step + 1}, which is made after "
                    "some outcomes of earlier draws and not after others",
                    "the same draws whatever was drawn before",
                    "draw always, and use what was drawn where the condition holds: torch.where",
                )
            self._digits[key] = (self._total(), len(values))
            if self._total() > self._limit:
                raise TooManyAtoms
        if self._counting:
            return values[:1]
        stride, radix = self._digits[key]
        digit = np.arange(self.replicates) // stride % radix
        if key not in self._weighted:
            self._weighted.add(key)
            self._probabilities = self._probabilities * probabilities[digit]
        return values[digit]

    def _total(self) -> int:
        return math.prod(radix for _, radix in self._digits.values())
