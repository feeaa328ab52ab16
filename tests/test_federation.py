"""Laws of a run: cohorts, measures, marks, divergence, and the region where constants hold."""

import numpy as np
import pytest
import torch

from driftproof.synthetic.problems import KLDRO, BoundedComposition, QuadraticMinimax
from driftproof.toolkit.algorithms import ComFedL, FedAvg
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.measure import average, each, sq

PROBLEM = BoundedComposition(clients=4, dim=2, heterogeneity=1.0)


def measured(left, algorithm=None, problem=PROBLEM, rounds=3, **changes):
    algorithm = algorithm or ComFedL(local_steps=2)
    ctx = sampled_context(problem, ("f",), replicates=4)
    return run(problem, algorithm, ctx, rounds=rounds, left=left, **changes)


def test_an_average_is_the_mean_of_its_moments():
    def of(reduction):
        return lambda view: reduction("round", sq(view.gradient(view.round_start("w"))))

    moments, mean = measured(of(each), rounds=7), measured(of(average), rounds=7)
    np.testing.assert_allclose(mean.values[0], moments.values.mean(0), rtol=1e-14)
    at, trace = mean.at, mean.trace
    assert at.tolist() == list(range(1, 8))
    np.testing.assert_allclose(trace[0, -1], mean.values[0], rtol=1e-14)
    np.testing.assert_allclose(trace[0, 2], moments.values[:3].mean(0), rtol=1e-14)


def test_long_traces_are_thinned_but_keep_their_ends():
    made = measured(
        lambda view: average("round", sq(view.round_start("w"))), ComFedL(), rounds=2000
    )
    at, trace = made.at, made.trace
    assert len(at) <= 96
    assert at[0] == 1
    assert at[-1] == 2000
    np.testing.assert_allclose(trace[0, -1], made.values[0])


@pytest.mark.parametrize(
    ("left", "said"),
    [
        (lambda view: each("rounds", sq(view.mean("w"))), "axes"),
        (lambda view: sq(view.mean("w")), "each(…) or average(…)"),
        (lambda view: average("round", view.mean("w")), "one number for each replicate"),
        (lambda view: average("round", sq(view.mean("v"))), "unknown quantity 'v'"),
        (lambda view: average("round", 3), "3, of type int and shape (), as its last argument\nwa"),
        (lambda view: average("round", sq(view.mean("w")), error=None), "as error"),
        # what torch would broadcast: the gradient at no point at all
        (lambda view: each("round", sq(view.gradient(view.mean("w")[:1]))), "[2, 4]"),
        (lambda view: each("round", sq(view.gradient(view.client("w")))), "x of shape [4, 2, 4]"),
        (lambda view: each("round", sq(view.gradient("w"))), "x 'w'"),
        (lambda view: each("round", view.objective(view.mean("w")[..., :1])), "x of shape [2, 1]"),
        (lambda view: each("round", sq(view.inner_values(view.mean("w"))).mean(0)), "[4, 2, 4]"),
    ],
)
def test_a_measure_that_is_none_is_told_what_to_be(left, said):
    with pytest.raises(DriftproofError) as caught:
        measured(left)
    assert said in str(caught.value)


def test_the_first_step_that_is_not_finite_is_found():
    """Gradient descent-ascent with η above 2/λ_max diverges geometrically."""
    problem = QuadraticMinimax(clients=2, largest=2.0)
    algorithm = FedAvg(local_steps=3, step_size=40.0)
    made = run(problem, algorithm, sampled_context(problem, ("d",), replicates=1), rounds=400)
    assert made.bad_step is not None
    again = [
        run(
            problem,
            FedAvg(local_steps=1, step_size=40.0),
            sampled_context(problem, ("d",), replicates=1),
            rounds=steps,
        ).bad_step
        for steps in (made.bad_step, made.bad_step + 1)
    ]
    assert again == [None, made.bad_step]  # two identical clients, so averaging changes nothing


def test_the_reach_of_every_iterate_is_recorded():
    problem = KLDRO(clients=2, heterogeneity=3.0, ball=1.0, temperature=0.5)
    algorithm = ComFedL(local_steps=4, step_size=0.5, samples="independent")
    ctx = sampled_context(problem, ("r",))
    norms = []

    def left(view):
        norms.append(float(view.client("w").norm(dim=1).max()))
        return each("round", "local_step", sq(view.mean("w")))

    made = run(problem, algorithm, ctx, rounds=3, left=left)
    assert made.reach == pytest.approx(max(norms), rel=1e-12)
    assert made.reach > problem.radius


def test_parameters_that_do_not_go_together_are_told_with_their_values():
    for build, said in (
        (lambda: KLDRO(temperature=1e-6), "temperature = 1e-06"),
        (lambda: QuadraticMinimax(smallest=2.0, largest=1.0), "smallest = 2.0"),
    ):
        with pytest.raises(DriftproofError) as caught:
            build()
        assert said in str(caught.value)
        assert "wanted" in str(caught.value)
        assert "remedy" in str(caught.value)


def test_the_moment_before_a_step_is_the_one_after_the_last():
    """Mid-round, the axes "step" and "local_step" see the same means over the same cohort."""
    problem = BoundedComposition(clients=4, heterogeneity=2.0, inner_value_noise=0.3)
    algorithm = ComFedL(local_steps=3, participation=0.5)

    def of(*axes):
        ctx = sampled_context(problem, ("axes",), replicates=8)
        return run(
            problem,
            algorithm,
            ctx,
            rounds=2,
            left=lambda view: each(*axes, sq(view.mean("w") - view.round_start("w"))),
        ).values

    before, after = of("step"), of("round", "local_step")
    for step in range(6):
        if step % 3:
            np.testing.assert_array_equal(before[step], after[step - 1])


def test_two_cohorts_of_one_step_are_drawn_apart():
    ctx = sampled_context(PROBLEM, ("two",))
    one, same = ctx.cohort(2, since=0), ctx.cohort(2, since=0)
    other = ctx.cohort(2, since=0, name="other")
    larger = ctx.cohort(3, since=0)
    values = torch.randn(4, 1, 64, dtype=torch.float64)
    torch.testing.assert_close(one.average(values)[0], same.average(values)[0])
    assert not torch.equal(one.average(values)[0], other.average(values)[0])
    assert set(ctx.mask.sum(0).flatten().tolist()) == {3.0}
    assert not torch.equal(one.average(values)[0], larger.average(values)[0])


def test_a_measure_that_overflows_ends_the_run_and_keeps_what_was_measured():
    problem = QuadraticMinimax(clients=2, largest=2.0)
    made, moments = (
        measured(
            lambda view, how=how: how("round", sq(view.round_start("w")) ** 8),
            FedAvg(step_size=40.0),
            problem,
            rounds=100,
        )
        for how in (average, each)
    )
    assert made.bad_step is not None
    # what was lost counts as 0
    assert len(moments.values) < 100
    np.testing.assert_allclose(made.values[0], moments.values.sum(0) / 100)
    assert np.all(np.isfinite(made.values))
    assert np.all(np.isfinite(made.trace))
    assert made.values.min() > 0
