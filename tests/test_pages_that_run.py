"""Pages from top to bottom: files are written and changed, commands run, and outputs compared."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from driftproof.commands.new import STARTS
from tests.commands import ROOT, driftproof

PAGES = {
    "README": 5,
    "worked_example": 3,
    "tutorial": 5,
    "own_bilevel": 5,
    "minimax": 8,
    "sets_and_terms": 5,
    "ground_truth": 1,
    "assistant": 2,
    "conform": 5,
}
"""How many commands each has at least."""
BLOCK = re.compile(r"(?:In `(\w+\.py)`:\n\n)?^```(\w+)\n(.*?)^```$", re.S | re.M)
TORCH = "--extra-index-url https://download.pytorch.org/whl/cpu"
INSTALL = {
    "python3 -m venv .venv",
    ". .venv/bin/activate",
    f"pip install -e . {TORCH}",
    f'pip install "git+https://github.com/OWNER/driftproof" {TORCH}',
}
"""What a package index or an address is needed for; tests/test_wheel.py builds the wheel."""
BY_HAND = {("worked_example", 2): ("descent.py", "return c.F_gap", "return 2 * c.F_gap")}
"""What a page says to change, by the number of the command before which it is changed."""
PYTHON = {"python": [sys.executable], "pytest": [sys.executable, "-m", "pytest"]}


def text_of(page: str) -> str:
    folder = ROOT if page == "README" else ROOT / "docs"
    return (folder / f"{page}.md").read_text(encoding="utf-8")


def changed(text: str, patch: str) -> str:
    """Return a text after a change: its old lines stand there once, one after another."""
    lines = patch.splitlines()
    old = "\n".join(line[1:] for line in lines if line[0] in " -")
    new = "\n".join(line[1:] for line in lines if line[0] in " +")
    assert text.count(old) == 1, old
    return text.replace(old, new)


def told(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of a page, where its output goes to a file."""
    program, *words = command.split()
    glob = {
        word: [str(p.relative_to(folder)) for p in folder.glob(word)]
        for word in words
        if "*" in word
    }
    words = [x for word in words for x in glob.get(word) or [word]]  # as a shell does
    if program == "driftproof":
        here = ("counterexample", "check", "conform", "new", "plot")
        alone = [] if words[0] in here else ["--workers", "1"]
        return driftproof(*words, *alone, cwd=folder, env={**os.environ, "COLUMNS": "160"})
    run = [*PYTHON[program], *words]
    return subprocess.run(run, cwd=folder, capture_output=True, text=True, timeout=600)


def compared(block: str, folder: Path) -> None:
    """Run a command, and find each line that the page shows in what it writes (… is anything)."""
    command, *lines = block.splitlines()
    made = told(command, folder)
    said = [line.strip() for line in (made.stdout + made.stderr).splitlines()]
    wanted = [line.strip() for line in lines if line.strip() not in ("", "…")]
    for line in wanted:
        shown = re.compile(re.escape(line).replace("…", ".*"))
        assert any(map(shown.fullmatch, said)), f"{line}\n{made.stdout}{made.stderr}"
    if command.startswith(("driftproof verify", "driftproof falsify")):
        refuted = bool(re.search("REFUTED|verified", block))
        assert made.returncode == (2 if "remedy:" in block else refuted), made.stderr


def run(page: str, folder: Path) -> None:
    """Go through a page; tests/test_site.py has its math."""
    file, ran = "", 0
    for name, language, text in (match.groups() for match in BLOCK.finditer(text_of(page))):
        file = name or file
        path = folder / file
        if language == "python":
            assert name, text
            path.write_text(text, encoding="utf-8")
        elif language == "diff":
            path.write_text(changed(path.read_text(encoding="utf-8"), text), encoding="utf-8")
        elif language == "console":
            for command in re.split(r"^\$ ", text, flags=re.M)[1:]:
                if (page, ran) in BY_HAND:
                    replaced(folder, *BY_HAND[page, ran])
                compared(command, folder)
                ran += 1
        else:
            assert language == "math" or set(text.splitlines()) <= INSTALL
    assert ran >= PAGES[page]


def replaced(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text(encoding="utf-8")
    assert text.count(old) == 1
    (folder / name).write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_true_from_top_to_bottom(page, tmp_path):
    run(page, tmp_path)
    if page == "README":
        people(tmp_path)
    if page != "worked_example":
        return
    test = "pytest -q -p no:cacheprovider test_descent.py"
    assert told(test, tmp_path).returncode == 0
    replaced(tmp_path, "descent.py", "return 2 * c.F_gap", "return c.F_gap")
    assert told(test, tmp_path).returncode == 1
    replaced(tmp_path, "bowls.py", "self.curvature, ", "self.curvature / 2, ")
    assert "objective_smoothness 2.0" in told("python check.py", tmp_path).stdout


def people(folder: Path) -> None:
    """Run the commands of README's table of readers, after all that stands above it."""
    (statement,) = re.findall(r'statement=r"(.*)"', (folder / "theorem.py").read_text())
    mark = r"\label{thm:1}\driftproof{mine/theorem-1}"
    (folder / "main.tex").write_text(
        rf"\documentclass{{article}}\newtheorem{{theorem}}{{Theorem}}\begin{{document}}"
        rf"\begin{{theorem}}{mark} Let $\eta\tau L \le 1$. Then \[{statement}.\]"
        r"\end{theorem}\end{document}"
    )
    commands = re.findall(r"^\| you .*?`(.*?)`", text_of("README"), re.M)
    assert [command.split()[0] for command in commands] == ["driftproof", "driftproof", "pytest"]
    for command in commands:
        made = told(command, folder)
        assert made.returncode == 0, made.stdout + made.stderr
    assert "1 passed" in made.stdout
    drafted = next(m[3] for m in BLOCK.finditer(text_of("README")) if m[1] == "theorem.py")
    (folder / "theorem.py").write_text(drafted)
    assert told(commands[-1], folder).returncode == 1


@pytest.mark.parametrize("page", PAGES)
def test_every_block_of_a_page_is_seen_and_new_writes_those_it_says(page):
    found = BLOCK.findall(text_of(page))
    assert len(found) == len(re.findall(r"^```\w+$", text_of(page), re.M))
    for name, _, text in found:
        if (start := STARTS.get(name.removesuffix(".py"))) is not None:
            assert text == start.read_text(encoding="utf-8")
            assert sum(bool(line.strip()) for line in text.splitlines()) <= 60


def test_a_change_that_does_not_fit_is_seen():
    assert changed("a\nb\nc", " a\n-b\n+d") == "a\nd\nc"
    with pytest.raises(AssertionError):
        changed("a\nb\nb", "-b\n+d")
