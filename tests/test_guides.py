"""The how-to pages without a test file of their own: every block of them runs."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from driftproof import Context, bound, each, grid, sq, verify
from driftproof.algorithms import FedAvg, LocalSCGDM
from driftproof.classes import worst_case
from driftproof.problems import BoundedComposition, PiecewiseLosses
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.oracles import OFFERS
from tests.commands import driftproof

DOCS = Path(__file__).parents[1] / "docs"


def blocks(page: str) -> list[tuple[str, str]]:
    """Return (language, text) of each block of a page."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.S | re.M)
    assert len(found) == len(re.findall(r"^```\w+$", text, re.M))
    return found


def ran(page: str, capsys) -> dict[str, object]:
    """Run the Python of a page from top to bottom, and compare what it prints."""
    names: dict[str, object] = {"__name__": "page"}
    told: list[str] = []
    for language, text in blocks(page):
        if language == "python":
            exec(compile(text, page, "exec", dont_inherit=True), names)
            told = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
        elif language == "text":
            assert [line.rstrip() for line in text.splitlines()] == told
    return names


def taken(problem, method, rounds, left) -> np.ndarray:
    """Return a measure along a run, [comparisons, replicates]."""
    ctx = sampled_context(problem, ("guide",), replicates=8)
    return run(problem, method, ctx, rounds=rounds, left=left).values


def test_what_the_page_of_claims_defines_holds(capsys):
    names = ran("claims.md", capsys)
    for claim in (names["drift"], names["square"], names["along_the_run"]):
        assert {row.verdict for row in verify(claim, profile="smoke")} == {"SUPPORTED"}
    (row,) = verify(names["apart"])
    assert row.verdict == "SUPPORTED"
    assert row.rhs == pytest.approx(1.0)  # ζ²: the gradients are apart by 2 at most
    looked = taken(BoundedComposition(), LocalSCGDM(local_steps=2), 2, names["squared_mean"])
    assert len(looked) == 4
    # the section on the past: its three functions are one claim, which is met by a quadratic
    bowl = PiecewiseLosses(
        clients=1, gradients=((((-1.0, -1.0), (1.0, 1.0)),),), tails="linear", noise=0.5
    )
    for right, verdict in ((names["one_step"], "SUPPORTED"), (without_noise, "REFUTED")):
        claim = bound(
            name="mine/one-step",
            source="docs/claims.md",
            statement=r"x_{t+1}^2 \le (1-\eta L)^2 x_t^2 + \eta^2\sigma^2",
            cases=grid(bowl, FedAvg(step_size=0.1), rounds=2),
            right=right,
            range=names["noise_of_a_step"],
            measured={"before": r"\bar x_t^2"},
        )(names["squared"])
        assert [row.verdict for row in verify(claim, profile="smoke")] == [verdict]


def test_the_page_of_oracles_and_ctx(capsys):
    names = ran("oracles.md", capsys)
    page = (DOCS / "oracles.md").read_text(encoding="utf-8")
    for protocol in OFFERS.values():  # each need is in its table
        assert not [need for need in protocol if f'`"{need}"`' not in page]
    for method in vars(Context):
        assert method.startswith("_") or f"`{method}" in page or f"ctx.{method}" in page, method
    assert worst_case(
        names["OneByOne"](local_steps=1), names["CLASS"], rounds=1, left=names["distance"]
    ).value == pytest.approx(1 / 16)


@pytest.mark.parametrize("participation", [1.0, 0.5])
@pytest.mark.parametrize("local_steps", [1, 2])
def test_client_drift_is_what_the_page_of_claims_says(participation, local_steps, capsys):
    by_client = {
        "marked": lambda view: view.client("w")[:, 0],
        "state": lambda view: view.state.w[:, 0],
        "apart": lambda view: sq(view.client("w") - view.mean("w")),
    }
    lefts = {
        name: lambda view, of=of: each("round", "local_step", "client", of(view))
        for name, of in by_client.items()
    }
    lefts["drift"] = ran("claims.md", capsys)["client_drift"]
    lefts["mean"] = lambda view: each("round", "local_step", view.mean("w")[0])
    steep, shallow = ((-1.0, -4.0), (1.0, 4.0)), ((2.0, -1.0), (4.0, 1.0))
    curves = ((steep,), (shallow,), (((0.0, -2.0), (9.0, -2.0)),), (((0.0, -3.0), (9.0, -3.0)),))
    problem = PiecewiseLosses(clients=4, gradients=curves)
    method = FedAvg(local_steps=local_steps, step_size=0.1, participation=participation)
    made = {name: taken(problem, method, 1, left) for name, left in lefts.items()}
    marked, state, apart = (made[name][-4:] for name in by_client)
    step = 0.1 * local_steps
    # every client has moved, in the cohort or not, and shows it after the last step too
    np.testing.assert_allclose(
        marked, np.outer([0, step, 2 * step, 3 * step], np.ones(len(marked.T)))
    )
    assert (state == state[0]).all()  # what the server has averaged is the same for all
    assert (state[0] == made["mean"][-1]).all()
    assert (apart.sum(0) > 0).all()
    for k, drift in enumerate(made["drift"][-1]):
        pairs = [
            cohort
            for cohort in itertools.combinations(marked[:, k], round(4 * participation))
            if np.mean(cohort) == pytest.approx(state[0, k])
        ]
        assert any(drift == pytest.approx(np.var(cohort)) for cohort in pairs)


def without_noise(c):
    return (1 - c.eta * c.L) ** 2 * c.measured("before")


def test_the_search_of_a_test_is_called_as_the_page_says(capsys):
    language, text = blocks("falsify.md")[-1]
    assert language == "python"
    assert "search=30" in text
    names = ran("claims.md", capsys)
    exec(compile(text.replace("search=30", "search=1"), "falsify.md", "exec"), names)


def test_the_page_of_gpus(capsys, tmp_path):
    ran("gpu.md", capsys)
    if torch.cuda.is_available():
        pytest.skip("the rest of the page is about a machine without a GPU")
    (shown,) = [text for language, text in blocks("gpu.md") if language == "console"]
    command, *lines = shown.splitlines()
    made = driftproof(*command.removeprefix("$ driftproof ").split(), cwd=tmp_path)
    assert made.returncode == 3
    for line in lines:
        assert line.removesuffix("…").strip() in made.stderr
