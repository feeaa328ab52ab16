"""ComFedL (2021), equations (9) and (10), with the set Δ_n as (8) prints it: Σ p_i = 0.

(10) is said to follow from (9) "by exactly maximizing over p in Δ_n".
(8) prints Δ_n = {p in R^n_+ | Σ p_i = 0, p_i >= 0}. Its only point is p = 0, where the objective
of (9) is 0 (0 log 0 = 0). So the maximum in (9) does not depend on the model w at all.
What (10) minimises is exp(V/γ), with V = γ log((1/n) Σ exp(f_i(w - η∇f_i(w))/γ)).
The instance has two tasks on the real line. With Σ p_i = 1, which is meant, the maximum is V.
"""

from math import exp, log

eta, gamma, n = 0.5, 1.0, 2
centres = [-1.0, 2.0]


def after_a_step(w):
    """f_i(w - η ∇f_i(w)) of each task, f_i(w) = (w - c_i)²/2."""
    stepped = [w - eta * (w - c) for c in centres]
    return [(v - c) ** 2 / 2 for v, c in zip(stepped, centres, strict=True)]


def objective(p, losses):
    """(9): Σ p_i f_i(…) - γ Σ p_i log(n p_i)."""
    divergence = sum(q * log(n * q) if q > 0 else 0.0 for q in p)
    return sum(q * f for q, f in zip(p, losses, strict=True)) - gamma * divergence


def of_10(losses):
    """V, so that (10) minimises exp(V/γ)."""
    return gamma * log(sum(exp(f / gamma) for f in losses) / n)


for w in [-1.0, 0.0, 0.5, 1.0, 2.0]:
    losses = after_a_step(w)
    # on Σ p_i = 1 the derivatives are equal where p_i is proportional to exp(f_i/γ)
    weights = [exp(f / gamma) for f in losses]
    p = [q / sum(weights) for q in weights]
    on_simplex = objective(p, losses)
    print(f"w = {w}: V = {of_10(losses)}, maximum with sum 0: {objective([0.0] * n, losses)},"
          f" with sum 1: {on_simplex}")  # fmt: skip
    assert abs(on_simplex - of_10(losses)) < 1e-12
    assert of_10(losses) > 0.1
losses = after_a_step(0.0)
left, right = objective([0.0] * n, losses), of_10(losses)
assert abs(left - right) > 0.1
print(f"REFUTED printed: Δ_n as (8) prints it, Σ p_i = 0: left = {left!r} != right = {right!r}")
