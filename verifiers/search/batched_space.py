"""Candidates of the piecewise families: thousands of instances and hyperparameters in one run.

A climb moves a vector of real numbers; ``BatchedSpace`` makes an instance and parameters of it,
for many vectors at once. Candidates lie beside each other as replicates, and where the noise is
enumerated or sampled, a candidate's outcomes are neighbours.
"""

from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.building_blocks.parts import Parts
from driftproof.synthetic.building_blocks.piecewise_family import Many
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.at_optimum import AT_OPTIMUM
from driftproof.toolkit.cases import Case
from driftproof.toolkit.draws import BLOCK, Law, TooManyAtoms, Words
from driftproof.toolkit.engines.batched import BatchedContext
from driftproof.toolkit.engines.enumerated import EnumeratedContext
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.federation import Outcome, run
from driftproof.toolkit.problem import Problem
from driftproof.verifiers.claim_types.bound import BoundClaim
from driftproof.verifiers.claim_types.claim import Form
from driftproof.verifiers.judges import assumptions
from driftproof.verifiers.judges.scores import in_total_expectation, largest_ratio
from driftproof.verifiers.search import equalities
from driftproof.verifiers.search.conditions import Conditions
from driftproof.verifiers.search.families import FAMILIES
from driftproof.verifiers.search.families.decoding import Rows
from driftproof.verifiers.search.letters import letters_of, right_sides, roles_in, violation
from driftproof.verifiers.search.numbers import parameter
from driftproof.verifiers.search.structure import Structure, altered, real, with_values

OUTCOMES = 256
"""Outcomes of a candidate's noise up to which they are enumerated; beyond, 64 are sampled."""
TOGETHER = 16_384
"""Replicates of one run: candidates times outcomes."""
FEWEST, MOST = 12, 384
"""Candidates of a generation."""
LOOKED_AT = 8
"""Violations of a generation of which conditions on the whole case are asked."""
ENOUGH = 1.0 + 1e-7
"""A ratio that counts as a violation, to be confirmed by a judge."""
FAR = 1e120
"""A number beyond which a candidate is taken to have diverged."""
OF_OBJECTIVE = frozenset({"objective_smoothness", "strong_convexity", "initial_gap"})
"""What takes longest of a member to know, and is left out where nobody asks."""
LARGE = 3.0
"""Where a hyperparameter begins that is to be as large as the assumptions allow: 1,000 times."""
SHRINKING = 60
"""Steps in which a hyperparameter is made smaller until the relations hold."""


class Batch(NamedTuple):
    """Candidates: instances, and the algorithm's real parameters, name → [candidates]."""

    parts: Parts
    numbers: dict[str, np.ndarray]


