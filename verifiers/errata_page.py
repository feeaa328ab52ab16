r"""The errata as a page to cite.

``python -m driftproof.verifiers.errata_page docs/errata.md`` writes it anew.

Each erratum has its statement, what it changes and why, a counterexample with both sides' numbers,
what holds instead, and a BibTeX entry. The numbers are what the standalone scripts print
(``papers/<paper>/counterexamples``), and the instance is what their docstrings say of it. A heading
is the claim's name and nothing else, so that its anchor stays as long as the claim.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from driftproof.toolkit import __version__
from driftproof.toolkit.discover import Leaf, leaves
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.readings import DEPENDS, SEVERITIES
from driftproof.toolkit.report.latex_text import latex_text
from driftproof.toolkit.report.page import first_sentence
from driftproof.toolkit.report.papers import Reference
from driftproof.toolkit.statements import Statement, mistakes
from driftproof.verifiers import errata
from driftproof.verifiers.counterexamples import scripts
from driftproof.verifiers.pages import math, order, plain
from driftproof.verifiers.verify import claim_entry

REFUTED = re.compile(r"REFUTED (printed.*?): left = (\S+) (>|!=) right = (\S+)")
SIGNS: Mapping[str, str] = {">": ">", "!=": "≠"}
BAR = r"\|"
"""A bar in a cell of a table."""
HEAD = """\
# Errata

