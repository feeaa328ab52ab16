"""What a data set of your own is written with: ``from driftproof.datasets import DataSet``."""

from __future__ import annotations

from driftproof.toolkit.dataset import Data, DataSet, Split, dataset, read
from driftproof.toolkit.file_reader import FileReader, opened, wrong_at
from driftproof.toolkit.idx import as_idx, read_idx

__all__ = [
    "Data",
    "DataSet",
    "FileReader",
    "Split",
    "as_idx",
    "dataset",
    "opened",
    "read",
    "read_idx",
    "wrong_at",
]
