r"""The decrease of the potential: (16), (40), (17) and (41).

**Statement.** With P_t = E F(x̄_t) + (β/α)(1/K) Σ E‖m_{t+1} − ∇F_k(x_t)‖² + (2βC_g²L_f²/γ)(1/K) Σ
E‖u_{t+1} − g_k(x_t)‖², (14), (39): P_{t+1} − P_t ≤ −(βη/2)E‖∇F(x̄_t)‖² + (βηL_F²/K) Σ E‖x̄_t −
x_t‖² + [2ηβ³C_g⁴L_f²/γ² + 2η²β³C_g⁴L_f²/γ] + [2ηβ³L_F²/α² − βη/4](1/K) Σ E‖m_{t+1}‖² + noise, in
(16); (40) has all of both brackets times (1/K) Σ E‖m_{t+1}‖². By the condition on β, (17), (41)
without brackets. m_{t+2} and u_{t+2} are as lines 7 and 9 leave them, the others as stored.

**Kind.** Bound, at every step, in total expectation; both sides contain measured terms.

**Finding.** (16) and (40) disagree: (16)'s first bracket is not multiplied by ‖m‖² and has no unit
in common with its neighbours. With one client, where (40) holds, (16) is false as soon as ‖m‖ is
large. (40) and (41) are false where clients differ, as (38) is.
"""

from synthetic.problems import BiasAmplification, BoundedComposition
from toolkit import Assumption, Stated, claim, each, grid, literal, sq
from toolkit.algorithms import LocalSCGDM
from verifiers.claims.scgdm import assumptions as given

STEEP = BoundedComposition(clients=1, outer_slope=100.0, distance=[3.0, 50.0])
NOISE = {"inner_value_noise": 0.3, "inner_gradient_noise": 0.3, "outer_gradient_noise": 0.3}
ONE = Assumption("One client", "K = 1", applies=lambda case: case.problem.clients == 1)


def brackets(c):
    curved = c.C_g**4 * c.L_f**2 * c.eta * c.beta**3
    first = 2 * curved / c.gamma**2 + 2 * c.eta * curved / c.gamma
    return first, 2 * c.eta * c.beta**3 * given.smooth(c) ** 2 / c.alpha**2 - c.beta * c.eta / 4


def decrease(c, alone=0, momentum=0, gradient=1, noise=1):
    """Return E F(x̄_{t+1}) ≤ …: the differences of the potential's other parts moved to the right.

    Args:
        alone, momentum: what stands by itself, and what multiplies (1/K) Σ E‖m_{t+1}‖².
    """
    values = c.C_g**2 * c.L_f**2 * c.delta_g**2
    gradients = c.C_g**2 * c.sigma_f**2 + c.C_f**2 * c.sigma_g**2
    steady = 2 * c.beta * c.eta**2 * (
        c.gamma * values + c.alpha * gradients + c.gamma**2 * c.eta * values
    )  # fmt: skip
    return (
        c.measured("objective")
        + c.beta / c.alpha * (c.measured("error") - c.measured("next_error"))
        + 2 * c.beta * c.C_g**2 * c.L_f**2 / c.gamma
        * (c.measured("inner") - c.measured("next_inner"))
        - gradient * c.beta * c.eta / 2 * c.measured("gradient")
        + c.beta * c.eta * given.smooth(c) ** 2 * c.measured("models")
        + alone + momentum * c.measured("momentum") + noise * steady
    )  # fmt: skip


def sixteen(c):
    first, second = brackets(c)
    return decrease(c, alone=first, momentum=second)


def forty(c, gradient=1, noise=1):
    """Return (40), whose last bracket is what 1 − γη leaves of the estimates' error."""
    left = 2 * c.beta * c.gamma * c.eta**2 * c.C_g**2 * c.L_f**2 * c.measured("inner")
    return decrease(c, momentum=sum(brackets(c)), gradient=gradient, noise=noise) - left


