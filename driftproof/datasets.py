"""What a data set of your own is written with: ``from driftproof.datasets import DataSet``."""

from typing import TYPE_CHECKING

from driftproof.toolkit.exports import exports

if TYPE_CHECKING:
    from driftproof.toolkit.dataset import Data as Data
    from driftproof.toolkit.dataset import DataSet as DataSet
    from driftproof.toolkit.dataset import Split as Split
    from driftproof.toolkit.dataset import dataset as dataset
    from driftproof.toolkit.dataset import read as read
    from driftproof.toolkit.file_reader import FileReader as FileReader
    from driftproof.toolkit.file_reader import opened as opened
    from driftproof.toolkit.file_reader import wrong_at as wrong_at
    from driftproof.toolkit.idx import as_idx as as_idx
    from driftproof.toolkit.idx import read_idx as read_idx

__getattr__, __dir__, __all__ = exports(__name__, __file__)
