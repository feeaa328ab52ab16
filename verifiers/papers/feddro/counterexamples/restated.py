"""FedDRO (2023), end of section 2.1: (4) and (5) are (2) if the samples are shared among clients.

The instance: m = 3 samples with losses 0, 0 and 1, λ = 1, two of them on the first client and one
on the second. With g_k the mean of exp(ℓ/λ) over a client's samples, as (2) defines it,
(1/K) Σ g_k is not (1/m) Σ exp(ℓ_i/λ). With Kn_k/m times the local mean it is.
"""

from math import exp

held = [[0.0, 0.0], [1.0]]
K, m = len(held), sum(map(len, held))
means = [sum(exp(loss) for loss in losses) / len(losses) for losses in held]
left = sum(exp(loss) for losses in held for loss in losses) / m  # g of (4)
right = sum(means) / K  # g of (2)
weighed = sum(K * len(losses) / m * g for losses, g in zip(held, means, strict=True)) / K
assert abs(left - weighed) < 1e-15
assert abs(left - right) > 0.2
form = "printed: g_k is the mean over the client's samples"
print(f"REFUTED {form}: left = {left!r} != right = {right!r}")
