r"""(34) and (28): what a round makes of the momentum and of the inner estimate.

**Statement.** With s_t = ⌊t/p⌋: m_t^(k) − m̄_t = αη Σ_{t'=s_tp}^{t−1} (1 − αη)^{t−1−t'}(z_{t'}^(k)
− z̄_{t'}), (34); and u_t^(k) − ū_t = γη Σ_{t'=s_tp}^{t−1} (1 − γη)^{t−1−t'}(g^(k)(x_{t'}^(k); ξ) −
(1/K) Σ_j g^(j)(x_{t'}^(j); ξ)), the last line of (28) before its norm is taken.

**Kind.** Identity, at every t ≥ 1 for every client, on the pseudo-code of Algorithm 1.

**Finding.** Incomplete. Both unroll the round from m_{s_tp} and u_{s_tp}, which Algorithm 1 has not
got in its first round: it starts with m_1 = z_0 and u_1 = g(x_0; ξ_0), without the factors αη and
γη. From the first average on they hold. (34)'s first line weighs m_{s_tp} by Σ_{t'} (1 −
αη)^{t'−s_tp} for (1 − αη)^{t−s_tp}. That is a misprint without effect: the term cancels.

**Smallest counterexample.** t = 1, p = 2: m_1 − m̄_1 = z_0 − z̄_0, and (34) says αη times that.

**Corrected form**: in the first round the weight of t' = 0 is (1 − αη)^{t−1}, without the factor.

**Where it matters.** (35) bounds αη Σ_{t''} (1 − αη)^{t''} by 1 for every t'. For t' = 0 the factor
αη is missing, so z_0 weighs up to min(p, 1/(αη)) times as much as (35) allows.
"""

from typing import Any

import numpy as np

from synthetic.problems.bias_amplification import BiasAmplification
from synthetic.problems.bounded_composition import BoundedComposition
from toolkit.algorithms.local_scgdm import LocalSCGDM
from toolkit.cases import Case, grid
from toolkit.parameters import sweep
from toolkit.readings import Erratum, intended, literal
from verifiers.claim_types.comparison import comparison
from verifiers.claims.scgdm._pseudo_code import steps
from verifiers.compared import Comparison


def unrolled(field, *, since=1, first=None, rate=1.0, shift=1):
    """Return a right side, as what ``compare`` needs of it.

    Args:
        field: "m" for (34), "u" for (28).
        since: the first t that the reading speaks of, in rounds if it is "round".
        first: the factor of the first direction in the first round (None: as of any other).
        rate, shift: what false siblings change.
    """
    return {"field": field, "since": since, "first": first, "rate": rate, "shift": shift}


@comparison(
    name="scgdm/equation-34",
    source="003, (34) and (28)",
    statement=r"m_t^{(k)}-\bar m_t = \alpha\eta\sum_{t'=s_tp}^{t-1}(1-\alpha\eta)^{t-1-t'}"
    r"(z_{t'}^{(k)}-\bar z_{t'}),\quad u_t^{(k)}-\bar u_t = \gamma\eta\sum_{t'=s_tp}^{t-1}"
    r"(1-\gamma\eta)^{t-1-t'}\Big(g^{(k)}(x_{t'}^{(k)};\xi)-\frac1K\sum_{k'=1}^Kg^{(k')}("
    r"x_{t'}^{(k')};\xi)\Big)",
    cases=[
        *grid(BiasAmplification(), LocalSCGDM(local_steps=2, step_factor=0.3), rounds=2),
        *grid(
            BoundedComposition(
                clients=3,
                dim=2,
                inner_dim=2,
                heterogeneity=1.0,
                inner_curvature=0.5,
                inner_offset=0.3,
                inner_value_noise=0.2,
                outer_gradient_noise=0.3,
            ),
            LocalSCGDM(local_steps=sweep(3, 5), momentum=3.0, inner_momentum=2.0),
            rounds=3,
        ),
    ],
    readings={
        "(34), every t": literal(unrolled("m"), part="(34)"),
        "(34), from the first average on": intended(
            unrolled("m", since="round"),
            part="(34)",
            quote="the display starts from m_{s_tp}^(k), which is the averaged momentum; Algorithm "
            "1 defines no m_0",
        ),
        "(28), every t": literal(unrolled("u"), part="(28)"),
        "(28), from the first average on": intended(
            unrolled("u", since="round"),
            part="(28)",
            quote="“the last step holds due to u_{s_tp}^(k) = ū_{s_tp}”; Algorithm 1 has no u_0",
        ),
    },
    erratum=Erratum(
        "incomplete",
        changes="In the first round the first direction has the weight 1, not αη (or γη). Lemmas "
        "4.3 and A.1 have to pay for it apart.",
    ),
    corrected=unrolled("m", first=1),
    correction=(
        "For t ≤ p, m_1 = z_0, so m_t = (1 − αη)^{t−1}z_0 + αη Σ_{t'=1}^{t−1} (1 − "
        "αη)^{t−1−t'}z_{t'}. Later m_{s_tp} is the same for all clients and cancels."
    ),
    false_siblings=[
        ("half the rate", unrolled("m", since="round", rate=0.5)),
        ("one power more", unrolled("m", since="round", shift=0)),
        ("u with half the rate", unrolled("u", since="round", rate=0.5)),
        ("half of the first direction", unrolled("m", first=0.5)),
    ],
    explain=(
        "Both displays unroll a round from its average, and the first round has none: it starts "
        "with m_1 = z_0 and u_1 = g(x_0; ξ_0). From the first average on they hold. The weights of "
        "m_{s_tp} in (34)'s first line are misprinted, without effect."
    ),
)
def unrolled_holds(case: Case, right: Any) -> list[Comparison]:
    """Compare both sides in every entry, at each t; both are 0 just after an average."""
    made: list[Comparison] = []
    given, field = case.algorithm, right["field"]
    pace = given.momentum if field == "m" else given.inner_momentum
    a = right["rate"] * pace * given.step_size
    kept = steps(case.problem, given, case.rounds, "equation-34")
    news = [step["z" if field == "m" else "g"] for step in kept]
    apart = [value - value.mean(0) for value in news]
    begin = given.local_steps if right["since"] == "round" else right["since"]
    for t in range(begin, len(kept) + 1):
        start = t // given.local_steps * given.local_steps
        stated = np.zeros_like(kept[0][field])
        for earlier in range(start, t):
            plain = earlier or right["first"] is None
            weight = a if plain else right["first"]
            stated += weight * (1 - a) ** (t - right["shift"] - earlier) * apart[earlier]
        left = kept[t - 1][field] - kept[t - 1][field].mean(0)
        for (k, j), value in np.ndenumerate(left):
            what = f"entry {j + 1} of client {k + 1} at t = {t}"
            low = float(value)
            made.append(Comparison(what, low, low, float(stated[k, j]), len(made)))
    return made
