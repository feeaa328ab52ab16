"""Local-SCGDM and the methods it is compared with, each written a second time client by client.

Plain numpy loops, with the averages written out: the oracles here hold one client each, and one
replicate, so that nothing of the batched layout is shared with what is tested.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from driftproof.synthetic.oracles.composed import BoundedOracles
from driftproof.synthetic.problems import (
    KLDRO,
    MAML,
    AveragedComposition,
    BiasAmplification,
    BoundedComposition,
)
from driftproof.toolkit.algorithms import (
    GCIVR,
    MBSGD,
    ComFedL,
    CompositionalFedAvg,
    LocalBSGD,
    LocalMOML,
    LocalSCGD,
    LocalSCGDM,
)
from driftproof.toolkit.draws import SignMean, Subset, Words
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run, run_exactly, sampled_context
from driftproof.toolkit.kernels.registry import kernel_of
from driftproof.toolkit.measure import average
from driftproof.verifiers.papers.feddro.claims.algorithm_1 import transcribed

WRITTEN = {
    "local-bsgd",
    "local-scgd",
    "local-scgdm",
    "local-moml",
    "gcivr",
    "mbsgd",
    "compositional-fedavg",
}
ROUNDS, NAMES = 4, ("compositional",)
NOISE = {"inner_value_noise": 0.1, "inner_gradient_noise": 0.2, "outer_gradient_noise": 0.3}
SHAPE = {"dim": 2, "inner_dim": 3, "inner_curvature": 0.4}


class Skew(BoundedComposition):
    """A start with every coordinate at work, within reach of the outer function's curvature."""

    def start(self):
        return np.array([0.8, -0.5, 0.3])[: self.dim]


class MixedOracles(BoundedOracles):
    """The oracles of a composition, and h_k(x) = ½ c_k ‖x‖² with c_k = k + 1, multiplied noise."""

    def __init__(self, of, dtype, device, clients):
        super().__init__(of, dtype, device, clients)
        self._bend = torch.tensor(list(clients), dtype=dtype, device=device)[:, None, None] + 1

    def plain_law(self, batch):
        return SignMean(batch, (1,)) if self.parts.outer_noise else None

    def plain_grad(self, x, xi):
        return self._bend * x * (1.0 if xi is None else 1.0 + 0.4 * xi)

    def plain_value(self, x):
        return 0.5 * self._bend[..., 0] * (x * x).sum(1)


class Mixed(Skew):
    """Problem (2) of FedDRO, h + f(g) with the mean of g_k inside: h is not 0, f is common."""

    inside = True
    oracle_type = MixedOracles


