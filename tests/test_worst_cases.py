"""Worst cases over classes: known values, PEPit's, and what is refused.

The numbers of PEPit are from version 0.5.1 with Clarabel 0.11.1, of programs written by hand, one
for each method: a route that shares neither the algorithms' texts nor the builder.
"""

from __future__ import annotations

from contextlib import nullcontext
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from driftproof.synthetic.classes import (
    equal,
    monotone_lipschitz,
    similar,
    similar_everywhere,
    smooth,
    smooth_convex,
    smooth_strongly_convex,
    start_gap,
    start_within,
    strongly_convex_concave,
)
from driftproof.synthetic.classes.function_class import FunctionClassProblem
from driftproof.synthetic.problems import PiecewiseLosses
from driftproof.toolkit.algorithm import Algorithm, algorithm
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.algorithms.fedsvrg import FedSVRG
from driftproof.toolkit.cases import Case
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.engines.enumerated import NoiselessContext
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run
from driftproof.toolkit.gram.exact import GramForm, Vector
from driftproof.toolkit.gram.tensor import SIZES, GramForms, GramVector, NotLinearError
from driftproof.toolkit.measure import States, Steps, average, each, smallest, sq
from driftproof.toolkit.parameters import Positive, PositiveInt
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.search.units import judged
from driftproof.verifiers.worst_case import witness as witnesses
from driftproof.verifiers.worst_case.builder import build
from driftproof.verifiers.worst_case.certificate import certify
from driftproof.verifiers.worst_case.found import worst_case
from driftproof.verifiers.worst_case.program import Forms, matrices, of_quantity
from driftproof.verifiers.worst_case.solve import solve, symmetric
from driftproof.verifiers.worst_case.witness import witness
from tests.benchmarks.worst_cases import CLIENTS, by_clients, cost
from tests.worst_functions import functions

STRONGLY = smooth_strongly_convex(L=1, mu=0.1)
FEDERATION = [STRONGLY, similar(zeta=1), start_within(R=1)]
TWO_STEPS = FedAvg(local_steps=2, step_size=0.5)


def at_end(value):
    def left(view: Steps):
        return each("round", "local_step", value(view)) if view.last else None

    return left


distance = at_end(lambda view: sq(view.mean(view_iterate(view)) - view.minimiser))
gap = at_end(lambda view: view.gap(view.mean("w")))
gradient = at_end(lambda view: sq(view.gradient(view.mean("w"))))


def view_iterate(view):
    return "w" if "w" in view.state._fields else "x"


def drift(view: Steps):
    apart = sq(view.client("w") - view.round_start("w"))
    return average("round", "local_step", apart.mean(0))


def mean_gradient(view: States):
    return average("round", sq(view.gradient(view.mean("w"))))


