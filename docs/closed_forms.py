"""Worst cases with a known closed form, each as a claim over a class for all values of its letters.

Most are examples of PEPit 0.5.1, which checks them at numbers. ``driftproof verify
closed_forms.py`` searches the proofs; ``driftproof check report-closed_forms/certificates/*``
checks them.
"""

from functools import partial
from typing import NamedTuple

from sympy import Rational, sqrt
from torch import Tensor

from driftproof import (
    Algorithm,
    Reduction,
    Steps,
    algorithm,
    average,
    bound,
    each,
    smallest,
    sq,
    sweep,
)
from driftproof.algorithms import FedAvg, FrankWolfe, Nesterov, ProximalGradient, ProximalPoint
from driftproof.classes import (
    bounded_gradients,
    cocoercive,
    convex,
    for_all,
    indicator,
    monotone,
    monotone_lipschitz,
    over,
    plus,
    polyak_step,
    shared_minimiser,
    smooth,
    smooth_convex,
    smooth_strongly_convex,
    start_apart,
    start_gap,
    start_gradient,
    start_within,
)

R, L = for_all("0 < R"), for_all("0 < L")
NEAR, APART, UNIT = start_within(R=R), start_apart(R=R), start_within(R=1)
GAP = start_gap(delta=for_all("0 < F_gap"))
CONVEX, SMOOTH, TERM = smooth_convex(L=L), smooth(L=L), plus(convex())
STRONG = smooth_strongly_convex(L=L, mu=for_all("0 < mu < L"))
LIPSCHITZ = bounded_gradients(convex(), G=for_all("0 < G"))
LOSSES = [LIPSCHITZ, plus(indicator(for_all("0 < D")))]
NONEXPANSIVE = cocoercive(L=2)
MU, ANY, SHORT = for_all("0 < mu"), for_all("0 < eta"), for_all("0 < eta <= 1/L")
CONTRACTING, LONG = for_all("0 < eta <= 2/(L + mu)"), for_all("2/(L + mu) <= eta <= 2/L")
POLYAK, MIDDLE = for_all("1/L <= eta <= 1/mu"), for_all("1/L <= eta <= (2*L - mu)/L**2")
OF_VALUES = polyak_step(2 * L * MIDDLE * (2 - L * MIDDLE))
alone = partial(over, clients=1)


def gap(view: Steps) -> Reduction | None:
    return each("round", "local_step", view.gap(view.mean("w"))) if view.last else None


def distance(view: Steps) -> Reduction | None:
    off = sq(view.mean("w") - view.minimiser)
    return each("round", "local_step", off) if view.last else None


def gradient(view: Steps) -> Reduction | None:
    return each("round", "local_step", sq(view.gradient(view.mean("w")))) if view.last else None


def last_move(view: Steps) -> Reduction | None:
    return each("transition", sq((view.state.w - view.before.w).mean(0))) if view.last else None


def residual(view: Steps) -> Reduction | None:
    return each("transition", sq((view.state.w - view.before.y).mean(0))) if view.last else None


def apart(view: Steps) -> Reduction | None:
    return each("round", "local_step", sq(view.mean("y") - view.mean("z"))) if view.last else None


def regret(view: Steps) -> Reduction:
    return average("transition", view.problem.loss_at(view.t, view.before.w.mean(0)))


def losses(method, horizons, classes=LOSSES):
    """Return a case for each horizon: client t has the loss of time t."""
    return [case for T in horizons for case in over(classes, method, rounds=T, clients=T)]


class Held(NamedTuple):
    """The iterate, and up to four points that a method holds beside it."""

    w: Tensor
    y: Tensor
    z: Tensor
    p: Tensor
    q: Tensor


class OneMachine(Algorithm):
    """What the methods below share."""

    local_steps: int = 1
    needs = "online"
    notation = {
        "eta": "step_size",
        "T": "rounds",
        "L": "objective_smoothness",
        "mu": "strong_convexity",
        "G": "field_gradient_bound",
        "D": "diameter",
        "sigma": "accuracy",
    }

    def init(self, ctx, oracles, start):
        x = ctx.everywhere(start)
        return Held(x, x, x, 0 * x, 0 * x)


# -- gradient steps

bound(
    name="pepit/gradient-descent",
    source="Drori & Teboulle 2014; PEPit: unconstrained, gradient_descent",
    statement=r"F(x_N) - F^* \le LR^2/(4N\eta L + 2)",
    classes=alone([CONVEX, NEAR], FedAvg(step_size=SHORT), rounds=[1, 2, 3]),
    right=lambda c: c.L * c.R**2 / (4 * c.S * c.eta * c.L + 2),
)(gap)

bound(
    name="pepit/gradient-norm",
    source="Taylor, Hendrickx & Glineur 2017; PEPit: tutorials, gradient descent",
    statement=r"\|\nabla F(x_N)\|^2 \le R^2/(N\eta + 1/L)^2",
    classes=alone([CONVEX, NEAR], FedAvg(step_size=SHORT), rounds=[1, 2, 3]),
    right=lambda c: c.R**2 / (c.S * c.eta + 1 / c.L) ** 2,
)(gradient)