class Client:
    """One client and one replicate, draw by draw, in numpy."""

    def __init__(self, problem, number):
        self.only = range(number, number + 1)
        self.oracles = problem.oracles(torch.float64, clients=self.only)
        self.words = Words(*NAMES)

    def draw(self, law, name, t):
        if law is None:
            return None
        words = self.words.draw(law, name, block=0, step=t, clients=self.only)
        return torch.from_numpy(law.sample(words, self.only, 1))

    def xi(self, batch, t, name="xi"):
        return self.draw(self.oracles.inner_law(batch), name, t)

    def zeta(self, batch, t, xi=None):
        """ζ, or the outer function's view of the sample ξ (samples="one")."""
        if xi is not None:
            return self.oracles.same_sample(xi)
        return self.draw(self.oracles.outer_law(batch), "zeta", t)

    def taking_part(self, a, rows, t):
        """Which tasks are sampled, a number a row of the inner value: n/|S| or 0."""
        if not a.sampled_tasks:
            return np.ones(rows)
        law = Subset(a.task_blocks, a.sampled_tasks)
        chosen = np.flatnonzero(self.draw(law, "tasks", t)[0, :, 0])
        factor = np.zeros((a.task_blocks, rows // a.task_blocks))
        factor[chosen] = a.task_blocks / len(chosen)
        return factor.ravel()

    def g(self, x, xi):
        return self.oracles.inner(_in(x), xi)[0][0, :, 0].numpy()

    def jacobian(self, x, xi):
        """[inner_dim, dim], from the pullbacks of the rows of the identity."""
        value, pullback = self.oracles.inner(_in(x), xi)
        return np.array([pullback(_in(row))[0, :, 0].numpy() for row in np.eye(value.shape[1])])

    def outer(self, y, zeta):
        return self.oracles.outer_grad(_in(y), zeta)[0, :, 0].numpy()

    def plain(self, x, xi):
        return self.oracles.plain_grad(_in(x), xi)[0, :, 0].numpy()


def _in(x):
    return torch.from_numpy(np.asarray(x))[None, :, None]


def clients_of(problem):
    return [Client(problem, k) for k in range(problem.clients)]


def everyone(values):
    """Every client's copy of the mean, summed by hand."""
    mean = sum(values) / len(values)
    return [mean for _ in values]


def shared(a, xi):
    """What ζ is made of where it is no draw of its own."""
    return xi if a.samples == "one" else None


def local_bsgd(problem, a):
    clients = clients_of(problem)
    xs = [problem.start() for _ in clients]
    for t in range(ROUNDS * a.local_steps):
        for k, at in enumerate(clients):
            xi = at.xi(a.batch, t)
            value, zeta = at.g(xs[k], xi), at.zeta(a.outer_batch, t, shared(a, xi))
            slope = at.taking_part(a, len(value), t) * at.outer(value, zeta)
            xs[k] = xs[k] - a.step_size * at.jacobian(xs[k], xi).T @ slope
        if t % a.local_steps == a.local_steps - 1:
            xs = everyone(xs)
    return {"x": xs}


def local_scgd(problem, a, share_u=True):
    clients = clients_of(problem)
    xs = [problem.start() for _ in clients]
    us = [at.g(problem.start(), at.xi(a.batch, 0, "xi-start")) for at in clients]
    for t in range(ROUNDS * a.local_steps):
        for k, at in enumerate(clients):
            xi, old = at.xi(a.batch, t), us[k]
            part = at.taking_part(a, len(old), t)
            new = (1 - a.inner_momentum) * old + a.inner_momentum * at.g(xs[k], xi)
            us[k] = np.where(part > 0, new, old)
            seen = {"before": old, "after": us[k]}[a.evaluate_at]
            slope = at.outer(seen, at.zeta(a.outer_batch, t, shared(a, xi)))
            z = at.jacobian(xs[k], xi).T @ (part * slope)
            xs[k] = xs[k] - a.step_size * z
        if t % a.local_steps == a.local_steps - 1:
            xs = everyone(xs)
            us = everyone(us) if share_u else us
    return {"x": xs, "u": us}


def local_moml(problem, a, share_u=False):
    clients = clients_of(problem)
    xs = [problem.start() for _ in clients]
    us = [at.g(problem.start(), at.xi(a.batch, 0, "xi-start")) for at in clients]
    for t in range(ROUNDS * a.local_steps):
        for k, at in enumerate(clients):
            xi = at.xi(a.batch, t)
            part = at.taking_part(a, len(us[k]), t)
            us[k] = us[k] + (part > 0) * a.inner_momentum * (at.g(xs[k], xi) - us[k])
            z = at.jacobian(xs[k], xi).T @ (part * at.outer(us[k], at.zeta(a.outer_batch, t)))
            xs[k] = xs[k] - a.step_size * z
        if t % a.local_steps == a.local_steps - 1:
            xs = everyone(xs)
            us = everyone(us) if share_u else us
    return {"x": xs, "u": us}


def local_scgdm(problem, a):
    """Algorithm 1 of Local-SCGDM (2022); the numbers are its lines."""
    clients, none = clients_of(problem), [None] * problem.clients
    held = {"x": [problem.start() for _ in clients], "u": list(none), "m": list(none)}
    xs, us, ms = held.values()
    eta, keep = a.step_size, 1 - a.momentum * a.step_size
    for t in range(ROUNDS * a.local_steps):  # 1
        for k, at in enumerate(clients):
            xi = at.xi(1, t)
            g = at.g(xs[k], xi)
            part, new = at.taking_part(a, len(g), t), g  # 3
            if t > 0:  # 7; section 5.1: a task that is not drawn keeps its u_i
                new = (1 - a.inner_momentum * eta) * us[k] + a.inner_momentum * eta * g
                new = np.where(part > 0, new, us[k])
            us[k] = new
            slope = at.outer(us[k], at.zeta(1, t, shared(a, xi)))
            z = at.jacobian(xs[k], xi).T @ (part * slope)  # 4, 8
            ms[k] = z if t == 0 else keep * ms[k] + a.momentum * eta * z  # 5, 9
            xs[k] = xs[k] - a.step_factor * eta * ms[k]  # 11
        if t % a.local_steps == a.local_steps - 1:  # 12
            for name, values in held.items():  # 13, 14, 15
                values[:] = everyone(values) if name in a.averaged else values
    return held


def gcivr(problem, a, same_sample=True, own_y=False):
    clients = clients_of(problem)
    x, before = problem.start(), None
    ys, zs, vs = ([None] * len(clients) for _ in range(3))
    for t in range(ROUNDS):
        for k, at in enumerate(clients):
            plain = at.oracles.plain_law
            if t % a.epoch_steps == 0:
                size = a.outer_batch
                xi = at.xi(size, t, "zeta-epoch") if size else None
                h = at.draw(plain(size), "xi-epoch", t) if size else None
                ys[k], zs[k], vs[k] = at.g(x, xi), at.jacobian(x, xi), at.plain(x, h)
                continue
            xi, h = (
                at.xi(a.batch, t, "zeta-difference"),
                at.draw(plain(a.batch), "xi-difference", t),
            )
            other = xi if same_sample else at.xi(a.batch, t, "another")
            ys[k] = ys[k] + at.g(x, xi) - at.g(before, other)
            zs[k] = zs[k] + at.jacobian(x, xi) - at.jacobian(before, other)
            vs[k] = vs[k] + at.plain(x, h) - at.plain(before, h)
        shared = ys if own_y else everyone(ys)
        parts = [
            v + z.T @ at.outer(y, None) for v, z, y, at in zip(vs, zs, shared, clients, strict=True)
        ]
        before, x = x, x - a.step_size * everyone(parts)[0]
    return {"x": [x for _ in clients], "y": ys, "z": [z.ravel() for z in zs], "v": vs}


def mbsgd(problem, a):
    clients, x = clients_of(problem), problem.start()
    for t in range(ROUNDS):
        drawn = [at.xi(a.batch, t, "zeta") for at in clients]
        y = everyone([at.g(x, xi) for at, xi in zip(clients, drawn, strict=True)])[0]
        plain = [at.draw(at.oracles.plain_law(a.batch), "xi", t) for at in clients]
        parts = [
            at.plain(x, h) + at.jacobian(x, xi).T @ at.outer(y, None)
            for at, xi, h in zip(clients, drawn, plain, strict=True)
        ]
        x = x - a.step_size * everyone(parts)[0]
    return {"x": [x for _ in clients]}


MANY = 3
TRIO = Skew(clients=MANY, heterogeneity=0.5, inner_heterogeneity=0.5, **SHAPE, **NOISE)
MIXED = Mixed(clients=MANY, inner_heterogeneity=0.5, **SHAPE, **NOISE)
ONE = Skew(clients=1, **SHAPE, **NOISE)
AVERAGED = AveragedComposition(
    clients=3,
    dim=2,
    inner_dim=2,
    inner_curvature=0.5,
    inner_heterogeneity=0.4,
    inner_offset=0.6,
    distance=1.1,
)
TASKS = replace(TRIO, dim=3, inner_dim=4)
LOOPS = {
    LocalBSGD: local_bsgd,
    LocalSCGD: local_scgd,
    LocalSCGDM: local_scgdm,
    LocalMOML: local_moml,
    GCIVR: gcivr,
    MBSGD: mbsgd,
}
SCGDM = LocalSCGDM(local_steps=3, step_size=0.2, momentum=2.0, inner_momentum=3.0, step_factor=0.7)
INSIDE = (GCIVR, MBSGD)
CASES = [
    (algorithm, problem)
    for family in LOOPS
    for algorithm in family.examples()
    for problem in ((ONE, MIXED) if family in INSIDE else (ONE, TRIO))
    if not getattr(algorithm, "sampled_tasks", 0)
]
CASES += [
    (LocalSCGD(local_steps=2, evaluate_at="before", inner_momentum=0.9, batch=3), TRIO),
    (LocalSCGD(local_steps=1, evaluate_at="after", inner_momentum=0.2), TRIO),
    (LocalMOML(local_steps=3), KLDRO(clients=3, samples=4)),
    (LocalSCGD(local_steps=2, task_blocks=4, sampled_tasks=3, evaluate_at="after"), TASKS),
    (LocalSCGD(local_steps=3, task_blocks=2, sampled_tasks=1), TASKS),
    (LocalMOML(local_steps=2, task_blocks=2, sampled_tasks=1), TASKS),
    (LocalMOML(task_blocks=2, sampled_tasks=2), TASKS),
    (LocalBSGD(local_steps=2, task_blocks=4, sampled_tasks=3), TASKS),
    (LocalBSGD(local_steps=2), MAML(clients=2, gradient_noise=0.2)),
    *(
        (replace(SCGDM, averaged=averaged, samples=samples), TRIO)
        for averaged in ("umx", "mx", "x", "ux", "")
        for samples in ("one", "two")
    ),
    *(
        (replace(SCGDM, averaged="ux", task_blocks=tasks, sampled_tasks=sampled), TASKS)
        for tasks, sampled in ((2, 1), (4, 3), (4, 4), (2, 0))
    ),
    (GCIVR(epoch_steps=1, outer_batch=2), MIXED),
    (GCIVR(epoch_steps=9, outer_batch=1), MIXED),
    (GCIVR(epoch_steps=2), TRIO),
    (GCIVR(epoch_steps=2), KLDRO(clients=3, form="log", heterogeneity=2.0)),
    *(
        (CompositionalFedAvg(local_steps=3, step_size=0.15, sharing=sharing, decay=decay), problem)
        for sharing in ("case-1", "case-2", "every-step")
        for decay in (0.0, 1.5)
        for problem in (AVERAGED, BiasAmplification(), BiasAmplification(heterogeneity="offsets"))
    ),
]
LOOPS[CompositionalFedAvg] = lambda problem, a: {"x": transcribed(problem, a, ROUNDS)}


def final(problem, algorithm, rounds=ROUNDS):
    ctx = sampled_context(problem, NAMES, replicates=2)
    return run(problem, algorithm, ctx, rounds=rounds, kernels=False).state


def apart(problem, algorithm, other):
    """Return the largest difference of a client's iterate from the loops' ``other`` gives."""
    held = final(problem, algorithm).x[..., 0].numpy()
    return np.abs(held - np.array(other["x"])).max()


@pytest.mark.parametrize(("algorithm", "problem"), CASES)
def test_every_client_is_as_the_loops_have_it(algorithm, problem):
    state, loops = final(problem, algorithm), LOOPS[type(algorithm)](problem, algorithm)
    for name, values in loops.items():
        held = getattr(state, name)[..., 0].numpy()
        np.testing.assert_allclose(held, np.array(values), rtol=1e-12, atol=1e-13, err_msg=name)


@pytest.mark.parametrize(
    ("algorithm", "loops"),
    [
        (LocalBSGD(), lambda a: local_bsgd(TRIO, replace(a, batch=2))),
        (LocalBSGD(), lambda a: local_scgd(TRIO, LocalSCGD(evaluate_at="after"))),
        (LocalBSGD(), lambda a: local_bsgd(TRIO, replace(a, samples="one"))),
        (LocalSCGD(), lambda a: local_scgd(TRIO, replace(a, samples="one"))),
        (LocalSCGD(), lambda a: local_scgd(TRIO, replace(a, evaluate_at="after"))),
        (LocalSCGD(), lambda a: local_scgd(TRIO, a, share_u=False)),
        (LocalMOML(), lambda a: local_moml(TRIO, a, share_u=True)),
        (LocalMOML(), lambda a: local_scgd(TRIO, LocalSCGD(step_size=a.step_size))),
        (LocalMOML(task_blocks=3, sampled_tasks=2), lambda a: local_moml(TRIO, LocalMOML())),
        (
            LocalMOML(task_blocks=3, sampled_tasks=2),
            lambda a: local_moml(TRIO, replace(a, task_blocks=3, sampled_tasks=1)),
        ),
        (SCGDM, lambda a: local_scgdm(TRIO, replace(a, averaged="mx"))),
        (SCGDM, lambda a: local_scgdm(TRIO, replace(a, samples="one"))),
        (SCGDM, lambda a: local_scgdm(TRIO, replace(a, task_blocks=3, sampled_tasks=2))),
        (MBSGD(), lambda a: mbsgd(MIXED, replace(a, batch=2))),
        (MBSGD(), lambda a: mbsgd(TRIO, a)),
        (GCIVR(epoch_steps=3), lambda a: gcivr(MIXED, a, same_sample=False)),
        (GCIVR(epoch_steps=3), lambda a: gcivr(MIXED, a, own_y=True)),
        (GCIVR(epoch_steps=3), lambda a: gcivr(MIXED, replace(a, epoch_steps=2))),
        (GCIVR(epoch_steps=3), lambda a: gcivr(MIXED, replace(a, outer_batch=1))),
    ],
)
def test_another_reading_is_told_apart(algorithm, loops):
    """Negative controls: a wrong variant is many orders of magnitude beyond the tolerance."""
    problem = MIXED if isinstance(algorithm, INSIDE) else TRIO
    same = LOOPS[type(algorithm)](problem, algorithm)
    assert apart(problem, algorithm, same) < 1e-12
    assert apart(problem, algorithm, loops(algorithm)) > 1e-4


@pytest.mark.parametrize("local_steps", [1, 3])
def test_without_memory_scgd_is_bsgd_and_comfedl(local_steps):
    """At γ = 1 and the newest u, whatever the noise and p: Local-SCGDM's remark on Huang et al."""
    common = {"local_steps": local_steps, "step_size": 0.05, "batch": 2}
    plain = final(TRIO, LocalBSGD(**common)).x
    forgetful = LocalSCGD(inner_momentum=1.0, evaluate_at="after", **common)
    torch.testing.assert_close(final(TRIO, forgetful).x, plain, rtol=0, atol=0)
    unkept = LocalMOML(inner_momentum=1.0, **common)
    torch.testing.assert_close(final(TRIO, unkept).x, plain, rtol=0, atol=0)
    torch.testing.assert_close(final(TRIO, ComFedL(**common)).w, plain, rtol=1e-14, atol=1e-15)
    late = LocalSCGD(inner_momentum=1.0, evaluate_at="before", **common)
    assert (final(TRIO, late).x - plain).abs().max() > 1e-3


@pytest.mark.parametrize("sampled", [1, 2, 3])
def test_a_step_on_sampled_tasks_is_the_whole_step_in_expectation(sampled):
    """Where u is exact, and over every subset of every client's tasks."""
    problem = Skew(clients=2, dim=3, inner_dim=3, inner_curvature=0.4, heterogeneity=0.5)
    exact = {"inner_momentum": 1.0, "local_steps": 1}
    whole = final(problem, LocalMOML(**exact), rounds=1).x[0, :, 0]
    algorithm = LocalMOML(task_blocks=3, sampled_tasks=sampled, **exact)
    made = run_exactly(
        problem,
        algorithm,
        rounds=1,
        left=lambda view: average("round", view.round_start("x").sum(0)),
        limit=64,
    )
    assert len(made.weights) == math.comb(3, sampled) ** 2
    expected = made.state.x[0] @ torch.from_numpy(made.weights)
    torch.testing.assert_close(expected, whole, rtol=1e-13, atol=1e-14)
    if sampled < 3:
        assert made.state.x[0].std(1).max() > 1e-3  # the subsets do differ


def test_tasks_that_do_not_divide_the_inner_value_are_refused():
    with pytest.raises(DriftproofError, match="an inner value of 3 rows"):
        final(TRIO, LocalSCGD(task_blocks=2, sampled_tasks=1))
    with pytest.raises(DriftproofError, match="at most task_blocks = 2"):
        LocalSCGD(task_blocks=2, sampled_tasks=3)


def test_local_scgdms_kernel_serves_all_tasks():
    for sampled, served in ((0, True), (2, True), (1, False)):
        algorithm = replace(SCGDM, task_blocks=2, sampled_tasks=sampled)
        assert (kernel_of(algorithm, TASKS) is not None) is served


def test_one_sample_needs_a_problem_that_has_one():
    problem = MAML(gradient_noise=0.2)
    with pytest.raises(DriftproofError, match="sampled apart"):
        run(problem, LocalSCGDM(samples="one"), sampled_context(problem, ("o",)), rounds=1)
    with pytest.raises(DriftproofError, match="αη < 1"):
        LocalSCGDM(step_size=0.5, momentum=2.0)
