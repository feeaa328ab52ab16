"""Verdicts on record: one file beside the package, written only by ``verify --record``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from toolkit.discover import package_folder
from toolkit.errors import DriftproofError
from toolkit.verdict import Row, Verdict

Record = dict[str, dict[str, dict[str, str]]]
"""claim → form and reading → case key → verdict."""


def path() -> Path:
    """Return the record's file."""
    return package_folder("verifiers") / "record.json"


def read() -> Record:
    """Return the verdicts on record."""
    try:
        held: Record = json.loads(path().read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise DriftproofError(
            f"{path()}: {error}", "the record that driftproof ships", "reinstall driftproof"
        ) from error
    return held


def form_key(row: Row) -> str:
    """Return the key of a row's form and reading."""
    return f"{row.form}: {row.reading}" if row.reading else row.form


def expected(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with the verdict on record, where there is one."""
    held = read()
    return [
        replace(
            row,
            expected=held.get(row.claim, {}).get(form_key(row), {}).get(row.case["key"]),
        )
        for row in rows
    ]


def write(rows: Sequence[Row]) -> None:
    """Put the rows' verdicts on record; what was not run keeps its own."""
    held = read()
    for row in rows:
        held.setdefault(row.claim, {}).setdefault(form_key(row), {})[row.case["key"]] = row.verdict
    text = json.dumps(held, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    try:
        path().write_text(text, encoding="utf-8")
    except OSError as error:
        raise DriftproofError(
            f"{path()}: {error.strerror}", "a record that can be written", "record in a checkout"
        ) from error


def as_expected(rows: Sequence[Row]) -> bool:
    """Say whether every verdict is the one on record, or good on its own where none is.

    A claim without a record is good if it has a SUPPORTED verdict that is not vacuous and no
    REFUTED; of a claim with a record, cases that are new to it must not be REFUTED unless their
    form is on record as REFUTED.
    """
    if any(row.expected is not None and row.verdict != row.expected for row in rows):
        return False
    held = read()
    for row in rows:
        known = held.get(row.claim, {}).get(form_key(row), {}).values()
        if row.verdict is Verdict.REFUTED and row.expected is None and Verdict.REFUTED not in known:
            return False
    fresh = {row.claim for row in rows} - set(held)
    solid = {row.claim for row in rows if row.verdict is Verdict.SUPPORTED and not row.vacuous}
    return fresh <= solid
