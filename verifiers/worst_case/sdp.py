r"""A worst case as exact data: the semidefinite program that a run of an algorithm leads to.

    maximise  ⟨Q_0, G⟩ + a_0·F + c_0   subject to   ⟨Q_k, G⟩ + a_k·F + c_k ≤ b_k,   G ⪰ 0,

over the Gram matrix G of the unknown vectors and the unknown function values F. The solution x* is
the origin, and every client's value at x* is 0: moving the origin, or adding a constant to a
client's function, changes neither an algorithm's steps nor a measure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations, permutations
from typing import Any

from driftproof.synthetic.classes.conditions import Condition, Constraint, FunctionClass, Triple
from driftproof.synthetic.classes.unknowns import AT_STAR
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.gram.exact import GramForm, Vector

ROUNDED = Fraction(1, 10**12)
"""By less than this nothing is refuted where the steps hold doubles that are no short fractions."""
Line = tuple[Triple, Vector, tuple[Vector, ...]]
"""A line search: the triple where it ends, its start, and its directions."""


@dataclass(frozen=True)
class WorstCase:
    """A run of an algorithm on every function of a class, and one measure of it.

    Attributes:
        vectors: names of the unknown vectors b_0, b_1, ….
        values: names of the unknown numbers F_0, F_1, ….
        classes: each client's class.
        triples: each client's triples, in the order in which they were asked; the solution is
            among them where the class has one.
        relations: the further constraints: the start, what relates clients.
        objective: what is maximised.
        second: for each vector, whether it is of the second space, orthogonal to the first.
        own: what each client holds as the run begins, if it begins anywhere.
        loose: why the value may exceed what functions of the class attain ("": it is exact).
        beyond_points: whether a condition speaks of all points (its class's ``beyond_points``).
        lacking: what nothing bounds, and what would ("": start and clients are bounded).
        lines: the line searches of the run.
        replay: see ``SymbolicRun``.
        parts: what is measured beside the objective, of which a right side may have multiples.
        inexact: a number of the algorithm or the measure that is a decimal for lack of a short
            fraction ("": there is none).
        about: what was run, for a reader: algorithm, hyper-parameters, rounds, moment, conditions.
    """

    vectors: tuple[str, ...]
    values: tuple[str, ...]
    classes: tuple[FunctionClass, ...]
    triples: tuple[tuple[Triple, ...], ...]
    relations: tuple[Constraint, ...]
    objective: GramForm
    about: Mapping[str, Any]
    loose: str = ""
    beyond_points: bool = False
    lacking: str = ""
    second: tuple[bool, ...] = ()
    own: tuple[Vector, ...] = ()
    parts: Mapping[str, GramForm] = field(default_factory=dict)
    inexact: str = ""
    lines: tuple[Line, ...] = field(default=(), compare=False)
    replay: Callable[[Any, Any], Any] | None = field(default=None, compare=False)

    def less(self, factors: Mapping[str, Any]) -> WorstCase:
        """Return the worst case of the measure less multiples of what is measured beside it.

        Raises:
            DriftproofError: something is not measured, or the value at x* of a function is left
                over: a class has f + 100 with f.
        """
        if lacking := sorted(set(factors) - set(self.parts)):
            raise DriftproofError(
                f"a right side with measured means ({', '.join(lacking)}) that no left side has",
                f"what is measured beside the value: {', '.join(self.parts) or 'nothing'}",
                'write each("round", value, before=…), and c.measured("before")',
            )
        objective = self.objective
        for name, factor in factors.items():
            objective = objective - self.parts[name] * factor
        known = [name for name in self.values if not name.startswith(AT_STAR)]
        if any(j >= len(known) for j in objective.values):
            raise DriftproofError(
                "a measure in which F(x*) is left over: F + 100 is of the class as well",
                "values of each function whose coefficients add up to 0",
                "measure view.gap(x), which is F(x) − F*; in a right side c.measured(…) of a gap",
            )
        return replace(self, objective=objective, values=tuple(known))

    @cached_property
    def constraints(self) -> tuple[Constraint, ...]:
        """Every constraint, in the order of the multipliers: interpolation first, then relations.

        All are exact, and are made when they are first asked for: a solver needs doubles alone.
        """
        made = []
        for condition, client, places in self.conditions():
            name = f"{condition.name}, client {client}, ({', '.join(map(str, places))})"
            quantity = condition.quantity(*(self.triples[client][place] for place in places))
            made.append(Constraint(name, quantity, condition.bound))
        return (*made, *self.relations)

    def conditions(self) -> Iterator[tuple[Condition, int, tuple[int, ...]]]:
        """Yield each condition of a class, with the client and the numbers of its triples."""
        for client, (of, triples) in enumerate(zip(self.classes, self.triples, strict=True)):
            for condition in of.conditions:
                for places in pairs(condition, triples):
                    yield condition, client, places


def pairs(condition: Condition, triples: Sequence[Triple]) -> Iterator[tuple[int, ...]]:
    """Yield the numbers of the triples that a condition says something of."""
    many = 1 if condition.of == "triples" else 2
    chosen = permutations if condition.of == "pairs" else combinations
    for places in chosen(range(len(triples)), many):
        if not condition.is_void(*(triples[place] for place in places)):
            yield places
