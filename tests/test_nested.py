"""FedNest and its relatives a second time, client by client in numpy, as the slides have them.

The clients below know the problems' formulas and the pseudo-code knows the clients; neither knows
the federation, its oracles or its collectives. Only what chance decided is asked of a context.
"""

from __future__ import annotations

import inspect
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from driftproof.synthetic.problems import (
    CompositionalBilevel,
    LogisticBilevel,
    QuadraticBilevel,
    QuadraticMinimax,
)
from driftproof.toolkit.algorithms import (
    FedAvgS,
    FedIHGP,
    FedInn,
    FedNest,
    FedNestSGD,
    FedOut,
    FedSVRG,
    LFedNest,
    LFedNestSVRG,
    StocBiO,
)
from driftproof.toolkit.draws import Indices, Subset
from driftproof.toolkit.federation import run, run_exactly, sampled_context
from driftproof.toolkit.measure import average
from driftproof.toolkit.statistics import interval

WRITTEN = {
    "fedinn", "fedout", "fedihgp", "fednest", "fednest-sgd", "lfednest", "lfednest-svrg",
    "fedsvrg", "fedavg-s", "stocbio",
}  # fmt: skip
NAMES, ROUNDS, REPLICATES = ("nested",), 3, 4

BILEVEL = QuadraticBilevel(
    clients=4, dim=2, lower_dim=3, hessian_heterogeneity=0.3, cross_heterogeneity=0.4,
    offset_heterogeneity=0.3, target_heterogeneity=0.5, regulariser=0.3, tilt=0.2,
    regulariser_heterogeneity=0.2, upper_noise=0.3, lower_value_noise=0.2,
    lower_curvature_noise=0.15, cross_noise=0.25,
)  # fmt: skip
LOGISTIC = LogisticBilevel(
    clients=4, dim=3, lower_dim=2, samples=5, validation=4, regulariser=0.2, feature_bound=2.0,
    cross_heterogeneity=0.4, heterogeneity=2.0,
)  # fmt: skip
MINIMAX = QuadraticMinimax(clients=4, dim=2, heterogeneity=0.4, gradient_noise=0.3)
COMPOSED = CompositionalBilevel(
    clients=4, inner_heterogeneity=0.5, inner_offset=0.4, plain_tilt=0.3, inner_value_noise=0.2,
    inner_gradient_noise=0.3, plain_noise=0.2, distance=0.6,
)  # fmt: skip


# --- the clients ----------------------------------------------------------------------------------


class QuadraticClient:
    """A client of the quadratic bilevel family; a draw is the mean sign of each noise."""

    def __init__(self, problem, i):
        self.of, self.part, self.i = problem, problem.parts, i

    def f_x(self, x, y, xi):
        e = np.eye(len(x))[0]
        noise = self.of.upper_noise / np.sqrt(2) * xi[0]
        return self.part["lambda"][self.i] * x + (self.part["kappa"][self.i] + noise) * e

    def f_y(self, x, y, xi):
        noise = self.of.upper_noise / np.sqrt(2) * xi[1]
        return self.of.upper_curvature * (y - self.part["a"][self.i]) + noise * self.part["u"]

    def g_y(self, x, y, zeta):
        u, i = self.part["u"], self.i
        noise = self.of.lower_value_noise * zeta[0]
        noise += self.of.lower_curvature_noise * zeta[1] * np.sin(u @ y)
        return self.part["H"][i] @ y - self.part["C"][i] @ x - self.part["e"][i] + noise * u

    def g_yy(self, x, y, v, zeta):
        u = self.part["u"]
        bent = self.of.lower_curvature_noise * zeta[1] * np.cos(u @ y) * (u @ v)
        return self.part["H"][self.i] @ v + bent * u

    def g_xy(self, x, y, v, zeta):
        e = np.eye(len(x))[0]
        return (
            -self.part["C"][self.i].T @ v + self.of.cross_noise * zeta[2] * (self.part["u"] @ v) * e
        )


