"""Losses by automatic differentiation: against numpy, and as a problem that claims judge."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import driftproof as dp
from driftproof.algorithms import FedAvg, QFedAvg
from driftproof.synthetic.attacks.search import attack
from driftproof.toolkit.draws import Indices
from driftproof.verifiers.verify import Settings, judge


def ridge(x, sample):
    row, target = sample
    return (row @ x - target) ** 2 / 2


@dp.problem(
    name="ridge",
    source="here",
    statement=r"\tfrac1n\sum_i\tfrac1{n_i}\sum_j(a_{ij}^\top x-b_{ij})^2/2",
)
class Ridge(dp.LossesProblem):
    clients: dp.PositiveInt = 2
    dim: dp.PositiveInt = 2
    more: dp.NonNegativeInt = 1

    @cached_property
    def data(self):
        sizes = [1 + self.more * (k + 1) for k in range(self.clients)]
        random = np.random.default_rng(0)
        return [(random.normal(size=(n, self.dim)), random.normal(size=n)) for n in sizes]

    @property
    def quadratic(self):
        """A and b of F = ½xᵀAx − bᵀx + const."""
        both = [(a.T @ a / len(a), a.T @ b / len(a)) for a, b in self.data]
        return (np.mean(part, 0) for part in zip(*both, strict=True))

    @property
    def constants(self):
        return {
            "objective_smoothness": float(np.linalg.eigvalsh(next(self.quadratic))[-1])
            * (1 + 1e-12)
        }

    @cached_property
    def solution(self):
        best = np.linalg.solve(*self.quadratic)
        value = float(self.objective(torch.from_numpy(best)[:, None]))
        return dp.Solution(value, value, best, {"method": "normal equations", "gap": 0.0})

    def start(self):
        return np.ones(self.dim)

    def oracles(self, dtype, device="cpu", clients=None):
        return dp.AutogradLosses(ridge, data=self.data, clients=clients, dtype=dtype, device=device)


@settings(deadline=None, max_examples=10)
@given(st.integers(1, 4), st.integers(1, 3), st.integers(0, 9))
def test_values_and_gradients_are_those_of_numpy(clients, dim, seed):
    member = Ridge(clients=clients, dim=dim)
    oracles = member.oracles(torch.float64)
    random = np.random.default_rng(seed)
    x, sizes = random.normal(size=(clients, dim, 3)), [len(a) for a, _ in member.data]
    at, xi = torch.from_numpy(x), torch.from_numpy(random.integers(0, 2, (clients, 5, 3)))
    assert oracles.field_law(5) == Indices(tuple(sizes), 5)
    np.testing.assert_allclose(oracles.client_weights.flatten(), np.array(sizes) / sum(sizes))
    for draw in (None, xi):
        losses, pullback = oracles.sample_losses(at, draw)
        v = torch.from_numpy(random.normal(size=losses.shape))
        pulled, means = pullback(v), oracles.batch_loss(at, draw)
        slopes = oracles.field_grad(at, draw)
        for k, (a, b) in enumerate(member.data):
            for r in range(3):
                rows = np.arange(len(a)) if draw is None else xi[k, :, r].numpy()
                off = a[rows] @ x[k, :, r] - b[rows]
                n = len(rows)
                np.testing.assert_allclose(losses[k, :n, r], off**2 / 2)
                np.testing.assert_allclose(means[k, r], np.mean(off**2) / 2)
                np.testing.assert_allclose(slopes[k, :, r], a[rows].T @ off / n)
                if n == losses.shape[1]:
                    np.testing.assert_allclose(
                        pulled[k, :, r], a[rows].T @ (v[k, :, r].numpy() * off)
                    )
    share = oracles.sample_weights[:, :, 0].sum(1)
    np.testing.assert_allclose(share, 1)


def test_the_problem_fits_itself_and_a_wrong_constant_is_seen():
    dp.audit_problem(Ridge())
    assert attack(Ridge(), "objective_smoothness") == pytest.approx(1, abs=1e-9)


def bounded(share):
    claim = dp.bound(
        name="own/ridge",
        source="here",
        statement="x",
        right=lambda c: share * 2 * c.F_gap / (c.eta * c.S),
        cases=dp.grid(Ridge(dim=1, more=0), FedAvg(step_size=0.3), rounds=5),
    )
    return claim(lambda view: dp.average("round", dp.sq(view.gradient(view.round_start("w")))))


@pytest.mark.parametrize(("share", "verdict"), [(1, "SUPPORTED"), (0.1, "REFUTED")])
def test_a_bound_on_it_is_judged(share, verdict):
    (row,) = judge([bounded(share)], Settings())
    assert row.verdict == verdict


def test_a_method_of_losses_runs_on_it():
    made = dp.run(
        Ridge(),
        QFedAvg(step_size=0.1),
        rounds=3,
        record={"F": lambda view: view.gap(view.mean("w"))},
    )
    assert made["F"].mean[-1] < made["F"].mean[0]


@pytest.mark.parametrize("together", [False, True])
def test_a_loss_that_is_no_number_of_a_sample_is_refused_by_name(together):
    def squares(x, sample):
        return (x - sample[0]) ** 2

    oracles = dp.AutogradLosses(squares, data=[([[1.0], [2.0]],)], together=together)
    with pytest.raises(
        dp.DriftproofError, match=r"squares, which returns a Tensor of shape \[.*1\]"
    ):
        oracles.field_grad(torch.zeros(1, 1, 1, dtype=torch.float64), None)
