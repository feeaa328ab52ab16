"""What networks are made of: outputs and start against PyTorch's own modules."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from driftproof.toolkit.network import uniform_by_fan_in
from driftproof.toolkit.networks import ResNet

WIDTH = 16


class Block(nn.Module):
    """Two convolutions beside a shortcut without parameters: option A of He et al. 2016."""

    def __init__(self, before, after, norm):
        super().__init__()
        stride = after // before
        self.branch = nn.Sequential(
            nn.Conv2d(before, after, 3, stride, 1, bias=False), norm(after), nn.ReLU(),
            nn.Conv2d(after, after, 3, 1, 1, bias=False), norm(after),
        )  # fmt: skip

    def forward(self, values):
        branch = self.branch(values)
        count, after, height, width = branch.shape
        stride, before = values.shape[2] // height, values.shape[1]
        shortcut = torch.zeros(count, after, height, width, dtype=values.dtype)
        begins = (after - before) // 2  # as many channels of 0 before as after
        shortcut[:, begins : begins + before] = values[:, :, ::stride, ::stride]
        return torch.relu(branch + shortcut)


def plain(norm, outputs):
    """Return a ResNet of one block a stage, made of modules."""
    sizes = [WIDTH, WIDTH, 2 * WIDTH, 4 * WIDTH]
    blocks = [Block(before, after, norm) for before, after in pairwise(sizes)]
    return nn.Sequential(
        nn.Conv2d(3, WIDTH, 3, 1, 1, bias=False), norm(WIDTH), nn.ReLU(), *blocks,
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * WIDTH, outputs),
    ).double()  # fmt: skip


NORMS = {
    "none": lambda channels: nn.Identity(),
    "batch": nn.BatchNorm2d,
    "group": lambda channels: nn.GroupNorm(8, channels),
}


@pytest.mark.parametrize("normalisation", NORMS)
def test_a_resnet_is_that_of_plain_pytorch(normalisation):
    model = ResNet(width=WIDTH, blocks=1, normalisation=normalisation).model((3, 8, 8), 5)
    module = plain(NORMS[normalisation], 5)
    random = np.random.default_rng(0)
    own = torch.from_numpy(model.start(0) + 0.05 * random.normal(size=model.dim))
    nn.utils.vector_to_parameters(own, module.parameters())
    images = torch.from_numpy(random.normal(size=(4, 3, 8, 8)))
    torch.testing.assert_close(model(own, images), module(images).detach())


@settings(max_examples=20, deadline=None)
@given(units=st.integers(60, 90), before=st.integers(1, 5), side=st.integers(1, 3))
def test_a_convolution_starts_within_the_bound_of_pytorchs_own(units, before, side):
    shapes = {"0.weight": (units, before, side, side), "0.bias": (units,)}
    made = np.abs(uniform_by_fan_in(shapes, np.random.default_rng([units, before, side])))
    weight, bias = np.split(made, [units * before * side * side])
    bound = (before * side * side) ** -0.5
    with torch.random.fork_rng():
        torch.manual_seed(0)
        layer = nn.Conv2d(before, units, side)
    for ours, theirs in ((weight, layer.weight), (bias, layer.bias)):
        for largest in (ours.max(), float(theirs.detach().abs().max())):
            assert 0.8 * bound < largest <= bound * (1 + 1e-6)
