"""The leaves that tests are generated over."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from toolkit.algorithm import Algorithm
from toolkit.discover import leaves
from toolkit.oracles import OFFERS, OneSample
from toolkit.problem import Problem


def members(kind: str) -> list[Any]:
    """Return every example member of every leaf of a kind, as test parameters."""
    return [
        pytest.param(member, id=f"{leaf.name}-{k}")
        for leaf in leaves(kind).values()
        for k, member in enumerate(leaf.load().examples())
    ]


def problems() -> list[Any]:
    return members("problem")


def pairs() -> list[Any]:
    """Return every algorithm with the first member of every problem that offers what it needs."""
    made = []
    for leaf in leaves("algorithm").values():
        for k, algorithm in enumerate(leaf.load().examples()):
            for other in leaves("problem").values():
                for j, problem in enumerate(other.load().examples()):
                    if fits(algorithm, problem):
                        name = f"{leaf.name}-{k}-{other.name}-{j}"
                        made.append(pytest.param(algorithm, problem, id=name))
    return made


def fits(algorithm: Algorithm, problem: Problem) -> bool:
    """Whole batches only in the one form that has no unbiased minibatch."""
    if algorithm.needs not in OFFERS[problem.offers]:
        return False
    if getattr(algorithm, "samples", "") == "one":
        return isinstance(problem.oracles(torch.float64), OneSample)
    return getattr(problem, "form", "") != "log" or getattr(algorithm, "batch", 1) == 1


def claims() -> list[Any]:
    return [pytest.param(leaf.load(), id=leaf.name) for leaf in leaves("claim").values()]
