"""The command line: what it prints, what it exits with, and what it says to mistakes."""

import ast
import json
import os
import re
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from unicodedata import normalize

import jsonschema
import pytest

from driftproof.cli import INTERRUPTED, status
from driftproof.commands.new import BESIDE, ORIGINS, STARTS, _without_radii, as_a_user, renamed
from driftproof.toolkit.discover import KINDS, leaves
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.report.page import asset
from driftproof.toolkit.report.plain_math import plain_math
from driftproof.verifiers import baseline
from driftproof.verifiers.verify import select
from tests.commands import driftproof
from tests.fresh_install import blocks

OWN = {
    "mine.py": blocks("docs/testing.md")[0].replace("ComFedL(", "ComFedL(local_steps=5, "),
    "server_step.py": blocks("docs/worked_example.md", "In `server_step.py`:")[0],
}
SMOKE = ("--profile", "smoke", "--workers", "1")
SCHEMA = json.loads(asset("results.schema.json"))


def test_list_names_every_leaf_and_imports_none(tmp_path):
    made = driftproof("list", "--json")
    assert made.returncode == 0
    listed = {(row["kind"], row["name"]) for row in json.loads(made.stdout)}
    assert listed == {(kind, name) for kind in KINDS for name in leaves(kind)}
    loud = driftproof("list")
    for _, name in listed:
        assert name in loud.stdout
    one = driftproof("list", "claims")
    assert "comfedl/lemma-2" in one.stdout
    assert "kl-dro" not in one.stdout


