"""FedAvg, FedProx, and stochastic gradients as sampled clients."""

from sympy import sqrt

from driftproof.synthetic.classes import (
    over,
    recurs,
    similar,
    smooth_convex,
    smooth_strongly_convex,
    start_gap,
    start_within,
)
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.algorithms.proximal_point import ProximalPoint
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims import _shared as shared

NEAR, DIFFERENT = start_within(R=1), similar(zeta=1)
STRONG = smooth_strongly_convex(L=1, mu=0.1)


@bound(
    name="literature/fedavg-fixed-point",
    source="a belief; Pathak & Wainwright 2020 refute it",
    statement=r"x_1=x_0 \Rightarrow \|x_0-x^*\|^2 \le 0,\quad \tau=2",
    classes=over(
        [STRONG, DIFFERENT, NEAR, recurs()], FedAvg(step_size=0.5, local_steps=2), rounds=1
    ),
    right=shared.nothing,
    erratum=shared.false(
        "Pathak and Wainwright (2020): its fixed points are no stationary points, where "
        "clients differ."
    ),
)
def fedavg_fixed_point(view: Steps) -> Reduction | None:
    """Where FedAvg with constant steps rests, there is the minimiser.

    Text: https://arxiv.org/abs/2005.05238
    Truth: false: Pathak & Wainwright (2020)
    """
    return shared.distance_at_start(view)


@bound(
    name="literature/fedprox-fixed-point",
    source="a belief; Pathak & Wainwright 2020 refute it",
    statement=r"x_1=x_0 \Rightarrow \|x_0-x^*\|^2 \le 0",
    classes=over([STRONG, DIFFERENT, NEAR, recurs()], ProximalPoint(step_size=1.0), rounds=1),
    right=shared.nothing,
    erratum=shared.false(
        "Pathak and Wainwright (2020): the mean of implicit steps rests where the "
        "clients' envelopes do."
    ),
)
def fedprox_fixed_point(view: Steps) -> Reduction | None:
    """Where FedProx rests, its subproblems solved exactly, there is the minimiser.

    Text: https://arxiv.org/abs/2005.05238
    Truth: false: Pathak & Wainwright (2020)
    """
    return shared.distance_at_start(view)


@bound(
    name="literature/fedavg-main-theorem",
    source="Ab2021/infra, Day 26.2, Main convergence theorem; one client, no noise",
    statement=r"f(w^{(T)})-f(w^*) \le \Big(1-\frac{\eta\mu}2\Big)^T\big(f(w^{(0)})-f(w^*)\big)",
    classes=over(
        [STRONG, start_gap(delta=1)], FedAvg(step_size=sweep(1.0, 2.5)), rounds=2, clients=1
    ),
    right=lambda c: (1 - c.eta * c.mu / 2) ** c.S * c.F_gap,
    erratum=shared.false(
        "No step size is excluded, and at η = 2.5/L gradient descent diverges on a parabola."
    ),
)
def fedavg_main_theorem(view: Steps) -> Reduction | None:
    """FedAvg's gap with constant steps, after Day 26.2.

    Text: https://github.com/Ab2021/infra/blob/69f343972a9a7c1e40cc048cb6eec069b5bfd332/day26_002_federated_averaging.md
    Truth: false: it has no bound on η, and gradient descent diverges beyond 2/L; unpublished
    """
    return shared.gap_at_end(view)


@bound(
    name="literature/local-steps-are-steps",
    source="a belief; Woodworth et al. 2020, Is local SGD better than minibatch SGD?",
    statement=r"F(\bar x_S)-F^* \le \frac{LR^2}{4S\tau\eta L+2}",
    classes=over(
        [smooth_convex(L=1), DIFFERENT, NEAR], FedAvg(step_size=0.5, local_steps=4), rounds=1
    ),
    right=lambda c: c.L * c.R**2 / (4 * c.S * c.tau * c.eta * c.L + 2),
    erratum=shared.false(
        "Woodworth et al. (2020): where clients differ, local steps may be no better than one."
    ),
)
def local_steps_are_steps(view: Steps) -> Reduction | None:
    """Local steps of FedAvg count like as many steps of gradient descent.

    Text: not at hand; https://arxiv.org/abs/2002.07839
    Truth: false: Woodworth et al. (2020), a lower bound
    """
    return shared.gap_at_end(view)


@bound(
    name="literature/sgd-constant-step",
    source="a belief; Bottou, Curtis & Nocedal 2018, section 4.2",
    statement=r"\mathbb{E}\|x_1-x^*\|^2 \le (1-\eta\mu)^2\|x_0-x^*\|^2,\quad "
    r"\tfrac1n\sum_i\|\nabla f_i(x^*)\|^2\le\zeta^2",
    classes=over([STRONG, DIFFERENT, NEAR], FedAvg(step_size=0.5, participation=0.5), rounds=1),
    right=lambda c: (1 - c.eta * c.mu) ** 2 * c.R**2,
    erratum=shared.false(
        "Bottou, Curtis and Nocedal (2018): a constant step leads to a neighbourhood only."
    ),
)
def sgd_constant_step(view: Steps) -> Reduction | None:
    """Stochastic gradients with a constant step contract to the minimiser.

    Text: https://github.com/quantaji/ethz-ODS-2022-self-notes/blob/6be3f8e100f5be244e4702271ce2452fbb3fc8a2/Notes/chapter12-stochastic_optimization.md
    Truth: false: Bottou, Curtis & Nocedal (2018), Theorem 4.6 has a floor; so has Theorem 12.5 of the text
    """  # noqa: E501
    return shared.distance_at_end(view)


@bound(
    name="literature/sgd-one-step",
    source="PEPit 0.5, sgd, after Taylor, Hendrickx & Glineur 2017",
    statement=r"\mathbb{E}\|x_1-x^*\|^2 \le \Big(\gamma\tfrac{L-\mu}2R + "
    r"\sqrt{\big(1-\gamma\tfrac{L+\mu}2\big)^2R^2+\gamma^2\zeta^2}\Big)^2",
    classes=over(
        [smooth_strongly_convex(L=1, mu=0.2), similar(zeta=0.3), NEAR],
        FedAvg(step_size=1.0, participation=0.5),
        rounds=1,
    ),
    right=lambda c: (
        (
            c.eta * (c.L - c.mu) / 2 * c.R
            + sqrt((1 - c.eta * (c.L + c.mu) / 2) ** 2 * c.R**2 + c.eta**2 * c.zeta**2)
        )
        ** 2
    ),
    explain="At these numbers the root is 1/2.",
)
def sgd_one_step(view: Steps) -> Reduction | None:
    """One step of stochastic gradient descent, exactly.

    Text: https://github.com/PerformanceEstimation/PEPit/blob/27dbd73f26a83a146ec7010bc788d2a0701e66a8/PEPit/examples/stochastic_and_randomized_convex_minimization/sgd.py
    Truth: true, tight: found by PESTO (Taylor, Hendrickx & Glineur 2017)
    """
    return shared.distance_at_end(view)
