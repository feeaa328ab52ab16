"""Law: a replicate lies between its ends, and they are known before the first one is made."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from math import isfinite
from pathlib import Path
from re import findall

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from driftproof.commands.new import STARTS
from driftproof.synthetic.audit import algorithm as audit
from driftproof.synthetic.audit.algorithm import check_radii
from driftproof.synthetic.problems import (
    PiecewiseBilevel,
    PiecewiseLosses,
    QuadraticBilevel,
    QuadraticMinimax,
)
from driftproof.toolkit.algorithm import Algorithm, algorithm
from driftproof.toolkit.algorithms import (
    Ditto,
    FedAvg,
    FedNest,
    HeavyBall,
    LFedNest,
    Nesterov,
    Scaffold,
    StocBiO,
)
from driftproof.toolkit.cases import Case
from driftproof.toolkit.discover import import_path, leaves
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.extent import Extent
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.measure import States, Steps, average, each, smallest, sq
from driftproof.toolkit.problem import problem
from driftproof.toolkit.reach import Enclosed
from driftproof.toolkit.statistics import Tail, exceeds, falls_below, upper_bound
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.judges.ends import follow
from driftproof.verifiers.verify import Settings, judge
from tests.leaves import pairs

SUPPORTED, REFUTED, INCONCLUSIVE = Verdict.SUPPORTED, Verdict.REFUTED, Verdict.INCONCLUSIVE
NEAR, FAR = ((0.0, -1.0), (1.0, 0.0)), ((0.0, -3.0), (1.0, -2.0))
NOISY = PiecewiseLosses(gradients=((NEAR,), (FAR,)), tails="linear", noise=1.0)
LOCAL = FedAvg(local_steps=3, step_size=0.1)
CASE = Case(NOISY, LOCAL, 50)


def only(left, right, case=CASE, **more):
    made = bound(
        name="own/stochastic", source="–", statement="x", cases=[case], right=right, **more
    )(left)
    (row,) = judge([made], Settings())
    return row


def number(value):
    """Return a right side that is a number."""
    return lambda c: value + 0 * c.b


def distance(view: Steps):
    return each("round", "local_step", sq(view.mean("w") - view.minimiser))


def squared_gradient(view: States):
    return average("round", sq(view.gradient(view.mean("w"))))


def gap(view: States):
    return each("round", view.gap(view.mean("w")))


def clients_apart(view: Steps):
    w = view.client("w")
    return each("round", "local_step", "client", (w - w.mean(0)).square().sum(1) / 2)


def rise(view: Steps):
    w = view.mean("w")
    before = view.objective(view.before.w.mean(0))
    return each("transition", view.objective(w) - before, start=torch.linalg.norm(w, dim=0))


def first_coordinate(view: States):
    return each("round", 3.0 - view.mean("w")[0])


def tracking(view: States):
    return each("round", sq(view.mean("y") - view.problem.lower_solution(view.mean("x"))))


MEASURES = [distance, squared_gradient, gap, clients_apart, rise, first_coordinate]


@pytest.mark.parametrize("left", MEASURES)
@pytest.mark.parametrize("rare", [0.5, 0.01])
def test_every_replicate_lies_between_the_ends(left, rare):
    case = Case(replace(NOISY, rare=rare, noise=0.5), replace(LOCAL, step_size=0.4), 20)
    known = follow(left, case)
    made = run(
        case.problem, case.algorithm, sampled_context(case.problem, ("ends",)), rounds=20, left=left
    )
    factors = dict.fromkeys(made.names, 0.5)
    ends = known.less(factors)
    values = made.values - (0.5 * made.parts.sum(0) if made.names else 0.0)
    assert len(ends.low) == len(values)
    assert ends.upper
    assert np.all(ends.low[:, None] <= values + 1e-12)
    assert np.all(values <= ends.high[:, None])
    shares = (values / ends.root[:, None]) ** 2
    assert not any(exceeds(share, 1.0, 1e-6) for share in shares)


TWO_LEVELS = Case(QuadraticBilevel.examples()[2], FedNest(inner_steps=2, terms=3), 12)


@pytest.mark.parametrize("method", [FedNest(terms=3), LFedNest(series="summed"), StocBiO()])
@pytest.mark.parametrize(
    "problem",
    [TWO_LEVELS.problem, PiecewiseBilevel.examples()[1], QuadraticMinimax(gradient_noise=0.5)],
)
def test_on_two_levels_y_lies_as_near_its_solution_as_the_ends_say(problem, method):
    known = follow(tracking, Case(problem, method, 12)).less({})
    ctx = sampled_context(problem, ("ends",))
    values = run(problem, method, ctx, rounds=12, left=tracking).values
    assert known.upper
    assert np.all(values <= known.high[:, None])
    assert not any(exceeds(share, 1.0, 1e-6) for share in (values / known.root[:, None]) ** 2)


def test_a_hypergradient_is_bounded_without_radii_and_ends_that_overflow_are_none():
    at_x = replace(TWO_LEVELS, rounds=500)
    wide = replace(at_x, algorithm=FedNest(outer_step_size=5.0, terms=3))
    steepest = Enclosed(TWO_LEVELS.problem)._steepest
    ends = follow(lambda view: average("round", sq(view.gradient(view.mean("x")))), wide).less({})
    assert ends.high == pytest.approx([steepest**2])
    grown = Case(QuadraticMinimax(gradient_noise=0.5), wide.algorithm, 500)
    assert not follow(tracking, grown).less({}).upper


@pytest.mark.parametrize("shrunk", [1.0, 0.5])
def test_in_the_mean_ends_are_nearly_reached_and_smaller_ones_are_refused(shrunk):
    """Steps of 1: w is z plus noise of 2 with probability 1/5, else −½; E‖w − z‖⁴ = 3.25 ≤ ρ²σ²."""
    problem = PiecewiseLosses(clients=1, gradients=((NEAR,),), tails="linear", noise=1.0, rare=0.2)
    around = Enclosed(problem).around
    around = replace(around, deviation=around.deviation * shrunk**2).in_mean
    *_, last = islice(FedAvg(step_size=1.0).radii(around), 5)
    made = run(
        problem,
        FedAvg(step_size=1.0),
        sampled_context(problem, ("ends",)),
        rounds=64,
        left=lambda view: each("round", sq(view.mean("w") - view.minimiser)),
    )
    fourths = made.values[1:].ravel() ** 2
    assert last["w"] == pytest.approx(2**0.5 * shrunk)
    assert exceeds(fourths, last["w"] ** 4, 1e-5) is (shrunk < 1)


@pytest.mark.parametrize("shrunk", [1.0, 0.99])
@pytest.mark.parametrize("method", [FedAvg, HeavyBall, Nesterov])
def test_ends_are_reached_and_smaller_ones_are_refused(method, shrunk):
    """One client, F'' = 1 and steps of 1: w is z plus the noise, of size ρ, and any momentum."""
    problem = PiecewiseLosses(clients=1, gradients=((NEAR,),), tails="linear", noise=1.0)
    enclosed, method = Enclosed(problem), method(step_size=1.0)
    around = replace(enclosed.around, noise=enclosed.around.noise * shrunk)
    within = np.array([radii["w"] ** 2 for radii in islice(method.radii(around), 3)])
    made = run(
        problem,
        method,
        sampled_context(problem, ("ends",)),
        rounds=3,
        left=lambda view: each("round", sq(view.mean("w") - view.minimiser)),
    )
    reached = made.values.max(1)
    assert bool(np.all(reached <= within * (1 + 1e-9))) is (shrunk == 1.0)
    assert reached == pytest.approx(within, rel=0.05)


SIZED = st.floats(-3, 3)


@given(
    centre=st.lists(SIZED, min_size=12, max_size=12),
    radius=st.floats(0, 2),
    seed=st.integers(0, 2**31),
    data=st.data(),
)
def test_what_follows_of_extents_holds_of_their_members(centre, radius, seed, data):
    """Random expressions, at members on the surface of the balls."""
    c = torch.tensor(centre, dtype=torch.float64).reshape(2, 3, 2)
    away = torch.randn(c.shape, generator=torch.Generator().manual_seed(seed), dtype=c.dtype)
    member = c + radius * away / away.norm(dim=1, keepdim=True)
    some = data.draw(st.lists(st.sampled_from(sorted(EXPRESSIONS)), min_size=1, max_size=3))
    x, known = member, Extent.ball(c, radius)
    for name in some:
        if x.ndim < 2 and name in DEEP:
            break
        x, known = EXPRESSIONS[name](x), EXPRESSIONS[name](known)
        assert known.shape == x.shape
        room = 1e-9 * (1 + float(x.abs().max()))
        assert known.low - room <= float(x.min())
        assert float(x.max()) <= known.high + room
        sizes = (x - known.centre).abs() if x.ndim < 2 else (x - known.centre).norm(dim=-2)
        assert float(sizes.max()) <= known.radius + room


@given(
    centre=st.lists(SIZED, min_size=6, max_size=6),
    radius=st.floats(0, 2),
    rare=st.sampled_from([1.0, 2.0, 50.0]),
    seed=st.none() | st.integers(0, 2**31),
    data=st.data(),
)
def test_what_follows_in_the_mean_holds_of_a_law_of_eight_outcomes(
    centre, radius, rare, seed, data
):
    """The replicates are the law: E‖v − c‖⁴ = r⁴ of each client's vector, to the last digit.

    Without a seed all lies along one axis, where the inequalities are met.
    """
    c = torch.tensor(centre, dtype=torch.float64).reshape(2, 3, 1).expand(2, 3, 8).contiguous()
    if seed is None:
        c[:, 1:], c[:, :1] = 0.0, c[0, 0].clone()
        away = torch.zeros_like(c)
        away[:, :1] = c[:, :1].sign() + (c[:, :1] == 0)
    else:
        away = torch.randn(c.shape, generator=torch.Generator().manual_seed(seed), dtype=c.dtype)
    away[..., 0] *= rare
    away /= (away.norm(dim=1, keepdim=True) ** 4).mean(2, keepdim=True) ** 0.25
    several = data.draw(st.lists(st.sampled_from(sorted(EXPRESSIONS)), min_size=2, max_size=3))
    for names in [several, *([name] for name in EXPRESSIONS)]:
        holds_in_the_mean(names, c + radius * away, Extent.ball(c, radius, p=4.0))


def holds_in_the_mean(names, x, known):
    for name in names:
        if x.ndim < 2 and name in DEEP:
            return
        x, known = EXPRESSIONS[name](x), EXPRESSIONS[name](known)
        sizes = (x - known.centre).abs() if x.ndim < 2 else (x - known.centre).norm(dim=-2)
        room = 1e-9 * (1 + float(x.abs().max()))
        power = min(known.p, 4.0)
        assert float((sizes**power).mean(-1).max()) ** (1 / power) <= known.radius + room
        assert float((x**2).mean(-1).max()) ** 0.5 <= known.root + room
        assert known.low - room <= float(x.min())


EXPRESSIONS = {
    "square": lambda x: x * x,
    "power": lambda x: x**2,
    "abs": lambda x: x.abs(),
    "add": lambda x: 2 * x + 1.0 - x / 3,
    "rsub": lambda x: 1 - x,
    "product": lambda x: x * (x + 1.0),
    "sq": sq,
    "mean": lambda x: x.mean(0),
    "sum": lambda x: x.sum(-2),
    "norm": lambda x: torch.linalg.vector_norm(x, dim=-2),
    "first": lambda x: x[0],
    "some": lambda x: x[..., :1, :],
    "last": lambda x: x[:, -1:],
    "larger": lambda x: torch.maximum(x, 1 - x),
    "expanded": lambda x: x.expand(4, *x.shape),
    "spread": lambda x: x[:1] + x,
    "root": lambda x: (x * x).sqrt(),
    "half power": lambda x: (x * x) ** 0.5,
    "flat": lambda x: x.flatten(0, 1),
}
DEEP = {"sq", "mean", "sum", "norm", "some", "last", "first", "flat", "spread"}


WITH_RADII = [
    name for name, leaf in leaves("algorithm").items() if leaf.load().radii is not Algorithm.radii
]


def is_exceeded(method, member):
    try:
        check_radii(method, member)
    except DriftproofError as error:
        return "mend radii" in error.remedy
    return False


@pytest.mark.parametrize("name", WITH_RADII)
def test_runs_stay_within_the_radii_and_a_hundredth_of_any_is_noticed(name, monkeypatch):
    """From z itself a radius is all growth: a hundredth of it, of one field, is exceeded there.

    The first is asked of pairs in which a member of the algorithm, or a family, is new.
    """
    monkeypatch.setattr(audit, "DIRECTIONS", 1)
    true, names, tried, new, met = Algorithm.proven_radii, set(), {}, [], set()
    for method, member in (pair.values for pair in pairs()):
        if method.leaf_name == name:
            at_z = replace(Enclosed(member).around, start=0.0)
            *_, after = islice(true(method, at_z), method.local_steps + 1)
            if isfinite(after[method.iterate]):
                tried[repr(method), member.leaf_name] = method, member
                new += [(method, member)] * (not {repr(method), member.leaf_name} <= met)
                met |= {repr(method), member.leaf_name}
                names |= {field for field, radius in after.items() if radius}
    assert new
    for method, member in new:
        check_radii(method, member)

    def shrunk(self, around):
        for t, within in enumerate(true(self, around)):
            yield {**within, field: within[field] * (0.01 if t and not around.start else 1)}

    monkeypatch.setattr(Algorithm, "proven_radii", shrunk)
    for field in sorted(names):
        assert any(is_exceeded(*pair) for pair in tried.values()), field


class Careless(FedAvg):
    """Steps twice as long as its radii say."""

    def init(self, ctx, oracles, start):
        return super().init(ctx, oracles, start)

    def step(self, ctx, oracles, state):
        return super().step(ctx, oracles, super().step(ctx, oracles, state))

    def radii(self, around):
        return super().radii(around)


class Changed(FedAvg):
    """Another step, and the radii of FedAvg's."""

    def step(self, ctx, oracles, state):
        return super().step(ctx, oracles, state)


