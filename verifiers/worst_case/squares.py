"""Shows that a matrix of whole numbers is positive semidefinite, in whole numbers of few digits.

S = Wᵀ G W, where G has the rows and columns of S that are independent, and W is a basis of its row
space. G = Σ d_k r_k r_kᵀ + a rest, diagonally dominant, with an LDLᵀ rounded to as few bits as do.
An exact LDLᵀ has entries of thousands of digits.
"""

from collections.abc import Sequence
from math import lcm
from typing import NamedTuple

from flint import fmpq, fmpq_mat

Whole = list[list[int]]
BITS = (8, 14, 20, 30, 45, 70, 110, 200, 400, 900)
"""How many bits squares are rounded to, the fewest first."""


class Squares(NamedTuple):
    """S·factor = basisᵀ gram basis; gram less Σ d r rᵀ over the squares (d, r) is dominant."""

    factor: int
    basis: Whole
    gram: Whole
    squares: list[tuple[int, list[int]]]


def squares(matrix: Sequence[Sequence[fmpq]]) -> Squares | None:
    """Return the squares of a symmetric matrix of fractions; None if there are none.

    >>> squares([[fmpq(1), fmpq(1)], [fmpq(1), fmpq(1)]]).basis
    [[1, 1]]
    >>> squares([[fmpq(0), fmpq(1)], [fmpq(1), fmpq(0)]]) is None
    True
    """
    size = len(matrix)
    if not size:
        return Squares(1, [], [], [])
    reduced, rank = fmpq_mat([list(row) for row in matrix]).rref()
    rows = reduced.tolist()[:rank]
    chosen = [next(j for j in range(size) if row[j] != 0) for row in rows]
    below = lcm(1, *(int(x.q) for row in rows for x in row))
    inner = lcm(1, *(int(matrix[i][j].q) for i in chosen for j in chosen))
    whole = [[int((matrix[i][j] * inner).p) for j in chosen] for i in chosen]
    if any(row[k] <= 0 for k, row in enumerate(whole)):
        return None
    # powers of 2 bring the diagonal to one size: dominance depends on it
    sizes = [row[k].bit_length() // 2 for k, row in enumerate(whole)]
    least, most = min(sizes, default=0), max(sizes, default=0)
    basis = [
        [int((x * below).p) << (of - least) for x in row]
        for row, of in zip(rows, sizes, strict=True)
    ]
    for bits in BITS:
        room = 2 * bits + 16  # so that weights are whole numbers of enough bits
        gram = [
            [x << (2 * (most + room) - sizes[i] - sizes[j]) for j, x in enumerate(row)]
            for i, row in enumerate(whole)
        ]
        if (found := _rounded(gram, bits)) is not None:
            return Squares(below**2 * inner * 4 ** (most - least + room), basis, gram, found)
    return None


def _rounded(gram: Whole, bits: int) -> list[tuple[int, list[int]]] | None:
    """Return squares whose sum is ``gram`` but for a diagonally dominant rest."""
    size = len(gram)
    scale = [(gram[k][k].bit_length() + 1) // 2 for k in range(size)]  # gram_kk ≤ 4^scale_k
    exact, low = 3 * bits + 64, min(scale, default=0)
    left = [
        [_shifted(x, exact - scale[i] - scale[j]) for j, x in enumerate(row)]
        for i, row in enumerate(gram)
    ]
    for k in range(size):
        left[k][k] -= 1 << (exact - bits)
    made = []
    for k in range(size):
        pivot = left[k][k]
        if pivot <= 0:
            return None
        row = [0] * k + [(x << exact) // pivot for x in left[k][k:]]
        for i in range(k + 1, size):
            for j in range(i, size):
                left[i][j] -= (left[k][i] * row[j]) >> exact
                left[j][i] = left[i][j]
        digits = bits + size.bit_length() + 2
        whole = [_shifted(x, digits + scale[j] - low - exact) for j, x in enumerate(row)]
        weight = _shifted(pivot, 2 * (low - digits) - exact)
        made.append((weight, whole))
    return made if _dominant(gram, made) else None


def _shifted(x: int, by: int) -> int:
    return x << by if by >= 0 else (x + (1 << (-by - 1))) >> -by


def _dominant(gram: Whole, made: Sequence[tuple[int, list[int]]]) -> bool:
    for i in range(len(gram)):
        rest = [x - sum(d * row[i] * row[j] for d, row in made) for j, x in enumerate(gram[i])]
        if 2 * rest[i] < sum(map(abs, rest)):
            return False
    return True
