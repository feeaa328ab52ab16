"""Verdicts: what was established, on which case, by which kind of evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from math import isfinite, isnan
from typing import Any

from driftproof.toolkit.series import Series, series_from, stored


class Verdict(StrEnum):
    """What a row, or a claim, is found to be."""

    SUPPORTED = "SUPPORTED"
    REFUTED = "REFUTED"
    INCONCLUSIVE = "INCONCLUSIVE"
    INAPPLICABLE = "INAPPLICABLE"


class Evidence(StrEnum):
    """What kind of evidence decided.

    Attributes:
        says: what it is: the legend of the page says so.
        proves: how far SUPPORTED by it reaches, if further than the cases that were run.
        by_chance: whether it may be wrong by chance.
    """

    says: str
    proves: str
    by_chance: bool

    def __new__(
        cls, name: str, says: str = "", proves: str = "", by_chance: bool = False
    ) -> Evidence:
        """Return a member, which is its name and has what is said of it."""
        self = str.__new__(cls, name)
        self._value_, self.says, self.proves, self.by_chance = name, says, proves, by_chance
        return self

    SYMBOLIC = (
        "symbolic",
        "algebra for all values",
        "by algebra, as far as its steps say: the page lists them",
    )
    EXACT = "exact", "all outcomes of the noise, with a bound on rounding"
    CLASS = (
        "class",
        "a certificate for every function of a class, or functions of it that exceed the right "
        "side",
        "for every function of the class, in every dimension, at these hyper-parameters, constants "
        "and numbers of clients",
    )
    THEOREM = (
        "theorem",
        "a certificate for every function of a class and all values of some letters",
        "for all values of the letters that a case leaves free, too",
    )
    ENCLOSED = (
        "enclosed",
        "a point that reaches the left side's lower end, and a proof that none exceeds its upper "
        "end",
    )
    SEQUENTIAL = ("sequential", "a test of sampled replicates, valid whenever one looks", "", True)
    ASYMPTOTIC = "asymptotic", "a slope over growing horizons"


def form_key(form: str, reading: str) -> str:
    """Return form and reading in one, as tables and the record name them.

    >>> form_key("printed", "a plus sign is missing"), form_key("corrected", "")
    ('printed: a plus sign is missing', 'corrected')
    """
    return f"{form}: {reading}" if reading else form


def tightness(left: float | None, right: float | None) -> float | None:
    """Return left over right, or, if both are negative, right over left.

    It is 1 where they are equal, and above 1 where left exceeds right. None: the right side is 0,
    or negative and the left one is not.

    >>> tightness(1.0, 2.0), tightness(-2.0, -1.0), tightness(-1.0, -2.0), tightness(1.0, -1.0)
    (0.5, 0.5, 2.0, None)
    """
    if left is None or right is None or isnan(left):
        return None
    if right > 0:
        return left / right
    return right / left if left < 0 and right < 0 else None


@dataclass(frozen=True)
class Row:
    """One case of one form of one claim: a row of ``results.json``.

    Attributes:
        lhs: mean, low and high of the left side at the comparison closest to failing.
        rhs: the right side there.
        at: which comparison of an exact run refutes, and of how many (not in ``results.json``).
        margin: the tolerance within which an identity or a rate was decided.
        alpha: the probability with which this row's verdict may be wrong by chance (None: none).
        comparisons: how many comparisons the row makes (rounds, local steps …).
        attacked: points at which constants of a user's own problems were attacked (0: none).
        reading_kind: how a printed form's reading stands to the print (``toolkit.readings``).
        part: the part of the statement that it reads ("": all of it).
        proofs: file name → text of the certificates that prove it over a class (their names are in
            ``results.json``).
        theorems: file name → text of the Coq files of these, each of which its kernel accepted.
        coq: the version of that kernel ("": none was asked, or it did not accept all of them).
        on_paper: file name → LaTeX of the proofs of those that a person can check (not in
            ``results.json``, where their certificates are).
        series: points of its plot, steps of its proof, or functions that refute it.
    """

    claim: str
    form: str
    edition: str
    reading: str
    kind: str
    case: Mapping[str, Any]
    verdict: Verdict
    evidence: Evidence | None
    reason: str
    instance: Mapping[str, float] = field(default_factory=dict)
    expected: str | None = None
    attained: bool = False
    vacuous: bool = False
    empty_hypothesis: bool = False
    lhs: Mapping[str, float | None] | None = None
    rhs: float | None = None
    at: tuple[int, int] | None = None
    margin: float | None = None
    alpha: float | None = None
    comparisons: int = 0
    replicates: int = 0
    attacked: int = 0
    seconds: float = 0.0
    reading_kind: str | None = None
    part: str = ""
    proofs: Mapping[str, str] = field(default_factory=dict)
    theorems: Mapping[str, str] = field(default_factory=dict)
    coq: str = ""
    on_paper: Mapping[str, str] = field(default_factory=dict)
    series: Series | None = None

    def __post_init__(self) -> None:
        """Refuse a ledger's certificate that is not text: it becomes a file."""
        files = {**self.proofs, **self.theorems, **self.on_paper}
        if not all(isinstance(text, str) for text in files.values()):
            raise TypeError("a certificate that is no text")

    @property
    def ratio(self) -> float | None:
        """The tightness of the two sides (above 1: refuted)."""
        return tightness((self.lhs or {}).get("mean"), self.rhs)

    @property
    def form_key(self) -> str:
        """Form and reading in one (``form_key``)."""
        return form_key(self.form, self.reading)

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What a verdict on record is kept under."""
        return (self.claim, self.form, self.reading, str(self.case.get("key", "")))

    def stored(self) -> dict[str, Any]:
        """Return the row as the ledger has it, for JSON."""
        return vars(self) | {"series": stored(self.series)}

    def public(self) -> dict[str, Any]:
        """Return the row as ``results.json`` has it: finite numbers or null."""
        entry = asdict(self)
        del entry["series"], entry["at"], entry["on_paper"]
        entry["certificates"] = sorted(entry.pop("proofs"))
        theorems, version = sorted(entry.pop("theorems")), entry.pop("coq")
        entry["machine_checked"] = {"coq": version, "theorems": theorems} if version else None
        entry["ratio"] = self.ratio
        return {key: _clean(value) for key, value in entry.items()}


def row_from(entry: dict[str, Any]) -> Row:
    """Return a row from the ledger's JSON."""
    evidence = entry["evidence"]
    return Row(
        **entry
        | {
            "verdict": Verdict(entry["verdict"]),
            "evidence": None if evidence is None else Evidence(evidence),
            "series": series_from(entry["series"]),
        }
    )


