"""Laws of the families that a search looks through: batches are their members, by second routes."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.optimize import brentq

from driftproof.synthetic.building_blocks.piecewise_levels import LevelMembers
from driftproof.synthetic.problems import (
    PiecewiseBilevel,
    PiecewiseComposition,
    PiecewiseLosses,
    PiecewiseMinimax,
)
from driftproof.toolkit.algorithms import (
    ComFedL,
    CompositionalFedAvg,
    FedAvg,
    FedAvgS,
    FedIHGP,
    FedInn,
    FedNest,
    FedOut,
    FedSVRG,
    StocBiO,
)
from driftproof.toolkit.at_optimum import OF_TWO_LEVELS, ends_on_two_levels
from driftproof.toolkit.cases import Assumption
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.measure import each, sq
from driftproof.verifiers.search.batched_space import BatchedSpace
from driftproof.verifiers.search.conditions import Conditions
from driftproof.verifiers.search.families import FAMILIES, family_for
from driftproof.verifiers.search.families.decoding import Rows
from driftproof.verifiers.search.search import spaces_of
from driftproof.verifiers.search.structure import Structure, with_values
from driftproof.verifiers.search.units import Climb, loaded
from driftproof.verifiers.verify import select

CANDIDATES = 5


def decoded(family, structure, seed=0):
    """Return a few candidates and their number of rows."""
    used = Rows(np.zeros((0, 1)), structure)
    family.parts(used, structure)
    z = np.random.default_rng(seed).normal(size=(used.used, CANDIDATES))
    return family.parts(Rows(z, structure), structure), used.used


def column(parts, k):
    return parts.changed(lambda x: x[..., k : k + 1])


def structure_of(name, random, **fixed):
    family = FAMILIES[name]
    inside = name == "piecewise-composition"
    problem = PiecewiseComposition(averaged_inside=True) if inside else PiecewiseBilevel()
    method = CompositionalFedAvg() if inside else FedInn()
    drawn = family.choices(method, problem, set()).draw(random, 20, 99)
    return replace(drawn, **fixed)


SHAPES = [(name, convex) for name, of in FAMILIES.items() for convex in {False, bool(of.convex)}]


@pytest.mark.parametrize(("name", "convex"), SHAPES)
@pytest.mark.parametrize("seed", range(4))
def test_a_batch_has_the_constants_of_its_members(name, convex, seed):
    family, random = FAMILIES[name], np.random.default_rng(seed)
    shape = {"plain": bool(seed % 2), "dim": 1 + seed // 2}
    structure = structure_of(name, random, **shape | (family.convex if convex else {}))
    parts, _ = decoded(family, structure, seed)
    roles = family.members(parts).roles(True, True)
    moduli = roles.get("field_monotonicity", roles.get("client_strong_convexity"))
    assert not convex or (moduli > 0).all()
    for k in range(CANDIDATES):
        member = family.member(column(parts, k), structure)
        given = dict(member.proven) | {"initial_gap": member.initial_gap[1]}
        given = {role: x for role, x in given.items() if np.isfinite(x)}  # F may have no infimum
        finite = {role for role, x in roles.items() if np.isfinite(x[k])}
        assert finite == set(given)
        for role in finite:
            gap = 1e-9 * max(1.0, member.constants.get("objective_smoothness", 1.0))
            if (
                role in OF_TWO_LEVELS
            ):  # of an x* that the two place by themselves, each with its error
                gap = max(gap, given[role] - float(ends_on_two_levels(member, -1)[role]))
            assert roles[role][k] == pytest.approx(given[role], rel=1e-7, abs=gap), role


RUNS = [
    ("piecewise-minimax", FedAvg(local_steps=2)),
    ("piecewise-minimax", FedSVRG(local_steps=2)),
    ("piecewise-minimax", FedAvgS(local_steps=2, order="alternating")),
    ("piecewise-minimax", FedNest(inner_steps=2, outer_steps=2, terms=2)),
    ("piecewise-bilevel", FedInn(inner_steps=3)),
    ("piecewise-bilevel", FedOut(outer_steps=2, terms=3, series="summed")),
    ("piecewise-bilevel", FedIHGP(terms=3)),
    ("piecewise-bilevel", StocBiO(inner_calls=2, terms=2)),
    ("piecewise-bilevel", StocBiO(series_step=0.2, inner_calls=2)),
]


def iterates(algorithm):
    def left(view):
        return each("round", sq(view.mean(algorithm.iterate)))

    return left


@pytest.mark.parametrize(("name", "algorithm"), RUNS)
def test_a_batch_runs_as_its_members_do(name, algorithm):
    """Step sizes too lie beside each other: a tensor in place of a number."""
    family, random = FAMILIES[name], np.random.default_rng(3)
    structure = structure_of(
        name,
        random,
        noises=FAMILIES[name].choices(algorithm, SimpleNamespace(offers=""), set()).noises,
        clients=2,
        coupled=True,
    )
    parts, _ = decoded(family, structure)
    real = [
        field
        for field in ("inner_step_size", "outer_step_size", "step_size", "series_step")
        if getattr(algorithm, field, 0)
    ]
    factors = np.linspace(0.01, 0.05, CANDIDATES)
    fields = {field: torch.from_numpy(getattr(algorithm, field) * factors) for field in real}
    members, copies = family.members(parts), sampled_context

    def taken(problem, method, words, count):
        context = copies(problem, (words,), replicates=count)
        return run(problem, method, context, rounds=3, left=iterates(algorithm), kernels=False)

    together = taken(members, with_values(algorithm, fields), "a", CANDIDATES).values
    for k in range(CANDIDATES):
        one = replace(algorithm, **{field: float(x[k]) for field, x in fields.items()})
        alone = taken(family.member(column(parts, k), structure), one, "a", CANDIDATES).values
        np.testing.assert_allclose(together[:, k], alone[:, k], rtol=1e-9, atol=1e-280)
    assert np.ptp(together[-1]) > 0


DRAWN = [("piecewise-minimax", PiecewiseMinimax), ("piecewise-bilevel", PiecewiseBilevel)]


@pytest.mark.parametrize(("name", "kind"), DRAWN)
@pytest.mark.parametrize("seed", range(4))
def test_the_lower_solution_and_f_by_a_second_route(name, kind, seed):
    """y* by scipy's root of the mean lower gradient, written out from the points of the curves."""
    random = np.random.default_rng(seed)
    convex = bool(FAMILIES[name].convex) and seed > 1
    structure = structure_of(
        name, random, dim=1, plain=True, coupled=bool(seed % 2), noises=(), knots=3, convex=convex
    )
    parts, _ = decoded(FAMILIES[name], structure, seed)
    problem = FAMILIES[name].member(column(parts, 0), structure)
    assert isinstance(problem, kind)

    def curve(points, x, linear):
        xs, ys = np.array(points).T
        inside = np.interp(x, xs, ys)
        if linear and x < xs[0]:
            inside += (ys[1] - ys[0]) / (xs[1] - xs[0]) * (x - xs[0])
        if linear and x > xs[-1]:
            inside += (ys[-1] - ys[-2]) / (xs[-1] - xs[-2]) * (x - xs[-1])
        return inside

    def mean(vectors):
        return np.mean(vectors) if vectors else 0.0

    def of(curves, x, linear=False):
        return np.mean([curve(row[0], x, linear) for row in curves])

    minimax = kind is PiecewiseMinimax

    def below(x, y):
        if minimax:
            return of(problem.lower, y, True) - mean(problem.coupling) * x
        return mean(problem.curvature) * y - mean(problem.cross) * x - mean(problem.offsets)

    size = 10 * (1 + abs(problem.solution.minimiser[0]))
    for x in np.linspace(-size, size, 9):
        y = brentq(lambda y, x=x: below(x, y), -1e9, 1e9, xtol=1e-14, rtol=1e-15)
        at = torch.tensor([[x]], dtype=torch.float64)
        assert float(problem.lower_solution(at)) == pytest.approx(y, rel=1e-7, abs=1e-7)
        slope = of(problem.plain, x, convex) + mean(problem.coupling) * y
        if not minimax:
            along_y = of(problem.upper, y) + mean(problem.coupling) * x
            slope += along_y * mean(problem.cross) / mean(problem.curvature)
        assert float(problem.gradient(at)) == pytest.approx(slope, rel=1e-6, abs=1e-6)
    grid = torch.linspace(-size, size, 20_001, dtype=torch.float64)[None]
    values = problem.objective(grid)
    assert float(values.min()) >= problem.solution.low - 1e-9 * abs(float(values.min()))
    slopes = (problem.gradient(grid)[:, 1:] - problem.gradient(grid)[:, :-1]) / grid.diff()
    assert float(slopes.abs().max()) <= problem.constants["objective_smoothness"] * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_every_candidate_is_bounded_below(seed):
    for name, _ in DRAWN:
        structure = structure_of(name, np.random.default_rng(seed))
        parts, _ = decoded(FAMILIES[name], structure, seed)
        assert np.isfinite(FAMILIES[name].members(parts).roles(True)["initial_gap"]).all()


