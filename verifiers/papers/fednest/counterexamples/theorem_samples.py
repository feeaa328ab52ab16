"""FedNest (2022), samples complexity O(ε^(−2)) for bilevel problems: not with constant steps.

The slides let step sizes change with k; here they are constant over the run. An iteration takes a
sample at least, so (C/ε)² iterations would have to bring the mean of E F'(x^k)² below ε, for some C
and all ε. They do not: for the best α and N it is of order √(log K/K). (See theorem_3.py.)
The instance: one client, no noise, f = φ(x) − y/2 with φ = x²/2 for |x| ≤ R = 32 and of slope ±R
beyond, g = (y − x)²/2, so F' = x − 1/2 near. x⁺ = x − α(x + p) with −p in (0, N/4], so x stays in
[0, N/4] for α ≤ 1; N is tried to 4R = 128, and longer series vary more. For α > 1 the outcomes
N' = 0, 1 are αN/8 apart, so that E F'² ≥ 1/64; with N = 1 there is no noise, F' is −1/4 on average.
"""

import numpy as np

mu_g, ell_g1 = 1.0, 2.0  # ∇²_y g, and the largest eigenvalue of ∇²g = [[1, −1], [−1, 1]]
R = 32  # f is Lipschitz, with ℓ_{f,0} = (R² + 1/4)^(1/2); ∇f is 1-Lipschitz


def FedIHGP(N):
    """p_{N'} for each N' < N: (N/ℓ_{g,1})(1 − 1/ℓ_{g,1})^{N'} ∇_y f, where ∇_y f = −1/2."""
    return N / ell_g1 * (1 - mu_g / ell_g1) ** np.arange(N) * -0.5


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


for C, epsilon in ((1 / 4, 2.0**-20), (1 / 2, 2.0**-60), (1.0, 2.0**-200)):
    K = (C / epsilon) ** 2
    ends = np.geomspace(1e-3 / K, 1 - 1e-9, 8000)  # of intervals of α; smaller α stay at the start
    left = min(float(least(K, N, ends[:-1], ends[1:]).min()) for N in range(1, 4 * R + 1))
    left, right = min(left, 1 / 64), epsilon
    print(f"C = {C}, epsilon = {epsilon}: after (C/epsilon)^2 iterations at least {left}")
    assert left > 1.01 * right
print("left: the least mean of E|grad F|^2 after (C/epsilon)^2 iterations, C = 1; right: epsilon")
form = "printed: bilevel, steps constant over the run"
print(f"REFUTED {form}: left = {left!r} > right = {right!r}")
