"""Law: what a kernel says that a round costs grows as the round does, and counts what is drawn."""

import math
from dataclasses import replace

import pytest
import torch

from driftproof.synthetic.kernels._composed_cost import Counted
from driftproof.synthetic.problems import (
    KLDRO,
    AveragedComposition,
    BiasAmplification,
    BoundedComposition,
    QuadraticMinimax,
    RandomMinimax,
)
from driftproof.toolkit.algorithms import (
    ComFedL,
    CompositionalFedAvg,
    FedAvg,
    FedAvgS,
    FedDRO,
    LocalSCGDM,
)
from driftproof.toolkit.draws import BLOCK
from driftproof.toolkit.federation import sampled_context
from driftproof.toolkit.kernels.registry import kernel_of
from tests.kernel_cases import COMPOSED, NOISY

PAIRS = [
    (ComFedL(local_steps=5, step_size=0.1, batch=4), KLDRO()),
    (ComFedL(local_steps=2, batch=1, participation=0.5), KLDRO(clients=6, dim=1, samples=3)),
    (ComFedL(local_steps=1, step_size=0.01, batch=7), KLDRO(temperature=0.5, dim=17, ball=2.0)),
    (LocalSCGDM(local_steps=3, momentum=4.0, inner_momentum=6.0), COMPOSED),
    (LocalSCGDM(local_steps=1, samples="one", averaged="mx"), NOISY),
    (LocalSCGDM(local_steps=4, averaged="", step_factor=0.3), BoundedComposition(dim=3)),
    (LocalSCGDM(local_steps=2, averaged="u"), BiasAmplification(heterogeneity="offsets")),
    (FedDRO(local_steps=3, batch=2), COMPOSED),
    (FedDRO(local_steps=1, first_step="computed", batch=4), COMPOSED),
    (FedDRO(local_steps=2, embedding="given", embedding_error=0.4), AveragedComposition()),
    (FedDRO(local_steps=2), NOISY),
    (CompositionalFedAvg(local_steps=3, sharing="case-1"), COMPOSED),
    (CompositionalFedAvg(local_steps=1), BiasAmplification()),
    (CompositionalFedAvg(local_steps=4, decay=1.5), BiasAmplification()),
    (CompositionalFedAvg(local_steps=2, sharing="every-step"), COMPOSED),
]
"""Of the kernels whose costs count what is drawn."""


def cost(algorithm, problem, replicates=BLOCK, real=8):
    return kernel_of(algorithm, problem).cost(algorithm, problem, replicates, real)


def words_drawn(algorithm, problem, replicates):
    """Count the words that a later round of plain steps uses."""
    ctx, used = sampled_context(problem, ("c",), replicates=replicates), 0
    oracles = problem.oracles(torch.float64)
    state = algorithm.init(ctx, oracles, torch.from_numpy(problem.start()))
    drawn = ctx.draw

    def draw(law, name):
        nonlocal used
        if law is not None:
            rows = math.prod(law.shape)
            single = law.words < rows * BLOCK
            used += problem.clients * rows * (1 if single else replicates)
        return drawn(law, name)

    ctx.draw = draw
    for ctx.t in range(algorithm.local_steps, 2 * algorithm.local_steps):
        state = algorithm.step(ctx, oracles, state)
    return used


@pytest.mark.parametrize(("algorithm", "problem"), PAIRS)
@pytest.mark.parametrize("replicates", [1, 10, BLOCK])
def test_the_words_are_those_of_the_plain_steps(algorithm, problem, replicates):
    assert cost(algorithm, problem, replicates).words == words_drawn(algorithm, problem, replicates)


def test_descent_ascent_draws_the_words_of_a_block():
    problem, algorithm = QuadraticMinimax(gradient_noise=0.3), FedAvg(local_steps=4, batch=5)
    assert cost(algorithm, problem).words == words_drawn(algorithm, problem, BLOCK)


@pytest.mark.parametrize(("algorithm", "problem"), PAIRS)
def test_costs_grow_with_replicates_and_precision(algorithm, problem):
    one, all_ = cost(algorithm, problem, 1), cost(algorithm, problem, BLOCK)
    assert all_.flops == BLOCK * one.flops > 0
    assert all_.bytes == BLOCK * one.bytes > 0
    assert cost(algorithm, problem, real=4).bytes * 2 == all_.bytes


@pytest.mark.parametrize(("algorithm", "problem"), PAIRS)
def test_a_longer_round_costs_more_but_not_more_than_as_many_rounds(algorithm, problem):
    short, long = (replace(algorithm, local_steps=steps) for steps in (2, 6))
    assert cost(short, problem).flops < cost(long, problem).flops <= 3 * cost(short, problem).flops
    assert cost(long, problem).words == 3 * cost(short, problem).words


def test_a_step_by_hand():
    """ψ is a line, one Huber function, no noise: counted on paper for d = 2, p = 1."""
    problem = BoundedComposition(clients=3, dim=2, inner_dim=1)
    counted = Counted(problem, BLOCK)
    # g: 1; ∇g: known; f: y − target, its square, comparison, product; a root with a quotient
    assert (counted.value(), counted.slope(), counted.outer()) == ((1, 0, 0), (0, 0, 0), (4, 0, 1))
    # and u: 3, z: 1, m: 6, x: 4, over two steps; then 5 rows are added up
    made = cost(LocalSCGDM(local_steps=2), problem, 1)
    assert made.flops == 3 * (2 * (1 + 4 + 3 + 1 + 6 + 4) + 5)
    assert (made.sines, made.roots, made.signs) == (0, 3 * 2, 0)
    assert made.bytes == 2 * 8 * 3 * 5


def test_sines_and_signs_by_hand():
    """d = p = 4, all of g_k's noise: four angles of ψ, one of the noise, both functions of each."""
    problem = BoundedComposition(
        clients=3,
        dim=4,
        inner_dim=4,
        inner_curvature=0.4,
        inner_value_noise=0.1,
        inner_gradient_noise=0.1,
        outer_gradient_noise=0.1,
    )
    made = cost(LocalSCGDM(local_steps=2), problem, 10)
    assert made.sines == 3 * 10 * 2 * 2 * (4 + 1)
    assert made.signs == 10 * made.words == 3 * 10 * 2 * 3
    counted = Counted(problem, 10)
    # s(1 − c)u + s(c/k) sin ku: 4 a row; two signs: a product, a sum; ξ·a·sin: two and a sum
    assert counted.value() == (4 * 4 + 2 + 3, 5, 0)
    assert counted.slope() == (2 * 5, 5, 0)


def test_a_step_of_both_variables_by_hand():
    """K = 3 clients, d = 2, R = 5: 4·4 operations in two products, 2·2·4 beside them."""
    problem, algorithm = QuadraticMinimax(clients=3, dim=2), FedAvgS(local_steps=4)
    made = cost(algorithm, problem, 5)
    assert made.flops == 3 * 5 * 4 * (16 + 16)
    assert made.bytes == 8 * (3 * (4 + 2) + 2 * 2 * 2 * 5)  # A and b; x and y, in and out
    assert made.words == 0
    assert made == cost(FedAvg(local_steps=4), problem, 5)
    third = cost(replace(algorithm, participation=0.3), problem, 1)
    assert third.flops * 15 == made.flops
    assert third.bytes == 8 * (1 * (4 + 2) + 2 * 2 * 2)
    diagonal = cost(algorithm, RandomMinimax(clients=3, dim=2), 5)
    assert diagonal.flops == 3 * 5 * 4 * (8 + 16)
