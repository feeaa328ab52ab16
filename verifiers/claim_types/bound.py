r"""Bounds: an algorithm is run, and what is measured of the run stays below a right side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self

from driftproof.toolkit.cases import Case
from driftproof.toolkit.constants import Letters
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.readings import ByProof, Undecided
from driftproof.verifiers.claim_types.claim import Claim, Form

RightSide = Callable[[Letters], Any]
"""From the letters of a paper to a sympy expression."""
Measure = Callable[[Steps], Reduction | None]
"""From a moment of a run, seen as Steps or as States alone, to what is measured there."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RunClaim(Claim[RightSide]):
    """What the claims have in common that stand above a function that measures a run.

    Attributes:
        classes: whole classes of functions that it is judged on (``over`` makes them).
        left: the decorated function.
    """

    classes: Sequence[Case] = ()
    left: Measure | None = None

    def __call__(self, left: Measure) -> Self:
        """Return the claim about what ``left`` measures."""
        return replace(self, left=left).checked()

    @property
    def needs_cases(self) -> bool:
        """Whether nothing but cases decides some form."""
        return not self.classes and super().needs_cases

    def classes_for(self, profile: str) -> Sequence[Case]:
        """Return the classes of a profile: smoke the first, if there is no case."""
        if profile != "smoke":
            return self.classes
        return () if self.cases else self.classes[:1]

    @property
    def judged_on(self) -> tuple[Case, ...]:
        """The cases, then the classes."""
        return (*self.cases, *self.classes)

    @property
    def every_case(self) -> tuple[Case, ...]:
        """All cases, then all classes."""
        return (*super().every_case, *self.classes)

    def class_numbers(self, profile: str) -> range:
        """Return the numbers of a profile's classes among ``every_case``."""
        first = len(super().every_case)
        return range(first, first + len(self.classes_for(profile)))

    def check_right(self, form: Form) -> None:
        """Raise DriftproofError unless the right side is a function of the letters."""
        if not callable(form.right) and not isinstance(form.right, ByProof | Undecided):
            raise DriftproofError(
                f"the right side of claim {self.name} ({form.key}) is {form.right!r}",
                "a function of the paper's letters",
                "write def right(c): return c.eta * c.L, and right=right",
            )


@dataclass(frozen=True, kw_only=True, eq=False)
class BoundClaim(RunClaim):
    r"""A bound on what is measured of a run: left ≤ right on every case.

    It stands above the function that measures the left side::

        @bound(name="mine/drift", source="my notes, Lemma 1", statement=r"…", cases=…, right=right)
        def drift(view: Steps) -> Reduction:
            return each("round", "local_step", sq(view.mean("w") - view.round_start("w")))

    Attributes:
        kind: "bound", or "existence" where the bound is what shows that something exists.
        classes: whole classes of functions that it is judged on, beside the cases (``over`` makes
            them): proved by a certificate, or refuted by functions of the class.
        range: the most that one replicate's left side can be, by the assumptions alone; a right
            side above it is vacuous. Two ends, if it can be negative.
        least: the least that it can be, by the assumptions alone, where nothing bounds it above.
        measured: {name: LaTeX} of the measured quantities that stand in a right side.
        conditional: whether what is printed is an expectation given the past (``given_past``).
        left: the decorated function.
    """

    searched: ClassVar[str] = "runs"
    measures: ClassVar[bool] = True
    way: ClassVar[str] = "bound"
    kinds: ClassVar[tuple[str, ...]] = ("bound", "existence")

    kind: Literal["bound", "existence"] = "bound"
    range: RightSide | None = None
    least: RightSide | None = None
    measured: Mapping[str, str] = field(default_factory=dict)
    conditional: bool = False

    def on(self, case: Case) -> Self:
        """Return the claim about one case alone, of a run or over a class."""
        cases, classes = ((), (case,)) if case.over_class else ((case,), ())
        return replace(super().on(case), cases=cases, classes=classes)

    @property
    def judges(self) -> tuple[str, ...]:
        """Runs for its cases, and what judges classes."""
        over_classes = ("theorems", "worst_cases") if self.classes else ()
        return (*super().judges, *(("runs",) if self.cases or self.full else ()), *over_classes)

    def formulas(self, form: Form) -> tuple[Any, ...]:
        """Return the right side, and what is stated of the left side's range."""
        given = (form.right, form.range or self.range, self.least)
        return tuple(x for x in given if x is not None)

    @property
    def bounds(self) -> bool:
        """Whether its right sides are formulas that something is bounded by: always."""
        return True


bound = BoundClaim