class LogisticClient:
    """A client of the logistic family; a draw is a list of sample numbers."""

    def __init__(self, problem, i):
        self.of, self.cross = problem, problem.cross_maps[i]
        self.train, self.validation = (part[i] for part in problem.data)

    def f_x(self, x, y, xi):
        return self.of.regulariser * x

    def f_y(self, x, y, xi):
        return np.mean([-b / (1 + np.exp(b @ y)) for b in self.validation[xi]], 0)

    def g_y(self, x, y, zeta):
        losses = np.mean([-b / (1 + np.exp(b @ y)) for b in self.train[zeta]], 0)
        return losses + self.of.ridge * y - self.cross @ x

    def g_yy(self, x, y, v, zeta):
        curved = [b * (b @ v) / (2 + np.exp(b @ y) + np.exp(-b @ y)) for b in self.train[zeta]]
        return np.mean(curved, 0) + self.of.ridge * v

    def g_xy(self, x, y, v, zeta):
        return -self.cross.T @ v


class MinimaxClient:
    """A client of the quadratic minimax family, g = −f; a draw is two mean signs."""

    def __init__(self, problem, i):
        self.of, self.a, self.b = problem, problem.matrices[i], problem.offsets[i]
        self.noise = problem.gradient_noise / np.sqrt(2)

    def f_x(self, x, y, xi):
        return self.of.regulariser * x - self.a.T @ y + self.noise * xi[0] * np.eye(len(x))[0]

    def f_y(self, x, y, xi):
        return -(y - self.b + self.a @ x) - self.noise * xi[1] * np.eye(len(y))[0]

    def g_y(self, x, y, zeta):
        return -self.f_y(x, y, zeta)

    def g_yy(self, x, y, v, zeta):
        return v

    def g_xy(self, x, y, v, zeta):
        return self.a.T @ v


class ComposedClient:
    """A client of the compositional family in one dimension, r_i affine; draws are mean signs."""

    def __init__(self, problem, i):
        self.of, self.sign = problem, 1 - 2 * (i % 2)
        self.slope = problem.inner_slope * (1 + self.sign * problem.inner_heterogeneity)

    def f_x(self, x, y, xi):
        return np.array([self.sign * self.of.plain_tilt + self.of.plain_noise * xi[0]])

    def f_y(self, x, y, xi):
        return np.clip(self.of.outer_curvature * y, -self.of.outer_slope, self.of.outer_slope)

    def g_y(self, x, y, zeta):
        inner = self.slope * x + self.sign * self.of.inner_offset
        noise = self.of.inner_value_noise * zeta[0]
        return y - inner - noise - self.of.inner_gradient_noise * zeta[1] * np.sin(x)

    def g_yy(self, x, y, v, zeta):
        return v

    def g_xy(self, x, y, v, zeta):
        return -(self.slope + self.of.inner_gradient_noise * zeta[1] * np.cos(x)) * v


CLIENTS = {
    BILEVEL: QuadraticClient,
    LOGISTIC: LogisticClient,
    MINIMAX: MinimaxClient,
    COMPOSED: ComposedClient,
}


class Chance:
    """What one replicate of the federation drew, by name, step and client."""

    def __init__(self, problem, algorithm, replicate):
        self._ctx = sampled_context(problem, NAMES, replicates=REPLICATES)
        oracles = problem.oracles(torch.float64)
        self._law = {
            "xi": oracles.upper_law(algorithm.batch), "lower": oracles.lower_law(algorithm.batch)
        }  # fmt: skip
        self._clients = problem.clients
        self._size = algorithm.cohort_size(problem.clients)
        self._replicate = replicate

    def sample(self, name, t, i):
        """Client i's ξ (names that begin with xi) or ζ."""
        self._ctx.t = t
        law = self._law["xi" if name.startswith("xi") else "lower"]
        return self._ctx.draw(law, name)[i, :, self._replicate].numpy()

    def cohort(self, t, name="cohort"):
        if self._size == self._clients:
            return range(self._clients)
        mask = self._ctx.server_draw(Subset(self._clients, self._size), name, since=t)
        return [i for i in range(self._clients) if mask[i, self._replicate] == 1]

    def left_out(self, t, terms):
        return int(self._ctx.server_draw(Indices((terms,), 1), "left-out", t)[0, self._replicate])


# --- the pseudo-code ------------------------------------------------------------------------------


def fed_inn(at, clients, chance, x, y, t):
    """y⁺ = FedInn(x, y, β): FedSVRG on y."""
    S = chance.cohort(t)
    q = sum(clients[i].g_y(x, y, chance.sample("zeta-shared", t, i)) for i in S) / len(S)
    ends = []
    for i in S:
        y_i = y
        for nu in range(at.inner_steps):
            zeta = chance.sample("zeta", t + nu, i)
            q_i = clients[i].g_y(x, y_i, zeta) - clients[i].g_y(x, y, zeta) + q
            y_i = y_i - at.inner_step_size * q_i
        ends.append(y_i)
    return sum(ends) / len(S)


