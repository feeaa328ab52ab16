"""t where a verdict speaks of every round: a letter, of which only the place in its round is known.

A run that stands for all rounds is made once. Its steps may ask where in the round they are, and
nothing else of t: not its size, whose answers differ between rounds.

>>> t = RoundNumber(1, 2)  # the second step of two
>>> t % 2, (t + 1) % 2, (t + 1) - t
(1, 0, 1)
"""

from __future__ import annotations

from typing import Any

from driftproof.toolkit.gram.tensor import refused

REMEDY = (
    "hold step sizes and momentum constant, and draw at ctx.t or ctx.t - ctx.t % self.local_steps; "
    "or state it for a number of rounds: @bound over a class that begins at x_0, rounds=20 say"
)


SAID = {
    "asks for its type": ("isinstance",),
    "compares it": ("eq", "ge", "gt", "le", "lt", "ne"),
    "branches on it": ("bool",),
    "makes a number or an index of it": ("float", "index", "int", "round", "trunc"),
    "writes it out": ("format", "repr", "str"),
    "looks something up by it": ("contains", "getitem", "hash"),
}
"""What a text does with t, by the name of the method that Python calls; else it calculates."""


class RoundNumber:
    """k·period + place, of any whole number k ≥ 0.

    It is no int. A whole number can be added and taken away; the difference of two is a number, and
    so is t % d where d divides the period. Everything else ends the run with the line that asked.

    Args:
        period: how many steps a round has, of t; 1 of the number of a round.
    """

    __slots__ = ("_period", "_place")
    __class__ = property(lambda self: _refuse("isinstance"))

    def __init__(self, place: int, period: int) -> None:
        self._place, self._period = place, period

    def __add__(self, by: Any) -> Any:
        if type(by) is not int:
            return _refuse("+")
        return RoundNumber(self._place + by, self._period)

    __radd__ = __add__

    def __sub__(self, by: Any) -> Any:
        if type(by) is not RoundNumber:
            return self + -by if type(by) is int else _refuse("-")
        return self._place - by._place if by._period == self._period else _refuse("-")

    def __mod__(self, by: Any) -> Any:
        divides = type(by) is int and by and self._period % by == 0
        return self._place % by if divides else _refuse("", f"takes it % {by}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what Python and numpy look for
            raise AttributeError(name)
        return _refuse(name)


def place_of(number: Any) -> int:
    """Return how far a step is from the first of its run, in the engine's own terms."""
    return number._place if type(number) is RoundNumber else number


def _refuse(what: str, does: str = "calculates with it") -> Any:
    does = next((said for said, names in SAID.items() if what in names), does)
    raise refused(
        f"this text reads t, the number of the step or the round: it {does}",
        REMEDY,
        "the same step in every round, since the verdict speaks of all of them",
    )


def _refusing(name: str) -> Any:
    return lambda self, *others: _refuse(name)


for _name in (
    "abs", "array", "array_ufunc", "bool", "bytes", "ceil", "complex", "contains", "copy",
    "deepcopy", "divmod", "eq", "float", "floor", "floordiv", "format", "ge", "getitem", "gt",
    "hash", "index", "int", "invert", "iter", "le", "len", "lshift", "lt", "matmul", "mul", "ne",
    "neg", "or", "pos", "pow", "rand", "rdivmod", "reduce", "reduce_ex", "repr", "rfloordiv",
    "rlshift", "rmatmul", "rmod", "rmul", "ror", "round", "rpow", "rrshift", "rshift", "rsub",
    "rtruediv", "rxor", "str", "truediv", "trunc", "xor", "and",
):  # fmt: skip
    setattr(RoundNumber, f"__{_name}__", _refusing(_name))