def test_radii_that_a_run_exceeds_are_refused():
    with pytest.raises(DriftproofError, match="mend radii"):
        check_radii(Careless(step_size=0.1), replace(NOISY, noise=5.0))


def test_another_step_has_no_radii():
    around = Enclosed(NOISY).around
    assert next(LOCAL.proven_radii(around))["w"] == around.start
    assert not list(Changed().proven_radii(around))
    helped = type("Helped", (FedAvg,), {"cohort_size": lambda self, clients: 1})
    assert not list(helped().proven_radii(around))  # a step may call what it overrides
    assert not list(Unreached().proven_radii(around))
    assert not list(Ditto().proven_radii(around))
    assert list(islice(LOCAL.proven_radii(around.in_mean), 1))
    assert not list(Careless().proven_radii(around.in_mean))  # nobody said so of its own radii


@algorithm(name="own/unreached", source="a test", statement="x")
class Unreached(Scaffold):
    """Another step, of which nothing is known."""

    def step(self, ctx, oracles, state):
        return super().step(ctx, oracles, state)


def test_the_page_lists_every_method_and_says_which_have_radii():
    page = Path(__file__).parents[1] / "docs" / "verdicts.md"
    rows = [row.split("|")[1:3] for row in page.read_text().split("\n") if row.startswith("| `")]
    listed = {name: ends.strip() for names, ends in rows for name in findall(r"`(\w+)`", names)}
    shipped = {leaf.load().__name__: leaf.name for leaf in leaves("algorithm").values()}
    assert listed.keys() == shipped.keys()
    for name, ends in listed.items():
        assert ends.startswith(("none", "not needed")) is (shipped[name] not in WITH_RADII), name


