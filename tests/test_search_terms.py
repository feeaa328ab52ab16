"""Losses with a term, as a search makes them: against brute force, and a bound's tight constant."""

import numpy as np
import pytest
import torch

from driftproof import Assumption, bound, each, grid
from driftproof.algorithms import ProximalGradient, ProximalPoint
from driftproof.problems import CompositeQuadratic
from driftproof.synthetic.problems.piecewise_terms import PiecewiseTerms
from driftproof.toolkit.balls.tensor import Balls, lift
from driftproof.verifiers.search.families import FAMILIES
from driftproof.verifiers.search.finding import NOTHING, VERIFIED
from driftproof.verifiers.search.search import Effort, falsify
from driftproof.verifiers.search.structure import Structure
from tests.test_search_families import column, decoded

TERMS = ("kinks", "box", "none")


def members(term, seed):
    of = Structure("piecewise-terms", clients=3, knots=3, convex=True, term=term)
    family = FAMILIES["piecewise-terms"]
    parts, _ = decoded(family, of, seed)
    return [family.member(column(parts, k), of) for k in range(5)]


def h(member, y):
    """Return h on a line, from the parameters alone."""
    kinks = np.array(member.kinks)[:, 0]
    if member.term == "box":
        return np.where((y < min(0, *kinks)) | (y > max(0, *kinks)), np.inf, 0.0)
    return sum(w * abs(y - t) for t, w in zip(kinks, np.array(member.weights)[:, 0], strict=True))


@pytest.mark.parametrize("term", TERMS)
@pytest.mark.parametrize("seed", range(3))
def test_optimum_and_prox_are_those_of_a_grid(term, seed):
    for member in members(term, seed):
        best = float(member.minimiser[0])
        ends = [0.0, best, *np.ravel(member.kinks)]
        line = np.sort([*np.linspace(min(ends) - 1, max(ends) + 1, 4001), *ends])
        y = torch.from_numpy(line)
        f = member.smooth_part(y[None]).numpy()
        whole = f + (0 if term == "none" else h(member, line))
        assert member.solution.low <= whole.min() + 1e-12 * abs(f).max()
        assert whole.min() == pytest.approx(member.solution.high, rel=1e-9, abs=1e-9)
        oracles, t = member.oracles(torch.float64), 0.37
        for x in (-2.0, 0.1, 3.0):
            z = oracles.prox(torch.full((3, 1, 1), x, dtype=torch.float64), t)
            for client in range(3):
                own = oracles.mean_loss(y.expand(3, 1, -1))[client] if term == "none" else None
                value = (h(member, line) if own is None else own.numpy()) + (line - x) ** 2 / (
                    2 * t
                )
                nearest = line[np.argmin(value)]
                step = np.diff(line).max()
                inside = line[0] <= float(z[client]) <= line[-1]
                assert not inside or abs(float(z[client]) - nearest) <= step + 1e-12


@pytest.mark.parametrize("member", PiecewiseTerms.examples(), ids=lambda x: x.term)
def test_prox_in_balls_contains_the_one_in_doubles(member):
    x = torch.linspace(-4, 4, 9, dtype=torch.float64).expand(member.clients, member.dim, -1)
    oracles = member.oracles(torch.float64)
    balls = lift(oracles.prox(Balls.of(x.numpy()), Balls.of(0.3)))
    plain = oracles.prox(x, 0.3).numpy()
    assert np.allclose(np.vectorize(float)(balls), plain, rtol=0, atol=1e-14)


def end(view):
    return each("round", "local_step", view.gap(view.mean("w"))) if view.last else None


SMALL = Assumption("small", r"\eta \le 1/L", relation=lambda c: c.eta * c.L <= 1)
ALONE = Assumption("alone", "n = 1", relation=lambda c: c.n <= 1)
TIGHT = {
    "prox": (
        grid(CompositeQuadratic(), ProximalGradient(step_size=1.0), rounds=[1, 2]),
        [SMALL],
        lambda c: c.R**2 / (4 * c.eta * c.T),
    ),
    "own": (
        grid(CompositeQuadratic(term="none", clients=1), ProximalPoint(), rounds=[1, 2]),
        [ALONE],
        lambda c: c.R**2 / (4 * c.eta * c.T),
    ),
}


@pytest.mark.parametrize("method", TIGHT)
@pytest.mark.parametrize(("factor", "status"), [(1.0, NOTHING), (0.9, VERIFIED)])
def test_a_tight_constant_stands_and_nine_tenths_of_it_fall(method, factor, status):
    cases, assumes, right = TIGHT[method]
    claim = bound(
        name=f"terms/{method}",
        source="s",
        statement="x",
        cases=cases,
        assumes=assumes,
        right=lambda c: factor * right(c),
    )(end)
    (found,) = falsify([claim], Effort(climbs=6, seed=0))
    assert found.status == status, found
