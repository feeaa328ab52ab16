"""A claim as every page shows it: what its file says, and what became of each of its forms.

A view is made of a run's head and rows; the rows may be those on record
(``verifiers.in_print.errata.on_record``).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from driftproof.toolkit.groups import Group, grouped, statements
from driftproof.toolkit.report.listed import listed
from driftproof.toolkit.statements import Statement
from driftproof.toolkit.verdict import Row, Verdict, together

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
        fields = ("journal", "booktitle", "howpublished", "note", "year")
        place = next((self._field(name) for name in fields[:3] if self._field(name)), "")
        number = f"arXiv:{self._field('eprint')}" if self._field("eprint") else ""
        note, year = self._field("note"), self._field("year")
        parts = (listed(authors), self.title, place, note, number, year)
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
class ClaimView:
    """One claim, as the page, a notebook, the documentation and the commands show it.

    Attributes:
        name: ``paper/statement``.
        about: what is known before anything is run (``verifiers.in_print.entry``).
        forms: its forms, each with its rows and its verdict.
        printed: what is printed of it, with the verdict (None: it is a result of our own).
    """

    name: str
    about: Mapping[str, Any]
    forms: Sequence[Group]
    printed: Statement | None

    @property
    def paper(self) -> str:
        """What its name begins with."""
        return self.name.partition("/")[0]

    @property
    def corrected(self) -> Group | None:
        """The form that is claimed instead of the print (None: there is none)."""
        return next((form for form in self.forms if form.form == "corrected"), None)

    @property
    def verdict(self) -> Verdict:
        """The verdict that stands for it: on its print, else on what it states."""
        if self.printed is not None:
            return self.printed.verdict
        return together(form.verdict for form in self.forms if form.form != "sibling")

    @property
    def headline(self) -> list[tuple[Verdict, str]]:
        """The verdict, or both where another stands to the letter, with what each is of."""
        return self.printed.headline if self.printed is not None else [(self.verdict, "")]

    @property
    def references(self) -> list[Reference]:
        """The documents that its source names."""
        return [Reference(*entry) for entry in self.about.get("papers", ())]

    @property
    def holds(self) -> list[str]:
        """The readings by which the print holds."""
        readings = self.printed.readings if self.printed is not None else ()
        return [r.reading for r in readings if r.admissible and r.verdict is Verdict.SUPPORTED]


def views(head: Mapping[str, Any], rows: Sequence[Row]) -> dict[str, ClaimView]:
    """Return the claims of a run by name, in the order of their rows; then those without rows."""
    printed, forms = {one.claim: one for one in statements(head, rows)}, grouped(rows)
    return {
        name: ClaimView(name, head["claims"].get(name, {}), forms.get(name, ()), printed.get(name))
        for name in dict.fromkeys((*forms, *head["claims"]))
    }


def anchor(claim: str) -> str:
    """Return the anchor of a claim on a page of its own, or among the errata.

    >>> anchor("scgdm/lemma-a.1")
    'scgdm-lemma-a-1'
    """
    return re.sub(r"[^a-z0-9]+", "-", claim)
