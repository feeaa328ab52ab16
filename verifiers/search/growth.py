"""Candidates for a rate on the piecewise families: thousands of instances at several horizons."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.cases import Case
from driftproof.verifiers.claim_types.claim import Form
from driftproof.verifiers.claim_types.rate import RateClaim
from driftproof.verifiers.search.generic import Generic
from driftproof.verifiers.search.horizons import EXCESS, horizons_of, tells_nothing
from driftproof.verifiers.search.structure import Structure, with_values

WIDEST = 0.5
"""How far from 0 a coordinate is moved: scales from 0.3 to 3, for which the horizons are long.

On an instance of other scales left / order grows for as long as the run is on its way.
"""

MOST = 64
"""Candidates of a generation: each is run at several horizons."""


class Growth:
    """The space of one structure of a rate's form.

    Args:
        claim, form: what is to be broken.
        structure: what stays fixed; its rounds and local steps are those of the claim's cases.
        seed: of sampled noise.
    """

    def __init__(self, claim: RateClaim, form: Form, structure: Structure, seed: int) -> None:
        self.horizons = horizons_of(claim, form)
        free = {name: x for name, x in structure.options if name in self.horizons.free}
        self._spaces = [
            _AtHorizon(
                claim, form, with_values(self.horizons.algorithm(k), free),
                replace(structure, rounds=case.rounds, options=()), seed, self.horizons.scheduled,
            )
            for k, case in enumerate(self.horizons.cases)
        ]  # fmt: skip
        self.size = self._spaces[-1].size
        self.candidates = min(MOST, *(space.candidates for space in self._spaces))

    def ratios(self, z: np.ndarray) -> np.ndarray:
        """Return the score of each candidate, [candidates]; below 0 outside the assumptions.

        What does not grow over the first two horizons is not run at the longest one.
        """
        near = _near(z)
        lefts = np.full((len(self._spaces), z.shape[1]), np.nan)
        for number in range(2):
            lefts[number] = self._spaces[number].lefts(near)
        grows = np.exp(4.0 * (np.clip(self.horizons.growth(lefts[:2]), -10.0, 10.0) - EXCESS))
        scores = np.where(np.isnan(lefts[:2]).any(0), -1.0, grows)
        lasting = np.flatnonzero(scores >= 1.0)
        if len(lasting):
            for number, space in enumerate(self._spaces[2:], 2):
                lefts[number, lasting] = space.lefts(near[:, lasting])
            last = lefts[:, lasting]
            scores[lasting] = np.where(np.isnan(last).any(0), -1.0, self.horizons.scores(last))
        return scores

    def case(self, z: np.ndarray) -> Case:
        """Return one vector's case at the longest horizon."""
        return self._spaces[-1].case(_near(z))


def _near(z: np.ndarray) -> np.ndarray:
    near: np.ndarray = WIDEST * np.tanh(z / WIDEST)
    return near


class _AtHorizon(Generic):
    """The candidates of one horizon."""

    def __init__(
        self, claim: RateClaim, form: Form, algorithm: Algorithm, structure: Structure, seed: int,
        scheduled: frozenset[str],
    ) -> None:  # fmt: skip
        self._scheduled = scheduled
        part = algorithm.cohort_size(structure.clients)
        structure = replace(structure, local_steps=algorithm.local_steps, taking_part=part)
        super().__init__(claim, form, algorithm, structure, seed)

    def lefts(self, z: np.ndarray) -> np.ndarray:
        """Return the last left side of each candidate (nan: outside the assumptions)."""
        batch = self.batch(z)
        members = self.family.members(batch.parts)
        broken = self._within(batch, members)
        silent = tells_nothing(members.roles(of_objective=True))
        lefts = np.full(z.shape[1], np.nan)
        chosen = np.flatnonzero((broken == 0) & ~silent)
        if len(chosen):
            taken = self._taken(batch, chosen)
            if taken.shape[1]:
                lefts[chosen] = taken[0, -1]
        return lefts

    def _of_right(self) -> set[str]:
        return set()  # what is on the right is the order: its letters are the schedule's

    def _number(self, name: str, z: np.ndarray) -> np.ndarray:
        """Return a hyperparameter: in units of the schedule's, where that sets it."""
        if name not in self._scheduled:
            return super()._number(name, z)
        constraint, scheduled = self.real[name], float(getattr(self.algorithm, name))
        high = constraint.high - 1e-9 * constraint.below
        numbers: np.ndarray = np.clip(scheduled * 10.0**z, constraint.low, high)
        return numbers
