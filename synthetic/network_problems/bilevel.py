r"""Label imbalance tuned above a network: FedNest's experiment with any model.

**Levels.** With x = (Δ, l) and the model's outputs s_y(u),

* f_i(x, y) = mean over client i's validation samples of w_t ℓ(s_y(u), t);
* g_i(x, y) = mean over its training samples of ℓ(δ(Δ)∘s_y(u) + l, t) + (ν/2)‖y‖²,

ℓ the cross entropy, w_c = (1/C) Σ_b n_b / n_c, so that f gives every class the same weight, and
δ(Δ) = Δ (FedNest's slides) or the sigmoid of Δ (their public code). For softmax regression
``synthetic.image_problems.label_imbalance_oracles`` has the derivatives in closed form; here they
are had by automatic differentiation, so the model must have forward derivatives under ``vmap``.

g is not convex in y for a network with hidden layers. ``lower_solution`` is then a point at which
∇_y g vanishes, found from the model's start, or an error if none is found.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.image_problems.lower_level import SolvedLowerLevel
from driftproof.synthetic.network_problems.base import NetworkProblem
from driftproof.synthetic.network_problems.losses import cross_entropy
from driftproof.synthetic.network_problems.samples import ClientData
from driftproof.toolkit.autograd_bilevel import AutogradBilevel, Sample
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.parameters import NonNegative, Positive


@dataclass(frozen=True, eq=False, kw_only=True)
class NetworkTuning(NetworkProblem, SolvedLowerLevel):
    """A model trained under a parametric loss, whose parameters are tuned above.

    >>> from driftproof.toolkit.networks import SoftmaxRegression
    >>> held = ClientData([np.ones((3, 2))], [np.array([0, 0, 1])])
    >>> model = SoftmaxRegression().model((2,), 2)
    >>> problem = NetworkTuning(model=model, data=held, validation=held)
    >>> problem.class_weights.tolist()
    [0.75, 1.5]

    Args:
        data: the clients' training samples, with class numbers.
        validation: their validation samples.
        ridge: ν.
        squash: whether δ is the sigmoid.
        smoothness: ℓ_{g,1}, whose inverse is the step of a Neumann series: chosen, as no constant
            is known for a network.
    """

    data: ClientData
    validation: ClientData
    seed: int = 0
    ridge: NonNegative = 0.01
    squash: bool = False
    smoothness: Positive = 10.0

    def __post_init__(self) -> None:
        if self.validation.clients != self.data.clients or self.loss != "cross-entropy":
            raise DriftproofError(
                f"{self.data.clients} clients with training samples, {self.validation.clients} "
                f"with validation samples, loss {self.loss}",
                "both of every client, and cross-entropy",
                "split each client's samples in two, and leave out loss",
            )
        for held in (self.data, self.validation):
            sizes = sorted({len(part) for part in held.inputs})
            if len(sizes) > 1:
                raise DriftproofError(
                    f"clients with {sizes[0]} to {sizes[-1]} samples of one level",
                    "as many on each client: a smaller one is padded, and batch statistics would "
                    "see the padding",
                    "split equally: IID(), or cut every client to the smallest",
                )
        super().__post_init__()

    @property
    def upper_dim(self) -> int:
        """2C: Δ and l."""
        return 2 * self.model.outputs

    @cached_property
    def class_weights(self) -> np.ndarray:
        """w_c, by all training and validation samples; their mean over these is 1."""
        classes = np.concatenate([*self.data.targets, *self.validation.targets])
        counts = np.bincount(classes, minlength=self.model.outputs)
        return np.asarray(counts.sum() / ((counts > 0).sum() * np.maximum(counts, 1)))

    def start(self) -> np.ndarray:
        """Return δ = 1 (1/2 under the sigmoid), l = 0 and the model's start."""
        delta = np.full(self.model.outputs, 0.0 if self.squash else 1.0)
        return np.concatenate([delta, np.zeros(self.model.outputs), self.model.start(self.seed)])

    def oracles(
        self, dtype: torch.dtype, device: str = "cpu", clients: range | None = None
    ) -> NetworkTuningOracles:
        """Return the oracles of some clients."""
        return NetworkTuningOracles(self, dtype, device, clients)


class NetworkTuningOracles(AutogradBilevel):
    """The oracles of ``toolkit.oracles.Bilevel``, and g itself."""

    def __init__(
        self, of: NetworkTuning, dtype: torch.dtype, device: str, clients: range | None
    ) -> None:
        model, ridge = of.model, of.ridge
        weights = torch.from_numpy(of.class_weights).to(device, dtype)

        def upper(x: Tensor, y: Tensor, samples: Sample) -> Tensor:
            inputs, classes = samples
            outputs = model(y, _scaled(inputs, y, of.validation.levels))
            return weights[classes] * cross_entropy(outputs, classes)

        def lower(x: Tensor, y: Tensor, samples: Sample) -> Tensor:
            inputs, classes = samples
            delta, shift = x.chunk(2)
            scale = torch.sigmoid(delta) if of.squash else delta
            outputs = model(y, _scaled(inputs, y, of.data.levels))
            return cross_entropy(scale * outputs + shift, classes) + ridge / 2 * (y @ y)

        super().__init__(
            upper, lower, upper_data=_samples(of.validation), lower_data=_samples(of.data),
            upper_dim=of.upper_dim, lower_smoothness=of.smoothness, clients=clients, dtype=dtype,
            device=device, together=True,
        )  # fmt: skip


def _samples(data: ClientData) -> list[Sample]:
    return [
        (torch.from_numpy(inputs), torch.from_numpy(targets))
        for inputs, targets in zip(data.inputs, data.targets, strict=True)
    ]


def _scaled(inputs: Tensor, like: Tensor, levels: float) -> Tensor:
    return inputs if inputs.is_floating_point() else inputs.to(like.dtype) / levels
