"""Every outcome of a law, and difference quotients: what attacks on constants are made of."""

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit.draws import BLOCK, Law, TooManyAtoms, Words, elements

Outcomes = Iterator[tuple[Tensor | None, Tensor]]
Draws = Callable[[Law | None, int, int], Outcomes]
"""(law, clients, width) → draws [clients, …, width] and their probabilities [clients]."""


def outcomes(law: Law | None, clients: int, width: int) -> Outcomes:
    """Yield every outcome of a law as a draw [clients, …, width], and its probabilities [clients].

    A client that has fewer outcomes than another repeats its first with probability 0.
    """
    if law is None:
        yield None, torch.ones(clients, dtype=torch.float64)
        return
    by_client = []
    for client in range(clients):
        values, chances = law.support(client)
        picks = [list(p) for p in product(range(len(values)), repeat=len(elements(law)))]
        drawn = [values[pick].reshape(law.shape) for pick in picks]
        by_client.append((drawn, [float(np.prod(chances[pick])) for pick in picks]))
    for k in range(max(len(chances) for _, chances in by_client)):
        draws = np.stack([drawn[k if k < len(drawn) else 0] for drawn, _ in by_client])
        chance = [chances[k] if k < len(chances) else 0.0 for _, chances in by_client]
        draw = torch.from_numpy(draws).unsqueeze(-1).expand(*draws.shape, width)
        yield draw, torch.tensor(chance, dtype=torch.float64)


def count_outcomes(law: Law | None, clients: int) -> float:
    """Return the most outcomes that a client's draw has (infinitely many: too many to say)."""
    if law is None:
        return 1
    try:
        largest = max(len(law.support(client)[1]) for client in range(clients))
    except TooManyAtoms:
        return float("inf")
    return float(largest) ** len(elements(law))


def drawn(law: Law | None, clients: int, count: int, *names: str) -> np.ndarray:
    """Return ``count`` independent draws of a law, [clients, …, count]."""
    assert law is not None
    words, every = Words(*names), range(clients)
    blocks = [
        law.sample(words.draw(law, "noise", block=b, step=0, clients=every), every, BLOCK)
        for b in range(-(-count // BLOCK))
    ]
    values: np.ndarray = np.concatenate(blocks, -1)[..., :count]
    return values


def some(count: int, most: float, seed: int) -> Draws:
    """Return the outcomes of a law, or ``count`` draws, equally likely, if there are over most."""

    def draws(law: Law | None, clients: int, width: int) -> Outcomes:
        if count_outcomes(law, clients) <= most:
            yield from outcomes(law, clients, width)
            return
        values = torch.from_numpy(drawn(law, clients, count, "search", str(seed)))
        for k in range(count):
            draw = values[..., k : k + 1]
            chance = torch.full((clients,), 1.0 / count, dtype=torch.float64)
            yield draw.expand(*draw.shape[:-1], width), chance

    return draws


def fresh(seed: int) -> Draws:
    """Return one draw for each candidate, independent of the others: what a test is made of."""

    def draws(law: Law | None, clients: int, width: int) -> Outcomes:
        values = None
        if law is not None:
            values = torch.from_numpy(drawn(law, clients, width, "confirmed", str(seed)))
        yield values, torch.ones(clients, dtype=torch.float64)

    return draws


def halves(pair: Tensor) -> tuple[Tensor, Tensor]:
    """Return the two points that stand one above the other."""
    middle = pair.shape[0] // 2
    return pair[:middle], pair[middle:]


def quotient(rise: Tensor, one: Tensor, two: Tensor) -> Tensor:
    """Return rise/‖one − two‖, and nan where rounding could pass for a slope."""
    apart = torch.linalg.vector_norm(one - two, dim=-2)
    sizes = (torch.linalg.vector_norm(point, dim=-2) for point in (one, two))
    scale = 1.0 + torch.maximum(*sizes)
    slopes: Tensor = torch.where(apart > 1e-6 * scale, rise / apart, torch.nan)
    return slopes


def norm(values: Tensor) -> Tensor:
    """Return lengths along the entries, [clients, candidates]."""
    norms: Tensor = torch.linalg.vector_norm(values, dim=1)
    return norms


def spectral(jacobians: Tensor) -> Tensor:
    """Return the largest singular values of [clients, rows, columns, candidates]."""
    norms: Tensor = torch.linalg.matrix_norm(jacobians.movedim(-1, 1), ord=2)
    return norms
