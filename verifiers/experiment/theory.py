r"""What a theorem speaks of, measured on a run of a composition: the link from figure to bound.

The bias of the plug-in gradient, the clients' drift and ‖∇F‖² are measured. The constants of a
network are not known: ``estimated_constants`` takes the largest values *seen* at the points that a
run visited, so each is at most the true one, and a right side made of them is an estimate that may
lie below the theorem's. Whoever draws it says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.composition import CompositionProblem
from driftproof.toolkit.constants import Expression, Letters, Notation, evaluate, expressed
from driftproof.toolkit.engines.batched import BatchedContext
from driftproof.toolkit.federation import sampled_context
from driftproof.toolkit.oracles import Composition, Pullback, on_every_client
from driftproof.toolkit.problem import Problem
from driftproof.verifiers.experiment.outcome import ROUNDS, Axis
from driftproof.verifiers.experiment.panel import Panel, curve

FEW = 8
"""Numbers of an inner value up to which its Jacobian is formed, row by row."""
ITERATIONS = 5
"""Of the power method, from one random direction."""


def drift(marked: Tensor | None) -> float:
    """Return (1/K) Σ_k ‖x_k − x̄‖ of what the clients marked in a step before it was averaged.

    0 before the first step, where nothing is marked.
    """
    if marked is None:
        return 0.0
    x = marked[..., 0]
    return float((x - x.mean(0)).norm(dim=1).mean())


def squared_gradient(problem: Problem, point: Tensor) -> float:
    """Return ‖∇F‖² at a point [dim], over all samples."""
    return float(problem.gradient(point[:, None]).square().sum())


def plug_in_bias(
    problem: CompositionProblem,
    point: Tensor,
    keys: tuple[str, ...],
    *,
    batch: int = 1,
    outer_batch: int = 1,
    draws: int = 8,
) -> float:
    """Return an estimate of ‖E u_B − ∇F‖ at a point [dim], u_B the plug-in gradient of minibatches.

    The draws are halved and the product of the halves' deviations taken, whose mean is the squared
    bias whatever the noise; 0 stands for a product below 0: no bias is seen above the noise.

    Args:
        keys: of the draws.
        batch, outer_batch: samples of the inner and of the outer function.
        draws: how many minibatches, an even number.
    """
    ctx = _context(problem, (*keys, "plug-in bias"), point, draws)
    oracles, x = problem.oracles(ctx.dtype, ctx.device), ctx.everywhere(point)
    xi, zeta = (
        ctx.draw(law, name)
        for law, name in (
            (oracles.inner_law(batch), "xi"),
            (oracles.outer_law(outer_batch), "zeta"),
        )
    )
    y, pullback = oracles.inner(x, xi)
    if problem.inside:
        y = y.mean(0, keepdim=True).expand_as(y)
    plain = oracles.plain_grad(x, ctx.draw(oracles.plain_law(batch), "plain"))
    direction = (plain + pullback(oracles.outer_grad(y, zeta))).mean(0)
    away = direction.double() - problem.gradient(point[:, None]).double()
    first, second = (half.mean(1) for half in away.chunk(2, 1))
    return float((first @ second).clamp(min=0).sqrt())


def estimated_constants(
    problem: CompositionProblem,
    points: Tensor,
    keys: tuple[str, ...],
    *,
    lowest: float = 0.0,
    draws: int = 4,
) -> dict[str, float]:
    """Return the roles' largest values at points [dim, m], m ≥ 2, in the order of a run.

    Lipschitz constants are quotients of neighbouring points; an inner value of more than FEW
    numbers is taken to have a symmetric Jacobian (for each task, one after another), as one
    gradient step has. Of such a value the Jacobian's noise is an unbiased estimate from one random
    direction, which may lie above the true one.

    Args:
        lowest: a lower bound on inf F: the initial gap is F at the first point less this.
        draws: single samples at which each constant is looked for.
    """
    ctx = _context(problem, (*keys, "constants"), points, points.shape[1])
    oracles: Composition = problem.oracles(ctx.dtype, ctx.device)
    x = on_every_client(points.to(ctx.dtype), problem.clients)
    seen: dict[str, list[float]] = {}

    def note(role: str, values: Tensor) -> None:
        seen.setdefault(role, []).append(float(values.max()))

    mean_y, mean_pull = oracles.inner(x, None)
    at = mean_y.mean(0, keepdim=True).expand_as(mean_y) if problem.inside else mean_y
    mean_outer = oracles.outer_grad(at, None)
    random = torch.Generator().manual_seed(0)
    v = torch.randn((*mean_y.shape[:2], 1), generator=random, dtype=torch.float64).to(mean_y)
    v = v.expand_as(mean_y).contiguous()  # the same direction at every point
    steps, y_steps = _between(x), _between(at)
    value_noise, slope_noise, outer_noise = [], [], []
    for ctx.t in range(draws):
        xi = _same_for_all_points(ctx.draw(oracles.inner_law(1), "xi"))
        zeta = _same_for_all_points(ctx.draw(oracles.outer_law(1), "zeta"))
        y, pullback = oracles.inner(x, xi)
        note("inner_gradient_bound", _spectral_norm(pullback, y, x, v))
        note("inner_smoothness", _quotient(pullback(v) / v.norm(dim=1, keepdim=True), steps))
        outer = oracles.outer_grad(at, zeta)
        note("outer_gradient_bound", outer.norm(dim=1))
        note("outer_smoothness", _quotient(outer, y_steps))
        value_noise.append((y - mean_y).square().sum(1))
        slope_noise.append(_squared_difference(pullback, mean_pull, mean_y, v))
        outer_noise.append((outer - mean_outer).square().sum(1))
    for role, noise in (
        ("inner_value_noise", value_noise),
        ("inner_gradient_noise", slope_noise),
        ("outer_gradient_noise", outer_noise),
    ):
        note(role, torch.stack(noise).mean(0).sqrt())
    gradient = problem.gradient(points.to(ctx.dtype))
    note("objective_smoothness", _quotient(gradient[None], _between(points[None].to(ctx.dtype))))
    constants = {role: max(values) for role, values in seen.items()}
    gap = float(problem.objective(points[:, :1].to(ctx.dtype))) - lowest
    return constants | {"initial_gap": max(gap, 0.0)} | _moments(constants)


def right_side(
    right: Callable[[Letters], Expression],
    problem: Problem,
    algorithm: Algorithm,
    rounds: int,
    constants: Mapping[str, float],
) -> float:
    """Return a claim's right side at estimated constants.

    Args:
        right: of the claim: ``theorem_1.corrected`` say, a function of the paper's letters.
        constants: by role, ``estimated_constants`` say.
    """
    notation = Notation(algorithm.notation, algorithm.required_signs)
    numbers = {k: v for k, v in algorithm.values().items() if isinstance(v, int | float)}
    roles = numbers | {
        "clients": problem.clients,
        "dim": problem.dim,
        "cohort_size": algorithm.cohort_size(problem.clients),
        "rounds": rounds,
        "steps": rounds * algorithm.local_steps,
    }
    return evaluate(expressed(right, Letters(notation)), notation, roles | dict(constants))


LABELS = {"drift": "drift of the clients", "bias": "bias of the plug-in gradient", "left": "‖∇F‖²"}


def panel(
    name: str, title: str, result: Mapping[str, Any], axis: Axis = ROUNDS, run: Any = None
) -> Panel:
    """Return a plot of what a single run measured of LABELS; gaps where nothing was seen."""
    x = [axis.place(run, at) for at in result["round"]]
    curves = [
        curve(label, x, np.array([[value if value > 0 else np.nan for value in result[of]]]))
        for of, label in LABELS.items()
        if of in result
    ]
    return Panel(name, f"{title}, first seed", axis.label, "", curves, log="y")


def told(label: str, result: Mapping[str, Any], right: float | None) -> str:
    """Say of a run that measured "left" and "bias" how far the bound is from what it bounds.

    Args:
        right: the right side at constants that were estimated on the way, if they were.
    """
    left, bias = result["left"], result["bias"]
    measured = (
        f"{label}, first seed: the mean of ‖∇F‖² over the run's moments is "
        f"{sum(left) / len(left):.3g} (it ends at {left[-1]:.3g}), the plug-in gradient's bias at "
        f"most {max(bias):.2g}"
    )
    if right is None:
        return f"{measured}."
    seen = ", ".join(f"{role} {value:.3g}" for role, value in result.get("constants", {}).items())
    return (
        f"{measured}; the theorem's right side is {right:.3g} at constants that are estimated, the "
        f"largest values seen on the way and so at most the true ones{seen and f' ({seen})'}."
    )


def _moments(constants: Mapping[str, float]) -> dict[str, float]:
    """Return the roles that are at most another: a root mean square is at most a largest value."""
    same = {
        "inner_gradient_moment": "inner_gradient_bound",
        "outer_gradient_moment": "outer_gradient_bound",
        "inner_mean_smoothness": "inner_smoothness",
        "outer_mean_smoothness": "outer_smoothness",
    }
    return {role: constants[bound] for role, bound in same.items()}


def _context(
    problem: Problem, keys: tuple[str, ...], like: Tensor, replicates: int
) -> BatchedContext:
    return sampled_context(
        problem, keys, replicates=replicates, dtype=like.dtype, device=str(like.device)
    )


def _same_for_all_points(draw: Tensor | None) -> Tensor | None:
    """Return a draw in which every replicate has the first one's: one sample at all points."""
    return None if draw is None else draw[..., :1].expand_as(draw).contiguous()


