r"""A context that draws rare outcomes as often as frequent ones, and says how much each counts.

By its law an outcome of probability 10⁻⁶ is never seen in 64 replicates. Here half of the
replicates, whichever a coin chooses, draw each element evenly from its support. Whatever bounds
every outcome has to bound these. Of a mean each replicate counts by

    w = p/(p/2 + u/2) ≤ 2,    E w f = E_p f,

where p and u are the probabilities of all its draws by the law and evenly: importance sampling.
"""

from typing import Any

import numpy as np

from driftproof.toolkit.draws import Law, TooManyAtoms, Words, outcomes_of
from driftproof.toolkit.engines.batched import BatchedContext


class RareContext(BatchedContext):
    """The batched context of one block in double, of whose outcomes the rare ones are drawn too."""

    def __init__(self, clients: int, names: tuple[str, ...], replicates: int) -> None:
        super().__init__(Words(*names), clients, replicates=replicates)
        self._random = np.random.default_rng(list("\0".join(names).encode()))
        self._even = self._random.random(replicates) < 0.5
        self._log_ratio = np.zeros(replicates)
        """log u − log p of what was drawn so far."""
        self._drawn: dict[Any, np.ndarray] = {}

    @property
    def counts(self) -> np.ndarray:
        """How much each replicate counts in a mean, [replicates]."""
        with np.errstate(over="ignore"):
            weights: np.ndarray = 2.0 / (1.0 + np.exp(self._log_ratio))
        return weights

    def _sample(self, law: Law, name: str, step: int, clients: range) -> np.ndarray:
        key = (repr(law), name, step, clients)
        if key not in self._drawn:
            self._drawn[key] = self._drawn_evenly(law, super()._sample(law, name, step, clients))
        return self._drawn[key]

    def _drawn_evenly(self, law: Law, values: np.ndarray) -> np.ndarray:
        """Replace draws [clients, *shape, replicates] of half of the replicates by even ones."""
        values = values.copy()
        for client, own in enumerate(values):
            try:
                atoms, chances = outcomes_of(law, client)
            except TooManyAtoms:
                continue
            atoms, chances = atoms[chances > 0], chances[chances > 0]
            if atoms.ndim > 1:  # a cohort, say, whose outcomes are equally likely anyway
                continue
            even = self._random.integers(len(atoms), size=own.shape)
            own[..., self._even] = atoms[even][..., self._even]
            places = np.abs(own[..., None] - atoms).argmin(-1)
            ratio = -np.log(chances * len(atoms))[places]
            self._log_ratio += ratio.reshape(-1, own.shape[-1]).sum(0)
        return values
