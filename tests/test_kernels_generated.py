"""Laws over every kernel in the registry, on generated cases: what it computes, what it refuses.

The variants for the CPU run here; those for a GPU in ``test_triton``.
"""

from dataclasses import replace

import numba
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.kernels import replicates
from tests.kernel_cases import FAMILIES, FIELDS, cases, simplest

KERNELS = sorted(leaves("kernel"))
COUNTERS = ("t", "rounds", "reals")


def test_every_family_with_a_strategy_is_served():
    served = {family for name in KERNELS for family in leaves("kernel")[name].load().problem}
    assert served >= set(FAMILIES)


@pytest.mark.parametrize("name", KERNELS)
@settings(max_examples=50)
@given(data=st.data())
def test_every_variant_is_the_plain_steps_whatever_the_strides(name, data):
    case = data.draw(cases(name))
    start = case.state()
    states, met, after = case.plain(start)
    for variant in [v.name for v in case.kernel.variants.values() if v.device == "cpu"]:
        laid = case.laid(start)
        (made, reach, *path), ctx = case.fused(laid, variant)
        (again, *_), _ = case.fused(start, variant)
        for field, x in made._asdict().items():
            begun = getattr(start, field)
            assert x.dtype == case.dtype
            assert case.units(x, getattr(states[-1], field), begun) <= case.kernel.tolerance, field
            assert torch.equal(x, getattr(again, field)), field
            assert torch.equal(getattr(laid, field), begun), "the state given was written to"
            if case.record:
                held = torch.stack([getattr(state, field) for state in states[:-1]])
                held = held if case.record == "all" else held.mean(1, keepdim=True)
                kept = getattr(path[0], field)
                assert kept.shape == held.shape
                assert case.units(kept, held, begun) <= case.kernel.tolerance, field
        assert path in ([], [None]) or case.record
        precision = case.kernel.tolerance * torch.finfo(case.dtype).eps
        assert reach == pytest.approx(met, rel=precision)
        assert [getattr(ctx, n) for n in COUNTERS] == [getattr(after, n) for n in COUNTERS]
        assert (ctx.mask is None) == (after.mask is None)
        assert ctx.mask is None or torch.equal(ctx.mask.double(), after.mask)


CHANGED = [
    pytest.param(name, field, id=f"{name}-{field}")
    for name in KERNELS
    for field in FIELDS
    if field in simplest(name).algorithm.values()
    and field not in ("terms", "batch", "participation", "decay", "averaged")
]


@pytest.mark.parametrize(("name", "field"), CHANGED)
def test_a_round_with_another_parameter_is_told_apart(name, field):
    """Negative control: what is drawn matters to the comparison."""
    case = replace(simplest(name), first=2 * simplest(name).algorithm.local_steps)
    value = getattr(case.algorithm, field)
    other = replace(case.algorithm, **{field: value + 1 if isinstance(value, int) else value / 2})
    start = case.state()
    ends = []
    for algorithm in (case.algorithm, other):
        tau = algorithm.local_steps
        run = replace(case, algorithm=algorithm, first=2 * tau, steps=2 * tau)
        run = run if case.kernel.many_rounds else replace(run, steps=tau)
        ends.append(run.plain(start)[0][-1])
    (made, *_), _ = replace(case, steps=len_of(case)).fused(start, "numba")

    def off(end):
        return max(case.units(a, b, c) for a, b, c in zip(made, end, start, strict=True))

    assert off(ends[0]) <= case.kernel.tolerance < off(ends[1])


def len_of(case):
    return case.algorithm.local_steps * (2 if case.kernel.many_rounds else 1)


STRETCHES = [name for name in KERNELS if simplest(name).kernel.many_rounds]


@pytest.mark.parametrize("name", STRETCHES)
@settings(max_examples=20)
@given(data=st.data(), threads=st.integers(2, 3))
def test_replicates_on_several_threads_are_the_same_to_the_bit(name, data, threads):
    case = data.draw(cases(name).filter(lambda case: case.replicates > 8))
    start, before = case.state(), numba.get_num_threads()
    (alone, *_), _ = case.fused(start, "numba")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(replicates, "LEAST", 0)
        patch.setattr(replicates.numba, "get_num_threads", lambda: threads)
        (apart, _, path), _ = case.fused(start, "numba")
    assert numba.get_num_threads() == before
    assert all(torch.equal(a, b) for a, b in zip(alone, apart, strict=True))
    if case.record:
        whole = case.fused(start, "numba")[0][2]
        assert all(torch.equal(a, b) for a, b in zip(whole, path, strict=True))


@pytest.mark.parametrize("name", STRETCHES)
def test_fields_that_nobody_wants_recorded_are_left_out(name):
    case = replace(simplest(name), steps=3, record="mean")
    every = case.fused(case.state(), "numba")[0][2]
    for wanted in every._fields:
        path = case.fused(case.state(), "numba", among={wanted})[0][2]
        assert torch.equal(getattr(path, wanted), getattr(every, wanted))
        assert sum(len(x) for x in path) == case.steps


@pytest.mark.parametrize("name", STRETCHES)
def test_random_rounding_moves_a_state_by_units_in_its_last_place(name):
    case = replace(simplest(name), steps=2, first=1, replicates=64)
    start = case.state()
    (still, *_), _ = case.fused(start, "numba")
    moved = [case.fused(start, "numba", jitter=seed)[0][0] for seed in (3, 2**63 + 5)]
    for x, one, other, begun in zip(still, *moved, start, strict=True):
        assert 0 < case.units(one, x, begun) < 16
        assert not torch.equal(one, other)


SPOILS = {
    "fewer clients": lambda x: x[:-1],
    "more clients": lambda x: torch.cat([x, x]),
    "fewer rows": lambda x: x[:, :-1],
    "more rows": lambda x: torch.cat([x, x], 1),
    "fewer replicates": lambda x: x[..., :-1],
    "more replicates": lambda x: torch.cat([x, x], 2),
    "no replicates": lambda x: x[..., 0],
    "one axis more": lambda x: x[None],
    "single precision": lambda x: x.float(),
    "half precision": lambda x: x.half(),
    "whole numbers": lambda x: x.long(),
    "another device": lambda x: x.to("meta"),
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("how", SPOILS)
def test_a_field_of_another_shape_kind_or_device_is_refused(name, how):
    case = simplest(name)
    start = case.state()
    for variant in case.kernel.variants.values():
        if variant.device != "cpu":
            continue
        for field, x in start._asdict().items():
            spoilt = SPOILS[how](x)
            with pytest.raises(DriftproofError, match=name) as told:
                case.fused(start._replace(**{field: spoilt}), variant.name)
            error = told.value
            assert f"{field} is {spoilt.dtype} {list(spoilt.shape)}" in error.got
            assert f"{x.dtype} {list(x.shape)} on cpu" in error.wanted
            assert "algorithm.init" in error.remedy


@pytest.mark.parametrize("name", KERNELS)
def test_the_data_of_other_clients_are_refused(name):
    """What would be read lies beyond them."""
    case = simplest(name)
    start, ctx = case.state(), case.context()
    few = case.problem.oracles(case.dtype, "cpu", range(ctx.clients - 1))
    more = {"record": ""} if case.kernel.many_rounds else {}
    for variant in case.kernel.variants.values():
        if variant.device == "cpu":
            with pytest.raises(DriftproofError, match="oracles"):
                variant(ctx, few, case.algorithm, start, case.steps, **more)
