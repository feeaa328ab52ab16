"""FedNest (2022), FedOut: the drift of τ local steps of size α is not O(τα² + ‖y − y*(x)‖²).

Steps of one sign add up, so τ of them move by about τα times the hypergradient, and its square is
τ²α². The instance: one client, f = φ(x) with φ = x²/2 for |x| ≤ 1 and of slope 1 beyond, g = y²/2,
x^k = 1 and y^{k+1} = y*(x^k) = 0, no noise. There ∇_y f = 0, so FedIHGP returns 0. Along α = 1/τ
the drift, averaged over the local steps, tends to 2/e − 1/2 − e^(−2)/2 = 0.168, where τα² = 1/τ
tends to 0. Below, C is what τ = 8 asks for, and the drift at τ = 2^16 is compared with Cτα².
(The finding rests on one exponent: with τ² for τ the display is right.)
"""

from math import exp

mu_g = ell_g1 = 1.0  # g'' = 1
ell_f0 = ell_f1 = 1.0  # |φ'| ≤ 1, and φ' is 1-Lipschitz
y = y_star = 0.0  # y^{k+1} and y*(x^k)


def df_x(x):
    return min(max(x, -1.0), 1.0)


def drift(tau, alpha, x=1.0):
    """The mean over ν = 1, ..., τ of |x_ν − x|², x_ν by the local steps of FedSVRG."""
    p = 0.0  # FedIHGP: every term has the factor ∇_y f = 0
    h = df_x(x) - 0.0 * p  # ∇_x f − ∇²_xy g p, with ∇²_xy g = 0
    x_nu, total = x, 0.0
    for _ in range(tau):
        x_nu = x_nu - alpha * (df_x(x_nu) - df_x(x) + h)
        total += (x_nu - x) ** 2
    return total / tau


C = drift(8, 1 / 8) / (8 * (1 / 8) ** 2)
for tau in (8, 64, 512, 4096, 2**16):
    alpha = 1 / tau
    ratio = drift(tau, alpha) / (tau * alpha**2)
    print(f"tau = {tau}, alpha = 1/tau: drift {drift(tau, alpha)}, over tau alpha^2: {ratio}")
print(f"limit of the drift: {2 * exp(-1) - 0.5 - exp(-2) / 2}")

tau = 2**16
left, right = drift(tau, 1 / tau), C * (tau * (1 / tau) ** 2 + (y - y_star) ** 2)
assert left > 1000 * right
print(f"left: the drift at tau = {tau}; right: C (tau alpha^2 + 0), with C = {C} as at tau = 8")
print(f"REFUTED printed: τα²: left = {left!r} > right = {right!r}")
