"""Theorem 3.4 and Corollary 3.5 of Local-SCGDM: right sides, readings, measure and cases."""

from sympy import Rational

from driftproof.toolkit.algorithms._samples import Samples
from driftproof.toolkit.algorithms.local_scgdm import Averaged, LocalSCGDM
from driftproof.toolkit.cases import Case, P
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, States, average, sq
from driftproof.toolkit.readings import Stated, intended, literal, narrower
from driftproof.verifiers.claim_types.bound import RightSide
from driftproof.verifiers.claim_types.terms import Terms
from driftproof.verifiers.papers.scgdm.claims import assumptions as given

ONE = (given.ONE_SAMPLE, given.PRINTED, given.PERIOD)
TWO = (given.TWO_SAMPLES, given.PRINTED, given.PERIOD)
VALID = (given.TWO_SAMPLES, given.INNER_ESTIMATES, given.MODELS_AVERAGED)
"""What the corrected form assumes beside the conditions on the step sizes."""


def value_noise(c: Letters) -> Expression:
    """Return what the noise of g makes of a direction's mean square."""
    return c.C_g**2 * c.L_f**2 * c.delta_g**2


def gradient_noise(c: Letters) -> Expression:
    """Return what the noise of ∇f and ∇g makes of it."""
    return c.C_g**2 * c.sigma_f**2 + c.C_f**2 * c.sigma_g**2


def _with_curvature(c: Letters, curvature: Expression) -> Expression:
    """Return (6) with a Lipschitz constant in its third term."""
    drift = 16 * value_noise(c) + c.C_g**2 * c.sigma_f**2 + 3 * c.C_f**2 * c.sigma_g**2
    first = c.C_g**2 * c.sigma_f**2 + value_noise(c) + c.C_f**2 * c.sigma_g**2
    return (
        2 * c.F_gap / (c.beta * c.eta * c.T)
        + 6 * first / (c.alpha * c.eta * c.T)
        + 4 * c.C_g**2 * curvature**2 * c.delta_g**2 / (c.gamma * c.eta * c.T)
        + 2 * c.gamma * c.eta * value_noise(c)
        + 2 * c.alpha * c.eta * gradient_noise(c)
        + 2 * c.gamma**2 * c.eta**2 * value_noise(c)
        + 32 * c.p**2 * c.beta**2 * c.eta**2 * given.smooth(c) ** 2 * drift
    )


def printed(c: Letters) -> Expression:
    """Return (6); its third term has L_g."""
    return _with_curvature(c, c.L_g)


def mended(c: Letters) -> Expression:
    """Return (6) with L_f in its third term, as the potential (14), (39) has it."""
    return _with_curvature(c, c.L_f)


corrected = Terms(
    {
        "the gap": lambda c: 2 * c.F_gap / (c.beta * c.eta * c.T),
        "the first noise of ∇f": lambda c: (c.C_g * c.sigma_f) ** 2 / (c.alpha * c.eta * c.T),
        "the first estimate in m": lambda c: 2 * value_noise(c) / (c.alpha * c.eta * c.T),
        "the first noise of ∇g": lambda c: 2 * (c.C_f * c.sigma_g) ** 2 / (c.alpha * c.eta * c.T),
        "the first estimate in u": lambda c: 2 * value_noise(c) / (c.gamma * c.eta * c.T),
        "the noise of g": lambda c: 2 * c.gamma * c.eta * value_noise(c),
        "the noise of ∇f": lambda c: c.alpha * c.eta / c.K * (c.C_g * c.sigma_f) ** 2,
        "the noise of ∇g": lambda c: 2 * c.alpha * c.eta / c.K * (c.C_f * c.sigma_g) ** 2,
        "the noise of g, second order": lambda c: 2 * (c.gamma * c.eta) ** 2 * value_noise(c),
        "the noise of g in m": lambda c: (
            2 * c.alpha * c.eta / c.K * (c.gamma * c.eta) ** 2 * value_noise(c)
        ),
        "the drift": lambda c: (
            Rational(4, 3)
            * (c.p - 1)
            * (2 * c.p - 1)
            * (c.beta * c.eta * given.smooth(c) * c.C_g * c.C_f) ** 2
        ),
    }
)
"""The corrected right side; docs/scgdm.md derives it."""


def readings(printed: RightSide, mended: RightSide) -> dict[str, Stated[RightSide]]:
    """Return the readings of (6), and of (7), from the right side as printed and with L_f."""
    return {
        "two samples, as in the proofs": intended(Stated(printed, assumes=TWO), quote=given.APART),
        "two samples, and L_f in the third term": intended(
            Stated(mended, assumes=TWO), quote="the potential, (14) and (39), has L_f² there"
        ),
        "one sample, as in Algorithm 1": literal(Stated(printed, assumes=ONE)),
        "two samples, L_f, clients with one f and one g": narrower(
            Stated(mended, assumes=(*TWO, given.ALIKE)), why=given.OF_THEIR_OWN
        ),
    }


def mean_squared_gradient(view: States) -> Reduction:
    """Measure (1/T) Σ_{t<T} ‖∇F(x̄_t)‖²."""
    return average("step", sq(view.gradient(view.mean("x"))))


def largest_squared_gradient(c: Letters) -> Expression:
    """Return the most that a squared gradient can be."""
    return c.C_g**2 * c.C_f**2


def admitted(
    problem: P,
    rounds: int,
    *,
    eta: float,
    alpha: float = 1.0,
    gamma: float = 1.0,
    p: int = 2,
    share: float = 1.0,
    samples: Samples = "two",
    averaged: Averaged = "umx",
) -> Case[P, LocalSCGDM]:
    """Return a case with ``share`` of the largest β that Theorem 3.4 admits."""
    method = LocalSCGDM(
        local_steps=p,
        step_size=eta,
        momentum=alpha,
        inner_momentum=gamma,
        step_factor=share * given.largest_factor(problem, alpha, gamma),
        samples=samples,
        averaged=averaged,
    )
    return Case(problem, method, rounds)


def scheduled_case(
    problem: P, p: int, *, alpha: float = 1.0, gamma: float = 1.0, averaged: Averaged = "umx"
) -> Case[P, LocalSCGDM]:
    """Return the case of Corollary 3.5's schedule with the horizon T = p⁴."""
    eta = p**-2.0
    return admitted(problem, p**3, eta=eta, alpha=alpha, gamma=gamma, p=p, averaged=averaged)
