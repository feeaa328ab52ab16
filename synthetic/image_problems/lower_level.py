r"""Exact lower-level solutions and products with inverse Hessians, without matrices.

Both are certified by what is left over, since g is ν-strongly convex: ‖y − y*‖ ≤ ‖∇g(y)‖/ν and
‖p − H^{-1}v‖ ≤ ‖Hp − v‖/ν.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit.bilevel import BilevelProblem
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.oracles import (
    Bilevel,
    ClientVectors,
    LowerVector,
    LowerVectors,
    UpperVector,
    on_every_client,
)

SOLVED = 1e-7
"""Largest ‖∇_y g‖ of a lower-level solution; it is then within SOLVED/ν of y*."""
NEWTON_STEPS = 20
PRODUCTS = 5000
"""Products with a matrix after which conjugate gradients give up."""


class Valued(Bilevel, Protocol):
    """Oracles that tell g_i as well."""

    def lower_value(self, x: Tensor, y: Tensor) -> Tensor:
        """Return g_i(x, y), [clients, replicates]."""


def mean_product(oracles: Bilevel, x: ClientVectors, y: LowerVectors, v: Tensor) -> Tensor:
    """Return ∇²_yy g(x, y) v of the mean g, for v of [lower_dim]."""
    along = on_every_client(v[:, None], oracles.clients)
    return oracles.lower_hessian_product(x, y, along, None).mean(0)[:, 0]


def minimised(oracles: Valued, x: ClientVectors, start: np.ndarray, tolerance: float) -> Tensor:
    """Return y with ‖∇_y g(x, y)‖ ≤ tolerance, g the mean; x has one replicate.

    L-BFGS until it stops, then Newton's steps, each by conjugate gradients.
    """
    from scipy.optimize import minimize

    def shared(y: np.ndarray) -> ClientVectors:
        return on_every_client(torch.from_numpy(y)[:, None], oracles.clients)

    def both(y: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = oracles.lower_value(x, shared(y)), oracles.lower_grad(x, shared(y), None)
        return float(value.mean()), gradient.mean(0)[:, 0].numpy()

    options = {"maxiter": 20_000, "maxfun": 40_000, "maxcor": 30, "gtol": tolerance, "ftol": 0.0}
    y = minimize(both, start, jac=True, method="L-BFGS-B", options=options).x
    for _ in range(NEWTON_STEPS):
        gradient = both(y)[1]
        if np.linalg.norm(gradient) <= tolerance:
            return torch.from_numpy(y)
        product = partial(mean_product, oracles, x, shared(y))
        y = y - conjugate_gradients(product, torch.from_numpy(gradient), 1e-3).numpy()
    raise DriftproofError(
        f"a lower-level problem whose gradient stays at {np.linalg.norm(gradient):.2g}",
        f"{tolerance:g}",
        "a larger ridge",
    )


def conjugate_gradients(
    product: Callable[[Tensor], Tensor], right: Tensor, relative: float
) -> Tensor:
    """Return p with ‖Ap − right‖ ≤ relative·‖right‖ for a positive definite A, given v ↦ Av."""
    p, left_over = torch.zeros_like(right), right.clone()
    direction, size = left_over.clone(), float(right @ right)
    wanted = relative**2 * size
    for _ in range(PRODUCTS):
        if size <= wanted:
            return p
        turned = product(direction)
        step = size / float(direction @ turned)
        p, left_over = p + step * direction, left_over - step * turned
        before, size = size, float(left_over @ left_over)
        direction = left_over + size / before * direction
    raise DriftproofError(
        f"conjugate gradients at {(size / float(right @ right)) ** 0.5:.2g} after {PRODUCTS}",
        f"{relative:g}",
        "a larger ridge",
    )


def inverse_products(
    oracles: Bilevel, x: ClientVectors, y: LowerVectors, v: Tensor, relative: float
) -> Tensor:
    """Return [∇²_yy g(x, y)]^{-1} v of the mean g, for v of [n, lower_dim, replicates].

    By conjugate gradients: no matrix of dim² numbers.
    """
    solved = torch.empty_like(v)
    for row, k in np.ndindex(len(v), v.shape[2]):
        product = partial(mean_product, oracles, x[..., k : k + 1], y[..., k : k + 1])
        solved[row, :, k] = conjugate_gradients(product, v[row, :, k], relative)
    return solved


class SolvedLowerLevel(BilevelProblem):
    """A problem whose oracles are ``Valued``: y*(x) and inverse Hessians without matrices."""

    def lower_solution(self, x: UpperVector) -> LowerVector:
        """Return y with ‖∇_y g(x, y)‖ ≤ SOLVED; each replicate is solved on its own.

        Raises:
            DriftproofError: none is found.
        """
        oracles: Any = self._oracles(x)
        start = self.start()[self.upper_dim :]
        columns = [on_every_client(x[:, k : k + 1], self.clients) for k in range(x.shape[1])]
        return torch.stack([minimised(oracles, column, start, SOLVED) for column in columns], 1)

    def solve_hessian(self, x: ClientVectors, y: LowerVectors, v: Tensor) -> Tensor:
        """Return [∇²_yy g(x, y)]^{-1} v by conjugate gradients."""
        return inverse_products(self._oracles(x), x, y, v, SOLVED)
