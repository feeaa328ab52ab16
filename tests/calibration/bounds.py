"""Bounds with known truth: exact ones, sampled ones, and one-step ones given sampled pasts.

Each family has a right side that the left one attains; δ of it is added, so that the statement is
true for δ ≥ 0 and false for δ < 0, at sizes from 1e-12 to 1e6.
"""

import numpy as np
import sympy

from driftproof.toolkit.measure import each, given_past, sq
from tests.calibration.line import Line, verdict
from tests.calibration.table import Judged

LARGE = 1e4
"""What is added and taken off again, so that most digits cancel."""
LONG = 13
"""Steps whose signs have more outcomes than are enumerated."""


def _margin(random, smallest):
    """Return δ: 0 in a third of all cases, else of either sign, from 10^smallest to 0.9."""
    size = min(0.9, 10 ** random.uniform(smallest, 0))
    return float(random.choice([0.0, size, -size]))


def _measured(value):
    """Take a value of x after each step; |x|² before it is measured beside it."""
    return lambda view: each("transition", value(view.mean("w")), before=sq(view.before.w.mean(0)))


def _grown(right, delta):
    """Return a right side that is not negative, 1 + δ times as large."""
    if delta == 0:
        return right
    return lambda c: sympy.Float(1 + delta, 30) * right(c)


def exact(statements, seed=0):
    """Judge bounds on runs without noise: tight, tiny, cancelling, with starts of any sign."""
    random = np.random.default_rng([seed, 1])
    for number in range(statements):
        at = float(random.choice([-1, 1]) * 10 ** random.uniform(-12, 6))
        delta = _margin(random, -9)
        curvature = float(random.choice([0.5, 1.0, 3.0, 7.0]))
        step_size = float(random.choice([1e-12, 1e-6, 0.01, 0.1]))
        steps, name = 1, list(EXACT)[number % len(EXACT)]
        if name == "the recursion of a square":
            steps = int(random.integers(1, 6))
        elif name == "a difference of large numbers":
            at = float(random.choice([-1, 1]) * random.uniform(0.1, 1))
        elif name == "both sides 0 at ηL = 1":
            step_size = float(random.choice([0.1, 0.3, 0.7, 1e-6]))
            curvature, delta = 1 / step_size, 0.0
        value, right = EXACT[name]
        reached = verdict(
            Line(curvature=curvature, at=at),
            step_size,
            steps,
            _measured(value),
            _grown(right, delta),
            range=lambda c: 10 * (1 + c.x_0**2),
        )
        yield Judged(f"{name}, δ = {delta:.3g}, x_0 = {at:.3g}", delta >= 0, reached)


def _recursion(c):
    return (1 - c.eta * c.L) ** 2 * c.measured("before")


EXACT = {
    "a square at its closed form": (sq, lambda c: (1 - c.eta * c.L) ** 2 * c.x_0**2),
    "the size of a start of any sign": (
        lambda x: x.abs().sum(0),
        lambda c: sympy.Abs(1 - c.eta * c.L) * sympy.Abs(c.x_0),
    ),
    "a difference of large numbers": (
        lambda x: (2 + x + LARGE).sum(0) - LARGE,
        lambda c: 2 + (1 - c.eta * c.L) * c.x_0,
    ),
    "both sides 0 at ηL = 1": (sq, lambda c: (1 - c.eta * c.L) * c.measured("before")),
    "the recursion of a square": (sq, _recursion),
}
"""What is measured of x after a step, and a right side that it attains."""


def _moment(c):
    """Return E x_t² after LONG steps."""
    kept = (1 - c.eta * c.L) ** 2
    return kept**LONG * c.x_0**2 + c.eta**2 * c.sigma**2 * sum(kept**j for j in range(LONG))


def _largest(c):
    """Return the most that x_t² can be after LONG steps; before them, only 0 is measured."""
    kept = 1 - c.eta * c.L
    far = kept**LONG * sympy.Abs(c.x_0) + c.eta * c.sigma * sum(kept**j for j in range(LONG))
    return far**2


def _widest(c):
    """Return more than a square can be after any step."""
    return (sympy.Abs(c.x_0) + c.eta * c.sigma * LONG) ** 2


def sampled(statements, seed=0):
    """Judge means of sampled replicates, and equalities that hold almost surely."""
    random = np.random.default_rng([seed, 2])
    for number in range(statements):
        size = 10 ** random.uniform(-8, 4)
        member = Line(at=float(random.choice([-1, 1])) * size, noise=size)
        delta = _margin(random, -0.7)
        if number % 3:
            what = "E x_T² at its closed form"
            reached = verdict(
                member, 0.1, LONG + 1, _last_square, _grown(_moment, delta), range=_largest
            )
        else:  # w̄ after a step is w̄ − ηu, so the squares of both are equal
            what, delta = "an equality that holds almost surely", min(delta, 0.0)
            reached = verdict(
                member,
                0.1,
                LONG + 1,
                _residual,
                _less(delta),
                range=lambda c: (-_widest(c), _widest(c)),
            )
        truth = delta >= 0
        yield Judged(f"{what}, δ = {delta:.3g}, size {size:.3g}", truth, reached)


def _last_square(view):
    """Measure x_t² as the last round begins (and anything, E x_0² say, where that is less)."""
    x = view.round_start("w")
    return each("round", sq(x) if view.round == LONG else 0 * sq(x))


def _residual(view):
    moved = view.mean("w") - view.before.w.mean(0) + 0.1 * view.mean("u")
    before = view.before.w.mean(0)
    return each("transition", sq(moved + before) - sq(before))


def given_pasts(statements, seed=0):
    """Judge one-step inequalities in total expectation where pasts have to be sampled.

    Half of them are broken, or nearly, by rare pasts alone: those in which the first j signs agree.
    """
    random = np.random.default_rng([seed, 3])
    for number in range(statements):
        member = Line(at=0.0, noise=10 ** random.uniform(-6, 3))
        delta = _margin(random, -1)
        rare = int(random.integers(2, 13)) if number % 2 else 0
        if rare:
            left, right, largest = _rare_pasts(rare, member.noise), _rarely(rare), _one
        else:
            left, right, largest = _next_square, _more_noise(delta), _twice_the_noise
        reached = verdict(
            member, 0.1, LONG, left, _grown(right, delta) if rare else right, range=largest
        )
        yield Judged(f"{rare} first signs agree, δ = {delta:.3g}", delta >= 0, reached)


def _less(delta):
    return lambda c: sympy.Float(1e-3 * delta, 30) * c.sigma**2


def _rarely(count):
    return lambda c: sympy.Rational(1, 2**count) + 0 * c.eta


def _one(c):
    return 1 + 0 * c.eta


def _more_noise(delta):
    """Return E x_{t+1}² given x_t, with 1 + δ times the noise's part."""
    grown = sympy.Float(1 + delta, 30)
    return lambda c: (1 - c.eta * c.L) ** 2 * c.measured("before") + grown * c.eta**2 * c.sigma**2


def _twice_the_noise(c):
    return 2 * c.eta**2 * c.sigma**2


def _next_square(view):
    """Measure E x_{t+1}² and x_t² given the past."""
    return given_past(sq(view.mean("w")), before=sq(view.before.w.mean(0)))


def _rare_pasts(count, noise):
    """Measure 1 where the first ``count`` steps all went up, at the step after them; else 0."""
    reached = sum(0.1 * noise * 0.9**j for j in range(count))

    def left(view):
        before = view.before.w.mean(0)
        up = (before.sum(0) >= reached * (1 - 1e-9)).to(before)
        return given_past(up if view.t == count else 0 * up)

    return left
