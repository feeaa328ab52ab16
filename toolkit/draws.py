"""Laws with finite support, and draws keyed by names instead of by call order.

A draw is a function of (seed, case, name of the draw, block of replicates, step, client) and of
nothing else: the 64-bit words come from Philox, a counter-based generator, whose key is a hash of
the names and whose counter is (block, step, client). So a draw is the same whichever context asks,
in whichever order, on whichever number of workers, and one client can be drawn without the others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import comb, prod
from typing import Any, Protocol, runtime_checkable

import numpy as np

from driftproof.toolkit.errors import DriftproofError

BLOCK = 64
"""Replicates in a block: the unit of seeding, work, resume and parallelism."""


@runtime_checkable
class Law(Protocol):
    """A law of independent elements with finite support."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The elements that one client draws in one replicate."""

    @property
    def words(self) -> int:
        """The 64-bit words that one client needs for one block of replicates."""

    def sample(self, words: np.ndarray, clients: range, replicates: int) -> np.ndarray:
        """Turn words [clients, words] into values [clients, *shape, replicates]."""

    def support(self, client: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the atoms of one element, [atoms, …], and their probabilities, [atoms]."""


def outcomes_of(law: Law, client: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the atoms of one element and their probabilities, which are some.

    Raises:
        DriftproofError: they are not: one is negative, say, or they do not add up to 1.
    """
    values, chances = law.support(client)
    if len(values) != len(chances) or chances.min() < 0 or abs(chances.sum() - 1) > 1e-9:
        raise DriftproofError(
            f"{law!r}: client {client}'s {len(values)} outcomes have the probabilities {chances}, "
            f"in all {chances.sum():g}",
            "a probability of 0 or more for each outcome, in all 1",
            "mend support of the law",
        )
    return values, chances


def _uniform(words: np.ndarray) -> np.ndarray:
    """Map 64-bit words to [0, 1) in steps of 2⁻⁵³."""
    return (words >> np.uint64(11)) * 2.0**-53


@dataclass(frozen=True)
class SignMean:
    """The mean of ``batch`` independent signs ±1: mean 0, variance 1/batch, |·| ≤ 1.

    A minibatch of samples f(w; ξ) = f(w) + ξ·a(w), ξ = ±1, has exactly this noise, because it is
    affine in the signs; so one element stands for the whole batch (batch + 1 atoms instead of
    2^batch).

    >>> law = SignMean(2, (1,))
    >>> [float(v) for v in law.support(0)[0]], [float(p) for p in law.support(0)[1]]
    ([-1.0, 0.0, 1.0], [0.25, 0.5, 0.25])
    """

    batch: int
    shape: tuple[int, ...]

    @property
    def words(self) -> int:
        """One word an element for single signs (a bit a replicate), else one a replicate."""
        return prod(self.shape) * (1 if self.batch == 1 else BLOCK)

    def support(self, client: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the batch + 1 atoms and their binomial probabilities."""
        values, probabilities, _ = sign_mean(self.batch)
        return values, probabilities

    def sample(self, words: np.ndarray, clients: range, replicates: int) -> np.ndarray:
        """One bit a replicate for single signs; else the inverse of the distribution function."""
        if self.batch == 1:
            bits = np.unpackbits(words.view(np.uint8), bitorder="little")
            bits = bits.reshape(len(clients), *self.shape, BLOCK)[..., :replicates]
            return bits * 2.0 - 1.0
        uniform = _uniform(words).reshape(len(clients), *self.shape, BLOCK)[..., :replicates]
        values, _, cumulative = sign_mean(self.batch)
        return values[np.searchsorted(cumulative, uniform, side="right")]


@dataclass(frozen=True)
class CoinMean:
    """The mean of ``batch`` independent coins of mean 0 and variance 1 that may be unfair.

    A coin is √((1 − q)/q) with probability q = ``rare`` and −√(q/(1 − q)) otherwise; q = ½ is a
    sign. A noise value that is rare and large is what a bound by the variance alone may miss.

    >>> law = CoinMean(1, (1,), 0.2)
    >>> [round(float(v), 12) for v in law.support(0)[0]], [float(p) for p in law.support(0)[1]]
    ([-0.5, 2.0], [0.8, 0.2])
    """

    batch: int
    shape: tuple[int, ...]
    rare: float = 0.5

    @property
    def words(self) -> int:
        """One word an element and replicate."""
        return prod(self.shape) * BLOCK

    def support(self, client: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the batch + 1 atoms and their binomial probabilities."""
        return coin_mean(self.batch, self.rare)

    def sample(self, words: np.ndarray, clients: range, replicates: int) -> np.ndarray:
        """Take the inverse of the distribution function."""
        uniform = _uniform(words).reshape(len(clients), *self.shape, BLOCK)[..., :replicates]
        values, probabilities = coin_mean(self.batch, self.rare)
        cumulative = np.cumsum(probabilities)[:-1]
        return values[np.searchsorted(cumulative, uniform, side="right")]


@dataclass(frozen=True)
class Indices:
    """``batch`` sample numbers of a client with replacement, each uniform on its own samples.

    The probabilities are uniform to within samples/2³², the resolution of half a word.
    """

    samples: tuple[int, ...]
    batch: int

    @property
    def shape(self) -> tuple[int, ...]:
        """One sample number for each place in the minibatch."""
        return (self.batch,)

    @property
    def words(self) -> int:
        """One word a sample number and replicate."""
        return self.batch * BLOCK

    def support(self, client: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the client's sample numbers, equally likely."""
        count = self.samples[client]
        return np.arange(count), np.full(count, 1.0 / count)

    def sample(self, words: np.ndarray, clients: range, replicates: int) -> np.ndarray:
        """Scale half a word to the number of samples."""
        counts = np.array([self.samples[k] for k in clients], dtype=np.uint64)[:, None, None]
        half = words.reshape(len(clients), self.batch, BLOCK)[..., :replicates] >> np.uint64(32)
        return ((half * counts) >> np.uint64(32)).astype(np.int64)


class TooManyAtoms(Exception):  # noqa: N818 - a signal between context and judge, never shown
    """The noise has more atoms than the limit; its expectation has to be sampled."""


@dataclass(frozen=True)
class Uniforms:
    """``count`` independent numbers, uniform on the multiples of 2⁻⁵³ in [0, 1); too many atoms."""

    count: int

    @property
    def shape(self) -> tuple[int, ...]:
        """One element a number."""
        return (self.count,)

    @property
    def words(self) -> int:
        """One word a number and replicate."""
        return self.count * BLOCK

    def support(self, client: int) -> tuple[np.ndarray, np.ndarray]:
        """Raise: 2⁵³ atoms cannot be enumerated."""
        raise TooManyAtoms

    def sample(self, words: np.ndarray, clients: range, replicates: int) -> np.ndarray:
        """Keep the upper 53 bits."""
        return _uniform(words).reshape(len(clients), self.count, BLOCK)[..., :replicates]


@dataclass(frozen=True)
class Subset:
    """A uniform subset of ``size`` of ``of`` things, as a mask [of].

    The server draws one of the clients; each client may draw one of its own tasks.
    """

    of: int
    size: int

    @property
    def shape(self) -> tuple[int, ...]:
        """One element: the whole mask."""
        return ()

    @property
    def words(self) -> int:
        """One word a thing and replicate."""
        return self.of * BLOCK

    def support(self, client: int) -> tuple[np.ndarray, np.ndarray]:
        """Return every mask of ``size`` ones, equally likely."""
        masks = _masks(self.of, self.size)
        return masks, np.full(len(masks), 1.0 / len(masks))

    def sample(self, words: np.ndarray, clients: range, replicates: int) -> np.ndarray:
        """Take those with the ``size`` smallest keys. Returns [clients, of, replicates]."""
        keys = words.reshape(len(clients), self.of, BLOCK)[..., :replicates]
        taken = keys <= np.partition(keys, self.size - 1, axis=1)[:, self.size - 1, None]
        if np.any(taken.sum(1) != self.size):  # two keys are equal: the first of them is taken
            taken = keys.argsort(1, kind="stable").argsort(1, kind="stable") < self.size
        indicators: np.ndarray = taken.astype(np.float64)
        return indicators


@cache
def sign_mean(batch: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return values, probabilities and distribution function (short of its last 1)."""
    whole = 2**batch
    count, below = 1, 0  # exact integers: binomials overflow a float beyond a batch of about 1,000
    probabilities, cumulative = [], []
    for k in range(batch + 1):
        below += count
        probabilities.append(count / whole)
        cumulative.append(below / whole)
        count = count * (batch - k) // (k + 1)
    values = (2.0 * np.arange(batch + 1) - batch) / batch
    return values, np.array(probabilities), np.array(cumulative[:-1])


@cache
def coin_mean(batch: int, rare: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of a mean of coins, ascending, and their probabilities."""
    often, seldom = -((rare / (1 - rare)) ** 0.5), ((1 - rare) / rare) ** 0.5
    shown = np.arange(batch + 1)
    values = (shown * seldom + (batch - shown) * often) / batch
    probabilities = [comb(batch, k) * rare**k * (1 - rare) ** (batch - k) for k in shown.tolist()]
    return values, np.array(probabilities)


@cache
def _masks(of: int, size: int) -> np.ndarray:
    rows = np.zeros((comb(of, size), of))
    for row, chosen in zip(rows, combinations(range(of), size), strict=True):
        row[list(chosen)] = 1.0
    return rows


class Words:
    """The stream of 64-bit words of one (seed, case): Philox keyed by names."""

    def __init__(self, *names: str) -> None:
        self._names = names
        self._generators: dict[str, tuple[np.random.Philox, Any]] = {}

    def draw(self, law: Law, name: str, *, block: int, step: int, clients: range) -> np.ndarray:
        """Return the words of ``clients``, [clients, law.words], at one step of one block."""
        generator, state = self._generator(name)
        lanes = -(-law.words // 4)  # Philox yields four words a counter
        state["state"]["counter"][:] = (clients.start * lanes, step, block, 0)
        state["buffer_pos"] = 4
        generator.state = state
        words = generator.random_raw(len(clients) * lanes * 4)
        return words.reshape(len(clients), lanes * 4)[:, : law.words]

    def key(self, name: str) -> tuple[int, int]:
        """Return Philox's key, two 64-bit words, for the draws of this name."""
        named = "\0".join((*self._names, name)).encode()
        digest = hashlib.blake2b(named, digest_size=16).digest()
        return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")

    def _generator(self, name: str) -> tuple[np.random.Philox, Any]:
        if name not in self._generators:
            generator = np.random.Philox(key=np.array(self.key(name), dtype=np.uint64))
            self._generators[name] = generator, dict(generator.state)
        return self._generators[name]


def elements(law: Law) -> Sequence[tuple[int, ...]]:
    """Return the index of every element that one client draws in one replicate."""
    return list(np.ndindex(law.shape))
