"""Claims: one statement of one paper, with everything needed to judge it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from toolkit.algorithm import Algorithm
from toolkit.constants import Notation
from toolkit.errors import DriftproofError, unknown_name
from toolkit.names import check_name
from toolkit.orders import with_order
from toolkit.problem import Problem
from toolkit.readings import ByProof, Erratum, ReadingKind, Right, Stated, Undecided
from toolkit.signatures import check_signatures

KINDS = ("identity", "bound", "rate", "existence", "complexity", "symbolic")


@dataclass(frozen=True)
class Assumption:
    """A condition under which a statement is claimed.

    Attributes:
        name: as the paper calls it.
        statement: in LaTeX.
        roles: the constants that a problem must have proven.
        relation: a further relation between letters, as sympy (None: none); it is evaluated for
            each case, and a case that breaks it is INAPPLICABLE.
        applies: a further condition on the case (None: none), for what no letter says.
    """

    name: str
    statement: str
    roles: tuple[str, ...] = ()
    relation: Callable[[Any], Any] | None = None
    applies: Callable[[Case], bool] | None = None


@dataclass(frozen=True)
class Case:
    """One problem, one algorithm and a horizon."""

    problem: Problem
    algorithm: Algorithm | None = None
    rounds: int | None = None

    def __post_init__(self) -> None:
        for part, wanted, name in (
            (self.problem, Problem, "a problem"), (self.algorithm, Algorithm, "an algorithm"),
        ):  # fmt: skip
            if part is not None and not isinstance(part, wanted):
                raise DriftproofError(
                    f"Case with {part!r}", name, "write Case(BoundedComposition(), ComFedL(), 20)"
                )
            if part is not None and part.swept():
                raise DriftproofError(
                    f"{type(part).__name__} with a list for {', '.join(part.swept())}",
                    "one value in a Case",
                    "write cases = grid(…), which makes a case of each value",
                )
        if self.algorithm is not None and not _whole(self.rounds):
            raise DriftproofError(
                f"rounds = {self.rounds!r} of a case with {type(self.algorithm).__name__}",
                "a whole number of rounds, 1 or more",
                "write grid(…, rounds=20)",
            )

    def parameters(self) -> dict[str, Any]:
        """Return everything that defines the case, as JSON would hold it."""
        made: dict[str, Any] = {
            "problem": {"name": self.problem.leaf_name, **self.problem.values()}
        }
        if self.algorithm is not None:
            made["algorithm"] = {"name": self.algorithm.leaf_name, **self.algorithm.values()}
        if self.rounds is not None:
            made["rounds"] = self.rounds
        return made

    @property
    def key(self) -> str:
        """A short name that is the same wherever and whenever the case is built.

        Made of the parameters that differ from their defaults, so that a family may gain a
        parameter without becoming another one.
        """
        parts: list[Any] = [self.problem.leaf_name, self.problem.changed(), self.rounds]
        if self.algorithm is not None:
            parts += [self.algorithm.leaf_name, self.algorithm.changed()]
        text = json.dumps(parts, sort_keys=True, default=str)
        return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()

    def __str__(self) -> str:
        parts = [str(self.problem)]
        if self.algorithm is not None:
            parts.append(str(self.algorithm))
        if self.rounds is not None:
            parts.append(f"rounds={self.rounds}")
        return ", ".join(parts)


def grid(
    problem: Problem, algorithm: Algorithm | None = None, *, rounds: int | list[int] | None = None
) -> list[Case]:
    """Return every combination of the fields that were given as lists.

    >>> from synthetic.problems import BoundedComposition
    >>> from toolkit.algorithms import ComFedL
    >>> len(grid(BoundedComposition(clients=[1, 2]), ComFedL(local_steps=[1, 5, 9]), rounds=4))
    6
    """
    horizons = rounds if isinstance(rounds, list) else [rounds]
    algorithms: Sequence[Any] = algorithm.expand() if algorithm is not None else [None]
    return [
        Case(member, method, horizon)
        for member in problem.expand()
        for method in algorithms
        for horizon in horizons
    ]


def _whole(rounds: Any) -> bool:
    return isinstance(rounds, int) and not isinstance(rounds, bool) and rounds >= 1


@dataclass(frozen=True)
class Form:
    """One right side to judge: printed or corrected, in one edition and reading.

    Attributes:
        form: "printed", "corrected", or "sibling" (a false relative that must be refused).
        edition: the documents that print it so (the claim's source, if they do not differ).
        reading: how the print is read, where it can be read in more than one way.
        right: from letters to a sympy expression.
        note: the derivation of a corrected form.
        left, range: the form's own, where they are not the claim's.
        assumes: what this form assumes in addition to the claim.
        reading_kind: how a printed form stands to the print (None: not a printed form).
        quote: what shows that the reading was meant, or in which way it differs from the print.
        part: the part of the statement that it reads ("": all of it).
    """

    form: str
    edition: str
    reading: str
    right: Right
    note: str = ""
    left: Callable[[Any], Any] | None = None
    range: Right | None = None
    assumes: tuple[Assumption, ...] = ()
    reading_kind: ReadingKind | None = None
    quote: str = ""
    part: str = ""

    @property
    def key(self) -> str:
        """Form and reading in one, as tables and the record name them."""
        return f"{self.form}: {self.reading}" if self.reading else self.form


_KNOWN = (
    "cases", "full", "left", "right", "range", "readings", "corrected", "correction", "editions",
    "false_siblings", "prove", "compare", "rate", "explain", "letters", "measured",
    "conditional", "erratum",
)  # fmt: skip


@dataclass(frozen=True)
class Claim:
    """A statement and how to judge it; made by ``@claim`` from a class.

    The class may have these attributes; which ones a statement needs depends on its kind.

    ==================  =========================================================================
    ``cases``           list of Case, cheapest first (``grid`` makes them); ``full`` adds more
    ``left(view)``      the measured side, a Reduction (``each`` or ``average``)
    ``right(c)``        the right side as printed, in letters
    ``readings``        instead of ``right``: {reading: literal(…), intended(…), narrower(…) or
                        wider(…)} of a right side (see ``toolkit.readings``)
    ``erratum``         an Erratum, if the statement does not hold as printed
    ``corrected(c)``    the right side that is claimed instead; ``correction`` says why it holds
    ``range(c)``        the most that one replicate's left side can be, by the assumptions alone;
                        a right side above it is vacuous
    ``false_siblings``  [(name, right side)]: close relatives that are false
    ``prove(right)``    algebraic steps that decide the statement (kind identity or symbolic)
    ``compare(…)``      certified numbers that decide an identity, or a bound, on one case
    ``rate``            horizon, floors and derivation of a rate (see ``verifiers.rate``)
    ``explain``         what a reader should know about the verdict, in a sentence or two
    ``letters``         {letter: role} of the paper, where the algorithm's notation lacks some
    ``measured``        {name: LaTeX} of the measured quantities that stand in a right side
    ``conditional``     True if what is printed is an expectation given the past (``given_past``)
    ==================  =========================================================================
    """

    name: str
    kind: str
    source: str
    statement: str
    assumes: tuple[Assumption, ...]
    cases: tuple[Case, ...]
    full: tuple[Case, ...]
    forms: tuple[Form, ...]
    left: Callable[[Any], Any] | None = None
    range: Right | None = None
    prove: Callable[..., Any] | None = None
    compare: Callable[..., Any] | None = None
    rate: Any = None
    explain: str = ""
    letters: Mapping[str, str] = field(default_factory=dict)
    measured: Mapping[str, str] = field(default_factory=dict)
    conditional: bool = False
    erratum: Erratum | None = None

    def cases_for(self, profile: str) -> tuple[Case, ...]:
        """Return the cases of a profile: smoke the first, quick all, full also ``full``."""
        if profile == "smoke":
            return self.cases[:1]
        return self.cases if profile == "quick" else self.cases + self.full

    def notation(self, case: Case) -> Notation:
        """Return the letters that may stand in this claim's right side, with what is known of them.

        Their signs are those of ``toolkit.constants.SIGNS``, or what a parameter's class requires.
        """
        letters, signs = dict(case.problem.notation), dict(case.problem.required_signs)
        if case.algorithm is not None:
            letters |= case.algorithm.notation
            signs |= case.algorithm.required_signs
        return Notation(letters | dict(self.letters), signs)


def claim(
    *,
    name: str,
    kind: str,
    source: str,
    statement: str,
    assumes: Sequence[Assumption] = (),
) -> Callable[[type], Claim]:
    """Make a class a claim.

    Args:
        name: ``paper/statement``.
        kind: one of identity, bound, rate, existence, complexity, symbolic.
        source: document and number.
        statement: as printed, in LaTeX.
        assumes: what the statement assumes.
    """
    check_name("claim", name)
    if kind not in KINDS:
        raise unknown_name("kind of claim", kind, KINDS)

    def decorate(cls: type) -> Claim:
        body = {key: value for key, value in vars(cls).items() if not key.startswith("_")}
        for key in body:
            if key not in _KNOWN:
                raise unknown_name(f"attribute of claim {name}", key, _KNOWN)
        check_signatures(name, body)
        cases = (*body.get("cases", ()), *body.get("full", ()))
        if not all(isinstance(case, Case) for case in cases):
            odd = next(case for case in cases if not isinstance(case, Case))
            raise DriftproofError(
                f"cases of claim {name} hold {odd!r}",
                "Case(…), or what grid(…) returns",
                "write cases = grid(problem, algorithm, rounds=20)",
            )
        decided = any(_needs_no_case(right) for right in body.get("readings", {}).values())
        if not cases and "prove" not in body and not decided:
            raise DriftproofError(
                f"claim {name} has no cases",
                "cases = grid(problem, algorithm, rounds=20), or steps of a proof in prove(right)",
                "add cases to the class",
            )
        if not any(key in body for key in ("right", "readings", "corrected", "rate")):
            raise DriftproofError(
                f"claim {name} has no right side",
                "right(c), readings or rate",
                "write def right(c): return …",
            )
        forms = tuple(_forms(name, source, body))
        shown = statement
        if "rate" in body:
            shown = with_order(name, statement, (f.right for f in forms if f.form == "printed"))
        return Claim(
            name=name,
            kind=kind,
            source=source,
            statement=shown,
            assumes=tuple(assumes),
            cases=tuple(body.get("cases", ())),
            full=tuple(body.get("full", ())),
            forms=forms,
            left=body.get("left"),
            range=body.get("range"),
            prove=body.get("prove"),
            compare=body.get("compare"),
            rate=body.get("rate"),
            explain=body.get("explain", ""),
            letters=body.get("letters", {}),
            measured=body.get("measured", {}),
            conditional=bool(body.get("conditional", False)),
            erratum=body.get("erratum"),
        )

    return decorate


def _needs_no_case(right: Right) -> bool:
    """Whether a reading is decided by its own proof, or by nothing."""
    return isinstance(right, Stated) and isinstance(right.right, ByProof | Undecided)


def _forms(name: str, source: str, body: Mapping[str, Any]) -> list[Form]:
    edition = body.get("editions", source)
    made = [_form("printed", edition, "", body["right"])] if "right" in body else []
    for reading, right in cast(Mapping[str, Right], body.get("readings", {})).items():
        if not isinstance(right, Stated) or right.reading_kind is None:
            raise DriftproofError(
                f"reading {reading!r} of claim {name} does not say how it stands to the print",
                "literal(…), intended(…, quote=…), narrower(…, why=…) or wider(…, why=…)",
                f"write readings = {{{reading!r}: literal(right)}}, say",
            )
        made.append(_form("printed", edition, reading, right))
    for form in made:
        others = [f for f in made if (f.reading_kind, f.part) == (form.reading_kind, form.part)]
        if form.reading_kind is ReadingKind.LITERAL and len(others) > 1 and not form.quote:
            raise DriftproofError(
                f"reading {form.reading!r} of claim {name}, one of {len(others)} literal ones",
                "for each of them, the words of the paper that can be read so",
                "write literal(right, quote=…), or intended(…) for what was meant",
            )
    if made and not any(form.reading_kind and form.reading_kind.admissible for form in made):
        raise DriftproofError(
            f"claim {name} has narrower and wider readings alone",
            "a literal or an intended reading, which decides about the print",
            'add "as printed": literal(Undecided("what is known")) if nothing decides it',
        )
    if "corrected" in body:
        note = body.get("correction")
        if not note:
            raise DriftproofError(
                f"claim {name} has a corrected form without a derivation",
                'correction = "why the corrected form holds"',
                "write it beside corrected(c)",
            )
        made.append(_form("corrected", edition, "", body["corrected"], note))
    for sibling, right in body.get("false_siblings", ()):
        made.append(_form("sibling", edition, sibling, right))
    return made


def _form(form: str, edition: str, reading: str, right: Right, note: str = "") -> Form:
    stated = right if isinstance(right, Stated) else Stated(right)
    kind = (stated.reading_kind or ReadingKind.LITERAL) if form == "printed" else None
    return Form(
        form, edition, reading, stated.right, note, stated.left, stated.range,
        tuple(stated.assumes), kind, stated.quote, stated.part,
    )  # fmt: skip
