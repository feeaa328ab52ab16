"""Gradient descent: values, distances, gradients, and potentials."""

from sympy import Max
from torch import Tensor

from driftproof.synthetic.classes import (
    over,
    smooth,
    smooth_convex,
    smooth_strongly_convex,
    start_gap,
    start_within,
)
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps, average, each, sq
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.claim_types.limit import limit
from driftproof.verifiers.papers.literature.claims import _shared as shared

CONVEX = smooth_convex(L=1), start_within(R=1)
SMOOTH = smooth(L=1), start_gap(delta=1)


def bend(view: Steps) -> Reduction | None:
    """Measure 2(f(x_1) − f*) of the last three iterates, and before it that of their ends."""
    if not view.last:
        return None
    ends = view.gap(view.previous.w.mean(0)) + view.gap(view.state.w.mean(0))
    return each("transition", 2 * view.gap(view.before.w.mean(0)), before=ends)


@bound(
    name="literature/gd-corollary",
    source="Nesterov 2018, Corollary 2.1.2",
    statement=r"f(x_k)-f^* \le \frac{2L\|x_0-x^*\|^2}{k+4},\quad h=\tfrac1L",
    classes=over(CONVEX, FedAvg(step_size=1.0), rounds=[1, 3], clients=1),
    right=lambda c: 2 * c.L * c.R**2 / (c.S + 4),
)
def gd_corollary(view: Steps) -> Reduction | None:
    """Gradient descent's values, as Nesterov prints them.

    Text: https://github.com/ericphanson/newtons-method/blob/73556f8d228ffcf546a42b6271eb12ed94420e5b/docs/references/renders/gd-convex-sublinear-convergence-nesterov-2018.md
    Truth: true
    """
    return shared.gap_at_end(view)


@bound(
    name="literature/gd-distance",
    source="ETH notes ODS 2022, Theorem 3.14 (i)",
    statement=r"\|x_1-x^*\|^2 \le \Big(1-\frac\mu L\Big)\|x_0-x^*\|^2,\quad \gamma=\tfrac1L",
    classes=over(
        [smooth_strongly_convex(L=1, mu=0.1), start_within(R=1)],
        FedAvg(step_size=1.0),
        rounds=1,
        clients=1,
    ),
    right=lambda c: (1 - c.mu / c.L) * c.R**2,
)
def gd_distance(view: Steps) -> Reduction | None:
    """Gradient descent's distance with 1/L.

    Text: https://github.com/quantaji/ethz-ODS-2022-self-notes/blob/6be3f8e100f5be244e4702271ce2452fbb3fc8a2/Notes/chapter03-gradient_descent.md
    Truth: true
    """
    return shared.distance_at_end(view)


@bound(
    name="literature/gd-long-steps",
    source="Drori & Teboulle 2014, Conjecture 3.1",
    statement=r"f(x_N)-f^* \le \frac{LR^2}2\max\Big\{\frac1{2Nh+1},(1-h)^{2N}\Big\},\quad "
    r"\eta=\tfrac hL",
    classes=over(CONVEX, FedAvg(step_size=1.5), rounds=[1, 3], clients=1),
    right=lambda c: (
        c.L * c.R**2 / 2 * Max(1 / (2 * c.S * c.eta * c.L + 1), (1 - c.eta * c.L) ** (2 * c.S))
    ),
)
def gd_long_steps(view: Steps) -> Reduction | None:
    """Gradient descent with steps longer than 1/L.

    Text: not at hand; https://arxiv.org/abs/1206.3209
    Truth: true at these N, tight: Drori & Teboulle (2014), Conjecture 3.1
    """
    return shared.gap_at_end(view)


@bound(
    name="literature/gd-values-strongly-convex",
    source="Nesterov 2018, Theorem 2.1.15, last display",
    statement=r"f(x_k)-f^* \le \frac L2\Big(\frac{L-\mu}{L+\mu}\Big)^{2k}\|x_0-x^*\|^2,\quad "
    r"h=\tfrac2{\mu+L}",
    classes=over(
        [smooth_strongly_convex(L=1, mu=0.25), start_within(R=1)],
        FedAvg(step_size=1.6),
        rounds=[1, 2],
        clients=1,
    ),
    right=lambda c: c.L / 2 * ((c.L - c.mu) / (c.L + c.mu)) ** (2 * c.S) * c.R**2,
)
def gd_values_strongly_convex(view: Steps) -> Reduction | None:
    """Gradient descent's values for h = 2/(μ + L).

    Text: https://github.com/ericphanson/newtons-method/blob/73556f8d228ffcf546a42b6271eb12ed94420e5b/docs/references/renders/gd-constant-step-strongly-convex-linear-convergence-nesterov-2018.md
    Truth: true, tight: a parabola of curvature L
    """
    return shared.gap_at_end(view)


