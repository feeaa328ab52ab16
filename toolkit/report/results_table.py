"""Results as one table: a line for each row of ``results.json``, a column for all that it says."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.frames import frame_of
from driftproof.toolkit.verdict import Row

if TYPE_CHECKING:
    import pandas

NAMED = {"lhs": "lhs.", "machine_checked": "machine_checked.", "instance": "letter.", "case": ""}
"""What a row holds by name, and how the names of its columns begin."""
CASE = {"key": "case_key", "label": "case"}
"""What a case's own columns are called, beside those of its parts."""


def table_of(results: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return columns of equal length; a column has numbers alone, or words, or flags.

    ``lhs.mean`` is the left side, ``problem.clients`` a parameter, ``letter.tau`` a letter's value.
    What every row has comes first.

    >>> table_of([{"claim": "a", "case": {"problem": {"clients": 2}}}, {"claim": "b", "case": {}}])
    {'claim': ['a', 'b'], 'problem.clients': [2, None]}
    """
    flat = [dict(_flat(row)) for row in results]
    names = list(dict.fromkeys(name for row in flat for name in row))
    first = [name for name in names if "." not in name or name.startswith("lhs.")]
    rest = [name for name in names if name not in first]
    return {name: _of_one_kind([row.get(name) for row in flat]) for name in [*first, *rest]}


def _flat(row: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    for name, value in row.items():
        if name not in NAMED:
            yield name, _cell(value)
        elif value is not None:
            names = CASE if name == "case" else {}
            yield from _within(NAMED[name], {names.get(x, x): y for x, y in value.items()})


def _within(lead: str, values: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _within(f"{lead}{name}.", value)
        else:
            yield f"{lead}{name}", _cell(value)


def _cell(value: Any) -> Any:
    """Return a value that fits a cell: a list becomes its members, apart by semicolons."""
    if isinstance(value, list | tuple):
        plain = all(isinstance(x, str | int | float) for x in value)
        return "; ".join(map(str, value)) if plain else json.dumps(value, default=str)
    return value


def _of_one_kind(values: list[Any]) -> list[Any]:
    """Return a column's values: as words, where it has words beside numbers."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float}:
        return [float(x) if x is not None and float in kinds else x for x in values]
    return values if len(kinds) < 2 else [None if x is None else str(x) for x in values]


def csv_of(columns: Mapping[str, Sequence[Any]]) -> str:
    r"""Return columns as CSV, with names on the first line; what is missing is empty.

    >>> csv_of({"x": [1, None], "say": ["a,b", "c"]})
    'x,say\n1,"a,b"\n,c\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


UNREADABLE = (
    OSError,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What is raised of a results.json that is none."""


def frame(results: str | Path | Sequence[Row]) -> pandas.DataFrame:
    """Return results as a pandas frame, a line for each case of each form.

    Args:
        results: the folder that ``driftproof verify`` has written, or the rows of ``verify(…)``.

    Raises:
        MissingError: pandas is not installed.
        DriftproofError: the folder has no results.json that can be read.
    """
    if not isinstance(results, str | Path):
        return frame_of(table_of([row.public() for row in results]))
    path = Path(results) / "results.json"
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["results"]
        return frame_of(table_of(rows))
    except UNREADABLE as error:
        raise DriftproofError(
            f"{path}: {error}",
            "a folder that driftproof verify has written",
            "driftproof report DIR writes it again from the ledger",
        ) from error
