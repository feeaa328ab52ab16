"""ComFedL (2021), equation (8): the set of the maximum is printed with the sum 0.

Both editions print Δ_n = {p in R^n_+ | Σ p_i = 0, p_i >= 0} and call it the standard simplex.
Numbers that are not negative and add up to 0 are all 0. So p = 0 is the only point of the set.
The inner maximum of (8) is then 0 for every model w, and (8) asks for nothing of w.
Robust MAML wants the loss of the worst task. The instance has two tasks on the real line.
With Σ p_i = 1, which is meant, the maximum is that loss: this is a misprint.
"""

eta, n = 0.5, 2
centres = [-1.0, 1.0]


def loss(i, w):
    """f_i(w) = (w - c_i)²/2: convex and smooth."""
    return (w - centres[i]) ** 2 / 2


def gradient(i, w):
    return w - centres[i]


def after_a_step(w):
    """f_i(w - η ∇f_i(w)) of each task, as (8) has it."""
    return [loss(i, w - eta * gradient(i, w)) for i in range(n)]


def maximum(losses, total):
    """Return max Σ p_i f_i over p >= 0, Σ p_i = total: all of it on the largest loss."""
    return total * max(losses)


for w in [-2.0, -1.0, 0.0, 1.0, 2.0]:
    losses = after_a_step(w)
    print(f"w = {w}: worst task {max(losses)}, (8) as printed {maximum(losses, 0.0)},"
          f" with sum 1 {maximum(losses, 1.0)}")  # fmt: skip
    assert maximum(losses, 1.0) == max(losses) > 0.1
w = 0.0  # the minimiser of the worst task's loss
left, right = maximum(after_a_step(w), 0.0), max(after_a_step(w))
assert abs(left - right) > 0.1
print(f"REFUTED printed: Σ p_i = 0: left = {left!r} != right = {right!r}")
