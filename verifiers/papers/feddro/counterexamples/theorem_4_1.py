"""FedDRO (2023), Theorem 4.1, asked for more than its print: a Φ with bounded level sets.

It says that some f and g_k exist for which Algorithm 1 converges with no step sizes η^t < C_η.
As printed it holds, on a Φ without a minimum. With one step size for all t it holds on the problem
below too: K = 2, g_1(x) = 2x, g_2(x) = 1 - x, f' is y cut off at ±3. But for no Φ with bounded
level sets does it hold for any sequence of step sizes, in Case II. Just after models and embeddings
are shared, a step is exact: it goes along -∇Φ. Take the size η there, and η/(1 + t)² in the other
steps, whose sum is finite. Then ∇Φ(x̄) tends to 0, as a comment below derives.
"""

# case: f9809e9e1901

K, local, eta, start = 2, 2, 1 / 16, 0.25  # local is I
B_g, B_f, L_f, L_g = 2.0, 3.0, 1.0, 0.0  # |g_k'| <= 2 and g_k is linear; |f'| <= 3, |f''| <= 1
L = B_f * L_g + B_g**2 * L_f  # Lemma 3.5


def g(x):
    return [2 * x[0], 1 - x[1]]


def f_prime(y):
    return min(max(y, -3.0), 3.0)


def Phi(x):
    y = (2 * x + 1 - x) / 2
    return y**2 / 2 if abs(y) <= 3 else 3 * abs(y) - 4.5


def nabla_Phi(x):
    return f_prime((2 * x + 1 - x) / 2) / 2  # 0 at x = -1 alone


def run(decay, rounds=764):
    """Algorithm 1, Case II, from x̄⁰ and ȳ⁰ = g(x̄⁰): where x̄ ends."""
    x, y = [start] * K, [sum(g([start] * K)) / K] * K
    for r in range(rounds):
        before, others = x[0], 0.0
        for t in range(r * local, (r + 1) * local):
            size = eta if t % local == 0 else eta / (1 + t) ** decay
            others += size * B_g * B_f if t % local else 0.0  # the most that these steps move x̄
            x = [x[0] - size * 2 * f_prime(y[0]), x[1] + size * f_prime(y[1])]  # line 5, (6)
            y = g(x)
        x = [sum(x) / K] * K  # line 8
        y = [sum(g(x)) / K] * K
        # L-smoothness bounds Φ(x̄ - η∇Φ - e), ‖e‖ <= others. The sum of others over the rounds is
        # finite if decay = 2, so that of ‖∇Φ‖² is, for every Φ that is bounded below
        slope = abs(nabla_Phi(before))
        drop = eta * (1 - L * eta / 2) * slope**2
        rise = slope * others * (1 + L * eta) + L / 2 * others**2
        assert Phi(x[0]) <= Phi(before) - drop + rise + 1e-12
    return x[0]


left, right = run(decay=2), run(decay=0)
print(f"‖∇Φ‖ where x̄ ends: {abs(nabla_Phi(left))}; with one step size: {abs(nabla_Phi(right))}")
assert abs(left + 1) < 1e-4 < 1 < right + 1
form = "printed: any sequence of step sizes, and Φ has bounded level sets"
print(f"REFUTED {form}: left = {left!r} != right = {right!r}")
