"""Implementations beside algorithms: right ones conform, and a slip is named where it is first."""

import json
import re
from functools import wraps
from pathlib import Path

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
    FedDRO,
    FedNest,
    FedProx,
    HeavyBall,
    LFedNest,
    LocalMOML,
    LocalSCGDM,
    QFedAvg,
    Scaffold,
    StocBiO,
)
from driftproof.commands import conform
from driftproof.problems import PiecewiseLosses, QuadraticBilevel, QuadraticMinimax
from driftproof.verifiers.conform.clients import Client
from driftproof.verifiers.conform.compared import departure
from driftproof.verifiers.conform.conforming import first_departure
from driftproof.verifiers.conform.reference import Instance, fields_of, played
from driftproof.verifiers.conform.round_function import RoundFunction
from driftproof.verifiers.search.strategies import examples_of
from tests import written_methods as written
from tests.commands import driftproof

NEST = FedNest(inner_calls=2, inner_steps=2, outer_steps=2, terms=2, series="summed")
WEIGHTED = FedAvg(local_steps=2, weighting="samples", batch=2)
WRITTEN = {"fedprox"}
ALGORITHMS = {
    "fedavg": FedAvg,
    "fedprox": FedProx,
    "scaffold": Scaffold,
    "heavy_ball": HeavyBall,
    "comfedl": ComFedL,
    "decaying_fedavg": DecayingFedAvg(local_steps=2),
    "q_fedavg": QFedAvg,
    "fedavg_s": FedAvgS,
    "local_scgdm": LocalSCGDM(local_steps=3, momentum=4.0, inner_momentum=6.0),
    "fednest": NEST,
}


@pytest.mark.parametrize("method", ALGORITHMS)
def test_an_implementation_of_the_printed_algorithm_conforms(method):
    told = assert_conforms(getattr(written, method)(), algorithm=ALGORITHMS[method], instances=20)
    assert told.startswith("no difference from ")


SHARED = "in the shared state"
SLIPS = [
    ("fedprox", "no anchor", FedProx,
     r"the update of local step 2\ngot:    field_grad asked at x = .* in local step 3\nwanted: x"),
    ("scaffold", "c_i", Scaffold, rf"round \d, {SHARED}\ngot:    control\["),
    ("scaffold", "|S| for N", Scaffold, rf"round 1, {SHARED}\ngot:    control\[0\].*\n.*\n.* 2 t"),
    ("fedprox", "plain norm", FedProx(local_steps=3),
     r"client 0, local step 3\ngot:    field_grad asked at x = "),
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
     r"round \d, client 0, local step \d\ngot:    outer_grad asked at y = "),
    ("fedavg_s", "alternating", FedAvgS(),
     r"round 1, client 0, local step 1\ngot:    upper_grad_x asked at y = "),
]  # fmt: skip


@pytest.mark.parametrize(("method", "slip", "algorithm", "named"), SLIPS)
def test_a_slip_is_caught_and_named(method, slip, algorithm, named):
    with pytest.raises(AssertionError) as caught:
        assert_conforms(getattr(written, method)(slip), algorithm=algorithm)
    told = str(caught.value)
    assert re.search(named, told), told
    got, wanted = (
        re.search(rf"{head}: .*?(\S+)( after.*| in local step \d+)?\n", told)[1].strip("[]")
        for head in ("got", "wanted")
    )
    assert float(got) != float(wanted)
    assert f"{method} does not match " in told
    assert re.search(r"on:     Case\(.*\)\n +clients of sizes \[.*\], cohort \[.*\]\n", told)


BENT = PiecewiseLosses(
    gradients=((((0.0, -2.0), (1.0, -1.0)),), (((0.0, 4.0), (1.0, 5.0)),)), tails="linear"
)
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
        "fedavg does not match FedAvg(local_steps=2, step_size=0.5): first in round 1, in the "
        "shared state",
        "got:    w[0] = -0.5 after the round",
        "wanted: -0.75",
        "        its change in this round is 2/3 times the algorithm's",
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
    with pytest.raises(AssertionError, match="first in round 1, in the shared state"):
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
    state,
    clients,
    cohort,
    inner_calls,
    inner_steps,
    outer_steps,
    inner_step_size,
    outer_step_size,
    terms,
):
    return written.fednest()(
        state,
        clients,
        [cohort] * 20,
        inner_calls,
        inner_steps,
        outer_steps,
        inner_step_size,
        outer_step_size,
        terms,
    )


