r"""PDSGD: descent in the model and ascent in the weights of the samples that were drawn."""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Context, algorithm, descended
from driftproof.toolkit.oracles import SampleLosses
from driftproof.toolkit.parameters import NonNegative, One, Positive, PositiveInt


class State(NamedTuple):
    """What each client holds, replicates last.

    Attributes:
        w: the model, [clients, dim, replicates], the same on every client.
        log_weights: the logarithms of its samples' weights z, [clients, samples, replicates].
    """

    w: Tensor
    log_weights: Tensor


@algorithm(
    name="pdsgd",
    source="ours, after Xu 2020 (primal-dual stochastic gradient method): on the minimax problem "
    "(3) of FedDRO (2023), whose section 6 compares with “PDSGD, Xu (2020)”",
    statement=r"w^{t+1} = w^t - \frac{\eta}{n}\sum_{j} z_j\nabla\ell_j(w^t), \quad "
    r"z_j \leftarrow z_j \exp\big(\rho(\ell_j(w^t) - \lambda D'(z_j))\big) \text{ if } j \text{ is "
    r"drawn, and } z \leftarrow z / \tfrac1m\sum_i z_i",
)
class PDSGD(Algorithm):
    r"""Primal-dual SGD on min_w max_z (1/m) Σ (z_i ℓ_i(w) − λD(z_i)), z ≥ 0 of mean 1.

    Xu's method is for programs with m functional constraints: a step draws some, moves the model
    along the drawn multipliers times their gradients, and these multipliers alone along their
    constraints' values. FedDRO names it as a baseline for imbalanced data, and does not say on
    which program. Chosen here: FedDRO's own problem (3), where the weight z_i = m p_i of a sample
    stands for a multiplier. What Xu prints and what was chosen instead: constraints ℓ_i ≤ s with an
    s to be minimised, which weigh the worst sample alone, became the penalised maximum over p;
    z_j + ρ·value, cut off at 0, became its logarithm's step, after which z is divided by its
    mean, so that p stays in the simplex; the augmented term is left out. As in Xu's, z_j moves by ρ
    and not by mρ, the step of an unbiased gradient.

    In parallel, as FedDRO's figure 1 has it: all K clients draw, each holds the weights of its own
    samples, and one number a client goes with its gradient to keep the mean of z at 1.

    At x = 0 every loss is log 2 and every z is 1, so that the first step is FedAvg's:

    >>> from driftproof.synthetic.problems import KLDRO
    >>> from driftproof.toolkit.federation import run, sampled_context
    >>> problem = KLDRO(form="average")
    >>> ctx = sampled_context(problem, ("doc",), replicates=1)
    >>> made = run(problem, PDSGD(dual_step=1.0), ctx, rounds=1).state
    >>> from driftproof.toolkit.algorithms import FedAvg
    >>> other = run(problem, FedAvg(), ctx, rounds=1).state
    >>> bool((made.w - other.w).abs().max() < 1e-15)
    True

    One of 20 samples a client was drawn, and its z grew from 1 to 2 before it was divided by 21/20:

    >>> round(made.log_weights.exp().max().item(), 5), round(2 / 1.05, 5)
    (1.90476, 1.90476)

    Args:
        local_steps: 1, as a round is one step.
        step_size: η.
        batch: n/K, samples a client and step.
        dual_step: ρ.
        dual_penalty: λ; with 0 the worst sample gets all weight in the end.
        divergence: D(z) = z log z − z + 1 ("kl") or ½(z − 1)² ("chi-square").
    """

    local_steps: One = 1
    step_size: Positive = 0.1
    batch: PositiveInt = 1
    dual_step: Positive = 0.1
    dual_penalty: NonNegative = 1.0
    divergence: Literal["kl", "chi-square"] = "kl"

    needs = "samples"
    notation = {
        "eta": "step_size",
        "rho": "dual_step",
        "lambda_": "dual_penalty",
        "K": "clients",
        "S": "rounds",
        "T": "steps",
    }

    @classmethod
    def examples(cls) -> list[PDSGD]:
        """Return a member for each divergence."""
        return [
            cls(batch=2),
            cls(batch=3, divergence="chi-square", dual_step=0.5, dual_penalty=0.2),
        ]

    def init(self, ctx: Context, oracles: SampleLosses, start: Tensor) -> State:
        """Every client starts at the same point, with all samples alike: z = 1."""
        w = ctx.everywhere(start)
        return State(w, w.new_zeros((w.shape[0], oracles.sample_weights.shape[1], w.shape[2])))

    def step(self, ctx: Context, oracles: SampleLosses, state: State) -> State:
        """Both steps are taken from the same (w, z)."""
        xi = ctx.draw(oracles.field_law(self.batch), "xi")
        losses, pullback = oracles.sample_losses(state.w, xi)
        held, share = state.log_weights, oracles.sample_weights.to(losses)
        log_z = held if xi is None else held.gather(1, xi)
        z = log_z.exp()
        u = pullback((share if xi is None else 1.0 / losses.shape[1]) * z)
        slope = log_z if self.divergence == "kl" else z - 1
        climbed = self.dual_step * (losses - self.dual_penalty * slope)
        held = held + climbed if xi is None else held.scatter_add(1, xi, climbed)
        u, mean = ctx.average(u, (share * held.exp()).sum(1, keepdim=True))
        w = descended(state.w, u, self.step_size)
        ctx.mark("u", u)
        ctx.mark("w", w)
        return State(w, held - torch.log(mean))
