"""Law: one client is the centralised algorithm, written a second time in plain numpy loops."""

import ast
from pathlib import Path

import numpy as np
import pytest
import torch

from driftproof.synthetic.problems import KLDRO, BoundedComposition, QuadraticMinimax
from driftproof.toolkit.algorithms import ComFedL, FedAvg, FedDRO
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.draws import Words
from driftproof.toolkit.federation import run, sampled_context

WRITTEN = {"comfedl", "feddro", "fedavg"}
ROUNDS, NAMES = 4, ("central",)
COMPOSED = BoundedComposition(
    clients=1,
    dim=2,
    inner_dim=3,
    inner_curvature=0.4,
    inner_value_noise=0.1,
    inner_gradient_noise=0.2,
    outer_gradient_noise=0.3,
)


class Centralised:
    """One replicate of one client, draw by draw."""

    def __init__(self, problem):
        self.oracles = problem.oracles(torch.float64)
        self.words = Words(*NAMES)

    def draw(self, law, name, step):
        if law is None:
            return None
        words = self.words.draw(law, name, block=0, step=step, clients=range(1))
        return torch.from_numpy(law.sample(words, range(1), 1))

    def inner(self, w, xi):
        value, pullback = self.oracles.inner(torch.from_numpy(w)[None, :, None], xi)
        return value[0, :, 0].numpy(), lambda v: pullback(torch.from_numpy(v)[None, :, None])[
            0, :, 0
        ].numpy()

    def outer(self, y, zeta):
        return self.oracles.outer_grad(torch.from_numpy(y)[None, :, None], zeta)[0, :, 0].numpy()


def comfedl(problem, algorithm):
    at, w = Centralised(problem), problem.start()
    for t in range(ROUNDS * algorithm.local_steps):
        law = at.oracles.inner_law(algorithm.batch)
        y, pullback = at.inner(w, at.draw(law, "xi", t))
        if algorithm.samples == "independent":
            _, pullback = at.inner(w, at.draw(law, "xi-jacobian", t))
        zeta = at.draw(at.oracles.outer_law(algorithm.outer_batch), "zeta", t)
        if algorithm.branch == "special":
            zeta = None
        w = w - algorithm.step_size * pullback(at.outer(y, zeta))
    return w


def feddro(problem, algorithm):
    at, x = Centralised(problem), problem.start()
    law = at.oracles.inner_law(algorithm.batch)
    y, _ = at.inner(x, at.draw(law, "zeta-start", 0))
    before = x
    for t in range(ROUNDS * algorithm.local_steps):
        zeta = at.draw(law, "zeta", t)
        value, pullback = at.inner(x, zeta)
        if t > 0 or algorithm.first_step == "computed":
            y = (1 - algorithm.momentum) * (y - at.inner(before, zeta)[0]) + value
        before, x = x, x - algorithm.step_size * pullback(at.outer(y, None))
    return x


def fedavg(problem, algorithm):
    at, w = Centralised(problem), problem.start()
    for t in range(ROUNDS * algorithm.local_steps):
        xi = at.draw(at.oracles.field_law(algorithm.batch), "xi", t)
        grad = at.oracles.field_grad(torch.from_numpy(w)[None, :, None], xi)
        w = w - algorithm.step_size * grad[0, :, 0].numpy()
    return w


CASES = [
    *[(comfedl, COMPOSED, algorithm) for algorithm in ComFedL.examples()],
    (comfedl, KLDRO(clients=1), ComFedL(local_steps=3, step_size=0.02, batch=2)),
    *[(feddro, COMPOSED, algorithm) for algorithm in FedDRO.examples()],
    (feddro, KLDRO(clients=1, form="log"), FedDRO(local_steps=2)),
    (fedavg, KLDRO(clients=1, form="average"), FedAvg(local_steps=3, batch=4)),
    (fedavg, QuadraticMinimax(clients=1, gradient_noise=0.3), FedAvg(local_steps=2)),
]


@pytest.mark.parametrize(("reference", "problem", "algorithm"), CASES)
def test_one_client_is_the_centralised_algorithm(reference, problem, algorithm):
    ctx = sampled_context(problem, NAMES, replicates=1)
    made = run(problem, algorithm, ctx, rounds=ROUNDS, kernels=False)
    got = getattr(made.state, algorithm.iterate)[0, :, 0].numpy()
    np.testing.assert_allclose(got, reference(problem, algorithm), rtol=1e-13, atol=1e-14)


def test_every_algorithm_is_written_a_second_time():
    """A test module names in ``WRITTEN`` those whose loops it writes; the modules tell which."""
    known, written = leaves("algorithm"), {}
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        for name in _written(text):
            assert known[name].symbol in text, f"{path.name} claims {name}, and never runs it"
            written[name] = path.name
    assert set(written) == set(known)


def _written(text):
    """Return the names in a module's literal ``WRITTEN = {…}``."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "WRITTEN":
            return ast.literal_eval(node.value)
    return set()
