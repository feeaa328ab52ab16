"""Measures: what a claim needs from a run, accumulated step by step.

A claim's ``left(view)`` is called while the algorithm runs and returns a Reduction: a value for
each replicate now, and how the values of many moments become one number a replicate. Its axes say
at which moments it is called:

==========================  ======================================================
``"round"``                 at the start of each round, s = 0 … S − 1
``"round", "local_step"``   after each local step, j = 1 … τ of every round
``"step"``                  before each step, t = 0 … T − 1; marks are those of step t − 1
``"transition"``            after each step: ``view.before`` is the state that it started from,
                            ``view.previous`` the one before that, marks are those of this step
==========================  ======================================================

A further axis ``"client"`` makes a comparison for each client of a value [clients, replicates]. A
left side may return None at a moment that the statement does not speak of. A measure treats each
replicate alone: it must not mix them.
A right side may name means of further quantities (``c.measured("error")``); the left side measures
them too: ``each("transition", value, error=…)``. ``given_past`` takes such a comparison in
conditional expectation given all that was drawn before the step, by enumerating the step's noise.

What a measure may see is its parameter's type. ``view: States`` sees the states alone, of which a
kernel may give many at once. ``view: Steps``, or no annotation, sees the inside of a round too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from driftproof.toolkit.errors import DriftproofError, unknown_name
from driftproof.toolkit.oracles import OFFERS, feasible
from driftproof.toolkit.untouched import contents, written
from driftproof.toolkit.user_traceback import place_of

if TYPE_CHECKING:
    from driftproof.toolkit.engines.batched import BatchedContext
    from driftproof.toolkit.problem import Problem

MOMENTS = (("round",), ("round", "local_step"), ("step",), ("transition",))


@dataclass(frozen=True)
class Reduction:
    """A value now, [replicates], and how moments are reduced.

    "each", "average", "smallest" or "given past".

    Attributes:
        parts: further quantities that a right side names, [replicates] each.
    """

    how: str
    axes: tuple[str, ...]
    value: Tensor
    parts: Mapping[str, Tensor] = field(default_factory=dict)
    by_client: bool = False
    """Whether the values are [clients, replicates], a comparison for each client."""

    @property
    def stacked(self) -> Tensor:
        """The value and the parts, [1 + parts, (comparisons,) replicates]."""
        return torch.stack([self.value, *self.parts.values()])


def each(*axes_and_value: Any, **parts: Tensor) -> Reduction:
    """One comparison for every moment: ``each("round", "local_step", value)``.

    >>> made = each("step", torch.tensor([1.0, 2.0]), error=torch.tensor([0.5, 0.5]))
    >>> made.how, made.axes, list(made.parts), made.by_client
    ('each', ('step',), ['error'], False)

    Raises:
        DriftproofError: the axes name no moments, or a value is no tensor.
    """
    return _reduction("each", axes_and_value, parts)


def average(*axes_and_value: Any, **parts: Tensor) -> Reduction:
    """The mean over all moments: ``average("round", value)``.

    >>> average("round", torch.tensor([1.0, 2.0])).how
    'average'

    Raises:
        DriftproofError: the axes name no moments, or a value is no tensor.
    """
    return _reduction("average", axes_and_value, parts)


def smallest(*axes_and_value: Any) -> Reduction:
    """The smallest expectation of all moments, of the best iterate: ``smallest("round", value)``.

    >>> smallest("round", torch.tensor([1.0, 2.0])).how
    'smallest'

    Raises:
        DriftproofError: the axes name no moments, or a value is no tensor.
    """
    return _reduction("smallest", axes_and_value, {})


def given_past(*axes_and_value: Any, **parts: Tensor) -> Reduction:
    """One comparison for every step, in conditional expectation given what came before it.

    ``given_past(value)``, or ``given_past("client", value)`` for one of every client.

    Stronger than the total expectation that a paper prints. Where the noise of the whole run can
    be enumerated, the total expectation is judged, exactly; elsewhere pasts are sampled, the noise
    of the step is enumerated for each, and the statement is supported if it holds for all of them.

    >>> of_clients = given_past("client", torch.ones(2, 3))  # [clients, replicates]
    >>> of_clients.axes, of_clients.by_client
    (('transition',), True)

    Raises:
        DriftproofError: an axis other than ``"client"``, or a value that is no tensor.
    """
    return _reduction("given past", ("transition", *axes_and_value), parts)


def dot(x: Tensor, y: Tensor) -> Tensor:
    """Return ⟨x, y⟩ over the dimension: [dim, replicates] twice → [replicates].

    >>> dot(torch.tensor([[3.0, 1.0], [4.0, 2.0]]), torch.tensor([[1.0, 1.0], [0.0, 2.0]])).tolist()
    [3.0, 5.0]
    """
    return (x * y).sum(-2)


def sq(x: Tensor) -> Tensor:
    """Return ‖x‖² over the dimension: [dim, replicates] → [replicates].

    >>> sq(torch.tensor([[3.0, 1.0], [4.0, 2.0]])).tolist()
    [25.0, 5.0]
    """
    return dot(x, x)


def _reduction(how: str, axes_and_value: tuple[Any, ...], parts: Mapping[str, Tensor]) -> Reduction:
    *axes, value = axes_and_value
    by_client = how in ("each", "given past") and axes[-1:] == ["client"]
    axes = axes[:-1] if by_client else axes
    for called, part in {"": value, **parts}.items():
        if not isinstance(part, Tensor):
            raise DriftproofError(
                f"{how}(…) of {part!r:.60}, of type {type(part).__name__} and shape "
                f"{tuple(getattr(part, 'shape', ()))}, as {called or 'its last argument'}",
                'a tensor [replicates], or [clients, replicates] after "client"',
                'reduce something that view gives: sq(view.mean("w")), say',
            )
        if part.is_complex():
            raise DriftproofError(
                f"{how}(…) of a complex number", "a real one", "measure abs(z), or its real part"
            )
    if tuple(axes) not in MOMENTS:
        raise DriftproofError(
            f"{how}({', '.join(map(repr, axes))}, …)",
            "axes " + " or ".join(repr(a) for a in MOMENTS),
            f'write {how}("round", value), say',
        )
    return Reduction(how, tuple(axes), value, parts, by_client)


class Moment(NamedTuple):
    """A moment of a run, as a context hands it to a measure.

    Attributes:
        problem: the problem, for ``objective`` and ``gradient``.
        state: the algorithm's state (a NamedTuple of [clients, dim, replicates]).
        start: the state at the start of the round.
        round: s, the number of the round; a letter where a run stands for all of them.
        local_step: how many local steps of the round are done (0 at its start).
        before, previous: of a transition, the state that the step started from, and the one that
            the step before it started from (at t = 0 the first state, twice).
    """

    ctx: BatchedContext
    problem: Problem
    state: Any
    start: Any
    round: Any = 0
    local_step: int = 0
    before: Any = None
    previous: Any = None


@dataclass
class Asked:
    """What a measure of states has asked for: that, and no more, has to be kept of a run.

    Attributes:
        means: the fields of which it took the mean over clients.
        clients: the fields of which it took the value of every client.
        problem: whether it asked the problem for something, a gradient say.
        closed: whether it may not ask for anything else from now on.
    """

    means: set[str] = field(default_factory=set)
    clients: set[str] = field(default_factory=set)
    problem: bool = False
    closed: bool = False

    def note(self, how: str, name: str) -> None:
        """Note ``mean`` or ``client`` of a field.

        Raises:
            DriftproofError: this is a later moment, and at the first one it did not ask for that.
        """
        names = self.means if how == "mean" else self.clients
        if self.closed and name not in names:
            raise DriftproofError(
                f"view.{how}({name!r}) at some moment of a run, but not at the first",
                "a measure of States that asks for the same at each moment",
                "ask for it before any if, or annotate it `view: Steps`",
            )
        names.add(name)


class States:
    """What the states show, at the start of a round or before or after a step.

    A measure ``def left(view: States)`` sees this alone, so that fused kernels may run ahead and
    give it many moments at once, beside each other as if they were replicates. It asks for the
    same at each moment.

    >>> from driftproof.synthetic.problems import BoundedComposition
    >>> from driftproof.toolkit.algorithms import ComFedL
    >>> from driftproof.toolkit.federation import run, sampled_context
    >>> problem, method = BoundedComposition(clients=2, distance=3.0), ComFedL(step_size=0.5)
    >>> def left(view: States) -> Reduction:
    ...     return each("round", sq(view.mean("w")))
    >>> ctx = sampled_context(problem, ("doc",), replicates=1)
    >>> run(problem, method, ctx, rounds=3, left=left).values.ravel().tolist()
    [9.0, 6.25, 4.0]
    """

    def __init__(self, moment: Moment, asked: Asked) -> None:
        self._moment = moment
        self._asked = asked

    if not TYPE_CHECKING:  # mypy refuses by itself what is not declared here

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_") or not hasattr(Steps, name):
                kind = type(self).__name__
                raise AttributeError(
                    f"{kind!r} object has no attribute {name!r}", name=name, obj=self
                )
            raise DriftproofError(
                f"view.{name} in a measure of States",
                "what the states show: mean(…), client(…), gradient(…), objective(…), horizon …",
                "annotate it `view: Steps`",
            )

    @property
    def problem(self) -> Problem:
        """The problem."""
        self._asked.problem = True
        return self._moment.problem

    @property
    def horizon(self) -> int:
        """How many rounds the run has."""
        return self._moment.ctx.horizon

    def client(self, name: str) -> Tensor:
        """Return a field of the state of each client, [clients, dim, replicates]."""
        value = self._field(name)
        self._asked.note("client", name)
        return value

    def mean(self, name: str) -> Tensor:
        """Return the mean of a field of the state over all clients, [dim, replicates]."""
        value = self._field(name)
        self._asked.note("mean", name)
        return value[0] if len(value) == 1 else value.mean(0)

    def gradient(self, x: Tensor) -> Tensor:
        """Return ∇F(x), exactly, for x of shape [dim, replicates].

        Raises:
            DriftproofError: F is a sum f + h with a term h, and so has none.
        """
        if self.problem.offers == "proximal":
            raise DriftproofError(
                f"∇F of {self.problem}, which is a sum with a term",
                "a function that has a gradient",
                "measure view.gap(x), or ∇f by view.problem.gradient(x)",
            )
        return self.problem.gradient(self._point("gradient", x))

    def client_gradients(self, x: Tensor) -> Tensor:
        """Return each ∇F^i(x), exactly, [clients, dim, replicates]; their mean is ∇F(x)."""
        return self.problem.client_gradients(self._point("client_gradients", x))

    def own_gradients(self, x: Tensor) -> Tensor:
        """Return each ∇F^i at its own x, exactly: [clients, dim, replicates] → the same."""
        gradients: Tensor = self.problem.own_gradients(self._point("own_gradients", x, own=True))
        return gradients

    def inner_values(self, x: Tensor) -> Tensor:
        """Return each client's expected inner value at its own x: [clients, inner_dim, …]."""
        values: Tensor = self.problem.inner_values(self._point("inner_values", x, own=True))
        return values

    def objective(self, x: Tensor) -> Tensor:
        """Return F(x), exactly, for x of shape [dim, replicates]: [replicates]."""
        return self.problem.objective(self._point("objective", x))

    @property
    def minimiser(self) -> Tensor:
        """The point x* where F is least, [dim, replicates]: of a problem, its certified one.

        With two levels it is of x alone; over a class of functions f(x, y) it is (x*, y*).

        Raises:
            DriftproofError: the problem knows none.
        """
        problem, ctx = self.problem, self._moment.ctx
        return problem.minimiser.to(ctx.dtype).expand(problem.dim, ctx.replicates)

    @property
    def lower_minimiser(self) -> Tensor:
        """y*(x*), [lower_dim, replicates], of a problem with two levels.

        Raises:
            DriftproofError: the problem has one level, or is a class, or knows no x*.
        """
        solve: Callable[[Tensor], Tensor] | None = getattr(self.problem, "lower_solution", None)
        if solve is None:
            raise DriftproofError(
                f"view.lower_minimiser of {self.problem}",
                "a problem with two levels, which has lower_solution",
                "measure view.minimiser: over a class of functions f(x, y) it is (x*, y*)",
            )
        return solve(self.minimiser)

    def gap(self, x: Tensor) -> Tensor:
        """Return F(x) − inf F, for x of shape [dim, replicates]: [replicates]."""
        return self.problem.gap(self._point("gap", x))

    def _field(self, name: str) -> Tensor:
        return _field_of(self._moment.state, name)

    def _point(self, what: str, x: Any, *, own: bool = False) -> Tensor:
        """Return x, or raise: a shape that torch would broadcast gives the values of no point."""
        problem, ctx = self._moment.problem, self._moment.ctx
        lead = (ctx.clients,) if own else ()
        shape = tuple(x.shape) if isinstance(x, Tensor) else ()
        point: Tensor = x
        if shape == (*lead, problem.dim, ctx.replicates):
            if what in ("objective", "gap"):
                _check_feasible(what, problem, x)
            return point
        if shape == (*lead, len(problem.start()), ctx.replicates):
            return point  # a state (x, y): problems take its x
        wanted = ", ".join(map(str, (*lead, problem.dim, ctx.replicates)))
        got = f"of shape {list(x.shape)}" if isinstance(x, Tensor) else repr(x)
        raise DriftproofError(
            f"view.{what}(x) of an x {got}",
            f"[{wanted}]: {'clients, ' if own else ''}dimension, replicates",
            f'view.{what}(view.{"client" if own else "mean"}("w")), say',
        )


