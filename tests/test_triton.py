"""Law: a Triton variant equals the plain steps, repeated, on the same draws.

Where there is no GPU the kernels run in Triton's interpreter (``tests/conftest.py`` asks for it),
and are compiled for a Hopper GPU without being launched; where there is one, they are compiled
and run.
"""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

triton = pytest.importorskip("triton", reason="needs triton: pip install 'driftproof[cuda]'")
import triton.language as tl  # noqa: E402

from driftproof.synthetic.kernels import _triton_philox as philox  # noqa: E402
from driftproof.synthetic.problems import KLDRO, BoundedComposition, QuadraticMinimax  # noqa: E402
from driftproof.toolkit.algorithms import ComFedL, FedAvg, LocalSCGDM  # noqa: E402
from driftproof.toolkit.discover import leaves  # noqa: E402
from driftproof.toolkit.draws import Indices, SignMean, Words  # noqa: E402
from driftproof.toolkit.engines.enumerated import Drew, NoiselessContext  # noqa: E402
from driftproof.toolkit.federation import run, sampled_context  # noqa: E402
from driftproof.toolkit.kernels import device  # noqa: E402
from driftproof.toolkit.kernels.registry import fused_for, kernel_of  # noqa: E402
from driftproof.toolkit.measure import each, sq  # noqa: E402
from tests.kernel_cases import Case, cases, simplest  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
"""Compiled on a GPU; interpreted where there is none."""
HOPPER_SHARED = 227 << 10
KERNELS = [name for name, leaf in leaves("kernel").items() if "triton" in leaf.load().variants]
whole = st.integers(0, 2**40)


def stream(words, name, block, first=0):
    """Return what a launch reads of a draw's stream."""
    of = np.array([*words.key(name), block, first], np.uint64)
    return torch.from_numpy(of.view(np.int64)).to(DEVICE)


@triton.jit
def _four_words(stream, out, step, first, N: tl.constexpr):
    place = tl.arange(0, N)
    a, b, c, d = philox.four_words(first + place + 1, stream, step)
    at = out + 4 * place
    tl.store(at, a.to(tl.int64, bitcast=True))
    tl.store(at + 1, b.to(tl.int64, bitcast=True))
    tl.store(at + 2, c.to(tl.int64, bitcast=True))
    tl.store(at + 3, d.to(tl.int64, bitcast=True))


@settings(max_examples=12, deadline=None)
@given(st.text(max_size=9), st.integers(0, 2**31 - 1), st.integers(0, 2**31 - 1), whole)
def test_words_are_numpys(name, block, step, first):
    words = Words("seed", "case")
    state = np.random.Philox(key=np.array(words.key(name), np.uint64))
    state.advance(first + (step << 64) + (block << 128))
    expected = state.random_raw(32)
    out = torch.zeros(32, dtype=torch.int64, device=DEVICE)
    _four_words[(1,)](stream(words, name, block), out, step, first, N=8)
    np.testing.assert_array_equal(out.cpu().numpy().view(np.uint64), expected)


@triton.jit
def _signs(
    stream,
    out,
    cumulative,
    step,
    first,
    ELEMENT: tl.constexpr,
    ELEMENTS: tl.constexpr,
    BATCH: tl.constexpr,
    R: tl.constexpr,
):
    k = tl.arange(0, 4)
    made = philox.sign_mean(stream, step, k, first, cumulative, ELEMENT, ELEMENTS, BATCH, R)
    tl.store(out + k[:, None] * R + tl.arange(0, R)[None, :], made)


@pytest.mark.parametrize("elements", [1, 2, 3])
@pytest.mark.parametrize("batch", [1, 2, 7, 30])
@pytest.mark.parametrize(("first", "replicates"), [(0, 64), (8, 4), (48, 16)])
def test_means_of_signs_are_the_laws(elements, batch, first, replicates):
    words, law, clients = Words("signs"), SignMean(batch, (elements,)), range(3, 7)
    drawn = words.draw(law, "xi", block=2, step=5, clients=clients)
    expected = law.sample(drawn, clients, 64)[..., first : first + replicates]
    for element in range(elements):
        out = torch.zeros((4, replicates), dtype=torch.float64, device=DEVICE)
        _signs[(1,)](
            stream(words, "xi", 2, clients.start),
            out,
            device.cumulative(batch, DEVICE),
            5,
            first,
            ELEMENT=element,
            ELEMENTS=elements,
            BATCH=batch,
            R=replicates,
        )
        np.testing.assert_array_equal(out.cpu().numpy(), expected[:, element])


@triton.jit
def _numbers(stream, out, counts, step, batch, TILE: tl.constexpr):
    k, r, j = tl.program_id(0), tl.program_id(1), tl.arange(0, TILE)
    made = philox.sample_numbers(stream, step, k, j, r, tl.load(counts + k), batch)
    tl.store(out + (k * batch + j) * 64 + r, made, mask=j < batch)


def test_sample_numbers_are_the_laws():
    words, law, clients = Words("numbers"), Indices((7, 1, 2**31 + 3), 3), range(3)
    drawn = words.draw(law, "xi", block=1, step=9, clients=clients)
    out = torch.zeros((3, 3, 64), dtype=torch.int64, device=DEVICE)
    counts = torch.tensor(law.samples, device=DEVICE)
    _numbers[(3, 64)](stream(words, "xi", 1), out, counts, 9, 3, TILE=4)
    np.testing.assert_array_equal(out.cpu().numpy(), law.sample(drawn, clients, 64))


