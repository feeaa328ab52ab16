"""The wheel holds the packages, whole, and nothing else; what it holds is all that is needed.

``python -m tests.fresh_install`` goes further: it installs the wheel where nothing else is.
"""

import json
import os
import re
import subprocess
import sys
import tomllib
from configparser import ConfigParser
from zipfile import ZipFile

import pytest
import yaml

from driftproof.toolkit import __version__
from driftproof.toolkit.report.page import asset
from tests.fresh_install import ROOT, build

USED = """
import sys
from driftproof.cli import status

for words in (
    ["show", "comfedl/lemma-2", "--json"],
    ["verify", "comfedl/lemma-2", "--profile", "smoke", "--workers", "1", "--quiet"],
    ["counterexample", "comfedl/theorem-1"],
    ["new", "claim", "mine/own"],
):
    print(f"--- {words[0]}", flush=True)
    if status(words) != 0:
        sys.exit(f"{words}")
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build(ROOT, tmp_path_factory.mktemp("wheel"), isolated=False)


def test_the_recipe_for_conda_asks_for_what_the_wheel_does():
    recipe = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    called = {"cvxpy-base": "cvxpy", "matplotlib-base": "matplotlib", "pytorch": "torch"}
    asked = (line.split() for line in recipe["requirements"]["run"])
    wanted = [*project["dependencies"], f"python{project['requires-python']}"]
    assert {called.get(name, name) + version for name, version in asked} == set(wanted)
    assert recipe["context"]["version"] == __version__ == project["version"]


def test_mypy_checks_a_file_of_a_users_against_an_editable_install(tmp_path):
    """``make test`` runs in one, as docs/contributing.md installs it."""
    (tmp_path / "mine.py").write_text(
        "from driftproof import Assumption, bound\n"
        'Assumption("small steps", r"\\eta L \\le 1", relation=lambda c: c.eta * c.L <= 1)\n'
        'bound(name=1, source="mine", statement="a", right=lambda c: c.L)\n'
    )
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "mine.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={key: value for key, value in os.environ.items() if "PATH" not in key or key == "PATH"},
    )
    (error, *_) = found.stdout.splitlines()
    assert error.startswith('mine.py:3: error: Argument "name" to "BoundClaim"'), found.stdout
    assert found.stdout.count("error:") == 1


ROOMS = "toolkit", "verifiers", "synthetic", "gpu_bench"


def test_it_holds_every_file_of_the_package_and_no_other(wheel):
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "driftproof", *ROOMS],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\n")
    listed = [name for name in listed if name and (ROOT / name).is_file()]
    assert all((ROOT / "driftproof" / room).samefile(ROOT / room) for room in ROOMS)
    tracked = {name if name.startswith("driftproof/") else f"driftproof/{name}" for name in listed}
    assert "driftproof/py.typed" in tracked
    with ZipFile(wheel) as archive:
        held = set(archive.namelist())
        beside = {name for name in held if name.partition("/")[0] != "driftproof"}
        assert held - beside == tracked
        information = f"driftproof-{__version__}.dist-info"
        assert {name.partition("/")[0] for name in beside} == {information}
        assert f"{information}/licenses/LICENSE" in beside
        points = ConfigParser()
        points.read_string(archive.read(f"{information}/entry_points.txt").decode())
    assert points["console_scripts"]["driftproof"] == "driftproof.__main__:main"
    assert points["pytest11"]["driftproof"] == "driftproof.pytest_plugin"


def test_what_it_holds_is_all_that_is_needed(wheel, tmp_path):
    """Nothing of the checkout is on the path, and the verdict is as on record."""
    unpacked, work = tmp_path / "unpacked", tmp_path / "work"
    ZipFile(wheel).extractall(unpacked)
    work.mkdir()
    environment = os.environ | {"PYTHONPATH": str(unpacked), "COLUMNS": "200"}
    run = [sys.executable, "-P", "-c", USED]
    made = subprocess.run(run, cwd=work, env=environment, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    told = dict(re.findall(r"--- (\w+)\n(.*?)(?=--- |\Z)", made.stdout, re.S))
    assert json.loads(told["show"])["file"].startswith(str(unpacked))
    assert "The verdict on one case is as on record." in told["verify"]
    assert "REFUTED printed" in told["counterexample"]
    assert "from driftproof import" in (work / "own.py").read_text(encoding="utf-8")
    page = (work / "report" / "index.html").read_text(encoding="utf-8")
    assert asset("uPlot.iife.min.js")[:500] in page


def test_hosted_ci_covers_what_the_metadata_promise():
    """Three systems and every Python from the oldest that is promised; each installs the wheel."""
    workflow = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8"))
    (job,) = workflow["jobs"].values()
    matrix = job["strategy"]["matrix"]
    assert [name.partition("-")[0] for name in matrix["system"]] == ["ubuntu", "macos", "windows"]
    oldest = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f">={matrix['python'][0]}" == oldest["requires-python"]
    assert matrix["python"] == [f"3.{minor}" for minor in range(11, 15)]
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert commands[0] == "python -m tests.fresh_install"
    targets = (ROOT / "Makefile").read_text(encoding="utf-8")
    for word in commands[1].split()[1:-1]:
        assert f"\n{word}: " in targets
