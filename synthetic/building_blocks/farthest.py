r"""The most that ‖P(w − c)‖ can be on a ball: a proven bound, and a sharp one.

For a symmetric P with eigenvalues p_j and every λ > max p_j², completing the square gives, in the
eigenvectors' coordinates,

    p_j²(w_j − c_j)² − λw_j² ≤ p_j²c_j² + (p_j²c_j)²/(λ − p_j²),

so ‖P(w − c)‖² ≤ λB² + Σ_j [p_j²c_j² + (p_j²c_j)²/(λ − p_j²)] wherever ‖w‖ ≤ B. That holds for each
λ; at the best one it is attained (strong duality of the trust-region problem).
"""

import numpy as np
from scipy.optimize import minimize_scalar


def farthest(matrix: np.ndarray, centre: np.ndarray, radius: float) -> float:
    """Return a bound on ‖P(w − c)‖ for ‖w‖ ≤ radius and a symmetric P.

    >>> float(farthest(np.diag([1.0, 2.0]), np.zeros(2), 3.0))
    6.0
    """
    values, vectors = np.linalg.eigh(matrix)
    square, along = values**2, vectors.T @ centre
    top, still = float(square.max()), float((square * along**2).sum())
    if not np.any(square * along):
        return float(np.sqrt(top * radius**2))

    def bound(log_excess: float) -> float:
        excess = np.exp(log_excess)
        return float(
            (top + excess) * radius**2
            + still
            + ((square * along) ** 2 / (top - square + excess)).sum()
        )

    scale = np.log(top + 1e-300)
    optimum = minimize_scalar(
        bound, bounds=(scale - 40, scale + 10), method="bounded", options={"xatol": 1e-9}
    )
    return float(np.sqrt(bound(float(optimum.x))))
