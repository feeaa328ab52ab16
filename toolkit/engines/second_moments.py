r"""Exact left sides at any horizon, where a round is affine in the state and in each sign drawn.

On a quadratic problem a round maps the iterates z of all clients' average to

    z⁺ = Σ_j ε_j (A_{b,j} z + a_{b,j}),      ε_0 = 1,

ε_j the signs that were drawn, b what else was (N' of a Neumann series). The ε_j are uncorrelated,
so, with ẑ = (z, 1), the second moments P = E ẑẑᵀ obey one linear recursion

    P⁺ = Σ_b p_b Σ_j v_j Â_{b,j} P Â_{b,j}ᵀ,

and a left side that is quadratic in z is a linear function of P. Its average over K rounds is a sum
of powers of one small matrix, taken by doubling: 10⁶ rounds cost what 20 do.

Nothing is transcribed. The matrices are read off the algorithm's own round, run from the unit
vectors with one sign switched on at a time (``Probing``), and the left side is the claim's own. A
round that is not of this form, or a left side that is not quadratic, is refused: random states and
random signs must give what the matrices predict. The first round is read on its own, since an
algorithm may begin in another way.

Where cohorts are sampled, a paper's own maps of its clients give the recursion (``of_cohort``).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import isqrt
from typing import Any

import numpy as np
import torch

from driftproof.toolkit.cases import Case
from driftproof.toolkit.draws import Law, SignMean, Words, elements
from driftproof.toolkit.engines.batched import BatchedContext
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.measure import Measure, Moment

AGREES = 1e-9
"""Relative error up to which a prediction and a run are the same."""
TRIALS = 64
Key = tuple[str, int, int, tuple[int, ...]]


class Probing(BatchedContext):
    """Draws what it is told to, a value for every replicate.

    Args:
        given: values by name, step, client and element. A sign that is absent is 0, and of any
            other law the first outcome is taken.
    """

    fusable = False

    def __init__(self, clients: int, replicates: int, given: Mapping[Key, Any]) -> None:
        super().__init__(Words(), clients, replicates=replicates)
        self._given, self.met = given, dict[Key, Law]()

    def _sample(self, law: Law, name: str, step: int, clients: range) -> np.ndarray:
        rows = []
        for client, element in product(clients, elements(law)):
            key = (name, step, client, element)
            self.met[key] = law
            fallback = 0.0 if isinstance(law, SignMean) else law.support(client)[0][0]
            rows.append(np.broadcast_to(self._given.get(key, fallback), (self.replicates,)))
        return np.array(rows).reshape(len(clients), *law.shape, self.replicates)


@dataclass(frozen=True)
class Maps:
    """What a round (or the start) is, as affine maps of ẑ.

    Attributes:
        affine: Â_{b,j}, [branches, 1 + signs, dim, dim].
        weights: p_b v_j, [branches, 1 + signs].
    """

    affine: np.ndarray
    weights: np.ndarray

    @property
    def on_moments(self) -> np.ndarray:
        """Return the matrix that maps vec P to vec P⁺."""
        dim = self.affine.shape[-1]
        # by torch, which keeps to a worker's one thread
        maps = torch.from_numpy(self.affine.reshape(-1, dim * dim))
        weights = torch.from_numpy(self.weights.reshape(-1, 1))
        lifted: np.ndarray = ((weights * maps).mT @ maps).numpy().reshape(dim, dim, dim, dim)
        return lifted.transpose(0, 2, 1, 3).reshape(dim * dim, dim * dim)


def of_cohort(maps: np.ndarray, size: int) -> Maps:
    """Return what the mean of a cohort's maps does, drawn uniformly without replacement.

    The mean is L̄ + Σ_i s_i (L_i − L̄). As Σ_i (L_i − L̄) = 0, the s_i count as uncorrelated, with the
    variance γ/m, γ = (m − n)/(n(m − 1)).

    Args:
        maps: L_i of ẑ, of all clients, [clients, dim, dim].
        size: n, how many of the m clients are drawn.
    """
    clients, mean = len(maps), maps.mean(0, keepdims=True)
    variance = (clients - size) / (size * max(clients - 1, 1)) / clients
    weights = np.append(1.0, np.full(clients, variance))
    return Maps(np.append(mean, maps - mean, 0)[None], weights[None])


@dataclass(frozen=True)
class Recursion:
    """The second moments of ẑ, round by round.

    Attributes:
        start, second: vec P of the start, and after the first round.
        step: L, with vec P⁺ = L vec P, of every later round.
    """

    start: np.ndarray
    second: np.ndarray
    step: np.ndarray

    @property
    def dim(self) -> int:
        """The size of ẑ."""
        return isqrt(len(self.start))

    @property
    def rate(self) -> float:
        """The linear rate of E z: the spectral radius of its map, less the constant."""
        mean = self.step.reshape((self.dim,) * 4)[:-1, -1, :-1, -1]
        return float(np.abs(np.linalg.eigvals(mean)).max())

    def squares(self, rounds: int) -> np.ndarray:
        """Return E z², before each round and after the last, [rounds + 1, dim − 1]."""
        curve = [self.start, self.second]
        while len(curve) <= rounds:
            curve.append(self.step @ curve[-1])
        return np.array(curve[: rounds + 1])[:, :: self.dim + 1][:, :-1]

    def limit(self) -> np.ndarray:
        """Return what E z² tends to, where it converges, [dim − 1]."""
        step = torch.from_numpy(self.step[:-1])
        rest = torch.eye(len(step), dtype=torch.float64) - step[:, :-1]
        fixed = torch.linalg.solve(rest, step[:, -1])
        limit: np.ndarray = fixed[:: self.dim + 1].numpy()
        return limit


@dataclass(frozen=True)
class SecondMoments(Recursion):
    """The recursion of second moments of one case.

    Attributes:
        case: what runs.
        fields: what of the state a round hands to the next.
    """

    case: Case
    fields: tuple[str, ...]

    def average(self, left: Callable[[Any], Any]) -> float:
        """Return the mean over the case's rounds of a left side that is an average, exactly.

        It may be taken of the states at the start of each round, or after each step where a round
        is one step.
        """
        rounds, steps = self.case.rounds, self.case.algorithm.local_steps
        assert rounds is not None
        last, axes = self._quadratic(left, rounds - 1)
        if axes != ("round",) and (axes != ("transition",) or steps != 1):
            raise _refused(self.case, f"a left side taken at {axes}")
        first = 0 if np.any(self._quadratic(left, 0)[0]) else self._first(left, rounds)
        if not np.allclose(self._quadratic(left, first)[0], last, rtol=AGREES, atol=0):
            raise _refused(self.case, "a left side that changes from round to round")
        shift = axes == ("transition",)  # states 1 … K instead of 0 … K − 1
        total = self._summed(rounds + shift) - self._summed(first + shift)
        return float(last @ total / rounds)

    def _summed(self, rounds: int) -> np.ndarray:
        """Return Σ_{k<rounds} vec P_k, by doubling."""
        if not rounds:
            return np.zeros_like(self.start)
        total, at, left = self.start, self.second, rounds - 1
        power, partial = self.step, np.eye(len(self.start))  # L^n and Σ_{k<n} L^k, n = 1
        while left:
            if left & 1:
                total, at = total + partial @ at, power @ at
            power, partial, left = power @ power, partial + power @ partial, left >> 1
        return total

    def _first(self, left: Callable[[Any], Any], rounds: int) -> int:
        """Return the first round that counts, of a left side that leaves out the first ones."""
        low, high = 0, rounds - 1
        while high - low > 1:
            middle = (low + high) // 2
            counts = np.any(self._quadratic(left, middle)[0])
            low, high = (low, middle) if counts else (middle, high)
        return high

    def _quadratic(
        self, left: Callable[[Any], Any], at_round: int
    ) -> tuple[np.ndarray, tuple[str, ...]]:
        """Return vec Q with left = ẑᵀQẑ at a round, and the moments at which it is taken."""
        count = self.dim - 1
        unit = np.eye(count)
        pairs = [(i, j) for i in range(count) for j in range(i)]
        random = np.random.default_rng(0).standard_normal((count, TRIALS))
        both = np.array([unit[i] + unit[j] for i, j in pairs]).reshape(len(pairs), count).T
        points = np.concatenate([np.zeros((count, 1)), unit, -unit, both, random], 1)
        ctx, state, _ = _from(self.case, self.fields, points, points.shape[1], {})
        ctx.t = at_round * ctx.local_steps
        moment = Moment(ctx, self.case.problem, state, state, at_round, 0, state, state)
        taken = Measure(left)(moment)
        if taken.how != "average":
            raise _refused(self.case, f"a left side that is {taken.how}(…)")
        value = taken.value.numpy()
        zero, up, down = value[0], value[1 : count + 1], value[count + 1 : 2 * count + 1]
        q = np.zeros((self.dim, self.dim))
        q[-1, -1] = zero
        q[:-1, -1] = q[-1, :-1] = (up - down) / 4
        q[np.arange(count), np.arange(count)] = (up + down) / 2 - zero
        for (i, j), two in zip(pairs, value[2 * count + 1 :], strict=False):
            q[i, j] = q[j, i] = (two - up[i] - up[j] + zero) / 2
        full = np.append(random, np.ones((1, TRIALS)), 0)
        _agree(
            self.case,
            value[-TRIALS:],
            np.einsum("ik,ij,jk->k", full, q, full),
            "a left side that is not quadratic in the iterates",
        )
        coefficients: np.ndarray = q.reshape(-1)
        return coefficients, taken.axes


def second_moments(case: Case, fields: Sequence[str]) -> SecondMoments:
    """Read the recursion off a case's algorithm.

    Args:
        fields: what of the state a round hands to the next.
    """
    fields = tuple(fields)
    begun, first = (_maps(case, fields, free=False, rounds=n).on_moments for n in (0, 1))
    later = _maps(case, fields, free=True, rounds=1).on_moments
    nothing = np.zeros(len(later))
    nothing[-1] = 1.0  # ẑ = (0, 1), which a start does not look at
    return SecondMoments(begun @ nothing, first @ nothing, later, case, fields)


def _maps(case: Case, fields: tuple[str, ...], *, free: bool, rounds: int) -> Maps:
    """Read affine maps off the start and its first round, or off a later round from any state.

    Args:
        free: whether the state varies (a later round), or is what the algorithm starts from.
        rounds: how many rounds are run, 0 or 1.
    """

    def after(points: np.ndarray | None, width: int, given: Mapping[Key, Any]) -> np.ndarray:
        ctx, state, oracles = _from(case, fields, points, width, given)
        if rounds:
            state = _round(ctx, case, oracles, state, ctx.local_steps if free else 0)
        return _stacked(state, fields, ctx)

    ctx, state, oracles = _from(case, fields, None, 1, {})
    count = len(_stacked(state, fields, ctx))
    if free:
        ctx.met.clear()  # draws of the start
    if rounds:
        _round(ctx, case, oracles, state, ctx.local_steps if free else 0)
    laws = ctx.met
    signs = [key for key, law in laws.items() if isinstance(law, SignMean)]
    others = [key for key, law in laws.items() if not isinstance(law, SignMean)]
    supports = [laws[key].support(key[2]) for key in others]
    outcomes = list(product(*(range(len(values)) for values, _ in supports)))
    per, runs = count + 1 if free else 1, len(signs) + 1

    def given(signs_at: Mapping[Key, Any], picked: np.ndarray) -> dict[Key, Any]:
        picks = np.array(outcomes, dtype=int)[picked]
        return {**signs_at, **{k: supports[i][0][picks[:, i]] for i, k in enumerate(others)}}

    unit = np.append(np.zeros((count, 1)), np.eye(count), 1)
    width = len(outcomes) * runs * per
    which = np.tile(np.repeat(np.arange(runs), per), len(outcomes))
    switched = {key: (which == j + 1).astype(float) for j, key in enumerate(signs)}
    images = after(
        np.tile(unit, len(outcomes) * runs) if free else None,
        width,
        given(switched, np.repeat(np.arange(len(outcomes)), runs * per)),
    ).reshape(count, len(outcomes), runs, per)
    affine = np.zeros((len(outcomes), runs, count + 1, count + 1))
    affine[:, :, :-1, -1] = np.moveaxis(images[..., 0], 0, -1)
    if free:
        affine[:, :, :-1, :-1] = np.moveaxis(images[..., 1:] - images[..., :1], 0, -2)
    affine[:, 1:] -= affine[:, :1]
    affine[:, 0, -1, -1] = 1.0
    # random states, signs and outcomes have to give what these matrices say
    random = np.random.default_rng(1)
    z, picked = random.standard_normal((count, TRIALS)), random.integers(len(outcomes), size=TRIALS)
    drawn = {key: random.choice(laws[key].support(key[2])[0], TRIALS) for key in signs}
    factors, full = np.ones((runs, TRIALS)), np.append(z, np.ones((1, TRIALS)), 0)
    factors[1:] = np.array(list(drawn.values())).reshape(len(signs), TRIALS)
    predicted = np.einsum("jr,rjab,br->ar", factors, affine[picked], full)[:-1]
    _agree(
        case,
        after(z if free else None, TRIALS, given(drawn, picked)),
        predicted,
        "a round that is not affine in the state and in each sign",
    )
    chances = [np.prod([supports[i][1][o] for i, o in enumerate(out)]) for out in outcomes]
    variances = [1.0, *(_variance(laws[key], key[2]) for key in signs)]
    return Maps(affine, np.outer(chances, variances))


def _from(
    case: Case,
    fields: tuple[str, ...],
    points: np.ndarray | None,
    width: int,
    given: Mapping[Key, Any],
) -> tuple[Probing, Any, Any]:
    """Return a context, a state whose fields are the points (None: the start), and oracles."""
    algorithm, problem = case.algorithm, case.problem
    assert algorithm is not None
    ctx = Probing(problem.clients, width, given)
    ctx.local_steps, ctx.horizon = algorithm.local_steps, case.rounds
    oracles = problem.oracles(ctx.dtype, ctx.device, ctx.local)
    state = algorithm.init(ctx, oracles, torch.from_numpy(problem.start()))
    if points is not None:
        at = 0
        for name in fields:
            field = getattr(state, name)
            part = torch.from_numpy(points[at : at + field.shape[1]]).expand_as(field).clone()
            state = state._replace(**{name: part})
            at += field.shape[1]
    return ctx, state, oracles


def _round(ctx: Probing, case: Case, oracles: Any, state: Any, first: int) -> Any:
    assert case.algorithm is not None
    for t in range(first, first + ctx.local_steps):
        ctx.t = t
        state = case.algorithm.step(ctx, oracles, state)
    return state


def _stacked(state: Any, fields: tuple[str, ...], ctx: Probing) -> np.ndarray:
    """Return the fields below each other, [dimensions, replicates], as every client holds them.

    Clients may differ before the first round alone, whose draws they have not shared yet.
    """
    tensors = [getattr(state, name) for name in fields]
    if ctx.t and any(float((x - x[:1]).abs().max()) > AGREES for x in tensors):
        raise DriftproofError(
            f"clients that differ in {' or '.join(fields)} after a round",
            "fields that every client holds alike",
            "name what a round averages at its end",
        )
    stacked: np.ndarray = torch.cat([x.mean(0) for x in tensors]).numpy()
    return stacked


def _variance(law: Law, client: int) -> float:
    values, probabilities = law.support(client)
    return float(probabilities @ values**2)


def _agree(case: Case, seen: np.ndarray, predicted: np.ndarray, what: str) -> None:
    if not np.allclose(seen, predicted, rtol=AGREES, atol=AGREES * (1 + np.abs(seen).max())):
        raise _refused(case, what)


def _refused(case: Case, what: str) -> DriftproofError:
    return DriftproofError(
        f"{case}: {what}",
        "a quadratic problem whose draws enter a round one by one",
        "leave out the noise of second derivatives, say, or measure runs instead",
    )
