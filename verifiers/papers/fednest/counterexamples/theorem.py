"""FedNest (2022), Theorem (Informal): no rate, if the number N of Neumann terms is fixed.

The theorem names neither N nor the step sizes. For each fixed N there is a problem on which FedNest
never moves, whatever the step sizes α^k, β^k and the numbers of local steps, and ∇F is not 0 there.
The instance: one client, no noise, y of dimension N, f = φ(x) − c Σ w_j y_j with φ = x²/2 for
|x| ≤ 1 and of slope ±1 beyond, g = Σ H_j y_j²/2 − (x/N) Σ y_j + a x²/2. The w_j are the weights
that extrapolate a polynomial of degree N − 1 from the points 1 − H_j/ℓ to 1 (Lagrange), so that
Σ w_j (1 − H_j/ℓ)^n = 1 for all n < N. So ∇²_xy g p_{N'} is the same for every draw N'; but the true
∇²_xy g [∇²_yy g]^(−1) ∇_y f is another number. The constants of f and g are the same for every N.
Below N is 6, 5, …, 1, and all of it is in fractions, without rounding.
"""

from fractions import Fraction
from math import prod

import numpy as np

ell = Fraction(4)  # ℓ_{g,1}: the largest eigenvalue of ∇²g, which is constant; checked below


def instance(N):
    H = [1 + Fraction(j, N) for j in range(1, N + 1)]  # ∇²_yy g is the diagonal of these; μ_g = 1
    a = ell - sum(1 / (ell - H_j) for H_j in H) / N**2
    at = [1 - H_j / ell for H_j in H]
    w = [prod((1 - other) / (one - other) for other in at if other != one) for one in at]
    return H, a, w, Fraction(1, 8**N)


def directions(x, y, draw):
    """The q that FedInn shares at (x, y), and the h that FedOut shares for N' = draw."""
    q = [H_j * y_j - x / N for H_j, y_j in zip(H, y, strict=True)]  # ∇_y g
    p = [N / ell * -c * w_j for w_j in w]  # FedIHGP: p_0, of ∇_y f = −c w
    for _ in range(draw):  # n = 1, ..., N'
        p = [(1 - H_j / ell) * p_j for H_j, p_j in zip(H, p, strict=True)]
    return q, max(-1, min(x, 1)) + sum(p) / N  # φ'(x) − ∇²_xy g p, with ∇²_xy g = −(1, ..., 1)/N


for N in range(6, 0, -1):
    H, a, w, c = instance(N)
    x = c / ell  # x⁰
    y = [x / N / H_j for H_j in H]  # y⁰ = y*(x⁰)
    assert c * sum(map(abs, w)) <= Fraction(1, 2)  # ‖∇_y f‖, so that ℓ_{f,0}² = 1 + 1/4 will do
    bend = c / N * sum(w_j / H_j for w_j, H_j in zip(w, H, strict=True))  # F(x) = φ(x) − bend·x
    assert x < 1 and 0 < bend < 1  # so F' = x − bend here, and F has a minimum
    hessian = np.diag([float(one) for one in (a, *H)])
    hessian[0, 1:] = hessian[1:, 0] = -1 / N
    assert abs(np.abs(np.linalg.eigvalsh(hessian)).max() - float(ell)) < 1e-9
    for draw in range(N):
        q, h = directions(x, y, draw)
        assert h == 0 and not any(q)  # FedSVRG adds differences of gradients, which are 0 as well
    print(f"N = {N}: x^0 = {x}, F'(x^0) = {x - bend}; q = 0, h = 0 for each N' < N: it stays")
    assert (x - bend) ** 2 >= c**2 / 16  # 64^(−N)/16, since every 1/H_j − 1/ℓ is at least 1/4

K = 10**6
left = float((x - bend) ** 2)
right = left / K**0.5
print(f"left: the mean over k of E|grad F(x^k)|^2, N = {N}, any K; right: C/sqrt(K), K = {K},")
print("with the C that K = 1 asks for. Whatever C is, some K is too large")
assert left > 1.01 * right
print(f"REFUTED printed: N fixed, any step sizes: left = {left!r} > right = {right!r}")
