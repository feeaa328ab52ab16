"""``driftproof.run``: an algorithm on a problem, with whatever one wants to see along the way.

What is measured is a function of a view of the run, as a claim's left side is. The same engine
makes the numbers of both, from the same draws where the draws have the same names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.cases import Case
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.draws import BLOCK, TooManyAtoms
from driftproof.toolkit.engines.batched import BatchedContext
from driftproof.toolkit.engines.enumerated import Drew, NoiselessContext
from driftproof.toolkit.environment import check_device
from driftproof.toolkit.errors import DriftproofError, unknown_name
from driftproof.toolkit.federation import Outcome, run_exactly, sampled_context
from driftproof.toolkit.federation import run as run_once
from driftproof.toolkit.frames import frame_of
from driftproof.toolkit.located import place_of
from driftproof.toolkit.measure import Measure, Moment, Reduction, States, Steps, each
from driftproof.toolkit.problem import Problem

if TYPE_CHECKING:
    import pandas

MOST_OUTCOMES = 4096
"""The most outcomes of the noise that are run one by one, as for a verdict."""
CURVES_SHOWN = 6
"""The most measures, and the most clients of each, that a notebook draws."""
MOMENTS = ("round", "local_step", "step", "client")
"""What says which moment it is, in the order of a frame's columns."""
MOMENTS_OF = {
    ("round",): ("round",),
    ("round", "local_step"): ("round", "local_step"),
    ("step",): ("step",),
    ("transition",): ("step",),
}


