"""FedDRO (2023), equation (4): an "equivalent reformulation of (3)" with other values than (3).

With D = Σ p_i log(p_i m), (3) is min_x max_p Σ p_i ℓ(x; ζ_i) - λ D over the simplex.
Its inner maximum is λ log((1/m) Σ exp(ℓ_i/λ)). (4) prints it without the factor λ.
So the two problems have the same minimisers, but their values differ unless λ = 1.
The instance has one sample, m = 1, with ℓ(x; ζ_1) = 1 + x² and λ = 2. A second one has m = 2.
"""

from math import exp, log

penalty = 2.0  # λ


def losses_of_one(x):
    return [1 + x**2]


def losses_of_two(x):
    return [1 + x**2, 1 + 2 * x**2]


def objective_of_3(p, losses):
    """Σ p_i ℓ_i - λ Σ p_i log(p_i m)."""
    m = len(losses)
    return sum(q * (ell - penalty * log(q * m)) for q, ell in zip(p, losses, strict=True))


def of_3(losses):
    """The maximum over p: the derivatives ℓ_i - λ log(p_i m) - λ are equal, p_i ~ exp(ℓ_i/λ)."""
    weights = [exp(ell / penalty) for ell in losses]
    return objective_of_3([w / sum(weights) for w in weights], losses)


def of_4(losses):
    return log(sum(exp(ell / penalty) for ell in losses) / len(losses))


for losses in [losses_of_two, losses_of_one]:
    # all losses are least at x = 0, so both problems are
    assert all(of_3(losses(0.0)) < of_3(losses(x)) for x in [-1.0, -0.1, 0.1, 1.0])
    assert all(of_4(losses(0.0)) < of_4(losses(x)) for x in [-1.0, -0.1, 0.1, 1.0])
    left, right = of_3(losses(0.0)), of_4(losses(0.0))
    print(f"m = {len(losses(0.0))}: the minimum of (3) is {left}, of (4) {right}")
    assert abs(left - penalty * right) < 1e-12
    assert abs(left - right) > 0.1
print(f"REFUTED printed: equal values: left = {left!r} != right = {right!r}")
