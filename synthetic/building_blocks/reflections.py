"""Orthogonal matrices without a random seed."""

import numpy as np


def reflections(*normals: np.ndarray) -> np.ndarray:
    """Return the product of the Householder reflections in the given normals.

    >>> reflections(np.array([1.0])).tolist()
    [[-1.0]]
    """
    product = np.eye(len(normals[0]))
    for normal in normals:
        product = product - 2.0 * np.outer(product @ normal, normal) / (normal @ normal)
    return product
