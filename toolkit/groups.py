"""Forms: the rows of one form and reading of a claim, and their verdict."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

from driftproof.toolkit.readings import ReadingKind
from driftproof.toolkit.series import Compared
from driftproof.toolkit.statements import ReadingVerdict, Statement, statement
from driftproof.toolkit.verdict import Row, Verdict, form_key, overall

FAR = 0.05
"""Left over right below which a case hardly tests a bound."""
NOTHING = 1e-17
"""What a distance of 0 is drawn as on a logarithmic axis."""
LARGEST_DRAWN = 1e150
"""What is larger is not drawn: distances between such numbers, and their squares, overflow."""


@dataclass(frozen=True)
class Group:
    """The rows of one form and reading of one claim."""

    claim: str
    form: str
    reading: str
    edition: str
    rows: Sequence[Row]

    @property
    def verdict(self) -> Verdict:
        """The verdict on this form."""
        return overall(self.rows)

    @property
    def evidence(self) -> str:
        """The kinds of evidence that decided, each once."""
        rows = [row for row in self.rows if row.verdict is self.verdict]
        return ", ".join(dict.fromkeys(row.evidence for row in rows if row.evidence))

    @property
    def cases(self) -> str:
        """How many cases there are, and to how many of them the statement applies."""
        applied = [row for row in self.rows if row.verdict is not Verdict.INAPPLICABLE]
        if len(applied) in (0, len(self.rows)):
            return str(len(self.rows))
        return f"{len(applied)} of {len(self.rows)}"

    @property
    def tightest(self) -> float | None:
        """The largest ratio of left to right among rows that are not vacuous."""
        bounds = [row for row in self.rows if _compares(row) and not row.vacuous]
        if equates(self.rows):
            return None
        ratios = [row.ratio for row in bounds if row.ratio is not None]
        return max(ratios, default=None)

    @property
    def tightness(self) -> str:
        """How tight the form is, in the terms of its kind."""
        row = next((row for row in self.rows if row.lhs is not None), self.rows[0])
        if row.kind == "rate" and row.lhs is not None and not _compares(row):
            return f"slope {number(row.lhs['mean'], 3)}"
        if equates(self.rows) and self.verdict is Verdict.SUPPORTED:
            apart = max(map(distance, self.rows))
            return f"within {number(apart, 2)}" if apart > NOTHING else "equal"
        return number(self.tightest, 3)

    @property
    def reading_kind(self) -> str:
        """How a printed form's reading stands to the print ("" of other forms)."""
        return self.rows[0].reading_kind or ""

    @property
    def as_reading(self) -> ReadingVerdict:
        """The form as one reading of the print, with its verdict."""
        kind = self.reading_kind or ReadingKind.LITERAL
        return ReadingVerdict(self.reading, kind, self.rows[0].part, self.verdict, self.empty)

    @property
    def title(self) -> str:
        """Form and reading, as tables name them."""
        return form_key(self.form, self.reading)

    @property
    def attained(self) -> bool:
        """Whether it is a supported inequality or rate, and equality was met on some case."""
        supported = self.verdict is Verdict.SUPPORTED and self.rows[0].kind in ("bound", "rate")
        return supported and any(row.attained for row in self.rows)

    @property
    def of_classes(self) -> bool:
        """Whether its rows are of whole classes of functions, which letters alone tell apart."""
        return any(map(over_class, self.rows))

    @property
    def weakly_tested(self) -> bool:
        """Whether what is supported was hardly tested.

        Of an inequality: on every case that is not vacuous the left side is below ``FAR`` of the
        right one, or most cases are vacuous: their right sides exceed what the left could be
        anyway. Of a rate, which speaks of all problems: slopes on one family are all its evidence.
        """
        if self.verdict is not Verdict.SUPPORTED or equates(self.rows):
            return False
        supported = [row for row in self.rows if row.verdict is Verdict.SUPPORTED]
        if {row.evidence for row in supported} == {"asymptotic"}:
            return True
        supported = [row for row in supported if row.lhs]
        supported = [row for row in supported if row.kind in ("bound", "existence")]
        telling = [row for row in supported if not row.vacuous]
        ratios = [row.ratio for row in telling if row.ratio is not None]
        # a right side of 0 that is met has no ratio, and no room either
        far = len(ratios) == len(telling) and max(ratios, default=FAR) < FAR
        return bool(supported) and (far or 2 * len(telling) < len(supported))

    @property
    def empty(self) -> bool:
        """Whether no instance can meet the hypothesis."""
        return any(row.empty_hypothesis for row in self.rows)

    @property
    def changed(self) -> bool:
        """Whether some verdict is not the one on record."""
        return any(row.expected not in (None, row.verdict) for row in self.rows)

    @property
    def reason(self) -> str:
        """Why, in the words of the row that decided."""
        if self.verdict is Verdict.INCONCLUSIVE and all(
            row.verdict is Verdict.SUPPORTED for row in self.rows
        ):
            return "supported, but vacuous on every case that was run; a larger profile has others"
        said = self.deciding.reason if self.verdict is self.deciding.verdict else ""
        exact = sum(row.evidence is not None and not row.evidence.by_chance for row in self.rows)
        if exact and self.deciding.alpha and self.verdict is Verdict.INCONCLUSIVE:
            said += (
                f"; {exact} of {len(self.rows)} cases need no sampling, and were decided exactly"
            )
        return said

    @property
    def deciding(self) -> Row:
        """The first row that has the form's verdict (of all, if none has); the clearest refuted."""
        alike = [row for row in self.rows if row.verdict is self.verdict]
        alike = clearest(alike) if self.verdict is Verdict.REFUTED else alike
        return next(iter(alike), self.rows[0])