# -- verdicts


def test_smooth_strongly_convex_and_unbounded_is_decided_without_a_range():
    row = only(distance, number(5))
    assert (row.verdict, row.evidence, row.vacuous) == (SUPPORTED, "sequential", False)
    assert "by the problem's constants and the algorithm's radii" in row.reason
    assert only(distance, number(0.1)).verdict is REFUTED
    assert only(squared_gradient, number(0.7)).verdict is SUPPORTED
    assert only(squared_gradient, number(0.05)).verdict is REFUTED
    saddle = Case(QuadraticMinimax(gradient_noise=1.0, regulariser=0.5), FedAvg(step_size=0.1), 40)
    assert only(gap, number(10), saddle).verdict is SUPPORTED
    assert only(gap, number(0.01), saddle).verdict is REFUTED
    assert only(tracking, number(50), TWO_LEVELS).verdict is SUPPORTED
    assert only(tracking, number(0.01), TWO_LEVELS).verdict is REFUTED


UNKNOWN_REACH = Case(NOISY, Unreached(local_steps=3, step_size=0.1), 30)


def last_gap(view: Steps):
    return each("round", "local_step", view.gap(view.mean("x"))) if view.last else None


def test_what_is_never_negative_is_refuted_whatever_the_method():
    row = only(last_gap, number(1e-3), UNKNOWN_REACH)
    assert (row.verdict, row.evidence) == (REFUTED, "sequential")
    assert row.lhs["high"] is None
    assert 1e-3 < row.lhs["low"] <= row.lhs["mean"]
    row = only(last_gap, number(10), UNKNOWN_REACH)
    assert row.verdict is INCONCLUSIVE
    assert "nothing but a refutation" in row.reason
    assert row.replicates == 256  # and no more: nothing speaks for a refutation
    known = replace(UNKNOWN_REACH, algorithm=Scaffold(local_steps=3, step_size=0.1))
    assert only(last_gap, number(10), known).verdict is SUPPORTED