def broken(state, clients, cohort):
    return {"w": state["v"]}


def test_lists_that_are_returned_come_back_as_arrays():
    def listing(state, clients, cohort, step_size):
        ends = [state["w"] - step_size * clients[i].grad(state["w"]) for i in cohort]
        assert "own" not in state or state["own"] == [1]
        return {"w": np.mean(ends, 0).tolist(), "own": [1]}

    assert_conforms(listing, algorithm=FedAvg, instances=20)


def indirect(state, clients, cohorts, draws, **given):
    return {"x": state["x"] + draws["left-out"], "y": state["y"]}


def of_three(state, clients, cohorts, draws):
    return {"x": state["x"] + cohorts[2][0], "y": state["y"]}


def halved(state, clients):
    """Whom it asks is its own draw, from which two calls in a row may get the same."""
    some = [client for client in clients if np.random.default_rng().random() < 0.5] or clients
    return {"w": state["w"] - 0.1 * np.mean([client.grad(state["w"]) for client in some], 0)}


class Fitting:
    def fit(self, parameters, client):
        return parameters


class Peeking(Fitting):
    def step(self, clients, cohort, state):
        self.w = state["w"]


def nothing(state, clients, cohort):
    pass


STILL = Scaffold(step_size=1e-20, control="gradient")


def keeping_one_field(state, clients, cohort):
    return {"x": state["x"] - 0 * state["control"]}


def asking(state, clients, cohort):
    return {"w": clients[0].hessian(state["w"])}


def stacked(state, clients, cohort):
    return {"w": clients[0].grad(state["w"][:, None])}


def differentiating(state, clients, cohort):
    w = torch.tensor(state["w"], requires_grad=True)
    clients[0].loss(w).backward()
    return {"w": w - 0.1 * w.grad}


class Counting(Stepping):
    def __init__(self, clients):
        pass


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
        (broken, FedAvg(), r"test_conform.py:\d+: in broken: KeyError: 'v: the state has w, from"),
        (nothing, FedAvg(), r"w = None(.|\n)*without return returns None"),
        (keeping_one_field, STILL, "'control: the state has x, from the second round on"),
        (asking, FedAvg(), r"in asking: unknown attribute of a client 'hessian'"),
        (lambda state, clients: clients[0].grad(np.float32(state["w"])), FedAvg(), "t in float32"),
        (lambda state, clients: torch.tensor(state["w"].tolist()), FedAvg(), "round in float32"),
        (differentiating, FedAvg(), r"backward(.|\n)*w.grad = clients\[i\].grad\(w\)"),
        (Counting, FedAvg(), r"'clients'(.|\n)*len\(clients\), are to be had in step alone"),
        (stacked, FedAvg(), r"field_grad of client 0 at x of shape \(1, 1\)"),
        (noisy, FedAvg(), "field_grad of client 0 with 2 arguments"),
        (written.q_fedavg(), DRFL(), "draws .*snapshot.*, and q_fedavg does not ask for them"),
        (sampled_once, FedNest(series="summed", terms=2), "several cohorts in a round"),
        (Flower, FedAvgS(), "Flower, with fit and aggregate, beside an algorithm of x and y"),
        (3, FedAvg(), "3 as an implementation"),
        (Fitting, FedAvg(), "Fitting, a class with neither step nor fit and aggregate"),
        (Peeking, FedAvg(), "missing a required argument: 'state'"),
        (halved, FedAvg(), "halved, called twice with one state and one cohort"),
        (indirect, LFedNest(series="summed"), "left-out: with these parameters a round draws noth"),
        (of_three, LFedNest(), r"cohorts\[2\]: with these parameters a round has 2"),
        (written.fedavg(), "fedavg", "'fedavg' as an algorithm"),
    ],
)
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
    assert (set(fields), own) == ({"y", "x", "own_control", "control"}, {"own_control": True})
    fields, own = fields_of(LFedNest(), examples_of("bilevel"))  # x_direction stays 0
    assert fields == ("x", "y")


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


