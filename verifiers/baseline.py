"""Verdicts on record: one file a paper, written only by ``verify --record``."""

import json
import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from driftproof.toolkit.discover import leaves, package_folder
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.groups import Group, grouped
from driftproof.toolkit.statements import verdict_on
from driftproof.toolkit.verdict import Row, Verdict

Record = dict[str, dict[str, dict[str, str]]]
"""claim → form and reading → case key → verdict."""


FILE = "record.json"
ERRATA = "errata.json"


def folder() -> Path:
    """Return the folder of driftproof's papers, each with its files of the record."""
    return package_folder("driftproof.verifiers.papers")


def read() -> Record:
    """Return the verdicts on record.

    Raises:
        DriftproofError: a file of them cannot be read.
    """
    recorded: Record = {}
    for path in sorted(folder().glob(f"*/{FILE}")):
        try:
            recorded |= json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise DriftproofError(
                f"{path}: {error}", "the record that driftproof ships", "reinstall driftproof"
            ) from error
    return recorded


def errata() -> list[dict[str, Any]]:
    """Return the errata as ``python -m docs.generate`` wrote them: no claim is imported for it."""
    entries: list[dict[str, Any]] = json.loads((folder() / ERRATA).read_text(encoding="utf-8"))
    return entries


def refuted_on_record() -> list[tuple[str, str]]:
    """Return claim and form, by key, of everything that is on record as refuted."""
    return [
        (claim, form)
        for claim, forms in read().items()
        for form, cases in forms.items()
        if Verdict.REFUTED in cases.values()
    ]


def expected(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with the verdict on record, where there is one."""
    recorded = read()
    return [
        replace(
            row, expected=recorded.get(row.claim, {}).get(row.form_key, {}).get(row.case["key"])
        )
        for row in rows
    ]


def write(rows: Sequence[Row], profile: str) -> None:
    """Put the rows' verdicts on record; what was not run keeps its own.

    With the quick profile, a claim's whole record is replaced, so that no verdict of a case that
    is gone stays.
    """
    check_own({row.claim for row in rows} - set(leaves("claim")))
    recorded = read()
    if profile == "quick":
        for name in {row.claim for row in rows}:
            recorded.pop(name, None)
    for row in rows:
        recorded.setdefault(row.claim, {}).setdefault(row.form_key, {})[row.case["key"]] = (
            row.verdict
        )
    papers: dict[str, Record] = {path.parent.name: {} for path in folder().glob(f"*/{FILE}")}
    for claim, forms in recorded.items():
        papers.setdefault(claim.partition("/")[0], {})[claim] = forms
    for paper, entries in papers.items():
        path = folder() / paper / FILE
        text = json.dumps(entries, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise DriftproofError(
                f"{path}: {error.strerror}", "a record that can be written", "record in a checkout"
            ) from error


def check_own(strange: Collection[str]) -> None:
    """Raise DriftproofError if anything is to go on record that is none of driftproof's.

    Args:
        strange: claims or files of a user's own.
    """
    if strange:
        raise DriftproofError(
            f"--record with {', '.join(sorted(strange))}, of your own",
            "claims of driftproof",
            "keep your verdicts with your file: assert_claim in a test of yours",
        )


def check_writable() -> None:
    """Raise DriftproofError if the record cannot be written, before anything is judged."""
    if not os.access(folder(), os.W_OK):
        raise DriftproofError(
            f"{folder()}: it may not be written to",
            "a record that can be written",
            "record in a checkout",
        )


def as_expected(rows: Sequence[Row]) -> bool:
    """Say whether every verdict is the one on record, or good on its own where none is.

    A claim without a record is good if it is sound (``unsound``); of a form with a record, cases
    that are new to it must not be REFUTED unless it is on record so.
    """
    if any(row.expected is not None and row.verdict != row.expected for row in rows):
        return False
    forms: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        forms.setdefault((row.claim, row.form_key), []).append(row)
    recorded, new = read(), list[Row]()
    for (claim, form), members in forms.items():
        known = set(recorded.get(claim, {}).get(form, {}).values())
        verdicts = {row.verdict for row in members}
        if all(row.expected is None for row in members):
            new += members
        elif Verdict.REFUTED in verdicts and Verdict.REFUTED not in known:
            return False
    return not unsound(new)


def is_news(group: Group) -> bool:
    """Say whether the record does not say what became of a form.

    It has no record, some verdict differs from it, or a case that is new to it refutes it alone.
    """
    on_record = {row.expected for row in group.rows} - {None}
    refuted = Verdict.REFUTED in {row.verdict for row in group.rows}
    return not on_record or group.changed or (refuted and Verdict.REFUTED not in on_record)


def unsound(rows: Sequence[Row]) -> list[Group]:
    """Return the forms for which claims do not hold: a print's, if no fair reading of it does.

    Each corrected form has to be SUPPORTED. A print has to be in the best of its literal and
    intended readings, part by part; studies decide nothing.
    """
    bad: list[Group] = []
    for groups in grouped(rows).values():
        printed = [group for group in groups if group.form == "printed"]
        readings = [group.as_reading for group in printed]
        if printed and verdict_on(readings) is not Verdict.SUPPORTED:
            bad += [g for g in printed if g.as_reading.admissible and g.verdict != "SUPPORTED"]
        bad += [g for g in groups if g.form != "printed" and g.verdict is not Verdict.SUPPORTED]
    return bad