PEPIT = {
    "distance, 2 clients": (TWO_STEPS, FEDERATION, 1, 2, distance, 0.8680429848003607),
    "distance, 3 clients": (TWO_STEPS, FEDERATION, 1, 3, distance, 0.8680429825832241),
    "distance, 5 steps, 2 rounds": (
        FedAvg(local_steps=5, step_size=0.2), FEDERATION, 2, 2, distance, 0.8045931821931975,
    ),
    "gap": (TWO_STEPS, FEDERATION, 1, 2, gap, 0.17475000652988448),
    "gradient": (TWO_STEPS, FEDERATION, 1, 2, gradient, 0.27438803999588257),
    "drift": (TWO_STEPS, FEDERATION, 2, 2, drift, 0.9919143831636662),
    "one of two clients sampled": (
        FedAvg(local_steps=2, step_size=0.5, participation=0.5), FEDERATION, 2, 2, distance,
        2.6533031192371386,
    ),
    "FedSVRG": (
        FedSVRG(local_steps=2, step_size=0.5), FEDERATION, 1, 2, distance, 0.8145062526621497,
    ),
    "not convex": (
        TWO_STEPS, [smooth(L=1), start_gap(delta=1)], 2, 1, mean_gradient, 1.0625000024615914,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PEPIT)
def test_the_worst_case_is_pepits(name):
    method, classes, rounds, clients, left, value = PEPIT[name]
    found = worst_case(method, classes, rounds=rounds, left=left, clients=clients)
    assert found.value == pytest.approx(value, rel=1e-6)


COORDINATES = {"adam", "sign-descent"}
"""They change a gradient coordinate by coordinate, and leave the span."""
FIELDS = [
    leaf
    for leaf in leaves("algorithm").values()
    if leaf.load()().needs == "field" and leaf.name not in COORDINATES
]


@pytest.mark.parametrize("leaf", FIELDS, ids=lambda leaf: leaf.name)
def test_every_algorithm_on_a_gradient_field_can_be_followed(leaf):
    """The algorithm itself, run on functions made from the worst case, is as bad."""
    method = leaf.load().examples()[0]

    def left(view: Steps):
        apart = sq(view.mean(method.iterate) - view.minimiser)
        return each("round", "local_step", apart) if view.last else None

    found = worst_case(method, FEDERATION, rounds=1, left=left)
    (case,) = build(method, FEDERATION, rounds=1, left=left)
    problem = functions(case, found.solved, 2)
    ctx = NoiselessContext(2, dtype=torch.float64, device="cpu")
    ran = run(problem, method, ctx, rounds=1, left=left).values[-1, 0]
    assert ran == pytest.approx(found.value, rel=1e-4)


@pytest.mark.parametrize("name", CLIENTS)
def test_more_clients_are_not_worse(name):
    """Where all take part. Of sampled ones more are better: the negative control."""
    values = by_clients(name)
    if "sampled" in name:
        assert values[2] < 0.6 * values[0]
    else:
        assert values == pytest.approx([values[0]] * 3, rel=1e-6)


def test_a_proof_is_near_what_functions_attain():
    """Both are exact; the solver ends with AlmostSolved."""
    made = cost(FedAvg(local_steps=5, step_size=0.2), FEDERATION, 2)
    assert made.attained < made.bound < made.attained * (1 + Fraction(1, 10**6))


def test_equal_clients_are_one():
    """With one function FedAvg is gradient descent, so τ steps contract like it."""
    found = worst_case(
        TWO_STEPS, [STRONGLY, equal(), start_within(R=1)], rounds=1, left=distance, clients=3
    )
    assert found.value == pytest.approx(0.95**4, rel=1e-6)
    apart = worst_case(TWO_STEPS, FEDERATION, rounds=1, left=distance)
    assert apart.value > found.value + 0.01


def test_the_program_in_doubles_is_the_exact_one():
    fields = monotone_lipschitz(L=1, mu=0.5), strongly_convex_concave(L=1, mu=0.5)
    for one in (STRONGLY, *fields):
        (case,) = build(TWO_STEPS, [one, *FEDERATION[1:]], rounds=2, left=distance)
        program = matrices(case)
        size, count = len(case.vectors), len(case.values)
        assert len(case.constraints) == len(program.bounds)
        for k, constraint in enumerate(case.constraints):
            gram, values = of_quantity(constraint.quantity, size, count)
            np.testing.assert_allclose(program.gram.dense[k], gram, atol=1e-14)
            np.testing.assert_allclose(program.values[k], values, atol=1e-14)
            assert program.bounds[k] == float(constraint.bound - constraint.quantity.constant)


def test_matrices_by_their_entries():
    """What is done with them is what is done with arrays."""
    source = np.random.default_rng(0)
    dense = source.normal(size=(7, 4, 4)) * (source.random((7, 4, 4)) < 0.3)
    dense = dense + dense.transpose(0, 2, 1)
    forms, gram, weights = Forms.of(dense[:3], Forms.of(dense[3:])), dense[0], dense[0, 0]
    seven, some, rows = np.arange(7.0), [5, 0, 2], [3, 1]
    np.testing.assert_array_equal(forms.dense, dense)
    np.testing.assert_allclose(forms.on(gram), np.tensordot(dense, gram))
    np.testing.assert_allclose(forms.sum(seven), np.tensordot(seven, dense, 1))
    np.testing.assert_allclose(forms.times(gram), dense @ gram)
    scaled = dense * np.outer(weights, weights) * seven[:, None, None]
    np.testing.assert_allclose(forms.scaled(weights, seven).dense, scaled)
    np.testing.assert_array_equal(forms.chosen(some).dense, dense[some])
    np.testing.assert_array_equal(forms.chosen(some, rows).dense, dense[np.ix_(some, rows, rows)])
    for one, of in zip(forms.svec().toarray(), dense, strict=True):
        np.testing.assert_allclose(symmetric(one, 4), of)
    np.testing.assert_array_equal(forms.largest((forms.k, forms.j), (7, 4)), np.abs(dense).max(1))


def test_of_many_vectors_bound_and_functions_agree_to_fifty_digits():
    """The second route is exact enough for that; the first ended in "AlmostSolved"."""
    (case,) = build(FedAvg(local_steps=5, step_size=1 / 5), FEDERATION, rounds=2, left=distance)
    solved = solve(case)
    assert (len(case.vectors), solved.status) == (22, "Solved")
    bound, found = certify(case, solved).bound, witness(case, solved)
    assert 0 <= bound - found.value < Fraction(1, 10**50)


def test_functions_far_from_the_worst_are_no_answer_if_others_are_found(monkeypatch):
    """A room too small for a rough solution had left f = 0, at which every condition holds."""

    def none_roughly(exact, tolerance, of=witnesses._inside):
        return None if tolerance == witnesses.ROUGHLY else of(exact, tolerance)

    monkeypatch.setattr(witnesses, "_inside", none_roughly)
    classes = [smooth_convex(L=1), start_within(R=1)]
    (case,) = build(FedAvg(step_size=1.0), classes, rounds=2, left=gap, clients=1)
    assert witness(case, solve(case)).value == pytest.approx(1 / 10, rel=1e-6)


def test_strong_duality():
    """Σ λ_k b_k is the value, the multipliers' values cancel and their matrix is above Q_0."""
    (case,) = build(TWO_STEPS, FEDERATION, rounds=1, left=gap)
    program, solved = matrices(case), solve(case)
    assert solved.multipliers.min() > -1e-9
    assert solved.multipliers @ program.bounds == pytest.approx(solved.value, rel=1e-6)
    np.testing.assert_allclose(solved.multipliers @ program.values, program.objective[1], atol=1e-6)
    slack = program.gram.sum(solved.multipliers) - program.objective[0]
    assert np.linalg.eigvalsh(slack).min() > -1e-6


def test_a_margin_is_kept():
    (case,) = build(TWO_STEPS, FEDERATION, rounds=1, left=distance)
    program, solved = matrices(case), solve(case, margin=1e-3)
    slack = program.gram.sum(solved.multipliers) - program.objective[0]
    assert np.linalg.eigvalsh(slack).min() > 1e-3 - 1e-6
    assert solved.value > solve(case).value


def test_an_upper_bound_says_so():
    classes = [smooth(L=1), similar_everywhere(zeta=1), start_gap(delta=1)]
    found = worst_case(TWO_STEPS, classes, rounds=1, left=mean_gradient)
    assert "at the points that all clients share" in found.loose
    operators = [monotone_lipschitz(L=1, mu=0.5), start_within(R=1)]
    found = worst_case(FedAvg(step_size=0.3), operators, rounds=1, left=distance, clients=1)
    assert "not sufficient" in found.loose
    # one step, two points: then the conditions are the whole truth, 1 − 2ημ + η²L²
    assert found.value == pytest.approx(1 - 2 * 0.3 * 0.5 + 0.09, rel=1e-6)


# -- what is refused


class State(NamedTuple):
    w: Tensor


@algorithm(name="moved", source="this test", statement="w")
class Moved(Algorithm):
    """Moves as a test says."""

    local_steps: PositiveInt = 1
    step_size: Positive = 0.1

    def init(self, ctx, oracles, start):
        return State(ctx.everywhere(start))

    def step(self, ctx, oracles, state):
        u = oracles.field_grad(state.w, None)
        return State(MOVES[-1](state.w, u))


MOVES = []


REFUSED = {
    "sqrt": lambda w, u: w - u.square().sum(1).sqrt(),
    "a product of coordinates": lambda w, u: w - u * u,
    "exp": lambda w, u: torch.exp(w),
    "a sum of coordinates": lambda w, u: w - w.sum(1, keepdim=True),
    "a mean over coordinates": lambda w, u: w - w.mean(1, keepdim=True),
    "one coordinate": lambda w, u: w[:, :1],
    "numbers that vary": lambda w, u: w * torch.arange(float(SIZES["dimension"]))[:, None],
    "a shift": lambda w, u: w + 1.0,
    "a choice": lambda w, u: torch.where(w > 0, w, u),
    "a norm": lambda w, u: w / torch.linalg.vector_norm(u, dim=1, keepdim=True),
    "a division by a vector": lambda w, u: w / u,
    "a power": lambda w, u: w**0.5,
    "an if": lambda w, u: w if (w == u).all() else u,
    "a sort": lambda w, u: w.sort(dim=0).values,
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_step_that_leaves_the_span_is_refused_with_its_line(name):
    moved = REFUSED[name]
    MOVES.append(moved)
    with pytest.raises(NotLinearError) as caught:
        worst_case(Moved(), FEDERATION, rounds=1, left=distance)
    line = moved.__code__.co_firstlineno
    assert caught.value.got.startswith(f"{__file__}:{line}: ")


@pytest.mark.parametrize("size", [len, torch.numel, lambda x: x.shape[-2], lambda x: x.dim() / 7])
def test_what_depends_on_the_dimension_is_refused(size):
    """The class has functions in every dimension; the number of axes is no dimension."""

    def left(view: Steps):
        off = sq(view.mean("w") - view.minimiser)
        return each("round", "local_step", off / size(view.mean("w")))

    MOVES.append(lambda w, u: w - u / size(w))
    axes = size(torch.zeros(2, 3, 5)) == 3 / 7
    runs = [(TWO_STEPS, left), (Moved(), distance)]
    for method, measured in runs[: 1 if size is len else 2]:  # of all clients, len is their number
        with nullcontext() if axes else pytest.raises(DriftproofError, match="the dimension"):
            worst_case(method, FEDERATION, rounds=1, left=measured)


def test_a_measure_that_leaves_the_span_is_refused_with_its_line():
    def left(view: Steps):
        return each("round", "local_step", sq(view.mean("w")).sqrt())

    with pytest.raises(NotLinearError, match="sqrt") as caught:
        worst_case(TWO_STEPS, FEDERATION, rounds=1, left=left)
    assert f"{__file__}:{left.__code__.co_firstlineno + 1}: " in caught.value.got


def test_what_nothing_bounds_is_refused():
    with pytest.raises(DriftproofError, match="nothing relates the clients: add similar"):
        worst_case(TWO_STEPS, [STRONGLY, start_within(R=1)], rounds=1, left=distance)
    with pytest.raises(DriftproofError, match="nothing bounds the start: add start_within"):
        worst_case(TWO_STEPS, [STRONGLY, similar(zeta=1)], rounds=1, left=distance)
    with pytest.raises(DriftproofError, match="no minimiser"):
        worst_case(TWO_STEPS, [smooth(L=1), start_gap(1)], rounds=1, left=distance, clients=1)
    with pytest.raises(DriftproofError, match="one class of functions"):
        worst_case(TWO_STEPS, [STRONGLY, STRONGLY], rounds=1, left=distance)
    with pytest.raises(DriftproofError, match="outcomes"):
        worst_case(FedAvg(participation=0.5), FEDERATION, rounds=9, left=distance, clients=2)


# -- the exact algebra

numbers = st.fractions(min_value=-3, max_value=3, max_denominator=8)
vectors = st.dictionaries(st.integers(0, 3), numbers).map(
    lambda c: sum((Vector.basis(j) * x for j, x in c.items()), Vector())
)


def in_numbers(vector, basis):
    return sum((float(c) * basis[j] for j, c in vector.coefficients.items()), np.zeros(5))


def value_of(quantity, basis):
    return float(quantity.constant) + sum(
        float(q) * basis[j] @ basis[k] for (j, k), q in quantity.gram.items()
    )


@given(vectors, vectors, numbers)
def test_vectors_are_what_they_stand_for(one, two, factor):
    basis = np.random.default_rng(0).normal(size=(4, 5))
    x, y = (in_numbers(v, basis) for v in (one, two))
    np.testing.assert_allclose(in_numbers(one - two * factor, basis), x - float(factor) * y)
    product = one * two + (one - two) * (one - two) / 3 - factor
    wanted = x @ y + (x - y) @ (x - y) / 3 - float(factor)
    np.testing.assert_allclose(value_of(product, basis), wanted, atol=1e-9)
    assert all(one.coefficients.values()), "zeros are not kept"


def test_a_double_is_the_decimal_that_is_printed():
    (case,) = build(FedAvg(step_size=0.1), FEDERATION, rounds=1, left=distance)
    last = case.objective.gram
    assert last[0, 0] == 1
    assert {abs(q) for q in last.values()} <= {
        1,
        Fraction(1, 10),
        Fraction(1, 200),
        Fraction(1, 400),
    }
    assert GramForms.of(0.3).entries[()] == GramForm.number(Fraction(3, 10))


def test_torch_is_followed_exactly():
    entries = np.empty((2, 1, 1), dtype=object)
    entries[:, 0, 0] = [Vector.basis(0), Vector.basis(1)]
    x = GramVector(entries)
    assert x.shape == (2, SIZES["dimension"], 1)
    mean = x.mean(0)
    assert sq(mean).entries[0] == GramForm(
        {(0, 0): Fraction(1, 4), (0, 1): Fraction(1, 2), (1, 1): Fraction(1, 4)}
    )
    mask = torch.tensor([1.0, 0.0])[:, None, None]
    assert torch.where(mask > 0, x, torch.zeros_like(x)).entries[1, 0, 0] == Vector()
    kept = x.clone()
    kept -= x
    assert kept.entries[0, 0, 0] == Vector()
    assert x.entries[0, 0, 0] == Vector.basis(0)
    third = torch.full((1, 1, 1), 1 / 3, dtype=torch.float64)
    assert (x * third).entries[0, 0, 0].coefficients == {0: Fraction(1, 3)}
    assert torch.stack([x, x]).shape == (2, 2, SIZES["dimension"], 1)
    assert torch.cat([x, x]).shape == (4, SIZES["dimension"], 1)
    assert x[:1].expand_as(x).entries[1, 0, 0] == Vector.basis(0)
    assert bool(GramForms.of(0.5) < 1)


@pytest.mark.parametrize(("right", "verdict"), [(0.02, "REFUTED"), (0.04, "SUPPORTED")])
def test_the_smallest_moment_of_a_run_is_compared_alone(right, verdict):
    """‖∇F‖²/8 falls from ½ by a factor ¼ a step: ½, ⅛, 1/32; also in balls."""
    problem = PiecewiseLosses(clients=1, gradients=((((-9.0, -11.0), (9.0, 7.0)),),))

    @bound(
        name="tests/smallest",
        source="tests",
        statement="x",
        right=lambda c: right + 0 * c.T,
        cases=[Case(problem, FedAvg(step_size=0.5), 3)],
    )
    def best(view):
        return smallest("round", sq(view.gradient(view.mean("w"))) / 8)

    row = judged(best, best.forms[0], best.cases[0], 0)
    assert row.verdict.value == verdict
    assert row.evidence.value == ("enclosed" if verdict == "REFUTED" else "exact")


def test_the_loss_of_one_function_is_that_of_every_client():
    """Of ``at(i)``, whichever way an algorithm asks for it."""
    whole = FunctionClassProblem(
        conditions=(smooth_strongly_convex(1, 0.1), start_within(1)), clients=2
    )
    x = whole.unknown_start.expand(2, -1, -1)
    one = whole.oracles(torch.float64).at(1)
    asked = [*one.mean_loss(x).entries.flat, *one.batch_loss(x, None).entries.flat]
    its, other = (whole.asked.value(k, whole.asked.start) + whole.asked.at_star(k) for k in (1, 0))
    assert set(asked) == {its} != {other}


def test_a_recursion_with_room_is_proved_where_no_multiplier_has_room():
    """S is 0 along a run on quadratics of curvature μ, whatever the multipliers are."""

    def rise(view):
        if not view.last:
            return None
        before = sq(view.round_start("w") - view.minimiser)
        return each("round", "local_step", sq(view.mean("w") - view.minimiser) - 0.95**6 * before)

    functions = [smooth_strongly_convex(L=1, mu=0.1), similar(zeta=1)]
    method = FedAvg(local_steps=3, step_size=0.5)
    (case,) = build(method, functions, rounds=1, left=rise, clients=2)
    assert 0.2298 < certify(case, at_most=Fraction(23, 100)).bound <= Fraction(23, 100)
