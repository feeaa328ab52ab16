"""FedNest (2022), slide FedIHGP: the displayed N-term Neumann series does not approximate p.

The display sums over the m clients inside the product, and around the bracket, without 1/m. Its
"≈" is read as the slide's own error bound, (ℓ_{f,0}/μ_g)((κ_g − 1)/κ_g)^N. FedIHGP, on the same
slide, takes means: with these the display holds.
The instance: two clients, both with g_i = (y − x)²/2 and f_i = y, and no noise.
Then p = 1. Each factor of the product is a sum of two halves, which is 1. So the series is N for
every N' that is drawn, and its error N − 1 grows where the bound halves with every term.
"""

m, N = 2, 5
ell_g1 = 2.0  # the largest eigenvalue of the Hessian [[1, −1], [−1, 1]] of g_i in (x, y)
mu_g = 1.0  # ∇²_y g_i
ell_f0 = 1.0  # the size of ∇f_i = (0, 1)
kappa_g = ell_g1 / mu_g
hessians, gradients = [1.0] * m, [1.0] * m  # ∇²_y g_i and ∇_y f_i

p = sum(1 / sum(hessians) * gradient for gradient in gradients)


def series(N, mean):
    """The display's mean over N' ~ U{0, ..., N − 1}; ``mean`` puts 1/m before both sums."""
    weight, expectation = 1 / m if mean else 1.0, 0.0
    for draw in range(N):
        product = N / ell_g1
        for _ in range(draw):  # n = 1, ..., N'
            product *= weight * sum(1 - hessian / ell_g1 for hessian in hessians)
        expectation += weight * sum(product * gradient for gradient in gradients) / N
    return expectation


def bound(N):
    return ell_f0 / mu_g * ((kappa_g - 1) / kappa_g) ** N


for terms in (1, 2, N, 20):
    printed, means = abs(p - series(terms, False)), abs(p - series(terms, True))
    print(f"N = {terms}: error {printed} as printed, {means} with means; bound {bound(terms)}")
    assert means <= bound(terms) * (1 + 1e-9)
left, right = abs(p - series(N, False)), bound(N)
assert left > 1.01 * right
print(f"REFUTED printed: sums, as printed: left = {left!r} > right = {right!r}")
