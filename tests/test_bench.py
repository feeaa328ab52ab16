"""Laws of the benchmark: correct before timed, wrong ones refused, what is exported can be read."""

import json
import re
import subprocess
import time
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from driftproof.cli import cli
from driftproof.gpu_bench.prepared import PLAIN_STEPS, Prepared
from driftproof.gpu_bench.roofline import Ceilings, ceilings
from driftproof.gpu_bench.run import DTYPES, BenchmarkPlan, commit, limited, measured, run_benchmark
from driftproof.gpu_bench.table import COLUMNS, cells, size_text
from driftproof.gpu_bench.timer import TURNS, Timing, timed, timed_in_turn
from driftproof.gpu_bench.ways import distance, error_of, tolerance
from driftproof.gpu_bench.workload import chosen
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError, MissingError
from driftproof.toolkit.kernels.registry import Cost, Variant
from tests.benchmarks import targets
from tests.commands import driftproof

CEILINGS = Ceilings(
    "cpu",
    copy=1e10,
    launch=1e-6,
    words={"any": 1e9},
    flops={"float64": {"slow": 1e9, "fast": 1e11}, "float32": {"fast": 2e11}},
    operations={"float64": {"sines": 1e9, "roots": 2e9, "signs": 4e9}},
)
SMALL = {"clients": 3, "replicates": 5}
CASES = [leaf.load() for leaf in leaves("case").values()]


def small(case):
    return dict(SMALL) | ({"dim": 3} if case.name in ("w1", "w2", "w3", "w4") else {})


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_way_agrees_with_the_plain_steps_and_with_every_peer_at_hand(case, dtype):
    plan = BenchmarkPlan(cases=[case], peers=True, budget=0.0, seed=7)
    rows = list(measured(plan, case, small(case), dtype))
    assert rows[0]["taken"]
    assert {PLAIN_STEPS} < {row["variant"] for row in rows}
    for row in rows:
        assert not str(row.get("note", "")).startswith("WRONG"), row
        if "seconds" in row:
            assert 0 <= row["error"] <= row["tolerance"]
            assert row["client_steps_per_second"] > 0


@pytest.mark.parametrize("spoil", [1 + 1e-6, float("nan")])
def test_a_variant_that_is_wrong_is_not_timed(spoil, monkeypatch):
    (case,) = chosen(["w2"])
    true = Variant.__dict__["__init__"]

    def broken(self, kernel, name, device, advance, *more):
        def wrong(ctx, oracles, algorithm, state, steps):
            state, met = advance(ctx, oracles, algorithm, state, steps)
            return type(state)(*(x * spoil for x in state)), met

        true(self, kernel, name, device, wrong, *more)

    prepared = Prepared(case.at(**SMALL), seed=1, dtype="float64")
    kernel = prepared.kernel
    right = dict(kernel.variants)
    monkeypatch.setattr(Variant, "__init__", broken)
    monkeypatch.setitem(kernel.variants, "numba", None)
    kernel.variant("numba", device="cpu")(right["numba"].advance)
    plan = BenchmarkPlan(cases=[case], budget=0.0)
    rows = list(measured(plan, case, SMALL, "float64"))
    assert rows[0]["note"].startswith("WRONG")
    assert "seconds" not in rows[0]
    assert json.dumps(rows, allow_nan=False)
    assert "seconds" in rows[1]
    kernel.variants.update(right)


def test_a_result_that_was_not_written_does_not_pass(monkeypatch):
    """Not even if it is the second time, and what lies there is left over from a right one."""
    (case,) = chosen(["w2"])
    workload = case.at(**SMALL)
    prepared = Prepared(workload, seed=1, dtype="float64", rotate=False)
    reference = Prepared(workload, seed=1, dtype="float64", rotate=False)
    assert error_of(prepared, "numba", reference) <= tolerance(prepared)
    unwritten = {
        "numba": lambda i: type(prepared.first_start())(
            torch.empty(prepared.first_start().w.shape, dtype=torch.float64)
        )
    }
    monkeypatch.setattr(prepared, "variants", lambda: unwritten)
    assert not error_of(prepared, "numba", reference) <= tolerance(prepared)


