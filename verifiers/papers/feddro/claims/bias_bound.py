r"""How large the bias within a round can be: with embeddings that are shared, and without.

**Kind.** Bound, a result of ours; ``_local_bias`` proves it.

**What sharing the embeddings does.** It makes δ = 0. What is left is B_fΔ_g((1 + ηL)^j − 1), which
vanishes with the step size. Without sharing B_gL_fδ is there however small the steps are.

**δ is no constant of the paper's**, and cannot be left out. g_k(x) = B_gx ± δ have Δ_g = 0. With
f'(y) = min(L_f|y|, 2B_f) − B_f the bias at x = 0 is B_g·min(L_fδ, 2B_f): equality at j = 0, for
every δ. By Assumptions 3.2–3.4 alone the bias is at most 2B_fB_g, and here it is that. (With a
convex f, f' = clip(y, ±B_f), and g_1 = x − (K − 1)a, g_k = x + a for the others, it is
2(1 − 1/K)B_f at x = −B_f, a = 2B_f.)
"""

import sympy

from driftproof.toolkit.constants import Expression, Letters, substituted
from driftproof.toolkit.measure import Reduction, Steps, each
from driftproof.verifiers.algebra.symbolic import Step, vanishes
from driftproof.verifiers.claim_types.bound import RightSide, bound
from driftproof.verifiers.papers.feddro.claims import _local_bias as local
from driftproof.verifiers.papers.feddro.claims import assumptions as given


def stated(c: Letters, value: Expression = 1, drift: Expression = 1) -> Expression:
    grown = local.growth(c)
    held = value * c.B_g * c.L_f * c.measured("delta")
    return held * grown + drift * c.B_f * c.Delta_g * (grown - 1)


def largest(c: Letters) -> Expression:
    """Both gradients are at most B_fB_g."""
    return 2 * c.B_f * c.B_g


def steps(right: RightSide) -> list[Step]:
    names = ("B_f", "B_g", "L_f", "delta", "eta")
    B_f, B_g, L_f, delta, eta = sympy.symbols(" ".join(names), positive=True)
    letters = {"B_f": B_f, "B_g": B_g, "L_f": L_f, "eta": eta, "L_g": 0, "Delta_g": 0, "I": 1}
    c = Letters(dict.fromkeys(letters, ""))
    apart = sympy.Min(delta, 2 * B_f / L_f)
    claimed = substituted(right(c), letters | {c.measured("delta").name: apart})
    at_offset, at_mean = L_f * apart - B_f, -B_f  # f'(±δ) and f'(0)
    clients = sympy.Symbol("K", positive=True)
    others = ((clients - 1) * B_f - B_f) / clients  # f' = B_f but for one client's −B_f
    return [
        local.recursion(),
        vanishes(
            claimed - B_g * (at_offset - at_mean),
            r"g_k=B_gx\pm\delta,\; f'=\min(L_f|y|,2B_f)-B_f,\; x=0:\; b_0 = "
            r"B_g\min(L_f\delta,2B_f), \text{ the right side at } j=0",
        ),
        vanishes(
            others + B_f - 2 * (1 - 1 / clients) * B_f,
            r"\text{convex } f:\; b_0 = \tfrac{K-2}KB_f+B_f = 2(1-\tfrac1K)B_fB_g",
        ),
    ]


@bound(
    name="feddro/bias-bound",
    source="driftproof, for Algorithms 1 and 2 of FedDRO (2023)",
    assumes=[*given.ASSUMED, given.AVERAGED, local.EXACT],
    statement=r"\|b_j\| \le B_gL_f\,\delta\,(1+\eta L)^j + B_f\Delta_g\big((1+\eta L)^j-1\big),"
    r"\quad L = B_fL_g+B_g^2L_f",
    cases=local.CASES,
    range=largest,
    measured={"delta": r"\delta"},
    corrected=stated,
    correction=(
        "At x̄ the bias is at most B_gL_fδ, δ the root mean square over the clients of "
        "min(‖y_k − ȳ‖, 2B_f/L_f): 0 where embeddings are shared. The clients' distance from x̄ "
        "grows by (1 + ηL) and η(B_fΔ_g + B_gL_fδ) a step, and enters with the factor L."
    ),
    false_siblings=[
        ("a tenth of the embeddings' term", lambda c: stated(c, sympy.Rational(1, 10))),
        ("no term of the embeddings", lambda c: stated(c, 0)),
        ("no term of the gradients", lambda c: stated(c, drift=0)),
    ],
    prove=steps,
    explain=(
        "Shared embeddings make δ = 0, and leave a bias that vanishes with the step size. Without, "
        "B_gL_fδ stays: it is attained, and no constant of the paper's bounds δ."
    ),
)
def last_bias(view: Steps) -> Reduction | None:
    delta = local.spread(view)
    if view.local_step < view.local_steps:
        return None
    return each("transition", local.norm(local.bias(view)), delta=delta)
