"""Law: a fused kernel equals the plain step, repeated."""

import numba
import numpy as np
import pytest
import torch

from driftproof.synthetic.problems import (
    KLDRO,
    BiasAmplification,
    BoundedComposition,
    QuadraticMinimax,
)
from driftproof.toolkit.algorithms import (
    ComFedL,
    CompositionalFedAvg,
    FedAvgS,
    FedDRO,
    FedNest,
    LocalSCGDM,
)
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.kernels.registry import fused_for
from driftproof.toolkit.measure import Reduction, States, Steps, average, each, given_past, sq
from tests.kernel_cases import COMPOSED, NOISY, simplest
from tests.views import of_states

KERNELS = [pytest.param(simplest(name), id=name) for name in sorted(leaves("kernel"))]


@pytest.mark.parametrize("case", KERNELS)
@pytest.mark.parametrize("replicates", [1, 64])
def test_a_run_by_a_kernel_is_the_plain_one(case, replicates):
    """Several rounds by the federation; of single ones ``test_kernels_generated`` has the law."""
    algorithm, problem = case.algorithm, case.problem
    kernel = fused_for(algorithm, problem, sampled_context(problem, ("k",)))
    assert kernel is not None
    assert kernel.kernel == case.kernel.name
    made = [
        run(
            problem,
            algorithm,
            sampled_context(problem, ("k",), replicates=replicates),
            rounds=4,
            kernels=kernels,
        )
        for kernels in (True, False)
    ]
    # sums over samples in another order: a few units in the last place a step
    for fused, plain in zip(made[0].state, made[1].state, strict=True):
        torch.testing.assert_close(fused, plain, rtol=1e-12, atol=1e-13)
    assert made[0].reach == pytest.approx(made[1].reach, rel=1e-12)
    assert (made[0].rounds, made[0].reals) == (made[1].rounds, made[1].reals)


def test_a_kernel_gives_the_same_bits_on_one_thread_and_on_two():
    algorithm, problem = ComFedL(local_steps=5, step_size=0.1, batch=4), KLDRO()
    ends = []
    for threads in (1, 2):
        numba.set_num_threads(threads)
        ends.append(run(problem, algorithm, sampled_context(problem, ("t",)), rounds=3).state.w)
    numba.set_num_threads(2)
    assert torch.equal(ends[0], ends[1])


@pytest.mark.parametrize(
    ("algorithm", "problem"),
    [
        (ComFedL(samples="independent"), KLDRO()),
        (ComFedL(), KLDRO(loss="sigmoid")),
        (ComFedL(), BoundedComposition()),
        (FedNest(terms=1), QuadraticMinimax()),
        (FedAvgS(), QuadraticMinimax(gradient_noise=0.1)),
    ],
)
def test_a_kernel_is_not_used_on_what_it_does_not_serve(algorithm, problem):
    assert fused_for(algorithm, problem, sampled_context(problem, ("n",))) is None


def test_no_variant_serves_a_device_that_it_is_not_written_for():
    problem, algorithm = KLDRO(), ComFedL()
    ctx = sampled_context(problem, ("v",))
    assert fused_for(algorithm, problem, ctx) is not None
    ctx.device = "meta"
    assert fused_for(algorithm, problem, ctx) is None


def inside_and_outside(problem, algorithm, left, *, rounds, **context):
    """Return a run by its kernel, and the same step by step."""
    return [
        run(
            problem,
            algorithm,
            sampled_context(problem, ("m",), **context),
            rounds=rounds,
            left=left,
            kernels=kernels,
        )
        for kernels in (True, False)
    ]


STRETCHES = [
    (LocalSCGDM(local_steps=3, momentum=4.0, inner_momentum=6.0), COMPOSED),
    (LocalSCGDM(local_steps=1, samples="one", averaged="mx"), NOISY),
    (CompositionalFedAvg(local_steps=3, sharing="case-1"), COMPOSED),
    (CompositionalFedAvg(local_steps=4, decay=1.5), BiasAmplification()),
    (FedDRO(local_steps=3, batch=2), COMPOSED),
]


