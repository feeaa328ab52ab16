"""Local-SCGDM (2022), (31), first equality: false where the clients' inner functions differ.

It is printed for the sum over k of the squares of g^(k)(x^(k); ξ) − (1/K) Σ g^(k')(x^(k'); ξ),
which is g^(k)(x^(k); ξ) − g^(k)(x^(k)), g^(k)(x^(k)) − g^(k)(x̄), a third difference, and (1/K) Σ
(g^(k')( x^(k')) − g^(k')(x^(k'); ξ)) added up. Printed third: S − S = 0, with S = (1/K) Σ
g^(k')(x^(k')). The instance: two clients, g^(1)(x) = x + 1, g^(2)(x) = x − 1, without noise, x^(1)
= x^(2) = 0. The third difference that was meant, (1/K) Σ g^(k')(x̄) − S, is 0 too.
"""

K, x = 2, (0.0, 0.0)
g = (lambda y: y + 1.0, lambda y: y - 1.0)
x_mean = sum(x) / K
S = sum(g[k](x[k]) for k in range(K)) / K
at_mean = sum(g[k](x_mean) for k in range(K)) / K

left = sum((g[k](x[k]) - S) ** 2 for k in range(K))
for form, third in (
    ("printed: S − S, as printed", S - S),
    ("printed: the mean of the g^(k')(x̄), less S", at_mean - S),
):
    right = sum((g[k](x[k]) - g[k](x_mean) + third) ** 2 for k in range(K))
    assert left > right
    print(f"REFUTED {form}: left = {left!r} != right = {right!r}")
