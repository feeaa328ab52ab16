"""Conditional expectations: the noise of one step, enumerated for every past at once."""

from typing import Any

import numpy as np
from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.draws import Law
from driftproof.toolkit.engines.batched import BatchedContext
from driftproof.toolkit.engines.enumerated import EnumeratedContext
from driftproof.toolkit.measure import Measure, Moment

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
    then: Moment, algorithm: Algorithm, oracles: Any, measure: Measure
) -> np.ndarray | None:
    """Return the measure of the next step, in expectation given the state: [1 + parts, replicates].

    None if the statement does not speak of it.

    Args:
        then: the moment before the step; its ``previous`` is the state before its ``state``.

    Raises:
        TooManyAtoms: one step has more than ``LIMIT`` outcomes.
    """
    ctx, state = then.ctx, then.state
    counting = BranchedContext(ctx.clients, limit=LIMIT, dtype=ctx.dtype, device=ctx.device)
    counting.continue_from(ctx)
    algorithm.step(counting, oracles, _each(state, lambda x: x[..., :1]))
    atoms = counting.atom_count
    branched = BranchedContext(
        ctx.clients, limit=LIMIT, dtype=ctx.dtype, device=ctx.device, atoms=counting.digits
    )
    branched.continue_from(ctx)
    before, previous, start = (
        _each(fields, lambda x: x.repeat_interleave(atoms, -1))
        for fields in (state, then.previous, then.start)
    )
    after = algorithm.step(branched, oracles, before)
    taken = measure(
        Moment(
            branched, then.problem, after, start, then.round, then.local_step + 1, before, previous
        )
    )
    if taken is None:
        return None
    stacked = taken.stacked.double()
    chances = branched.chances.to(stacked)
    expected: np.ndarray = (stacked.unflatten(-1, (-1, atoms)) @ chances).cpu().numpy()
    return expected


def _each(state: Any, change: Any) -> Any:
    """Return a state with every tensor changed."""
    return type(state)(*(change(x) for x in state))
