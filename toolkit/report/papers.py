"""A run paper by paper: what became of each, the worst findings first, and citations."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from driftproof.toolkit.report.claim_view import ClaimView, Reference
from driftproof.toolkit.statements import Statement, badness, by_severity, sentences, worst_first
from driftproof.toolkit.verdict import Verdict


@dataclass(frozen=True)
class Paper:
    """The claims on one paper: those whose names begin with it.

    Attributes:
        name: what their names begin with.
        claims: all of them.
        reference: the document that half of them cite or more (None: there is none).
    """

    name: str
    claims: Sequence[ClaimView]
    reference: Reference | None

    @property
    def statements(self) -> list[Statement]:
        """What is printed among them."""
        return [one.printed for one in self.claims if one.printed is not None]

    @property
    def line(self) -> str:
        """What became of it, in one line."""
        counted = sentences(self.statements)
        verdicts = Counter(one.verdict for one in counted)
        found = [
            f"{verdicts[verdict]} {verdict.lower()}" for verdict in Verdict if verdicts[verdict]
        ]
        errata = [f"{n} {severity}" for severity, n in by_severity(self.statements).items() if n]
        ours = len(self.claims) - len(self.statements)
        count = len(counted)
        line = f"{count} printed statement{'s' * (count != 1)}"
        line += f": {', '.join(found)}" * bool(found)
        published = all(one.published for one in counted)  # then they are no errata of ours
        line += f"; errata: {', '.join(errata)}" * (bool(errata) and not published)
        return line + f"; {ours} of our own" * bool(ours) + "."


def references(claims: Iterable[ClaimView]) -> list[Reference]:
    """Return every document that some claim names, each once, by its tag."""
    found = {one.tag: one for claim in claims for one in claim.references}
    return [found[tag] for tag in sorted(found)]


def by_paper(claims: Iterable[ClaimView]) -> list[Paper]:
    """Return claims by the papers that they are on."""
    papers: dict[str, list[ClaimView]] = {}
    for claim in claims:
        papers.setdefault(claim.paper, []).append(claim)
    made = []
    for name, members in papers.items():
        cited = Counter(one for claim in members for one in claim.references)
        most, count = cited.most_common(1)[0] if cited else (None, 0)
        made.append(Paper(name, members, most if 2 * count >= len(members) else None))
    return made


def findings(printed: Iterable[Statement]) -> list[tuple[Statement, list[Statement]]]:
    """Return the mistakes in print, each with the statements that inherit it, the worst first.

    Of equals that which most others inherit comes first. Where the statement that one is counted
    at is not in this run, it stands for itself.
    """
    mistaken = {one.claim: one for one in worst_first(printed)}
    found = [
        (one, [heir for heir in mistaken.values() if heir.same_as == one.claim])
        for one in mistaken.values()
        if one.same_as not in mistaken
    ]
    return sorted(found, key=lambda each: (*badness(each[0])[:2], -len(each[1])))
