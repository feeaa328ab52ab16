"""Law: every declared constant, mean and variance of every problem holds, and resists an attack."""

import dataclasses
from functools import cache
from math import exp, log1p

import numpy as np
import pytest
import torch

from driftproof.synthetic.attacks.scores import Scores
from driftproof.synthetic.attacks.search import attack
from driftproof.synthetic.building_blocks.losses import LOSSES
from driftproof.synthetic.problems import (
    KLDRO,
    MAML,
    AnalyticMAML,
    BoundedComposition,
    LogisticBilevel,
    PenalisedDRO,
)
from driftproof.toolkit.constants import MODULI, ROLES, split
from driftproof.toolkit.errors import DriftproofError
from tests.leaves import problems
from tests.unreached import REACHED, REASONS

ROUNDING = 1e-6  # of difference quotients


SHARP = 0.97
SEEDS = range(4)


@cache
def reached(problem, role):
    """How closely the best of a few searches comes; one is enough where it comes close."""
    first = attack(problem, role)
    if first >= SHARP:
        return first
    return max(first, *(attack(problem, role, seed=seed) for seed in SEEDS[1:]))


def number(problem):
    return [str(member) for member in type(problem).examples()].index(str(problem))


@pytest.mark.parametrize("problem", problems())
def test_no_constant_is_exceeded_and_each_is_reached_or_in_the_table(problem):
    """So a constant that is a few percent too small is noticed, whether it is sharp or not.

    What is not in the table of ``tests.unreached`` is reached to 0.97: then a constant that is 5 %
    too small is exceeded. What is in the table is reached as far as it says, to 2 %: a change of
    the constant changes that too, and has to be explained.
    """
    for role in problem.constants:
        assert role in ROLES, f"{role} has no meaning in driftproof.toolkit.constants"
        assert hasattr(Scores, role), f"{role} has no attack in driftproof.synthetic.attacks.scores"
        listed = REACHED.get((problem.leaf_name, role), {}).get(number(problem))
        closeness = reached(problem, role)
        if listed is None:
            assert SHARP <= closeness <= 1 + ROUNDING, role
        else:
            assert closeness < SHARP, f"{role} is reached: take it out of tests.unreached"
            assert closeness == pytest.approx(listed, rel=0.02), role


def test_the_table_names_constants_that_there_are():
    known = {
        (member.leaf_name, role, number(member))
        for param in problems()
        for member in param.values
        for role in member.constants
    }
    assert {(*key, k) for key, row in REACHED.items() for k in row} <= known
    assert {name for name, _ in REACHED} == set(REASONS)


@pytest.mark.parametrize(
    ("problem", "role"),
    [
        (KLDRO.examples()[0], "objective_smoothness"),
        (LogisticBilevel.examples()[0], "objective_smoothness"),
        (PenalisedDRO.examples()[0], "inner_gradient_heterogeneity"),
        (AnalyticMAML.examples()[0], "objective_smoothness"),
        (MAML.examples()[0], "outer_gradient_bound"),
    ],
)
def test_five_percent_are_noticed(problem, role):
    """Negative control: such a constant leaves the table, or is exceeded."""
    smaller = dict(problem.constants)
    smaller[role] *= 0.95
    shrunk = type(problem)(**problem.values())
    object.__setattr__(shrunk, "__class__", _with_constants(type(problem), smaller))
    listed = REACHED.get((problem.leaf_name, role), {}).get(number(problem))
    closeness = reached.__wrapped__(shrunk, role)  # its fields are those of the true one
    if listed is None:
        assert closeness > 1 + ROUNDING
    else:
        assert closeness != pytest.approx(listed, rel=0.02)


@pytest.mark.parametrize("problem", problems())
def test_a_constant_that_is_too_small_is_found_out(problem):
    """Negative control: halve what the attack found to be nearly attained, and it must object.

    Of a family's members with such a constant the first does: the search is the same.
    """
    before = type(problem).examples()[: number(problem)]
    for role in problem.constants:
        if not nearly_attained(problem, role) or any(nearly_attained(p, role) for p in before):
            continue
        wrong = dict(problem.constants)
        wrong[role] *= 2 if role in MODULI else 0.5
        shrunk = type(problem)(**problem.values())
        object.__setattr__(shrunk, "__class__", _with_constants(type(problem), wrong))
        assert attack(shrunk, role) > 1 + ROUNDING, role


