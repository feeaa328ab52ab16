"""Texts that do one thing where they are certified and another where they run: none is SUPPORTED.

Each hides something in the size of a gradient step with η = 1/2, which on its own would contract.
"""

from __future__ import annotations

import copy
import functools
import itertools
import json
import math
import operator
import os
import re
import sys
import threading
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import sympy
import torch
from torch import Tensor

from driftproof import Algorithm, algorithm, bound, each, limit, sq
from driftproof.algorithms import ProximalGradient
from driftproof.classes import (
    any_state,
    convex,
    indicator,
    over,
    plus,
    shared_minimiser,
    smooth_strongly_convex,
    start_within,
)
from driftproof.toolkit.draws import CoinMean
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers.verify import Settings, judge

CLASS = smooth_strongly_convex(L=1, mu=0.1)
SOUNDNESS = (Path(__file__).parents[1] / "docs/soundness.md").read_text(encoding="utf-8")


class State(NamedTuple):
    w: Tensor


class Steps(Algorithm):
    local_steps: int = 1
    step_size: float = 0.5
    participation: float = 1.0
    notation = {"eta": "step_size", "T": "rounds", "mu": "strong_convexity"}

    def init(self, ctx, oracles, start):
        return State(ctx.everywhere(start))

    def anywhere(self, ctx, oracles, start, own):
        return State(ctx.everywhere(start))

    def size(self, ctx, oracles, state):
        return self.step_size

    def step(self, ctx, oracles, state):
        size = self.size(ctx, oracles, state)
        return State(state.w - size * oracles.field_grad(state.w, None))


def method(size=None, base=Steps, **fields):
    """Return an algorithm with another size of its steps, or another step."""
    named = {"size": size} if size else {}
    made = type("Hidden", (base,), {"__module__": __name__, **named})
    return algorithm(name="hidden", source="tests", statement="x")(made)(**fields)


def distance(view):
    off = sq(view.mean("w") - view.minimiser)
    return each("round", "local_step", off) if view.last else None


def verdict(text, *, classes=(CLASS,), clients=1, left=distance):
    """Return what becomes of "x_t → x*"; None if the text is refused as a mistake."""
    claim = limit(
        name="hidden/limit",
        source="tests",
        statement="x",
        classes=over(classes, text, clients=clients),
    )(left)
    return of(claim)


def of(claim):
    try:
        (row,) = judge([claim], Settings())
    except DriftproofError:
        return None
    return row.verdict


COUNTED = {"module": 0, "class": 0}
SCHEDULE = [0.5, 0.5, 5.0, *[5.0] * 200]
GENERATOR = (0.5 if k < 3 else 5.0 for k in itertools.count())
MEMORY: dict[str, int] = {}


def caught(t):
    try:
        return 0.5 if float(t) < 1 else 5.0
    except Exception:  # noqa: BLE001
        return 0.5


def in_a_thread(t):
    answers = []
    thread = threading.Thread(target=lambda: answers.append(int(t)))
    thread.start()
    thread.join()
    return 0.5 if not answers or answers[0] == 0 else 5.0


def counted(name):
    COUNTED[name] += 1
    return COUNTED[name]


def remembered(of, name="hidden_"):
    """Return how often an object was met, which it remembers itself."""
    met = vars(of).get(name, 0) + 1
    object.__setattr__(of, name, met)
    return met


def by_default(*_, calls=[0]):  # noqa: B006
    calls[0] += 1
    return 0.5 if calls[0] < 6 else 5.0


def closure():
    calls = 0

    def size(s, c, o, x):
        nonlocal calls
        calls += 1
        return 0.5 if calls < 6 else 5.0

    return size


@functools.lru_cache
def first_time(_):
    return {"calls": 0}


def cached(s, c, o, x):
    held = first_time(0)
    held["calls"] += 1
    return 0.5 if held["calls"] < 6 else 5.0


def later(happens):
    return 5.0 if happens else 0.5


