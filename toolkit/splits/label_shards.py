"""Shards of the examples sorted by class, some for each client.

**Printed** (McMahan et al. 2017, section 3): MNIST's 60,000 images are sorted by digit and cut into
200 shards of 300; each of 100 clients gets two. **Chosen**: where the numbers do not divide, some
shards have one example more; within a class the order is random.
"""

from __future__ import annotations

import numpy as np

from driftproof.toolkit.parameters import PositiveInt
from driftproof.toolkit.split import FederatedSplit, split


@split(
    name="label-shards",
    source="McMahan et al. 2017 (FedAvg), section 3, the pathological non-IID partition of MNIST",
    statement="the examples sorted by class, cut into equal shards, `shards` at random a client",
)
class LabelShards(FederatedSplit):
    """Clients with few classes each.

    Args:
        shards: of each client.
    """

    shards: PositiveInt = 2

    @classmethod
    def examples(cls) -> list[LabelShards]:
        """One shard, two, and many."""
        return [cls(shards=1), cls(), cls(shards=9)]

    def deal(
        self, labels: np.ndarray, clients: int, random: np.random.Generator
    ) -> list[np.ndarray]:
        """Sort, cut, and deal the shards."""
        order = random.permutation(len(labels))
        ordered = order[np.argsort(labels[order], kind="stable")]
        shards = np.array_split(ordered, clients * self.shards)
        dealt = random.permutation(len(shards)).reshape(clients, self.shards)
        return [random.permutation(np.concatenate([shards[k] for k in own])) for own in dealt]
