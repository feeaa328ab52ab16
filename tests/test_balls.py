"""Each operation on balls contains the true value, of fractions exactly, else to 60 digits."""

from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest
import torch
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

import driftproof.toolkit.balls.linear
import driftproof.toolkit.balls.shapes  # noqa: F401 - it fills the table
import driftproof.toolkit.balls.tensor as tensor
from driftproof.toolkit.balls import Balls, RefusedError, Truths, precision
from driftproof.toolkit.balls.expressions import Sized, expression_in_balls
from driftproof.toolkit.balls.operations import power
from driftproof.toolkit.balls.tensor import HANDLERS, ball
from tests.differentiated import CASES, FUNCTIONS, TRANSFORMED

DIGITS = 60

RATIONAL = {
    "add": (torch.add, lambda a, b: a + b),
    "radd": (lambda a, b: 3 + b, lambda a, b: 3 + b),
    "add alpha": (lambda a, b: torch.add(a, b, alpha=0.5), lambda a, b: a + b / 2),
    "sub": (lambda a, b: a - b, lambda a, b: a - b),
    "sub alpha": (lambda a, b: torch.sub(a, b, alpha=3), lambda a, b: a - 3 * b),
    "rsub": (lambda a, b: 1 - b, lambda a, b: 1 - b),
    "mul": (torch.mul, lambda a, b: a * b),
    "div": (lambda a, b: a / (b * b + 1), lambda a, b: a / (b * b + 1)),
    "rdiv": (lambda a, b: 2 / (b * b + 1), lambda a, b: 2 / (b * b + 1)),
    "addcmul": (lambda a, b: torch.addcmul(a, a, b, value=0.25), lambda a, b: a + a * b / 4),
    "neg": (lambda a, b: -a, lambda a, b: -a),
    "abs": (lambda a, b: abs(a), lambda a, b: abs(a)),
    "pow": (lambda a, b: a**3, lambda a, b: a**3),
    "square": (lambda a, b: torch.square(a), lambda a, b: a * a),
    "reciprocal": (lambda a, b: (b * b + 1).reciprocal(), lambda a, b: 1 / (b * b + 1)),
    "maximum": (torch.maximum, np.maximum),
    "minimum": (torch.minimum, np.minimum),
    "clamp": (lambda a, b: a.clamp(-0.5, 0.25),
              lambda a, b: np.clip(a, Fraction(-1, 2), Fraction(1, 4))),
    "where <": (lambda a, b: torch.where(a < b, a, b), np.minimum),
    "where <=": (lambda a, b: torch.where(a <= b, a, b), np.minimum),
    "where >": (lambda a, b: torch.where(a > b, a, b), np.maximum),
    "where >=": (lambda a, b: torch.where(a >= b, a, b), np.maximum),
    "where ==": (lambda a, b: torch.where(a == b, 1 + 0 * a, a - b),
                 lambda a, b: np.where(a == b, Fraction(1), a - b)),
    "where !=": (lambda a, b: torch.where(a != b, a - b, 1 + 0 * a),
                 lambda a, b: np.where(a == b, Fraction(1), a - b)),
    "and, or, not": (lambda a, b: torch.where(((a < b) & ~(a < 0)) | (b < a), a, b),
                     lambda a, b: np.where(((a < b) & (a >= 0)) | (b < a), a, b)),
    "sum": (lambda a, b: a.sum(0), lambda a, b: a.sum(0)),
    "sum of all": (lambda a, b: a.sum(), lambda a, b: a.sum()),
    "mean": (lambda a, b: a.mean(1, keepdim=True), lambda a, b: a.sum(1, keepdims=True) / 2),
    "max": (lambda a, b: a.amax(0), lambda a, b: a.max(0)),
    "min": (lambda a, b: a.amin(0), lambda a, b: a.min(0)),
    "matmul": (lambda a, b: a @ b, lambda a, b: a @ b),
    "rmatmul": (lambda a, b: torch.eye(2, dtype=torch.float64) @ b, lambda a, b: b),
    "bmm": (lambda a, b: torch.bmm(a[None], b[None]), lambda a, b: (a @ b)[None]),
    "baddbmm": (lambda a, b: torch.baddbmm(a[None], a[None], b[None], beta=0.5, alpha=-1),
                lambda a, b: (a / 2 - a @ b)[None]),
    "einsum": (lambda a, b: torch.einsum("ij,kj->ik", a, b), lambda a, b: a @ b.T),
    "solve": (lambda a, b: torch.linalg.solve(_regular(a), b),
              lambda a, b: _inverse(_regular(a)) @ b),
    "solve, a vector": (lambda a, b: torch.linalg.solve(_regular(a), b[0]),
                        lambda a, b: _inverse(_regular(a)) @ b[0]),
    "in place": (lambda a, b: _changed(a, b), lambda a, b: np.stack([a[0] + b[0], a[1] * b[1]])),
}  # fmt: skip


