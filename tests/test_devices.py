"""A run stays on its device: on one that has no memory, no operation mixes in the processor's."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from driftproof.synthetic.problems import LogisticBilevel, QuadraticMinimax
from driftproof.toolkit.algorithms import FedAvg
from driftproof.toolkit.environment import check_device
from driftproof.toolkit.errors import DriftproofError, MissingError
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.measure import average, each, sq
from driftproof.toolkit.oracles import OFFERS
from tests.leaves import fits, members, pairs, problems

aten = torch.ops.aten
COPIES = {aten._to_copy.default, aten.copy_.default}


class OneDevice(TorchDispatchMode):
    """Refuses operations on tensors of two devices; what is read of a tensor is 0 (of integers 1).

    The device "meta" computes shapes alone. A GPU would refuse the same operations, but tensors of
    one number.
    """

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func == aten._local_scalar_dense.default and args[0].is_meta:
            return {torch.bool: True, torch.int64: 1}.get(args[0].dtype, 0.0)
        if func == aten._to_copy.default and args[0].is_meta and kwargs.get("device") is not None:
            if kwargs["device"].type == "cpu":
                return torch.ones(args[0].shape, dtype=kwargs.get("dtype") or args[0].dtype)
        elif func not in COPIES:
            held = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
            assert len({x.device.type for x in held if x.ndim}) < 2, f"{func} on two devices"
        return func(*args, **kwargs)


def on_meta(algorithm, problem):
    def left(view):
        held = view.round_start(algorithm.iterate)
        lower = hasattr(problem, "upper_dim") and algorithm.iterate == "y"
        known = "set" in OFFERS[problem.offers]  # whether a point lies in a set is a value
        if lower or known or isinstance(problem, LogisticBilevel):  # its gradient ends by values
            return each("round", sq(held))
        return average("round", sq(view.problem.gradient(held)), value=view.objective(held))

    ctx = sampled_context(problem, ("meta",), replicates=2, device="meta")
    with OneDevice():
        return run(problem, algorithm, ctx, rounds=2, left=left)


ONE_OF_EACH = [
    *{p.values[0]: p for p in pairs() if fits(*p.values)}.values(),
    *{p.values[1]: p for p in pairs() if fits(*p.values)}.values(),
]


def test_every_leaf_has_a_run_on_one_device():
    """Methods of online optimisation run on whole classes alone, which have no device."""
    own = {p.values[0] for p in members("algorithm") if p.values[0].needs != "online"}
    assert own == {p.values[0] for p in ONE_OF_EACH}
    assert {p.values[0] for p in problems()} == {p.values[1] for p in ONE_OF_EACH}


@pytest.mark.parametrize(("algorithm", "problem"), ONE_OF_EACH)
def test_a_run_stays_on_its_device(algorithm, problem):
    made = on_meta(algorithm, problem)
    assert all(x.is_meta for x in made.state)
    assert made.values.shape[-1] == 2


def test_oracles_on_another_device_are_seen(monkeypatch):
    oracles = QuadraticMinimax().oracles(torch.float64)
    monkeypatch.setattr(QuadraticMinimax, "oracles", lambda self, *of: oracles)
    with pytest.raises(AssertionError, match="two devices"):
        on_meta(FedAvg(), QuadraticMinimax())


def test_a_device_that_is_none_of_ours_is_bad_input():
    with pytest.raises(DriftproofError, match="gpu") as told:
        check_device("gpu")
    assert told.value.exit_code == 2
    assert "cuda" in told.value.wanted


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_a_gpu_that_is_not_there_is_said_to_be_missing():
    with pytest.raises(MissingError, match="cuda") as told:
        check_device("cuda")
    assert told.value.exit_code == 3
    assert "--device" in told.value.remedy
