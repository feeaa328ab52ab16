"""The piecewise families: what a claim fixes of each, and how F is kept bounded below."""

from collections.abc import Set
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from driftproof.synthetic.building_blocks.parts import Parts
from driftproof.synthetic.building_blocks.piecewise_levels import LevelMembers
from driftproof.synthetic.building_blocks.piecewise_problem import PiecewiseMembers
from driftproof.synthetic.problems.piecewise_bilevel import PiecewiseBilevel
from driftproof.synthetic.problems.piecewise_composition import PiecewiseComposition
from driftproof.synthetic.problems.piecewise_losses import PiecewiseLosses
from driftproof.synthetic.problems.piecewise_minimax import PiecewiseMinimax
from driftproof.synthetic.problems.piecewise_terms import TERMS, PiecewiseTerms, TermMembers
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.at_optimum import AT_OPTIMUM
from driftproof.toolkit.engines.replay import Asked, Transcript
from driftproof.toolkit.federation import sampled_context
from driftproof.toolkit.problem import Problem
from driftproof.verifiers.search.families.decoding import Rows
from driftproof.verifiers.search.families.family import Family
from driftproof.verifiers.search.structure import Choices, Structure

CONVEX = AT_OPTIMUM | {"strong_convexity", "client_strong_convexity"}
"""The roles that a loss has if it is convex, as a draw of curves seldom is."""
ENDS = ((-1, 1.0), (0, -1.0))
"""The last and the first knot, and the sign that F' has to have there."""


class Compositions(Family):
    """``PiecewiseComposition``."""

    problem, members = PiecewiseComposition, PiecewiseMembers

    def narrowed(self, choices: Choices, algorithm: Algorithm, problem: Problem) -> Choices:
        """Return the choices without what averaged inner values, or the oracles, leave out."""
        if getattr(problem, "inside", False):
            choices = replace(choices, opposed=("inner",))
            # a part h is for the algorithms whose problem has one: those that ask for its gradient,
            # of problems whose inner values are averaged
            if "oracles.plain_grad" in _asked(algorithm, problem):
                return choices
        noises = tuple(name for name in choices.noises if name != "plain_noise")
        return replace(choices, noises=noises, fixed=(*choices.fixed, ("plain", False)))

    def fixed(self, problem: Problem, asked: Set[str]) -> dict[str, Any]:
        """Return what of a structure a claim leaves no choice of."""
        return {"averaged_inside": bool(getattr(problem, "inside", False))}

    def settle(self, parts: Parts, rows: Rows, of: Structure) -> None:
        """Change the outer functions' outermost values so that F rises to both sides."""
        inner, outer = parts.inner.values, parts.outer.values
        if of.averaged_inside:
            for x in (parts.outer.knots, outer):
                x[1:] = x[:1]
        # where inner functions are opposed, F rises to both sides as it is, and is to stay so
        opposed = rows.opposed & (of.opposed == "inner")
        kept = inner[..., opposed], outer[..., opposed]
        for end, sign in ENDS:
            slope = inner[:, :, end]
            slope.abs_().clamp_(min=1e-12)
            mean = slope.mean(0)
            value, plain = outer[:, :, end], parts.plain.values[:, :, end].mean(0)
            falls = value.mean(0) * mean if of.averaged_inside else (value * slope).mean(0)
            least = rows.rise * outer.abs().amax((0, 2)) * mean
            value += sign * torch.clamp(least - sign * (falls + plain), min=0.0) / mean
        inner[..., opposed], outer[..., opposed] = kept


