"""The verdict on a printed statement: that of its readings, taken together.

A statement may have several parts, and each part several readings. Only literal and intended
readings decide. A part is as good as the best of them, since a fair referee reads a print as its
author would defend it; a statement is as good as the worst of its parts.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from driftproof.toolkit.readings import DEPENDS, SEVERITIES, ReadingKind
from driftproof.toolkit.verdict import Verdict

BEST_FIRST = (Verdict.SUPPORTED, Verdict.INCONCLUSIVE, Verdict.REFUTED, Verdict.INAPPLICABLE)
"""A reading that no case could meet saves no other: it comes last."""
WORST_LAST = (Verdict.INAPPLICABLE, Verdict.SUPPORTED, Verdict.INCONCLUSIVE, Verdict.REFUTED)
"""How the parts of a sentence that are claims of their own are put together."""


@dataclass(frozen=True)
class ReadingVerdict:
    """One reading of the print, with its verdict."""

    reading: str
    reading_kind: str
    part: str
    verdict: Verdict
    empty_hypothesis: bool = False

    @property
    def fails(self) -> bool:
        """Whether it is refuted, or speaks of nothing at all."""
        return self.verdict is Verdict.REFUTED or self.empty_hypothesis

    @property
    def admissible(self) -> bool:
        """Whether it decides about the print."""
        return ReadingKind(self.reading_kind).admissible


@dataclass(frozen=True)
class Statement:
    """What one claim says of the print, with the verdict on it.

    Attributes:
        severity: of its erratum (None: it has none); ``changes``, ``depends``, ``same_as`` and
            ``one_character`` are the erratum's.
        sentence, display: the claim's.
        published: whether others have published what is wrong with it: it tests the verdicts, and
            is no finding.
        weakly_tested: whether it is supported by cases that could hardly have refuted it.
    """

    claim: str
    verdict: Verdict
    severity: str | None = None
    changes: str = ""
    depends: str = ""
    same_as: str = ""
    one_character: bool = False
    sentence: str = ""
    display: bool = False
    published: bool = False
    weakly_tested: bool = False
    readings: tuple[ReadingVerdict, ...] = ()

    @property
    def shown(self) -> bool:
        """Whether the verdicts show a failure of the print, as its erratum says there is one."""
        return any(reading.fails for reading in self.readings)

    @property
    def headline(self) -> list[tuple[Verdict, str]]:
        """The verdict; where another stands to the letter, both, with the readings that have it.

        >>> literal = ReadingVerdict("the product", "literal", "", Verdict.REFUTED)
        >>> meant = ReadingVerdict("the sum", "intended", "", Verdict.SUPPORTED)
        >>> said = Statement("a/b", Verdict.SUPPORTED, readings=(literal, meant)).headline
        >>> [(str(verdict), how) for verdict, how in said]
        [('REFUTED', 'to the letter (the product)'), ('SUPPORTED', 'as meant (the sum)')]
        """
        literal = [one for one in self.readings if one.reading_kind == ReadingKind.LITERAL]
        letter = verdict_on(literal) if literal else self.verdict
        if letter is self.verdict:
            return [(self.verdict, "")]
        meant = [one for one in self.readings if one.reading_kind == ReadingKind.INTENDED]
        return [
            (verdict, f"{how} ({'; '.join(o.reading for o in own if o.verdict is verdict)})")
            for verdict, how, own in (
                (letter, "to the letter", literal),
                (self.verdict, "as meant", meant),
            )
        ]

    def public(self) -> dict[str, Any]:
        """Return the statement as ``results.json`` has it."""
        return asdict(self) | {"readings": [asdict(reading) for reading in self.readings]}


def verdict_on(readings: Iterable[ReadingVerdict]) -> Verdict:
    """Return the verdict on a print from those on its readings.

    >>> literal = ReadingVerdict("as printed", "literal", "", Verdict.REFUTED)
    >>> meant = ReadingVerdict("with the plus sign", "intended", "", Verdict.SUPPORTED)
    >>> study = ReadingVerdict("for every member", "wider", "", Verdict.REFUTED)
    >>> str(verdict_on([literal, study])), str(verdict_on([literal, meant, study]))
    ('REFUTED', 'SUPPORTED')
    """
    parts: dict[str, list[Verdict]] = {}
    for reading in readings:
        if reading.admissible:
            parts.setdefault(reading.part, []).append(reading.verdict)
    best = [min(verdicts, key=BEST_FIRST.index) for verdicts in parts.values()]
    if Verdict.REFUTED in best:
        return Verdict.REFUTED
    if all(verdict is Verdict.INAPPLICABLE for verdict in best):
        return Verdict.INAPPLICABLE
    # a part that was never run leaves the whole open
    whole = all(verdict is Verdict.SUPPORTED for verdict in best)
    return Verdict.SUPPORTED if whole else Verdict.INCONCLUSIVE


def statement(
    claim: str,
    readings: Iterable[ReadingVerdict],
    erratum: Mapping[str, Any] | None = None,
    **told: Any,
) -> Statement | None:
    """Return the statement of a claim (None: nothing of it is printed, it is a result of ours).

    ``told`` is what else a statement has: sentence, display, weakly_tested.
    """
    every = tuple(readings)
    if not every:
        return None
    return Statement(claim, verdict_on(every), **(erratum or {}), **told, readings=every)


def at_odds(one: Statement) -> str:
    """Say how an erratum and the verdicts on the readings contradict each other ("": they do not).

    >>> held = (ReadingVerdict("as printed", "literal", "", Verdict.SUPPORTED),)
    >>> at_odds(Statement("a/b", Verdict.SUPPORTED, "false", "all of it", readings=held))
    'its erratum says false, but no literal reading fails'
    """
    fails = any(r.fails for r in one.readings if r.reading_kind == ReadingKind.LITERAL)
    own = [r for r in one.readings if r.admissible]
    print_fails = one.verdict is Verdict.REFUTED or all(r.empty_hypothesis for r in own)
    if one.severity is None:
        return "a literal reading fails, and it has no erratum" if fails else ""
    if not fails:
        return f"its erratum says {one.severity}, but no literal reading fails"
    if (one.severity == "false") != print_fails:
        return f"its erratum says {one.severity}, but its verdict as printed is {one.verdict}"
    return ""


def findings_among(statements: Iterable[Statement]) -> list[Statement]:
    """Return what a page counts: statements whose errors others published only if it has no other.

    >>> ours, known = (Statement(n, Verdict.REFUTED, published=n == "b") for n in "ab")
    >>> [one.claim for one in findings_among([ours, known])], len(findings_among([known]))
    (['a'], 1)
    """
    every = list(statements)
    return [one for one in every if not one.published] or every


def worst_first(statements: Iterable[Statement]) -> list[Statement]:
    """Return the statements that have an erratum, sorted by its severity.

    Of one severity those come first on which most depends.
    """
    return sorted((s for s in statements if s.severity is not None), key=badness)


def badness(one: Statement) -> tuple[int, int, str, str]:
    """Return what sorts an erratum among the others: less is worse."""
    most = [*DEPENDS, ""].index(one.depends)
    return list(SEVERITIES).index(str(one.severity)), most, one.same_as, one.claim


def sentences(statements: Iterable[Statement]) -> list[Statement]:
    """Return the printed sentences: the parts and readings of one count once, as their worst.

    >>> held, left_open = Verdict.SUPPORTED, Verdict.INCONCLUSIVE
    >>> both = Statement("a/rate", left_open), Statement("a/half", held, sentence="a/rate")
    >>> [(one.claim, str(one.verdict)) for one in sentences(both)]
    [('a/rate', 'INCONCLUSIVE')]
    """
    known = {one.claim: one for one in statements}
    made: dict[str, Statement] = {}
    for one in known.values():
        name = one.sentence if one.sentence in known else one.claim
        worst = max(one.verdict, made.get(name, known[name]).verdict, key=WORST_LAST.index)
        made[name] = replace(known[name], verdict=worst)
    return list(made.values())


def mistakes(statements: Iterable[Statement]) -> Counter[tuple[str, str]]:
    """Count mistakes by kind and by what depends on them: one that stands in several places once.

    It is the one rule by which mistakes are counted; those on which a theorem depends matter most.
    """
    return Counter(
        (one.severity, one.depends)
        for one in statements
        if one.severity is not None and not one.same_as
    )


def by_severity(statements: Iterable[Statement]) -> dict[str, int]:
    """Count mistakes by their kind alone."""
    counts = mistakes(statements)
    return {
        severity: sum(n for (kind, _), n in counts.items() if kind == severity)
        for severity in SEVERITIES
    }
