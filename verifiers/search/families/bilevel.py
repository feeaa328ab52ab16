"""Bilevel problems, quadratic below and with piecewise linear derivatives above."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import torch

from driftproof.synthetic.oracles.piecewise_levels import LevelParts
from driftproof.synthetic.pieces.piecewise_levels import LevelMembers
from driftproof.synthetic.problems.piecewise_bilevel import PiecewiseBilevel
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.problem import Problem
from driftproof.verifiers.search.families import decoding
from driftproof.verifiers.search.families.decoding import Rows
from driftproof.verifiers.search.structure import Choices, Structure

NOISES = ("x_noise", "y_noise", "value_noise", "curvature_noise", "cross_noise")
NUMBERS = ("curvature", "cross", "offsets")


class BilevelProblems:
    """``PiecewiseBilevel``."""

    leaf_name = PiecewiseBilevel.leaf_name
    asserts = frozenset[str]()
    members = LevelMembers

    def choices(self, algorithm: Algorithm, problem: Problem, asked: Set[str]) -> Choices:
        """Return from what structures are drawn."""
        # f_i is Lipschitz only without a coupling
        lipschitz = "upper_gradient_bound" in asked
        fixed = (("averaged_inside", False), *((("coupled", False),) if lipschitz else ()))
        alike = ("plain", "upper", *NUMBERS, "coupling")
        return Choices(
            self.leaf_name,
            algorithm,
            NOISES,
            alike=alike,
            opposed=("upper",),
            flags=("coupled",),
            fixed=fixed,
        )

    def parts(self, rows: Rows, of: Structure) -> LevelParts:
        """Return the instances that vectors stand for."""
        plain = decoding.curves(rows, of, "plain") if of.plain else decoding.no_curves(rows, of)
        upper = decoding.curves(rows, of, "upper")
        curvature = decoding.positive_vectors(rows, of, "curvature")
        cross = decoding.vectors(rows, of, "cross", 1.0)
        offsets = decoding.vectors(rows, of, "offsets")
        if of.coupled:
            coupling = decoding.vectors(rows, of, "coupling", 1.0)
            coupling = coupling * torch.sign(coupling.mean(0) * cross.mean(0))  # F'' = 2w̄r > 0
        else:
            coupling = torch.zeros_like(cross)
            _bound_below(plain.values, upper.values, cross.mean(0) / curvature.mean(0), rows.rise)
        return LevelParts(
            plain, upper, coupling, curvature=curvature, cross=cross, offsets=offsets,
            **decoding.noises(rows, of, NOISES),
            wave=decoding.wave(rows, of, "curvature_noise", "cross_noise"), rare=of.rare,
        )  # fmt: skip

    def member(self, parts: Any, of: Structure) -> PiecewiseBilevel:
        """Return the first of them."""
        sizes: dict[str, Any] = {name: float(getattr(parts, name)[0]) for name in NOISES}
        numbers: dict[str, Any] = {x: decoding.as_vectors(getattr(parts, x)) for x in NUMBERS}
        return PiecewiseBilevel(
            clients=of.clients, dim=of.dim, rare=of.rare,
            plain=decoding.as_curves(parts.plain) if of.plain else (),
            upper=decoding.as_curves(parts.of_y), wave=float(parts.wave[0]),
            coupling=decoding.as_vectors(parts.coupling) if of.coupled else (),
            **numbers, **sizes,
        )  # fmt: skip


def _bound_below(plain: torch.Tensor, upper: torch.Tensor, r: torch.Tensor, rise: float) -> None:
    """Change u' where it ends, in place, so that F rises to both sides.

    Along y, F/r has the derivative h̄'/r + ū', which has to be above 0 where y is large, and below
    where it is small.

    Args:
        plain, upper: values of h_i' and u_i', [clients, dim, knots, candidates].
        r: dy*/dx, [dim, candidates].
    """
    steepest = rise * upper.abs().amax((0, 2))
    ends = plain[:, :, 0].mean(0), plain[:, :, -1].mean(0)
    for end, sign in ((-1, 1.0), (0, -1.0)):
        # where y* falls with x, a large y is at a small x
        same, other = (ends[1], ends[0]) if sign > 0 else (ends[0], ends[1])
        tail = torch.where(r > 0, same, other) / torch.where(r != 0, r, 1.0)
        value = upper[:, :, end]
        value += sign * torch.clamp(steepest - sign * (value.mean(0) + tail), min=0.0)