bound(
    name="pepit/gradient-norm-from-gap",
    source="Taylor & Bach 2019 at 1/L",
    statement=r"\|\nabla F(x_N)\|^2 \le 2(F(x_0) - F^*)/(2N\eta + 1/L)",
    classes=alone([CONVEX, GAP], FedAvg(step_size=SHORT), rounds=[1, 2, 3]),
    right=lambda c: 2 * c.F_gap / (2 * c.S * c.eta + 1 / c.L),
)(gradient)

bound(
    name="pepit/nonconvex",
    source="Abbaszadehpeivasti, de Klerk & Zamani 2021; PEPit: nonconvex, gradient_descent",
    statement=r"\min_{k<N} \|\nabla F(x_k)\|^2 \le 4(F(x_0) - F^*)/((N-1)(4\eta - \eta^2 L) + 2/L)",
    classes=alone([SMOOTH, GAP], FedAvg(step_size=SHORT), rounds=[1, 2, 3]),
    right=lambda c: 4 * c.F_gap / ((c.S - 1) * (4 * c.eta - c.eta**2 * c.L) + 2 / c.L),
)(lambda view: smallest("step", sq(view.gradient(view.mean("w")))))

bound(
    name="pepit/distance-contracts",
    source="Polyak 1987; PEPit: tutorials, gradient_descent_contraction",
    statement=r"\|x_N - x^*\|^2 \le (1 - \eta\mu)^{2N}R^2",
    classes=alone([STRONG, NEAR], FedAvg(step_size=CONTRACTING), rounds=[1, 2, 3]),
    right=lambda c: (1 - c.eta * c.mu) ** (2 * c.S) * c.R**2,
)(distance)

bound(
    name="pepit/distance-contracts-long-steps",
    source="the same for longer steps",
    statement=r"\|x_1 - x^*\|^2 \le (\eta L - 1)^2 \|x_0 - x^*\|^2",
    classes=alone([STRONG, NEAR], FedAvg(step_size=LONG), rounds=1),
    right=lambda c: (c.eta * c.L - 1) ** 2 * c.R**2,
)(distance)

bound(
    name="pepit/gap-contracts",
    source="Taylor, Hendrickx & Glineur 2018",
    statement=r"F(x_1) - F^* \le (1 - \eta\mu)^2 (F(x_0) - F^*)",
    classes=alone([STRONG, GAP], FedAvg(step_size=CONTRACTING), rounds=1),
    right=lambda c: (1 - c.eta * c.mu) ** 2 * c.F_gap,
)(gap)

bound(
    name="pepit/gradient-contracts",
    source="Taylor, Hendrickx & Glineur 2018",
    statement=r"\|\nabla F(x_1)\|^2 \le (1 - \eta\mu)^2 \|\nabla F(x_0)\|^2",
    classes=alone(
        [STRONG, start_gradient(norm=for_all("0 < g"))], FedAvg(step_size=CONTRACTING), rounds=1
    ),
    right=lambda c: (1 - c.eta * c.mu) ** 2 * c.g**2,
    letters={"g": "initial_gradient"},
)(gradient)

bound(
    name="pepit/polyak-distance",
    source="Barré, Taylor & d'Aspremont 2020; PEPit: adaptive, polyak_steps_in_distance_to_optimum",
    statement=r"\|x_1 - x^*\|^2 \le \frac{(\eta L - 1)(1 - \eta\mu)}{\eta(L + \mu) - 1} R^2"
    r",\quad \eta\|\nabla F(x_0)\|^2 = 2(F(x_0) - F^*)",
    classes=alone([STRONG, polyak_step(), NEAR], FedAvg(step_size=POLYAK), rounds=1),
    right=lambda c: (c.eta * c.L - 1) * (1 - c.eta * c.mu) / (c.eta * (c.L + c.mu) - 1) * c.R**2,
)(distance)

bound(
    name="pepit/polyak-gap",
    source="Barré, Taylor & d'Aspremont 2020; PEPit: adaptive, polyak_steps_in_function_value",
    statement=r"F(x_1) - F^* \le (\eta L-1)(\eta L(3-\eta(L+\mu))-1)(F(x_0) - F^*)"
    r",\quad \|\nabla F(x_0)\|^2 = 2L(2 - \eta L)(F(x_0) - F^*)",
    classes=alone([STRONG, OF_VALUES, GAP], FedAvg(step_size=MIDDLE), rounds=1),
    right=lambda c: (c.eta * c.L - 1) * (c.eta * c.L * (3 - c.eta * (c.L + c.mu)) - 1) * c.F_gap,
)(gap)

bound(
    name="pepit/accelerated-simplified",
    source="PEPit: unconstrained, accelerated_gradient_convex_simplified",
    statement=r"F(x_N) - F^* \le 2R^2/(\eta(N^2 + 5N + 6))",
    classes=alone([CONVEX, NEAR], Nesterov(step_size=SHORT), rounds=[1, 2, 3]),
    right=lambda c: 2 * c.R**2 / c.eta / (c.T**2 + 5 * c.T + 6),
)(gap)

bound(
    name="pepit/subgradient-method",
    source="Shor 1985, with a constant step; PEPit: unconstrained, subgradient_method",
    statement=r"\frac1N\sum_{k<N} F(x_k) - F^* \le \frac{R^2}{2N\eta} + \frac{\eta G^2}2",
    classes=alone([LIPSCHITZ, NEAR], FedAvg(step_size=ANY), rounds=[1, 2, 3]),
    right=lambda c: c.R**2 / (2 * c.S * c.eta) + c.eta * c.G**2 / 2,
    letters={"G": "field_gradient_bound"},
)(lambda view: average("step", view.gap(view.mean("w"))))

