"""Laws: entries move as torch moves doubles, and a view shares them as torch's does."""

import numpy as np
import pytest
import torch

import driftproof.toolkit.gram  # noqa: F401 - it fills the table
from driftproof.toolkit import carrier
from driftproof.toolkit.balls import Balls, RefusedError
from driftproof.toolkit.gram.exact import Vector
from driftproof.toolkit.gram.tensor import SIZES, GramVector, NotLinearError

FIRST = torch.tensor([1, 0, 1])
PICK = torch.tensor([[[3, 0, 1, 1], [0, 0, 2, 3], [1, 3, 3, 0]]] * 2)
MOVED = {
    "T": lambda x: x[0].T,
    "__getitem__": lambda x: x[1, ..., ::2],
    "a mask": lambda x: x[torch.tensor([True, False])],
    "broadcast_to": lambda x: x[:, :1].broadcast_to(2, 3, 4),
    "cat": lambda x: torch.cat([x, x[:1]]),
    "chunk": lambda x: x.chunk(2)[1],
    "clone": lambda x: x.clone(),
    "concat": lambda x: torch.concat([x, x], 1),
    "concatenate": lambda x: torch.concatenate([x, x], -1),
    "contiguous": lambda x: x.transpose(0, 1).contiguous(),
    "diagonal": lambda x: x.diagonal(0, 1, 2),
    "diagonal_scatter": lambda x: x[0].diagonal_scatter(x[1, 0, :3]),
    "expand": lambda x: x[:1].expand(2, -1, -1),
    "expand_as": lambda x: x[:1].expand_as(x),
    "flatten": lambda x: x.flatten(1),
    "flip": lambda x: x.flip(0, 2),
    "gather": lambda x: x.gather(2, PICK),
    "hstack": lambda x: torch.hstack([x, x]),
    "index_select": lambda x: x.index_select(0, FIRST),
    "mT": lambda x: x.mT,
    "moveaxis": lambda x: x.moveaxis(0, 2),
    "movedim": lambda x: x.movedim((0, 1), (1, 2)),
    "narrow": lambda x: x.narrow(1, 1, 2),
    "permute": lambda x: x.permute(2, 0, 1),
    "ravel": lambda x: x.ravel(),
    "repeat": lambda x: x.repeat(2, 1, 1),
    "repeat_interleave": lambda x: x.repeat_interleave(2, 1),
    "reshape": lambda x: x.reshape(4, 6),
    "reshape_as": lambda x: x.reshape_as(x.permute(2, 0, 1)),
    "roll": lambda x: x.roll(1, 0),
    "select": lambda x: x.select(1, 2),
    "select_scatter": lambda x: x.select_scatter(x[0], 0, 1),
    "slice_scatter": lambda x: x.slice_scatter(x[:1], 0, 1, 2),
    "split": lambda x: x.split([1, 2], 1)[1],
    "squeeze": lambda x: x[:1].squeeze(),
    "stack": lambda x: torch.stack([x, x], 1),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "swapdims": lambda x: x.swapdims(0, 1),
    "t": lambda x: x[0].t(),
    "take_along_dim": lambda x: x.take_along_dim(PICK, 2),
    "tile": lambda x: x.tile(2),
    "transpose": lambda x: x.transpose(0, 2),
    "unbind": lambda x: x.unbind(1)[2],
    "unflatten": lambda x: x.unflatten(2, (2, 2)),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "view": lambda x: x.view(6, 4),
    "view_as": lambda x: x.view_as(x.clone().reshape(4, 6)),
    "vstack": lambda x: torch.vstack([x, x]),
}
BENEATH = {"_unsafe_view", "alias", "conj_physical", "index", "slice"}
"""What ``torch.func`` alone calls (tests/test_balls_under_torch_func.py)."""


def numbers():
    return torch.arange(24, dtype=torch.float64).reshape(2, 3, 4)


@pytest.mark.parametrize("name", MOVED)
def test_entries_stand_where_torch_puts_them(name):
    made, wanted = MOVED[name](Balls.of(numbers())), MOVED[name](numbers())
    assert torch.equal(made.middles, wanted)


@pytest.mark.parametrize("name", MOVED)
def test_what_is_written_to_a_part_is_written_where_torch_writes_it(name):
    """A view shares its entries, a copy does not; one entry that stands twice is refused."""
    of, balls = numbers(), Balls.of(numbers())
    part, made = MOVED[name](of), MOVED[name](balls)
    try:
        part.mul_(2)
    except RuntimeError:
        with pytest.raises(RefusedError, match="expanded"):
            made.mul_(2)
    else:
        made.mul_(2)
    assert torch.equal(balls.middles, of)


def test_every_move_is_tested():
    assert carrier.MOVES.keys() == MOVED.keys() - {"a mask"} | BENEATH


@pytest.mark.parametrize("name", ["neg", "triu"])
def test_what_does_more_than_move_is_caught(name, monkeypatch):
    """Negative control: a function that makes new entries is taken for one that moves them."""
    monkeypatch.setitem(carrier.MOVES, name, 1)
    monkeypatch.setattr(Balls, "table", {k: v for k, v in Balls.table.items() if k != name})
    made = getattr(torch, name)(Balls.of(numbers() + 1))
    assert not torch.equal(made.middles, getattr(torch, name)(numbers() + 1))


def vectors():
    entries = np.array([Vector.basis(k) for k in range(4)], dtype=object).reshape(2, 2, 1, 1)
    return GramVector(entries)


def named(x):
    """Return which unknown each entry is."""
    return [min(v.coefficients) for v in x.entries.flat]


def test_vectors_move_whole():
    x = vectors()
    assert named(x.flip(0)) == [2, 3, 0, 1]
    assert named(x.transpose(0, 1).reshape(4, SIZES["dimension"], 1)) == [0, 2, 1, 3]
    assert named(torch.stack(x.unbind(1))) == [0, 2, 1, 3]
    assert named(x[:, 1].roll(1, 0)) == [3, 1]
    row = x[0]
    row -= x[1]
    assert x.entries[0, 0, 0, 0] == Vector.basis(0) - Vector.basis(2)
    x[1] = x[0]
    assert x.entries[1, 1, 0, 0] == Vector.basis(1) - Vector.basis(3)


@pytest.mark.parametrize(
    "move",
    [
        lambda x: x.transpose(-1, -2),
        lambda x: x.flip(-2),
        lambda x: x.roll(1, -2),
        lambda x: x.flatten(1),
        lambda x: x[..., 0],
        lambda x: x[..., [1, 0, 2, 3, 4, 5, 6], :],
        lambda x: x.movedim(0, -1),
        lambda x: x.repeat(1, 1, 2, 1),
        lambda x: x[..., :-1, :],
        lambda x: x.gather(0, torch.arange(SIZES["dimension"])[:, None].expand(x.shape) % 2),
        lambda x: GramVector(x.entries.reshape(2, 1, 2)).permute(2, 1, 0),  # outcomes
    ],
)
def test_coordinates_do_not_move(move):
    with pytest.raises(NotLinearError):
        move(vectors())
