"""Algorithms: one client's program that calls collectives, and the context it runs in.

One text runs batched (all clients and replicates in one tensor operation), enumerated (exact
expectations over small noise supports) and on the wire (one process a client); only the Context
differs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from inspect import getattr_static, signature
from itertools import takewhile
from types import FunctionType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Protocol,
    Self,
    TypeVar,
    dataclass_transform,
    runtime_checkable,
)

from driftproof.toolkit.declaring import declared, with_words_alone
from driftproof.toolkit.errors import DriftproofError, unknown_name
from driftproof.toolkit.parameters import Parameters

if TYPE_CHECKING:
    from torch import Tensor

    from driftproof.toolkit.around import Around, Radii
    from driftproof.toolkit.draws import Law

A = TypeVar("A", bound="Algorithm")
MORE_VECTORS = (
    "each parameter after start is a vector of every client, own.mean(0) one that they share, and "
    'limits = {"own": "gradient"} says that own goes to ∇f_i(x*) ("minimiser": x*, "zero": 0)'
)
"""How a method says what a round begins with, for messages."""


@runtime_checkable
class Collective(Protocol):
    """Something that can average over clients."""

    def average(self, *xs: Tensor, weights: Tensor | None = None) -> tuple[Tensor, ...]:
        """Average over the participating clients in one counted round of communication.

        Args:
            *xs: what each client sends, [clients, dim, replicates] each.
            weights: client weights [clients, 1, 1], uniform by default; normalised here.

        Returns:
            The averages, as every client receives them: the shapes of ``xs``.
        """


@runtime_checkable
class Context(Collective, Protocol):
    """What an algorithm runs in: draws, averages, cohorts and the number of the step."""

    t: int

    @property
    def clients(self) -> int:
        """K, the number of clients of the whole federation."""

    def cohort(self, size: int, since: int, name: str = "cohort") -> Collective:
        """Return the collective of ``size`` clients sampled uniformly at step ``since``.

        Cohorts of different names are drawn independently; ``view.mean`` is over the one called
        "cohort".
        """

    def draw(self, law: Law | None, name: str) -> Tensor | None:
        """Draw [clients, *law.shape, replicates], keyed by client, step and name."""

    def server_draw(self, law: Law, name: str, since: int) -> Tensor:
        """Draw what the server draws at step ``since``, the same for all clients.

        Returns:
            [*law.shape, replicates]; for a Subset its mask, [clients, replicates].
        """

    def own(self, values: Tensor) -> Tensor:
        """Return the rows of [all clients, …] that belong to the clients held here."""

    def everywhere(self, x: Tensor) -> Tensor:
        """Return the shared [dim] as every client holds it, [clients, dim, replicates]."""

    def mark(self, name: str, value: Tensor) -> None:
        """Show a claim an inner quantity of this step; costs nothing."""


class Algorithm(Parameters, ABC):
    """Base of every algorithm; a leaf is a subclass under ``@algorithm``.

    The fields are the hyperparameters; ``notation`` maps the paper's letters to roles, which are
    these fields, a problem's constants, or properties of the run (see ``toolkit.constants``).
    """

    notation: ClassVar[Mapping[str, str]] = {}
    stated: ClassVar[str] = ""
    """The update, as ``@algorithm`` is told it."""
    needs: ClassVar[str] = "field"
    """Which oracles it asks: "field" (a gradient field), "losses", "composition", "bilevel", …"""
    iterate: ClassVar[str] = "w"
    fitted: ClassVar[frozenset[str]] = frozenset()
    """Fields that have to fit the problem: whoever draws hyperparameters leaves them as they are.
    """
    in_mean: ClassVar[bool] = False
    """Whether ``radii`` of the same class bounds (E‖·‖⁴)^{1/4} too (see there)."""
    limits: ClassVar[Mapping[str, str]] = {}
    """Where each vector of ``anywhere`` beside start goes, if the method converges, by its name: to
    "minimiser" x*, "gradient" ∇f_i(x*), or "zero". Start goes to x*.
    """
    stated_for_words: ClassVar[bool] = False
    """Whether the statement holds for each word among its parameters."""
    begins: ClassVar[Mapping[str, str]] = {}
    """What a paper calls those that ``init`` puts at the start x_0, by their names, as LaTeX."""
    local_steps: int = 1
    """τ; a field of those that make several."""
    participation: float = 1.0
    """The share of clients that take part in a round; a field of those that sample."""

    @classmethod
    def examples(cls) -> list[Self]:
        """Return the members that tests run: few, and every branch of the pseudocode."""
        return [cls()]

    @abstractmethod
    def init(self, ctx: Context, oracles: Any, start: Tensor) -> Any:
        """Return the state (a NamedTuple of tensors) from the common starting point [dim]."""

    def anywhere(self, ctx: Context, oracles: Any, start: Tensor, own: Tensor) -> Any:
        """Return a state as any round can begin with, not the first alone.

        Args:
            start: the point that all clients share, [dim, …].
            own: what each client remembers from earlier rounds, [clients, dim, …]. Each parameter
                that a method adds after it is one more such vector; ``own.mean(0)`` is one that all
                clients share. A method without memory leaves it out. Of functions of x and y
                ``own[:, : oracles.upper_dim]`` is what is remembered beside x.

        Raises:
            DriftproofError: the algorithm does not say what holds of its states.
        """
        raise DriftproofError(
            f"{type(self).__name__} from any state that a round can begin with",
            "an algorithm that says what such a state is",
            "write its method anywhere(self, ctx, oracles, start, own), which returns the state; "
            + MORE_VECTORS,
        )

    @classmethod
    def remembered(cls) -> tuple[str, ...]:
        """Return the names of the vectors that ``anywhere`` makes a state of, beside start."""
        return tuple(signature(cls.anywhere).parameters)[4:]

    def at_rest(self, ctx: Context, oracles: Any, minimiser: Tensor, gradients: Tensor) -> Any:
        """Return the state that rounds tend to: that of ``anywhere`` at its ``limits``.

        Args:
            minimiser: x*, [dim, replicates].
            gradients: ∇f_i(x*), [clients, dim, replicates].

        Raises:
            DriftproofError: ``limits`` does not say where each vector goes.
        """
        of = {
            "minimiser": ctx.everywhere(minimiser),
            "gradient": gradients,
            "zero": gradients - gradients,
        }
        names = self.remembered()
        if set(self.limits) != set(names) or not set(self.limits.values()) <= set(of):
            raise DriftproofError(
                f"limits = {dict(self.limits)} of {type(self).__name__}, whose anywhere takes "
                f"{', '.join(('start', *names))}",
                f"for each after start one of {', '.join(of)}: it goes to x*, ∇f_i(x*) or 0",
                f"write limits = {dict.fromkeys(names, 'gradient')}, say",
            )
        return self.anywhere(ctx, oracles, minimiser, *(of[self.limits[name]] for name in names))

    @abstractmethod
    def step(self, ctx: Context, oracles: Any, state: Any) -> Any:
        """Take one step of the paper's index: a local step, with whatever sharing it has."""

    def radii(self, around: Around) -> Radii | None:
        """Yield how far each part of the state can be, before the first step and after each.

        In the worst case of the noise, of the clients and of the cohorts: of ``iterate`` the
        distance from z, of x and y of a method of two levels that from z's parts, of other fields
        and marks the norm, whichever client's it is, before an average and after. A name that is
        left out may be anywhere.

        ``in_mean`` says that (E‖·‖⁴)^{1/4} is bounded as well, if that of the noise is all that is
        used of it (``Around.in_mean``). It is where the proof uses triangle inequalities, Lipschitz
        maps, and averages whose weights do not depend on the iterates, and ``stepped`` of a draw
        that its point does not depend on. Products of two random distances are not.

        Args:
            around: what is proven of the problem around a point z.

        Returns:
            None: nothing is known (a claim then states ``range``, where noise is sampled).
        """
        return None

    def proven_radii(self, around: Around) -> Radii:
        """Yield ``radii`` unless a subclass has methods that they were not proven of.

        Whatever a step calls may be overridden, and not ``step`` alone. In the mean the class that
        has ``radii`` has to say ``in_mean`` itself.
        """
        order = type(self).__mro__
        if around.mean and not next(c for c in order if "radii" in vars(c)).__dict__.get("in_mean"):
            return
        below = takewhile(lambda cls: "radii" not in vars(cls), order)
        others = [
            name
            for cls in below
            for name, of in vars(cls).items()
            if isinstance(of, FunctionType) and not name.startswith("__")
        ]
        yield from (self.radii(around) if not others else None) or ()

    def cohort_size(self, clients: int) -> int:
        """Return m, how many clients take part in a round, at least one."""
        return max(1, round(self.participation * clients))

    def in_use(self, oracles: Any) -> dict[str, Any]:
        """Return its values, with what a step takes in place of one that stands for another."""
        return self.values()