@dataclass(frozen=True)
class Recorded:
    """One measure along a run.

    Attributes:
        name: as ``record`` has it.
        moments: "round", "local_step", "step" or "client" → whole numbers, [moments] (empty for a
            mean over the whole run).
        values: [moments, replicates].
        weights: the replicates' probabilities, [replicates]; they add up to 1.
        exact: whether the replicates are all outcomes of the noise there are.
    """

    name: str
    moments: Mapping[str, np.ndarray]
    values: np.ndarray
    weights: np.ndarray
    exact: bool

    @cached_property
    def mean(self) -> np.ndarray:
        """The mean over the replicates, [moments]."""
        mean: np.ndarray = self.values @ self.weights
        return mean

    def band(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of the means' confidence intervals, [moments] each.

        Student's intervals, moment by moment: for plots. A verdict rests on a test that holds for
        any distribution (docs/verdicts.md). Of all outcomes of the noise the mean is exact, and
        both ends are the mean; of one replicate there is no interval, and they are nan.
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
        bad_step: the first local step after which something was not finite, so that nothing after
            it was recorded (None: all were finite).
        communications: the rounds of communication that were counted.
        reals: real numbers that one client has sent.
    """

    case: Case
    seed: int
    recorded: Mapping[str, Recorded]
    bad_step: int | None
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
        """Return a row for each measure, moment and replicate.

        Raises:
            MissingError: pandas is not installed.
        """
        columns = _columns(self.values())
        for one in self.values():
            points, replicates = one.values.shape
            _lengthen(columns, one, replicates)
            columns["replicate"] += [*range(replicates)] * points
            columns["weight"] += one.weights.tolist() * points
            columns["value"] += one.values.ravel().tolist()
        if not any(one.exact for one in self.values()):
            del columns["weight"]  # all alike
        return frame_of(columns, whole=(*MOMENTS, "replicate"))

    def bands(self, level: float = 0.95) -> pandas.DataFrame:
        """Return a row for each measure and moment: the mean, and the ends of its band.

        Raises:
            MissingError: pandas is not installed.
        """
        columns = _columns(self.values(), "mean", "low", "high")
        for one in self.values():
            _lengthen(columns, one, 1)
            for name, numbers in zip(("low", "high"), one.band(level), strict=True):
                columns[name] += numbers.tolist()
            columns["mean"] += one.mean.tolist()
        return frame_of(columns, whole=MOMENTS)

    def __repr__(self) -> str:
        return f"Run({self.case}, seed={self.seed}: {', '.join(self)})"

    def _repr_html_(self) -> str:
        """Return first and last means as a table, and the curves of the first few measures."""
        from driftproof.toolkit.report.notebook import (
            shown_run,  # matplotlib takes half a second to import
        )

        notes = [f"{self.case}, seed {self.seed}. {self.communications} rounds of communication."]
        if self.bad_step is not None:
            notes.append(f"Something was not finite after local step {self.bad_step}.")
        if len(self) > CURVES_SHOWN:
            notes.append(f"The first {CURVES_SHOWN} of {len(self)} measures are drawn.")
        by_client = any("client" in one.moments for one in self.values())
        if by_client and self.case.problem.clients > CURVES_SHOWN:
            notes.append(f"Of clients the first {CURVES_SHOWN} are shown.")
        table = [line for one in self.values() for line in _first_and_last(one)]
        curved = [one for one in self.values() if len(one.mean) > 1 and one.moments]
        return shown_run(" ".join(notes), table, map(_panel, curved[:CURVES_SHOWN]))


def _curves(one: Recorded) -> list[tuple[str, np.ndarray]]:
    """Return what is drawn as one curve each: the name, and which moments it has.

    That is all of a measure, or its value on each of the first few clients.
    """
    if "client" not in one.moments:
        return [("mean", np.ones(len(one.mean), dtype=bool))]
    clients = one.moments["client"]
    return [(f"client {k}", clients == k) for k in range(min(CURVES_SHOWN, int(clients.max()) + 1))]


def _first_and_last(one: Recorded) -> Iterator[dict[str, Any]]:
    """Yield a line of a table for each curve: its first mean, and its last one with its band."""
    low, high = one.band()
    for label, own in _curves(one) if len(one.mean) else ():
        yield {
            "name": f"{one.name}, {label}" if "client" in one.moments else one.name,
            "replicates": one.values.shape[1], "exact": one.exact,
            "first": float(one.mean[own][0]), "last": float(one.mean[own][-1]),
            "low": float(low[own][-1]), "high": float(high[own][-1]),
        }  # fmt: skip


def _panel(one: Recorded) -> dict[str, Any]:
    """Return a measure's means and bands as the curves of a plot."""
    along = next(name for name in ("step", "round") if name in one.moments)
    place, x_label = one.moments[along], along
    if "local_step" in one.moments:  # a round has several: they are counted from the start
        clients = int(one.moments.get("client", np.zeros(1)).max()) + 1
        place, x_label = np.arange(len(one.mean)) // clients + 1, "local step"
    low, high = one.band()
    parts = {"x": place, "mean": one.mean, "low": low, "high": high}
    curves = [
        {"label": label} | {key: numbers[own].tolist() for key, numbers in parts.items()}
        for label, own in _curves(one)
    ]
    least, most = one.mean.min(), one.mean.max()
    return {
        "title": one.name, "x_label": x_label, "y_label": "mean, and its 95 % band",
        "log": "y" if least > 0 and most > 30 * least else "", "curves": curves,
    }  # fmt: skip


def _columns(recorded: Iterable[Recorded], *last: str) -> dict[str, list[Any]]:
    """Return a frame's columns, empty: those that some measure's moments have."""
    moments = [name for name in MOMENTS if any(name in one.moments for one in recorded)]
    return {name: [] for name in ("measure", *moments, *(last or ("replicate", "weight", "value")))}


def _lengthen(columns: dict[str, list[Any]], one: Recorded, times: int) -> None:
    """Add a measure's name and moments, each so many times."""
    rows = len(one.values) * times
    columns["measure"] += [one.name] * rows
    for name in set(MOMENTS) & set(columns):
        known = one.moments.get(name)
        columns[name] += [None] * rows if known is None else known.repeat(times).tolist()


def run(
    problem: Problem,
    algorithm: Algorithm,
    *,
    rounds: int,
    record: Mapping[str, Any],
    replicates: int | None = BLOCK,
    seed: int = 0,
    draws: str = "run",
    device: str = "cpu",
) -> Run:
    """Run an algorithm on a problem, many replicates at once, and record measures on the way.

    A replicate is a run with draws of its own, what is otherwise called a seed. All replicates of a
    block of 64 are run together, so 64 of them cost little more than one. A run without noise is
    made once.

    >>> from driftproof.synthetic.problems import BoundedComposition
    >>> from driftproof.toolkit.algorithms import ComFedL
    >>> from driftproof.toolkit.measure import sq
    >>> made = run(BoundedComposition(distance=3.0), ComFedL(step_size=0.5), rounds=3,
    ...            record={"distance": lambda view: sq(view.mean("w"))})
    >>> made["distance"].mean.tolist(), made["distance"].moments["round"].tolist()
    ([9.0, 6.25, 4.0, 2.25], [0, 1, 2, 3])

    Args:
        problem, algorithm: one of each, with one value for each parameter.
        rounds: how many rounds of communication to run.
        record: name → measure. A measure is a function of a view (``States`` or ``Steps``) that
            returns one number for each replicate: it is taken before the first round, and after
            each. With each(…), average(…) or given_past(…) it is taken where that says, and a
            claim, or its name, stands for its left side.
        replicates: how many; None: every outcome of the noise, weighed by its probability.
        seed: of every draw.
        draws: what the draws are named by, beside the seed and the case: under a claim's name they
            are those of its verdict.
        device: cpu, or a CUDA device.

    Raises:
        DriftproofError: a parameter with several values, a measure that returns no number for each
            replicate, or ``replicates=None`` where the noise has too many outcomes.
    """
    case = Case(problem, algorithm, rounds)
    if replicates is not None and (not isinstance(replicates, int) or replicates < 1):
        raise DriftproofError(
            f"replicates = {replicates!r}", "a whole number, 1 or more, or None", "replicates=64"
        )
    if not isinstance(record, Mapping) or not record:
        raise DriftproofError(
            f"record = {record!r}",
            "a dictionary: name → measure",
            'write record={"distance": lambda view: sq(view.mean("w"))}',
        )
    check_device(device)
    engine = _Engine(case, replicates, (str(seed), draws, case.key), device)
    measures = {name: _measure_of(name, given) for name, given in record.items()}
    first = {name: engine.first_value(measure) for name, measure in measures.items()}
    recorded: dict[str, Recorded] = {}
    alike: dict[tuple[bool, bool], dict[str, Callable[[Any], Any]]] = {}
    for name, measure in measures.items():
        value = first[name]
        if isinstance(value, Reduction):
            recorded |= engine.as_it_says(name, measure, value)
        else:
            kind = Measure(measure).of_states, value.dim() == 2
            alike.setdefault(kind, {})[name] = measure
    for (of_states, by_client), plain in alike.items():
        recorded |= engine.by_rounds(plain, of_states, by_client)
    parts = [name for name in recorded if name not in measures]
    bad = [step for step in engine.bad_steps if step is not None]
    return Run(
        case, seed, {name: recorded[name] for name in (*measures, *parts)},
        min(bad, default=None), engine.communications, engine.reals,
    )  # fmt: skip


def _measure_of(name: str, given: Any) -> Callable[[Any], Any]:
    """Return a measure, or the left side of the claim that stands for one."""
    if isinstance(given, str):
        claims = leaves("claim")
        if given not in claims:
            raise unknown_name("claim", given, claims)
        given = claims[given].load()
    is_claim = hasattr(given, "way")  # a claim can be called too: it is a decorator
    measure: Any = getattr(given, "left", None) if is_claim else given
    if callable(measure):
        return measure  # type: ignore[no-any-return]
    raise DriftproofError(
        f"record has {given!r} as {name!r}",
        "a function of a view, or a claim with a left side",
        f'write {name!r}: lambda view: sq(view.mean("w"))',
    )


class _Shown(Exception):  # noqa: N818 - a signal, never shown
    """What a measure returned first."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class _Engine:
    """Runs one case as often as there are kinds of measures, and keeps what every run tells."""

    def __init__(
        self, case: Case, replicates: int | None, names: tuple[str, ...], device: str
    ) -> None:
        self.case, self.replicates, self.names, self.device = case, replicates, names, device
        self.sampled = False
        self.bad_steps: list[int | None] = []
        self.communications = self.reals = 0

    def first_value(self, measure: Callable[[Any], Any]) -> Any:
        """Return what a measure returns at a trial moment, before anything is run."""

        @wraps(measure)
        def probe(view: Any) -> Any:
            value = measure(view)
            if value is not None:
                raise _Shown(value)

        case, value = self.case, None
        try:
            run_once(
                case.problem, case.algorithm, self._block(0, 1), rounds=case.rounds, left=probe
            )
        except _Shown as shown:
            value = shown.value
        clients = case.problem.clients
        if isinstance(value, Reduction) or (
            isinstance(value, Tensor) and tuple(value.shape) in ((1,), (clients, 1))
        ):
            return value
        got = type(value).__name__
        if isinstance(value, Tensor):
            got = f"a tensor of shape {[*value.shape[:-1], 'replicates']}"
        raise DriftproofError(
            f"{place_of(measure)} returned {got}",
            "a number for each replicate, [replicates], or for each client too, "
            "[clients, replicates]; or each(…), average(…)",
            'return sq(view.mean("w")), say: sq(…) sums over the dimension alone',
        )

    def by_rounds(
        self, measures: Mapping[str, Callable[[Any], Any]], of_states: bool, by_client: bool
    ) -> dict[str, Recorded]:
        """Take measures before the first round and after each: all in one run."""

        def left(view: Any) -> Reduction:
            first, *others = (measure(view) for measure in measures.values())
            axes = ("round", "client") if by_client else ("round",)
            return each(*axes, first, **{str(k): value for k, value in enumerate(others)})

        left.__annotations__ = {"view": States if of_states else Steps}
        outcomes = self._outcomes(left)
        ended = []
        for outcome in outcomes:
            if outcome.bad_step is None:
                at_the_end = Measure(left)(self._end(outcome)).stacked.double().cpu().numpy()
                shape = len(measures), -1, len(outcome.weights)
                taken = np.concatenate([outcome.taken, at_the_end.reshape(shape)], 1)
                outcome = replace(outcome, taken=taken)
            ended.append(outcome)
        values = _joined(ended)
        clients = self.case.problem.clients if by_client else 1
        moments = {"round": np.arange(values.shape[1] // clients)}
        moments = _of_each_client(moments, clients) if by_client else moments
        return {
            name: self._recorded(name, moments, values[k], outcomes)
            for k, name in enumerate(measures)
        }

    def as_it_says(
        self, name: str, measure: Callable[[Any], Any], trial: Reduction
    ) -> dict[str, Recorded]:
        """Take a measure at the moments that it names, and what it names beside its value."""
        places = [] if trial.how == "average" else [*MOMENTS_OF[trial.axes]]
        of_states = Measure(measure).of_states

        @wraps(measure)
        def left(view: Any) -> Any:
            made = measure(view)
            if of_states or made is None:
                return made
            now = {"round": view.round, "local_step": view.local_step, "step": view.t}
            at = {f"at {what}": torch.full_like(made.value, now[what]) for what in places}
            return replace(made, parts={**made.parts, **at})

        outcomes = self._outcomes(left)
        values = dict(zip(("", *outcomes[0].names), _joined(outcomes), strict=True))
        clients = self.case.problem.clients if trial.by_client else 1
        if of_states:  # it has something to say of every moment
            count, tau = len(values[""]) // clients, self.case.algorithm.local_steps
            moments = dict(zip(places, _in_order(trial.axes, count, tau), strict=bool(places)))
        else:
            at = {what: values.pop(f"at {what}")[::clients, 0] for what in places}
            moments = {what: np.rint(number).astype(np.int64) for what, number in at.items()}
        moments = _of_each_client(moments, clients) if trial.by_client else moments
        named = {f"{name}.{part}" if part else name: value for part, value in values.items()}
        return {
            called: self._recorded(called, moments, value, outcomes)
            for called, value in named.items()
        }

    def _recorded(
        self,
        name: str,
        moments: Mapping[str, np.ndarray],
        values: np.ndarray,
        outcomes: Sequence[Outcome],
    ) -> Recorded:
        alike = np.full(values.shape[1], 1.0 / values.shape[1])  # blocks may differ in size
        weights = outcomes[0].weights if len(outcomes) == 1 else alike
        return Recorded(name, moments, values, weights, exact=not self.sampled)

    def _outcomes(self, left: Callable[[Any], Any]) -> list[Outcome]:
        """Run the case with one measure: once without noise, else all outcomes, or in blocks."""
        case = self.case
        common: dict[str, Any] = {"rounds": case.rounds, "left": left}
        if self.replicates is None:
            try:
                made = [
                    run_exactly(
                        case.problem, case.algorithm, limit=MOST_OUTCOMES, device=self.device,
                        **common,
                    )
                ]  # fmt: skip
            except TooManyAtoms as error:
                raise DriftproofError(
                    f"replicates = None, and more than {MOST_OUTCOMES} outcomes of the noise of "
                    f"{case}",
                    "a run that is so short that they can be shown one by one",
                    "replicates=64 draws some of them",
                ) from error
        elif not self.sampled and (quiet := self._quietly(common)) is not None:
            made = [quiet]
        else:
            self.sampled = True
            sizes = [
                min(BLOCK, self.replicates - first) for first in range(0, self.replicates, BLOCK)
            ]
            made = [
                run_once(case.problem, case.algorithm, self._block(block, size), **common)
                for block, size in enumerate(sizes)
            ]
        self.bad_steps += [outcome.bad_step for outcome in made]
        self.communications, self.reals = made[0].rounds, made[0].reals
        return made

    def _quietly(self, common: Mapping[str, Any]) -> Outcome | None:
        """Return the one run of a case without noise (None: there is noise)."""
        quiet = NoiselessContext(self.case.problem.clients, dtype=torch.float64, device=self.device)
        with suppress(Drew):
            return run_once(self.case.problem, self.case.algorithm, quiet, **common)
        return None

    def _block(self, block: int, replicates: int) -> BatchedContext:
        return sampled_context(
            self.case.problem, self.names, block=block, replicates=replicates, device=self.device
        )

    def _end(self, outcome: Outcome) -> Moment:
        """Return the moment after the last round, for a measure that looks at states alone."""
        ctx = self._block(0, len(outcome.weights))
        ctx.local_steps, ctx.horizon = self.case.algorithm.local_steps, self.case.rounds
        ctx.t = ctx.horizon * ctx.local_steps
        return Moment(ctx, self.case.problem, outcome.state, outcome.state, self.case.rounds)


def _in_order(axes: tuple[str, ...], count: int, local_steps: int) -> list[np.ndarray]:
    """Return the numbers of so many moments in a row."""
    every = np.arange(count)
    return [every // local_steps, every % local_steps + 1] if len(axes) == 2 else [every]


def _of_each_client(moments: Mapping[str, np.ndarray], clients: int) -> dict[str, np.ndarray]:
    """Return moments of which each has a value for every client."""
    count = len(next(iter(moments.values())))
    repeated = {what: numbers.repeat(clients) for what, numbers in moments.items()}
    return repeated | {"client": np.tile(np.arange(clients), count)}


def _joined(outcomes: Sequence[Outcome]) -> np.ndarray:
    """Return what blocks of replicates took, beside each other: the moments that all reached."""
    moments = min(outcome.taken.shape[1] for outcome in outcomes)
    return np.concatenate([outcome.taken[:, :moments] for outcome in outcomes], 2)