def _between(x: Tensor) -> Tensor:
    """Return the distances of neighbouring points, [clients, m − 1], for x [clients, dim, m]."""
    distances: Tensor = x.diff(dim=2).norm(dim=1)
    return distances


def _quotient(values: Tensor, steps: Tensor) -> Tensor:
    """Return how much values [clients, q, m] change for each unit of the points' steps."""
    change = values.diff(dim=2).norm(dim=1)
    quotient: Tensor = torch.where(steps > 0, change / steps, torch.zeros_like(change))
    return quotient


def _squared_difference(one: Pullback, other: Pullback, y: Tensor, v: Tensor) -> Tensor:
    """Return the squared Frobenius norm of the difference of two Jacobians, [clients, m].

    Row by row of few; else by one random direction v, whose mean it is (Hutchinson).
    """
    if y.shape[1] > FEW:
        return (one(v) - other(v)).square().sum(1)
    total = torch.zeros_like(y[:, 0])
    for row in range(y.shape[1]):
        unit = torch.zeros_like(y)
        unit[:, row] = 1.0
        total = total + (one(unit) - other(unit)).square().sum(1)
    return total


def _spectral_norm(pullback: Pullback, y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    """Return a lower estimate of the Jacobian's norm at every point, [clients, m]."""
    count = y.shape[1]
    if count <= FEW:
        rows = []
        for row in range(count):
            unit = torch.zeros_like(y)
            unit[:, row] = 1.0
            rows.append(pullback(unit))
        jacobian = torch.stack(rows, 1).movedim(3, 1)  # [clients, m, q, dim]
        largest: Tensor = torch.linalg.matrix_norm(jacobian.double(), 2)
        return largest
    tasks, dim = count // x.shape[1], x.shape[1]
    direction = v[:, :dim] / v[:, :dim].norm(dim=1, keepdim=True)
    norm = torch.zeros_like(direction[:, 0])
    for _ in range(ITERATIONS):
        images = []
        for task in range(tasks):
            seed = torch.zeros_like(y)
            seed[:, task * dim : (task + 1) * dim] = direction
            images.append(pullback(seed))
        together = torch.cat(images, 1)
        norm = together.norm(dim=1)
        direction = pullback(together)
        direction = direction / direction.norm(dim=1, keepdim=True)
    return norm
