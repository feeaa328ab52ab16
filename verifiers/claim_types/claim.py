"""Claims: one statement of one paper, with everything needed to judge it.

``Claim`` has the fields that every statement has. A way of judging is a subclass of it: ``bound``,
``rate``, ``comparison`` and ``proof``, each with the fields that it needs and no others.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self

from driftproof.toolkit.cases import Assumption, Case, roles_of
from driftproof.toolkit.constants import EITHER, Notation
from driftproof.toolkit.declaring import check_words
from driftproof.toolkit.discover import note_made
from driftproof.toolkit.errors import DriftproofError, unknown_name
from driftproof.toolkit.names import check_latex, check_name
from driftproof.toolkit.readings import ByProof, Erratum, R, ReadingKind, Stated, Undecided
from driftproof.toolkit.verdict import form_key
from driftproof.verifiers.claim_types.signatures import check_signatures
from driftproof.verifiers.claim_types.ties import Tie, as_assumptions, tied

if TYPE_CHECKING:
    from driftproof.verifiers.algebra.symbolic import Step


@dataclass(frozen=True)
class Form:
    """One right side to judge: printed or corrected, in one edition and reading.

    Attributes:
        form: "printed", "corrected", or "sibling" (a false relative that must be refused).
        edition: the documents that print it so (the claim's source, if they do not differ).
        reading: how the print is read, where it can be read in more than one way.
        right: from letters to a sympy expression, or what else the way of judging compares with.
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
    right: Any
    note: str = ""
    left: Callable[..., Any] | None = None
    range: Callable[..., Any] | None = None
    assumes: tuple[Assumption, ...] = ()
    reading_kind: ReadingKind | None = None
    quote: str = ""
    part: str = ""

    @property
    def key(self) -> str:
        """Form and reading in one, as tables and the record name them."""
        return form_key(self.form, self.reading)


@dataclass(frozen=True, kw_only=True, eq=False)
class Claim(Generic[R]):
    """A statement and how to judge it; its subclasses are the decorators.

    Attributes:
        name: ``paper/statement``, a literal: listing reads it without importing the file.
        source: document and number.
        statement: as printed, in LaTeX.
        assumes: what the statement assumes.
        cases: what it is judged on, the cheapest first (``grid`` makes them).
        full: further cases, for the full profile.
        right: the right side as printed.
        readings: instead of ``right``: {reading: literal(…), intended(…), narrower(…) or
            wider(…)} of a right side (see ``toolkit.readings``).
        corrected: the right side that is claimed instead.
        correction: why the corrected form holds.
        false_siblings: [(name, right side)]: close relatives that are false, and must be refused.
        erratum: what is wrong with the print, if it does not hold.
        sentence: the claim with which the printed sentence is counted, if this one is a part or a
            reading of it ("": it is counted here).
        display: whether what is printed is a display of a proof, and no result by itself.
        prove: from a right side to algebraic steps that decide it as well (None: there are none);
            they may be none of a right side that cases decide.
        explain: what a reader should know about the verdict, in a sentence or two.
        edition: which documents print it so ("": the source).
        letters: {letter: role} of the paper, where the algorithm's notation lacks some.
        ties: {letter: formula} of hyper-parameters that the statement ties to other letters; cases
            get these values, and the search keeps to them.

    Raises:
        DriftproofError: a field that the way of judging does not have, no case, no right side, or
            a function that cannot be called as it will be.
    """

    searched: ClassVar[str] = ""
    """That by which a search scores cases ("": no single case refutes it, so none is sought)."""
    asymptotic: ClassVar[bool] = False
    """Whether cases of finite horizons show no more than a trend of it."""
    measures: ClassVar[bool] = False
    """Whether a case is judged by what is measured of a run on it."""
    of_classes: ClassVar[str] = "write classes=over(…), which @bound and @limit have"
    """How a statement over a whole class of functions is written."""
    way: ClassVar[str] = "claim"
    kinds: ClassVar[tuple[str, ...]] = ()
    function: ClassVar[str] = "left"
    """The field that the decorated function is."""

    name: str
    source: str
    statement: str
    kind: str = ""
    assumes: Sequence[Assumption] = ()
    cases: Sequence[Case] = ()
    full: Sequence[Case] = ()
    right: R | Stated[R] | None = None
    readings: Mapping[str, Stated[R] | Stated[Undecided] | Stated[ByProof]] = field(
        default_factory=dict
    )
    corrected: R | Stated[R] | None = None
    correction: str = ""
    false_siblings: Sequence[tuple[str, R | Stated[R]]] = ()
    erratum: Erratum | None = None
    sentence: str = ""
    display: bool = False
    prove: Callable[[R], Sequence[Step]] | None = None
    explain: str = ""
    edition: str = ""
    letters: Mapping[str, str] = field(default_factory=dict)
    ties: Mapping[str, Tie] = field(default_factory=dict)

    def __new__(cls, *args: Any, **fields: Any) -> Self:  # noqa: D102 - checks the fields' names
        known = [entry.name for entry in dataclasses.fields(cls) if entry.init]
        if "classes" in fields and "classes" not in known:
            raise cls._over_a_class(f"@{cls.way} with classes")
        check_words(cls.way, args, fields, known, ["name", "source", "statement"])
        return super().__new__(cls)

    def __reduce__(self) -> tuple[Any, ...]:
        return object.__new__, (type(self),), vars(self)  # it was checked as it was declared

    def __post_init__(self) -> None:
        check_name("claim", self.name)
        check_latex(self.name, self.statement)
        if not self.kind:
            object.__setattr__(self, "kind", self.kinds[0])
        if self.kind not in self.kinds:
            raise unknown_name(f"kind of @{self.way}", self.kind, self.kinds)

    def checked(self) -> Self:
        """Return this claim, with the function that its decorator stands above, checked whole."""
        fields = {entry.name: getattr(self, entry.name) for entry in dataclasses.fields(self)}
        self._check_lists()
        self._tie()
        check_signatures(self.name, fields)
        self._check_cases()
        for form in self.forms:
            self.check_right(form)
        note_made(self.name, self)
        return self

    def _tie(self) -> None:
        """Put what is tied into every case, and among what is assumed."""
        if not self.ties or not self.judged_on:
            return
        for name in ("cases", "full", "classes"):
            cases = [tied(case, self.ties, self.notation(case)) for case in getattr(self, name, ())]
            object.__setattr__(self, name, cases)
        given = as_assumptions(self.ties, self.notation(self.judged_on[0]))
        object.__setattr__(self, "assumes", [*self.assumes, *given])

    def check_right(self, form: Form) -> None:
        """Raise DriftproofError if a form's right side is not of the kind that is judged here."""

    def _check_lists(self) -> None:
        for field_name, wanted, remedy in (
            ("assumes", Assumption, "assumes=[SMALL_STEP]"),
            ("cases", Case, "cases=grid(problem, algorithm, rounds=20)"),
            ("full", Case, "full=grid(problem, algorithm, rounds=200)"),
            ("classes", Case, "classes=over([smooth(L=1), …], algorithm, rounds=1)"),
        ):
            members = getattr(self, field_name, ())
            is_list = isinstance(members, list | tuple)
            odd = next((x for x in members if not isinstance(x, wanted)), None) if is_list else None
            if not is_list or odd is not None:
                raise DriftproofError(
                    f"{field_name} of claim {self.name} {'hold' if is_list else 'is'} "
                    f"{odd if is_list else members!r}",
                    f"a list, of {wanted.__name__} each",
                    f"write {remedy}",
                )
        for pair in self.false_siblings:
            if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str)):
                raise DriftproofError(
                    f"false_siblings of claim {self.name} hold {pair!r}",
                    "pairs of a name and a right side",
                    'write false_siblings=[("half of it", half)]',
                )

    @classmethod
    def _over_a_class(cls, got: str) -> DriftproofError:
        return DriftproofError(got, f"cases of runs for @{cls.way}, as of grid(…)", cls.of_classes)

    def _check_cases(self) -> None:
        if any(case.over_class for case in (*self.cases, *self.full)):
            raise self._over_a_class(f"@{self.way} {self.name} with a whole class among its cases")
        if not self.cases and self.needs_cases:
            raise DriftproofError(
                f"claim {self.name} has no cases",
                "cases=grid(problem, algorithm, rounds=20), or steps of a @proof",
                "add cases to the decorator",
            )

    @property
    def needs_cases(self) -> bool:
        """Whether nothing but cases decides some form."""
        return self.prove is None and not any(map(_needs_no_case, self.readings.values()))

    @property
    def judged_on(self) -> tuple[Case, ...]:
        """The cases of the quick profile, and whatever else a way of judging has."""
        return tuple(self.cases)

    @property
    def judges(self) -> tuple[str, ...]:
        """The files of ``verifiers.judges`` that may judge it."""
        return ("open_readings", "proofs")

    @property
    def every_case(self) -> tuple[Case, ...]:
        """All cases, in an order that numbers them: those of shorter profiles come first."""
        return (*self.cases, *self.full)

    def cases_for(self, profile: str) -> tuple[Case, ...]:
        """Return the cases of a profile: smoke the first, quick all, full also ``full``."""
        if profile == "smoke":
            return tuple(self.cases[:1])
        return (*self.cases, *(self.full if profile == "full" else ()))

    @property
    def complete(self) -> bool:
        """Whether it stands above a function."""
        return getattr(self, self.function) is not None

    def on(self, case: Case) -> Self:
        """Return the claim about one case alone, whatever its own cases are."""
        return replace(self, cases=(case,), full=(), prove=None)

    def notation(self, case: Case) -> Notation:
        """Return the letters that may stand in this claim's right side, with what is known of them.

        Their signs are those of ``toolkit.constants.SIGNS``, or what a parameter's class requires.
        The algorithm's letters come before the problem's. One that both have for two numbers, as μ
        of a class and of a proximal step, is either, and may not be used until ``letters`` says
        which.
        """
        letters, signs = dict(case.problem.notation), dict(case.problem.required_signs)
        if case.algorithm is not None:
            own = case.algorithm.notation
            twice = [x for x in own if letters.get(x, own[x]) != own[x] and x not in self.letters]
            roles = roles_of(case) if twice else {}
            either = {x: f"{own[x]}{EITHER}{letters[x]}" for x in twice}
            letters |= own | {
                x: role
                for x, role in either.items()
                if len({str(roles[of]) for of in role.split(EITHER) if of in roles}) > 1
            }
            signs |= case.algorithm.required_signs
        return Notation(letters | dict(self.letters), signs)

    def formulas(self, form: Form) -> tuple[Any, ...] | None:
        """Return the formulas in letters that a form's verdict rests on (None: not these alone)."""
        return None

    @property
    def is_existence(self) -> bool:
        """Whether it says that something exists, so that an instance that fails refutes nothing."""
        return self.kind == "existence"

    @property
    def bounds(self) -> bool:
        """Whether its right sides are formulas that something is bounded by."""
        return False

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """Every form that is judged: as printed in each reading, corrected, and false siblings.

        Raises:
            DriftproofError: there is none, or a reading does not say how it stands to the print.
        """
        if self.right is None and not self.readings and self.corrected is None:
            raise DriftproofError(
                f"claim {self.name} has no right side",
                "right=… or readings={…}",
                "write def right(c): return …, above the decorator, and right=right in it",
            )
        return tuple(self._forms())

    def _forms(self) -> Iterator[Form]:
        printed = [] if self.right is None else [self._form("printed", "", self.right)]
        for reading, stated in self.readings.items():
            if not isinstance(stated, Stated) or stated.reading_kind is None:
                raise DriftproofError(
                    f"reading {reading!r} of claim {self.name} does not say how it stands to the "
                    "print",
                    "literal(…), intended(…, quote=…), narrower(…, why=…) or wider(…, why=…)",
                    f"write readings={{{reading!r}: literal(right)}}, say",
                )
            printed.append(self._form("printed", reading, stated))
        _check_readings(self.name, printed)
        yield from printed
        if self.corrected is not None:
            if not self.correction:
                raise DriftproofError(
                    f"claim {self.name} has a corrected form without a derivation",
                    'correction="why the corrected form holds"',
                    "write it beside corrected=…",
                )
            yield self._form("corrected", "", self.corrected, self.correction)
        for sibling, right in self.false_siblings:
            yield self._form("sibling", sibling, right)

    def _form(self, form: str, reading: str, right: Any, note: str = "") -> Form:
        stated = right if isinstance(right, Stated) else Stated(right)
        kind = (stated.reading_kind or ReadingKind.LITERAL) if form == "printed" else None
        return Form(
            form,
            self.edition or self.source,
            reading,
            stated.right,
            note,
            stated.left,
            stated.range,
            tuple(stated.assumes),
            kind,
            stated.quote,
            stated.part,
        )


def _needs_no_case(reading: Any) -> bool:
    """Whether a reading is decided by its own proof, or by nothing."""
    return isinstance(reading, Stated) and isinstance(reading.right, ByProof | Undecided)


def _check_readings(name: str, printed: Sequence[Form]) -> None:
    """Raise if the readings of a print leave open what decides about it."""
    for form in printed:
        others = [f for f in printed if (f.reading_kind, f.part) == (form.reading_kind, form.part)]
        if form.reading_kind is ReadingKind.LITERAL and len(others) > 1 and not form.quote:
            raise DriftproofError(
                f"reading {form.reading!r} of claim {name}, one of {len(others)} literal ones",
                "for each of them, the words of the paper that can be read so",
                "write literal(right, quote=…), or intended(…) for what was meant",
            )
    if printed and not any(form.reading_kind and form.reading_kind.admissible for form in printed):
        raise DriftproofError(
            f"claim {name} has narrower and wider readings alone",
            "a literal or an intended reading, which decides about the print",
            'add "as printed": literal(Undecided("what is known", by="what would decide it"))',
        )