def fed_avg_on_y(at, clients, chance, x, y, t):
    """The inner optimizer "SGD on y" of the table."""
    S = chance.cohort(t)
    ends = []
    for i in S:
        y_i = y
        for nu in range(at.inner_steps):
            y_i = y_i - at.inner_step_size * clients[i].g_y(
                x, y_i, chance.sample("zeta", t + nu, i)
            )
        ends.append(y_i)
    return sum(ends) / len(S)


def fed_ihgp(at, clients, chance, x, y, t, ell):
    """p_{N'} = FedIHGP(x, y, N)."""
    N = at.terms
    S = chance.cohort(t, "series-0")
    p = sum(clients[i].f_y(x, y, chance.sample("xi-series", t, i)) for i in S) / len(S)
    if at.series == "summed":
        p = total = p / ell
        for n in range(1, N + 1):
            S = chance.cohort(t, f"series-{n}")
            p_i = [
                p - clients[i].g_yy(x, y, p, chance.sample(f"zeta-series-{n}", t, i)) / ell
                for i in S
            ]
            p = sum(p_i) / len(S)
            total = total + p
        return total
    last = N - 1 - chance.left_out(t, N)
    p = N / ell * p
    for n in range(1, last + 1):
        S = chance.cohort(t, f"series-{n}")
        p_i = [
            p - clients[i].g_yy(x, y, p, chance.sample(f"zeta-series-{n}", t, i)) / ell for i in S
        ]
        p = sum(p_i) / len(S)
    return p


def fed_out(at, clients, chance, x, y, t, ell):
    """x⁺ = FedOut(x, y⁺, α): FedSVRG and FedIHGP on x."""
    S = chance.cohort(t)
    h_i = [clients[i].f_x(x, y, chance.sample("xi-shared", t, i)) for i in S]
    if at.terms:
        p = fed_ihgp(at, clients, chance, x, y, t, ell)
        cross = [clients[i].g_xy(x, y, p, chance.sample("chi", t, i)) for i in S]
        h_i = [one - other for one, other in zip(h_i, cross, strict=True)]
    h = sum(h_i) / len(S)
    ends = []
    for i in S:
        x_i = x
        for nu in range(at.outer_steps):
            xi = chance.sample("xi", t + nu, i)
            h_nu = clients[i].f_x(x_i, y, xi) - clients[i].f_x(x, y, xi) + h
            x_i = x_i - at.outer_step_size * h_nu
        ends.append(x_i)
    return sum(ends) / len(S)


def local_fed_out(at, clients, chance, x, y, t, ell):
    """The outer optimizer "SGD on x" of the table, with each client's own series."""
    S = chance.cohort(t)
    N, ends = at.terms, []
    for i in S:
        x_i = x
        for nu in range(at.outer_steps):
            s = t + nu
            h = clients[i].f_x(x_i, y, chance.sample("xi", s, i))
            if N:
                p = N / ell * clients[i].f_y(x_i, y, chance.sample("xi-series", s, i))
                for n in range(1, N - chance.left_out(s, N)):
                    zeta = chance.sample(f"zeta-series-{n}", s, i)
                    p = p - clients[i].g_yy(x_i, y, p, zeta) / ell
                h = h - clients[i].g_xy(x_i, y, p, chance.sample("chi", s, i))
            x_i = x_i - at.outer_step_size * h
        ends.append(x_i)
    return sum(ends) / len(S)


def fed_nest(at, clients, chance, x, y, ell, inner, outer):
    """Algorithm FedNest; its relatives have other optimizers."""
    t = 0
    for _ in range(ROUNDS):
        for _ in range(at.inner_calls):
            y = inner(at, clients, chance, x, y, t)
            t += at.inner_steps
        x = outer(at, clients, chance, x, y, t, ell)
        t += at.outer_steps
    return {"x": x, "y": y}


def only_fed_inn(at, clients, chance, x, y, ell):
    for k in range(ROUNDS):
        y = fed_inn(at, clients, chance, x, y, k * at.inner_steps)
    return {"y": y, "x": x}


def only_fed_out(at, clients, chance, x, y, ell):
    for k in range(ROUNDS):
        x = fed_out(at, clients, chance, x, y, k * at.outer_steps, ell)
    return {"x": x, "y": y}


