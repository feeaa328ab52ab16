"""Local-SCGDM (2022), Lemma 3.9, (10), in the Frobenius norm: C_g² is too small in two dimensions.

The instance: L(x) = (1 − cos x_1) + (1 − cos x_2), λ = 0.3, without noise: σ_2 is 0. ∇²L(x) =
diag(cos x_1, cos x_2), so ∇g = I − λ∇²L is 1.3 I at x = (π, π). Its Frobenius norm has the factor
√2, since ‖I‖ is √2 and not 1 as (20) takes it.
"""

# case: a4984d8641eb

import numpy as np

lam, x = 0.3, np.array([np.pi, np.pi])
L_1 = 1.0  # ∇²L(x) = diag(cos x_1, cos x_2): ∇L is 1-Lipschitz
sigma_2 = 0.0  # no noise

gradient_of_g = np.eye(2) - lam * np.diag(np.cos(x))
left = float(np.linalg.norm(gradient_of_g, "fro") ** 2)
right = (1 + lam * L_1) ** 2 + lam**2 * sigma_2**2
assert left > 1.01 * right
print(f"REFUTED printed: C_g², every norm Frobenius: left = {left!r} > right = {right!r}")
