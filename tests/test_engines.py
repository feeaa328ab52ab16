"""Law: one text, many contexts. Batched and enumerated runs agree (the wire: test_wire.py)."""

import numpy as np
import pytest
import torch

from driftproof.synthetic.problems import BoundedComposition, QuadraticMinimax
from driftproof.toolkit.algorithms import (
    GCIVR,
    ComFedL,
    FedAvg,
    GradientTrackingGDA,
    LocalBSGD,
    LocalMOML,
    LocalSCGD,
    LocalSCGDM,
    Scaffold,
)
from driftproof.toolkit.algorithms._nested import Nested
from driftproof.toolkit.draws import BLOCK
from driftproof.toolkit.engines.enumerated import TooManyAtoms
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run, run_exactly, sampled_context
from driftproof.toolkit.measure import average, sq
from driftproof.toolkit.statistics import interval
from tests.leaves import thinned

NOISY = BoundedComposition(
    clients=2, heterogeneity=0.5, inner_value_noise=0.3, outer_gradient_noise=0.2
)


def gradient_norm(view):
    return average("round", sq(view.gradient(view.round_start("w"))))


@pytest.mark.parametrize(
    "algorithm",
    [
        ComFedL(local_steps=1, step_size=0.5),
        ComFedL(local_steps=1, step_size=0.5, participation=0.5),
        ComFedL(local_steps=1, step_size=0.5, samples="independent", branch="special"),
        ComFedL(local_steps=1, step_size=0.5, branch="special", batch=3),
    ],
)
def test_batched_equals_enumerated_in_expectation(algorithm):
    """The exact expectation lies in the interval of many sampled replicates."""
    exact = run_exactly(NOISY, algorithm, rounds=2, left=gradient_norm, limit=2**14)
    assert exact.values.shape[1] > 1
    assert exact.weights.sum() == pytest.approx(1.0, abs=1e-12)
    expectation = float(exact.values[0] @ exact.weights)
    blocks = [
        run(NOISY, algorithm, sampled_context(NOISY, ("e",), block=b), rounds=2, left=gradient_norm)
        for b in range(40)
    ]
    sample = np.concatenate([block.values[0] for block in blocks])
    assert len(sample) == 40 * BLOCK
    top = float(exact.values.max())
    low, high = interval(sample, top, 1e-4)
    assert low <= expectation <= high
    assert high - low < 0.2 * top  # the interval says something


def test_enumeration_gives_up_beyond_its_limit():
    with pytest.raises(TooManyAtoms):
        run_exactly(NOISY, ComFedL(local_steps=5), rounds=5, left=gradient_norm, limit=64)


def test_enumeration_weighs_atoms_by_their_probabilities():
    """A minibatch of three signs has four atoms, and the mean estimator is unbiased."""
    problem = BoundedComposition(clients=1, inner_value_noise=0.3, outer_curvature=0.1)
    algorithm = ComFedL(local_steps=1, batch=3, branch="special")
    made = run_exactly(
        problem,
        algorithm,
        rounds=1,
        limit=100,
        left=lambda view: average("round", view.round_start("w").sum(0)),
    )
    assert made.values.shape[1] == 4  # the mean of three signs
    final = made.state.w[0, 0].numpy() @ made.weights
    noiseless = problem.start()[0] - 0.1 * float(
        problem.gradient(torch.from_numpy(problem.start())[:, None])
    )
    assert final == pytest.approx(noiseless, abs=1e-14)


def rounds_of(algorithm):
    """Return the fewest and the most rounds of communication of one round of the algorithm."""
    if isinstance(algorithm, Nested):
        series = {"summed": (algorithm.terms + 1,) * 2, "sampled": (1, algorithm.terms)}
        least, most = series[algorithm.series] if algorithm.terms else (0, 0)
        inner = algorithm.inner_calls * (2 if algorithm.reduces_inner else 1)
        if algorithm.leaf_name == "fedinn":
            return inner, inner
        if algorithm.leaf_name == "fedihgp":
            return least, most
        if algorithm.local_hypergradient:
            return inner + 1, inner + 1
        inner = 0 if algorithm.leaf_name == "fedout" else inner
        return inner + least + 2, inner + most + 2
    # FedDRO shares its embedding every step; DRFL's server asks for losses after the average;
    # FastDRO shares losses before gradients; GCIVR shares its estimate of g before its direction,
    # unless it sends Jacobians; extragradient asks at two points
    # FedAvg for compositions shares embeddings at each step, at averages and at first, or never
    sharing = {"case-1": 1, "case-2": 2, "every-step": algorithm.local_steps + 1}
    count = {
        "compositional-fedavg": sharing.get(getattr(algorithm, "sharing", "")),
        "feddro": algorithm.local_steps + 1,
        "extragradient": 2,
        "mbsgd": 2,
        "drfl": 2,
        "fastdro": 2,
        "fedsvrg": 2,
        "gradient-tracking-gda": 2,
        "stocbio": getattr(algorithm, "inner_calls", 0) + getattr(algorithm, "terms", 0) + 2,
        "gcivr": 1 if getattr(algorithm, "sends", "") == "jacobian" else 2,
    }.get(algorithm.leaf_name, 1)
    return count, count


@pytest.mark.parametrize(("algorithm", "problem"), thinned())
def test_every_pair_runs_and_counts_its_rounds(algorithm, problem):
    """Those that are left out run in tests/test_declared.py: an audit of every pair."""
    ctx = sampled_context(problem, ("pairs",), replicates=4)
    made = run(problem, algorithm, ctx, rounds=2)
    assert made.bad_step is None
    least, most = rounds_of(algorithm)
    first = getattr(algorithm, "sharing", "") == "case-2"
    assert 2 * least + first <= made.rounds <= 2 * most + first
    assert made.reals > 0


def test_what_the_baselines_send():
    """Models, and inner states, momenta, Jacobians, moves or changes of c_i beside them."""
    composed, d, p = BoundedComposition(clients=2, dim=3, inner_dim=2), 3, 2
    saddle = QuadraticMinimax(clients=3, dim=2)
    for algorithm, rounds, reals in (
        (LocalBSGD(local_steps=4), 5, 5 * d),
        (LocalSCGD(local_steps=4), 5, 5 * (d + p)),
        (LocalMOML(local_steps=4), 5, 5 * d),
        (LocalSCGDM(local_steps=4), 5, 5 * (d + p + d)),
        (LocalSCGDM(local_steps=4, averaged="mx"), 5, 5 * (d + d)),
        (LocalSCGDM(averaged=""), 0, 0),
        (GCIVR(), 10, 5 * (p + d)),
        (Scaffold(local_steps=4), 5, 5 * 2 * 4),
        (GradientTrackingGDA(local_steps=4), 10, 5 * 2 * 4),
    ):
        problem = saddle if algorithm.needs == "field" else composed
        made = run(problem, algorithm, sampled_context(problem, ("sent",)), rounds=5)
        assert (made.rounds, made.reals) == (rounds, reals), algorithm


def test_an_algorithm_refuses_a_problem_without_its_oracles():
    with pytest.raises(DriftproofError, match="offers composition"):
        run(NOISY, FedAvg(), sampled_context(NOISY, ("x",)), rounds=1)
