"""Bilevel oracles by automatic differentiation, against formulas and against other oracles."""

import numpy as np
import pytest
import torch

from driftproof.synthetic.problems.quadratic_bilevel import QuadraticBilevel
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.algorithms.fednest import FedNest
from driftproof.toolkit.algorithms.lfednest import LFedNest
from driftproof.toolkit.autograd_bilevel import AutogradBilevel
from driftproof.toolkit.bilevel import BilevelProblem
from driftproof.toolkit.draws import Indices, Words
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.oracles import Bilevel

D1, D2, REPLICATES = 3, 4, 2
ORACLES = ("upper_grad_x", "upper_grad_y", "lower_grad")
PRODUCTS = ("lower_hessian_product", "lower_cross_product")


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=generator(seed), dtype=torch.float64)


def upper(x, y, sample):
    a, label = sample
    return torch.nn.functional.softplus(-label * (a @ y)) + x @ x / 2


def lower(x, y, sample):
    """Logistic loss with a weight for each feature, e^x on the first D1."""
    a, label = sample
    scores = label * (a @ y)
    weighted = torch.nn.functional.softplus(-scores) * torch.exp(x[0])
    return weighted + torch.exp(x[1:]) @ (y[: D1 - 1] ** 2) / 2 + y @ y / 2


def data(sizes=(5, 3, 1)):
    made = []
    for k, n in enumerate(sizes):
        a = random(n, D2, seed=k)
        made.append((a, torch.sign(random(n, seed=10 + k))))
    return made


@pytest.fixture(scope="module")
def logistic():
    held = data()
    return held, AutogradBilevel(
        upper, lower, upper_data=held, lower_data=held, upper_dim=D1, lower_smoothness=2.0
    )


@pytest.fixture(scope="module")
def points():
    clients = 3
    return (
        random(clients, D1, REPLICATES, seed=20) / 3,
        random(clients, D2, REPLICATES, seed=21),
        random(clients, D2, REPLICATES, seed=22),
    )


def by_hand(a, label, x, y, v):
    """∇_y g, ∇²_yy g v, ∇²_xy g v and ∇_x g of one client and replicate, in numpy."""
    a, label, x, y, v = (part.numpy() for part in (a, label, x, y, v))
    p = 1 / (1 + np.exp(label * (a @ y)))  # of the wrong label
    scale, ridge = np.exp(x[0]), np.ones(D2)
    ridge[: D1 - 1] += np.exp(x[1:])
    slope = -(a * (label * p)[:, None]).mean(0)
    gradient = scale * slope + ridge * y
    hessian = scale * (a * (p * (1 - p))[:, None]).T @ a / len(a) + np.diag(ridge)
    cross = np.concatenate([[scale * slope @ v], np.exp(x[1:]) * (y * v)[: D1 - 1]])
    value = np.log1p(np.exp(-label * (a @ y))).mean()
    of_x = np.concatenate([[scale * value], np.exp(x[1:]) * y[: D1 - 1] ** 2 / 2])
    return gradient, hessian @ v, cross, of_x


def test_a_logistic_problem_is_as_by_hand(logistic, points):
    held, oracles = logistic
    x, y, v = points
    made = (
        oracles.lower_grad(x, y, None),
        oracles.lower_hessian_product(x, y, v, None),
        oracles.lower_cross_product(x, y, v, None),
        oracles.lower_grad_x(x, y),
    )
    for i, (a, label) in enumerate(held):
        for r in range(REPLICATES):
            wanted = by_hand(a, label, x[i, :, r], y[i, :, r], v[i, :, r])
            for got, want in zip(made, wanted, strict=True):
                np.testing.assert_allclose(got[i, :, r], want, rtol=1e-12, atol=1e-14)


def test_the_upper_level_is_as_by_hand(logistic, points):
    held, oracles = logistic
    x, y, _ = points
    value = oracles.upper_value(x, y)
    for i, (a, label) in enumerate(held):
        scores = label[:, None] * (a @ y[i])
        wanted = torch.log1p(torch.exp(-scores)).mean(0) + (x[i] ** 2).sum(0) / 2
        torch.testing.assert_close(value[i], wanted)
        slope = -(label[:, None] / (1 + torch.exp(scores))).T @ a / len(a)
        torch.testing.assert_close(oracles.upper_grad_y(x, y, None)[i], slope.T)
    torch.testing.assert_close(oracles.upper_grad_x(x, y, None), x)


