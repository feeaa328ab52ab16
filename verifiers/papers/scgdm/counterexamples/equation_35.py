"""Local-SCGDM (2022), (35) and (32): a double sum is turned round with one term too many.

(35), third and fourth line, in one dimension: the mean square of Σ_{t'} Σ_{t''≤t'} (1 −
αη)^{t'−t''} d_{t''} is printed with Σ_{t'} d_{t'} Σ_{t''=0}^{t−t'} (1 − αη)^{t''}. (32): Σ_{t'}
Σ_{t''<t'} (1 − γη)^{t'−1−t''} D_{t''} is printed as Σ_{t'} D_{t'} Σ_{t''=0}^{t−t'−1} (1 −
γη)^{t''}. The instance: the first two steps of a round, so s_t p = 0 and t = 2; d = D = 1 at both,
αη = γη = 1/2.
"""

from fractions import Fraction

r, t = Fraction(1, 2), 2  # 1 − αη = 1 − γη
vectors = [1, 1]  # z_{t'} − z̄_{t'}, or the D_{t'} ≥ 0 of (32)

double = sum(r ** (i - j) * vectors[j] for i in range(t) for j in range(i + 1))
turned = sum(vectors[i] * sum(r**j for j in range(t - i + 1)) for i in range(t))
left, right = float(double**2), float(turned**2)
assert left < 0.99 * right
print(f"REFUTED printed: (35), to t − t': left = {left!r} != right = {right!r}")

double = sum(r ** (i - 1 - j) * vectors[j] for i in range(t) for j in range(i))
turned = sum(vectors[i] * sum(r**j for j in range(t - i)) for i in range(t))
left, right = float(double), float(turned)
assert left < 0.99 * right
print(f"REFUTED printed: (32), to t − t' − 1: left = {left!r} != right = {right!r}")
