"""Runs a case once with tensors that write numpy, by the algorithm's own text and the problem's.

The run is ``federation.run`` itself, on the case's algorithm, problem and measure. But each step
begins with the state by its names (``Noted``), and each function of the problem that is called with
something traced is a function of the script (``Watched``).
"""

import copy
import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import partial, wraps
from types import FunctionType, MethodType
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from driftproof.synthetic.building_blocks.piecewise_linear import PiecewiseLinear
from driftproof.toolkit.cases import Case
from driftproof.toolkit.draws import Law, Subset, elements, outcomes_of
from driftproof.toolkit.engines.batched import combined
from driftproof.toolkit.engines.enumerated import EnumeratedContext
from driftproof.toolkit.federation import run
from driftproof.toolkit.measure import Reduction
from driftproof.verifiers.standalone.printed import free, points_of
from driftproof.verifiers.standalone.refusal import NoScriptError
from driftproof.verifiers.standalone.traced import (
    FIXED,
    SCOPES,
    Node,
    Outside,
    Scope,
    Traced,
    naming,
    number,
    operand,
    plain,
)

SAMPLED = 20_000
"""Outcomes that are sampled if there are too many to list."""


class SampledContext(EnumeratedContext):
    """Samples each draw as the script does, whose numbers are then the same."""

    def __init__(self, clients: int, **_: Any) -> None:
        super().__init__(clients)
        self.replicates, self._random = SAMPLED, np.random.default_rng(0)
        self._probabilities = np.full(SAMPLED, 1.0 / SAMPLED)
        self._met: dict[Any, np.ndarray] = {}

    def _element(self, law: Law, key: Any) -> np.ndarray:
        if key not in self._met:
            values, chances = outcomes_of(law, key[2])
            self._met[key] = values[self._random.choice(len(values), SAMPLED, p=chances)]
        return self._met[key]


class Tracing:
    """What a context notes: draws, averages and the quantities of a step that have names."""

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__(*args, **given)
        self.drawn: dict[Any, Traced] = {}

    @property
    def t(self) -> int:
        """The number of the step."""
        made: int = number(self._t, "t")
        return made

    @t.setter
    def t(self, value: int) -> None:
        self._t = int(value)

    def draw(self, law: Law | None, name: str) -> Any:
        """Draw for each client."""
        drawn = super().draw(law, name)  # type: ignore[misc]
        return drawn if law is None else self._noted(drawn, law, name, self._t, self.clients)  # type: ignore[attr-defined]

    def server_draw(self, law: Law, name: str, since: int) -> Any:
        """Draw for all clients."""
        drawn = super().server_draw(law, name, since)  # type: ignore[misc]
        return self._noted(drawn, law, name, int(since), 0)

    def _noted(self, drawn: Tensor, law: Law, name: str, step: int, clients: int) -> Traced:
        if (name, step) not in self.drawn:  # a draw is one however often it is asked for
            called, count = name.replace("-", "_"), len(elements(law))
            laws = [outcomes_of(law, k) for k in range(max(1, clients))]
            texts = [f"{v.tolist()}, {p.tolist()}" for v, p in laws]
            shape = list(drawn.shape[:-1])
            if isinstance(law, Subset) and not clients:
                text = f"some_of({law.of}, {law.size})"
            elif len(set(texts)) == 1:
                text = f"draw({texts[0]}, {max(1, clients) * count}, {shape})"
            else:
                each = [f"draw({of}, {count}, {shape[1:]})" for of in texts]
                text = f"np.stack([{', '.join(each)}])"
            self.drawn[name, step] = Traced(drawn, Node(text, name=called, line=True))
        return self.drawn[name, step]

    def mark(self, name: str, value: Any) -> None:
        """Take the name that a claim knows a quantity by."""
        if isinstance(value, Traced) and value.node.text and value.node.scope is SCOPES[-1]:
            value.node.name, value.node.marked = name, True
        super().mark(name, value)  # type: ignore[misc]

    def everywhere(self, x: Tensor) -> Tensor:
        """Hold a point at every client."""
        if x.ndim == 2 or not isinstance(x, Traced):
            return super().everywhere(x)  # type: ignore[misc, no-any-return]
        made = super().everywhere(x.value).clone()  # type: ignore[misc]
        return Traced(made, Node("everywhere({})", x.node))

    def average_over(self, mask: Any, xs: Any, weights: Any) -> tuple[Tensor, ...]:
        """Average over clients, and hand everyone the mean."""
        share = combined(mask, weights)
        means = super().average_over(plain(mask), tuple(map(plain, xs)), plain(weights))  # type: ignore[misc]
        text = "weighted({}, {})" if share is not None else "average({})"
        more = () if share is None else (operand(share),)
        return tuple(
            Traced(mean, Node(text, operand(x), *more)) for mean, x in zip(means, xs, strict=True)
        )