bound(
    name="pepit/sgd-overparametrized",
    source="PEPit: stochastic, sgd_overparametrized",
    statement=r"\mathbb{E}\|x_1 - x^*\|^2 \le (1 - \eta\mu)^2 R^2,\quad \nabla f_i(x^*) = 0",
    classes=over(
        [STRONG, shared_minimiser(), NEAR],
        FedAvg(step_size=CONTRACTING, participation=0.5),
        rounds=1,
    ),
    right=lambda c: (1 - c.eta * c.mu) ** 2 * c.R**2,
)(distance)


# -- fixed points of a map T with ‖T(x) − T(y)‖ ≤ ‖x − y‖, given as x − T(x)


@algorithm(name="halpern", source="Halpern 1967", statement=r"x_{k+1} = p_k x_0 + (1-p_k) T(x_k)")
class Halpern(OneMachine):
    def step(self, ctx, oracles, state):
        p, image = 1 / (ctx.t + 2), state.w - oracles.field_grad(state.w, None)
        return state._replace(w=p * state.y + (1 - p) * image)


bound(
    name="pepit/halpern",
    source="Lieder 2021; PEPit: fixed point problems, halpern_iteration",
    statement=r"\|x_N - T(x_N)\|^2 \le 4R^2/(N+1)^2",
    classes=alone([NONEXPANSIVE, NEAR], Halpern(), rounds=[1, 2, 3, 5]),
    right=lambda c: 4 * c.R**2 / (c.T + 1) ** 2,
)(gradient)


@algorithm(name="averaged", source="Krasnoselskii 1955", statement=r"x_{k+1} = (1-p)x_k + pT(x_k)")
class Averaged(OneMachine):
    step_size: float = 0.75

    def step(self, ctx, oracles, state):
        return state._replace(w=state.w - self.step_size * oracles.field_grad(state.w, None))


bound(
    name="pepit/krasnoselskii-mann",
    source="Lieder 2018; PEPit: fixed point problems, krasnoselskii_mann_constant_step_sizes",
    statement=r"\|x_N - T(x_N)\|^2 \le \frac{N^N}{(N+1)^{N+1}} \frac{R^2}{p(1-p)}",
    classes=alone(
        [NONEXPANSIVE, NEAR], Averaged(step_size=for_all("1/2 <= eta <= 4/5")), rounds=[1, 2, 3]
    ),
    right=lambda c: c.T**c.T / (c.T + 1) ** (c.T + 1) * c.R**2 / (c.eta * (1 - c.eta)),
)(gradient)

bound(
    name="pepit/cocoercive-contracts",
    source="Ryu et al. 2020; PEPit: monotone inclusions",
    statement=r"\|x_1 - x^*\|^2 \le (1 - 2\eta\mu + \eta^2\mu L)R^2",
    classes=alone([cocoercive(L, for_all("0 < mu < L")), NEAR], FedAvg(step_size=SHORT), rounds=1),
    right=lambda c: (1 - 2 * c.eta * c.mu + c.eta**2 * c.mu * c.L) * c.R**2,
)(distance)


# -- implicit steps

bound(
    name="pepit/proximal-point",
    source="Taylor, Hendrickx & Glineur 2017; PEPit: unconstrained, proximal_point",
    statement=r"F(x_N) - F^* \le R^2/(4\eta N)",
    classes=alone([convex(), NEAR], ProximalPoint(step_size=ANY), rounds=[1, 2, 4]),
    right=lambda c: c.R**2 / (4 * c.eta * c.T),
)(gap)

bound(
    name="pepit/proximal-point-contracts",
    source="Rockafellar 1976",
    statement=r"\|x_N - x^*\|^2 \le R^2/(1 + \eta\mu)^{2N}",
    classes=alone([STRONG, NEAR], ProximalPoint(step_size=ANY), rounds=[1, 2]),
    right=lambda c: c.R**2 / (1 + c.eta * c.mu) ** (2 * c.T),
)(distance)

bound(
    name="pepit/proximal-point-step",
    source="Güler 1991; Taylor, Hendrickx & Glineur 2017",
    statement=r"\|x_N - x_{N-1}\|^2 \le R^2/N^2",
    classes=alone([convex(), NEAR], ProximalPoint(step_size=ANY), rounds=[1, 2, 3]),
    right=lambda c: c.R**2 / c.T**2,
)(last_move)

bound(
    name="pepit/monotone-proximal-point",
    source="Gu & Yang 2020; PEPit: monotone inclusions, proximal_point",
    statement=r"\|x_N - x_{N-1}\|^2 \le (1 - 1/N)^{N-1} R^2/N",
    classes=alone([monotone(), NEAR], ProximalPoint(step_size=ANY), rounds=[2, 3, 4]),
    right=lambda c: (c.T - 1) ** (c.T - 1) / c.T**c.T * c.R**2,
)(last_move)

bound(
    name="pepit/monotone-resolvent-contracts",
    source="Rockafellar 1976",
    statement=r"\|x_1 - x^*\|^2 \le R^2/(1 + \eta\mu)^2",
    classes=alone([monotone(MU), NEAR], ProximalPoint(step_size=ANY), rounds=1),
    right=lambda c: c.R**2 / (1 + c.eta * c.mu) ** 2,
)(distance)


