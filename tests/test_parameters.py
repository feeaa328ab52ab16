"""What the annotations of parameters say: refused values, signs, sweeps, users' own types."""

from __future__ import annotations

import math

import pytest

from driftproof.toolkit.algorithm import Algorithm, algorithm
from driftproof.toolkit.algorithms import GCIVR, ComFedL, FedIHGP, FedInn
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.parameters import Constraint, Positive, PositiveInt, constraints, sweep


def annotated():
    for kind in ("problem", "algorithm", "network", "split"):
        for leaf in leaves(kind).values():
            for name, constraint in constraints(leaf.load()).items():
                yield pytest.param(leaf.load(), name, constraint, id=f"{leaf.name}-{name}")


def outside(constraint):
    if constraint.choices:
        return ["no such word", None, 7]
    made = ["1", None, math.nan, math.inf, -math.inf]
    if constraint.integer:
        made += [True, constraint.low + 0.5]
    if constraint.low > -math.inf:
        made.append(constraint.low if constraint.above else constraint.low - 1)
    if constraint.high < math.inf:
        made.append(constraint.high if constraint.below else constraint.high + 1)
    return made


@pytest.mark.parametrize(("cls", "name", "constraint"), list(annotated()))
def test_a_value_outside_is_refused_and_named(cls, name, constraint):
    for value in outside(constraint):
        with pytest.raises(DriftproofError) as told:
            cls(**{name: value})
        assert told.value.got == f"{cls.__name__}: {name} = {value!r}"
        assert told.value.wanted == f"{name} {constraint.wanted}"
    assert constraint.allows(getattr(cls(), name))


@pytest.mark.parametrize("kind", ["problem", "algorithm", "network", "split"])
def test_every_parameter_of_a_leaf_says_what_it_may_be(kind):
    """But for nested tuples, a curve for each client say, of which ``validate`` asks the shape."""
    for leaf in leaves(kind).values():
        numbers = {n for n, v in leaf.load()().values().items() if not isinstance(v, tuple)}
        assert set(constraints(leaf.load())) == numbers, leaf.name


@pytest.mark.parametrize(
    ("constraint", "words", "sign"),
    [
        (Constraint(1, integer=True), "a whole number, 1 or more", "positive integer"),
        (Constraint(0, integer=True), "a whole number, 0 or more", "nonnegative integer"),
        (Constraint(integer=True), "a whole number", "integer"),
        (Constraint(0, above=True), "a finite number above 0", "positive"),
        (Constraint(0), "a finite number, 0 or more", "nonnegative"),
        (Constraint(), "a finite number", ""),
        (Constraint(0, 1, above=True), "in (0, 1]", "positive"),
        (Constraint(0, 1, below=True), "in [0, 1)", "nonnegative"),
        (Constraint(1, 1, why="one machine"), "1: one machine", "positive"),
        (Constraint(choices=("a", "b")), "one of 'a', 'b'", ""),
        (Constraint(choices=(False, True)), "True or False", ""),
    ],
)
def test_a_constraint_in_words_and_as_a_sign(constraint, words, sign):
    assert constraint.wanted == words
    assert constraint.sign == sign


def test_a_subclass_narrows_what_its_parent_allows():
    assert FedInn(terms=0).terms == 0
    with pytest.raises(DriftproofError, match="terms"):
        FedIHGP(terms=0)
    with pytest.raises(DriftproofError) as told:
        GCIVR(local_steps=2)
    assert told.value.wanted == "local_steps 1: clients share every step"
    with pytest.raises(DriftproofError, match="True or False"):
        FedInn(variance_reduced=1)


def test_members_of_a_sweep_are_checked_when_it_is_expanded():
    swept = ComFedL(step_size=sweep(0.1, -0.1), batch=0)
    with pytest.raises(DriftproofError, match="batch"):
        swept.expand()
    with pytest.raises(DriftproofError, match=r"step_size = -0\.1"):
        ComFedL(step_size=sweep(0.1, -0.1)).expand()


def test_a_users_own_types_are_not_checked():
    @algorithm(name="user/typed", source="a test", statement="w")
    class Typed(Algorithm):
        local_steps: PositiveInt = 1
        step_size: Positive = 0.1
        other: NotDefinedAnywhere = 3  # noqa: F821
        table: dict[str, int] | None = None

        init = step = lambda *_: None

    assert Typed(other="x", table={"a": 1}).required_signs == {
        "local_steps": "positive integer",
        "step_size": "positive",
    }
    with pytest.raises(DriftproofError, match="step_size"):
        Typed(step_size=0)
