"""docs/networks.md: its files run, its lists are complete."""

from __future__ import annotations

import re
from math import log
from pathlib import Path

import numpy as np

import driftproof
from driftproof import networks
from driftproof.networks import ClientData, Perceptron
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.oracles import OFFERS

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


def test_the_page_says_which_problems_an_algorithm_fits():
    table = PAGE.split("| an algorithm's `needs` |")[1].split("\n\n")[0]
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (.*) \|$", table, re.M))
    told = {needs: set(re.findall(r"`(\w+)`", row)) for needs, row in rows.items()}
    random = np.random.default_rng(0)
    data = ClientData([random.normal(size=(6, 2))] * 2, [np.arange(6) % 2] * 2)
    groups = [np.eye(2)[np.arange(6) % 2]] * 2
    more = {"FairLosses": {"groups": groups}}
    model = Perceptron(hidden=2).model((2,), 2)
    offered = {
        name: getattr(networks, name)(model=model, data=data, **more.get(name, {})).offers
        for name in networks.__all__ if hasattr(getattr(networks, name), "oracles")
    }  # fmt: skip
    fitting = {
        needs: {name for name, offers in offered.items() if needs in OFFERS[offers]}
        for needs in set.union(*OFFERS.values())
    }
    assert told == fitting
    assert {leaf.load().needs for leaf in leaves("algorithm").values()} <= set(told)
