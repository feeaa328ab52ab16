"""ComFedL: the floor of sampled clients by its own code, and what a bound of ours assumes."""

import numpy as np
import pytest

from driftproof.synthetic.problems.piecewise_composition import PiecewiseComposition
from driftproof.toolkit.algorithms.comfedl import ComFedL
from driftproof.toolkit.cases import Case
from driftproof.toolkit.federation import run_exactly
from driftproof.verifiers.judges.assumptions import unmet
from driftproof.verifiers.papers.comfedl.claims._theorem_bounds import squared_gradient
from driftproof.verifiers.papers.comfedl.claims.full_participation import full_participation


@pytest.mark.parametrize("branch", ["general", "special"])
@pytest.mark.parametrize(("tau", "eta"), [(1, 0.5), (1, 0.1), (1, 1.0), (3, 0.2)])
def test_the_floor_of_sampled_clients_is_comfedls(branch, tau, eta):
    """The closed form of ``optimal_rate``, against all draws of one of the two clients."""
    problem = PiecewiseComposition(
        outer=((((-2.0, -2.0), (2.0, 2.0)),),) * 2,
        offsets=((0.0,), (2.0,)),  # w − 1 and w + 1, where the start is w = 1
    )
    method = ComFedL(local_steps=tau, step_size=eta, participation=0.5, branch=branch)
    rounds = 6
    ran = run_exactly(problem, method, rounds=rounds, left=squared_gradient, limit=2**rounds)
    assert len(ran.weights) == 2**rounds
    q = (1 - eta) ** tau
    limit = (1 - q) / (1 + q)
    squares = [limit + (1 - limit) * q ** (2 * s) for s in range(rounds)]
    assert ran.values[0] @ ran.weights == pytest.approx(np.mean(squares), abs=1e-14)
    for name, stated in {
        "inner_gradient_bound": 1,
        "outer_gradient_bound": 2,
        "inner_smoothness": 0,
        "outer_smoothness": 1,
        "objective_smoothness": 1,
    }.items():
        assert problem.constants[name] == pytest.approx(stated, rel=1e-12)


def test_a_small_step_and_all_clients_are_checked_for_each_case():
    form = full_participation.forms[0]
    (case, *_) = full_participation.cases
    for change, said in (({"step_size": 1.5}, "step size"), ({"participation": 0.5}, "clients")):
        problem = type(case.problem)(clients=4)
        made = Case(problem, type(case.algorithm)(**change), 1)
        assert said in unmet(full_participation, made, form)
