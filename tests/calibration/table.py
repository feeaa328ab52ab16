"""How often each kind of judge is wrong on statements whose truth is known: the table of a kind.

A further kind of judge is a further entry of ``KINDS``: a function from (statements, seed) to
judged statements.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from driftproof.toolkit.verdict import Verdict


class Judged(NamedTuple):
    """One statement: whether it is true, and the verdict it got."""

    what: str
    true: bool
    verdict: Verdict

    @property
    def said(self):
        return self.verdict in (Verdict.SUPPORTED, Verdict.REFUTED)

    @property
    def wrong(self):
        return self.verdict is (Verdict.REFUTED if self.true else Verdict.SUPPORTED)


def counted(judged):
    """Return true, refuted, undecided, false, supported, undecided."""
    counts = Counter((one.true, "wrong" if one.wrong else one.said) for one in judged)
    return tuple(
        number
        for truth in (True, False)
        for number in (
            sum(n for (true, _), n in counts.items() if true is truth),
            counts[truth, "wrong"],
            counts[truth, False],
        )
    )
