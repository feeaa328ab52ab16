"""Law: a Triton variant equals the plain steps, repeated, on the same draws.

Where there is no GPU the kernels run in Triton's interpreter (``tests/conftest.py`` asks for it),
and are compiled for a Hopper GPU without being launched; where there is one, they are compiled
and run.
"""

from __future__ import annotations

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

from toolkit.measure import average, each

triton = pytest.importorskip("triton", reason="needs triton: pip install 'driftproof[cuda]'")
import triton.language as tl  # noqa: E402

from synthetic.kernels import _triton_minimax as minimax  # noqa: E402
from synthetic.problems import (  # noqa: E402
    KLDRO,
    AveragedComposition,
    BiasAmplification,
    BoundedComposition,
    QuadraticMinimax,
    RandomMinimax,
)
from tests.triton_cases import COMPOSED, DEVICE, NOISY, Run  # noqa: E402
from tests.views import of_states  # noqa: E402
from toolkit.algorithms import ComFedL, FedAvg, FedDRO, LocalSCGDM  # noqa: E402
from toolkit.draws import Indices, SignMean, Words  # noqa: E402
from toolkit.engines import graphed  # noqa: E402
from toolkit.engines.enumerated import Drew, NoiselessContext  # noqa: E402
from toolkit.federation import run, sampled_context  # noqa: E402
from toolkit.kernels import device  # noqa: E402
from toolkit.kernels import triton_philox as philox  # noqa: E402
from toolkit.kernels.registry import fused_for, kernel_of  # noqa: E402
from toolkit.measure import sq  # noqa: E402

PRECISE, ROUGH = {"rtol": 1e-11, "atol": 1e-12}, {"rtol": 3e-5, "atol": 3e-6}
HOPPER_SHARED = 227 << 10
sizes, whole = st.integers(1, 4), st.integers(0, 2**40)


def agree(made, expected, dtype=torch.float64):
    close = PRECISE if dtype == torch.float64 else ROUGH
    for x, y in zip(made, expected, strict=True):
        torch.testing.assert_close(x.double(), y.double(), **close)


@triton.jit
def _four_words(key, out, block, step, first, N: tl.constexpr):
    place = tl.arange(0, N)
    a, b, c, d = philox.four_words(first + place + 1, key, block, step)
    at = out + 4 * place
    tl.store(at, a.to(tl.int64, bitcast=True))
    tl.store(at + 1, b.to(tl.int64, bitcast=True))
    tl.store(at + 2, c.to(tl.int64, bitcast=True))
    tl.store(at + 3, d.to(tl.int64, bitcast=True))


@settings(max_examples=12, deadline=None)
@given(st.text(max_size=9), st.integers(0, 2**31 - 1), st.integers(0, 2**31 - 1), whole)
def test_words_are_numpys(name, block, step, first):
    key = np.array(Words("seed", "case").key(name), np.uint64)
    state = np.random.Philox(key=key)
    state.advance(first + (step << 64) + (block << 128))
    expected = state.random_raw(32)
    out = torch.zeros(32, dtype=torch.int64, device=DEVICE)
    at = torch.from_numpy(key.view(np.int64)).to(DEVICE)
    _four_words[(1,)](at, out, block, step, first, N=8)
    np.testing.assert_array_equal(out.cpu().numpy().view(np.uint64), expected)


@triton.jit
def _signs(key, out, cumulative, block, step, first, ELEMENT: tl.constexpr,
           ELEMENTS: tl.constexpr, BATCH: tl.constexpr, R: tl.constexpr):  # fmt: skip
    k = tl.arange(0, 4)
    made = philox.sign_mean(key, block, step, k + 3, first, cumulative, ELEMENT, ELEMENTS, BATCH, R)
    tl.store(out + k[:, None] * R + tl.arange(0, R)[None, :], made)