@algorithm(name="fast-resolvent", source="Kim 2021", statement=r"x_{k+1} = J(y_k)")
class FastResolvent(OneMachine):
    step_size: float = 1.0

    def step(self, ctx, oracles, state):
        w, m = oracles.prox(state.y, self.step_size), ctx.t / (ctx.t + 2)
        return state._replace(w=w, y=w + m * (w - state.w) - m * (state.w - state.z), z=state.y)


bound(
    name="pepit/monotone-accelerated-proximal-point",
    source="Kim 2021; PEPit: monotone inclusions, accelerated_proximal_point",
    statement=r"\|x_N - y_{N-1}\|^2 \le R^2/N^2",
    classes=alone([monotone(), NEAR], FastResolvent(step_size=ANY), rounds=[1, 2, 3, 4]),
    right=lambda c: c.R**2 / c.T**2,
)(residual)


@algorithm(name="os-ppm", source="Park & Ryu 2022", statement=r"x_{k+1} = J(y_k)")
class StronglyMonotoneResolvent(OneMachine):
    mu: float = 0.1

    def step(self, ctx, oracles, state):
        q = 1 + 2 * self.mu
        before, now, after = (sum(q ** (2 * i) for i in range(ctx.t + j)) for j in range(3))
        w = oracles.prox(state.y, 1)
        y = after * w + (now - 1) * (w - state.w) - 2 * self.mu * now * (state.y - w)
        y = (y + q * before * (state.z - state.w)) / after
        return state._replace(w=w, y=y, z=state.y)


bound(
    name="pepit/strongly-monotone-proximal-point",
    source="Park & Ryu 2022; PEPit: monotone inclusions, optimal_strongly_monotone_proximal_point",
    statement=r"\|y_{N-1} - x_N\|^2 \le R^2\Big(\frac{2\mu}{(1 + 2\mu)^N - 1}\Big)^2",
    classes=alone([monotone(MU), NEAR], StronglyMonotoneResolvent(mu=MU), rounds=[1, 2, 3]),
    right=lambda c: (2 * c.mu / ((1 + 2 * c.mu) ** c.T - 1)) ** 2 * c.R**2,
)(residual)


# -- a term, F = f + h

bound(
    name="pepit/proximal-gradient",
    source="Taylor, Hendrickx & Glineur 2018; PEPit: composite, proximal_gradient",
    statement=r"\|x_N - x^*\|^2 \le (1 - \eta\mu)^{2N}R^2,\quad F = f + h",
    classes=alone([STRONG, TERM, NEAR], ProximalGradient(step_size=CONTRACTING), rounds=[1, 2]),
    right=lambda c: (1 - c.eta * c.mu) ** (2 * c.T) * c.R**2,
)(distance)

bound(
    name="pepit/proximal-gradient-gap",
    source="Taylor, Hendrickx & Glineur 2017",
    statement=r"F(x_N) - F^* \le R^2/(4\eta N),\quad F = f + h",
    classes=alone([CONVEX, TERM, NEAR], ProximalGradient(step_size=SHORT), rounds=[1, 2, 3]),
    right=lambda c: c.R**2 / (4 * c.eta * c.T),
)(gap)

bound(
    name="pepit/accelerated-proximal-simplified",
    source="PEPit: composite, accelerated_proximal_gradient_simplified",
    statement=r"F(x_N) - F^* \le 2R^2/(\eta(N^2 + 5N + 2)),\quad F = f + h",
    classes=alone(
        [CONVEX, TERM, NEAR], ProximalGradient(step_size=SHORT, accelerated=True), rounds=[1, 2, 3]
    ),
    right=lambda c: 2 * c.R**2 / c.eta / (c.T**2 + 5 * c.T + 2),
)(gap)


def grown(k, t=1):
    """t_1 = 1, t_{j+1} = (1 + √(4t_j² + 1))/2; return t_k."""
    return t if k == 1 else grown(k - 1, (1 + sqrt(4 * t**2 + 1)) / 2)


@algorithm(name="fista", source="Beck & Teboulle 2009", statement=r"x_k = \mathrm{prox}(\ldots)")
class Fista(OneMachine):
    step_size: float = 1.0

    def step(self, ctx, oracles, state):
        moved = state.y - self.step_size * oracles.field_grad(state.y, None)
        w, k = oracles.prox(moved, self.step_size), ctx.t + 1
        return state._replace(w=w, y=w + float((grown(k) - 1) / grown(k + 1)) * (w - state.w))


bound(
    name="pepit/accelerated-proximal-gradient",
    source="Beck & Teboulle 2009, Theorem 4.4; PEPit: composite, accelerated_proximal_gradient",
    statement=r"F(x_4) - F^* \le \frac{LR^2}{2t_4^2},\quad t_{k+1} = (1 + \sqrt{1 + 4t_k^2})/2",
    classes=alone([smooth_convex(L=1), TERM, UNIT], Fista(), rounds=4),
    right=lambda c: c.L * c.R**2 / (2 * grown(4) ** 2),
)(gap)

