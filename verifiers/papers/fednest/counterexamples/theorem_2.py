"""FedNest (2022), Theorem (Informal): no rate 1/√K with step sizes constant over the run.

Such steps are one way to choose the slides' α^k and β^k. FedIHGP draws N' once for all clients, so
the variance of p_{N'} grows with N; its bias is 2^(−N)/2. Steps of size α forget it in 1/α steps.
The instance: one client, no noise, f = φ(x) − y/2 with φ = x²/2 for |x| ≤ R = 32 and of slope ±R
beyond, g = (y − x)²/2, so F' = x − 1/2 near. x⁺ = x − α(x + p) with −p in (0, N/4], so x stays in
[0, N/4] for α ≤ 1; N is tried to 4R = 128, and longer series vary more. For α > 1 the outcomes
N' = 0, 1 are αN/8 apart, so that E F'² ≥ 1/64; with N = 1 there is no noise, F' is −1/4 on average.
Several local steps, of size α, are one step of size 1 − (1 − α)^τ. The level y does not matter.
"""

from itertools import product
from math import ceil, isclose, log

import numpy as np

mu_g, ell_g1 = 1.0, 2.0  # ∇²_y g, and the largest eigenvalue of ∇²g = [[1, −1], [−1, 1]]
R = 32  # f is Lipschitz, with ℓ_{f,0} = (R² + 1/4)^(1/2); ∇f is 1-Lipschitz


def FedIHGP(N):
    """p_{N'} for each N' < N: (N/ℓ_{g,1})(1 − 1/ℓ_{g,1})^{N'} ∇_y f, where ∇_y f = −1/2."""
    return N / ell_g1 * (1 - mu_g / ell_g1) ** np.arange(N) * -0.5


def by_outcomes(K, N, alpha):
    """From x⁰ = y⁰ = 0, over all N^K draws: the mean over k of E F'(x^k)², and E(y^K − x^K)²."""
    total = last = 0.0
    for draws in product(FedIHGP(N), repeat=K):
        x = y = 0.0
        for p in draws:
            y = y - alpha * (y - x)  # FedInn: ∇_y g
            x = x - alpha * (x + p)  # FedOut: h = ∇_x f − ∇²_xy g p, with ∇²_xy g = −1
            total += (x - 0.5) ** 2 / K / N**K
        last += (y - x) ** 2 / N**K
    return total, last


def powers(K, alpha, n):
    """The mean over k = 1, ..., K of (1 − α)^{nk}."""
    log_q = n * np.log1p(-alpha)
    return np.exp(log_q) * np.expm1(K * log_q) / np.expm1(log_q) / K


def least(K, N, low, high):
    """At most the mean over k of E F'(x^k)² from x⁰ = 0, for every α in [low, high].

    With x̂ = −E p and q = 1 − α, F'(x^k) has mean −(1/2 − x̂) − x̂ q^k, whose size falls in α, and
    variance α Var p (1 − q^{2k})/(2 − α), which grows in α (x⁺ = x − α(x + p)).
    """
    p = FedIHGP(N)
    rest, bias = -p.mean(), 0.5 ** (N + 1)  # x̂ and 1/2 − x̂
    mean = bias**2 + 2 * bias * rest * powers(K, high, 1) + rest**2 * powers(K, high, 2)
    return mean + low * p.var() / (2 - low) * (1 - powers(K, low, 2))


def least_of_all(K, intervals):
    """Return at most the least left side, for all α and N."""
    ends = np.geomspace(1e-3 / K, 1 - 1e-9, intervals)  # of α; smaller ones stay at the start
    return min(
        1 / 64, *(float(least(K, N, ends[:-1], ends[1:]).min()) for N in range(1, 4 * R + 1))
    )


# -- theorem
assert isclose(least(5, 3, 0.3, 0.3), by_outcomes(5, 3, 0.3)[0])
ends = 2.0**10, 2.0**80  # κ_g = ℓ_{g,1}/μ_g
chosen = [float(least(K, ceil(ell_g1 / mu_g * log(K)), K**-0.5, K**-0.5)) for K in ends]
best = [least_of_all(K, 4000) for K in ends]
for form, values in (
    ("printed: N ≥ κ_g log K, α = β = 1/√K", chosen),
    ("printed: any N, any steps constant over the run", best),
):
    left, right = values[1], values[0] * (ends[0] / ends[1]) ** 0.5  # C of K = 2^10
    assert left > 2 * right
    print(f"REFUTED theorem, {form}: left = {left!r} > right = {right!r}")

# -- theorem-samples
# An iteration takes a sample at least, so (C/ε)² iterations would have to bring the mean of
# E F'(x^k)² below ε, for some C and all ε. For the best α and N it is of order √(log K/K).
for C, epsilon in ((1 / 4, 2.0**-20), (1 / 2, 2.0**-60), (1.0, 2.0**-200)):
    left, right = least_of_all((C / epsilon) ** 2, 8000), epsilon
    assert left > 1.01 * right
form = "printed: bilevel, steps constant over the run"
print(f"REFUTED theorem-samples, {form}: left = {left!r} > right = {right!r}")

# -- theorem-lower
# On the lower level: FedIHGP moves x^k, and y^k comes after x^k with the same step size. So
# E(y^K − y*(x^K))², y*(x) = x, is of order log K/√K for α = β = 1/√K. (With a smaller α it is not.)


def lower(K, N, a):
    """E(y^K − x^K)² from x⁰ = y⁰ = 0: x⁺ = qx − αp, y⁺ = qy + αx, q = 1 − α, p independent."""
    draws = FedIHGP(N)
    p, pp, q, x, y, xx, xy, yy = draws.mean(), (draws**2).mean(), 1 - a, *[0.0] * 5
    for _ in range(K):
        yy = q * q * yy + 2 * q * a * xy + a * a * xx
        xy = q * q * xy + q * a * xx - a * p * (q * y + a * x)
        xx = q * q * xx - 2 * q * a * p * x + a * a * pp
        x, y = q * x - a * p, q * y + a * x
    return float(xx - 2 * xy + yy)


assert isclose(lower(5, 3, 0.3), by_outcomes(5, 3, 0.3)[1])
left, start = (lower(K, ceil(ell_g1 / mu_g * log(K)), K**-0.5) for K in (2**20, 2**8))
right = start * (2**8 / 2**20) ** 0.5  # C/√K, with the C that K = 2^8 asks for
assert left > 2 * right
form = "printed: N ≥ κ_g log K, α = β = 1/√K"
print(f"REFUTED theorem-lower, {form}: left = {left!r} > right = {right!r}")
