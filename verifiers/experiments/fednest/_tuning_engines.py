"""Runs of fednest/tuning in either engine: the models y and the communication, round by round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from torch import Tensor

from toolkit.algorithm import Algorithm, Context
from toolkit.bilevel import BilevelProblem
from toolkit.federation import run, sampled_context
from toolkit.wire import WireFailure, run_on_wire


@dataclass(frozen=True, kw_only=True)
class LookingAtY(Algorithm):
    """An algorithm on z = (x, y) of which y is what the wire engine keeps.

    Args:
        of: the algorithm.
    """

    of: Algorithm

    needs: ClassVar[str] = "bilevel"
    iterate: ClassVar[str] = "y"

    @property
    def local_steps(self) -> int:  # type: ignore[override]
        """The ticks of one round."""
        return self.of.local_steps

    def init(self, ctx: Context, oracles: Any, start: Tensor) -> Any:
        """Start."""
        return self.of.init(ctx, oracles, start)

    def step(self, ctx: Context, oracles: Any, state: Any) -> Any:
        """Step."""
        return self.of.step(ctx, oracles, state)


def batched(
    problem: BilevelProblem, algorithm: Algorithm, names: tuple[str, ...], rounds: int
) -> dict[str, Any]:
    """Return y and the rounds of communication at the start of every round, and the last x."""
    ctx = sampled_context(problem, names, replicates=1)
    ys: list[np.ndarray] = []
    sent: list[int] = []

    def watch(s: int, state: Any) -> None:
        ys.append(state.y[0, :, 0].numpy().copy())
        sent.append(ctx.rounds)

    made = run(problem, algorithm, ctx, rounds=rounds, watch=watch)
    return {"y": ys, "sent": sent, "x": made.state.x[0, :, 0].tolist()}


def on_wire(
    problem: BilevelProblem, algorithm: Algorithm, names: tuple[str, ...], rounds: int
) -> dict[str, Any]:
    """Return the same; the rounds of communication, which are told in sum, spread evenly."""
    try:
        done = run_on_wire(problem, LookingAtY(of=algorithm), names, rounds=rounds)
    except WireFailure as failure:
        if failure.what != "not finite" or failure.done is None:
            raise
        done = failure.done
    sent = np.linspace(0, done.rounds, len(done.iterates)).round().astype(int).tolist()
    return {"y": [y[:, 0] for y in done.iterates], "sent": sent, "x": []}


ENGINES = {"batched": batched, "wire": on_wire}