bound(
    name="pepit/projected-gradient",
    source="Taylor, Hendrickx & Glineur 2018",
    statement=r"\|x_N - x^*\|^2 \le (1 - \eta\mu)^{2N}R^2,\quad x_{k+1} = P(x_k-\eta\nabla f(x_k))",
    classes=alone(
        [STRONG, plus(indicator()), NEAR], ProximalGradient(step_size=CONTRACTING), rounds=[1, 2]
    ),
    right=lambda c: (1 - c.eta * c.mu) ** (2 * c.T) * c.R**2,
)(distance)

bound(
    name="pepit/frank-wolfe",
    source="Jaggi 2013, Theorem 1; PEPit: composite, frank_wolfe",
    statement=r"F(x_N) - F^* \le \frac{2LD^2}{N+2}",
    classes=alone([smooth_convex(L=1), plus(indicator(D=1))], FrankWolfe(), rounds=[1, 4, 10]),
    right=lambda c: 2 * c.L * c.D**2 / (c.T + 2),
)(gap)


# -- splitting: two runs, from two points, come closer


@algorithm(
    name="two-douglas-rachford",
    source="Lions & Mercier 1979",
    statement=r"x = J_B(w_k),\; y = J_A(2x - w_k),\; w_{k+1} = w_k + y - x",
)
class TwoDouglasRachford(OneMachine):
    step_size: float = 1.0

    def anywhere(self, ctx, oracles, start, own):
        return self.init(ctx, oracles, start)._replace(z=own)

    def step(self, ctx, oracles, state):
        def moved(w):
            x = oracles.prox(w, self.step_size)
            return w + oracles.at(0).prox(2 * x - w, self.step_size) - x

        return state._replace(y=moved(state.y), z=moved(state.z))


bound(
    name="pepit/douglas-rachford-contracts",
    source="Giselsson & Boyd 2017, Theorem 2; PEPit: composite, douglas_rachford_..._contraction",
    statement=r"\|w_1 - w_1'\|^2 \le \|w_0 - w_0'\|^2/(1 + \eta\mu)^2",
    classes=alone([STRONG, TERM, APART], TwoDouglasRachford(step_size=SHORT), rounds=1),
    right=lambda c: c.R**2 / (1 + c.eta * c.mu) ** 2,
)(apart)

bound(
    name="pepit/douglas-rachford-contracts-long-steps",
    source="the same for longer steps",
    statement=r"\|w_1 - w_1'\|^2 \le \Big(\frac{\eta L}{1 + \eta L}\Big)^2 \|w_0 - w_0'\|^2",
    classes=alone(
        [STRONG, TERM, APART], TwoDouglasRachford(step_size=for_all("1/mu <= eta")), rounds=1
    ),
    right=lambda c: (c.eta * c.L / (1 + c.eta * c.L)) ** 2 * c.R**2,
)(apart)

bound(
    name="pepit/douglas-rachford-lipschitz",
    source="Ryu et al. 2020, Theorem 4.3; PEPit: monotone inclusions, douglas_rachford_splitting",
    statement=r"\|w_1 - w_1'\|^2 \le \frac{9}{16}\|w_0 - w_0'\|^2,\quad \eta L = 1,\ \eta\mu = 3",
    classes=alone(
        [monotone_lipschitz(L=1, mu=0), plus(monotone(mu=3)), APART],
        TwoDouglasRachford(step_size=1.0),
        rounds=1,
    ),
    right=lambda c: Rational(9, 16) * c.R**2,
)(apart)

bound(
    name="pepit/douglas-rachford-cocoercive",
    source="Ryu et al. 2020, Theorem 4.1; PEPit: monotone inclusions, ..._splitting_2",
    statement=r"\|w_1 - w_1'\|^2 \le \|w_0 - w_0'\|^2/(1 + \mu)^2",
    classes=alone(
        [
            cocoercive(L=for_all("0 < L <= (1 - mu)/(mu*(1 + mu))")),
            plus(monotone(mu=for_all("0 < mu < 1"))),
            APART,
        ],
        TwoDouglasRachford(step_size=1.0),
        rounds=1,
    ),
    right=lambda c: c.R**2 / (1 + c.mu) ** 2,
)(apart)


@algorithm(name="douglas-rachford", source="Lions & Mercier 1979", statement=r"as above, by values")
class DouglasRachford(OneMachine):
    step_size: float = 1.0

    def init(self, ctx, oracles, start):  # z is w, and y is x: the point x_0 of f is the start
        x = ctx.everywhere(start)
        w = x + self.step_size * oracles.at(0).field_grad(x, None)
        return Held(x, x, w, x, x)

    def step(self, ctx, oracles, state):
        y = oracles.prox(2 * state.y - state.z, self.step_size)
        z = state.z + y - state.y
        return state._replace(w=y, y=oracles.at(0).prox(z, self.step_size), z=z)


bound(
    name="pepit/douglas-rachford-first",
    source="PEPit: composite, douglas_rachford_splitting at N = 1, where it has 1/4",
    statement=r"F(y_1) - F^* \le \frac{1}{4\eta}\|x_0 - x^*\|^2",
    classes=alone([CONVEX, TERM, NEAR], DouglasRachford(step_size=SHORT), rounds=1),
    right=lambda c: c.R**2 / (4 * c.eta),
)(gap)

bound(
    name="pepit/douglas-rachford",
    source="Taylor et al. 2017, to four digits; PEPit: composite, douglas_rachford_splitting",
    statement=r"F(y_9) - F^* \le 0.0278 \|x_0 - x^*\|^2",
    classes=alone([smooth_convex(L=1), TERM, UNIT], DouglasRachford(), rounds=9),
    right=lambda c: Rational("0.0278") * c.R**2,
)(gap)


