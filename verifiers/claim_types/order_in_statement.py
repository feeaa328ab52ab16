r"""Statements of rates: the order in the statement is the one that is judged.

A rate's statement is written with ``\order`` where the paper prints what stands inside 𝒪(…). It is
replaced by the LaTeX of the printed form's order, so that the text on the page and the exponent
that is tested have one source.
"""

import re
from collections.abc import Iterable
from typing import Any

from driftproof.toolkit.errors import DriftproofError

PLACE = r"\order"
_BIG_O = re.compile(r"(?:\\mathcal\s*\{?\s*O\s*\}?|(?<![A-Za-z\\])O)\s*(?:\\[Bb]igg?l?)?\s*\(\s*")
_CONDITIONS = re.compile(r":(?:\\q?quad\b)?|\\q?quad\b")
"""What ends the conditions before a left side."""


def with_order(name: str, statement: str, printed: Iterable[Any]) -> str:
    r"""Return a rate's statement with its order in place of ``\order``.

    Args:
        printed: the right sides of the printed forms; the first that is a Schedule has the order.

    Raises:
        DriftproofError: the statement has no ``\order``, or an 𝒪(…) of something else.
    """
    remedy = r"write statement=r'… = \mathcal O(\order)' and the order in the Schedule"
    if PLACE not in statement:
        wanted = rf"{PLACE} where the order stands, so that the text shown is what is judged"
        raise DriftproofError(f"the statement of rate {name} without {PLACE}", wanted, remedy)
    for match in _BIG_O.finditer(statement):
        if not statement.startswith(PLACE, match.end()):
            shown = statement[match.start() : match.end() + 20]
            raise DriftproofError(
                f"{shown!r} in the statement of rate {name}",
                rf"𝒪({PLACE}) and no other order",
                remedy,
            )
    order = next((right.latex() for right in printed if hasattr(right, "latex")), None)
    if order is None:
        raise DriftproofError(
            f"no printed form of rate {name} has an order",
            "a Schedule, with the printed order",
            "write right = Schedule(letters, order), from driftproof.verifiers.judges.rates",
        )
    return statement.replace(PLACE, order)


def has_order(statement: str) -> str:
    r"""Return the LaTeX of what a rate's statement says has an order, for a plot's axis.

    >>> has_order(r"\eta = 1:\quad \frac1T\sum_t\|\nabla F(x_t)\|^2 \le O(\frac1{\sqrt T})")
    '\\frac1T\\sum_t\\|\\nabla F(x_t)\\|^2'
    """
    before, *_ = _BIG_O.split(statement)
    *_, left = _CONDITIONS.split(re.sub(r"\s*(=|\\leq?)\s*$", "", before.rstrip()))
    return left.strip()