def signed(view: States):
    return each("round", view.mean("x")[0] - 1.0)


def branching(view: States):
    x = view.mean("x")
    return each("round", -sq(x) if bool((x > 100).any()) else sq(x))


@pytest.mark.parametrize("left", [signed, branching])
def test_what_lacks_a_lower_end_is_told_before_the_first_replicate(left):
    row = only(left, number(0.01), UNKNOWN_REACH)
    assert (row.verdict, row.replicates) == (INCONCLUSIVE, 0)
    assert "least=lambda c" in row.reason


def test_what_lacks_a_lower_end_is_named():
    """A square has one by itself; less a square it has none."""

    def left(view: States):
        return each("round", sq(view.mean("x")), G=sq(view.mean("x")))

    row = only(left, lambda c: 2 * c.measured("G"), UNKNOWN_REACH)
    assert row.verdict is INCONCLUSIVE
    assert "one replicate's left side less its part of c.measured('G'): write" in row.reason


def test_a_lower_end_may_be_stated():
    row = only(signed, number(0.5), UNKNOWN_REACH, least=number(-20.0))
    assert row.verdict is REFUTED
    row = only(signed, number(0.5), UNKNOWN_REACH, least=number(0.0))
    assert row.verdict is INCONCLUSIVE
    assert "a replicate measured -1" in row.reason


