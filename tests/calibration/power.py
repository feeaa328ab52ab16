"""How much it takes to judge without a range: ``python -m tests.calibration.power``.

It prints, of one theorem of each kind, the upper end and the root mean square that are derived of a
replicate, in units of the measured mean, and for right sides that are so many times that mean the
verdict, the replicates and the seconds, with the full profile. The last method is one that a user
might write: local descent ascent with momentum on the server, once with radii of its own and once
without.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from torch import Tensor

from driftproof.synthetic.problems import (
    BoundedComposition,
    PiecewiseLosses,
    QuadraticBilevel,
    QuadraticMinimax,
)
from driftproof.toolkit.algorithm import Algorithm, algorithm, descended
from driftproof.toolkit.algorithms import ComFedL, FedAvg, FedNest, HeavyBall, LocalSCGDM, Scaffold
from driftproof.toolkit.cases import Case
from driftproof.toolkit.measure import States, average, sq
from driftproof.toolkit.parameters import Positive, PositiveInt
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.judges.bounds import ends, measure_block
from driftproof.verifiers.verify import Settings, judge

TIMES = (10.0, 2.0, 1.25, 0.8, 0.5)
"""Right sides, in units of the mean."""


class State(NamedTuple):
    """Each client's point, the server's and its last move, [clients, dim, replicates]."""

    w: Tensor
    x: Tensor
    m: Tensor


class Momentum(Algorithm):
    """Local SGDA; the server moves by the clients' mean move and a share of its own last one."""

    local_steps: PositiveInt = 10
    step_size: Positive = 0.2
    momentum: Positive = 0.2

    notation = {"eta": "step_size", "b": "momentum", "sigma": "field_gradient_noise"}

    def init(self, ctx, oracles, start):
        """Begin at rest."""
        x = ctx.everywhere(start)
        return State(x, x, 0 * x)

    def step(self, ctx, oracles, state):
        """A local step; the last of a round is followed by the server's."""
        xi = ctx.draw(oracles.field_law(1), "xi")
        w = descended(state.w, oracles.field_grad(state.w, xi), self.step_size)
        if (ctx.t + 1) % self.local_steps:
            return state._replace(w=w)
        (mean,) = ctx.average(w)
        m = self.momentum * state.m + (mean - state.x)
        x = state.x + m
        return State(x, x, m)


@algorithm(name="own-momentum", source="power of the judges", statement="x + m")
class WithoutRadii(Momentum):
    """Nothing is known of how far it goes."""


@algorithm(name="own-momentum-radii", source="power of the judges", statement="x + m")
class WithRadii(Momentum):
    """A round takes the server to mean w + βm, and m is how far it moves."""

    in_mean = True

    def init(self, ctx, oracles, start):
        """Begin at rest."""
        return super().init(ctx, oracles, start)

    def step(self, ctx, oracles, state):
        """As before: radii are proven of the class that has the step."""
        return super().step(ctx, oracles, state)

    def radii(self, around):
        """‖x⁺ − z‖ ≤ max_i ‖w_i − z‖ + β‖m‖, and ‖m⁺‖ ≤ ‖x⁺ − z‖ + ‖x − z‖."""
        w = x = around.start
        m, t = 0.0, 0
        while True:
            yield {"w": w, "m": m}
            w, t = around.stepped(w, self.step_size), t + 1
            if t % self.local_steps == 0:
                after = w + self.momentum * m
                w, x, m = after, after, after + x


def squared_gradient(view: States):
    """Measure (1/S) Σ ‖∇F‖² at the mean."""
    return average("round", sq(view.gradient(view.mean("w"))))


def at_the_mean_x(view: States):
    """Measure the same of a method whose model is x."""
    return average("round", sq(view.gradient(view.mean("x"))))


def from_the_minimiser(view: States):
    """Measure (1/S) Σ ‖w̄ − x*‖²."""
    return average("round", sq(view.mean("w") - view.minimiser))


def of_the_server(view: States):
    """Measure (1/S) Σ ‖x − x*‖² of SCAFFOLD, whose model is y."""
    return average("round", sq(view.mean("y") - view.minimiser))


def from_the_response(view: States):
    """Measure (1/K) Σ ‖ȳ − y*(x̄)‖² on two levels."""
    return average("round", sq(view.mean("y") - view.problem.lower_solution(view.mean("x"))))


