r"""Linear speed-up: the scaling law of Theorem 5.1 and Corollary 5.2 in K, |b| and T.

**Statement.** With η = √(|b|K/T), β = 4B_g⁴L_f²η and I ≤ T^{1/4}/(|b|K)^{3/4}: E‖∇Φ(x̄^{a(T)})‖² =
O(1/√N), N = |b|KT, the number of samples of all clients.

**Kind.** Rate in N, measured where K, |b|, T and I all vary, with noise in h and g and with
gradient heterogeneity; asymptotic evidence, since the constants of the bound are not in the text.

**Floor.** f = 0, h(x) = x²/2 near 0, noise of variance 1 in ∇h: E(x̄^{t+1})² = (1 − η)²E(x̄^t)² +
η²/(|b|K) tends to η/((2 − η)|b|K), so the left side is at least η/(3|b|K) = 1/(3√N) for long runs.
"""

from sympy import symbols

from synthetic.problems import AveragedComposition
from toolkit import claim
from verifiers.claims.feddro import _theorem as parts
from verifiers.claims.feddro import assumptions as given
from verifiers.rate import Floor, Rate, Schedule

N = symbols("N", positive=True)


def samples(case):
    """Return |b|KT."""
    method = case.algorithm
    return method.batch * case.problem.clients * case.rounds * method.local_steps


def instance(clients, batch, steps, local_steps):
    problem = AveragedComposition(
        clients=clients, inner_slope=0.7, inner_heterogeneity=0.2, inner_value_noise=0.3,
        inner_gradient_noise=0.2, plain_noise=0.5, plain_tilt=0.2, distance=0.2,
    )  # fmt: skip
    return parts.run(problem, steps, local_steps=local_steps, batch=batch)


@claim(
    name="feddro/linear-speed-up",
    kind="rate",
    source="004, Theorem 5.1, Corollaries 5.2 and 5.3",
    assumes=[*given.ASSUMED],
    statement=r"\mathbb{E}\|\nabla\Phi(\bar x^{a(T)})\|^2 = \mathcal O(\order)",
)
class LinearSpeedUp:
    cases = [
        instance(2, 1, 1024, 2), instance(4, 1, 2048, 2), instance(2, 4, 4096, 2),
        instance(16, 1, 4096, 1), instance(8, 4, 8192, 1),
    ]  # fmt: skip
    full = [instance(32, 1, 16_384, 1), instance(64, 1, 32_768, 1), instance(16, 8, 32_768, 1)]
    left = parts.squared_gradient
    range = parts.largest
    right = Schedule({}, N**-0.5)
    rate = Rate(
        horizon=N, size=samples,
        size_name="N = |b|KT, samples",
        floors=[Floor("h(x) = x²/2 with noise of variance 1", lambda at: N**-0.5 / 3)],
    )  # fmt: skip
    false_siblings = [
        ("a faster rate, N^{-3/4}", Schedule({}, N**-0.75)),
        ("a faster rate, 1/N", Schedule({}, 1 / N)),
    ]
    explain = "Measured: clients, minibatch and steps count alike."
