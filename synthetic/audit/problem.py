"""Laws of a problem: numbers, start, objective beside gradient, and the solution."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from numbers import Real
from typing import Any

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.attacks.search import maximise
from driftproof.synthetic.audit.oracle_calls import REPLICATES
from driftproof.synthetic.audit.oracles import audit_oracles
from driftproof.synthetic.audit.terms import audit_term
from driftproof.toolkit.assertions import ASSERTIONS
from driftproof.toolkit.constants import MODULI, SIGNED
from driftproof.toolkit.errors import DriftproofError, unknown_name
from driftproof.toolkit.oracles import OFFERS, feasible, has_term, on_every_client
from driftproof.toolkit.problem import Problem, Solution

STEP = 1e-4
DIRECTIONS = 8
RESIDUALS = {False: "‖∇F‖", True: "‖x − prox(x − t∇f(x), t)‖/t"}


def audit_problem(problem: Problem) -> None:
    """Raise DriftproofError at the first thing of a problem that does not fit the others."""
    check_numbers(problem)
    check_constants(problem)
    check_start(problem)
    audit_oracles(problem)
    check_gradient(problem)
    check_client_gradients(problem)
    check_losses(problem)
    audit_term(problem)
    check_solution(problem)
    check_assertions(problem)


def check_assertions(problem: Problem) -> None:
    """Raise unless what a problem asserts holds at some points."""
    for name in sorted(problem.asserts):
        if name not in ASSERTIONS:
            raise unknown_name("assertion", name, ASSERTIONS)
        if not ASSERTIONS[name].of(problem):
            raise DriftproofError(
                f"{problem.leaf_name} asserts {name!r}, which its oracles do not have",
                ASSERTIONS[name].words,
                "mend the oracles, or asserts",
            )


def check_numbers(problem: Problem) -> None:
    """Raise unless clients, dim and radius are numbers that a problem can have."""
    for name in ("clients", "dim"):
        value = getattr(problem, name, None)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise DriftproofError(
                f"{name} = {value!r} of {problem.leaf_name}",
                "a whole number, 1 or more",
                f"set {name}; {name}: PositiveInt refuses others",
            )
    radius = problem.radius
    if radius is not None and not (_finite(radius) and radius > 0):
        raise DriftproofError(
            f"radius = {radius!r} of {problem.leaf_name}",
            "a finite number above 0, or None where the constants hold everywhere",
            "mend radius",
        )


def check_constants(problem: Problem) -> None:
    """Raise unless every declared constant is a number that its role can be."""
    for role, value in problem.constants.items():
        if not _finite(value):
            raise DriftproofError(
                f"{role} = {value!r} of {problem.leaf_name}",
                "a finite number",
                "mend constants: leave out a role that has no finite bound",
            )
        if value < 0 and role not in SIGNED:
            what = "modulus" if role in MODULI else "bound on a size"
            raise DriftproofError(
                f"{role} = {value:g} of {problem.leaf_name}",
                f"a number of 0 or more: it is a {what}",
                "mend constants",
            )


def check_start(problem: Problem) -> None:
    """Raise unless the start is a finite vector of as many entries as the algorithm moves."""
    start = problem.start()
    wanted = f"a vector of {problem.dim} entries: dim = {problem.dim}"
    size = problem.dim
    if problem.two_levels:
        upper: int = problem.upper_dim  # type: ignore[attr-defined]
        middle = torch.zeros(upper, 1, dtype=torch.float64)
        lower = problem.lower_solution(middle)  # type: ignore[attr-defined]
        size = upper + len(lower)
        wanted = f"a vector of {size} entries: {upper} of x and {len(lower)} of y"
    shape = np.shape(start)
    if not isinstance(start, np.ndarray) or shape != (size,):
        returned = f"an array of shape {shape}" if isinstance(start, np.ndarray) else repr(start)
        raise DriftproofError(
            f"start() of {problem.leaf_name} returned {returned}", wanted, "mend start, or dim"
        )
    if start.dtype.kind != "f" or not np.isfinite(start).all():
        raise DriftproofError(
            f"start() of {problem.leaf_name} returned {start!r}",
            "finite floating-point numbers",
            "mend start: np.zeros(self.dim), say",
        )


def sample(problem: Problem, *, seed: int = 0) -> Tensor:
    """Return points of F, [dim, replicates]: the start, and random ones inside the radius."""
    random = torch.Generator().manual_seed(seed)
    points = torch.randn(problem.dim, REPLICATES, generator=random, dtype=torch.float64)
    points[:, 0] = torch.from_numpy(problem.start())[: problem.dim]
    if problem.radius is not None:
        points = points * (problem.radius / points.norm(dim=0).clamp(min=problem.radius))
    return points


def values(problem: Problem, x: Tensor, of: str = "objective") -> Tensor:
    """Return F, or its smooth part, at points, after a look at its shape.

    Raises:
        DriftproofError: if it is not one number a point.
    """
    numbers = getattr(problem, of)(x)
    if not isinstance(numbers, Tensor) or tuple(numbers.shape) != (x.shape[1],):
        shape = tuple(numbers.shape) if isinstance(numbers, Tensor) else numbers
        raise DriftproofError(
            f"{of}(x) of {problem.leaf_name} at x of shape {tuple(x.shape)}: {shape!r}",
            f"a tensor of shape ({x.shape[1]},): a value at each of the points",
            f"mend {of}",
        )
    return numbers


def check_gradient(problem: Problem) -> None:
    """Raise unless the gradient is the derivative of F (of f in f + h), by central differences.

    Differences over a step and over half of it tell how far they may be off.
    """
    x, of = sample(problem), "smooth_part" if problem.offers == "proximal" else "objective"
    gradient = problem.gradient(x)
    if not isinstance(gradient, Tensor) or gradient.shape != x.shape:
        shape = tuple(gradient.shape) if isinstance(gradient, Tensor) else gradient
        raise DriftproofError(
            f"gradient(x) of {problem.leaf_name} at x of shape {tuple(x.shape)}: {shape!r}",
            f"a tensor of shape {tuple(x.shape)}",
            "mend gradient",
        )
    random = torch.Generator().manual_seed(1)
    along = torch.eye(problem.dim, dtype=torch.float64)[:, :DIRECTIONS]
    one = torch.randn(problem.dim, 1, generator=random, dtype=torch.float64)
    along = torch.cat([along, one / one.norm()], 1)
    for direction in along.T[:, :, None]:
        slope = (gradient * direction).sum(0)
        rise, wrong = _unlike(lambda at: values(problem, at, of), x, direction, slope)
        if bool(wrong.any()):
            k = int(wrong.float().argmax())
            raise DriftproofError(
                f"{problem.leaf_name} at x = {shown(x[:, k])}: along {shown(direction[:, 0])} "
                f"{of} rises by {float(rise[k]):g} per unit, gradient says "
                f"{float(slope[k]):g}",
                f"gradient(x) the derivative of {of}(x)",
                f"mend gradient, {of}, or the oracles that they are made of",
            )


def _unlike(
    of: Callable[[Tensor], Tensor], x: Tensor, direction: Tensor, said: Tensor
) -> tuple[Tensor, Tensor]:
    """Return a function's rise per unit along a direction, and where it is not what is said.

    Args:
        of: points [(clients,) dim, replicates] → values [(clients,) replicates].
        said: what a gradient says, like the values.
    """
    step = STEP * (1 + x.norm(dim=-2, keepdim=True))

    def rise(h: Tensor) -> Tensor:
        ahead, behind = (of(x + sign * h * direction) for sign in (1, -1))
        return (ahead - behind) / (2 * h.squeeze(-2))

    whole, half = rise(step), rise(step / 2)
    room = 1e-6 * (1 + said.abs()) + 10 * (whole - half).abs()
    room = room + 1e3 * 2.0**-52 * of(x).abs() / step.squeeze(-2)
    return half, ~((half - said).abs() <= room)


def check_client_gradients(problem: Problem) -> None:
    """Raise unless the clients' gradients have the gradient as their mean."""
    x, means = sample(problem), dict[str, list[Tensor]]()
    wanted = problem.gradient(x)
    with suppress(DriftproofError):  # it has none
        means["client_gradients"] = [problem.client_gradients(x).mean(0)]
    asked = OFFERS[problem.offers] & {"field", "proximal"}
    if asked and len(problem.start()) == problem.dim:
        oracles: Any = problem.oracles(torch.float64)
        each = oracles.field_grad(x.expand(problem.clients, *x.shape), None)
        weighted = (oracles.client_weights * each).sum(0)
        means["field_grad of the oracles"] = [each.mean(0), weighted]
    scale = 1e-8 * (1 + float(wanted.abs().max()))
    for method, of in means.items():
        if any(v.shape == wanted.shape and bool(((v - wanted).abs() <= scale).all()) for v in of):
            continue
        raise DriftproofError(
            f"{problem.leaf_name} at x = {shown(x[:, 0])}: the clients' mean gradient is "
            f"{shown(of[0][:, 0])}, gradient(x) is {shown(wanted[:, 0])}",
            "the gradient of F, which is the clients' mean",
            f"mend {method}, or gradient",
        )


