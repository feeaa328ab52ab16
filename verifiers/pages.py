r"""The papers' pages: what a claim says about itself is written into them from the claim.

``python -m driftproof.verifiers.pages docs/comfedl.md …`` writes what stands between two kinds of
marks.
``<!-- claim: comfedl/lemma-2 -->`` has one claim's statement, right sides, verdicts on record and
erratum. ``<!-- errata: comfedl -->`` has a table of a paper's errata and the list of what holds; a
claim of that paper that has no mark gets one at the end of the page. ``<!-- measured: literature
-->`` has the table of ``verifiers/measured.py``. Each ends at ``<!-- end -->``. Formulas stand in
blocks of kind ``math``, which GitHub gives to MathJax as they are: between ``$$`` it would first
read ``\|`` as a backslash escape of Markdown.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError, unknown_name
from driftproof.toolkit.readings import Undecided
from driftproof.toolkit.report.lines import fitting
from driftproof.toolkit.statements import Statement, worst_first
from driftproof.toolkit.verdict import Verdict, together
from driftproof.verifiers import errata, record
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.formulas import as_written
from driftproof.verifiers.measured import measured_block
from driftproof.verifiers.verify import claim_entry

WEAKLY = " (weakly tested: slopes on its cases)"

MARK = re.compile(r"<!-- (\w+): (\S+) -->\n(.*?)<!-- end -->", re.S)


def written_into(text: str) -> str:
    """Return a paper's page with everything between its marks written again.

    Raises:
        DriftproofError: a mark that names no claim or no paper, or one that has no end.
    """
    for kind, paper, _ in MARK.findall(text):
        own = [name for name in leaves("claim") if name.startswith(f"{paper}/")]
        for name in sorted(set(own) - set(claims_on(text))) if kind == "errata" else ():
            text = f"{text.rstrip()}\n\n<!-- claim: {name} -->\n<!-- end -->\n"
    blocks = {"claim": claim_block, "errata": errata_block, "measured": measured_block}
    return filled(text, blocks)


def filled(text: str, blocks: Mapping[str, Callable[[str], str]]) -> str:
    """Return a page with what stands after each ``<!-- KIND: NAME -->`` written again.

    Args:
        text: the page.
        blocks: by the kind of a mark, what makes a block of its name.

    Raises:
        DriftproofError: a mark without its end, or of another kind.
    """
    begun = len(re.findall(r"<!-- \w+: ", text))
    marks = MARK.findall(text)
    paired = begun == text.count("<!-- end -->") == len(marks)
    if not paired or any(kind not in blocks for kind, *_ in marks):
        wanted = " or ".join(f"<!-- {kind}: NAME -->" for kind in blocks)
        raise DriftproofError(
            "a page whose marks do not pair, or are of another kind",
            f"{wanted}, and <!-- end --> after each",
            "add the mark that is missing",
        )
    return MARK.sub(
        lambda mark: f"<!-- {mark[1]}: {mark[2]} -->\n{blocks[mark[1]](mark[2])}\n<!-- end -->",
        text,
    )


def claims_on(text: str) -> list[str]:
    """Return the claims that a page has marks for, in its order."""
    return [name for kind, name, _ in MARK.findall(text) if kind == "claim"]


def claim_block(name: str) -> str:
    """Return what a page says of a claim: statement, forms with their verdicts, erratum."""
    known = leaves("claim")
    if name not in known:
        raise unknown_name("claim", name, known)
    claim: Claim[Any] = known[name].load()
    rights = claim_entry(known[name])["forms"] | as_written(claim)
    head = f"**`{name}`** ({claim.source})"
    one = _statements().get(name)
    printed = one.headline if one else [(_verdict(name, "corrected"), "")]
    said = [f"**{verdict}** {plain(how)}".strip() for verdict, how in printed]
    lines = [f"{head}: {', '.join(said)}", ""]
    for line in claim.statement.splitlines():
        lines += math(line.strip())
    forms = [form for form in claim.forms if form.form != "sibling"]
    shown: set[str] = {""}
    alone = len(forms) == 1 and one is not None and not rights  # its verdict stands above
    for position, form in enumerate([] if alone else forms):
        right = rights.get(form.key, "")
        alike = position + 1 < len(forms) and rights.get(forms[position + 1].key) == right
        lines.append(f"- {_form(name, form)}")
        if right not in shown and not alike and order(right) not in claim.statement:
            shown.add(right)
            made = "\n".join(math(right)).splitlines()
            lines += ["", *("  " + line for line in made), ""]
    erratum = claim.erratum
    said = []
    if erratum is not None:
        counted = f", counted at `{erratum.same_as}`" if erratum.same_as else ""
        character = ", rests on one character" if erratum.one_character else ""
        said = [f"**Erratum, {erratum.severity}{counted}{character}.** {plain(erratum.changes)}"]
    if claim.explain:
        said.append(plain(claim.explain))
    if said and lines[-1]:
        lines.append("")
    return "\n".join([*lines, *"\n\n".join(said).splitlines()]).rstrip()


def errata_block(paper: str) -> str:
    """Return a paper's errata as a table, worst first, and which statements have none."""
    printed = [one for name, one in _statements().items() if name.startswith(f"{paper}/")]
    if not printed:
        raise unknown_name("paper", paper, {name.partition("/")[0] for name in _statements()})
    found = worst_first(printed)
    table = ["| severity | depends on it | claim | what it changes |", "|---|---|---|---|"]
    lines = table if found else []
    for one in found:
        severity = f"({one.severity})" if one.same_as else str(one.severity)
        severity += ", rests on one character" if one.one_character else ""
        counted = f" Counted at `{one.same_as}`." if one.same_as else ""
        cell = (plain(one.changes) + counted).replace("|", r"\|")
        lines.append(f"| {severity} | {one.depends or '–'} | `{one.claim}` | {cell} |")
    sources = (leaves("claim")[one.claim].metadata["source"] for one in printed)
    said = "stated here" if any("in our words" in source for source in sources) else "printed"
    for verdict, head in (
        (Verdict.INCONCLUSIVE, "Undecided"),
        (Verdict.SUPPORTED, f"Supported as {said}"),
    ):
        names = [
            f"`{s.claim}`" + WEAKLY * (verdict is Verdict.SUPPORTED and s.weakly_tested)
            for s in printed if s.verdict is verdict and s.severity is None
        ]  # fmt: skip
        if names:
            lines += ["", f"**{head}**: {', '.join(names)}."]
    return "\n".join(lines)


