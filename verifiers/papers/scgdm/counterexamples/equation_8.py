"""Local-SCGDM (2022), (8): not the objective of MAML if a device has several tasks.

MAML minimises E_i L_i(x − λ∇L_i(x)): one step on a task, then its own loss. (8) has f(y) = E_i
L_i(y) and g(x) = x − λ∇L_i(x), in which nothing binds i. With one g and one f a device, as (1) and
Algorithm 1 need them, g steps on the mean of the tasks or on one of them, and every task is tested
after it. The instance: one device with two tasks, L_±(x) = 1 − cos(x ∓ π/2), no noise, λ = 1, at x
= 0.
"""

from math import cos, pi, sin

centre, lam, x = (pi / 2, -pi / 2), 1.0, 0.0


def L(i, y):
    return 1 - cos(y - centre[i])


def dL(i, y):
    return sin(y - centre[i])


def f(y):
    """Return E_i L_i(y)."""
    return (L(0, y) + L(1, y)) / 2


left = sum(L(i, x - lam * dL(i, x)) for i in range(2)) / 2  # MAML
print(f"MAML's objective at x = {x}: {left}, that is 1 - sin 1 = {1 - sin(1)}")
for form, g in (
    ("printed: g is the mean over all tasks of a device", x - lam * (dL(0, x) + dL(1, x)) / 2),
    ("printed: g is of one task of a device", x - lam * dL(0, x)),
):
    right = f(g)
    assert abs(left - right) > 0.5
    print(f"REFUTED {form}: left = {left!r} != right = {right!r}")
