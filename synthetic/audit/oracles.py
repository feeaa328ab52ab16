"""Laws of oracles: shapes, precision, centred noise, and one client apart from the others."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from driftproof.synthetic.attacks.outcomes import count_outcomes, outcomes
from driftproof.synthetic.audit.oracle_calls import REPLICATES, Asked, Points, asked, points
from driftproof.toolkit.draws import Law, TooManyAtoms, outcomes_of
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import sampled_context
from driftproof.toolkit.problem import Problem

MOST_OUTCOMES = 2048
"""Outcomes of a law that are enumerated; a law with more is sampled."""
SAMPLED_BLOCKS, SIGMAS = 16, 8.0
"""64 replicates each; a mean this many standard errors away has probability 1e-15."""


def audit_oracles(problem: Problem) -> None:
    """Raise unless a problem's oracles fit the protocol and each other."""
    oracles = problem.oracles(torch.float64)
    where = points(problem, oracles)
    every = list(asked(problem, where))
    _check_clients(problem, oracles)
    for one in every:
        check_exists(problem, oracles, one)
        _check_law(problem, oracles, one)
    for draw, one in _drawn(problem, oracles, every):
        check_shape(problem, oracles, one, where, draw)
    single = problem.oracles(torch.float32)
    low = Points(where.x.float(), where.y.float(), where.v.float())
    for draw, one in _drawn(problem, oracles, every):
        narrow = draw.float() if draw is not None and draw.is_floating_point() else draw
        check_shape(problem, single, one, low, narrow)
    for one in every:
        check_centred(problem, oracles, one, where)
    if problem.clients > 1:
        for draw, one in _drawn(problem, oracles, every):
            check_slice(problem, oracles, one, where, draw)


def law_of(oracles: Any, one: Asked) -> Law | None:
    """Return the law of an oracle's noise."""
    law: Law | None = getattr(oracles, one.law)(1) if one.law else None
    return law


def _drawn(
    problem: Problem, oracles: Any, every: list[Asked]
) -> Iterator[tuple[Tensor | None, Asked]]:
    """Yield each oracle without noise and, if it has any, with a draw."""
    ctx = sampled_context(problem, ("audit",), replicates=REPLICATES)
    for one in every:
        yield None, one
        law = law_of(oracles, one)
        if law is not None:
            yield ctx.draw(law, one.law), one


def _named(problem: Problem, one: Asked) -> str:
    return f"{one.method} of {problem.leaf_name}'s oracles"


def _check_clients(problem: Problem, oracles: Any) -> None:
    clients = getattr(oracles, "clients", None)
    if clients != problem.clients:
        raise DriftproofError(
            f"clients = {clients!r} of {problem.leaf_name}'s oracles",
            f"{problem.clients}, the problem's number of clients",
            "set clients where the oracles are built",
        )
    if problem.offers == "bilevel":
        return
    weights: Any = getattr(oracles, "client_weights", None)
    whose, shape = f"client_weights of {problem.leaf_name}'s oracles", (problem.clients, 1, 1)
    fits = isinstance(weights, Tensor) and tuple(weights.shape) == shape
    if not fits or not bool((weights >= 0).all()):
        raise DriftproofError(
            f"{whose}: {_in_words(weights)}",
            f"a tensor of shape {shape}, no entry below 0",
            "set client_weights where the oracles are built: 1/clients each, say",
        )
    if abs(float(weights.double().sum()) - 1) > 1e-6:
        raise DriftproofError(
            f"{whose} add up to {float(weights.sum()):g}",
            "1: each is a client's share of all samples",
            "divide them by their sum",
        )


def check_exists(problem: Problem, oracles: Any, one: Asked) -> None:
    """Raise unless the oracles have a method and the law of its noise."""
    for name in (one.method, one.law):
        if name and not callable(getattr(oracles, name, None)):
            raise DriftproofError(
                f"{problem.leaf_name}'s oracles have no {name}",
                f"what a problem that offers {problem.offers!r} oracles has (toolkit/oracles.py)",
                f"write {name}, or return another word from offers",
            )


def _check_law(problem: Problem, oracles: Any, one: Asked) -> None:
    law = law_of(oracles, one)
    if law is None:
        return
    if not isinstance(law, Law):
        raise DriftproofError(
            f"{one.law}(1) of {problem.leaf_name}'s oracles returned {law!r}",
            "a law (driftproof.toolkit.draws), or None where there is no noise",
            "return SignMean(batch, (1,)), say",
        )
    for client in range(problem.clients):
        try:
            outcomes_of(law, client)
        except TooManyAtoms:
            return


