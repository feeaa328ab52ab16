r"""A run of terms: each number of each step, and each value of a measure, with its LaTeX.

The run is that in balls, on the short fractions that a case's doubles stand for. After a step the
numbers of a state forget how they were made, so that a step is a line. What a
problem's functions are called, ``formulas`` says.
"""

import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import wraps
from typing import Any

import numpy as np
import sympy

from driftproof.toolkit.balls import Balls, RefusedError
from driftproof.toolkit.balls.tensor import lift
from driftproof.toolkit.cases import Case
from driftproof.toolkit.constants import latex
from driftproof.toolkit.engines.balls import exactly
from driftproof.toolkit.measure import Reduction
from driftproof.toolkit.rationals import decimal
from driftproof.toolkit.report.latex_text import latex_text
from driftproof.toolkit.report.listed import listed
from driftproof.verifiers.standalone.formulas import letter
from driftproof.verifiers.standalone.terms import NOTHING, Term, settled, term

FIELD = re.compile(r"^ +(\w+): (.*(?:\n {8,}.*)*)", re.MULTILINE)
"""A field of a state in its docstring, and what is said of it."""


@dataclass(frozen=True)
class Line:
    """What becomes of one number.

    Attributes:
        subject: its LaTeX.
        text: how it is computed.
        value: what it comes to.
        chance: the probability, where it differs between outcomes.
        said: a remark, as LaTeX.
        most: whether the value is the most that the number can be.
    """

    subject: str
    text: str
    value: Term
    chance: Fraction = Fraction(1)
    said: str = ""
    most: bool = False


class Told:
    """The algorithm as a run of terms sees it; it tells what each step computes.

    Attributes:
        begun: what the state holds at the start beside the iterate, in words.
        moments: of the measure, its Reduction: the texts of each outcome.
        ctx: the context of the run.
    """

    def __init__(self, case: Case) -> None:
        letters = {role: letter for letter, role in case.algorithm.notation.items()}
        self._of = exactly(case.algorithm)
        for field in fields(self._of):  # type: ignore[arg-type]
            if isinstance(getattr(self._of, field.name), Balls):
                value = decimal(getattr(case.algorithm, field.name))
                text = latex(sympy.Symbol(letters[field.name])) if field.name in letters else ""
                object.__setattr__(
                    self._of, field.name, Balls(np.array(Term(value, text), dtype=object))
                )
        self.ctx: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of, name)

    def init(self, ctx: Any, oracles: Any, start: Any) -> Any:
        """Begin the tale, again if the outcomes have been counted."""
        self.ctx, self.moments, self._seen = ctx, list[Any](), 0
        self._told: list[tuple[str, Term, set[int]]] = []
        state = self._settled(self._of.init(ctx, oracles, start))
        self.begun = [*self._beside(state, self._of.init(ctx, oracles, start + 1))]
        return state

    def _beside(self, state: Any, elsewhere: Any) -> Iterator[str]:
        """Yield what each other field of the state is at first, and what it is for.

        Args:
            elsewhere: what it is from another start: of a copy of the start nothing is said.
        """
        about = dict(FIELD.findall(inspect.getdoc(type(state)) or ""))
        at = getattr(elsewhere, self._of.iterate)
        for name, x in state._asdict().items():
            other = getattr(elsewhere, name)
            if not isinstance(x, Balls) or (x.shape == at.shape and bool((other == at).all())):
                continue
            values = [x.text for x in map(term, lift(x)[..., 0].flat)]
            shared = len({*values}) == 1
            places = [
                [str(k + 1)] + [str(i + 1)] * (x.shape[1] > 1) for k, i in np.ndindex(*x.shape[:2])
            ]
            each = zip([[]] if shared else places, values, strict=False)
            said = listed([f"${letter(name, of)} = {value}$" for of, value in each])
            told = latex_text(about.get(name, "").strip().rstrip("."))
            yield said + f" ({told})" * bool(told and len(name) > 1)

    def step(self, ctx: Any, oracles: Any, state: Any) -> Any:
        """Tell one step."""
        try:
            return self._settled(self._of.step(ctx, oracles, state), state, ctx.t + 1)
        except RefusedError as error:
            raise RefusedError(f"in step {ctx.t + 1}: {error}", open=error.open) from error

    def _settled(self, state: Any, before: Any = None, t: int = 0) -> Any:
        """Name what a state holds; what is only kept, as a round's start is, gets no line."""
        made, moved = state._asdict(), self._of.iterate
        balls = [x for x in before or () if isinstance(x, Balls)]
        known = {y.text: y for x in balls for y in map(term, lift(x).reshape(-1))}
        for name in sorted(state._fields, key=lambda name: name != moved):
            x = made[name]
            if not isinstance(x, Balls):
                continue
            entries = np.frompyfunc(term, 1, 1)(lift(x))
            after = np.empty(x.shape, object)
            shared = all(len({y.text for y in of}) == 1 for of in entries.reshape(len(x), -1).T)
            for k, i, r in np.ndindex(*x.shape):
                at = [str(k + 1)] * (not shared) + [str(i + 1)] * (x.shape[1] > 1)
                subject = f"{letter(name, at)}^{{({t})}}"
                own = entries[k, i, r]
                kept = None if name == moved else known.get(own.text)
                if before is not None and kept is None and not (shared and k):
                    self._tell(subject, own, r)
                if kept is None:
                    kept = settled(own, subject if x.shape[2] == 1 else "")
                after[k, i, r] = kept
                known.setdefault(own.text, kept)
            made[name] = Balls(after)
        return type(state)(**made)

    def _tell(self, subject: str, number: Term, outcome: int) -> None:
        for at, known, outcomes in reversed(self._told):
            if (at, known.text) == (subject, number.text):
                outcomes.add(outcome)
                return
        self._told.append((subject, number, {outcome}))

    def measuring(self, left: Any) -> Any:
        """Return a claim's measure, which is kept as it is taken."""

        @wraps(left)
        def measure(view: Any) -> Any:
            made = left(view)
            if isinstance(made, Reduction):
                self.moments.append(made)
                self._seen = len(self._told)
            return made

        return measure

    def lines(self, sides: Iterable[Line]) -> list[Line]:
        """Return what each step computes, up to the last one that is measured.

        Of the last step only what the sides speak of is told, beside the iterate.
        """
        chances, told = self.ctx.exact_chances, self._told[: self._seen]
        made = [Line(at, x.text, settled(x), sum(chances[r] for r in of)) for at, x, of in told]
        said = " ".join(f"{line.subject} {line.text} {line.value.text}" for line in sides)
        moved, last = letter(self._of.iterate, []), f"^{{({self.ctx.t + 1})}}"
        return [
            line
            for line in made
            if not line.subject.endswith(last)
            or re.split(r"[_^]", line.subject)[0] == moved
            or line.subject in said
            or line.value.text in said
        ]

    def mean(self, values: np.ndarray) -> Term:
        """Return an expectation over the outcomes, [outcomes]."""
        of: dict[str, tuple[Term, Fraction]] = {}
        for x, chance in zip(map(term, values), self.ctx.exact_chances, strict=True):
            of[x.text] = x, of.get(x.text, (x, Fraction(0)))[1] + chance
        return sum((Term(p, bare=True) * x for x, p in of.values()), NOTHING)
