"""Laws of the mutation run: each change is one, can be undone, and is tested where it runs."""

from __future__ import annotations

import ast

import pytest

from tests import judges, mutation

TEXT = '''
LIMIT = 0.5
def f(a, b, *, strict=False):
    """Say 1."""
    if a is None:
        return 0
    kept = [x for x in a if x < b and not x == 3]
    if strict:
        kept = kept + [min(1, LIMIT)]
    return f"{len(kept) + 1}", kept[-1] * 2
'''


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    (tmp_path / "module.py").write_text(TEXT)
    monkeypatch.setattr(judges, "ROOT", tmp_path)
    return tmp_path


def test_every_kind_of_change_is_made_once_and_undone(checkout):
    whole = ast.unparse(ast.parse(TEXT))
    made = list(mutation.changes("module.py"))
    assert {str(change).removeprefix("module.py: ") for change in made} == {
        "LIMIT = 0.5 → LIMIT = 5.0", "a is None → a is not None", "return 0 → return 1",
        "a, b, *, strict=False → a, b, *, strict=True", "if a is None: return 0 → pass",
        "x < b → x <= b", "x == 3 → x != 3", "x == 3 → x == 6", "not x == 3 → x == 3",
        "x < b and (not x == 3) → x < b or not x == 3", "min(1, LIMIT) → max(1, LIMIT)",
        "kept + [min(1, LIMIT)] → kept - [min(1, LIMIT)]", "min(1, LIMIT) → min(2, LIMIT)",
        "kept[-1] * 2 → kept[-1] / 2", "-1 → -2", "kept[-1] * 2 → kept[-1] * 4",
        "if strict: kept = kept + [min(1, LIMIT)] → if not strict: kept = kept + [min(1, LIMIT)]",
    }  # fmt: skip
    sources = [change.source() for change in made]
    assert len(set(sources)) == len(made)
    assert whole not in sources
    assert ast.unparse(made[0].tree) == whole
    for source in sources:
        compile(source, "module.py", "exec")


class Contexts:
    """Stands in for coverage's data: line → the tests that ran it."""

    def __init__(self, by_line):
        self.contexts_by_lineno = lambda path: by_line


def test_the_tests_of_a_line_come_the_quickest_first(checkout):
    seconds = {"tests/test_a.py::one": 3.0, "tests/test_a.py::two": 1.0}
    data = Contexts({2: [""], 5: ["tests/test_a.py::one", "tests/test_a.py::two", "gone"], 7: []})
    at = {change.old.lineno: change for change in mutation.changes("module.py")}
    ordered = ["tests/test_a.py::two", "tests/test_a.py::one"]
    assert mutation.tests_of(at[5], data, seconds) == ordered
    assert mutation.tests_of(at[2], data, seconds) == ordered  # it runs with the import
    assert mutation.tests_of(at[7], data, seconds) == []


def test_a_change_is_noticed_by_a_failure_and_by_a_test_that_hangs(checkout, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "module.py").write_text(TEXT)
    (copy / "test_it.py").write_text(
        "import time, module\n"
        "def test_it():\n    assert module.f(None, 1) == 0\n"
        "def test_blind():\n    pass\n"
    )
    (change,) = [c for c in mutation.changes("module.py") if str(c).endswith("return 1")]
    assert mutation.noticed(change, ["test_it.py::test_it"], copy, wait=60.0)
    assert not mutation.noticed(change, ["test_it.py::test_blind"], copy, wait=60.0)
    assert (copy / "module.py").read_text() == TEXT  # put back
    assert mutation.noticed(change, ["test_it.py::test_blind"], copy, wait=0.01)


def test_the_judges_are_there_and_have_changes():
    for path in judges.MODULES:
        assert next(mutation.changes(path), None) is not None, path
    for name in judges.TESTS:
        assert (judges.ROOT / "tests" / f"test_{name}.py").is_file(), name
