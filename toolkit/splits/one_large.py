"""One large and many small clients, each a random sample of all examples.

**Printed** (ComFedL, preprint, section 5.1): of 10 workers, one that is chosen at random has 5,000
images of MNIST and each of the others 20. **Chosen**: the large one is client 0. The clients differ
by chance alone, so which one is large changes nothing but its number.
"""

from __future__ import annotations

import numpy as np

from driftproof.toolkit.parameters import PositiveInt
from driftproof.toolkit.split import FederatedSplit, cut, split


@split(
    name="one-large",
    source="ComFedL, preprint, section 5.1",
    statement="client 0 has `large` random examples, each other client `small`",
)
class OneLarge(FederatedSplit):
    """Clients that differ in size alone.

    >>> OneLarge().sizes(4)
    [5000, 20, 20, 20]

    Args:
        large: examples of client 0.
        small: examples of each other client.
    """

    uses_all = False
    large: PositiveInt = 5000
    small: PositiveInt = 20

    @classmethod
    def examples(cls) -> list[OneLarge]:
        """As in the paper, and smaller."""
        return [cls(large=200, small=5), cls(large=1, small=1)]

    def sizes(self, clients: int) -> list[int]:
        """Return how many examples each client has."""
        return [self.large] + [self.small] * (clients - 1)

    def deal(
        self, labels: np.ndarray, clients: int, random: np.random.Generator
    ) -> list[np.ndarray]:
        """Cut the beginning of a random order."""
        return cut(random.permutation(len(labels)), self.sizes(clients))
