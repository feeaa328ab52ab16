"""Mistakes in a claim's file are told at their line, with the name that was meant."""

from __future__ import annotations

import pytest

from driftproof.toolkit.discover import import_path
from driftproof.toolkit.errors import DriftproofError
from driftproof.verifiers.verify import Settings, judge, select

CLAIM = """\
from driftproof import Assumption, Stated, bound, each, grid, literal, sq
from driftproof.synthetic.problems import BoundedComposition
from driftproof.toolkit.algorithms import ComFedL

def right(c):
    return c.tau**2 * c.eta**2 * c.G_f**2 * c.G_g**2

@bound(
    name="mine/drift", kind="bound", source="", statement="", assumes=[],
    cases=grid(BoundedComposition(distance=20.0), ComFedL(local_steps=2), rounds=2),
    right=right,
)
def drift(view):
    return each("round", "local_step", sq(view.mean("w") - view.round_start("w")))
"""


def verdict_on(text, folder, name):
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    return path, [row.verdict for row in judge(select([str(path)]), Settings(profile="smoke"))]


@pytest.fixture
def told(tmp_path, monkeypatch):
    """Return what is said of the claim with one thing written otherwise."""
    monkeypatch.setattr("sys.path", [*__import__("sys").path])

    def mistaken(old, new):
        assert old in CLAIM
        with pytest.raises(DriftproofError) as raised:
            verdict_on(CLAIM.replace(old, new), tmp_path, f"mine_{abs(hash((old, new)))}")
        return raised.value

    return mistaken


def test_the_claim_itself_is_fine(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    _, verdicts = verdict_on(CLAIM, tmp_path, "mine_fine")
    assert verdicts == ["SUPPORTED"]


@pytest.mark.parametrize(
    ("old", "new", "line", "meant"),
    [
        ("c.eta**2", "c.etta**2", 6, "did you mean eta"),
        ("view.mean(", "view.maen(", 14, "did you mean mean"),
        ('view.mean("w")', 'view.mean("ww")', 14, "did you mean w"),
        ("sq(view", "sqq(view", 14, "did you mean sq"),
        ("import BoundedComposition", "import BoundedCompositon", 2, "mean BoundedComposition"),
        ("import ComFedL", "import ComFedl", 3, "did you mean ComFedL"),
        ("(distance=", "(distence=", 10, "did you mean distance"),
        ("(local_steps=", "(local_step=", 10, "did you mean local_steps"),
        ('kind="bound"', 'kind="bond"', 8, "did you mean bound"),
        ("    right=right", "    rihgt=right", 8, "did you mean right"),
    ],
)
def test_a_misspelt_name_is_told_with_its_line_and_the_nearest(told, old, new, line, meant):
    error = told(old, new)
    assert f".py:{line}: " in error.got
    assert meant in error.remedy
    text = CLAIM.replace(old, new).splitlines()[line - 1].strip()
    assert text in error.got


def test_a_misspelt_role_is_no_assumption_that_nothing_meets(told, monkeypatch):
    right = "return c.tau**2 * c.eta**2 * c.G_f**2 * c.G_g**2"
    lacking = CLAIM.replace(right, right + " * c.zz")
    monkeypatch.setattr("tests.test_mistakes.CLAIM", lacking)
    error = told("assumes=[]", 'assumes=[], letters={"zz": "step_sise"}')
    assert "unknown role 'step_sise'" in error.got
    assert "did you mean step_size" in error.remedy
    assumed = told("assumes=[]", 'assumes=[Assumption("A", "", roles=("inner_gradient_bond",))]')
    assert "did you mean inner_gradient_bound" in assumed.remedy


def test_a_role_that_a_problem_lacks_is_no_mistake(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    text = CLAIM.replace("assumes=[]", 'assumes=[Assumption("A", "", roles=("task_smoothness",))]')
    assert verdict_on(text, tmp_path, "mine_lacking")[1] == ["INAPPLICABLE"]


@pytest.mark.parametrize(
    ("old", "new", "line", "wanted"),
    [
        ("def drift(view)", "def drift(self, view)", 13, "def drift(view)"),
        ("def right(c)", "def right(self, c)", 5, "def right(c)"),
        ("    right=right", "    range=lambda self, c: 1,\n    right=right", 11, "lambda c: …"),
        ("    right=right", "    readings={'a': literal(lambda self, c: 1)}", 11, "lambda c: …"),
        ("    right=right",
         "    right=right,\n"
         "    false_siblings=[('a', Stated(lambda c: 1, left=lambda self, view: 1))]", 12,
         "lambda view: …"),
    ],
)  # fmt: skip
def test_self_is_recognised(told, old, new, line, wanted):
    error = told(old, new)
    assert f".py:{line}: " in error.got
    assert error.wanted == wanted
    assert error.remedy == "remove self: the functions of a claim are no methods"


def test_a_function_that_takes_something_else_is_told_so(told):
    error = told("def right(c)", "def right(c, d)")
    assert "right of claim mine/drift is right(c, d)" in error.got
    assert "let it take c" in error.remedy


def test_an_error_of_ours_that_names_the_file_already_is_left_alone(tmp_path):
    path = tmp_path / "no_name.py"
    path.write_text(
        "from driftproof import bound\nN = 'a'\n\n@bound(name=N)\ndef a(view):\n    return 1\n"
    )
    with pytest.raises(DriftproofError) as raised:
        select([str(path)])
    assert raised.value.got.count(str(path)) == 1
    path = tmp_path / "deep.py"
    path.write_text("def f():\n    return {}['lost']\n\n\nf()\n")
    with pytest.raises(DriftproofError) as raised:
        import_path(path)
    assert "deep.py:2: in f: KeyError: 'lost'\n      return {}['lost']" in raised.value.got