def only_fed_ihgp(at, clients, chance, x, y, ell):
    return {"p": fed_ihgp(at, clients, chance, x, y, ROUNDS - 1, ell)}


def fed_svrg(at, clients, chance, x, y, ell):
    """FedSVRG on the field (∇_x f_i, −∇_y f_i), h with the slide's signs."""

    def grad(i, z, xi):
        parts = z[: len(x)], z[len(x) :]
        return np.concatenate([clients[i].f_x(*parts, xi), -clients[i].f_y(*parts, xi)])

    z = np.concatenate([x, y])
    for k in range(ROUNDS):
        t = k * at.local_steps
        S = chance.cohort(t)
        shared = sum(grad(i, z, chance.sample("xi-shared", t, i)) for i in S) / len(S)
        ends = []
        for i in S:
            z_i = z
            for nu in range(at.local_steps):
                xi = chance.sample("xi", t + nu, i)
                h = -grad(i, z_i, xi) + grad(i, z, xi) - shared
                z_i = z_i + at.step_size * h
            ends.append(z_i)
        z = sum(ends) / len(S)
    return {"x": z}


def fed_avg_s(at, clients, chance, x, y, ell):
    """Local descent in x and ascent in y."""
    for k in range(ROUNDS):
        t = k * at.local_steps
        S = chance.cohort(t)
        ends = []
        for i in S:
            x_i, y_i = x, y
            for nu in range(at.local_steps):
                xi = chance.sample("xi", t + nu, i)
                before = y_i
                y_i = y_i + at.inner_step_size * clients[i].f_y(x_i, y_i, xi)
                seen = y_i if at.order == "alternating" else before
                x_i = x_i - at.outer_step_size * clients[i].f_x(x_i, seen, xi)
            ends.append((x_i, y_i))
        x, y = (sum(part) / len(S) for part in zip(*ends, strict=True))
    return {"x": x, "y": y}


def stoc_bio(at, clients, chance, x, y, ell):
    """Ji et al.'s Algorithm 2 on the means f and g, with v_Q of (6)."""
    m, Q = len(clients), at.terms
    eta = at.series_step or 1 / ell
    for k in range(ROUNDS):
        for j in range(at.inner_calls):
            step = [clients[i].g_y(x, y, chance.sample(f"zeta-{j}", k, i)) for i in range(m)]
            y = y - at.inner_step_size * sum(step) / m
        xi = [chance.sample("xi", k, i) for i in range(m)]
        of_x = sum(clients[i].f_x(x, y, xi[i]) for i in range(m)) / m
        v_0 = sum(clients[i].f_y(x, y, xi[i]) for i in range(m)) / m
        factors = []  # I − η∇²_yy G(x, y; B_q), as matrices
        for q in range(1, Q + 1):
            columns = [
                sum(clients[i].g_yy(x, y, e, chance.sample(f"zeta-series-{q}", k, i))
                    for i in range(m)) / m
                for e in np.eye(len(y))
            ]  # fmt: skip
            factors.append(np.eye(len(y)) - eta * np.array(columns).T)
        v_Q = np.zeros_like(y)
        for q in range(Q + 1):
            product = np.eye(len(y))
            for factor in factors[:q]:
                product = factor @ product
            v_Q = v_Q + eta * product @ v_0
        cross = [clients[i].g_xy(x, y, v_Q, chance.sample("chi", k, i)) for i in range(m)]
        x = x - at.outer_step_size * (of_x - sum(cross) / m)
    return {"x": x, "y": y}


def again(algorithm):
    """Return an algorithm's transcription."""
    nested = {
        FedNest: (fed_inn, fed_out),
        FedNestSGD: (fed_avg_on_y, fed_out),
        LFedNest: (fed_avg_on_y, local_fed_out),
        LFedNestSVRG: (fed_inn, local_fed_out),
    }
    if type(algorithm) in nested:
        inner, outer = nested[type(algorithm)]
        return lambda *given: fed_nest(*given, inner, outer)
    return {
        FedInn: only_fed_inn, FedOut: only_fed_out, FedIHGP: only_fed_ihgp, FedSVRG: fed_svrg,
        FedAvgS: fed_avg_s, StocBiO: stoc_bio,
    }[type(algorithm)]  # fmt: skip


# --- the two agree --------------------------------------------------------------------------------

