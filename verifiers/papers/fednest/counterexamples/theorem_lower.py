"""FedNest (2022), Theorem (Informal), lower level: no O(1/√K) for α = β = 1/√K, N ≥ κ_g log K.

These are one choice of "proper" step sizes among many. FedIHGP draws its length N' once for all
clients, so that the variance of p_{N'} grows with N. It moves x^k, and y^k comes after x^k with the
same step size. So E(y^K − y*(x^K))² is of order log K/√K. (With a smaller α it is not.)
The instance: one client, no noise, f = φ(x) − y/2 with φ = x²/2 for |x| ≤ R = 8 and of slope ±R
beyond, g = (y − x)²/2, so y*(x) = x. x⁺ = x − α(x + p) with −p in (0, N/4], so that x stays where
φ' = x, for α ≤ 1 and N ≤ 4R = 32.
"""

from itertools import product
from math import ceil, isclose, log

mu_g, ell_g1 = 1.0, 2.0  # ∇²_y g, and the largest eigenvalue of ∇²g = [[1, −1], [−1, 1]]
R = 8.0  # f is Lipschitz, with ℓ_{f,0} = (R² + 1/4)^(1/2); ∇f is 1-Lipschitz
kappa_g = ell_g1 / mu_g


def FedIHGP(N):
    """p_{N'} for each N' < N: (N/ℓ_{g,1})(1 − 1/ℓ_{g,1})^{N'} ∇_y f, where ∇_y f = −1/2."""
    return [N / ell_g1 * (1 - mu_g / ell_g1) ** draw * -0.5 for draw in range(N)]


def FedNest(x, y, p, alpha, beta):
    y = y - beta * (y - x)  # FedInn: ∇_y g
    return x - alpha * (x + p), y  # FedOut: h = ∇_x f − ∇²_xy g p, with ∇²_xy g = −1


def by_outcomes(K, N, alpha, total=0.0):
    """E(y^K − x^K)² from x⁰ = y⁰ = 0, over all N^K draws."""
    for draws in product(FedIHGP(N), repeat=K):
        x = y = 0.0
        for p in draws:
            x, y = FedNest(x, y, p, alpha, alpha)
        total += (y - x) ** 2 / N**K
    return total


def left_side(K, N, alpha):
    """The same by the moments of (x, y): x⁺ = qx − αp, y⁺ = qy + αx, q = 1 − α, p independent."""
    p, pp = sum(FedIHGP(N)) / N, sum(p**2 for p in FedIHGP(N)) / N
    a, q, x, y, xx, xy, yy = alpha, 1 - alpha, 0.0, 0.0, 0.0, 0.0, 0.0  # E x, E y, E x², E xy, E y²
    for _ in range(K):
        yy = q * q * yy + 2 * q * a * xy + a * a * xx
        xy = q * q * xy + q * a * xx - a * p * (q * y + a * x)
        xx = q * q * xx - 2 * q * a * p * x + a * a * pp
        x, y = q * x - a * p, q * y + a * x
    return xx - 2 * xy + yy


assert isclose(left_side(5, 3, 0.3), by_outcomes(5, 3, 0.3))
values = {}
for K in (2**8, 2**12, 2**16, 2**20):
    N = ceil(kappa_g * log(K))
    values[K] = left_side(K, N, K**-0.5)
    print(f"K = {K}, N = {N} <= {4 * R}: the left side is {values[K] * K**0.5}/sqrt(K)")
left, right = values[2**20], values[2**8] * (2**8 / 2**20) ** 0.5
assert left > 2 * right
print("left: the left side at K = 2^20; right: C/sqrt(K), with the C that K = 2^8 asks for")
print(f"REFUTED printed: N ≥ κ_g log K, α = β = 1/√K: left = {left!r} > right = {right!r}")
