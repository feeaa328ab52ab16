"""A step is decided on the domain of its letters; what is argued, or absent, decides nothing."""

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from sympy import Abs, Max, Piecewise, Rational, Symbol, exp, log, sqrt

from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers.algebra import conditioned
from driftproof.verifiers.algebra.domains import domain_in_words, points
from driftproof.verifiers.algebra.fractions import is_zero_fraction
from driftproof.verifiers.algebra.symbolic import (
    Step,
    argued,
    computed,
    convex_with_minimum,
    differs,
    finite_limit,
    nonnegative,
    vanishes,
)
from driftproof.verifiers.judges import proofs

CLAIM = leaves("claim")["comfedl/lemma-1-proof-v1"].load()
p, r, bare = Symbol("p", positive=True), Symbol("r", real=True), Symbol("x")


def row(*steps):
    return proofs.judge(CLAIM, CLAIM.forms[0], list(steps))


def test_a_root_of_a_square_depends_on_the_domain():
    for x in (r, bare):
        step = vanishes(sqrt(x**2, evaluate=False) - x, "")
        assert step.holds is False
        assert "= -" in step.why
    step = vanishes(sqrt(p**2, evaluate=False) - p, "")
    assert step.holds is True
    assert "for all p > 0" in step.why


def test_a_case_distinction_is_tried_on_both_sides_of_its_boundary():
    wrong = Piecewise((0, p < Rational(1, 1000)), (p, True))
    assert vanishes(wrong - p, "").holds is False
    tiny = Piecewise((0, p < Rational(1, 10**20)), (p, True))
    assert vanishes(tiny - p, "").holds is False
    assert nonnegative(Piecewise((-1, r**2 < Rational(1, 10**12)), (r**2, True)), "").holds is False
    jump = Piecewise((p - 1 - log(p) - 5, p < Rational(1, 10**20)), (p - 1 - log(p), True))
    smooth = convex_with_minimum(p - 1 - log(p), p, 1, 0, "")
    assert smooth.holds is True
    assert convex_with_minimum(jump, p, 1, 0, "").holds is not True


def test_larger_and_sizes_have_boundaries_too():
    assert vanishes(Max(p, 7) - p, "").holds is False
    assert vanishes(Abs(r - 3) - (r - 3), "").holds is False
    assert nonnegative(p - Rational(1, 10**6), "").holds is False
    assert nonnegative(10**3 - p, "").holds is False


def test_logarithms_are_expanded_only_where_that_is_valid():
    assert vanishes(log(p**2) - 2 * log(p), "").holds is True
    assert vanishes(log(r**2) - 2 * log(r), "").holds is not True


def test_a_difference_counts_whatever_its_size_and_cancellation_does_not():
    assert vanishes(p * (1 + Rational(1, 10**40)) - p, "").holds is False
    assert vanishes(Rational(1, 10**50) * p, "").holds is False
    power = Symbol("n", positive=True)
    # terms of 10^7000 cancel at some of the points: what is left there is rounding
    identity = (1 - 4 * p) ** power * (p + 1) - (1 - 4 * p) ** power * p - (1 - 4 * p) ** power
    assert vanishes(identity, "").holds is True


def test_a_part_that_is_zero_does_not_hide_a_difference():
    """(−2x − t)/a + (2x + t)/a is 0 at every point, and the whole is not."""
    x, t, a = sympy.symbols("x t a", positive=True)
    part = (-2 * x - t) / (2 * a) + (2 * x + t) / (2 * a)
    assert vanishes((t + 1) * part + t / (4 * a), "").holds is False
    assert (
        conditioned.value((t + 1) * part, {x: sympy.Integer(2), t: Rational(3, 7), a: x / x}) == 0
    )


@pytest.mark.parametrize(
    "expression",
    [
        exp(10 * p) - exp(5 * p) ** 2,
        log(1 + p**2) / 3 - log((1 + p**2) ** Rational(1, 3)),
        (1 + p) ** p - exp(p * log(1 + p)),
        sympy.sin(p) ** 2 + sympy.cos(p) ** 2 - 1,
        1 / (p - 3) - (p + 3) / (p**2 - 9),
        sqrt(p + 1) - (p + 1) / sqrt(p + 1),
    ],
)
def test_rounding_is_not_taken_for_a_difference(expression):
    """Each is 0 for every p: what is computed is rounding, at whatever size."""
    for point in points(expression + p + 1):
        assert conditioned.value(expression, point) in (0, None)
        if point[p] < 10:  # beyond, the terms of some are larger than 10^400
            assert conditioned.value(expression + Rational(1, 10**30) * p, point) != 0


