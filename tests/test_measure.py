"""Views: what a measure may see by its annotation, and what it is told when it asks for more."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from driftproof.synthetic.problems import BoundedComposition
from driftproof.toolkit.algorithms import ComFedL, LocalSCGDM
from driftproof.toolkit.engines.balls import run_in_balls
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.measure import (
    Asked,
    Measure,
    Moment,
    Reduction,
    States,
    Steps,
    average,
    each,
    given_past,
    sq,
)
from tests.views import of_states

if TYPE_CHECKING:
    from elsewhere import Unknown

PROBLEM = BoundedComposition(clients=4, dim=2, heterogeneity=1.0, inner_value_noise=0.3)
METHOD = LocalSCGDM(local_steps=2)


def measured(left, method=METHOD, **more):
    return run(
        PROBLEM, method, sampled_context(PROBLEM, ("v",), replicates=3), rounds=3, left=left, **more
    )


def of_steps(view: Steps) -> Reduction:
    return each("step", sq(view.mean("x")))


def of_all_states(view: States) -> Reduction:
    return each("step", sq(view.mean("x")))


@functools.wraps(of_all_states)
def wrapped(*given):
    return of_all_states(*given)


@pytest.mark.parametrize(
    ("left", "of"),
    [
        (of_all_states, True),
        (wrapped, True),
        (functools.partial(of_all_states), True),
        (of_steps, False),
        (lambda view: None, False),
    ],
)
def test_the_annotation_says_what_a_measure_sees(left, of):
    assert Measure(left).of_states is of


def test_an_annotation_that_cannot_be_read_is_told():
    def left(view: Unknown) -> Any:
        return each("step", sq(view.mean("x")))

    with pytest.raises(DriftproofError, match="annotated with Unknown") as told:
        measured(left)
    assert "from driftproof import States, Steps" in told.value.remedy


INSIDE = {
    "t": lambda view: each("step", sq(view.mean("x")) * view.t),
    "round": lambda view: each("round", sq(view.mean("x")) * view.round),
    "local_step": lambda view: each("step", sq(view.mean("x")) * view.local_step),
    "local_steps": lambda view: each("step", sq(view.mean("x")) * view.local_steps),
    "state": lambda view: each("step", sq(view.state.x.mean(0))),
    "last": lambda view: each("round", "local_step", sq(view.mean("x")) * view.last),
    "before": lambda view: each("transition", sq(view.before.x.mean(0))),
    "previous": lambda view: given_past(sq(view.previous.x.mean(0))),
    "begun": lambda view: each("step", sq(view.begun.x.mean(0))),
    "round_start": lambda view: each("step", sq(view.round_start("x"))),
    "cohort_mean": lambda view: each("step", sq(view.cohort_mean(view.client("x")))),
    "since_round": lambda view: each("step", view.since_round("x", sq(view.mean("x")))),
}


@pytest.mark.parametrize(("name", "left"), INSIDE.items(), ids=INSIDE)
@pytest.mark.parametrize("kernels", [True, False])
def test_a_measure_of_states_that_looks_inside_a_round_is_refused(name, left, kernels):
    with pytest.raises(DriftproofError, match=rf"view\.{name} in a measure of States") as told:
        measured(of_states(lambda view: left(view)), kernels=kernels)
    assert told.value.remedy == "annotate it `view: Steps`"
    if name not in ("previous", "since_round"):  # given the past it takes long
        assert np.all(np.isfinite(measured(left).values))  # the same of steps


def test_everything_that_steps_show_is_in_these_tests():
    shown = {name for name in vars(Steps) if not name.startswith("_")}
    assert shown == {*INSIDE, "client", "mean", "at_rest"}


def test_a_name_that_no_view_has_stays_a_missing_attribute():
    view = States(Moment(None, None, None, None), Asked())
    with pytest.raises(AttributeError, match="'States' object has no attribute 'men'") as told:
        _ = view.men
    assert told.value.name == "men"
    assert told.value.obj is view
    assert not hasattr(view, "_private")


def test_a_mark_is_nothing_that_a_state_shows():
    with pytest.raises(DriftproofError, match="unknown quantity 'z'"):
        measured(of_states(lambda view: each("transition", sq(view.mean("z")))))
    assert measured(lambda view: each("transition", sq(view.mean("z")))).values.max() > 0


@pytest.mark.parametrize("kernels", [True, False])
@pytest.mark.parametrize("more", [lambda view: view.mean("u"), lambda view: view.client("x")[0]])
def test_a_measure_of_states_asks_for_the_same_at_each_moment(more, kernels):
    calls = []

    def left(view: States) -> Reduction:
        calls.append(1)
        value = view.mean("x")
        return each("step", sq(value if len(calls) <= 2 else more(view)))

    with pytest.raises(DriftproofError, match="but not at the first"):
        measured(left, kernels=kernels)


@pytest.mark.parametrize(
    "mixed",
    [
        lambda w: w[:, :1] + 0 * w,
        lambda w: w[:, -1:] + 0 * w,
        lambda w: w - w.mean(-1, True),
        lambda w: w.flip(-1),
        lambda w: w.sort(-1)[0],
        lambda w: w / (1 + w.amax(-1, True)),
    ],
)
@pytest.mark.parametrize("part", [False, True])
def test_a_measure_takes_each_replicate_alone(mixed, part):
    def left(view):
        w, other = view.mean("x"), sq(mixed(view.mean("x")))
        return each("round", sq(w), part=other) if part else each("round", other)

    ctx = sampled_context(PROBLEM, ("v",))
    with pytest.raises(DriftproofError, match="takes several replicates together"):
        run(PROBLEM, METHOD, ctx, rounds=3, left=left, apart=True)


def test_what_a_measure_raises_of_states_that_no_run_has_is_not_told():
    calls = []

    def left(view):
        calls.append(1)
        if len(calls) == 1:  # of mixed states
            raise ArithmeticError
        return each("round", sq(view.mean("x")))

    ctx = sampled_context(PROBLEM, ("v",))
    made = run(PROBLEM, METHOD, ctx, rounds=3, left=left, apart=True)
    assert made.values.shape == (3, 64)


@pytest.mark.parametrize("name", ["before", "previous"])
def test_what_a_step_started_from_is_of_transitions_alone(name):
    with pytest.raises(DriftproofError, match=f"view.{name} at a moment that no step leads to"):
        measured(lambda view: each("step", sq(getattr(view, name).x.mean(0))))


def test_a_mean_of_states_is_over_all_clients_and_one_of_steps_over_the_cohort():
    method = ComFedL(local_steps=2, participation=0.5)
    values = {
        wrap: measured(wrap(lambda view: each("round", "local_step", sq(view.mean("w")))), method)
        for wrap in (of_states, lambda left: left)
    }
    everyone, cohort = (made.values for made in values.values())
    assert np.any(everyone[::2] != cohort[::2])  # within a round
    np.testing.assert_allclose(everyone[1::2], cohort[1::2], rtol=1e-14)  # after the average


@pytest.mark.parametrize("axes", [("round",), ("step",), ("transition",), ("round", "local_step")])
def test_both_views_of_one_state_are_the_same_to_the_bit_without_a_kernel(axes):
    def left(view):
        return average(*axes, sq(view.gradient(view.mean("x"))), square=sq(view.mean("u")))

    of = of_states(lambda view: left(view))
    made = [measured(one, kernels=False) for one in (of, left)]
    np.testing.assert_array_equal(made[0].taken, made[1].taken)
    assert made[0].names == ("square",)


def test_a_measure_of_states_is_taken_in_balls():
    quiet = BoundedComposition(clients=2, distance=3.0)
    method, axes = ComFedL(local_steps=2, step_size=0.5), ("round",)
    left = of_states(lambda view: each("round", sq(view.mean("w"))))
    balls = run_in_balls(quiet, method, rounds=3, left=left, axes=axes)
    assert [float(x.mid()) for x in balls.values[0]] == [9.0, 4.0, 1.0]