def _regular(a):
    """Return a matrix with a determinant of at least 100."""
    return (
        a * (1 - np.eye(2, dtype=int)) + 20 * np.eye(2, dtype=int)
        if isinstance(a, np.ndarray)
        else a * (1 - torch.eye(2)) + 20 * torch.eye(2)
    )


def _inverse(a):
    (p, q), (r, s) = a
    return np.array([[s, -q], [-r, p]], dtype=object) / (p * s - q * r)


REAL = {
    "exp": (torch.exp, mpmath.exp),
    "expm1": (torch.expm1, lambda x: mpmath.exp(x) - 1),
    "log": (lambda a: torch.log(a * a + 1), lambda x: mpmath.log(x * x + 1)),
    "log1p": (lambda a: torch.log1p(a * a), lambda x: mpmath.log(1 + x * x)),
    "sin": (torch.sin, mpmath.sin),
    "cos": (torch.cos, mpmath.cos),
    "tanh": (torch.tanh, mpmath.tanh),
    "sinh": (torch.sinh, mpmath.sinh),
    "cosh": (torch.cosh, mpmath.cosh),
    "atan": (torch.atan, mpmath.atan),
    "erf": (torch.erf, mpmath.erf),
    "sqrt": (lambda a: (a * a).sqrt(), abs),
    "half power": (lambda a: (a * a + 1) ** 0.5, lambda x: mpmath.sqrt(x * x + 1)),
    "real power": (lambda a: (a * a + 1) ** 0.3, lambda x: mpmath.power(x * x + 1, 0.3)),
    "rpow": (lambda a: 2**a, lambda x: mpmath.power(2, x)),
    "sigmoid": (torch.sigmoid, lambda x: 1 / (1 + mpmath.exp(-x))),
    "softplus": (torch.nn.functional.softplus, lambda x: mpmath.log(1 + mpmath.exp(x))),
    "xlogy": (lambda a: torch.special.xlogy(a, a * a + 1), lambda x: x * mpmath.log(x * x + 1)),
}

FOLDED = {
    "norm": (
        lambda a: torch.linalg.vector_norm(a, dim=-1),
        lambda v: mpmath.sqrt(sum(x * x for x in v)),
    ),
    "norm, called otherwise": (
        lambda a: a.norm(dim=-1),
        lambda v: mpmath.sqrt(sum(x * x for x in v)),
    ),
    "softmax": (
        lambda a: torch.softmax(a, -1)[:, 0],
        lambda v: mpmath.exp(v[0]) / sum(map(mpmath.exp, v)),
    ),
    "logsumexp": (lambda a: torch.logsumexp(a, -1), lambda v: mpmath.log(sum(map(mpmath.exp, v)))),
}