def test_points_go_to_the_ends_of_the_domain():
    tried = [point[r] for point in points(r + 0)]
    assert min(tried) < -1000
    assert max(tried) > 1000
    assert 0 in tried
    assert any(0 < abs(v) < 1e-6 for v in tried)
    assert all(point[p] > 0 for point in points(p + 0))
    assert all(point[bare] < 1 for point in points(bare + 0, [bare < 1]))
    with pytest.raises(DriftproofError, match="stand for real numbers"):
        next(points(Symbol("z", imaginary=True) + 0))
    assert domain_in_words(p + r) == "p > 0; r real"


def test_a_condition_narrows_the_domain():
    assert nonnegative(1 - p, "").holds is False
    assert nonnegative(1 - p, "", where=[p < 1]).holds is None  # no witness, and no proof


def test_limits_and_differences_are_computed():
    assert finite_limit((p + 1) / p, p, sympy.oo, "", "it").holds is True
    assert finite_limit(exp(p) / p, p, sympy.oo, "", "it").holds is False
    assert differs(p**2 - p, "").holds is True
    assert differs((p + 1) ** 2 - p**2 - 2 * p - 1, "").holds is False


def test_a_proof_without_steps_is_refused():
    with pytest.raises(DriftproofError, match="returned no steps"):
        row()


def test_argued_steps_decide_nothing_alone_and_are_shown_as_such():
    proved = vanishes(p - p, "")
    assert row(argued("s", "by Jensen")).verdict is Verdict.INCONCLUSIVE
    assert row(Step("1 = 2", True, "obvious")).verdict is Verdict.INCONCLUSIVE
    assert row(argued("s", "an example", holds=False), proved).verdict is Verdict.INCONCLUSIVE
    assert row(proved).series.steps == [["", True, proved.why]]
    left_open = computed("s", None, "open: no sign was found")
    assert row(left_open).series.steps == [["s", None, "open: no sign was found"]]
    failed = row(argued("s", "an example", holds=False))
    assert failed.reason.endswith("fails by an argument, not by a computation: an example")
    assert failed.series.steps == [["s", False, "argued, not computed: an example"]]
    mixed = row(argued("s", "by Jensen"), proved)
    assert mixed.verdict is Verdict.SUPPORTED
    assert mixed.series.steps[0][2] == "argued, not computed: by Jensen"
    assert row(argued("s", "by Jensen"), computed("t", False, "w")).verdict is Verdict.REFUTED


def test_a_limit_is_taken_from_every_side_that_the_domain_has():
    both = finite_limit(exp(-1 / r), r, 0, "", "it")
    assert both.holds is False
    assert "to 0 as r → 0⁺ and to oo as r → 0⁻" in both.why
    assert finite_limit(exp(-1 / p), p, 0, "", "it").holds is True
    below = Symbol("b", negative=True)
    assert finite_limit(exp(-1 / below), below, 0, "", "it").holds is False
    assert finite_limit(exp(1 / below), below, 0, "", "it").holds is True
    assert finite_limit(exp(-1 / (p - 2)), p, 2, "", "it").holds is False  # inside p > 0
    assert finite_limit(exp(r), r, -sympy.oo, "", "it").holds is True


def test_a_limit_that_is_not_known_to_be_finite_or_outside_the_domain_is_open():
    unknown = finite_limit(bare + 1 / p, p, sympy.oo, "", "it")
    assert unknown.holds is None
    assert "open" in unknown.why
    z = Symbol("z", positive=True)
    assert "is not known" in finite_limit(p ** (z - 1), p, 0, "", "it").why
    for at in (-1, -sympy.oo, bare):
        assert finite_limit(p, p, at, "", "it").holds is None


def test_a_minimum_has_to_be_in_the_domain():
    e = Rational(1, 10**10)
    assert convex_with_minimum(p**3 / 6 - e**2 * p / 2, p, -e, e**3 / 3, "").holds is None
    a, q = Symbol("a", positive=True), Symbol("q")
    assert convex_with_minimum((p - a) ** 2, p, a, 0, "").holds is True
    assert convex_with_minimum((p - q) ** 2, p, q, 0, "").holds is None  # q may be below 0


def test_a_point_that_is_not_stationary_is_no_minimum():
    """Below 0 between two roots that are so close that no point is tried there."""
    a, gap = Rational(17, 5), Rational(1, 10**12)
    assert convex_with_minimum((p - a) * (p - a - gap), p, a, 0, "").holds is None
    assert convex_with_minimum((p - a) ** 2, p, a, 0, "").holds is True


