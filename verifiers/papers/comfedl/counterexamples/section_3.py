"""ComFedL (2021), section 3, after (11): three formulas that do not estimate what they are to.

(i) f_B(w) = (1/b) Σ ∇f(w; ξ_j) is called the stochastic value of the inner function (preprint).
(ii) ∇g_B(y) = (1/b_1) Σ g(y; ζ_j) is called the stochastic gradient of the outer function.
(iii) g(y) = E f(y; ζ) is called the outer function.
Each mean is taken here over all minibatches, and differs from what it should be on average.
Algorithm 1, lines 9 and 12, and problem (1) have all three right: these are misprints.
The instance has d = p = 1, b = b_1 = 2, f(w; ξ) = w² + ξw and g(y; ζ) = y³ + ζy with signs ξ, ζ.
"""

from itertools import product

w, y = 3.0, 2.0
minibatches = list(product([-1, 1], repeat=2))  # two signs, all four with probability 1/4


def f(w, xi):
    return w**2 + xi * w


def nabla_f(w, xi):
    return 2 * w + xi


def g(y, zeta):
    return y**3 + zeta * y


def nabla_g(y, zeta):
    return 3 * y**2 + zeta


def expected(sample, at):
    """The mean, over all minibatches, of (1/2) Σ_j sample(at; ξ_j)."""
    return sum(sum(sample(at, xi) for xi in batch) / 2 for batch in minibatches) / len(minibatches)


# the formulas of Algorithm 1 and of problem (1) estimate w², 3y² and y³
assert (expected(f, w), expected(nabla_g, y), expected(g, y)) == (w**2, 3 * y**2, y**3)
for form, left, right in [
    ("printed: the value is a mean of gradients", expected(nabla_f, w), w**2),
    ("printed: the gradient is a mean of values", expected(g, y), 3 * y**2),
    ("printed: the outer function is a mean of f", expected(f, y), y**3),
]:
    assert abs(left - right) > 0.1
    print(f"REFUTED {form}: left = {left!r} != right = {right!r}")
