"""The semidefinite program of a worst case, and a solution of it, in doubles."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftproof.synthetic.classes.conditions import Place
from driftproof.toolkit.gram.exact import GramForm
from driftproof.verifiers.worst_case.sdp import WorstCase, pairs


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
class Matrices:
    """The program in doubles.

    Attributes:
        gram: Q_k, [constraints, vectors, vectors], symmetric.
        values: a_k, [constraints, values].
        bounds: b_k − c_k, [constraints].
        equal: whether each is an equality.
        objective: Q_0 and a_0.
        points: whether each vector is one of points alone, and not a gradient, [vectors].
    """

    gram: np.ndarray
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
            places = np.array(list(pairs(condition, triples)), dtype=int).reshape(
                -1, 1 if condition.of == "triples" else 2
            )
            one, other = places[:, 0], places[:, -1]
            vectors: dict[Place, np.ndarray] = {"difference": points[one], "one": gradients[one]}
            value = float(condition.values[0]) * own[one]
            if condition.of != "triples":
                vectors |= {"difference": points[one] - points[other], "other": gradients[other]}
                value = value + float(condition.values[1]) * own[other]
            gram = np.zeros((len(places), size, size))
            for (left, right), factor in condition.products.items():
                gram += float(factor) * vectors[left][:, :, None] * vectors[right][:, None, :]
            grams.append((gram + gram.transpose(0, 2, 1)) / 2 * together)
            values.append(value)
            bounds.append(np.full(len(places), float(condition.bound)))
    for relation in case.relations:
        q, a = of_quantity(relation.quantity, size, count)
        grams.append(q[None])
        values.append(a[None])
        bounds.append(np.array([float(relation.bound - relation.quantity.constant)]))
    equal = np.zeros(sum(map(len, bounds)), dtype=bool)
    equal[len(equal) - len(case.relations) :] = [r.equality for r in case.relations]
    return Matrices(
        np.concatenate(grams),
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
