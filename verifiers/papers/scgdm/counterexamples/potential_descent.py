"""Local-SCGDM (2022), (15) and (38): false where clients differ.

The instance: two clients have g_1(x) = 2x and g_2(x) = 1 − x, and the same f: f' is y, cut off at
±3. There is no noise. The run starts at x_0 = 1/5, where F is least: the two gradients, 0.8 and
−0.8, cancel. So the mean model does not move. But (15) subtracts the mean square of the clients'
momenta, and says that F falls. The proof loses this in the fifth line of (38), which puts ∇F^(k)
for ∇F.
"""

# case: 7da45cddc336

a, c = (2.0, -1.0), (0.0, 1.0)  # g_k(x) = a_k x + c_k
K, eta, alpha, gamma, beta, x_0 = 2, 0.05, 1.0, 1.0, 0.5, 0.2
L_f, C_f = 1.0, 3.0  # f' is y, cut off at ±3
L_g, C_g = 0.0, 2.0  # g_k' is 2 or −1
L_F = C_g**2 * L_f + C_f * L_g


def f(y):
    return y**2 / 2 if abs(y) <= 3 else 3 * abs(y) - 4.5


def dF_of(k, x):
    return a[k] * min(max(a[k] * x + c[k], -3.0), 3.0)


def F(x):
    return sum(f(a[k] * x + c[k]) for k in range(K)) / K


# Algorithm 1 at t = 0; whether it averages after the step makes no difference to the mean model
u = [a[k] * x_0 + c[k] for k in range(K)]  # line 3
m = [a[k] * min(max(u[k], -3.0), 3.0) for k in range(K)]  # lines 4 and 5: m_1 = z_0
x = [x_0 - beta * eta * m[k] for k in range(K)]  # line 11

left = F(sum(x) / K)
right = F(x_0) - beta * eta / 2 * (sum(dF_of(k, x_0) for k in range(K)) / K) ** 2
right -= beta * eta / 4 * sum(m[k] ** 2 for k in range(K)) / K
right += beta * eta / K * sum((dF_of(k, x_0) - m[k]) ** 2 for k in range(K))
right += beta * eta * L_F**2 / K * 0.0  # the models are all at x_0

print(f"eta = {eta} <= min(1, {1 / (2 * beta * L_F)}); alpha eta = gamma eta = {alpha * eta} < 1")
assert eta <= min(1, 1 / (2 * beta * L_F)) and max(alpha, gamma) * eta < 1
assert left > 1.01 * right
print(f"REFUTED printed: as printed: left = {left!r} > right = {right!r}")
