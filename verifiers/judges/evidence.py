"""Evidence of a bound on one case: measured values, and how one right side compares with them."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import Outcome, Taken

WORDS = ("how", "names")
"""What a unit has of words: tuples of them."""


@dataclass(frozen=True)
class Measured(Taken):
    """What one unit of work gave: a block of sampled replicates, or all atoms of the noise.

    Attributes:
        kind: "exact" (all atoms, or a deterministic case), "sampled", or "too many atoms".
        how: ("average", "round") and the like: how moments became comparisons.
        taken: the measure and its parts, [1 + parts, comparisons, replicates].
        weights: [replicates], summing to 1.
        names: the parts, what else a right side names.
        shadow: the means of runs in single precision with random rounding,
            [runs, 1 + parts, comparisons]; of pasts, [runs, 1 + parts, comparisons × pasts]; of
            sampled replicates the same of the first block, once a verdict depends on it.
        known: how far the measure and its parts move, at most, if inf F is the other end of what is
            known of it, [1 + parts, comparisons] (empty: there is one, or none was asked for).
        at, trace: moments [points] and measure and parts there, [1 + parts, points, replicates].
        bad_step: first step with an iterate that is not finite (-1: none).
        reach: the largest norm of an iterate.
    """

    kind: str
    how: tuple[str, ...] = ()
    taken: np.ndarray = field(default_factory=lambda: np.empty((1, 0, 0)))
    weights: np.ndarray = field(default_factory=lambda: np.empty(0))
    names: tuple[str, ...] = ()
    shadow: np.ndarray = field(default_factory=lambda: np.empty((0, 1, 0)))
    known: np.ndarray = field(default_factory=lambda: np.empty((1, 0)))
    at: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    trace: np.ndarray = field(default_factory=lambda: np.empty((1, 0, 0)))
    bad_step: int = -1
    reach: float = 0.0

    @classmethod
    def of(cls, kind: str, outcome: Outcome, **made: np.ndarray) -> Self:
        """Keep what a verdict needs of an outcome, and what was made of further runs."""
        return cls(
            kind=kind,
            how=outcome.how,
            taken=outcome.taken,
            weights=outcome.weights,
            names=outcome.names,
            at=outcome.at,
            trace=outcome.trace,
            bad_step=-1 if outcome.bad_step is None else outcome.bad_step,
            reach=outcome.reach,
            **made,
        )

    def pack(self) -> bytes:
        """Return the unit as bytes, exactly (numpy's own format, without pickling)."""
        buffer = io.BytesIO()
        words: dict[str, Any] = {name: np.array(getattr(self, name), dtype=str) for name in WORDS}
        np.savez(buffer, **vars(self) | words)
        return buffer.getvalue()

    @classmethod
    def unpack(cls, data: bytes) -> Self:
        """Return what ``pack`` was given."""
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as archive:
                parts: dict[str, Any] = {name: archive[name] for name in archive.files}
            for name in WORDS:
                parts[name] = tuple(parts[name].tolist())
            for name, kind in (("kind", str), ("bad_step", int), ("reach", float)):
                parts[name] = kind(parts[name])
            return cls(**parts)
        except (ValueError, KeyError, TypeError, OSError, zipfile.BadZipFile) as error:
            raise DriftproofError(
                f"a finished unit in the ledger is damaged ({error})",
                "what a run has written",
                "run without --resume: the unit is then done again",
            ) from error


def joined(blocks: Sequence[Measured]) -> Measured:
    """Return consecutive blocks of replicates as one; a run that ended early ends them all."""
    rows = min(len(block.values) for block in blocks)
    points = min(len(block.at) for block in blocks)
    bad = [block.bad_step for block in blocks if block.bad_step >= 0]
    count = sum(block.values.shape[1] for block in blocks)
    return Measured(
        kind=blocks[0].kind,
        how=blocks[0].how,
        names=blocks[0].names,
        taken=np.concatenate([block.taken[:, :rows] for block in blocks], 2),
        weights=np.full(count, 1.0 / max(1, count)),
        shadow=_joined_shadows(blocks, rows),
        known=np.max([block.known[:, :rows] for block in blocks], 0),
        at=blocks[0].at[:points],
        trace=np.concatenate([block.trace[:, :points] for block in blocks], 2),
        bad_step=min(bad) if bad else -1,
        reach=max(block.reach for block in blocks),
    )


def _joined_shadows(blocks: Sequence[Measured], rows: int) -> np.ndarray:
    """Return the shadows of replicates, comparison by comparison, replicate by replicate.

    Of sampled replicates the first block alone may have them.
    """
    shadowed = [block for block in blocks if len(block.shadow)]
    if not shadowed:
        return blocks[0].shadow
    runs, sides, _ = shadowed[0].shadow.shape
    apart = [b.shadow.reshape(runs, sides, *b.values.shape)[:, :, :rows] for b in shadowed]
    return np.concatenate(apart, 3).reshape(runs, sides, -1)


def copies_of(run: Outcome, copies: int) -> list[Outcome]:
    """Return the copies of one run of which all lie beside each other as replicates."""
    width = len(run.weights) // copies
    return [
        replace(
            run,
            taken=np.ascontiguousarray(run.taken[..., at : at + width]),
            weights=copies * run.weights[at : at + width],
        )
        for at in range(0, copies * width, width)
    ]


def shadows(exact: Outcome, runs: Sequence[Outcome], *, every_past: bool = False) -> np.ndarray:
    """Return the single runs' means, [runs, 1 + parts, comparisons]; nan where one ended earlier.

    Args:
        every_past: each replicate is a comparison of its own.
    """
    count, replicates = exact.values.shape
    width = replicates if every_past else 1
    values = np.full((len(runs), len(exact.taken), count, width), np.nan)
    for row, single in zip(values, runs, strict=True):
        stacked = single.taken if every_past else (single.taken @ single.weights)[..., None]
        if exact.bad_step is None and single.bad_step is not None and single.how[0] == "average":
            continue  # what it did not reach counts as zero
        common = min(count, stacked.shape[1])
        row[:, :common] = stacked[:, :common]
    return values.reshape(*values.shape[:2], count * width)


def instance(roles: Mapping[str, float], notation: Mapping[str, str]) -> dict[str, float]:
    """Return the letters' values on one case, for the row."""
    return {letter: roles[role] for letter, role in notation.items() if role in roles}