def test_a_name_does_not_tell_how_clients_are_weighted_so_what_agrees_is_said():
    def weighted(state, clients, cohort, step_size):
        sizes = np.array([clients[i].size for i in cohort])
        ends = [state["w"] - step_size * clients[i].grad(state["w"]) for i in cohort]
        return {"w": sizes / sizes.sum() @ np.array(ends)}

    with pytest.raises(AssertionError, match=r"agrees: no difference from .*'samples'\)"):
        assert_conforms(weighted, algorithm=FedAvg, instances=30)
    with pytest.raises(AssertionError) as told:  # who names a member means it
        assert_conforms(weighted, algorithm=FedAvg(weighting="uniform"), instances=30)
    assert "agrees" not in str(told.value)


def test_the_command(tmp_path):
    (tmp_path / "mine.py").write_text(MINE.replace("SUM", "np.mean"))
    made = driftproof("conform", "mine.py::mine", "fedavg", "--instances", "20", cwd=tmp_path)
    assert (made.returncode, made.stderr) == (0, "")
    beside = "fedavg(batch=1, weighting='uniform')"
    same = f"mine.py::mine: no difference from {beside} in 20 instances of at most 7 rounds, "
    assert made.stdout == same + "10 local steps and 5 clients\n"
    (tmp_path / "mine.py").write_text(MINE.replace("SUM", "np.sum"))
    words = ("conform", "mine.py::mine", "FedAvg(local_steps=2)", "--instances", "50")
    made = driftproof(*words, cwd=tmp_path)
    assert (made.returncode, made.stderr) == (1, "")
    assert made.stdout.startswith("mine does not match FedAvg(local_steps=2): first in round 1, in")
    data = driftproof(*words, "--json", cwd=tmp_path)
    assert data.returncode == 1
    told = json.loads(data.stdout)
    assert (told["command"], told["instances"], told["conforms"]) == ("conform", 50, False)
    assert told["said"] == made.stdout.splitlines()
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
        ("feddyn", r"FILE.py::NAME(.|\n)* give a file of your own"),
        ("fedavg(tau=2)", "driftproof show fedavg lists its parameters"),
        ("fedavg(2)", "driftproof show fedavg lists its parameters"),
        ("FedAvg(1)+f(1)", "driftproof show fedavg lists its parameters"),
        ("fedavg(step_size=-1.0)", "step_size"),
        ("fedavg(weighting=sample)", "weighting = 'sample'"),
        ("fedavg(weighting=print(1))", "weighting = "),
        ("fedavg(batch=samples)", "driftproof show fedavg lists its parameters"),
    ],
)
def test_an_algorithm_that_there_is_not_is_told(text, told):
    with pytest.raises(DriftproofError, match=told):
        conform._algorithm(text)
    assert conform._algorithm("Scaffold") == (Scaffold, {})
    for words in ("weighting=samples", "weighting='samples'"):
        assert conform._algorithm(f"FedAvg({words})") == (FedAvg, {"weighting": "samples"})
    assert conform._algorithm("scaffold(local_steps=2)") == (Scaffold, {"local_steps": 2})


def scaled_step(state, clients, cohort, local_steps, step_size):
    """A step that is right where local_steps = 1."""
    return weighted(state, clients, cohort, local_steps, step_size / local_steps)


def weighted(state, clients, cohort, local_steps, step_size):
    ends = [state["w"]] * len(cohort)
    for _ in range(local_steps):
        ends = [w - step_size * clients[i].grad(w) for i, w in zip(cohort, ends, strict=True)]
    return {"w": np.average(ends, 0, weights=[clients[i].size for i in cohort])}


def test_what_is_given_stays_and_all_else_that_is_asked_for_is_drawn():
    """Of a member given is what is not the default."""
    given = {"weighting": "samples"}
    for of, kept in ((FedAvg, given), (FedAvg(**given), None)):
        told, _ = first_departure(scaled_step, of, 50, 0, kept)
        assert "change in this round is 1/2 times the algorithm's" in told
    told, beside = first_departure(scaled_step, FedAvg, 50, 0, given | {"local_steps": 1})
    assert (told, beside) == (
        "",
        "no difference from fedavg(local_steps=1, batch=1, weighting='samples') in 50 instances "
        "of at most 8 rounds, 1 local step and 5 clients",
    )
    told, beside = first_departure(scaled_step, FedAvg(**given, participation=0.5), 50, 0)
    assert "FedAvg(local_steps=2, participation=0.5" in told


def late(state, clients, cohort, round, local_steps, step_size):
    """FedAvg whose steps are halved from the fifth round on."""
    return weighted(state, clients, cohort, local_steps, step_size / (1 + (round >= 4)))


