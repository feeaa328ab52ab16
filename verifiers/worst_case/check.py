"""Checks the certificate of a worst case exactly. No solver, and nothing else of driftproof.

A file states that for all functions of some classes, if the assumptions hold at the points named,
so does the conclusion (``statement``). Every condition on the points of a class, and every
assumption, is ⟨Q_k, G⟩ + a_k·F ≤ b_k, with the Gram matrix G = (⟨v_i, v_j⟩) ⪰ 0 of the unknown
vectors and the unknown numbers F; k = 0 is the conclusion. The proof is multipliers λ_k, at least 0
(of either sign for an equality), of which is checked that

    Σ λ_k a_k = a_0,    S = Σ λ_k Q_k − Q_0 ⪰ 0,    Σ λ_k b_k ≤ b_0.

Then ⟨Q_0, G⟩ + a_0·F = Σ λ_k (⟨Q_k, G⟩ + a_k·F) − ⟨S, G⟩ ≤ Σ λ_k b_k ≤ b_0. All numbers are
fractions, and S ⪰ 0 is decided by an exact LDLᵀ. docs/certificates.md has theorem and proof.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

from driftproof.toolkit.ratios import vanishes
from driftproof.verifiers.worst_case.signs import Region
from driftproof.verifiers.worst_case.statement import (
    CONDITIONS,
    ONE,
    ZERO,
    Numbers,
    Statement,
    combined,
    loads,
)

SCHEMA = "driftproof certificate 2"
THEOREM = "driftproof theorem 1"
"""The schema of a certificate whose numbers are rational functions of letters in a region."""


class RefusedCertificateError(Exception):
    """The file can be read, and does not prove what it says."""


def check(text: str) -> Statement:
    """Return what a certificate proves.

    Raises:
        RefusedCertificateError: it does not prove that.
        ArithmeticError, LookupError, SyntaxError, TypeError, ValueError: it is no certificate.
    """
    if f'"{THEOREM}"' in text:
        file = loads(text, THEOREM, "region multipliers")
        numbers: Numbers = Region(file["region"])
    else:
        file, numbers = loads(text, SCHEMA, "multipliers"), Numbers()
    it = Statement(file, numbers)
    terms = [(-ONE, it.conclusion)]
    for written, kind, name, *at in file["multipliers"]:
        if kind == "assumption" and not at:
            condition = it.assumptions[name]
        else:
            points = [it.triples[name][point] for point in at]
            condition = CONDITIONS[kind](*it.constants[name][kind], *points)
            if not all(numbers.defined(c) for c, _, _ in condition.products):
                raise RefusedCertificateError(f"{kind} {name} {at} has a pole in {numbers.said}")
        times = numbers.number(written)
        if not condition.equality and not numbers.nonnegative(times):
            raise RefusedCertificateError(f"{times}, below 0, multiplies {kind} {name} {at}")
        terms.append((times, condition))
    space = {name: of for of, names in it.spaces.items() for name in names}
    S, left = dict.fromkeys(product(space, space), ZERO), dict.fromkeys(it.values, ZERO)
    for times, condition in terms:
        for c, u, v in condition.products:
            for one, a in u.items():
                half = times * c * a / 2
                for two, b in v.items():
                    if space[one] == space[two]:
                        S[one, two] += half * b
        for name, a in condition.numbers.items():
            left[name] += times * a
    if not all(map(vanishes, left.values())):
        raise RefusedCertificateError(f"the values do not cancel: {combined(left.items())} left")
    if not positive_semidefinite([[S[u, v] + S[v, u] for v in space] for u in space], numbers):
        raise RefusedCertificateError("the matrix S is not positive semidefinite")
    gap = sum((times * of.right for times, of in terms), ZERO)
    if not numbers.nonnegative(-gap):
        raise RefusedCertificateError(f"the multipliers prove a bound that is larger by {gap}")
    return it


def positive_semidefinite(matrix: Sequence[Sequence[Any]], numbers: Numbers | None = None) -> bool:
    """Decide exactly, by LDLᵀ, whether a rational matrix is symmetric and positive semidefinite.

    A row waits while its pivot has no known sign. Where letters are free, S is continuous in them,
    and what has no pole and is not 0 at almost all of their values decides about all.

    >>> from flint import fmpq
    >>> positive_semidefinite([[fmpq(1), fmpq(1)], [fmpq(1), fmpq(1)]])
    True
    """
    rows, is_pivot = [list(row) for row in matrix], (numbers or Numbers()).pivot
    left, waiting = list(range(len(rows))), 0
    if not all(vanishes(rows[i][j] - rows[j][i]) for i in left for j in range(i)):
        return False
    while waiting < len(left):
        k = left.pop(0)
        pivot, after = rows[k][k], [j for j in left if not vanishes(rows[k][j])]
        if not is_pivot(pivot) or (vanishes(pivot) and after):
            left, waiting = [*left, k], waiting + 1
            continue
        waiting = 0
        for place, i in enumerate(after):
            factor = rows[k][i] / pivot
            for j in after[place:]:
                rows[i][j] = rows[j][i] = rows[i][j] - factor * rows[k][j]
    return not left