@pytest.mark.parametrize("elements", [1, 2, 3])
@pytest.mark.parametrize("batch", [1, 2, 7, 30])
@pytest.mark.parametrize(("first", "replicates"), [(0, 64), (8, 4), (48, 16)])
def test_means_of_signs_are_the_laws(elements, batch, first, replicates):
    words, law, clients = Words("signs"), SignMean(batch, (elements,)), range(3, 7)
    drawn = words.draw(law, "xi", block=2, step=5, clients=clients)
    expected = law.sample(drawn, clients, 64)[..., first : first + replicates]
    key = torch.from_numpy(np.array(words.key("xi"), np.uint64).view(np.int64)).to(DEVICE)
    for element in range(elements):
        out = torch.zeros((4, replicates), dtype=torch.float64, device=DEVICE)
        _signs[(1,)](
            key, out, device.cumulative(batch, DEVICE), 2, 5, first, ELEMENT=element,
            ELEMENTS=elements, BATCH=batch, R=replicates,
        )  # fmt: skip
        np.testing.assert_array_equal(out.cpu().numpy(), expected[:, element])


@triton.jit
def _numbers(key, out, counts, block, step, batch, TILE: tl.constexpr):
    k, r, j = tl.program_id(0), tl.program_id(1), tl.arange(0, TILE)
    made = philox.sample_numbers(key, block, step, k, j, r, tl.load(counts + k), batch)
    tl.store(out + (k * batch + j) * 64 + r, made, mask=j < batch)


def test_sample_numbers_are_the_laws():
    words, law, clients = Words("numbers"), Indices((7, 1, 2**31 + 3), 3), range(3)
    drawn = words.draw(law, "xi", block=1, step=9, clients=clients)
    key = torch.from_numpy(np.array(words.key("xi"), np.uint64).view(np.int64)).to(DEVICE)
    out = torch.zeros((3, 3, 64), dtype=torch.int64, device=DEVICE)
    _numbers[(3, 64)](key, out, torch.tensor(law.samples, device=DEVICE), 1, 9, 3, TILE=4)
    np.testing.assert_array_equal(out.cpu().numpy(), law.sample(drawn, clients, 64))


@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_local_steps_on_kl_dro(data):
    draw = data.draw
    algorithm = ComFedL(
        local_steps=draw(st.integers(1, 3)), step_size=0.3, batch=draw(st.integers(1, 6)),
        participation=draw(st.sampled_from([1.0, 0.5])),
    )  # fmt: skip
    problem = KLDRO(
        clients=draw(sizes), dim=draw(st.integers(1, 18)), samples=draw(st.integers(1, 7)),
        temperature=draw(st.sampled_from([0.5, 2.0])), ball=2.0,
    )  # fmt: skip
    given_ = {
        "dtype": draw(st.sampled_from([torch.float64, torch.float32])),
        "block": draw(st.integers(0, 2)), "t": algorithm.local_steps * draw(st.integers(0, 2)),
    }  # fmt: skip
    replicates = draw(sizes)
    one, other = (Run(algorithm, problem, replicates, **given_) for _ in "ab")
    made, reach = one.fused(algorithm.local_steps)
    states, met = other.plain(algorithm.local_steps)
    agree(made, states[-1], given_["dtype"])
    assert reach == pytest.approx(met, rel=1e-12 if given_["dtype"] == torch.float64 else 1e-5)
    assert (one.ctx.rounds, one.ctx.reals, one.ctx.t) == (
        other.ctx.rounds, other.ctx.reals, other.ctx.t,
    )  # fmt: skip