def test_a_slip_of_a_later_round_is_found_in_so_many_rounds_as_are_asked_for():
    samples = FedAvg(weighting="samples")
    with pytest.raises(AssertionError, match="first in round 5"):
        assert_conforms(late, algorithm=samples)
    _, agreed = first_departure(late, samples, 50, 0, rounds=4)
    assert "in 50 instances of at most 4 rounds, " in agreed


def unnamed(state, clients, cohort, local_steps, step_size, server_step_size):
    """SCAFFOLD that keeps its control variates under a name of its own."""
    given = (clients, cohort, local_steps, step_size, server_step_size)
    left = written.scaffold()({**state, **state.get("held", {})}, *given)
    return {"x": left.pop("x"), "held": left}


def test_what_agrees_says_which_fields_were_not_compared():
    """A client's model y is the server's x as a round ends, so that x stands for it."""
    _, agreed = first_departure(unnamed, Scaffold, 30, 0)
    assert agreed.endswith("not compared: own_control, control, which unnamed does not name")
    assert "), own_control and control left aside, in 30 instances of " in agreed
    code = RoundFunction(Flower, "x", ("x", "control"), {})
    code.unseen["control"] = None  # an attribute perhaps: what aggregate returns is compared
    assert code.unseen_told.endswith("not compared: control, which Flower does not return")
    assert set(code.state((None, [np.zeros(1), np.ones(2)]))) == {"x"}
    assert code.unseen_told.endswith(
        "compared: all but the first of the 2 arrays that aggregate returns"
    )
    assert "not compared" not in "".join(first_departure(written.scaffold(), Scaffold, 30, 0))


@pytest.mark.parametrize("question", ["loss", "mean_loss", "grad"])
def test_a_question_for_a_log_is_no_difference(question):
    def asking(state, clients, cohort, local_steps, step_size):
        assert all(np.isfinite(getattr(client, question)(state["w"])).all() for client in clients)
        return weighted(state, clients, cohort, local_steps, step_size)

    assert_conforms(asking, algorithm=FedAvg(weighting="samples"), instances=30)


def stale_after_a_log(state, clients, cohort, local_steps, step_size):
    """ComFedL whose ∇g is at the round's first value, which is asked for once more."""
    ends = []
    for i in cohort:
        w, (first, _) = state["w"], clients[i].inner(state["w"])
        for _ in range(local_steps):
            _, pull = clients[i].inner(w)
            w = w - step_size * pull(clients[i].outer_grad(first))
        ends.append(w)
    return {"w": np.mean(ends, 0)}


def stale_gradient(state, clients, cohort):
    w = state["w"]
    clients[0].grad(w + 5)
    return {"w": w - 0.1 * sum(clients[0].grad(w) for _ in range(2))}


def one_step_more(state, clients, cohort):
    return weighted(state, clients, cohort, 2, 0.1)


def test_one_question_more_is_not_taken_for_that_of_a_step():
    """Every step's own question is found, and one that is not told where another may be meant."""
    with pytest.raises(AssertionError, match=r"step 2\ngot:    outer_grad asked at y = ") as caught:
        assert_conforms(stale_after_a_log, algorithm=ComFedL, instances=5)
    assert re.search(
        r"inner was asked of client 0 \d times in this round, 1 more", str(caught.value)
    )
    alone = {"sizes": (1,), "problem": PiecewiseLosses(clients=1, tails="linear")}
    told = told_of(stale_gradient, FedAvg(local_steps=2), **alone)
    assert re.search(r"step 2\ngot:    field_grad asked, but not where .*\nwanted: x = ", told)
    told = told_of(one_step_more, FedAvg(), **alone)
    assert "field_grad was asked of client 0 2 times in this round, 1 more than" in told


def test_a_loss_is_that_whose_gradient_the_field_is():
    """f_1 = (x + 4)²/2 between its points, to a constant."""
    losses = []

    def looking(state, clients, cohort):
        losses.extend(clients[1].loss(np.array([x])) for x in (0.0, 1.0))
        return state

    told_of(looking, FedAvg())
    assert losses[1] - losses[0] == pytest.approx(4.5)


def test_a_question_that_a_problem_cannot_answer_is_not_offered():
    with pytest.raises(DriftproofError, match="attribute of a client 'loss'") as refused:
        told_of(
            lambda state, clients, cohort: clients[0].loss(state["w"]),
            FedAvg(),
            problem=QuadraticMinimax(),
        )
    assert "loss" not in refused.value.wanted + refused.value.remedy


