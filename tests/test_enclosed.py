"""What rounding leaves open is decided in balls, and counterexamples are verified in them."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
import sympy
import torch
from flint import arb
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from driftproof.synthetic.problems import BoundedComposition, PiecewiseLosses, QuadraticBilevel
from driftproof.toolkit.algorithm import Algorithm, algorithm
from driftproof.toolkit.algorithms import ComFedL, FedAvg, FedNest
from driftproof.toolkit.balls import Balls, RefusedError
from driftproof.toolkit.balls.solutions import enclosing
from driftproof.toolkit.balls.tensor import lift, precision
from driftproof.toolkit.cases import Case
from driftproof.toolkit.measure import each, smallest, sq
from driftproof.toolkit.problem import Problem, Solution, problem
from driftproof.toolkit.verdict import Evidence, Verdict
from driftproof.verifiers import baseline
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.judges import bounds, enclosed
from driftproof.verifiers.judges.enclosed import Enclosed, decided, enclose, left_open
from driftproof.verifiers.judges.evidence import Measured
from driftproof.verifiers.running.jobs import jobs_for
from driftproof.verifiers.verify import select

NEAR = 1 - sympy.Rational(1, 10**9)
"""A right side that is too small by this factor is a false neighbour."""


def tiny(problem, algorithm, rounds, right, **more):
    """A claim of one case."""
    case = Case(problem, algorithm, rounds)
    return bound(name="tiny/claim", source="", statement="", cases=[case], right=right, **more)


def travelled(c):
    return (c.tau * c.eta * c.G_f * c.G_g) ** 2


def drift(eta):
    """‖w̄_{s,t} − w̄_s‖² ≤ τ²η²G_f²G_g², an equality after the last local step."""

    @tiny(
        BoundedComposition(clients=2, distance=20.0),
        ComFedL(local_steps=3, step_size=eta),
        3,
        travelled,
        false_siblings=[("near", lambda c: NEAR * travelled(c))],
    )
    def drift(view):
        return each("round", "local_step", sq(view.mean("w") - view.round_start("w")))

    return drift


def cancelling(eta):
    """‖w_{t+1}‖² − ‖w_t‖² = −2η⟨u, w_t⟩ + η²‖u‖²: the squares cancel up to η, the rest to η²."""

    def right(c, share=1):
        return -2 * c.eta * c.measured("inner") + share * (c.eta * c.G_f * c.G_g) ** 2

    @tiny(
        BoundedComposition(distance=20.0),
        ComFedL(step_size=eta),
        3,
        right,
        false_siblings=[("near", lambda c: right(c, NEAR))],
    )
    def cancelling(view):
        before = view.before.w.mean(0)
        inner = (view.mean("u") * before).sum(0)
        return each("transition", sq(view.mean("w")) - sq(before), inner=inner)

    return cancelling


def rows_of(made, *, seed=0):
    """Judge a claim in this process; return its rows, and the tasks that were asked for."""
    rows, tasks = [], []
    for job in jobs_for(made, made, profile="quick", seed=seed, device="cpu", siblings=True):
        asked = next(job)
        while True:
            tasks += [item.kind for item in asked]
            try:
                asked = job.send([(item.work(), 0.0) for item in asked])
            except StopIteration as end:
                rows += end.value
                break
    return rows, tasks


@pytest.mark.parametrize("make", [drift, cancelling])
@pytest.mark.parametrize("eta", [1e-6, 1e-12])
def test_tight_statements_at_tiny_scales_are_decided(make, eta):
    (printed, sibling), tasks = rows_of(make(eta))
    assert (printed.verdict, printed.evidence) == (Verdict.SUPPORTED, Evidence.ENCLOSED)
    assert printed.attained
    assert (sibling.verdict, sibling.evidence) == (Verdict.REFUTED, Evidence.ENCLOSED)
    assert "in ball arithmetic" in sibling.reason
    assert tasks.count("in balls") == 2


def test_what_doubles_decide_is_not_run_again():
    _, tasks = rows_of(drift(0.1))
    assert "in balls" not in tasks


def test_constants_are_allowed_their_own_rounding():
    """G_f = 0.1 + 0.2 as a double lies above 3/10 by 4e-17: neither that nor less refutes."""
    for noise in (0.2, 0.1):
        problem = BoundedComposition(inner_slope=0.1, inner_gradient_noise=noise)

        @tiny(problem, ComFedL(branch="special"), 1, lambda c: c.G_f)
        def constant(view):
            total = view.round_start("w").sum(0)
            return each("round", total - total + 0.1 + view.problem.inner_gradient_noise)

        made = enclose(constant, constant.cases[0], constant.forms[0])[0]
        exact = Fraction(0.1) + Fraction(noise)
        assert made.ends[2] <= exact <= made.ends[3]
        assert decided([made]).verdict is Verdict.SUPPORTED


def comparison(left, right, size=1.0):
    return Enclosed(arb(*left), arb(*right), arb(size))


@pytest.mark.parametrize(
    ("left", "right", "verdict", "attained"),
    [
        ((1.0, 1e-20), (2.0, 1e-20), Verdict.SUPPORTED, False),
        ((2.0, 1e-20), (1.0, 1e-20), Verdict.REFUTED, False),
        ((1.0, 1e-14), (1.0, 1e-14), Verdict.SUPPORTED, True),
        ((1.0, 1e-3), (1.0, 1e-14), Verdict.INCONCLUSIVE, False),
        ((1.0, 6e-13), (1.0, 1e-14), Verdict.INCONCLUSIVE, False),
        ((1.0, 4e-13), (1.0, 1e-14), Verdict.SUPPORTED, True),
        ((1.0 + 1e-9, 1e-14), (1.0, 1e-14), Verdict.REFUTED, False),
        ((0.0, 0.0), (0.0, 0.0), Verdict.SUPPORTED, False),  # a bound of 0 is not attained
    ],
)
def test_a_comparison_is_decided_by_its_ends(left, right, verdict, attained):
    made = decided([comparison(left, right)])
    assert (made.verdict, made.attained) == (verdict, attained)


def test_balls_that_are_too_wide_are_not_called_equal(monkeypatch):
    """Negative control: at 20 bits nothing of the equality is left, and the row says so."""
    monkeypatch.setattr(enclosed, "PRECISIONS", (20, 24))
    made = cancelling(1e-6)
    row = enclosed.judge(made, made.cases[0], made.forms[0])
    assert row.verdict is Verdict.INCONCLUSIVE
    assert "too wide" in row.reason


def test_precision_grows_until_it_is_enough(monkeypatch):
    monkeypatch.setattr(enclosed, "PRECISIONS", (20, 200))
    made = cancelling(1e-6)
    assert enclosed.judge(made, made.cases[0], made.forms[0]).verdict is Verdict.SUPPORTED


def test_a_refused_operation_is_named_and_the_row_stays_as_it_was():
    @tiny(BoundedComposition(distance=20.0), ComFedL(step_size=1e-12), 1, travelled)
    def refused(view):
        moved = view.mean("w") - view.round_start("w")
        return each("round", "local_step", sq(moved + moved.floor() * 0))

    ((row,), _) = rows_of(refused)
    assert row.verdict is Verdict.INCONCLUSIVE
    assert "in ball arithmetic: torch's floor has no version for balls" in row.reason


def test_a_left_side_that_may_be_0_is_not_taken_for_0_where_balls_refuse():
    """‖w̄_{s,t} − w̄_s‖² is 2.5e-23, not 0: the range tells nothing of it."""

    @tiny(
        BoundedComposition(clients=2, distance=20.0, inner_value_noise=1.0),
        ComFedL(local_steps=5, step_size=1e-12),
        1,
        lambda c: 0,
        range=lambda c: 100 * (c.G_f * c.G_g) ** 2,
        false_siblings=[("half", lambda c: travelled(c) / 2)],
    )
    def dust(view):
        return each("round", "local_step", sq(view.mean("w") - view.round_start("w")))

    ((printed, half), _) = rows_of(dust)
    assert (printed.verdict, printed.evidence) == (Verdict.INCONCLUSIVE, None)
    assert half.verdict is Verdict.INCONCLUSIVE
    assert not printed.attained
    assert not half.attained
    assert "more than 256 outcomes" in printed.reason


@pytest.mark.parametrize(
    ("measure", "verdict"),
    [
        (lambda d: d + 1000 * (1 - torch.cos(torch.sqrt(d))), Verdict.REFUTED),
        (lambda d: d + 1000 * (torch.sqrt(1 + d) - 1), Verdict.REFUTED),
        (lambda d: d + 1000 * ((d + torch.ones_like(d)) - torch.ones_like(d)), Verdict.REFUTED),
        (lambda d: d + 0 * (1 - torch.cos(torch.sqrt(d))), Verdict.SUPPORTED),
    ],
)
def test_what_cancels_inside_a_measure_is_not_taken_for_0(measure, verdict):
    """1 − cos(10⁻⁹) is 5e-19; single and double precision both find 0."""

    problem = BoundedComposition(clients=2, distance=0.0, heterogeneity=1.0)

    @tiny(problem, ComFedL(step_size=1e-9), 1, travelled)
    def inside(view):
        moved = sq(view.client("w")[0] - view.round_start("w"))
        return each("round", "local_step", measure(moved))

    ((row,), _) = rows_of(inside)
    assert row.verdict is verdict


def test_a_run_that_costs_too_much_is_left_alone():
    made = drift(1e-6)
    with pytest.raises(RefusedError, match="more operations"):
        enclose(made, made.cases[0], made.forms[0], operations=1000)


def test_only_what_rounding_left_open_is_asked_for():
    made = drift(1e-12)
    row = enclosed.judge(made, made.cases[0], made.forms[0])
    exact, sampled = Measured("exact"), Measured("sampled")
    row = row.__class__(**vars(row) | {"verdict": Verdict.INCONCLUSIVE, "evidence": None})
    assert left_open(row, exact)
    assert not left_open(row, sampled)
    assert not left_open(row, Measured("exact", bad_step=3))
    told = {"lhs": {"mean": 1.0, "low": 1.0, "high": 1.0}, "rhs": 2.0, "margin": 1e-15}
    decided = row.__class__(**vars(row) | told | {"verdict": Verdict.SUPPORTED})
    assert not left_open(decided, exact)
    doubtful = row.__class__(**vars(decided) | {"rhs": 1.0, "margin": 1e-8})
    assert left_open(doubtful, exact)
    for more, asked in (
        ({"margin": 1e-13}, False),
        ({"rhs": 1.0 + 1e-8}, True),  # met, if all of the margin is added
        ({"rhs": 1.0 + 1e-7}, False),
        ({"rhs": None}, False),
        ({"margin": None}, False),
        ({"lhs": None}, False),
        ({"verdict": Verdict.REFUTED}, True),  # digits may be lost where no margin sees it
        ({"verdict": Verdict.REFUTED, "form": "sibling"}, False),
        ({"verdict": Verdict.INAPPLICABLE}, False),
    ):
        assert left_open(replace(doubtful, **more), exact) is asked, more
    assert not left_open(doubtful, Measured("exact", bad_step=0))


def test_the_initial_gap_is_enclosed_where_it_nearly_vanishes():
    """F(x_0) − inf F = ½·10⁻¹⁸ is lost in doubles beside inf F = ⅛, not in balls."""
    problem = BoundedComposition(heterogeneity=0.5, clients=2, distance=1e-9)

    @tiny(problem, ComFedL(), 1, lambda c: c.F_gap)
    def gap(view):
        return each("round", sq(view.round_start("w")) / 2)

    made = enclose(gap, gap.cases[0], gap.forms[0])[0]
    assert made.ends[2] <= Fraction(1e-9) ** 2 / 2 <= made.ends[3]
    assert made.right.rad() < 1e-40
    assert decided([made]).verdict is Verdict.SUPPORTED


def test_gradients_of_a_bilevel_objective_have_no_rounding():
    """The gradient needs y*(x), which doubles round: in balls it is as narrow as asked for."""

    @tiny(QuadraticBilevel(distance=1.0), FedNest(outer_step_size=1e-9), 2, lambda c: 10)
    def at_rest(view):
        return each("round", sq(view.gradient(view.round_start("x"))))

    ends = [
        enclose(at_rest, at_rest.cases[0], at_rest.forms[0], bits=bits)[1].left
        for bits in (200, 400)
    ]
    assert ends[0].overlaps(ends[1])
    assert ends[0].rad() < 1e-40


def counterexamples():
    """REFUTED rows on record whose case is exact and cheap, from three papers."""
    wanted = {
        "comfedl/theorem-1",
        "scgdm/lemma-4.1",
        "scgdm/lemma-4.2",
        "scgdm/lemma-a.1",
        "scgdm/potential-descent",
        "scgdm/potential",
        "fednest/fedinn-convergence",
    }
    held = baseline.read()
    for name in sorted(wanted):
        made = select([name])[0].load()
        for form in made.forms:
            key = form.key
            refuted = {k for k, v in held[name].get(key, {}).items() if v == "REFUTED"}
            for case in made.cases:
                short = (case.rounds or 0) * case.algorithm.local_steps <= 500
                if case.key in refuted and short:
                    yield pytest.param(made, case, form, id=f"{name}-{form.reading}-{case.key}")


@pytest.mark.parametrize(("made", "case", "form"), list(counterexamples()))
def test_counterexamples_on_record_are_verified_in_balls(made, case, form):
    """Left above right on some comparison, both sides enclosed."""
    found = enclose(made, case, form)
    refuting = [one for one in found if one.left > one.right]
    assert refuting
    left_low, _, _, right_high = refuting[0].ends
    assert left_low > right_high


def test_there_are_counterexamples_to_verify():
    assert len(list(counterexamples())) >= 8


def test_the_unit_is_one_of_the_ledger(tmp_path):
    """Its name tells it from the exact run's, and it is the same bytes each time."""
    made = drift(1e-12)
    ((job,)) = jobs_for(made, made, profile="quick", seed=0, device="cpu", siblings=False)
    exact = next(job)
    asked = job.send([(exact[0].work(), 0.0)])
    assert [item.kind for item in asked] == ["in balls"]
    assert asked[0].name != exact[0].name
    one, two = asked[0].work(), asked[0].work()
    assert one == two
    assert json.loads(one)[0]["verdict"] == "SUPPORTED"


