"""Whole groups: an alphabet of Omniglot, or a protected group of Adult, is at one client only.

**Printed** (Local-SCGDM, section 5.2): "we distribute one alphabet to a client", 33 clients. FedDRO
2023 has protected groups of Adult in its constraints; how it deals Adult to clients is not printed.
**Chosen**: with as many clients as groups, client k has the k-th group in the order of their
numbers. With fewer clients the groups are dealt at random, equally many to each (one more to some).
"""

from __future__ import annotations

import numpy as np

from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.split import FederatedSplit, split


@split(
    name="by-group",
    source="Local-SCGDM, section 5.2, Omniglot with one alphabet a client",
    statement="every group is at one client; with as many clients as groups, one group a client",
)
class ByGroup(FederatedSplit):
    """Clients that share no group.

    >>> groups = np.array([7, 3, 7, 3, 3])
    >>> parts = ByGroup().parts(np.zeros(5, int), groups, 2, np.random.default_rng(0))
    >>> [sorted(part.tolist()) for part in parts]
    [[1, 3, 4], [0, 2]]
    """

    def deal(
        self,
        labels: np.ndarray,
        groups: np.ndarray | None,
        clients: int,
        random: np.random.Generator,
    ) -> list[np.ndarray]:
        """Deal the groups, then put each client's examples in random order."""
        if groups is None:
            raise DriftproofError(
                f"{self.leaf_name}: no groups",
                "the number of each example's group",
                "pass groups=…, an example's alphabet or protected group, or take another split",
            )
        there = np.unique(groups)
        if clients > len(there):
            raise DriftproofError(
                f"{self.leaf_name}: {clients} clients and {len(there)} groups",
                "a group or more for each client",
                f"take at most {len(there)} clients, or another split",
            )
        ordered = there if clients == len(there) else random.permutation(there)
        return [
            random.permutation(np.flatnonzero(np.isin(groups, own)))
            for own in np.array_split(ordered, clients)
        ]
