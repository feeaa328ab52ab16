"""Minimax problems with piecewise linear derivatives."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from driftproof.synthetic.oracles.piecewise_levels import LevelParts
from driftproof.synthetic.pieces.piecewise_levels import LevelMembers
from driftproof.synthetic.problems.piecewise_minimax import PiecewiseMinimax
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.problem import Problem
from driftproof.verifiers.search.families import decoding
from driftproof.verifiers.search.families.decoding import Rows
from driftproof.verifiers.search.structure import Choices, Structure

NOISES = ("x_noise", "y_noise")


class MinimaxProblems:
    """``PiecewiseMinimax``: with b̄ ≠ 0 F rises to both sides whatever h is, as k̄ is convex."""

    leaf_name = PiecewiseMinimax.leaf_name
    asserts = frozenset({"zero-sum"})
    members = LevelMembers

    def choices(self, algorithm: Algorithm, problem: Problem, asked: Set[str]) -> Choices:
        """Return from what structures are drawn."""
        # ∇²g_i has a Lipschitz constant only if k_i' has one piece
        quadratic = "lower_hessian_smoothness" in asked
        fixed = (("averaged_inside", False), *((("knots", 2),) if quadratic else ()))
        alike = ("plain", "lower", "coupling")
        return Choices(
            self.leaf_name, algorithm, NOISES, alike=alike, opposed=alike[:1], fixed=fixed
        )

    def parts(self, rows: Rows, of: Structure) -> LevelParts:
        """Return the instances that vectors stand for."""
        plain = decoding.curves(rows, of, "plain") if of.plain else decoding.no_curves(rows, of)
        return LevelParts(
            plain, decoding.rising_curves(rows, of, "lower"),
            decoding.vectors(rows, of, "coupling", 1.0), **decoding.noises(rows, of, NOISES),
            rare=of.rare,
        )  # fmt: skip

    def member(self, parts: Any, of: Structure) -> PiecewiseMinimax:
        """Return the first of them."""
        return PiecewiseMinimax(
            clients=of.clients, dim=of.dim, rare=of.rare,
            plain=decoding.as_curves(parts.plain) if of.plain else (),
            lower=decoding.as_curves(parts.of_y), coupling=decoding.as_vectors(parts.coupling),
            **{name: float(getattr(parts, name)[0]) for name in NOISES},
        )  # fmt: skip
