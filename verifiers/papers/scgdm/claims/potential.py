r"""The decrease of the potential: (16), (40), (17) and (41).

**Potential** (14), (39). P_t = E F(x̄_t) + (β/α)A_t + (2βC_g²L_f²/γ)B_t, where A_t = (1/K) Σ
E‖m_{t+1} − ∇F_k(x_t)‖² and B_t = (1/K) Σ E‖u_{t+1} − g_k(x_t)‖². By the condition on β, (17) and
(41) are (40) without its bracket. m_{t+2} and u_{t+2} are as lines 7 and 9 leave them, the others
as stored.

**Kind.** Bound, at every step, in total expectation; both sides contain measured terms.
"""

from dataclasses import replace

from sympy import Rational

from driftproof.synthetic.problems.bias_amplification import BiasAmplification
from driftproof.synthetic.problems.bounded_composition import BoundedComposition
from driftproof.toolkit.algorithms.local_scgdm import LocalSCGDM
from driftproof.toolkit.cases import Assumption, grid
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps, each, sq
from driftproof.toolkit.parameters import sweep
from driftproof.toolkit.readings import Erratum, Stated, literal
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.claim_types.terms import Terms
from driftproof.verifiers.papers.scgdm.claims import assumptions as given
from driftproof.verifiers.papers.scgdm.claims._theorem import gradient_noise, value_noise

STEEP = BoundedComposition(clients=1, outer_slope=100.0, distance=3.0)
AT_REST = BoundedComposition(clients=1, outer_slope=3.0, distance=0.0)
NOISY = BoundedComposition(
    clients=1,
    inner_curvature=sweep(0.0, 0.5),
    distance=1.2,
    inner_value_noise=0.3,
    inner_gradient_noise=0.3,
    outer_gradient_noise=0.3,
)
SETTLING = LocalSCGDM(
    local_steps=6, step_size=0.1, momentum=5.0, inner_momentum=5.0, step_factor=0.01
)
"""At a minimiser the errors come to rest, and one noise alone keeps them up."""
MOMENTA = LocalSCGDM(step_size=0.2, momentum=sweep(0.5, 4.9), inner_momentum=sweep(0.5, 4.9))
ONE = Assumption("One client", "K = 1", applies=lambda case: case.problem.clients == 1)


def differences(c: Letters) -> Expression:
    """Return E F(x̄_t) and what the potential's other parts lose, moved to the right."""
    return (
        c.measured("objective")
        + c.beta / c.alpha * (c.measured("error") - c.measured("next_error"))
        + 2
        * c.beta
        * c.C_g**2
        * c.L_f**2
        / c.gamma
        * (c.measured("inner") - c.measured("next_inner"))
    )


DECREASE = {
    "the potential": differences,
    "the gradient": lambda c: -c.beta * c.eta / 2 * c.measured("gradient"),
    "the models": lambda c: c.beta * c.eta * given.smooth(c) ** 2 * c.measured("models"),
    "the noise of g": lambda c: 2 * c.beta * c.gamma * c.eta**2 * value_noise(c),
    "the noise of gradients": lambda c: 2 * c.alpha * c.beta * c.eta**2 * gradient_noise(c),
    "the noise of g, third order": lambda c: 2 * c.beta * c.gamma**2 * c.eta**3 * value_noise(c),
}
BRACKET = {
    "the move of g": lambda c: (
        2 * c.eta * c.beta**3 * c.C_g**4 * c.L_f**2 / c.gamma**2 * c.measured("momentum")
    ),
    "the move of g, second order": lambda c: (
        2 * c.eta**2 * c.beta**3 * c.C_g**4 * c.L_f**2 / c.gamma * c.measured("momentum")
    ),
    "the move of ∇F": lambda c: (
        2 * c.eta * c.beta**3 * given.smooth(c) ** 2 / c.alpha**2 * c.measured("momentum")
    ),
    "the momentum": lambda c: -c.beta * c.eta / 4 * c.measured("momentum"),
    "the inner estimate": lambda c: (
        -2 * c.beta * c.gamma * c.eta**2 * c.C_g**2 * c.L_f**2 * c.measured("inner")
    ),
}
"""What (40) has beside (41); its last bracket is what 1 − γη leaves of the estimates' error."""
decrease, forty = Terms(DECREASE), Terms(DECREASE | BRACKET)


