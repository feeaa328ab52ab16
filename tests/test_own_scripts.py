"""The script of a claim of one's own: it recomputes the refutation without driftproof."""

import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from driftproof.toolkit.report.page import asset
from driftproof.verifiers.claim_types.sources import claims_in
from driftproof.verifiers.standalone.of_class import script_of_class
from tests.commands import driftproof
from tests.fresh_install import blocks

ON_CASES = (
    blocks("docs/testing.md")[0]
    .replace("BoundedComposition()", "BoundedComposition(distance=20.0)")
    .replace("ComFedL(", "ComFedL(local_steps=5, ")
)
WITH_BIAS = blocks("docs/claims.md", "## A whole class instead of cases")[0]
OVER_A_CLASS = WITH_BIAS.replace(" + c.eta**2 * c.zeta) ** 2", ") ** 2")
SIDES = re.compile(r"REFUTED (.+): left = (\S+) > right = (\S+)\n")


def ran(path):
    return subprocess.run([sys.executable, "-I", str(path)], capture_output=True, text=True)


def test_a_refutation_on_a_case(tmp_path):
    (tmp_path / "mine.py").write_text(ON_CASES, encoding="utf-8")
    printed = driftproof("counterexample", "mine.py", "--quiet", cwd=tmp_path)
    assert (printed.returncode, printed.stderr) == (0, "")
    assert "driftproof import" not in printed.stdout
    (tmp_path / "c.py").write_text(printed.stdout, encoding="utf-8")
    form, left, right = SIDES.fullmatch(ran(tmp_path / "c.py").stdout).groups()
    assert form == "printed"
    assert (float(left), float(right)) == (pytest.approx(0.25), pytest.approx(0.05))
    assert {path.name for path in tmp_path.iterdir() if path.is_file()} == {"mine.py", "c.py"}


BROKEN = """

from driftproof import bound, each, grid, sq
from driftproof.algorithms import ComFedL
from driftproof.problems import BoundedComposition

@bound(name="mine/broken", source="x", statement="x", right=lambda c: c.eta,
       cases=grid(BoundedComposition(), ComFedL(), rounds=2))
def broken(view):
    return each("round", sq(view.mean("w")) / (1 // 0))
"""


def test_a_claim_that_fails_costs_no_other_its_script(tmp_path):
    (tmp_path / "mine.py").write_text(ON_CASES + BROKEN, encoding="utf-8")
    (name,) = (leaf.name for leaf in claims_in(tmp_path / "mine.py") if "broken" not in leaf.name)
    words = ("counterexample", "mine.py", "--quiet", "--form")
    shown = driftproof(*words, name, cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "REFUTED" in shown.stdout
    assert re.search("Not judged: mine/broken: .*ZeroDivisionError", shown.stderr)
    lost = driftproof(*words, "no such form", cwd=tmp_path)
    assert (lost.returncode, lost.stdout) == (2, "")
    assert "Not judged: mine/broken.\n" in lost.stderr
    assert "ZeroDivisionError" in lost.stderr


def test_a_function_that_hands_its_view_on_has_a_script(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from driftproof import Reduction, Steps, bound, each, grid, sq\n"
        "from driftproof.algorithms import ProximalGradient\n"
        "from driftproof.problems import CompositeQuadratic\n"
        "def moved(view: Steps) -> Reduction | None:\n"
        "    off = sq(view.mean('w') - view.round_start('w'))\n"
        "    return each('round', 'local_step', off)\n"
        "@bound(name='mine/still', source='x', statement='0', right=lambda c: 0 * c.eta,\n"
        "       cases=grid(CompositeQuadratic(), ProximalGradient(step_size=0.1), rounds=1))\n"
        "def left(view: Steps) -> Reduction | None:\n"
        "    return moved(view)\n",
        encoding="utf-8",
    )
    made = driftproof("counterexample", "mine.py", "--run", cwd=tmp_path)
    _, left, right = SIDES.fullmatch(made.stdout).groups()
    assert float(left) > float(right) == 0


def test_an_algorithm_and_a_problem_of_ones_own_by_autograd(tmp_path):
    (text,) = (of for of in blocks("docs/own_bilevel.md") if "AutogradMinimax(" in of)
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    printed = driftproof("counterexample", "mine.py", "--quiet", cwd=tmp_path).stdout
    assert "Recorded" not in printed
    assert "for _ in range(10):  # round" in printed
    (tmp_path / "c.py").write_text(printed, encoding="utf-8")
    _, left, right = SIDES.fullmatch(ran(tmp_path / "c.py").stdout).groups()
    assert (float(left), float(right)) == (pytest.approx(7.908750513155335), 4.5)


def test_a_refutation_over_a_class_is_checked_in_fractions(tmp_path):
    (tmp_path / "mine.py").write_text(OVER_A_CLASS, encoding="utf-8")
    made = driftproof("counterexample", "mine.py", "--run", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    _, left, right = SIDES.fullmatch(made.stdout).groups()
    assert driftproof("verify", "mine.py", cwd=tmp_path).returncode == 1
    folder = tmp_path / "report-mine/certificates"
    checked = driftproof("check", *map(str, folder.iterdir())).stdout  # another program
    assert f"the left side is {float(left):.6g}" in checked
    assert float(right) < float(left)


def damaged(found, part):
    if part == "values":
        name = next(iter(found["numbers"]))
        found["numbers"][name] = "9"
    elif part == "assumptions":
        found["assumptions"]["start"]["at_most"] = "1/9"
    else:
        found["conclusion"]["right"] = "9"
    return found


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("class")
    (folder / "mine.py").write_text(OVER_A_CLASS, encoding="utf-8")
    assert driftproof("verify", "mine.py", cwd=folder).returncode == 1
    return sorted((folder / "report-mine/certificates").glob("*counterexample*"))[0].read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("values", "is not smooth-strongly-convex"),
        ("assumptions", "not met: start"),
        ("conclusion", "assert left > right"),
    ],
)
def test_what_refutes_nothing_fails(found, part, said, tmp_path):
    script = tmp_path / "c.py"
    script.write_text(script_of_class("a", 'a "form"', found), encoding="utf-8")
    assert SIDES.fullmatch(ran(script).stdout)[1] == 'a "form"'
    text = json.dumps(damaged(json.loads(found), part))
    script.write_text(script_of_class("a", "b", text), encoding="utf-8")
    failed = ran(script)
    assert failed.returncode == 1
    assert said in failed.stderr