@algorithm(
    name="accelerated-douglas-rachford",
    source="Patrinos, Stella & Bemporad 2014, section 4",
    statement=r"x_k = \mathrm{prox}_f(u_k),\; y_k = \mathrm{prox}_h(2x_k - u_k),\;"
    r" w_{k+1} = u_k + \theta(y_k - x_k),\; u_{k+1} = w_{k+1} + \tfrac{k-1}{k+2}(w_{k+1} - w_k)",
)
class AcceleratedDouglasRachford(OneMachine):
    step_size: float = 0.5
    L: float = 1.0

    def step(self, ctx, oracles, state):  # y is u_k, and z is w_k
        theta = (1 - self.step_size * self.L) / (1 + self.step_size * self.L)
        x = oracles.at(0).prox(state.y, self.step_size)
        y = oracles.prox(2 * x - state.y, self.step_size)
        z = state.y + theta * (y - x)
        m = max(ctx.t - 1, 0) / (ctx.t + 2)
        return state._replace(w=y, y=z + m * (z - state.z), z=z)


bound(
    name="pepit/accelerated-douglas-rachford",
    source="ours; PEPit: composite, accelerated_douglas_rachford_splitting, has one for quadratics",
    statement=r"F(y_N) - F^* \le \frac{2\|w_0 - w^*\|^2}{\eta(\theta(N^2 + 3N - 2) + 8)}"
    r",\quad \theta = \frac{1 - \eta L}{1 + \eta L},\ x^* = \mathrm{prox}_f(w^*)",
    classes=alone(  # f and h have a linear part moved, so that x* is least for both, and w* = x*
        [CONVEX, TERM, shared_minimiser(), NEAR],
        AcceleratedDouglasRachford(step_size=for_all("0 < eta < 1/L"), L=L),
        rounds=[2, 3, 4],
    ),
    right=lambda c: (
        2 * c.R**2 / c.eta / ((1 - c.eta * c.L) / (1 + c.eta * c.L) * (c.T**2 + 3 * c.T - 2) + 8)
    ),
)(gap)


# -- inexact steps: the errors e are the worst of those that are small enough


@algorithm(
    name="inexact-proximal-point",
    source="Rockafellar 1976; Barré, Taylor & Bach 2023",
    statement=r"x_{k+1} = \mathrm{prox}_{\eta f}(x_k + e_k),\; \|e_k\| \le \sigma\|x_{k+1} - x_k\|",
)
class InexactProximalPoint(OneMachine):
    step_size: float = 1.0
    accuracy: float = 0.5

    def step(self, ctx, oracles, state):
        e = oracles.error(state.w)
        w = oracles.prox(state.w + e, self.step_size)
        oracles.bound_error(e, self.accuracy * (w - state.w))
        return state._replace(w=w)


bound(
    name="pepit/relatively-inexact-proximal-point-first",
    source="PEPit: inexact, relatively_inexact_proximal_point_algorithm at N = 1",
    statement=r"f(x_1) - f^* \le \frac{(1 + \sigma)R^2}{4\eta}",
    classes=alone(
        [convex(), NEAR],
        InexactProximalPoint(step_size=ANY, accuracy=for_all("0 < sigma < 1")),
        rounds=1,
    ),
    right=lambda c: (1 + c.sigma) * c.R**2 / (4 * c.eta),
)(gap)

bound(
    name="pepit/relatively-inexact-proximal-point",
    source="Barré, Taylor & Bach 2023, section 3.5.1; PEPit: inexact, relatively_inexact_...",
    statement=r"f(x_N) - f^* \le \frac{(1 + \sigma)R^2}{4\eta N^{\sqrt{1 - \sigma^2}}}",
    classes=alone([convex(), UNIT], InexactProximalPoint(step_size=10.0, accuracy=0.65), rounds=8),
    right=lambda c: (1 + c.sigma) * c.R**2 / (4 * c.eta * c.T ** sqrt(1 - c.sigma**2)),
)(gap)


@algorithm(
    name="inexact-douglas-rachford",
    source="Eckstein & Yao 2018; Barré, Taylor & Bach 2023",
    statement=r"x = \mathrm{prox}_f(z_k + e_k),\; y = \mathrm{prox}_h(2x - z_k - e_k),\;"
    r" z_{k+1} = z_k + y - x,\; \|e_k\| \le \sigma\|y - x + e_k\|",
)
class InexactDouglasRachford(OneMachine):
    step_size: float = 1.0
    accuracy: float = 0.5

    def step(self, ctx, oracles, state):
        e = oracles.error(state.w)
        x = oracles.at(0).prox(state.w + e, self.step_size)
        y = oracles.prox(2 * x - state.w - e, self.step_size)
        oracles.bound_error(e, self.accuracy * (y - x + e))
        return state._replace(w=state.w + y - x)


