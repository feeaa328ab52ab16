"""What each function of a claim is called with; a function that takes something else is refused."""

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.readings import Stated
from driftproof.toolkit.user_traceback import line_of

TAKES: Mapping[str, tuple[str, ...]] = {
    "left": ("view",),
    "right": ("c",),
    "range": ("c",),
    "least": ("c",),
    "corrected": ("c",),
    "prove": ("right",),
    "compare": ("case", "right"),
}
"""What each function of a claim is called with."""


def check_signatures(claim: str, body: Mapping[str, Any]) -> None:
    """Check that the functions of a claim can be called as they will be.

    Args:
        claim: the claim's name.
        body: its fields.

    Raises:
        DriftproofError: one cannot; the message names its file and line.
    """
    # the claim's own functions call a right side as they see fit
    own = body.get("prove") is not None or body.get("compare") is not None
    for name, side, kind in _functions(body):
        takes = None if own and kind == "right" else TAKES[kind]
        _check(claim, name, side, takes)


def _functions(body: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
    """Yield what may be a function: what to call it, itself, and the kind in ``TAKES``."""
    sides = [(name, body.get(name), name) for name in TAKES]
    sides += [
        (f"reading {name!r}", side, "right") for name, side in body.get("readings", {}).items()
    ]
    sides += [
        (f"false sibling {name!r}", side, "right") for name, side in body.get("false_siblings", ())
    ]
    for name, side, kind in sides:
        kind = "right" if kind == "corrected" else kind
        yield name, side, kind
        if isinstance(side, Stated):
            for part in ("right", "left", "range"):
                yield f"{part} of {name}", getattr(side, part), part


def _check(claim: str, name: str, function: Any, takes: tuple[str, ...] | None) -> None:
    if not inspect.isfunction(function):
        return
    signature = inspect.signature(function)
    is_method = len(signature.parameters) > 1 and next(iter(signature.parameters)) == "self"
    if takes is None and not is_method:
        return
    try:
        signature.bind(*takes or ())
    except TypeError as error:
        code = function.__code__
        names = ", ".join(takes or [word for word in signature.parameters if word != "self"])
        anonymous = code.co_name == "<lambda>"
        remedy = f"let it take {names}, and nothing else without a default"
        if is_method:
            remedy = "remove self: the functions of a claim are no methods"
        raise DriftproofError(
            f"{code.co_filename}:{line_of(code)}: {name} of claim {claim} is "
            f"{'lambda ' if anonymous else code.co_name}{signature}",
            f"lambda {names}: …" if anonymous else f"def {code.co_name}({names})",
            remedy,
        ) from error
