r"""The errata as pages to cite.

``python -m driftproof.verifiers.errata_page docs [TEX]`` writes ``errata.md``, and the same as data
for ``driftproof errata``, ``papers/errata.json``; of the notes in
``errata/``, a page for each erratum on which a theorem depends, what stands between their marks;
and a note on each paper. With TEX, a folder, each note becomes LaTeX there as well.

Each erratum has its statement, what it changes and why, a counterexample with both sides' numbers,
what holds instead, and a BibTeX entry. The numbers are what the standalone scripts print
(``papers/<paper>/counterexamples``), and the instance is what their docstrings say of it. A heading
is the claim's name and nothing else, so that its anchor stays as long as the claim.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from textwrap import wrap
from typing import Any

from driftproof.toolkit import __version__
from driftproof.toolkit.discover import Leaf, leaves
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.readings import DEPENDS, SEVERITIES
from driftproof.toolkit.report.latex_text import latex_text
from driftproof.toolkit.report.page import first_sentence
from driftproof.toolkit.report.papers import Reference
from driftproof.toolkit.statements import Statement, mistakes, sentences
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers import errata, record
from driftproof.verifiers.counterexamples import scripts
from driftproof.verifiers.formulas import as_written
from driftproof.verifiers.pages import WEAKLY, filled, math, order, plain
from driftproof.verifiers.tex_page import tex
from driftproof.verifiers.verify import claim_entry

REFUTED = re.compile(r"REFUTED (printed.*?): left = (\S+) (>|!=) right = (\S+)")
SIGNS: Mapping[str, str] = {">": ">", "!=": "≠"}
ROOT = Path(__file__).resolve().parents[1]
BAR = r"\|"
"""A bar in a cell of a table."""
HEAD = """\
# Errata