@settings(max_examples=16, deadline=None)
@given(data=st.data())
def test_local_steps_on_minimax_problems(data):
    draw = data.draw
    algorithm = FedAvg(
        local_steps=draw(st.integers(1, 4)), step_size=0.2, batch=draw(st.sampled_from([1, 3])),
        participation=draw(st.sampled_from([1.0, 0.5])),
        weighting=draw(st.sampled_from(["uniform", "samples"])),
    )  # fmt: skip
    shape = {"clients": draw(sizes), "dim": draw(st.sampled_from([1, 2, 5, 17, 70]))}
    problem = draw(st.one_of(
        st.builds(QuadraticMinimax, **{name: st.just(n) for name, n in shape.items()},
                  heterogeneity=st.just(0.3), gradient_noise=st.sampled_from([0.0, 0.4])),
        st.just(RandomMinimax(**shape, matrices_drawn="general", coupling=0.5)),
    ))  # fmt: skip
    given_ = {
        "dtype": draw(st.sampled_from([torch.float64, torch.float32])),
        "block": draw(st.integers(0, 2)), "t": algorithm.local_steps * draw(st.integers(0, 2)),
    }  # fmt: skip
    replicates = draw(st.sampled_from([1, 3, 18]))
    one, other = (Run(algorithm, problem, replicates, **given_) for _ in "ab")
    with pytest.MonkeyPatch.context() as patch:
        if draw(st.booleans()):
            patch.setattr(minimax, "NARROW", dict.fromkeys(minimax.NARROW, 0))
        made, _ = one.fused(algorithm.local_steps)
    agree(made, other.plain(algorithm.local_steps)[0][-1], given_["dtype"])
    assert (one.ctx.rounds, one.ctx.reals, one.ctx.t) == (
        other.ctx.rounds, other.ctx.reals, other.ctx.t,
    )  # fmt: skip


def families():
    noise = st.sampled_from([0.0, 0.3])
    common = {
        "clients": sizes, "dim": sizes, "inner_dim": sizes, "inner_value_noise": noise,
        "inner_gradient_noise": noise, "inner_curvature": st.sampled_from([0.0, 0.4]),
    }  # fmt: skip
    return st.one_of(
        st.builds(
            BoundedComposition, **common, heterogeneity=st.sampled_from([0.0, 0.6]),
            opposition_slope=st.sampled_from([0.0, 0.7]), outer_gradient_noise=noise,
        ),
        st.builds(
            AveragedComposition, **common, inner_heterogeneity=st.sampled_from([0.0, 0.4]),
            inner_offset=st.sampled_from([0.0, 0.6]), plain_slope=st.sampled_from([0.0, 0.5]),
            plain_tilt=st.sampled_from([0.0, 0.2]), plain_noise=noise,
        ),
        st.sampled_from([BiasAmplification(heterogeneity=h) for h in ("slopes", "offsets")]),
    )  # fmt: skip


SCGDM = st.builds(
    LocalSCGDM, local_steps=st.integers(1, 3), samples=st.sampled_from(["one", "two"]),
    averaged=st.sampled_from(["umx", "u", "mx", ""]), momentum=st.sampled_from([1.0, 4.0]),
)  # fmt: skip
DRO = st.builds(
    FedDRO, local_steps=st.integers(1, 3), batch=st.sampled_from([1, 3]),
    first_step=st.sampled_from(["given", "computed"]),
)  # fmt: skip


@settings(max_examples=24, deadline=None)
@given(data=st.data())
def test_steps_over_many_rounds(data):
    draw = data.draw
    algorithm, problem = draw(st.one_of(SCGDM, DRO)), draw(families())
    given_ = {
        "dtype": draw(st.sampled_from([torch.float64, torch.float32])),
        "block": draw(st.integers(0, 2)), "t": draw(st.integers(0, 4)),
    }  # fmt: skip
    replicates, steps = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    one, other = (Run(algorithm, problem, replicates, **given_) for _ in "ab")
    record = draw(st.sampled_from(["", "all", "mean"]))
    made, _, path = one.fused(steps, record=record)
    states, _ = other.plain(steps)
    agree(made, states[-1], given_["dtype"])
    for name in made._fields if record else ():
        held = torch.stack([getattr(state, name) for state in states[:-1]])
        expected = held if record == "all" else held.mean(1, keepdim=True)
        agree([getattr(path, name)], [expected], given_["dtype"])
    assert record or path is None
    assert (one.ctx.rounds, one.ctx.reals, one.ctx.t) == (
        other.ctx.rounds, other.ctx.reals, other.ctx.t,
    )  # fmt: skip


def test_the_law_refuses_other_draws():
    """A negative control: one step later in the stream, the end is another."""
    for algorithm, problem in ((LocalSCGDM(), NOISY), (ComFedL(), KLDRO())):
        one, other = Run(algorithm, problem, 3, t=1), Run(algorithm, problem, 3, t=2)
        more = {"record": ""} if one.variant.many_rounds else {}
        with pytest.raises(AssertionError):
            agree(one.fused(1, **more)[0], other.plain(1)[0][-1])


