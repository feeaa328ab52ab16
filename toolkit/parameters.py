"""What problems and algorithms share: named parameters, checked once, swept by lists.

A field says by its annotation what it may be (``clients: PositiveInt = 2``); type checkers see
``int``, ``float`` or ``str``. A field of any other type is not checked.
"""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import math
import numbers
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self, TypeAlias, TypeVar, cast, get_args, get_origin
from weakref import WeakKeyDictionary

from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.letters import Letter, shown

T = TypeVar("T")


@dataclass(frozen=True)
class Constraint:
    """What one parameter may be: a number from ``low`` to ``high``, or one of ``choices``.

    Attributes:
        low, high: the ends, which belong to it unless ``above`` (low) or ``below`` (high) is set;
            an infinite number never belongs to it.
        integer: whether only whole numbers do.
        choices: the values there are; then the others do not count.
        why: a reason that a refusal adds.
    """

    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    below: bool = False
    integer: bool = False
    choices: tuple[Any, ...] = ()
    why: str = ""

    def allows(self, value: object) -> bool:
        """Return whether a parameter may have this value."""
        if isinstance(value, Letter):
            return not self.integer and not self.choices
        if self.choices:
            return any(isinstance(value, type(c)) and value == c for c in self.choices)
        if not isinstance(value, numbers.Integral if self.integer else numbers.Real):
            return False
        if self.integer and isinstance(value, bool):
            return False
        x = float(value)
        enough = x > self.low if self.above else x >= self.low
        return math.isfinite(x) and enough and (x < self.high if self.below else x <= self.high)

    @property
    def wanted(self) -> str:
        """Say what it allows.

        >>> Constraint(0.0, 1.0, above=True).wanted
        'in (0, 1]'
        """
        return self._range + (f": {self.why}" if self.why else "")

    @property
    def _range(self) -> str:
        if self.choices == (False, True):
            return "True or False"
        if self.choices:
            return f"one of {', '.join(map(repr, self.choices))}"
        if self.low == self.high:
            return f"{self.low:g}"
        if self.high < math.inf:
            ends = "(["[not self.above], ")]"[not self.below]
            return f"in {ends[0]}{self.low:g}, {self.high:g}{ends[1]}"
        number = "a whole number" if self.integer else "a finite number"
        if self.low == -math.inf:
            return number
        return f"{number} above {self.low:g}" if self.above else f"{number}, {self.low:g} or more"

    @property
    def sign(self) -> str:
        """Return what is known of the number's sign, in sympy's words ("": nothing).

        >>> get_args(PositiveInt)[1].sign, get_args(NonNegative)[1].sign
        ('positive integer', 'nonnegative')
        """
        if self.choices:
            return ""
        positive = self.low > 0 or (self.low == 0 and self.above)
        words = "positive" if positive else "nonnegative" if self.low >= 0 else ""
        return f"{words} integer".strip() if self.integer else words


PositiveInt: TypeAlias = Annotated[int, Constraint(1, integer=True)]
NonNegativeInt: TypeAlias = Annotated[int, Constraint(0, integer=True)]
One: TypeAlias = Annotated[int, Constraint(1, 1, integer=True)]
Real: TypeAlias = Annotated[float, Constraint()]
Positive: TypeAlias = Annotated[float, Constraint(0, above=True)]
NonNegative: TypeAlias = Annotated[float, Constraint(0)]
Share: TypeAlias = Annotated[float, Constraint(0, 1, above=True)]
"""Above 0, at most 1."""
UnitInterval: TypeAlias = Annotated[float, Constraint(0, 1)]
RarerHalf: TypeAlias = Annotated[float, Constraint(0, 0.5, above=True)]
"""A probability of the rarer of two outcomes: above 0, at most ½."""
BelowOne: TypeAlias = Annotated[float, Constraint(0, 1, below=True)]
"""0 or more, below 1."""
Flag: TypeAlias = Annotated[bool, Constraint(choices=(False, True))]


_KNOWN: WeakKeyDictionary[type, Mapping[str, Constraint]] = WeakKeyDictionary()


def constraints(cls: type) -> Mapping[str, Constraint]:
    """Return what the annotations of a leaf's class say of its fields; a subclass overrides.

    ``Literal["a", "b"]`` gives choices. An annotation that cannot be evaluated says nothing.

    >>> from driftproof.toolkit.algorithms import ComFedL
    >>> constraints(ComFedL)["participation"].high, constraints(ComFedL)["branch"].choices
    (1, ('general', 'special'))
    """
    if cls in _KNOWN:
        return _KNOWN[cls]
    said: dict[str, Constraint | None] = {}
    for parent in reversed(cls.__mro__):
        names = getattr(sys.modules.get(parent.__module__), "__dict__", {})
        for name, annotation in inspect.get_annotations(parent).items():
            said[name] = _constraint(annotation, names)
    fields = ((f.name, said.get(f.name)) for f in dataclasses.fields(cls))
    _KNOWN[cls] = MappingProxyType(
        {name: constraint for name, constraint in fields if constraint is not None}
    )
    return _KNOWN[cls]


