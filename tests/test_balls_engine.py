"""Law: whatever runs in doubles runs in balls, and they contain the doubles within the rounding."""

import numpy as np
import pytest
import torch
from flint import arb

from driftproof.synthetic.problems import BoundedComposition, LogisticBilevel, QuadraticBilevel
from driftproof.toolkit.algorithms import ComFedL, LocalSCGDM
from driftproof.toolkit.balls import Balls, RefusedError, precision
from driftproof.toolkit.balls.tensor import HANDLERS
from driftproof.toolkit.draws import Words
from driftproof.toolkit.engines.balls import SampledBalls, run_in_balls
from driftproof.toolkit.federation import run, run_exactly, sampled_context
from driftproof.toolkit.measure import average, each, sq
from driftproof.toolkit.rounded import rounding
from tests.leaves import problems, thinned

REPLICATES = 2
REFUSED = {"drfl": "sort", "tr-maml": "sort", "fastdro": "sort"}
"""Algorithms that balls cannot run, and the function that has no version.

Numbers that are equal, as the losses of one sample drawn twice, cannot be put in order by balls.
DRFL draws clients by comparing uniform numbers with cumulative sums of λ: what it draws would jump
within a ball, and the uniform numbers have too many outcomes for an exact judge anyway.
"""


def refused(algorithm):
    """Return the function that has no version for balls (None: they run this member)."""
    sorts = getattr(algorithm, "divergence", "") != "kl"  # a maximum without an order
    return REFUSED.get(algorithm.leaf_name) if sorts else None


def last_iterate(algorithm):
    """Measure the mean iterate's size at each round's start and the objective there."""

    def left(view):
        x = view.round_start(algorithm.iterate)
        return each("round", sq(x), objective=view.objective(x) if _whole(view, x) else sq(x))

    return left


def _whole(view, x):
    return x.shape[0] in (view.problem.dim, len(view.problem.start()))


def both_runs(algorithm, problem, left):
    """Run one sampled block in balls, in doubles, and in randomly rounded single precision."""

    def numeric(dtype, jitter):
        ctx = sampled_context(problem, ("balls",), replicates=REPLICATES, dtype=dtype)
        made = run(problem, algorithm, ctx, rounds=2, left=left, jitter=jitter, kernels=False)
        return np.concatenate([made.values[None], made.parts]) @ made.weights

    sampled = SampledBalls(Words("balls"), problem.clients, replicates=REPLICATES)
    with precision(120):
        balls = run_in_balls(
            problem, algorithm, rounds=2, left=left, axes=("round",), sampled=sampled
        )
    double = numeric(torch.float64, None)
    singles = np.array([numeric(torch.float32, seed).ravel() for seed in range(2)])
    margin = rounding(double.ravel(), singles, np.abs(double.ravel()))
    return balls.values, double, margin.reshape(double.shape)


def contained(balls, double, margin):
    """Say whether every ball, widened by the doubles' margin, contains the double."""
    return all(
        (x + arb(0, m)).contains(arb(d))
        for x, d, m in zip(balls.flat, double.flat, margin.flat, strict=True)
    )


@pytest.mark.parametrize(("algorithm", "problem"), thinned())
def test_balls_contain_the_run_in_doubles(algorithm, problem):
    measure = last_iterate(algorithm)
    if refused(algorithm) is not None:
        with pytest.raises(RefusedError, match=refused(algorithm)):
            both_runs(algorithm, problem, measure)
        return
    balls, double, margin = both_runs(algorithm, problem, measure)
    assert contained(balls, double, margin)
    assert max(float(x.rad()) for x in balls.flat) < 1e-20 * (1 + np.abs(double).max())


def test_nearly_all_pairs_run():
    """The law above fails on a pair that is refused and not listed; how many are listed."""
    held = [refused(p.values[0]) for p in thinned()]
    assert len(held) > 200
    assert 0 < len(held) - held.count(None) <= 0.03 * len(held)


@pytest.mark.parametrize("name", ["mul", "sub", "sum"])
def test_a_broken_operation_is_caught(name, monkeypatch):
    """Negative control: a millionth is lost, and no radius says so."""
    sound = HANDLERS[name]
    shrink = np.frompyfunc(lambda x: (x * (1 - arb(1e-6))).mid(), 1, 1)
    monkeypatch.setitem(
        HANDLERS, name, lambda *a, **k: Balls(np.asarray(shrink(sound(*a, **k).entries), object))
    )
    algorithm = ComFedL(local_steps=3, step_size=0.05)
    problem = BoundedComposition(clients=3, dim=3, inner_dim=2, heterogeneity=1.0)
    assert not contained(*both_runs(algorithm, problem, last_iterate(algorithm)))