class Swallowing:
    """Gradients of ½‖x‖², of which 1 + x − 1 keeps nothing in double or single precision."""

    def __init__(self, dtype, clients):
        self.clients = clients
        self.client_weights = torch.full((clients, 1, 1), 1.0 / clients, dtype=dtype)

    def field_law(self, batch):
        return None

    def field_grad(self, x, xi):
        return (1.0 + x) - 1.0


@problem(name="user/swallowing", source="a test", statement="F")
class SwallowingProblem(Problem):
    """F(x) = ½‖x‖², seen from x = 10⁻¹⁷."""

    clients: int = 2
    dim: int = 1

    @property
    def constants(self):
        return {"objective_smoothness": 1.0}

    @property
    def solution(self):
        return Solution(0.0, 0.0, np.zeros(1), {"method": "closed form"})

    def start(self):
        return np.full(1, 1e-17)

    def oracles(self, dtype, device="cpu", clients=None):
        return Swallowing(dtype, len(clients) if clients is not None else self.clients)

    def objective(self, x):
        return (x * x).sum(0) / 2

    def gradient(self, x):
        return x


def contraction(power):
    """‖w̄_{s+1}‖ ≤ (1 − η)^power ‖w̄_s‖, of which the first is true, with equality."""

    def right(c):
        return (1 - c.eta) ** (2 * power) * c.measured("before")

    @bound(
        name="tiny/contraction",
        source="",
        statement="",
        right=right,
        cases=[Case(SwallowingProblem(), FedAvg(local_steps=1, step_size=0.5), 2)],
    )
    def contraction(view):
        before = view.before.w.mean(0)
        return each("transition", sq(view.mean("w")), before=sq(before))

    return contraction