def test_inputs_are_fresh_and_rotated():
    (case,) = chosen(["w1"])
    one, other = (Prepared(case.at(**small(case)), seed=s, dtype="float64") for s in (1, 2))
    assert one.rotated > 1
    assert np.abs(one.starts() - other.starts()).max() > 1e-3
    assert np.abs(one.starts(0) - one.starts(1)).max() > 1e-3


def test_an_agreement_is_in_the_size_of_the_reference():
    reference = np.array([100.0, 1.0])
    assert distance(reference + 1.0, reference) == pytest.approx(0.01)
    assert np.isnan(distance(np.array([np.nan, 1.0]), reference))
    assert np.isnan(distance(np.ones(3), reference))
    assert distance(np.zeros(2), np.zeros(2)) == 0


def test_a_single_precision_round_is_checked_against_double():
    (case,) = chosen(["w2"])
    workload = case.at(**SMALL)
    reference = Prepared(workload, seed=3, dtype="float64", rotate=False)
    single = Prepared(workload, seed=3, dtype="float32")
    assert 1e-9 < error_of(single, "numba", reference) < tolerance(single)


def test_a_limit_is_the_largest_of_three_and_a_share_its_part_of_the_time():
    cost = Cost(flops=1e9, bytes=2e8, words=1e6)
    assert CEILINGS.limit(cost, "float64") == (pytest.approx(0.02), "memory")
    assert CEILINGS.limit(Cost(1e10, 1e3), "float64") == (pytest.approx(0.1), "arithmetic")
    assert CEILINGS.limit(Cost(0.0, 0.0, 1e9), "float32") == (pytest.approx(1.0), "draws")


def test_sines_roots_and_signs_are_counted_at_their_own_rates():
    """One after the other with the flops; where a rate was not measured, they are not counted."""
    cost = Cost(flops=1e9, bytes=1.0, sines=1e7, roots=1e7, signs=1e7)
    assert CEILINGS.limit(cost, "float64") == (pytest.approx(0.0275), "arithmetic")
    assert CEILINGS.limit(cost, "float32") == (pytest.approx(0.005), "arithmetic")


def test_a_timing_counts_every_call_once_and_rotates():
    seen = []
    made = timed(seen.append, budget=0.0, least=4, warm_up=1)
    assert len(made.seconds) == 4
    assert seen[1:] == list(range(len(seen) - 1))
    assert made.quartiles[0] <= made.median <= made.quartiles[1]


@settings(deadline=None, max_examples=20)
@given(least=st.integers(1, 40), ways=st.integers(2, 4))
def test_ways_are_timed_by_turns(least, ways):
    """All have their readings, of calls in their order, and no two turns of one follow another."""
    seen = []
    calls = [lambda i, way=way: (seen.append((way, i)), time.sleep(1e-4)) for way in range(ways)]
    made = timed_in_turn(calls, budget=0.0, least=least, warm_up=1)
    assert [len(timing.seconds) for timing in made] == [least] * ways
    for way in range(ways):
        numbers = [i for which, i in seen if which == way][1:]
        assert numbers == list(range(len(numbers)))
    changes = [way for way, _ in groupby(which for which, _ in seen[ways:])]
    assert changes == list(range(ways)) * min(least, TURNS)


def test_readings_far_apart_show_a_busy_machine():
    assert Timing(np.array([1.0, 1.0, 2.5, 2.5])).disturbed
    assert not Timing(np.array([1.0, 1.0, 1.1, 1.9, 50.0])).disturbed
    assert not Timing(np.array([3.0])).disturbed


positive = st.floats(1e-9, 1e15)


def some_ceilings():
    words = st.dictionaries(st.sampled_from(["a", "b"]), positive, min_size=1)
    flops = st.fixed_dictionaries({"float64": words, "float32": words})
    own = st.fixed_dictionaries({"sines": positive, "roots": positive})
    operations = st.fixed_dictionaries({"float64": own, "float32": own})
    return st.builds(
        Ceilings,
        st.just("cpu"),
        copy=positive,
        launch=positive,
        flops=flops,
        words=words,
        operations=operations,
    )