@pytest.mark.parametrize("problem", problems())
def test_gradients_in_balls_are_derivatives_of_the_objective_in_balls(problem):
    """At a point of all ones, by differences at 2⁻⁶⁰: no rounding is in the way of either."""
    dim = problem.dim
    x = torch.full((dim, 1), 0.75, dtype=torch.float64)
    with precision(400):
        point, step = Balls.of(x), arb(2) ** -60
        gradient = problem.gradient(point).entries[:, 0]
        for k in range(min(dim, 3)):
            moved = [point.clone(), point.clone()]
            moved[0].entries[k, 0] += step
            moved[1].entries[k, 0] -= step
            up, down = (problem.smooth_part(m).entries[0] for m in moved)
            slope = (up - down) / (2 * step)
            assert abs(slope - gradient[k]) < 1e-12
    near = problem.gradient(x)[:, 0].numpy()
    assert np.allclose(near, [float(g.mid()) for g in gradient], rtol=1e-9, atol=1e-9)


def test_noise_with_few_outcomes_is_enumerated_with_exact_probabilities():
    """A minibatch of three signs: values ±1, ±1/3, and the chances add up to 1 exactly."""
    problem = BoundedComposition(clients=1, inner_value_noise=0.3, outer_curvature=0.1)
    algorithm = ComFedL(batch=3, branch="special")

    def left(view):
        return average("round", sq(view.round_start("w")))

    exact = run_exactly(problem, algorithm, rounds=2, left=left, limit=100)
    with precision(200):
        made = run_in_balls(problem, algorithm, rounds=2, left=left, axes=("round",))
        assert made.outcomes == 16
        assert abs(made.values[0, 0] - arb(float(exact.values[0] @ exact.weights))) < 1e-13
        assert made.values[0, 0].rad() < 1e-50


def test_hyperparameters_are_taken_for_what_they_are():
    """1 − γη is a double in a run of doubles; in balls it is exact."""
    problem = BoundedComposition(clients=1, distance=1.0)
    algorithm = LocalSCGDM(local_steps=1, step_size=0.1, inner_momentum=0.7)
    with precision(200):
        made = run_in_balls(problem, algorithm, rounds=2)
        rate = 1 - arb(0.7) * arb(0.1)
        first = arb(1) - arb(0.1) * arb(1)  # x_1 = x_0 − βη z_0, z_0 = 1
        expected = rate * arb(1) + arb(0.7) * arb(0.1) * first
        assert made.state.u.entries[0, 0, 0].overlaps(expected)
        assert made.state.u.entries[0, 0, 0].rad() < 1e-55


@pytest.mark.parametrize("problem", [QuadraticBilevel(clients=3), LogisticBilevel(noise="none")])
def test_the_lower_solution_is_enclosed_by_its_gradient(problem):
    """Balls are as narrow as asked, however the doubles' solution was rounded; ∇g there holds 0."""
    x = Balls.of(torch.full((problem.dim, 1), 0.3, dtype=torch.float64))
    with precision(200):
        y = problem._solution(x)
        slope = problem._oracles(x).lower_grad(problem._every(x), problem._every(y), None).mean(0)
        assert all(s.contains(0) for s in slope.entries.flat)
        assert max(float(v.rad()) for v in y.entries.flat) < 1e-40


def test_more_outcomes_than_are_run_are_refused():
    problem = BoundedComposition(clients=2, inner_value_noise=0.3)
    with pytest.raises(RefusedError, match="more than 256 outcomes"):
        run_in_balls(problem, ComFedL(local_steps=5), rounds=5)


def test_the_table_of_operations_is_named_as_torch_names_them():
    """A handler under a name that torch does not have would never be called."""
    known = set(dir(torch.Tensor)) | set(dir(torch)) | set(dir(torch.nn.functional))
    known |= set(dir(torch.ops.aten)) | {
        name.removeprefix("aten::") for name in torch._C._dispatch_get_all_op_names()
    }
    own = {"linalg_vector_norm", "linalg_solve", "special_xlogy", "rsub"}
    assert not [n for n in HANDLERS if n not in known | own]
