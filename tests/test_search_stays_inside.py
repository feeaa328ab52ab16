"""Laws: a search draws problems of the statement's kind, and runs what the statement says."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings

from driftproof import problem
from driftproof.synthetic.problems import AveragedComposition, QuadraticBilevel
from driftproof.toolkit.algorithms import FedDRO
from driftproof.toolkit.algorithms.fednest import FedNest
from driftproof.toolkit.assertions import ASSERTIONS, asserted
from driftproof.toolkit.autograd_minimax import AutogradMinimax
from driftproof.toolkit.discover import find, leaves
from driftproof.toolkit.errors import DriftproofError
from driftproof.verifiers.claim_types.bound import BoundClaim
from driftproof.verifiers.search.families import FAMILIES, family_for
from driftproof.verifiers.search.search import spaces_of
from driftproof.verifiers.search.strategies import instances
from driftproof.verifiers.search.structure import STEPS_AT_FIRST
from driftproof.verifiers.search.units import Climb
from tests.commands import ROOT, driftproof

DRAWS, EACH = 1000, 50


def _runs(claim):
    return isinstance(claim, BoundClaim) and bool(claim.cases)


def _drawn(claim):
    """Draw ``DRAWS`` candidates of each space whose problems assert something, and look at them."""
    random, drawn = np.random.default_rng(0), 0
    for space in spaces_of(claim)[0]:
        meant = asserted(claim.cases_for("full")[space.templates[0]].problem)
        wanted = drawn + DRAWS
        for number in range(2 * DRAWS // EACH if meant else 0):  # not all go together
            if drawn == wanted:
                break
            structure = space.choices.draw(random, STEPS_AT_FIRST, number)
            candidates = Climb(claim, 0, structure, space.templates[0], seed=0).space()
            for _ in range(EACH):
                case = candidates.case(random.standard_normal(candidates.size))
                if case is not None and drawn < wanted:  # parameters that go together
                    drawn += 1
                    for name in meant:
                        assert ASSERTIONS[name].of(case.problem), (claim.name, case.problem)
    return drawn


def test_what_the_search_draws_for_a_shipped_claim_is_of_its_kind():
    drawn = [_drawn(claim) for leaf in leaves("claim").values() if _runs(claim := leaf.load())]
    assert sum(count >= DRAWS for count in drawn) >= 3
    assert sum(drawn) >= 5 * DRAWS


def test_what_the_search_draws_for_the_template_is_of_its_kind():
    claim = find("claim", str(ROOT / "driftproof/starts/minimax.py")).load()
    assert _drawn(claim) == 2 * DRAWS  # in the piecewise family, and in its own


BY_HAND = r"""
import torch

import driftproof as dp
from minimax import Both, Saddle, State, saddle

@dp.problem(name="by-hand", source="tests", statement="g_i = -f_i, written out")
class ByHand(dp.BilevelProblem):  # which says nothing of its levels
    clients: dp.PositiveInt = 2
    dim: dp.One = 1
    upper_dim: dp.One = 1
    slope: dp.Positive = 1.0
    ridge: dp.Positive = 0.5
    solution, start, lower_solution = Saddle.solution, Saddle.start, Saddle.lower_solution

    @property
    def constants(self):
        return {"objective_smoothness": self.slope**2 + self.ridge, "lower_strong_convexity": 1,
                "upper_smoothness": 1 + self.slope + self.ridge}

    def oracles(self, dtype, device="cpu", clients=None):
        data = [(torch.tensor([self.slope]), torch.tensor([self.ridge]))] * self.clients
        return dp.AutogradBilevel(
            saddle, lambda *at: -saddle(*at), upper_data=data, lower_data=data, upper_dim=1,
            lower_smoothness=1 + self.slope, clients=clients, dtype=dtype, device=device)

@dp.algorithm(name="marked", source="tests", statement="x")
class Marked(Both):
    needs = "bilevel"

    def init(self, ctx, oracles, start):  # for one dimension each
        return State(ctx.everywhere(start[:1]), ctx.everywhere(start[1:]))

    def step(self, ctx, oracles, state):
        ctx.mark("g", oracles.upper_grad_x(state.x, state.y, None))
        return super().step(ctx, oracles, state)

@dp.bound(
    name="mine/danskin", source="Danskin's theorem", measured={"lag": "lag"},
    statement=r"|\nabla\Phi(x_k) - \nabla_x f(x_k, y_k)|^2 \le l_f^2 |y_k - y^*(x_k)|^2",
    cases=dp.grid(ByHand(clients=1, slope=dp.sweep(1.0, 2.0)), Marked(beta=dp.sweep(0.1, 1.0)),
                  rounds=5),
    right=lambda c: c.ell_f**2 * c.measured("lag"), letters={"ell_f": "upper_smoothness"},
)
def danskin(view):
    x, y = view.before.x.mean(0), view.before.y.mean(0)
    lag = dp.sq(y - view.problem.lower_solution(x))
    return dp.each("transition", dp.sq(view.gradient(x) - view.mean("g")), lag=lag)