def _check_feasible(what: str, problem: Problem, x: Tensor) -> None:
    """Raise unless points of a problem on a set lie in it, to within a rounding error."""
    if "set" not in OFFERS[problem.offers] or problem.offers == "class":
        return
    away = torch.linalg.vector_norm(x - feasible(problem, x), dim=0)
    room = torch.finfo(x.dtype).eps ** 0.5 * (1 + torch.linalg.vector_norm(x, dim=0))
    if bool((away > room).any()):
        raise DriftproofError(
            f"view.{what}(x) of an x at distance {float(away.max()):.3g} from the set",
            "a point of the set: F is infinite elsewhere",
            "measure it after project(x), or at a mean of such points",
        )


def _field_of(state: Any, name: str) -> Tensor:
    """Return a field of a state, or raise with those that there are."""
    if name not in state._fields:
        raise unknown_name("quantity", name, state._fields)
    value: Tensor = getattr(state, name)
    return value


class Steps(States):
    """What a run shows step by step: the states, and what happens within a round.

    A measure that is not annotated sees this. ``mean`` and ``client`` differ from those of States
    once steps of the round are done: the mean is over the round's cohort, and ``client`` gives
    what the algorithm marked under that name, before any average.

    >>> from driftproof.synthetic.problems import BoundedComposition
    >>> from driftproof.toolkit.algorithms import ComFedL
    >>> from driftproof.toolkit.federation import run, sampled_context
    >>> problem, method = BoundedComposition(distance=3.0), ComFedL(local_steps=2, step_size=0.5)
    >>> def left(view: Steps) -> Reduction:
    ...     return each("round", "local_step", sq(view.mean("w") - view.round_start("w")))
    >>> ctx = sampled_context(problem, ("doc",), replicates=1)
    >>> run(problem, method, ctx, rounds=2, left=left).values.ravel().tolist()
    [0.25, 1.0, 0.25, 1.0]
    """

    def __init__(self, moment: Moment, asked: Asked, memory: dict[str, tuple[int, Tensor]]) -> None:
        super().__init__(moment, asked)
        self._memory = memory

    @property
    def state(self) -> Any:
        """The algorithm's state, a NamedTuple of [clients, dim, replicates]."""
        return self._moment.state

    @property
    def round(self) -> int:
        """The number of the round, s = 0, 1, …."""
        number: int = self._moment.round
        return number

    @property
    def local_step(self) -> int:
        """How many local steps of the round are done (0 at its start)."""
        return self._moment.local_step

    @property
    def t(self) -> int:
        """The number of the step: the one just made, of a transition, else the next one."""
        return self._moment.ctx.t

    @property
    def local_steps(self) -> int:
        """How many local steps a round has."""
        return self._moment.ctx.local_steps

    @property
    def before(self) -> Any:
        """Of a transition, the state that the step started from."""
        return self._of_transition("before")

    @property
    def previous(self) -> Any:
        """Of a transition, the state that the step before started from (at t = 0, the first)."""
        return self._of_transition("previous")

    def _of_transition(self, name: str) -> Any:
        state = getattr(self._moment, name)
        if state is None:
            raise DriftproofError(
                f"view.{name} at a moment that no step leads to",
                'a measure of "transition"',
                'return each("transition", …), say',
            )
        return state

    @property
    def last(self) -> bool:
        """Whether no step of the run is left."""
        left = self.horizon - self.round
        return left == 1 and self.local_step == self.local_steps

    def since_round(self, name: str, value: Tensor, *, largest: bool = False) -> Tensor:
        """Return the sum (or the largest) of a value over the moments of this round up to now."""
        since, total = self._memory.get(name, (None, value))
        if since is None or self.round - since:
            total = value
        else:
            total = torch.maximum(total, value) if largest else total + value
        self._memory[name] = self.round, total
        return total

    def client(self, name: str) -> Tensor:
        """Return a quantity of each client, [clients, dim, replicates].

        Within a round this is what the algorithm marked under that name (before any average), at
        its start the field of the state.
        """
        marks, state = self._moment.ctx.marks, self._moment.state
        if self.local_step and name in marks:
            return marks[name]
        if name not in state._fields:
            if name not in marks:
                raise unknown_name("quantity", name, {*state._fields, *marks})
            raise DriftproofError(
                f"{name!r} at the start of a round: the algorithm marks it during a step",
                f"there a field of the state: {', '.join(state._fields)}",
                'measure it after steps: along "transition", or "round", "local_step"',
            )
        return self._field(name)

    def mean(self, name: str) -> Tensor:
        """Return the mean over the round's cohort, [dim, replicates].

        A field of the state is taken from the state, after any average, so that a server that
        averages wrongly is seen; anything else is what the algorithm marked.
        """
        a_field = name in self._moment.state._fields
        return self.cohort_mean(self._field(name) if a_field else self.client(name))

    def cohort_mean(self, values: Tensor) -> Tensor:
        """Return the mean of [clients, dim, replicates] over the round's cohort."""
        ctx = self._moment.ctx
        mean: Tensor = ctx.means(ctx.mask if self.local_step else None, (values,), None)[0][0]
        return mean

    @property
    def begun(self) -> Any:
        """The state that this round started from."""
        return self._moment.start

    def at_rest(self, algorithm: Any) -> Any:
        """Return the state that rounds tend to by the algorithm's ``limits`` (None: of none)."""
        if not algorithm.limits:
            return None
        sizes = SimpleNamespace(upper_dim=getattr(self.problem, "upper_dim", 0))
        star = self.minimiser
        return algorithm.at_rest(self._moment.ctx, sizes, star, self.client_gradients(star))

    def round_start(self, name: str) -> Tensor:
        """Return the mean over clients at the start of this round, [dim, replicates]."""
        return _field_of(self._moment.start, name).mean(0)