def clearest(refuted: Iterable[Row]) -> list[Row]:
    """Return refuted rows: not sampled ones, clear ones, those of few steps, clients, digits."""

    def unclear(row: Row) -> tuple[Any, ...]:
        close = _compares(row) and row.ratio is not None and row.ratio < 1.01
        case, sampled = row.case, row.evidence is not None and row.evidence.by_chance
        parts = [of for of in case.values() if isinstance(of, Mapping)]
        values = {name: x for of in (*parts, case) for name, x in of.items()}
        sizes = [values.get(name) for name in ("rounds", "local_steps", "clients")]
        rounds, steps, clients = (x if isinstance(x, int) else 1 for x in sizes)
        digits = sum(map(str.isdigit, str(case.get("label"))))
        return sampled, close, rounds * steps, clients, digits

    return sorted(refuted, key=unclear)


def grouped(rows: Sequence[Row]) -> dict[str, list[Group]]:
    """Return each claim's forms with their rows, in the order of the rows."""
    by_form: dict[tuple[str, str, str, str], list[Row]] = {}
    for row in rows:
        by_form.setdefault((row.claim, row.form, row.reading, row.edition), []).append(row)
    by_claim: dict[str, list[Group]] = {}
    for (claim, form, reading, edition), members in by_form.items():
        group = Group(claim, form, reading, edition, members)
        by_claim.setdefault(claim, []).append(group)
    return by_claim


def statements(head: Mapping[str, Any], rows: Sequence[Row]) -> list[Statement]:
    """Return the printed statements of a run, with the verdict on each."""
    judged = []
    for claim, groups in grouped(rows).items():
        printed = [group for group in groups if group.form == "printed"]
        about = head["claims"].get(claim, {})
        told = about.get("counted", {}) | {"weakly_tested": _weakly_tested(printed)}
        readings = [group.as_reading for group in printed]
        judged.append(statement(claim, readings, about.get("erratum"), **told))
    return [one for one in judged if one is not None]


def _weakly_tested(printed: Sequence[Group]) -> bool:
    """Say whether all that supports a print was hardly tested."""
    admissible = [group for group in printed if group.as_reading.admissible]
    supported = [group for group in admissible if group.verdict is Verdict.SUPPORTED]
    return bool(supported) and all(group.weakly_tested for group in supported)


def over_class(row: Row) -> bool:
    """Say whether a row is of a whole class of functions."""
    problem = row.case.get("problem")
    return isinstance(problem, Mapping) and problem.get("name") == "class"


def _compares(row: Row) -> bool:
    """Say whether a row's ratio tells how tight a right side is."""
    return row.kind in ("bound", "existence") or over_class(row)


def equates(rows: Sequence[Row]) -> bool:
    """Say whether some row has certified numbers that should be equal, in place of a bound."""
    return any(equated(row) for row in rows)


def equated(row: Row) -> bool:
    """Say whether a row's certified numbers are two sides that should be equal."""
    return row.kind == "identity" or (row.kind != "bound" and isinstance(row.series, Compared))


def distance(row: Row) -> float:
    """Return the largest distance of an identity's two sides on one case (0 for a proof)."""
    return max(distances_of(row), default=0.0)


def distances_of(row: Row) -> list[float]:
    """Return the largest distance that the two sides of each comparison may have, relative."""
    if not isinstance(row.series, Compared):
        return []
    of = row.series
    return [_relative(*sides) for sides in zip(of.low, of.high, of.bound, of.size, strict=True)]


def _relative(low: float, high: float, value: float, size: float) -> float:
    """Return the largest distance that two sides may have over their size; ∞ if it is unknown."""
    if not all(map(isfinite, (low, high, value, size))):
        return inf
    return max(max(abs(low - value), abs(high - value)) / size if size else 0.0, NOTHING)


def drawable(number: float) -> bool:
    """Say whether a number has a place on a plot."""
    return abs(number) <= LARGEST_DRAWN


def number(value: float | None, digits: int = 4) -> str:
    """Return a number for a table: short, never rounded to a lie of 1.

    >>> number(0.25), number(1.0000001), number(123456.0), number(None)
    ('0.25', '1.0000001', '1.235e+05', '–')
    """
    if value is None:
        return "–"
    text = f"{value:.{digits}g}"
    if text == "1" and value != 1.0:
        return f"{value:.8g}"
    return text