def test_what_cancels_inside_an_oracle_refutes_nothing(monkeypatch):
    ((row,), tasks) = rows_of(contraction(1))
    assert tasks.count("in balls") == 1
    assert (row.verdict, row.evidence, row.attained) == (Verdict.SUPPORTED, Evidence.ENCLOSED, True)
    assert "they lose digits" in row.reason
    monkeypatch.setattr(enclosed, "left_open", lambda row, measured: False)
    ((row,), _) = rows_of(contraction(1))
    assert row.verdict is Verdict.REFUTED  # doubles alone: 1 + x − 1 = 0, nothing moves


def test_what_balls_refute_stays_refuted():
    """The control: the next power is false by a factor of two, in doubles and in balls."""
    ((row,), tasks) = rows_of(contraction(2))
    assert tasks.count("in balls") == 1
    assert (row.verdict, row.evidence) == (Verdict.REFUTED, Evidence.ENCLOSED)
    assert row.lhs["low"] == pytest.approx(2.5e-35)


@pytest.mark.parametrize(("operations", "verdict"), [(1000, Verdict.REFUTED), (None, None)])
def test_a_refutation_that_balls_refuse_to_repeat_says_so(monkeypatch, operations, verdict):
    """Nothing is known then but what doubles say; where balls ran and overlap, the row is open."""
    if operations is not None:
        monkeypatch.setattr(enclosed.judge, "__kwdefaults__", {"operations": 10})
    else:
        monkeypatch.setattr(enclosed, "PRECISIONS", (20, 24))
    ((row,), _) = rows_of(contraction(2 if operations is not None else 1))
    assert row.verdict is (verdict or Verdict.INCONCLUSIVE)
    assert "in ball arithmetic: " in row.reason
    assert (row.evidence is None) is (verdict is None)


