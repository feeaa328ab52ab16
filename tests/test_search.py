"""The search: candidates beside each other are cases, what it calls a violation is one."""

import json
from dataclasses import replace

import numpy as np
import pytest
import sympy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from driftproof import Assumption, Case, average, bound, each, grid, smallest, sq, verify
from driftproof.synthetic.building_blocks.piecewise_linear import PiecewiseLinear
from driftproof.synthetic.problems.bounded_composition import BoundedComposition
from driftproof.synthetic.problems.piecewise_composition import PiecewiseComposition
from driftproof.synthetic.problems.piecewise_losses import PiecewiseLosses
from driftproof.toolkit.algorithms.comfedl import ComFedL
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.algorithms.feddro import FedDRO
from driftproof.toolkit.algorithms.local_scgdm import LocalSCGDM
from driftproof.toolkit.climb import climb
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.ledger import Ledger
from driftproof.verifiers.judges.scores import ratio
from driftproof.verifiers.search.batched_space import BatchedSpace
from driftproof.verifiers.search.finding import FAILED, NOTHING, VERIFIED, power
from driftproof.verifiers.search.search import Effort, falsify
from driftproof.verifiers.search.shrink import shrunk
from driftproof.verifiers.search.structure import Structure
from driftproof.verifiers.search.units import Climb, confirmed, score
from tests.commands import driftproof
from tests.users import DRIFT


def drift_claim(right, take=each, **fields):
    given_fields = {
        "name": "tests/drift",
        "source": "tests",
        "statement": "x",
        "cases": grid(BoundedComposition(), ComFedL(), rounds=2),
    }

    @bound(**(given_fields | fields), right=right)
    def drift(view):
        name = view.state._fields[0]
        return take("round", "local_step", sq(view.mean(name) - view.round_start(name)))

    return drift


def path_length(c):
    return c.tau**2 * c.eta**2 * c.G_f**2 * c.G_g**2


def diffusive(c):
    return c.tau * c.eta**2 * c.G_f**2 * c.G_g**2


TRUE, FALSE = drift_claim(path_length), drift_claim(diffusive)
NOISY = ("value_noise", "gradient_noise", "outer_noise")
STRUCTURES = {
    "plain": (ComFedL(), Structure("piecewise-composition", rounds=3, local_steps=4)),
    "smallest": (ComFedL(), Structure("piecewise-composition", rounds=3, local_steps=4)),
    "noise": (
        ComFedL(),
        Structure("piecewise-composition", knots=3, local_steps=2, noises=NOISY, rare=0.1),
    ),
    "cohort": (
        ComFedL(),
        Structure("piecewise-composition", clients=3, taking_part=2, rounds=2, local_steps=2),
    ),
    "coordinates": (ComFedL(), Structure("piecewise-composition", dim=2, rounds=2)),
    "inside": (
        FedDRO(),
        Structure(
            "piecewise-composition", rounds=2, local_steps=2, plain=True, averaged_inside=True
        ),
    ),
    "momentum": (LocalSCGDM(), Structure("piecewise-composition", rounds=2, local_steps=2)),
    "losses": (
        FedAvg(),
        Structure("piecewise-losses", rounds=2, local_steps=2, noises=("plain_noise",), rare=0.25),
    ),
}


@pytest.mark.parametrize("name", STRUCTURES)
def test_candidates_beside_each_other_have_the_ratios_of_their_cases(name):
    algorithm, structure = STRUCTURES[name]
    problem = PiecewiseLosses() if name == "losses" else PiecewiseComposition()

    def right(c):
        lengths = {"losses": lambda: c.G, "inside": lambda: c.C_g + c.T, "momentum": lambda: c.C_g}
        return lengths.get(name, lambda: c.G_f * c.G_g)() ** 2 * (c.F_gap if name == "plain" else 1)

    letters = {"C_g": "inner_gradient_moment", "T": "steps"}
    cases, take = grid(problem, algorithm, rounds=1), smallest if name == "smallest" else each
    claim = drift_claim(right, take, cases=cases, letters=letters)
    space = BatchedSpace(claim, claim.forms[0], algorithm, structure, 0)
    z = 0.5 * np.random.default_rng(3).standard_normal((space.size, 6))
    ratios = space.ratios(z)
    assert sum(ratios > 0) > 3, "below 0 where αη or γη are 1 or more, say"
    for column, met in zip(z.T[ratios > 0], ratios[ratios > 0], strict=True):
        assert score(claim, claim.forms[0], space.case(column)) == pytest.approx(met, rel=1e-9)


