r"""A standard proof's bound for functions that need not be convex; its constants are ours.

**Kind.** Bound over a class. With the letters of ``textbook_convex`` and N_t = ‖∇F(x_t)‖², a step
of ηL ≤ 1 has F(x_{t+1}) ≤ F(x_t) − (η/2)N_t + (η/2)L²V_t (descent lemma, and ‖∇F(x_t) − mean
∇f_i(w_i)‖² ≤ L²V_t). In a round V_j ≤ η²j Σ_{k<j} G_k, G_k ≤ 3L²V_k + 3N_k + 3ζ². For ηLτ ≤ 1/4
summed over a round L²ΣV ≤ (3/29)ΣN + (32/29)L²η²ζ²τ²(τ−1). So (26/29)ΣN ≤ 2Δ/η +
(32/29)L²η²ζ²τ²(τ−1)S, and 29/13 ≤ 9/4, 16/13 ≤ 5/4.
"""

from driftproof.synthetic.classes import for_all, over, similar_everywhere, smooth, start_gap
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps, average, sq
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.localsgd.claims._steps import SHORT_ROUND, short_rounds


def textbook(c: Letters) -> Expression:
    start = c.F_gap / (c.eta * c.tau * c.S)
    return 9 * start / 4 + 5 * (c.L * c.eta * c.zeta) ** 2 * c.tau * (c.tau - 1) / 4


@bound(
    name="localsgd/textbook-nonconvex",
    source="after Koloskova et al. (2020), a standard proof, constants ours, in our words",
    assumes=[SHORT_ROUND],
    statement=r"\frac1T\sum_{t<T}\|\nabla F(\bar x_t)\|^2 \le \frac{9(F(x_0)-F^*)}{4\eta T} "
    r"+ \tfrac54 L^2\eta^2\zeta^2\tau(\tau-1),\quad "
    r"\tfrac1n\sum_i\|\nabla f_i(x)-\nabla F(x)\|^2\le\zeta^2",
    classes=[
        *(
            case
            for tau in (1, 2)
            for case in over(
                [
                    smooth(L=for_all("0 < L")),
                    similar_everywhere(zeta=for_all("0 < zeta")),
                    start_gap(delta=for_all("0 < F_gap")),
                ],
                FedAvg(local_steps=tau, step_size=for_all(f"0 < eta <= 1/({4 * tau}*L)")),
                clients=1,
            )
        ),
        *over(
            [smooth(L=1), similar_everywhere(zeta=1), start_gap(delta=1)],
            FedAvg(local_steps=1, step_size=0.24),
            rounds=[2, 4, 8],
            clients=1,
        ),
        *short_rounds(
            [smooth(L=1), similar_everywhere(zeta=1), start_gap(delta=1)],
            steps=(1, 2, 3, 4),
            rounds=2,
        ),
        *(
            case
            for zeta in (4, 8, 16)
            for case in short_rounds(
                [smooth(L=1), similar_everywhere(zeta=zeta), start_gap(delta=1)],
                steps=(4,),
                rounds=2,
            )
        ),
    ],
    corrected=textbook,
    correction="The standard proof, with its constants, at the head of the claim's file.",
    false_siblings=[
        ("T² for T", lambda c: textbook(c) / (c.tau * c.S)),
        ("two fifths of it", lambda c: 2 * textbook(c) / 5),
    ],
    explain="Half of it is reached by gradient descent. With several clients the worst case is an "
    "upper bound itself, so that the proof's is at least as loose as it looks.",
)
def mean_squared_gradient(view: Steps) -> Reduction:
    return average("step", sq(view.gradient(view.mean("w"))))
