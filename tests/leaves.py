"""The leaves that tests are generated over."""

from functools import cache
from itertools import groupby
from typing import Any

import pytest
import torch

from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.oracles import OFFERS, OneSample
from driftproof.toolkit.problem import Problem


@cache
def members(kind: str) -> tuple[Any, ...]:
    """Return every example member of every leaf of a kind, as test parameters.

    The same objects to every file: what a member has computed of itself serves them all.
    """
    return tuple(
        pytest.param(member, id=f"{leaf.name}-{k}")
        for leaf in leaves(kind).values()
        for k, member in enumerate(leaf.load().examples())
    )


def problems() -> tuple[Any, ...]:
    return members("problem")


@cache
def pairs() -> tuple[Any, ...]:
    """Return every member of every algorithm with every problem that offers what it needs."""
    return tuple(
        pytest.param(*algorithm.values, *problem.values, id=f"{algorithm.id}-{problem.id}")
        for algorithm in members("algorithm")
        for problem in members("problem")
        if fits(*algorithm.values, *problem.values)
    )


@cache
def thinned() -> tuple[Any, ...]:
    """Every member of every algorithm with every family, whose members take turns."""
    held = sorted(pairs(), key=lambda p: (p.id.split("-")[0], repr(p.values[0])))
    made = []
    for k, (_, group) in enumerate(
        groupby(held, key=lambda p: (repr(p.values[0]), p.values[1].leaf_name))
    ):
        members = list(group)
        made.append(members[k % len(members)])
    return tuple(made)


def _start(problem: Problem) -> torch.Tensor:
    """Return the start as every client holds it."""
    return torch.from_numpy(problem.start())[None, :, None].expand(problem.clients, -1, 1)


def fits(algorithm: Algorithm, problem: Problem) -> bool:
    """Blocks of equal length; whole batches in the one form that has no unbiased minibatch."""
    if algorithm.needs not in OFFERS[problem.offers]:
        return False
    if getattr(algorithm, "samples", "") == "one":
        return isinstance(problem.oracles(torch.float64), OneSample)
    if getattr(algorithm, "sampled_tasks", 0):
        return problem.inner_values(_start(problem)).shape[1] % algorithm.task_blocks == 0
    return getattr(problem, "form", "") != "log" or getattr(algorithm, "batch", 1) == 1


@cache
def claims() -> tuple[Any, ...]:
    return tuple(pytest.param(leaf.load(), id=leaf.name) for leaf in leaves("claim").values())
