"""Compositions with piecewise linear derivatives."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import torch

from driftproof.synthetic.oracles.piecewise import PiecewiseParts
from driftproof.synthetic.pieces.piecewise_members import PiecewiseMembers
from driftproof.synthetic.problems.piecewise_composition import PiecewiseComposition
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.engines.replay import Asked, Transcript
from driftproof.toolkit.federation import sampled_context
from driftproof.toolkit.problem import Problem
from driftproof.verifiers.search.families import decoding
from driftproof.verifiers.search.families.decoding import Rows
from driftproof.verifiers.search.structure import Choices, Structure

NOISES = ("value_noise", "gradient_noise", "outer_noise", "plain_noise")


class Compositions:
    """``PiecewiseComposition``."""

    leaf_name = PiecewiseComposition.leaf_name
    asserts = frozenset[str]()
    members = PiecewiseMembers

    def choices(self, algorithm: Algorithm, problem: Problem, asked: Set[str]) -> Choices:
        """Return from what structures are drawn."""
        inside = bool(getattr(problem, "inside", False))
        # a part h is for the algorithms whose problem has one: those that ask for its gradient, of
        # problems whose inner values are averaged
        has_plain = inside and "oracles.plain_grad" in _asked(algorithm, problem)
        noises = NOISES if has_plain else NOISES[:3]
        fixed = (("averaged_inside", inside), *(() if has_plain else (("plain", False),)))
        alike = ("inner", "outer", "plain", "offsets")
        return Choices(
            self.leaf_name, algorithm, noises, alike=alike,
            opposed=alike[:1] if inside else alike[:2], fixed=fixed,
        )  # fmt: skip

    def parts(self, rows: Rows, of: Structure) -> PiecewiseParts:
        """Return the instances that vectors stand for."""
        plain = decoding.curves(rows, of, "plain") if of.plain else decoding.no_curves(rows, of)
        inner, outer = (decoding.curves(rows, of, name) for name in ("inner", "outer"))
        offsets = decoding.vectors(rows, of, "offsets")
        if of.averaged_inside:
            outer = outer.changed(lambda x: x[:1].expand_as(x).clone())
        parts = PiecewiseParts(
            plain, inner, outer, offsets, **decoding.noises(rows, of, NOISES),
            wave=decoding.wave(rows, of, "gradient_noise"), rare=of.rare,
            inside=of.averaged_inside,
        )  # fmt: skip
        # where inner functions are opposed, F rises to both sides as it is, and is to stay so
        opposed = rows.opposed & (of.opposed == "inner")
        kept = inner.values[..., opposed], outer.values[..., opposed]
        _bound_below(parts, rows.rise)
        inner.values[..., opposed], outer.values[..., opposed] = kept
        return parts

    def member(self, parts: Any, of: Structure) -> PiecewiseComposition:
        """Return the first of them."""
        return PiecewiseComposition(
            clients=of.clients, dim=of.dim, rare=of.rare, averaged_inside=of.averaged_inside,
            plain=decoding.as_curves(parts.plain) if of.plain else (),
            inner=decoding.as_curves(parts.inner), outer=decoding.as_curves(parts.outer),
            offsets=decoding.as_vectors(parts.offsets), wave=float(parts.wave[0]),
            **{name: float(getattr(parts, name)[0]) for name in NOISES},
        )  # fmt: skip


def _asked(algorithm: Algorithm, problem: Problem) -> set[str]:
    """Return what an algorithm asks of a problem's oracles in its first round."""
    ctx, transcript = sampled_context(problem, ("asked",), replicates=1), Transcript()
    ctx.local_steps = algorithm.local_steps
    oracles = Asked(problem.oracles(ctx.dtype), transcript, "oracles")
    state = algorithm.init(ctx, oracles, torch.from_numpy(problem.start()))
    for ctx.t in range(algorithm.local_steps):
        state = algorithm.step(ctx, oracles, state)
    return {call.of for call in transcript.calls}


def _bound_below(parts: PiecewiseParts, rise: float) -> None:
    """Change the outer functions' outermost values, in place, so that F rises to both sides."""
    assert parts.inner is not None
    assert parts.outer is not None
    for end, sign in ((-1, 1.0), (0, -1.0)):
        slope = parts.inner.values[:, :, end]
        slope.abs_().clamp_(min=1e-12)
        mean = slope.mean(0)
        value, plain = parts.outer.values[:, :, end], parts.plain.values[:, :, end].mean(0)
        falls = value.mean(0) * mean if parts.inside else (value * slope).mean(0)
        least = rise * parts.outer.values.abs().amax((0, 2)) * mean
        value += sign * torch.clamp(least - sign * (falls + plain), min=0.0) / mean
