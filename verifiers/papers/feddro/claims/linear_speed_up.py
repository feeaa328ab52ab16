"""Linear speed-up in K, |b| and T, one at a time: Theorem 5.1 and Corollary 5.2.

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

CLIENTS = {"K": speed_up.n, "b": 1, "T": speed_up.STEPS}
MINIBATCH = {"K": 2, "b": speed_up.n / 2, "T": speed_up.STEPS}
STEPS = {"K": 2, "b": 1, "T": speed_up.n}
HORIZONS = tuple(4**k for k in range(4, 13))


def clients(case: Case[AveragedComposition, FedDRO]) -> int:
    return case.problem.clients


def of_clients(value: int) -> Case[AveragedComposition, FedDRO]:
    return speed_up.instance(clients=value)


@rate(
    name="feddro/linear-speed-up",
    source="FedDRO (2023), Theorem 5.1, Corollaries 5.2 and 5.3",
    assumes=given.ASSUMED,
    statement=r"|b|,\; T \text{ fixed}:\quad \mathbb{E}\|\nabla\Phi(\bar x^{a(T)})\|^2 = "
    r"\mathcal O(\order)",
    cases=[of_clients(value) for value in (2, 4)],
    full=[of_clients(value) for value in (8,)],
    right=Schedule(CLIENTS, speed_up.ORDER),
    horizon=speed_up.n,
    size=clients,
    size_name="K, clients",
    floors=speed_up.FLOORS,
    exact=speed_up.exact(of_clients),
    horizons=speed_up.VARIED,
    false_siblings=speed_up.siblings(CLIENTS, speed_up.K),
    explain="K clients, each with noise of its own, count like K times the samples.",
)
def in_clients(view: States) -> Reduction:
    return parts.squared_gradient(view)


def samples(case: Case[AveragedComposition, FedDRO]) -> int:
    """Return |b|K, the samples of a step."""
    return case.algorithm.batch * case.problem.clients


def of_samples(value: int) -> Case[AveragedComposition, FedDRO]:
    return speed_up.instance(batch=value // 2)


@rate(
    name="feddro/linear-speed-up-minibatch",
    source="FedDRO (2023), Theorem 5.1, Corollaries 5.2 and 5.3",
    sentence="feddro/linear-speed-up",
    assumes=given.ASSUMED,
    statement=r"K,\; T \text{ fixed}:\quad \mathbb{E}\|\nabla\Phi(\bar x^{a(T)})\|^2 = "
    r"\mathcal O(\order)",
    cases=[of_samples(value) for value in (2, 32)],
    full=[of_samples(value) for value in (8,)],
    right=Schedule(MINIBATCH, speed_up.ORDER),
    horizon=speed_up.n,
    size=samples,
    size_name="2|b|, samples a step",
    floors=speed_up.FLOORS,
    exact=speed_up.exact(of_samples),
    horizons=speed_up.VARIED,
    false_siblings=speed_up.siblings(MINIBATCH, speed_up.b),
    explain="A minibatch of |b| counts like |b| times the samples.",
)
def in_minibatch(view: States) -> Reduction:
    return parts.squared_gradient(view)


def steps(case: Case[AveragedComposition, FedDRO]) -> int:
    return case.rounds


def of_steps(value: int) -> Case[AveragedComposition, FedDRO]:
    return speed_up.instance(steps=value)


@rate(
    name="feddro/linear-speed-up-steps",
    source="FedDRO (2023), Theorem 5.1, Corollaries 5.2 and 5.3",
    sentence="feddro/linear-speed-up",
    assumes=given.ASSUMED,
    statement=r"|b|,\; K \text{ fixed}:\quad \mathbb{E}\|\nabla\Phi(\bar x^{a(T)})\|^2 = "
    r"\mathcal O(\order)",
    cases=[of_steps(value) for value in (2**8, 2**10, 2**12)],
    full=[of_steps(value) for value in (2**14, 2**16)],
    right=Schedule(STEPS, speed_up.ORDER),
    horizon=speed_up.n,
    size=steps,
    size_name="T, steps",
    floors=speed_up.FLOORS,
    exact=speed_up.exact(of_steps),
    horizons=HORIZONS,
    false_siblings=speed_up.siblings(STEPS, speed_up.T),
    explain="The rate in the number of steps.",
)
def in_steps(view: States) -> Reduction:
    return parts.squared_gradient(view)