def test_hyperparameters_are_moved_to_the_edge_of_an_assumption():
    small = Assumption("small step", r"\eta \le 1/L", relation=lambda c: c.eta * c.L <= 1)
    claim = drift_claim(path_length, assumes=[small])
    space = BatchedSpace(claim, claim.forms[0], ComFedL(), Structure("piecewise-composition"), 0)
    z = np.random.default_rng(0).standard_normal((space.size, 40))
    assert np.all(space.ratios(z) >= 0)
    products = []
    for column in z.T:
        case = space.case(column)
        smoothness = case.problem.constants["objective_smoothness"]
        products.append(case.algorithm.step_size * smoothness)
    assert max(products) <= 1
    assert sum(product > 0.999 for product in products) > 3


def test_a_false_bound_is_refuted_and_its_case_made_simple():
    (finding,) = falsify([FALSE], Effort(climbs=4))
    assert finding.status == VERIFIED
    assert finding.ratio > 1
    problem, algorithm = finding.case["problem"], finding.case["algorithm"]
    assert problem["clients"] <= 2
    assert algorithm["local_steps"] == 2
    assert finding.case["rounds"] == 1
    assert finding.lhs["mean"] > finding.rhs


def test_the_case_that_is_shown_is_the_simplest_or_the_strongest():
    simple, strong = (
        falsify([FALSE], Effort(climbs=4, strongest=strongest))[0] for strongest in (False, True)
    )
    assert simple.ratio > 1.99
    assert strong.status == VERIFIED
    assert strong.ratio >= 2 * simple.ratio
    assert simple.climbs < strong.climbs == 4


def test_what_is_shown_has_the_strongest_that_is_confirmed_beside_it():
    """A shorter run that can be enumerated was shown, with its 1.1; of the 1.4 nothing was said."""

    @bound(
        name="tests/bias",
        source="tests",
        statement="x",
        assumes=[Assumption("step", "", relation=lambda c: c.eta * c.L <= 1)],
        cases=[
            Case(PiecewiseComposition(clients=1, outer=((BENT,),), value_noise=1.0), ComFedL(), 100)
        ],
        right=lambda c: (
            2 * c.F_gap / (c.eta * c.S)
            + (c.eta * c.L + 0.5 / c.b) * (c.G_f * c.L_g * c.sigma_2) ** 2
        ),
    )
    def bias(view):
        return average("round", sq(view.gradient(view.mean("w"))))

    case, form = bias.cases[0], bias.forms[0]
    shown = confirmed(bias, form, case, 0, lambda: -1.0)
    assert shown["case"]["rounds"] < 100
    assert shown["ratio"] < shown["strongest"]["ratio"] == pytest.approx(1 / 0.7)
    assert shown["strongest"]["case"] == case.parameters()
    alone = confirmed(bias, form, case, 0, lambda: -1.0, strongest=True)
    assert alone["ratio"] == shown["strongest"]["ratio"]


BENT = ((-2.0, -1.0), (-1.0, 0.0), (0.0, -1.0), (2.0, 1.0))


def test_the_strongest_is_of_all_that_is_confirmed():
    """A search for the strongest ended with its first violation, of 1.0001."""
    told = []
    (found,) = falsify([FALSE], Effort(climbs=8, strongest=True), told=told.append)
    said = [line.partition(" = ")[2].partition(";")[0] for line in told]
    judged = [float(x) for x in said if x]
    assert len(judged) == len(told) > 2, "each is confirmed"
    top = found.strongest["ratio"] if found.strongest else found.ratio
    assert top >= 0.98 * max(judged) > 1.02 * judged[0]


def test_a_climb_ends_when_its_seconds_are_over():
    """Eight climbs of a budget of 20 s took 100 s."""
    claim = drift_claim(path_length)
    structure = Structure("bounded-composition", moved=("distance",), rounds=2)
    asked = [Climb(claim, 0, structure, 0, 0, most=most) for most in (0.0, np.inf)]
    late, whole = (json.loads(one.work()) for one in asked)
    assert late["evaluations"] == late["inside"] == 1 < whole["evaluations"]
    assert 0 < late["ratio"] <= whole["ratio"]


