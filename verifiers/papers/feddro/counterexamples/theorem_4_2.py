"""FedDRO (2023), Theorem 4.2, for every f and g_k: it needs a Φ that is bounded below.

It says that step sizes η^t > 0 exist with which x̄^t converges to the stationary point of Φ, if the
embeddings are shared at each step and Assumptions 3.2 to 3.4 hold.
The instance: f(y) = -√(1 + y²), g_1(x) = x + 1, g_2(x) = x - 1, h = 0 and x̄⁰ = 2. Then g(x) = x.
Φ(x) = -√(1 + x²) has one stationary point, its maximum at 0, and is not bounded below.
While all x_k are 2 or more, ȳ is too, f'(ȳ) < 0, and a step of any positive size moves x_k up.
So x̄^t stays at 2 or more, and ‖∇Φ(x̄^t)‖² at 4/5 or more, for every choice of step sizes.
"""

from math import cos, sqrt

K, T = 2, 10_000
offsets = [1.0, -1.0]
# Assumptions 3.2 to 3.4: |f'(y)| = |y|/√(1 + y²) <= 1 and |f''(y)| = (1 + y²)^(-3/2) <= 1, ∇g_k = 1
B_f = L_f = B_g = 1.0
L_g = Delta_g = sigma_g = 0.0


def f_prime(y):
    return -y / sqrt(1 + y**2)


def g(k, x):
    return x + offsets[k]


def nabla_Phi(x):
    """∇Φ(x) = ∇g(x) ∇f(g(x)), g(x) = (g_1(x) + g_2(x))/2."""
    return 1.0 * f_prime((g(0, x) + g(1, x)) / 2)


def smallest_gradient(local, step_size):
    """Run the modified Algorithm 1: the smallest ‖∇Φ(x̄^t)‖² on the way."""
    x, smallest = [2.0] * K, nabla_Phi(2.0) ** 2
    for t in range(T):
        y_bar = sum(g(k, x[k]) for k in range(K)) / K  # y_k^t = ȳ^t at each t
        moved = [x[k] - step_size(t) * 1.0 * f_prime(y_bar) for k in range(K)]  # line 5, (6)
        assert all(new > old for new, old in zip(moved, x, strict=True))
        x = [sum(moved) / K] * K if (t + 1) % local == 0 else moved  # lines 6 to 8
        smallest = min(smallest, nabla_Phi(sum(x) / K) ** 2)
    return smallest


choices = {
    "T^(-1/2)": lambda t: T**-0.5,
    "10^(-6)": lambda t: 1e-6,
    "1": lambda t: 1.0,
    "1/(1 + t)²": lambda t: 1 / (1 + t) ** 2,
    "1 + cos t + 10^(-3)": lambda t: 1 + cos(t) + 1e-3,
}
reached = []
for local in [1, 10]:  # I; T^(1/4) = 10
    for says, step_size in choices.items():
        reached.append(smallest_gradient(local, step_size))
        print(f"I = {local}, η^t = {says}: ‖∇Φ(x̄^t)‖² is {reached[-1]} or more")
left, right = min(reached), 0.0
print("left: the smallest ‖∇Φ(x̄^t)‖² of all; right: what convergence asks for, its limit 0")
assert left > right + 0.79
print(f"REFUTED printed: every f and g_k: left = {left!r} > right = {right!r}")