def _clean(value: Any) -> Any:
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _clean(item) for key, item in value.items()}
    return value


def _only_some_choice_fails(rows: list[Row]) -> bool:
    """Whether single constructions of an existence statement are refuted, and no proof does it."""
    refuted = [row for row in rows if row.verdict is Verdict.REFUTED]
    return all(
        row.kind == "existence"
        and row.reading_kind in ("literal", "intended")
        and row.evidence is not Evidence.SYMBOLIC
        for row in refuted
    )


def together(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict of a form from those of its cases: REFUTED if any is, and so on.

    Of cases on record that is all there is: the record does not keep which are vacuous, and a form
    on record as SUPPORTED has one that is not (a law of the tests).
    """
    applied = set(verdicts) - {Verdict.INAPPLICABLE}
    if not applied:
        return Verdict.INAPPLICABLE
    if Verdict.REFUTED in applied:
        return Verdict.REFUTED
    return Verdict.SUPPORTED if applied == {Verdict.SUPPORTED} else Verdict.INCONCLUSIVE


def overall(rows: Iterable[Row]) -> Verdict:
    """Return a claim's verdict: REFUTED if any row is; SUPPORTED only if all that apply are.

    A claim whose every supported row is vacuous is INCONCLUSIVE. An existence statement is not
    refuted by a construction that fails: it takes a proof over all choices.
    """
    rows = list(rows)
    verdict = together(row.verdict for row in rows)
    works = any(row.verdict is Verdict.SUPPORTED and not row.vacuous for row in rows)
    if verdict is Verdict.REFUTED and _only_some_choice_fails(rows):
        return Verdict.SUPPORTED if works else Verdict.INCONCLUSIVE
    return Verdict.INCONCLUSIVE if verdict is Verdict.SUPPORTED and not works else verdict