@cache
def _statements() -> Mapping[str, Statement]:
    """Return every printed statement with the verdict that is on record, by claim."""
    return {one.claim: one for one in errata.statements()}


def _form(name: str, form: Form) -> str:
    """Return a form's name, how it stands to the print, and its verdict on record."""
    kind = f", {form.reading_kind}" if form.reading_kind and form.reading else ""
    kind = f", {form.part}" if form.form == "corrected" and form.part else kind
    key = plain(form.key) if name in _statements() else "stated by us"
    wanted = f"; to decide it: {form.right.by}" if isinstance(form.right, Undecided) else ""
    return f"{key}{kind}: {_verdict(name, form.key)}{wanted}"


def _verdict(name: str, key: str) -> str:
    """Return the verdict on record of a form of a claim."""
    cases = record.read().get(name, {}).get(key, {})
    return str(together(map(Verdict, cases.values()))) if cases else "not on record"


def math(latex: str) -> list[str]:
    """Return lines of a page that show a formula by itself, on as many lines as it needs."""
    return ["```math", fitting(latex), "```", ""]


def order(right: str) -> str:
    """Return what stands inside the 𝒪(…) of a rate: its statement has that already."""
    order = re.fullmatch(r"\\mathcal\{O\}\\left\((.*)\\right\)", right)
    return order[1] if order else right


def plain(text: str) -> str:
    """Return text so that Markdown takes no character of it for markup."""
    return re.sub(r"([*<])", r"\\\1", " ".join(text.split()))


if __name__ == "__main__":
    for page in map(Path, sys.argv[1:]):
        page.write_text(written_into(page.read_text(encoding="utf-8")), encoding="utf-8")