def check_losses(problem: Problem) -> None:
    """Raise unless clients' gradients are those of the losses that their oracles give."""
    if "losses" not in OFFERS[problem.offers]:
        return
    oracles: Any = problem.oracles(torch.float64)
    random = torch.Generator().manual_seed(2)
    x = sample(problem).expand(problem.clients, -1, -1)
    direction = torch.randn(x.shape[1], 1, generator=random, dtype=torch.float64)
    direction = direction / direction.norm()
    said = (oracles.field_grad(x, None) * direction).sum(1)
    rise, wrong = _unlike(oracles.mean_loss, x, direction, said)
    if bool(wrong.any()):
        client, k = (int(v) for v in wrong.nonzero()[0])
        raise DriftproofError(
            f"client {client} of {problem.leaf_name} at x = {shown(x[client, :, k])}: along "
            f"{shown(direction[:, 0])} mean_loss rises by {float(rise[client, k]):g} per unit, "
            f"field_grad says {float(said[client, k]):g}",
            "field_grad(x, None) the gradient of mean_loss(x)",
            "mend mean_loss or field_grad of the oracles",
        )


def check_solution(problem: Problem) -> None:
    """Raise unless the certified optimum encloses inf F as far as can be seen."""
    solution, name = problem.solution, problem.leaf_name
    if not isinstance(solution, Solution) or not (
        _finite(solution.low) and _finite(solution.high) and solution.low <= solution.high
    ):
        raise DriftproofError(
            f"solution of {name}: {solution!r}",
            "Solution(low, high, minimiser, certificate) with finite low ≤ inf F ≤ high",
            "mend solution",
        )
    if not _finite(problem.initial_gap[1]):
        raise DriftproofError(
            f"F at the start of {name} is {problem.initial_gap[1]:g} above low",
            "a start where F is finite",
            "mend start, or objective",
        )
    scale = 1e-9 * (1 + abs(solution.high))
    if solution.minimiser is not None:
        _check_minimiser(problem, solution, scale)
    beaten, point = lowest(problem)
    if beaten < solution.low - scale:
        raise DriftproofError(
            f"solution of {name}: low = {solution.low:.9g}, but "
            f"F = {beaten:.9g} at x = {shown(point)}",
            "low, a proven lower bound on inf F",
            "mend solution: F_0 − F* in a right side rests on it",
        )