def test_what_rounding_leaves_of_a_side_does_not_end_the_simplification():
    """One client that meets its minimiser had a ratio of 33, of 1e-32; then nothing was rounded."""

    @bound(
        name="tests/contracts",
        source="tests",
        statement="x",
        assumes=[
            Assumption("convex", "", roles=("client_strong_convexity",)),
            Assumption("step", "", relation=lambda c: c.eta * c.L <= 1),
        ],
        letters={"R": "initial_distance", "L": "field_smoothness", "mu": "client_strong_convexity"},
        cases=grid(PiecewiseLosses(), FedAvg(), rounds=2),
        right=lambda c: (1 - c.eta * c.mu) ** c.T * c.R**2,
    )
    def contracts(view):
        away = sq(view.mean("w") - view.minimiser)
        return each("round", "local_step", away) if view.last else None

    curves = (((0.4324, -9.207), (0.9072, 26.72)),), (((0.01515, 9.088), (0.1645, 19.73)),)
    losses = PiecewiseLosses(gradients=curves, tails="linear")
    case = Case(losses, FedAvg(local_steps=30, step_size=0.01321), rounds=2)
    found = confirmed(contracts, contracts.forms[0], case, 0)
    assert found["status"] == VERIFIED
    assert found["ratio"] < 3


def test_a_true_bound_is_not_refuted_but_met():
    (finding,) = falsify([TRUE], Effort(climbs=6))
    assert finding.status == NOTHING
    assert 0.99 < finding.ratio <= 1 + 1e-9


def test_what_is_found_depends_on_the_seed_alone(tmp_path):
    efforts = [Effort(climbs=2, seed=5)] * 2
    first, second = (falsify([FALSE], effort)[0] for effort in efforts)
    assert replace(first, seconds=0.0) == replace(second, seconds=0.0)
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        kept = falsify([FALSE], efforts[0], ledger=ledger)[0]
    assert replace(kept, seconds=0.0) == replace(first, seconds=0.0)


def test_a_resumed_search_repeats_no_climb(tmp_path, monkeypatch):
    effort = Effort(climbs=2, seed=1)
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        first = falsify([FALSE], effort, ledger=ledger)
    monkeypatch.setattr(Climb, "work", lambda unit: pytest.fail("a climb was repeated"))
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        assert falsify([FALSE], effort, ledger=ledger, resume=True) == first


def test_controls_give_the_power():
    claim = drift_claim(
        path_length, false_siblings=[("diffusive", diffusive), ("true", path_length)]
    )
    findings = falsify([claim], Effort(climbs=2))
    assert [f.is_control for f in findings] == [False, True, True]
    assert power(findings, claim.name) == (1, 2)


def test_rare_noise_is_found():
    """E‖ε‖⁴ ≤ 8σ⁴ holds for signs, and is false where noise is rare: a coin has σ⁴/q or so."""

    alone = Assumption("one client", "n = 1", relation=lambda c: c.n <= 1)

    @bound(
        name="tests/fourth",
        source="tests",
        statement="x",
        right=lambda c: 8 * c.sigma**4,
        cases=grid(PiecewiseLosses(clients=1, noise=1.0), FedAvg(), rounds=1),
        assumes=[alone],
    )
    def fourth(view):
        squared = sq(view.mean("u") - view.gradient(view.before.w.mean(0)))
        return each("transition", squared * squared)

    assert {str(row.verdict) for row in verify(fourth)} == {"SUPPORTED"}
    (finding,) = falsify([fourth], Effort(climbs=40, seed=1))
    assert finding.found
    assert finding.case["problem"]["rare"] < 1 / 8


def test_a_condition_on_the_whole_case_is_asked():
    never = Assumption("never", "x", applies=lambda case: False)
    (finding,) = falsify([drift_claim(diffusive, assumes=[never])], Effort(climbs=2))
    assert not finding.found