class LossFunctions(Family):
    """``PiecewiseLosses``."""

    problem, members = PiecewiseLosses, PiecewiseMembers

    # a search draws them as it does compositions, of which they are the plain part
    alike = ("inner", "outer", "plain", "offsets")
    convex = {"convex": True}
    fields_at_start = ("plain",)

    def fixed(self, problem: Problem, asked: Set[str]) -> dict[str, Any]:
        """Return what of a structure a claim leaves no choice of."""
        convex = bool(CONVEX & asked) and "field_gradient_bound" not in asked
        return {"averaged_inside": False, "plain": False, "convex": convex}

    def settle(self, parts: Parts, rows: Rows, of: Structure) -> None:
        """Change the outermost values so that F rises there, if it does not by itself."""
        if of.convex:
            return
        values = parts.plain.values
        steepest = values.abs().amax((0, 2))
        for end, sign in ENDS:
            value = values[:, :, end]
            value += sign * torch.clamp(rows.rise * steepest - sign * value.mean(0), min=0.0)


class LossesWithTerm(Family):
    """``PiecewiseTerms``."""

    problem, members = PiecewiseTerms, TermMembers

    def fixed(self, problem: Problem, asked: Set[str]) -> dict[str, Any]:
        """Return what of a structure a claim leaves no choice of."""
        return {"plain": False, "convex": True, "term": TERMS.get(problem.offers, "kinks")}


class MinimaxProblems(Family):
    """``PiecewiseMinimax``: with b̄ ≠ 0 F rises to both sides whatever h is, as k̄ is convex."""

    problem, members = PiecewiseMinimax, LevelMembers
    convex = {"convex": True, "plain": True}
    fields_at_start = "plain", "lower"

    def fixed(self, problem: Problem, asked: Set[str]) -> dict[str, Any]:
        """Return what of a structure a claim leaves no choice of."""
        # ∇²g_i has a Lipschitz constant only if k_i' has one piece
        quadratic = {"knots": 2} if "lower_hessian_smoothness" in asked else {}
        # the field of f_i is strongly monotone where h_i is strongly convex
        monotone = self.convex if "field_monotonicity" in asked else {}
        return super().fixed(problem, asked) | quadratic | monotone


class BilevelProblems(Family):
    """``PiecewiseBilevel``."""

    problem, members = PiecewiseBilevel, LevelMembers

    def fixed(self, problem: Problem, asked: Set[str]) -> dict[str, Any]:
        """Return what of a structure a claim leaves no choice of."""
        # f_i is Lipschitz only without a coupling
        lipschitz = "upper_gradient_bound" in asked
        return super().fixed(problem, asked) | ({"coupled": False} if lipschitz else {})

    def settle(self, parts: Parts, rows: Rows, of: Structure) -> None:
        """Give the coupling a sign, or change u' where it ends, so that F rises to both sides.

        Along y, F/r has the derivative h̄'/r + ū', r = dy*/dx, which has to be above 0 where y is
        large, and below where it is small.
        """
        cross = parts.cross.mean(0)
        if of.coupled:
            parts.coupling.mul_(torch.sign(parts.coupling.mean(0) * cross))  # F'' = 2w̄r > 0
            return
        r, plain, upper = cross / parts.curvature.mean(0), parts.plain.values, parts.upper.values
        steepest = rows.rise * upper.abs().amax((0, 2))
        ends = plain[:, :, 0].mean(0), plain[:, :, -1].mean(0)
        for end, sign in ENDS:
            # where y* falls with x, a large y is at a small x
            same, other = (ends[1], ends[0]) if sign > 0 else (ends[0], ends[1])
            tail: Tensor = torch.where(r > 0, same, other) / torch.where(r != 0, r, 1.0)
            value = upper[:, :, end]
            value += sign * torch.clamp(steepest - sign * (value.mean(0) + tail), min=0.0)


def _asked(algorithm: Algorithm, problem: Problem) -> set[str]:
    """Return what an algorithm asks of a problem's oracles in its first round."""
    ctx, transcript = sampled_context(problem, ("asked",), replicates=1), Transcript()
    ctx.local_steps = algorithm.local_steps
    oracles = Asked(problem.oracles(ctx.dtype), transcript, "oracles")
    state = algorithm.init(ctx, oracles, torch.from_numpy(problem.start()))
    for ctx.t in range(algorithm.local_steps):
        state = algorithm.step(ctx, oracles, state)
    return {call.of for call in transcript.calls}
