"""Losses with piecewise linear derivatives."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import torch

from driftproof.synthetic.oracles.piecewise import PiecewiseParts
from driftproof.synthetic.pieces.piecewise_members import PiecewiseMembers
from driftproof.synthetic.problems.piecewise_losses import PiecewiseLosses
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.problem import Problem
from driftproof.verifiers.search.families import decoding
from driftproof.verifiers.search.families.decoding import Rows
from driftproof.verifiers.search.structure import Choices, Structure


class LossFunctions:
    """``PiecewiseLosses``."""

    leaf_name = PiecewiseLosses.leaf_name
    asserts = frozenset[str]()
    members = PiecewiseMembers

    def choices(self, algorithm: Algorithm, problem: Problem, asked: Set[str]) -> Choices:
        """Return from what structures are drawn."""
        convex = "strong_convexity" in asked and "field_gradient_bound" not in asked
        fixed = (("averaged_inside", False), ("plain", False), ("convex", convex))
        alike = ("inner", "outer", "plain", "offsets")
        return Choices(
            self.leaf_name, algorithm, ("plain_noise",), alike=alike, opposed=("plain",),
            fixed=fixed,
        )  # fmt: skip

    def parts(self, rows: Rows, of: Structure) -> PiecewiseParts:
        """Return the instances that vectors stand for."""
        plain = (decoding.rising_curves if of.convex else decoding.curves)(rows, of, "plain")
        none = torch.zeros(rows.columns, dtype=torch.float64)
        noise = decoding.noises(rows, of, ("plain_noise",))["plain_noise"]
        if not of.convex:
            _bound_below(plain.values, rows.rise)
        return PiecewiseParts(
            plain, None, None, torch.zeros_like(plain.left), none, none, torch.ones_like(none),
            none, noise, rare=of.rare,
        )  # fmt: skip

    def member(self, parts: Any, of: Structure) -> PiecewiseLosses:
        """Return the first of them."""
        return PiecewiseLosses(
            clients=of.clients, dim=of.dim, rare=of.rare,
            gradients=decoding.as_curves(parts.plain), noise=float(parts.plain_noise[0]),
            tails="linear" if of.convex else "flat",
        )  # fmt: skip


def _bound_below(values: torch.Tensor, rise: float) -> None:
    """Change the outermost values [clients, dim, knots, …], in place, so that F rises there."""
    steepest = values.abs().amax((0, 2))
    for end, sign in ((-1, 1.0), (0, -1.0)):
        value = values[:, :, end]
        value += sign * torch.clamp(rise * steepest - sign * value.mean(0), min=0.0)
