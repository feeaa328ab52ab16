"""Tables for pandas, which is an extra: without it, the error says how to install it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from driftproof.toolkit.errors import MissingError

if TYPE_CHECKING:
    import pandas


def frame_of(columns: Mapping[str, Sequence[Any]]) -> pandas.DataFrame:
    """Return columns as a pandas frame.

    Raises:
        MissingError: pandas is not installed.
    """
    try:
        import pandas
    except ImportError as error:
        raise MissingError(
            "pandas, which frames are made of, is not installed",
            "pandas beside driftproof",
            "pip install pandas",
        ) from error
    return pandas.DataFrame({name: list(values) for name, values in columns.items()})