def by_field(state, clients, cohort, inner_step_size, outer_step_size):
    """FedAvg-S whose gradients are asked for in one question, which has other noise."""
    x, y, d = state["x"], state["y"], len(state["x"])
    g = np.mean([clients[i].grad(np.concatenate([x, y])) for i in cohort], 0)
    return {"x": x - outer_step_size * g[:d], "y": y - inner_step_size * g[d:]}


def test_what_asks_another_question_is_told_which_one_the_algorithm_asks():
    with pytest.raises(AssertionError, match=r"ask upper_grad_x and upper_grad_y, .* not for grad"):
        assert_conforms(by_field, algorithm=FedAvgS, instances=50)


def test_a_slip_that_shows_after_the_only_local_step_is_sent_to_two():
    """The wrong sign of c − c_i: the questions of later steps are asked elsewhere."""
    wrong = written.scaffold("sign")
    told = told_of(wrong, Scaffold(step_size=0.5), rounds=2)
    assert told.endswith("with local_steps=2 the end of a local step is compared, too")
    told = told_of(wrong, Scaffold(step_size=0.5, local_steps=2), rounds=2)
    assert "local step 2\ngot:    field_grad asked at x" in told


@pytest.mark.parametrize("algorithm", [ComFedL(), QFedAvg(), NEST])
def test_the_page_has_each_attribute_of_a_client(algorithm):
    page = (Path(__file__).parents[1] / "docs/conform.md").read_text(encoding="utf-8")
    instance = Instance(examples_of(algorithm.needs)[0], algorithm, 1, (1, 1))
    with pytest.raises(DriftproofError) as refused:
        _ = Client(0, instance, played(instance), 0, {}, {}, True).cid
    named = set(refused.value.wanted.split(", "))
    assert {"number", "size", "weight"} < named <= set(re.findall(r"[`.](\w+)[`(]", page))


def by_gradients(order):
    """SCAFFOLD whose control is a gradient at x: of the draw before, after or of the first step."""

    def code(state, clients, cohort, local_steps, step_size, server_step_size):
        x, c, own = state["x"], state["control"], state["own_control"].copy()
        moves, changes = [], []
        for i in cohort:
            new = None if order == "after" else clients[i].grad(x)
            y = x
            for k in range(local_steps):
                g = new if order == "same" and k == 0 else clients[i].grad(y)
                y = y - step_size * (g - own[i] + c)
            new = clients[i].grad(x) if new is None else new
            moves.append(y - x)
            changes.append(new - own[i])
            own[i] = new
        x = x + server_step_size * np.mean(moves, 0)
        return {"x": x, "control": c + np.sum(changes, 0) / len(clients), "own_control": own}

    return code


def test_two_questions_at_one_point_may_be_asked_in_either_order_but_not_be_one():
    """Of the 30, one comes back to a point: what it asks there twice keeps its order."""
    for order in ("before", "after"):
        assert_conforms(by_gradients(order), algorithm=Scaffold(control="gradient"), instances=30)
    with pytest.raises(AssertionError, match="own_control"):
        assert_conforms(by_gradients("same"), algorithm=Scaffold(control="gradient"))


def test_a_message_has_the_order_of_the_cohorts_and_who_was_asked_in_their_place():
    """By hand: FedInn, FedOut with its hypergradient, and S_0 and S_1 of the series."""

    def swapped(state, clients, cohorts, terms):
        inner, outer, *series = cohorts
        given = (2, 1, 1, 0.1, 0.1, terms)
        return written.fednest()(state, clients, [outer, inner, inner, *series], *given)

    algorithm = FedNest(inner_calls=2, terms=1, series="summed", participation=1 / 3)
    with pytest.raises(AssertionError) as caught:
        assert_conforms(swapped, algorithm=algorithm, instances=30)
    told = str(caught.value)
    cohorts = json.loads(re.search(r"cohorts (\[\[.*\]\])\n", told)[1])
    asked = [
        "1: lower_grad 3 times",
        "2: lower_grad 3 times",
        "3: upper_grad_x 3 times, lower_cross_product",
        "3: upper_grad_y",
        "3: lower_hessian_product",
    ]
    for k, (cohort, rest) in enumerate(zip(cohorts, asked, strict=True)):
        assert f"\n        cohorts[{k}] = {cohort} in local step {rest}\n" in told
    assert re.search(r"\n +\w+ was asked of clients \[.*\], not of \[.*\]\n", told)


