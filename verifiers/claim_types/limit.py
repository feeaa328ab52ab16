r"""Limits: an algorithm converges on every function of a class, or at a rate in t."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

from driftproof.toolkit.cases import Case
from driftproof.toolkit.constants import Letters
from driftproof.toolkit.errors import DriftproofError
from driftproof.verifiers.claim_types.bound import RunClaim


def converges(c: Letters) -> Any:
    """Return the factor of x_t → x*, or of what is measured → 0, which says nothing of how fast."""
    return 1


@dataclass(frozen=True, kw_only=True, eq=False)
class LimitClaim(RunClaim):
    r"""‖x_t − x*‖ → 0 on every function of a class, or ‖x_t − x*‖² = O(ρ^t), or O(1/t).

    It stands above the function that measures how far the iterate is after a round::

        @limit(name="mine/heavy-ball", source="…", statement=r"x_t \to x^*", classes=over(…))
        def distance(view: Steps) -> Reduction | None:
            off = sq(view.mean("w") - view.minimiser)
            return each("round", "local_step", off) if view.last else None

    t counts rounds, and a run begins in any state that a round can begin with. SUPPORTED by a
    potential that certificates prove; REFUTED by a cycle on functions of the class, or by how the
    iterates go on a quadratic of it.

    What is measured may be F(x) − F*, ‖∇F(x)‖², or another m after the round. Verdicts on ‖x − x*‖²
    hold of it if certificates bound one by a multiple of the other over the class. That m ≥ 0 goes
    to 0 is proved by a V ≥ 0 that falls by m in each round, too, also of functions without an x*.
    ``rate="1/t"`` says that m ≤ C‖x_0 − x*‖²/t after t rounds, with one C for the whole class, and
    ``"1/t^2"`` likewise. A step may then calculate with t, as t/(t + 3).

    Attributes:
        classes: functions with a minimiser x*, and what relates clients (``over``). Of several, as
            with μ = 0, x* in x_t → x* is the one that x_t goes to, which depends on the start.
        right: ρ, of the letters; 1 says that the iterates stay bounded; without it the claim is
            that they converge.
        rate: in place of ρ, "1/t" or "1/t^2" ("": there is none).
    """

    way: ClassVar[str] = "limit"
    kinds: ClassVar[tuple[str, ...]] = ("rate",)

    kind: Literal["rate"] = "rate"
    right: Any = converges
    rate: str = ""

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
        if self.rate and (self.rate not in POWERS or self.right is not converges):
            raise DriftproofError(
                f"limit {self.name} with rate={self.rate!r} and right={self.right!r}",
                f"one of {', '.join(POWERS)} without a right side, or a right side ρ alone",
                'write rate="1/t"',
            )
        return super().checked()


POWERS = {"1/t": 1, "1/t^2": 2}
"""The rates in t, and n of 1/t^n."""
limit = LimitClaim
