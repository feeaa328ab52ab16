"""Law: every measure of a view is what a plain loop over clients, replicates and steps gives.

A run on five clients, of whom two take part in a round. Its steps are written down as they are
made, and the loops below use nothing but those numbers.
"""

import numpy as np
import pytest
import torch

from driftproof.synthetic.problems import BoundedComposition
from driftproof.toolkit.algorithms import ComFedL, FedAvg
from driftproof.toolkit.engines.batched import BatchedContext
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.measure import average, each, sq
from tests.users import UsersQuadratic

CLIENTS, DIM, ROUNDS, TAU, REPLICATES = 5, 2, 3, 3, 4
PROBLEM = UsersQuadratic(clients=CLIENTS, dim=DIM, noise=0.3)
METHOD = FedAvg(local_steps=TAU, step_size=0.2, participation=0.4)


class Diary:
    """What every step of a run started from, marked, drew and returned, as lists of numbers."""

    def __init__(self, method, problem):
        self.steps = []
        own, diary = type(method).step, self

        class Written(type(method)):
            def step(self, ctx, oracles, state):
                after = own(self, ctx, oracles, state)
                marks = {name: value.tolist() for name, value in ctx.marks.items()}
                mask = ctx.mask.tolist() if ctx.mask is not None else None
                if type(ctx) is BatchedContext:  # else one of the many outcomes of a step
                    diary.steps.append((ctx.t, state.w.tolist(), marks, mask, after.w.tolist()))
                return after

        self.method = Written(**method.values())
        self.problem = problem

    def run(self, left):
        ctx = sampled_context(self.problem, ("loops",), replicates=REPLICATES)
        made = run(self.problem, self.method, ctx, rounds=ROUNDS, left=left, kernels=False)
        # the first entries are of the trial moment by which a measure's axes are learned
        self.steps = self.steps[-ROUNDS * self.method.local_steps :]
        assert [step[0] for step in self.steps] == list(range(ROUNDS * self.method.local_steps))
        return made


@pytest.fixture
def diary():
    return Diary(METHOD, PROBLEM)


def squared(point):
    return sum(entry**2 for entry in point)


def mean_of(values, r, cohort=None):
    """The mean over clients (of a cohort) of [clients][dim][replicates], at replicate r."""
    chosen = (
        range(len(values)) if cohort is None else [k for k in range(CLIENTS) if cohort[k][0][r]]
    )
    return [sum(values[k][i][r] for k in chosen) / len(chosen) for i in range(len(values[0]))]


def compare(found, wanted):
    np.testing.assert_allclose(found, np.array(wanted), rtol=1e-12, atol=1e-14)


def every(moments, of):
    """One list a moment of a number a replicate."""
    return [[of(moment, r) for r in range(REPLICATES)] for moment in moments]


def test_a_cohort_has_two_of_the_five_clients(diary):
    diary.run(lambda view: each("transition", sq(view.mean("w"))))
    masks = [step[3] for step in diary.steps]
    for mask in masks:
        assert [sum(mask[k][0][r] for k in range(CLIENTS)) for r in range(REPLICATES)] == [2] * 4
    assert len({str(mask) for mask in masks}) > 1


def test_mean_of_a_field_is_over_the_cohort_and_after_the_average(diary):
    made = diary.run(lambda view: each("round", "local_step", sq(view.mean("w"))))
    compare(made.values, every(diary.steps, lambda s, r: squared(mean_of(s[4], r, s[3]))))


def test_mean_of_a_mark_is_over_the_cohort(diary):
    made = diary.run(lambda view: each("transition", sq(view.mean("u"))))
    compare(made.values, every(diary.steps, lambda s, r: squared(mean_of(s[2]["u"], r, s[3]))))


def test_cohort_mean_of_any_values_is_over_the_cohort(diary):
    made = diary.run(lambda view: each("transition", sq(view.cohort_mean(view.client("u") ** 3))))

    def cubed(step, r):
        values = [[[x**3 for x in row] for row in client] for client in step[2]["u"]]
        return squared(mean_of(values, r, step[3]))

    compare(made.values, every(diary.steps, cubed))


def test_at_the_start_of_a_round_means_are_over_all_clients(diary):
    """The cohort of the last round is past, and the next one is not drawn yet."""
    made = diary.run(
        lambda view: each(
            "round", sq(view.mean("w")), other=sq(view.cohort_mean(view.client("w") ** 2))
        )
    )
    starts = diary.steps[::TAU]
    compare(made.values, every(starts, lambda s, r: squared(mean_of(s[1], r))))

    def of_squares(step, r):
        values = [[[x**2 for x in row] for row in client] for client in step[1]]
        return squared(mean_of(values, r))

    compare(made.parts[0], every(starts, of_squares))


