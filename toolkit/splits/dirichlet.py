r"""Class shares of each client that are drawn from a Dirichlet distribution.

Every client has equally many examples (one more for some). Its class shares are q ~ Dir(α p), p the
class shares of the data. Its examples are drawn one by one, the class from q; a class that is used
up is left out. So the last clients have what the others left. Where q is 0, in floating point, for
all classes that are left, its shares of those are drawn now: by the neutrality of the Dirichlet
distribution they are Dir(α p) over these classes, whatever the others were. Until a class is used
up, E q_c = p_c and Var q_c = p_c (1 − p_c)/(α + 1).

Yurochkin et al. (2019) draw the shares of each class over the clients instead, so that sizes differ
as well; that is not here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from driftproof.toolkit.parameters import Constraint
from driftproof.toolkit.split import FederatedSplit, by_class, split


@split(
    name="dirichlet",
    source="Hsu, Qi, Brown 2019",
    statement="class shares of a client are Dirichlet(α)",
)
class Dirichlet(FederatedSplit):
    """Clients between alike (α → ∞) and of one class each (α → 0).

    Args:
        concentration: α, the sum of the distribution's parameters.
    """

    concentration: Annotated[float, Constraint(1e-6, 1e6)] = 1.0

    @classmethod
    def examples(cls) -> list[Dirichlet]:
        """In between; nearly one class a client, and nearly alike."""
        return [cls(), cls(concentration=0.01), cls(concentration=1000.0)]

    def deal(
        self, labels: np.ndarray, clients: int, random: np.random.Generator
    ) -> list[np.ndarray]:
        """Cut each class at the clients' numbers of it."""
        numbers = by_class(labels, random)
        sizes = np.array([len(own) for own in numbers])
        ends = np.cumsum(list(self._counts(sizes, clients, random)), 0)
        cuts = [np.split(own, to[:-1]) for own, to in zip(numbers, ends.T, strict=True)]
        return [random.permutation(np.concatenate(pieces)) for pieces in zip(*cuts, strict=True)]

    def _counts(
        self, sizes: np.ndarray, clients: int, random: np.random.Generator
    ) -> Iterator[np.ndarray]:
        """Yield how many examples of each class a client has, [classes]."""
        left = sizes.copy()
        for examples in map(len, np.array_split(np.arange(sizes.sum()), clients)):
            shares = self._shares(sizes, sizes > 0, random)
            counts = np.zeros_like(sizes)
            # what a class has too few for is drawn again without it: as if drawn one by one
            while lacking := examples - counts.sum():
                weights = np.where(counts < left, shares, 0.0)
                if not weights.sum():
                    weights = shares = self._shares(sizes, counts < left, random)
                drawn = random.multinomial(lacking, weights / weights.sum())
                counts = np.minimum(counts + drawn, left)
            left -= counts
            yield counts

    def _shares(
        self, sizes: np.ndarray, among: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Draw a client's shares of some classes, [classes]; 0 elsewhere."""
        shares = np.zeros(len(sizes))
        shares[among] = random.dirichlet(self.concentration * sizes[among] / sizes.sum())
        return shares
