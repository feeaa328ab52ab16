r"""The drift of FedOut over all smooth f_i, convex or not: exact.

**Kind.** Bound over a class, of every client: ‖x_{i,τ} − x‖ ≤ ‖h‖((1 + αℓ_{f,1})^τ − 1)/ℓ_{f,1},
h the shared hypergradient. A local step multiplies the way by at most 1 + αℓ_{f,1} and adds α‖h‖;
add up. Attained by −(ℓ_{f,1}/2)‖x‖² + ⟨h, x⟩. One client stands for any number: client i makes
gradient steps on f_i plus a linear function, with the gradient h at x. It is below
fednest/outer-drift-bound's τα(1 + αℓ_{f,1})^{τ−1}‖h‖.

Here N = 0, so that h = (1/m) Σ ∇_x f_j(x, y). That loses nothing: the series adds one vector to h
for all clients, and a local step knows of it through h alone; a linear part of the f_i does the
same.
"""

from driftproof.synthetic.classes import for_all, over, smooth, start_gradient, upper_level
from driftproof.synthetic.classes.function_class import Conditions
from driftproof.toolkit.algorithms.fedout import FedOut
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.fednest.claims._over_classes import ALL_CLIENTS, last_drift

SMOOTH: Conditions = [smooth(L=1), upper_level(), start_gradient(1)]


def steps_that_grow(c: Letters) -> Expression:
    return (((1 + c.alpha * c.ell_f1) ** c.tau_x - 1) * c.h / c.ell_f1) ** 2


@bound(
    name="fednest/outer-drift-smooth",
    source="FedNest (2022), slides, Outer Optimizer: FedOut, corrected form of ours",
    assumes=[ALL_CLIENTS],
    statement=r"\|x_{i,\tau}^k-x^k\| \le \frac{(1+\alpha\ell_{f,1})^\tau-1}{\ell_{f,1}}\|h\|,\quad "
    r"h = \tfrac1m\sum_j\nabla_x f_j(x,y)",
    classes=[
        *over(
            [smooth(L=for_all("0 < ell_f1")), upper_level(), start_gradient(norm=for_all("0 < h"))],
            FedOut(outer_steps=sweep(1, 2), outer_step_size=for_all("0 < alpha"), terms=0),
            clients=1,
        ),
        *over(
            SMOOTH,
            FedOut(outer_steps=5, outer_step_size=sweep(0.5, 0.05), terms=0),
            rounds=1,
            clients=1,
        ),
        *over(SMOOTH, FedOut(outer_steps=5, outer_step_size=0.5, terms=0), rounds=1),
    ],
    letters={"h": "initial_gradient"},
    corrected=steps_that_grow,
    correction="A local step multiplies the way by at most 1 + αℓ_{f,1} and adds α‖h‖.",
    false_siblings=[
        ("linear in τ, as printed", lambda c: c.tau_x * (c.alpha * c.h) ** 2),
        ("as if convex", lambda c: (c.tau_x * c.alpha * c.h) ** 2),
        ("a hundredth less", lambda c: steps_that_grow(c) * 99 / 100),
    ],
    explain="Exact. Without convexity the drift grows geometrically once ταℓ_f,1 is above 1.",
)
def drift_of_every_client(view: Steps) -> Reduction | None:
    return last_drift(view, "x")
