r"""One round of FedAvg from any state, with any number of local steps and of clients that differ.

**Kind.** By algebra, for all τ, M, dimensions and values of the letters. Let x* = 0 and
h_c = f_c − (μ/2)‖·‖², convex with a δ-Lipschitz gradient, δ = L − μ; a local step is
x ↦ qx − η∇h_c(x), q = 1 − ημ. E is the mean over clients, x_{k,c} a client's point after k steps,
x̄_k = E x_{k,c}, u = x̄_k − x_{k,c}, m_k = E∇h_c(x_{k,c}), g_c = ∇h_c(0) and
e_{k,c} = ∇h_c(x_{k,c}) − m_k − g_c. So E u = E e = E g = 0, and ‖g_c‖² is ζ² in the mean. The steps
below are identities of symmetric bilinear products, so that what holds of numbers holds of vectors.

**Note.** For τ = 2 it is ``localsgd/any-state``, which is exact. For τ = 3 it is 2.2 % above the
worst case at L = 1, μ = 1/10, η = 1/2.
"""

import sympy

from driftproof.toolkit.cases import Assumption
from driftproof.toolkit.constants import Expression
from driftproof.verifiers.algebra.symbolic import Step, vanishes
from driftproof.verifiers.claim_types.proof import proof

eta, delta, q, rho, zeta, start = sympy.symbols("eta delta q rho zeta R", positive=True)
k, tau, S = sympy.symbols("k tau S", integer=True, positive=True)
m, x, e, u, g = sympy.symbols("m x e u g", real=True)
squares, total, mixed = sympy.symbols("A V P", real=True)
"""Σ_k v_k², Σ_k v_k and Σ_k s_k v_k, sums over the steps, where v_k = q^{−k}e_k."""
L, mu = sympy.symbols("L mu", positive=True)
first, second = sympy.symbols("S_1 S_2", nonnegative=True)
"""Σ_k s_k and Σ_k s_k², where s_k = Σ_{l<k} q^{−l}."""
b = eta * delta / (2 * q)


def bracket(of_b: Expression) -> Expression:
    """Return what is subtracted at most, over g²: sᵀ(I − b11ᵀ/(1 − b + bτ))s·b²/(1 − b)."""
    return of_b**2 / (1 - of_b) * (second - of_b / (1 - of_b + of_b * tau) * first**2)


FLOOR = 2 * eta * q ** (2 * tau - 1) / delta * bracket(b)
"""c_τ: a round adds c_τζ²."""


