"""Linear speed-up in the minibatch: Theorem 5.1 and Corollary 5.2 with K and T fixed.

``_speed_up`` has kind, instance and floor.
"""

from driftproof.synthetic.problems.averaged_composition import AveragedComposition
from driftproof.toolkit.algorithms.feddro import FedDRO
from driftproof.toolkit.cases import Case
from driftproof.toolkit.measure import Reduction, States
from driftproof.verifiers.claim_types.rate import Schedule, rate
from driftproof.verifiers.papers.feddro.claims import _speed_up as speed_up
from driftproof.verifiers.papers.feddro.claims import _theorem as parts
from driftproof.verifiers.papers.feddro.claims import assumptions as given

LETTERS = {"K": 2, "b": speed_up.n / 2, "T": speed_up.STEPS}


def samples(case: Case[AveragedComposition, FedDRO]) -> int:
    """Return |b|K, the samples of a step."""
    return case.algorithm.batch * case.problem.clients


def at(value: int) -> Case[AveragedComposition, FedDRO]:
    return speed_up.instance(batch=value // 2)


@rate(
    name="feddro/linear-speed-up-minibatch",
    source="FedDRO (2023), Theorem 5.1, Corollaries 5.2 and 5.3",
    sentence="feddro/linear-speed-up",
    assumes=given.ASSUMED,
    statement=r"K,\; T \text{ fixed}:\quad \mathbb{E}\|\nabla\Phi(\bar x^{a(T)})\|^2 = "
    r"\mathcal O(\order)",
    cases=[at(value) for value in (2, 32)],
    full=[at(value) for value in (8,)],
    right=Schedule(LETTERS, speed_up.ORDER),
    horizon=speed_up.n,
    size=samples,
    size_name="2|b|, samples a step",
    floors=speed_up.FLOORS,
    exact=speed_up.exact(at),
    horizons=speed_up.VARIED,
    false_siblings=speed_up.siblings(LETTERS, speed_up.b),
    explain="A minibatch of |b| counts like |b| times the samples.",
)
def in_minibatch(view: States) -> Reduction:
    return parts.squared_gradient(view)
