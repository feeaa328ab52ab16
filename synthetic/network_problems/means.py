r"""Means over samples of a function of a network's outputs, for every client at once.

m(x) = Σ_j share_j φ(x; j) with φ a vector of q numbers a sample, its pullback v ↦ ∇m(x)ᵀv, and for
q = 1 the gradient and v ↦ ∇²m(x)v, by automatic differentiation. The units' parameters are
independent, so one backward pass through the sum over units gives each unit its own gradient.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.func import vmap

from driftproof.synthetic.network_problems.samples import Batch, Source
from driftproof.toolkit.network import Model
from driftproof.toolkit.oracles import Pullback

PerSample = Callable[[Tensor, Tensor], Tensor]
"""(outputs of the network [batch, outputs], targets [batch, …]) ↦ φ, [batch, q], row by row."""


class SampleMeans:
    """Means of one function over a source's samples.

    Points are [clients, dim, replicates], one for all tasks of a client, or [clients, tasks·dim,
    replicates], one for each of them one after another; what is returned has the same tasks.

    Args:
        source: the samples.
        model: the network.
        function: φ of the network's outputs.
        outputs: q.
        one_by_one: whether units are computed one after another: convolutions on a CPU.
    """

    def __init__(
        self,
        source: Source,
        model: Model,
        function: PerSample,
        *,
        outputs: int = 1,
        one_by_one: bool = False,
    ) -> None:
        self.source, self.outputs, self._dim = source, outputs, model.dim
        self._model, self._function, self._one_by_one = model, function, one_by_one

    def value(self, x: Tensor, draw: Tensor | None) -> Tensor:
        """Return m(x), [clients, tasks·q, replicates]."""
        points = self._units(x)
        with torch.no_grad():
            return self._apart(self._sum(points, draw, x.shape[2]), x)

    def samples(self, x: Tensor, draw: Tensor | None) -> tuple[Tensor, Pullback]:
        """Return φ of each sample (q = 1), [clients, batch, replicates], and its pullback.

        Without a draw these are all samples, padded ones too, in the order of the source's shares;
        their graph may not fit, so the pullback computes it again, piece by piece.
        """
        shape = (len(x), x.shape[2], -1)
        points = self._units(x).requires_grad_(draw is not None)
        with torch.set_grad_enabled(draw is not None):
            pieces = [
                self._each(points, batch)[..., 0] for batch in self.source.pieces(draw, x.shape[2])
            ]
        values = pieces[0] if len(pieces) == 1 else torch.cat(pieces, 1)

        def pullback(v: Tensor) -> Tensor:
            seed = v.expand(-1, -1, x.shape[2]).transpose(1, 2).reshape(values.shape)
            if draw is None:
                return self._gradient(x, None, None, seed)
            (pulled,) = torch.autograd.grad(values, points, seed, retain_graph=True)
            return self._like(pulled, x)

        return values.detach().view(shape).transpose(1, 2), pullback

    def pulled(self, x: Tensor, draw: Tensor | None) -> tuple[Tensor, Pullback]:
        """Return m(x) and v ↦ ∇m(x)ᵀv for v [clients, tasks·q, replicates]."""
        replicates = x.shape[2]
        if draw is None:  # all samples: their graph may not fit, so the pullback computes again
            return self.value(x, None), lambda v: self._gradient(x, None, v)
        points = self._units(x).requires_grad_()
        with torch.enable_grad():
            values = self._sum(points, draw, replicates)

        def pullback(v: Tensor) -> Tensor:
            seed = self._split(v, self.outputs)
            (pulled,) = torch.autograd.grad(values, points, seed, retain_graph=True)
            return self._like(pulled, x)

        return self._apart(values.detach(), x), pullback

    def gradient(self, x: Tensor, draw: Tensor | None) -> Tensor:
        """Return ∇m(x) for q = 1, the shape of x."""
        return self._gradient(x, draw, None)

    def value_and_gradient(self, x: Tensor, draw: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return m(x) and ∇m(x) for q = 1, from one pass."""
        value, pullback = self.pulled(x, draw)
        return value, pullback(torch.ones_like(value))

    def each_gradient(self, x: Tensor, draw: Tensor | None) -> tuple[Tensor, Pullback]:
        """Return every task's ∇m(x), [clients, tasks·dim, replicates], and v ↦ Σ_tasks ∇²m(x)v.

        x is one point for all tasks of a client; v has one vector for each task.
        """
        replicates = x.shape[2]
        points = self._units(x).requires_grad_()
        if draw is None:
            gradient = torch.zeros_like(points)
            for batch in self.source.pieces(None, replicates):
                gradient += self._slope(points, batch, create_graph=False)
            return self._apart(gradient, x), lambda v: self._hessian_product(x, v)
        (batch,) = self.source.pieces(draw, replicates)
        gradient = self._slope(points, batch, create_graph=True)

        def pullback(v: Tensor) -> Tensor:
            seed = self._split(v, self._dim)
            (pulled,) = torch.autograd.grad(gradient, points, seed, retain_graph=True)
            return self._like(pulled, x)

        return self._apart(gradient.detach(), x), pullback

    def _hessian_product(self, x: Tensor, v: Tensor) -> Tensor:
        """Return Σ_tasks ∇²m(x)v over all samples, piece by piece."""
        points, seed = self._units(x).requires_grad_(), self._split(v, self._dim)
        total = torch.zeros_like(points)
        for batch in self.source.pieces(None, x.shape[2]):
            slope = self._slope(points, batch, create_graph=True)
            total += torch.autograd.grad(slope, points, seed)[0]
        return self._like(total, x)

    def _slope(self, points: Tensor, batch: Batch, *, create_graph: bool) -> Tensor:
        with torch.enable_grad():
            total = (self._each(points, batch)[..., 0] * batch.shares).sum()
            (slope,) = torch.autograd.grad(total, points, create_graph=create_graph)
        return slope

    def _gradient(
        self, x: Tensor, draw: Tensor | None, v: Tensor | None, weights: Tensor | None = None
    ) -> Tensor:
        """Return ∇m(x)ᵀv (None: q = 1 and v = 1), a piece and a few units at a time.

        Args:
            weights: of the samples, [units, samples], in place of their shares.
        """
        points = self._units(x)
        seed = points.new_ones(len(points), 1) if v is None else self._split(v, self.outputs)
        step, by_piece, first = 1 if self._one_by_one else len(points), [], 0
        for piece in self.source.pieces(draw, x.shape[2]):
            batch, count = piece, piece.shares.shape[1]
            if weights is not None:
                batch = piece._replace(shares=weights[:, first : first + count])
            first += count
            parts = [slice(start, start + step) for start in range(0, len(points), step)]
            slopes = [
                self._part_gradient(points[part], batch.of(part), seed[part]) for part in parts
            ]
            by_piece.append(slopes[0] if len(slopes) == 1 else torch.cat(slopes))
        total = by_piece[0] if len(by_piece) == 1 else torch.stack(by_piece).sum(0)
        return self._like(total, x)

    def _part_gradient(self, points: Tensor, batch: Batch, seed: Tensor) -> Tensor:
        """Return the same of some units, whose graph is freed at once."""
        if batch.counts is not None and not any(batch.counts):
            return torch.zeros_like(points)
        points = points.requires_grad_()
        with torch.enable_grad():
            weighed = self._each(points, batch) * batch.shares[..., None] * seed[:, None]
            (slope,) = torch.autograd.grad(weighed.sum(), points)
        return slope

    def _sum(self, points: Tensor, draw: Tensor | None, replicates: int) -> Tensor:
        """Return m at every unit, [units, q]."""
        values = [
            (self._each(points, batch) * batch.shares[..., None]).sum(1)
            for batch in self.source.pieces(draw, replicates)
        ]
        return values[0] if len(values) == 1 else torch.stack(values).sum(0)

    def _each(self, points: Tensor, batch: Batch) -> Tensor:
        """Return φ of every unit's samples, [units, batch, q]; 0 of those that pad a unit."""
        if batch.counts is None:
            return self._of_units(points, batch.inputs, batch.targets)
        order: list[int] = []
        parts = []
        for count in sorted(set(batch.counts)):
            units = [unit for unit, own in enumerate(batch.counts) if own == count]
            order += units
            if not count:
                parts.append(points.new_zeros(len(units), batch.shares.shape[1], self.outputs))
                continue
            inputs, targets = batch.inputs[units, :count], batch.targets[units, :count]
            values = self._of_units(points[units], inputs, targets)
            missing = batch.shares.shape[1] - count
            parts.append(torch.nn.functional.pad(values, (0, 0, 0, missing)))
        back = torch.tensor(order, device=points.device).argsort()
        return torch.cat(parts)[back]

    def _of_units(self, points: Tensor, inputs: Tensor, targets: Tensor) -> Tensor:
        """Return φ of as many samples of every unit, [units, batch, q]."""
        if self._one_by_one or len(points) == 1:
            units = zip(points.unbind(0), map(_channels_last, inputs), targets, strict=True)
            return torch.stack([self._of_unit(*unit) for unit in units])
        if self._model.several:
            outputs = self._model(points, inputs).flatten(0, 1)
            together = self._function(outputs, targets.flatten(0, 1))
            return together.view(*inputs.shape[:2], -1)
        values: Tensor = vmap(self._of_unit)(points, inputs, targets)
        return values

    def _of_unit(self, parameters: Tensor, inputs: Tensor, targets: Tensor) -> Tensor:
        """Return φ of one unit's samples, [batch, q]."""
        return self._function(self._model(parameters, inputs), targets)

    def _units(self, x: Tensor) -> Tensor:
        """Return a point for each unit, [units, dim]."""
        clients, rows, replicates = x.shape
        by_task = x.reshape(clients, rows // self._dim, self._dim, replicates)
        every = by_task.expand(clients, self.source.tasks, self._dim, replicates)
        return every.transpose(2, 3).reshape(-1, self._dim).detach()

    def _like(self, slopes: Tensor, x: Tensor) -> Tensor:
        """Return what each unit has, [units, dim], in the shape of x: summed over tasks if x is."""
        by_task = self._apart(slopes, x)
        if by_task.shape == x.shape:
            return by_task
        return by_task.reshape(len(x), self.source.tasks, self._dim, -1).sum(1)

    def _apart(self, values: Tensor, x: Tensor) -> Tensor:
        """Return [units, q] as [clients, tasks·q, replicates]."""
        by_task = values.reshape(len(x), self.source.tasks, x.shape[2], -1)
        return by_task.transpose(2, 3).flatten(1, 2)

    def _split(self, v: Tensor, rows: int) -> Tensor:
        """Return [clients, tasks·rows, replicates] as [units, rows]."""
        by_task = v.reshape(len(v), self.source.tasks, rows, v.shape[2])
        return by_task.transpose(2, 3).reshape(-1, rows)


def _channels_last(inputs: Tensor) -> Tensor:
    """Return a batch of images in the layout in which a CPU convolves and pools fastest."""
    images = inputs.dim() == 4
    return inputs.contiguous(memory_format=torch.channels_last) if images else inputs
