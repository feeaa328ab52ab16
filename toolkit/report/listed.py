"""Several things in one sentence."""

from collections.abc import Sequence


def listed(things: Sequence[str]) -> str:
    """Return things with commas between them, and an "and" before the last.

    >>> listed(["the multipliers", "the squares", "the last term"]), listed(["one"]), listed([])
    ('the multipliers, the squares and the last term', 'one', '')
    """
    return " and ".join([", ".join(things[:-1])] * bool(things[1:]) + [*things[-1:]])
