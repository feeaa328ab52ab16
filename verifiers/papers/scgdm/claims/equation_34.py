r"""(34) and (28): what a round makes of the momentum and of the inner estimate.

**Kind.** Identity, at every t ≥ 1 for every client, on the pseudo-code of Algorithm 1, s_t = ⌊t/p⌋.
What is said of u is the last line of (28) before its norm is taken.

**Where it matters.** (35) bounds αη Σ_{t''} (1 − αη)^{t''} by 1 for every t'. For t' = 0 the factor
αη is missing, so z_0 weighs up to min(p, 1/(αη)) times as much as (35) allows.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from driftproof.synthetic.problems.bias_amplification import BiasAmplification
from driftproof.toolkit.algorithms.local_scgdm import LocalSCGDM
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.composition import CompositionProblem
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Erratum, intended, literal
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers.scgdm.claims._cases import NOISY
from driftproof.verifiers.papers.scgdm.claims._pseudo_code import steps

OFFSET = replace(NOISY, inner_offset=0.3, inner_gradient_noise=0.0)


@dataclass(frozen=True)
class Unrolled:
    """A round that is unrolled.

    Attributes:
        field: "m" for (34), "u" for (28).
        averaged: whether it speaks of t from the first average on alone; else of every t ≥ 1.
        first: the factor of the first direction in the first round (None: as of any other).
        rate, shift: what false siblings change.
    """

    field: Literal["m", "u"]
    averaged: bool = False
    first: float | None = None
    rate: float = 1.0
    shift: int = 1

    def weight(self, earlier: int, rate: float) -> float:
        """Return the factor of the direction of an earlier step."""
        return rate if earlier or self.first is None else self.first


@comparison(
    name="scgdm/equation-34",
    source="Local-SCGDM (2022), (34) and (28)",
    display=True,
    statement=r"m_t^{(k)}-\bar m_t = \alpha\eta\sum_{t'=s_tp}^{t-1}(1-\alpha\eta)^{t-1-t'}"
    r"(z_{t'}^{(k)}-\bar z_{t'}),\quad u_t^{(k)}-\bar u_t = \gamma\eta\sum_{t'=s_tp}^{t-1}"
    r"(1-\gamma\eta)^{t-1-t'}\Big(g^{(k)}(x_{t'}^{(k)};\xi)-\frac1K\sum_{k'=1}^Kg^{(k')}("
    r"x_{t'}^{(k')};\xi)\Big)",
    cases=[
        *grid(BiasAmplification(), LocalSCGDM(local_steps=2, step_factor=0.3), rounds=2),
        *grid(
            OFFSET, LocalSCGDM(local_steps=sweep(3, 5), momentum=3.0, inner_momentum=2.0), rounds=3
        ),
    ],
    readings={
        "(34), every t": literal(Unrolled("m"), part="(34)"),
        "(34), from the first average on": intended(
            Unrolled("m", averaged=True),
            part="(34)",
            quote="the display starts from m_{s_tp}^(k), which is the averaged momentum; Algorithm "
            "1 defines no m_0",
        ),
        "(28), every t": literal(Unrolled("u"), part="(28)"),
        "(28), from the first average on": intended(
            Unrolled("u", averaged=True),
            part="(28)",
            quote="“the last step holds due to u_{s_tp}^(k) = ū_{s_tp}”; Algorithm 1 has no u_0",
        ),
    },
    erratum=Erratum(
        "incomplete",
        changes="In the first round the first direction has the weight 1, not αη (or γη). Lemmas "
        "4.3 and A.1 need a separate term for it.",
        depends="step",
    ),
    corrected=Unrolled("m", first=1),
    correction=(
        "For t ≤ p, m_1 = z_0, so m_t = (1 − αη)^{t−1}z_0 + αη Σ_{t'=1}^{t−1} (1 − "
        "αη)^{t−1−t'}z_{t'}. Later m_{s_tp} is the same for all clients and cancels."
    ),
    false_siblings=[
        ("half the rate", Unrolled("m", averaged=True, rate=0.5)),
        ("one power more", Unrolled("m", averaged=True, shift=0)),
        ("u with half the rate", Unrolled("u", averaged=True, rate=0.5)),
        ("half of the first direction", Unrolled("m", first=0.5)),
    ],
    explain=(
        "Both displays unroll a round from its average, and the first round has none: it starts "
        "with m_1 = z_0 and u_1 = g(x_0; ξ_0). From the first average on they hold. The weights of "
        "m_{s_tp} in (34)'s first line are misprinted, without effect."
    ),
)
def deviations_from_the_mean(
    case: Case[CompositionProblem, LocalSCGDM], right: Unrolled
) -> list[Comparison]:
    """Compare both sides in every entry, at each t; both are 0 just after an average."""
    made: list[Comparison] = []
    given, of_momentum = case.algorithm, right.field == "m"
    a = right.rate * (given.momentum if of_momentum else given.inner_momentum) * given.step_size
    kept = steps(case.problem, given, case.rounds, "equation-34")
    news = [step.z if of_momentum else step.g for step in kept]
    apart = [value - value.mean(0) for value in news]
    fields = [step.m if of_momentum else step.u for step in kept]
    for t in range(given.local_steps if right.averaged else 1, len(kept) + 1):
        start = t // given.local_steps * given.local_steps
        stated = np.zeros_like(fields[0])
        for earlier in range(start, t):
            power = (1 - a) ** (t - right.shift - earlier)
            stated += right.weight(earlier, a) * power * apart[earlier]
        left = fields[t - 1] - fields[t - 1].mean(0)
        scale = float(np.abs(fields[t - 1]).max())  # deviations are what is left of these
        for (k, j), value in np.ndenumerate(left):
            what = f"entry {j + 1} of client {k + 1} at t = {t}"
            low = float(value)
            made.append(Comparison(what, low, low, float(stated[k, j]), len(made), scale=scale))
    return made
