"""docs/tutorial.md from top to bottom: files are written and changed, commands run and compared."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import driftproof

PAGE = (Path(__file__).parents[1] / "docs" / "tutorial.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"(?:In `(\w+\.py)`:\n\n)?^```(\w+)\n(.*?)^```$", re.S | re.M)
STEPS = [match.groups() for match in BLOCK.finditer(PAGE)]
INSTALL = {
    "python3 -m venv .venv", ". .venv/bin/activate",
    "pip install -e . --extra-index-url https://download.pytorch.org/whl/cpu",
}  # fmt: skip
ELSEWHERE = ("math",)
"""Typeset by tests/test_site.py."""


def changed(text: str, patch: str) -> str:
    """Return a text after a change: its old lines stand there once, one after another."""
    lines = patch.splitlines()
    old = "\n".join(line[1:] for line in lines if line[0] in " -")
    new = "\n".join(line[1:] for line in lines if line[0] in " +")
    assert text.count(old) == 1, old
    return text.replace(old, new)


def told(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of the page, where its output goes to a file."""
    program, *words = command.split()
    if program == "driftproof":
        wide = {**os.environ, "COLUMNS": "160"}
        return driftproof(*words, "--workers", "1", cwd=folder, env=wide)
    assert program == "python"
    run = [sys.executable, *words]
    return subprocess.run(run, cwd=folder, capture_output=True, text=True, timeout=600)


def shown(told: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the lines that a command wrote, on both streams."""
    return [line.strip() for line in (told.stdout + told.stderr).splitlines()]


def test_the_page_is_true_from_top_to_bottom(tmp_path):
    file, ran = "", 0
    for name, language, text in STEPS:
        file = name or file
        if language == "python":
            assert name, text
            (tmp_path / name).write_text(text, encoding="utf-8")
        elif language == "diff":
            path = tmp_path / file
            path.write_text(changed(path.read_text(encoding="utf-8"), text), encoding="utf-8")
        elif language == "console":
            command, *lines = text.splitlines()
            made = told(command.removeprefix("$ "), tmp_path)
            wanted = [line.strip() for line in lines if line.strip() not in ("", "…")]
            assert not [line for line in wanted if line not in shown(made)], made.stdout
            found = "REFUTED" in text or "verified" in text
            assert made.returncode == found, made.stderr
            ran += 1
        elif language == "sh":
            assert set(text.splitlines()) == INSTALL  # installing needs a package index
        else:
            assert language in ELSEWHERE
    assert ran >= 5
    assert (tmp_path / "report-theorem" / "index.html").is_file()


def test_a_change_that_does_not_fit_is_seen():
    assert changed("a\nb\nc", " a\n-b\n+d") == "a\nd\nc"
    with pytest.raises(AssertionError):
        changed("a\nb\nb", "-b\n+d")


def test_every_block_is_one_of_these():
    opened = re.findall(r"^```(\w+)$", PAGE, re.M)
    assert len(opened) == len(STEPS)
