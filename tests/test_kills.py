"""Law: killed at any moment and resumed, a command ends with the same results to the bit."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from tests.benchmarks.kills import TASKS, Killer, killed

KILLS = 50


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")
def test_killed_commands_end_as_if_undisturbed():
    *_, seen = killed(KILLS, seed=1, shares={"group": 0.6, "command": 0.3, "worker": 0.1}, turns=1)
    assert [fault for of in seen.values() for fault in of.faults] == []
    assert sum(of.kills for of in seen.values()) >= KILLS
    assert {task for task, _ in seen} == set(TASKS)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")
def test_a_ledger_that_loses_a_unit_would_be_noticed(monkeypatch):
    """A negative control: what is compared with has a unit more than any run ends with."""
    killer = Killer(TASKS["run"], "group", "0")
    units = {**killer.undisturbed.units, ("one more", "key"): "{}"}
    monkeypatch.setattr(killer, "undisturbed", replace(killer.undisturbed, units=units))
    assert "other units than undisturbed" in killer.until(1).faults
