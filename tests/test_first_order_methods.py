"""Law: each method of first order is its source's recursion, written a second time with numpy.

Methods that keep something on each client, or the server, are among them.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from driftproof.synthetic.classes import over, similar, smooth_strongly_convex, start_within
from driftproof.toolkit.algorithms import (
    Adam,
    DelayedGradient,
    ErrorFeedback,
    Extragradient,
    FedAvgM,
    FrankWolfe,
    HeavyBall,
    Nesterov,
    OnlineGradient,
    ProximalGradient,
    ProximalPoint,
    Scaffnew,
    SignDescent,
)
from driftproof.toolkit.measure import each
from driftproof.toolkit.verdict import Evidence, Verdict
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.verify import Settings, judge

WRITTEN = {
    "adam", "delayed-gradient", "error-feedback", "extragradient", "fedavgm", "frank-wolfe",
    "heavy-ball", "nesterov", "online-gradient", "proximal-gradient", "proximal-point",
    "scaffnew", "sign-descent",
}  # fmt: skip
CLIENTS, DIM, ROUNDS = 3, 2, 5
RNG = np.random.default_rng(0)
ROOTS = RNG.normal(size=(CLIENTS, DIM, DIM))
A = ROOTS @ ROOTS.transpose(0, 2, 1) / 4  # f_i(x) = xᵀA_i x/2 − b_iᵀx
B = RNG.normal(size=(CLIENTS, DIM))
START = np.array([0.9, -0.4])
MEAN = A.mean(0), B.mean(0)
COINS = [-0.5, -0.5, 2.0, -0.5, -0.5]
"""The clients meet in the third step alone."""


def grad(x, of=MEAN):
    return of[0] @ x - of[1]


def box(x):
    return np.clip(x, -1, 1)


class Oracles:
    """The clients' quadratics, and the indicator of a box; states are [clients, dim, 1]."""

    def __init__(self, of=(A, B)):
        self.of = of

    def field_law(self, batch):
        return None

    def field_grad(self, x, noise):
        rows = np.einsum("kij,kj->ki", self.of[0], x[..., 0].numpy()) - self.of[1]
        return torch.from_numpy(rows)[..., None]

    def prox(self, x, t):
        """Of each client's own quadratic for the proximal point, else of the box."""
        rows = [np.linalg.solve(np.eye(DIM) + t * a, z + t * b) for a, b, z in
                zip(*self.of, x[..., 0].numpy(), strict=True)]  # fmt: skip
        return torch.from_numpy(np.array(rows))[..., None]

    def at(self, t):
        a, b = self.of[0][t % CLIENTS], self.of[1][t % CLIENTS]
        return Oracles((np.array([a] * CLIENTS), np.array([b] * CLIENTS)))

    def project(self, x):
        return x.clamp(-1, 1)

    def linear_minimiser(self, g):
        return -g.sign()


class Boxed(Oracles):
    def prox(self, x, t):
        return x.clamp(-1, 1)


def ran(algorithm, oracles):
    """Run a method with nothing of driftproof but its text."""
    ctx = SimpleNamespace(
        t=0, everywhere=lambda x: x.expand(CLIENTS, DIM, 1), draw=lambda law, name: None,
        average=lambda *of: tuple(x.mean(0, keepdim=True).expand_as(x) for x in of),
        clients=CLIENTS, cohort=lambda size, since: ctx, mark=lambda name, value: None,
        server_draw=lambda law, name, since: torch.full((1, 1), COINS[since]),
    )  # fmt: skip
    state = algorithm.init(ctx, oracles, torch.from_numpy(START)[None, :, None])
    for ctx.t in range(ROUNDS):
        state = algorithm.step(ctx, oracles, state)
    return state.w.mean(0)[:, 0].numpy()


def heavy_ball(eta, beta):
    before, x = START, START
    for _ in range(ROUNDS):
        before, x = x, x - eta * grad(x) + beta * (x - before)
    return x


def delayed(eta):
    before, x = START, START
    for _ in range(ROUNDS):
        before, x = x, x - eta * grad(before)
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
        x = np.mean([np.linalg.solve(np.eye(DIM) + eta * a, x + eta * b)
                     for a, b in zip(A, B, strict=True)], 0)  # fmt: skip
    return x


def frank_wolfe():
    x = START
    for k in range(ROUNDS):
        x = x + 2 / (k + 2) * (-np.sign(grad(x)) - x)
    return x


def online(eta):
    x = START
    for t in range(ROUNDS):
        x = box(x - eta * grad(x, (A[t % CLIENTS], B[t % CLIENTS])))
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


def each_grad(x):
    return np.einsum("kij,kj->ki", A, x) - B


def fed_back(gamma, compress):
    x, memory = START, np.zeros((CLIENTS, DIM))
    for _ in range(ROUNDS):
        p = gamma * each_grad(np.tile(x, (CLIENTS, 1))) + memory
        sent = np.array([compress(row) for row in p])
        x, memory = x - sent.mean(0), p - sent
    return x