class TracedContext(Tracing, EnumeratedContext):
    """All outcomes of the draws."""


class TracedSamples(Tracing, SampledContext):
    """Samples of them."""


class Watched:
    """Mixed into a problem and its oracles: what is called is a function of the script."""

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if name[0] == "_" or not isinstance(value, MethodType):
            return value
        raw = getattr(super().__getattribute__("unwatched"), name)
        return partial(outlined, value, raw, (inspect.getdoc(value) or "").partition("\n")[0])


def watched(x: Any, known: dict[str, float], **more: Any) -> Any:
    """Return an object that is watched; its numbers, and those of its parts, have their names."""
    made = copy.copy(x)
    for holder in (made, *(y for y in vars(made).values() if is_dataclass(y))):
        if holder is not made:
            at = next(name for name, y in vars(made).items() if y is holder)
            holder = copy.copy(holder)
            object.__setattr__(made, at, holder)
        for name, value in vars(holder).items():
            called = free(name.strip("_"))
            if type(value) is float and known.setdefault(called, value) == value:
                object.__setattr__(holder, name, number(value, called))
    kind = type(type(x).__name__, (Watched, type(x)), {"__module__": type(x).__module__, **more})
    object.__setattr__(made, "__class__", kind)
    object.__setattr__(made, "unwatched", x)
    return made


RECORDED: list[str] = []
"""What of a problem is not written but recorded, with the reason why."""
LARGEST = 10_000
"""Numbers that are recorded of one answer, at most."""


def outlined(function: Any, raw: Any, says: str, *args: Any, **named: Any) -> Any:
    """Call a function of the problem: with something traced it is a function of the script.

    Args:
        raw: the function as it is, whose answers are recorded if it cannot be written.
        says: what it does, in a line.
    """
    bound = inspect.signature(function).bind(*args, **named)
    given = {key: x for key, x in bound.arguments.items() if isinstance(x, Traced)}

    def compute(values: dict[str, Any], of: Any = function) -> Any:
        again = inspect.BoundArguments(bound.signature, bound.arguments | values)
        return of(*again.args, **again.kwargs)

    return _as_call(raw, says, given, compute) if given else function(*args, **named)


