"""scikit-learn's handwritten digits: 1,797 images of 8 × 8, inside the installed package."""

from __future__ import annotations

import numpy as np

from toolkit.datasets import Images


def digits() -> Images:
    """Return the digits, their 17 grey levels scaled to [0, 1].

    >>> digits().pixels.shape, digits().pixels.max()
    ((1797, 64), np.float64(1.0))
    """
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    return Images("digits", pixels / 16.0, labels.astype(np.int64))