Statements of four papers that do not hold as printed, worst first. [What the words
mean](verdicts.md#errata-have-a-severity). The papers were read from conversions of their PDF files
to text; a finding that rests on one character says so.

A print that is refuted has a *counterexample*: a script of numpy alone, which recomputes both sides
without driftproof. The numbers are what the script prints, to six digits. A script has the
smallest instance that we know. The verdict's own cases may be larger, and the papers' pages have
numbers of those.
*Counted at* another statement means that it is the same mistake; a mistake counts once.

**To cite one**, take its BibTeX entry. Its anchor is its name, with `-` for `/` and `.`, such as
`errata.html#comfedl-theorem-1`, and does not change. `driftproof errata --json` has the same as
data. For driftproof itself, `CITATION.cff` says how it is cited.
"""


def page() -> str:
    """Return the page, from the claims, the record and the scripts.

    Raises:
        DriftproofError: a script ends with an error.
    """
    entries = errata.errata()
    made = [HEAD, *counted(errata.statements())]
    made += [
        "\n## All of them\n",
        "| kind | what depends on it | claim | what it changes |\n|---|---|---|---|",
    ]
    made += [
        f"| {entry['severity']} | {entry['depends'] or 'counted elsewhere'} | "
        f"[{entry['claim']}](#{_slug(entry['claim'])}) | "
        f"{plain(first_sentence(entry['changes'])).replace('|', BAR)} |"
        for entry in entries
    ]
    made += ["\n## The papers\n", *_papers(entries)]
    for severity, means in SEVERITIES.items():
        made.append(f"\n## {severity.capitalize()}\n\n{means[:1].upper()}{means[1:]}.")
        made += [_erratum(entry) for entry in entries if entry["severity"] == severity]
    return "\n".join(made).rstrip() + "\n"


def counted(statements: Iterable[Statement]) -> list[str]:
    """Return the table of mistakes, by their kind and by what depends on them (README has it too).

    >>> from driftproof.toolkit.verdict import Verdict
    >>> counted([Statement("a/b", Verdict.REFUTED, "false", "x", "step")])[2]
    '| [false](#false) | 0 | 0 | 1 | 0 |'
    """
    counts = mistakes(statements)
    head = " | ".join(f"a {what}" if what != "nothing" else what for what in DEPENDS)
    rows = [
        f"| [{kind}](#{kind}) | {' | '.join(str(counts[kind, what]) for what in DEPENDS)} |"
        for kind in SEVERITIES
    ]
    return [f"| mistakes, by what depends on them | {head} |", "|---|---|---|---|---|", *rows]


def _papers(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the documents that the errata are on: who wrote them, and where they appeared."""
    cited = (
        (entry["claim"].partition("/")[0], Reference(*paper))
        for entry in entries
        for paper in claim_entry(leaves("claim")[entry["claim"]])["papers"]
    )
    told = sorted(
        {f"- [{paper}]({paper}.md): {one.tag}. {plain(one.told)}" for paper, one in cited}
    )
    return [line.rstrip() for line in told]


def _erratum(entry: Mapping[str, Any]) -> str:
    """Return what the page says of one erratum."""
    leaf = leaves("claim")[entry["claim"]]
    told = claim_entry(leaf)
    paper = entry["claim"].partition("/")[0]
    about = [entry["source"]]
    if entry["same_as"]:
        about.append(f"counted at [{entry['same_as']}](#{_slug(entry['same_as'])})")
    else:
        about.append(f"what depends on it: {DEPENDS[entry['depends']]}")
    if entry["one_character"]:
        about.append("rests on one character")
    lines = [
        f"\n### {entry['claim']}\n",
        f"{'; '.join(about)} ([the paper, statement by statement]({paper}.md)).",
    ]
    lines += ["", *_formulas(told["statement"]), f"**What it changes:** {plain(entry['changes'])}"]
    if entry["finding"]:
        lines += ["", f"**Why:** {plain(entry['finding'])}"]
    cite = _cite(entry, [Reference(*paper) for paper in told["papers"]])
    return "\n".join([*lines, *_counterexample(leaf), *_instead(entry, told), *cite])


def _counterexample(leaf: Leaf) -> list[str]:
    """Return the scripts of a claim, with the sides that they print."""
    rows, links, instances = [], [], []
    for script in scripts(leaf.name):
        links.append(f"[`{script.name}`](../{script.relative_to(script.parents[4])})")
        instances += ["", f"**Instance:** {plain(instance(script))}"]
        rows += [
            f"| {plain(form)} | {_number(left)} | {SIGNS[sign]} | {_number(right)} |"
            for form, left, sign, right in printed(script)
        ]
    if not rows:  # tests/test_counterexamples.py: every refuted form has a script
        return ["", "No instance meets the hypothesis as it is printed: nothing can be refuted."]
    return [
        "",
        f"**Counterexample**, {', '.join(links)}; `driftproof counterexample {leaf.name} --run`:",
        "",
        "| form | left | | right |",
        "|---|---|---|---|",
        *rows,
        *instances,
    ]


def instance(script: Path) -> str:
    """Return what a script's docstring says of its instance, and all that follows it there.

    Raises:
        DriftproofError: it does not say what the instance is.
    """
    docstring = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""
    told = re.search(r"The instance(?:: | has | is )(.*)", " ".join(docstring.split()))
    if told is None:
        raise DriftproofError(
            f"{script.name} says nothing of its instance",
            "a docstring with a sentence that begins with “The instance:”",
            "say there what the functions and the numbers are",
        )
    # a word gets its capital, a letter of a formula stays as it is
    return re.sub(r"^[a-z]{2,}", lambda word: word[0].capitalize(), told[1])


@cache
def printed(script: Path) -> list[tuple[str, str, str, str]]:
    """Run a script, and return form, left side, sign and right side of each line.

    Raises:
        DriftproofError: it ends with an error.
    """
    ran = subprocess.run(
        [sys.executable, "-I", str(script)], capture_output=True, encoding="utf-8", check=False
    )
    if ran.returncode:
        raise DriftproofError(
            f"{script.name} ends with an error: {ran.stderr}",
            "a script whose refutation holds",
            "mend the script",
        )
    return [match.groups() for match in REFUTED.finditer(ran.stdout)]  # type: ignore[misc]


def _instead(entry: Mapping[str, Any], told: Mapping[str, Any]) -> list[str]:
    """Return what holds in the place of the print: the corrected form, and readings that hold."""
    lines: list[str] = []
    if entry["corrected"]:
        right = told["forms"].get("corrected", "")
        note = plain(told["notes"].get("corrected", ""))
        where = told["readings"].get("corrected", "")  # what it leaves out, beside the print
        form = f"Corrected form, {where}" if where else "Corrected form"
        lines += ["", f"**{form}: {entry['corrected']}.** {note}"]
        if right and order(right) not in told["statement"]:
            lines += ["", *_formulas(right)[:-1]]
    readings = [plain(reading) for reading in entry["holds"] if reading]
    if readings:
        lines += ["", f"**Holds, read as:** {'; '.join(readings)}."]
    return [line.rstrip() for line in lines]


def _cite(entry: Mapping[str, Any], papers: Sequence[Reference]) -> list[str]:
    """Return an entry of BibTeX, folded away; ASCII, with LaTeX for the letters.

    It has no year: this version was not released yet, and its number names it.
    """
    claim = entry["claim"]
    title = f"Erratum to {entry['source']}"
    place = rf"driftproof {__version__}, errata.html\#{anchor(claim)}, {entry['severity']}"
    note = [f"The paper, {paper.tag}: {paper.told.removesuffix('.')}" for paper in papers]
    if scripts(claim):
        note.append(f"The counterexample: driftproof counterexample {claim} --run")
    return [
        "",
        "<details><summary>BibTeX</summary>",
        "",
        "```bibtex",
        f"@misc{{driftproof-{claim.replace('/', '-')},",
        "  author = {{The driftproof developers}},",
        f"  title  = {{{{{latex_text(title)}}}}},",
        f"  howpublished = {{{place}}},",
        f"  note   = {{{latex_text('. '.join(note))}}},",
        "}",
        "```",
        "",
        "</details>",
    ]


def anchor(claim: str) -> str:
    """Return the anchor of an erratum on the site.

    >>> anchor("scgdm/lemma-a.1")
    'scgdm-lemma-a-1'
    """
    return re.sub(r"[^a-z0-9]+", "-", claim)


def _slug(claim: str) -> str:
    """Return the anchor that GitHub gives to a heading."""
    return re.sub(r"[^\w-]", "", claim)


def _formulas(latex: str) -> list[str]:
    return [line for part in latex.splitlines() for line in math(part.strip())]


def _number(text: str) -> str:
    """Return a number as it is read: six digits are the same on every machine."""
    return f"{float(text):.6g}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the errata as a page.")
    parser.add_argument("page", type=Path)
    parser.parse_args().page.write_text(page(), encoding="utf-8")