@pytest.mark.parametrize(
    ("algorithm", "problem", "left"),
    [
        (
            LocalSCGDM(local_steps=2),
            NOISY,
            of_states(lambda v: each("step", sq(v.gradient(v.mean("x"))))),
        ),
        (
            FedDRO(local_steps=3),
            COMPOSED,
            of_states(lambda v: average("transition", sq(v.client("x")[0]))),
        ),
        (ComFedL(local_steps=2), KLDRO(), lambda v: each("round", sq(v.round_start("w")))),
    ],
)
def test_the_federation_gives_the_same_measures(algorithm, problem, left, monkeypatch):
    kernel = kernel_of(algorithm, problem)
    variant = replace(kernel.variants["triton"], device=DEVICE)
    monkeypatch.setattr("toolkit.stretches.ROOM", 64)  # stretches of a few steps
    ends = []
    for taken in (variant, None):
        monkeypatch.setattr("toolkit.federation.fused_for", lambda *of, taken=taken: taken)
        ctx = sampled_context(problem, ("run",), replicates=3, device=DEVICE)
        ends.append(run(problem, algorithm, ctx, rounds=4, left=left))
    np.testing.assert_allclose(ends[0].values, ends[1].values, rtol=1e-11, atol=1e-12)
    assert (ends[0].rounds, ends[0].reals) == (ends[1].rounds, ends[1].reals)
    assert ends[0].reach == pytest.approx(ends[1].reach, rel=1e-12)
    agree(ends[0].state, ends[1].state)


@pytest.mark.parametrize("algorithm", [LocalSCGDM(), FedDRO()])
def test_random_rounding_moves_a_state_by_units_in_its_last_place(algorithm):
    still = Run(algorithm, COMPOSED, 4).fused(1, record="")[0]
    moved = [
        Run(algorithm, COMPOSED, 4).fused(1, record="", jitter=seed)[0] for seed in (3, 2**63 + 5)
    ]
    for a, b, c in zip(still, *moved, strict=True):
        off = ((b - a) / a.abs().clamp(min=1e-300))[a != 0]
        assert 0 < float(off.abs().max()) < 4 * torch.finfo(a.dtype).eps
        assert float((off > 0).double().mean()) == pytest.approx(0.5, abs=0.4)
        assert not torch.equal(b, c)


def again(function):
    """Stands in for a CUDA graph: takes the function once more, into the same tensors."""
    made = tuple(x.clone() for x in function())

    def replay():
        for held, new in zip(made, function(), strict=True):
            held.copy_(new)

    return replay, made


@pytest.mark.parametrize(
    ("algorithm", "problem"),
    [
        (ComFedL(local_steps=2, batch=2, participation=0.5), KLDRO(clients=2)),
        (FedAvg(local_steps=2, batch=3), QuadraticMinimax(gradient_noise=0.3)),
    ],
)
def test_a_recorded_launch_draws_what_its_round_draws(algorithm, problem):
    steps, bounded = algorithm.local_steps, problem.radius is not None
    kernel = kernel_of(algorithm, problem)
    one, other = Run(algorithm, problem, 3, t=steps), Run(algorithm, problem, 3, t=steps)
    replayed = kernel.variants["replayed"].advance
    assert list(kernel.variants)[1:3] == ["replayed", "triton"]
    for s in range(1, 4):
        one.ctx.t = other.ctx.t = s * steps
        one.state, reach = replayed(
            one.ctx, one.oracles, algorithm, one.state, steps,
            **({} if DEVICE == "cuda" else {"capture": again}),
        )  # fmt: skip
        states, met = other.plain(steps)
        other.state = states[-1]
        agree(one.state, other.state)
        assert reach == pytest.approx(met if bounded else 0.0, rel=1e-12)
        recording = next(iter(graphed._RECORDED[one.oracles].values()))
        for x in (*recording.state, *recording.outputs):
            x.fill_(torch.nan)
    assert (one.ctx.rounds, one.ctx.reals) == (other.ctx.rounds, other.ctx.reals)


