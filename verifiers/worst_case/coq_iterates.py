"""Runs an algorithm of algorithms.v on a certificate's gradients, over any ring of numbers.

``about`` says which algorithm the certificate is of. Nothing rests on that: Coq proves that the
points of a certificate are these iterates, or refuses the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from flint import fmpq

from driftproof.verifiers.worst_case.coq_text import argument
from driftproof.verifiers.worst_case.coq_words import Row, minus
from driftproof.verifiers.worst_case.expression import evaluate

RECURSIONS = {
    "gradient-descent": ("fedavg", "local_steps", ("step_size",)),
    "fedavg": ("fedavg", "local_steps", ("step_size",)),
    "fedavg-s": ("fedavg", "local_steps", ("inner_step_size", "outer_step_size")),
    "comfedl": ("fedavg", "local_steps", ("step_size",)),
    "fedinn": ("fedsvrg", "inner_steps", ("inner_step_size",)),
    "fedout": ("fedsvrg", "outer_steps", ("outer_step_size",)),
    "fedsvrg": ("fedsvrg", "local_steps", ("step_size",)),
    "gradient-tracking-gda": ("fedsvrg", "local_steps", ("step_size",)),
}
"""Algorithm → the recursion of algorithms.v that it may be, its local steps, its step sizes. Where
it is another one, Coq sees that the certificate's points are not its iterates."""
PLAIN = {"participation": "1.0", "order": "simultaneous", "variance_reduced": "True"}
"""Hyper-parameters that have to be so."""


@dataclass
class Point:
    """A point: its variable, its combination, the equation that it obeys, the recursion it is."""

    name: str
    row: Row
    equation: str = ""
    recursion: str = ""


FORMS = {
    "fedavg": ("gradient_descent {0} {2} {3} {4}", "average {0} {1} {3} {4}", "fedavg"),
    "fedsvrg": ("corrected {0} {1} {2} {3} {4}", "corrected_average {0} {1} {3} {4}", "fedsvrg"),
}
"""Recursion → the name of a client's iterate, of their mean, and of that after whole rounds."""
Gradients = Mapping[tuple[str, tuple[str, ...]], Row]
"""Of an operator's name and a point's ``key``."""


def key(row: Row) -> tuple[str, ...]:
    """Return what tells rows apart."""
    return tuple(map(str, row))


@dataclass(frozen=True)
class Steps:
    """What steps an algorithm takes.

    Attributes:
        name: the algorithm.
        recursion: that of algorithms.v.
        eta: the step size, of the ring.
    """

    name: str
    recursion: str
    eta: Any
    local_steps: int
    rounds: int
    clients: int

    @classmethod
    def said(cls, about: str, ring: Any, letters: Mapping[str, Any]) -> Steps | None:
        """Return what ``about`` says of an algorithm that algorithms.v may have."""
        form = r"algorithm: name = ([a-z-]+), (.*?); rounds: ([0-9]+); clients: ([0-9]+);"
        if not (found := re.match(form, about)) or found[1] not in RECURSIONS:
            return None
        values = dict(part.split(" = ", 1) for part in found[2].split(", ") if " = " in part)
        recursion, steps, sizes = RECURSIONS[found[1]]
        chosen = {values[name] for name in sizes if name in values}
        plain = all(values.get(name, value) == value for name, value in PLAIN.items())
        if len(chosen) != 1 or not plain:
            return None
        try:
            eta = ring.full(_number(chosen.pop(), letters))
        except (ArithmeticError, ValueError):
            return None
        return cls(found[1], recursion, eta, int(values[steps]), int(found[3]), int(found[4]))

    def iterates(
        self,
        ring: Any,
        gs: Sequence[str],
        gradients: Gradients,
        start: Point,
        names: Mapping[tuple[str, ...], str],
        known: int,
        *,
        means: bool = False,
    ) -> Iterator[Point]:
        """Yield the iterates, as long as the gradients are known that lead to them.

        Args:
            gs: each client's gradient.
            names: of points that have one; of several iterates that are one the first has it.
            known: how many points are given.
            means: whether of clients with one function the means over clients are told too.
        """
        alone = len(set(gs)) == 1 and self.recursion == "fedavg"
        rounds, tau = self.rounds, self.local_steps
        if alone:
            rounds, tau = 1, rounds * tau
        if len(gs) != self.clients or (len(set(gs)) == 1 and not alone and rounds > 1):
            return
        local, average, whole = FORMS[self.recursion]
        step, clients = argument(ring.ratio(self.eta)), f"[{'; '.join(gs)}]"
        rows, seen = {key(start.row)}, dict[str, Point]()

        def put(row: Row, equation: str, of: str) -> Iterator[Point]:
            """Yield a point if it is new."""
            if of not in seen:
                at = key(row)
                name = names.get(at, "") if at not in rows else ""
                seen[of] = Point(name or f"y_{known + len(seen)}", row, equation, of)
                rows.add(at)
                yield seen[of]

        here, server = start, start.name
        for r in range(rounds):
            base, own = here, [here] * len(gs)
            for k in range(1, tau + 1):
                for i, g in enumerate(gs):
                    at = own[i]
                    asked = [(g, at), *product(gs, [base])]
                    if any((h, key(p.row)) not in gradients for h, p in asked):
                        return
                    move, way = gradients[g, key(at.row)], f"{g} {at.name}"
                    if self.recursion == "fedsvrg":
                        shared = _mean([gradients[h, key(base.row)] for h in gs])
                        changed = minus(move, gradients[g, key(base.row)])
                        move = [x + y for x, y in zip(changed, shared, strict=True)]
                        terms = "; ".join(f"{h} {base.name}" for h in gs)
                        way = f"({way} - {g} {base.name} + mean [{terms}])"
                    row = minus(at.row, [self.eta * x for x in move])
                    many = local.format(step, clients, g, argument(server), k)
                    yield from put(row, f"{at.name} - {ring.ratio(self.eta)} * {way}", many)
                    own[i] = seen[many]
                if alone and not means:
                    continue
                many = average.format(step, clients, "", argument(server), k)
                if k == tau:
                    many = f"{whole} {step} {tau} {clients} {start.name} {r + 1}"
                mean = f"mean [{'; '.join(p.name for p in own)}]"
                yield from put(_mean([p.row for p in own]), mean, many)
                here = seen[many]
            server = f"{whole} {step} {tau} {clients} {start.name} {r + 1}"


def _number(written: str, letters: Mapping[str, Any]) -> Any:
    """Return a parameter as ``about`` shows it: a decimal, a range of a letter, an expression."""
    if letter := re.match(r"all .*? <=? (\w+)", written):
        written = letter[1]
    try:
        return fmpq(*Fraction(written).as_integer_ratio())
    except ValueError:
        return evaluate(written, {}, letters)


def _mean(rows: Sequence[Row]) -> Row:
    return tuple(sum(xs, fmpq(0)) / len(rows) for xs in zip(*rows, strict=True))
