"""t where a verdict speaks of every round: a letter, of which only the place in its round is known.

A run that stands for all rounds is made once. Its steps may ask where in the round they are, and
nothing else of t: not its size. Where a rate in t is to be proved they may calculate with it.

>>> t = RoundNumber(1, 2)  # the second step of two
>>> t % 2, (t + 1) % 2, (t + 1) - t
(1, 0, 1)
"""

import operator
from collections.abc import Callable
from typing import Any

from driftproof.toolkit.gram.tensor import GramForms, refused
from driftproof.toolkit.ratios import Ratio

REMEDY = (
    "hold step sizes and momentum constant, and draw at ctx.t or ctx.t - ctx.t % self.local_steps; "
    "or state it for a number of rounds: @bound over a class that begins at x_0, rounds=20 say"
)


ROUND = Ratio.letter("t")
"""The number of the round, where a rate in it is to be proved."""
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
        counted: whether sums, products and quotients with it are allowed: functions of ``ROUND``.
    """

    __slots__ = ("_counted", "_period", "_place")
    # where it is calculated with, torch asks for it; a text that does is told apart by its replay
    __class__ = property(lambda self: RoundNumber if self._counted else _refuse("isinstance"))

    def __init__(self, place: int, period: int, counted: bool = False) -> None:
        self._place, self._period, self._counted = place, period, counted

    def __add__(self, by: Any) -> Any:
        if type(by) is not int:
            return _calculated(operator.add, self, by)
        return RoundNumber(self._place + by, self._period, self._counted)

    __radd__ = __add__

    def __sub__(self, by: Any) -> Any:
        if type(by) is not RoundNumber:
            return self + -by if type(by) is int else _calculated(operator.sub, self, by)
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


def _calculated(of: Callable[..., Any], *given: Any) -> Any:
    """Return a function of the letter, where it may be calculated with."""
    known = [ROUND * x._period + x._place for x in given if type(x) is RoundNumber and x._counted]
    if len(known) < sum(type(x) is RoundNumber for x in given):
        return _refuse("")
    return of(*(GramForms.of(known.pop(0)) if type(x) is RoundNumber else x for x in given))


def _refuse(what: str, does: str = "calculates with it") -> Any:
    does = next((said for said, names in SAID.items() if what in names), does)
    raise refused(
        f"this text reads t, the number of the step or the round: it {does}",
        REMEDY,
        "the same step in every round, since the verdict speaks of all of them",
    )


def _refusing(name: str) -> Any:
    return lambda self, *others: _refuse(name)


def _calculating(name: str, order: int = 1) -> Any:
    return lambda *given: _calculated(getattr(operator, name), *given[::order])


for _name in (
    "abs", "array", "array_ufunc", "bool", "bytes", "ceil", "complex", "contains", "copy",
    "deepcopy", "divmod", "eq", "float", "floor", "floordiv", "format", "ge", "getitem", "gt",
    "hash", "index", "int", "invert", "iter", "le", "len", "lshift", "lt", "matmul", "ne", "or",
    "pos", "rand", "rdivmod", "reduce", "reduce_ex", "repr", "rfloordiv", "rlshift", "rmatmul",
    "rmod", "ror", "round", "rpow", "rrshift", "rshift", "rxor", "str", "trunc", "xor", "and",
):  # fmt: skip
    setattr(RoundNumber, f"__{_name}__", _refusing(_name))
for _name in ("mul", "neg", "pow", "truediv"):
    setattr(RoundNumber, f"__{_name}__", _calculating(_name))
for _name in ("mul", "sub", "truediv"):
    setattr(RoundNumber, f"__r{_name}__", _calculating(_name, -1))
