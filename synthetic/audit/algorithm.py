"""Laws of an algorithm: what ``init`` and ``step`` return, and that a step keeps its shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from driftproof.synthetic.audit.oracle_calls import REPLICATES
from driftproof.synthetic.audit.rare import RareContext
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.around import HUGE
from driftproof.toolkit.draws import BLOCK
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import sampled_context
from driftproof.toolkit.oracles import OFFERS
from driftproof.toolkit.problem import Problem
from driftproof.toolkit.reach import Enclosed
from driftproof.toolkit.statistics import exceeds
from driftproof.toolkit.tolerances import LEVEL
from driftproof.toolkit.user_traceback import is_shipped

DIRECTIONS = 8
"""Random directions along which a bound of one step is attacked."""
STEPS, ROUNDS = 64, 3
"""So many are made of it, at least: momentum and control variates are 0 in the first round."""


def audit_algorithm(algorithm: Algorithm, problem: Problem) -> None:
    """Raise DriftproofError unless an algorithm's state is one, and a step keeps it so.

    The first step of a round and its last, which averages, are made, in double and in single, and
    once more: draws are keyed by names, so that the same step gives the same state to the bit.
    """
    if algorithm.needs not in OFFERS.get(problem.offers, ()):
        return  # a run says which problems fit
    _check_counts(algorithm, problem)
    for dtype in (torch.float64, torch.float32):
        ctx = sampled_context(problem, ("audit",), replicates=REPLICATES, dtype=dtype)
        ctx.local_steps, ctx.horizon = algorithm.local_steps, 1
        oracles = problem.oracles(dtype)
        state = algorithm.init(ctx, oracles, torch.from_numpy(problem.start()))
        check_state(algorithm, problem, state, "init", dtype)
        again = algorithm.init(ctx, oracles, torch.from_numpy(problem.start()))
        check_repeated(algorithm, state, again, "init")
        for ctx.t in sorted({0, algorithm.local_steps - 1}):
            before, state = state, algorithm.step(ctx, oracles, state)
            check_kept(algorithm, before, state)
            check_state(algorithm, problem, state, "step", dtype)
            check_repeated(algorithm, state, algorithm.step(ctx, oracles, before), "step")
    # of ours what they use of the problem is attacked, role by role
    if not is_shipped(algorithm) and type(algorithm).radii is not Algorithm.radii:
        check_radii(algorithm, problem)


def check_radii(algorithm: Algorithm, problem: Problem) -> None:
    """Raise unless rounds from points around z stay within the radii, for 64 draws of each.

    Points lie along random directions, near z and far from it. Half of the draws take rare outcomes
    as often as frequent ones (``RareContext``). Radii in the mean are tested by fourth powers.
    """
    enclosed = Enclosed(problem)
    around, z = enclosed.around, enclosed.z[:, 0]
    random = torch.Generator().manual_seed(0)
    along = torch.randn(DIRECTIONS, len(z), generator=random, dtype=torch.float64)
    for number, direction in enumerate(along / along.norm(dim=1, keepdim=True)):
        for away in (0.0, 0.1, 1.0, 10.0):
            away *= 1 + around.start
            known = replace(around, start=away)
            steps = max(ROUNDS * algorithm.local_steps, STEPS) + 1
            told = [
                [*islice(algorithm.proven_radii(kind), steps)] for kind in (known, known.in_mean)
            ]
            ctx = RareContext(problem.clients, ("radii", str(number), str(away)), BLOCK)
            ctx.local_steps, ctx.horizon = algorithm.local_steps, steps
            oracles = problem.oracles(torch.float64)
            state = algorithm.init(ctx, oracles, z + away * direction)
            for ctx.t, within in enumerate(zip(*filter(None, told), strict=True)):
                for fields in (ctx.marks, state._asdict()):  # before an average, and after
                    _check_within(algorithm, within, fields, enclosed, ctx)
                state = algorithm.step(ctx, oracles, state)


def _check_within(
    algorithm: Algorithm,
    radii: Sequence[Mapping[str, float]],
    fields: Mapping[str, Tensor],
    enclosed: Enclosed,
    ctx: RareContext,
) -> None:
    """Hold distances [clients, replicates] against radii, and those in the mean if there are."""
    counts = ctx.counts
    for kind, within in enumerate(radii):
        for name in within.keys() & fields.keys():
            x, r = fields[name], within[name] * (1 + 1e-9) + 1e-12
            far = (x - enclosed.centre(algorithm, name, x.shape[1])).norm(dim=1)
            if kind == 0 and float(far.max()) > r:
                told, what = f"{float(far.max()):.6g}", "no outcome of the noise exceeds"
            elif (
                kind and r < HUGE and any(exceeds(counts * x**4, r**4, LEVEL) for x in far.numpy())
            ):
                root = float((torch.from_numpy(counts) * far**4).mean(1).max()) ** 0.25
                told, what = f"{root:.6g} in the mean", "(E‖·‖⁴)^{1/4} does not exceed"
            else:
                continue
            raise DriftproofError(
                f"{name} of {algorithm.leaf_name} is {told} from z after {ctx.t} steps (of fields "
                f"that are no part of z: from 0), radii says {within[name]:.6g}",
                f"a radius that {what}",
                "mend radii, or the constants of the problem that it uses: field_noise_bound, say",
            )


def _check_counts(algorithm: Algorithm, problem: Problem) -> None:
    steps = algorithm.local_steps
    if not isinstance(steps, int) or isinstance(steps, bool) or steps < 1:
        raise DriftproofError(
            f"local_steps = {steps!r} of {algorithm.leaf_name}",
            "a whole number of local steps a round, 1 or more",
            "set local_steps; local_steps: PositiveInt refuses others",
        )
    size = algorithm.cohort_size(problem.clients)
    if not isinstance(size, int) or not 1 <= size <= problem.clients:
        raise DriftproofError(
            f"cohort_size({problem.clients}) of {algorithm.leaf_name} is {size!r}",
            f"a whole number from 1 to {problem.clients}",
            "mend cohort_size, or participation",
        )


def check_state(
    algorithm: Algorithm, problem: Problem, state: Any, method: str, dtype: torch.dtype
) -> None:
    """Raise unless a state is a NamedTuple of finite tensors [clients, …, replicates]."""
    name = algorithm.leaf_name
    fields = getattr(type(state), "_fields", None)
    if not isinstance(state, tuple) or fields is None:
        raise DriftproofError(
            f"{method} of {name} returned {type(state).__name__}",
            "a NamedTuple of tensors, the state of all clients",
            f"mend {method}: return State(w), with class State(NamedTuple) and w: Tensor, say",
        )
    if algorithm.iterate not in fields:
        cls, said = type(algorithm).__name__, repr(algorithm.iterate)
        lacking = f"{cls} does not set iterate, which is {said} then"
        raise DriftproofError(
            f"{method} of {name} returned a state of {', '.join(fields)}, and "
            + (lacking if algorithm.iterate == Algorithm.iterate else f"iterate = {said}"),
            "iterate, the name of the field that is the model",
            f'write iterate = "{fields[0]}", say, in class {cls}',
        )
    for field, value in zip(fields, state, strict=True):
        shape = tuple(value.shape) if isinstance(value, Tensor) else ()
        kind = value.dtype if isinstance(value, Tensor) else type(value).__name__
        fits = len(shape) == 3 and kind == dtype
        if not fits or (shape[0], shape[2]) != (problem.clients, REPLICATES):
            got = f"of shape {shape} and type {kind}" if isinstance(value, Tensor) else kind
            raise DriftproofError(
                f"{method} of {name}: field {field!r} is {got}",
                f"a tensor [clients, entries, replicates] = ({problem.clients}, …, {REPLICATES}) "
                f"of type {dtype}",
                f"mend {method}: ctx.everywhere(start) has the right shape",
            )
        if not bool(value.isfinite().all()):
            raise DriftproofError(
                f"{method} of {name}: field {field!r} is not finite",
                "finite numbers after the first steps",
                f"mend {method}, or take a smaller step size",
            )


def check_kept(algorithm: Algorithm, before: Any, after: Any) -> None:
    """Raise unless a step returns a state of the same type and shapes."""
    name = algorithm.leaf_name
    if type(before) is not type(after):
        raise DriftproofError(
            f"step of {name} returned {type(after).__name__}",
            f"{type(before).__name__}, what init returned",
            "mend step",
        )
    for field, old, new in zip(type(before)._fields, before, after, strict=True):
        shapes = [tuple(getattr(x, "shape", ())) for x in (old, new)]
        if shapes[0] != shapes[1]:
            raise DriftproofError(
                f"step of {name}: field {field!r} of shape {shapes[1]}",
                f"{shapes[0]}, as before the step",
                "mend step: an average has the shape of what was averaged",
            )


def check_repeated(algorithm: Algorithm, state: Any, again: Any, method: str) -> None:
    """Raise unless ``init`` or a step gives the same state when it is called again."""
    for field, first, second in zip(type(state)._fields, state, again, strict=True):
        if not torch.equal(first, second):
            raise DriftproofError(
                f"{method} of {algorithm.leaf_name}: field {field!r} is another one when it is "
                "called again",
                "the same state to the bit: a run has to be repeatable, and its draws counted",
                f"mend {method}: draw by ctx.draw(law, name) alone, and keep nothing between calls",
            )