KINDS = """
from driftproof import bound, each, sq
from driftproof.algorithms import FedAvg
from driftproof.classes import over, {kind}, start_gap, start_within


@bound(
    name="mine/gradient", source="my draft", statement="a",
    classes=over([{kind}(L=2), {start}], FedAvg(step_size=0.25), rounds=2, clients=1),
    right=lambda c: {right},
)
def left(view):
    return each("round", "local_step", {left}) if view.last else None
"""


@pytest.mark.parametrize(
    ("kind", "start", "left", "right"),
    [
        ("smooth", "start_gap(delta=1)", 'sq(view.gradient(view.mean("w")))', "c.F_gap"),
        ("smooth_convex", "start_within(R=1)", 'view.gap(view.mean("w"))', "c.R**2 / 9"),
    ],
)
def test_every_class_that_has_simple_counterexamples(kind, start, left, right, tmp_path):
    text = KINDS.format(kind=kind, start=start, left=left, right=right)
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    made = driftproof("counterexample", "mine.py", "--run", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert SIDES.fullmatch(made.stdout)


def test_what_has_no_script_is_told(tmp_path):
    true = ON_CASES.replace("c.tau * c.eta**2", "c.tau**2 * c.eta**2")
    (tmp_path / "mine.py").write_text(true, encoding="utf-8")
    made = driftproof("counterexample", "mine.py", cwd=tmp_path)
    assert (made.returncode, made.stdout) == (2, "")
    assert "no form is refuted" in made.stderr
    assert "driftproof falsify mine.py" in made.stderr
    (tmp_path / "mine.py").write_text(ON_CASES, encoding="utf-8")
    made = driftproof("counterexample", "mine.py", "--form", "corrected", cwd=tmp_path)
    assert made.returncode == 2
    assert "unknown refuted form 'corrected'" in made.stderr


# -- A claim over a class in a file of one's own: proved, refuted, or refused with its line


SECTION = (
    (Path(__file__).parents[1] / "docs/claims.md")
    .read_text(encoding="utf-8")
    .partition("## A whole class instead of cases\n")[2]
    .partition("\n## ")[0]
)
(MINE,) = re.findall(r"```python\n(.*?)```", SECTION, re.S)
PROVED, REFUTED, REFUSED = re.findall(r"```console\n(.*?)```", SECTION, re.S)
RIGHT, WITHOUT_BIAS = " + c.eta**2 * c.zeta) ** 2", ") ** 2"

OWN_ALGORITHM = """
from typing import NamedTuple

from torch import Tensor

from driftproof import Algorithm, Positive, PositiveInt, algorithm, bound, each, sq
from driftproof.classes import over, smooth_convex, start_within


class State(NamedTuple):
    w: Tensor


@algorithm(name="own", source="my draft", statement=r"w_{t+1} = w_t - \\eta\\, u_t")
class Own(Algorithm):
    local_steps: PositiveInt = 1
    step_size: Positive = 0.1
    notation = {"tau": "local_steps", "eta": "step_size"}

    def init(self, ctx, oracles, start):
        return State(ctx.everywhere(start))

    def step(self, ctx, oracles, state):
        u = oracles.field_grad(state.w, None)
        return State(state.w - self.step_size * u)


@bound(
    name="mine/own", source="my draft", statement=r"\\|w_1-w^*\\|^2 \\le R^2",
    classes=over([smooth_convex(L=1), start_within(R=1)], Own(), rounds=1, clients=1),
    right=lambda c: c.R**2,
)
def distance(view):
    return each("round", "local_step", sq(view.mean("w") - view.minimiser))
"""


def lines(shown):
    """Return the lines of an example's output that it shows in full."""
    kept = (line for line in shown.splitlines() if not line.startswith(("$", "…")))
    return [" ".join(line.removesuffix("…").split()) for line in kept if line.strip()]


def verified(folder, text):
    (folder / "mine.py").write_text(text, encoding="utf-8")
    return driftproof("verify", "mine.py", cwd=folder)


def said(made):
    return " ".join(made.stdout.split())


def check_shown(shown, *made):
    """Assert that every line of an example is what the commands say."""
    whole = " ".join(map(said, made))
    for line in lines(shown):
        if not line.startswith("──"):
            assert line in whole, line


def test_the_claim_is_proved_and_its_certificates_are_checked(tmp_path):
    assert len(MINE.splitlines()) <= 25
    made = verified(tmp_path, MINE)
    assert made.returncode == 0
    results = json.loads((tmp_path / "report-mine/results.json").read_text(encoding="utf-8"))
    jsonschema.validate(results, json.loads(asset("results.schema.json")))
    assert len(results["results"][0]["certificates"]) == 1
    certificates = sorted((tmp_path / "report-mine/certificates").iterdir())
    assert len(certificates) == 2
    checked = driftproof(
        "check", *(str(path.relative_to(tmp_path)) for path in certificates), cwd=tmp_path
    )
    assert checked.returncode == 0
    assert checked.stdout.count("PROVED") == 2
    assert checked.stdout.splitlines()[-1] == "2 certificates hold, 0 do not"
    assert all(path.stem.endswith("-after-step-2-of-round-1") for path in certificates)
    older = certificates[0].with_name("mine-one-round-8e2287ce70d1-0.json")
    certificates[0].rename(older)
    assert driftproof("check", str(older)).returncode == 0
    check_shown(PROVED, made, checked)


def test_without_the_bias_it_is_refuted_by_functions_that_a_reader_can_check(tmp_path):
    assert MINE.count(RIGHT) == 1
    made = verified(tmp_path, MINE.replace(RIGHT, WITHOUT_BIAS))
    assert made.returncode == 1
    folder = tmp_path / "report-mine/certificates"
    (path,) = folder.glob("*counterexample-fdd*")
    checked = driftproof("check", str(path.relative_to(tmp_path)), cwd=tmp_path)
    assert checked.returncode == 0
    check_shown(REFUTED, made, checked)
    assert f"certificates/{path.name}" in said(made)
    every = sorted(map(str, folder.iterdir()))
    last = driftproof("check", *every).stdout.splitlines()[-1]
    assert last == f"{len(every)} counterexamples hold, 0 do not"
    left = float(re.search(r"the left side is (\S+)", checked.stdout)[1])
    ran = float(re.search(r"in doubles: ([\d.]+\d)", said(made))[1])
    assert ran == pytest.approx(left, rel=1e-4)
    page = (tmp_path / "report-mine/index.html").read_text(encoding="utf-8")
    assert "functions that refute it, and where they were asked" in page
    assert "at x_0 = (0.999, 0): gradient (0.103, 0.872), value 0.051311," in page
    assert f'<a href="certificates/{path.name}">counterexample</a>' in page


def test_an_algorithm_of_ones_own_is_followed(tmp_path):
    made = verified(tmp_path, OWN_ALGORITHM)
    assert made.returncode == 0, made.stderr
    assert "SUPPORTED class 1 1" in said(made)


def test_a_step_that_leaves_the_span_is_refused_with_its_line(tmp_path):
    step = "* u * u"  # of others tests/test_worst_cases.py has the table
    text = OWN_ALGORITHM.replace("self.step_size * u)", f"self.step_size {step})")
    (at,) = (k for k, line in enumerate(text.splitlines(), 1) if step in line)
    made = verified(tmp_path, text)
    assert made.returncode == 1
    assert "INCONCLUSIVE" in made.stdout
    assert f"mine.py:{at}: " in made.stdout
    assert text.splitlines()[at - 1].strip() in made.stdout
    wanted = REFUSED.replace(":24:", f":{at}:").rstrip(" …\n").split()
    assert " ".join(wanted[3:]) in " ".join(made.stdout.split())