def nearly_attained(problem, role):
    return problem.constants.get(role, 0) != 0 and reached(problem, role) >= 0.6


def _with_constants(cls, constants):
    return type(cls.__name__, (cls,), {"constants": property(lambda self: constants)})


@pytest.mark.parametrize("problem", problems())
@pytest.mark.parametrize("law", ["field_law", "inner_law", "outer_law", "plain_law"])
def test_a_minibatch_divides_the_variance_by_its_size(problem, law):
    oracles = problem.oracles(torch.float64)
    if not hasattr(oracles, law) or getattr(problem, "form", "") == "log":
        return  # whole batches only
    one, four = getattr(oracles, law)(1), getattr(oracles, law)(4)
    assert (one is None) == (four is None)
    if one is None or not hasattr(one, "batch") or hasattr(one, "samples"):
        return  # sample numbers: the mean over the drawn rows is tested with the oracles
    (v1, p1), (v4, p4) = one.support(0), four.support(0)
    assert (v4**2 * p4).sum() == pytest.approx((v1**2 * p1).sum() / 4)


def test_declared_constants_follow_the_parameters():
    base = BoundedComposition(inner_curvature=0.5, inner_gradient_noise=0.1)
    for field, role in (
        ("outer_curvature", "outer_smoothness"),
        ("outer_slope", "outer_gradient_bound"),
        ("inner_curvature", "inner_smoothness"),
        ("inner_slope", "inner_gradient_bound"),
        ("inner_gradient_noise", "inner_gradient_noise"),
    ):
        sizes = []
        for factor in (1e-4, 1.0, 1e4):
            moved = dataclasses.replace(base, **{field: getattr(base, field) * factor})
            sizes.append(moved.constants[role])
            assert attack(moved, role) <= 1 + ROUNDING
        assert sizes[0] < sizes[1] < sizes[2]


@pytest.mark.parametrize("value", [None, "2*L_F", True, [1.0]])
def test_a_right_side_that_is_no_expression_is_told(value):
    with pytest.raises(DriftproofError) as caught:
        split(value)
    assert f"right(c) returned {value!r}" in str(caught.value)
    assert split(np.float64(0.5))[0] == 0.5


def test_the_constants_of_the_robust_forms_are_the_formulas_of_their_file():
    """Attacks cannot tell a bound that is loose from one that is a little looser."""
    base = {"clients": 3, "samples": 4, "temperature": 0.7, "feature_bound": 1.3, "ball": 0.9}
    reach, gamma, r = 1.3 * 0.9, 0.7, 1.3
    low, high = log1p(exp(-reach)), log1p(exp(reach))
    slope, bend = r / (1 + exp(-reach)), r**2 / 4
    top = exp(high / gamma)
    wanted = {
        "log": (
            top * slope / gamma,
            top * (bend / gamma + slope**2 / gamma**2),
            gamma * exp(-low / gamma),
            gamma * exp(-2 * low / gamma),
            bend + slope**2 / gamma,
        ),
        "exp": (
            slope,
            bend,
            top / gamma,
            top / gamma**2,
            top * (bend / gamma + slope**2 / gamma**2),
        ),
    }
    names = (
        "inner_gradient_bound",
        "inner_smoothness",
        "outer_gradient_bound",
        "outer_smoothness",
        "objective_smoothness",
    )
    for form, values in wanted.items():
        constants = KLDRO(form=form, **base).constants
        for name, value in zip(names, values, strict=True):
            assert constants[name] == pytest.approx(value), (form, name)
    assert KLDRO(form="average", **base).constants["objective_smoothness"] == pytest.approx(bend)


def test_losses_attain_their_slope_and_curvature():
    softmax, logistic = LOSSES["softmax"], LOSSES["logistic"]
    assert logistic.range(2.0) == pytest.approx((log1p(exp(-2)), log1p(exp(2))))
    p = np.array([0.5, 0.5, 0.0])
    hessian = np.diag(p) - np.outer(p, p)
    assert softmax.curvature(9.0) == pytest.approx(np.linalg.eigvalsh(hessian).max())
    wrong = np.linalg.norm(np.array([1.0, 0, 0]) - np.array([0, 1.0, 0]))
    assert softmax.slope(9.0) == pytest.approx(wrong)