SHAPES = {
    "slice": lambda x: x[:, 1:, ::2],
    "picked": lambda x: x[torch.tensor([1, 0])[:, None], torch.tensor([[0, 2], [1, 1]])],
    "put": lambda x: _put(x),
    "reshape": lambda x: x.reshape(3, 8),
    "flatten": lambda x: x.flatten(1, 2),
    "unflatten": lambda x: x.unflatten(-1, (2, 2)),
    "expand": lambda x: x[:, None].expand(-1, 5, -1, -1),
    "expand_as": lambda x: x[:1].expand_as(x),
    "permute": lambda x: x.permute(2, 0, 1),
    "transpose": lambda x: x.transpose(0, 2),
    "mT": lambda x: x.mT,
    "T": lambda x: x[0].T,
    "movedim": lambda x: torch.movedim(x, 0, 2),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "squeeze": lambda x: x[:1].squeeze(0),
    "stack": lambda x: torch.stack([x, x], 1),
    "cat": lambda x: torch.cat([x, x[:1]], 0),
    "pad": lambda x: torch.nn.functional.pad(x, (0, 0, 1, 2)),
    "repeat_interleave": lambda x: x.repeat_interleave(3, -1),
    "repeat": lambda x: x.repeat(2, 1, 1),
    "unbind": lambda x: torch.stack(list(x), 2),
    "gather": lambda x: x.gather(-1, torch.tensor([[[3], [0], [1]], [[2], [2], [0]]])),
    "scatter_add": lambda x: x.scatter_add(
        -1, torch.tensor([[[3, 3], [0, 1], [1, 1]], [[2, 0], [2, 2], [0, 3]]]), x[..., :2]
    ),
    "clone": lambda x: x.clone(),
    "same": lambda x: x.detach().double().cpu(),
    "to": lambda x: x.to(torch.float64),
    "zeros": lambda x: torch.zeros_like(x) + x.new_zeros((1, 1, 1)),
    "ones": lambda x: torch.ones_like(x) + x.new_ones((1,)),
    "full": lambda x: torch.full_like(x, 0.5) + x.new_full((1,), 2.0),
    "new_tensor": lambda x: x.new_tensor([1.0, 2.0]),
    "fill_": lambda x: x.clone().fill_(3.0),
}


def _changed(a, b):
    made = a.clone()
    made[:1] += b[:1]
    made[1].mul_(b[1])
    return made


def _put(x):
    made = x.clone()
    made[0, 1] = 7.0
    return made


doubles = st.floats(-4, 4).map(lambda x: round(x * 2**20) / 2**20)


@st.composite
def around(draw):
    """Balls [2, 2] of random radii, and a point of fractions inside each."""
    radius = draw(st.sampled_from([0.0, 1e-9, 0.01]))
    middles = [[draw(doubles) for _ in range(2)] for _ in range(2)]
    share = [[draw(st.integers(-8, 8)) for _ in range(2)] for _ in range(2)]
    balls = np.array([[arb(x, radius) for x in row] for row in middles], dtype=object)
    point = [
        [Fraction(x) + Fraction(radius) * s / 8 for x, s in zip(row, shares, strict=True)]
        for row, shares in zip(middles, share, strict=True)
    ]
    return Balls(balls), np.array(point, dtype=object)


def contained(made, true):
    """Say whether every ball contains the true value."""
    held, wanted = np.asarray(made.entries, dtype=object), np.asarray(true, dtype=object)
    assert held.shape == wanted.shape
    with precision(400):  # the values are then exact, or far more so than the balls
        return all(x.contains(_around(v)) for x, v in zip(held.flat, wanted.flat, strict=True))


def _around(value):
    """Return a fraction exactly; a number of mpmath's as its nearest, far inside any ball."""
    if isinstance(value, Fraction | int | float):
        return ball(Fraction(value))
    sign, mantissa, exponent, _ = mpmath.mpf(value)._mpf_
    return arb(-int(mantissa) if sign else int(mantissa)) * arb(2) ** int(exponent)


def _nearest(value):
    return value if isinstance(value, mpmath.mpf) else mpmath.mpf(value)


def _exact(fraction):
    return mpmath.mpf(fraction.numerator) / fraction.denominator


def rational_law(name, a, b):
    """An operation on balls contains the operation on any fractions inside them."""
    on_balls, on_fractions = RATIONAL[name]
    with precision(100):
        return contained(on_balls(a[0], b[0]), on_fractions(a[1], b[1]))


@pytest.mark.parametrize("name", RATIONAL)
@settings(max_examples=25, deadline=None)
@given(around(), around())
def test_rational_operations_contain_what_fractions_give(name, a, b):
    assert rational_law(name, a, b)


