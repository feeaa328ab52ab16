"""The replay of a run over a class: the same text in doubles, with a number for each unknown.

A run over a class is an identity in free unknowns. What is asked, where a round ends and what is
measured are fixed combinations of a start and of answers. So any numbers may stand for the
unknowns, and generic ones show a difference best: no two points agree, and nothing is 0.

What the oracles were asked is kept in the order of asking (``Transcript``). Then the text runs in
doubles. Each of its questions has to be the next one of the transcript, at the same point up to
rounding, and gets the answer to that one (``Playback``). Neither a solver nor a function of the
class is needed, so the replay is the same for every class, term, set, online loss and error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit.algorithm import MORE_VECTORS
from driftproof.toolkit.errors import UndecidableError
from driftproof.toolkit.gram.exact import GramForm, Second, Vector
from driftproof.toolkit.gram.tensor import LARGEST, REFUSED, SIZES, GramForms, GramVector, Unknown
from driftproof.toolkit.ratios import Ratio

RTOL = 1e-9
"""How near doubles come to exact numbers, relative to the terms of the sum that is compared."""
ROUNDINGS = 64 * np.finfo(float).eps
"""The same relative to the largest terms that the run held before, which may have cancelled."""
COARSEST = 1e-4
"""The largest tolerance, relative to the terms of the sum, that shows anything."""


class Call(NamedTuple):
    """A question to an oracle, and its answer.

    Attributes:
        bits: log2 of the largest coefficient that the run had held by then.
    """

    of: str
    given: tuple[Any, ...]
    answer: Any
    bits: int


class Transcript:
    """Keeps what is asked, in order, and passes it on."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def value(self, of: Any) -> Any:
        """Return an unknown that nobody asked for, as x*."""
        return of

    def call(self, of: str, asked: Callable[..., Any], args: Any, named: Any) -> Any:
        """Ask, and keep question and answer."""
        given, bits = _kept((*args, *named.values())), LARGEST[0]
        try:
            answer = asked(*args, **named)
        except Exception as error:  # a text that catches it is refused all the same
            REFUSED.append(error)
            raise
        self.calls.append(Call(of, given, _kept(answer), bits))
        return answer


class Playback:
    """Answers a text in doubles with what its run over the class was answered, in numbers."""

    def begin(self, transcript: Transcript, numbers: Assignment, said: str) -> None:
        """Begin with a transcript.

        Args:
            said: what the text is called in an error.
        """
        self._calls, self._numbers, self._said, self._next = transcript.calls, numbers, said, 0

    def value(self, of: Any) -> Any:
        """Return the numbers of an unknown."""
        return self._numbers(of)

    def call(self, of: str, asked: Callable[..., Any], args: Any, named: Any) -> Any:
        """Return the answer to the next question, which has to be this one."""
        known = self._calls[self._next] if self._next < len(self._calls) else None
        if known is None or known.of != of:
            raise unlike(f"{self._said} asks {of}", known.of if known else "nothing more")
        self._next += 1
        said = f"{self._said} asks {of} with"
        self._numbers.compare(known.given, (*args, *named.values()), known.bits, said)
        return self._numbers(known.answer)

    def end(self) -> None:
        """Raise UndecidableError unless everything was asked."""
        if self._next < len(self._calls):
            raise unlike(f"{self._said} does not ask {self._calls[self._next].of}", "it does")


class Asked:
    """What a text sees of oracles, or a measure of its problem, in a run and in its replay."""

    def __init__(self, of: Any, through: Transcript | Playback, name: str) -> None:
        self.__dict__.update(_of=of, _through=through, _name=name)

    def __getattr__(self, name: str) -> Any:
        return self._seen(getattr(self._of, name), f"{self._name}.{name}")

    def _seen(self, of: Any, name: str) -> Any:
        if isinstance(of, Unknown):
            return self._through.value(of)
        if isinstance(of, tuple):  # a value and a function, say
            return tuple(self._seen(part, f"{name}[{k}]") for k, part in enumerate(of))
        if not callable(of) or isinstance(of, type):
            return of
        if name.endswith(".at"):
            return lambda k: Asked(one := of(k), self._through, f"{name}({one.number})")
        return lambda *args, **named: self._answer(of, name, args, named)

    def _answer(self, of: Any, name: str, args: Any, named: Any) -> Any:
        answer = self._through.call(name, of, args, named)
        return self._seen(answer, name) if isinstance(answer, tuple) else answer