def test_a_rate_is_judged_and_not_searched():
    findings = falsify([leaves("claim")["feddro/linear-speed-up"]], Effort(climbs=2))
    assert {"printed", "sibling"} <= {f.form.partition(":")[0] for f in findings}
    assert {f.status for f in findings} == {"not searched"}
    (why,) = {f.reason for f in findings}
    assert why == "of kind rate, which is not searched: driftproof verify judges it"
    assert power(findings, "feddro/linear-speed-up") == (0, 0)


def both_ways(left, right):
    return (left <= right) & (right <= left)


@pytest.mark.parametrize("equal", [sympy.Eq, both_ways])
def test_an_equality_gives_the_step_size_and_the_horizon(equal):
    def schedule(c):
        return sympy.And(equal(c.eta, 1 / sympy.sqrt(c.T)), equal(c.tau**4, c.T))

    stated = Assumption("schedule", "", relation=schedule)
    (finding,) = falsify(
        [drift_claim(lambda c: path_length(c) / 100, assumes=[stated])], Effort(climbs=6)
    )
    assert finding.found
    steps = finding.case["algorithm"]["local_steps"]
    assert finding.case["rounds"] == steps**3
    assert finding.case["algorithm"]["step_size"] == pytest.approx(steps**-2.0, rel=1e-14)


def test_a_measure_that_needs_one_member_is_searched_on_its_own_family():
    @bound(
        name="tests/away",
        source="tests",
        statement="x",
        right=path_length,
        cases=grid(BoundedComposition(), ComFedL(), rounds=2),
    )
    def away(view):
        best = torch.from_numpy(view.problem.solution.minimiser)[:, None]
        return each("round", sq(view.mean("w") - best))

    (finding,) = falsify([away], Effort(climbs=8))
    assert finding.found
    assert finding.case["problem"]["name"] == "bounded-composition"


def test_a_letter_or_a_quantity_that_there_is_not_costs_the_form_its_row():
    @bound(
        name="tests/wrong",
        source="tests",
        statement="x",
        right=path_length,
        cases=grid(BoundedComposition(), ComFedL(), rounds=2),
    )
    def wrong(view):
        return each("round", sq(view.mean("q")))

    claims = [drift_claim(lambda c: c.G_q), wrong, FALSE]
    letter, quantity, false = falsify(claims, Effort(climbs=4))
    assert (letter.status, quantity.status) == (FAILED, FAILED)
    assert "G_q" in letter.reason
    assert "unknown quantity 'q'" in quantity.reason
    assert false.status == VERIFIED


def test_a_statement_of_existence_is_not_searched():
    (source,) = [leaves("claim")["fednest/fedavg-fixed-point"]]
    findings = falsify([source], Effort(climbs=2))
    assert {f.status for f in findings} == {"not searched"}


def test_an_identity_is_searched_on_its_own_family():
    sources = [leaves("claim")["scgdm/equation-34"]]
    findings = falsify(sources, Effort(climbs=4, controls=False))
    assert any(f.status == "candidate" and f.form.startswith("printed") for f in findings)
    assert not any(f.found for f in findings), "of an identity, a person has to look"


def test_a_simpler_problem_keeps_steps_as_large_beside_its_smoothness():
    """ητL ≥ 4 of slopes of 1,500: in units of its own, or with defaults, the steps go along."""
    steep = ((0.0, -3.1), (0.0071, 7.55))
    problem = PiecewiseLosses(clients=1, gradients=((steep,),), tails="linear")
    case = Case(problem, FedAvg(local_steps=20, step_size=1.4e-4), 1)

    def breaks(tried):
        L = tried.problem.constants["field_smoothness"]
        return 3.8 <= tried.algorithm.step_size * tried.algorithm.local_steps * L <= 4.4

    assert breaks(case)
    simple = shrunk(case, breaks, 500)
    assert breaks(simple)
    assert simple.problem.constants["field_smoothness"] < 20
    assert sum(map(str.isdigit, str(simple))) < 10


