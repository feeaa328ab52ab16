"""Ball arithmetic: tensors whose every entry is an interval that contains the true value.

>>> import torch
>>> from driftproof.toolkit.balls import Balls, precision
>>> with precision(200):
...     x = Balls.of(torch.tensor([1.0, 3.0], dtype=torch.float64))
...     third = (1 / x).sum() - 1
...     bool(third * 3 > 0.999999999999999)
True
"""

from driftproof.toolkit.balls import linear, operations, shapes  # noqa: F401 - fill the table
from driftproof.toolkit.balls.tensor import Balls, RefusedError, Truths, precision

__all__ = ["Balls", "RefusedError", "Truths", "precision"]
