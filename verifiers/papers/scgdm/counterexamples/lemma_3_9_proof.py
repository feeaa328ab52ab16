"""Local-SCGDM (2022), proof of Lemma 3.9, (20) and (21): no norm makes both true.

The instance: L(x; ξ) = (1 − cos x_1) + (1 − cos x_2) + ξ(cos x_1 − cos x_2) with a fair coin ξ =
±1, and λ = 1. At x = (π, π), A = I − λ∇²L(x) = 2I and N = λ∇²L(x) − λ∇²L(x; ξ) = −ξ diag(1, −1). In
the spectral norm (21), E‖A + N‖² ≤ ‖A‖² + E‖N‖², is false. In the Frobenius norm (21) is true, but
(20) is false, ‖I − λ∇²L(x)‖ ≤ ‖I‖ + ‖λ∇²L(x)‖ ≤ 1 + λL_1, since ‖I‖ = √2.
"""

import numpy as np

lam = 1.0
L_1 = 1.0  # ∇²L(x) = diag(cos x_1, cos x_2): ∇L is 1-Lipschitz
A = np.eye(2) - lam * np.diag(np.cos([np.pi, np.pi]))
N = [-xi * np.diag([1.0, -1.0]) for xi in (-1.0, 1.0)]

left = float(np.mean([np.linalg.norm(A + n, 2) ** 2 for n in N]))
right = float(np.linalg.norm(A, 2) ** 2 + np.mean([np.linalg.norm(n, 2) ** 2 for n in N]))
assert left > 1.01 * right
print("(21) in the spectral norm:")
print(f"REFUTED printed: the spectral norm: left = {left!r} > right = {right!r}")

left = float(np.linalg.norm(A, "fro"))
right = 1 + lam * L_1
assert left > 1.01 * right
print("(20) in the Frobenius norm:")
print(f"REFUTED printed: the Frobenius norm: left = {left!r} > right = {right!r}")
