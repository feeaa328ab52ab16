r"""Limits: an algorithm converges on every function of a class, or at a linear rate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

from driftproof.toolkit.cases import Case
from driftproof.toolkit.constants import Letters
from driftproof.toolkit.errors import DriftproofError
from driftproof.verifiers.claim_types.bound import RunClaim


def converges(c: Letters) -> Any:
    """Return the factor of ‖x_t − x*‖ → 0, which says nothing of how fast."""
    return 1


@dataclass(frozen=True, kw_only=True, eq=False)
class LimitClaim(RunClaim):
    r"""‖x_t − x*‖ → 0 on every function of a class, or ‖x_t − x*‖² = O(ρ^t).

    It stands above the function that measures how far the iterate is after a round::

        @limit(name="mine/heavy-ball", source="…", statement=r"x_t \to x^*", classes=over(…))
        def distance(view: Steps) -> Reduction | None:
            off = sq(view.mean("w") - view.minimiser)
            return each("round", "local_step", off) if view.last else None

    t counts rounds, and a run begins in any state that a round can begin with. SUPPORTED by a
    potential that certificates prove; REFUTED by a cycle on functions of the class, or by how the
    iterates go on a quadratic of it.

    Attributes:
        classes: functions with a minimiser x*, and what relates clients (``over``). Of those that
            may have several, as with μ = 0, it is refuted or left open.
        right: ρ, of the letters; 1 says that the iterates stay bounded; without it the claim is
            that they converge.
    """

    way: ClassVar[str] = "limit"
    kinds: ClassVar[tuple[str, ...]] = ("rate",)

    kind: Literal["rate"] = "rate"
    right: Any = converges

    @property
    def judges(self) -> tuple[str, ...]:
        """``limits``, beside what judges every claim."""
        return (*super().judges, "limits")

    def on(self, case: Case) -> Self:
        """Return the claim over one class.

        Raises:
            DriftproofError: it is a case of a run, which shows no limit.
        """
        if not case.over_class:
            raise DriftproofError(
                f"limit {self.name} on {case}",
                "a class of functions: a run of some rounds shows no limit",
                "take over([smooth_strongly_convex(L=25, mu=1)], algorithm)[0]",
            )
        return replace(super().on(case), cases=(), classes=(case,))

    def checked(self) -> Self:
        """Return this claim, which is about classes alone."""
        if self.cases or self.full or not self.classes:
            raise DriftproofError(
                f"limit {self.name} on {len(self.cases) + len(self.full)} cases and "
                f"{len(self.classes)} classes",
                "classes alone: a run of some rounds shows no limit",
                "write classes=over([smooth_strongly_convex(L=25, mu=1)], algorithm)",
            )
        return super().checked()


limit = LimitClaim
