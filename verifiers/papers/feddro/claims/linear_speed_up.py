"""Linear speed-up in the number of clients: Theorem 5.1 and Corollary 5.2 with |b| and T fixed.

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

LETTERS = {"K": speed_up.n, "b": 1, "T": speed_up.STEPS}


def clients(case: Case[AveragedComposition, FedDRO]) -> int:
    return case.problem.clients


def at(value: int) -> Case[AveragedComposition, FedDRO]:
    return speed_up.instance(clients=value)


@rate(
    name="feddro/linear-speed-up",
    source="FedDRO (2023), Theorem 5.1, Corollaries 5.2 and 5.3",
    assumes=given.ASSUMED,
    statement=r"|b|,\; T \text{ fixed}:\quad \mathbb{E}\|\nabla\Phi(\bar x^{a(T)})\|^2 = "
    r"\mathcal O(\order)",
    cases=[at(value) for value in (2, 4)],
    full=[at(value) for value in (8,)],
    right=Schedule(LETTERS, speed_up.ORDER),
    horizon=speed_up.n,
    size=clients,
    size_name="K, clients",
    floors=speed_up.FLOORS,
    exact=speed_up.exact(at),
    horizons=speed_up.VARIED,
    false_siblings=speed_up.siblings(LETTERS, speed_up.K),
    explain="K clients, each with noise of its own, count like K times the samples.",
)
def in_clients(view: States) -> Reduction:
    return parts.squared_gradient(view)
