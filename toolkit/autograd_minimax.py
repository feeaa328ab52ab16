r"""Minimax oracles from one function of one sample, by automatic differentiation.

f(x, y, sample) is a torch function as in ``toolkit.autograd_bilevel``, and g = −f. Beside what a
bilevel method asks, each client has the field (∇_x f_i, −∇_y f_i) of z = (x, y): a step against it
is descent in x and ascent in y.

>>> import torch
>>> def saddle(x, y, sample):
...     return sample[0] * (x * y).sum() - (y * y).sum() / 2
>>> oracles = AutogradMinimax(saddle, data=[([3.0],)], upper_dim=1)
>>> oracles.field_grad(torch.ones(1, 2, 1, dtype=torch.float64), None).flatten().tolist()
[3.0, -2.0]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from driftproof.toolkit.autograd_bilevel import AutogradBilevel, PerSample
from driftproof.toolkit.client_samples import Sample
from driftproof.toolkit.draws import Law
from driftproof.toolkit.errors import DriftproofError


class AutogradMinimax(AutogradBilevel):
    """The oracles of a minimax problem; see ``AutogradBilevel`` for the arguments.

    Args:
        f: of one sample, a scalar; twice differentiable in torch.
        data: for each client of the federation a tuple of tensors [samples_i, …].
        lower_smoothness: ℓ_{g,1}, whose inverse is the step of a Neumann series; methods without
            such a series do without it.
    """

    def __init__(
        self,
        f: PerSample,
        *,
        data: Sequence[Sample],
        upper_dim: int,
        lower_smoothness: float | None = None,
        clients: range | None = None,
        together: bool = False,
        dtype: torch.dtype = torch.float64,
        device: str = "cpu",
    ) -> None:
        super().__init__(
            f,
            lambda *at: -f(*at),
            upper_data=data,
            lower_data=data,
            upper_dim=upper_dim,
            lower_smoothness=lower_smoothness or 0.0,
            clients=clients,
            together=together,
            dtype=dtype,
            device=device,
        )
        if lower_smoothness is None:
            del self.lower_smoothness
        self.client_weights = self._upper_data.client_weights

    def __getattr__(self, name: str) -> Any:
        if name == "lower_smoothness":
            raise DriftproofError(
                "a Neumann series on AutogradMinimax without lower_smoothness",
                "ℓ_{g,1}, a number",
                "pass AutogradMinimax(…, lower_smoothness=L)",
            )
        raise AttributeError(name)

    def field_law(self, batch: int) -> Law | None:
        """Return sample numbers, or None where every client has one sample."""
        return self.upper_law(batch)

    def field_grad(self, x: Tensor, xi: Tensor | None) -> Tensor:
        """Return (∇_x f_i, −∇_y f_i) at each client's own z = (x, y), on one minibatch."""
        at = x[:, : self.upper_dim], x[:, self.upper_dim :], xi
        return torch.cat([self.upper_grad_x(*at), -self.upper_grad_y(*at)], 1)
