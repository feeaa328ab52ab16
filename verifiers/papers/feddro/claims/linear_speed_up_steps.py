"""Linear speed-up in the number of steps: Theorem 5.1 and Corollary 5.2 with K and |b| fixed.

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

LETTERS = {"K": 2, "b": 1, "T": speed_up.n}
HORIZONS = tuple(4**k for k in range(4, 13))


def steps(case: Case[AveragedComposition, FedDRO]) -> int:
    return case.rounds


def at(value: int) -> Case[AveragedComposition, FedDRO]:
    return speed_up.instance(steps=value)


@rate(
    name="feddro/linear-speed-up-steps",
    source="FedDRO (2023), Theorem 5.1, Corollaries 5.2 and 5.3",
    sentence="feddro/linear-speed-up",
    assumes=given.ASSUMED,
    statement=r"|b|,\; K \text{ fixed}:\quad \mathbb{E}\|\nabla\Phi(\bar x^{a(T)})\|^2 = "
    r"\mathcal O(\order)",
    cases=[at(value) for value in (2**8, 2**10, 2**12)],
    full=[at(value) for value in (2**14, 2**16)],
    right=Schedule(LETTERS, speed_up.ORDER),
    horizon=speed_up.n,
    size=steps,
    size_name="T, steps",
    floors=speed_up.FLOORS,
    exact=speed_up.exact(at),
    horizons=HORIZONS,
    false_siblings=speed_up.siblings(LETTERS, speed_up.T),
    explain="The rate in the number of steps.",
)
def in_steps(view: States) -> Reduction:
    return parts.squared_gradient(view)
