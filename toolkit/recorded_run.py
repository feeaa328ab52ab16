"""``driftproof.run``: an algorithm on a problem, and what one wants to see after each round."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.cases import Case
from driftproof.toolkit.draws import BLOCK
from driftproof.toolkit.engines.batched import BatchedContext
from driftproof.toolkit.engines.enumerated import Drew, NoiselessContext
from driftproof.toolkit.environment import check_device
from driftproof.toolkit.errors import DriftproofError, unknown_name
from driftproof.toolkit.federation import run as run_once
from driftproof.toolkit.federation import sampled_context
from driftproof.toolkit.frames import frame_of
from driftproof.toolkit.measure import Measure, Moment
from driftproof.toolkit.problem import Problem
from driftproof.toolkit.user_traceback import place_of

if TYPE_CHECKING:
    import pandas

CURVES_SHOWN = 6
"""The most measures that a notebook draws."""


@dataclass(frozen=True)
class Recorded:
    """One measure along a run.

    Attributes:
        name: as ``record`` has it.
        values: before the first round and after each, [rounds + 1, replicates]. Fewer, if
            something overflowed: the run ended there.
        exact: whether there is no noise, so that the one replicate is all there is.
    """

    name: str
    values: np.ndarray
    exact: bool

    @cached_property
    def mean(self) -> np.ndarray:
        """The mean over the replicates, [rounds + 1]."""
        mean: np.ndarray = self.values.mean(1)
        return mean

    def band(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of the means' confidence intervals, [rounds + 1] each.

        Student's intervals, round by round: for plots. A verdict rests on a test that holds for
        any distribution (docs/judges.md). Without noise both ends are the mean; of one replicate
        of a noisy run there is no interval, and they are nan.
        """
        if self.exact:
            return self.mean, self.mean
        from scipy.special import stdtrit  # scipy.stats takes a second to import

        count = self.values.shape[1]
        if count == 1:
            return np.full_like(self.mean, np.nan), np.full_like(self.mean, np.nan)
        spread = self.values.std(1, ddof=1) / sqrt(count)
        half = stdtrit(count - 1, (1 + level) / 2) * spread
        return self.mean - half, self.mean + half


@dataclass(frozen=True)
class Run(Mapping[str, Recorded]):
    """What ``run`` returns: each measure by its name.

    Attributes:
        case: problem, algorithm and rounds.
        seed: of every draw.
        recorded: the measures by name, in the order of ``record``.
        communications: the rounds of communication that were counted.
        reals: real numbers that one client has sent.
    """

    case: Case
    seed: int
    recorded: Mapping[str, Recorded]
    communications: int
    reals: int

    def __getitem__(self, name: str) -> Recorded:
        if name not in self.recorded:
            raise unknown_name("measure", name, self.recorded)
        return self.recorded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.recorded)

    def __len__(self) -> int:
        return len(self.recorded)

    def frame(self) -> pandas.DataFrame:
        """Return a row for each measure, round and replicate.

        Raises:
            MissingError: pandas is not installed.
        """
        rows = [
            (name, s, replicate, value)
            for name, one in self.items()
            for s, row in enumerate(one.values.tolist())
            for replicate, value in enumerate(row)
        ]
        return _frame(rows, "measure", "round", "replicate", "value")

    def bands(self, level: float = 0.95) -> pandas.DataFrame:
        """Return a row for each measure and round: the mean, and the ends of its band.

        Raises:
            MissingError: pandas is not installed.
        """
        rows = [
            (name, s, *row)
            for name, one in self.items()
            for s, row in enumerate(zip(one.mean, *one.band(level), strict=True))
        ]
        return _frame(rows, "measure", "round", "mean", "low", "high")

    def __repr__(self) -> str:
        return f"Run({self.case}, seed={self.seed}: {', '.join(self)})"

    def _repr_html_(self) -> str:
        """Return first and last means as a table, and the curves of the first few measures."""
        from driftproof.toolkit.report.notebook import (
            shown_run,  # matplotlib takes half a second to import
        )

        notes = [f"{self.case}, seed {self.seed}. {self.communications} rounds of communication."]
        if any(len(one.values) <= self.case.rounds for one in self.values()):
            notes.append("Something overflowed, and the run ended there.")
        if len(self) > CURVES_SHOWN:
            notes.append(f"The first {CURVES_SHOWN} of {len(self)} measures are drawn.")
        every = list(self.values())
        return shown_run(
            " ".join(notes), list(map(_first_and_last, every)), map(_panel, every[:CURVES_SHOWN])
        )


def _frame(rows: Iterable[Sequence[Any]], *names: str) -> pandas.DataFrame:
    """Return rows as a pandas frame."""
    return frame_of(dict(zip(names, zip(*rows, strict=True), strict=True)))


def _first_and_last(one: Recorded) -> dict[str, Any]:
    """Return a line of a table: the first mean, and the last one with its band."""
    low, high = one.band()
    return {
        "name": one.name,
        "replicates": one.values.shape[1],
        "exact": one.exact,
        "first": float(one.mean[0]),
        "last": float(one.mean[-1]),
        "low": float(low[-1]),
        "high": float(high[-1]),
    }


