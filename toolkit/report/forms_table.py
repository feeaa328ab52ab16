"""The table of verdicts, a line for each form, as a terminal and a notebook show it."""

from collections.abc import Iterable, Sequence

from driftproof.toolkit.groups import Group, grouped
from driftproof.toolkit.readings import ReadingKind
from driftproof.toolkit.verdict import Evidence, Row, Verdict

COLUMNS = ("claim", "form", "verdict", "evidence", "cases", "tightness", "")
"""The heads; the last one, of what a reader should know besides, has no name."""
SPARE = ("evidence", "cases")
"""The columns that may be left out where there is no room, the first of them first."""


def cells(group: Group) -> list[str]:
    """Return a form's line of the table."""
    return [
        group.claim,
        group.title,
        str(group.verdict),
        group.evidence or "–",
        group.cases,
        group.tightness,
        notes(group),
    ]


def notes(group: Group) -> str:
    """Return what a reader of a form's line should know beside its verdict."""
    kind = group.reading_kind
    notes = {
        "intended": kind == ReadingKind.INTENDED,
        f"study: {kind}": kind in (ReadingKind.NARROWER, ReadingKind.WIDER),
        group.rows[0].part: group.form == "corrected" and group.rows[0].part,
        "attained": group.attained,
        "weakly tested": group.weakly_tested,
        "no instance can meet it": group.empty,
        "not as on record": group.changed,
    }
    return ", ".join(note for note, holds in notes.items() if holds)


def reasons(forms: Iterable[Group]) -> list[str]:
    """Return lines that say why forms have their verdicts, and of which case of several."""
    lines = []
    for form in forms:
        if form.reason:
            lines.append(f"{form.claim}, {form.title}: {form.reason}")
            several = len(form.rows) > 1
            if "problem" in form.deciding.case and (several or form.verdict is Verdict.REFUTED):
                of = f", one of {len(form.rows)}" * (
                    several and form.verdict is not Verdict.REFUTED
                )
                lines.append(f"    case: {form.deciding.case['label']}{of}")
    return lines


def meaning(rows: Sequence[Row], folder: str) -> list[str]:
    """Return in sentences what SUPPORTED means of these rows: on cases, or proved of a class.

    Args:
        folder: where a page of these rows is, or will be, with their certificates.
    """
    supported = [row for row in rows if row.verdict is Verdict.SUPPORTED]
    seen = {row.evidence for row in supported}
    forms = [group for groups in grouped(rows).values() for group in groups]
    lines = []
    on_cases = any(kind is None or not kind.proves for kind in seen)
    if on_cases and any(form.verdict is Verdict.SUPPORTED for form in forms):
        lines.append("SUPPORTED means: on these cases.")
    lines += [
        f"SUPPORTED by {kind} evidence is proved {kind.proves}."
        for kind in Evidence
        if kind.proves and kind in seen
    ]
    if any(row.proofs for row in supported):
        lines[-1] += f" A check without a solver: driftproof check {folder}/certificates/*"
    return lines


def chance(union_bound: float | None) -> str:
    """Return in words how probable it is that sampling made a verdict wrong."""
    at_most = f"at most {union_bound:.2g}" if union_bound else "none was sampled"
    return f"Chance that sampling made any verdict wrong: {at_most}."
