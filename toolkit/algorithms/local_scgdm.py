r"""Local-SCGDM: momentum on a compositional gradient, everything averaged every p steps."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from torch import Tensor

from driftproof.toolkit.algorithm import Context, algorithm
from driftproof.toolkit.algorithms._samples import Samples, outer_draw
from driftproof.toolkit.algorithms._tasks import LETTERS, TaskSampling
from driftproof.toolkit.around import Around, Radii
from driftproof.toolkit.oracles import Composition
from driftproof.toolkit.parameters import Positive, PositiveInt

AVERAGED = ("u", "m", "x")
Averaged: TypeAlias = Literal["", "u", "m", "um", "x", "ux", "mx", "umx"]


class State(NamedTuple):
    """Model, inner estimate and momentum, [clients, …, replicates] each (u and m: 0 at t = 0)."""

    x: Tensor
    u: Tensor
    m: Tensor


@algorithm(
    name="local-scgdm",
    source="Local-SCGDM (2022), Algorithm 1",
    statement=r"u_{t+1} = (1-\gamma\eta)u_t + \gamma\eta\, g(x_t;\cdot),\quad "
    r"z_t = \nabla g(x_t;\cdot)^{\top}\nabla f(u_{t+1};\cdot),\quad "
    r"m_{t+1} = (1-\alpha\eta)m_t + \alpha\eta z_t,\quad x_{t+1} = x_t - \beta\eta m_{t+1}",
)
class LocalSCGDM(TaskSampling):
    r"""Local stochastic compositional gradient descent with momentum, Algorithm 1 of Local-SCGDM.

    At t = 0 u_1 = g(x_0;·) and m_1 = z_0. When mod(t + 1, p) = 0, u, m and x are averaged.

    One step of size 0.1 at x = ¼: (2g_1 − g_2)/2 = ⅛ for g_1 = 2x and g_2 = 1 − x, f'(y) = y; u
    is shared after it:

    >>> from driftproof.synthetic.problems import BiasAmplification
    >>> from driftproof.toolkit.federation import numbers_after
    >>> numbers_after(BiasAmplification(), LocalSCGDM(local_steps=1, step_size=0.1), "x", "u")
    [0.2375, 0.625]

    Args:
        local_steps: p.
        step_size: η.
        momentum: α, with αη < 1.
        inner_momentum: γ, with γη < 1.
        step_factor: β.
        samples: the print draws one sample ζ_t for g, ∇g and ∇f ("one"); the proofs draw ξ_t for
            g and ∇g and, independently, ζ_t for ∇f ("two").
        averaged: which of "u", "m" and "x" are averaged, as one word; the print averages all.
        task_blocks, sampled_tasks: each client's tasks, and how many of them take part in a step
            (``toolkit.algorithms._tasks``); section 5.1 has 5 and 3, and "a separate inner state
            u_i for each task i". u_1 = g(x_0;·) covers all tasks, so that none is without a value
            when it is first sampled. The average of u is over the clients' i-th tasks: where every
            client has tasks of its own, ``averaged`` says whether that is wanted.
    """

    local_steps: PositiveInt = 2
    step_size: Positive = 0.1
    momentum: Positive = 1.0
    inner_momentum: Positive = 1.0
    step_factor: Positive = 1.0
    samples: Samples = "two"
    averaged: Averaged = "umx"

    notation = LETTERS | {"alpha": "momentum", "gamma": "inner_momentum", "beta": "step_factor"}

    def validate(self) -> None:
        """Refuse weights of more than 1, and more tasks than there are."""
        super().validate()
        self.require("momentum", "with αη < 1", self.momentum * self.step_size < 1)
        self.require("inner_momentum", "with γη < 1", self.inner_momentum * self.step_size < 1)

    @classmethod
    def examples(cls) -> list[LocalSCGDM]:
        """Return a member for each reading of the sample, for averaging less, and for tasks."""
        return [
            cls(local_steps=3, momentum=4.0, inner_momentum=6.0),
            cls(local_steps=2, samples="one"),
            cls(local_steps=2, averaged="x"),
            cls(local_steps=2, averaged="mx", task_blocks=2, sampled_tasks=1),
        ]

    def init(self, ctx: Context, oracles: Composition, start: Tensor) -> State:
        """Every client starts at the same point; u_0 and m_0 are never used."""
        x = ctx.everywhere(start)
        y, _ = oracles.inner(x, ctx.draw(oracles.inner_law(1), "xi"))  # step 0's: for its shape
        return State(x, y.new_zeros(y.shape), x.new_zeros(x.shape))

    def radii(self, around: Around) -> Radii:
        """Each z is at most C_gC_f (times n/|S|, of sampled tasks), and m is a mean of such z."""
        largest = around.largest * self.inflation
        x, kept = around.start, self.momentum * self.step_size
        m = 0.0
        while True:
            yield {"x": x, "m": m, "z": largest}
            m = largest if m == 0 else abs(1 - kept) * m + kept * largest
            x += self.step_factor * self.step_size * m

    def step(self, ctx: Context, oracles: Composition, state: State) -> State:
        """Lines 2–16."""
        xi = ctx.draw(oracles.inner_law(1), "xi")
        zeta = outer_draw(ctx, oracles, self.samples, xi, 1)
        value, pullback = oracles.inner(state.x, xi)
        inner, outer = self.inner_momentum * self.step_size, self.momentum * self.step_size
        sampled = self.taking_part(ctx, value)
        u = (
            value
            if ctx.t == 0
            else self.moved(state.u, (1 - inner) * state.u + inner * value, sampled)
        )
        z = pullback(self.of_sampled(oracles.outer_grad(u, zeta), sampled))
        m = z if ctx.t == 0 else (1 - outer) * state.m + outer * z
        x = state.x - self.step_factor * self.step_size * m
        for name, quantity in (("u", u), ("m", m), ("x", x), ("z", z)):
            ctx.mark(name, quantity)
        if (ctx.t + 1) % self.local_steps == 0 and self.averaged:
            fields = {"u": u, "m": m, "x": x}
            sent = [name for name in AVERAGED if name in self.averaged]
            fields |= zip(sent, ctx.average(*(fields[name] for name in sent)), strict=True)
            u, m, x = fields["u"], fields["m"], fields["x"]
        return State(x, u, m)
