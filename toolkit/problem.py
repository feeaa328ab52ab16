"""Problems: clients, their oracles, proven constants, and the certified solution."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property, partial, wraps
from math import inf, sqrt
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, dataclass_transform

import numpy as np

from driftproof.toolkit.constants import ROLES
from driftproof.toolkit.declaring import declared, with_words_alone
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.in_numpy import InNumpy, in_numpy
from driftproof.toolkit.parameters import Parameters
from driftproof.toolkit.tolerances import STORED

if TYPE_CHECKING:
    import torch
    from torch import Tensor

P = TypeVar("P", bound="Problem")
M = TypeVar("M", bound=Callable[..., Any])
STRONGLY_CONVEX = ("strong_convexity", "client_strong_convexity", "field_monotonicity")
"""Roles whose modulus F has: a mean has that of its parts, and max_y f(·, y) that of each y.

On two levels that do not share f, only the first one speaks of F.
"""


@dataclass(frozen=True)
class Solution:
    """The certified optimal value: an enclosure, and how it was certified.

    Attributes:
        low: a proven lower bound on inf F.
        high: a proven upper bound on inf F.
        minimiser: a point whose value is ``high`` (None if the infimum is not attained).
        certificate: method, residuals and gap, as data.
        exact: whether these are the true numbers. Elsewhere they are taken to be rounded, and a
            minimiser to be a closed form only where ``low`` and ``high`` are equal.
    """

    low: float
    high: float
    minimiser: np.ndarray | None
    certificate: Mapping[str, Any]
    exact: bool = False


def _in_their_dtype(oracles: Callable[..., Any]) -> Callable[..., Any]:
    """Make ``torch.tensor([self.slope])`` of the dtype that is asked for.

    torch's own default are single precision, in which a slope of 0.1 is 0.100000001: the problem
    would be another one than its constants are proven of.
    """

    @wraps(oracles)
    def made(self: Problem, dtype: torch.dtype, *args: Any, **named: Any) -> Any:
        import torch

        before = torch.get_default_dtype()
        torch.set_default_dtype(dtype)
        try:
            return oracles(self, dtype, *args, **named)
        finally:
            torch.set_default_dtype(before)

    return made


def _abstract_at_run_time(method: M) -> M:
    """Make a method abstract where type checkers do not see it: ``oracle_type`` gives it too."""
    return abstractmethod(method)


def _of_type(
    self: Problem, dtype: torch.dtype, device: str = "cpu", clients: range | None = None
) -> Any:
    """Return the oracles of ``clients`` (all by default) as tensors of one dtype."""
    return self.oracle_type(self, dtype, device, clients or range(self.clients))


class Problem(Parameters, ABC):
    """Base of every problem family; a leaf is a subclass under ``@problem``.

    Attributes:
        clients: K, the number of clients.
        dim: d, the dimension of the variable.
        notation: the papers' letters for this family's own parameters, letter → role.
        oracle_type: what ``oracles`` returns an instance of, made of the problem, a dtype, a device
            and the clients held; a class that names none writes ``oracles``.
    """

    notation: ClassVar[Mapping[str, str]] = {}
    asserts: ClassVar[frozenset[str]] = frozenset()
    """What holds for every member, by the names of ``toolkit.assertions``: a search keeps to it."""
    unique_if: ClassVar[str] = "a strong_convexity above 0 among its constants"
    """What would show that x* is unique: a parameter to change, or a constant to declare."""
    oracle_type: ClassVar[Callable[..., Any]]
    clients: int
    dim: int

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "oracle_type" in vars(cls) and "oracles" not in vars(cls):
            cls.oracles = _of_type  # type: ignore[method-assign]
        if "oracles" in vars(cls):
            cls.oracles = _in_their_dtype(cls.oracles)  # type: ignore[method-assign]

    @classmethod
    def examples(cls) -> list[Self]:
        """Return the members that tests run: few, and every feature of the family."""
        return [cls()]

    @property
    def offers(self) -> str:
        """Which oracles it has; ``toolkit.oracles.OFFERS`` lists the words."""
        return "field"

    @property
    def two_levels(self) -> bool:
        """Whether it has an upper variable x and a lower one."""
        return self.offers in ("bilevel", "minimax")

    @property
    def radius(self) -> float | None:
        """The constants are proven for ‖x‖ ≤ radius (None: on all of R^d)."""
        return None

    @property
    @abstractmethod
    def constants(self) -> Mapping[str, float]:
        """The proven constants by role (see ``toolkit.constants``)."""

    @cached_property
    def proven(self) -> Mapping[str, Any]:
        """The constants, and those that follow from the solution (``toolkit.at_optimum``)."""
        from driftproof.toolkit.at_optimum import constants_at_optimum

        derived: dict[str, Any] = {}
        with suppress(DriftproofError):  # no optimum is certified
            derived = {role: float(x) for role, x in constants_at_optimum(self).items()}
        return {role: x for role, x in derived.items() if x < inf} | dict(self.constants)

    def why_unproven(self, role: str) -> str:
        """Return why a role is not among those that are proven, as a reader is told."""
        from driftproof.toolkit.at_optimum import AT_OPTIMUM, OF_TWO_LEVELS, WHICH

        if role in WHICH and self.two_levels:
            return f"on two levels it is ambiguous: {WHICH[role]}"
        if role in AT_OPTIMUM - OF_TWO_LEVELS and len(self.start()) != self.dim:
            return (
                f"{self} does not declare it; with two levels it is not derived, since papers "
                "measure it in several ways: write it in constants"
            )
        if role in AT_OPTIMUM:
            with suppress(DriftproofError):
                if self.minimiser_error == inf:
                    return f"not proven of {self}: x* may not be unique; {self.unique_if} would do"
                if role in OF_TWO_LEVELS and self.two_levels:
                    return f"{self} lacks lower_strong_convexity, or lower_smoothness"
        known = {*ROLES, *self.notation.values()}
        for name in get_close_matches(role, self.constants.keys() - known, 1):
            return f"{self} proves none; it has {name}: did you mean {role}?"
        return f"{self} proves none"

    @_abstract_at_run_time
    def oracles(self, dtype: torch.dtype, device: str = "cpu", clients: range | None = None) -> Any:
        """Return the oracles of ``clients`` (all by default) as tensors of one dtype."""

    @cached_property
    def _held(self) -> dict[Any, Any]:
        """Oracles by dtype and device (a measure asks at every moment), and what was looked at."""
        return {}

    def oracles_for(self, x: Tensor) -> Any:
        """Return the oracles of all clients in the dtype of a point, made once."""
        key = (x.dtype, str(x.device))
        if key not in self._held:
            self._held[key] = self.oracles(*key)
        return self._held[key]

    def exact_oracles(self, x: Any) -> Any:
        """Return the oracles that are asked at balls x: those of doubles, taken for what they are.

        A family whose oracles compute with rounded numbers, as slopes, returns others.
        """
        return self.oracles_for(x)

    def numpy(self) -> InNumpy:
        """Return each client's loss and gradient as functions of numpy, for tests of any code."""
        return in_numpy(self)

    @abstractmethod
    def start(self) -> np.ndarray:
        """Return the common starting point of what the algorithm moves, a vector."""

    @abstractmethod
    def objective(self, x: Tensor) -> Tensor:
        """Return F at x of shape [dim, replicates], exactly (no sampling): [replicates].

        Of a problem on a set it is asked at points of the set.
        """

    @abstractmethod
    def gradient(self, x: Tensor) -> Tensor:
        """Return ∇F at x of shape [dim, replicates]: the same shape; ∇f where F = f + h."""

    def smooth_part(self, x: Tensor) -> Tensor:
        """Return f at x where F = f + h has a term h of its own (not that of a set); else F."""
        return self.objective(x)

    def client_gradients(self, x: Tensor) -> Tensor:
        """Return each client's ∇F^i at x, [clients, dim, replicates], for x [dim, replicates].

        Raises:
            DriftproofError: if the problem has none.
        """
        raise DriftproofError(
            f"{self.leaf_name} does not say what each client's gradient of F is",
            f"a method client_gradients(self, x) of {type(self).__name__}: each client's ∇F^i at x "
            "[dim, replicates], as a tensor [clients, dim, replicates]",
            f"add it to the class {type(self).__name__}, or measure view.gradient(x), their mean",
        )

    def own_gradients(self, x: Tensor) -> Tensor:
        """Return each client's ∇F^i at its own point, for x of [clients, dim, replicates].

        Raises:
            DriftproofError: if the problem is no composition.
        """
        return self._no_composition("gradients of F^i at the clients' own points")

    def inner_values(self, x: Tensor) -> Tensor:
        """Return each client's inner value at its own point, for x of [clients, dim, …].

        Raises:
            DriftproofError: if the problem is no composition.
        """
        return self._no_composition("inner values")

    def _no_composition(self, what: str) -> Tensor:
        raise DriftproofError(
            f"{self.leaf_name} has no {what}", "a composition", "measure view.gradient(x) instead"
        )

    @property
    @abstractmethod
    def solution(self) -> Solution:
        """The certified optimum."""

    @property
    def minimiser(self) -> Tensor:
        """The certified point whose value is ``solution.high``, [dim, 1].

        Raises:
            DriftproofError: if the infimum is not attained.
        """
        import torch

        if self.solution.minimiser is None:
            raise DriftproofError(
                f"the minimiser of {self}",
                "a problem whose infimum is attained",
                "measure view.gap(x), or view.gradient(x)",
            )
        return torch.from_numpy(self.solution.minimiser)[:, None]

    @cached_property
    def minimiser_error(self) -> Any:
        r"""A bound on ‖x̂ − x*‖, x̂ the solution's minimiser and x* a true one (∞: none is known).

        0 of an exact solution. Where F is μ-strongly convex everywhere (``STRONGLY_CONVEX``),
        √(2(high − low)/μ), and ‖∇F(x̂)‖/μ unless there is a term. Of other closed forms what
        rounding leaves.
        """
        from driftproof.toolkit.at_optimum import gradients_of_clients
        from driftproof.toolkit.oracles import has_term

        known, x = self.solution, self.minimiser
        if known.exact:
            return 0.0
        rounding = STORED * (float(x.norm()) + float(np.linalg.norm(self.start())))
        strong = STRONGLY_CONVEX[: 1 if self.offers == "bilevel" else None]
        moduli = (self.constants.get(role, 0.0) for role in strong)
        modulus = max(moduli) if self.radius is None else 0.0
        if not modulus > 0:
            return rounding if known.low == known.high else inf
        error = sqrt(2 * (known.high - known.low) / modulus) if known.low < known.high else inf
        if not has_term(self):
            each = gradients_of_clients(self, x)
            lost = self._smoothness * rounding
            lost += STORED * float((self.gradient(x) if each is None else each).norm())
            error = min(error, (float(self.gradient(x).norm()) + lost) / modulus)
        return min(error, rounding) if known.low == known.high else error + rounding

    @property
    def _smoothness(self) -> float:
        """An L of F: its own, or what follows from that of the clients' fields (∞: none known)."""
        known = self.constants
        own, of_fields = (known.get(f"{of}_smoothness", inf) for of in ("objective", "field"))
        if self.offers == "bilevel":
            return own
        if self.offers == "minimax":  # y*(x) moves by L/μ times as much as x
            moduli = (known.get(of, 0.0) for of in ("lower_strong_convexity", "field_monotonicity"))
            modulus = max(moduli)
            of_fields *= 1 + of_fields / modulus if modulus > 0 else inf
        return min(own, of_fields)

    @property
    def has_client_gradients(self) -> bool:
        """Whether the family says what each client's gradient is."""
        return type(self).client_gradients is not Problem.client_gradients

    @property
    def minima_gap(self) -> Any:
        """A bound on F* less the mean of the clients' infima, if these are certified."""
        return None

    def gap(self, x: Tensor) -> Tensor:
        """Return F(x) less the best value known, for x of shape [dim, replicates]: [replicates]."""
        return self.objective(x) - self.solution.high

    @cached_property
    def initial_gap(self) -> tuple[float, float]:
        """An enclosure (low, high) of F(x_0) − inf F, whose two values may be rounded."""
        import torch

        value = float(self.objective(torch.from_numpy(self.start())[:, None]))
        low, high = self.solution.low, self.solution.high
        error = STORED * max(abs(low), abs(high))  # of a difference of two such numbers
        return value - high - error, value - low + error


def with_overrides(problem: P, **given: Any) -> P:
    """Return a copy of a problem with other properties: another solution, say."""
    supposed = copy(problem)
    for name in (*given, "solution", "initial_gap", "minimiser_error", "proven"):
        supposed.__dict__.pop(name, None)
    kind = type(type(problem).__name__, (type(problem),), given)
    object.__setattr__(supposed, "__class__", kind)
    return supposed


@dataclass_transform(frozen_default=True, kw_only_default=True)
@with_words_alone
def problem(*, name: str, source: str, statement: str) -> Callable[[type[P]], type[P]]:
    """Make a subclass of Problem a leaf: a frozen dataclass whose fields are its parameters.

    Args:
        name: the name on the command line.
        source: the paper that poses the problem.
        statement: the objective, in LaTeX (read from the file by ``driftproof show``).

    Raises:
        DriftproofError: the class does not derive from Problem, or lacks something that Problem
            asks for; or a parameter has no annotation or no default.
    """
    return partial(declared, "problem", Problem, name)