def gap(view: States):
    """Measure (1/S) Σ Φ(x̄) − inf Φ."""
    return average("round", view.gap(view.mean("w")))


NEAR, FAR = ((0.0, -1.0), (1.0, 0.0)), ((0.0, -3.0), (1.0, -2.0))
CONVEX = PiecewiseLosses(gradients=((NEAR,), (FAR,)), tails="linear", noise=1.0)
COMPOSED = BoundedComposition(
    clients=4, inner_value_noise=0.3, inner_gradient_noise=0.3, outer_gradient_noise=0.3
)
SADDLE = QuadraticMinimax(gradient_noise=1.0, regulariser=0.5)
TWO_LEVELS = QuadraticBilevel(
    hessian_heterogeneity=0.2,
    upper_slope=0.7,
    slope=0.1,
    target_heterogeneity=0.4,
    tilt=0.1,
    upper_noise=0.1,
    lower_value_noise=0.2,
    lower_curvature_noise=0.1,
    cross_noise=0.1,
)
POWER = {
    "local SGD, strongly convex: ‖w̄ − x*‖²": (
        from_the_minimiser,
        Case(CONVEX, FedAvg(local_steps=5, step_size=0.1), 100),
    ),
    "heavy ball, strongly convex: ‖w − x*‖²": (
        from_the_minimiser,
        Case(CONVEX, HeavyBall(step_size=0.1, momentum=0.5), 100),
    ),
    "SCAFFOLD, strongly convex: ‖x − x*‖²": (
        of_the_server,
        Case(CONVEX, Scaffold(local_steps=5, step_size=0.03), 100),
    ),
    "ComFedL, Theorem 1: ‖∇F(w̄)‖²": (
        squared_gradient,
        Case(COMPOSED, ComFedL(local_steps=5, step_size=0.05), 60),
    ),
    "Local-SCGDM, Theorem 3.4: ‖∇F(x̄)‖²": (
        at_the_mean_x,
        Case(COMPOSED, LocalSCGDM(local_steps=4, step_size=0.1), 100),
    ),
    "FedNest, ℓ_{f,0} known: ‖∇F(x̄)‖²": (
        at_the_mean_x,
        Case(TWO_LEVELS, FedNest(inner_steps=3, outer_step_size=0.05, terms=3), 60),
    ),
    "FedNest, 20 rounds: ‖ȳ − y*(x̄)‖²": (
        from_the_response,
        Case(TWO_LEVELS, FedNest(inner_step_size=0.5, outer_step_size=0.02), 20),
    ),
    "local SGDA, unbounded: Φ(x̄) − Φ*": (gap, Case(SADDLE, FedAvg(local_steps=5), 60)),
    "the same, momentum on the server, radii": (gap, Case(SADDLE, WithRadii(), 30)),
    "the same, without radii": (gap, Case(SADDLE, WithoutRadii(), 30)),
}


def rows(left, case, times=TIMES, profile="full"):
    """Yield times, row and seconds, of right sides that are so many times the mean."""
    whole = bound(
        name="own/power",
        source="–",
        statement="x",
        cases=[case],
        right=lambda c: 1 + 0 * c.sigma,
        letters={"sigma": "clients"},
    )(left)
    blocks = [measure_block(whole, case, 1, number).values for number in range(16)]
    mean = float(np.mean(blocks))
    yield ends(whole, case, whole.forms[0]), mean
    for factor in times:
        made = bound(
            name="own/power",
            source="–",
            statement="x",
            cases=[case],
            right=lambda c, right=factor * mean: right + 0 * c.sigma,
            letters={"sigma": "clients"},
        )(left)
        since = time.perf_counter()
        (row,) = judge([made], Settings(profile=profile))
        yield factor, row, time.perf_counter() - since


if __name__ == "__main__":
    heads = " | ".join(f"{factor:g} × the mean" for factor in TIMES)
    print(f"| theorem | upper end | root mean square | {heads} |")
    print(f"|---|---|---|{'---|' * len(TIMES)}")
    for name, (left, case) in POWER.items():
        (known, mean), *judged = rows(left, case)
        cells = [f"{row.verdict}, {row.replicates} ({took:.1f} s)" for _, row, took in judged]
        cells[:0] = [f"{end.max() / mean:.3g}" for end in (known.high, known.root)]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