FIELDS = {"inner_step_size": 0.3, "outer_step_size": 0.2, "batch": 2}
STEPS = {"inner_steps": 3, "outer_steps": 2}
BOTH = (BILEVEL, LOGISTIC)
CASES = [
    *((FedInn(inner_steps=3, participation=p, **FIELDS), on) for p in (1.0, 0.5) for on in BOTH),
    *((FedIHGP(terms=4, series=s, participation=p, batch=b), on)
      for s, b in (("sampled", 1), ("summed", 3)) for p in (1.0, 0.5) for on in BOTH),
    *((FedOut(terms=3, series=s, outer_steps=3, participation=p, **FIELDS), on)
      for s in ("sampled", "summed") for p in (1.0, 0.5) for on in BOTH),
    *((cls(inner_calls=2, terms=3, participation=p, **STEPS, **FIELDS), on)
      for cls in (FedNest, FedNestSGD, LFedNest, LFedNestSVRG)
      for p in (1.0, 0.5) for on in (*BOTH, MINIMAX, COMPOSED)),
    (FedNest(terms=0, participation=0.25, **STEPS, **FIELDS), MINIMAX),
    (LFedNest(terms=0, **STEPS, **FIELDS), BILEVEL),
    (FedNest(terms=1, inner_step_size=0.4), BILEVEL),
    (FedNest(terms=3, series="summed", participation=0.5, **STEPS, **FIELDS), BILEVEL),
    *((FedSVRG(local_steps=3, participation=p, batch=2), MINIMAX) for p in (1.0, 0.5)),
    *((FedAvgS(local_steps=3, order=o, participation=p, **FIELDS), MINIMAX)
      for o in ("simultaneous", "alternating") for p in (1.0, 0.5)),
    *((StocBiO(inner_calls=3, terms=q, series_step=s, **FIELDS), on)
      for q, s in ((0, 0.0), (3, 0.0), (2, 0.4)) for on in BOTH),
]  # fmt: skip


def named(cases):
    return [pytest.param(*case, id=f"{case[0].leaf_name}-{k}") for k, case in enumerate(cases)]


def federation(algorithm, problem):
    ctx = sampled_context(problem, NAMES, replicates=REPLICATES)
    return run(problem, algorithm, ctx, rounds=ROUNDS, kernels=False).state


def difference(algorithm, problem, transcription):
    """Return the largest difference over replicates and clients, relative to what is written."""
    state, largest = federation(algorithm, problem), 0.0
    start, d = problem.start(), problem.upper_dim
    ell = problem.constants.get("lower_smoothness", 1.0)  # a composition's Hessians are I
    clients = [CLIENTS[problem](problem, i) for i in range(problem.clients)]
    for r in range(REPLICATES):
        chance = Chance(problem, algorithm, r)
        written = transcription(algorithm, clients, chance, start[:d], start[d:], ell)
        for name, wanted in written.items():
            away = getattr(state, name)[..., r].numpy() - wanted
            largest = max(largest, np.abs(away).max() / (np.linalg.norm(wanted) or 1.0))
    return largest


@pytest.mark.parametrize(("algorithm", "problem"), named(CASES))
def test_the_federation_does_what_is_written(algorithm, problem):
    assert difference(algorithm, problem, again(algorithm)) < 1e-12


def test_every_transcription_is_compared_on_noise_and_on_sampled_clients():
    alone = {"stocbio"}  # one machine
    for name in WRITTEN:
        held = [(a, p) for a, p in CASES if a.leaf_name == name]
        assert held, name
        assert name in alone or {a.cohort_size(4) for a, _ in held} >= {2, 4}, name
    # replicates of a sampled series differ in N', and more than one term is met
    chance = [Chance(BILEVEL, FedIHGP(terms=4), r).left_out(ROUNDS - 1, 4) for r in range(4)]
    assert len(set(chance)) > 1