class Measure:
    """A claim's ``left(view)``, which is called with the moments of one run.

    Attributes:
        of_states: whether it sees states alone, which its parameter's annotation says.
        asked: what it has asked for, if it sees states alone.
        memory: what ``since_round`` keeps between moments.
        how: how it reduces which moments, once that is known.

    Args:
        apart: look, at the first calls and at fewer and fewer then, whether it takes replicates
            together.
    """

    def __init__(self, left: Callable[[Any], Any], *, apart: bool = False) -> None:
        self._left, self._apart = left, apart
        self.of_states = _annotation(left) is States
        self.how: tuple[str, ...] = ()
        self.asked = Asked()
        self.memory: dict[str, tuple[int, Tensor]] = {}
        self._calls = 0

    def __call__(self, moment: Moment) -> Any:
        """Return what the measure says of a moment: a Reduction, or None.

        Raises:
            DriftproofError: it writes to the state, reduces some moments otherwise than others, or
                takes several replicates together.
        """
        state = contents(moment.state)
        self._calls += 1
        looked = self._apart and self._calls & (self._calls - 1) == 0
        others = self._of_others(moment) if looked else []
        said = self._said(moment, self.memory)
        if isinstance(said, Reduction):
            self._check_apart(said, others)
        if written(state, moment.state):
            raise DriftproofError(
                f"{place_of(self._left)} writes to the state of the run",
                "a measure that changes nothing",
                "write x = x - y for x -= y, and clamp for clamp_",
            )
        if self.how:
            self._check_alike(said)
        return said

    def _said(self, moment: Moment, memory: dict[str, tuple[int, Tensor]]) -> Any:
        if self.of_states:
            return self._left(States(moment, self.asked))
        return self._left(Steps(moment, self.asked, memory))

    def _of_others(self, moment: Moment) -> list[tuple[slice, Any]]:
        """Return what is said if half of the replicates have states mixed of the other half's.

        Each with the half that has its own: what it says of those may not change. Empty of exact
        quantities, of single precision, which is rounded at random, and of states that the problem
        or the measure refuses: no run has them.
        """
        said = list[tuple[slice, Any]]()
        marks = getattr(moment.ctx, "marks", {})  # many moments beside each other have none
        if any(
            type(x) is not Tensor or x.dtype != torch.float64 or x.is_meta for x in moment.state
        ):
            return said
        count = moment.state[0].shape[-1]
        half = count // 2
        mixed = min(half, MIXED)
        shares = torch.randn(mixed, half, generator=torch.Generator().manual_seed(0)).double()
        shares += (1 - shares.sum(0)) / max(mixed, 1)  # affine: what all share stays
        halves = slice(half), slice(count - half, count)
        for kept, other in (halves, halves[::-1]) if half else ():

            def put(x: Any, kept: slice = kept, other: slice = other) -> Any:
                if getattr(x, "dtype", None) != torch.float64 or x.shape[-1:] != (count,):
                    return x
                x = x.clone()
                x[..., other] = x[..., kept][..., :mixed] @ shares.to(x.device)
                return x

            states = {name: getattr(moment, name) for name in STATES}
            fields: dict[str, Any] = {
                n: x if x is None else type(x)(*map(put, x)) for n, x in states.items()
            }
            moment.ctx.marks = {name: put(x) for name, x in marks.items()}
            try:
                said.append((kept, self._said(moment._replace(**fields), dict(self.memory))))
            except Exception:  # noqa: BLE001 - the measure is called with the run's own states too
                return []
            finally:
                moment.ctx.marks = marks
        return said

    def _check_apart(self, said: Reduction, others: list[tuple[slice, Any]]) -> None:
        """Raise if a replicate's value depends on another's state: then they are no sample."""
        values = said.value, *said.parts.values()
        for kept, other in others:
            parts = (other.value, *other.parts.values()) if isinstance(other, Reduction) else ()
            same = len(parts) == len(values) and all(
                _near(one, new, kept) for one, new in zip(values, parts, strict=True)
            )
            if not same:
                raise DriftproofError(
                    f"{place_of(self._left)} takes several replicates together: what it returns "
                    "for one changes with the states of others",
                    "a value for each replicate, of its own state alone: the last axis is never "
                    "summed, sliced or sorted",
                    "of a mean w[0] is the first coordinate, and w[:, :1] the first replicate",
                )

    def _check_alike(self, said: Any) -> None:
        if said is None and self.how[0] == "average":
            raise DriftproofError(
                f"{place_of(self._left)} returned None at some moment of an average",
                "a value at each moment",
                "take each(…); or 0, which counts in the mean: after each round it is "
                'average("round", "local_step", view.local_steps * x if view.last else 0 * x)',
            )
        if isinstance(said, Reduction) and (said.how, *said.axes) != self.how:
            raise DriftproofError(
                f"{place_of(self._left)} returned {said.how}({', '.join(said.axes)}) at one moment "
                f"and {self.how[0]}({', '.join(self.how[1:])}) at another",
                "one way to reduce all moments of a run",
                "return None where the statement says nothing",
            )