def test_the_best_of_several_is_known_to_be_untestable():
    def best(view: States):
        return smallest("round", sq(view.mean("w")))

    row = only(best, number(1))
    assert (row.verdict, row.replicates) == (INCONCLUSIVE, 0)
    assert "the smallest of several expectations" in row.reason


# -- coverage at α = 0.05: two-point laws at the edge of a condition, and an adversary who peeks


ALPHA, TRIALS, LENGTH, PEEKS = 0.05, 600, 512, range(16, 513, 16)
ALLOWED = binom.ppf(1 - 1e-4, TRIALS, ALPHA)


def two_points(chance, low, high, seed=0):
    random = np.random.default_rng(seed)
    return np.where(random.random((TRIALS, LENGTH)) < chance, high, low)


def wrong(samples, says):
    return sum(any(says(x[:n]) for n in PEEKS) for x in samples)


@pytest.mark.parametrize("chance", [0.5, 0.1, 0.01, 0.002])
def test_a_mean_is_called_above_at_most_as_often_as_promised(chance):
    """X ≥ 0 of mean 1, without any upper end: 0 and 1/chance."""
    samples = two_points(chance, 0.0, 1 / chance)
    assert wrong(samples, lambda x: exceeds(x, 1.0, ALPHA)) <= ALLOWED


def test_without_the_lower_end_the_same_check_fails():
    """1.25 and, once in a thousand, -248.75: the mean is 1, and 0 is no lower end."""
    samples = two_points(0.001, 1.25, -248.75)
    assert wrong(samples, lambda x: exceeds(np.maximum(x, 0.0), 1.0, ALPHA)) > 3 * ALLOWED


EDGE = PiecewiseLosses(clients=1, gradients=((NEAR,),), tails="linear", noise=1.0, rare=0.01)
"""With steps of 1, w is the noise: √99 once in a hundred, which is ρ, and −1/√99. E‖w‖² = 1."""