def test_the_family_is_of_the_claims_kind_of_problem():
    bilevel, minimax = PiecewiseBilevel(), PiecewiseMinimax()
    losses = PiecewiseLosses()
    assert family_for(FedNest(), bilevel)[0].leaf_name == "piecewise-bilevel"
    assert family_for(FedNest(), minimax)[0].leaf_name == "piecewise-minimax"
    assert family_for(FedAvg(), minimax)[0].leaf_name == "piecewise-minimax"
    assert family_for(FedAvg(), losses)[0].leaf_name == "piecewise-losses"
    assert family_for(ComFedL(), losses)[0].leaf_name == "piecewise-composition"
    assert family_for(None, losses) == (None, "")


def test_only_the_variants_that_a_claim_names_are_searched():
    (source,) = select(["fednest/inner-drift-bound"])
    for space in spaces_of(loaded(source))[0]:
        structure = space.choices.draw(np.random.default_rng(0), 30, 99)
        climb = Climb(source, 0, structure, space.templates[0], 0)
        assert getattr(climb.space().algorithm, "variance_reduced", True)


def test_a_condition_on_numbers_is_asked_of_each_candidate():
    """fednest/inner-drift-bound assumes β‖∇²g_i‖ ≤ 1 by a function of the case."""
    stated = Assumption(
        "samples",
        "",
        applies=lambda case: (
            case.algorithm.inner_step_size * case.problem.constants["lower_sample_smoothness"] <= 1
            and case.rounds == 3
        ),
    )
    whole = Assumption("whole", "", applies=lambda case: case.problem.matrices is not None)
    numbers = {
        "inner_step_size": np.array([0.1, 1.0, 0.1]),
        "lower_sample_smoothness": np.array([9.0, 9.0, 11.0]),
    }
    conditions = Conditions([stated, whole], FedInn(), 3, numbers)
    assert conditions.read == set(numbers)
    assert conditions.broken(numbers, 3).tolist() == [0.0, 1.0, 1.0]
    only_last = conditions.broken(numbers, 3, np.array([False, False, True]))
    assert only_last.tolist() == [0.0, 0.0, 1.0]
    assert Conditions([stated], FedInn(), 2, numbers).broken(numbers, 3).tolist() == [1.0] * 3