def test_where_each_client_goes_alone_there_is_no_cohort_in_the_message():
    method = ALGORITHMS["local_scgdm"]
    with pytest.raises(
        AssertionError, match="each client in local steps 1 to 3: inner 3 times, ou"
    ):
        assert_conforms(written.local_scgdm("stale"), algorithm=method)
    with pytest.raises(AssertionError, match=r"of clients \[0, 1\], not of \[\d\]") as caught:
        assert_conforms(written.fedavg("absent clients"), algorithm=FedAvg)
    assert "order:" not in str(caught.value)  # it asks one thing alone


class Twice:
    """A client that is asked each question once more than the code asks it."""

    def __init__(self, client):
        self.client = client

    def __getattr__(self, name):
        found = getattr(self.client, name)

        def asked(*given):
            answer = found(*given)
            found(*given)
            return answer

        return asked if callable(found) else found


def logging(code, when):
    """Ask more than a code does: at the start of a round, of all or of one, or all things twice."""

    @wraps(code)
    def logged(**given):
        clients, state = given["clients"], given["state"]
        if when == "each":
            return code(**given | {"clients": [Twice(client) for client in clients]})
        for client in clients if when == "all" else clients[-1:]:
            if "y" in state and "lower_grad" in client._can:
                client.lower_grad(state["x"], state["y"])
            elif "y" in state and "upper_grad_y" in client._can:
                client.upper_grad_y(state["x"], state["y"])
            else:
                ask = client.inner if "inner" in client._can else client.grad
                ask(state["x"] if "x" in state else state["w"])
        return code(**given)

    return logged


@pytest.mark.parametrize("when", ["all", "last", "each"])
@pytest.mark.parametrize("method", [*ALGORITHMS, "before", "after"])
def test_questions_for_a_log_are_no_difference_whatever_the_draws(method, when):
    """Where an iterate stays where it is, the log must not take the draw of a step."""
    right = by_gradients(method) if method in ("before", "after") else getattr(written, method)()
    algorithm = ALGORITHMS.get(method, Scaffold(control="gradient"))
    for seed in (1, 2, 6):
        told, agreed = first_departure(logging(right, when), algorithm, 6, seed)
        assert not told
        assert int(re.search(r"in (\d+) instances", agreed)[1]) >= 4


def test_questions_for_a_log_do_not_hide_where_a_slip_is():
    """What differs is told as without them; they are counted."""
    wrong, algorithm = written.scaffold("sign"), Scaffold(local_steps=2)
    plain, told = (
        first_departure(code, algorithm, 100, 0)[0] for code in (wrong, logging(wrong, "each"))
    )
    assert re.search(r"step 2\ngot:    field_grad asked at x = .*\nwanted: x = ", plain)
    lines = told.splitlines()
    (count,) = (line for line in lines if "change no iterate" in line)
    assert re.fullmatch(r" +\d field_grad asked change no iterate; without them .*", count)
    assert [line for line in lines if line != count] == plain.splitlines()


def test_one_gradient_for_a_log_takes_no_draw_of_a_step():
    """Of seed 2: f' = −ξ keeps a client at its point, where the algorithm draws twice."""
    for seed in (1, 2):
        told, agreed = first_departure(logging(written.fedavg(), "all"), FedAvg, 60, seed)
        assert not told
        assert "in 60 instances" in agreed


def lfednest(
    state,
    clients,
    cohorts,
    inner_calls,
    inner_steps,
    outer_steps,
    inner_step_size,
    outer_step_size,
    terms,
):
    """LFedNest that asks those clients alone that take part."""
    x, y, drawn = state["x"], state["y"], iter(cohorts)
    for _ in range(inner_calls):
        ends = []
        for i in next(drawn):
            own = y
            for _ in range(inner_steps):
                own = own - inner_step_size * clients[i].lower_grad(x, own)
            ends.append(own)
        y = np.mean(ends, 0)
    ends = []
    for i in next(drawn):
        own, step = x, 1 / clients[i].lower_smoothness
        for _ in range(outer_steps):
            p = total = step * clients[i].upper_grad_y(own, y)
            for _ in range(terms):
                p = p - step * clients[i].lower_hessian_product(own, y, p)
                total = total + p
            cross = clients[i].lower_cross_product(own, y, total)
            own = own - outer_step_size * (clients[i].upper_grad_x(own, y) - cross)
        ends.append(own)
    return {"x": np.mean(ends, 0), "y": y}