def here(kernel):
    """Return the Triton variant as it runs on this machine."""
    return replace(kernel.variants["triton"], device=DEVICE)


def equals_plain_steps(case):
    """Assert that a case ends where its plain steps do, having counted what they count."""
    start = case.state()
    (made, reach), ctx = case.fused(case.laid(start), here(case.kernel))
    states, met, after = case.plain(start)
    for x, wanted, begun in zip(made, states[-1], states[0], strict=True):
        assert case.units(x, wanted, begun) <= case.kernel.tolerance
    assert reach == pytest.approx(met, rel=case.kernel.tolerance * torch.finfo(case.dtype).eps)
    assert (ctx.t, ctx.rounds, ctx.reals) == (after.t, after.rounds, after.reals)


def test_the_core_local_updates_have_a_kernel_for_a_gpu():
    assert KERNELS == ["kl-dro-local-steps", "minimax-local-steps"]


@pytest.mark.parametrize("name", KERNELS)
@settings(max_examples=20)
@given(data=st.data())
def test_a_launch_equals_the_plain_steps(name, data):
    """Few replicates: the interpreter takes one program after another."""
    case = data.draw(cases(name))
    equals_plain_steps(replace(case, replicates=min(case.replicates, 5), device=DEVICE))


SIZES = [(17, 3, 0.5), (64, 18, 1.0), (70, 33, 0.4)]
if DEVICE == "cuda":
    SIZES += [(10, 64, 1.0), (100, 64, 1.0)]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize(("dim", "replicates", "participation"), SIZES)
def test_matrices_of_several_tiles(dim, replicates, participation, dtype):
    algorithm = FedAvg(local_steps=3, batch=2, participation=participation, weighting="samples")
    problem = QuadraticMinimax(clients=3, dim=dim, heterogeneity=0.3, gradient_noise=0.4)
    kernel = kernel_of(algorithm, problem)
    equals_plain_steps(Case(kernel, algorithm, problem, replicates, dtype, steps=3, device=DEVICE))


def test_the_law_refuses_other_draws():
    """A negative control: one round later in the stream, the end is another."""
    case = replace(simplest("kl-dro-local-steps"), device=DEVICE)
    start = case.state()
    (made, _), _ = case.fused(start, here(case.kernel))
    (ended,) = case.plain(start, later=case.steps)[0][-1]
    assert case.units(made.w, ended, start.w.cpu()) > case.kernel.tolerance


def test_the_federation_gives_the_same_measures(monkeypatch):
    algorithm, problem = ComFedL(local_steps=2), KLDRO()
    variant, ends = here(kernel_of(algorithm, problem)), []
    for taken in (variant, None):
        monkeypatch.setattr(
            "driftproof.toolkit.federation.fused_for", lambda *of, taken=taken: taken
        )
        ctx = sampled_context(problem, ("run",), replicates=3, device=DEVICE)
        left = lambda v: each("round", sq(v.round_start("w")))  # noqa: E731
        ends.append(run(problem, algorithm, ctx, rounds=4, left=left))
    np.testing.assert_allclose(ends[0].values, ends[1].values, rtol=1e-11, atol=1e-12)
    assert (ends[0].rounds, ends[0].reals) == (ends[1].rounds, ends[1].reals)
    assert ends[0].reach == pytest.approx(ends[1].reach, rel=1e-12)


def test_a_run_without_noise_ends_at_the_first_draw():
    case = replace(simplest("kl-dro-local-steps"), replicates=1, device=DEVICE)
    ctx = NoiselessContext(case.problem.clients, dtype=torch.float64, device=DEVICE)
    oracles = case.problem.oracles(torch.float64, DEVICE)
    with pytest.raises(Drew):
        here(case.kernel)(ctx, oracles, case.algorithm, case.state(), 1)


def test_what_has_no_kernel_for_a_gpu_is_left_to_plain_steps(monkeypatch):
    def taken(algorithm, problem):
        ctx = sampled_context(problem, ("f",))
        ctx.device = "cuda:1"
        variant = fused_for(algorithm, problem, ctx)
        return variant.name if variant is not None else None

    assert taken(ComFedL(), KLDRO()) == taken(FedAvg(), QuadraticMinimax()) == "triton"
    assert taken(LocalSCGDM(), BoundedComposition()) is None
    assert taken(ComFedL(), KLDRO(dim=2000, samples=2)) is None
    assert taken(FedAvg(batch=100), QuadraticMinimax(gradient_noise=0.1)) is None
    monkeypatch.setattr(device, "find_spec", lambda name: None)
    device.has_triton.cache_clear()
    try:
        assert taken(ComFedL(), KLDRO()) is None
    finally:
        monkeypatch.undo()
        device.has_triton.cache_clear()


def test_kernels_compile_for_a_gpu_that_is_not_there():
    """What the interpreter cannot see: types, registers, shared memory, products in tf32."""
    made = subprocess.run(
        [sys.executable, "-m", "tests.triton_offline"],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[1],
        env=os.environ | {"TRITON_INTERPRET": "0"},
    )
    assert made.returncode == 0, made.stderr[-2000:]
    rows = [json.loads(line) for line in made.stdout.splitlines()]
    assert len(rows) == 10
    for row in rows:
        assert row["shared"] <= HOPPER_SHARED, row
        assert row["stack"] <= 512, row  # spilled registers, and the sine's own array
        assert not row["tf32"], row
        assert not row["upper words"], row
