"""Runs of fednest/tuning in either engine: the models y and the communication, round by round."""

from __future__ import annotations

from typing import Any

import numpy as np

from toolkit.algorithm import Algorithm
from toolkit.bilevel import BilevelProblem
from toolkit.federation import run, sampled_context
from toolkit.wire import WireFailure, run_on_wire


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
        done = run_on_wire(problem, algorithm, names, rounds=rounds, fields=("y",))
    except WireFailure as failure:
        if failure.what != "not finite" or failure.done is None:
            raise
        done = failure.done
    ys = done.followed.get("y", done.iterates)
    sent = np.linspace(0, done.rounds, len(ys)).round().astype(int).tolist()
    return {"y": [y[:, 0] for y in ys], "sent": sent, "x": []}


ENGINES = {"batched": batched, "wire": on_wire}
