"""What a judge said of statements whose truth is known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from driftproof.toolkit.verdict import Verdict


@dataclass(frozen=True)
class Judged:
    """One synthetic statement: whether it is true, and the verdict it got."""

    what: str
    true: bool
    verdict: Verdict

    @property
    def wrong(self) -> bool:
        """Whether a true statement was refuted or a false one supported."""
        return self.verdict is (Verdict.REFUTED if self.true else Verdict.SUPPORTED)


@dataclass(frozen=True)
class Count:
    """How often a judge was wrong, both ways, and how often it said nothing."""

    true: int
    refuted: int
    true_open: int
    false: int
    supported: int
    false_open: int

    @classmethod
    def of(cls, judged: Iterable[Judged]) -> Count:
        """Count verdicts."""
        judged = list(judged)
        parts = []
        for truth, error in ((True, Verdict.REFUTED), (False, Verdict.SUPPORTED)):
            verdicts = [one.verdict for one in judged if one.true is truth]
            said = (Verdict.SUPPORTED, Verdict.REFUTED)
            parts += [len(verdicts), verdicts.count(error)]
            parts.append(sum(verdict not in said for verdict in verdicts))
        return cls(*parts)
