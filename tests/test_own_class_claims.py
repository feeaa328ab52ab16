"""A claim over a class in a file of one's own: proved, refuted, or refused with its line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest

from driftproof.toolkit.report.page import asset
from tests.commands import driftproof

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
    assert all(path.stem.endswith("-after-step-2-of-round-0") for path in certificates)
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
    assert "at x_0 = (0.999, 0): gradient (0.103, 0.79), value 0.051448," in page
    assert f'<a href="certificates/{path.name}">counterexample</a>' in page


def test_an_algorithm_of_ones_own_is_followed(tmp_path):
    made = verified(tmp_path, OWN_ALGORITHM)
    assert made.returncode == 0, made.stderr
    assert "SUPPORTED class 1 1" in said(made)


@pytest.mark.parametrize("step", ["* u * u", "* (u > 0) * 1.0"])
def test_a_step_that_leaves_the_span_is_refused_with_its_line(tmp_path, step):
    text = OWN_ALGORITHM.replace("self.step_size * u)", f"self.step_size {step})")
    (at,) = (k for k, line in enumerate(text.splitlines(), 1) if step in line)
    made = verified(tmp_path, text)
    assert made.returncode == 2
    assert f"mine.py:{at}: " in made.stderr
    assert text.splitlines()[at - 1].strip() in made.stderr
    assert not made.stdout
    if step == "* u * u":
        wanted = REFUSED.replace("…", "").replace(":24:", f":{at}:").split()
        assert " ".join(wanted[2:]) in " ".join(made.stderr.split())