class Assignment:
    """Numbers for the unknowns of a run.

    Args:
        vectors: of each unknown vector, [vectors + 2, dim, replicates]. The last is x*; before it
            stands y* where points have two parts: their numbers are −1 and −2.
        values: of the unknown numbers; those of f_i(x*) are the last ones.
        saddle: whether points have two parts.
    """

    def __init__(self, vectors: np.ndarray, values: np.ndarray, saddle: bool) -> None:
        self.vectors, self.values, self._saddle = vectors, values, saddle
        self._products: np.ndarray | None = None
        self._size = float(np.abs(vectors).max())
        self.at: Mapping[str, Fraction] = {}  # of the letters in coefficients

    @classmethod
    def generic(
        cls, second: tuple[bool, ...], values: int, saddle: bool, replicates: int, seed: int
    ) -> Assignment:
        """Return numbers that have nothing to do with each other, as large as ``SIZES`` says.

        Args:
            second: of each unknown vector, whether it is of the second part.
        """
        rng, upper, scale = np.random.default_rng(seed), SIZES["upper"], SIZES["unit"]
        vectors = scale * rng.standard_normal((len(second) + 2, SIZES["dimension"], replicates))
        if saddle:
            of_y = np.array([*second, True, False])
            vectors[of_y, :upper] = vectors[~of_y, upper:] = 0
        return cls(vectors, scale**2 * rng.standard_normal(values), saddle)

    def __call__(self, of: Any) -> Any:
        """Return unknowns in numbers; what is known stays as it is."""
        if isinstance(of, tuple):
            return tuple(map(self, of))
        return torch.from_numpy(self._of(of)[0]) if isinstance(of, Unknown) else of

    def _of(self, unknown: Any) -> tuple[np.ndarray, float]:
        """Return an unknown in numbers, and how large the terms of its sums are."""
        entries, replicates = unknown.entries, self.vectors.shape[-1]
        if entries.ndim and entries.shape[-1] == 1:
            entries = np.broadcast_to(entries, (*entries.shape[:-1], replicates))
        if isinstance(unknown, GramForms):
            return self._quantities(entries)
        made = np.zeros((*entries.shape[:-2], self.vectors.shape[1], replicates))
        largest = 0.0
        terms = unknown.in_doubles
        if terms is None:
            terms = self._terms(entries)
            if not any(isinstance(c, Ratio) for v in entries.flat for c in v.coefficients.values()):
                unknown.in_doubles = terms  # the same in each round
        for (*place, _, r), of, factors in terms:
            made[(*place, slice(None), r)] = factors @ self.vectors[of, :, r]
            largest = max(largest, np.abs(factors).max())
        part = self._part(entries)
        return np.ascontiguousarray(made[..., part, :]), largest * self._size

    def _terms(self, entries: np.ndarray) -> list[tuple[tuple[int, ...], list[int], np.ndarray]]:
        """Return the place of each combination that is not 0, its vectors and their factors."""
        return [
            (place, list(of), np.array([self._number(c) for c in of.values()]))
            for place in np.ndindex(entries.shape)
            if (of := cast("Vector", entries[place]).coefficients)
        ]

    def _number(self, of: Any) -> float:
        return float(of.at(self.at) if isinstance(of, Ratio) else of)

    def _part(self, entries: np.ndarray) -> slice:
        """Return the coordinates of x, of y, or of both."""
        spaces = {isinstance(j, Second) for v in entries.flat for j in v.coefficients}
        if not self._saddle or len(spaces) != 1:
            return slice(None)
        return slice(SIZES["upper"], None) if spaces == {True} else slice(None, SIZES["upper"])

    def _quantities(self, entries: np.ndarray) -> tuple[np.ndarray, float]:
        if self._products is None:
            self._products = np.einsum("jdr,kdr->jkr", self.vectors, self.vectors)
        made, largest = np.zeros(entries.shape), 0.0
        for place in np.ndindex(entries.shape):
            r, of = place[-1] if place else 0, cast("GramForm", entries[place])
            terms = [self._number(q) * self._products[j, k, r] for (j, k), q in of.gram.items()]
            terms += [self._number(a) * self.values[j] for j, a in of.values.items()]
            terms.append(self._number(of.constant))
            made[place] = sum(terms)
            largest = max(largest, *map(abs, terms))
        return made, largest

    def compare(self, known: Any, given: Any, bits: int, said: str) -> None:
        """Raise UndecidableError unless a text in doubles has what its run over the class had.

        Args:
            bits: as ``Call`` has it.
        """
        if isinstance(known, tuple):
            if not isinstance(given, tuple | list) or len(known) != len(given):
                raise unlike(f"{said} {given!r:.60}", f"{len(known)} things")
            for one, another in zip(known, given, strict=True):
                self.compare(one, another, bits, said)
        elif isinstance(known, Tensor):
            self._compare(known, given, bits, said)
        elif not callable(known) and known != given:
            raise unlike(f"{said} {given!r:.60}", f"{known!r:.60}")

    def _compare(self, known: Tensor, given: Any, bits: int, said: str) -> None:
        if isinstance(given, Tensor) and given.dtype not in (torch.float64, known.dtype):
            raise unlike(f"{said} numbers as {given.dtype}", "doubles")
        if not isinstance(known, Unknown):  # the same operations on the same doubles
            if not isinstance(given, Tensor) or not torch.equal(known, given):
                raise unlike(f"{said} {given!r:.60}", f"{known!r:.60}")
            return
        wanted, terms = self._of(known)
        got = np.asarray(given.detach() if isinstance(given, Tensor) else given, dtype=float)
        if self._saddle and got.ndim > 1 and not wanted.any():  # 0 of x, of y, or of both
            wanted = wanted[..., : got.shape[-2], :]
        if wanted.shape != got.shape:
            try:
                wanted, got = np.broadcast_arrays(wanted, got)
            except ValueError:
                raise unlike(f"{said} shape {list(got.shape)}", f"{list(wanted.shape)}") from None
        if not wanted.size:
            return
        unit = self._size ** (2 if isinstance(known, GramForms) else 1)
        lost, terms = ROUNDINGS * 2.0 ** max(0, bits) * unit, max(terms, np.abs(wanted).max())
        if lost > COARSEST * max(terms, unit):
            raise UndecidableError(
                f"{said} a sum of terms that are 2^{bits} times as large: doubles show nothing",
                "numbers of about one size",
                "leave out what is added and taken away again, or judge it on cases",
            )
        off = np.abs(wanted - got)
        if not off.max() <= max(RTOL * terms, lost):  # nor where it is NaN
            at = np.unravel_index(np.argmax(np.nan_to_num(off, nan=np.inf)), off.shape)
            raise unlike(f"{said} {got[at]:.6g}", f"{wanted[at]:.6g}")

    def continued(self, first: Any, state: Any) -> None:
        """Choose what a first state is made of such that it is another one.

        Raises:
            UndecidableError: it cannot be that one.
        """
        pairs = [
            (of, np.asarray(to))
            for of, to in zip(first, state, strict=True)
            if isinstance(of, Unknown)
        ]
        names = sorted({j for of, _ in pairs for v in of.entries.flat for j in v.coefficients})
        spaces = {True, False} if self._saddle else {False}
        for r, second in np.ndindex(self.vectors.shape[-1], len(spaces)):
            own = [j for j in names if isinstance(j, Second) is bool(second)]
            part = self._part(np.array([Vector.basis(j) for j in own[:1]], dtype=object))
            rows, points = list[list[float]](), list[np.ndarray]()
            for of, to in pairs:
                entries = of.entries[..., min(r, of.entries.shape[-1] - 1)].reshape(-1)
                mine = self._part(of.entries)
                if mine not in (part, slice(None)):
                    continue
                numbers = to[..., min(r, to.shape[-1] - 1)].reshape(len(entries), -1)
                rows += [[float(v.coefficients.get(j, 0)) for j in own] for v in entries]
                points += list(numbers if mine == part else numbers[:, part])
            if own and len(set(map(len, points))) == 1:  # else the comparison below tells
                matrix, now = np.array(rows), self.vectors[own, part, r]
                moved = np.linalg.lstsq(matrix, np.array(points) - matrix @ now, rcond=None)[0]
                self.vectors[own, part, r] = now + moved
        self._products, self._size = None, float(np.abs(self.vectors).max())
        try:
            self.compare(tuple(first), tuple(state), 0, "")
        except UndecidableError as error:
            REFUSED.clear()
            raise UndecidableError(
                "a round that begins in a state that is not one of the algorithm's anywhere",
                "in anywhere(ctx, oracles, start, own) all states that a round can begin with",
                f"let {', '.join(first._fields)} differ as they do between rounds, and ask no "
                f"oracle: {MORE_VECTORS}",
            ) from error


def _kept(of: Any) -> Any:
    """Return what was given or answered, so that nobody changes it later."""
    if isinstance(of, tuple | list):
        return tuple(map(_kept, of))
    if isinstance(of, GramVector):
        return GramVector(of.entries.copy())
    return of.clone() if isinstance(of, Tensor) and of.numel() else of


def unlike(got: str, over_class: str) -> UndecidableError:
    """Return the error of a text that does in doubles what it does not do over the class."""
    error = UndecidableError(
        f"{got} in doubles, and over the class {over_class}",
        "a text that does the same with numbers of every type, in every round",
        "leave the branch out, keep what rounds remember in the state, or judge it on cases",
    )
    REFUSED.append(error)
    return error
