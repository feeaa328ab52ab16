"""What rounds in which both variables of a minimax problem move at every step ask of a machine."""

from typing import Any

from driftproof.toolkit.kernels.registry import Cost


def descent_ascent(
    algorithm: Any, problem: Any, replicates: int, real: int, words: float = 0.0
) -> Cost:
    r"""Two products and eight operations an entry of x and y, for the clients of a cohort.

    A local step is y ← y + β(b_i − y − A_i x) and x ← x − α(λx − A_iᵀy): A_i x and A_iᵀy are 4·d²
    operations (4·d where every A_i is diagonal), and an entry of either is two terms joined to its
    product, scaled and added. Each replicate has a cohort of its own, so all A_i and b_i are read
    unless they are few; x and y are read once and written once.
    """
    dim, members = problem.dim, algorithm.cohort_size(problem.clients)
    diagonal = dim == 1 or getattr(problem, "matrices_drawn", "") == "multiples"
    entries = dim if diagonal else dim * dim
    read = min(problem.clients, members * replicates) * (entries + dim)
    return Cost(
        flops=members * replicates * algorithm.local_steps * (4 * entries + 8 * dim),
        bytes=real * (read + 4 * dim * replicates),
        words=words,
    )