This page lists the statements of four papers that do not hold as printed, worst first. A statement
is *false* only if it is false in every sense that a fair referee would accept; if what was plainly
meant is true, it is a *misprint* ([all four severities](verdicts.md#errata-have-a-severity)). We
read the papers in text form, converted from their PDF files. If a finding depends on a single
character, it says so.

Each refuted statement has a *counterexample*: a script that recomputes both sides with numpy alone,
without driftproof. It uses the smallest instance that we know, and this page shows its output, to
six digits. A verdict may also use larger cases; their numbers are on the papers' pages.
If one mistake affects several statements it is counted once, and the other statements name the
place (*counted at*, in the table *counted elsewhere*).

For each mistake that affects a theorem there is a one-page note, to hand to an author or an editor.
Each paper has a note of two pages. `make notes` writes them as LaTeX, and as PDF if pdflatex is
installed.

**To cite an erratum**, copy its BibTeX entry. Its anchor is its name, with `-` for `/` and `.`,
such as `errata.html#comfedl-theorem-1`, and does not change. The `url` of an entry is the paper's,
until this site has an address (`html_baseurl` in `docs/conf.py`). There is no DOI yet: version,
date and anchor identify the erratum, and `driftproof counterexample NAME` reproduces it.
`driftproof errata --json` has the same content as data. `CITATION.cff` says how to cite driftproof.

```{toctree}
:hidden:
:glob:

errata/*
```
"""


def page() -> str:
    """Return the page, from the claims, the record and the scripts.

    Raises:
        DriftproofError: a script ends with an error.
    """
    entries = errata.errata()
    made = [HEAD, *counted(errata.of_papers())]
    made += [
        "\n## All of them\n",
        "| severity | affects | statement | what it changes |\n|---|---|---|---|",
    ]
    made += [
        f"| {entry['severity']} | {entry['depends'] or 'counted elsewhere'} | "
        f"[{entry['claim']}](#{_slug(entry['claim'])}) | "
        f"{plain(first_sentence(entry['changes'])).replace('|', BAR)} |"
        for entry in entries
    ]
    made += ["\n## Notes\n", *_noted(entries), "\n## The papers\n", *_papers(entries)]
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
    return [f"| mistakes that affect | {head} |", "|---|---|---|---|---|", *rows]


def _papers(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the documents that the errata are on: who wrote them, and where they appeared."""
    cited = (
        (entry["claim"].partition("/")[0], Reference(*paper))
        for entry in entries
        for paper in claim_entry(leaves("claim")[entry["claim"]])["papers"]
    )
    references = sorted(
        {f"- [{paper}]({paper}.md): {one.tag}. {plain(one.citation)}" for paper, one in cited}
    )
    return [line.rstrip() for line in references]


def _erratum(entry: Mapping[str, Any]) -> str:
    """Return what the page says of one erratum."""
    leaf = leaves("claim")[entry["claim"]]
    claim = claim_entry(leaf)
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
    if matters(entry):
        lines += [
            "",
            f"**A note of one page**: [{anchor(leaf.name)}](errata/{anchor(leaf.name)}.md).",
        ]
    lines += ["", *_formulas(claim["statement"]), f"**What it changes:** {plain(entry['changes'])}"]
    if entry["finding"]:
        lines += ["", f"**Why:** {plain(entry['finding'])}"]
    cite = _cite(entry, [Reference(*paper) for paper in claim["papers"]])
    return "\n".join([*lines, *_counterexample(leaf), *_instead(entry, claim), *cite])


def _counterexample(leaf: Leaf) -> list[str]:
    """Return the scripts of a claim, with the sides that they print."""
    rows, links, instances = [], [], []
    for script in scripts(leaf.name):
        links.append(f"[`{script.name}`](../{script.relative_to(script.parents[4])})")
        instances += ["", f"**Instance:** {plain(instance(script))}"]
        rows += table(printed(script))
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
    found = re.search(r"The instance(?:: | has | is )(.*)", " ".join(docstring.split()))
    if found is None:
        raise DriftproofError(
            f"{script.name} says nothing of its instance",
            "a docstring with a sentence that begins with “The instance:”",
            "say there what the functions and the numbers are",
        )
    # a word gets its capital, a letter of a formula stays as it is
    return re.sub(r"^[a-z]{2,}", lambda word: word[0].capitalize(), found[1])


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


def table(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return forms with both sides as a table's lines: forms whose numbers are equal share one.

    >>> table([("one", "2.0", ">", "1.0"), ("other", "2.0", ">", "1.0"), ("", "3.0", ">", "1.0")])
    ['| one; other | 2 | > | 1 |', '| the print | 3 | > | 1 |']
    """
    alike: dict[tuple[str, str, str], list[str]] = {}
    for form, left, sign, right in rows:
        alike.setdefault((_number(left), SIGNS[sign], _number(right)), []).append(form)
    return [
        f"| {'; '.join(plain(form or 'the print') for form in forms)} | {' | '.join(sides)} |"
        for sides, forms in alike.items()
    ]


def _instead(entry: Mapping[str, Any], about: Mapping[str, Any]) -> list[str]:
    """Return what holds in place of the print: the corrected form, and readings that hold."""
    lines: list[str] = []
    if entry["corrected"]:
        right = as_written(leaf_of(entry)).get("corrected", about["forms"].get("corrected", ""))
        note = plain(about["notes"].get("corrected", ""))
        form = "Corrected form" + (f", {entry['restricted']}" if entry["restricted"] else "")
        lines += ["", f"**{form}: {entry['corrected']}.** {note}"]
        if right and order(right) not in about["statement"]:
            lines += ["", *_formulas(right)[:-1]]
    readings = [plain(reading) for reading in entry["holds"] if reading]
    if readings:
        lines += ["", f"**Holds, read as:** {'; '.join(readings)}."]
    return [line.rstrip() for line in lines]


def _cite(entry: Mapping[str, Any], papers: Sequence[Reference]) -> list[str]:
    """Return an entry of BibTeX, folded away."""
    shown = ["", "<details><summary>BibTeX</summary>", "", *bibtex(entry, papers)]
    return [*shown, "", "</details>"]


def bibtex(entry: Mapping[str, Any], papers: Sequence[Reference]) -> list[str]:
    """Return an entry of BibTeX: ASCII, with LaTeX for the letters, and CITATION.cff's date."""
    claim, home = entry["claim"], site()
    cff = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    (date,) = re.findall(r"^date-released: (\S+)$", cff, re.M)
    title = f"Erratum to {entry['source']}"
    place = rf"driftproof {__version__}, errata.html\#{anchor(claim)}, {entry['severity']}"
    note = [f"The paper, {paper.tag}: {paper.citation.removesuffix('.')}" for paper in papers]
    own = [f"{home}errata.html#{anchor(claim)}"] if home else []
    links = [*own, *(paper.link for paper in papers[-1:] if paper.link)]
    if scripts(claim):
        note.append(f"The counterexample: driftproof counterexample {claim} --run")
    return [
        "```bibtex",
        f"@misc{{driftproof-{claim.replace('/', '-')},",
        "  author = {{The driftproof developers}},",
        f"  title  = {{{{{latex_text(title)}}}}},",
        f"  year   = {{{date[:4]}}},",
        f"  date   = {{{date}}},",
        f"  version = {{{__version__}}},",
        *(f"  url    = {{{link}}}," for link in links[:1]),
        f"  howpublished = {{{place}}},",
        *wrap(
            f"note   = {{{latex_text('. '.join(note))}}},",
            96,
            initial_indent="  ",
            subsequent_indent=" " * 12,
            break_long_words=False,
            break_on_hyphens=False,
        ),
        "}",
        "```",
    ]


def site() -> str:
    """Return the site's address, as docs/conf.py has it ("": it has none yet)."""
    (home,) = re.findall(r'^html_baseurl = "(.*)"$', (ROOT / "docs/conf.py").read_text(), re.M)
    return str(home)


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


def notes(folder: Path) -> dict[str, str]:
    """Return the notes by name: those on errata, which stand in a folder, and those on papers."""
    entries = {entry["claim"]: entry for entry in errata.errata()}
    blocks = {
        kind: lambda claim, made=made: "\n".join(made(entries[claim])).strip()
        for kind, made in MARKS.items()
    }
    made = {}
    for entry in entries.values():
        if matters(entry):
            name = anchor(entry["claim"])
            made[name] = filled((folder / f"{name}.md").read_text(encoding="utf-8"), blocks)
    papers = sorted({claim.partition("/")[0] for claim in entries})
    return made | {f"on-{paper}": on_paper(paper, list(entries.values())) for paper in papers}


def matters(entry: Mapping[str, Any]) -> bool:
    """Say whether a theorem depends on an erratum that is counted here."""
    return entry["depends"] == "theorem" and not entry["same_as"]


def leaf_of(entry: Mapping[str, Any]) -> Any:
    """Return an erratum's claim."""
    return leaves("claim")[entry["claim"]].load()


def _noted(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return links to the notes."""
    mistakes = [anchor(entry["claim"]) for entry in entries if matters(entry)]
    papers = sorted({f"on-{entry['claim'].partition('/')[0]}" for entry in entries})
    lists = ((mistakes, "On a mistake"), (papers, "On a paper"))
    return [
        f"- {said}: " + ", ".join(f"[{name}](errata/{name}.md)" for name in names) + "."
        for names, said in lists
    ]


def _head(entry: Mapping[str, Any]) -> list[str]:
    """Return what kind of mistake it is, and in which paper."""
    severity = entry["severity"]
    kind = entry["claim"].partition("/")[2].partition("-")[0]
    itself = f"It is the {kind} itself." if kind in ("theorem", "corollary") else ""
    line = f"**{severity.capitalize()}**: {SEVERITIES[severity]}. "
    line += itself or "On it depends a result that the paper announces."
    line += " It rests on one character." * entry["one_character"]
    return [line, "", *(_reference(Reference(*paper)) for paper in _cites(entry))]


def _cites(entry: Mapping[str, Any]) -> list[Any]:
    return list(claim_entry(leaves("claim")[entry["claim"]])["papers"])


def _reference(paper: Reference) -> str:
    link = f" [{paper.link.removeprefix('https://')}]({paper.link})" if paper.link else ""
    return f"{plain(paper.citation)}{link}\n"


def _sides(entry: Mapping[str, Any]) -> list[str]:
    """Return both sides, as the scripts print them."""
    claim = entry["claim"]
    rows = [row for script in scripts(claim) for row in printed(script)]
    if not rows:
        return [
            "No instance meets the hypothesis as it is printed, so that there is nothing to run."
        ]
    lines = ["| as printed | left | | right |", "|---|---|---|---|"]
    lines += table([(form.removeprefix("printed").removeprefix(": "), *of) for form, *of in rows])
    names = ", ".join(script.name for script in scripts(claim))
    said = f"To repeat it, without driftproof's code: `driftproof counterexample {claim} --run`"
    return [*lines, "", f"{said} ({names}; numpy and Python's own library alone)."]


def _corrected(entry: Mapping[str, Any]) -> list[str]:
    """Return the corrected form of a bound, in the order of its terms, and what it asks for."""
    claim = leaf_of(entry)
    (form,) = [form for form in claim.forms if form.form == "corrected"]
    left = claim.statement.partition(r"\le")[0]
    lines = math(rf"{left}\le {as_written(claim)['corrected']}")
    if form.assumes:
        lines += ["It asks for: " + "; ".join(plain(a.statement) for a in form.assumes) + ".", ""]
    paper = entry["claim"].partition("/")[0]
    said = f"`driftproof verify {claim.name}` says {entry['corrected']} of it"
    return [*lines, f"{said}; [docs/{paper}.md](../{paper}.md) derives it."]


def _do(entry: Mapping[str, Any]) -> list[str]:
    return [plain(entry["changes"])]


def _cited(entry: Mapping[str, Any]) -> list[str]:
    return bibtex(entry, [Reference(*paper) for paper in _cites(entry)])


MARKS = {"head": _head, "sides": _sides, "corrected": _corrected, "do": _do, "cite": _cited}
"""What is written into a note: by the kind of a mark, what makes a block of an erratum."""


def on_paper(paper: str, entries: Sequence[Mapping[str, Any]]) -> str:
    """Return the note on a paper: what matters first, then its other mistakes, and what holds."""
    own = [entry for entry in entries if entry["claim"].startswith(f"{paper}/")]
    cited = {tuple(one): None for entry in own for one in _cites(entry)}
    known = [one for one in sentences(errata.statements()) if one.claim.startswith(f"{paper}/")]
    count = Counter(str(one.verdict) for one in known)
    verdicts = ", ".join(f"{count[verdict]} {verdict}" for verdict in sorted(count))
    lines = [f"# A note on {Reference(*next(iter(cited))).title}", ""]
    lines += [_reference(Reference(*one)) for one in cited]
    lines += [f"Of {len(known)} printed statements that were checked: {verdicts}.", ""]
    heads = [entry for entry in own if not entry["same_as"]]
    most = min((entry["depends"] for entry in heads), key=[*DEPENDS].index)
    lines += ["## What matters", "", f"On it depends: {DEPENDS[most]}.", ""]
    for entry in heads:
        if entry["depends"] == most:
            lines += [f"**{plain(entry['source'])}: {entry['severity']}.**", ""]
            lines += _formulas(claim_entry(leaves("claim")[entry["claim"]])["statement"])
            lines += [f"{plain(entry['finding'])} *What to do:* {plain(entry['changes'])}", ""]
        if matters(entry):
            lines += [f"[The note of one page]({anchor(entry['claim'])}.md)", ""]
    rest = [entry for entry in heads if entry["depends"] != most]
    if rest:
        lines += ["## Other mistakes", "", "| | kind | depends on it |", "|---|---|---|"]
        for entry in rest:
            said = plain(f"{entry['source']}. {first_sentence(entry['changes'])}")
            cells = said.replace("|", BAR), entry["severity"], entry["depends"]
            lines.append(f"| {' | '.join(cells)} |")
    undecided = [one.claim for one in known if one.verdict is Verdict.INCONCLUSIVE]
    holds = [
        plain(leaves("claim")[one.claim].metadata["source"].partition(", ")[2])
        + WEAKLY * one.weakly_tested
        for one in known
        if one.verdict is Verdict.SUPPORTED and one.severity is None
    ]
    lines += ["", "## What holds", "", "Supported as printed: " + "; ".join(holds) + "."]
    if undecided:
        lines += ["", "Undecided: " + ", ".join(f"`{claim}`" for claim in undecided) + "."]
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    """Write the page of errata and the notes, and the notes as LaTeX too if a folder is named."""
    parser = argparse.ArgumentParser(description="Write the errata as pages.")
    parser.add_argument("docs", type=Path)
    parser.add_argument("tex", type=Path, nargs="?")
    given = parser.parse_args()
    (given.docs / "errata.md").write_text(page(), encoding="utf-8")
    text = json.dumps(errata.errata(), indent=1, ensure_ascii=False)
    (record.folder() / record.ERRATA).write_text(text + "\n", encoding="utf-8")
    for name, note in notes(given.docs / "errata").items():
        (given.docs / "errata" / f"{name}.md").write_text(note, encoding="utf-8")
        if given.tex:
            given.tex.mkdir(parents=True, exist_ok=True)
            (given.tex / f"{name}.tex").write_text(tex(note), encoding="utf-8")


if __name__ == "__main__":
    main()