@given(one=some_ceilings(), other=some_ceilings(), flops=positive, moved=positive, words=positive)
def test_the_better_of_two_ceilings_allows_the_least_time(one, other, flops, moved, words):
    cost = Cost(flops, moved, words, sines=words, roots=words)
    best = one.best(other)
    for dtype in DTYPES:
        limits = [held.limit(cost, dtype)[0] for held in (best, one, other)]
        assert limits[0] == min(limits)
    assert best.best(one) == best == other.best(one)


@pytest.mark.parametrize(("seconds", "beyond"), [(0.9, True), (1.0, False), (2.0, False)])
def test_a_share_beyond_what_arithmetic_allows_is_marked(seconds, beyond):
    none = dict.fromkeys(("words", "sines", "roots", "signs"), 0.0)
    row = {"seconds": seconds, "flops": 1e11, "bytes": 1.0, "dtype": "float64"} | none
    assert limited(row | {"disturbed": False}, CEILINGS)["disturbed"] is beyond
    cached = row | {"flops": 1.0, "bytes": 1e10, "disturbed": False}
    assert limited(cached, CEILINGS)["disturbed"] is False


def test_what_is_long_is_read_once(monkeypatch):
    monkeypatch.setattr("driftproof.gpu_bench.timer.READ_ONCE", 0.0)
    seen = []
    assert len(timed(seen.append).seconds) == 1 == len(seen)


def reduced(case):
    """The same case, at one small size."""
    return replace(case, points=[small(case)])


@pytest.fixture
def quick(monkeypatch):
    """The command on small sizes, each timed five times, beside fixed ceilings."""
    real = chosen
    monkeypatch.setattr(
        "driftproof.gpu_bench.run.chosen", lambda names: [*map(reduced, real(names))]
    )
    monkeypatch.setattr(
        "driftproof.gpu_bench.run.BenchmarkPlan", partial(BenchmarkPlan, budget=0.0)
    )
    monkeypatch.setattr("driftproof.gpu_bench.run.ceilings", lambda device: CEILINGS)
    return lambda *words: cli.main(["--quiet", "bench", *words], standalone_mode=False)