NEST = {"inner_calls": 2, "terms": 3, **STEPS, **FIELDS}
MUTANTS = [
    # wrong signs
    (FedNest(**NEST), BILEVEL, fed_inn, "- clients[i].g_y(x, y, zeta) + q",
     "+ clients[i].g_y(x, y, zeta) - q"),
    (FedNest(**NEST), BILEVEL, fed_out, "one - other", "one + other"),
    (LFedNest(**NEST), BILEVEL, local_fed_out, "h - clients[i].g_xy", "h + clients[i].g_xy"),
    (FedAvgS(local_steps=3, **FIELDS), MINIMAX, fed_avg_s, "y_i + at.inner", "y_i - at.inner"),
    (FedSVRG(local_steps=3), MINIMAX, fed_svrg, "-grad(i, z_i, xi) +", "-grad(i, z_i, xi) -"),
    # a mean that is a sum, or one over all clients where some were asked
    (FedNest(**NEST), BILEVEL, fed_inn, "for i in S) / len(S)", "for i in S)"),
    (FedNest(participation=0.5, **NEST), BILEVEL, fed_out, "h = sum(h_i) / len(S)",
     "h = sum(h_i) / len(clients)"),
    (FedIHGP(terms=4), BILEVEL, fed_ihgp, "sum(p_i) / len(S)\n    return", "sum(p_i)\n    return"),
    # a stale or missing anchor
    (FedNest(**NEST), BILEVEL, fed_inn, "clients[i].g_y(x, y, zeta) + q",
     "clients[i].g_y(x, y_i, zeta) + q"),
    (FedOut(terms=3, outer_steps=3, **FIELDS), BILEVEL, fed_out, "- clients[i].f_x(x, y, xi) + h",
     "- clients[i].f_x(x_i, y, xi) + h"),
    (FedNest(**NEST), BILEVEL, fed_nest, "x = outer(at, clients, chance, x, y, t, ell)",
     "x = outer(at, clients, chance, x, y * 0.99, t, ell)"),
    # N terms where there are N − 1, or a weight of N − 1
    (FedIHGP(terms=4), BILEVEL, fed_ihgp, "last = N - 1 - chance", "last = N - chance"),
    (FedIHGP(terms=4), BILEVEL, fed_ihgp, "p = N / ell", "p = (N - 1) / ell"),
    (FedIHGP(terms=4, series="summed"), BILEVEL, fed_ihgp, "range(1, N + 1)", "range(1, N)"),
    (LFedNest(**NEST), BILEVEL, local_fed_out, "range(1, N - chance", "range(1, N - 1 - chance"),
    (StocBiO(terms=3, **FIELDS), BILEVEL, stoc_bio, "range(Q + 1)", "range(Q)"),
    # a sample used twice, a cohort kept, a gradient at another point
    (FedNest(**NEST), BILEVEL, fed_inn, '"zeta-shared", t', '"zeta", t'),
    (FedNest(**NEST), BILEVEL, fed_out, 'sample("chi", t, i)', 'sample("zeta", t, i)'),
    (FedIHGP(terms=4, participation=0.5), BILEVEL, fed_ihgp, 'f"series-{n}"', '"series-0"'),
    (LFedNest(**NEST), LOGISTIC, local_fed_out, "p - clients[i].g_yy(x_i, y, p, zeta)",
     "p - clients[i].g_yy(x_i, 0 * y, p, zeta)"),
    (FedAvgS(local_steps=3, **FIELDS), MINIMAX, fed_avg_s, '== "alternating"', '!= "alternating"'),
    (StocBiO(terms=3, **FIELDS), LOGISTIC, stoc_bio, "factor @ product", "product @ factor"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("algorithm", "problem", "function", "line", "wrong"),
    [pytest.param(*case, id=f"{case[0].leaf_name}-{k}") for k, case in enumerate(MUTANTS)],
)
def test_another_pseudo_code_is_told_apart(algorithm, problem, function, line, wrong, monkeypatch):
    """Negative control: a transcription with one line changed differs from the federation."""
    source = inspect.getsource(function)
    assert source.count(line) >= 1, "the line to be spoilt is not in the transcription"
    made = {}
    module = sys.modules[__name__]
    exec(source.replace(line, wrong), vars(module) | made, made)
    assert difference(algorithm, problem, again(algorithm)) < 1e-12
    monkeypatch.setattr(module, function.__name__, made[function.__name__])
    assert difference(algorithm, problem, again(algorithm)) > 1e-4


# --- exact expectations ---------------------------------------------------------------------------


def nothing(view):
    return average("round", view.round_start("x").sum(0))


SMALL = QuadraticBilevel(
    clients=2, hessian_heterogeneity=0.3, target_heterogeneity=0.6, upper_noise=0.3,
    lower_curvature_noise=0.2,
)  # fmt: skip


@pytest.mark.parametrize(
    ("problem", "fields"),
    [
        (SMALL, {"terms": 3}),
        (SMALL, {"terms": 2, "participation": 0.5}),
        (SMALL, {"terms": 1, "series": "summed", "participation": 0.5}),
        (SMALL, {"terms": 2, "series": "summed"}),
        (LogisticBilevel(clients=2, samples=2, validation=2, heterogeneity=2.0),
         {"terms": 3, "participation": 0.5}),
    ],
)  # fmt: skip
def test_the_expectation_of_fedihgp_is_the_truncated_inverse(problem, fields):
    """H̄^{-1}(I − (I − H̄/ℓ)^N) ḡ, N + 1 for the partial sum: samples and cohorts are unbiased."""
    algorithm = FedIHGP(**fields)
    made = run_exactly(problem, algorithm, rounds=1, left=nothing, limit=2**17)
    assert len(made.weights) > 60
    assert made.weights.sum() == pytest.approx(1.0, abs=1e-12)
    expected = made.state.p[0].numpy() @ made.weights
    x, y = (torch.from_numpy(v)[:, None] for v in np.split(problem.start(), [problem.upper_dim]))
    every = [v.expand(problem.clients, *v.shape) for v in (x, y)]
    hessian = problem.lower_hessian(*every)[0].numpy()
    gradient = problem.oracles(torch.float64).upper_grad_y(*every, None).mean(0)[:, 0].numpy()
    ell, unit = problem.constants["lower_smoothness"], np.eye(len(y))

    def truncated(terms):
        left = unit - np.linalg.matrix_power(unit - hessian / ell, terms)
        return np.linalg.solve(hessian, left @ gradient)

    terms = algorithm.terms + (algorithm.series == "summed")
    np.testing.assert_allclose(expected, truncated(terms), rtol=1e-11)
    # which is another vector for one term more, and is not the inverse
    assert np.linalg.norm(expected - truncated(terms + 1)) > 1e-3
    p = problem.inverse_hessian_gradient(x, y)[:, 0].numpy()
    assert np.linalg.norm(expected - p) > 1e-3


@pytest.mark.parametrize(
    ("algorithm", "noise"),
    [
        (FedNest(terms=2, inner_step_size=0.5), {"lower_curvature_noise": 0.4}),
        (FedNestSGD(terms=2, participation=0.5), {"cross_noise": 0.9}),
        (LFedNest(terms=2, inner_steps=2, inner_step_size=0.5), {"lower_curvature_noise": 0.4}),
        (StocBiO(terms=1, inner_calls=2, inner_step_size=0.5), {"lower_value_noise": 0.4}),
    ],
)
def test_batched_equals_enumerated_in_expectation(algorithm, noise):
    """The exact mean of ‖(x, y)‖² after a round lies in the interval of many replicates."""
    problem = QuadraticBilevel(
        clients=2, dim=1, lower_dim=1, hessian_heterogeneity=0.3, target_heterogeneity=0.6, **noise
    )

    def size(made):
        z = torch.cat([made.state.x[0], made.state.y[0]])
        return z.square().sum(0).numpy()

    exact = run_exactly(problem, algorithm, rounds=1, left=nothing, limit=2**16)
    values = size(exact)
    expectation, top = float(values @ exact.weights), float(values.max())
    contexts = (sampled_context(problem, ("e",), block=b) for b in range(40))
    sample = np.concatenate([size(run(problem, algorithm, ctx, rounds=1)) for ctx in contexts])
    low, high = interval(sample, top, 1e-4)
    assert low <= expectation <= high
    assert np.ptp(values) > 0.1 * top  # there was something to average
    assert high - low < np.ptp(values)
    assert sample.min() >= values.min() - 1e-12
    assert sample.max() <= top + 1e-12


# --- identities -----------------------------------------------------------------------------------

SADDLE = QuadraticMinimax(clients=5, dim=3, heterogeneity=0.4, regulariser=0.2)
RELATIVES = (FedNest, FedNestSGD, LFedNest, LFedNestSVRG)


def path(problem, algorithm, rounds=6, names=("path",)):
    kept = []
    run(
        problem, algorithm, sampled_context(problem, names, replicates=2), rounds=rounds,
        kernels=False, watch=lambda s, state: kept.append((state.x[0].clone(), state.y[0].clone())),
    )  # fmt: skip
    return [torch.stack(part) for part in zip(*kept, strict=True)]


@pytest.mark.parametrize("participation", [1.0, 0.4])
def test_where_all_hessians_are_equal_variance_reduction_changes_nothing(participation):
    """∇_y f_i(x, ·) = b_i − A_i x − · on every client: a mean of paths is the path of the mean."""
    given = {
        "terms": 0, "inner_calls": 2, "inner_steps": 4, "outer_steps": 3, "inner_step_size": 0.2,
        "outer_step_size": 0.1, "participation": participation,
    }  # fmt: skip
    one, *others = (path(SADDLE, cls(**given)) for cls in RELATIVES)
    for other in others:
        for mine, theirs in zip(one, other, strict=True):
            torch.testing.assert_close(mine, theirs, rtol=1e-12, atol=1e-13)
    # not so where the Hessians differ, or where the samples do
    for different in (
        QuadraticBilevel(clients=5, hessian_heterogeneity=0.3, offset_heterogeneity=0.5),
        QuadraticMinimax(clients=5, dim=3, heterogeneity=0.4, gradient_noise=0.1),
    ):
        y = [path(different, cls(**given))[1] for cls in (FedNest, FedNestSGD)]
        assert float((y[0] - y[1]).abs().max()) > 1e-4


@pytest.mark.parametrize("cls", RELATIVES)
def test_with_all_clients_they_converge_to_the_saddle(cls):
    algorithm = cls(
        terms=0, inner_calls=2, inner_steps=5, outer_steps=5, inner_step_size=0.3,
        outer_step_size=0.1,
    )  # fmt: skip
    x, y = (part[-1][:, :1] for part in path(SADDLE, algorithm, rounds=150))
    best = torch.from_numpy(SADDLE.solution.minimiser)[:, None]
    torch.testing.assert_close(x, best, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(y, SADDLE.lower_solution(best), rtol=1e-9, atol=1e-9)
    some = cls(
        terms=0, inner_steps=5, outer_steps=5, inner_step_size=0.3, outer_step_size=0.1,
        participation=0.4,
    )  # fmt: skip
    assert float((path(SADDLE, some, rounds=150)[0][-1] - best).norm()) > 1e-3


class UpperLevel:
    """min (1/m) Σ f_i(x), y held: the upper level of a bilevel problem alone."""

    offers, radius = "field", None

    def __init__(self, problem):
        self._problem, self.clients, self.dim = problem, problem.clients, problem.dim

    def start(self):
        return self._problem.start()[: self.dim]

    def oracles(self, dtype, device, clients):
        of = self._problem.oracles(dtype, device, clients)
        y = torch.from_numpy(self._problem.start()[self.dim :])[None, :, None]

        def field_grad(x, xi):
            return of.upper_grad_x(x, y.expand(len(x), -1, x.shape[2]), xi)

        return SimpleNamespace(field_law=of.upper_law, field_grad=field_grad)


def decoupled(**noise):
    """∇²_xy g_i = 0: the lower level says nothing about x."""
    return QuadraticBilevel(
        clients=4, dim=2, lower_dim=2, cross=0.0, regulariser=0.5, regulariser_heterogeneity=0.4,
        tilt=0.6, offset_heterogeneity=0.5, hessian_heterogeneity=0.3, **noise,
    )  # fmt: skip


@pytest.mark.parametrize("participation", [1.0, 0.5])
@pytest.mark.parametrize("terms", [0, 3])
def test_a_single_level_problem_is_one_without_cross_derivatives(participation, terms):
    """FedOut is then FedSVRG, draw by draw, and FedNest's x as well."""
    noisy = decoupled(upper_noise=0.4)
    shared = {"terms": terms, "outer_steps": 3, "outer_step_size": 0.2}
    alone = FedSVRG(local_steps=3, step_size=0.2, participation=participation)

    def models(problem):
        kept = []
        run(
            UpperLevel(problem), alone, sampled_context(problem, ("path",), replicates=2),
            rounds=6, watch=lambda s, state: kept.append(state.x[0].clone()),
        )  # fmt: skip
        return torch.stack(kept)

    x, _ = path(noisy, FedOut(participation=participation, **shared))
    torch.testing.assert_close(x, models(noisy), rtol=1e-13, atol=1e-14)
    if participation == 1.0:  # cohorts are keyed by the step, which FedInn's steps move
        quiet = decoupled()
        x, y = path(quiet, FedNest(inner_steps=2, **shared))
        torch.testing.assert_close(x, models(quiet), rtol=1e-13, atol=1e-14)
        assert float((y[-1] - y[0]).norm()) > 0.1  # which does move
        coupled = QuadraticBilevel(**quiet.values() | {"cross": 0.5})
        moved = path(coupled, FedNest(inner_steps=2, **shared))[0]
        assert (float((moved - x).abs().max()) > 1e-3) is bool(terms)
