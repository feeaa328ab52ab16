r"""Each client has a share ρ of its own class, and equally many examples of each other class.

**Printed** (ComFedL, preprint, section 5.2): worker i "owns ρ percentage images of class-i, and
(1 − ρ)/9 for all the other classes"; 10 workers, CIFAR-10, ρ = 0.28. The journal's footnote says
that ρ is the share of a *client's* samples. How many samples that are is not printed.

**Chosen**: every client has m = ``size`` examples, of which round(ρm) are of its own class.
The others are dealt over the other C − 1 classes as equally as whole numbers allow: the classes
that come next after the client's own have one more. With more clients than classes, client i's
own class is i mod C. C is the largest label plus 1.

**Heterogeneity.** For clients = C and whole numbers, all classes are equally frequent in all, and
the total variation of a client's class shares from them is ½(|ρ − 1/C| + (C − 1)|(1 − ρ)/(C − 1) −
1/C|) = |ρ − 1/C|: 0.18 for ρ = 0.28 and ten classes.
"""

from __future__ import annotations

import numpy as np

from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.parameters import PositiveInt, UnitInterval
from driftproof.toolkit.split import FederatedSplit, by_class, split


@split(
    name="dominant-class",
    source="ComFedL, preprint, section 5.2, and journal, section 5.2",
    statement="client i has share ρ of class i and (1 − ρ)/(C − 1) of each other class",
)
class DominantClass(FederatedSplit):
    """Clients with a class of their own.

    >>> DominantClass(size=50).counts(3, 10).tolist()
    [4, 4, 4, 14, 4, 4, 4, 4, 4, 4]

    Args:
        share: ρ.
        size: m, the examples of each client.
    """

    uses_all = False
    share: UnitInterval = 0.28
    size: PositiveInt = 100

    @classmethod
    def examples(cls) -> list[DominantClass]:
        """As in the paper, alike, of one class each, and with none of it."""
        return [cls(size=25), cls(share=0.1, size=20), cls(share=1, size=7), cls(share=0, size=8)]

    def counts(self, client: int, classes: int) -> np.ndarray:
        """Return how many examples of each class a client has, [classes]."""
        own = round(self.share * self.size) if classes > 1 else self.size
        each, more = divmod(self.size - own, max(1, classes - 1))
        after = (np.arange(classes) - client) % classes  # 0 is the client's own class
        return np.where(after == 0, own, each + (after <= more))

    def deal(
        self, labels: np.ndarray, clients: int, random: np.random.Generator
    ) -> list[np.ndarray]:
        """Take what each client needs of each class, client after client."""
        numbers = by_class(labels, random)
        counts = np.stack([self.counts(client, len(numbers)) for client in range(clients)])
        for c, wanted in enumerate(counts.sum(0)):
            if wanted > len(numbers[c]):
                raise DriftproofError(
                    f"{self.leaf_name}: {len(numbers[c]):,} examples of class {c}",
                    f"{wanted:,} of them, for {clients} clients of {self.size:,} examples each",
                    "take fewer examples a client, fewer clients, or the whole data set",
                )
        ends = np.cumsum(counts, 0)
        return [
            random.permutation(
                np.concatenate(
                    [own[end - n : end] for own, end, n in zip(numbers, to, many, strict=True)]
                )
            )
            for to, many in zip(ends, counts, strict=True)
        ]
