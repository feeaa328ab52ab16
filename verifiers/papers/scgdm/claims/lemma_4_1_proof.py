r"""The last display of Lemma 4.1's proof, (25), which has L_F² in its third term.

**Kind.** Bound, at every step t ≥ 1 and for every client, given the past.
"""

from sympy import Rational

from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.readings import Erratum, Stated, literal, narrower, wider
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.scgdm.claims import assumptions as given
from driftproof.verifiers.papers.scgdm.claims._cases import CASES, FULL
from driftproof.verifiers.papers.scgdm.claims._steps import MEASURED, momentum_error_of_clients
from driftproof.verifiers.papers.scgdm.claims.lemma_4_1 import (
    BETWEEN_COMMUNICATIONS,
    mended,
    proven,
)


@bound(
    name="scgdm/lemma-4.1-proof",
    source="Local-SCGDM (2022), proof of Lemma 4.1 (25)",
    display=True,
    assumes=[*given.ASSUMED, given.STEP_SIZE],
    statement=r"\mathbb{E}\|m_{t+1}^{(k)}-\nabla F^{(k)}(x_t^{(k)})\|^2 \le "
    r"(1-\alpha\eta)\mathbb{E}\|m_t^{(k)}-\nabla F^{(k)}(x_{t-1}^{(k)})\|^2 + "
    r"\frac{2\eta\beta^2L_F^2}{\alpha}\mathbb{E}\|m_t^{(k)}\|^2 + "
    r"2\alpha\eta C_g^2L_f^2\mathbb{E}\|u_{t+1}^{(k)}-g^{(k)}(x_t^{(k)})\|^2 + "
    r"2\alpha^2\eta^2(C_g^2\sigma_f^2+C_f^2\sigma_g^2)",
    cases=CASES,
    full=FULL,
    measured=MEASURED,
    readings={
        "two samples, as written there": literal(Stated(proven, assumes=(given.TWO_SAMPLES,))),
        "between communications": narrower(
            BETWEEN_COMMUNICATIONS, why="the display speaks of every step t"
        ),
        "one sample": wider(
            Stated(proven, assumes=(given.ONE_SAMPLE,)),
            why="the display writes ξ_t for g and ζ_t for f; Algorithm 1 draws one sample",
        ),
    },
    erratum=Erratum(
        "false",
        changes="The last step of the proof, ‖x_t − x_{t−1}‖ = βη‖m_t‖, is false just after a "
        "communication.",
        same_as="scgdm/lemma-4.1",
    ),
    corrected=Stated(mended, assumes=(given.TWO_SAMPLES,)),
    correction="x_t − x_{t−1} itself in place of −βηm_t, as derived at scgdm/lemma-4.1.",
    false_siblings=mended.controls(
        {
            "the past error": 0,
            "the inner estimate": 0,
            "the move of x": Rational(1, 10),
            "the noise of ∇f": 0,
            "the noise of ∇g": 0,
        },
        assumes=(given.TWO_SAMPLES,),
    ),
    explain=(
        "Right between communications; just after one, x_t − x_{t−1} is not −βηm_t, and with one "
        "sample for g and f the mean of z_t is not what the proof takes it for."
    ),
)
def momentum_error_in_the_proof(view: Steps) -> Reduction | None:
    return momentum_error_of_clients(view)
