"""ComFedL (preprint, 2021), Remark 1: "an optimal convergence rate of O(1/√T)", if all clients run.

The sentence holds over all m <= n that Theorem 1 allows: with m < n no schedule does better on the
loop over T = 10^3, 10^5 below. Refuted are m = n, and that no method with the same oracles does
better. The rate is reached at α1 = 1/2, α2 = α3 = 1 (minibatches of T^α2, T^α3 are meant). With
m = n and τ = 1, η = T^(-1/3) and b = b1 = T^(2/3) give O(T^(-2/3)) on every problem that meets
Assumptions 1 to 4. The bound is derived below. The instance: f(w; ξ) = w + ξ, ξ = ±1, and g(y) =
y²/2, linear beyond |y| = 2, from w_0 = 1.
"""

from math import ceil

# Assumptions 1 to 4 for f(w; ξ) = w + ξ, ξ = ±1, and g(y) = y²/2, linear beyond |y| = 2; w_0 = 1
L, L_f, L_g, G_f, G_g, sigma, gap = 1.0, 0.0, 1.0, 1.0, 2.0, 1.0, 0.5  # gap = F(w_0) - F*


def bound(T, eta, b):
    """Bound (1/T) Σ E‖∇F(w̄_s)‖² for m = n, τ = 1, b = b1 and Lη <= 1.

    F is L-smooth: F(w - ηu) <= F(w) - η⟨∇F, u⟩ + (Lη²/2)‖u‖², which is at most
    F(w) - (η/2)‖∇F‖² + (η/2)‖u - ∇F‖². Summed over the T steps, the mean of E‖∇F‖² is at most
    2(F(w_0) - F*)/(ηT) + the largest E‖u - ∇F‖². With m = n, ∇F(w̄_s) = U_{s,0}, and Lemma 3
    bounds E‖u - U_{s,0}‖².
    """
    assert L * eta <= 1
    lemma_3 = 5 * (G_g**2 * L_f**2 + G_f**4 * L_g**2) * eta**2 * G_g**2 * G_f**2
    lemma_3 += 5 * (G_f**2 + G_g**2 + L_g**2 * G_f**2) * sigma**2 / b
    return 2 * gap / (eta * T) + lemma_3


def run(T, eta, b):
    """(1/T) Σ E‖∇F(w̄_s)‖², exactly: one client, u = w + ξ̄, where Var ξ̄ = 1/b, |w| <= 1."""
    square, total = 1.0, 0.0  # E w²
    for _ in range(T):
        total += square / T
        square = (1 - eta) ** 2 * square + eta**2 / b
    return total


print("T: at η = T^(-1/2), b = T; at η = T^(-1/3), b = T^(2/3), and the bound of it")
for T in [4**3, 16**3, 64**3]:
    eta, b = T ** (-1 / 3), ceil(T ** (2 / 3) - 1e-9)
    print(T, run(T, T**-0.5, T), run(T, eta, b), bound(T, eta, b))
    assert run(T, eta, b) <= bound(T, eta, b)
for T in [10**3, 10**5]:  # m = 1 of n = 2 clients, no noise, F^i(w) = (w -+ 1)²/2 where |w| <= 1
    sampled = [run(T, T**-alpha, 1) for alpha in [0.1, 0.3, 0.4, 0.5, 0.6, 0.7, 1.0]]  # u = w -+ 1
    print(f"m < n, T = {T}: √T times the left side is at least {T**0.5 * min(sampled)}")
    assert T**0.5 * min(sampled) > 0.9
c, T = 0.01, 1e30  # for any c there is such a T, since the bound is O(T^(-2/3))
left, right = c * T**-0.5, bound(T, T ** (-1 / 3), T ** (2 / 3))
print(f"m = n: if no order were better, no bound at T = {T:g} would lie below c/√T, c = {c}:")
assert left > 2 * right
for form in (  # that schedule is a method which asks the same oracles, and fewer samples
    "printed: no method with these oracles has a better order",
    "printed: with all clients, m = n, no schedule of Remark 1 gives a better order",
):
    print(f"REFUTED {form}: left = {left!r} > right = {right!r}")