def _check_minimiser(problem: Problem, solution: Solution, scale: float) -> None:
    name, point = problem.leaf_name, np.asarray(solution.minimiser)
    if np.shape(point) != (problem.dim,) or not np.isfinite(point).all():
        raise DriftproofError(
            f"minimiser of {name}'s solution: {point!r}",
            f"a finite vector of {problem.dim} entries, or None",
            "mend solution",
        )
    x = torch.from_numpy(np.array(point, dtype=np.float64))[:, None]
    value = float(values(problem, x))
    if abs(value - solution.high) > scale:
        raise DriftproofError(
            f"{name}: F = {value:.9g} at the solution's minimiser, high = {solution.high:.9g}",
            "F(minimiser) = high",
            "mend solution, or objective",
        )
    bend = problem.constants.get("objective_smoothness")
    slope = float(_residual(problem, x, 1 / bend if bend else 1.0).norm())
    gap = solution.high - solution.low
    room = 1e-6 * (1 + float(problem.gradient(sample(problem)[:, :1]).norm()))
    if bend is None:
        if gap > scale:
            return  # a point that is only near the minimum may have a slope
    else:
        room += math.sqrt(2 * bend * gap)  # ‖∇F‖² ≤ 2L(F − inf F)
    if problem.radius is not None:
        reach = float(x.norm()) + (slope / bend if bend else math.inf)
        if reach > problem.radius:
            return  # on the boundary of the region a minimiser need not be stationary
    if slope > room:
        raise DriftproofError(
            f"{name}: {RESIDUALS[has_term(problem)]} = {slope:.6g} at the solution's minimiser "
            f"{shown(x[:, 0])}",
            f"0, to within {room:.2g}: a minimiser is stationary",
            "mend solution, or gradient",
        )


def _residual(problem: Problem, x: Tensor, t: float) -> Tensor:
    """Return (x − prox(x − t∇f(x), t))/t, which is 0 where f + h is least; without h, ∇F(x)."""
    gradient = problem.gradient(x)
    if not has_term(problem):
        return gradient
    moved = on_every_client(x - t * gradient, problem.clients)
    residual: Tensor = (x - problem.oracles(torch.float64).prox(moved, t)[0]) / t
    return residual


def lowest(problem: Problem) -> tuple[float, Tensor]:
    """Return the least value of F that a search finds, and where."""
    starts = [torch.from_numpy(problem.start())[: problem.dim]]
    if problem.solution.minimiser is not None:
        starts.append(torch.from_numpy(np.array(problem.solution.minimiser, dtype=np.float64)))
    largest, point = maximise(
        lambda x: -values(problem, feasible(problem, x)),
        problem.dim,
        problem.radius,
        0,
        seeds=starts,
    )
    return -largest, feasible(problem, point[:, None])[:, 0]


def shown(x: Tensor, most: int = 6, digits: int = 6) -> str:
    """Return a point as an error shows it."""
    parts = [f"{float(v):.{digits}g}" for v in x[:most]]
    return f"({', '.join(parts)}{', …' if len(x) > most else ''})"


def _finite(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