def test_shrinking_keeps_what_breaks():
    wide = PiecewiseComposition(
        clients=3, inner=(((((0.123456, 2.0), (1.0, 3.0))),),) * 3, value_noise=0.5
    )
    case = Case(wide, ComFedL(local_steps=7, step_size=0.12345), 9)

    def breaks(tried):
        return tried.algorithm.local_steps >= 3 and tried.algorithm.step_size > 0.12

    simple = shrunk(case, breaks, 500)
    assert breaks(simple)
    assert shrunk(case, breaks, 500, late=lambda: True) == case
    assert (simple.problem, simple.rounds) == (PiecewiseComposition(clients=1), 1)
    assert (simple.algorithm.local_steps, simple.algorithm.step_size) == (3, 1.0)


@pytest.mark.parametrize(("room", "digits"), [(0.1, 2), (0.01, 3), (2e-5, 6)])
@pytest.mark.parametrize("most", np.random.default_rng(0).uniform(0.1, 1, 5))
def test_a_number_that_is_as_large_as_it_may_be_is_rounded_towards_0(most, room, digits):
    """As η = 1/L is, where half of the roundings to the nearest number are no steps."""
    case = Case(PiecewiseComposition(clients=1), ComFedL(step_size=float(most)), 1)

    def breaks(tried):
        return most * (1 - room) <= tried.algorithm.step_size <= most

    simple = shrunk(case, breaks, 500)
    assert breaks(simple)
    assert len(repr(simple.algorithm.step_size)) <= 2 + digits


@pytest.mark.parametrize("size", [0, 1, 5])
def test_a_climb_finds_a_maximum(size):
    climbed = climb(
        lambda z: 0.9 - ((z - 0.5) ** 2).sum(0) * 0.1,
        size,
        population=16,
        first=16,
        generations=40,
        seed=0,
    )
    assert climbed.ratio == pytest.approx(0.9, abs=1e-3)


def test_ratios_of_sides_that_are_zero_or_not_finite():
    lefts = np.array([[1.0, 0.0, 1.0, np.nan, 2.0, -1.0, -4.0, -1.0]])
    rights = np.array([[0.0, 0.0, -1.0, 1.0, 4.0, -2.0, -2.0, 0.0]])
    assert ratio(lefts, rights).tolist() == [1e9, 0.0, 1e9, 0.0, 0.5, 2.0, 0.5, 0.0]


def test_a_decrease_that_is_rounding_alone_is_no_violation():
    """F(w_{s+1}) − F(w_s) ≤ −‖∇F‖² near the optimum: F has 16 digits, the gradient more."""
    lefts, rights = np.array([[-1.0], [2e-16]]), np.array([[-2.0], [-1e-30]])
    assert ratio(lefts, rights).tolist() == [2.0]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-3, 3), min_size=6, max_size=6), st.floats(-6, 6))
def test_the_integral_of_a_piecewise_linear_function_is_the_area_below_it(numbers, end):
    gaps = np.abs(numbers[:3]) + 0.1
    knots = torch.tensor(np.cumsum(gaps) - 2.0)[:, None]
    function = PiecewiseLinear(
        knots, torch.tensor(numbers[3:])[:, None], torch.tensor([0.5]), torch.tensor([-0.25])
    )
    start = float(knots[0])
    bends = [x for x in knots[:, 0].tolist() if min(start, end) < x < max(start, end)]
    points = torch.tensor(sorted([start, *bends, end], reverse=end < start), dtype=torch.float64)
    values = torch.cat([function.value(x[None]) for x in points])
    area = torch.trapezoid(values, points)  # exact between bends
    whole = function.integral(torch.tensor([end], dtype=torch.float64))
    assert float(whole) == pytest.approx(float(area), abs=1e-9)


@pytest.mark.parametrize("member", PiecewiseComposition.examples()[1:])
def test_shapes_by_a_dense_grid(member):
    """The second route: F' at 200,001 points of each coordinate's axis."""
    shape = member.shape
    for coordinate in range(member.dim):
        x = torch.zeros((member.dim, 200_001), dtype=torch.float64)
        x[coordinate] = torch.linspace(-8, 8, x.shape[1])
        slope = member.gradient(x)[coordinate]
        steps = torch.diff(slope) / torch.diff(x[coordinate])
        assert float(steps.abs().max()) <= float(shape.smoothness) * (1 + 1e-6)
        if member.dim == 1:
            assert float(steps.abs().max()) >= float(shape.smoothness) * (1 - 1e-3)
            assert float(steps.min()) == pytest.approx(float(shape.modulus), rel=1e-3, abs=1e-3)
            lowest = float(member.objective(x).min())
            assert lowest >= float(shape.infimum) - 1e-12
            assert lowest == pytest.approx(float(shape.infimum), abs=1e-6)


