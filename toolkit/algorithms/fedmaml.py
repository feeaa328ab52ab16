r"""FedMAML, or Per-FedAvg: local steps of model-agnostic meta-learning, averaged every round."""

from __future__ import annotations

from typing import Literal, Self

from driftproof.toolkit.algorithm import algorithm
from driftproof.toolkit.algorithms.comfedl import ComFedL


@algorithm(
    name="fedmaml",
    source="Fallah, Mokhtari & Ozdaglar 2020 (Per-FedAvg), Algorithm 1; as compared with in "
    "ComFedL's journal version, section 5.2",
    statement=r"w^i_{k+1,t} = w^i_{k+1,t-1} - \beta\big(I - \alpha\nabla^2 f_i(w^i_{k+1,t-1};"
    r"\mathcal{D}'')\big)\nabla f_i\big(w^i_{k+1,t-1} - \alpha\nabla f_i(w^i_{k+1,t-1};"
    r"\mathcal{D});\mathcal{D}'\big)",
)
class FedMAML(ComFedL):
    r"""Per-FedAvg, Algorithm 1 of its paper, on a composition with a task a client.

    The inner map is the adaptation w ↦ w − α∇f_i(w), whose α is the problem's; the outer function
    is f_i. So D gives the inner value, D'' its Jacobian I − α∇²f_i, and D' the outer gradient:
    three independent minibatches. It is ComFedL's "general" branch with "independent" samples,
    draw for draw, on the problem (7) of ComFedL's preprint: there is one text of the two. What
    tells them apart in ComFedL's comparison is the problem, where ComFedL solves the robust (10).

    Two tasks ½(w − ½)² and ½(w − 3/2)², α = 3/10: from 0, a step goes β·(7/10)² of the way to
    their mean, 1:

    >>> from driftproof.synthetic.problems import MAML
    >>> from driftproof.toolkit.federation import numbers_after
    >>> numbers_after(MAML(dim=1), FedMAML(step_size=0.1), "w")
    [0.049]

    Args:
        local_steps: τ.
        step_size: β.
        batch: samples of D, and of D''.
        outer_batch: samples of D'.
        participation: r, the share of clients sampled (uniformly) each round.
        branch, samples: what makes ComFedL this method.
    """

    branch: Literal["general"] = "general"
    samples: Literal["independent"] = "independent"

    notation = {
        "tau": "local_steps",
        "beta": "step_size",
        "n": "clients",
        "K": "rounds",
        "b": "batch",
        "m": "cohort_size",
    }

    @classmethod
    def examples(cls) -> list[Self]:
        """Return members with all clients and with some."""
        return [
            cls(local_steps=3, step_size=0.05),
            cls(local_steps=2, step_size=0.05, batch=2, outer_batch=3, participation=0.5),
        ]
