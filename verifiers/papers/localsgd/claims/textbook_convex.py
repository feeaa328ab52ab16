r"""A standard proof's bound for convex functions, constants ours, beside the exact worst case.

**Kind.** Bound over a class. Write x_t for the clients' mean before step t, D_t = F(x_t) − F*,
V_t = mean‖w_i − x_t‖² and G_t = mean‖∇f_i(w_i)‖². Convexity at w_i and smoothness between w_i and
x_t give −⟨x_t − x*, ∇f_i(w_i)⟩ ≤ −(f_i(x_t) − f_i(x*)) + (L/2)‖w_i − x_t‖²; and the mean gradient
has a square of at most 2L²V_t + 4LD_t. With ηL ≤ 1/4

    ‖x_{t+1} − x*‖² ≤ ‖x_t − x*‖² − ηD_t + (3/2)ηLV_t.

In a round V_j ≤ η²j Σ_{k<j} G_k with G_k ≤ 3L²V_k + 6LD_k + 3ζ² (change from x_k, from x*, and
∇f_i(x*)). Summed over a round, Σ_j j Σ_{k<j} a_k ≤ (τ²/2)Σa_k and Σ_j j² ≤ τ²(τ−1)/3. So for
ηLτ ≤ 1/4 (29/32)ΣV ≤ 3Lη²τ²ΣD + η²ζ²τ²(τ−1), hence (3/2)LΣV ≤ (9/29)ΣD + (48/29)Lη²ζ²τ²(τ−1).
Now (20/29)ΣD ≤ R²/η + (48/29)Lη²ζ²τ²(τ−1)S, and T = τS.
"""

from driftproof.synthetic.classes import for_all, over, similar, smooth_convex, start_within
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps, average
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.localsgd.claims._steps import SHORT_ROUND, short_rounds


def textbook(c: Letters) -> Expression:
    start = c.R**2 / (c.eta * c.tau * c.S)
    return 3 * start / 2 + 12 * c.L * c.eta**2 * c.zeta**2 * c.tau * (c.tau - 1) / 5


@bound(
    name="localsgd/textbook-convex",
    source="after Khaled et al. (2020), a standard proof, constants ours, in our words",
    assumes=[SHORT_ROUND],
    statement=r"\frac1T\sum_{t<T} F(\bar x_t) - F^* \le \frac{3R^2}{2\eta T} "
    r"+ \tfrac{12}{5} L\eta^2\zeta^2\tau(\tau-1),\quad T = \tau S",
    classes=[
        *over(
            [
                smooth_convex(L=for_all("0 < L")),
                similar(zeta=for_all("0 < zeta")),
                start_within(R=for_all("0 < R")),
            ],
            FedAvg(step_size=for_all("0 < eta <= 1/(4*L)")),
            rounds=[1, 2],
        ),
        *over(
            [smooth_convex(L=1), similar(zeta=1), start_within(R=1)],
            FedAvg(local_steps=1, step_size=0.24),
            rounds=[4, 8],
        ),
        *short_rounds(
            [smooth_convex(L=1), similar(zeta=1), start_within(R=1)], steps=(2, 3, 4), rounds=2
        ),
        *(
            case
            for zeta in (0.5, 2, 4, 6)
            for case in short_rounds(
                [smooth_convex(L=1), similar(zeta=zeta), start_within(R=1)], steps=(4,), rounds=2
            )
        ),
    ],
    corrected=textbook,
    correction="The standard proof, with its constants, at the head of the claim's file.",
    false_siblings=[
        ("T² for T", lambda c: textbook(c) / (c.tau * c.S)),
        ("an eighth of it", lambda c: textbook(c) / 8),
    ],
    explain="No cited theorem prints these constants: the proof is the usual one, worked out "
    "here. The exact worst case is between a quarter and a twentieth of it. Most is lost in the "
    "constant of the first term, and in the second the more the clients differ.",
)
def gap(view: Steps) -> Reduction:
    return average("step", view.gap(view.mean("w")))