@pytest.mark.parametrize("name", REAL)
@settings(max_examples=25, deadline=None)
@given(around())
def test_functions_contain_what_mpmath_gives(name, a):
    on_balls, on_numbers = REAL[name]
    with precision(100), mpmath.workdps(DIGITS):
        true = [on_numbers(_exact(x)) for x in a[1].flat]
        assert contained(on_balls(a[0]), np.array(true, dtype=object).reshape(a[1].shape))


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4, 7, 10])
@pytest.mark.parametrize(("middle", "radius"), [(0, 1e-14), (1, 2), (-1, 1.5), (0, 3)])
def test_a_power_of_a_ball_around_0_is_one(middle, radius, exponent):
    raised, ball = power(arb(middle, radius), arb(exponent)), arb(middle, radius)
    ends = [ball.lower() ** exponent, ball.upper() ** exponent, arb(exponent == 0)]
    assert all(raised.contains(end) for end in ends)
    assert raised >= 0 or exponent % 2
    assert raised.rad() <= 2 * max(abs(end) for end in ends)


@pytest.mark.parametrize("name", FOLDED)
@settings(max_examples=25, deadline=None)
@given(around())
def test_norms_and_softmax_contain_what_mpmath_gives(name, a):
    on_balls, on_numbers = FOLDED[name]
    with precision(100), mpmath.workdps(DIGITS):
        true = [on_numbers([_exact(x) for x in row]) for row in a[1]]
        assert contained(on_balls(a[0]), true)


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_are_those_of_torch(name):
    x = torch.arange(24, dtype=torch.float64).reshape(2, 3, 4)
    made, wanted = SHAPES[name](Balls.of(x)), SHAPES[name](x)
    assert made.shape == wanted.shape
    assert torch.equal(made.middles, wanted)


@pytest.mark.parametrize("name", ["mul", "div", "exp"])
def test_a_ball_that_is_too_narrow_is_caught(name, monkeypatch):
    """Negative control: the operation rounds to a midpoint and forgets the radius."""
    sound = HANDLERS[name]
    forget = np.frompyfunc(lambda x: x.mid(), 1, 1)
    monkeypatch.setitem(HANDLERS, name, lambda *a: Balls(forget(sound(*a).entries)))
    third = Balls.of([[1.0, 3.0], [3.0, 1.0]]), np.array([[1, 3], [3, 1]], dtype=object)
    third = third[0] / 3.0 if name == "mul" else third[0], third[1] * Fraction(1, 1)
    if name == "exp":
        with precision(100), mpmath.workdps(DIGITS):
            true = [[mpmath.exp(1), mpmath.exp(3)], [mpmath.exp(3), mpmath.exp(1)]]
            assert not contained(torch.exp(third[0]), np.array(true, dtype=object))
    else:
        exact = third[1] / 3 if name == "mul" else third[1]
        assert not rational_law(name, (third[0], exact), (third[0], exact))


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # torch's jvp
def test_every_operation_in_the_table_is_tested(monkeypatch):
    """The cases above reach each function of the table, under one of its names at least."""
    reached = set()
    table = dict(HANDLERS)
    assert len(table) > 100
    for name, function in table.items():

        def spied(*args, _function=function, **named):
            reached.add(_function)
            return _function(*args, **named)

        monkeypatch.setitem(HANDLERS, name, spied)
    two = Balls.of([[1.0, 2.0], [3.0, 5.0]])
    wide = Balls(np.array([[arb(1, 2), arb(2)], [arb(3), arb(0)]], dtype=object))
    for check, _ in RATIONAL.values():
        check(two, two + 1)
        check(two, wide)
    for check, _ in (*REAL.values(), *FOLDED.values()):
        check(two)
    for check in SHAPES.values():
        check(Balls.of(torch.arange(24, dtype=torch.float64).reshape(2, 3, 4)))
    for name, how in CASES:
        TRANSFORMED[how](FUNCTIONS[name])(two)
    bool(two.sum()), torch.isfinite(two)
    missed = sorted(name for name, function in table.items() if function not in reached)
    assert not missed, missed


def test_the_reciprocal_of_a_norm_that_may_be_0_can_be_capped():
    """min(L, G/‖z‖) at ‖z‖ = 0 and near it, as in the gradient of Huber's function."""
    with precision(100):
        for near in (arb(0), arb(0, 1e-30)):
            norm = abs(Balls(np.array([near], dtype=object)))
            made = (2 * norm.reciprocal()).clamp(max=3.0)
            assert made.entries[0] == 3
        wide = abs(Balls(np.array([arb(0, 1)], dtype=object)))
        assert (2 * wide.reciprocal()).clamp(max=3.0).entries[0].contains(arb(2.5))
        with pytest.raises(RefusedError, match="neither scaled nor capped"):
            wide.reciprocal() + 1


