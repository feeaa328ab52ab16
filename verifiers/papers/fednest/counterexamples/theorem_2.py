"""FedNest (2022), Theorem (Informal): no rate 1/√K for α = β = 1/√K and N ≥ κ_g log K.

These are one choice of "proper" step sizes among many. FedIHGP draws its length N' once for all
clients, so that the variance of p_{N'} grows with N, whatever the batch. A step of size α = 1/√K
forgets it after 1/α steps only: the mean of E F'(x^k)² is of order log K/√K.
The instance: one client, no noise, f = φ(x) − y/2 with φ = x²/2 for |x| ≤ R = 32 and of slope ±R
beyond, g = (y − x)²/2, so F' = x − 1/2 near. x⁺ = x − α(x + p) with −p in (0, N/4]. So x stays in
[0, N/4], where φ' = x, for α ≤ 1 and N ≤ 4R = 128.
"""

from itertools import product
from math import ceil, exp, expm1, isclose, log, log1p

import numpy as np

mu_g, ell_g1 = 1.0, 2.0  # ∇²_y g, and the largest eigenvalue of ∇²g = [[1, −1], [−1, 1]]
R = 32.0  # f is Lipschitz, with ℓ_{f,0} = (R² + 1/4)^(1/2); ∇f is 1-Lipschitz
kappa_g = ell_g1 / mu_g


def FedIHGP(N):
    """p_{N'} for each N' < N: (N/ℓ_{g,1})(1 − 1/ℓ_{g,1})^{N'} ∇_y f, where ∇_y f = −1/2."""
    return N / ell_g1 * (1 - mu_g / ell_g1) ** np.arange(N) * -0.5


def by_outcomes(K, N, alpha):
    """The mean over k = 1, ..., K of E F'(x^k)² from x⁰ = 0, over all N^K draws."""
    total = 0.0
    for draws in product(FedIHGP(N), repeat=K):
        x = 0.0
        for p in draws:
            x = x - alpha * (x + p)  # FedOut: h = ∇_x f − ∇²_xy g p, with ∇²_xy g = −1
            total += (x - 0.5) ** 2 / K / N**K
    return total


def left_side(K, N, alpha):
    """The same in closed form.

    With x̂ = −E p and q = 1 − α, F'(x^k) has mean x̂ − 1/2 − x̂ q^k and variance
    α Var p (1 − q^{2k})/(2 − α); the means over k of q^k and of q^{2k} are geometric sums.
    """
    p, log_q = FedIHGP(N), log1p(-alpha)
    rest, away = -p.mean(), -p.mean() - 0.5
    one, two = (exp(n * log_q) * expm1(n * K * log_q) / expm1(n * log_q) / K for n in (1, 2))
    mean_squared = away**2 - 2 * away * rest * one + rest**2 * two
    return float(mean_squared + alpha * p.var() / (2 - alpha) * (1 - two))


assert isclose(left_side(5, 3, 0.3), by_outcomes(5, 3, 0.3))
C = left_side(2**10, ceil(kappa_g * log(2**10)), 2**-5) * 2**5
for n in (10, 20, 40, 80):
    K = 2**n
    N, alpha = ceil(kappa_g * log(K)), K**-0.5
    assert N <= 4 * R
    left, right = left_side(K, N, alpha), C / K**0.5
    print(f"K = 2^{n}, N = {N}: the left side is {left * K**0.5}/sqrt(K)")
print("left: the left side at K = 2^80; right: C/sqrt(K), with the C that K = 2^10 asks for")
assert left > 2 * right
print(f"REFUTED printed: N ≥ κ_g log K, α = β = 1/√K: left = {left!r} > right = {right!r}")