def test_a_true_bound_is_attained_and_a_false_one_exceeded():
    """FedInn's drift: every candidate that is judged keeps the bound; "linear in τ" does not."""
    (source,) = select(["fednest/inner-drift-bound"])
    claim = loaded(source)
    forms = {form.key: form for form in claim.forms}
    true = next(form for key, form in forms.items() if "corrected" in key)
    linear = next(form for key, form in forms.items() if "linear in" in key)
    structure = Structure(
        "piecewise-bilevel", local_steps=3, knots=3, options=(("inner_steps", 3), ("terms", 0))
    )
    largest = []
    for form in (true, linear):
        space = BatchedSpace(claim, form, FedInn(), structure, 0)
        z = np.random.default_rng(0).normal(size=(space.size, 200))
        ratios = space.ratios(z)
        assert (ratios >= 0).all()
        largest.append(ratios.max())
    assert largest[0] == pytest.approx(1.0)
    assert largest[1] == pytest.approx(3.0, rel=0.01)


def test_the_oracles_of_many_members_need_a_replicate_each():
    parts, _ = decoded(FAMILIES["piecewise-minimax"], Structure("piecewise-minimax"))
    twice = LevelMembers(parts.repeated(2))
    assert (
        twice.roles(True)["initial_gap"].tolist()
        == np.repeat(LevelMembers(parts).roles(True)["initial_gap"], 2).tolist()
    )
    assert twice.oracles(torch.float64).lower_smoothness.shape == (2 * CANDIDATES,)