@claim(
    name="scgdm/potential",
    kind="bound",
    source="003, (14), (16), (17), (39)–(41)",
    assumes=[*given.ASSUMED, given.STEP_SIZE, given.SMALL_STEP, given.TWO_SAMPLES],
    statement=r"P_{t+1}-P_t \le -\frac{\beta\eta}2\mathbb{E}\|\nabla F(\bar x_t)\|^2 + "
    r"\frac{\beta\eta L_F^2}K\sum_{k=1}^K\mathbb{E}\|\bar x_t-x_t^{(k)}\|^2 + \Big("
    r"\frac{2\eta\beta^3C_g^4L_f^2}{\gamma^2}+\frac{2\eta^2\beta^3C_g^4L_f^2}{\gamma}\Big) + "
    r"\Big(\frac{2\eta\beta^3L_F^2}{\alpha^2}-\frac{\beta\eta}4\Big)\frac1K\sum_{k=1}^K"
    r"\mathbb{E}\|m_{t+1}^{(k)}\|^2 + 2\beta\gamma\eta^2\delta_g^2C_g^2L_f^2 + "
    r"2\alpha\beta\eta^2(C_g^2\sigma_f^2+C_f^2\sigma_g^2) + "
    r"2\beta\gamma^2\eta^3\delta_g^2C_g^2L_f^2",
)
class PotentialDecrease:
    cases = [
        *grid(STEEP, LocalSCGDM(step_size=0.25, momentum=3.9, step_factor=2.0), rounds=1),
        *grid(
            BiasAmplification(objective_of="client-wise", at=0.2),
            LocalSCGDM(step_size=[0.05, 0.2], step_factor=0.05), rounds=4,
        ),
        *grid(
            BoundedComposition(clients=1, inner_curvature=[0.0, 0.5], distance=1.2, **NOISE),
            LocalSCGDM(
                step_size=0.2, momentum=[0.5, 4.9], inner_momentum=[0.5, 4.9],
                step_factor=[0.05, 0.5],
            ),
            rounds=1,
        ),
        *grid(
            BoundedComposition(clients=1, inner_curvature=0.5, distance=3.0),
            LocalSCGDM(
                step_size=0.2, momentum=[0.5, 4.9], inner_momentum=[0.5, 4.9],
                step_factor=[0.01, 0.8],
            ),
            rounds=8,
        ),
    ]  # fmt: skip

    def left(view):
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

    measured = {
        "objective": r"\mathbb{E}F(\bar x_t)",
        "error": r"A_t",
        "next_error": r"A_{t+1}",
        "inner": r"B_t",
        "next_inner": r"B_{t+1}",
        "gradient": r"\mathbb{E}\|\nabla F(\bar x_t)\|^2",
        "models": r"\frac1K\sum_k\mathbb{E}\|\bar x_t-x_t^{(k)}\|^2",
        "momentum": r"\frac1K\sum_k\mathbb{E}\|m_{t+1}^{(k)}\|^2",
    }
    readings = {
        "(16)": literal(sixteen, part="(16)"),
        "(40)": literal(forty, part="(40)"),
        "(17) and (41)": literal(
            Stated(decrease, assumes=(given.STEP_FACTOR,)), part="(17) and (41)"
        ),
    }
    corrected = Stated(forty, assumes=(ONE,))
    correction = (
        "For one client (40) is the sum of (15), of β/α times Lemma 4.1 with L_F and of "
        "2βC_g²L_f²/γ + 2βηC_g²L_f² times Lemma 4.2. For several clients x̄ and m̄ take the place"
        " of each client's x and m: the potential of scgdm/theorem-3.4's corrected form."
    )
    false_siblings = [
        ("three times the descent", Stated(lambda c: forty(c, gradient=3), assumes=(ONE,))),
        ("without the brackets, for any β", Stated(lambda c: decrease(c, momentum=-c.beta * c.eta),
                                                   assumes=(ONE,))),
    ]  # fmt: skip
    explain = (
        "(16) and (40) print two different inequalities. (40) holds for one client; where clients"
        " differ it inherits the error of (38)."
    )