def descended(x: Tensor, direction: Tensor, step_size: float | Tensor) -> Tensor:
    """Return x − step_size·direction.

    A number takes one pass over memory, not two. A search runs many step sizes beside each other:
    then it is a tensor, [replicates].
    """
    import torch

    if isinstance(step_size, torch.Tensor):
        return x - step_size * direction
    return torch.sub(x, direction, alpha=step_size)


@dataclass_transform(frozen_default=True, kw_only_default=True)
@with_words_alone
def algorithm(*, name: str, source: str, statement: str) -> Callable[[type[A]], type[A]]:
    """Make a subclass of Algorithm a leaf: a frozen dataclass whose fields are hyperparameters.

    Args:
        name: the name on the command line.
        source: paper and number of the pseudocode.
        statement: the update, in LaTeX (read from the file by ``driftproof show``).

    Raises:
        DriftproofError: the class does not derive from Algorithm, or lacks something that Algorithm
            asks for; a parameter has no annotation or no default; or no problem has what it needs.
    """
    return partial(_declared, name, statement)


def _declared(name: str, statement: str, cls: type[A]) -> type[A]:
    from driftproof.toolkit.oracles import OFFERS  # and torch, which whoever runs this has

    needs = getattr(cls, "needs", "field")
    if isinstance(needs, str) and needs not in (known := set().union(*OFFERS.values())):
        error = unknown_name("needs", needs, known)
        raise DriftproofError(
            f"needs = {needs!r} of {cls.__name__}", f"one of {error.wanted}", error.remedy
        )
    if issubclass(cls, Algorithm):  # else that is told
        _check_signatures(cls)
        cls.stated = statement
    return declared("algorithm", Algorithm, name, cls)


def _check_signatures(cls: type[A]) -> None:
    """Raise DriftproofError unless what is called by place takes what it is given."""
    for name, last in (("init", "start"), ("step", "state"), ("anywhere", "start")):
        method, call = getattr_static(cls, name, None), f"{name}(self, ctx, oracles, {last})"
        more = cls.remembered() if name == "anywhere" else ()
        try:
            if isinstance(method, FunctionType):
                signature(method).bind(cls, None, None, None, *more)
        except TypeError as error:
            raise DriftproofError(
                f"{cls.__name__}.{name}{signature(method)}: {error}",
                call,
                f"write def {call}" + f": {MORE_VECTORS}" * (name == "anywhere"),
            ) from error
