"""Label imbalance tuned above a network: against the closed form of softmax regression."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from driftproof.synthetic.image_problems.label_imbalance_oracles import LabelImbalanceOracles
from driftproof.synthetic.network_problems.bilevel import NetworkTuning
from driftproof.synthetic.network_problems.samples import ClientData
from driftproof.toolkit.algorithms import FedNest
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.networks import FourConvolutions, Perceptron, SoftmaxRegression
from driftproof.toolkit.oracles import on_every_client

CLASSES, PIXELS, CLIENTS = 3, 4, 2


def held(samples, seed, example=(PIXELS,)):
    """Return clients with as many samples each, whose class 0 is the most frequent one."""
    random = np.random.default_rng(seed)
    labels = [random.choice(CLASSES, samples, p=(0.6, 0.3, 0.1)) for _ in range(CLIENTS)]
    inputs = [random.normal(size=(samples, *example)) for _ in labels]
    for part, classes in zip(inputs, labels, strict=True):
        part.reshape(samples, -1)[np.arange(samples), classes] += 2.0
    return ClientData(inputs, labels)


def tuned(model, samples=(12, 9), **given):
    train, validation = (held(n, seed, model.example) for seed, n in enumerate(samples))
    return NetworkTuning(model=model, data=train, validation=validation, **given)


def points(problem, replicates=2):
    random = torch.Generator().manual_seed(0)
    shape = problem.clients, len(problem.start()), replicates
    z = torch.from_numpy(problem.start())[None, :, None] + 0.3 * torch.randn(
        shape, generator=random, dtype=torch.float64
    )
    return z[:, : problem.upper_dim], z[:, problem.upper_dim :]


@pytest.mark.parametrize("squash", [False, True])
def test_softmax_regression_has_the_derivatives_of_the_closed_form(squash):
    problem = tuned(SoftmaxRegression().model((PIXELS,), CLASSES), squash=squash)
    ours = problem.oracles(torch.float64)

    def rows(data):
        return np.stack([np.insert(part, PIXELS, 1.0, -1) for part in data.inputs]), np.stack(
            data.targets
        )

    exact = LabelImbalanceOracles(
        rows(problem.data), rows(problem.validation), problem.class_weights,
        clients=range(CLIENTS), ridge=problem.ridge, squash=squash, normalised=False, exact=False,
        smoothness=1.0, dtype=torch.float64,
    )  # fmt: skip
    # our place of each of their parameters, [features and 1, classes]: the weights, then the bias
    weight = np.arange(PIXELS * CLASSES).reshape(CLASSES, PIXELS).T
    place = np.vstack([weight, PIXELS * CLASSES + np.arange(CLASSES)]).ravel()

    def back(theirs):
        return torch.zeros_like(theirs).index_copy(1, torch.from_numpy(place), theirs)

    x, y = points(problem)
    v = torch.randn(y.shape, generator=torch.Generator().manual_seed(1), dtype=y.dtype)
    theirs_y, theirs_v = y[:, place], v[:, place]
    batch = torch.tensor([[[0, 3], [5, 2], [8, 8]]] * CLIENTS)
    for of in ("upper_value", "lower_value"):
        torch.testing.assert_close(getattr(ours, of)(x, y), getattr(exact, of)(x, theirs_y))
    torch.testing.assert_close(ours.lower_grad_x(x, y), exact.lower_grad_x(x, theirs_y))
    for draw in (None, batch):
        for of in ("upper_grad_y", "lower_grad"):
            expected = back(getattr(exact, of)(x, theirs_y, draw))
            torch.testing.assert_close(getattr(ours, of)(x, y, draw), expected)
        assert not ours.upper_grad_x(x, y, draw).any()
        torch.testing.assert_close(
            ours.lower_hessian_product(x, y, v, draw),
            back(exact.lower_hessian_product(x, theirs_y, theirs_v, draw)),
        )
        torch.testing.assert_close(
            ours.lower_cross_product(x, y, v, draw),
            exact.lower_cross_product(x, theirs_y, theirs_v, draw),
        )


@pytest.mark.parametrize(
    "network",
    [
        Perceptron(hidden=3),
        FourConvolutions(filters=2, blocks=1),
        FourConvolutions(filters=2, blocks=1, normalisation="group"),
    ],
)
def test_products_are_differences_of_gradients(network):
    example = (PIXELS,) if isinstance(network, Perceptron) else (1, 4, 4)
    problem = tuned(network.model(example, CLASSES))
    oracles, (x, y) = problem.oracles(torch.float64), points(problem, replicates=1)
    v = torch.randn(y.shape, generator=torch.Generator().manual_seed(1), dtype=y.dtype)
    u = torch.randn(x.shape, generator=torch.Generator().manual_seed(2), dtype=x.dtype)
    step = 1e-5

    def slope(of):
        return (of(step) - of(-step)) / (2 * step)

    grad = oracles.lower_grad
    expected = slope(lambda s: grad(x, y + s * v, None))
    torch.testing.assert_close(
        oracles.lower_hessian_product(x, y, v, None), expected, rtol=1e-4, atol=1e-6
    )
    crossed = (oracles.lower_cross_product(x, y, v, None) * u).sum(1)
    expected = (slope(lambda s: grad(x + s * u, y, None)) * v).sum(1)
    torch.testing.assert_close(crossed, expected, rtol=1e-4, atol=1e-6)
    expected = slope(lambda s: oracles.lower_value(x, y + s * v))
    torch.testing.assert_close((grad(x, y, None) * v).sum(1), expected, rtol=1e-4, atol=1e-6)


def test_the_hypergradient_is_the_slope_of_the_objective():
    """Where the lower level is convex, so that its solution is the one minimiser."""
    problem = tuned(SoftmaxRegression().model((PIXELS,), CLASSES), ridge=0.1)
    x = torch.from_numpy(problem.start()[: problem.upper_dim])[:, None]
    along = torch.linspace(-1, 1, len(x), dtype=x.dtype)[:, None]
    ahead, behind = (float(problem.objective(x + step * along)) for step in (1e-4, -1e-4))
    slope = float((problem.gradient(x) * along).sum())
    assert slope == pytest.approx((ahead - behind) / 2e-4, rel=1e-4)
    y = problem.lower_solution(x)
    every = (on_every_client(part, CLIENTS) for part in (x, y))
    assert float(problem.oracles(torch.float64).lower_grad(*every, None).mean(0).norm()) < 1e-6


def test_fednest_tunes_the_loss_of_a_network():
    problem = tuned(Perceptron(hidden=4).model((PIXELS,), CLASSES), samples=(60, 60))
    ctx = sampled_context(problem, ("test",), replicates=1)
    algorithm = FedNest(inner_calls=5, inner_step_size=0.3, outer_step_size=0.3, batch=6, terms=3)
    state = run(problem, algorithm, ctx, rounds=20).state
    oracles = problem.oracles(torch.float64)
    start = problem.start()
    before, after = (
        float(oracles.upper_value(x, y).mean())
        for x, y in (
            (ctx.everywhere(torch.from_numpy(part)) for part in np.split(start, [2 * CLASSES])),
            (state.x, state.y),
        )
    )
    assert after < before - 0.2
    assert float((state.x[0, :, 0] - torch.from_numpy(start[: 2 * CLASSES])).norm()) > 0.01


@given(st.lists(st.integers(0, 4), min_size=2, max_size=12))
def test_classes_that_occur_weigh_alike_whichever_are_lacking(labels):
    inputs, classes = [np.ones((len(labels), 2))], np.array(labels)
    half = ClientData(inputs, [classes])
    model = SoftmaxRegression().model((2,), 6)
    weights = NetworkTuning(model=model, data=half, validation=half).class_weights
    assert weights[classes].mean() == pytest.approx(1.0)
    of_class = [weights[c] * np.mean(classes == c) for c in set(labels)]
    assert of_class == pytest.approx([1 / len(of_class)] * len(of_class))


def test_clients_need_both_kinds_of_samples():
    model = SoftmaxRegression().model((PIXELS,), CLASSES)
    one = ClientData([np.zeros((1, PIXELS))], [np.zeros(1, np.int64)])
    with pytest.raises(DriftproofError, match="1 with validation samples"):
        NetworkTuning(model=model, data=held(3, 0), validation=one)
