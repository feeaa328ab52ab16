r"""FedNest as its authors' code has it (ucr-optml/FedNest, core/ClientManage.py, core/Client.py).

**All images.** The gradient that FedSVRG shares and everything at the upper level are means over
all of a client's images; the slides write them with a sample, as the toolkit's FedNest draws them.

**The series** of the upper level (``fed_out``, ``hvp_method`` "global_batch"; one cohort S for
everything) differs from the slides' in what it takes for p:

* p_0 = (1/|S|) Σ ∇_y f_i, not multiplied by a step;
* every client has a counter c_{i,0} = p_0, c_{i,n} = c_{i,n−1} − η∇²_yy g_i c_{i,n−1} of its own
  (``hvp_iter`` keeps it in the client and never takes the server's average up again), so that the
  matrices of different clients are never multiplied with each other;
* the list of answers is not emptied between terms, so that the average after term n is over n|S|
  answers: p_n = (1/n) Σ_{j≤n} (p_{j−1} + c̄_j) = p_{n−1} + c̄_n/n.

In sum p = p_0 + Σ_{n=1}^N (1/n)(1/|S|) Σ_i (I − η∇²_yy g_i)^n p_0. LFedNest (``lfed_out``) has
p_i = Σ_{n=0}^N (I − η∇²_yy g_i)^n ∇_y f_i. The direct part ∇_x f is left out (it is 0 here; asked
for, it raises an error that is caught), so all local steps of FedOut are alike.
"""

from dataclasses import dataclass
from typing import Any

from driftproof.toolkit.algorithm import Collective, Context
from driftproof.toolkit.algorithms._nested import Nested, State, fed_inn
from driftproof.toolkit.algorithms.fednest import FedNest
from driftproof.toolkit.draws import Law
from driftproof.toolkit.oracles import Bilevel


class AllShared:
    """A context that draws nothing for the gradient that FedSVRG shares: it is of all images."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ctx, name)

    def draw(self, law: Law | None, name: str) -> Any:
        """Draw, except the shared gradient's minibatch."""
        return None if name == "zeta-shared" else self._ctx.draw(law, name)


@dataclass(frozen=True, kw_only=True)
class AllSharedFedNest(FedNest):
    """The slides' FedNest, but for the lower level's shared gradient, which is of all images."""

    def step(self, ctx: Context, oracles: Bilevel, state: Any) -> Any:
        """One local step."""
        return super().step(AllShared(ctx), oracles, state)


@dataclass(frozen=True, kw_only=True)
class PublicFedNest(Nested):
    """FedNest, FedNest_SGD or LFedNest as in the public code.

    Rounds of communication a k: as in the slides' table, 2T + N + 3, T + N + 3 and T + 1.

    Args:
        series_step: η of the series; the public code takes the step size of the upper level.
        plain: whether the local steps on y are those of SGD.
        alone: whether every client has a hypergradient of its own.
    """

    series_step: float = 0.02
    plain: bool = False
    alone: bool = False

    @property
    def reduces_inner(self) -> bool:  # type: ignore[override]
        """Whether the local steps on y are variance reduced."""
        return not self.plain

    def step(self, ctx: Context, oracles: Bilevel, state: Any) -> Any:
        """One local step of FedInn, or the whole of the upper level in the last ticks."""
        tick, inner = ctx.t % self.local_steps, self.inner_calls * self.inner_steps
        if tick < inner:
            return fed_inn(self, AllShared(ctx), oracles, state, tick % self.inner_steps)
        return self.outer(ctx, oracles, state) if tick == inner else state

    def outer(self, ctx: Context, oracles: Bilevel, state: State) -> State:
        """The series, the hypergradient and all steps on x."""
        x, y = state.x, state.y
        cohort: Collective = ctx.cohort(self.cohort_size(ctx.clients), since=ctx.t)
        p = oracles.upper_grad_y(x, y, None)
        if not self.alone:
            (p,) = cohort.average(p)
        counter = p
        for n in range(1, self.terms + 1):
            counter = counter - self.series_step * oracles.lower_hessian_product(
                x, y, counter, None
            )
            p = p + (counter if self.alone else cohort.average(counter)[0] / n)
        h = -oracles.lower_cross_product(x, y, p, None)
        if not self.alone:
            (h,) = cohort.average(h)
        (x,) = cohort.average(x - self.outer_steps * self.outer_step_size * h)
        return state._replace(x=x)
