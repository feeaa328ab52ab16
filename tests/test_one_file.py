"""The checker as one file: of our own sources, and enough where there is python-flint alone."""

import ast
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import flint
import pytest

from driftproof.verifiers.worst_case.one_file import FILES, one_file
from tests.commands import ROOT, driftproof
from tests.once import every_claim

DEFINED = (ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """Return a folder with check.py, and what runs it where nothing but flint is installed."""
    folder = tmp_path_factory.mktemp("referee")
    made = driftproof("check", "--standalone", cwd=folder)
    assert made.returncode == 0, made.stderr
    (folder / "check.py").write_text(made.stdout, encoding="utf-8")
    (folder / "only").mkdir()
    for path in Path(flint.__file__).parents[1].glob("*flint*"):
        (folder / "only" / path.name).symlink_to(path)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-S", "check.py", *words],
            cwd=folder,
            capture_output=True,
            text=True,
            env={"PYTHONPATH": str(folder / "only"), "PATH": os.environ["PATH"]},
        )

    return folder, run


def test_it_is_made_of_the_same_sources():
    text = one_file()
    assert len(text.splitlines()) <= 1290  # what there is to read before it is believed
    nodes = ast.parse(text).body
    names = Counter(name for node in nodes for name in defined(node))
    assert [name for name, times in names.items() if times > 1] == []
    docstrings = [
        ast.get_docstring(node)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]
    for file in FILES:
        for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                assert ast.get_docstring(node) in docstrings


def defined(node):
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
    return [x.id for of in targets if of for x in ast.walk(of) if isinstance(x, ast.Name)]


def test_it_says_of_all_certificates_what_driftproof_check_says(alone, tmp_path_factory):
    _, run = alone
    files = sorted(map(str, (every_claim(tmp_path_factory) / "certificates").glob("*.json")))
    kinds = {Path(name).name.partition("counterexample")[1] for name in files}
    assert (len(files) > 60, kinds) == (True, {"", "counterexample"})
    ours = driftproof("check", *files)
    made = run(*files)
    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout == ours.stdout
    assert made.stdout.endswith(" hold, 0 do not\n")


def test_it_refuses_what_was_changed_and_what_is_none(alone, tmp_path_factory):
    folder, run = alone
    name = next((every_claim(tmp_path_factory) / "certificates").glob("localsgd-*.json"))
    file = json.loads(name.read_text(encoding="utf-8"))
    (folder / "changed.json").write_text(json.dumps(file | {"about": "other"}), encoding="utf-8")
    made = run("changed.json")
    assert made.returncode == 1
    assert made.stdout == "changed.json: REFUSED\n  it was changed after it was written\n"
    made = run("check.py")
    assert (made.returncode, made.stdout) == (2, "")
    assert made.stderr.startswith("check.py is no certificate: JSONDecodeError: ")
    assert run("absent.json").returncode == 2


def test_driftproof_is_not_there(alone):
    folder, _ = alone
    (folder / "look.py").write_text("import driftproof", encoding="utf-8")
    words = [sys.executable, "-S", "look.py"]
    made = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, env={"PYTHONPATH": str(folder / "only")}
    )
    assert "No module named 'driftproof'" in made.stderr
