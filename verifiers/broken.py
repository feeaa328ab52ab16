"""Algorithms broken on purpose, in ways that any of them can be: their claims have to notice.

A broken algorithm has the fields, and so the letters, of the one that it is made from. It runs the
same text, in a context or with numbers that differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from driftproof.toolkit.algorithm import Algorithm, Collective
from driftproof.toolkit.cases import Case
from driftproof.toolkit.draws import Law, Uniforms
from driftproof.toolkit.errors import DriftproofError, unknown_name
from driftproof.toolkit.federation import run, sampled_context

SKIPPED, STALE, SIGN = "skipped average", "stale value", "wrong sign of the step"
BIASED, OFF_BY_ONE, COHORT = "biased sample", "off by one local step", "cohort ignored"
ROUNDS, REPLICATES = 3, 4
"""How far a broken algorithm is run to see whether it differs, and how often."""
LOOKED_AT = 32
"""Cases of a claim that are tried for whether they tell a broken algorithm apart."""


class _Through:
    """A context in which something is done wrongly; everything else is the context's own."""

    def __init__(self, ctx: Any) -> None:
        self._ctx = ctx

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ctx, name)


class _Alone:
    """A collective that counts its rounds and returns what it was sent."""

    def __init__(self, collective: Collective) -> None:
        self._collective = collective

    def average(self, *xs: Tensor, weights: Tensor | None = None) -> tuple[Tensor, ...]:
        """Return each client's own values."""
        self._collective.average(*xs, weights=weights)
        return xs


class _SkipsAverages(_Through):
    def average(self, *xs: Tensor, weights: Tensor | None = None) -> tuple[Tensor, ...]:
        return _Alone(self._ctx).average(*xs, weights=weights)

    def cohort(self, size: int, since: int, name: str = "cohort") -> Collective:
        return _Alone(self._ctx.cohort(size, since, name))


class _BiasesSamples(_Through):
    def draw(self, law: Law | None, name: str) -> Tensor | None:
        drawn: Tensor | None = self._ctx.draw(law, name)
        return None if drawn is None else _biased(drawn, law)

    def server_draw(self, law: Law, name: str, since: int) -> Tensor:
        drawn: Tensor = self._ctx.server_draw(law, name, since)
        return _biased(drawn, law) if isinstance(law, Uniforms) else drawn


class _IgnoresCohorts(_Through):
    def cohort(self, size: int, since: int, name: str = "cohort") -> Collective:
        self._ctx.cohort(size, since, name)  # it is drawn, and a measure may look at it
        collective: Collective = self._ctx
        return collective


def _biased(drawn: Tensor, law: Law | None) -> Tensor:
    """Return a draw that is never below its mean, or the first sample whichever was drawn."""
    if isinstance(law, Uniforms):
        return drawn * drawn
    # balls are no torch tensors, and have no flag that says whether they are whole
    return torch.abs(drawn) if drawn.dtype.is_floating_point else drawn * 0


def _plain(algorithm: Any) -> Any:
    return algorithm


def _reversed(algorithm: Any) -> Any:
    return _with(algorithm, "step_size", lambda size: -size)


def _one_more(algorithm: Any) -> Any:
    return _with(algorithm, "_steps", lambda steps: steps + 1)


def _with(algorithm: Any, ending: str, change: Callable[[Any], Any]) -> Any:
    """Return an algorithm with other values of fields, which its checks would refuse."""
    changed = object.__new__(type(algorithm))  # a copy is made by the checks
    for name, value in algorithm.values().items():
        object.__setattr__(changed, name, change(value) if name.endswith(ending) else value)
    return changed


BREAKAGES: Mapping[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    SKIPPED: (_SkipsAverages, _plain),
    STALE: (_plain, _plain),
    SIGN: (_plain, _reversed),
    BIASED: (_BiasesSamples, _plain),
    OFF_BY_ONE: (_plain, _one_more),
    COHORT: (_IgnoresCohorts, _plain),
}
"""What is done wrongly: the context that the algorithm gets, and the numbers that it works with.

A stale value is the state before last, from which a step is taken in the place of the last one.
"""

_LAST: WeakKeyDictionary[Any, tuple[int, Any]] = WeakKeyDictionary()
"""Of each run, the number of its latest step and the state that it started from."""


def broken(algorithm: Algorithm, breakage: str) -> Algorithm:
    """Return an algorithm with the same fields that does something wrongly.

    Raises:
        DriftproofError: no such breakage.
    """
    if breakage not in BREAKAGES:
        raise unknown_name("breakage", breakage, BREAKAGES)
    made: Algorithm = _class(type(algorithm), breakage)(**algorithm.values())
    return made


@cache
def _class(original: type[Any], breakage: str) -> type[Any]:
    context, numbers = BREAKAGES[breakage]

    def init(self: Any, ctx: Any, oracles: Any, start: Tensor) -> Any:
        return original.init(numbers(self), context(ctx), oracles, start)

    def step(self: Any, ctx: Any, oracles: Any, state: Any) -> Any:
        if breakage == STALE:
            latest, before = _LAST.get(ctx, (-1, state))
            _LAST[ctx] = ctx.t, state
            state = before if latest == ctx.t - 1 >= 0 else state
        return original.step(numbers(self), context(ctx), oracles, state)

    def reduce(self: Any) -> Any:
        return broken, (original(**self.values()), breakage)

    # another name, so that no fused kernel runs in its place
    name = f"{original.leaf_name} ({breakage})"
    own = {"init": init, "step": step, "__reduce__": reduce, "leaf_name": name}
    return type(original.__name__, (original,), own | {"__module__": original.__module__})


def differs(case: Case, breakage: str) -> bool:
    """Whether a broken algorithm comes to another state than the whole one, on the same draws."""
    rounds = min(case.rounds, ROUNDS)
    states = []
    for algorithm in (case.algorithm, broken(case.algorithm, breakage)):
        ctx = sampled_context(case.problem, ("broken", case.key), replicates=REPLICATES)
        states.append(run(case.problem, algorithm, ctx, rounds=rounds, kernels=False).state)
    return any(not torch.equal(a, b) for a, b in zip(*states, strict=True))


def told_apart(cases: Mapping[int, Case], breakage: str) -> Iterator[int]:
    """Yield the numbers of cases on which a broken algorithm differs, the cheapest first.

    No more than ``LOOKED_AT`` cases are looked at.
    """
    able = [k for k, case in cases.items() if breakage != COHORT or _samples_clients(case)]
    cheapest = sorted(able, key=lambda k: cases[k].rounds * cases[k].algorithm.local_steps)
    for number in cheapest[:LOOKED_AT]:
        with suppress(DriftproofError):
            if differs(cases[number], breakage):
                yield number


def _samples_clients(case: Case) -> bool:
    """Whether some clients do not take part in a round."""
    return bool(case.algorithm.cohort_size(case.problem.clients) < case.problem.clients)
