"""FedNest (2022), the hypergradient of one client: a factor m, if g is the mean of the g_i.

The slide writes ∇²_xy g times the inverse of Σ_i ∇²_y g_i. The problem (slide Goal) minimises the
mean g = (1/m) Σ g_i over y. With that g the second term is m times too small. With g = Σ g_i, as a
later slide has it, the display is right.
The instance: g_1 = (y − x)²/2 and g_2 = 3(y − 2x)²/2, so that y*(x) minimises a parabola; and
f_1 = cos x + sin y, which is Lipschitz with a Lipschitz gradient, as is assumed. At x = 0.4.
"""

from math import cos, sin

m, x = 2, 0.4
h = (1.0, 3.0)  # ∇²_y g_i
c = (-1.0, -6.0)  # ∇²_xy g_i


def y_star(x):
    """Σ ∇_y g_i = (y − x) + 3(y − 2x) = 0."""
    return 7 * x / 4


def f_1(x, y):
    return cos(x) + sin(y)


step = 1e-5
left = (f_1(x + step, y_star(x + step)) - f_1(x - step, y_star(x - step))) / (2 * step)

df_x, df_y = -sin(x), cos(y_star(x))  # ∇_x f_1 and ∇_y f_1 at (x, y*(x))
of_the_mean = sum(c) / m  # ∇²_xy g of g = (1/m) Σ g_i
of_the_sum = sum(c)  # ∇²_xy g of g = Σ g_i
right = df_x - of_the_mean / sum(h) * df_y  # the display
meant = df_x - of_the_sum / sum(h) * df_y
print(f"d f_1(x, y*(x))/dx by differences = {left}; by the display with g = sum of g_i: {meant}")
print(f"mu_g = {min(h)}; the indirect part is {left - df_x}, and by the display {right - df_x}")
assert abs(left - meant) < 1e-8
assert abs(left - right) > 0.1
print(f"REFUTED printed: g = (1/m) Σ g_i (Goal): left = {left!r} != right = {right!r}")
