r"""A round of FedNest on the quadratic minimax families, fused."""

from __future__ import annotations

from typing import Any

from toolkit.kernels import _rounds
from toolkit.kernels._nested_minimax import accepts, cost, one_round, rows
from toolkit.kernels.registry import fused


@fused(
    name="nested-fednest",
    algorithm="fednest",
    problem=("quadratic-minimax", "random-minimax"),
    rows=rows,
    accepts=accepts,
    cost=cost,
)
def advance(ctx: Any, oracles: Any, algorithm: Any, state: Any, steps: int) -> tuple[Any, float]:
    """Equal to ``steps`` repetitions of ``FedNest.step`` from the start of a round."""
    return one_round(ctx, oracles, algorithm, state)


_rounds.add(advance)