class BatchedSpace:
    """The space of one structure of a claim's form on the piecewise families.

    Args:
        claim, form: what is to be broken.
        algorithm: the algorithm, with the values of fields that are not moved.
        structure: what stays fixed.
        seed: of sampled noise.
    """

    def __init__(
        self, claim: BoundClaim, form: Form, algorithm: Algorithm, structure: Structure, seed: int
    ) -> None:
        of = structure
        share = {"local_steps": of.local_steps, "participation": of.taking_part / of.clients}
        known = algorithm.values()
        given = {name: x for name, x in (dict(of.options) | share).items() if name in known}
        self.algorithm = with_values(algorithm, given)
        self.claim, self.form, self.structure, self.seed = claim, form, structure, seed
        self.family = FAMILIES[of.family]
        self.real = {
            name: constraint
            for name, constraint in real(type(algorithm)).items()
            if _may_move(self.algorithm, name)
        }
        self.left = in_total_expectation(form.left or claim.left)
        self._adjusted: list[str] = []
        self.size = self._decoded(np.zeros((0, 1)))[1]
        self.assumes = (*claim.assumes, *form.assumes)
        example = self.batch(np.zeros((self.size, 1)))
        self.notation = claim.notation(Case(self._member(example.parts), self._first(example), 1))
        self._needs = True, True
        known = self._roles(example, self.family.members(example.parts))
        self.conditions = Conditions(self.assumes, self.algorithm, of.rounds, known)
        asked = self._asked() | self.conditions.read
        self._needs = bool(OF_OBJECTIVE & asked), bool(AT_OPTIMUM & asked)
        moving = letters_of(self.assumes, self.notation) | self.conditions.read
        self._given = equalities.given(self.assumes, self.notation, set(self.real))
        self._adjusted = [name for name in self.real if name in moving - set(self._given)]
        self.atoms, self.chances, self._digits = self._noise(example)
        curved = of.clients * of.dim * of.knots  # knowing a member takes longer
        self.candidates = int(np.clip(TOGETHER // self.atoms, FEWEST, MOST * 4 // max(4, curved)))
        self._largest = 0.0  # the largest ratio of what is a case

    def ratios(self, z: np.ndarray) -> np.ndarray:
        """Return left / right of each candidate, [candidates], for z of [size, candidates].

        Below 0 where an assumption is broken, by how far it is.
        """
        batch = self.batch(z)
        members = self.family.members(batch.parts)
        broken = self._within(batch, members)
        roles = self._roles(batch, members)
        ratios = np.full(z.shape[1], -1e6)
        inside = broken == 0
        ratios[~inside] = -np.minimum(broken[~inside], 1e5)
        chosen = np.flatnonzero(inside)
        if len(chosen):
            constant, factors = right_sides(self.form.right, self.notation, roles)
            count = z.shape[1]
            taken = self._taken(batch, chosen)
            right = np.broadcast_to(np.asarray(constant, float), count)[chosen]
            terms = {
                k: np.broadcast_to(np.asarray(v, float), count)[chosen] for k, v in factors.items()
            }
            ratios[chosen] = largest_ratio(taken, self._names, right, terms)
            self._refuse_others(z, ratios)
        return ratios

    def _refuse_others(self, z: np.ndarray, ratios: np.ndarray) -> None:
        """Put outside what is no case, or what a condition that no letter says rules out.

        A case has to be made to ask it; it is asked of what would be the largest ratio so far.
        """
        for _ in range(LOOKED_AT):
            at = int(np.argmax(ratios))
            if ratios[at] <= self._largest:
                return
            if self._applies(z[:, at]):
                self._largest = min(float(ratios[at]), ENOUGH * (1 - 1e-12))
                return
            ratios[at] = -1.0
        ratios[ratios > self._largest] = -1.0

    def _applies(self, z: np.ndarray) -> bool:
        try:
            return assumptions.outside(self.claim, self.case(z), self.form) is None
        except DriftproofError:
            return False  # the algorithm has no such member

    def batch(self, z: np.ndarray) -> Batch:
        """Return the candidates that vectors stand for, [size, candidates]."""
        return self._decoded(z)[0]

    def case(self, z: np.ndarray) -> Case:
        """Return one vector's case, with the hyperparameters moved into the assumptions."""
        batch = self.batch(z[:, None])
        self._within(batch, self.family.members(batch.parts))
        numbers = {name: float(x[0]) for name, x in batch.numbers.items()}
        algorithm: Any = replace(cast(Any, self.algorithm), **numbers)
        return Case(self._member(batch.parts), algorithm, self.structure.rounds)

    # -- instances

    def _decoded(self, z: np.ndarray) -> tuple[Batch, int]:
        rows = Rows(z, self.structure)
        parts = self.family.parts(rows, self.structure)
        numbers = {}
        for name, constraint in self.real.items():
            of = rows.take(1)[0]
            if self.structure.largest and name in self._adjusted:
                of = np.full_like(of, LARGE)  # the assumptions make it smaller
            numbers[name] = parameter(of, constraint, getattr(self.algorithm, name))
        return Batch(parts, numbers), rows.used

    def _member(self, parts: Parts) -> Problem:
        return self.family.member(parts, self.structure)

    # -- letters

    def _asked(self) -> set[str]:
        """Return the roles whose numbers the right side and the assumptions use."""
        named = {role for assumption in self.assumes for role in assumption.roles}
        return (
            named & {"strong_convexity", *AT_OPTIMUM}  # there may be none; the others always are
            | letters_of(self.assumes, self.notation)
            | roles_in(self.form.right, self.notation)
        )

    def _roles(self, batch: Batch, members: Many) -> dict[str, Any]:
        of = self.structure
        roles: dict[str, Any] = {
            name: value
            for name, value in self.algorithm.values().items()
            if isinstance(value, int | float)
        }
        roles |= {
            # a member without such a bound is outside, and its neighbours are not
            name: x if name in AT_OPTIMUM else np.where(np.isfinite(x), x, np.nan)
            for name, x in members.roles(*self._needs).items()
            if np.any(np.isfinite(x)) or name in AT_OPTIMUM
        }
        unasked = dict.fromkeys((OF_OBJECTIVE | AT_OPTIMUM) - {"strong_convexity"}, np.nan)
        return (
            unasked
            | roles
            | batch.numbers
            | {
                "clients": of.clients,
                "dim": of.dim,
                "rare": of.rare,
                "rounds": of.rounds,
                "steps": of.rounds * self.algorithm.local_steps,
                "cohort_size": of.taking_part,
            }
        )

    def _within(self, batch: Batch, members: Many) -> np.ndarray:
        """Move hyperparameters until the relations hold; return how far each candidate stays.

        To what an equality gives, or else to smaller numbers.
        """
        roles = self._roles(batch, members)
        count = batch.parts.members
        strays = np.zeros(count)
        for name, x in equalities.put_in(self._given, self.notation, roles).items():
            batch.numbers[name] = roles[name] = np.broadcast_to(x, count).copy()
            allows = self.real[name].allows
            strays += [not allows(number) for number in batch.numbers[name].tolist()]
        broken = self._broken(roles, count)
        if not broken.any() or not self._adjusted:
            return broken + strays
        bad = np.flatnonzero(broken)
        whole = {role: np.broadcast_to(x, count)[bad] for role, x in roles.items()}
        best = broken[bad].copy()
        for name in self._adjusted:
            value = batch.numbers[name][bad]
            low = self.real[name].low if np.isfinite(self.real[name].low) else 0.0
            factor, step = np.ones(len(bad)), 0.7
            for _ in range(SHRINKING):  # down to 5e-10 of it
                open_ = best > 0
                if not open_.any():
                    break
                factor = np.where(open_, factor * step, factor)
                whole[name] = low + (value - low) * factor
                best = np.where(open_, self._broken(whole, len(bad), open_), best)
            # back towards the edge, where bounds are tightest
            fits, breaks = factor.copy(), np.minimum(1.0, factor / step)
            for _ in range(20):
                middle = 0.5 * (fits + breaks)
                whole[name] = low + (value - low) * middle
                holds = self._broken(whole, len(bad), factor < 1.0) == 0
                fits = np.where(holds, middle, fits)
                breaks = np.where(holds, breaks, middle)
            mended = (best == 0) & (factor < 1.0)
            moved = np.where(mended, fits * (1 - 1e-9), 1.0)
            whole[name] = low + (value - low) * moved
            batch.numbers[name][bad] = whole[name]
            best = self._broken(whole, len(bad))
            if not best.any():
                break
        broken[bad] = best
        return broken + strays

    def _broken(
        self, roles: dict[str, Any], count: int, where: np.ndarray | None = None
    ) -> np.ndarray:
        """Return how far each candidate is from what is assumed (conditions: ``where`` alone)."""
        broken: np.ndarray = violation(self.assumes, self.notation, roles) + (
            self.conditions.broken(roles, count, where)
        )
        return np.broadcast_to(broken, count).copy()

    # -- runs

    def _first(self, batch: Batch) -> Algorithm:
        numbers = {name: float(x[0]) for name, x in batch.numbers.items()}
        return with_values(self.algorithm, numbers)

    def _noise(self, example: Batch) -> tuple[int, Tensor | None, Any]:
        """Return the outcomes of a candidate, their chances, and the draws if enumerated."""
        counting = EnumeratedContext(self.structure.clients, limit=OUTCOMES)
        one = self.family.members(example.parts.changed(lambda x: x[..., :1]))
        try:
            outcome = self._run(one, self._first(example), counting)
        except TooManyAtoms:
            self._names = self._parts_named(one, example)
            return BLOCK, torch.full((BLOCK,), 1.0 / BLOCK, dtype=torch.float64), None
        self._names = outcome.names
        context = counting.enumerate()
        if counting.atom_count > 1:
            self._run(one, self._first(example), context)
        return counting.atom_count, context.weights, counting

    def _parts_named(self, one: Many, example: Batch) -> tuple[str, ...]:
        context = _Sampled(self.structure.clients, 1, self.seed)
        return self._run(one, self._first(example), context, rounds=1).names

    def _taken(self, batch: Batch, chosen: np.ndarray) -> np.ndarray:
        """Return the measure and its parts in expectation, [1 + parts, comparisons, chosen]."""
        taken: np.ndarray | None = None
        left = np.arange(len(chosen))
        while len(left):
            place = torch.from_numpy(chosen[left])
            chosen_parts = batch.parts.changed(lambda x: x.index_select(-1, place))  # noqa: B023
            members = self.family.members(chosen_parts, self.atoms)
            algorithm = with_values(
                self.algorithm,
                {
                    name: torch.from_numpy(x[chosen[left]]).repeat_interleave(self.atoms)
                    for name, x in batch.numbers.items()
                },
            )
            context = self._context(len(left))
            outcome = self._run(members, algorithm, context)
            gone = self._diverged(outcome, len(left))
            if gone is None or gone.all():
                values = outcome.taken.reshape(*outcome.taken.shape[:2], len(left), self.atoms)
                means = (
                    values @ self.chances.numpy() if self.chances is not None else values[..., 0]
                )
                if outcome.how[:1] == ("smallest",) and means.shape[1]:  # of each candidate's own
                    means = np.take_along_axis(means, means[:1].argmin(1, keepdims=True), 1)
                if taken is None:
                    taken = np.full((*means.shape[:2], len(chosen)), np.nan)
                if taken.shape[1] == means.shape[1]:
                    taken[:, :, left] = np.nan if gone is not None else means
                break
            left = left[~gone]
        return taken if taken is not None else np.full((1, 0, len(chosen)), np.nan)

    def _diverged(self, outcome: Outcome, count: int) -> np.ndarray | None:
        """Return which candidates are no longer finite (None: every one is)."""
        if outcome.bad_step is None and np.isfinite(outcome.taken).all():
            return None
        unknown = ~np.isfinite(outcome.taken).all((0, 1))  # as where F has no minimiser
        bad: np.ndarray = unknown.reshape(count, -1).any(1)
        for field in outcome.state:
            size = field.detach().abs().nan_to_num(nan=np.inf).flatten(0, -2).amax(0)
            bad |= (size.reshape(count, -1).amax(1) > FAR).numpy()
        return bad if bad.any() else np.ones(count, dtype=bool)

    def _context(self, count: int) -> BatchedContext:
        if self._digits is None:
            return _Sampled(self.structure.clients, count, self.seed)
        context: BatchedContext = self._digits.enumerate(copies=count)
        return context

    def _run(
        self, members: Any, algorithm: Algorithm, context: Any, rounds: int | None = None
    ) -> Outcome:
        with torch.no_grad():
            return run(
                members,
                algorithm,
                context,
                rounds=rounds or self.structure.rounds,
                left=self.left,
                kernels=False,
            )


class _Sampled(BatchedContext):
    """64 sampled outcomes, the same for each candidate."""

    fusable = False

    def __init__(self, clients: int, copies: int, seed: int) -> None:
        words = Words(str(seed), "search")
        super().__init__(words, clients, replicates=copies * BLOCK)
        self._copies = copies

    def _sample(self, law: Law, name: str, step: int, clients: range) -> np.ndarray:
        words = self._words.draw(law, name, block=self.block, step=step, clients=clients)
        return np.tile(law.sample(words, clients, BLOCK), self._copies)


def _may_move(algorithm: Algorithm, name: str) -> bool:
    """Whether an algorithm takes another number for this parameter: some belong to an option."""
    number = getattr(algorithm, name)
    return altered(algorithm, {name: 0.5 * number if number else 0.5}) is not None
