"""The minimiser of ``synthetic.problems.quadratic_bilevel``, in closed form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from synthetic.problems.quadratic_bilevel import QuadraticBilevel


def minimiser(of: QuadraticBilevel) -> np.ndarray:
    """Return the x of least norm with (wBᵀB + λI)x = wBᵀ(ā − H̄^{-1}ē) − γe, [dim]."""
    system, right = _normal(of)
    found: np.ndarray = np.linalg.lstsq(system, right, rcond=None)[0]
    return found


def flat_and_inside(of: QuadraticBilevel) -> bool:
    """Say whether ∇F is 0 there: the system is solvable, and no φ is beyond its quadratic part."""
    (system, right), (b, shift) = _normal(of), of.response
    x = minimiser(of)
    flat = np.allclose(system @ x, right, rtol=0, atol=1e-12 * max(1.0, np.abs(right).max()))
    away = np.linalg.norm(b @ x + shift - of.parts["a"], axis=1).max()
    inside = not of.upper_slope or away * of.upper_curvature <= of.upper_slope
    # two φ beyond theirs may cancel: with equal curvature and signs in pairs, at y* = ā
    return bool(flat and (inside or not of.slope))


def _normal(of: QuadraticBilevel) -> tuple[np.ndarray, np.ndarray]:
    (b, shift), w = of.response, of.upper_curvature
    system = w * b.T @ b + of.regulariser * np.eye(of.dim)
    right = w * b.T @ (of.parts["a"].mean(0) - shift)
    right[0] -= of.slope
    return system, right
