r"""Searches a potential of an algorithm over a class: a round from any state, and so all rounds.

Of the points s_1, s_2, … of an algorithm's state and its iterate x, all measured from x*, let

    V(s) = Σ_{i≤j} p_ij ⟨s_i, s_j⟩ + a (F(x) − F*).

Wanted are p, a and ρ < 1 such that a round takes any state s to one with V(s⁺) ≤ ρV(s) + c, and
that ‖x − x*‖² ≤ V(s). Then ‖x_t − x*‖² ≤ V(s_t) ≤ ρ^t V(s_0) + c(1 − ρ^t)/(1 − ρ) after every
number t of rounds. c is 0 unless there is no V without a condition that has a size, as how far
clients differ has.

For fixed ρ all is linear in p, a and the multipliers (Taylor, Van Scoy & Lessard 2018). They are
one worst case, of two runs that have nothing to do with each other: how large is ‖x − x*‖² at the
start of the second one, if each term of V is there its value after the first run less ρ times that
before it? The multipliers of these equations are p and a, and a proof of a bound is a potential.
Conditions with a size hold in the first run alone; what they add to the bound is c.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement
from math import ceil
from typing import Any

from flint import fmpq

from driftproof.synthetic.classes.conditions import Constraint, FunctionClass
from driftproof.synthetic.classes.relations import OF_CLIENTS, Relation, any_state
from driftproof.synthetic.classes.whole import WholeClass
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.gram.exact import GramForm, Second, Vector
from driftproof.toolkit.gram.tensor import GramVector, entries_of
from driftproof.toolkit.measure import Reduction, Steps, each, sq
from driftproof.verifiers.worst_case.builder import build, round_from_any_state
from driftproof.verifiers.worst_case.certificate import SHARP, certify
from driftproof.verifiers.worst_case.exact import fraction, rational
from driftproof.verifiers.worst_case.record import WorstCase
from driftproof.verifiers.worst_case.region import letters_of
from driftproof.verifiers.worst_case.solve import solve
from driftproof.verifiers.worst_case.statement import combined
from driftproof.verifiers.worst_case.written import Right, certificate

IN_EVERY_ROUND = (*OF_CLIENTS, "lower-level", "upper-level")
"""Relations that speak of functions alone; one on the start of a run does not hold later."""


class NoPotentialError(DriftproofError):
    """No V was found."""


@dataclass(frozen=True)
class Potential:
    """V and ρ, with certificates of what V is good for.

    Attributes:
        rho: ρ. That none smaller, of as many digits, has such a V is the solver's word alone.
        constant: c, of V(s⁺) ≤ ρV(s) + c.
        size: C, of V(s_0) ≤ C‖x_0 − x*‖² + c_0 where the algorithm begins at x_0.
        at_start: c_0, which is 0 if no condition has a size.
        weights: the coefficients of V, by the names that ``terms`` gives.
        iterate: the name of x.
        certificates: files that ``driftproof check`` checks: "decrease" of V(s⁺) − ρV(s) ≤ c from
            any state, "above" of ‖x − x*‖² − V(s) ≤ 0, "start" of V(s_0) − C‖x_0 − x*‖² ≤ c_0.
    """

    rho: Fraction
    constant: Fraction
    size: Fraction
    at_start: Fraction
    weights: Mapping[str, Fraction]
    iterate: str
    certificates: Mapping[str, str]

    def __str__(self) -> str:
        x, rho, size, c = self.iterate, float(self.rho), float(self.size), float(self.constant)
        first = f"{size}·‖{x}_0 − x*‖²" + f" + {float(self.at_start)}" * bool(self.at_start)
        bound = f"({first})·{rho}^t" if self.at_start else f"{size}·{rho}^t·‖{x}_0 − x*‖²"
        floor = f" + {float(self.floor)}·(1 − {rho}^t)" if c else ""
        return (
            f"‖{x}_t − x*‖² ≤ {bound}{floor} after every number t of rounds, since\n"
            f"  at the start V ≤ {first},\n"
            f"  a round from any state has V⁺ ≤ {rho}·V{f' + {c}' * bool(c)},\n"
            f"  in any state ‖{x} − x*‖² ≤ V, where, with points measured from x*,\n"
            f"  V = {combined((name, rational(c)) for name, c in self.weights.items())}"
        )

    @property
    def floor(self) -> Fraction:
        """How large ‖x − x*‖² may stay: c/(1 − ρ)."""
        return self.constant / (1 - self.rho)


def terms(vectors: Mapping[str, Any], gaps: Mapping[str, Any]) -> dict[str, Any]:
    """Return what V is made of, by name: products of two vectors [dim, replicates], and gaps.

    >>> from numpy import array
    >>> terms({"w": array([[3]]), "y": array([[2]])}, {"w": array([5])})
    {'‖w‖²': array([9]), '⟨w, y⟩': array([6]), '‖y‖²': array([4]), '(F(w) − F*)': array([5])}
    """
    pairs = combinations_with_replacement(vectors, 2)
    products = {
        f"‖{u}‖²" if u == v else f"⟨{u}, {v}⟩": (vectors[u] * vectors[v]).sum(-2) for u, v in pairs
    }
    return products | {f"(F({name}) − F*)": gap for name, gap in gaps.items()}


def check_rounds(
    said: str, algorithm: Algorithm, conditions: Sequence[FunctionClass | Relation], clients: int
) -> None:
    """Refuse what a round from any state says nothing of: later rounds, other states.

    Raises:
        DriftproofError: a condition on the start of a run need not hold in later rounds.
        UndecidableError: a round's steps depend on its number; or a round begins or ends in a state
            that is none of ``anywhere``.
    """
    once = [of for of in conditions if isinstance(of, Relation) and of.kind not in IN_EVERY_ROUND]
    if once:
        raise DriftproofError(
            f"{said}, where {once[0]} need not hold in later rounds",
            "functions of a class, and what relates clients",
            "leave it out: a round begins in any state, and the first one at any x_0",
        )
    round_from_any_state(algorithm, conditions, clients)  # not as one of ours: x* may move


def potential(
    algorithm: Algorithm,
    classes: Sequence[FunctionClass | Relation],
    *,
    clients: int = 1,
    gradients: bool = False,
    digits: int = 4,
    rho: Fraction | None = None,
) -> Potential:
    """Search the smallest ρ with a potential V of an algorithm over a class, and prove both.

    A search in doubles proposes V, and certificates in fractions prove it: for every function of
    the class, in every dimension, ‖x_t − x*‖² ≤ Cρ^t‖x_0 − x*‖² for all t. Where it matters how
    far clients differ, there is a floor beside it, which is made small. Where an algorithm samples
    clients, left sides are expectations. Of a vector that clients hold each of their own, as
    SCAFFOLD's control variates, V has how far it is from ∇f_i(x*).

    Gradient descent with η = 2/(L + μ) has ρ = ((L − μ)/(L + μ))², 1/4 for L = 3μ:

    >>> from driftproof.synthetic.classes import smooth_strongly_convex
    >>> from driftproof.toolkit.algorithms import FedAvg
    >>> found = potential(FedAvg(step_size=0.5), [smooth_strongly_convex(L=3, mu=1)])
    >>> round(float(found.rho), 3)
    0.25

    Args:
        classes: one class of functions, and what relates clients.
        gradients: whether V may have the gradients at the points of the state, and F at each of
            them, beside the points and F at the iterate.
        digits: of ρ after the point; V is the larger, the nearer ρ is to the smallest.
        rho: ρ, where it is known; None: the smallest is sought.

    Raises:
        NotLinearError: a step leaves what can be followed; it names the line.
        NoPotentialError: no V was found.
        DriftproofError: rounds differ, or a condition has a size.
    """
    said = f"{algorithm} over {', '.join(map(str, classes))}"
    if letters_of((classes, algorithm.values())):
        raise DriftproofError(
            f"a potential of {said}", "numbers",
            "search it at some numbers; for letters state a claim of a round (docs/theorems.md)",
        )  # fmt: skip
    check_rounds(f"a potential of {said}", algorithm, classes, clients)
    whole = WholeClass(conditions=(*classes, any_state()), clients=clients)
    functions = [of for of in (whole.function_class, whole.term) if of is not None]
    # without an L nothing bounds F(x_0) − F* by C‖x_0 − x*‖², and V has to be bounded at the start
    has_values = any(functions[0].conditions[0].values) and all(
        "L" in of.parameters for of in functions
    )
    x = algorithm.iterate

    def left(view: Steps) -> Reduction | None:
        if not view.last:
            return None
        made: dict[str, Any] = {}
        # a field of plain numbers is the same in every state
        fields = [
            name for name in view.state._fields if isinstance(getattr(view.begun, name), GramVector)
        ]
        own = [
            name
            for name in fields
            if any(_differs(getattr(state, name)) for state in (view.begun, view.state))
        ]
        for when, point, state in (
            ("before", view.round_start, view.begun), ("after", view.mean, view.state),
        ):  # fmt: skip
            points = {name: point(name) for name in fields}
            vectors = {name: at - view.minimiser for name, at in points.items()}
            if gradients:
                vectors |= {f"∇F({name})": view.gradient(at) for name, at in points.items()}
            valued = points if gradients else {x: points[x]}
            gaps = {name: view.gap(at) for name, at in valued.items() if has_values}
            every = terms(vectors, gaps)
            for name in own:
                away = getattr(state, name) - view.client_gradients(view.minimiser)
                every[f"mean ‖{name}_i − ∇f_i(x*)‖²"] = sq(away).mean(0)
            made |= {f"{when} {name}": of for name, of in every.items()}
        return each("round", "local_step", sq(view.round_start(x) - view.minimiser), **made)

    (one,) = build(algorithm, whole, rounds=1, left=left, ours=True)
    if any(one.second):
        raise DriftproofError(
            f"a potential of {said}, functions of two variables", "functions of one",
            "take smooth_strongly_convex(L, mu), say",
        )  # fmt: skip
    sizes = [of.name for of in one.constraints[: -len(one.relations) or None] if _size(of)]
    if sizes:
        sized = [of for of in classes if isinstance(of, FunctionClass) and "D" in of.parameters]
        raise DriftproofError(
            f"a potential of {said}, of which "
            + (f"{sized[0]} has sets of one size" if sized else f"{sizes[0]!r} has a size"),
            "classes that have with each function its copies at every scale, since x_0 may be at "
            "any distance",
            "write indicator() without D: sets of any diameter" if sized
            else "take smooth_strongly_convex(L, mu), and similar(zeta) of clients",
        )  # fmt: skip
    rest = WholeClass(conditions=tuple(classes), clients=clients)
    (begin,) = build(algorithm, rest, rounds=1, left=left, ours=True)
    any_size = tuple(of for of in one.relations if not _size(of))

    def searched(case: WorstCase) -> Found | None:
        of = whole.function_class
        return _searched(case, of, digits) if rho is None else _proved(case, of, rho)

    found = searched(replace(one, relations=any_size))
    if found is not None:  # how far clients differ does not matter
        one = replace(one, relations=any_size)
    elif any_size != one.relations and rho != 1:  # there is no floor where nothing falls
        found = searched(one)
    if found is None:
        raise NoPotentialError(
            f"no potential with ρ ≤ {1 - 10.0**-digits if rho is None else rho} of {said}",
            "a method that converges linearly on every function, and a V that shows it",
            "take other step sizes, more digits" + ", or gradients=True" * (not gradients),
        )
    least, weights, of_decrease, of_above = found
    first, length = _sum(begin.parts, "before", weights), begin.objective
    within = Constraint("start", length, Fraction(1))
    proof = certify(replace(begin, objective=first, relations=(*begin.relations, within)))
    of_start = dict(proof.multipliers)
    size = Fraction(ceil(fraction(of_start.pop(len(begin.constraints), fmpq(0))) * 100), 100)
    constant, at_start = _added(one, of_decrease), _added(begin, of_start)
    made = Potential(least, constant, size, at_start, weights, x, {})
    before = _sum(one.parts, "before", weights)
    files = {
        "decrease": (
            one,
            _sum(one.parts, "after", weights) - before * least,
            constant,
            of_decrease,
        ),
        "above": (one, one.objective - before, 0, of_above),
        "start": (begin, first - length * size, at_start, of_start),
    }
    return replace(made, certificates={
        name: certificate(
            replace(case, objective=of, about={**case.about, name: str(made)}), Right(str(c)), used
        ) for name, (case, of, c, used) in files.items()
    })  # fmt: skip


def _size(of: Constraint) -> Fraction:
    """Return how large what a condition bounds may be."""
    return of.bound - of.quantity.constant


def _added(case: WorstCase, multipliers: Mapping[int, fmpq]) -> Fraction:
    """Return the bound that multipliers prove."""
    sizes = [_size(of) for of in case.constraints]
    return sum((fraction(c) * sizes[k] for k, c in multipliers.items()), Fraction(0))


Found = tuple[Fraction, dict[str, Fraction], dict[int, fmpq], dict[int, fmpq]]
"""ρ, the weights, and the multipliers that prove V⁺ ≤ ρV and ‖x − x*‖² ≤ V."""


def _searched(case: WorstCase, of: FunctionClass, digits: int) -> Found | None:
    """Return the smallest ρ < 1 of some digits for which there is a V; None: there is none."""
    low, high = 0, 10**digits - 1
    best = _proved(case, of, Fraction(high, 10**digits))
    while best is not None and low < high:
        middle = (low + high) // 2
        found = _proved(case, of, Fraction(middle, 10**digits))
        if found is None:
            low = middle + 1
        else:
            best, high = found, middle
    return best


def _proved(case: WorstCase, of: FunctionClass, rho: Fraction) -> Found | None:
    """Return a V that is nearly as small as possible, or None where none was proved."""
    both = _both(case, of, rho)
    try:
        solved = solve(both)
        proof = certify(both, solved, at_most=Fraction(solved.value) * (1 + SHARP))
    except DriftproofError:  # there is none, or it is too large for doubles
        return None
    used, r = proof.multipliers, len(case.relations)
    m = len(case.constraints) - r  # conditions of both runs come first, then relations of both
    later = [m + k for k, of in enumerate(case.relations) if not _size(of)]
    end = 2 * m + r + len(later)
    of_decrease, of_above = (
        {k: used[j] for k, j in zip(numbers, [*conditions, *relations], strict=True) if j in used}
        for numbers, conditions, relations in (
            (range(m + r), range(m), range(2 * m, 2 * m + r)),
            ([*range(m), *later], range(m, 2 * m), range(2 * m + r, end)),
        )
    )
    equations = enumerate(_names(case), end)
    weights = {name: fraction(used[j]) for j, name in equations if j in used}
    return rho, weights, of_decrease, of_above


def _both(case: WorstCase, of: FunctionClass, rho: Fraction) -> WorstCase:
    """Return the worst case of two runs, the second one in a space that is orthogonal to the first.

    Its value is how large V has to be: the C of V ≤ C‖x‖² where all points are x, and F has
    curvature L everywhere, or μ everywhere.
    """
    size, count = len(case.vectors), len(case.values)

    def vector(of: Vector) -> Vector:
        return Vector({Second(j + size): c for j, c in of.coefficients.items()})

    def quantity(of: GramForm) -> GramForm:
        gram: dict[tuple[int, int], Fraction] = {
            (Second(j + size), Second(k + size)): q for (j, k), q in of.gram.items()
        }
        return GramForm(gram, {j + count: a for j, a in of.values.items()}, of.constant)

    triples = tuple(
        tuple(
            replace(t, point=vector(t.point), gradient=vector(t.gradient), value=quantity(t.value))
            for t in own
        ) for own in case.triples
    )  # fmt: skip
    relations = [replace(r, quantity=quantity(r.quantity)) for r in case.relations if not _size(r)]
    curvatures = [of.parameters.get("L", Fraction(1)), of.parameters.get("mu", Fraction(0))]
    shares = [GramForm.value(2 * count + k) for k in (0, 1)]
    for name in _names(case):
        before, after = case.parts[f"before {name}"], case.parts[f"after {name}"]
        equation = quantity(before) - after + before * rho
        for share, curvature in zip(shares, curvatures, strict=True):
            equation = equation - share * _at_rest(name, curvature)
        relations.append(Constraint(name, equation, equality=True))
    relations += [Constraint("share", share * -1) for share in shares]
    # what is made small is then (1 − ρ) times the size of V and the floor c/(1 − ρ)
    much = 1 - rho if any(map(_size, case.relations)) else Fraction(1)
    relations.append(Constraint("size", shares[0] + shares[1], much))
    return replace(
        case, vectors=case.vectors * 2, values=(*case.values * 2, "share of L", "share of mu"),
        classes=case.classes * 2, triples=case.triples + triples,
        relations=(*case.relations, *relations), objective=quantity(case.objective),
        second=(False,) * size + (True,) * size, own=(*case.own, *map(vector, case.own)), parts={},
    )  # fmt: skip


def _differs(of: Any) -> bool:
    """Tell whether clients have different vectors in a field of the state."""
    entries = entries_of(of)
    return any(entries[0, 0, 0] != other for other in entries[:, 0, 0])


def _names(case: WorstCase) -> list[str]:
    """Return the names of V's terms."""
    return [name.removeprefix("before ") for name in case.parts if name.startswith("before ")]


def _at_rest(name: str, curvature: Fraction) -> Fraction:
    """Return a term of V where all points are one unit vector, and F = curvature/2·‖·‖²."""
    if name.startswith("(F"):
        return curvature / 2
    return curvature ** (name.count("∇") * (2 if name.startswith("‖") else 1))


def _sum(parts: Mapping[str, GramForm], when: str, weights: Mapping[str, Fraction]) -> Any:
    """Return V before the round, or after it."""
    return sum((parts[f"{when} {name}"] * c for name, c in weights.items()), GramForm())
