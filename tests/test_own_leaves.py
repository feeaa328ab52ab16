"""Mistakes in a problem, an algorithm or a measure of one's own are told with their file and line.

The files are those of docs/worked_example.md, with one thing written otherwise.
"""

import json
import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from driftproof.algorithms import FedAvg
from driftproof.classes import over, smooth_convex
from driftproof.commands import new
from driftproof.toolkit.discover import import_path, leaves_in
from driftproof.toolkit.errors import DriftproofError
from driftproof.verifiers.controls import checked
from driftproof.verifiers.judges.audit_gate import exceeded_in
from driftproof.verifiers.verify import Settings, header, judge, select

PAGE = (Path(__file__).parents[1] / "docs" / "worked_example.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"In `(\w+\.py)`:\n\n```python\n(.*?)```", PAGE, re.S))
NAMES = ("bowls.py", "server_step.py", "descent.py")
PROBLEM = re.search(r"@problem\(.*\)\n", FILES["bowls.py"])[0]
SOLUTION = re.search(r"    @cached_property\n(.*\n)+?\n", FILES["bowls.py"])[0]
MEASURED = 'average("round", sq(view.gradient(view.round_start("w"))))'


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Write the files, one of them otherwise, and return the folder; nothing stays imported."""
    monkeypatch.setattr("sys.path", [*sys.path])

    def write(file="descent.py", old="", new=""):
        for name in NAMES:
            text = FILES[name]
            if name == file:
                assert old in text
                text = text.replace(old, new)
            (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path

    yield write
    for name in NAMES:
        sys.modules.pop(name.removesuffix(".py"), None)


def told(folder, file="descent.py"):
    import_path.cache_clear()
    settings = Settings(profile="smoke")
    try:
        chosen = select([str(folder / file)])
        header(chosen, settings)
        judge(chosen, settings)
    except DriftproofError as error:
        return error
    raise AssertionError("nothing was told")


def rows_of(folder, **settings):
    import_path.cache_clear()
    return judge(select([str(folder / "descent.py")]), Settings(**settings))


def test_the_files_themselves_are_judged(written):
    (row,) = rows_of(written(), profile="smoke")
    assert row.verdict == "REFUTED"


B, S, D = "bowls.py", "server_step.py", "descent.py"
MISTAKES = [
    (B, SOLUTION, "", "bowls.py:15: Bowls has no solution", "add def solution(self), with @prop"),
    (B, "def start(", "def begin(", "Bowls has no start", "add def start(self)"),
    (B, "def oracles(", "def oracle(", "Bowls has no oracles", "rename oracle to oracles"),
    (S, "def step(", "def stpe(", "server_step.py:15: ServerStep has no step", "rename stpe to"),
    (B, "    @property\n    def constants", "    def constants",
     "bowls.py:28: constants of Bowls is a method", "write @property above def constants"),
    (B, "    def start", "    @property\n    def start", "start of Bowls is a property",
     "no @property above it"),
    (B, PROBLEM, "@problem\n", "bowls.py:15: @problem without brackets, above Bowls",
     "write @problem(name=…"),
    (B, 'source="my draft", ', "", "bowls.py:15: @problem without source", "add source=…"),
    (B, "source=", "sauce=", "unknown field of @problem 'sauce'", "did you mean source"),
    (B, "class Bowls(Problem)", "class Bowls", "does not derive from Problem", "class Bowls(Prob"),
    (S, "    step_size: Pos", '    needs = "feild"\n    step_size: Pos',
     "server_step.py:15: needs = 'feild' of ServerStep", "did you mean field?"),
    (S, "(Algorithm)", "", "does not derive from Algorithm", "class ServerStep(Algorithm)"),
    (B, "curvature: Positive = ", "curvature = ", "bowls.py:19: curvature = 1.0", "add the annot"),
    (B, "curvature: Positive = 1.0", "curvature: Positive", "bowls.py:19: curvature of Bowls w",
     "write curvature: … ="),
    (S, "ctx.everywhere(start))", "ctx.evrywhere(start))", "server_step.py:38: in init: Attrib",
     "did you mean everywhere"),
    (S, "self.step_size", "self.stepsize", "server_step.py:42: in step: Attr", "mean step_size"),
    (S, "        return State(w, w)\n", "        return w, w\n", "server_step.py:40: step of Serv",
     "mend step"),
    (B, "return exact if", "return exakt if", "bowls.py:66: in field_grad: NameError",
     "did you mean exact"),
    (B, "return self.curvature * (x", "return 2 * self.curvature * (x",
     "bowls.py:45: gradient of Bowls: bowls at x", "mend gradient"),
    (B, '"objective_smoothness"', '"objective_smothness"', "bowls.py:29: constants of Bowls",
     "did you mean objective_smoothness"),
    (B, "def start(self):", "def start(self)", "bowls.py:38: expected ':'", "mend the line"),
    (B, "import numpy", "import numpi", "bowls.py:9: ModuleNotFoundError", "did you mean numpy"),
    (S, '"step_size",', '"stepsize",', "letter 'eta' in the notation of ServerStep: unknown role",
     "did you mean step_size"),
    (D, "from bowls import Bowls", "from bowls import Bowl", "descent.py:1: ImportError",
     "did you mean Bowls"),
    (D, "from bowls", "from bowl", "descent.py:1: ModuleNotFoundError", "did you mean bowls"),
    (D, 'round_start("w")', 'round_start("v")', "descent.py:29: in descent: unknown quantity 'v'",
     "take one of them"),
    (D, 'round_start("w")', "round_start(w)", "descent.py:29: in descent: NameError",
     'write it in quotes, "w"'),
    (D, "sq(view", "norm(view", "descent.py:29: in descent: NameError", "did you mean sq?"),
    (D, "grid, sq, sweep", "grid, norm, sweep", "descent.py:4: ImportError", "did you mean sq?"),
    (D, "grid, sq, sweep", "grid, sweep", "NameError", "write from driftproof import sq"),
    (D, "grid, sq, sweep", "grid, sq, sweep, FedAvg", "ImportError",
     "write from driftproof.algorithms import FedAvg"),
    (D, "return average", "average", "descent.py:28: descent returned None", "write return before"),
    (D, MEASURED, 'sq(view.mean("w"))', "descent.py:28: descent returned Tensor", "return each("),
    (D, "view.gradient(view.round_start(\"w\"))", "view.client_gradients(view.mean(\"w\"))[0]",
     "descent.py:29: in descent: bowls does not say what each client's gradient of F is",
     "add it to the class Bowls, or measure view.gradient(x)"),
    (S, "    w: Tensor", "    x: Tensor", "state of x, start, and ServerStep does not set iterate",
     'write iterate = "x", say, in class ServerStep'),
    (S, "    notation = {", '    iterate = "v"\n    notation = {', "w, start, and iterate = 'v'",
     'write iterate = "w", say'),
    (D, MEASURED, 'average("round", view.mean("w"))', "descent.py:28: descent returned a value of "
     "shape (1, 1)", "sq(…)"),
    (D, MEASURED, 'average("round", view.client("w"))', "of shape (2, 1, 1)", "sq(view.mean(…))"),
    (D, "sweep(0.0, 0.5)", "sweep([0.0, 0.5])", "descent.py:22: sweep([0.0, 0.5])",
     "write sweep(0.0, 0.5)"),
    (D, "sweep(0.0, 0.5)", "(0.0, 0.5)", "Bowls: noise = (0.0, 0.5)", "noise=sweep(0.0, 0.5)"),
    (D, "grid(\n", "grid(ServerStep(), Bowls(), rounds=1) + grid(\n",
     "descent.py:21: grid(…) with ServerStep() where a problem stands", "put the problem first"),
    (D, "Bowls(noise=sweep(0.0, 0.5), curvature=sweep(1.0, 2.0))", "Bowls",
     "Bowls, a class where a problem stands", "write Bowls(…)"),
    (D, "return c.F_gap", "c.F_gap", "descent.py:11: right returned None", "write return before"),
    (D, "c.F_gap /", "__import__('math').sqrt(c.F_gap) /", "descent.py:12: in right", "sympy.sqrt"),
    (D, "c.sigma**2", "c.sigma^2", "descent.py:12: in right: TypeError", "write **"),
    (D, 'statement=r"\\frac1S', 'statement="\\frac1S" r"', "has '\\x0c' in", "write r before"),
    (D, "c.F_gap /", "c.F_gapp /", "right: unknown letter 'F_gapp'\n      return c.F_gapp",
     "did you mean F_gap"),
    (D, "view.gradient(", "view.gradeint(", "descent.py:29: in descent", "did you mean gradient"),
    (D, "sq(view", "sqq(view", "29: in descent: NameError: name 'sqq'", "did you mean sq?"),
    (D, "from server_step", "from driftproof.algorithms import FedAgv\nfrom server_step",
     "descent.py:2: ImportError", "did you mean FedAvg"),
    (D, "noise=sweep(", "niose=sweep(", "descent.py:22: TypeError: Bowls", "did you mean noise?"),
    (D, "(step_size=", "(step_sise=", "descent.py:23: TypeError: Ser", "did you mean step_size?"),
    (D, "    source=", '    kind="bond", source=', "descent.py:15: unknown kind of @bound 'bond'\n",
     "did you mean bound?"),
    (D, "    right=", "    rihgt=", "descent.py:15: unknown field of @bound", "did you mean right"),
    (D, "    right=", '    letters={"S": "step_sise"}, right=', "unknown role 'step_sise'",
     "did you mean step_size"),
    (D, "[SMALL]", '[Assumption("A", "", roles=("inner_gradient_bond",))]', "unknown role 'inner_",
     "did you mean inner_gradient_bound"),
    (D, "def right(c)", "def right(c, d)", "descent.py:11: right of claim mine/descent is right(c",
     "let it take c, and nothing else"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "old", "new", "got", "remedy"), MISTAKES)
def test_a_mistake_is_told_where_it_is(written, file, old, new, got, remedy):
    error = told(written(file, old, new))
    assert got in error.got
    assert remedy in f"{error.remedy} {error.wanted}"
    assert "--debug" not in error.remedy


SELF = "remove self: the functions of a claim are no methods"


@pytest.mark.parametrize(
    ("old", "new", "line", "wanted"),
    [
        ("def descent(view)", "def descent(self, view)", 28, "def descent(view)"),
        ("def right(c)", "def right(self, c)", 11, "def right(c)"),
        ("    right=right", "    range=lambda self, c: 1,\n    right=right", 26, "lambda c: …"),
        ("    right=right", "    readings={'a': dp.literal(lambda self, c: 1)}", 26, "lambda c: …"),
        (
            "    right=right",
            "    right=right,\n"
            "    false_siblings=[('a', dp.Stated(lambda c: 1, left=lambda self, view: 1))]",
            27,
            "lambda view: …",
        ),
    ],
)
def test_self_is_recognised(written, old, new, line, wanted):
    folder = written(D, old, new)
    path = folder / D
    path.write_text(
        path.read_text(encoding="utf-8").replace("\n\n", "\nimport driftproof as dp\n", 1)
    )
    error = told(folder)
    assert f"{D}:{line}: " in error.got
    assert (error.wanted, error.remedy) == (wanted, SELF)


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


@pytest.mark.parametrize("line", ['needs = "field"', "LIMIT = 3", "_cache = 1", "name = None"])
def test_what_is_no_parameter_may_do_without_an_annotation(written, line):
    assert rows_of(
        written(S, "    notation = {", f"    {line}\n    notation = {{"), profile="smoke"
    )


def test_a_decorator_without_brackets_is_no_file_without_claims(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("from driftproof import bound\n\n@bound\ndef drift(view):\n    return 1\n")
    with pytest.raises(DriftproofError) as caught:
        select([str(path)])
    assert f"{path}:3: @bound without brackets, above drift" in caught.value.got
    assert "driftproof new claim NAME" in caught.value.remedy


def test_a_decorator_may_be_written_with_the_packages_name(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text('import driftproof as dp\n\n@dp.bound(name="a/b")\ndef drift(view):\n    ...\n')
    assert [leaf.name for leaf in leaves_in(path, "claim")] == ["a/b"]
    path.write_text('import other as dp\n\n@dp.bound(name="a/b")\ndef drift(view):\n    ...\n')
    assert not list(leaves_in(path, "claim"))


def test_a_constant_that_is_too_small_is_named_with_its_problem(written):
    declared = '"field_gradient_noise": self.noise'
    rows = rows_of(written(B, declared, f"{declared} / 2"))
    ((sentence, count),) = exceeded_in(rows).items()
    assert sentence.startswith("bowls: field_gradient_noise is declared 0.25, but at x = ")
    assert "it is 0.5 " in sentence
    assert count == sum(row.verdict == "INAPPLICABLE" for row in rows) - 1  # one breaks γη ≤ 1/L
    assert not exceeded_in(rows_of(written(), profile="smoke"))


def test_a_print_that_is_refuted_and_not_on_record_is_no_failed_control(written):
    (control,) = checked(rows_of(written(), profile="smoke"))
    assert (control.answer, control.good, control.verdict) == ("not on record", False, "REFUTED")
    assert json.dumps(vars(control))


def test_new_says_where_it_wrote_and_never_overwrites(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    made = CliRunner().invoke(new.command, ["claim", "mine/drift"])
    path = tmp_path / "drift.py"
    assert f"wrote {path}: the claim mine/drift\n" in made.stdout
    assert "it is not in the folder mine: a claim's name is no path" in made.stdout
    path.write_text("mine", encoding="utf-8")
    again = CliRunner().invoke(new.command, ["claim", "drift"])
    assert isinstance(again.exception, DriftproofError)
    assert f"{path} exists" in again.exception.got
    assert path.read_text(encoding="utf-8") == "mine"
    other = CliRunner().invoke(new.command, ["claim", "yours/other"])
    assert "no path" not in other.stdout


def test_a_message_names_the_function_that_was_called():
    with pytest.raises(DriftproofError) as told:
        over([smooth_convex(L=1)], [FedAvg(), FedAvg()])
    assert "grid" not in str(told.value)
    assert "over(…) with [FedAvg" in told.value.got
    assert told.value.remedy == "add lists of cases: over(…) + over(…)"