"""
"""A true theorem on minimax problems, which a search in bilevel ones refutes."""


@pytest.fixture(scope="module")
def danskin(tmp_path_factory):
    folder = tmp_path_factory.mktemp("danskin")
    template = (ROOT / "driftproof/starts/minimax.py").read_text(encoding="utf-8")
    (folder / "minimax.py").write_text(template, encoding="utf-8")
    (folder / "mine.py").write_text(BY_HAND, encoding="utf-8")
    return folder


def test_verify_and_falsify_let_danskin_s_theorem_stand(danskin):
    made = driftproof("verify", "mine.py", cwd=danskin)
    assert made.returncode == 0, made.stdout + made.stderr
    made = driftproof("falsify", "mine.py", "--climbs", "3", cwd=danskin)
    assert made.returncode == 0, made.stdout + made.stderr
    assert "nothing" in made.stdout


def test_danskin_s_theorem_stands_as_a_test(danskin):
    flags = ["--driftproof", "--driftproof-search", "3", "-p", "no:cacheprovider"]
    made = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *flags, "mine.py"],
        cwd=danskin,
        capture_output=True,
        text=True,
    )
    assert "1 passed" in made.stdout, made.stdout


def test_drawn_instances_of_danskin_s_theorem_are_zero_sum(danskin):
    claim = find("claim", str(danskin / "mine.py")).load()

    @given(instances(claim))
    @settings(max_examples=15, deadline=None)
    def law(case):
        assert ASSERTIONS["zero-sum"].of(case.problem)

    law()


@problem(name="of-one-level", source="tests", statement="x")
class OfOneLevel(QuadraticBilevel):
    asserts = frozenset({"one-lower-level"})


def test_a_family_that_lacks_what_a_kind_asserts_is_left_out_with_the_reason():
    method = FedNest()
    assert family_for(method, QuadraticBilevel()) == (FAMILIES["piecewise-bilevel"], "")
    family, why = family_for(method, OfOneLevel())
    assert family is None
    assert "g_i is the same for all clients" in why


class Renamed(FedDRO):
    """Asks for h's gradient as its base does, in other words than this class has."""


def test_a_part_h_is_for_each_algorithm_that_asks_for_its_gradient():
    family, of = FAMILIES["piecewise-composition"], AveragedComposition()
    known, renamed = (family.choices(member(), of, set()) for member in (FedDRO, Renamed))
    assert "plain_noise" in known.noises
    assert known.noises == renamed.noises
    assert known.fixed == renamed.fixed


# -- AutogradMinimax


def saddle(x, y, sample):
    slope, ridge = sample
    return slope * (x * y).sum() + ridge * (x**2).sum() / 2 - (y**2).sum() / 2


DATA = [
    (torch.tensor([1.0, 3.0]).double(), torch.tensor([0.5, 1.5]).double()),
    (torch.tensor([-2.0]).double(), torch.tensor([0.0]).double()),
]


def test_minimax_oracles_are_those_of_the_formulas():
    """With means a_i of slopes and λ_i of ridges: ∇_x f_i = a_i y + λ_i x, ∇_y f_i = a_i x − y."""
    oracles = AutogradMinimax(saddle, data=DATA, upper_dim=2)
    random = torch.Generator().manual_seed(0)
    z = torch.randn(2, 4, 3, generator=random, dtype=torch.float64)
    x, y = z[:, :2], z[:, 2:]
    a, ridge = torch.tensor([2.0, -2.0])[:, None, None], torch.tensor([1.0, 0.0])[:, None, None]
    of_x, of_y = a * y + ridge * x, a * x - y
    torch.testing.assert_close(oracles.upper_grad_x(x, y, None), of_x)
    torch.testing.assert_close(oracles.upper_grad_y(x, y, None), of_y)
    torch.testing.assert_close(oracles.lower_grad(x, y, None), -of_y)
    torch.testing.assert_close(oracles.lower_grad_x(x, y), -of_x)
    torch.testing.assert_close(oracles.field_grad(z, None), torch.cat([of_x, -of_y], 1))
    torch.testing.assert_close(oracles.lower_hessian_product(x, y, x, None), x)
    torch.testing.assert_close(oracles.lower_cross_product(x, y, x, None), -a * x)
    assert oracles.client_weights.flatten().tolist() == [2 / 3, 1 / 3]
    with pytest.raises(DriftproofError, match="Neumann series"):
        oracles.lower_smoothness  # noqa: B018


def test_minimax_oracles_of_one_client_weigh_it_as_all_do():
    (own,) = AutogradMinimax(saddle, data=DATA, upper_dim=2, clients=range(1, 2)).client_weights
    assert own.item() == 1 / 3
