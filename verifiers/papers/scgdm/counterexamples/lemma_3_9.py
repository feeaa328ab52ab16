"""Local-SCGDM (2022), Lemma 3.9, (10): C_g² = (1 + λL_1)² + λ²σ_2² is too small in two dimensions.

The instance: L(x; ξ) = (1 − cos x_1) + (1 − cos x_2) + ξ(cos x_1 − cos x_2) with a fair coin ξ =
±1, and λ = 1. So ∇²L(x; ξ) = diag((1 − ξ) cos x_1, (1 + ξ) cos x_2). At x = (π, π), ∇g(x; ξ) = I −
λ∇²L(x; ξ) is diag(1, 3) or diag(3, 1): its norm is 3 for either coin. The proof, in (21), takes the
mean square of a sum of matrices for the sum of the mean squares, which is false in the spectral
norm.
"""

import numpy as np

lam = 1.0
L_1 = 1.0  # ∇²L(x) = diag(cos x_1, cos x_2)
sigma_2 = 1.0  # ∇²L(x; ξ) − ∇²L(x) = −ξ diag(cos x_1, −cos x_2), of spectral norm 1 at most
sigma_2F = np.sqrt(2.0)  # and of Frobenius norm √2 at most
# L_2 = 1, G = √2 and σ_1 = √2 do not enter C_g²


def hessian(x, xi):
    return np.diag([(1 - xi) * np.cos(x[0]), (1 + xi) * np.cos(x[1])])


x = np.array([np.pi, np.pi])
norms = [np.linalg.norm(np.eye(2) - lam * hessian(x, xi), 2) for xi in (-1.0, 1.0)]  # spectral
left = float(np.mean(np.square(norms)))  # E‖∇g(x; ξ)‖²
for form, sigma in (
    ("printed: C_g²", sigma_2),
    ("printed: C_g², σ_2 in the Frobenius norm", sigma_2F),
):
    right = float((1 + lam * L_1) ** 2 + lam**2 * sigma**2)
    assert left > 1.01 * right
    print(f"REFUTED {form}: left = {left!r} > right = {right!r}")
