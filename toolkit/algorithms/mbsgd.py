r"""MBSGD: the plug-in gradient of a composition from one large minibatch, shared every step."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from driftproof.toolkit.algorithm import algorithm
from driftproof.toolkit.algorithms.feddro import FedDRO
from driftproof.toolkit.parameters import Constraint, One


@algorithm(
    name="mbsgd",
    source="Ghadimi & Lan 2013, customised for compositions; as compared with in FedDRO (2023), "
    "section 6",
    statement=r"\bar y^t = \tfrac1K\sum_k g_k(x^t; b), \quad x^{t+1} = x^t - \tfrac\eta K\sum_k"
    r"\big(\nabla h_k(x^t;b) + \nabla g_k(x^t;b)\nabla f(\bar y^t)\big)",
)
class MBSGD(FedDRO):
    r"""Minibatch SGD on Φ = (1/K) Σ h_k + f((1/K) Σ g_k), without memory and in parallel.

    Ghadimi & Lan's step is along a mean of stochastic gradients; a composition has none that is
    unbiased, and FedDRO does not say how it was "customised for CO". Taken here: the plug-in
    gradient, with the mean of g over the K minibatches. It is FedDRO at β = 1 and I = 1 whose y⁰ is
    computed from the step's own minibatch: there is one text of the two.

    One step of size 0.1 at x = ¼ for g_1 = 2x, g_2 = 1 − x, f'(y) = y: Φ' = (x + 1)/4 = 0.3125:

    >>> from driftproof.synthetic.problems import BiasAmplification
    >>> from driftproof.toolkit.federation import numbers_after
    >>> numbers_after(BiasAmplification(), MBSGD(step_size=0.1), "x")
    [0.21875]

    Args:
        local_steps: 1, as a round is one step.
        step_size: η.
        batch: b, samples of g and of h a client and step.
        momentum, first_step, embedding, embedding_error: what makes FedDRO this method.
    """

    local_steps: One = 1
    momentum: Annotated[float, Constraint(1, 1, why="nothing is remembered")] = 1.0
    first_step: Literal["computed"] = "computed"
    embedding: Literal["sampled"] = "sampled"
    embedding_error: Annotated[float, Constraint(0, 0, why="nothing is remembered")] = 0.0

    @classmethod
    def examples(cls) -> list[Self]:
        """Return members with one sample a step and with several."""
        return [cls(step_size=0.05), cls(step_size=0.05, batch=3)]