@pytest.mark.parametrize(
    ("assumed", "fits", "told"),
    [
        ({"even": True, "positive": True}, lambda v: v % 2 == 0 < v, "even and positive"),
        ({"odd": True}, lambda v: v % 2 == 1, "odd"),
        ({"prime": True}, sympy.isprime, "prime"),
        ({"integer": False, "real": True}, lambda v: not v.is_integer, "not integer and real"),
        (
            {"integer": True, "negative": True},
            lambda v: v.is_integer and v < 0,
            "integer and negative",
        ),
        ({"real": True, "zero": False}, lambda v: v != 0, "real and not zero"),
        ({"extended_positive": True}, lambda v: v > 0, "extended positive"),
    ],
)
def test_points_meet_all_that_a_letter_assumes(assumed, fits, told):
    m, other = Symbol("m", **assumed), Symbol("k", **assumed)
    tried = list(points(m + other))
    assert tried
    assert all(fits(point[s]) for point in tried for s in (m, other))
    assert domain_in_words(m + other) == f"k, m {told}"


def test_an_even_number_is_2_at_least():
    m = Symbol("m", even=True, positive=True)
    assert nonnegative(m - 2, "").holds is True
    assert nonnegative(m - 3, "").holds is False


def test_coefficients_of_matrices_are_simplified():
    a, b = sympy.symbols("A B", commutative=False)
    root = sqrt(3 + 2 * sqrt(2)) - 1 - sqrt(2)  # it is 0
    assert vanishes(root * a, "").holds is not False
    assert vanishes(root * a + (sqrt(p**2, evaluate=False) - p) * a * b, "").holds is not False
    assert vanishes((sqrt(r**2, evaluate=False) - r) * a * b, "").holds is False
    assert vanishes(a * b - b * a, "").holds is False
    assert vanishes((a + b) ** 2 - a**2 - a * b - b * a - b**2, "").holds is True
    assert vanishes(sympy.sin(a) * b, "").holds is None


A, B, STEPS = Symbol("a", positive=True), Symbol("b", positive=True), Symbol("I", integer=True)
LETTERS = st.sampled_from([A, B, log(A), exp(-B), (A / B) ** STEPS, A ** (STEPS - 1)])
FRACTIONS = st.recursive(
    LETTERS | st.integers(-3, 3).map(sympy.Integer),
    lambda part: st.one_of(
        st.tuples(part, part).map(lambda xs: xs[0] + xs[1]),
        st.tuples(part, part).map(lambda xs: xs[0] * xs[1]),
        part.map(lambda x: x / (1 + A + B)),
        part.map(lambda x: x**2),
    ),
    max_leaves=6,
)


@given(FRACTIONS, FRACTIONS)
def test_a_fraction_is_0_as_it_is_written_in_whatever_way_and_not_with_something_added(x, y):
    difference = (x + y) * (x - y) - x**2 + y**2
    assert is_zero_fraction(difference)
    assert not is_zero_fraction(difference + exp(A) / (1 + B))
    if is_zero_fraction(x - y):
        assert (x - y).subs({A: Rational(3, 7), B: Rational(5, 2), STEPS: 2}).equals(0)


@pytest.mark.parametrize(
    "expression",
    [
        sqrt(r**2) - r,
        log(p) - log(2 * p) + log(2),
        0.1 * p + 0.2 * p - 0.3 * p,
        sympy.zoo * p,
        sympy.oo - p,
        1 / sympy.Add(p, -p, evaluate=False),
        Abs(r) - r,
    ],
)
def test_of_what_is_no_fraction_of_polynomials_in_exact_numbers_nothing_is_said(expression):
    assert not is_zero_fraction(sympy.sympify(expression))


@pytest.mark.parametrize(
    "expression",
    [
        p ** (2 * r + 1) - p * (p**r) ** 2,
        exp(p + r) - exp(p) * exp(r),
        exp(3 * p) - exp(p) ** 3,
        p ** Rational(3, 2) - sqrt(p) ** 3,
        (1 - p) ** (bare - 1) * (1 - p) - (1 - p) ** bare,
        log(p) / (1 + log(p)) + 1 / (1 + log(p)) - 1,
    ],
)
def test_powers_roots_and_logarithms_are_letters_of_fractions(expression):
    assert is_zero_fraction(expression)


def test_convexity_on_both_sides_of_a_point_that_is_left_out_says_nothing_across_it():
    """x² + a/x² + x/100 is convex for x < 0 and for x > 0, and lower at −p."""
    x, at = sympy.Symbol("x", real=True, nonzero=True), sympy.Rational(7919, 6000)
    tilt = sympy.Rational(1, 10**8)
    bent = x**2 + at**3 * (2 * at + tilt) / (2 * x**2) + tilt * x
    step = convex_with_minimum(bent, x, at, bent.subs(x, at), "")
    assert step.holds is not True
