r"""Equality of opportunity as a penalty: Φ = h + f(g), FedDRO's problem (2).

With ℓ_i the loss of person i, y_i ∈ {0, 1} and groups j = 1 … m, which may overlap:

* h = the mean loss of everybody;
* g = (R, P_1, …, P_m): P_j the mean loss of group j's positives, R that of everybody, or of all
  positives;
* f(y) = λ log( (1 + Σ_j exp(s (P_j − R − ε))) / (m + 1) ), a soft form of max_j (P_j − R − ε).

A smaller loss of a group's positives stands for a larger true positive rate, which has no gradient.
Each mean is one over clients of each client's mean: g = (1/K) Σ_k g_k with g_k the client's mean of
1{i in j, y_i = 1} ℓ_i / π_j, and π_j the share of such people, (1/K) Σ_k of the clients' shares.
Where clients are of equal size, P_j is the plain mean over the group's positives.

After the public code of Haddadpour et al. (2022), whose R is that of everybody, with λ = 1 in place
of their paper's γ; and Hardt, Price, Srebro (2016), whose equality of opportunity compares
positives with positives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.network_problems.base import NetworkProblem
from driftproof.synthetic.network_problems.losses import loss_called
from driftproof.synthetic.network_problems.means import SampleMeans
from driftproof.synthetic.network_problems.robust import InnerMean
from driftproof.synthetic.network_problems.samples import ClientData
from driftproof.toolkit.composition import CompositionProblem
from driftproof.toolkit.draws import Law
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.oracles import ClientVectors, InnerVectors
from driftproof.toolkit.parameters import NonNegative, Positive


@dataclass(frozen=True, eq=False, kw_only=True)
class FairLosses(NetworkProblem, CompositionProblem):
    """The mean loss, and a penalty where a group's positives have a larger loss than others.

    Two clients with a positive each, one of each group; at x = 0 all losses are log 2:

    >>> from driftproof.toolkit.networks import SoftmaxRegression
    >>> data = ClientData([np.ones((1, 2)), np.zeros((1, 2))], [np.array([1]), np.array([1])])
    >>> member = [np.array([[True, False]]), np.array([[False, True]])]
    >>> model = SoftmaxRegression().model((2,), 1)
    >>> problem = FairLosses(model=model, data=data, loss="logistic", groups=member, slack=0.0)
    >>> round(float(problem.objective(torch.zeros(3, 1, dtype=torch.float64))), 5)
    0.69315

    Args:
        data: whose targets are 0 and 1.
        groups: of each client, who is in which group, [samples, m].
        penalty: λ.
        sharpness: s.
        slack: ε.
        reference: whose mean loss R is.
    """

    data: ClientData
    groups: Sequence[np.ndarray]
    penalty: Positive = 1.0
    sharpness: Positive = 1.0
    slack: NonNegative = 0.01
    reference: Literal["everybody", "positives"] = "everybody"

    inside = True

    @cached_property
    def weighed(self) -> ClientData:
        """The data with targets (y_i, weights of ℓ_i in R and in P_1, …, P_m).

        Raises:
            DriftproofError: nobody of a group is positive, or the arrays' shapes do not fit.
        """
        if [len(rows) for rows in self.groups] != [len(y) for y in self.data.targets]:
            raise DriftproofError(
                f"groups of {[len(rows) for rows in self.groups]} samples",
                f"a row for each of {[len(y) for y in self.data.targets]}",
                "give [samples, groups] for every client, in the order of the data",
            )
        counted = [
            np.column_stack(
                [
                    np.ones(len(y)) if self.reference == "everybody" else y,
                    rows.astype(bool) & (y == 1)[:, None],
                ]
            )
            for y, rows in zip(self.data.targets, self.groups, strict=True)
        ]
        shares = np.mean([columns.mean(0) for columns in counted], 0)
        if not shares.all():
            raise DriftproofError(
                f"shares of positives by group {[round(float(share), 4) for share in shares[1:]]}",
                "someone positive in every group",
                "leave the group out, or take more data",
            )
        targets = [
            np.column_stack([y, columns / shares])
            for y, columns in zip(self.data.targets, counted, strict=True)
        ]
        return replace(self.data, targets=targets)

    def oracles(
        self, dtype: torch.dtype, device: str = "cpu", clients: range | None = None
    ) -> FairOracles:
        """Return the oracles of some clients."""
        source = self.weighed.held(dtype, device, clients)
        loss = loss_called(self.loss)

        def losses(outputs: Tensor, targets: Tensor) -> Tensor:
            return loss(outputs, targets[:, 0].long())[:, None]

        def weighed(outputs: Tensor, targets: Tensor) -> Tensor:
            return losses(outputs, targets) * targets[:, 1:]

        columns = 1 + self.groups[0].shape[1]
        return FairOracles(
            self.means(source, device, losses), self.means(source, device, weighed, columns), self
        )


class FairOracles(InnerMean):
    """The mean loss, and inside f the shares of (R, P_1, …, P_m); f has no noise."""

    def __init__(self, plain: SampleMeans, inner: SampleMeans, problem: FairLosses) -> None:
        super().__init__(inner)
        self._plain = plain
        self._penalty, self._sharpness = problem.penalty, problem.sharpness
        self._slack = problem.slack

    def plain_law(self, batch: int) -> Law | None:
        """Return sample numbers with replacement."""
        return self._plain.source.law(batch)

    def plain_grad(self, x: ClientVectors, xi: Tensor | None) -> ClientVectors:
        """Return the gradient of the minibatch mean."""
        return self._plain.gradient(x, xi)

    def plain_value(self, x: ClientVectors) -> Tensor:
        """Return the mean over all samples, [clients, replicates]."""
        return self._plain.value(x, None)[:, 0]

    def outer_grad(self, y: InnerVectors, zeta: Tensor | None) -> InnerVectors:
        """Return λs (−Σ_j w_j, w_1, …, w_m), w the softmax of (0, s(P_j − R − ε))."""
        weights = torch.softmax(self._exponents(y), 1)[:, 1:]
        slope = torch.cat([-weights.sum(1, keepdim=True), weights], 1)
        return self._penalty * self._sharpness * slope

    def outer_value(self, y: InnerVectors) -> Tensor:
        """Return f(y), [clients, replicates]."""
        exponents = self._exponents(y)
        mean: Tensor = torch.logsumexp(exponents, 1) - log(exponents.shape[1])
        return self._penalty * mean

    def _exponents(self, y: InnerVectors) -> Tensor:
        """Return (0, s(P_1 − R − ε), …)."""
        over = self._sharpness * (y[:, 1:] - y[:, :1] - self._slack)
        return torch.cat([torch.zeros_like(y[:, :1]), over], 1)
