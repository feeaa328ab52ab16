"""Letters and roles: each has a meaning, and the command shows them."""

import json
import re
from pathlib import Path

import pytest

from driftproof.cli import cli
from driftproof.toolkit.constants import ROLES, RUN_ROLES
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.glossary import PARAMETERS, meanings, notations
from driftproof.toolkit.measure import Steps

PAGE = (Path(__file__).parents[1] / "docs" / "glossary.md").read_text(encoding="utf-8")


def said(capsys, *words):
    cli.main(list(words), prog_name="driftproof", standalone_mode=False)
    return capsys.readouterr().out


def test_every_letter_stands_for_a_role_that_has_a_meaning():
    known = {name for name, _, _ in meanings()}
    assert len(known) == len(ROLES) + len(RUN_ROLES) + len(PARAMETERS)  # one meaning each
    for owner, notation in notations().items():
        assert set(notation.values()) <= known, owner
    for claim in leaves("claim").values():
        assert set(claim.load().letters.values()) <= known, claim.name
    assert {role for notation in notations().values() for role in notation.values()} <= known


def test_a_parameter_is_a_field_of_some_algorithm_or_problem():
    fields = {
        name
        for kind in ("algorithm", "problem")
        for leaf in leaves(kind).values()
        for name in leaf.load()().values()
    }
    assert set(PARAMETERS) <= fields


def test_the_projects_own_words_have_one_meaning_each():
    table = PAGE.partition("## Letters and roles")[0]
    words = [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(words) > 30
    assert len(set(words)) == len(words)
    for word in (
        "claim",
        "form",
        "reading",
        "case",
        "evidence",
        "block",
        "replicate",
        "moment",
        "class",
        "certificate",
        "counterexample",
        "interpolation condition",
        "loose",
        "worst case",
    ):
        assert word in words


def test_every_thing_that_a_view_gives_is_in_the_table_of_the_docs():
    page = (Path(__file__).parents[1] / "docs" / "claims.md").read_text(encoding="utf-8")
    table = page.partition("What the function can ask of `view`")[2].partition("\n\nA name")[0]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    told = [re.match(r"\w+", name)[0] for cell in cells for name in re.findall(r"`(.+?)`", cell)]
    assert len(told) == len(set(told))
    assert set(told) == {name for name in dir(Steps) if not name.startswith("_")}


@pytest.mark.parametrize("words", [("show", "roles"), ("show", "letters"), ("list", "roles")])
def test_the_command_shows_all(words, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    told = said(capsys, *words)
    for name, _, meaning in meanings():
        assert name in told
        assert meaning in told
    held = json.loads(said(capsys, *words, "--json"))
    assert {row["name"] for row in held} == {name for name, _, _ in meanings()}


def test_one_role_and_one_letter(capsys):
    assert "sigma_1 in comfedl" in said(capsys, "show", "inner_gradient_noise")
    told = said(capsys, "show", "tau")
    assert "inner_steps (parameter)" in told
    assert "local_steps (parameter)" in told
    assert json.loads(said(capsys, "show", "tau", "--json"))
