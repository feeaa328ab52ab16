r"""Pages whose marks are filled: ``<!-- KIND: NAME -->``, what is written for it, ``<!-- end -->``.

A kind is a macro of ``pages.md.j2``, which is given the name: ``claim`` says what a claim says of
itself, ``errata`` what became of a paper, ``figure`` what became of an experiment, and so on. What
stands outside the marks is written by hand. Formulas stand in blocks of kind ``math``, which GitHub
gives to MathJax as they are: between ``$$`` it would first read ``\|`` as an escape of Markdown.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

import jinja2

from docs.generate import literature, proofs, runs
from docs.generate.errata import ROOT, bibtex, instance, sides
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError, unknown_name
from driftproof.toolkit.groups import Group
from driftproof.toolkit.readings import DEPENDS, SEVERITIES
from driftproof.toolkit.report.claim_view import ClaimView, anchor
from driftproof.toolkit.report.lines import fitting
from driftproof.toolkit.report.page import first_sentence
from driftproof.toolkit.statements import mistakes, sentences, worst_first
from driftproof.verifiers.counterexamples import scripts
from driftproof.verifiers.in_print.errata import of_papers, on_record

DOCS = Path(__file__).parents[1]
PAGES = sorted([*DOCS.glob("*.md"), *DOCS.glob("errata/*.md")])
MARK = re.compile(r"<!-- (\w+): (\S+) -->\n(.*?)<!-- end -->", re.S)


def written(text: str, made: Mapping[str, runs.Head] = {}) -> str:
    """Return a page with everything between its marks written again.

    A claim of a paper whose errata the page has, and an experiment that was run, get a mark at its
    end if they have none.

    Args:
        made: finished runs by experiment; what the page says of others stays.

    Raises:
        DriftproofError: a mark without its end, or of a kind or a name that there is not.
    """
    own = [name for name in leaves("claim") if name.partition("/")[0] in named(text, "errata")]
    for name in sorted({*own} - {*named(text, "claim")}):
        text = f"{text.rstrip()}\n\n<!-- claim: {name} -->\n<!-- end -->\n"
    for name in sorted({*made} - {*named(text, "figure")}):
        text = f"{text.rstrip()}\n\n## {name}\n\n<!-- figure: {name} -->\n<!-- end -->\n"
    kinds = re.findall(r"<!-- (\w+): \S+ -->", text)
    paired = len(kinds) == text.count("<!-- end -->") == len(MARK.findall(text))
    if not paired or not all(hasattr(_template(), kind) for kind in kinds):
        raise DriftproofError(
            "a page whose marks do not pair, or are of another kind",
            "<!-- KIND: NAME -->, of a kind that pages.md.j2 has, and <!-- end --> after each",
            "add the mark that is missing",
        )
    figures = {
        name: block(kind, made[name]) if name in made else said.strip()
        for kind, name, said in MARK.findall(text)
        if kind == "figure"
    }

    def filled(mark: re.Match[str]) -> str:
        kind, name = mark[1], mark[2]
        about = figures if kind == "sentences" else name  # the table of all sections
        said = figures[name] if kind == "figure" else block(kind, about)
        return f"<!-- {kind}: {name} -->\n{said}\n<!-- end -->"

    return MARK.sub(filled, text)


def block(kind: str, about: Any) -> str:
    """Return what is written for a mark: by its macro, with one empty line between paragraphs."""
    made = str(getattr(_template(), kind)(about))
    return re.sub(r"\n{3,}", "\n\n", made).strip()


def named(text: str, kind: str) -> list[str]:
    """Return the names that a page has marks of a kind for, in its order."""
    return [name for other, name, _ in MARK.findall(text) if other == kind]


def claim_of(name: str) -> ClaimView:
    """Return a claim with the verdicts on record."""
    if name not in leaves("claim"):
        raise unknown_name("claim", name, leaves("claim"))
    view = on_record().get(name)
    if view is None or not view.forms:
        raise DriftproofError(
            f"{name}, of which no verdict is on record",
            "a claim on record",
            f"driftproof verify {name} --record",
        )
    return view


def printed(paper: str) -> list[ClaimView]:
    """Return the claims on what a paper prints."""
    own = [one for one in on_record().values() if one.paper == paper]
    if not own:
        raise unknown_name("paper", paper, {one.paper for one in on_record().values()})
    return [one for one in own if one.printed is not None]


def mistaken(paper: str = "") -> list[ClaimView]:
    """Return the claims on statements of a paper (of all) that have an erratum, worst first."""
    found = [claim_of(one.claim) for one in worst_first(of_papers())]
    return [one for one in found if paper in ("", one.paper)]


def forms(view: ClaimView) -> Iterator[tuple[Group, str]]:
    """Yield the forms that are listed, each with its right side where that is to be shown.

    Of forms that follow each other and share one it stands below the last. What the statement shows
    is not shown again; of a single form without a right side the verdict stands above.
    """
    rights, shown = view.about["forms"], {""}
    if len(view.forms) == 1 and view.printed is not None and not rights:
        return
    for form, following in zip_longest(view.forms, view.forms[1:]):
        right = rights.get(form.title, "")
        last = following is None or rights.get(following.title) != right
        new = last and right not in shown and order(right) not in view.about["statement"]
        shown |= {right} if new else set()
        yield form, right if new else ""


def order(right: str) -> str:
    """Return what stands inside the 𝒪(…) of a rate: its statement has that already."""
    inside = re.fullmatch(r"\\mathcal\{O\}\\left\((.*)\\right\)", right)
    return inside[1] if inside else right


def plain(text: str) -> str:
    """Return text so that Markdown takes no character of it for markup."""
    return re.sub(r"([*<])", r"\\\1", " ".join(text.split()))


def cell(text: str) -> str:
    """Return text as a cell of a table."""
    return text.replace("|", r"\|").replace("\n", " ")


def assumed_by(view: ClaimView) -> list[str]:
    """Return what the corrected form of a claim assumes beside the claim."""
    claim = leaves("claim")[view.name].load()
    return [a.statement for f in claim.forms if f.form == "corrected" for a in f.assumes]


def having(rows: Iterable[Mapping[str, Any]], key: str, *values: str) -> int:
    """Return how many rows have one of these values."""
    return sum(row[key] in values for row in rows)


@cache
def _template() -> Any:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "instance": instance,
        "sides": sides,
        "at": lambda path: path.relative_to(ROOT),
        "plain": plain,
        "cell": cell,
        "order": order,
        "having": having,
        "fitting": fitting,
        "gist": first_sentence,
        "anchor": anchor,
        "worst_first": worst_first,
        "sentences": sentences,
        "percent": lambda part, whole: f"{part / whole:.0%}",
        "bare": lambda form: form.removeprefix("printed").removeprefix(": ") or "the print",
    }
    environment.globals |= {
        "claim_of": claim_of,
        "printed": printed,
        "mistaken": mistaken,
        "forms": forms,
        "assumed_by": assumed_by,
        "bibtex": bibtex,
        "scripts": scripts,
        "counts": lambda: mistakes(of_papers()),
        "SEVERITIES": SEVERITIES,
        "DEPENDS": DEPENDS,
        "summary": runs.summary,
        "plots": runs.plots,
        "literature": literature.table,
        "proof_of": proofs.proof,
    }
    return environment.get_template("pages.md.j2").module