def test_a_choice_left_open_is_a_ball_around_both_answers():
    x = Balls(np.array([arb(0, 0.5)], dtype=object))
    open_ = x < 0
    assert isinstance(open_, Truths)
    made = torch.where(open_, x.new_full((1,), -1.0), x.new_full((1,), 2.0)).entries[0]
    assert made.contains(-1)
    assert made.contains(2)
    with pytest.raises(RefusedError, match="left open"):
        bool(open_)
    with pytest.raises(RefusedError, match="left open"):
        bool(x[0])


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (lambda x: torch.fft.fft(x), "fft"),
        (lambda x: torch.linalg.eigvalsh(x), "eigvalsh"),
        (lambda x: float(x[0, 0]), "__float__"),
        (lambda x: x.numpy(), "numpy"),
        (lambda x: x.float(), "float"),
        (lambda x: x.to(torch.float32), "float32"),
        (lambda x: torch.ones(2, 2, dtype=torch.float64).add_(x), "add_"),
        (lambda x: torch.ones(2, dtype=torch.float64).__setitem__(0, x[0, 0]), "doubles"),
        (lambda x: x[:1].expand(2, 2).add_(1), "expanded"),
        (lambda x: torch.linalg.solve(x * 0, x), "singular"),
        (lambda x: torch.linalg.vector_norm(x, ord=1), "order 1"),
        (lambda x: torch.zeros(2, 2, dtype=torch.float64)[x], "index"),
    ],
)
def test_what_has_no_version_is_refused_by_name(act, told):
    with pytest.raises(RefusedError, match=told):
        act(Balls.of([[1.0, 2.0], [3.0, 4.0]]))


def test_a_budget_of_operations_ends_a_run():
    with precision(100, operations=1000), pytest.raises(RefusedError, match="more operations"):
        sum(Balls.of([1.0]) for _ in range(100))
    assert tensor._budget.left == float("inf")
    assert flint.ctx.prec == 53


def test_right_sides_in_balls_contain_what_mpmath_gives():
    import sympy

    x, y = sympy.symbols("x y", positive=True)
    expressions = [
        (1 + x) ** 2 - 1,
        x / y + sympy.Rational(1, 3),
        sympy.sqrt(x) * sympy.pi - sympy.E,
        sympy.exp(-x) + sympy.log(1 + y),
        sympy.Max(x, y) - sympy.Min(x, 2),
        0.1 * x,
        sympy.Abs(x - y),
        sympy.floor(3 * x) + sympy.ceiling(y),
        x ** sympy.Rational(2, 3),
        sympy.sin(x) * sympy.cos(y),
        sympy.Piecewise((x, x < y), (y, True)),
        sympy.tanh(x),
        sympy.LambertW(x),
        x**-2,
    ]
    for expression in expressions:
        for values in ((0.1, 0.7), (1e-12, 3.0), (2.5, 2.25)):
            with precision(150), mpmath.workdps(DIGITS + 20):
                held = {n: Sized.of(arb(v)) for n, v in zip("xy", values, strict=True)}
                made = expression_in_balls(expression, held)
                numbers = [mpmath.mpf(v) for v in values]
                true = sympy.lambdify((x, y), expression, "mpmath")(*numbers)
                if 0.1 * x == expression:
                    true = _exact(Fraction(0.1) * Fraction(values[0]))
                assert contained(Balls(np.asarray(made.value, dtype=object)), _nearest(true))
                assert float(made.value.rad() / made.size) < 1e-40
                assert made.size >= abs(made.value).lower()


def test_a_right_side_that_balls_leave_open_is_refused():
    import sympy

    x = sympy.Symbol("x")
    wide = {"x": Sized.of(arb(0, 1))}
    with pytest.raises(RefusedError, match="left open"):
        expression_in_balls(sympy.Piecewise((1, x < 0), (2, True)), wide)
    with pytest.raises(RefusedError, match="gamma"):
        expression_in_balls(sympy.gamma(x), wide)
