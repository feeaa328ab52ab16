"""docs/worked_example.md and own_bilevel.md: files are written, commands run and compared."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from driftproof.commands.new import STARTS
from tests.commands import ROOT, driftproof

PAGE = (Path(__file__).parents[1] / "docs" / "worked_example.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"In `(\w+\.py)`:\n\n```python\n(.*?)```", PAGE, re.S))
CONSOLES = [
    (command, [line.strip() for line in said.splitlines() if line.strip() not in ("", "…")])
    for command, said in re.findall(r"```console\n\$ ([^\n]*)\n(.*?)```", PAGE, re.S)
]
PYTHON = {"python": [sys.executable], "pytest": [sys.executable, "-m", "pytest"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("draft")
    for name, text in FILES.items():
        (made / name).write_text(text, encoding="utf-8")
    return made


def told(command, folder):
    program, *words = command.split()
    if program == "driftproof":
        wide = {**os.environ, "COLUMNS": "160"}  # as where the output goes to a file
        alone = [] if words[0] in ("counterexample", "check") else ["--workers", "1"]
        return driftproof(*words, "--quiet", *alone, cwd=folder, env=wide)
    run = [*PYTHON[program], *words]
    return subprocess.run(run, cwd=folder, capture_output=True, text=True, timeout=600)


def test_every_block_of_the_page_is_run():
    blocks = re.findall(r"^```(\w*)$", PAGE, re.M)
    opened = [language for language in blocks if language]
    assert opened.count("python") == len(FILES)
    assert opened.count("console") == len(CONSOLES) >= 3
    assert set(opened) == {"python", "console"}


def test_the_page_is_true_from_top_to_bottom(folder):
    """In the page's order; what it says to change by hand is changed between two commands."""
    path = folder / "descent.py"
    for number, (command, lines) in enumerate(CONSOLES):
        if number == 2:
            before = path.read_text(encoding="utf-8")
            assert before.count("return c.F_gap") == 1
            path.write_text(before.replace("return c.F_gap", "return 2 * c.F_gap"), "utf-8")
        made = told(command, folder)
        said = [line.strip() for line in made.stdout.splitlines()]
        assert not [line for line in lines if line not in said], made.stdout + made.stderr
        assert made.returncode == ("REFUTED" in " ".join(lines))
    tested = told("pytest -q -p no:cacheprovider test_descent.py", folder)
    assert tested.returncode == 0, tested.stdout
    path.write_text(before, encoding="utf-8")
    assert told("pytest -q -p no:cacheprovider test_descent.py", folder).returncode == 1


def test_a_constant_that_is_too_small_is_seen_as_the_page_says(folder):
    path = folder / "bowls.py"
    whole = path.read_text(encoding="utf-8")
    assert '"objective_smoothness": self.curvature,' in whole
    path.write_text(whole.replace("self.curvature, ", "self.curvature / 2, "), encoding="utf-8")
    try:
        assert "objective_smoothness 2.0" in told("python check.py", folder).stdout
    finally:
        path.write_text(whole, encoding="utf-8")


PAGES = {"own_bilevel": 5, "sets_and_terms": 3}
"""Pages beside it, and how many commands each has."""


@pytest.mark.parametrize("name", PAGES)
def test_the_pages_beside_it_are_true(name, tmp_path):
    """Of a bilevel and a minimax problem, which ``new`` writes too; of sets, terms and regret."""
    of, page = PAGES[name], (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    for name, text in re.findall(r"In `(\w+\.py)`:\n\n```python\n(.*?)```", page, re.S):
        if (start := STARTS.get(name.removesuffix(".py"))) is not None:
            assert text == start.read_text(encoding="utf-8")
            assert sum(bool(line.strip()) for line in text.splitlines()) <= 60
        (tmp_path / name).write_text(text, encoding="utf-8")
    consoles = re.findall(r"```console\n(.*?)```", page, re.S)
    commands = [part for block in consoles for part in re.split(r"^\$ ", block, flags=re.M)[1:]]
    assert len(commands) == of
    for part in commands:
        command, *lines = part.splitlines()
        made = told(command, tmp_path)
        said = [line.strip() for line in made.stdout.splitlines()]
        wanted = [line.strip() for line in lines if line.strip() not in ("", "…")]
        assert not [line for line in wanted if line not in said], made.stdout + made.stderr