bound(
    name="pepit/partially-inexact-douglas-rachford",
    source="Barré, Taylor & Bach 2023, Theorem 5.1; PEPit: inexact, partially_inexact_...",
    statement=r"\|z_1 - z^*\|^2 \le"
    r" \Big(\frac{1 - \sigma + \eta\mu\sigma}{1 - \sigma + \eta\mu}\Big)^2R^2",
    classes=alone(  # z* = x*, as above
        [STRONG, TERM, shared_minimiser(), NEAR],
        InexactDouglasRachford(step_size=SHORT, accuracy=sweep(0.2, 0.5)),
        rounds=1,
    ),
    right=lambda c: (
        ((1 - c.sigma + c.eta * c.mu * c.sigma) / (1 - c.sigma + c.eta * c.mu) * c.R) ** 2
    ),
)(distance)


# -- two sets


def seen(oracles, state, x):
    """Return a state at x with its projections."""
    return state._replace(w=x, y=oracles.at(0).prox(x, 1), z=oracles.at(1).prox(x, 1))


@algorithm(name="averaged-projections", source="Auslender 1969", statement=r"x \to (P_1x + P_2x)/2")
class AveragedProjections(OneMachine):
    def init(self, ctx, oracles, start):
        state = super().init(ctx, oracles, start)
        return seen(oracles, state, state.w)

    def step(self, ctx, oracles, state):
        return seen(oracles, state, (state.y + state.z) / 2)


bound(
    name="pepit/averaged-projections",
    source="two lines are the worst sets; PEPit: low dimensional, averaged_projections",
    statement=r"\|P_1x_N - P_2x_N\|^2 \le \frac{2}{N+1}\Big(\frac{2N+1}{2N+2}\Big)^{2N+1}R^2",
    classes=over([indicator(), NEAR], AveragedProjections(), rounds=[1, 2, 3], clients=2),
    right=lambda c: 2 / (c.T + 1) * ((2 * c.T + 1) / (2 * c.T + 2)) ** (2 * c.T + 1) * c.R**2,
)(apart)


@algorithm(name="alternate-projections", source="von Neumann 1949", statement=r"x \to P_2P_1x")
class AlternateProjections(OneMachine):
    def init(self, ctx, oracles, start):
        x = ctx.everywhere(start)
        return Held(x, oracles.at(0).prox(x, 1), x, x, x)

    def step(self, ctx, oracles, state):
        x = oracles.at(1).prox(state.y, 1)
        return state._replace(w=x, y=oracles.at(0).prox(x, 1), z=x)


bound(
    name="pepit/alternate-projections",
    source="two lines are the worst sets; PEPit: low dimensional, alternate_projections",
    statement=r"\|P_1x_N - x_N\|^2 \le \frac{1}{2N}\Big(\frac{2N-1}{2N}\Big)^{2N-1}R^2",
    classes=over([indicator(), NEAR], AlternateProjections(), rounds=[1, 2, 3], clients=2),
    right=lambda c: ((2 * c.T - 1) / (2 * c.T)) ** (2 * c.T - 1) / (2 * c.T) * c.R**2,
)(apart)


@algorithm(name="dykstra", source="Boyle & Dykstra 1986", statement=r"y = P_1(x + p),\ldots")
class Dykstra(OneMachine):
    def step(self, ctx, oracles, state):
        y = oracles.at(0).prox(state.w + state.p, 1)
        x = oracles.at(1).prox(y + state.q, 1)
        p, q, last = state.w + state.p - y, y + state.q - x, ctx.t + 1 == ctx.horizon
        return Held(x, oracles.at(0).prox(x, 1) if last else y, x, p, q)


bound(
    name="pepit/dykstra",
    source="the value that PEPit prints: low dimensional, dykstra",
    statement=r"\|P_1x_{10} - x_{10}\|^2 \le 0.0257565 R^2",
    classes=over([indicator(), UNIT], Dykstra(), rounds=10, clients=2),
    right=lambda c: Rational("0.0257565") * c.R**2,
)(apart)


# -- variational inequalities: an operator and a set


@algorithm(
    name="past-extragradient",
    source="Popov 1980",
    statement=r"y_k = P(x_k - \eta Ay_{k-1}),\; x_{k+1} = P(x_k - \eta Ay_k)",
)
class PastExtragradient(OneMachine):
    step_size: float = 0.25

    def step(self, ctx, oracles, state):
        y = oracles.project(state.w - self.step_size * oracles.field_grad(state.y, None))
        w = oracles.project(state.w - self.step_size * oracles.field_grad(y, None))
        return state._replace(w=w, y=y)


bound(
    name="pepit/past-extragradient",
    source="the value that PEPit computes: monotone inclusions, past_extragradient",
    statement=r"\|x_2 - x_1\|^2 \le 0.280379 R^2,\quad \eta L = 1/4",
    classes=alone(
        [monotone_lipschitz(L=1, mu=0), plus(indicator()), UNIT], PastExtragradient(), rounds=2
    ),
    right=lambda c: Rational("0.280379") * c.R**2,
)(last_move)


@algorithm(
    name="optimistic-gradient",
    source="Daskalakis et al. 2018; Hsieh et al. 2019",
    statement=r"y_k = P(x_k - \eta Ay_{k-1}),\; x_{k+1} = y_k + \eta(Ay_{k-1} - Ay_k)",
)
class OptimisticGradient(OneMachine):
    step_size: float = 0.25

    def step(self, ctx, oracles, state):  # w is y_k, and y is x_k
        past = oracles.field_grad(state.w, None)
        w = oracles.project(state.y - self.step_size * past)
        return state._replace(w=w, y=w + self.step_size * (past - oracles.field_grad(w, None)))


