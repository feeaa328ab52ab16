"""Local-SCGDM (2022), (8) and Lemma 3.9, (10): not what is said if a device has several tasks.

The instance: one device with two tasks, L_±(x) = 1 − cos(x ∓ π/2), at x = 0.
"""

from math import cos, pi, sin

centre, x = (pi / 2, -pi / 2), 0.0


def L(i, y):
    return 1 - cos(y - centre[i])


def dL(i, y):
    return sin(y - centre[i])


def f(y):
    """Return E_i L_i(y)."""
    return (L(0, y) + L(1, y)) / 2


# -- equation-8
# MAML minimises E_i L_i(x − λ∇L_i(x)): one step on a task, then its own loss. (8) has f(y) = E_i
# L_i(y) and g(x) = x − λ∇L_i(x), in which nothing binds i. With one g and one f a device, as (1)
# and Algorithm 1 need them, g steps on the mean of the tasks or on one of them, and every task is
# tested after it. Here λ = 1, without noise.
lam = 1.0
left = sum(L(i, x - lam * dL(i, x)) for i in range(2)) / 2  # MAML
print(f"MAML's objective at x = {x}: {left}, that is 1 - sin 1 = {1 - sin(1)}")
for form, g in (
    ("printed: g is the mean over all tasks of a device", x - lam * (dL(0, x) + dL(1, x)) / 2),
    ("printed: g is of one task of a device", x - lam * dL(0, x)),
):
    right = f(g)
    assert abs(left - right) > 0.5
    print(f"REFUTED equation-8, {form}: left = {left!r} != right = {right!r}")

# -- lemma-3.9-tasks
# case: fa0e0d231528
# (10), σ_f² = σ_1², is too small if f draws the task, as (8) says: f(y; ζ) = L_i(y; ζ) with a
# random task i. Let L_i(y; ζ) = L_i(y) + 0.3 ζ cos y with a fair coin ζ = ±1. The gradients of the
# two tasks at 0 are −1 and 1, and that of f is 0, so the variance of ∇f is 1. (23) writes L_i for
# f, and forgets that i is drawn.
noise = 0.3
sigma_1 = noise  # ∇L_i(y; ζ) − ∇L_i(y) = −0.3 ζ sin y
gradients = [dL(i, x) - noise * zeta * sin(x) for i in range(2) for zeta in (-1, 1)]
mean = sum(gradients) / 4
left, right = sum((gradient - mean) ** 2 for gradient in gradients) / 4, sigma_1**2
assert left > 1.01 * right
print(f"REFUTED lemma-3.9-tasks, printed: σ_f²: left = {left!r} > right = {right!r}")