@proof(
    name="localsgd/any-round",
    source="docs/theorems.md, in our words",
    assumes=[
        Assumption(
            "functions", r"f_c\ \mu\text{-strongly convex with }L\text{-Lipschitz gradients}"
        ),
        Assumption("dissimilarity", r"\zeta^2 = \tfrac1M\sum_c\|\nabla f_c(x^*)\|^2"),
        Assumption("step size", r"0 < \eta < 2/(L+\mu)"),
    ],
    statement=r"\|\bar x_{s+1}-x^*\|^2 \le q^{2\tau}\|\bar x_s-x^*\|^2 + c_\tau\zeta^2,\quad "
    r"c_\tau = \tfrac{2\eta q^{2\tau-1}}{L-\mu}\tfrac{b^2}{1-b}\Big(\sum_{k<\tau}s_k^2 - "
    r"\tfrac{b}{1-b+b\tau}\big(\sum_{k<\tau}s_k\big)^2\Big),\quad q = 1-\eta\mu,\; "
    r"b = \tfrac{\eta(L-\mu)}{2q} < 1,\; s_k = \sum_{l<k}q^{-l}",
    corrected=FLOOR,
    correction="Cocoercivity at each step, and the least value of one quadratic form.",
    false_siblings=[("two thirds of c", 2 * FLOOR / 3), ("b³ for b²", b * FLOOR)],
    explain="The proof was read off certificates for τ = 2, 3 and 4.",
)
def all_local_steps(right: Expression) -> list[Step]:
    gradient, point = m + e, x - u  # of h_c less g_c, and a client's point
    extra = e**2 + delta * e * u
    cocoercive = m**2 - delta * m * x + extra
    power = q ** (2 * (tau - 1 - k))
    kappa, scale = b * first / (1 - b + b * tau), b * g / (1 - b)  # v_k = −scale(s_k − κ) is least
    least_total = -scale * (first - kappa * tau)
    distance = squares + 2 * scale * (mixed - kappa * total)
    distance += scale**2 * (second - 2 * kappa * first + kappa**2 * tau)
    form = (1 - b) * squares + b * total**2 + 2 * b * g * mixed
    lengths = rho**S * start + right * zeta**2 * (1 - rho**S) / (1 - rho)
    two = {tau: 2, first: 1, second: 1}
    smooth, convex = delta + (1 - q) / eta, (1 - q) / eta
    known = (
        2
        * eta**3
        * delta
        * q**3
        / ((2 - eta * smooth - eta * convex) * (2 + eta * smooth - 3 * eta * convex))
    )
    return [
        vanishes(
            gradient * (gradient - delta * point)
            - cocoercive
            - (2 * m - delta * x) * e
            - delta * m * u,
            r"0 \ge E\langle\nabla h_c-g_c,\,\nabla h_c-g_c-\delta x_{k,c}\rangle = \|m_k\|^2-"
            r"\delta\langle m_k,\bar x_k\rangle+E(\|e\|^2+\delta\langle e,u\rangle),"
            r"\text{ as }Ee=Eu=0",
        ),
        vanishes(
            (q * x - eta * m) ** 2
            - q**2 * x**2
            + 2 * eta * q / delta * extra
            - 2 * eta * q / delta * cocoercive
            + eta / delta * (2 * q - eta * delta) * m**2,
            r"\|\bar x_{k+1}\|^2-q^2\|\bar x_k\|^2\le-\tfrac{2\eta q}{\delta}"
            r"E(\|e\|^2+\delta\langle e,u\rangle)",
        ),
        vanishes(
            2 * (1 - eta * mu) - eta * (L - mu) - (2 - eta * (L + mu)),
            r"2q-\eta\delta=2-\eta(L+\mu)\ge0,\text{ so that nothing else is added, and }b\le1",
        ),
        vanishes(
            power * q**2 - power.subs(k, k - 1),
            r"\text{times }q^{2(\tau-1-k)}\text{ the left sides add up to }\|\bar x_\tau\|^2-"
            r"q^{2\tau}\|\bar x_0\|^2",
        ),
        vanishes(
            delta * q ** -(k + 1) * (q * u + eta * (e + g))
            - delta * q**-k * u
            - 2 * b * (q**-k * e + q**-k * g),
            r"\delta q^{-k}u_k=2b\textstyle\sum_{l<k}v_l+2b\,s_kg,\quad v_k=q^{-k}e_k",
        ),
        vanishes(
            form - (1 - b) * distance - b * (total - least_total) ** 2 + g**2 * bracket(b),
            r"\textstyle\sum_k\|v_k\|^2+2b\sum_{l<k}\langle v_k,v_l\rangle+2b\sum_k"
            r"s_k\langle v_k,g\rangle\ge-\tfrac{b^2}{1-b}(S_2-\tfrac{b}{1-b+b\tau}S_1^2)\|g\|^2",
        ),
        vanishes(
            right - 2 * eta * q ** (2 * tau - 1) / delta * bracket(b),
            r"\text{so a round adds }c_\tau\zeta^2\text{ at most}",
        ),
        vanishes(right.subs(two) - known, r"c_2\text{ is that of localsgd/any-state}"),
        vanishes(
            rho * lengths + right * zeta**2 - lengths.subs(S, S + 1),
            r"\|\bar x_S-x^*\|^2\le\rho^S\|\bar x_0-x^*\|^2+c_\tau\zeta^2\tfrac{1-\rho^S}{1-\rho},"
            r"\quad\rho=q^{2\tau}",
        ),
    ]