def check_shape(
    problem: Problem, oracles: Any, one: Asked, at: Points, draw: Tensor | None
) -> None:
    """Raise unless a value has the protocol's shape and the precision of its point."""
    value = one.value(oracles, at, draw)
    shape = (at.x.shape[0], *one.entries, at.x.shape[2])
    if not isinstance(value, Tensor) or tuple(value.shape) != shape or value.dtype != at.x.dtype:
        noise = "without noise" if draw is None else f"with a draw of shape {tuple(draw.shape)}"
        sizes = ", ".join(["clients", *("entries" for _ in one.entries), "replicates"])
        raise DriftproofError(
            f"{_named(problem, one)}, {noise}: {_in_words(value)}",
            f"a tensor of shape {shape} ({sizes}) and type {at.x.dtype}",
            f"mend {one.method}; tensors that it holds are made in the dtype that oracles() gets",
        )
    if not bool(value.isfinite().all()):
        raise DriftproofError(
            f"{_named(problem, one)}: a value that is not finite",
            "finite values wherever the constants are proven",
            f"mend {one.method}, or restrict the problem by radius",
        )


def check_centred(problem: Problem, oracles: Any, one: Asked, at: Points) -> None:
    """Raise unless the mean over all outcomes of the noise is the oracle without noise."""
    law = law_of(oracles, one)
    if law is None:
        return
    without = one.value(oracles, at, None)
    if count_outcomes(law, problem.clients) <= MOST_OUTCOMES:
        mean, size = torch.zeros_like(without), without.abs()
        for draw, chance in outcomes(law, problem.clients, at.x.shape[2]):
            part = chance.reshape(-1, *[1] * (without.dim() - 1)) * one.value(oracles, at, draw)
            mean, size = mean + part, size + part.abs()
        room, over = 1e-11 * (size + 1e-2), "over all outcomes of the noise"
    else:
        mean, room = _sampled_mean(problem, oracles, one, at, law)
        over = f"over {SAMPLED_BLOCKS * 64} draws of the noise"
    apart = (mean - without).abs()
    if bool((apart > room).any()):
        worst = int((apart - room).flatten().argmax())
        raise DriftproofError(
            f"{_named(problem, one)}: its mean {over} is {float(mean.flatten()[worst]):g}, but "
            f"without noise it returns {float(without.flatten()[worst]):g}",
            "an unbiased oracle: without noise (None) it is the expectation over its noise",
            f"mend {one.method}, or the law in {one.law}",
        )


def _sampled_mean(
    problem: Problem, oracles: Any, one: Asked, at: Points, law: Law
) -> tuple[Tensor, Tensor]:
    """Return the mean over draws at every point, and how far chance may take it."""
    blocks: list[Tensor] = []
    for block in range(SAMPLED_BLOCKS):
        ctx = sampled_context(problem, ("audit",), block=block)
        draw = ctx.draw(law, one.law)
        columns = []
        for k in range(at.x.shape[2]):
            wide = Points(*(p[..., k : k + 1].repeat(1, 1, 64) for p in (at.x, at.y, at.v)))
            columns.append(one.value(oracles, wide, draw))
        blocks.append(torch.stack(columns, -2))
    every = torch.cat(blocks, -1)
    error = every.std(-1) / every.shape[-1] ** 0.5
    return every.mean(-1), SIGMAS * error + 1e-9 * (1 + every.abs().amax(-1))


def check_slice(
    problem: Problem, oracles: Any, one: Asked, at: Points, draw: Tensor | None
) -> None:
    """Raise unless the oracles of some clients are a slice of those of all."""
    some = slice(1, problem.clients)
    part = problem.oracles(torch.float64, clients=range(1, problem.clients))
    whole = one.value(oracles, at, draw)[some]
    alone = one.value(part, at.of(some), None if draw is None else draw[some])
    if alone.shape != whole.shape or not torch.allclose(alone, whole, rtol=1e-9, atol=1e-11):
        raise DriftproofError(
            f"{_named(problem, one)} of clients 1 to {problem.clients - 1} alone differs from "
            "what the oracles of all clients give for them",
            "oracles(…, clients=range(a, b)) that hold those clients, by their own numbers",
            "mend oracles: a process of a run on the wire holds some clients only",
        )


def _in_words(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)} and type {value.dtype}"
    return f"{value!r}"