TIMED = {
    "int": lambda t: 0.5 / (int(t) + 1) ** 2,
    "numpy": lambda t: 0.5 / np.sqrt(t + 1),
    "fraction": lambda t: Fraction(1, 2) * Fraction(1, t + 1),
    "divmod": lambda t: 0.5 * 0.5 ** divmod(t, 10)[0],
    "a negative power": lambda t: 2.0 ** (-t),
    "pow": lambda t: 1 / pow(2, t + 1),
    "an index": lambda t: SCHEDULE[t],
    "range": lambda t: later(len(range(t)) > 20),
    "a set": lambda t: later(t not in {0}),
    "a table": lambda t: {0: 0.5}.get(t, 5.0),
    "bits": lambda t: later(t & 1),
    "bit_length": lambda t: later(t.bit_length() > 3),
    "real": lambda t: later(t.real > 3),
    "exp": lambda t: 0.5 * math.exp(-t),
    "sympy": lambda t: float(sympy.Rational(1, 2) / sympy.Integer(t + 1)),
    "an f-string": lambda t: later(f"{t}" != "0"),
    "a format": lambda t: later("%d" % t != "0"),  # noqa: UP031
    "str": lambda t: later(str(t) != "0"),
    "repr": lambda t: later("0" not in repr(t)),
    "hash": lambda t: later(hash(t) != 0),
    "abs": lambda t: 0.5 / (abs(t) + 1),
    "float": lambda t: 0.5 / (float(t) + 1),
    "round": lambda t: later(round(t) > 3),
    "equality": lambda t: later(t != 0),
    "an order": lambda t: later(t >= 20),
    "max": lambda t: 0.5 / max(t, 1),
    "sorted": lambda t: later(sorted([t, 3])[0] == 3),
    "truth": lambda t: later(bool(t)),
    "a quotient": lambda t: later(t // 10 > 1),
    "a product": lambda t: 0.5 / (1 + t * 0.1),
    "another modulus": lambda t: later(t % 7 == 6),
    "an index of operator": lambda t: later(operator.index(t) > 3),
    "a copy": lambda t: later(copy.copy(t) > 3),
    "json": lambda t: later(json.dumps(t) != "0"),
    "a tensor": lambda t: 0.5 / (1 + torch.tensor(t).double()),
    "torch.where": lambda t: torch.where(torch.tensor(t > 0), 5.0, 0.5).double(),
    "an array": lambda t: 0.5 / (1 + float(np.asarray(t, dtype=float))),
    "isinstance": lambda t: later(isinstance(t, int) and 50 <= t < 60),
    "a type": lambda t: later(type(t) is int and t > 30),
    "an error that is caught": caught,
    "a thread": in_a_thread,
}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("name", TIMED)
def test_no_verdict_on_all_rounds_rests_on_a_text_that_reads_the_number_of_a_round(name):
    assert verdict(method(lambda s, c, o, x: TIMED[name](c.t))) is Verdict.INCONCLUSIVE


HIDDEN = {
    "the horizon": lambda s, c, o, x: 0.5 / c.horizon,
    "a horizon by vars": lambda s, c, o, x: later(vars(c).get("horizon", 1) > 1),
    "t by vars": lambda s, c, o, x: later(vars(c).get("t", 0) > 20),
    "rounds that are counted": lambda s, c, o, x: later(c.average(x.w) and c.rounds != 1),
    "reals that are sent": lambda s, c, o, x: later(c.average(x.w) and c.reals > 7),
    "a counter of the module": lambda s, c, o, x: later(counted("module") > 5),
    "a counter of the class": lambda s, c, o, x: later(counted("class") == 1),
    "a counter of the algorithm": lambda s, c, o, x: later(remembered(s) > 3),
    "a counter of the context": lambda s, c, o, x: later(remembered(c) > 3),
    "a counter of the oracles": lambda s, c, o, x: later(remembered(o) > 3),
    "marks": lambda s, c, o, x: later(c.marks.setdefault("k", 0) or c.marks.update(k=1)),
    "whose oracles they are": lambda s, c, o, x: later(
        MEMORY.setdefault(str(id(o)), len(MEMORY)) != 0
    ),
    "a default": by_default,
    "a closure": closure(),
    "a cache": cached,
    "a generator": lambda s, c, o, x: next(GENERATOR),
    "the environment": lambda s, c, o, x: later(
        os.environ.update(K=str(int(os.environ.get("K", "0")) + 1)) or int(os.environ["K"]) > 9
    ),
    "torch's random numbers": lambda s, c, o, x: 0.5 + torch.rand(1).double(),
    "a long first step": lambda s, c, o, x: 3.0 if remembered(s) == 1 else 1.0,
    "the type of a number": lambda s, c, o, x: later(type(s.step_size) is float),
    "isinstance of a number": lambda s, c, o, x: later(isinstance(s.step_size, float)),
    "a number as text": lambda s, c, o, x: later(repr(s.step_size) == "0.5"),
    "what a tensor has": lambda s, c, o, x: later(not hasattr(x.w, "entries")),
    "what a tensor is": lambda s, c, o, x: later(type(x.w) is Tensor),
    "whether it has a storage": lambda s, c, o, x: later(
        x.w.untyped_storage().nbytes() > 0 if type(x.w) is Tensor else 0
    ),
    "large numbers": lambda s, c, o, x: later(type(x.w) is Tensor and x.w.abs().max() > 1e4),
    "small numbers": lambda s, c, o, x: later(type(x.w) is Tensor and x.w.abs().max() < 1e-4),
    "negative numbers": lambda s, c, o, x: later(type(x.w) is Tensor and x.w.sum() < 0),
    "the dimension": lambda s, c, o, x: later(x.w.shape[1] == 2),
    **{
        f"{share:g} more in doubles": lambda s, c, o, x, share=share: (
            0.5 * (1 + share * (type(x.w) is Tensor))
        )
        for share in (1e-8, 1e-4, 0.05)
    },
}


@pytest.mark.parametrize("name", HIDDEN)
def test_what_is_certified_is_what_runs(name):
    assert verdict(method(HIDDEN[name])) is not Verdict.SUPPORTED


class Half(Steps):
    def step(self, ctx, oracles, state):
        w = super().step(ctx, oracles, state).w
        return State(self.rounded(w))


ROUNDED = {
    "to": lambda w: w.to(torch.float16).double(),
    "a keyword": lambda w: w.to(dtype=torch.float32).double(),
    "type_as": lambda w: w.type_as(torch.ones(1, dtype=torch.float16)).double(),
    "to another": lambda w: w.to(torch.ones(1)).double(),
    "half": lambda w: w.half().double(),
    "float": lambda w: w.float().double(),
    "int": lambda w: w.int().double(),
    "a sum": lambda w: w + 0 * w.sum(0, keepdim=True, dtype=torch.float32).double(),
    "by type": lambda w: w.half().double() if type(w) is Tensor else w,
    "to whole numbers": lambda w: w.round(decimals=3) if type(w) is Tensor else w,
}


@pytest.mark.parametrize("name", ROUNDED)
def test_steps_that_round_are_not_exact(name):
    text = method(base=type("Rounding", (Half,), {"rounded": lambda self, w: ROUNDED[name](w)}))
    assert verdict(text) in (Verdict.INCONCLUSIVE, None)
    claim = bound(
        name="hidden/bound",
        source="tests",
        statement="x",
        right=lambda c: (1 - c.eta * c.mu) ** 2,
        classes=over([CLASS, start_within(R=1)], text, rounds=1, clients=1),
    )(distance)
    assert of(claim) in (Verdict.INCONCLUSIVE, None)


class Sampled(Steps):
    """One of two clients moves; which one is drawn at ``since(ctx)``."""

    def step(self, ctx, oracles, state):
        cohort = ctx.cohort(1, since=self.since(ctx))
        kept = torch.tensor([0.0, 1.0]).double()[:, None, None]
        return State(*cohort.average(state.w - kept * oracles.field_grad(state.w, None)))


class Coin(Steps):
    """A server's coin, drawn at ``since(ctx)``, says whether there is a step."""

    def step(self, ctx, oracles, state):
        coin = ctx.server_draw(CoinMean(1, (1,), 0.5), "coin", since=self.since(ctx))
        return State(state.w - (1 + coin) / 4 * oracles.field_grad(state.w, None))


@pytest.mark.parametrize("base", [Sampled, Coin])
@pytest.mark.parametrize(
    ("since", "wanted"),
    [
        (lambda s, c: c.t, Verdict.SUPPORTED),
        (lambda s, c: c.t - c.t % s.local_steps, Verdict.SUPPORTED),
        (lambda s, c: 0, Verdict.INCONCLUSIVE),
        (lambda s, c: c.t - 1, Verdict.INCONCLUSIVE),
        (lambda s, c: c.t + 1, Verdict.INCONCLUSIVE),
    ],
)
def test_every_draw_of_a_round_belongs_to_it(base, since, wanted):
    text = method(base=type("Drawing", (base,), {"since": since}), participation=0.5)
    several = 2 if base is Sampled else 1
    assert verdict(text, classes=(CLASS, shared_minimiser()), clients=several) is wanted


def of_one_round(text, right, more=()):
    def left(view):
        start, end = view.round_start("w"), view.mean("w")
        off = [sq(w - view.minimiser) for w in (start, end)]
        return each("round", "local_step", off[1], start=off[0]) if view.last else None

    return bound(
        name="hidden/round",
        source="tests",
        statement="x",
        measured={"start": "x"},
        right=right,
        classes=over([CLASS, *more, any_state()], text, rounds=1, clients=1),
    )(left)


def rate(c):
    return (1 - c.eta * c.mu) ** 2 * c.measured("start")


def test_a_bound_of_one_round_is_one_of_every_round():
    assert of(of_one_round(method(), rate)) is Verdict.SUPPORTED
    assert (
        of(of_one_round(method(lambda s, c, o, x: s.step_size * (c.t + 1)), rate))
        is Verdict.INCONCLUSIVE
    )
    for accelerated, wanted in ((False, Verdict.SUPPORTED), (True, Verdict.INCONCLUSIVE)):
        text = ProximalGradient(step_size=0.5, accelerated=accelerated)
        assert of(of_one_round(text, rate, [plus(convex())])) is wanted


@pytest.mark.parametrize(
    "factor",
    [
        lambda view: 1 / (view.t + 1),
        lambda view: 1 / (view.round + 1),
        lambda view: 1 / view.horizon,
        lambda view: 1 / counted("measure"),
    ],
)
def test_a_measure_of_every_round_reads_no_number_of_a_round(factor):
    COUNTED["measure"] = 0

    def left(view):
        off = sq(view.mean("w") - view.minimiser)
        return each(
            "round",
            "local_step",
            off * factor(view),
            start=sq(view.round_start("w") - view.minimiser),
        )

    claim = bound(
        name="hidden/measure",
        source="tests",
        statement="x",
        measured={"start": "x"},
        right=rate,
        classes=over([CLASS, any_state()], method(), rounds=1, clients=1),
    )(left)
    assert of(claim) in (Verdict.INCONCLUSIVE, None)


class Remembering(Steps):
    """Steps along the last gradient; its anywhere forgets that it may be any."""

    def init(self, ctx, oracles, start):
        w = ctx.everywhere(start)
        return Both(w, torch.zeros_like(w))

    def anywhere(self, ctx, oracles, start, own):
        return self.init(ctx, oracles, start)

    def step(self, ctx, oracles, state):
        g = oracles.field_grad(state.w, None)
        return Both(state.w - 0.5 * (g + state.last) / 2, g)


class Both(NamedTuple):
    w: Tensor
    last: Tensor


def test_a_round_ends_in_a_state_that_a_round_can_begin_with():
    assert verdict(method(base=Remembering)) is Verdict.INCONCLUSIVE
    assert of(of_one_round(method(base=Remembering), rate)) is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("beside", "step"),
    [
        (plus(convex()), lambda o, w: o.prox(w - 0.5 * o.field_grad(w, None), 0.5)),
        (plus(indicator()), lambda o, w: o.project(w - 0.5 * o.field_grad(w, None))),
        (plus(indicator(D=2)), lambda o, w: (w + o.linear_minimiser(o.field_grad(w, None))) / 2),
    ],
)
def test_a_text_with_a_term_is_replayed_too(beside, step):
    def honest(s, c, o, x):
        return State(step(o, x.w))

    def lying(s, c, o, x):
        return honest(s, c, o, x) if hasattr(x.w, "entries") else State(step(o, x.w) + x.w)

    verdicts = []
    for own in (honest, lying):
        text = method(base=type("Termed", (Steps,), {"needs": "online", "step": own}))
        every = over([CLASS, beside, start_within(R=1)], text, rounds=1, clients=1)
        claim = bound(
            name="hidden/term", source="tests", statement="x", right=lambda c: 100, classes=every
        )(distance)
        verdicts.append(of(claim))
    assert verdicts == [Verdict.SUPPORTED, Verdict.INCONCLUSIVE]