@limit(
    name="literature/gd-at-two-over-l",
    source="Nesterov 2018, section 2.1.5, as quoted there: '0 < h ≤ 2/L … converges to some "
    "optimal point'",
    statement=r"x_k \to x^*,\quad h=\tfrac2L",
    classes=over([smooth_convex(L=1)], FedAvg(step_size=2.0), clients=1),
    erratum=shared.false(
        "Nesterov (2018), Theorem 2.1.14, asks for h below 2/L: at 2/L a parabola is "
        "mirrored for ever."
    ),
)
def gd_at_two_over_l(view: Steps) -> Reduction | None:
    """Gradient descent with h = 2/L converges.

    Text: https://github.com/ericphanson/newtons-method/blob/73556f8d228ffcf546a42b6271eb12ed94420e5b/docs/references/renders/gd-smooth-descent-condition-nesterov-2018.md
    Truth: false: f = (L/2)x² goes from x to −x; Nesterov (2018), Theorem 2.1.14, has h < 2/L
    """
    return shared.distance_at_end(view)


@bound(
    name="literature/gradient-norm-falls",
    source="Hieu 2025, abstract, quoting Barzilai, Shamir & Zamani 2025",
    statement=r"\|\nabla f(x_1)\|^2 \le \|\nabla f(x_0)\|^2,\quad \eta=\tfrac2L",
    classes=over(CONVEX, FedAvg(step_size=2.0), rounds=1, clients=1),
    measured={"before": r"\|\nabla f(x_0)\|^2"},
    right=shared.unchanged,
)
def gradient_norm_falls(view: Steps) -> Reduction | None:
    """Gradient descent's gradients do not grow for η ≤ 2/L.

    Text: https://arxiv.org/abs/2509.08954
    Truth: true, tight at 2/L: Barzilai, Shamir & Zamani (2025)
    """
    return shared.change_of(lambda x: sq(view.gradient(x)), view)


@bound(
    name="literature/curve-convex",
    source="Hieu 2025, abstract, quoting Barzilai, Shamir & Zamani 2025",
    statement=r"2\big(f(x_1)-f^*\big) \le f(x_0)-f^* + f(x_2)-f^*,\quad \eta=\tfrac{1.75}L",
    classes=over(CONVEX, FedAvg(step_size=1.75), rounds=2, clients=1),
    measured={"before": r"f(x_0)-f^* + f(x_2)-f^*"},
    right=shared.unchanged,
)
def curve_convex(view: Steps) -> Reduction | None:
    """Gradient descent gains less with each step, for η ≤ 1.75/L.

    Text: https://arxiv.org/abs/2509.08954
    Truth: true, tight: Barzilai, Shamir & Zamani (2025)
    """
    return bend(view)


@bound(
    name="literature/curve-convex-two-over-l",
    source="a belief; Barzilai, Shamir & Zamani 2025 refute it",
    statement=r"2\big(f(x_1)-f^*\big) \le f(x_0)-f^* + f(x_2)-f^*,\quad \eta=\tfrac{1.9}L",
    classes=over(CONVEX, FedAvg(step_size=1.9), rounds=2, clients=1),
    measured={"before": r"f(x_0)-f^* + f(x_2)-f^*"},
    right=shared.unchanged,
    erratum=shared.false(
        "Barzilai, Shamir and Zamani (2025), Theorem 2: the curve need not be convex for "
        "η in (1.75/L, 2/L)."
    ),
)
def curve_convex_two_over_l(view: Steps) -> Reduction | None:
    """Gradient descent gains less with each step, for every step size below 2/L.

    Text: https://arxiv.org/abs/2503.10138
    Truth: false: Barzilai, Shamir & Zamani (2025), Theorem 2
    """
    return bend(view)


