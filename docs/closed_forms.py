"""Closed forms of PEPit's examples of gradient steps, each for all values of its letters.

Every claim is a statement of the literature, most of which PEPit 0.5.1 checks at numbers; where it
fixes the step size at 1/L, this is for every step size up to it. ``constrained_forms.py`` has sets,
terms and losses that change. ``driftproof verify closed_forms.py`` searches the proofs;
``driftproof check report-closed_forms/certificates/*`` checks them.
"""

from typing import NamedTuple

from torch import Tensor

from driftproof import Algorithm, Reduction, Steps, algorithm, average, bound, each, smallest, sq
from driftproof.algorithms import FedAvg, Nesterov
from driftproof.classes import (
    bounded_gradients,
    cocoercive,
    convex,
    for_all,
    over,
    shared_minimiser,
    smooth,
    smooth_convex,
    smooth_strongly_convex,
    start_gap,
    start_gradient,
    start_within,
)

NEAR, GAP = start_within(R=for_all("0 < R")), start_gap(delta=for_all("0 < F_gap"))
CONVEX, SMOOTH = smooth_convex(L=for_all("0 < L")), smooth(L=for_all("0 < L"))
STRONG = smooth_strongly_convex(L=for_all("0 < L"), mu=for_all("0 < mu < L"))
NONEXPANSIVE = cocoercive(L=2)
"""x − T(x) of an operator with ‖T(x) − T(y)‖ ≤ ‖x − y‖."""
ANY, SHORT = for_all("0 < eta"), for_all("0 < eta <= 1/L")
CONTRACTING, LONG = for_all("0 < eta <= 2/(L + mu)"), for_all("2/(L + mu) <= eta <= 2/L")


def gap(view: Steps) -> Reduction | None:
    return each("round", "local_step", view.gap(view.mean("w"))) if view.last else None


def distance(view: Steps) -> Reduction | None:
    off = sq(view.mean("w") - view.minimiser)
    return each("round", "local_step", off) if view.last else None


def gradient(view: Steps) -> Reduction | None:
    return each("round", "local_step", sq(view.gradient(view.mean("w")))) if view.last else None


@bound(
    name="pepit/gradient-descent",
    source="Drori & Teboulle 2014; PEPit: unconstrained, gradient_descent",
    statement=r"F(x_N) - F^* \le LR^2/(4N\eta L + 2)",
    classes=over([CONVEX, NEAR], FedAvg(step_size=SHORT), rounds=[1, 2, 3], clients=1),
    right=lambda c: c.L * c.R**2 / (4 * c.S * c.eta * c.L + 2),
)
def gradient_descent(view):
    return gap(view)


@bound(
    name="pepit/gradient-norm",
    source="Taylor, Hendrickx & Glineur 2017; PEPit: tutorials, gradient descent",
    statement=r"\|\nabla F(x_N)\|^2 \le R^2/(N\eta + 1/L)^2",
    classes=over([CONVEX, NEAR], FedAvg(step_size=SHORT), rounds=[1, 2, 3], clients=1),
    right=lambda c: c.R**2 / (c.S * c.eta + 1 / c.L) ** 2,
)
def gradient_norm(view):
    return gradient(view)


@bound(
    name="pepit/gradient-norm-from-gap",
    source="Taylor & Bach 2019 at 1/L",
    statement=r"\|\nabla F(x_N)\|^2 \le 2(F(x_0) - F^*)/(2N\eta + 1/L)",
    classes=over([CONVEX, GAP], FedAvg(step_size=SHORT), rounds=[1, 2, 3], clients=1),
    right=lambda c: 2 * c.F_gap / (2 * c.S * c.eta + 1 / c.L),
)
def gradient_norm_from_gap(view):
    return gradient(view)


@bound(
    name="pepit/nonconvex",
    source="Abbaszadehpeivasti, de Klerk & Zamani 2021; PEPit: nonconvex, gradient_descent",
    statement=r"\min_{k<N} \|\nabla F(x_k)\|^2 \le 4(F(x_0) - F^*)/((N-1)(4\eta - \eta^2 L) + 2/L)",
    classes=over([SMOOTH, GAP], FedAvg(step_size=SHORT), rounds=[1, 2, 3], clients=1),
    right=lambda c: 4 * c.F_gap / ((c.S - 1) * (4 * c.eta - c.eta**2 * c.L) + 2 / c.L),
)
def nonconvex(view):
    return smallest("step", sq(view.gradient(view.mean("w"))))


@bound(
    name="pepit/distance-contracts",
    source="Polyak 1987; PEPit: tutorials, gradient_descent_contraction",
    statement=r"\|x_N - x^*\|^2 \le (1 - \eta\mu)^{2N}R^2",
    classes=over([STRONG, NEAR], FedAvg(step_size=CONTRACTING), rounds=[1, 2, 3], clients=1),
    right=lambda c: (1 - c.eta * c.mu) ** (2 * c.S) * c.R**2,
)
def distance_contracts(view):
    return distance(view)


@bound(
    name="pepit/distance-contracts-long-steps",
    source="the same for longer steps",
    statement=r"\|x_1 - x^*\|^2 \le (\eta L - 1)^2 \|x_0 - x^*\|^2",
    classes=over([STRONG, NEAR], FedAvg(step_size=LONG), rounds=1, clients=1),
    right=lambda c: (c.eta * c.L - 1) ** 2 * c.R**2,
)
def distance_contracts_long_steps(view):
    return distance(view)


@bound(
    name="pepit/gap-contracts",
    source="Taylor, Hendrickx & Glineur 2018",
    statement=r"F(x_1) - F^* \le (1 - \eta\mu)^2 (F(x_0) - F^*)",
    classes=over([STRONG, GAP], FedAvg(step_size=CONTRACTING), rounds=1, clients=1),
    right=lambda c: (1 - c.eta * c.mu) ** 2 * c.F_gap,
)
def gap_contracts(view):
    return gap(view)


