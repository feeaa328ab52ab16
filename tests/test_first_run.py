"""What a first verification waits for: kernels, each compiled once."""

from __future__ import annotations

import pytest

from driftproof.synthetic.problems import BoundedComposition
from driftproof.toolkit.algorithms import ComFedL, LocalSCGDM
from driftproof.toolkit.cases import Case
from driftproof.toolkit.discover import leaves
from driftproof.verifiers.running import compiled
from driftproof.verifiers.running.compiled import Compile, compile_for

SERVED = Case(BoundedComposition(), LocalSCGDM(), rounds=1)
UNSERVED = Case(BoundedComposition(), ComFedL(), rounds=1)


@pytest.fixture
def ran(monkeypatch, tmp_path):
    """The kernels that are run, by name and precision, with machine code in an empty folder."""
    seen = []

    def run(name, dtype, algorithm, problem):
        seen.append((name, dtype))
        return True

    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiled, "_ran", run)
    return seen


def test_what_cases_need_is_compiled_once_and_the_wait_is_told(ran):
    told = []
    compile_for([UNSERVED, SERVED, SERVED], 1, told.append)
    name = "local-scgdm-stretches"
    assert sorted(ran) == [(name, "float32"), (name, "float64")]
    assert told == [f"compiling kernels, once: {done} of 2" for done in range(3)]
    compile_for([SERVED], 1, told.append)
    assert (len(ran), len(told)) == (2, 3)  # nothing is left to do


def test_cases_without_a_kernel_wait_for_nothing(ran):
    told = []
    compile_for([UNSERVED], 1, told.append)
    assert ran == told == []


def test_what_fails_is_left_to_the_unit_that_needs_it(ran, monkeypatch, tmp_path):
    def fails(*given):
        raise ArithmeticError

    monkeypatch.setattr(compiled, "_ran", fails)
    compile_for([SERVED], 1)
    assert not list(tmp_path.iterdir())


def test_a_note_is_of_a_kernel_as_it_is_now(ran, monkeypatch):
    unit = Compile("local-scgdm-stretches", "float64")
    before = compiled._note(unit)
    monkeypatch.setattr(compiled, "_source", lambda name: b"changed")
    assert compiled._note(unit) != before


def test_every_kernel_is_known_to_the_notes():
    for name, leaf in leaves("kernel").items():
        assert compiled._source(name) == leaf.path.read_bytes()
