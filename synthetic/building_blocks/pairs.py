"""Clients in pairs: heterogeneity that cancels from the mean exactly."""

import numpy as np


def pair_signs(clients: int) -> np.ndarray:
    """Return +1 and −1 for clients 2j and 2j + 1, and 0 for an odd one out, [clients].

    >>> pair_signs(3).tolist()
    [1.0, -1.0, 0.0]
    """
    signs = np.where(np.arange(clients) % 2 == 0, 1.0, -1.0)
    if clients % 2:
        signs[-1] = 0.0
    return signs
