"""FedNest (2022), FedInn and FedOut: τ local steps of size β do not drift by O(τβ²) alone.

Steps of one sign add up, so τ of them move by about τβ times the gradient, whose square is τ²β².
The instance: one client, no noise, g = y²/2 and f = φ(x) with φ = x²/2 for |x| ≤ 1 and of slope 1
beyond. Along β = 1/τ the drift from 1, averaged over the local steps, tends to 2/e − 1/2 −
e^(−2)/2 = 0.168, where τβ² = 1/τ tends to 0. So no constant will do. Below, C is what τ = 8 asks
for, and the drift at τ = 2^16 is compared with Cτβ². (The findings rest on one exponent: with τ²
for τ the displays are right.)
"""

from math import exp

mu_g = ell_g1 = 1.0  # g'' = 1: g is 1-strongly convex, and g' is 1-Lipschitz
ell_f0 = ell_f1 = 1.0  # |φ'| ≤ 1, and φ' is 1-Lipschitz


def slope(z):
    """g'(z), and φ'(z): for |z| ≤ 1, where the steps stay, they are the same."""
    assert abs(z) <= 1
    return z


def drift(tau, beta, z=1.0):
    """The mean over ν = 1, ..., τ of |z_ν − z|², z_ν by the local steps of FedSVRG."""
    q = slope(z)  # of one client, its own
    z_nu, total = z, 0.0
    for _ in range(tau):
        z_nu = z_nu - beta * (slope(z_nu) - slope(z) + q)
        total += (z_nu - z) ** 2
    return total / tau


C = drift(8, 1 / 8) / (8 * (1 / 8) ** 2)
for tau in (8, 64, 512, 4096, 2**16):
    beta = 1 / tau
    assert beta <= 1 / ell_g1
    left, right = drift(tau, beta), C * tau * beta**2
    print(f"tau = {tau}, beta = 1/tau: drift {left}, over tau beta^2: {left / (tau * beta**2)}")
print(f"limit of the drift: {2 * exp(-1) - 0.5 - exp(-2) / 2}")
print(f"left: the drift at tau = {tau}; right: C tau beta^2, with C = {C} as at tau = 8")
assert left > 1000 * right

# -- inner-drift
# FedInn: y^k = 1.
print(f"REFUTED inner-drift, printed: τβ²: left = {left!r} > right = {right!r}")

# -- outer-drift
# FedOut: x^k = 1 and y^{k+1} = y*(x^k) = 0, so that O(τα² + ‖y − y*(x)‖²) is O(τα²). ∇_y f = 0, so
# FedIHGP returns 0.
print(f"REFUTED outer-drift, printed: τα²: left = {left!r} > right = {right!r}")
