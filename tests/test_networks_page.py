"""docs/networks.md: its files run, its lists are complete."""

from __future__ import annotations

import json
import re
from math import log
from pathlib import Path

import driftproof
from driftproof import networks
from tests.commands import driftproof as command
from toolkit.discover import leaves

PAGE = (Path(__file__).parents[1] / "docs" / "networks.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"In\s`(\w+\.py)`:\n\n```python\n(.*?)```", PAGE, re.S))


def test_a_model_of_ones_own_takes_under_20_lines_and_learns(capsys):
    assert set(FILES) == {"mine_function.py", "mine_module.py"}
    assert PAGE.count("```python") == len(FILES)
    told = {}
    for name, text in FILES.items():
        assert len([line for line in text.splitlines() if line.strip()]) < 20
        exec(compile(text, name, "exec"), {"__name__": "__main__"})
        told[name] = capsys.readouterr().out.strip()
    assert float(told["mine_function.py"]) < 0.8 * log(2)  # log 2 is guessing
    assert told["mine_module.py"] == "None True"


def test_the_page_names_every_network_and_every_problem():
    rows = re.findall(r"^\| `([\w-]+)` \|", PAGE, re.M)
    assert set(leaves("network")) <= set(rows)
    problems = {name for name in networks.__all__ if hasattr(getattr(networks, name), "oracles")}
    assert len(problems) == 5
    assert problems <= set(rows)
    for leaf in leaves("network").values():
        assert f"`{leaf.symbol}`" in PAGE
        assert getattr(driftproof.networks, leaf.symbol) is leaf.load()


def test_networks_are_listed_and_shown():
    listed = json.loads(command("list", "networks", "--json").stdout)
    assert {row["name"] for row in listed} == set(leaves("network"))
    assert "hidden = 40" in command("show", "Perceptron").stdout