def test_a_long_run_is_enclosed_as_far_as_what_refutes_it():
    """Doubles lose what the oracle swallows; 5,000 rounds are too many for balls, one is not."""
    long = [
        replace(made, cases=(replace(made.cases[0], rounds=5000),))
        for made in (contraction(1), contraction(2))
    ]
    ((true,), tasks), ((false,), _) = map(rows_of, long)
    assert tasks == ["open", "attack", "exact", "in balls"]
    assert (true.verdict, true.evidence) == (Verdict.INCONCLUSIVE, None)
    assert "it holds up to the point where doubles refute it: they lose digits" in true.reason
    assert "more operations" in true.reason
    assert true.lhs["low"] == pytest.approx(2.5e-35)  # what balls have, and not what doubles had
    assert (false.verdict, false.evidence) == (Verdict.REFUTED, Evidence.ENCLOSED)
    assert "in ball arithmetic; at step 1" in false.reason
    assert false.lhs["low"] == pytest.approx(2.5e-35)


def test_balls_run_as_far_as_the_worst_moment():
    """‖w̄_s − w̄_0‖² ≤ 10⁻⁴, of the first six rounds: the sixth exceeds it the most."""

    def left(view):
        moved = sq(view.round_start("w") - 20)
        return each("round", moved if view.round < 6 else 0 * moved)

    case = Case(BoundedComposition(distance=20.0), ComFedL(), 12)
    moved = tiny(case.problem, ComFedL(), 12, lambda c: sympy.Rational(1, 10**4))(left)
    form = moved.forms[0]
    row = bounds.judge(moved, case, form, bounds.measure_exactly(moved, case))
    assert (row.verdict, row.at) == (Verdict.REFUTED, (5, 12))
    assert len(enclose(moved, case, form, upto=row.at)) == 6

    def allowed(operations, upto):
        try:
            return bool(enclose(moved, case, form, operations=operations, upto=upto))
        except RefusedError:
            return False

    operations = next(100 * k for k in range(1, 1000) if allowed(100 * k, row.at))
    assert not allowed(operations, None)
    told = enclosed.judge(moved, case, form, operations=operations, upto=row.at)
    assert told.verdict is Verdict.REFUTED
    assert "in ball arithmetic; at round 6" in told.reason


