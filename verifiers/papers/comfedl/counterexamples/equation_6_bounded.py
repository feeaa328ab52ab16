"""ComFedL (2021), the paragraph after Assumption 4: "g(y) is … smooth and ‖∇g(y)‖ is bounded".

g is the exponential of (6), on the range of the losses f(w).
The paper's experiments use logistic regression. Its loss on one sample, f(w) = log(1 + e^(-w)), is
not bounded on the real line. The derivative of g grows with it, so no constant G_g bounds it.
The instance has one client, one sample and γ = 1. For each G there is a model w beyond it.
If the losses are bounded from above, the sentence holds.
"""

from math import exp, log, log1p

gamma = 1.0


def loss(w):
    """The logistic loss of one sample, a = 1 with label 1."""
    return log1p(exp(-w)) if w > 0 else -w + log1p(exp(w))


def slope_of_g(y):
    """∇g(y) for g(y) = exp(y/γ)."""
    return exp(y / gamma) / gamma


for G_g in [1.0, 1e3, 1e6, 1e9, 1e12]:
    w = -log(2 * G_g)  # e^(-w) = 2 G_g, so ∇g = 1 + 2 G_g at γ = 1
    left, right = slope_of_g(loss(w)), G_g
    print(f"G_g = {G_g:g}: at w = {w:.3f} the loss is {loss(w):.3f} and ∇g is {left:g}")
    assert left > 1.9 * right
print(f"REFUTED printed: losses on all of R^d: left = {left!r} > right = {right!r}")
