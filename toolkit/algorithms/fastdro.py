r"""FastDRO: gradients of a minibatch's own robust loss, in parallel over the clients."""

from __future__ import annotations

from typing import Literal, TypeAlias

import torch
from jaxtyping import Float
from torch import Tensor

from driftproof.toolkit.algorithm import Context, algorithm, descended
from driftproof.toolkit.algorithms._one_model import OneModel, State
from driftproof.toolkit.oracles import SampleLosses
from driftproof.toolkit.parameters import One, Positive, PositiveInt

Divergence: TypeAlias = Literal["kl", "chi-square"]


@algorithm(
    name="fastdro",
    source="Levy, Carmon, Duchi & Sidford 2020, section 3 (the batch estimator); as compared with "
    "in FedDRO (2023), section 6",
    statement=r"w^{t+1} = w^t - \eta\sum_{j} q_j\nabla\ell_j(w^t), \quad q \in "
    r"\arg\max_q\sum_j q_j\ell_j(w^t) - \lambda D(q, \mathbf{1}/n)",
)
class FastDRO(OneModel):
    r"""Minibatch gradients of distributionally robust losses, from samples ℓ_1, …, ℓ_n.

    The weights q are the exact maximum over the minibatch, so the step is along a gradient of the
    minibatch's robust loss, whose expectation lies below the robust loss of all data.

    FedDRO's figure 1 runs it in parallel, with K times the gradients: the minibatch is that of all
    K clients together, n = K·b, and each client counts alike. Its losses have to be in one place
    for the maximum, so a step has two rounds of communication: K·b losses, of which a client fills
    in its own, then the gradients. The authors' sets of weights (CVaR, a χ² ball) are left out:
    (3) of FedDRO has a penalty.

    At x = 0 every loss is log 2, so that q is uniform and the step is FedAvg's:

    >>> from driftproof.synthetic.problems import KLDRO
    >>> from driftproof.toolkit.federation import run, sampled_context
    >>> problem = KLDRO(form="average")
    >>> ctx = sampled_context(problem, ("doc",), replicates=1)
    >>> made = run(problem, FastDRO(), ctx, rounds=1).state
    >>> from driftproof.toolkit.algorithms import FedAvg
    >>> other = run(problem, FedAvg(), ctx, rounds=1).state
    >>> bool((made.w - other.w).abs().max() < 1e-15)
    True

    Args:
        local_steps: 1, as a round is one step.
        step_size: η.
        batch: b, samples a client and step.
        divergence: D, see ``worst_case_weights``.
        size: λ.
    """

    local_steps: One = 1
    step_size: Positive = 0.1
    batch: PositiveInt = 1
    divergence: Divergence = "kl"
    size: Positive = 0.5

    needs = "samples"
    notation = {"eta": "step_size", "b": "batch", "K": "clients", "S": "rounds", "T": "steps"}

    @classmethod
    def examples(cls) -> list[FastDRO]:
        """Return a member for each divergence."""
        return [cls(batch=2), cls(batch=3, divergence="chi-square", size=0.1)]

    def step(self, ctx: Context, oracles: SampleLosses, state: State) -> State:
        """Share the losses, weigh them, share the gradients."""
        xi = ctx.draw(oracles.field_law(self.batch), "xi")
        losses, pullback = oracles.sample_losses(state.w, xi)
        parts = [losses]
        if xi is None:  # all samples: then a client may have fewer than another
            parts += [oracles.sample_weights.to(losses).expand_as(losses)]
        shared = ctx.average(*(_placed(ctx, part) for part in parts))
        every = ctx.clients * shared[0][0]
        shares = shared[1][0] if xi is None else torch.full_like(every[:, :1], 1.0 / len(every))
        weights = worst_case_weights(every, shares, self.divergence, self.size)
        own = ctx.own(weights.reshape(ctx.clients, *losses.shape[1:]))
        (u,) = ctx.average(pullback(ctx.clients * own))
        w = descended(state.w, u, self.step_size)
        ctx.mark("u", u)
        ctx.mark("w", w)
        return State(w)


def _placed(ctx: Context, own: Tensor) -> Tensor:
    """Return each client's [batch, replicates] at its place among all, [clients·batch], 0 else."""
    unit = ctx.own(torch.eye(ctx.clients, dtype=own.dtype, device=own.device))
    return (unit[:, :, None, None] * own[:, None]).flatten(1, 2)


def worst_case_weights(
    losses: Float[Tensor, "entries replicates"],
    shares: Float[Tensor, "entries _"],
    divergence: Divergence,
    size: float,
) -> Float[Tensor, "entries replicates"]:
    r"""Return the weights q in the simplex that maximise Σ q_i ℓ_i − size·D(q), shares s.

    * "kl": D(q) = Σ q_i log(q_i/s_i), so q_i ∝ s_i e^{ℓ_i/size};
    * "chi-square": D(q) = ½ Σ s_i (q_i/s_i − 1)², so q_i ∝ s_i max(0, h − d_i) with the depths
      d_i = max ℓ − ℓ_i below a height h, found from the sorted depths: whether h lies above a
      depth is told by sums over those before it.

    >>> losses, shares = torch.tensor([[1.0], [3.0]]), torch.full((2, 1), 0.5)
    >>> worst_case_weights(losses, shares, "chi-square", 4.0).ravel()
    tensor([0.3750, 0.6250])
    """
    depth = losses.amax(0, keepdim=True) - losses
    if divergence == "kl":
        return _normalised(shares * torch.exp(-depth / size))
    ordered, places = depth.sort(dim=0, stable=True)
    share = shares.expand_as(depth).gather(0, places)
    mass, first = share.cumsum(0), (share * ordered).cumsum(0)
    below = ordered * mass - first  # Σ s_i (d − d_i) over the depths d_i up to d
    last = (below < size).sum(0, keepdim=True) - 1
    height = (size + first.gather(0, last)) / mass.gather(0, last)
    return _normalised(shares * (height - depth).clamp(min=0.0))


def _normalised(weights: Tensor) -> Tensor:
    return weights / weights.sum(0, keepdim=True)