@pytest.mark.parametrize("share", [1.0, 0.05])
@pytest.mark.parametrize("by", ["most", "root"])
def test_a_mean_is_called_below_at_most_as_often_as_promised(share, by):
    """Both derived ends are met by this law: 99 is a point, E X² ≤ 99. Smaller ones are none."""
    case = Case(EDGE, FedAvg(step_size=1.0), 3)
    known = follow(lambda view: each("step", sq(view.mean("w") - view.minimiser)), case).less({})
    ends = Tail(float(known.high[-1]), float(known.root[-1]))
    assert ends == pytest.approx((99.0, 99**0.5), rel=1e-6)
    tail = Tail()._replace(**{by: share * getattr(ends, by)})
    samples = np.minimum(two_points(0.01, 1 / 99, 99.0, seed=1), tail.most)
    failed = wrong(samples, lambda x: falls_below(x, 1.0, ALPHA, tail))
    assert bool(failed <= ALLOWED) is (share == 1.0)


@given(
    x=st.lists(st.floats(0, 50), min_size=1, max_size=40),
    at=st.integers(0, 39),
    mean=st.floats(0.1, 5),
    more=st.floats(0, 50),
    root=st.floats(1, 60),
)
def test_a_larger_outcome_never_speaks_for_a_smaller_mean(x, at, mean, more, root):
    """And what is below a mean is below a larger one."""
    x, tail = np.array(x), Tail(root=root)
    larger = x.copy()
    larger[at % len(x)] += more
    if falls_below(larger, mean, ALPHA, tail):
        assert falls_below(x, mean, ALPHA, tail)
    if falls_below(x, mean, ALPHA, tail):
        assert falls_below(x, 1.5 * mean, ALPHA, tail)
        assert upper_bound(x, ALPHA, tail) <= mean * (1 + 1e-9)


# -- constants and radii of a user's own are not believed


@problem(name="own/understated", source="a test", statement="F")
class Understated(PiecewiseLosses):
    """Losses whose noise is declared a share of what it is."""

    share: float = 1.0

    @property
    def constants(self):
        told = super().constants
        return {**told, "field_noise_bound": self.share * told["field_noise_bound"]}


def quadratics(share):
    return Understated(
        gradients=((NEAR,), (FAR,)), tails="linear", noise=1.0, rare=0.01, share=share
    )


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_a_noise_bound_that_a_sample_exceeds_supports_nothing(share):
    row = only(distance, number(300.0), Case(quadratics(share), LOCAL, 20))
    if share == 1.0:
        assert row.verdict is SUPPORTED
    else:
        assert row.verdict is Verdict.INAPPLICABLE
        assert "field_noise_bound is declared 4.97" in row.reason
    # a range of one's own does not rest on it
    stated = only(distance, number(300.0), Case(quadratics(share), LOCAL, 20), range=number(900.0))
    assert stated.verdict is SUPPORTED
    assert ("beside this, own/understated: field_noise_bound" in stated.reason) is (share < 1)


def test_squares_over_a_minimax_problem_of_ones_own_have_the_lower_end_0(tmp_path):
    """One without a step for Neumann series, which no method of first order takes."""
    text = STARTS["minimax"].read_text(encoding="utf-8")
    for one, two in (
        ("[self.slope])", "[0.9 * self.slope, 1.1 * self.slope])"),
        ("[self.ridge])", "[self.ridge, self.ridge])"),
    ):
        assert one in text
        text = text.replace(one, two)
    (tmp_path / "noisy_saddle.py").write_text(text, encoding="utf-8")
    claim = import_path(tmp_path / "noisy_saddle.py").descent
    known = follow(claim.left, claim.cases[0])
    assert known is not None
    assert known.less({}).lower
    assert (known.less({}).low == 0).all()


def test_what_a_measure_may_not_do_is_told_from_a_fault_of_ours(monkeypatch):
    """A refusal is no fault, nor is what the run says of the measure; of ours one hears."""
    mistakes = (
        lambda view: average("round", view.mean("w")[0] + view.problem.noise),
        lambda view: average("round", torch.linalg.norm(view.mean("w"), dim=7)),
        lambda view: average("round", float(view.mean("w")[0])),
        lambda view: average("round", view.mean("w")[0] + None),
    )
    assert [follow(left, CASE) for left in mistakes] == [None] * len(mistakes)
    monkeypatch.setattr("driftproof.verifiers.judges.ends.extent_of", len)
    with pytest.raises(DriftproofError, match="the fault is driftproof's"):
        follow(lambda view: gap(view), CASE)