MIXED = 32
"""Of so many replicates the others' states are mixed."""
STATES = ("state", "start", "before", "previous")
"""The fields of a moment that are states."""


def _near(one: Tensor, other: Tensor, kept: slice) -> bool:
    """Say whether some values are equal, but for the order in which a kernel added."""
    one, other = one[..., kept], other[..., kept]
    size = 1e-9 * float(torch.nan_to_num(one).abs().max())
    return torch.allclose(one, other, rtol=1e-5, atol=size, equal_nan=True)


def _annotation(left: Callable[[Any], Any]) -> Any:
    """Return the annotation of a measure's parameter."""
    try:
        parameters = inspect.signature(left, eval_str=True).parameters
    except NameError as error:
        raise DriftproofError(
            f"a measure that is annotated with {error.name}, which its file does not import",
            "States or Steps, imported when the file runs",
            "write from driftproof import States, Steps, outside of if TYPE_CHECKING",
        ) from error
    annotation = next((p.annotation for p in parameters.values()), inspect.Parameter.empty)
    if annotation not in (States, Steps, Any, inspect.Parameter.empty):
        raise DriftproofError(
            f"a measure of {getattr(annotation, '__name__', annotation)}",
            "States, Steps, or no annotation",
            "write def left(view: Steps) -> Reduction",
        )
    return annotation
