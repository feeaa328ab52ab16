"""All examples at random, equally many for each client (one more for some)."""

from __future__ import annotations

import numpy as np

from driftproof.toolkit.split import FederatedSplit, split


@split(
    name="iid",
    source="McMahan et al. 2017 (FedAvg), the IID partition of MNIST",
    statement="a random order of all examples, cut into equal parts",
)
class IID(FederatedSplit):
    """Clients whose examples are drawn from one distribution.

    >>> parts = IID().parts(np.zeros(11, int), 3, np.random.default_rng(0))
    >>> [len(part) for part in parts]
    [4, 4, 3]
    """

    def deal(
        self, labels: np.ndarray, clients: int, random: np.random.Generator
    ) -> list[np.ndarray]:
        """Cut a random order."""
        return np.array_split(random.permutation(len(labels)), clients)