def test_a_minibatch_is_the_mean_of_its_samples(logistic, points):
    """Each replicate has its own draw; a client's numbers stay below its own size."""
    held, oracles = logistic
    x, y, v = points
    law = oracles.lower_law(4)
    assert isinstance(law, Indices)
    assert law.samples == (5, 3, 1)
    words = Words("a").draw(law, "zeta", block=0, step=0, clients=range(3))
    drawn = torch.from_numpy(law.sample(words, range(3), REPLICATES))
    for name in (*ORACLES[1:], *PRODUCTS):
        more = (v,) if name in PRODUCTS else ()
        got = getattr(oracles, name)(x, y, *more, drawn)
        for i, (a, label) in enumerate(held):
            for r in range(REPLICATES):
                chosen = [(a[drawn[i, :, r]], label[drawn[i, :, r]])]
                alone = AutogradBilevel(
                    upper,
                    lower,
                    upper_data=chosen,
                    lower_data=chosen,
                    upper_dim=D1,
                    lower_smoothness=2.0,
                )
                at = [part[i : i + 1, :, r : r + 1] for part in (x, y, *more)]
                want = getattr(alone, name)(*at, None)
                torch.testing.assert_close(got[i, :, r], want[0, :, 0])


def test_some_clients_alone_are_the_same(logistic, points):
    held, oracles = logistic
    x, y, v = points
    some = AutogradBilevel(
        upper,
        lower,
        upper_data=held,
        lower_data=held,
        upper_dim=D1,
        lower_smoothness=2.0,
        clients=range(1, 3),
    )
    assert some.clients == 2
    assert some.lower_law(2).samples == (5, 3, 1)
    made, wanted = (
        of.lower_hessian_product(*at, None)
        for of, at in ((some, (x[1:], y[1:], v[1:])), (oracles, (x, y, v)))
    )
    torch.testing.assert_close(made, wanted[1:])


@pytest.mark.parametrize(
    "algorithm", [FedNest.examples()[0], FedNest.examples()[1], LFedNest.examples()[0]]
)
def test_an_algorithm_runs_alike_on_both(algorithm: Algorithm):
    """The member with different clients; the series' N' is drawn alike in both runs."""
    member = QuadraticBilevel.examples()[1]
    states = []
    for problem in (member, ByAutograd(member)):
        ctx = sampled_context(problem, ("test",), replicates=2)
        states.append(run(problem, algorithm, ctx, rounds=3).state)
    for one, other in zip(*states, strict=True):
        torch.testing.assert_close(one, other)


class ByAutograd(BilevelProblem):
    """A quadratic problem whose oracles are differentiated, not written."""

    def __init__(self, of: QuadraticBilevel) -> None:
        self.of, self.clients, self.dim = of, of.clients, of.dim

    upper_dim = property(lambda self: self.of.dim)
    constants = property(lambda self: self.of.constants)
    solution = property(lambda self: self.of.solution)

    def start(self):
        return self.of.start()

    def lower_solution(self, x):
        return self.of.lower_solution(x)

    def oracles(self, dtype, device="cpu", clients=None) -> Bilevel:
        of, parts = self.of, self.of.parts
        letters = ("H", "C", "e", "a", "lambda", "kappa")
        held = [
            tuple(torch.from_numpy(np.array(parts[k][i : i + 1])) for k in letters)
            for i in range(of.clients)
        ]

        def f(x, y, sample):
            away = y - sample[3]
            plain = sample[4] / 2 * (x @ x) + sample[5] * x[0]
            return of.upper_curvature / 2 * (away @ away) + plain

        def g(x, y, sample):
            return y @ sample[0] @ y / 2 - y @ (sample[1] @ x + sample[2])

        return AutogradBilevel(
            f,
            g,
            upper_data=held,
            lower_data=held,
            upper_dim=of.dim,
            clients=clients,
            lower_smoothness=of.constants["lower_smoothness"],
            dtype=dtype,
            device=device,
        )
