"""The scripts of what a search finds: their texts are the algorithms, and their sides the row's."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from synthetic.problems import (
    BoundedComposition,
    PiecewiseBilevel,
    PiecewiseComposition,
    PiecewiseLosses,
    PiecewiseMinimax,
)
from toolkit.cases import Case
from toolkit.discover import leaves, package_folder
from toolkit.draws import TooManyAtoms
from toolkit.federation import run_exactly
from toolkit.measure import each
from toolkit.oracles import OFFERS
from verifiers.standalone.script import ENUMERATED, states_of
from verifiers.standalone.refusal import NoScriptError

NAMES = {
    folder: sorted(
        path.stem.replace("_", "-")
        for path in package_folder(f"verifiers.standalone.{folder}").glob("[a-z]*.py")
    )
    for folder in ("algorithms", "problems")
}
ATOMS, NEAR = 2**14, 1e-9


def random_curve(random, rising=False):
    knots = np.sort(random.normal(size=3))
    values = np.sort(random.normal(size=3)) if rising else random.normal(size=3)
    return tuple(zip(knots.tolist(), values.tolist(), strict=True))


def curves(random, clients, dim, rising=False):
    return tuple(
        tuple(random_curve(random, rising) for _ in range(dim)) for _ in range(clients)
    )


def members(name, random):
    """Return random members of a family, and for the others its examples."""
    if name == "piecewise-losses":
        one, other = curves(random, 2, 1), curves(random, 3, 2)
        return [
            PiecewiseLosses(gradients=one, noise=0.5, rare=0.25),
            PiecewiseLosses(clients=3, dim=2, gradients=other),
            PiecewiseLosses(gradients=one, tails="linear"),
        ]
    if name == "piecewise-composition":
        shapes = [curves(random, 2, 1) for _ in range(3)]
        return [
            PiecewiseComposition(),
            PiecewiseComposition(inner=shapes[0], outer=shapes[1], offsets=((0.5,), (-1.0,))),
            PiecewiseComposition(
                inner=shapes[0], outer=shapes[1], plain=shapes[2], averaged_inside=True
            ),
            PiecewiseComposition(
                inner=shapes[0], outer=shapes[1], offsets=((0.5,), (-1.0,)), value_noise=0.5,
                gradient_noise=0.25, wave=2.0, outer_noise=0.5, rare=0.25,
            ),
            PiecewiseComposition(outer=shapes[1], plain=shapes[2], plain_noise=0.5, value_noise=1.0),
            PiecewiseComposition(
                clients=3, dim=2, inner=curves(random, 3, 2), outer=curves(random, 3, 2)
            ),
        ]  # fmt: skip
    if name == "piecewise-minimax":
        return [
            PiecewiseMinimax(plain=curves(random, 2, 1), lower=curves(random, 2, 1, rising=True)),
            PiecewiseMinimax(coupling=((2.0,), (-0.5,)), x_noise=0.5, y_noise=0.25, rare=0.25),
            PiecewiseMinimax(clients=1, dim=2, lower=curves(random, 1, 2, rising=True)),
        ]
    if name == "piecewise-bilevel":
        numbers = {"curvature": ((0.5,), (2.0,)), "cross": ((-1.0,), (-0.5,))}
        upper = curves(random, 2, 1)
        return [
            PiecewiseBilevel(plain=curves(random, 2, 1), upper=upper, **numbers),
            PiecewiseBilevel(upper=upper, offsets=((0.25,), (1.0,)), coupling=((0.5,), (0.25,))),
            PiecewiseBilevel(upper=upper, x_noise=0.5, y_noise=0.25, value_noise=0.5, rare=0.25),
        ]
    return leaves("problem")[name].load().examples()


def cases(algorithm, name):
    """Return cases of an algorithm on a family's members, of which all outcomes can be run."""
    random = np.random.default_rng(5)
    for member in members(name, random):
        for method in leaves("algorithm")[algorithm].load().examples():
            if method.needs in OFFERS[member.offers]:
                yield Case(member, method, 2)
                yield Case(member, method, 1)


def weighted(fields, power):
    """Return a number that tells fields [clients, …, outcomes] apart, [clients, outcomes]."""
    weights = np.linspace(1.0, 2.0, fields.shape[1])[:, None]
    return ((fields * weights) ** power).sum(1)


def by_toolkit(case, power):
    """Return the mean of a power of each client's state after each step, of our own run."""

    def left(view):
        fields = torch.cat(tuple(view.state), 1).numpy()
        return each("transition", "client", torch.from_numpy(weighted(fields, power)))

    outcome = run_exactly(case.problem, case.algorithm, rounds=case.rounds, left=left, limit=ATOMS)
    return outcome.values @ outcome.weights


def by_texts(states, chance, power):
    """Return the same of the states that the texts come to."""
    means = []
    for state in states[1:]:
        parts = [np.broadcast_to(x, (*x.shape[:2], chance.size)) for x in vars(state).values()]
        means.append(weighted(np.concatenate(parts, 1), power) @ chance)
    return np.concatenate(means)


PAIRS = [
    (algorithm, problem)
    for algorithm in NAMES["algorithms"]
    for problem in NAMES["problems"]
    if any(
        leaves("algorithm")[algorithm].load().needs in OFFERS[member.offers]
        for member in leaves("problem")[problem].load().examples()
    )
]


@pytest.mark.parametrize(("algorithm", "problem"), PAIRS)
def test_a_text_moves_as_the_algorithm_does(algorithm, problem):
    compared = 0
    for case in cases(algorithm, problem):
        try:
            states, chance = states_of(case)
            ours = {power: by_toolkit(case, power) for power in (1, 2)}
        except (NoScriptError, TooManyAtoms):
            continue
        assert chance.sum() == pytest.approx(1, rel=1e-9)
        for power in (1, 2):
            np.testing.assert_allclose(by_texts(states, chance, power), ours[power], NEAR, NEAR)
        compared += 1
    assert compared >= 3