def test_the_commands_table_and_json(tmp_path, quick, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")  # so that no cell wraps
    assert quick("w3", "w2", "--out", str(tmp_path)) == 0
    shown = capsys.readouterr().out
    assert "numba, float64 *" in shown
    assert "numpy loop" in shown
    held = json.loads((tmp_path / "benchmark.json").read_text())
    assert {row["variant"] for row in held["rows"]} >= {"numba", PLAIN_STEPS, "numpy loop"}


def test_the_command_prints_the_documented_keys(tmp_path, quick, capsys):
    told = (Path(__file__).parents[1] / "docs" / "benchmarks.md").read_text()
    table = told[told.index("| key |") : told.index("## What is timed")]
    first_cells = " ".join(re.findall(r"^\|([^|]*)\|", table, re.M))
    assert quick("w2", "--json", "--out", str(tmp_path)) == 0
    one = json.loads(capsys.readouterr().out)
    assert one == json.loads((tmp_path / "benchmark.json").read_text())
    assert set(re.findall(r"`(\w+)`", first_cells)) == {*one, "interrupted"}
    rows = {key for row in one["rows"] for key in row}
    assert rows < set(re.findall(r"`(\w+)`", table))


def test_the_quick_profile_times_one_size_in_double_precision(tmp_path, quick, capsys):
    assert quick("w2", "--profile", "quick", "--json", "--out", str(tmp_path)) == 0
    one = json.loads(capsys.readouterr().out)
    assert one["quick"]
    assert {row["dtype"] for row in one["rows"]} == {"float64"}


def test_a_folder_that_cannot_be_written_to_is_told_before_anything_is_measured(
    tmp_path, quick, monkeypatch
):
    monkeypatch.setattr(
        "driftproof.gpu_bench.run.run_benchmark", lambda *a, **k: pytest.fail("it was measured")
    )
    (tmp_path / "file").write_text("")
    with pytest.raises(DriftproofError, match="--out"):
        quick("w2", "--out", str(tmp_path / "file" / "report"))


def test_the_table_is_printed_even_if_it_cannot_be_kept(tmp_path, quick, monkeypatch, capsys):
    def full(self, *a, **k):
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(DriftproofError, match="No space left") as told:
        quick("w2", "--out", str(tmp_path))
    assert "plain" in capsys.readouterr().out
    assert str(tmp_path) in told.value.got


@pytest.mark.parametrize(
    "where", ["driftproof.gpu_bench.run.ceilings", "driftproof.gpu_bench.run.measured"]
)
def test_an_interrupted_run_shows_what_was_finished(where, tmp_path, quick, monkeypatch, capsys):
    """Of two precisions, the second is interrupted; or the ceilings before both."""
    calls = []

    def stop(*given):
        calls.append(given)
        if len(calls) > 1 or where.endswith("ceilings"):
            raise KeyboardInterrupt
        return measured(*given)

    monkeypatch.setattr(where, stop)
    assert quick("w2", "--out", str(tmp_path)) == 130
    out, err = capsys.readouterr()
    finished = where.endswith("measured")
    assert f"interrupted; {3 if finished else 0} rows were finished" in err
    assert ("plain" in out) is finished  # a narrow table wraps "plain steps"
    assert (tmp_path / "benchmark.json").exists() is finished
    if finished:
        assert json.loads((tmp_path / "benchmark.json").read_text())["interrupted"]


def test_progress_names_only_what_is_measured(tmp_path, quick, monkeypatch):
    """All that was announced is done, and nothing else."""
    seen = []

    @contextmanager
    def kept(what, *, quiet):
        yield seen.append, seen.append, None

    monkeypatch.setattr("driftproof.commands._shared.progress", kept)
    quick("w2", "--out", str(tmp_path))
    total, *names = seen
    assert total == len(names)
    assert names == ["ceilings", *(f"w2 K=3 R=5 d=3 {dtype}" for dtype in DTYPES), "ceilings again"]


def test_the_commit_is_that_of_the_packages_own_checkout(tmp_path):
    def git(*words):
        told = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words]
        return subprocess.run(told, cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    assert commit(tmp_path) == "unknown"
    git("init", "-q")
    (tmp_path / "file").write_text("one")
    git("add", "file")
    git("commit", "-q", "-m", "one")
    here = git("rev-parse", "HEAD").strip()
    assert commit(tmp_path) == here
    (tmp_path / "file").write_text("two")
    assert commit(tmp_path) == f"{here}-dirty"
    (tmp_path / "below").mkdir()
    assert commit(tmp_path / "below") == "unknown"


def test_cells_say_what_is_the_reference_and_what_was_disturbed():
    row = {
        "case": "w1",
        "size": {"dim": 3},
        "variant": PLAIN_STEPS,
        "dtype": "float64",
        "taken": False,
        "seconds": 1e-3,
        "low": 9e-4,
        "high": 2e-3,
        "readings": [1e-3, 2e-3],
        "error": 0.0,
        "client_steps_per_second": 1e6,
        "reference": True,
        "disturbed": True,
    }
    assert cells(row)[2:] == ["1 (0.9–2) †", "1.00e+06", "–", "reference"]
    assert cells(row | {"reference": False})[-1] == "0"
    assert cells(row | {"error": 2e-16})[-1] == "2e-16"
    assert len(cells(row)) == len(COLUMNS)


def test_a_wrong_variant_ends_with_status_1(tmp_path, quick, monkeypatch, capsys):
    monkeypatch.setattr("driftproof.gpu_bench.ways.tolerance", lambda prepared: -1.0)
    assert quick("w3", "--json", "--out", str(tmp_path)) == 1
    held = json.loads(capsys.readouterr().out)
    assert all(row["note"].startswith("WRONG") for row in held["rows"])


def test_ceilings_are_of_this_machine(monkeypatch):
    """Small buffers: more than nothing, and no slower in single precision by an order."""
    monkeypatch.setattr("driftproof.gpu_bench.roofline.BUFFER", 1 << 20)
    monkeypatch.setattr("driftproof.gpu_bench.roofline.WORDS", 1 << 12)
    monkeypatch.setattr("driftproof.gpu_bench.roofline.timed", partial(timed, most=5))
    monkeypatch.setattr("driftproof.gpu_bench.rates.timed", partial(timed, most=5))
    made = ceilings("cpu")
    assert made.copy > 1e8
    for dtype in DTYPES:
        assert len(made.flops[dtype]) == 3
        assert min(made.flops[dtype].values()) > 1e8
        assert set(made.operations[dtype]) == {"sines", "roots", "signs"}
        assert min(made.operations[dtype].values()) > 1e6
    assert made.words
    assert min(made.words.values()) > 1e6
    assert 0 < made.launch < 1


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["no-such-kernel"], 2, "unknown kernel or case 'no-such-kernel'"),
        (["w1", "--device", "tpu"], 2, "cpu, cuda"),
    ],
)
def test_bad_input_is_told(words, status, told, tmp_path):
    ended = driftproof("bench", *words, "--out", str(tmp_path))
    assert ended.returncode == status
    assert told in ended.stderr
    assert ended.stderr.count(" nested-fednest") <= 1  # which three cases time
    assert not list(tmp_path.iterdir())


