"""Controls: the checks must refuse what is false, and must not refuse what is true."""

from collections.abc import Sequence
from dataclasses import dataclass

from driftproof.toolkit.groups import grouped
from driftproof.toolkit.verdict import Row, Verdict
from driftproof.verifiers import baseline


@dataclass(frozen=True)
class Check:
    """One control and what became of it.

    Attributes:
        control: the false sibling, or the form of the claim itself.
        good: a sibling was REFUTED; the claim's own form was not, unless it is on record as false.
        recorded: whether a verdict on the form is on record (a sibling needs none).
    """

    claim: str
    control: str
    verdict: str
    good: bool
    recorded: bool = True

    @property
    def answer(self) -> str:
        """Whether it is as it must be, in a word or two."""
        return "yes" if self.good else "NO" if self.recorded else "not on record"


def checked(rows: Sequence[Row]) -> list[Check]:
    """Return the controls of some rows, with siblings among them."""
    recorded, checks = baseline.read(), []
    for claim, groups in grouped(rows).items():
        for group in groups:
            verdict, known = group.verdict, recorded.get(claim, {}).get(group.title, {})
            if group.form == "sibling":
                name, good = f"false: {group.reading}", verdict is Verdict.REFUTED
            else:
                name = group.title
                good = verdict is not Verdict.REFUTED or Verdict.REFUTED in known.values()
            needless = group.form == "sibling" or verdict is not Verdict.REFUTED
            checks.append(Check(claim, name, str(verdict), good, needless or bool(known)))
    return checks
