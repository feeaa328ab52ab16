"""README and docs/findings.md say what is on record, and links of all pages lead somewhere.

tests/test_pages_that_run.py runs what the README shows.
"""

import re
import tomllib
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from driftproof.toolkit.readings import DEPENDS, SEVERITIES
from driftproof.toolkit.statements import mistakes, sentences
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers import baseline
from driftproof.verifiers.in_print import errata

SUPPORTED = Verdict.SUPPORTED

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FINDINGS = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
(TABLE,) = re.findall(r"^<!-- verdicts: .*\n```\n(.*?)^```$", FINDINGS, re.S | re.M)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def overall_on_record():
    """Return (claim, form) → verdict, as a table would show it."""
    made = {}
    for claim, forms in baseline.read().items():
        for form, cases in forms.items():
            verdicts = set(cases.values())
            verdicts = verdicts - {Verdict.INAPPLICABLE} or verdicts
            (verdict,) = verdicts if len(verdicts) == 1 else {Verdict.REFUTED} & verdicts
            made[claim, form] = str(verdict)
    return made


def test_the_table_is_what_is_on_record():
    shown = {}
    for line in TABLE.splitlines()[2:]:
        claim, form, verdict, *_ = re.split(r"\s{2,}", line.strip())
        shown[claim, form] = verdict
    on_record = overall_on_record()
    assert len(shown) > 10
    assert shown == {key: on_record[key] for key in shown}
    whole = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = re.findall(r"\b[a-z]+/[\w.*-]+", whole)
    for claim, _ in on_record:  # each paper's chapter has a command for each
        assert any(fnmatchcase(claim, pattern) for pattern in named), claim


NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
NUMBERS += ["eleven", "twelve"]
KNOWN = ("localsgd/", "literature/")
"""Statements that are known in the literature: no print of the four papers."""


def test_the_counts_of_statements_and_errata_are_those_on_record():
    statements = [one for one in errata.statements() if not one.claim.startswith(KNOWN)]
    printed = sentences(statements)
    told, short = " ".join(FINDINGS.split()), " ".join(README.split())
    count = {v: sum(one.verdict is v for one in printed) for v in Verdict}
    assert (
        f"Of {len(printed)} printed statements of four papers {count[Verdict.SUPPORTED]} are "
        f"supported, {count[Verdict.REFUTED]} refuted and {count[Verdict.INCONCLUSIVE]} undecided; "
        f"{sum(one.display for one in printed)} of them are displays of proofs."
    ) in told
    assert (
        f"Of {len(printed)} printed statements in [four papers](docs/findings.md), "
        f"{count[Verdict.SUPPORTED]} are supported, {count[Verdict.REFUTED]} refuted and "
        f"{count[Verdict.INCONCLUSIVE]} undecided."
    ) in short
    of_papers = (forms for name, forms in baseline.read().items() if not name.startswith(KNOWN))
    rows = sum(map(len, of_papers))
    assert f"13 of the papers' {rows} rows" in told
    mended = sum(one.severity is not None and one.verdict is SUPPORTED for one in printed)
    assert f"Of the supported ones {mended} hold only as they were meant" in told
    counts = mistakes(statements)
    for severity in SEVERITIES:
        row = " | ".join(str(counts[severity, what]) for what in DEPENDS)
        assert f"| {severity} | {row} |" in FINDINGS
    most = sum(counts[severity, "theorem"] for severity in SEVERITIES)
    shared = {one.same_as or one.claim for one in printed if one.verdict is Verdict.REFUTED}
    affect = f"{NUMBERS[most].capitalize()} of all {counts.total()} mistakes affect a theorem"
    for page in (told, short):
        assert f"he refuted ones share {NUMBERS[len(shared)]} mistakes" in page
        assert affect in page


def test_findings_that_rest_on_one_character_are_not_in_the_table():
    for one in errata.statements():
        assert not (one.one_character and one.claim in TABLE)


def test_the_readme_is_read_in_a_minute():
    assert len(README.splitlines()) <= 150
    first = README[README.index("```python") :].partition("```\n\n")[0]
    assert len([line for line in first.splitlines()[1:] if line.strip()]) <= 30


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_and_pictures_are_there(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if not target.startswith("https://"):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_commands_and_files_that_are_named_exist(page):
    text = page.read_text(encoding="utf-8")
    commands = {p.stem.removesuffix("_") for p in (ROOT / "driftproof/commands").glob("[a-z]*.py")}
    for word in re.findall(r"(?:^|`|bin/)driftproof (\w+)", text, re.M):
        assert word in commands, word
    for name in re.findall(r"`((?:toolkit|synthetic|verifiers|gpu_bench|tests)/[\w./-]+)`", text):
        assert (ROOT / name).exists(), name
    for target in re.findall(r"(?:^|`)make (\w+)", text, re.M):
        assert f"\n{target}:" in (ROOT / "Makefile").read_text()


# -- CITATION.cff says what a citation needs, and the version is the package's


def test_the_citation_file_is_whole_and_of_this_version():
    """Keys and lists of one level, which is all that the file has of YAML."""
    told: dict[str, str | list[str]] = {}
    key = ""
    for line in (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines():
        entry = re.fullmatch(r"  - (?:name: )?([\w .]+)", line)
        if entry:
            told[key].append(entry[1])
        else:
            key, value = re.fullmatch(r'([\w-]+):(?: ([\w .,-]+|"[^"]+"))?', line).groups()
            assert key not in told
            told[key] = value.strip('"') if value else []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert told["cff-version"] == "1.2.0"
    assert told["message"]
    assert told["authors"] == ["The driftproof developers"]
    assert told["title"] == project["name"]
    assert told["version"] == project["version"]
    assert date.fromisoformat(told["date-released"]) >= date(2026, 11, 25)
    assert told["license"] == project["license"]
    assert told["abstract"] == project["description"]


def test_the_page_of_results_cites_the_same_version_and_date():
    entry = re.search(
        r"```bibtex\n(.*?)```", (ROOT / "docs/results.md").read_text(encoding="utf-8"), re.S
    )[1]
    told = dict(re.findall(r"(\w+) *= \{+([^}]+)\}", entry))
    cff = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {told['version']}\n" in cff
    assert f"date-released: {told['date']}\n" in cff
    assert told["date"].startswith(told["year"])
    assert f"name: {told['author']}\n" in cff