@bound(
    name="literature/lyapunov-values",
    source="PEPit 0.5, gradient_descent_lyapunov_1, after Bansal & Gupta 2019",
    statement=r"V_{n+1} \le V_n,\quad V_n=n(f(x_n)-f^*)+\tfrac L2\|x_n-x^*\|^2,\ n=10",
    classes=over(CONVEX, FedAvg(step_size=1.0), rounds=1, clients=1),
    measured={"before": r"V_n"},
    right=shared.unchanged,
)
def lyapunov_values(view: Steps) -> Reduction | None:
    """A potential of gradient descent: n(f − f*) + (L/2)‖x − x*‖².

    Text: https://github.com/PerformanceEstimation/PEPit/blob/27dbd73f26a83a146ec7010bc788d2a0701e66a8/PEPit/examples/potential_functions/gradient_descent_lyapunov_1.py
    Truth: true, tight: Bansal & Gupta (2019)
    """

    def value(n: int, x: Tensor) -> Tensor:
        return n * view.gap(x) + sq(x - view.minimiser) / 2

    after, before = value(11, view.state.w.mean(0)), value(10, view.before.w.mean(0))
    return each("transition", after, before=before)


@bound(
    name="literature/lyapunov-gradients",
    source="PEPit 0.5, gradient_descent_lyapunov_2, after Taylor & Bach 2019",
    statement=r"V_{n+1} \le V_n,\quad V_n=(2n+1)L(f(x_n)-f^*)+n(n+2)\|\nabla "
    r"f(x_n)\|^2+L^2\|x_n-x^*\|^2,\ n=10",
    classes=over(CONVEX, FedAvg(step_size=1.0), rounds=1, clients=1),
    measured={"before": r"V_n"},
    right=shared.unchanged,
)
def lyapunov_gradients(view: Steps) -> Reduction | None:
    """A potential of gradient descent, with gradients.

    Text: https://github.com/PerformanceEstimation/PEPit/blob/27dbd73f26a83a146ec7010bc788d2a0701e66a8/PEPit/examples/potential_functions/gradient_descent_lyapunov_2.py
    Truth: true, tight: Taylor & Bach (2019)
    """

    def value(n: int, x: Tensor) -> Tensor:
        gradient, off = sq(view.gradient(x)), sq(x - view.minimiser)
        return (2 * n + 1) * view.gap(x) + n * (n + 2) * gradient + off

    after, before = value(11, view.state.w.mean(0)), value(10, view.before.w.mean(0))
    return each("transition", after, before=before)


@bound(
    name="literature/nonconvex-average",
    source="ETH notes ODS 2022, Theorem 9.2",
    statement=r"\frac1T\sum_{t<T}\|\nabla f(x_t)\|^2 \le \frac{2L}T\big(f(x_0)-f^*\big),\quad "
    r"\gamma=\tfrac1L",
    classes=over(SMOOTH, FedAvg(step_size=1.0), rounds=[1, 3], clients=1),
    right=lambda c: 2 * c.L / c.S * c.F_gap,
)
def nonconvex_average(view: Steps) -> Reduction | None:
    """The mean squared gradient of gradient descent, f not convex.

    Text: https://github.com/quantaji/ethz-ODS-2022-self-notes/blob/6be3f8e100f5be244e4702271ce2452fbb3fc8a2/Notes/chapter09-nonconvex.md
    Truth: true, tight up to inf f: a line, then a parabola
    """
    return average("step", sq(view.gradient(view.mean("w"))))


@bound(
    name="literature/sufficient-descent",
    source="ETH notes ODS 2022, sufficient descent, used in Lemma 3.8",
    statement=r"f(x_1)-f^*+\frac1{2L}\|\nabla f(x_0)\|^2 \le f(x_0)-f^*,\quad \eta=\tfrac1L",
    classes=over(SMOOTH, FedAvg(step_size=1.0), rounds=1, clients=1),
    measured={"before": r"f(x_0)-f^*"},
    right=shared.unchanged,
    explain="L = 1 stands in the measure.",
)
def sufficient_descent(view: Steps) -> Reduction | None:
    """A step of 1/L gains ‖∇f‖²/(2L), also where f is not convex.

    Text: https://github.com/quantaji/ethz-ODS-2022-self-notes/blob/6be3f8e100f5be244e4702271ce2452fbb3fc8a2/Notes/chapter03-gradient_descent.md
    Truth: true, tight: a parabola
    """
    after = view.gap(view.state.w.mean(0)) + sq(view.gradient(view.before.w.mean(0))) / 2
    return each("transition", after, before=view.gap(view.before.w.mean(0)))
