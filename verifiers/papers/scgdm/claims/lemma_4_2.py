r"""Lemma 4.2: one step of the inner estimate's error.

**Kind.** Bound, at every step t ≥ 1 and for every client, given the past.
"""

from sympy import Rational

from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.readings import Erratum, Stated, literal, narrower
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.claim_types.terms import Terms
from driftproof.verifiers.papers.scgdm.claims import _steps as steps
from driftproof.verifiers.papers.scgdm.claims import assumptions as given
from driftproof.verifiers.papers.scgdm.claims._cases import CASES, FULL


def printed(c: Letters) -> Expression:
    """Return (12)."""
    s = c.gamma * c.eta
    return (
        c.eta * c.beta**2 * c.C_g**2 / c.gamma * c.measured("momentum")
        + s**2 * c.delta_g**2
        + (1 - s) * c.measured("past")
    )


mended = Terms(
    {
        "the move of x": lambda c: c.C_g**2 / (c.gamma * c.eta) * c.measured("moved"),
        "the noise of g": lambda c: (c.gamma * c.eta * c.delta_g) ** 2,
        "the past error": lambda c: (1 - c.gamma * c.eta) * c.measured("past"),
    }
)


@bound(
    name="scgdm/lemma-4.2",
    source="Local-SCGDM (2022), Lemma 4.2 (12), (26)",
    assumes=[*given.ASSUMED, given.STEP_SIZE],
    statement=r"\mathbb{E}\|u_{t+1}^{(k)}-g^{(k)}(x_t^{(k)})\|^2 \le "
    r"\frac{\eta\beta^2C_g^2}{\gamma}\mathbb{E}\|m_t^{(k)}\|^2 + \gamma^2\eta^2\delta_g^2 + "
    r"(1-\gamma\eta)\mathbb{E}\|u_t^{(k)}-g^{(k)}(x_{t-1}^{(k)})\|^2",
    cases=CASES,
    full=FULL,
    measured=steps.MEASURED | {"past": r"\mathbb{E}\|u_t^{(k)}-g^{(k)}(x_{t-1}^{(k)})\|^2"},
    readings={
        "as printed": literal(printed),
        "between communications": narrower(
            Stated(printed, left=steps.between_communications(steps.estimate_error_of_clients)),
            why="the lemma and Theorem 3.4 speak of every step t",
        ),
    },
    erratum=Erratum(
        "false",
        changes="For the step after a communication the bound needs ‖x_t − x_{t−1}‖², not "
        "β²η²‖m_t‖².",
        same_as="scgdm/lemma-4.1",
    ),
    corrected=mended,
    correction=(
        "u_{t+1} − g_k(x_t) = (1 − γη)(u_t − g_k(x_{t−1}) + g_k(x_{t−1}) − g_k(x_t)) + γη·noise; "
        "the noise is centred given the past, and ‖a + b‖² ≤ ‖a‖²/(1 − γη) + ‖b‖²/(γη). The "
        "proof's last step, ‖x_t − x_{t−1}‖ = βη‖m_t‖, is left out."
    ),
    false_siblings=mended.controls(
        {
            "the past error": Rational(1, 2),
            "the move of x": Rational(1, 2),
            "the noise of g": Rational(9, 10),
        }
    ),
    explain=(
        "Right between communications. Just after one, x_t − x_{t−1} is a jump to the average "
        "that βη‖m_t‖ does not measure."
    ),
)
def estimate_error(view: Steps) -> Reduction | None:
    return steps.estimate_error_of_clients(view)