def sampled_each_step(state, clients, cohorts, draws, outer_steps, terms):
    """LFedNest with an N' of each outer step."""
    x, (inner, outer) = state["x"], cohorts
    y = np.mean([state["y"] - 0.1 * clients[i].lower_grad(x, state["y"]) for i in inner], 0)
    ends = []
    for i in outer:
        own, step = x, 1 / clients[i].lower_smoothness
        for k in range(outer_steps):
            p = terms * step * clients[i].upper_grad_y(own, y)
            for _ in range(terms - 1 - draws["left-out"][k]) if terms else ():
                p = p - step * clients[i].lower_hessian_product(own, y, p)
            cross = clients[i].lower_cross_product(own, y, p) if terms else 0
            own = own - 0.1 * (clients[i].upper_grad_x(own, y) - cross)
        ends.append(own)
    return {"x": np.mean(ends, 0), "y": y}


def test_several_draws_of_one_name_follow_one_another():
    assert_conforms(sampled_each_step, algorithm=LFedNest)


def test_what_is_every_others_may_be_asked_for_at_its_default():
    def starred(state, clients, cohort, step_size, **others):
        assert others["local_steps"] == others["batch"] == 1
        return {
            "w": np.mean([state["w"] - step_size * clients[i].grad(state["w"]) for i in cohort], 0)
        }

    assert "(local_steps=1, batch=1, " in assert_conforms(starred, algorithm=FedAvg, instances=20)


def test_a_strategy_may_return_metrics_as_in_flower():
    class Measuring(Flower):
        def aggregate(self, results):
            return super().aggregate(results), {"loss": 1.0}

    assert_conforms(Measuring, algorithm=FedAvg(weighting="samples"), instances=20)


class MOML:
    """Local-MOML, whose u_0 is drawn before the first round."""

    def __init__(self, start, state, step_size, inner_momentum):
        self.x, self.u = start, state["u"]
        self.step_size, self.inner_momentum = step_size, inner_momentum

    def step(self, clients, local_steps):
        ends = []
        for k, client in enumerate(clients):
            x = self.x
            for _ in range(local_steps):
                value, pullback = client.inner(x)
                self.u[k] += self.inner_momentum * (value - self.u[k])
                x = x - self.step_size * pullback(client.outer_grad(self.u[k]))
            ends.append(x)
        self.x = np.mean(ends, 0)


def test_a_class_is_made_with_the_state_that_the_first_round_begins_with():
    assert "left aside" not in assert_conforms(MOML, algorithm=LocalMOML, instances=30)


def decayed(of):
    """FedAvg whose step size is halved from the third local step on, or its points are."""

    def code(state, clients, cohort, local_steps, step_size):
        ends = []
        for i in cohort:
            w = state["w"]
            for k in range(local_steps):
                half = 0.5 if k >= 2 else 1.0
                at, size = (w, half * step_size) if of == "step" else (half * w, step_size)
                w = w - size * clients[i].grad(at)
            ends.append(w)
        return {"w": np.mean(ends, 0)}

    return code


def test_an_update_is_named_where_a_round_that_ends_with_it_shows_that_it_is_wrong():
    """Not where its step asks elsewhere, nor where the number of local steps is given."""
    for of, where in (("step", "in the update of local step 3"), ("point", "local step 3")):
        told, _ = first_departure(decayed(of), FedAvg, 100, 0)
        assert f"first in round 1, client 0, {where}\n" in told
    told, _ = first_departure(decayed("step"), FedAvg, 100, 0, {"local_steps": 5})
    assert re.search(r"client 0, local step 4\ngot:    field_grad asked at x = \S+\n", told)


def test_a_slip_that_five_clients_have_is_found():
    def of_four(state, clients, cohort, step_size):
        ends = [state["w"] - step_size * clients[i].grad(state["w"]) for i in cohort[:4]]
        return {"w": np.mean(ends, 0)}

    with pytest.raises(AssertionError, match=r"not of \[0, 1, 2, 3, 4\]"):
        assert_conforms(of_four, algorithm=FedAvg)


def test_a_field_is_a_clients_own_where_a_round_ends_so():
    """ȳ of FedDRO is shared, but for the first samples; x_previous is not, of two local steps."""
    _, own = fields_of(FedDRO(), examples_of("composition"))
    assert own == {"y": False, "x_previous": True}


