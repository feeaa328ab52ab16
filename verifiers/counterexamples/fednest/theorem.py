"""FedNest (2022), Theorem (Informal): no rate, if the number N of Neumann terms is fixed.

The theorem names neither N nor the step sizes. For each fixed N there is a problem on which FedNest
never moves, whatever the step sizes α^k, β^k and the numbers of local steps, and ∇F is not 0 there.
The instance: one client, no noise, y of dimension N, f = φ(x) − Σ w_j y_j with φ = x²/2 for |x| ≤ R
and of slope ±R beyond, g = Σ H_j y_j²/2 − x Σ y_j + a x²/2. The w_j are the weights that
extrapolate a polynomial of degree N − 1 from the points 1 − H_j/ℓ to 1 (Lagrange), so that
Σ w_j (1 − H_j/ℓ)^n = 1 for all n < N. So ∇²_xy g p_{N'} is the same for every draw N'; but the true
∇²_xy g [∇²_yy g]^(−1) ∇_y f is another number.
Below N is 1, 2 and 3, and all of it is in fractions, without rounding.
"""

from fractions import Fraction
from math import prod

import numpy as np

ell = Fraction(4)  # ℓ_{g,1}: the largest eigenvalue of ∇²g, which is constant; checked below


def instance(N):
    H = [Fraction(j) for j in range(1, N + 1)]  # ∇²_yy g is the diagonal matrix of these; μ_g = 1
    a = ell - sum(1 / (ell - H_j) for H_j in H)
    at = [1 - H_j / ell for H_j in H]
    w = [prod((1 - other) / (one - other) for other in at if other != one) for one in at]
    return H, a, w


def directions(x, y, draw):
    """The q that FedInn shares at (x, y), and the h that FedOut shares for N' = draw."""
    q = [H_j * y_j - x for H_j, y_j in zip(H, y, strict=True)]  # ∇_y g
    p = [N / ell * -w_j for w_j in w]  # FedIHGP: p_0, of ∇_y f = −w
    for _ in range(draw):  # n = 1, ..., N'
        p = [(1 - H_j / ell) * p_j for H_j, p_j in zip(H, p, strict=True)]
    return q, max(-R, min(x, R)) + sum(p)  # φ'(x) − ∇²_xy g p, with ∇²_xy g = −(1, ..., 1)


for N in (1, 2, 3):
    H, a, w = instance(N)
    R = Fraction(N + 1)  # f is Lipschitz, with ℓ_{f,0} = (R² + Σ w_j²)^(1/2)
    x = N / ell  # x⁰
    y = [x / H_j for H_j in H]  # y⁰ = y*(x⁰)
    bend = sum(w_j / H_j for w_j, H_j in zip(w, H, strict=True))  # F(x) = φ(x) − bend·x
    assert x < R and 0 < bend < R  # so F' = x − bend here, and F has a minimum
    hessian = np.diag([float(one) for one in (a, *H)])
    hessian[0, 1:] = hessian[1:, 0] = -1
    assert abs(np.abs(np.linalg.eigvalsh(hessian)).max() - float(ell)) < 1e-9
    print(f"N = {N}: mu_g = {min(H)}, ell_g1 = {ell}, x^0 = {x}, F'(x^0) = {x - bend}")
    for draw in range(N):
        q, h = directions(x, y, draw)
        assert h == 0 and not any(q)  # FedSVRG adds differences of gradients, which are 0 as well
    print(f"  q = 0, and h = 0 for N' = 0, ..., {N - 1}: no step of any size moves y or x")

K = 10**6
left = float((x - bend) ** 2)
right = left / K**0.5
print("left: the mean over k of E|grad F(x^k)|^2 for N = 3, and any K; right: C/sqrt(K), K = 10^6,")
print("with the C that K = 1 asks for. Whatever C is, some K is too large")
assert left > 1.01 * right
print(f"REFUTED printed: N fixed, any step sizes: left = {left!r} > right = {right!r}")
