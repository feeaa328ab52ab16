"""Partitioners of Flower Datasets (``flwr_datasets.partitioner``) as federated splits.

They are an extra, ``pip install 'driftproof[flower]'``: they work on the data sets of Hugging Face,
which are not needed otherwise.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftproof.toolkit.errors import DriftproofError, MissingError
from driftproof.toolkit.split import FederatedSplit


@dataclass(frozen=True, kw_only=True)
class FlowerSplit(FederatedSplit):
    """What ``from_flower`` returns.

    Args:
        partitioner: a partitioner, or a function that makes one from a seed.
    """

    partitioner: Any = None

    uses_all = False

    def deal(
        self,
        labels: np.ndarray,
        groups: np.ndarray | None,
        clients: int,
        random: np.random.Generator,
    ) -> list[np.ndarray]:
        """Have a partitioner deal the numbers of the examples, in random order."""
        try:
            from datasets import Dataset
        except ImportError as error:
            raise MissingError(
                "Hugging Face's datasets, which Flower's partitioners work on, is not installed",
                "flwr-datasets beside driftproof",
                "pip install 'driftproof[flower]'",
            ) from error
        order, seed = random.permutation(len(labels)), int(random.integers(2**31))
        made = not hasattr(self.partitioner, "load_partition")
        partitioner = self.partitioner(seed) if made else deepcopy(self.partitioner)
        columns = {"example": order, "label": labels[order]}
        columns |= {} if groups is None else {"group": groups[order]}
        name = type(partitioner).__name__
        try:
            partitioner.dataset = Dataset.from_dict(columns)
            ids = range(partitioner.num_partitions)
            rows = [partitioner.load_partition(k)["example"] for k in ids]
            dealt = [random.permutation(np.asarray(numbers, np.int64)) for numbers in rows]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DriftproofError(
                f"Flower's {name}: {type(error).__name__}: {error}",
                f"a partitioner of rows that have the columns {', '.join(columns)}",
                "make one that has no data set yet; partition_by is 'label' or 'group'",
            ) from error
        if len(dealt) != clients:
            raise DriftproofError(
                f"Flower's {name} with {len(dealt)} partitions",
                f"one for each of {clients} clients",
                f"make it with num_partitions={clients}, or take {len(dealt)} clients",
            )
        return dealt


def from_flower(partitioner: Any) -> FlowerSplit:
    """Return a partitioner of Flower Datasets as a split.

    The partitioner sees the examples in an order drawn anew for each generator, as rows with the
    columns "example" (the number), "label" and, where there are groups, "group". A partitioner that
    draws has a seed of its own: given as a function of a seed, it is made anew for each generator,
    and draws anew too.

    Args:
        partitioner: one of ``flwr_datasets.partitioner`` that has no data set yet,
            ``DirichletPartitioner(num_partitions=10, partition_by="label", alpha=0.5)`` say; or a
            function from a seed to one.

    Raises:
        DriftproofError: it is neither; or, from ``parts``, it has another number of partitions than
            there are clients, or Flower refuses the data.
        MissingError: from ``parts``, Hugging Face's datasets is not installed.
    """
    if not hasattr(partitioner, "load_partition") and not callable(partitioner):
        raise DriftproofError(
            f"{partitioner!r}",
            "a partitioner of flwr_datasets, or a function from a seed to one",
            "from flwr_datasets.partitioner import IidPartitioner; IidPartitioner(10)",
        )
    return FlowerSplit(partitioner=partitioner)
