"""The semidefinite program of a worst case, and a solution of it, in doubles."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from driftproof.toolkit.gram.exact import GramForm
from driftproof.verifiers.worst_case.sdp import WorstCase, pairs

CELLS = 2**18
"""Entries that are held at a time while most turn out to be 0."""


@dataclass(frozen=True)
class Solved:
    """What the solver gave; none of it is proved.

    Attributes:
        value: the optimal value.
        gram: G, [vectors, vectors].
        values: F, [values].
        multipliers: λ_k ≥ 0 of each of ``WorstCase.constraints``, in order.
        status: the solver's word.
        seconds: what the solver took.
    """

    value: float
    gram: np.ndarray
    values: np.ndarray
    multipliers: np.ndarray
    status: str
    seconds: float


@dataclass(frozen=True)
class Forms:
    """Symmetric matrices Q_k, by what of them is not 0: a condition has few vectors, a run many.

    Attributes:
        shape: how many they are, and how many rows each has.
        k: of which matrix each entry is; i, j: its row and column.
        q: the entries.
    """

    shape: tuple[int, int]
    k: np.ndarray
    i: np.ndarray
    j: np.ndarray
    q: np.ndarray

    @classmethod
    def of(cls, *parts: "np.ndarray | Forms") -> "Forms":
        """Return all matrices of parts as one, in their order."""
        forms, before = [], 0
        for part in parts:
            if isinstance(part, Forms):
                one = part
            else:
                k, i, j = (at.astype(np.int32) for at in np.nonzero(part))
                one = cls((len(part), part.shape[1]), k, i, j, part[k, i, j])
            forms.append(replace(one, k=one.k + np.int32(before)))
            before += one.shape[0]
        joined = (np.concatenate([getattr(of, name) for of in forms]) for name in "kijq")
        return cls((before, forms[0].shape[1]), *joined)

    @property
    def dense(self) -> np.ndarray:
        """The matrices, [matrices, rows, columns]."""
        made = np.zeros((*self.shape, self.shape[1]))
        made[self.k, self.i, self.j] = self.q
        return made

    def on(self, gram: np.ndarray) -> np.ndarray:
        """Return ⟨Q_k, G⟩."""
        return np.bincount(self.k, self.q * gram[self.i, self.j], self.shape[0])

    def sum(self, weights: np.ndarray) -> np.ndarray:
        """Return Σ w_k Q_k."""
        size, entries = self.shape[1], weights[self.k] * self.q
        return np.bincount(self.i * size + self.j, entries, size**2).reshape(size, size)

    def times(self, matrix: np.ndarray) -> np.ndarray:
        """Return Q_k V, [matrices, rows, columns of V], or Q_k v."""
        made = np.zeros(self.shape + matrix.shape[1:])
        np.add.at(made, (self.k, self.i), (self.q * matrix[self.j].T).T)
        return made

    def scaled(self, lengths: np.ndarray, factors: np.ndarray) -> "Forms":
        """Return r_k s_i s_j times the entries."""
        return replace(self, q=self.q * (lengths[self.i] * lengths[self.j]) * factors[self.k])

    def largest(self, at: tuple[np.ndarray, ...], shape: tuple[int, ...]) -> np.ndarray:
        """Return the largest absolute value of the entries of each place of an array."""
        made = np.zeros(shape)
        np.maximum.at(made, at, np.abs(self.q))
        return made

    def chosen(self, matrices: Any, rows: Any = None) -> "Forms":
        """Return some of the matrices, of some of their rows and columns (None: of all)."""
        rows = range(self.shape[1]) if rows is None else rows
        one, two = (np.full(many, -1, np.int32) for many in self.shape)
        one[matrices], two[rows] = np.arange(len(matrices)), np.arange(len(rows))
        k, i, j = one[self.k], two[self.i], two[self.j]
        left = (k >= 0) & (i >= 0) & (j >= 0)
        return Forms((len(matrices), len(rows)), k[left], i[left], j[left], self.q[left])

    def svec(self) -> Any:
        """Return what svec makes of each matrix, as the rows of a sparse one."""
        from scipy import sparse

        count, size = self.shape
        upper = self.i <= self.j
        k, i, j = (of[upper] for of in (self.k, self.i, self.j))
        entries = self.q[upper] * np.where(i == j, 1.0, np.sqrt(2.0))
        shape = count, size * (size + 1) // 2
        return sparse.csr_matrix((entries, (k, j * (j + 1) // 2 + i)), shape=shape)


@dataclass(frozen=True)
class Matrices:
    """The program in doubles.

    Attributes:
        gram: Q_k.
        values: a_k, [constraints, values].
        bounds: b_k − c_k, [constraints].
        equal: whether each is an equality.
        objective: Q_0 and a_0.
        points: whether each vector is one of points alone, and not a gradient, [vectors].
    """

    gram: Forms
    values: np.ndarray
    bounds: np.ndarray
    equal: np.ndarray
    objective: tuple[np.ndarray, np.ndarray]
    points: np.ndarray


def matrices(case: WorstCase) -> Matrices:
    """Return a program in doubles, of the constraints in their order."""
    size, count = len(case.vectors), len(case.values)
    grams, values, bounds = [], [], []
    second = np.array(case.second or [False] * size)
    together = second[:, None] == second  # vectors of two spaces have no products
    for of, triples in zip(case.classes, case.triples, strict=True):
        points, gradients = (
            _rows((getattr(t, part).coefficients.items() for t in triples), size)
            for part in ("point", "gradient")
        )
        own = _rows((t.value.values.items() for t in triples), count)
        for condition in of.conditions:
            every = np.array(list(pairs(condition, triples)), dtype=int).reshape(
                -1, 1 if condition.of == "triples" else 2
            )
            for places in np.array_split(every, len(every) * size**2 // CELLS + 1):
                one, other = places[:, 0], places[:, -1]
                vectors = {"difference": points[one], "one": gradients[one]}
                value = float(condition.values[0]) * own[one]
                if condition.of != "triples":
                    vectors["difference"] = points[one] - points[other]
                    vectors["other"] = gradients[other]
                    value = value + float(condition.values[1]) * own[other]
                gram = np.zeros((len(places), size, size))
                for (left, right), factor in condition.products.items():
                    gram += float(factor) * vectors[left][:, :, None] * vectors[right][:, None, :]
                grams.append(Forms.of((gram + gram.transpose(0, 2, 1)) / 2 * together))
                values.append(value)
                bounds.append(np.full(len(places), float(condition.bound)))
    for relation in case.relations:
        q, a = of_quantity(relation.quantity, size, count)
        grams.append(Forms.of(q[None]))
        values.append(a[None])
        bounds.append(np.array([float(relation.bound - relation.quantity.constant)]))
    equal = np.zeros(sum(map(len, bounds)), dtype=bool)
    equal[len(equal) - len(case.relations) :] = [r.equality for r in case.relations]
    return Matrices(
        Forms.of(*grams),
        np.concatenate(values),
        np.concatenate(bounds),
        equal,
        of_quantity(case.objective, size, count),
        _points(case),
    )


def _points(case: WorstCase) -> np.ndarray:
    """Tell which unknown vectors are a start: no gradient, and nothing that is held like one."""
    alone = np.ones(len(case.vectors), dtype=bool)
    for gradient in [t.gradient for triples in case.triples for t in triples] + [*case.own]:
        alone[list(gradient.coefficients)] = False
    return alone


def _rows(listed: Iterable[Any], width: int) -> np.ndarray:
    """Return sparse rows as a dense array."""
    rows = [dict(entries) for entries in listed]
    dense = np.zeros((len(rows), width))
    for row, entries in zip(dense, rows, strict=True):
        for place, coefficient in entries.items():
            row[place] = float(coefficient)
    return dense


def of_quantity(quantity: GramForm, size: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a quantity's symmetric matrix Q and its vector a, in doubles."""
    gram = np.zeros((size, size))
    for (j, k), q in quantity.gram.items():
        gram[j, k] += float(q) / 2
        gram[k, j] += float(q) / 2
    return gram, _rows([quantity.values.items()], count)[0]