class Walk(NamedTuple):
    w: torch.Tensor


@algorithm(name="tents", source="a test", statement="")
class Tents(Algorithm):
    """Ten times the tent map x → 1.9 min(x, 1 − x) at x = w + 0.3, so a step loses nine bits."""

    local_steps: int = 1
    notation: ClassVar = {"T": "rounds"}

    def init(self, ctx, oracles, start):
        return Walk(ctx.everywhere(start))

    def step(self, ctx, oracles, state):
        (w,) = state
        for _ in range(10):
            w = 0.65 - 1.9 * (w - 0.2).abs()
        ctx.mark("w", w)
        return Walk(w)


def test_a_run_that_amplifies_errors_is_decided_at_a_precision_that_lasts():
    losses = PiecewiseLosses()
    case = Case(losses, Tents(), 400)
    claim = tiny(losses, Tents(), 400, lambda c: sympy.Rational(1, 10))(
        lambda view: smallest("round", sq(view.mean("w")))
    )
    row = enclosed.judge(claim, case, claim.forms[0])
    assert row.verdict is Verdict.SUPPORTED


def descends(view):
    before = view.objective(view.before.w.mean(0))
    return each("transition", view.objective(view.mean("w")), before=before)


@pytest.mark.parametrize(
    ("knots", "algorithm", "rounds"),
    [
        (
            (
                (-7133.193394669716, -0.6939752206304811),
                (-7043.598118101737, 6.939752206364114e-07),
            ),
            FedAvg(local_steps=2, step_size=0.8181388289723093),
            683,
        ),
        (
            (
                (-581374.1000960093, -2.1516846052181508e-08),
                (-425497.60197510925, 0.021516846052167322),
                (-238533.1655100335, 2.1516846051422567e-08),
            ),
            FedAvg(local_steps=70, step_size=15.62669692086752),
            30,
        ),
    ],
)
def test_gradient_descent_is_not_said_to_climb(knots, algorithm, rounds):
    """F(x_{t+1}) ≤ F(x_t) for η ≤ 1/L: F is what large terms of its cells leave."""
    member = PiecewiseLosses(clients=1, gradients=((knots,),))
    assert algorithm.step_size <= 1 / member.constants["objective_smoothness"]
    true = tiny(member, algorithm, rounds, lambda c: c.measured("before"))(descends)
    ((row,), _) = rows_of(true)
    assert row.verdict is not Verdict.REFUTED, row.reason