def test_a_message_has_what_the_first_round_begins_with():
    with pytest.raises(
        AssertionError, match=r"\n        round 1 begins with own_control = \[\[0\."
    ):
        assert_conforms(written.scaffold("|S| for N"), algorithm=Scaffold)


def test_what_stands_for_another_value_is_given_as_that_value():
    met = []

    def looking(state, clients, series_step):
        met.append(series_step * clients[0].lower_smoothness)
        return state

    told_of(looking, StocBiO(), problem=QuadraticBilevel(clients=2, dim=1))
    assert met == [1.0, 1.0]


@pytest.mark.parametrize("seed", [0, 2])
def test_who_takes_no_part_takes_no_draw(seed):
    """The algorithm asks everyone in each call; in the second y has not moved from the first."""
    algorithm = LFedNest(series="summed", terms=3)
    told, _ = first_departure(lfednest, algorithm, 60, seed)
    assert not told


def test_what_is_left_out_is_counted_with_the_reason():
    _, agreed = first_departure(written.comfedl(), ComFedL, 30, 2)
    compared, out = re.search(r"in (\d+) inst.*\n +(\d+) left out, where it div", agreed).groups()
    assert int(compared) + int(out) == 30


def test_where_the_ways_are_too_many_nothing_is_said(monkeypatch):
    """One gradient for two is found by going through all ways; where they are cut, it is not."""
    monkeypatch.setattr("driftproof.verifiers.conform.compared.WAYS", ((False, 0),))
    wrong, algorithm = by_gradients("same"), Scaffold(control="gradient")
    told, agreed = first_departure(wrong, algorithm, 30, 1)
    assert not told
    assert "left out, where its draws can be dealt to your questions in too many ways" in agreed
    monkeypatch.setattr("driftproof.verifiers.conform.compared.WAYS", ())
    with pytest.raises(DriftproofError, match="30 left out, where its draws can be dealt"):
        first_departure(wrong, algorithm, 30, 1)


ALGORITHM = """
from typing import NamedTuple
from torch import Tensor
from driftproof import Algorithm, PositiveInt, algorithm

class State(NamedTuple):
    w: Tensor

@algorithm(name="mine/half", source="mine", statement="w = w/2")
class Half(Algorithm):
    local_steps: PositiveInt = 1

    def init(self, ctx, oracles, start):
        return State(ctx.everywhere(start + 1))

    def step(self, ctx, oracles, state):
        return State(state.w / 2)

@algorithm(name="mine/third", source="mine", statement="w = w/3")
class Third(Half):
    def step(self, ctx, oracles, state):
        return State(state.w / 3)
"""


def test_an_algorithm_may_be_of_ones_own_file(tmp_path):
    (tmp_path / "own.py").write_text(ALGORITHM)
    (tmp_path / "code.py").write_text("def half(state): return {'w': state['w'] / 2}")
    words = ("conform", "code.py::half")
    same, apart, many, wrong = (
        driftproof(*words, f"own.py{within}", cwd=tmp_path)
        for within in ("::Half", "::Third", "", "::Quarter")
    )
    assert (
        same.stdout
        == "code.py::half: no difference from own.py::Half(local_steps=1) in 100 instances of at "
        "most 8 rounds, 1 local step and 5 clients\n"
    )
    assert "the update that driftproof show own.py prints" in apart.stdout
    assert (apart.returncode, many.returncode, wrong.returncode) == (1, 2, 2)
    assert "FILE::CLASS" in many.stderr
    assert "Half, Third" in wrong.stderr


def test_show_lists_the_state_and_the_words_that_a_parameter_may_be():
    told = driftproof("show", "scaffold").stdout
    assert "\nstate: y, x, own_control (one per client), control\n" in told
    assert "choices: weighting = 'uniform' or 'samples'\n" in driftproof("show", "fedavg").stdout
    nested = driftproof("show", "lfednest").stdout  # the class that it is derived from has them
    assert "  terms: N of the Neumann series, the matrix products of a sum of N + 1 terms" in nested
    alternating = driftproof("show", "fedavg-s").stdout
    assert "\nmeans:\n" in alternating
    assert '  order: "simultaneous" takes both' in alternating
    assert (
        'with "alternating" y moves first, and x\'s gradient is taken at the new y' in alternating
    )
