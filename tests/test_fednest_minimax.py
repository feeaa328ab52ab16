"""FedNest's minimax experiment: its problem, its predictions, its kernels and its sentences."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.optimize import root

from driftproof.gpu_bench.cases.fednest_minimax import fednest_minimax
from driftproof.gpu_bench.peer import peers_for
from driftproof.gpu_bench.prepared import Prepared
from driftproof.synthetic.problems import RandomMinimax
from driftproof.toolkit.algorithms import FedAvgS, FedNest, LFedNest
from driftproof.toolkit.federation import run, sampled_context
from driftproof.verifiers.papers.fednest.claims._minimax import moments
from driftproof.verifiers.papers.fednest.experiments.minimax import WITHOUT, MinimaxRun, steepness

CALLS = {"terms": 0, "inner_calls": 3, "inner_steps": 4, "outer_steps": 5}


def one_run(method, rounds):
    return MinimaxRun(
        method=method,
        objective=RandomMinimax(clients=6, dim=3),
        participation=0.5,
        calls=2,
        inner_steps=20,
        outer_steps=40,
        rounds=rounds,
    )


def curves(problem, algorithm, rounds, *, replicates=1, block=0):
    """Return the server's x_k and y_k, [rounds + 1, dim, replicates] each."""
    kept = []
    run(
        problem,
        algorithm,
        sampled_context(problem, ("c",), replicates=replicates, block=block),
        rounds=rounds,
        watch=lambda s, state: kept.append((state.x[0].clone(), state.y[0].clone())),
    )
    return tuple(torch.stack(of).numpy() for of in zip(*kept, strict=True))


@pytest.mark.parametrize("form", ["printed", "halved"])
@pytest.mark.parametrize("kind", ["multiples", "general"])
def test_the_saddle_point_is_where_both_gradients_vanish(form, kind):
    """Two routes: the closed form, and a root of the field written out from the docstring."""
    problem = RandomMinimax(
        clients=5, dim=4, form=form, matrices_drawn=kind, coupling=0.7, spread=2.0, partition=3
    )
    whole = replace(problem, form="printed")
    c = 0.5 if form == "halved" else 1.0
    a, b = whole.matrices.mean(0), whole.offsets.mean(0)

    def field(z):
        x, y = z[:4], z[4:]
        return np.concatenate([0.1 * x - c * a.T @ y, y - c * b + c * a @ x])

    found = root(field, np.ones(8), tol=1e-13).x
    np.testing.assert_allclose(np.concatenate(problem.saddle), found, rtol=1e-9, atol=1e-12)
    z = torch.from_numpy(found)[None, :, None].expand(5, 8, 1)
    assert problem.oracles(torch.float64).field_grad(z, None).mean(0).abs().max() < 1e-12


def test_the_data_are_drawn_as_the_docstring_says():
    base = RandomMinimax(clients=400, dim=10)
    t = base.matrices[:, 0, 0]
    np.testing.assert_array_equal(base.matrices, t[:, None, None] * np.eye(10))
    assert 0 < t.min() < t.max() < 0.1
    assert t.mean() == pytest.approx(0.05, abs=0.005)
    np.testing.assert_allclose(base.offsets.mean(1), 0, atol=1e-14)
    assert base.offsets.std() == pytest.approx((4 / 3 * 0.9) ** 0.5, rel=0.1)
    np.testing.assert_allclose(replace(base, spread=10.0).offsets, 10 * base.offsets, rtol=1e-14)
    np.testing.assert_array_equal(replace(base, spread=10.0).matrices, base.matrices)
    np.testing.assert_allclose(replace(base, form="halved").offsets, base.offsets / 2, rtol=1e-14)
    centred = replace(base, centring="clients")
    np.testing.assert_allclose(np.concatenate(centred.saddle), 0, atol=1e-14)
    assert not np.array_equal(replace(base, partition=1).matrices, base.matrices)


def linear_rate(problem, algorithm):
    """Return FedNest's rate with all clients by 2×2 blocks, one for each singular value of Ā.

    With R = 1 − (1 − β)^{τT} and q = (1 − αλ)^τ, a block is
    [[q − kRσ², k(1 − R)σ], [−Rσ, 1 − R]], k = (1 − q)/λ.
    """
    lam = problem.regulariser
    big = 1 - (1 - algorithm.inner_step_size) ** (algorithm.inner_steps * algorithm.inner_calls)
    keep = (1 - algorithm.outer_step_size * lam) ** algorithm.outer_steps
    k = (1 - keep) / lam
    sigma = np.linalg.svd(problem.matrices.mean(0), compute_uv=False)
    trace = keep - k * big * sigma**2 + 1 - big
    determinant = keep * (1 - big)  # k(1 − R)Rσ² cancels
    root = np.sqrt((trace**2 / 4 - determinant).astype(complex))
    return float(np.maximum(np.abs(trace / 2 + root), np.abs(trace / 2 - root)).max())


