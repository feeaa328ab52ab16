"""Law: each method of first order is its source's recursion, written a second time with numpy."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from driftproof.toolkit.algorithms import (
    Adam,
    Extragradient,
    FrankWolfe,
    HeavyBall,
    Nesterov,
    ProximalGradient,
    ProximalPoint,
    SignDescent,
)

WRITTEN = {
    "adam",
    "extragradient",
    "frank-wolfe",
    "heavy-ball",
    "nesterov",
    "proximal-gradient",
    "proximal-point",
    "sign-descent",
}
CLIENTS, DIM, ROUNDS = 3, 2, 5
RNG = np.random.default_rng(0)
ROOTS = RNG.normal(size=(CLIENTS, DIM, DIM))
A = ROOTS @ ROOTS.transpose(0, 2, 1) / 4  # f_i(x) = xᵀA_i x/2 − b_iᵀx
B = RNG.normal(size=(CLIENTS, DIM))
START = np.array([0.9, -0.4])


def grad(x):
    return A.mean(0) @ x - B.mean(0)


def box(x):
    return np.clip(x, -1, 1)


class Oracles:
    """The clients' quadratics, and the indicator of a box; states are [clients, dim, 1]."""

    def field_law(self, batch):
        return None

    def field_grad(self, x, noise):
        rows = np.einsum("kij,kj->ki", A, x[..., 0].numpy()) - B
        return torch.from_numpy(rows)[..., None]

    def prox(self, x, t):
        """Of each client's own quadratic for the proximal point, else of the box."""
        rows = [
            np.linalg.solve(np.eye(DIM) + t * a, z + t * b)
            for a, b, z in zip(A, B, x[..., 0].numpy(), strict=True)
        ]
        return torch.from_numpy(np.array(rows))[..., None]

    def linear_minimiser(self, g):
        return -g.sign()


class Boxed(Oracles):
    def prox(self, x, t):
        return x.clamp(-1, 1)


def ran(algorithm, oracles):
    """Run a method with nothing of driftproof but its text."""
    ctx = SimpleNamespace(
        t=0,
        everywhere=lambda x: x.expand(CLIENTS, DIM, 1),
        draw=lambda law, name: None,
        average=lambda *of: tuple(x.mean(0, keepdim=True).expand_as(x) for x in of),
    )
    state = algorithm.init(ctx, oracles, torch.from_numpy(START)[None, :, None])
    for ctx.t in range(ROUNDS):
        state = algorithm.step(ctx, oracles, state)
    return state.w.mean(0)[:, 0].numpy()


def heavy_ball(eta, beta):
    before, x = START, START
    for _ in range(ROUNDS):
        before, x = x, x - eta * grad(x) + beta * (x - before)
    return x


def accelerated(eta, momentum, prox=lambda x: x):
    x, y = START, START
    for k in range(ROUNDS):
        last, x = x, prox(y - eta * grad(y))
        y = x + momentum(k) * (x - last)
    return x


def extragradient(eta):
    z = START
    for _ in range(ROUNDS):
        z = z - eta * grad(z - eta * grad(z))
    return z


def proximal_point(eta):
    x = START
    for _ in range(ROUNDS):
        x = np.mean(
            [
                np.linalg.solve(np.eye(DIM) + eta * a, x + eta * b)
                for a, b in zip(A, B, strict=True)
            ],
            0,
        )
    return x


def frank_wolfe():
    x = START
    for k in range(ROUNDS):
        x = x + 2 / (k + 2) * (-np.sign(grad(x)) - x)
    return x


def adam(alpha, beta_1, beta_2, radius, amsgrad):
    x, m, v, most = START, 0, 0, 0
    for t in range(1, ROUNDS + 1):
        g = grad(x)
        m, v = beta_1 * m + (1 - beta_1) * g, beta_2 * v + (1 - beta_2) * g**2
        most = np.maximum(most, v)
        unbiased = m / (1 - beta_1**t) / np.sqrt(v / (1 - beta_2**t))
        x = x - alpha / np.sqrt(t) * (m / np.sqrt(most) if amsgrad else unbiased)
        x = np.clip(x, -radius, radius)
    return x


def signs(delta):
    x = START
    for _ in range(ROUNDS):
        x = x - delta * np.sign(grad(x))
    return x


CASES = [
    (
        Adam(step_size=0.3, momentum=0.6, memory=0.8, radius=0.95),
        Oracles(),
        adam(0.3, 0.6, 0.8, 0.95, False),
    ),
    (
        Adam(step_size=0.3, momentum=0.6, memory=0.3, long_memory=True),
        Oracles(),
        adam(0.3, 0.6, 0.3, 100, True),
    ),
    (SignDescent(step_size=0.3), Oracles(), signs(0.3)),
    (HeavyBall(step_size=0.3, momentum=0.4), Oracles(), heavy_ball(0.3, 0.4)),
    (Nesterov(step_size=0.3), Oracles(), accelerated(0.3, lambda k: k / (k + 3))),
    (
        Nesterov(step_size=0.3, form="constant", momentum=0.4),
        Oracles(),
        accelerated(0.3, lambda k: 0.4),
    ),
    (Extragradient(step_size=0.3), Oracles(), extragradient(0.3)),
    (ProximalPoint(step_size=0.7), Oracles(), proximal_point(0.7)),
    (ProximalGradient(step_size=0.6), Boxed(), accelerated(0.6, lambda k: 0, box)),
    (
        ProximalGradient(step_size=0.6, accelerated=True),
        Boxed(),
        accelerated(0.6, lambda k: k / (k + 3), box),
    ),
    (FrankWolfe(), Oracles(), frank_wolfe()),
]


@pytest.mark.parametrize(
    ("algorithm", "oracles", "wanted"), CASES, ids=[str(case[0]) for case in CASES]
)
def test_a_method_is_its_recursion(algorithm, oracles, wanted):
    np.testing.assert_allclose(ran(algorithm, oracles), wanted, rtol=1e-12, atol=1e-14)
