"""Comparisons: both sides are computed on each case, the left one as a certified enclosure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

from driftproof.toolkit.cases import Case
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.readings import R
from driftproof.toolkit.user_traceback import place_of
from driftproof.verifiers.claim_types.claim import Claim
from driftproof.verifiers.claim_types.compared import Comparison


@dataclass(frozen=True, kw_only=True, eq=False)
class ComparisonClaim(Claim[R]):
    """An identity, a count or a bound whose sides are computed on each case.

    It stands above the function that computes them from a case and a right side, which may be of
    any type that this function takes::

        @comparison(name="mine/mean", source="my notes, (3)", statement=r"…", cases=…, right=mean)
        def direction(case: Case[KLDRO, ComFedL], mean: Mean) -> list[Comparison]:
            ...

    Attributes:
        kind: "identity" (the sides are equal), "bound" (left ≤ right), "complexity" (both are
            counts, and equal) or "existence" (an identity that shows that something exists).
        compare: the decorated function.
        draws: from a case to the panels that the report draws of it; curves of several cases whose
            panels have one name lie on one plot (``toolkit.report.figures.panel``).
    """

    searched: ClassVar[str] = "comparisons"
    way: ClassVar[str] = "comparison"
    function: ClassVar[str] = "compare"
    kinds: ClassVar[tuple[str, ...]] = ("identity", "bound", "complexity", "existence")

    kind: Literal["identity", "bound", "complexity", "existence"] = "identity"
    compare: Callable[[Case, R], Sequence[Comparison]] | None = None
    draws: Callable[[Case], Sequence[Mapping[str, Any]]] | None = None

    @property
    def judges(self) -> tuple[str, ...]:
        """``comparisons``, beside what judges every claim."""
        return (*super().judges, "comparisons")

    def __call__(self, compare: Callable[[Case, R], Sequence[Comparison]]) -> Self:
        """Return the claim about what ``compare`` computes."""
        return replace(self, compare=compare).checked()

    def compared(self, case: Case, right: R) -> Sequence[Comparison]:
        """Return what the decorated function computes.

        Raises:
            DriftproofError: it returns something else than comparisons.
        """
        assert self.compare is not None
        made = self.compare(case, right)
        one = isinstance(made, Comparison)
        if one or not isinstance(made, Iterable) or isinstance(made, str):
            raise DriftproofError(
                f"{place_of(self.compare)} returned {'one comparison' if one else repr(made)}",
                "a list of comparisons",
                "return [Comparison(…)], or components(…)",
            )
        made = list(made)
        for odd in (of for of in made if not isinstance(of, Comparison)):
            raise DriftproofError(
                f"{place_of(self.compare)} returned a list with {odd!r}",
                "comparisons alone",
                "write Comparison(what, low, high, value) for it",
            )
        return made

    @property
    def counts(self) -> bool:
        """Whether both sides are counts, whatever their comparisons say."""
        return self.kind == "complexity"

    @property
    def bounds(self) -> bool:
        """Whether its right sides are formulas that something is bounded by."""
        return self.kind == "bound"


comparison = ComparisonClaim