@pytest.mark.parametrize(("algorithm", "problem"), STRETCHES)
@pytest.mark.parametrize(
    "left",
    [
        lambda view: average("step", sq(view.gradient(view.mean("x")))),
        lambda view: each(
            "step", sq(view.client("x") - view.mean("x")).sum(0), x=sq(view.mean("x"))
        ),
        lambda view: average("round", sq(view.mean("x")) / view.horizon),
        lambda view: average("transition", sq(view.gradient(view.mean("x")))),
        lambda view: each("transition", sq(view.client("x") - view.client("x").mean(0)).sum(0)),
        lambda view: average("round", "local_step", sq(view.mean("x"))),
    ],
)
def test_a_measure_inside_a_kernel_is_the_one_outside(algorithm, problem, left, monkeypatch):
    left = of_states(left)
    monkeypatch.setattr(
        "driftproof.toolkit.stretches.ROOM", 4 * 64 * 3 * algorithm.local_steps
    )  # short stretches
    made = inside_and_outside(problem, algorithm, left, rounds=7)
    np.testing.assert_allclose(made[0].values, made[1].values, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(made[0].parts, made[1].parts, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(made[0].trace, made[1].trace, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(
    "left",
    [
        lambda view: each("step", view.local_step * sq(view.mean("x"))),
        lambda view: each("step", sq(view.mean("x") - view.round_start("x"))),
        lambda view: each("step", view.since_round("x", sq(view.mean("x")))),
        lambda view: each("transition", sq((view.state.x - view.before.x).mean(0))),
        lambda view: given_past(sq((view.state.x - view.previous.x).mean(0))),
    ],
)
def test_a_measure_that_looks_inside_is_taken_step_by_step(left):
    algorithm, problem = LocalSCGDM(local_steps=3), BoundedComposition(inner_curvature=0.4)
    made = [of.values for of in inside_and_outside(problem, algorithm, left, rounds=4)]
    np.testing.assert_array_equal(*made)
    assert len(set(made[0][:, 0])) > 6


def test_the_type_of_the_view_says_whether_a_kernel_serves(monkeypatch):
    algorithm, problem = LocalSCGDM(local_steps=3), BoundedComposition()
    made, step = [], LocalSCGDM.step
    monkeypatch.setattr(LocalSCGDM, "step", lambda *given: made.append(1) or step(*given))

    def states(view: States) -> Reduction:
        return each("step", sq(view.mean("x")))

    def steps(view: Steps) -> Reduction:
        return each("step", sq(view.mean("x")))

    for left, count in ((states, 0), (steps, 12 + 1)):
        made.clear()
        run(problem, algorithm, sampled_context(problem, ("m",)), rounds=4, left=left)
        assert len(made) == count


@pytest.mark.parametrize("axes", [("round",), ("step",), ("round", "local_step")])
def test_a_kernel_of_single_rounds_serves_any_measure_at_their_starts(axes):
    algorithm, problem = ComFedL(local_steps=2), KLDRO(clients=2, dim=2, samples=3)
    left = lambda view: each(*axes, sq(view.mean("w")) * (view.t + view.round))  # noqa: E731
    made = [of.values for of in inside_and_outside(problem, algorithm, left, rounds=4)]
    np.testing.assert_allclose(*made, rtol=1e-12)
    assert made[0].max() > 0


@pytest.mark.parametrize(
    "left",
    [
        None,
        of_states(lambda view: each("step", sq(1e-200 * view.mean("x")))),
        of_states(lambda view: each("step", sq(view.mean("x")))),
        of_states(lambda view: each("round", sq(view.mean("x")))),
        of_states(lambda view: each("round", "local_step", sq(view.mean("x")))),
        of_states(lambda view: average("transition", sq(view.mean("x")))),
    ],
)
def test_a_run_that_diverges_ends_at_the_same_step_inside_a_kernel(left):
    """Steps of 1e150 overflow a square at once; a momentum of 5e307 a step, the model at t = 3."""
    problem, ends = BoundedComposition(clients=1, distance=2.0), []
    for algorithm in (
        LocalSCGDM(local_steps=3, step_size=1e150, momentum=5e-151, inner_momentum=5e-151),
        LocalSCGDM(local_steps=3, step_size=0.5, momentum=0.02, step_factor=1e308),
    ):
        made = inside_and_outside(problem, algorithm, left, rounds=40, replicates=1)
        assert made[0].bad_step == made[1].bad_step
        assert made[0].values.shape == made[1].values.shape
        ends.append(made[0].bad_step)
    assert ends[1] is not None


def test_a_conditional_expectation_is_never_left_to_a_kernel():
    algorithm = LocalSCGDM(local_steps=2)
    problem = BoundedComposition(inner_value_noise=0.4, inner_curvature=0.4, distance=0.5)
    made = [
        run(
            problem,
            algorithm,
            sampled_context(problem, ("g",)),
            rounds=3,
            kernels=kernels,
            left=of_states(lambda view: given_past(sq(view.mean("x")))),
        ).values
        for kernels in (True, False)
    ]
    np.testing.assert_array_equal(*made)


def test_random_rounding_inside_a_kernel_is_of_the_size_of_that_outside():
    algorithm, problem = LocalSCGDM(local_steps=5), BoundedComposition(inner_curvature=0.4)

    def spread(kernels):
        ends = [
            run(
                problem,
                algorithm,
                sampled_context(problem, ("j",), dtype=torch.float32),
                rounds=200,
                kernels=kernels,
                jitter=seed,
            )
            .state.x[0, 0, 0]
            .item()
            for seed in range(12)
        ]
        return float(np.std(ends))

    fused, plain = spread(True), spread(False)
    assert 0.2 < fused / plain < 5