@bound(
    name="pepit/gradient-contracts",
    source="Taylor, Hendrickx & Glineur 2018",
    statement=r"\|\nabla F(x_1)\|^2 \le (1 - \eta\mu)^2 \|\nabla F(x_0)\|^2",
    classes=over(
        [STRONG, start_gradient(norm=for_all("0 < g"))],
        FedAvg(step_size=CONTRACTING),
        rounds=1,
        clients=1,
    ),
    right=lambda c: (1 - c.eta * c.mu) ** 2 * c.g**2,
    letters={"g": "initial_gradient"},
)
def gradient_contracts(view):
    return gradient(view)


@bound(
    name="pepit/accelerated-simplified",
    source="PEPit: unconstrained, accelerated_gradient_convex_simplified",
    statement=r"F(x_N) - F^* \le 2R^2/(\eta(N^2 + 5N + 6))",
    classes=over([CONVEX, NEAR], Nesterov(step_size=SHORT), rounds=[1, 2, 3], clients=1),
    right=lambda c: 2 * c.R**2 / c.eta / (c.T**2 + 5 * c.T + 6),
)
def accelerated_simplified(view):
    return gap(view)


@bound(
    name="pepit/subgradient-method",
    source="Shor 1985, with a constant step; PEPit: unconstrained, subgradient_method",
    statement=r"\frac1N\sum_{k<N} F(x_k) - F^* \le \frac{R^2}{2N\eta} + \frac{\eta G^2}2",
    classes=over(
        [bounded_gradients(convex(), G=for_all("0 < G")), NEAR],
        FedAvg(step_size=ANY),
        rounds=[1, 2, 3],
        clients=1,
    ),
    right=lambda c: c.R**2 / (2 * c.S * c.eta) + c.eta * c.G**2 / 2,
    letters={"G": "field_gradient_bound"},
)
def subgradient_method(view):
    return average("step", view.gap(view.mean("w")))


@bound(
    name="pepit/sgd-overparametrized",
    source="PEPit: stochastic, sgd_overparametrized",
    statement=r"\mathbb{E}\|x_1 - x^*\|^2 \le (1 - \eta\mu)^2 R^2,\quad \nabla f_i(x^*) = 0",
    classes=over(
        [STRONG, shared_minimiser(), NEAR],
        FedAvg(step_size=CONTRACTING, participation=0.5),
        rounds=1,
    ),
    right=lambda c: (1 - c.eta * c.mu) ** 2 * c.R**2,
)
def sgd_overparametrized(view):
    return distance(view)


class Remembered(NamedTuple):
    """The iterate, and the start."""

    w: Tensor
    y: Tensor


class OneMachine(Algorithm):
    """What the methods below share."""

    local_steps: int = 1
    notation = {"eta": "step_size", "T": "rounds"}

    def init(self, ctx, oracles, start):
        x = ctx.everywhere(start)
        return Remembered(x, x)


@algorithm(name="halpern", source="Halpern 1967", statement=r"x_{k+1} = p_k x_0 + (1-p_k) T(x_k)")
class Halpern(OneMachine):
    def step(self, ctx, oracles, state):
        p, image = 1 / (ctx.t + 2), state.w - oracles.field_grad(state.w, None)
        return state._replace(w=p * state.y + (1 - p) * image)


@bound(
    name="pepit/halpern",
    source="Lieder 2021; PEPit: fixed point problems, halpern_iteration",
    statement=r"\|x_N - T(x_N)\|^2 \le 4R^2/(N+1)^2",
    classes=over([NONEXPANSIVE, NEAR], Halpern(), rounds=[1, 2, 3, 5], clients=1),
    right=lambda c: 4 * c.R**2 / (c.T + 1) ** 2,
)
def halpern(view):
    return gradient(view)


@algorithm(name="averaged", source="Krasnoselskii 1955", statement=r"x_{k+1} = (1-p)x_k + pT(x_k)")
class Averaged(OneMachine):
    step_size: float = 0.75

    def step(self, ctx, oracles, state):
        return state._replace(w=state.w - self.step_size * oracles.field_grad(state.w, None))


@bound(
    name="pepit/krasnoselskii-mann",
    source="Lieder 2018; PEPit: fixed point problems, krasnoselskii_mann_constant_step_sizes",
    statement=r"\|x_N - T(x_N)\|^2 \le \frac{N^N}{(N+1)^{N+1}} \frac{R^2}{p(1-p)}",
    classes=over(
        [NONEXPANSIVE, NEAR],
        Averaged(step_size=for_all("1/2 <= eta <= 4/5")),
        rounds=[1, 2, 3],
        clients=1,
    ),
    right=lambda c: c.T**c.T / (c.T + 1) ** (c.T + 1) * c.R**2 / (c.eta * (1 - c.eta)),
)
def krasnoselskii_mann(view):
    return gradient(view)


@bound(
    name="pepit/cocoercive-contracts",
    source="Ryu et al. 2020; PEPit: monotone inclusions",
    statement=r"\|x_1 - x^*\|^2 \le (1 - 2\eta\mu + \eta^2\mu L)R^2",
    classes=over(
        [cocoercive(L=for_all("0 < L"), mu=for_all("0 < mu < L")), NEAR],
        FedAvg(step_size=SHORT),
        rounds=1,
        clients=1,
    ),
    right=lambda c: (1 - 2 * c.eta * c.mu + c.eta**2 * c.mu * c.L) * c.R**2,
)
def cocoercive_contracts(view):
    return distance(view)