def _as_call(raw: Any, says: str, given: dict[str, Traced], compute: Any, name: str = "") -> Any:
    """Return what a function makes of the given as calls; a pullback does it all once more."""
    name = name or raw.__name__
    SCOPES.append(scope := Scope())
    inside = {key: Traced(x.value, Node("", name=key)) for key, x in given.items()}
    try:
        result = compute(inside)
    except Outside:
        result = Outside
    except NoScriptError as reason:
        result = compute({key: x.value for key, x in given.items()}, raw)
        if any(isinstance(x, Tensor) and x.numel() > LARGEST for x in tree_leaves(result)):
            raise
        RECORDED.append(f"{name} ({reason})")
        return result
    finally:
        SCOPES.pop()
    parts = result if type(result) is tuple else (result,)
    if not all(isinstance(x, Tensor | FunctionType | None) for x in parts):
        return compute(given)  # as a part of what calls it
    passed = {inside[key].node: x for key, x in given.items()}

    def outside(k: int, part: Any) -> Any:
        if isinstance(part, FunctionType):

            def pulled(*more: Any) -> Any:
                vectors = {f"v{j or ''}": x for j, x in enumerate(more)}
                traced = {key: x for key, x in vectors.items() if isinstance(x, Traced)}

                def both(values: dict[str, Any], *of: Any) -> Any:
                    pullback = compute({key: values[key] for key in given}, *of)[k]
                    return pullback(*(values.get(key, x) for key, x in vectors.items()))

                return _as_call(raw, says, given | traced, both, f"d_{name}")

            return pulled
        if not isinstance(part, Traced) or part.node.scope is not scope:
            return part
        if not part.node.text:
            return passed[part.node]
        if part.node.text == FIXED:
            return Traced(part.value, Node(FIXED, part.value))
        text = f"{{}}({', '.join([FIXED] * len(given))})"
        call = Node(text, None, *(x.node for x in given.values()))
        call.hint = part.node.name
        call.body = (name if k == 0 else f"{name}_{k + 1}", says, scope, part.node)
        return Traced(part.value, call)

    made = tuple(outside(k, part) for k, part in enumerate(parts))
    return made if parts is result else made[0]


CURVES = {"value": ("curve",), "integral": ("area",), "value_and_integral": ("curve", "area")}
"""How functions of a piecewise linear function are written, where it is flat at both ends."""


def _as_curve(original: Callable[..., Any], names: tuple[str, ...]) -> Callable[..., Any]:
    def method(self: PiecewiseLinear, x: Any) -> Any:
        points = points_of(self) if isinstance(x, Traced) else None
        if points is None:
            return original(self, x)
        values = original(self, x.value)
        made = tuple(
            Traced(value, Node(f"{name}({{}}, {{}})", points, x.node))
            for name, value in zip(names, values if len(names) > 1 else (values,), strict=True)
        )
        return made if len(names) > 1 else made[0]

    return method


def _names(state: Any) -> list[str]:
    """Return what a script calls the fields of a state."""
    return list(map(free, state._fields))