def test_the_command_tells_what_it_found(tmp_path):
    (tmp_path / "mine.py").write_text(DRIFT)
    supported = verify(str(tmp_path / "mine.py"))
    assert {str(row.verdict) for row in supported} == {"SUPPORTED"}
    words = ("falsify", "mine.py", "--climbs", "2", "--json", "--out", "s")
    done = driftproof(*words, cwd=tmp_path)
    assert done.returncode == 1
    (finding,) = json.loads(done.stdout)["findings"]
    assert finding["status"] == "verified"
    written = tmp_path / "s" / "search.json"
    assert json.loads(written.read_text())["findings"] == [finding]
    replaced = "search.json is of a search before. This one will replace it"
    assert replaced not in done.stderr
    written.write_text("what a search before found")
    assert replaced not in driftproof(*words, "--resume", cwd=tmp_path).stderr
    assert replaced in driftproof(*words, cwd=tmp_path).stderr
    assert json.loads(written.read_text())["findings"][0]["case"] == finding["case"]


SPIKY = """
import numpy as np, torch
from driftproof import Problem, Solution, bound, each, grid, problem, sq
from driftproof.algorithms import FedAvg

class Oracles:
    def __init__(self, of, dtype, clients):
        self.clients = len(clients)
        self.client_weights = torch.full((self.clients, 1, 1), 1 / of.clients, dtype=dtype)
        bent = [k == 3 for k in clients]
        self.spike = of.height * torch.tensor(bent, dtype=dtype)[:, None, None]

    def field_law(self, batch):
        return None

    def field_grad(self, x, xi):
        return x + self.spike * (x - 50.0).clamp(0.0, 0.01)

@problem(name="mine/spiky", source="me", statement="F")
class Spiky(Problem):
    clients: int = 5
    dim: int = 1
    height: float = 1.0

    @property
    def constants(self):
        return {"field_smoothness": 1.0}

    @property
    def solution(self):
        return Solution(0.0, 0.0, np.zeros(1), {})

    def start(self):
        return np.ones(1)

    def oracles(self, dtype, device="cpu", clients=None):
        return Oracles(self, dtype, clients or range(self.clients))

    def objective(self, x):
        past = (x - 50.0).clamp(min=0)
        ramp = past.clamp(max=0.01)
        return (x * x / 2 + self.height * (ramp * ramp / 2 + 0.01 * (past - ramp)) / 5).sum(0)

    def gradient(self, x):
        return x + self.height * (x - 50.0).clamp(0.0, 0.01) / 5
"""

CLAIM = """
@bound(name="mine/step", source="x", statement="x", right=lambda c: (c.eta * c.L) ** 2,
       cases=grid(Spiky(), FedAvg(local_steps=1), rounds=2))
def step(view):
    return each("transition", sq(view.mean("w") - view.before.w.mean(0)))
"""


def test_a_problem_whose_data_are_of_so_many_clients_does_not_end_the_search(tmp_path):
    """The search varies clients: int; what fails with others alone is left out."""
    own = SPIKY.replace(
        "clients or range(self.clients))", "clients or range(self.clients), self.clients)"
    )
    own = own.replace("height: float = 1.0", "height: float = 0.0")
    data = "        self.data = torch.arange(float(total)) + torch.zeros(5)\n"
    own = own.replace(
        "def __init__(self, of, dtype, clients):\n",
        "def __init__(self, of, dtype, clients, total):\n" + data,
    )
    assert own.count("total") == 2
    true = CLAIM.replace("right=", 'letters={"L": "field_smoothness"}, right=')
    true = true.replace('"transition", sq(', '"transition", 0 * sq(')
    (tmp_path / "mine.py").write_text(own + true)
    driftproof("falsify", "mine.py", "--climbs", "12", "--same-problem", cwd=tmp_path)
    (found,) = json.loads((tmp_path / "report-search-mine" / "search.json").read_text())["findings"]
    assert found["status"] != "failed", found["reason"]
    assert found["climbs"] == 12


