"""A step imbalance: few examples of each of the first half of the classes, then equal parts.

**Printed** (FedDRO 2023, section 6): CIFAR10-ST and CIFAR100-ST are "unbalanced versions of CIFAR10
and CIFAR100", split equally over 8 clients. Not printed: how they are made. The citation there, Qi
et al. 2020b, is in its list of references a paper on pairwise metric learning.

**Chosen**: what the public code of Qi et al. 2021 (RECOVER, qiqi-helloworld/RECOVER, dataset.py)
does. Of each class below C/2 (the half is rounded down) it keeps the *last* examples in the order
of the file, from number ⌊n_c (1 − share)⌋ on, and of the other classes all. share = 0.02 is the
smallest one there: 100 of CIFAR-10's 5,000 images a class, and 10 of CIFAR-100's 500. What is kept
does not depend on the seed; how it is dealt does. C is the largest label plus 1.

**Heterogeneity.** The clients differ by chance alone; it is all of them together that lack classes.
"""

from __future__ import annotations

import math

import numpy as np

from driftproof.toolkit.parameters import Share
from driftproof.toolkit.split import FederatedSplit, split


@split(
    name="reduced-classes",
    source="FedDRO 2023, section 6 (CIFAR10-ST); Qi et al. 2021 (RECOVER), public code",
    statement="the last `share` of each of the first half of the classes, all of the others",
)
class ReducedClasses(FederatedSplit):
    """Clients that are alike, and all of which have few examples of half of the classes.

    >>> ReducedClasses(share=0.25).kept(np.array([0, 1, 0, 0, 1, 0])).tolist()
    [1, 4, 5]

    Args:
        share: what is kept of a reduced class.
    """

    uses_all = False
    share: Share = 0.02

    @classmethod
    def examples(cls) -> list[ReducedClasses]:
        """As in the code, with more, and with all."""
        return [cls(), cls(share=0.2), cls(share=1.0)]

    def kept(self, labels: np.ndarray) -> np.ndarray:
        """Return the numbers of the examples that are kept, in their order."""
        keeps = np.ones(len(labels), bool)
        for c in range((labels.max() + 1) // 2):
            numbers = np.flatnonzero(labels == c)
            keeps[numbers[: math.floor(len(numbers) * (1 - self.share))]] = False
        return np.flatnonzero(keeps)

    def deal(
        self, labels: np.ndarray, clients: int, random: np.random.Generator
    ) -> list[np.ndarray]:
        """Cut a random order of what is kept."""
        return np.array_split(random.permutation(self.kept(labels)), clients)