bound(
    name="pepit/optimistic-gradient",
    source="PEPit: monotone inclusions, optimistic_gradient, and _refined, where it prints 1.0625",
    statement=r"\|y_1 - y_0\|^2 \le (1 + \eta^2L^2)R^2",
    classes=alone(
        [monotone_lipschitz(L, mu=0), plus(indicator()), NEAR],
        OptimisticGradient(step_size=SHORT),
        rounds=1,
    ),
    right=lambda c: (1 + c.eta**2 * c.L**2) * c.R**2,
)(last_move)


# -- losses that change


@algorithm(
    name="online-gradient",
    source="Zinkevich 2003, greedy projection, with a constant step",
    statement=r"x_{t+1} = P(x_t - \eta\nabla f_t(x_t))",
)
class OnlineGradient(OneMachine):
    step_size: float = 0.1

    def step(self, ctx, oracles, state):
        g = oracles.at(ctx.t).field_grad(state.w, None)
        return state._replace(w=oracles.project(state.w - self.step_size * g))


bound(
    name="pepit/online-gradient-descent",
    source="Zinkevich 2003; PEPit: online learning, online_gradient_descent",
    statement=r"\frac1T\sum_t f_t(x_t) - \min_{z\in C}\frac1T\sum_t f_t(z)"
    r" \le \frac{D^2}{2T\eta} + \frac{\eta G^2}2",
    classes=losses(OnlineGradient(step_size=ANY), (1, 2, 3)),
    right=lambda c: c.D**2 / (2 * c.T * c.eta) + c.eta * c.G**2 / 2,
    letters={"G": "field_gradient_bound", "D": "diameter"},
)(regret)


@algorithm(
    name="regularised-leader",
    source="Shalev-Shwartz & Singer 2006; Hazan 2016, section 5",
    statement=r"x_{t+1} = \arg\min_{x\in C} \sum_{s\le t} f_s(x) + \frac{\|x - x_1\|^2}{2\eta}",
)
class RegularisedLeader(OneMachine):
    step_size: float = 1.0

    def step(self, ctx, oracles, state):
        if ctx.t + 1 == ctx.horizon:  # nothing is played after the last loss
            return state
        played = range(ctx.t + 1)
        return state._replace(w=oracles.prox(state.y, self.step_size, losses=played, term=True))


bound(
    name="pepit/follow-the-regularised-leader",
    source="Hazan 2016, Theorem 5.2; PEPit: online learning, online_follow_regularized_leader",
    statement=r"\frac1T\sum_t f_t(x_t) - \min_{z\in C}\frac1T\sum_t f_t(z)"
    r" \le \frac{D^2}{2T\eta} + \frac{\eta G^2}2",
    classes=losses(RegularisedLeader(step_size=ANY), (1, 2, 3)),
    right=lambda c: c.D**2 / (2 * c.T * c.eta) + c.eta * c.G**2 / 2,
)(regret)


@algorithm(
    name="leader",
    source="Hannan 1957",
    statement=r"x_{t+1} \in \arg\min_{x\in C} \sum_{s\le t} f_s(x)",
)
class Leader(OneMachine):
    def step(self, ctx, oracles, state):
        played = range(ctx.t + 1)
        return state._replace(w=oracles.linear_minimiser(0 * state.w, losses=played))


bound(
    name="pepit/follow-the-leader",
    source="the value that PEPit prints: online learning, online_follow_leader",
    statement=r"\frac1T\sum_t f_t(x_t) - \min_{z\in C}\frac1T\sum_t f_t(z)"
    r" \le \frac{0.933013}{T},\quad T = 2",
    classes=losses(Leader(), [2], [bounded_gradients(convex(), G=1), plus(indicator(D=0.5))]),
    right=lambda c: Rational("0.933013") / c.T,
)(regret)


@algorithm(
    name="online-frank-wolfe",
    source="Hazan 2016, Algorithm 27; Weibel et al. 2025",
    statement=r"v_t \in \arg\min_{v\in C}\langle x_t - x_1 + \eta\textstyle\sum_{s\le t} g_s, v"
    r"\rangle,\; x_{t+1} = (1 - \sigma)x_t + \sigma v_t",
)
class OnlineFrankWolfe(OneMachine):
    step_size: float = 2**-2.5
    share: float = 0.5

    def step(self, ctx, oracles, state):
        p = state.p + oracles.at(ctx.t).field_grad(state.w, None)
        v = oracles.linear_minimiser(state.w - state.z + self.step_size * p)
        return state._replace(w=(1 - self.share) * state.w + self.share * v, p=p)


bound(
    name="pepit/online-frank-wolfe",
    source="Weibel et al. 2025, Theorem 2.1; PEPit: online learning, online_frank_wolfe",
    statement=r"\frac1T\sum_t f_t(x_t) - \min_{z\in C}\frac1T\sum_t f_t(z)"
    r" \le \frac{4GD}{(3^3T)^{1/4}},\quad \eta = \frac{D}{2G}(3/T)^{3/4},\ \sigma = \sqrt{3/T}",
    classes=losses(OnlineFrankWolfe(), [12], [bounded_gradients(convex(), 1), plus(indicator(1))]),
    right=lambda c: 4 * c.G * c.D / (27 * c.T) ** Rational(1, 4),
)(regret)
