"""Law: what torch.func emits for a function and its derivatives has a version in balls."""

import numpy as np
import pytest
import torch
from flint import arb

from driftproof.toolkit.balls import Balls, RefusedError, precision
from driftproof.toolkit.balls.tensor import lift
from tests.differentiated import CASES, FUNCTIONS, TRANSFORMED

pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # torch's jvp

POINTS = torch.tensor([[0.3, -0.7], [1.2, 0.4], [-0.9, 2.1]], dtype=torch.float64)


@pytest.mark.parametrize(("name", "how"), CASES)
def test_balls_contain_what_doubles_give(name, how):
    of = TRANSFORMED[how](FUNCTIONS[name])
    with precision():
        plain, made = of(POINTS), of(Balls.of(POINTS.numpy()))
        assert made.shape == plain.shape
        for ball, x in zip(lift(made.clone()).flat, plain.clone().flatten().tolist(), strict=True):
            assert (ball + arb(0, 1e-13 * (1 + abs(x)))).contains(arb(x))
            assert ball.rad() < 1e-40


@pytest.mark.parametrize("name", ["softplus", "logsumexp", "norm", "matmul"])
def test_balls_around_a_range_contain_every_gradient(name):
    of = TRANSFORMED["gradients"](FUNCTIONS[name])
    wide = np.array([[arb(x, 0.01) for x in row] for row in POINTS.tolist()], dtype=object)
    with precision():
        made = of(Balls(wide))
        for shift in (-0.0099, 0.003, 0.0099):
            inside = of(POINTS + shift)
            for ball, x in zip(made.entries.flat, inside.flatten().tolist(), strict=True):
                assert (ball + arb(0, 1e-13)).contains(arb(x))


def test_what_has_no_version_is_refused_by_name():
    with pytest.raises(RefusedError, match="sort"):
        TRANSFORMED["values"](lambda x: x.sort().values[0])(Balls.of(POINTS.numpy()))