@pytest.mark.parametrize("kind", ["multiples", "general"])
def test_the_rate_by_blocks_is_that_of_the_whole_map_and_of_the_run(kind):
    problem = RandomMinimax(clients=5, dim=3, matrices_drawn=kind, coupling=0.5)
    algorithm = FedNest(**CALLS)
    rate = linear_rate(problem, algorithm)
    assert rate == pytest.approx(moments(problem, algorithm).rate, rel=1e-10)
    x, y = curves(problem, algorithm, 260)
    squares = ((x[..., 0] - problem.saddle[0]) ** 2).sum(1)
    squares += ((y[..., 0] - problem.saddle[1]) ** 2).sum(1)
    assert steepness(squares, rate) == pytest.approx(1, abs=0.1)
    assert squares[-1] < 1e-10 * squares[0]


@pytest.mark.parametrize(
    "algorithm",
    [
        FedNest(**CALLS, participation=0.3),
        LFedNest(**CALLS, participation=0.6),
        FedAvgS(local_steps=6, order="alternating", participation=0.3),
    ],
)
@pytest.mark.parametrize("kind", ["multiples", "general"])
def test_the_predicted_mean_is_the_mean_over_cohorts(algorithm, kind):
    problem = RandomMinimax(clients=9, dim=2, matrices_drawn=kind, coupling=0.5)
    of_round = moments(problem, algorithm)
    soon, floors, late = of_round.squares(30), of_round.limit(), of_round.squares(400)[-1]
    blocks = [curves(problem, algorithm, 30, replicates=64, block=k) for k in range(12)]
    for k, half in enumerate((slice(2), slice(2, None))):
        exact = soon[:, half].sum(1)
        there = problem.saddle[k][:, None]
        squares = np.concatenate([((made[k] - there) ** 2).sum(1) for made in blocks], 1)
        error = squares.std(1) / squares.shape[1] ** 0.5
        assert np.all(np.abs(squares.mean(1) - exact) <= 5 * error + 1e-12 * exact)
        assert late[half].sum() == pytest.approx(floors[half].sum(), rel=1e-6)


def test_the_floor_of_one_number_by_hand():
    """A_i = 0: y is an average of sampled means, and its variance is known."""
    problem = RandomMinimax(clients=8, dim=1, coupling=0.0, centring="none")
    algorithm = LFedNest(terms=0, inner_calls=1, inner_steps=3, participation=0.25)
    keep, b = 0.9**3, problem.offsets[:, 0]
    sampled = b.var(ddof=1) / 2 * (1 - 2 / 8)  # of the mean of two of eight
    floor = moments(problem, algorithm).limit()[1]
    assert floor == pytest.approx(sampled * (1 - keep) / (1 + keep), rel=1e-10)


def test_without_b_fednest_goes_to_zero_although_the_saddle_point_is_elsewhere():
    made = {method: one_run(method, 400).measured() for method in ("FedNest", WITHOUT)}
    without, whole = made[WITHOUT], made["FedNest"]
    assert without["norms"][-1] < 1e-11
    assert sum(whole["saddle"]) > 0.01
    assert without["distance"][-1] == pytest.approx(sum(whole["saddle"]), rel=1e-5)
    assert steepness(without["norms"], without["rate"]) > 0.9
    assert abs(steepness(whole["distance"], whole["rate"])) < 0.5
    assert whole["floor"] > 0 == without["floor"]


def test_the_notebooks_loop_is_fednest_without_b():
    """Two routes: the public code's update, client by client, and the method on b_i = 0."""
    workload = fednest_minimax.at(clients=7, calls=3, inner_steps=4, outer_steps=5, replicates=2)
    prepared = Prepared(workload, seed=1, dtype="float64")
    (loop,) = peers_for("fednest-minimax")
    ends = loop.load(workload.data(prepared.starts(), prepared.draws))()
    for name, variant in prepared.variants().items():
        made = prepared.result(variant(0))
        np.testing.assert_allclose(made, ends, rtol=1e-12, err_msg=name)
    assert np.abs(ends - prepared.starts()).max() > 1e-3
