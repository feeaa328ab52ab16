"""CITATION.cff says what a citation needs, and the version is the package's."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[1]


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


def test_the_readme_cites_the_same_version_and_date():
    entry = re.search(
        r"```bibtex\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S
    )[1]
    told = dict(re.findall(r"(\w+) *= \{+([^}]+)\}", entry))
    cff = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {told['version']}\n" in cff
    assert f"date-released: {told['date']}\n" in cff
    assert told["date"].startswith(told["year"])
    assert f"name: {told['author']}\n" in cff
