"""A run paper by paper: what became of each, the worst findings first, and citations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from driftproof.toolkit.statements import (
    Statement,
    badness,
    by_severity,
    sentences,
    worst_first,
)
from driftproof.toolkit.verdict import Verdict

FIELD = re.compile(r"^\s*(\w+)\s*=\s*[{\"](.*?)[}\"],?$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Reference:
    """A document that claims cite.

    Attributes:
        tag: what sources call it, as "arXiv v1".
        what: what it is, as "the preprint".
        bibtex: its entry.
    """

    tag: str
    what: str
    bibtex: str

    @property
    def title(self) -> str:
        """Its title ("": the entry has none)."""
        return self._field("title")

    @property
    def link(self) -> str:
        """Where it can be read: on arXiv, or at its ``url`` ("": the entry has neither)."""
        number = self._field("eprint")
        return f"https://arxiv.org/abs/{number}" if number else self._field("url")

    @property
    def citation(self) -> str:
        """Authors, title, where and when it appeared, as a list of references has it."""
        authors = [_in_order(name) for name in self._field("author").split(" and ") if name]
        several = (
            ", ".join(authors[:-1]) + f" and {authors[-1]}" if authors[1:] else "".join(authors)
        )
        fields = ("journal", "booktitle", "howpublished", "note", "year")
        place = next((self._field(name) for name in fields[:3] if self._field(name)), "")
        number = f"arXiv:{self._field('eprint')}" if self._field("eprint") else ""
        parts = (several, self.title, place, self._field("note"), number, self._field("year"))
        return ". ".join(part for part in parts if part) + "."

    def _field(self, name: str) -> str:
        fields = {key.lower(): value for key, value in FIELD.findall(self.bibtex)}
        return " ".join(fields.get(name, "").translate({ord("{"): None, ord("}"): None}).split())


def _in_order(name: str) -> str:
    """Return BibTeX's "Family, Given" in the order that it is said.

    >>> _in_order("Huang, Feihu"), _in_order("Feihu Huang")
    ('Feihu Huang', 'Feihu Huang')
    """
    family, comma, given = name.strip().partition(", ")
    return f"{given} {family}" if comma else family


@dataclass(frozen=True)
class Paper:
    """The claims on one paper: those whose names begin with it.

    Attributes:
        name: what their names begin with.
        claims: their names.
        statements: what is printed among them.
        reference: the document that half of them cite or more (None: there is none).
    """

    name: str
    claims: Sequence[str]
    statements: Sequence[Statement]
    reference: Reference | None

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


@dataclass(frozen=True)
class Finding:
    """A mistake in print, and the statements that inherit it."""

    statement: Statement
    also: Sequence[Statement]


def references(head: Mapping[str, Any]) -> list[Reference]:
    """Return every document that a claim names, each once, by its tag."""
    found = {
        tag: Reference(tag, what, entry)
        for about in head["claims"].values()
        for tag, what, entry in about.get("papers", ())
    }
    return [found[tag] for tag in sorted(found)]


def by_paper(
    head: Mapping[str, Any], claims: Iterable[str], printed: Iterable[Statement]
) -> list[Paper]:
    """Return the claims of a run by the papers that they are on."""
    named: dict[str, list[str]] = {}
    for claim in claims:
        named.setdefault(claim.partition("/")[0], []).append(claim)
    known = {one.claim: one for one in printed}
    papers = []
    for name, members in named.items():
        cited = Counter(
            tuple(entry)
            for claim in members
            for entry in head["claims"].get(claim, {}).get("papers", ())
        )
        entry, count = cited.most_common(1)[0] if cited else (None, 0)
        reference = Reference(*entry) if entry and 2 * count >= len(members) else None
        own = [known[claim] for claim in members if claim in known]
        papers.append(Paper(name, members, own, reference))
    return papers


def findings(printed: Iterable[Statement]) -> list[Finding]:
    """Return the mistakes in print, the worst first; of equals, that which most others inherit."""
    mistaken = {one.claim: one for one in worst_first(printed)}
    heirs: dict[str, list[Statement]] = {}
    for one in mistaken.values():
        # where the statement that it is counted at is not in this run, it stands for itself
        if one.same_as in mistaken:
            heirs.setdefault(one.same_as, []).append(one)
    found = [
        Finding(one, heirs.get(one.claim, ()))
        for one in mistaken.values()
        if one.same_as not in mistaken
    ]
    return sorted(found, key=lambda f: (*badness(f.statement)[:2], -len(f.also)))
