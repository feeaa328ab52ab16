"""Local-SCGDM (2022), (2) and section 2.2: (2) with γ = 1 is not the method that section 2.2 names.

Section 2.2 says that with γ = 1 the direction is ∇g(x_t; ξ)ᵀ∇f(g(x_t; ξ); ζ). But (2) puts u_t
into ∇f, and with γ = 1 that is g(x_{t−1}; ξ_{t−1}), the value one step late. The instance: one
client without noise, g(x) = x, f(y) = y²/2, two steps from x_0 = 1/2. (2) has no u_0: it is taken
for g(x_0).
"""

# case: 66beae26bcdc

gamma, eta, x_0 = 1.0, 0.1, 0.5

x, u = x_0, x_0
for _t in range(2):  # (2), as printed
    u_next = (1 - gamma) * u + gamma * x
    z = 1.0 * u  # ∇g(x_t)ᵀ∇f(u_t), ∇f(y) = y
    x, u = x - eta * z, u_next
right = x

x = x_0
for _t in range(2):  # the direction of section 2.2
    x -= eta * 1.0 * x  # ∇g(x_t)ᵀ∇f(g(x_t))
left = x

print(f"after two steps: section 2.2's direction {left}, (2) with gamma = 1 {right}")
assert abs(left - right) > 0.001
print(f"REFUTED printed: u_t, as printed: left = {left!r} != right = {right!r}")
