"""A problem as plain functions of numpy, for tests of code that knows nothing of driftproof."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftproof.toolkit.errors import DriftproofError

VALUES = ("mean_loss", "plain_value")
"""What oracles call a client's own f_i, the first that they have."""


@dataclass(frozen=True)
class InNumpy:
    """F(x) = (1/n) Σ f_i(x), exactly: no noise is drawn.

    >>> from driftproof.synthetic.problems import PiecewiseLosses
    >>> plain = PiecewiseLosses().numpy()
    >>> plain.clients, plain.start, plain.loss(0, plain.start), plain.grad(0, plain.start)
    (2, array([0.]), 0.0, array([-1.]))

    Attributes:
        constants: those that are proven, by role; a role that is missing has no proven bound.
        start: x_0.
        low, high: an enclosure of inf F.
        minimiser: a point whose value is ``high`` (None: the infimum is not attained).
    """

    problem: Any
    clients: int
    constants: Mapping[str, float]
    start: np.ndarray
    low: float
    high: float
    minimiser: np.ndarray | None

    def loss(self, client: int, x: np.ndarray) -> float:
        """Return f_i(x)."""
        every = self._every(x)
        oracles = self.problem.oracles_for(every)
        return float(getattr(oracles, _value_of(oracles))(every)[client, 0])

    def grad(self, client: int, x: np.ndarray) -> np.ndarray:
        """Return ∇f_i(x), or the subgradient that the problem's oracle gives."""
        every = self._every(x)
        slopes = self.problem.oracles_for(every).field_grad(every, None)
        slope: np.ndarray = slopes[client, :, 0].detach().numpy().copy()
        return slope

    def _every(self, x: np.ndarray) -> Any:
        import torch

        at = torch.from_numpy(np.array(x, dtype=np.float64))
        if at.shape != self.start.shape:
            raise DriftproofError(
                f"x of shape {tuple(at.shape)} for {self.problem}",
                f"a vector of {len(self.start)} entries",
                "pass one point",
            )
        return at[None, :, None].expand(self.clients, -1, 1)


def in_numpy(problem: Any) -> InNumpy:
    """Return a problem's functions.

    Raises:
        DriftproofError: its clients have no loss and gradient of their own, as in a composition.
    """
    import torch

    oracles = problem.oracles_for(torch.empty(0, dtype=torch.float64))
    if problem.offers not in ("field", "losses", "samples") or not _value_of(oracles):
        raise DriftproofError(
            f"numpy() of {problem.leaf_name}, which offers {problem.offers!r}",
            "clients with a loss f_i and its gradient",
            'draw problems("field"), or ask problem.oracles(torch.float64)',
        )
    best = problem.solution
    return InNumpy(
        problem,
        problem.clients,
        dict(problem.constants),
        problem.start(),
        best.low,
        best.high,
        best.minimiser,
    )


def _value_of(oracles: Any) -> str:
    return next((name for name in VALUES if hasattr(oracles, name)), "")
