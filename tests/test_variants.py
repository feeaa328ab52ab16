"""Laws of a kernel's variants: the same verdicts, and bad states are refused."""

from __future__ import annotations

import pytest
import torch

from driftproof.synthetic.problems import KLDRO
from driftproof.toolkit.algorithms import ComFedL
from driftproof.toolkit.discover import find
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import sampled_context
from driftproof.toolkit.kernels.registry import fused_for, kernel_of
from driftproof.verifiers.verify import Settings, judge

CLAIMS = (
    "feddro/theorem-5.1", "fednest/minimax-linear", "scgdm/lemma-4.1", "scgdm/potential",
    "scgdm/theorem-3.4",
)  # fmt: skip


@pytest.mark.parametrize("name", CLAIMS)
def test_the_same_verdicts_with_kernels_and_with_plain_steps(name, monkeypatch):
    used = []

    def spied(algorithm, problem, ctx):
        made = fused_for(algorithm, problem, ctx)
        used.append(made)
        return made

    claim = find("claim", name).load()
    monkeypatch.setattr("driftproof.toolkit.federation.fused_for", spied)
    fused = judge([claim], Settings(profile="smoke"))
    assert any(used)
    monkeypatch.setattr(
        "driftproof.toolkit.federation.fused_for", lambda algorithm, problem, ctx: None
    )
    plain = judge([claim], Settings(profile="smoke"))
    assert len(fused) == len(plain) > 0
    for one, other in zip(fused, plain, strict=True):
        assert (one.claim, one.form, one.reading) == (other.claim, other.form, other.reading)
        assert (one.verdict, one.evidence) == (other.verdict, other.evidence)
        if one.lhs is not None and one.lhs["mean"] is not None:
            assert one.lhs["mean"] == pytest.approx(other.lhs["mean"], rel=1e-9, abs=1e-12)


@pytest.fixture
def variant():
    problem, algorithm = KLDRO(clients=3), ComFedL(local_steps=2, batch=2)
    ctx = sampled_context(problem, ("v",), replicates=5)
    oracles = problem.oracles(torch.float64)
    state = algorithm.init(ctx, oracles, torch.from_numpy(problem.start()))
    return fused_for(algorithm, problem, ctx), ctx, oracles, algorithm, state


@pytest.mark.parametrize(
    "spoil",
    [
        lambda w: w[:2],
        lambda w: w[..., :4],
        lambda w: w[0],
        lambda w: w.float(),
        lambda w: w.to("meta"),
    ],
    ids=["fewer clients", "fewer replicates", "no clients", "single precision", "another device"],
)
def test_a_state_of_another_context_is_refused(variant, spoil):
    kernel, ctx, oracles, algorithm, state = variant
    kernel(ctx, oracles, algorithm, state, 2)
    with pytest.raises(DriftproofError, match="kl-dro-local-steps") as told:
        kernel(ctx, oracles, algorithm, type(state)(spoil(state.w)), 2)
    assert "torch.float64 [3" in told.value.wanted
    assert "algorithm.init" in told.value.remedy


def test_no_variant_serves_a_device_that_it_is_not_written_for(variant):
    _, ctx, _, algorithm, _ = variant
    problem = KLDRO(clients=3)
    ctx.device = "meta"
    assert fused_for(algorithm, problem, ctx) is None
    assert kernel_of(algorithm, problem) is not None
