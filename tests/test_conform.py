"""Implementations beside algorithms: right ones conform, and a slip is named where it is first."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

from driftproof import DriftproofError, assert_conforms
from driftproof.algorithms import (
    DRFL,
    ComFedL,
    DecayingFedAvg,
    FedAvg,
    FedAvgS,
    FedNest,
    HeavyBall,
    LocalSCGDM,
    QFedAvg,
    Scaffold,
)
from driftproof.commands import conform
from driftproof.problems import PiecewiseLosses, QuadraticMinimax
from driftproof.verifiers.conform.compared import departure
from driftproof.verifiers.conform.reference import Instance, fields_of
from driftproof.verifiers.conform.round_function import RoundFunction
from driftproof.verifiers.search.strategies import examples_of
from tests import written_methods as written
from tests.commands import driftproof

NEST = FedNest(inner_calls=2, inner_steps=2, outer_steps=2, terms=2, series="summed")
WEIGHTED = FedAvg(local_steps=2, weighting="samples", batch=2)
ALGORITHMS = {
    "fedavg": FedAvg, "scaffold": Scaffold, "heavy_ball": HeavyBall, "comfedl": ComFedL,
    "decaying_fedavg": DecayingFedAvg(local_steps=2), "q_fedavg": QFedAvg, "fedavg_s": FedAvgS,
    "local_scgdm": LocalSCGDM(local_steps=3, momentum=4.0, inner_momentum=6.0), "fednest": NEST,
}  # fmt: skip


@pytest.mark.parametrize("method", ALGORITHMS)
def test_an_implementation_of_the_printed_algorithm_conforms(method):
    assert_conforms(getattr(written, method)(), algorithm=ALGORITHMS[method], instances=40)


SHARED = "what all clients share"
SLIPS = [
    ("scaffold", "c_i", Scaffold, rf"round \d, {SHARED}\ngot:    control\["),
    ("scaffold", "|S| for N", Scaffold, rf"round 1, {SHARED}\ngot:    control\[0\].*\n.*\n.* 2 of"),
    ("q_fedavg", "norm", QFedAvg, rf"round 1, {SHARED}\ngot:    w\["),
    ("fednest", "α", NEST, r"client 0, local step 5\ngot:    lower_hessian_product asked at v = "),
    ("fedavg", "unweighted", WEIGHTED, rf"round 1, {SHARED}\ngot:    w\[0\]"),
    ("fedavg", "absent clients", FedAvg, rf"round 1, {SHARED}\ngot:    w\[0\]"),
    ("fedavg", "a step too few", FedAvg(local_steps=2),
     rf"{SHARED}\n(.*\n)*.*field_grad was not asked of client 0 in local step 2"),
    ("decaying_fedavg", "η of the step before", DecayingFedAvg(local_steps=2),
     r"round 1, client 0, local step 2\ngot:    field_grad asked at x = "),
    ("heavy_ball", "sign", HeavyBall(), rf"round 2, {SHARED}\ngot:    w\["),
    ("local_scgdm", "stale", ALGORITHMS["local_scgdm"],
     r"round 1, client 0, local step 2\ngot:    outer_grad asked at y = "),
    ("fedavg_s", "alternating", FedAvgS(),
     r"round 1, client 0, local step 1\ngot:    upper_grad_x asked at y = "),
]  # fmt: skip


@pytest.mark.parametrize(("method", "slip", "algorithm", "named"), SLIPS)
def test_a_slip_is_caught_and_named(method, slip, algorithm, named):
    with pytest.raises(AssertionError) as caught:
        assert_conforms(getattr(written, method)(slip), algorithm=algorithm)
    told = str(caught.value)
    assert re.search(named, told), told
    got, wanted = (re.search(rf"{head}: .*?(\S+)( after.*)?\n", told)[1].strip("[]")
                   for head in ("got", "wanted"))  # fmt: skip
    assert float(got) != float(wanted)
    assert f"{method} is not " in told
    assert re.search(r"on:     Case\(.*\)\n +clients of sizes \[.*\], cohort \[.*\]\n", told)


BENT = PiecewiseLosses(gradients=(
    (((0.0, -2.0), (1.0, -1.0)),), (((0.0, 4.0), (1.0, 5.0)),)
), tails="linear")  # fmt: skip
"""f_0' = x − 2 and f_1' = x + 4, from 0."""


def told_of(implementation, algorithm, *, rounds=1, sizes=(1, 1), problem=BENT):
    """Return what is told on one instance."""
    fields = fields_of(algorithm, examples_of(algorithm.needs))
    code = RoundFunction(implementation, algorithm.iterate, *fields)
    return departure(code, Instance(problem, algorithm, rounds, sizes))


def test_both_numbers_are_those_of_the_update():
    """By hand: steps of ½ go from 0 to 1 and to −2, then to 3/2 and −3."""
    few = told_of(written.fedavg("a step too few"), FedAvg(local_steps=2, step_size=0.5))
    assert few.splitlines() == [
        "fedavg is not FedAvg(local_steps=2, step_size=0.5): first in round 1, what all clients "
        "share",
        "got:    w[0] = -0.5 after the round",
        "wanted: -0.75",
        "        its change in this round is 2/3 of the algorithm's",
        "        field_grad was not asked of client 0 in local step 2",
        "on:     Case(PiecewiseLosses(gradients=((((0.0, -2.0), (1.0, -1.0)),), (((0.0, 4.0), "
        "(1.0, 5.0)),)), tails='linear'), FedAvg(local_steps=2, step_size=0.5), rounds=1)",
        "        clients of sizes [1, 1], cohort [0, 1]",
        "remedy: compare this step with the update that driftproof show fedavg prints",
    ]
    weighted = FedAvg(step_size=0.5, weighting="samples")
    assert "w[0] = -0.5 after the round\nwanted: 0.25\n" in told_of(
        written.fedavg("unweighted"), weighted, sizes=(3, 1)
    )
    decaying = DecayingFedAvg(local_steps=2, step_numerator=4.0, step_offset=7.0)
    asked = told_of(written.decaying_fedavg("before"), decaying)
    assert "round 1, client 0, local step 2\n" in asked  # 2·4/7 for 2·4/8
    assert "x = [1.14285714]\nwanted: x = [1.]\n" in asked


def test_the_client_is_named_whose_own_field_differs():
    def forgetful(state, clients, cohort, local_steps, step_size):
        left = written.scaffold()(state, clients, cohort, local_steps, step_size, 1.0)
        left["own_control"][1] = state["own_control"][1]
        return left

    told = told_of(forgetful, Scaffold(step_size=0.5))
    assert "first in round 1, client 1\n" in told
    assert "own_control[0] = 0.0 after the round\nwanted: 4.0\n" in told


class Stepping:
    """FedAvg in torch: an object whose attribute is the model."""

    def __init__(self, start, step_size):
        self.w, self.step_size = torch.tensor(start), step_size

    def step(self, clients, cohort, local_steps):
        ends = []
        for i in cohort:
            w = self.w
            for _ in range(local_steps):
                w = w - self.step_size * clients[i].grad(w)
            ends.append(w)
        self.w = torch.stack(ends).mean(0)


class Flower:
    """FedAvg as a client's fit and a strategy's aggregate."""

    def fit(self, parameters, client, local_steps, step_size):
        (w,) = parameters
        for _ in range(local_steps):
            w = w - step_size * client.grad(w)
        return [w], client.size, {}

    def aggregate(self, results):
        total = sum(size for _, size, _ in results)
        return [sum(size / total * sent[0] for sent, size, _ in results)]


@pytest.mark.parametrize(
    ("code", "weighting", "other"),
    [(Stepping, "uniform", "samples"), (Flower, "samples", "uniform")],
)
def test_classes_conform_and_depart_as_functions_do(code, weighting, other):
    assert_conforms(code, algorithm=FedAvg(local_steps=3, weighting=weighting), instances=30)
    with pytest.raises(AssertionError, match="first in round 1, what all clients share"):
        assert_conforms(code, algorithm=FedAvg(weighting=other))


def scattered(state, clients, cohort):
    return {"w": state["w"] + np.random.default_rng().normal(size=state["w"].shape)}


def sampling(state, clients):
    return {"w": state["w"]}


def misnamed(model, clients, cohort):
    return model


def shapeless(state, clients, cohort):
    return {"w": np.zeros((7, 7))}


def elsewhere(state, clients, cohort):
    return {"model": state["w"]}


def worded(state, clients, cohort):
    return {"w": "none"}


def sampled_once(
    state, clients, cohort, inner_calls, inner_steps, outer_steps, inner_step_size,
    outer_step_size, terms,
):  # fmt: skip
    return written.fednest()(
        state, clients, [cohort] * 20, inner_calls, inner_steps, outer_steps, inner_step_size,
        outer_step_size, terms,
    )  # fmt: skip


def broken(state, clients, cohort):
    return {"w": state["v"]}


def asking(state, clients, cohort):
    return {"w": clients[0].hessian(state["w"])}


def stacked(state, clients, cohort):
    return {"w": clients[0].grad(state["w"][:, None])}


def noisy(state, clients, cohort):
    return {"w": clients[0].grad(state["w"], None)}


@pytest.mark.parametrize(
    ("code", "algorithm", "got"),
    [
        (scattered, FedAvg(), "scattered, called twice with one state and one cohort"),
        (sampling, FedAvg(participation=0.5), "sampling, which asks for no cohort"),
        (misnamed, FedAvg(), r"misnamed\(model, clients, cohort\): missing .* 'model'"),
        (shapeless, FedAvg(), r"w of shape \(7, 7\) after a round of shapeless"),
        (elsewhere, FedAvg(), "elsewhere gives no field of the state"),
        (worded, FedAvg(), "w = 'none'"),
        (broken, FedAvg(), r"test_conform.py:\d+: in broken: KeyError: 'v'"),
        (asking, FedAvg(), r"in asking: unknown question to a client 'hessian'"),
        (stacked, FedAvg(), r"field_grad of client 0 at x of shape \(1, 1\)"),
        (noisy, FedAvg(), "field_grad of client 0 with 2 arguments"),
        (written.q_fedavg(), DRFL(), "draws .*snapshot.*, and q_fedavg does not ask for them"),
        (sampled_once, FedNest(series="summed"), "several cohorts in a round"),
        (3, FedAvg(), "3 as an implementation"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused_with_a_reason(code, algorithm, got):
    with pytest.raises(DriftproofError, match=got) as refused:
        assert_conforms(code, algorithm=algorithm, instances=20)
    assert refused.value.wanted
    assert refused.value.remedy


def test_where_nothing_can_be_compared_nothing_passes(monkeypatch):
    """An algorithm that rounding changes on every instance."""
    monkeypatch.setattr("driftproof.verifiers.conform.compared.stable", lambda *given: False)
    with pytest.raises(DriftproofError, match="diverges, or rounding shows, on every instance"):
        assert_conforms(written.fedavg(), algorithm=FedAvg(), instances=20)
    with pytest.raises(DriftproofError, match=r"diverges, or rounding shows, on every instance"):
        assert_conforms(written.comfedl(), algorithm=ComFedL(step_size=1e308), instances=20)


def test_rounding_that_grows_is_no_difference():
    """Both sides of a kink of slope 10⁹ are met, as the rounding has it: no comparison is made."""
    steep = PiecewiseLosses(clients=1, gradients=((((0.0, -1.0), (1e-9, 1.0)),),))
    assert told_of(written.fedavg(), FedAvg(local_steps=5), problem=steep, sizes=(1,)) is None


def test_code_may_write_to_what_it_gets():
    def in_place(state, clients, cohort, cohorts):
        w, ends = state.pop("w"), []
        while cohort:
            ends.append(w - 0.1 * clients[cohort.pop()].grad(w))
        cohorts.clear()
        w[:] = np.mean(ends, 0)
        return {"w": w}

    assert_conforms(in_place, algorithm=FedAvg(), instances=30)


def test_a_field_that_a_round_sets_itself_is_none_of_its_state():
    fields, own = fields_of(NEST, examples_of("bilevel"))
    assert fields == ("x", "y")
    fields, own = fields_of(Scaffold(), examples_of("field"))
    assert (set(fields), own) == ({"y", "x", "own_control", "control"}, {"own_control"})


def test_a_client_answers_as_it_answered_the_algorithm():
    """Along (x/10 − y, y − 1 + x), whose noise has the size 1, at (2, 0) and elsewhere."""
    met = []

    def looking(state, clients, cohort):
        w = state["w"]
        met.extend([clients[0].grad(x) for x in (w, w, w + 1, w + 1)])
        return state

    problem = QuadraticMinimax(clients=2, dim=1, gradient_noise=1.0, distance=2.0)
    told_of(looking, FedAvg(local_steps=2), problem=problem)
    once, again, second, third = (np.array(x) for x in met[:4])
    np.testing.assert_array_equal(once, again)
    assert not np.allclose(once, [0.2, 1.0])  # with the noise of the first local step,
    assert not np.allclose(second, [-0.7, 3.0])  # of the second, elsewhere
    np.testing.assert_allclose(third, [-0.7, 3.0])  # and of none: the algorithm asks twice


MINE = """
import numpy as np
from driftproof import assert_conforms

