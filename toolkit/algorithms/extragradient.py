r"""The extragradient method, for operators and saddle points, on one machine."""

from __future__ import annotations

from math import sqrt
from typing import Self

from driftproof.toolkit.algorithm import Context, algorithm
from driftproof.toolkit.algorithms._one_model import OneModel, State
from driftproof.toolkit.around import Around, Radii
from driftproof.toolkit.oracles import GradientField
from driftproof.toolkit.parameters import One, Positive, PositiveInt


@algorithm(
    name="extragradient",
    source="Korpelevich 1976",
    statement=r"z_{k+1/2} = z_k - \eta A(z_k),\; z_{k+1} = z_k - \eta A(z_{k+1/2})",
)
class Extragradient(OneModel):
    r"""Each step goes along the operator at a point that a first step finds.

    On A = (x/10 − y, y − 1 + x) from (2, 0): the first step leads to (1.98, −0.1), where A is
    (0.298, 0.88).

    >>> from driftproof.synthetic.problems import QuadraticMinimax
    >>> from driftproof.toolkit.federation import numbers_after
    >>> numbers_after(QuadraticMinimax(dim=1, distance=2.0), Extragradient(), "w")
    [1.9702, -0.088]

    Args:
        step_size: η.
        batch: samples of each of the two.
    """

    local_steps: One = 1
    step_size: Positive = 0.1
    batch: PositiveInt = 1

    notation = {"eta": "step_size", "n": "clients", "T": "rounds", "L": "field_smoothness"}
    in_mean = True

    @classmethod
    def examples(cls) -> list[Self]:
        """Return members with one sample and with two."""
        return [cls(), cls(batch=2)]

    def radii(self, around: Around) -> Radii:
        r"""Bound the step by its length; a short one by Korpelevich's inequality.

        Let A be m-monotone, A(z) = 0, b = w − ηA(w) and w⁺ = w − ηA(b). Expand the square:
        ‖w⁺ − z‖² ≤ ‖w − z‖² − (1 − η²ℓ²)‖w − b‖² − 2ηm‖b − z‖², where 2‖b − z‖² is no less than
        ‖w − z‖² − 2‖w − b‖². So ‖w⁺ − z‖² ≤ (1 − ηm)‖w − z‖² if η²ℓ² + 2ηm ≤ 1. A field that is
        A to within δ moves b by ηδ and w⁺ by ηδ(1 + ηℓ) at most. Here A = G − G(z), δ = ‖G(z)‖ + ρ.
        """
        shared, eta, w = around.shared, self.step_size, around.start
        step = eta * shared.smoothness
        known = [m for m in (shared.convexity, shared.monotonicity) if m is not None]
        short = bool(known) and step**2 + 2 * eta * max(known) <= 1
        while True:
            yield {"w": w}
            after = w + eta * shared.longest(shared.stepped(w, eta))
            if short:
                error = eta * (1 + step) * (shared.slope + shared.noise)
                after = min(after, sqrt(1 - eta * max(known)) * w + error)
            w = after

    def step(self, ctx: Context, oracles: GradientField, state: State) -> State:
        """Two steps from one point, each along the mean over the clients."""
        law = oracles.field_law(self.batch)
        (first,) = ctx.average(oracles.field_grad(state.w, ctx.draw(law, "xi")))
        between = state.w - self.step_size * first
        (second,) = ctx.average(oracles.field_grad(between, ctx.draw(law, "zeta")))
        return State(state.w - self.step_size * second)