def test_every_kernel_is_timed_by_a_case(monkeypatch):
    assert set(leaves("kernel")) == {case.kernel for case in CASES}
    assert [case.name for case in chosen(["nested-fedavg-s"])] == ["fedavg-s-minimax"]
    rest = {name: leaf for name, leaf in leaves("case").items() if name != "fedavg-s-minimax"}
    monkeypatch.setattr(
        "driftproof.gpu_bench.workload.leaves",
        lambda kind: rest if kind == "case" else leaves(kind),
    )
    with pytest.raises(DriftproofError, match="no case times the kernel 'nested-fedavg-s'"):
        chosen(["nested-fedavg-s"])


@pytest.mark.parametrize("changed", [str.lower, str.upper, str.title])
def test_a_case_is_found_in_upper_and_lower_case(changed):
    for case in CASES:
        assert chosen([changed(case.name)]) == [case]
        assert case in chosen([changed(case.kernel)])


def test_every_case_says_what_it_is_in_words_of_its_own():
    told = [leaf.summary for leaf in leaves("case").values()]
    assert len(told) == len(set(told))


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a CUDA device")
def test_without_a_gpu_cuda_is_missing_and_says_what_to_do():
    with pytest.raises(MissingError, match="cuda"):
        run_benchmark(BenchmarkPlan(cases=chosen(["w1"]), device="cuda"))


HEAD = {
    "device": "cpu",
    "rows": [
        {"case": "w1", "dtype": "float64", "size": {"dim": 10, "replicates": 64}, "taken": True,
         "variant": "numba", "seconds": 1.0, "share": 0.5},
        {"case": "w1", "dtype": "float64", "size": {"dim": 10, "replicates": 64}, "taken": False,
         "variant": "numpy loop", "seconds": 9.0},
    ],
}  # fmt: skip


LOOP = "W1, d = 10, R = 64, against a numpy loop over clients"


@pytest.mark.parametrize(
    ("seconds", "outcome"), [(7.0, "MISSED"), (9.0, "met"), (101.0, "aim met")]
)
def test_a_target_is_met_or_missed(seconds, outcome, tmp_path, capsys):
    ours, theirs = HEAD["rows"]
    head = HEAD | {"named": ["w1"], "rows": [ours, theirs | {"seconds": seconds}]}
    (tmp_path / "benchmark.json").write_text(json.dumps(head))
    assert targets.main(tmp_path / "benchmark.json") == 0
    shown = capsys.readouterr().out
    assert f"| {LOOP} | 8 times | 100 times | {seconds:.0f} times | {outcome} |" in shown
    assert "W2" not in shown


def test_what_cannot_be_measured_says_why():
    share = next(t for t in targets.TARGETS if "d = 100" in t.text and "float32" in t.text)
    assert share.row(share.measure(HEAD))[-1] == "not measured: case w1 was not run"


def test_less_is_better_where_seconds_are_asked():
    round_of_one = next(t for t in targets.TARGETS if t.text == "one round of W1, d = 10, R = 1")
    outcomes = [round_of_one.row(microseconds)[-1] for microseconds in (29.0, 40.0, 50.0)]
    assert outcomes == ["aim met", "met", "MISSED"]


def test_sizes_are_named_by_their_letters():
    assert size_text({"clients": 3, "samples": 4}) == "K=3 samples=4"
    assert Timing(np.array([3.0, 1.0, 2.0])).median == 2.0
