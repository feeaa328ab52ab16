"""Law: words and values made inside fused loops are those of numpy and of ``Law.sample``."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numba
import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from driftproof.toolkit import stream_values, streams
from driftproof.toolkit.draws import BLOCK, Indices, SignMean, Uniforms, Words
from driftproof.toolkit.engines.batched import BatchedContext
from driftproof.toolkit.engines.enumerated import Drew, EnumeratedContext, NoiselessContext
from driftproof.toolkit.kernels import name_of, places, shared_files, writable

CLIENTS = 9


@dataclass(frozen=True)
class Cubes:
    """A law of a user's own: the cubes of uniform numbers, in a shape with two axes."""

    shape = (2, 3)
    words = 6 * BLOCK

    def sample(self, words, clients, replicates):
        return (words.reshape(len(clients), 2, 3, BLOCK)[..., :replicates] * 2.0**-64) ** 3

    def support(self, client):
        raise NotImplementedError


counts = st.lists(st.integers(1, 2**32), min_size=CLIENTS, max_size=CLIENTS).map(tuple)
laws = st.one_of(
    st.builds(SignMean, st.just(1), st.integers(1, 9).map(lambda n: (n,))),
    st.builds(
        SignMean,
        st.integers(2, 3 * streams.GUIDE_BITS) | st.sampled_from([64, 1000, 4096]),
        st.sampled_from([(), (1,), (2,), (2, 3)]),
    ),
    st.builds(Indices, counts, st.integers(1, 5)),
    st.builds(Uniforms, st.integers(1, 4)),
    st.just(Cubes()),
)
starts = st.integers(0, 10**6) | st.sampled_from([2**32 - 2, 2**40])
held = st.tuples(st.integers(0, CLIENTS - 1), st.integers(1, CLIENTS)).map(
    lambda ends: range(ends[0], min(CLIENTS, ends[0] + ends[1]))
)


def context(clients, **more):
    return BatchedContext(Words("seed", "case"), CLIENTS, local=clients, **more)


def drawn(ctx, law, first, steps):
    """Return what loops make of the draws of many steps, [steps, clients, elements, replicates]."""
    stream = ctx.stream(law, "xi", first, steps)
    values = np.empty((steps, len(ctx.local), stream.elements, ctx.replicates), stream.values.dtype)
    stream_values.draw(stream, first, 0, 0, values)
    return values


@given(
    law=laws,
    block=starts,
    first=starts,
    steps=st.integers(1, 3),
    clients=held,
    replicates=st.integers(1, BLOCK),
    dtype=st.sampled_from([torch.float64, torch.float32]),
)
@example(
    law=SignMean(8, (2,)),
    block=1,
    first=2,
    steps=30,
    clients=range(CLIENTS),
    replicates=BLOCK,
    dtype=torch.float64,
)
def test_draws_of_many_steps_are_those_of_each(
    law, block, first, steps, clients, replicates, dtype
):
    ctx = context(clients, block=block, replicates=replicates, dtype=dtype)
    made, each = torch.from_numpy(drawn(ctx, law, first, steps)), []
    for ctx.t in range(first, first + steps):
        each.append(ctx.draw(law, "xi"))
    assert made.dtype == each[0].dtype
    assert torch.equal(made.flatten(), torch.stack(each).flatten())


