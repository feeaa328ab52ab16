r"""Lemma A.1: the consensus error of the inner estimates.

**Kind.** Bound, for every t, with s_t = ⌊t/p⌋ (u_0 is not defined; its deviation counts as 0).
"""

from sympy import Rational, symbols

from driftproof.synthetic.problems.bias_amplification import BiasAmplification
from driftproof.synthetic.problems.bounded_composition import BoundedComposition
from driftproof.toolkit.algorithms.local_scgdm import LocalSCGDM
from driftproof.toolkit.cases import grid
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps, each
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Erratum, Stated, literal, narrower
from driftproof.verifiers.algebra.symbolic import Step, vanishes
from driftproof.verifiers.claim_types.bound import RightSide, bound
from driftproof.verifiers.claim_types.terms import Terms
from driftproof.verifiers.papers import _proof_steps as elementary
from driftproof.verifiers.papers.scgdm.claims import assumptions as given
from driftproof.verifiers.papers.scgdm.claims._steps import spread

NOISY = BoundedComposition(distance=0.7, inner_value_noise=0.4, inner_gradient_noise=0.2)


def printed(c: Letters) -> Expression:
    """Return (27)."""
    return 8 * c.p * c.K * c.delta_g**2 + 8 * c.C_g**2 * c.measured("models")


mended = Terms(
    {
        "the noise of g": lambda c: c.p * c.K * c.delta_g**2,
        "the models": lambda c: 2 * c.C_g**2 * c.measured("models"),
        "different functions": lambda c: 2 * c.p * c.measured("functions"),
    }
)


def steps(right: RightSide) -> list[Step]:
    """Return the derivation of the corrected form."""
    if right is not mended:
        return []
    c, (a, j) = elementary.POSITIVE, symbols("a j", positive=True)
    return [
        vanishes(
            (1 - a) * (1 - (1 - a) ** j) + a - (1 - (1 - a) ** (j + 1)),
            r"a=\gamma\eta:\; \text{the weights } a(1-a)^i,\ i<j, \text{ of a step and of a "
            r"difference } d \text{ add up to } 1-(1-a)^j \le 1",
        ),
        elementary.squares_of_a_sum(2, 2),
        vanishes(
            right(c)
            - c.p * (c.K * c.delta_g**2 + 2 * c.measured("functions"))
            - 2 * c.C_g**2 * c.measured("models"),
            r"\mathbb{E}\sum_k\|d_k\|^2 \le K\delta_g^2+2C_g^2\sum_k\|x^{(k)}-\bar x\|^2+"
            r"2\sum_k\|b_k\|^2, \text{ summed over } t', \text{ is the right side}",
        ),
    ]


@bound(
    name="scgdm/lemma-a.1",
    source="Local-SCGDM (2022), Lemma A.1 (27), (32)",
    assumes=[*given.ASSUMED, given.STEP_SIZE, given.PRINTED],
    statement=r"\sum_{t'=s_tp}^{t-1}\sum_{k=1}^K\mathbb{E}\|u_{t'}^{(k)}-\bar u_{t'}\|^2 \le "
    r"8pK\delta_g^2 + 8C_g^2\sum_{t'=s_tp}^{t-1}\sum_{k=1}^K\mathbb{E}\|x_{t'}^{(k)}-"
    r"\bar x_{t'}\|^2",
    cases=[
        *grid(BiasAmplification(), LocalSCGDM(local_steps=sweep(3, 5), step_size=0.01), rounds=3),
        *grid(
            BoundedComposition(inner_offset=5.0),
            LocalSCGDM(local_steps=4, inner_momentum=sweep(9.0, 0.5), step_factor=0.01),
            rounds=4,
        ),
        *grid(NOISY, LocalSCGDM(local_steps=3, inner_momentum=sweep(9.0, 0.5)), rounds=1),
        *grid(
            BoundedComposition(opposition_slope=1.0, opposition_centre=0.5, inner_value_noise=0.1),
            LocalSCGDM(local_steps=3, step_factor=sweep(0.1, 5.0)),
            rounds=1,
        ),
        # one g, f_± of slope ±1: the models move apart, and the estimates with them
        *grid(
            BoundedComposition(
                outer_slope=1e-6, opposition_slope=1.0, opposition_centre=100.0, distance=0.0
            ),
            LocalSCGDM(local_steps=12, inner_momentum=9.9),
            rounds=1,
        ),
    ],
    measured={
        "models": r"\sum_{t'}\sum_k\mathbb{E}\|x_{t'}^{(k)}-\bar x_{t'}\|^2",
        "functions": r"\mathbb{E}\max_{t'}\sum_k\|g^{(k)}(\bar x_{t'})-\bar g(\bar x_{t'})\|^2",
    },
    readings={
        "as printed": literal(printed),
        "clients with one g": narrower(
            Stated(printed, assumes=(given.ONE_INNER,)),
            why="the paper's clients have g^(k) and distributions D_g^(k) of their own",
        ),
    },
    erratum=Erratum(
        "false",
        changes="If the clients' inner functions differ, the bound needs one more term: their "
        "spread at one point. It does not vanish with the noise or the step size.",
        depends="theorem",
    ),
    corrected=mended,
    correction=(
        "u_{t'}^(k) − ū_{t'} averages, with weights that sum to at most 1, the differences d = "
        "g^(k)(x^(k); ξ) − (1/K) Σ_j g^(j)(x^(j); ξ) of the round's steps before t'. Given the "
        "models, E Σ‖d‖² ≤ Kδ_g² + Σ‖a_k − ā + b_k‖² with a_k = g^(k)(x^(k)) − g^(k)(x̄), b_k = "
        "g^(k)(x̄) − ḡ(x̄), which is at most Kδ_g² + 2C_g² Σ‖x^(k) − x̄‖² + 2 Σ‖b_k‖². Summed "
        "over t', a step weighs at most 1, and u_1 = g(x_0; ξ), whose models agree, at most p."
    ),
    false_siblings=mended.controls(
        {
            "different functions": Rational(1, 5),
            "the noise of g": Rational(1, 7),
            "the models": Rational(1, 3),
        }
    ),
    prove=steps,
    explain=(
        "The proof compares g^(k) at one point with the mean of all g^(k') as if they were one "
        "function. With one g the lemma is supported; otherwise their spread has to be paid for."
    ),
)
def estimate_consensus(view: Steps) -> Reduction:
    x, u = view.client("x"), view.client("u")
    apart = spread(view.inner_values(view.mean("x").expand_as(x)))
    within = view.local_step < view.local_steps - 1  # t' runs to t − 1, within the round of t
    return each(
        "step",
        view.since_round("u", spread(u) * within),
        models=view.since_round("models", spread(x) * within),
        functions=view.since_round("functions", apart, largest=True),
    )