def test_importing_and_listing_cost_nothing_heavy():
    """Which modules were loaded is what the limit on the import's time rests on."""
    code = (
        "from driftproof import DriftproofError, Problem, Algorithm, intended\n"
        "from driftproof.toolkit.discover import leaves\n"
        "[leaf for kind in ('claim', 'algorithm') for leaf in leaves(kind).values()]\n"
        "import sys; print(*sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    for heavy in ("torch", "sympy", "cvxpy", "scipy", "matplotlib", "numba", "sklearn"):
        assert heavy not in loaded


@pytest.mark.parametrize("kind", list(KINDS))
def test_show_tells_of_every_leaf(kind, capsys):
    """In this process: a new one for each leaf would import torch each time."""
    from driftproof.cli import cli

    for name, leaf in leaves(kind).items():
        cli.main(["show", name], prog_name="driftproof", standalone_mode=False)
        shown = capsys.readouterr().out
        assert name in shown
        assert str(leaf.path) in shown
        assert r"\order" not in shown, "the order itself stands there"


def test_a_formula_in_a_terminal_keeps_every_letter_and_number():
    for leaf in leaves("claim").values():
        claim = leaf.load()
        for latex in (claim.statement, *(a.statement for a in claim.assumes)):
            shown = plain_math(latex)
            assert "\\" not in shown
            source = re.sub(r"\\[a-zA-Z]+", "", latex)
            letters = [
                Counter(re.findall("[0-9a-zA-Z]", normalize("NFKD", text)))
                for text in (source, shown)
            ]
            assert letters[0] <= letters[1], leaf.name


def test_an_algorithm_to_start_from_is_among_the_shortest_that_stand_alone():
    """Shorter ones are variants, whose steps are elsewhere, or have no local steps."""
    alone = {}
    for name, leaf in leaves("algorithm").items():
        text = leaf.path.read_text(encoding="utf-8")
        (made,) = (n for n in ast.parse(text).body if getattr(n, "name", "") == leaf.symbol)
        local = "local_steps: One" not in text
        if [ast.unparse(base) for base in made.bases] == ["Algorithm"] and local:
            alone[name] = len(_without_radii(text).splitlines())
    assert len(alone) > 5
    assert ORIGINS["algorithm"] in sorted(alone, key=alone.get)[:3]


def test_show_tells_of_a_file_of_ones_own(tmp_path):
    (tmp_path / "server_step.py").write_text(OWN["server_step.py"], encoding="utf-8")
    (tmp_path / "mine.py").write_text(OWN["mine.py"], encoding="utf-8")
    shown = driftproof("show", "mine.py", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    printed = driftproof("show", "mine.py", "--latex", cwd=tmp_path).stdout
    assert r"right side, printed: G_{f}^{2} G_{g}^{2} \eta^{2} \tau" in printed
    for words in (
        "claim mine/drift",
        "source: my draft, Lemma 3",
        "ComFedL(local_steps=5), rounds=5",
        "    G_f ⋅G_g ⋅η ⋅τ",
        "driftproof verify mine.py",
    ):
        assert words in shown.stdout
    assert "verdict on record" not in shown.stdout
    (other,) = json.loads(driftproof("show", "server_step.py", "--json", cwd=tmp_path).stdout)
    assert (other["kind"], other["parameters"]["local_steps"]) == ("algorithm", 1)
    again = "from dataclasses import replace\nfrom mine import drift\n"
    again += "again = replace(drift, name='mine/again')\n"
    (tmp_path / "again.py").write_text(again, encoding="utf-8")
    assert "claim mine/again" in driftproof("show", "again.py", cwd=tmp_path).stdout
    three = driftproof("show", str(STARTS["minimax"]), cwd=tmp_path).stdout
    assert [three.count(x) for x in ("A minimax problem, a", "my draft", "algorithm both")] == [
        1,
        3,
        1,
    ]
    (tmp_path / "empty.py").write_text("x = 1", encoding="utf-8")
    empty = driftproof("show", "empty.py", cwd=tmp_path)
    assert (empty.returncode, empty.stdout) == (2, "")
    assert "declares nothing" in empty.stderr


def test_show_gives_constants_and_verdicts_on_record():
    shown = json.loads(driftproof("show", "comfedl/theorem-1", "--json").stdout)
    assert ["printed: the product that is printed", "REFUTED", 3] in shown["verdicts_on_record"]
    assert shown["assumptions"]
    problem = driftproof("show", "bounded-composition").stdout
    assert "objective_smoothness = " in problem


def test_verify_prints_json_that_the_schema_allows(tmp_path):
    chosen = ("comfedl/lemma-[12]", "comfedl/lemma-1-proof-v1", "comfedl/remark-1")
    made = driftproof("verify", *chosen, *SMOKE, "--json", "--out", str(tmp_path))
    assert made.returncode == 0, made.stderr
    printed = json.loads(made.stdout)
    jsonschema.validate(printed, SCHEMA)
    assert printed == json.loads((tmp_path / "results.json").read_text())
    assert printed["union_bound"] <= 0.01
    claims = {row["claim"] for row in printed["results"]}
    assert claims == {
        "comfedl/lemma-1",
        "comfedl/lemma-2",
        "comfedl/lemma-1-proof-v1",
        "comfedl/remark-1",
    }
    assert {"index.html", "ledger.sqlite", "results.json"} <= {
        path.name for path in tmp_path.iterdir()
    }


def test_verify_takes_names_globs_and_files(tmp_path):
    driftproof("new", "claim", "mine/drift", cwd=tmp_path)
    made = driftproof(
        "verify", "comfedl/lemma-[12]", "drift.py", *SMOKE, "--json", "--quiet", cwd=tmp_path
    )
    assert made.returncode == 0, made.stderr
    assert made.stderr == ""
    claims = {row["claim"] for row in json.loads(made.stdout)["results"]}
    assert claims == {"comfedl/lemma-1", "comfedl/lemma-2", "mine/drift"}


HELPERS = {
    "claim": ["driftproof.verifiers.papers.comfedl.claims.assumptions"],
    "kernel": [
        "driftproof.synthetic.kernels._minimax_cost",
        "driftproof.synthetic.kernels._nested_minimax",
        "driftproof.toolkit.kernels.registry",
    ],
}
"""What a new file imports beside what users do: of its origin's paper, pieces, kernels."""


@pytest.mark.parametrize("kind", list(ORIGINS))
def test_new_writes_a_file_that_works(kind, tmp_path):
    made = driftproof("new", kind, "mine/first-try", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    path = tmp_path / (f"first_try_{kind}.py" if kind in BESIDE else "first_try.py")
    assert 'name="mine/first-try"' in path.read_text()
    if kind in ("claim", *BESIDE):  # what is inside is called after it
        assert re.search(r"^(class FirstTry|def first_try)\b", path.read_text(), re.M)
    assert f"wrote {path}: the {kind} mine/first-try" in made.stdout
    again = driftproof("new", kind, "mine/first-try", cwd=tmp_path)
    assert again.returncode == 2
    assert "exists" in again.stderr
    shown = driftproof("show", path.name, cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "mine/first-try" in shown.stdout
    command = {"claim": "verify", "experiment": "run"}.get(kind, "show")
    assert f"\nnow: driftproof {command} {path.name}" in made.stdout  # all are run here
    left = re.findall(
        r"^from (driftproof\.(?:toolkit|synthetic|verifiers)\S*) import", path.read_text(), re.M
    )
    assert left == HELPERS.get(kind, [])  # everything else comes from driftproof
    if kind == "experiment":
        ran = driftproof("run", path.name, "--profile", "smoke", "--workers", "2", cwd=tmp_path)
        assert ran.returncode == 0, ran.stderr
        assert "more local steps" in ran.stdout
        (page,) = tmp_path.glob("**/index.html")
        assert "Repeat: <code>driftproof run first_try.py --profile smoke" in page.read_text()
        resumed = driftproof("run", path.name, "--profile", "smoke", "--resume", cwd=tmp_path)
        assert resumed.returncode == 0, resumed.stderr
    if kind == "claim":
        body = path.read_text().split('"""')[-1]
        assert len([line for line in body.splitlines() if line.strip()]) <= 60
        assert driftproof("verify", path.name, *SMOKE, cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("kind", list(ORIGINS))
def test_a_file_from_any_leaf_imports_what_driftproof_offers(kind):
    for leaf in leaves(kind).values():
        for node in ast.parse(renamed(leaf, "mine/first-try")).body:
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("driftproof"):
                for alias in node.names:  # a name of the module, or a module of the package
                    offered = dir(import_module(str(node.module)))
                    inside = f"{node.module}.{alias.name}"
                    assert alias.name in offered or import_module(inside), leaf.name


def test_what_driftproof_imports_itself_is_not_offered():
    text = "from typing import Any\nfrom driftproof.toolkit.network import Model\n"
    assert as_a_user(text) == "from typing import Any\nfrom driftproof.networks import Model\n"


MISTAKES = [
    (("verify", "comfedl/lema-2"), "did you mean comfedl/lemma-2"),
    (("verify", "nothing/*"), "unknown claim"),
    (("show", "lemma"), "unknown name"),
    (("run", "comfedl/imbalance"), "did you mean comfedl/imbalanced"),
    (("list", "claim5"), "did you mean claims"),
    (("new", "theorem", "x"), "unknown kind"),
    (("new", "claim", "No Good"), "lower-case"),
    (("new", "case", "mine/drift"), "cases=grid(problem, algorithm, rounds=…)"),
    (("verfy",), "did you mean verify"),
    (("verify", "--profile", "quik"), "quik"),
    (("verify", "--workers", "0"), "workers"),
    (("verify", "gone.py"), "gone.py"),
    (("report", "nowhere"), "no ledger"),
]


def test_a_file_of_ones_own_is_no_report(tmp_path):
    driftproof("new", "claim", "mine/drift", cwd=tmp_path)
    made = driftproof("report", "drift.py", cwd=tmp_path)
    assert made.returncode == 2
    assert "driftproof verify drift.py writes report-drift, and driftproof report" in made.stderr


@pytest.mark.parametrize(("words", "said"), MISTAKES)
def test_mistakes_are_told_without_a_traceback(words, said, tmp_path):
    made = driftproof(*words, cwd=tmp_path)
    assert made.returncode == 2
    assert said in made.stderr
    assert "Traceback" not in made.stderr
    assert list(tmp_path.iterdir()) == []


CLAIM = """
@bound(name='a/b', source='', statement='', right=1)
def a(view):
    return None
"""
FILES = {
    "no_python.py": ("this is (not python\n", "no_python.py:1"),
    "binary.py": ("\x00\x01", "binary.py"),
    "raises.py": ("x = 1\ny = x / 0\n" + CLAIM, "raises.py:2: ZeroDivisionError"),
    "empty.py": ("x = 1\n", "has no claim"),
    "import_error.py": (
        "import nowhere_to_be_found\n" + CLAIM,
        "import_error.py:1: ModuleNotFoundError",
    ),
    "negative.py": (
        "from driftproof.synthetic.problems import BoundedComposition\n"
        "from driftproof import bound\n"
        "PROBLEM = BoundedComposition(outer_slope=-2.0)\n" + CLAIM,
        "outer_slope = -2.0",
    ),
    "dynamic_name.py": (
        "from driftproof import bound\nN = 'a'\n"
        "@bound(name=N, source='', statement='', right=1)\ndef a(view):\n    return None\n",
        "has no literal name",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_files_that_are_no_claims_are_told_where(name, tmp_path):
    text, said = FILES[name]
    (tmp_path / name).write_text(text)
    made = driftproof("verify", name, cwd=tmp_path)
    assert made.returncode == 2, made.stdout + made.stderr
    assert said in made.stderr
    assert "wanted:" in made.stderr
    assert "Traceback" not in made.stderr
    if name == "raises.py":
        assert "Traceback" in driftproof("verify", name, "--debug", cwd=tmp_path).stderr


def test_a_claim_of_a_file_is_chosen_by_its_name(tmp_path):
    file = tmp_path / "two.py"
    cases = "cases=grid(BoundedComposition(), ComFedL(), rounds=1)"
    one = CLAIM.replace("right=1", f"right=lambda c: c.eta, {cases}")
    file.write_text(
        "from driftproof import bound, grid\nfrom driftproof.algorithms import ComFedL\n"
        "from driftproof.problems import BoundedComposition\n"
        + one
        + one.replace("a/b", "a/c").replace("def a", "def c")
    )
    assert [leaf.name for leaf in select([str(file)])] == ["a/b", "a/c"]
    assert [leaf.name for leaf in select([f"{file}::a/c"])] == ["a/c"]
    assert [leaf.name for leaf in select([f"{file}::a/*"])] == ["a/b", "a/c"]
    with pytest.raises(DriftproofError, match=r"two\.py.*'a/d'"):
        select([f"{file}::a/d"])


def test_an_error_inside_a_users_measure_is_told_at_its_line(tmp_path):
    driftproof("new", "claim", "mine/drift", cwd=tmp_path)
    path = tmp_path / "drift.py"
    path.write_text(path.read_text().replace('view.round_start("w")', 'view.round_start("w") / []'))
    line = next(k for k, text in enumerate(path.read_text().splitlines(), 1) if "/ []" in text)
    for workers in ("1", "2"):
        made = driftproof("verify", "drift.py", "--workers", workers, cwd=tmp_path)
        assert made.returncode == 2
        assert f"drift.py:{line}: in drift: TypeError" in made.stderr
        assert path.read_text().splitlines()[line - 1].strip() in made.stderr
        assert "leaked" not in made.stderr
        assert "Traceback" not in made.stderr


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_measure_that_exits_is_an_error_and_no_verdict(tmp_path, workers):
    driftproof("new", "claim", "mine/drift", cwd=tmp_path)
    path = tmp_path / "drift.py"
    path.write_text(path.read_text().replace('view.round_start("w")', "exit()"))
    made = driftproof("verify", "drift.py", *SMOKE, "--workers", workers, cwd=tmp_path)
    assert made.returncode == 2
    assert "SystemExit" in made.stderr


def test_a_device_that_is_missing_exits_with_3(tmp_path):
    made = driftproof("verify", "comfedl/lemma-2", *SMOKE, "--device", "cuda:7", cwd=tmp_path)
    assert made.returncode == 3
    assert "cuda:7" in made.stderr


def test_data_that_are_missing_exit_with_3(tmp_path):
    made = driftproof("run", "comfedl/imbalanced", "--data", str(tmp_path), cwd=tmp_path)
    assert made.returncode == 3
    assert "train-images-idx3-ubyte" in made.stderr


def test_controls_and_errata():
    controls = driftproof("controls", "comfedl/lemma-1", "--json", "--quiet", "--workers", "1")
    assert controls.returncode == 0, controls.stderr
    checks = json.loads(controls.stdout)
    assert {c["verdict"] for c in checks if c["control"].startswith("false")} == {"REFUTED"}
    errata = json.loads(driftproof("errata", "--json").stdout)
    found = {e["claim"]: (e["severity"], e["verdict"]) for e in errata}
    assert found["comfedl/theorem-1"] == ("misprint", "SUPPORTED")
    assert found["comfedl/remark-1"] == ("misprint", "SUPPORTED")
    assert found["comfedl/lemma-1-proof-v1"] == ("false", "REFUTED")
    refuted = {
        claim
        for claim, forms in baseline.read().items()
        for form, cases in forms.items()
        if form.startswith("printed") and "REFUTED" in cases.values()
    }
    assert {claim for claim, (_, verdict) in found.items() if verdict == "REFUTED"} <= refuted


def test_errata_of_a_file_of_ones_own_are_judged(tmp_path):
    text = OWN["mine.py"].replace("c.tau * c.eta**2", "c.eta**2")
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    made = driftproof("errata", "mine.py", "scgdm/theorem-3.4", "--json", cwd=tmp_path)
    mine, theirs = json.loads(made.stdout)
    assert (mine["claim"], mine["verdict"], mine["severity"]) == ("mine/drift", "REFUTED", None)
    assert theirs["claim"] == "scgdm/theorem-3.4"
    assert driftproof("errata", "mine/drift", cwd=tmp_path).returncode == 2


def test_version_and_help():
    from driftproof.toolkit import __version__

    assert __version__ in driftproof("--version").stdout
    shown = driftproof("--help").stdout
    bare = driftproof()
    assert (bare.returncode, bare.stdout) == (0, shown)
    assert __version__ == import_module("driftproof").__version__
    for path in (Path(__file__).parents[1] / "driftproof" / "commands").glob("[a-z]*.py"):
        assert path.stem.removesuffix("_") in shown


RIGHT, ASSUMES = "c.tau**2 * c.eta**2 * c.G_g**2 * c.G_f**2", "assumes=[A1, A2, A3, A4],"
BROKEN = [
    (RIGHT, "1 / 0"),
    (RIGHT, "c.eta / c.sigma_1"),
    (RIGHT, "'no number at all'"),
    ("right=squared_path,", "right=3,"),
    ("right=squared_path,", "right=squared_path,\n    cases=3,"),
    (ASSUMES, "assumes=A1,"),
    (ASSUMES, "assumes=[3],"),
    ('("10 % smaller", lambda c: 0.9', "(lambda c: 0.9"),
    ("(view: Steps)", "(view: int)"),
]


def test_mistakes_in_a_claims_file_are_told(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    assert status(["new", "claim", "mine/drift"]) == 0
    text = (tmp_path / "drift.py").read_text()
    for number, (old, new) in enumerate(BROKEN):
        assert old in text
        (tmp_path / f"broken_{number}.py").write_text(text.replace(old, new))
        assert status(["verify", f"broken_{number}.py", *SMOKE]) == 2, new
        assert "wanted" in capsys.readouterr().err


def test_a_claims_file_may_import_what_lies_beside_it_and_resume_sees_it_change(tmp_path):
    driftproof("new", "claim", "mine/drift", cwd=tmp_path)
    path = tmp_path / "drift.py"
    right = "return c.tau**2 * c.eta**2 * c.G_g**2 * c.G_f**2"
    text = path.read_text().replace('view.mean("w") -', 'FACTOR * view.mean("w") - FACTOR *')
    first = "\nfrom driftproof"
    text = text.replace(first, f"\nfrom beside import FACTOR{first}", 1)
    assert right in text
    path.write_text(text)
    for factor, verdict in ((1.0, 0), (2.0, 1), (1.0, 0)):
        (tmp_path / "beside.py").write_text(f"FACTOR = {factor}\n")
        made = driftproof("verify", "drift.py", *SMOKE, "--resume", cwd=tmp_path)
        assert made.returncode == verdict, made.stdout + made.stderr


def test_an_interrupted_command_names_resume_if_it_has_it(monkeypatch, capsys):
    from driftproof import cli

    def said(*words):
        status(words)
        return "".join(capsys.readouterr())

    def interrupted(*words, **options):
        raise KeyboardInterrupt

    names = cli.cli.list_commands(None)
    has = [name for name in names if "Go on with what --out holds" in said(name, "--help")]
    monkeypatch.setattr(cli.cli, "main", interrupted)
    assert has == [name for name in names if "with --resume" in said("--quiet", name)]
    assert has == ["falsify", "run", "verify"]
    assert said("conform") == said() == "driftproof: interrupted\n"


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_an_interrupted_verify_says_where_its_results_are(words, tmp_path, monkeypatch, capsys):
    from driftproof.verifiers import verify as judging

    def interrupted(*sources, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(judging, "judge", interrupted)
    assert status(["verify", "comfedl/lemma-2", "--out", str(tmp_path), *words]) == INTERRUPTED
    said = capsys.readouterr()
    assert said.out == ""
    assert f"the results so far are in {tmp_path / 'ledger.sqlite'}\n" in said.err
    assert "--resume goes on" in said.err


def test_a_defect_is_told_with_a_status_of_its_own(monkeypatch, capsys):
    from driftproof import cli

    def broken(*words, **options):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(cli.cli, "main", broken)
    monkeypatch.setattr(sys, "argv", ["driftproof", "list"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == cli.INTERNAL
    assert "internal error, ZeroDivisionError" in capsys.readouterr().err


def test_two_files_with_one_claims_name_are_refused(tmp_path):
    driftproof("new", "claim", "mine/drift", cwd=tmp_path)
    (tmp_path / "again.py").write_text((tmp_path / "drift.py").read_text())
    made = driftproof("verify", "drift.py", "again.py", *SMOKE, cwd=tmp_path)
    assert made.returncode == 2
    assert "both have a claim called 'mine/drift'" in made.stderr
    taken = (tmp_path / "drift.py").read_text().replace("mine/drift", "comfedl/lemma-2")
    (tmp_path / "taken.py").write_text(taken)
    made = driftproof("verify", "taken.py", *SMOKE, cwd=tmp_path)
    assert made.returncode == 2
    assert "comfedl/lemma-2" in made.stderr


def test_a_file_of_ones_own_cannot_be_recorded_and_has_a_folder_of_its_own(tmp_path):
    driftproof("new", "claim", "mine/drift", cwd=tmp_path)
    made = driftproof("verify", "drift.py", *SMOKE, "--record", cwd=tmp_path)
    assert made.returncode == 2
    assert "assert_claim" in made.stderr
    assert driftproof("verify", "drift.py", *SMOKE, cwd=tmp_path).returncode == 0
    assert (tmp_path / "report-drift" / "index.html").exists()
    assert not (tmp_path / "report").exists()


def test_a_shell_completes_the_names_of_claims():
    words = {"COMP_WORDS": "driftproof verify comfedl/lemma", "COMP_CWORD": "2"}
    environment = os.environ | words | {"_DRIFTPROOF_COMPLETE": "bash_complete"}
    made = driftproof(env=environment)
    assert made.returncode == 0
    assert "plain,comfedl/lemma-2" in made.stdout.splitlines()


LIGHT = """
import sys
from pathlib import Path
from driftproof.cli import status

certificates = [*map(str, Path("report/certificates").iterdir())]
for words in (["list", "claims"], ["errata"], ["errata", "feddro/*", "--json"],
              ["counterexample", "comfedl/theorem-1"], ["report", "report"],
              ["check", *certificates], ["prove", *certificates]):
    if status(words) or "torch" in sys.modules:
        sys.exit(f"{words}")
"""


def test_what_computes_nothing_imports_no_torch(tmp_path):
    """tests/test_paper.py holds it of ``driftproof paper``."""
    words = ("localsgd/contraction", "--profile", "smoke", "--workers", "1", "--out", "report")
    assert driftproof("verify", *words, cwd=tmp_path).returncode == 0
    made = subprocess.run(
        [sys.executable, "-c", LIGHT], cwd=tmp_path, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    assert "1 certificate holds" in made.stdout or "PROVED" in made.stdout
