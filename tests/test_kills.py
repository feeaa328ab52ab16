"""Law: killed at any moment and resumed, a command ends with the same results to the bit."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from tests.kills import MODES, TASKS, Killer

KILLS = {"group": 10, "command": 5, "worker": 2}
"""Of each command. A worker is often met by none: there are none before and after the work."""
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")


@LINUX
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("task", TASKS)
def test_a_killed_command_ends_as_if_undisturbed(task, mode):
    seen = Killer(TASKS[task], mode, f"1 {task} {mode}").until(KILLS[mode])
    assert seen.faults == []
    assert seen.kills >= KILLS[mode]


@LINUX
def test_a_ledger_that_loses_a_unit_would_be_noticed(monkeypatch):
    """A negative control: what is compared with has a unit more than any run ends with."""
    killer = Killer(TASKS["run"], "group", "0")
    units = {**killer.undisturbed.units, ("one more", "key"): "{}"}
    monkeypatch.setattr(killer, "undisturbed", replace(killer.undisturbed, units=units))
    assert "other units than undisturbed" in killer.until(1).faults
