"""A linear model on the data of several clients: each client's mean loss, and its pullback."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.building_blocks.losses import Loss
from driftproof.toolkit.draws import Indices, Law
from driftproof.toolkit.oracles import ClientVectors, InnerVectors, Pullback


class LinearModel:
    """f^i(w) = mean over client i's samples of ℓ(⟨a, w⟩; label), w in R^{outputs·features}.

    Args:
        features: one array [samples_i, features] a client.
        labels: one array [samples_i] a client (±1, or class numbers for several outputs).
        loss: of the scores.
        sizes: samples of every client of the federation, also of those held elsewhere (a client's
            draws are found by its number among all).
        outputs: how many scores the model gives.

    Attributes:
        rows, row_labels: all clients' samples one after another; client i's begin at starts[i].
        sample_weights: each sample's share of its client's, [clients, samples, 1]; of a client
            with fewer samples than another the last stands in the places left, with share 0.
    """

    def __init__(
        self,
        features: Sequence[np.ndarray],
        labels: Sequence[np.ndarray],
        loss: Loss,
        *,
        sizes: Sequence[int],
        outputs: int = 1,
        dtype: torch.dtype = torch.float64,
        device: str = "cpu",
    ) -> None:
        self.sizes = tuple(sizes)
        self.clients = len(features)
        self.outputs = outputs
        self.loss = loss
        self.features = [torch.from_numpy(part).to(device, dtype) for part in features]
        self.labels = [_labels(part, outputs, dtype, device) for part in labels]
        self.rows = torch.cat(self.features)
        self.row_labels = torch.cat(self.labels)
        own = np.array([len(part) for part in features])
        starts = np.concatenate([[0], np.cumsum(own)[:-1]])
        self.starts = torch.from_numpy(starts).to(device)[:, None, None]
        place = np.arange(own.max())
        every = np.minimum(place, own[:, None] - 1)
        self._every = torch.from_numpy(every).to(device)[..., None]
        shares = (place < own[:, None]) / own[:, None]
        self.sample_weights = torch.from_numpy(shares).to(device, dtype)[..., None]

    def law(self, batch: int) -> Law | None:
        """Return the law of a minibatch: samples drawn with replacement."""
        return Indices(self.sizes, batch)

    def __call__(self, x: ClientVectors, xi: Tensor | None) -> tuple[InnerVectors, Pullback]:
        """Return each client's mean loss [clients, 1, replicates] and v ↦ v·∇f^i_B(x)."""
        if xi is None:
            return self._whole(self._matrix(x))
        scores, labels, taken = self._scores(x, xi)
        value = self.loss.value(scores, labels).mean(1)
        slope = self.loss.derivative(scores, labels) / xi.shape[1]

        def pullback(v: Tensor) -> Tensor:
            pulled = torch.einsum("kbor,kbrf->kofr", slope * v[:, None], taken)
            return pulled.reshape(x.shape)

        return value[:, None], pullback

    def sample_losses(self, x: ClientVectors, xi: Tensor | None) -> tuple[Tensor, Pullback]:
        """Return the losses of samples, [clients, batch, replicates], and v ↦ Σ_j v_j ∇ℓ_j(x).

        With xi None they are all of a client's, in the order of ``sample_weights``.
        """
        every = self._every.expand(-1, -1, x.shape[2])
        scores, labels, taken = self._scores(x, every if xi is None else xi)
        slope = self.loss.derivative(scores, labels)

        def pullback(v: Tensor) -> Tensor:
            pulled = torch.einsum("kbor,kbrf->kofr", slope * v[:, :, None], taken)
            return pulled.reshape(x.shape)

        return self.loss.value(scores, labels), pullback

    def _matrix(self, x: ClientVectors) -> Tensor:
        """Return the weights of each score, [clients, outputs, features, replicates]."""
        return x.reshape(x.shape[0], self.outputs, -1, x.shape[2])

    def _scores(self, x: ClientVectors, xi: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return scores [clients, batch, outputs, replicates], labels and rows of samples."""
        at = xi + self.starts
        taken, labels = self.rows[at], self.row_labels[at]  # [clients, batch, replicates, …]
        return torch.einsum("kbrf,kofr->kbor", taken, self._matrix(x)), labels, taken

    def _whole(self, weights: Tensor) -> tuple[InnerVectors, Pullback]:
        scores = [
            torch.einsum("bf,ofr->bor", part, w)
            for part, w in zip(self.features, weights, strict=True)
        ]
        labels = [part[:, None].expand(-1, weights.shape[3]) for part in self.labels]
        value = torch.stack(
            [self.loss.value(s, lab).mean(0) for s, lab in zip(scores, labels, strict=True)]
        )

        def pullback(v: Tensor) -> Tensor:
            pulled = [
                torch.einsum("bor,bf->ofr", self.loss.derivative(s, lab), part) * v[k] / len(part)
                for k, (s, lab, part) in enumerate(zip(scores, labels, self.features, strict=True))
            ]
            return torch.stack(pulled).reshape(len(pulled), -1, weights.shape[3])

        return value[:, None], pullback


def _labels(part: np.ndarray, outputs: int, dtype: torch.dtype, device: str) -> Tensor:
    kind = torch.int64 if outputs > 1 else dtype
    return torch.from_numpy(np.asarray(part)).to(device, kind)