def test_round_start_is_the_mean_of_all_clients_as_the_round_began(diary):
    made = diary.run(lambda view: each("round", "local_step", sq(view.round_start("w"))))
    compare(
        made.values,
        every(
            range(ROUNDS * TAU), lambda t, r: squared(mean_of(diary.steps[t // TAU * TAU][1], r))
        ),
    )


class Alone(FedAvg):
    """Local steps, never averaged: the clients differ as a round begins."""

    def step(self, ctx, oracles, state):
        ctx.cohort(self.cohort_size(ctx.clients), since=ctx.t - ctx.t % self.local_steps)
        return type(state)(
            state.w - 0.2 * oracles.field_grad(state.w, ctx.draw(oracles.field_law(1), "xi"))
        )


def test_means_at_the_start_of_a_round_are_over_all_clients_where_they_differ():
    diary = Diary(Alone(**METHOD.values()), PROBLEM)
    made = diary.run(
        lambda view: each(
            "round",
            sq(view.mean("w")),
            start=sq(view.round_start("w")),
            other=sq(view.cohort_mean(view.client("w"))),
        )
    )
    wanted = every(diary.steps[::TAU], lambda s, r: squared(mean_of(s[1], r)))
    for found in (made.values, *made.parts):
        compare(found, wanted)
    first = every(diary.steps[::TAU], lambda s, r: squared([s[1][0][i][r] for i in range(DIM)]))
    assert not np.allclose(first, wanted)


def test_client_is_what_was_marked_and_each_client_is_a_comparison(diary):
    made = diary.run(lambda view: each("transition", "client", sq(view.client("w"))))
    wanted = [
        [squared([s[2]["w"][k][i][r] for i in range(DIM)]) for r in range(REPLICATES)]
        for s in diary.steps
        for k in range(CLIENTS)
    ]
    compare(made.values, wanted)
    apart = any(step[2]["w"] != step[4] for step in diary.steps)
    assert apart  # a mark is before the average, the state after it


def test_before_previous_and_state_are_those_of_the_steps(diary):
    made = diary.run(
        lambda view: each(
            "transition",
            sq(view.state.w[1]),
            before=sq(view.before.w[1]),
            previous=sq(view.previous.w[1]),
        )
    )

    def client(values, r):
        return squared([values[1][i][r] for i in range(DIM)])

    steps = diary.steps
    compare(made.values, every(steps, lambda s, r: client(s[4], r)))
    compare(made.parts[0], every(steps, lambda s, r: client(s[1], r)))
    earlier = [steps[0], *steps[:-1]]
    compare(made.parts[1], every(earlier, lambda s, r: client(s[1], r)))


def test_the_numbers_of_a_moment(diary):
    seen = []

    def left(view):
        seen.append((view.t, view.round, view.local_step, view.local_steps, view.horizon))
        return each("transition", sq(view.mean("w")))

    diary.run(left)
    wanted = [(t, t // TAU, t % TAU + 1, TAU, ROUNDS) for t in range(ROUNDS * TAU)]
    assert seen[-len(wanted) :] == wanted


MOMENTS = {
    ("round",): lambda steps: steps[::TAU],
    ("step",): lambda steps: steps,
    ("transition",): lambda steps: steps,
    ("round", "local_step"): lambda steps: steps,
}


@pytest.mark.parametrize("axes", MOMENTS)
def test_an_average_is_the_mean_over_all_its_moments(diary, axes):
    """Of the states before the step where nothing is done yet, else of those after it."""
    made = diary.run(lambda view: average(*axes, sq(view.state.w[2]), first=view.state.w[0, 0]))
    steps = MOMENTS[axes](diary.steps)
    at = 1 if axes in (("round",), ("step",)) else 4
    total = [
        sum(squared([s[at][2][i][r] for i in range(DIM)]) for s in steps) / len(steps)
        for r in range(REPLICATES)
    ]
    compare(made.values, [total])
    part = [sum(s[at][0][0][r] for s in steps) / len(steps) for r in range(REPLICATES)]
    compare(made.parts[0], [part])


@pytest.mark.parametrize("axes", [("step",), ("transition",), ("round", "local_step")])
def test_since_round_is_the_sum_or_the_largest_of_the_round_so_far(diary, axes):
    def left(view):
        x = view.state.w[0, 0]
        return each(*axes, view.since_round("sum", x), most=view.since_round("m", x, largest=True))

    made, at = diary.run(left), 1 if axes == ("step",) else 4

    def so_far(t, r):
        return [diary.steps[u][at][0][0][r] for u in range(t // TAU * TAU, t + 1)]

    moments = range(ROUNDS * TAU)
    compare(made.values, every(moments, lambda t, r: sum(so_far(t, r))))
    compare(made.parts[0], every(moments, lambda t, r: max(so_far(t, r))))


def test_gradient_and_objective_are_those_of_f_at_each_replicate():
    problem = BoundedComposition(clients=CLIENTS, dim=DIM, inner_dim=3, heterogeneity=1.0)
    diary = Diary(ComFedL(local_steps=TAU, step_size=0.3, participation=0.4), problem)
    kept = {}

    def left(view):
        x = view.mean("w")
        own = view.own_gradients(view.client("w"))
        kept[view.t] = [
            v.clone() for v in (view.client_gradients(x), own, view.inner_values(view.client("w")))
        ]
        return each("transition", sq(view.gradient(x)), value=view.objective(x))

    made = diary.run(left)
    alone = [problem.oracles(torch.float64, clients=range(k, k + 1)) for k in range(CLIENTS)]

    def of_client(k, point):
        """F_k, its gradient and its inner value at a point, from its oracles alone."""
        x = torch.tensor(point, dtype=torch.float64)[None, :, None]
        y, pullback = alone[k].inner(x, None)
        gradient = pullback(alone[k].outer_grad(y, None)) + alone[k].plain_grad(x, None)
        return float(alone[k].outer_value(y)), gradient.flatten().tolist(), y.flatten().tolist()

    for t, step in enumerate(diary.steps):
        for r in range(REPLICATES):
            x = mean_of(step[4], r, step[3])
            parts = [of_client(k, x) for k in range(CLIENTS)]
            gradient = [sum(part[1][i] for part in parts) / CLIENTS for i in range(DIM)]
            compare(made.values[t, r], squared(gradient))
            compare(made.parts[0, t, r], sum(part[0] for part in parts) / CLIENTS)
            compare(kept[t][0][..., r], [part[1] for part in parts])
            held = [[step[2]["w"][k][i][r] for i in range(DIM)] for k in range(CLIENTS)]
            compare(kept[t][1][..., r], [of_client(k, held[k])[1] for k in range(CLIENTS)])
            compare(kept[t][2][..., r], [of_client(k, held[k])[2] for k in range(CLIENTS)])