def _panel(one: Recorded) -> dict[str, Any]:
    """Return a measure's means and band as the curve of a plot."""
    low, high = one.band()
    least, most = one.mean.min(), one.mean.max()
    curve = {
        "label": "mean",
        "x": list(range(len(one.mean))),
        "mean": one.mean.tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
    }
    return {
        "title": one.name,
        "x_label": "round",
        "y_label": "mean, and its 95 % band",
        "log": "y" if least > 0 and most > 30 * least else "",
        "curves": [curve],
    }


def run(
    problem: Problem,
    algorithm: Algorithm,
    *,
    rounds: int,
    record: Mapping[str, Callable[[Any], Tensor]],
    replicates: int = BLOCK,
    seed: int = 0,
    device: str = "cpu",
) -> Run:
    """Run an algorithm on a problem, many replicates at once, and record measures after each round.

    A replicate is a run with draws of its own, what is otherwise called a seed. All replicates of a
    block of 64 are run together, so 64 of them cost little more than one. A run without noise is
    made once.

    >>> from driftproof.synthetic.problems import BoundedComposition
    >>> from driftproof.toolkit.algorithms import ComFedL
    >>> from driftproof.toolkit.measure import sq
    >>> made = run(BoundedComposition(distance=3.0), ComFedL(step_size=0.5), rounds=3,
    ...            record={"distance": lambda view: sq(view.mean("w"))})
    >>> made["distance"].mean.tolist()
    [9.0, 6.25, 4.0, 2.25]

    Args:
        problem, algorithm: one of each, with one value for each parameter.
        rounds: how many rounds of communication to run.
        record: name → measure, a function of a view (``States``) that returns one number for each
            replicate, [replicates]. It is taken before the first round, and after each.
        replicates: how many.
        seed: of every draw.
        device: cpu, or a CUDA device.

    Raises:
        DriftproofError: a parameter with several values, or a measure that returns no number for
            each replicate.
    """
    case = Case(problem, algorithm, rounds)
    if not isinstance(replicates, int) or replicates < 1:
        raise DriftproofError(
            f"replicates = {replicates!r}", "a whole number, 1 or more", "replicates=64"
        )
    if not isinstance(record, Mapping) or not all(map(callable, record.values())) or not record:
        raise DriftproofError(
            f"record = {record!r}",
            "a dictionary: name → function of a view",
            'write record={"distance": lambda view: sq(view.mean("w"))}',
        )
    check_device(device)
    quiet = NoiselessContext(problem.clients, dtype=torch.float64, device=device)
    with suppress(Drew):
        return _joined(case, seed, record, [quiet], exact=True)
    blocks = [
        sampled_context(
            problem,
            (str(seed), "run", case.key),
            block=block,
            device=device,
            replicates=min(BLOCK, replicates - block * BLOCK),
        )
        for block in range(-(-replicates // BLOCK))
    ]
    return _joined(case, seed, record, blocks, exact=False)


def _joined(
    case: Case,
    seed: int,
    record: Mapping[str, Callable[[Any], Tensor]],
    contexts: Sequence[BatchedContext],
    *,
    exact: bool,
) -> Run:
    """Run a case in each context, and put the replicates beside each other."""
    taken, ended = [], None
    for ctx in contexts:
        watched = _Watched(case, record, ctx)
        ended = run_once(case.problem, case.algorithm, ctx, rounds=case.rounds, watch=watched)
        taken.append(np.array(watched.taken))
    assert ended is not None
    moments = min(len(block) for block in taken)
    values = np.concatenate([block[:moments] for block in taken], 2)
    recorded = {name: Recorded(name, values[:, k], exact) for k, name in enumerate(record)}
    return Run(case, seed, recorded, ended.rounds, ended.reals)


class _Watched:
    """Takes the measures at the start of each round and at the end."""

    def __init__(
        self, case: Case, record: Mapping[str, Callable[[Any], Tensor]], ctx: BatchedContext
    ) -> None:
        self._case, self._ctx = case, ctx
        self._measures = {name: Measure(measure) for name, measure in record.items()}
        self._record = record
        self.taken: list[np.ndarray] = []

    def __call__(self, s: int, state: Any) -> bool:
        """Take them, and say whether all are finite, so that the run goes on."""
        moment = Moment(self._ctx, self._case.problem, state, state, s)
        values = [measure(moment) for measure in self._measures.values()]
        for value, measure in zip(values, self._record.values(), strict=True):
            if not isinstance(value, Tensor) or tuple(value.shape) != (self._ctx.replicates,):
                got = type(value).__name__
                if isinstance(value, Tensor):
                    got = f"a tensor of shape {[*value.shape[:-1], 'replicates']}"
                raise DriftproofError(
                    f"{place_of(measure)} returned {got}",
                    "a number for each replicate, [replicates]",
                    'return sq(view.mean("w")), say: sq(…) sums over the dimension alone',
                )
        stacked = torch.stack(values).double().cpu().numpy()
        if not np.isfinite(stacked).all():
            return False
        self.taken.append(stacked)
        return True
