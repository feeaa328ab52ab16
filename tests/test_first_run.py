"""What a first verification waits for: kernels, each compiled once; and the report's libraries."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass

import pytest

from synthetic.problems import BoundedComposition
from toolkit.algorithms import ComFedL, LocalSCGDM
from toolkit.cases import Case
from toolkit.discover import leaves
from verifiers.running import compiled
from verifiers.running.compiled import Compile, compile_for
from verifiers.running.scheduler import Units, run_jobs

SERVED = Case(BoundedComposition(), LocalSCGDM(), rounds=1)
UNSERVED = Case(BoundedComposition(), ComFedL(), rounds=1)


@pytest.fixture
def ran(monkeypatch, tmp_path):
    """The kernels that are run, by name and precision, with machine code in an empty folder."""
    seen = []

    def run(name, dtype, algorithm, problem):
        seen.append((name, dtype))
        return True

    def here(*given, apart, **others):
        assert apart
        return run_jobs(*given, **others)

    monkeypatch.setattr(compiled, "run_jobs", here)  # what is seen apart is not seen here
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiled, "_ran", run)
    return seen


def test_what_cases_need_is_compiled_once_and_the_wait_is_told(ran):
    told = []
    compile_for([UNSERVED, SERVED, SERVED], 1, told.append)
    name = "local-scgdm-stretches"
    assert sorted(ran) == [(name, "float32"), (name, "float64")]
    assert [text.partition(", about")[0] for text in told] == [
        f"compiling kernels, once: {done} of 2" for done in range(3)
    ]
    assert all(text.endswith("s left") for text in told)
    compile_for([SERVED], 1, told.append)
    assert (len(ran), len(told)) == (2, 3)  # nothing is left to do


@dataclass(frozen=True)
class Whose:
    """A unit that says which process did it."""

    name: str = "whose"
    path: None = None

    def work(self):
        return str(os.getpid()).encode()


def test_one_kernel_alone_is_compiled_in_a_process_of_its_own():
    """Else a kernel on all threads would keep the command from forking its workers."""

    def job():
        yield [Whose()]

    did = []
    run_jobs([job()], Units(None, resume=False), workers=1, apart=True,
             each=lambda unit, result: did.append(int(result[0])))  # fmt: skip
    assert len(did) == 1
    assert did != [os.getpid()]


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


WRITES = """
    import os, sys
    from pathlib import Path
    from toolkit.workers import may_fork
    from toolkit.report import beside
    may_fork()
    here = os.getpid()
    beside._here = lambda out, head, rows: (out / "who").write_text(str(os.getpid()))
    with beside.report_writer() as write:
        {first}
        write(Path({out!r}), {{}}, {rows})
    print((Path({out!r}) / "who").read_text() == str(here))
"""


def written_here(tmp_path, first, rows="[]"):
    script = textwrap.dedent(WRITES).format(out=str(tmp_path), first=first, rows=rows)
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert ended.stderr == ""
    return json.loads(ended.stdout.lower())


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is forked")
def test_a_report_is_written_by_a_process_of_its_own(tmp_path):
    assert not written_here(tmp_path, "pass")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is forked")
def test_where_that_process_is_gone_the_command_writes_it(tmp_path):
    kill = (
        "import multiprocessing; [c.kill() or c.join() for c in multiprocessing.active_children()]"
    )
    assert written_here(tmp_path, kill)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is forked")
def test_what_cannot_be_sent_is_written_here(tmp_path):
    assert written_here(tmp_path, "pass", rows="[lambda: None]")
