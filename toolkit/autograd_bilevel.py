r"""Bilevel oracles from two functions of one sample, by automatic differentiation.

f(x, y, sample) and g(x, y, sample) are torch functions of flat vectors x [upper_dim], y [lower_dim]
and *one* sample (a tuple of tensors); client i has

* f_i(x, y) = (1/n_i) Σ_j f(x, y, sample_ij), and g_i likewise;
* ∇_x f_i, ∇_y f_i, ∇_y g_i by reverse mode;
* ∇²_yy g_i v = ∇_y ⟨∇_y g_i, v⟩ by the pullback of y ↦ ∇_y g_i, so that no Hessian is formed;
* ∇²_xy g_i v = ∇_x ⟨∇_y g_i, v⟩ by the pullback of x ↦ ∇_y g_i,

each of a minibatch of the client's samples (the law ``Indices``) or, where the noise argument is
None, of all of them. ``torch.func.vmap`` carries them over samples, replicates and clients.

Ridge regression whose ridge e^x is tuned on other data, as in ``toolkit.oracles.Bilevel``:

>>> import torch
>>> def upper(x, y, sample):
...     a, b = sample
...     return (a @ y - b) ** 2 / 2
>>> def lower(x, y, sample):
...     return upper(x, y, sample) + torch.exp(x[0]) * (y @ y) / 2
>>> data = [(torch.tensor([[1.0, 0.0], [0.0, 2.0]]), torch.ones(2))]
>>> oracles = AutogradBilevel(
...     upper, lower, upper_data=data, lower_data=data, upper_dim=1, lower_smoothness=3.0,
...     dtype=torch.float32)
>>> x, y, v = torch.zeros(1, 1, 1), torch.ones(1, 2, 1), torch.ones(1, 2, 1)
>>> oracles.lower_hessian_product(x, y, v, None).flatten()  # diag(1/2, 4/2) v + e⁰ v
tensor([1.5000, 3.0000])
>>> oracles.lower_cross_product(x, y, v, None).flatten()  # e⁰⟨y, v⟩
tensor([2.])

Functions run under vmap: they may not look at values (``if``, ``.item()``, ``scores[label]``;
give labels as unit vectors instead).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import torch
from torch import Tensor
from torch.func import grad, vjp

from driftproof.toolkit.client_samples import ClientSamples, Sample, mean_of
from driftproof.toolkit.draws import Law

PerSample: TypeAlias = Callable[[Tensor, Tensor, Sample], Tensor]


class AutogradBilevel:
    """The oracles of ``toolkit.oracles.Bilevel``.

    Args:
        upper, lower: f and g of one sample, scalars; twice differentiable in torch.
        upper_data, lower_data: for each client of the federation a tuple of tensors
            [samples_i, …]; clients may have different numbers of samples.
        upper_dim: d_1.
        lower_smoothness: ℓ_{g,1}, known or chosen by the caller: its inverse is the step of a
            Neumann series.
        clients: those held here (all of them, except on the wire).
        together: whether f and g are functions of a batch, tensors [batch, …], and give a number
            for each of its samples: a network with batch statistics, say.
        dtype: of the data that are floating-point numbers; class numbers stay whole.
    """

    def __init__(
        self,
        upper: PerSample,
        lower: PerSample,
        *,
        upper_data: Sequence[Sample],
        lower_data: Sequence[Sample],
        upper_dim: int,
        lower_smoothness: float,
        clients: range | None = None,
        together: bool = False,
        dtype: torch.dtype = torch.float64,
        device: str = "cpu",
    ) -> None:
        chosen = range(len(lower_data)) if clients is None else clients
        self.clients = len(chosen)
        self.upper_dim = upper_dim
        self.lower_smoothness = lower_smoothness
        self._upper_data = ClientSamples(upper_data, chosen, dtype, device)
        self._lower_data = ClientSamples(lower_data, chosen, dtype, device)
        self._f, self._g = mean_of(upper, together), mean_of(lower, together)
        self._f_x, self._f_y, self._g_x, self._g_y = (
            grad(level, argnums=k) for level in (self._f, self._g) for k in (0, 1)
        )

    def upper_law(self, batch: int) -> Law | None:
        """Return sample numbers, or None where every client has one sample."""
        return self._upper_data.law(batch)

    def lower_law(self, batch: int) -> Law | None:
        """Return sample numbers, or None where every client has one sample."""
        return self._lower_data.law(batch)

    def upper_value(self, x: Tensor, y: Tensor) -> Tensor:
        """Return f_i(x, y), [clients, replicates]."""
        return self._upper_data.each(self._f, None, x, y)

    def upper_grad_x(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return ∇_x f_i(x, y; ξ), [clients, upper_dim, replicates]."""
        return self._upper_data.each(self._f_x, xi, x, y)

    def upper_grad_y(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return ∇_y f_i(x, y; ξ), [clients, lower_dim, replicates]."""
        return self._upper_data.each(self._f_y, xi, x, y)

    def lower_grad(self, x: Tensor, y: Tensor, zeta: Tensor | None) -> Tensor:
        """Return ∇_y g_i(x, y; ζ), [clients, lower_dim, replicates]."""
        return self._lower_data.each(self._g_y, zeta, x, y)

    def lower_grad_x(self, x: Tensor, y: Tensor) -> Tensor:
        """Return ∇_x g_i(x, y), exactly."""
        return self._lower_data.each(self._g_x, None, x, y)

    def lower_hessian_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return ∇²_yy g_i(x, y; ζ) v, [clients, lower_dim, replicates]."""

        def product(sample: Sample, share: Tensor, x: Tensor, y: Tensor, v: Tensor) -> Tensor:
            hessian_v: Tensor = vjp(lambda y: self._g_y(x, y, sample, share), y)[1](v)[0]
            return hessian_v

        return self._lower_data.apply(product, zeta, x, y, v)

    def lower_cross_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return ∇²_xy g_i(x, y; ζ) v, [clients, upper_dim, replicates]."""

        def product(sample: Sample, share: Tensor, x: Tensor, y: Tensor, v: Tensor) -> Tensor:
            cross_v: Tensor = vjp(lambda x: self._g_y(x, y, sample, share), x)[1](v)[0]
            return cross_v

        return self._lower_data.apply(product, zeta, x, y, v)