def _constraint(annotation: object, names: dict[str, Any]) -> Constraint | None:
    if isinstance(annotation, str):
        try:
            annotation = eval(annotation, names)
        except (NameError, AttributeError, TypeError, SyntaxError):
            return None
    if get_origin(annotation) is Literal:
        return Constraint(choices=get_args(annotation))
    if get_origin(annotation) is not Annotated:
        return None
    return next((part for part in get_args(annotation) if isinstance(part, Constraint)), None)


def sweep(*values: T) -> T:
    """Return several values for one parameter, of which ``grid`` makes a case each.

    It stands where one value would, and has the type of one.

    >>> from driftproof.synthetic.problems import BoundedComposition
    >>> from driftproof.toolkit.cases import grid
    >>> [case.problem.clients for case in grid(BoundedComposition(clients=sweep(1, 2, 5)))]
    [1, 2, 5]

    Raises:
        DriftproofError: no value, or a list of them as one.
    """
    several = len(values) == 1 and isinstance(values[0], list | range)
    if several or not values:
        shown = ", ".join(map(repr, cast("list[T]", values[0]))) if several else "1, 5"
        raise DriftproofError(
            f"sweep({repr(values[0]) if several else ''})",
            f"the values one by one: sweep({shown})",
            f"write sweep({shown})" + (", or the list alone" if several else ""),
        )
    return cast(T, list(values))


class Parameters:
    """Base of the frozen dataclasses that ``@problem`` and ``@algorithm`` make.

    A field given as a list stands for a sweep: ``grid`` expands it, and only the members of the
    sweep are checked.

    Raises:
        DriftproofError: on construction, if a field is not what its annotation allows.
    """

    leaf_name: str = ""

    def __post_init__(self) -> None:
        if not self.swept():
            for name, constraint in constraints(type(self)).items():
                value = getattr(self, name)
                if type(value).__module__ == "numpy" and hasattr(value, "item") and not value.ndim:
                    value = value.item()  # numbers are written to files as Python has them
                    object.__setattr__(self, name, value)
                if isinstance(value, tuple | range) or type(value).__name__ == "ndarray":
                    raise DriftproofError(
                        f"{type(self).__name__}: {name} = {value!r}",
                        f"{name} {constraint.wanted}",
                        f"write {name}=sweep({', '.join(map(str, value))}) for a case of each",
                    )
                if not constraint.allows(value):
                    self.require(name, constraint.wanted, False)
            self.validate()

    def validate(self) -> None:
        """Raise DriftproofError if the parameters do not go together. Overridden by leaves."""

    def swept(self) -> list[str]:
        """Return the names of the fields that hold a list of values."""
        return [name for name, value in self.values().items() if isinstance(value, list)]

    @cached_property
    def required_signs(self) -> dict[str, str]:
        """Return what the annotations require of the parameters' signs, by name.

        A letter that names a parameter is as positive, or as whole, as its class requires; one of
        which nothing is required may be any real number.

        >>> from driftproof.toolkit.algorithms import ComFedL
        >>> ComFedL().required_signs["step_size"], ComFedL().required_signs["batch"]
        ('positive', 'positive integer')
        """
        signs = {name: constraint.sign for name, constraint in constraints(type(self)).items()}
        return {name: sign for name, sign in signs.items() if sign}

    def values(self) -> dict[str, Any]:
        """Return the parameters by name, in the order of their declaration."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}  # type: ignore[arg-type]

    def expand(self) -> list[Self]:
        """Return every member of the sweep, the first-named field varying slowest."""
        axes = [v if isinstance(v, list) else [v] for v in self.values().values()]
        names = list(self.values())
        return [
            type(self)(**dict(zip(names, chosen, strict=True)))
            for chosen in itertools.product(*axes)
        ]

    def changed(self) -> dict[str, Any]:
        """Return the parameters that differ from their defaults."""
        return {
            f.name: getattr(self, f.name)
            for f in dataclasses.fields(self)  # type: ignore[arg-type]
            if isinstance(getattr(self, f.name), Letter) or getattr(self, f.name) != f.default
        }

    def __str__(self) -> str:
        inside = ", ".join(f"{name}={shown(value)}" for name, value in self.changed().items())
        return f"{type(self).__name__}({inside})"

    def require(self, name: str, wanted: str, holds: bool) -> None:
        """Say that a parameter must be ``wanted``; for relations between several of them.

        Raises:
            DriftproofError: unless ``holds``; it names the parameter, its value and what is wanted.
        """
        if not holds:
            raise DriftproofError(
                f"{type(self).__name__}: {name} = {getattr(self, name)!r}",
                f"{name} {wanted}",
                f"change {name} where {type(self).__name__} is built",
            )
