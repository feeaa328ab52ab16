r"""Rates: a schedule, an order, and what decides them.

A rate statement is a schedule (step size, minibatch … as functions of T) and an order. The order is
one expression; the exponent that is tested, the power of log T and the text on the page come from
it. ``verifiers.judges.rates`` says when a rate is supported or refuted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

from driftproof.toolkit.cases import Case
from driftproof.toolkit.constants import LATEX
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.readings import ByProof, Undecided
from driftproof.verifiers.algebra.orders import in_letters
from driftproof.verifiers.claim_types.bound import Measure, RightSide
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.claim_types.derived import Derived
from driftproof.verifiers.claim_types.order_in_statement import with_order

Exact = Callable[[int], "float | tuple[float, float]"]
"""A left side as a function of the horizon: its value, or an enclosure (low, high) of it."""


@dataclass(frozen=True)
class Schedule:
    r"""The right side of a rate: letters as functions of T, and the order claimed.

    Attributes:
        letters: letter → sympy expression in T.
        order: sympy expression in T and in the letters: what the statement's ``\order`` stands for.
        counts: letters that count samples, hence must be 1 or more for every T.
    """

    letters: Mapping[str, Any]
    order: Any
    counts: Sequence[str] = ()

    @property
    def in_horizon(self) -> Any:
        """The order with the schedule's letters put in: an expression in T."""
        return in_letters(self.letters, self.order)

    def latex(self) -> str:
        """Return the order as the page shows it."""
        import sympy

        order = sympy.sympify(self.order)
        names = {s: LATEX[s.name] for s in order.free_symbols if s.name in LATEX}
        return str(sympy.latex(order, symbol_names=names))


@dataclass(frozen=True)
class Floor:
    """A lower bound on the left side of one instance, in closed form.

    Attributes:
        instance: which instance, in words.
        value: from a schedule's letters (by name) to a sympy expression in T, or None if the
            instance says nothing about that schedule.
    """

    instance: str
    value: Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class RateClaim(Claim[Schedule]):
    r"""A rate: with a schedule of the horizon T, what is measured is O(an order in T).

    It stands above the function that measures the left side. The statement has ``\order`` where
    the order stands. A right side is a ``Schedule``.

    Attributes:
        kind: "rate".
        horizon: the symbol T.
        derived: the claim and form whose right side the rate is derived from (None: there is none,
            and the measured slope alone decides).
        floors: lower bounds that can refute.
        size: what the horizon is on a case, if it is not the number of local steps.
        size_name: what a plot calls it.
        replicates: how many of each case are sampled, in blocks of 64.
        resolution: a slower order is one that is slower by more than T^resolution.
        exact: the left side of the cases' instance as a function of the horizon (``size``), where
            it is known exactly, or an enclosure of it.
        horizons: where ``exact`` is evaluated, beyond the cases.
        range: the most that one replicate's left side can be, by the assumptions alone.
        left: the decorated function.
    """

    asymptotic: ClassVar[bool] = True
    of_classes: ClassVar[str] = (
        'a rate over a class is a limit: write @limit(rate="1/t", classes=over(…), …) without a '
        'horizon and right=, above a function that returns each("round", "local_step", '
        'view.gap(view.mean("w"))) if view.last else None'
    )
    way: ClassVar[str] = "rate"
    kinds: ClassVar[tuple[str, ...]] = ("rate",)

    kind: Literal["rate"] = "rate"
    horizon: Any = None
    derived: Derived | None = None
    floors: Sequence[Floor] = ()
    size: Callable[[Case], float] | None = None
    size_name: str = "T, local steps"
    replicates: int = 64
    resolution: float = 0.05
    exact: Exact | None = None
    horizons: Sequence[int] = ()
    range: RightSide | None = None
    left: Measure | None = None

    @property
    def judges(self) -> tuple[str, ...]:
        """``rates``, beside what judges every claim."""
        return (*super().judges, "rates")

    def __call__(self, left: Measure) -> Self:
        """Return the claim about what ``left`` measures, with the order in its statement."""
        complete = replace(self, left=left).checked()
        printed = (form.right for form in complete.forms if form.form == "printed")
        shown = with_order(self.name, self.statement, printed)
        object.__setattr__(complete, "statement", shown)
        return complete

    def check_right(self, form: Form) -> None:
        """Raise DriftproofError unless the right side is a schedule with an order."""
        if not isinstance(form.right, Schedule | ByProof | Undecided):
            raise DriftproofError(
                f"the right side of rate {self.name} ({form.key}) is {form.right!r}",
                "a Schedule: letters as functions of T, and the order",
                'write right=Schedule({"eta": T ** Rational(-1, 2)}, T ** Rational(-1, 2))',
            )


rate = RateClaim
