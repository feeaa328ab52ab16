"""FedNest (2022), "the global convergence of FedInn", read for any number τ of local steps.

The slide names neither τ nor β. Read for every τ and every β up to 1/ℓ_{g,1}, more than it says, it
is false: a call of FedInn with many local steps on clients with different Hessians diverges.
The instance: g_i = h_i y²/2 − y/2 with h_1 = 1.9 and h_2 = 0.1, so y* = 1/2, β = 1/2, τ = 50.
With ever more steps each client comes to the solution of its own h_i (y − y^k) + q = 0. So a call
multiplies the error y − y* by 1 − (1/1.9 + 1/0.1)/2 = −4.3 in the limit, by −3.9 for τ = 50.
"""

# case: 58975ddade31

h, m, beta, tau = (1.9, 0.1), 2, 0.5, 50
ell_g1, mu_g = max(h), min(h)  # the largest and the least second derivative of the g_i
y_star = 0.5  # (1/m) Σ g_i' = y − 1/2


def dg(i, y):
    return h[i] * y - 0.5


def gap(y):
    """g(y) − g(y*), where g = (1/m) Σ g_i has second derivative 1."""
    return (y - y_star) ** 2 / 2


def FedInn(y, tau):
    q = sum(dg(i, y) for i in range(m)) / m
    ends = []
    for i in range(m):  # the i-th client
        y_i = y
        for _ in range(tau):  # FedSVRG: ν = 0, ..., τ − 1
            y_i = y_i - beta * (dg(i, y_i) - dg(i, y) + q)
        ends.append(y_i)
    return sum(ends) / m  # server


print(f"beta = {beta} <= 1/ell_g1 = {1 / ell_g1}; mu_g = {mu_g}; no noise, all clients")
assert beta <= 1 / ell_g1
for steps in (1, 2, 8, 10, tau):
    factor = (FedInn(1.5, steps) - y_star) / (1.5 - y_star)
    print(f"tau = {steps}: a call multiplies y - y* by {factor}")
y_1 = FedInn(1.5, tau)
y_2 = FedInn(y_1, tau)
print(f"tau = {tau}: g - g* is {gap(1.5)} at y^0, {gap(y_1)} at y^1, {gap(y_2)} at y^2")
left, right = gap(y_2), gap(y_1)
assert left > 2 * right > 4 * gap(1.5)
print(f"REFUTED printed: any τ: left = {left!r} > right = {right!r}")
