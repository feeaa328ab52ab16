r"""q-FedAvg: clients with larger losses weigh more in the average."""

from __future__ import annotations

from driftproof.toolkit.algorithm import Context, algorithm, descended
from driftproof.toolkit.algorithms._one_model import LETTERS, Anchored, WithAnchor
from driftproof.toolkit.oracles import Losses
from driftproof.toolkit.parameters import NonNegative, Positive, PositiveInt, Share


@algorithm(
    name="q-fedavg",
    source="Li, Sanjabi, Beirami & Smith 2020 (Fair Resource Allocation), Algorithm 2",
    statement=r"\Delta_k = F_k(w)^q \tfrac1\eta(w - \bar w_k),\quad h_k = q F_k(w)^{q-1}"
    r"\|\tfrac1\eta(w-\bar w_k)\|^2 + \tfrac1\eta F_k(w)^q,\quad "
    r"w^{+} = w - \frac{\sum_k\Delta_k}{\sum_k h_k}",
)
class QFedAvg(WithAnchor):
    r"""Local SGD, then a step with weights F_k^q and an estimated Lipschitz constant.

    ComFedL's papers compare with it (and attribute it to Liu et al. 2019). The Lipschitz constant
    of the local problem is taken as 1/η, as its authors do. With q = 0 it is FedAvg with equal
    weights.

    At w = 0 every loss is log 2, so that fairness weighs all clients alike; at q = 0 the step is
    FedAvg's:

    >>> from driftproof.synthetic.problems import KLDRO
    >>> from driftproof.toolkit.federation import run, sampled_context
    >>> problem = KLDRO(form="average")
    >>> ctx = sampled_context(problem, ("doc",), replicates=1)
    >>> made = run(problem, QFedAvg(fairness=0.0), ctx, rounds=1).state
    >>> from driftproof.toolkit.algorithms import FedAvg
    >>> other = run(problem, FedAvg(), ctx, rounds=1).state
    >>> bool((made.w - other.w).abs().max() < 1e-15)
    True

    Args:
        local_steps: E, local steps a round.
        step_size: η.
        batch: samples a step; the losses F_k are over all of a client's samples.
        fairness: q.
        participation: share of clients sampled (uniformly) each round.
    """

    local_steps: PositiveInt = 1
    step_size: Positive = 0.1
    batch: PositiveInt = 1
    fairness: NonNegative = 0.2
    participation: Share = 1.0

    needs = "losses"
    notation = LETTERS | {"q": "fairness"}

    @classmethod
    def examples(cls) -> list[QFedAvg]:
        """Return members with and without sampling of clients."""
        return [
            cls(local_steps=3, step_size=0.05),
            cls(local_steps=2, step_size=0.05, fairness=2.0, participation=0.5, batch=2),
        ]

    def step(self, ctx: Context, oracles: Losses, state: Anchored) -> Anchored:
        """One local step; the last of a round is followed by the weighted one."""
        cohort = ctx.cohort(self.cohort_size(ctx.clients), since=ctx.t - ctx.t % self.local_steps)
        xi = ctx.draw(oracles.field_law(self.batch), "xi")
        w = descended(state.w, oracles.field_grad(state.w, xi), self.step_size)
        ctx.mark("w", w)
        if (ctx.t + 1) % self.local_steps:
            return Anchored(w, state.anchor)
        loss = oracles.mean_loss(state.anchor)[:, None]
        moved = (state.anchor - w) / self.step_size
        share = loss**self.fairness
        spread = (moved * moved).sum(1, keepdim=True)
        # q F^{q−1}: at q = 0 the term is 0 whatever F is
        curvature = self.fairness * loss ** (self.fairness - 1) if self.fairness else 0.0
        weight = curvature * spread + share / self.step_size
        push, total = cohort.average(share * moved, weight)
        w = state.anchor - push / total
        return Anchored(w, w)