def test_a_run_without_noise_ends_at_the_first_draw():
    algorithm, problem = LocalSCGDM(), NOISY
    run = Run(algorithm, problem, 1)
    run.ctx = NoiselessContext(problem.clients, dtype=torch.float64, device=DEVICE)
    with pytest.raises(Drew):
        run.fused(1, record="")


def test_sizes_that_do_not_fit_are_left_to_others(monkeypatch):
    def taken(algorithm, problem, rounds=2):
        ctx = sampled_context(problem, ("f",))
        ctx.device, ctx.horizon = "cuda:1", rounds
        variant = fused_for(algorithm, problem, ctx)
        return variant.name if variant is not None else None

    small, large = BoundedComposition(), BoundedComposition(clients=100, dim=20)
    assert taken(LocalSCGDM(), small) == taken(FedDRO(), small) == "triton"
    assert taken(ComFedL(), KLDRO()) == "triton"
    assert taken(ComFedL(), KLDRO(), rounds=9) == "replayed"
    assert taken(LocalSCGDM(), large) is None
    assert taken(FedDRO(batch=100), small) is None
    assert taken(ComFedL(), KLDRO(dim=2000, samples=2)) is None
    assert taken(ComFedL(), KLDRO(dim=2000, samples=2), rounds=9) == "graph"
    monkeypatch.setattr(device, "find_spec", lambda name: None)
    device.has_triton.cache_clear()
    try:
        assert taken(LocalSCGDM(), small) is None
    finally:
        monkeypatch.undo()
        device.has_triton.cache_clear()


def test_every_kernel_for_a_gpu_has_a_way_that_needs_no_numba():
    for algorithm, problem in ((ComFedL(), KLDRO()), (LocalSCGDM(), NOISY), (FedDRO(), NOISY)):
        kernel = kernel_of(algorithm, problem)
        assert kernel is not None
        assert {v.device for v in kernel.variants.values()} == {"cpu", "cuda"}


def test_kernels_compile_for_a_gpu_that_is_not_there():
    """What the interpreter cannot see: types, registers, shared memory, products in tf32."""
    made = subprocess.run(
        [sys.executable, "-m", "tests.triton_offline"], capture_output=True, text=True,
        check=False, cwd=Path(__file__).parents[1], env=os.environ | {"TRITON_INTERPRET": "0"},
    )  # fmt: skip
    assert made.returncode == 0, made.stderr[-2000:]
    rows = [json.loads(line) for line in made.stdout.splitlines()]
    assert len(rows) > 10
    for row in rows:
        assert row["shared"] <= HOPPER_SHARED, row
        assert row["stack"] <= 512, row  # spilled registers, and the sine's own array
        assert not row["tf32"], row


LARGE = [
    (FedAvg(local_steps=10), QuadraticMinimax(clients=100, dim=10, gradient_noise=0.1)),
    (FedAvg(local_steps=10), QuadraticMinimax(clients=100, dim=100, heterogeneity=0.2)),
    (ComFedL(local_steps=5, batch=50), KLDRO(clients=10, dim=64, samples=500, ball=20.0)),
    (LocalSCGDM(local_steps=10), BoundedComposition(clients=64, inner_value_noise=0.1)),
    (FedDRO(local_steps=10), AveragedComposition(clients=10, dim=10, inner_dim=10)),
]


@pytest.mark.skipif(DEVICE == "cpu", reason="needs a GPU: torch.cuda.is_available() is false")
@pytest.mark.parametrize(("algorithm", "problem"), LARGE)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_large_sizes_on_a_gpu_equal_plain_steps_on_the_processor(algorithm, problem, dtype):
    one = Run(algorithm, problem, 64, dtype=dtype)
    other = Run(algorithm, problem, 64, device="cpu")
    other.state = type(one.state)(*(x.cpu().double() for x in one.state))
    steps = algorithm.local_steps
    made = one.fused(steps, **({"record": ""} if one.variant.many_rounds else {}))[0]
    agree([x.cpu() for x in made], other.plain(steps)[0][-1], dtype)
