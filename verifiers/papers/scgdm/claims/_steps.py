"""What Local-SCGDM's one-step lemmas measure, for each client: errors, models and their moves."""

from torch import Tensor

from driftproof.toolkit.measure import Reduction, Steps, given_past, sq
from driftproof.verifiers.claim_types.bound import Measure

MEASURED = {
    "past": r"\mathbb{E}\|m_t^{(k)}-\nabla F^{(k)}(x_{t-1}^{(k)})\|^2",
    "inner": r"\mathbb{E}\|u_{t+1}^{(k)}-g^{(k)}(x_t^{(k)})\|^2",
    "momentum": r"\mathbb{E}\|m_t^{(k)}\|^2",
    "moved": r"\mathbb{E}\|x_t^{(k)}-x_{t-1}^{(k)}\|^2",
}


def momentum_error_of_clients(view: Steps) -> Reduction | None:
    """Measure Lemma 4.1: the momentum's error and what bounds it, at t ≥ 1.

    m_{t+1}, u_{t+1} are as line 9 and line 7 leave them; x_t, m_t, x_{t−1} as the steps before do.
    """
    if view.t == 0:
        return None
    at = view.before.x
    return given_past(
        "client",
        sq(view.client("m") - view.own_gradients(at)),
        past=sq(view.before.m - view.own_gradients(view.previous.x)),
        inner=sq(view.client("u") - view.inner_values(at)),
        momentum=sq(view.before.m),
        moved=sq(at - view.previous.x),
    )


def estimate_error_of_clients(view: Steps) -> Reduction | None:
    """Measure Lemma 4.2: the inner estimate's error and what bounds it, at t ≥ 1."""
    if view.t == 0:
        return None
    at = view.before.x
    return given_past(
        "client",
        sq(view.client("u") - view.inner_values(at)),
        past=sq(view.before.u - view.inner_values(view.previous.x)),
        momentum=sq(view.before.m),
        moved=sq(at - view.previous.x),
    )


def between_communications(measure: Measure) -> Measure:
    """Take a measure at the steps alone that do not follow a communication (mod(t, p) > 0)."""

    def taken(view: Steps) -> Reduction | None:
        return measure(view) if view.t % view.local_steps else None

    return taken


def spread(values: Tensor) -> Tensor:
    """Return Σ_k ‖v_k − v̄‖², [replicates], of one vector a client."""
    return sq(values - values.mean(0)).sum(0)
