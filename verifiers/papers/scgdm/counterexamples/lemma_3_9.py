"""Local-SCGDM (2022), Lemma 3.9, (10), and its proof, (20) and (21): no norm makes them true.

The instance: L(x; ξ) = (1 − cos x_1) + (1 − cos x_2) + ξ(cos x_1 − cos x_2) with a fair coin ξ =
±1, and λ = 1. So ∇²L(x; ξ) = diag((1 − ξ) cos x_1, (1 + ξ) cos x_2). At x = (π, π), ∇g(x; ξ) = I −
λ∇²L(x; ξ) is diag(1, 3) or diag(3, 1), and its mean is A = I − λ∇²L(x) = 2I.
"""

import numpy as np

lam = 1.0
L_1 = 1.0  # ∇²L(x) = diag(cos x_1, cos x_2): ∇L is 1-Lipschitz
sigma_2 = 1.0  # ∇²L(x; ξ) − ∇²L(x) = −ξ diag(cos x_1, −cos x_2), of spectral norm 1 at most
sigma_2F = np.sqrt(2.0)  # and of Frobenius norm √2 at most
# L_2 = 1, G = √2 and σ_1 = √2 do not enter C_g²
x = np.array([np.pi, np.pi])
A = np.eye(2) - lam * np.diag(np.cos(x))
N = [xi * lam * np.diag([np.cos(x[0]), -np.cos(x[1])]) for xi in (-1.0, 1.0)]  # ∇g(x; ξ) = A + N
left = float(np.mean([np.linalg.norm(A + n, 2) ** 2 for n in N]))  # E‖∇g(x; ξ)‖², spectral norm

# -- lemma-3.9
# C_g² = (1 + λL_1)² + λ²σ_2² is too small: the spectral norm of ∇g(x; ξ) is 3 for either coin. The
# proof, in (21), takes the mean square of a sum of matrices for the sum of the mean squares.
for form, sigma in (
    ("printed: C_g²", sigma_2),
    ("printed: C_g², σ_2 in the Frobenius norm", sigma_2F),
):
    right = float((1 + lam * L_1) ** 2 + lam**2 * sigma**2)
    assert left > 1.01 * right
    print(f"REFUTED lemma-3.9, {form}: left = {left!r} > right = {right!r}")

# -- lemma-3.9-proof
# In the spectral norm (21), E‖A + N‖² ≤ ‖A‖² + E‖N‖², is false. In the Frobenius norm (21) is true,
# but (20) is false, ‖I − λ∇²L(x)‖ ≤ ‖I‖ + ‖λ∇²L(x)‖ ≤ 1 + λL_1, since ‖I‖ = √2.
right = float(np.linalg.norm(A, 2) ** 2 + np.mean([np.linalg.norm(n, 2) ** 2 for n in N]))
assert left > 1.01 * right
print(f"REFUTED lemma-3.9-proof, printed: the spectral norm: left = {left!r} > right = {right!r}")
left, right = float(np.linalg.norm(A, "fro")), 1 + lam * L_1
assert left > 1.01 * right
print(f"REFUTED lemma-3.9-proof, printed: the Frobenius norm: left = {left!r} > right = {right!r}")