def test_what_falls_short_by_more_than_the_terms_lose_is_refuted():
    """The control, where balls refuse: F(x_{t+1}) ≤ F(x_t) − 10⁻⁹ fails once x is at rest."""
    member = PiecewiseLosses(clients=1)

    def right(c):
        return c.measured("before") - sympy.Rational(1, 10**9)

    false = tiny(member, FedAvg(step_size=0.5), 60, right)(descends)
    measured = bounds.measure_exactly(false, false.cases[0])
    row = bounds.judge(false, false.cases[0], false.forms[0], measured)
    assert (row.verdict, row.evidence) == (Verdict.REFUTED, Evidence.EXACT)
    assert 1e-17 < row.margin < 1e-12


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_gradient_descent_on_any_piecewise_loss_is_not_said_to_climb(data):
    """Terms of F that are up to 10⁵ times as large as F; balls are not asked."""
    count = data.draw(st.integers(2, 4))
    gaps = data.draw(st.lists(st.floats(0.01, 1e3), min_size=count, max_size=count))
    first = -data.draw(st.floats(0.1, 1e5))
    values = [data.draw(st.floats(-1, 1)) * 10 ** data.draw(st.floats(-8, 1)) for _ in range(count)]
    knots = tuple(zip((first + np.cumsum(gaps)).tolist(), values, strict=True))
    member = PiecewiseLosses(clients=1, gradients=((knots,),))
    steepest = member.constants["objective_smoothness"]
    assume(steepest > 1e-12)
    share = data.draw(st.sampled_from([1.0, 0.5, 0.01, 1e-4])) * (1 - 1e-12)
    algorithm = FedAvg(step_size=share / steepest, local_steps=data.draw(st.integers(1, 3)))
    true = tiny(member, algorithm, 60, lambda c: c.measured("before"))(descends)
    case = true.cases[0]
    row = bounds.judge(true, case, true.forms[0], bounds.measure_exactly(true, case))
    assert row.verdict is not Verdict.REFUTED, row.reason