def test_a_member_without_a_bound_costs_its_neighbours_nothing():
    """Of tails that differ no field_heterogeneity is finite: one such candidate dropped all."""

    @bound(
        name="tests/alike",
        source="tests",
        statement="x",
        letters={"zeta": "field_heterogeneity"},
        right=lambda c: c.eta**2 * c.zeta**2 / 8,
        assumes=[Assumption("convex", "x", roles=("client_strong_convexity",))],
        cases=grid(PiecewiseLosses(), FedAvg(step_size=0.125), rounds=1),
    )
    def alike(view):
        return each("transition", sq(view.mean("w") - view.before.w.mean(0)))

    (finding,) = falsify([alike], Effort(climbs=4))
    assert finding.status == VERIFIED
    assert not finding.left_out


MISTAKEN = """
from driftproof import Assumption, average, bound, grid, sweep
from driftproof.algorithms import FedAvg
from driftproof.problems import PiecewiseLosses
import sympy

BOWL = PiecewiseLosses(clients=1, gradients=((((0.0, -1.0), (1.0, 0.0)),),))
CASES = grid(BOWL, FedAvg(local_steps=sweep(1, 4)), rounds=2)
UNIT = Assumption("unit", "L = 1", relation=lambda c: sympy.Eq(c.L, 1))

@bound(name="mine/ends", source="x", statement="x", right=lambda c: c.F_gap, cases=CASES)
def ends(view):
    return average("round", "local_step", view.gap(view.mean("w"))) if view.last else None

@bound(name="mine/unit", source="x", statement="x", right=lambda c: c.F_gap, cases=CASES,
       assumes=[UNIT])
def unit(view):
    return average("round", view.gap(view.mean("w")))
"""


def test_nothing_found_is_not_said_of_what_was_hardly_tried(tmp_path):
    """A mistake on a case of the claim's own is one; what no candidate meets is told."""
    (tmp_path / "mine.py").write_text(MISTAKEN)
    done = driftproof("falsify", "mine.py", "--climbs", "2", "--json", cwd=tmp_path)
    ends, unit = json.loads(done.stdout)["findings"]
    assert ends["status"] == "failed"
    assert "returned None at some moment of an average" in ends["reason"]
    assert unit["status"] in ("nothing found", "not searched")
    assert "met every assumption" in unit["reason"]


def test_a_violation_by_little_is_not_the_end(tmp_path):
    """0.3 % on the claim's case; a search finds more."""
    little = CLAIM.replace("(c.eta * c.L) ** 2", "0.997 * c.eta**2")
    (tmp_path / "mine.py").write_text(SPIKY + little)
    done = driftproof("falsify", "mine.py", "--climbs", "6", "--json", cwd=tmp_path)
    (finding,) = json.loads(done.stdout)["findings"]
    assert finding["status"] == "verified"
    assert finding["ratio"] > 1.99


def test_a_violation_by_little_stays_where_nothing_else_is_inside():
    """No candidate but the claim's own case meets the assumption."""
    case = Case(PiecewiseLosses(clients=1, tails="linear"), FedAvg(step_size=0.125), 1)

    @bound(
        name="tests/alone",
        source="tests",
        statement="x",
        assumes=[Assumption("alone", "x", applies=lambda of: of == case)],
        right=lambda c: 3.99 * c.eta**2,
        cases=[case],
    )
    def alone(view):
        return each("transition", sq(view.mean("w") - view.before.w.mean(0)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("driftproof.verifiers.search.search.begins_with_own", lambda *_: True)
        (finding,) = falsify([alone], Effort(climbs=2))
    assert finding.status == VERIFIED
    assert finding.ratio == pytest.approx(4 / 3.99)


def test_a_spike_in_a_users_problem_is_told(tmp_path):
    (tmp_path / "mine.py").write_text(SPIKY + CLAIM)
    judged = driftproof("verify", "mine.py", "--out", "v", cwd=tmp_path)
    assert judged.returncode == 1
    assert "Traceback" not in judged.stderr
    assert "field_smoothness is declared 1, but between x = (50.0" in judged.stdout
    assert "of client 3 it is 2 (Lipschitz" in judged.stdout
    assert "SUPPORTED  " not in judged.stdout