def scaled_signs(v):
    return np.abs(v).sum() / DIM * np.sign(v)


def largest(v):
    return np.where(np.arange(DIM) == np.abs(v).argmax(), v, 0)


def skipping(gamma, p):
    x, h = np.tile(START, (CLIENTS, 1)), np.zeros((CLIENTS, DIM))
    for coin in COINS:
        ahead = x - gamma * (each_grad(x) - h)
        x = np.tile(ahead.mean(0), (CLIENTS, 1)) if coin > 0 else ahead
        h = h + p / gamma * (x - ahead)
    return x.mean(0)


def with_server_momentum(eta, tau, eta_s, beta):
    x, v = START, np.zeros(DIM)
    w = np.tile(x, (CLIENTS, 1))
    for t in range(ROUNDS):
        w = w - eta * each_grad(w)
        if (t + 1) % tau == 0:
            v = beta * v + (x - w.mean(0))
            x = x - eta_s * v
            w = np.tile(x, (CLIENTS, 1))
    return w.mean(0)


CASES = [
        (ErrorFeedback(step_size=0.3), Oracles(), fed_back(0.3, scaled_signs)),
        (ErrorFeedback(step_size=0.3, compressor="top"), Oracles(), fed_back(0.3, largest)),
        (ErrorFeedback(step_size=0.3, compressor="top", kept=2), Oracles(),
         fed_back(0.3, lambda v: v)),
        (Scaffnew(step_size=0.3, period=5), Oracles(), skipping(0.3, 0.2)),
        (FedAvgM(local_steps=2, step_size=0.3, server_step_size=0.7, momentum=0.4), Oracles(),
         with_server_momentum(0.3, 2, 0.7, 0.4)),
        (Adam(step_size=0.3, momentum=0.6, memory=0.8, radius=0.95), Oracles(),
         adam(0.3, 0.6, 0.8, 0.95, False)),
        (Adam(step_size=0.3, momentum=0.6, memory=0.3, long_memory=True), Oracles(),
         adam(0.3, 0.6, 0.3, 100, True)),
        (SignDescent(step_size=0.3), Oracles(), signs(0.3)),
        (HeavyBall(step_size=0.3, momentum=0.4), Oracles(), heavy_ball(0.3, 0.4)),
        (DelayedGradient(step_size=0.3), Oracles(), delayed(0.3)),
        (Nesterov(step_size=0.3), Oracles(), accelerated(0.3, lambda k: k / (k + 3))),
        (Nesterov(step_size=0.3, form="constant", momentum=0.4), Oracles(),
         accelerated(0.3, lambda k: 0.4)),
        (Extragradient(step_size=0.3), Oracles(), extragradient(0.3)),
        (ProximalPoint(step_size=0.7), Oracles(), proximal_point(0.7)),
        (ProximalGradient(step_size=0.6), Boxed(), accelerated(0.6, lambda k: 0, box)),
        (ProximalGradient(step_size=0.6, accelerated=True), Boxed(),
         accelerated(0.6, lambda k: k / (k + 3), box)),
        (FrankWolfe(), Oracles(), frank_wolfe()),
        (OnlineGradient(step_size=0.8), Oracles(), online(0.8)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("algorithm", "oracles", "wanted"), CASES, ids=[str(case[0]) for case in CASES]
)
def test_a_method_is_its_recursion(algorithm, oracles, wanted):
    np.testing.assert_allclose(ran(algorithm, oracles), wanted, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("rounds", "less"), [(1, 0.999), (2, 0.9)])
def test_scaffnew_contracts_by_its_rate_and_no_faster(rounds, less):
    """With γ = 1/L, p = ½ and μ = L/2, of all functions of two clients, over all coins.

    With a = γ²/p² the mean of ‖x_T − x*‖² + a‖h_T − h*‖² over clients is at most
    (1 − γμ)^{2T}‖x_0 − x*‖² + (1 − p²)^T aζ², which is met after one step.
    """
    a = 4
    whole = [smooth_strongly_convex(L=1, mu=0.5), similar(zeta=1), start_within(R=1)]

    def claim(times):
        @bound(
            name="law/scaffnew", source="", statement="",
            right=lambda c: times * (c.R**2 / 4**rounds + 0.75**rounds * a * c.zeta**2),
            classes=over(whole, Scaffnew(step_size=1.0, period=2), rounds=rounds),
        )  # fmt: skip
        def potential(view):
            x = view.minimiser
            off = (view.client("w") - x).square().sum(1).mean(0)
            controls = view.client("control") - view.client_gradients(x)
            value = off + a * controls.square().sum(1).mean(0)
            return each("round", "local_step", value) if view.last else None

        return potential

    (proved,), (refuted,) = (judge([claim(times)], Settings()) for times in (1, less))
    assert (proved.verdict, proved.evidence) == (Verdict.SUPPORTED, Evidence.CLASS)
    assert (refuted.verdict, refuted.evidence) == (Verdict.REFUTED, Evidence.CLASS)