@bound(
    name="scgdm/potential",
    source="Local-SCGDM (2022), (14), (16), (17), (39)–(41)",
    display=True,
    assumes=[*given.ASSUMED, given.STEP_SIZE, given.SMALL_STEP, given.TWO_SAMPLES],
    statement=r"P_{t+1}-P_t \le -\frac{\beta\eta}2\mathbb{E}\|\nabla F(\bar x_t)\|^2 + "
    r"\frac{\beta\eta L_F^2}K\sum_{k=1}^K\mathbb{E}\|\bar x_t-x_t^{(k)}\|^2 + \Big("
    r"\frac{2\eta\beta^3C_g^4L_f^2}{\gamma^2}+\frac{2\eta^2\beta^3C_g^4L_f^2}{\gamma} + "
    r"\frac{2\eta\beta^3L_F^2}{\alpha^2}-\frac{\beta\eta}4\Big)\frac1K\sum_{k=1}^K"
    r"\mathbb{E}\|m_{t+1}^{(k)}\|^2 + 2\beta\gamma\eta^2\delta_g^2C_g^2L_f^2 + "
    r"2\alpha\beta\eta^2(C_g^2\sigma_f^2+C_f^2\sigma_g^2) + "
    r"2\beta\gamma^2\eta^3\delta_g^2C_g^2L_f^2",
    cases=[
        *grid(
            BiasAmplification(objective_of="client-wise", at=0.2),
            LocalSCGDM(step_size=sweep(0.05, 0.2), step_factor=0.05),
            rounds=4,
        ),
        *grid(replace(AT_REST, inner_value_noise=0.3), SETTLING, rounds=1),
        *grid(replace(AT_REST, outer_gradient_noise=0.3), SETTLING, rounds=1),
        *grid(
            STEEP,
            LocalSCGDM(
                local_steps=6, step_size=0.05, momentum=18.0, inner_momentum=2.0, step_factor=10.0
            ),
            rounds=1,
        ),
        *grid(
            STEEP,
            LocalSCGDM(
                local_steps=6, step_size=0.6, momentum=0.185, inner_momentum=0.7, step_factor=0.8
            ),
            rounds=1,
        ),
        *grid(NOISY, replace(MOMENTA, step_factor=sweep(0.05, 0.5)), rounds=1),
        *grid(
            BoundedComposition(clients=1, inner_curvature=0.5, distance=3.0),
            replace(MOMENTA, step_factor=sweep(0.01, 0.8)),
            rounds=8,
        ),
    ],
    measured={
        "objective": r"\mathbb{E}F(\bar x_t)",
        "error": r"A_t",
        "next_error": r"A_{t+1}",
        "inner": r"B_t",
        "next_inner": r"B_{t+1}",
        "gradient": r"\mathbb{E}\|\nabla F(\bar x_t)\|^2",
        "models": r"\frac1K\sum_k\mathbb{E}\|\bar x_t-x_t^{(k)}\|^2",
        "momentum": r"\frac1K\sum_k\mathbb{E}\|m_{t+1}^{(k)}\|^2",
    },
    readings={
        "(40), and (16) as (40)": literal(forty, part="(16) and (40)"),
        "(17) and (41)": literal(
            Stated(decrease, assumes=(given.STEP_FACTOR,)), part="(17) and (41)"
        ),
    },
    erratum=Erratum(
        "false",
        changes="The potential decreases like this for one client only. If clients differ, its "
        "terms have to be taken along x̄_t and m̄_t, as in the corrected Theorem 3.4.",
        same_as="scgdm/potential-descent",
    ),
    corrected=Stated(forty, assumes=(ONE,)),
    correction=(
        "For one client (40) is the sum of (15), of β/α times Lemma 4.1 with L_F and of "
        "2βC_g²L_f²/γ + 2βηC_g²L_f² times Lemma 4.2. For several clients x̄ and m̄ take the place"
        " of each client's x and m: the potential of scgdm/theorem-3.4's corrected form."
    ),
    false_siblings=forty.controls(
        {
            "the potential": Rational(9, 10),
            "the gradient": 2,
            "the noise of gradients": 0,
            "the move of g": 0,
            "the move of ∇F": 0,
            "the momentum": 3,
        },
        assumes=(ONE,),
    ),
    explain=(
        "(40) holds for one client; where clients differ it inherits the error of (38). In the "
        "text at hand (16) splits the bracket of (40) in two, which looks like an artefact of the "
        "conversion; it is read as (40). Untested: the models, which are 0 for one client; "
        "the noise of g; the noise of g, third order; the move of g, second order; "
        "the inner estimate."
    ),
)
def potential_decrease(view: Steps) -> Reduction | None:
    # step t + 1 makes m_{t+2} and u_{t+2} from x_{t+1}; the step before it started from x_t
    if view.t == 0:
        return None
    at, old = view.before.x, view.previous.x
    measured = {
        "objective": view.objective(old.mean(0)),
        "error": sq(view.before.m - view.own_gradients(old)).mean(0),
        "next_error": sq(view.client("m") - view.own_gradients(at)).mean(0),
        "inner": sq(view.before.u - view.inner_values(old)).mean(0),
        "next_inner": sq(view.client("u") - view.inner_values(at)).mean(0),
        "gradient": sq(view.gradient(old.mean(0))),
        "models": sq(old - old.mean(0)).mean(0),
        "momentum": sq(view.before.m).mean(0),
    }
    return each("transition", view.objective(at.mean(0)), **measured)