def _exact(points, x):
    """Return p(x) and ∫ p from 0 to x in fractions, p constant beyond its points."""
    points = [(Fraction(a), Fraction(b)) for a, b in points]

    def value(x):
        if x <= points[0][0]:
            return points[0][1]
        for (a, p), (b, q) in itertools.pairwise(points):
            if x <= b:
                return p + (q - p) / (b - a) * (x - a)
        return points[-1][1]

    low, high = sorted((Fraction(0), x))
    ends = sorted({low, high, *(a for a, _ in points if low < a < high)})
    area = sum((b - a) * (value(a) + value(b)) / 2 for a, b in itertools.pairwise(ends))
    return value(x), area if x >= 0 else -area


_doubles = st.floats(-4, 4).filter(lambda x: x == 0 or abs(x) > 1e-3)
_curves = st.lists(st.tuples(_doubles, _doubles), min_size=1, max_size=4, unique_by=lambda p: p[0])


@settings(max_examples=60, deadline=None)
@given(st.lists(_curves, min_size=1, max_size=3), _doubles)
def test_functions_in_balls_are_those_of_the_points_not_of_rounded_slopes(curves, at):
    """F(0) was 10⁻¹⁷ where a double was meant to cancel it: a false refutation in balls."""
    curves = [tuple(sorted(curve)) for curve in curves]
    problem = PiecewiseLosses(clients=len(curves), gradients=tuple((c,) for c in curves))
    with precision(200):
        of, x = enclosing(problem), Balls.of([[at]])
        found = lift(of.gradient(x)).item(), lift(of.objective(x)).item()
        both = zip(*(_exact(curve, Fraction(at)) for curve in curves), strict=True)
        for ball, of_clients in zip(found, both, strict=True):
            wanted = sum(of_clients, Fraction(0)) / len(curves)
            assert abs(ball - lift(wanted).item()) < 1e-45


def test_equal_weights_are_one_third_each_in_balls():
    """They were doubles, whose sum is not 1: a run that attains its bound was refuted."""
    toward_one = ((0.0, -1.0), (1.0, 0.0))
    for n in (3, 5, 7, 49):
        problem = PiecewiseLosses(clients=n, gradients=((toward_one,),) * n, tails="linear")
        case = Case(problem, FedAvg(step_size=0.5, weighting="samples"), rounds=5)
        row = enclosed.judge(attained, case, attained.forms[0])
        assert (row.verdict, row.attained) == (Verdict.SUPPORTED, True)


@bound(
    name="tests/attained",
    source="tests",
    statement="attained",
    right=lambda c: (1 - c.eta) ** (2 * c.T),
    cases=[Case(PiecewiseLosses(), FedAvg(), rounds=1)],
)
def attained(view):
    return each("round", "local_step", sq(view.mean("w") - view.minimiser)) if view.last else None


@pytest.mark.parametrize("excess", [1e-15, 1e-11])
def test_a_difference_that_stored_numbers_may_make_refutes_nothing(excess):
    """A coin's √((1 − q)/q), a matrix or t/(t + 3) are doubles, which balls take for exact."""
    toward_one = ((0.0, -1.0), (1.0, 0.0))
    problem = PiecewiseLosses(clients=1, gradients=((toward_one,),), tails="linear")
    case = Case(problem, FedAvg(step_size=0.5), rounds=5)
    near = replace(attained, right=lambda c: (1 - c.eta) ** (2 * c.T) / (1 + excess))
    verdict = enclosed.judge(near, case, near.forms[0]).verdict
    assert verdict is (Verdict.REFUTED if excess > 1e-12 else Verdict.SUPPORTED)