HONEST = {
    "a constant": (lambda s, c, o, x: s.step_size, 1),
    "the last of a round": (
        lambda s, c, o, x: s.step_size * (1.5 if (c.t + 1) % s.local_steps == 0 else 1),
        4,
    ),
    "one in two": (lambda s, c, o, x: [0.5, 1.0][c.t % 2], 4),
    "a place in the round": (lambda s, c, o, x: 0.5 / (1 + c.t % s.local_steps), 3),
    "a difference": (lambda s, c, o, x: 0.5 / (1 + (c.t - (c.t - c.t % s.local_steps))), 3),
    "a large number that goes": (lambda s, c, o, x: (10**7 + s.step_size) - 10**7, 1),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_texts_are_judged(name):
    size, steps = HONEST[name]
    assert verdict(method(size, local_steps=steps)) is Verdict.SUPPORTED


def waits(s, c, o, x):
    return later(counted("late") > 10**6)


def frames(s, c, o, x):
    return later("_run" in sys._getframe(3).f_code.co_name)


@pytest.mark.parametrize(
    ("text", "words"), [(waits, "a counter outside the state"), (frames, "the interpreter")]
)
def test_what_is_outside_of_the_boundary_is_said_to_be(text, words):
    """They are SUPPORTED: the page on soundness names them."""
    COUNTED["late"] = 0
    assert verdict(method(text)) is Verdict.SUPPORTED
    assert re.search(words, re.sub(r"\s+", " ", SOUNDNESS))
