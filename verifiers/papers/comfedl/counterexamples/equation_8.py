"""ComFedL (2021), equations (8) to (10): the set of the maximum is printed with the sum 0.

Both editions print Δ_n = {p in R^n_+ | Σ p_i = 0, p_i >= 0} and call it the standard simplex.
Numbers that are not negative and add up to 0 are all 0. So p = 0 is the only point of the set.
The instance has two tasks on the real line, f_i(w) = (w - c_i)²/2. With Σ p_i = 1, which is meant,
the displays are right: this is a misprint.
"""

from math import exp, log

eta, gamma, n = 0.5, 1.0, 2


def after_a_step(w, centres):
    """f_i(w - η ∇f_i(w)) of each task, as (8) has it."""
    return [(w - eta * (w - c) - c) ** 2 / 2 for c in centres]


def maximum(losses, total):
    """Return max Σ p_i f_i over p >= 0, Σ p_i = total: all of it on the largest loss."""
    return total * max(losses)


def objective(p, losses):
    """(9): Σ p_i f_i(…) - γ Σ p_i log(n p_i); 0 log 0 = 0."""
    divergence = sum(q * log(n * q) if q > 0 else 0.0 for q in p)
    return sum(q * f for q, f in zip(p, losses, strict=True)) - gamma * divergence


def of_10(losses):
    """V = γ log((1/n) Σ exp(f_i(w - η∇f_i(w))/γ)): (10) minimises exp(V/γ)."""
    return gamma * log(sum(exp(f / gamma) for f in losses) / n)


# -- equation-8
# The inner maximum of (8) is 0 for every model w, and (8) asks for nothing of w. Robust MAML wants
# the loss of the worst task, which the maximum is with Σ p_i = 1. Here c = (-1, 1).
for w in [-2.0, -1.0, 0.0, 1.0, 2.0]:
    losses = after_a_step(w, [-1.0, 1.0])
    assert maximum(losses, 1.0) == max(losses) > 0.1
losses = after_a_step(0.0, [-1.0, 1.0])  # 0 is the minimiser of the worst task's loss
left, right = maximum(losses, 0.0), max(losses)
assert abs(left - right) > 0.1
print(f"REFUTED equation-8, printed: Σ p_i = 0: left = {left!r} != right = {right!r}")

# -- equation-10
# (10) is said to follow from (9) "by exactly maximizing over p in Δ_n". At p = 0 the objective of
# (9) is 0, whatever the model w is. With Σ p_i = 1 the maximum is V. Here c = (-1, 2).
for w in [-1.0, 0.0, 0.5, 1.0, 2.0]:
    losses = after_a_step(w, [-1.0, 2.0])
    # on Σ p_i = 1 the derivatives are equal where p_i is proportional to exp(f_i/γ)
    weights = [exp(f / gamma) for f in losses]
    assert abs(objective([q / sum(weights) for q in weights], losses) - of_10(losses)) < 1e-12
    assert of_10(losses) > 0.1
losses = after_a_step(0.0, [-1.0, 2.0])
left, right = objective([0.0] * n, losses), of_10(losses)
assert abs(left - right) > 0.1
form = "printed: Δ_n as (8) prints it, Σ p_i = 0"
print(f"REFUTED equation-10, {form}: left = {left!r} != right = {right!r}")