@given(law=laws, first=st.integers(0, 99), skipped=st.integers(0, BLOCK // 4 - 1), data=st.data())
def test_a_tile_is_a_part_of_what_is_drawn(law, first, skipped, data):
    ctx = context(range(1, 7), block=2)
    whole = drawn(ctx, law, first, 4)
    stream = ctx.stream(law, "xi", first, 4)
    step, client = data.draw(st.integers(0, 3)), data.draw(st.integers(0, 5))
    steps, clients = data.draw(st.integers(1, 4 - step)), data.draw(st.integers(1, 6 - client))
    replicates = data.draw(st.integers(1, BLOCK - 4 * skipped))
    tile = np.empty((steps, clients, stream.elements, replicates), whole.dtype)
    stream_values.draw(stream, first + step, client, 4 * skipped, tile)
    part = whole[step : step + steps, client : client + clients]
    np.testing.assert_array_equal(tile, part[..., 4 * skipped : 4 * skipped + replicates])


def test_only_the_laws_known_here_are_made_in_loops():
    """Negative control: a law of a user's own is drawn by its own ``sample``, and kept."""
    ctx = context(range(CLIENTS))
    kinds = {
        type(law): ctx.stream(law, "xi", 0, 1).kind == streams.STORED
        for law in (
            SignMean(1, (1,)),
            SignMean(8, (1,)),
            SignMean(99, (1,)),
            Indices((3,) * CLIENTS, 1),
            Uniforms(1),
            Cubes(),
        )
    }
    assert [law for law, kept in kinds.items() if kept] == [Cubes]


class Loaded(SignMean):
    """A law that inherits from a known one, with values of its own."""

    def sample(self, words, clients, replicates):
        return super().sample(words, clients, replicates) + 1.0


def test_a_law_that_inherits_keeps_its_own_values():
    ctx = context(range(2))
    made = drawn(ctx, Loaded(1, (3,)), 0, 2)
    np.testing.assert_array_equal(made, drawn(ctx, SignMean(1, (3,)), 0, 2) + 1.0)


@pytest.mark.parametrize("batch", [2, streams.TABLE_BITS, streams.TABLE_BITS + 1, 53, 200, 5000])
def test_words_beside_a_threshold_fall_on_its_two_sides(batch):
    """The words at and below every threshold: the tables against the search among uniforms."""
    law = SignMean(batch, (1,))
    atoms, chances = law.support(0)
    bounds = np.clip(np.cumsum(chances) * 2.0**53, 1, 2**53 - 1).astype(np.uint64)
    upper = np.concatenate([bounds - np.uint64(1), bounds, bounds + np.uint64(1)])
    words = np.minimum(upper, np.uint64(2**53 - 1)) << np.uint64(11)
    words = np.concatenate([words, words + np.uint64(2047), np.array([0, 2**64 - 1], np.uint64)])
    words = np.resize(words, (-(-len(words) // BLOCK), BLOCK))
    expected = law.sample(words, range(len(words)), BLOCK)[:, 0]
    stream = streams.keyed(law, (0, 0), 0, range(1), np.dtype(float))
    cells = words >> stream.shift
    if batch <= streams.TABLE_BITS:
        np.testing.assert_array_equal(stream.atoms[cells], expected)
        return
    # the guide leads to this atom or before it, from where the loop goes on to it
    found = np.maximum(np.searchsorted(stream.numbers, words), stream.guide[cells])
    np.testing.assert_array_equal(atoms[found], expected)
    assert np.all(stream.guide[cells] <= np.searchsorted(atoms, expected))


def test_where_draws_are_not_words_a_stream_asks_the_engine():
    law = SignMean(8, (2,))
    with pytest.raises(Drew):
        NoiselessContext(2, dtype=torch.float64, device="cpu").stream(law, "xi", 0, 3)
    counting = EnumeratedContext(2, limit=9**12)
    assert drawn(counting, law, 0, 3).shape == (3, 2, 2, 1)
    assert counting.atom_count == 9 ** (3 * 2 * 2)


def test_nothing_is_drawn_of_no_law():
    ctx = context(range(CLIENTS))
    stream, tile = ctx.stream(None, "xi", 5, 3), np.empty((1, CLIENTS, 0, BLOCK))
    assert stream.elements == 0
    stream_values.draw(stream, 6, 0, 0, tile)


def test_importing_the_engine_loads_no_numba():
    code = "import sys, driftproof.toolkit.engines.batched; print('numba' in sys.modules)"
    made = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert made.stdout.strip() == "False"


def test_machine_code_is_kept_by_what_it_was_made_of(tmp_path):
    """numba itself looks at one file; a kernel holds functions of several."""
    files = [tmp_path / "one.py", tmp_path / "two.py"]
    for file in files:
        file.write_text("x = 1")
    before = name_of(files)
    assert name_of(files) == before
    files[1].write_text("x = 2")
    assert name_of(files) != before
    shared = {path.name for path in shared_files()}
    assert {"philox.py", "stream_values.py", "_composed.py", "_logistic.py"} <= shared
    assert Path(numba.config.CACHE_DIR).name == name_of(shared_files())


def test_machine_code_has_a_folder_where_the_package_cannot_be_written_to(tmp_path, monkeypatch):
    """Root may write anywhere, so the places that cannot be written to are files here."""
    (tmp_path / "package").touch()
    both = [tmp_path / "package", tmp_path / "caches"]
    monkeypatch.setattr("driftproof.toolkit.kernels.places", lambda: iter(both))
    assert writable("a") == str(tmp_path / "caches" / "a")
    (tmp_path / "package").unlink()
    assert writable("a") == str(tmp_path / "package" / "a")


def test_where_no_folder_can_be_written_to_machine_code_goes_with_the_process(tmp_path):
    code = (
        "import driftproof.toolkit.kernels as k, os, sys;"
        "k.places = lambda: iter(()); made = k.writable('a');"
        "open(made + '/code', 'w').close(); print(made, flush=True); os.fork() or sys.exit();"
        "os.wait(); assert os.path.isdir(made)"  # a worker that ends leaves it
    )
    made = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert Path(made.stdout.strip()).name.startswith("driftproof-")
    assert not Path(made.stdout.strip()).exists()


def test_a_user_without_a_home_has_no_caches(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert len(list(places())) == 1
    monkeypatch.setenv("LOCALAPPDATA", "here")
    assert list(places())[1] == Path("here/driftproof")