def mine(state, clients, cohort, local_steps, step_size):
    ends = []
    for i in cohort:
        w = state["w"]
        for _ in range(local_steps):
            w = w - step_size * clients[i].grad(w)
        ends.append(w)
    return {"w": SUM(ends, 0)}
"""


def test_the_command(tmp_path):
    (tmp_path / "mine.py").write_text(MINE.replace("SUM", "np.mean"))
    made = driftproof("conform", "mine.py::mine", "fedavg", "--instances", "20", cwd=tmp_path)
    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout == "mine.py::mine: no difference from fedavg in 20 instances\n"
    (tmp_path / "mine.py").write_text(MINE.replace("SUM", "np.sum"))
    words = ("conform", "mine.py::mine", "FedAvg(local_steps=2)", "--instances", "50")
    made = driftproof(*words, cwd=tmp_path)
    assert (made.returncode, made.stderr) == (1, "")
    assert made.stdout.startswith("mine is not FedAvg(local_steps=2): first in round 1, what all")
    made = driftproof("conform", "mine.py::mien", "fedavg", cwd=tmp_path)
    assert made.returncode == 2
    assert "did you mean mine?" in made.stderr
    for named in (str(tmp_path / "mine.py"), str(tmp_path / "gone.py::mine")):
        with pytest.raises(DriftproofError, match=r"take one of them|check the path"):
            conform._function(named)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("fedavgg", "did you mean fedavg"),
        ("fedavg(tau=2)", "driftproof show fedavg lists its parameters"),
        ("fedavg(2)", "driftproof show fedavg lists its parameters"),
        ("FedAvg(1)+f(1)", "driftproof show fedavg lists its parameters"),
        ("fedavg(step_size=-1.0)", "step_size"),
    ],
)
def test_an_algorithm_that_there_is_not_is_told(text, told):
    with pytest.raises(DriftproofError, match=told):
        conform._algorithm(text)
    assert conform._algorithm("Scaffold") is Scaffold
    assert conform._algorithm("scaffold(local_steps=2)") == Scaffold(local_steps=2)
