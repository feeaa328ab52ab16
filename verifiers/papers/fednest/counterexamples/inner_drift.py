"""FedNest (2022), FedInn: the drift of τ local steps of size β is not O(τβ²).

Steps of one sign add up, so τ of them move by about τβ times the gradient, whose square is τ²β².
The instance: one client, g = y²/2, y^k = 1, no noise. Along β = 1/τ the drift, averaged over the
local steps, tends to 2/e − 1/2 − e^(−2)/2 = 0.168, where τβ² = 1/τ tends to 0. So no constant
will do. Below, C is what τ = 8 asks for, and the drift at τ = 2^16 is compared with Cτβ².
(The finding rests on one exponent: with τ² for τ the display is right.)
"""

from math import exp

mu_g = ell_g1 = 1.0  # g'' = 1: g is 1-strongly convex, and g' is 1-Lipschitz


def dg(y):
    return y


def drift(tau, beta, y=1.0):
    """The mean over ν = 1, ..., τ of |y_ν − y|², y_ν by the local steps of FedSVRG."""
    q = dg(y)  # (1/m) Σ ∇g_i(y), m = 1
    y_nu, total = y, 0.0
    for _ in range(tau):
        y_nu = y_nu - beta * (dg(y_nu) - dg(y) + q)
        total += (y_nu - y) ** 2
    return total / tau


C = drift(8, 1 / 8) / (8 * (1 / 8) ** 2)
for tau in (8, 64, 512, 4096, 2**16):
    beta = 1 / tau
    assert beta <= 1 / ell_g1
    ratio = drift(tau, beta) / (tau * beta**2)
    print(f"tau = {tau}, beta = 1/tau: drift {drift(tau, beta)}, over tau beta^2: {ratio}")
print(f"limit of the drift: {2 * exp(-1) - 0.5 - exp(-2) / 2}")

tau = 2**16
left, right = drift(tau, 1 / tau), C * tau * (1 / tau) ** 2
assert left > 1000 * right
print(f"left: the drift at tau = {tau}; right: C tau beta^2, with C = {C} as at tau = 8")
print(f"REFUTED printed: τβ²: left = {left!r} > right = {right!r}")
