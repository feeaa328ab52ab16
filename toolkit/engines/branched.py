"""Conditional expectations: the noise of one step, enumerated for every past at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor

from toolkit.algorithm import Algorithm
from toolkit.draws import Law
from toolkit.engines.batched import BatchedContext
from toolkit.engines.enumerated import EnumeratedContext
from toolkit.measure import View
from toolkit.recorder import Recorder

LIMIT = 4096
"""The most outcomes of one step."""


class BranchedContext(EnumeratedContext):
    """Every replicate of another context, continued by every outcome of one step.

    Replicate r·A + a is past r followed by outcome a of A: outcomes' digits repeat with period A.
    A counting one has the first past alone. What is keyed by an earlier step, a cohort drawn as its
    round began, is part of the past: a state may depend on it.
    """

    def continue_from(self, ctx: BatchedContext) -> None:
        """Take the step and the pasts from another context."""
        self.t, self.local_steps, self.horizon = ctx.t, ctx.local_steps, ctx.horizon
        self._past, self.outcomes = ctx, self.replicates
        self.replicates *= 1 if self._counting else ctx.replicates
        self._probabilities = np.ones(self.replicates)

    def _sample(self, law: Law, name: str, step: int, clients: range) -> np.ndarray:
        if step >= self.t:
            return super()._sample(law, name, step, clients)
        drawn = self._past._sample(law, name, step, clients)
        drawn = drawn[..., :1] if self._counting else drawn
        return np.repeat(drawn, self.outcomes, -1)

    @property
    def chances(self) -> Tensor:
        """The outcomes' probabilities, [outcomes]."""
        return self.weights[: self.outcomes]


def expected_transition(
    view: View, algorithm: Algorithm, oracles: Any, state: Any, recorder: Recorder, done: int
) -> np.ndarray | None:
    """Return the measure of the next step, in expectation given the state: [1 + parts, replicates].

    None if the statement does not speak of it.

    Args:
        view: of the round; its ``previous`` is the state before ``state``.
        done: how many steps of the round are done.

    Raises:
        TooManyAtoms: one step has more than ``LIMIT`` outcomes.
    """
    ctx = view.ctx
    counting = BranchedContext(ctx.clients, limit=LIMIT, dtype=ctx.dtype, device=ctx.device)
    counting.continue_from(ctx)
    algorithm.step(counting, oracles, _each(state, lambda x: x[..., :1]))
    atoms = counting.found
    branched = BranchedContext(
        ctx.clients, limit=LIMIT, dtype=ctx.dtype, device=ctx.device, atoms=counting.digits
    )
    branched.continue_from(ctx)
    before, previous, start = (
        _each(held, lambda x: x.repeat_interleave(atoms, -1))
        for held in (state, view.previous, view.start)
    )
    after = algorithm.step(branched, oracles, before)
    seen = View(
        branched, view.problem, after, start, view.round, done + 1, before, previous,
        memory=recorder.memory,
    )  # fmt: skip
    taken = recorder.left(seen)
    if taken is None:
        return None
    stacked = taken.stacked.double()
    chances = branched.chances.to(stacked)
    made: np.ndarray = (stacked.unflatten(-1, (-1, atoms)) @ chances).cpu().numpy()
    return made


def _each(state: Any, change: Any) -> Any:
    """Return a state with every tensor changed."""
    return type(state)(*(change(x) for x in state))