class Noted:
    """The scopes of a run, and the algorithm as the run sees it: each step begins with its names.

    Attributes:
        start: the scope before the first round.
        rounds: of each round its start and its steps.
        numbers: of the algorithm and the problem, by their names.
        raw: the problem's oracles.
    """

    def __init__(self, case: Case, left: Any, ctx: Any, axes: tuple[str, ...], enough: int) -> None:
        self.start, self.rounds = Scope(), [[Scope()]]
        self._drawn: dict[Any, Traced] = {}
        self._nodes: dict[int, Traced] = {}
        steps = case.algorithm.local_steps
        self._t = "t = s" if steps == 1 else f"t = {steps} * s + j"
        self._ctx, self._axes, self._enough, self._left = ctx, axes, enough, left
        self.numbers: dict[str, float] = {}
        self._algorithm = copy.copy(case.algorithm)
        letters = {role: letter for letter, role in self._algorithm.notation.items()}
        for field in fields(self._algorithm):
            value = getattr(case.algorithm, field.name)
            name = free(letters.get(field.name, field.name))
            if type(value) is float and field.name != "participation":
                self.numbers[name] = value
                object.__setattr__(self._algorithm, field.name, number(value, name))
        self.raw = case.problem.oracles(torch.float64)
        oracles = watched(self.raw, self.numbers)
        problem = watched(case.problem, self.numbers, oracles=lambda *_, **__: oracles)
        if "_held" in vars(problem):  # its oracles by their dtype, and whether it was looked at
            held = {key: x for key, x in problem._held.items() if type(key) is str}
            object.__setattr__(problem, "_held", held)
        originals = {name: getattr(PiecewiseLinear, name) for name in CURVES}
        naming(on=True)
        try:
            for name, texts in CURVES.items():
                setattr(PiecewiseLinear, name, _as_curve(originals[name], texts))
            measure = wraps(left)(lambda view: self._measure(view))
            followed: Any = self
            run(
                problem,
                followed,
                ctx,
                rounds=case.rounds,
                left=measure,
                watch=self._round,
                kernels=False,
            )
        finally:
            naming(on=False)
            for name, original in originals.items():
                setattr(PiecewiseLinear, name, original)
            SCOPES.clear()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._algorithm, name)

    def init(self, ctx: Any, oracles: Any, start: Tensor) -> Any:
        """Begin the script."""
        SCOPES[:] = [self.start]
        made = self._left_behind(self._algorithm.init(ctx, oracles, Traced(start, Node("start"))))
        self._drawn = dict(ctx.drawn)
        SCOPES[:] = [Scope()]  # trials of the measure come now; they are forgotten
        return made

    def step(self, ctx: Any, oracles: Any, state: Any) -> Any:
        """Note one step."""
        self.rounds[-1].append(self._open(state))
        for name in _names(state):
            Node(f"previous_{name} = before_{name}", line=True)
            Node(f"before_{name} = {name}", line=True)
        Node(self._t, line=True)
        Node("j += 1", line=True)
        return self._left_behind(self._algorithm.step(ctx, oracles, self._named(state)))

    def _round(self, s: int, state: Any) -> bool:
        """Begin a round; say whether to go on."""
        if s == 0:  # what was tried before is no part of the run
            self.rounds.clear()
            self._ctx.drawn = dict(self._drawn)
            self._ctx._cohorts.clear()
        self.rounds.append([self._open(state)])
        of_state = (f"begun_{name} = {name}" for name in _names(state))
        for text in ("s += 1", "j = 0", self._t, *of_state):
            Node(text, line=True)
        return s < self._enough

    def _open(self, state: Any) -> Scope:
        """Return a new scope, which begins with the state by its names."""
        SCOPES[:] = [Scope()]
        self._nodes = {
            id(x): Traced(x, Node("", name=name))
            for name, x in zip(_names(state), state, strict=True)
        }
        return SCOPES[0]

    def _named(self, state: Any, begin: str = "", *, known: bool = True) -> Any:
        """Return a state as the script knows it."""
        if state is None:
            return None
        return type(state)(
            *(
                self._nodes[id(x)]
                if known and id(x) in self._nodes
                else Traced(x, Node(begin + name))
                for name, x in zip(_names(state), state, strict=True)
            )
        )

    def _left_behind(self, state: Any) -> Any:
        """Return a state as tensors, which the script has by its names from now on."""
        made = type(state)(*(plain(x).clone() for x in state))
        for name, x, value in zip(_names(state), state, made, strict=True):
            SCOPES[0].ends[name] = operand(x)
            self._nodes[id(value)] = x if isinstance(x, Traced) else Traced(x, Node(name))
            if isinstance(x, Traced) and x.node.scope is SCOPES[0] and x.node.text:
                x.node.name = name
        self._held = made  # as long as its tensors are known by where they are
        return made

    def _measure(self, view: Any) -> Any:
        """Take the claim's measure, and note it."""
        moment, seen = view._moment, copy.copy(view)
        seen._moment = moment._replace(
            state=self._named(moment.state),
            before=self._named(moment.before, "before_"),
            start=self._named(moment.start, "begun_", known=self._axes == ("round",)),
            previous=self._named(moment.previous, "previous_", known=False),
            round=number(moment.round, "s"),
            local_step=number(moment.local_step, "j"),
        )
        if self._axes == ("step",):
            Node(self._t, line=True)  # of the step that comes
        made = self._left(seen)
        if not isinstance(made, Reduction):
            return made
        values = [made.value, *made.parts.values()]
        slots = ", ".join([FIXED] * len(values))
        text = f"taken.append([{slots}])" if made.parts else "taken.append({})"
        Node(text, *map(operand, values), line=True)
        parts = {name: plain(x) for name, x in made.parts.items()}
        how = "each" if made.how == "given past" else made.how
        return replace(made, how=how, value=plain(made.value), parts=parts)
