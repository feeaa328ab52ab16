r"""Searches a potential of an algorithm over a class: a round from any state, and so all rounds.

Of the points s_1, s_2, … of an algorithm's state and its iterate x, all measured from x*, let

    V(s) = Σ_{i≤j} p_ij ⟨s_i, s_j⟩ + a (F(x) − F*).

Wanted are p, a and ρ < 1 such that a round takes any state s to one with V(s⁺) ≤ ρV(s) + c, and
that ‖x − x*‖² ≤ V(s). Then ‖x_t − x*‖² ≤ V(s_t) ≤ ρ^t V(s_0) + c(1 − ρ^t)/(1 − ρ) after every
number t of rounds. c is 0 unless there is no V without a condition that has a size, as how far
clients differ has. A method that holds x and y of a saddle function apart has the iterate (x, y),
and V has no product of a vector of x and one of y.

For fixed ρ all is linear in p, a and the multipliers (Taylor, Van Scoy & Lessard 2018). They are
one worst case, of two runs that have nothing to do with each other: how large is ‖x − x*‖² at the
start of the second one, if each term of V is there its value after the first run less ρ times that
before it? The multipliers of these equations are p and a, and a proof of a bound is a potential.
Conditions with a size hold in the first run alone; what they add to the bound is c.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import ceil
from typing import Any, NamedTuple

from flint import fmpq

from driftproof.synthetic.classes.conditions import Constraint, FunctionClass
from driftproof.synthetic.classes.function_class import FunctionClassProblem
from driftproof.synthetic.classes.relations import OF_CLIENTS, Relation, any_state, counted, similar
from driftproof.toolkit.algorithm import MORE_VECTORS, Algorithm
from driftproof.toolkit.engines.balls import exactly
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.gram.exact import GramForm, Second, Vector
from driftproof.toolkit.gram.tensor import GramForms, GramVector, entries_of, part_of
from driftproof.toolkit.measure import Reduction, Steps, each, sq
from driftproof.toolkit.recorder import same
from driftproof.verifiers.worst_case.builder import (
    build,
    fields_of_iterate,
    iterate_of,
    name_of_iterate,
    round_from_any_state,
)
from driftproof.verifiers.worst_case.certificate import SHARP, certify
from driftproof.verifiers.worst_case.exact import fraction, rational
from driftproof.verifiers.worst_case.region import letters_of
from driftproof.verifiers.worst_case.sdp import WorstCase
from driftproof.verifiers.worst_case.solve import UnboundedError, solve
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
        of_clients: whether c_0 is at_start·ζ² instead, with ζ² = (1/n) Σ‖∇f_i(x*)‖²: no condition
            says how far clients differ.
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
    of_clients: bool = False

    def __str__(self) -> str:
        x, rho, size, c = self.iterate, float(self.rho), float(self.size), float(self.constant)
        added = f"{float(self.at_start)}{'·ζ²' * self.of_clients}"
        first = f"{size}·‖{x}_0 − x*‖²" + f" + {added}" * bool(self.at_start)
        bound = f"({first})·{rho}^t" if self.at_start else f"{size}·{rho}^t·‖{x}_0 − x*‖²"
        floor = f" + {float(self.floor)}·(1 − {rho}^t)" if c else ""
        return (
            f"‖{x}_t − x*‖² ≤ {bound}{floor} after every number t of rounds, since\n"
            f"  at the start V ≤ {first},\n"
            f"  a round from any state has V⁺ ≤ {rho}·V{f' + {c}' * bool(c)},\n"
            f"  in any state ‖{x} − x*‖² ≤ V, where, with "
            f"{'ζ² = (1/n) Σ‖∇f_i(x*)‖², and ' * self.of_clients}points measured from x*"
            f"{' and lim what limits says' * any('lim' in of for of in self.weights)},\n"
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


def _terms_of(view: Steps, method: Algorithm, gradients: bool, has_values: bool) -> dict[str, Any]:
    """Return the terms of V before and after a round.

    Points are measured from x*, or from where they are at rest; where there may be no x*, from the
    iterate.
    """
    problem: Any = view.problem
    x, solvable = method.iterate, problem.asked.solvable
    rest: Any = None
    there: dict[str, Any] = {}
    made: dict[str, Any] = {}
    states = {"before": view.begun, "after": view.state}
    # a field of plain numbers is the same in every state
    fields = [
        name for name in view.state._fields if isinstance(getattr(view.begun, name), GramVector)
    ]
    own = [name for name in fields if any(_differs(getattr(of, name)) for of in states.values())]
    stars: dict[str, Any] = dict.fromkeys(fields)
    if solvable:
        rest = view.at_rest(method)
        stars = {name: _part_of(view.minimiser, getattr(view.begun, name)) for name in fields}
    if own and solvable:  # of a rough function each question is another subgradient
        gradients_there = view.client_gradients(view.minimiser)
        there = {name: _part_of(gradients_there, stars[name]) for name in own}
    goes_to = {name: getattr(rest, name).mean(0) if rest else stars[name] for name in fields}
    for when, state in states.items():
        points = {name: getattr(state, name).mean(0) for name in fields}  # of all clients
        valued = {
            name: at
            for name, at in points.items()
            if not solvable or same(goes_to[name], stars[name])
        }
        if solvable:
            vectors = {
                name if name in valued or same(to, to - to) else f"{name} − lim": points[name] - to
                for name, to in goes_to.items()
            }
        else:
            vectors = {name: at - points[x] for name, at in points.items() if name != x}
        if gradients and len(fields_of_iterate(method, problem.function_class)) > 1:
            field = view.gradient(iterate_of(method, problem, points.__getitem__))
            vectors |= {
                "∇_x f": _part_of(field, points["x"]),
                "−∇_y f": _part_of(field, points["y"]),
            }
        elif gradients:
            vectors |= {f"∇F({name})": view.gradient(at) for name, at in valued.items()}
        valued = valued if gradients else {x: points[x]}
        gaps = {name: view.gap(at) for name, at in valued.items() if has_values}
        every = terms(vectors, gaps)
        apart = {}
        for name in own if solvable else ():
            to = getattr(rest, name) if rest else there[name]
            named = {"∇f_i(x*)": there[name], "x*": to - (to - stars[name]), "0": to - to}
            where = next((at for at, of in named.items() if same(to, of)), "lim_i")
            apart[f"{name}_i − {where}"] = getattr(state, name) - to
        every |= {f"mean {name}": of.mean(0) for name, of in terms(apart, {}).items()}
        made |= {f"{when} {name}": of for name, of in every.items()}
    return made


def descent(
    algorithm: Algorithm,
    classes: Sequence[Any],
    measure: Any,
    *,
    clients: int,
    gradients: bool = False,
    distance: bool = False,
) -> tuple[Mapping[str, Fraction], dict[str, str]] | None:
    """Search a V ≥ 0 that falls by what is measured after each round, m ≥ 0; None: none was proved.

    Then Σ m ≤ V(s_0), so m → 0. Nothing bounds V at the start, where it is some number; nor has F
    to have a minimiser. With ``distance`` V is c‖x − x*‖² alone, of every x*.

    Returns:
        V's weights, and certificates: "decrease" of V(s⁺) − V(s) + m ≤ 0, "above" of −V ≤ 0, "sign"
        of −m ≤ 0.
    """
    whole = FunctionClassProblem(conditions=(*classes, any_state()), clients=clients)
    one = without_sizes(one_round(algorithm, whole, gradients, not distance, measure))
    if distance:
        only = [f"{when} ‖{algorithm.iterate}‖²" for when in ("before", "after")]
        one = replace(one, parts={name: one.parts[name] for name in only if name in one.parts})
    found = not any(one.second) and _proved(one, whole.function_class, Fraction(1), falls=True)
    if not found:
        return None
    _, weights, of_decrease, of_above = found
    before, after = (summed(one.parts, when, weights) for when in ("before", "after"))
    m = one.objective
    try:
        sign = certify(replace(one, objective=m * -1), at_most=Fraction(0)).multipliers
        files = {
            "decrease": (after - before + m, of_decrease),
            "above": (before * -1, of_above),
            "sign": (m * -1, sign),
        }
        return weights, {
            name: certificate(replace(one, objective=of), Right("0"), used)
            for name, (of, used) in files.items()
        }
    except DriftproofError:  # a condition of the class has a size, or m may be below 0
        return None


def one_round(
    algorithm: Algorithm, whole: FunctionClassProblem, gradients: bool, values: bool, of: Any = None
) -> WorstCase:
    """Return a round: what is measured after it, and V's terms before and after.

    Args:
        values: whether V may have F.
        of: the measure (None: ‖x − x*‖² before the round).
    """
    method = exactly(algorithm, GramForms.of)
    in_a_set = whole.term is not None and whole.term.normals  # F is known at points of it alone
    has_values = values and any(whole.function_class.conditions[0].values) and not in_a_set

    def left(view: Steps) -> Reduction | None:
        off = None if of else sq(iterate_of(method, whole, view.round_start) - view.minimiser)
        made: Reduction | None = of(view) if of else each("round", "local_step", off)
        if made is None or not (of or view.last):
            return None
        return replace(made, parts=_terms_of(view, method, gradients, has_values))

    (one,) = build(algorithm, whole, rounds=1, left=left, ours=True)
    return one


def without_sizes(case: WorstCase) -> WorstCase:
    """Leave out the relations that have a size."""
    return replace(case, relations=tuple(of for of in case.relations if not _size(of)))


def check_rounds(
    said: str, algorithm: Algorithm, conditions: Sequence[FunctionClass | Relation], clients: int
) -> str:
    """Refuse what a round from any state says nothing of: later rounds, other states.

    Returns:
        What the algorithm may declare, so that a V is found ("": nothing).

    Raises:
        DriftproofError: a condition on the start of a run need not hold in later rounds; or a
            method of two variables does not call them x and y.
        UndecidableError: a round's steps depend on its number; or a round begins or ends in a state
            that is none of ``anywhere``.
    """
    relations = [of for of in conditions if isinstance(of, Relation) and of != counted()]
    once = [of for of in relations if of.kind not in IN_EVERY_ROUND]
    if once:
        raise DriftproofError(
            f"{said}, where {once[0]} need not hold in later rounds",
            "functions of a class, and what relates clients",
            "leave it out: a round begins in any state, and the first one at any x_0",
        )
    made = round_from_any_state(algorithm, conditions, clients)  # not as ours: x* may move
    whole = next(of for of in conditions if isinstance(of, FunctionClass) and not of.term)
    iterate = fields_of_iterate(algorithm, whole)
    if not set(iterate) <= set(made.first._fields):
        raise DriftproofError(
            f"{said}, with a state of {', '.join(made.first._fields)}",
            f"the iterate among its fields: {' and '.join(iterate)}",
            "give them these names",
        )
    undeclared = made.remembers and not algorithm.limits
    return f"{type(algorithm).__name__} declares no limits: {MORE_VECTORS}" * undeclared


class AnyRound(NamedTuple):
    """A round from any state.

    Attributes:
        declare: what the algorithm may declare, so that a V is found ("": nothing).
        whole: the class.
        has_values: whether V may have F.
        one: the round's program.
    """

    declare: str
    whole: FunctionClassProblem
    has_values: bool
    one: WorstCase


def any_round(
    algorithm: Algorithm,
    classes: Sequence[FunctionClass | Relation],
    *,
    clients: int = 1,
    gradients: bool = False,
) -> AnyRound:
    """Return a round from any state; see ``potential``, also for what is raised."""
    said = f"a potential of {algorithm} over {', '.join(map(str, classes))}"
    declare = check_rounds(said, algorithm, classes, clients)
    whole = FunctionClassProblem(conditions=(*classes, any_state()), clients=clients)
    functions = [of for of in (whole.function_class, whole.term) if of is not None]
    # without an L nothing bounds F(x_0) − F* by C‖x_0 − x*‖², and V has to be bounded at the start
    has_values = all("L" in of.parameters for of in functions)
    one = one_round(algorithm, whole, gradients, has_values)
    return AnyRound(declare, whole, has_values, one)


def potential(
    algorithm: Algorithm,
    classes: Sequence[FunctionClass | Relation],
    *,
    clients: int = 1,
    gradients: bool = False,
    digits: int = 4,
    rho: Fraction | None = None,
    known: AnyRound | None = None,
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
        known: the round from any state, where it is known: it is what takes long.

    Raises:
        NotLinearError: a step leaves what can be followed; it names the line.
        NoPotentialError: no V was found.
        DriftproofError: rounds differ, or a condition has a size.
    """
    said = f"{algorithm} over {', '.join(map(str, classes))}"
    if letters_of((classes, algorithm.values())):
        raise DriftproofError(
            f"a potential of {said}",
            "numbers",
            "search it at some numbers; for letters state a claim of a round (docs/theorems.md)",
        )
    if known is None:
        known = any_round(algorithm, classes, clients=clients, gradients=gradients)
    declare, whole, has_values, one = known
    x = name_of_iterate(algorithm, whole.function_class)
    sizes = [of.name for of in one.constraints[: -len(one.relations) or None] if _size(of)]
    if sizes:
        sized = [of for of in classes if isinstance(of, FunctionClass) and "D" in of.parameters]
        raise DriftproofError(
            f"a potential of {said}, of which "
            + (f"{sized[0]} has sets of one size" if sized else f"{sizes[0]!r} has a size"),
            "classes that have with each function its copies at every scale, since x_0 may be at "
            "any distance",
            "write indicator() without D: sets of any diameter"
            if sized
            else "take smooth_strongly_convex(L, mu), and similar(zeta) of clients",
        )

    def searched(case: WorstCase) -> Found | None:
        of = whole.function_class
        return _searched(case, of, digits) if rho is None else _proved(case, of, rho)

    any_size = without_sizes(one)
    found = searched(any_size)
    if found is not None:  # how far clients differ does not matter
        one = any_size
    elif any_size.relations != one.relations and rho != 1:  # there is no floor where nothing falls
        found = searched(one)
    if found is None:
        raise NoPotentialError(
            f"no potential with ρ ≤ {1 - 10.0**-digits if rho is None else rho} of {said}",
            "a method that converges linearly on every function, and a V that shows it",
            "take other step sizes, more digits"
            + ", or gradients=True" * (not gradients)
            + f"; {declare}" * bool(declare),
        )
    least, weights, of_decrease, of_above = found

    def started(conditions: Sequence[Any]) -> tuple[WorstCase, dict[int, fmpq]]:
        rest = FunctionClassProblem(conditions=tuple(conditions), clients=clients)
        begin = one_round(algorithm, rest, gradients, has_values)
        within = Constraint("start", begin.objective, Fraction(1))
        relations, first = (*begin.relations, within), summed(begin.parts, "before", weights)
        proof = certify(replace(begin, objective=first, relations=relations))
        return begin, dict(proof.multipliers)

    of_clients = False
    try:
        begin, of_start = started(classes)
    except UnboundedError as error:  # by ∇f_i(x*)
        of_clients = all(getattr(of, "kind", "") not in OF_CLIENTS for of in classes)
        if not of_clients:
            raise UnboundedError(error.got, error.wanted, "add similar(zeta)") from error
        begin, of_start = started((*classes, similar(zeta=1)))  # V is quadratic
    first, length = summed(begin.parts, "before", weights), begin.objective
    size = Fraction(ceil(fraction(of_start.pop(len(begin.constraints), fmpq(0))) * 100), 100)
    constant, at_start = _added(one, of_decrease), _added(begin, of_start)
    made = Potential(least, constant, size, at_start, weights, x, {}, of_clients)
    before = summed(one.parts, "before", weights)
    files = {
        "decrease": (
            one,
            summed(one.parts, "after", weights) - before * least,
            constant,
            of_decrease,
        ),
        "above": (without_sizes(one), one.objective - before, 0, of_above),
        "start": (begin, first - length * size, at_start, of_start),
    }
    return replace(
        made,
        certificates={
            name: certificate(
                replace(case, objective=of, about={**case.about, name: str(made)}),
                Right(str(c)),
                used,
            )
            for name, (case, of, c, used) in files.items()
        },
    )


def at_most(one: WorstCase, of: GramForm, by: GramForm) -> tuple[Fraction, str] | None:
    """Return a c with of ≤ c·by at every state of a round, and its certificate (None: none found).

    c is nearly the smallest: the worst case of what is bounded where ``by`` is at most 1. It holds
    at every size, so of conditions with a size nothing is used.
    """
    rest = tuple(relation for relation in one.relations if not _size(relation))
    case = replace(one, objective=of, relations=(*rest, Constraint("one", by, Fraction(1))))
    free = replace(case, relations=rest)
    try:
        used = dict(certify(case).multipliers)
        c = fraction(used.pop(len(free.constraints), fmpq(0)))
        return c, certificate(replace(free, objective=of - by * c), Right("0"), used)
    except DriftproofError:
        return None


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


def _proved(
    case: WorstCase, of: FunctionClass, rho: Fraction, *, falls: bool = False
) -> Found | None:
    """Return a V that is nearly as small as possible, or None where none was proved.

    Args:
        falls: whether V falls by the objective in the first run, and is at least 0 in the second.
    """
    terms = [(case.parts[f"before {name}"], case.parts[f"after {name}"]) for name in names(case)]
    m, least = (case.objective, GramForm()) if falls else (GramForm(), case.objective)
    parts = [
        Part(case, [before * rho - after for before, after in terms], m),
        Part(without_sizes(case), [before for before, _ in terms], least),
    ]
    # what is made small is then (1 − ρ) times the size of V and the floor c/(1 − ρ)
    much = 1 - rho if any(map(_size, case.relations)) else Fraction(1)
    if (found := proved(parts, of, much)) is None:
        return None
    weights, (of_decrease, of_above) = found
    named = zip(names(case), weights, strict=True)
    return rho, {name: w for name, w in named if w}, of_decrease, of_above


@dataclass(frozen=True)
class Part:
    """A round in which Σ_k w_k q_k ≥ m is wanted, with weights w that all parts share.

    Linked ones have ⟨v_i, v_j⟩ = ⟨u_i, w_j⟩, u of the part before, w of the next: (u + tw)².
    """

    case: WorstCase
    quantities: Sequence[GramForm]
    measured: GramForm = field(default_factory=GramForm)
    linked: bool = False


def proved(
    parts: Sequence[Part],
    of: FunctionClass,
    much: Fraction,
    rooms: Sequence[Fraction] = (1 + SHARP,),
) -> tuple[list[Fraction], list[dict[int, fmpq]]] | None:
    """Return weights, and the multipliers that prove each part; None: none were proved.

    The parts are runs in one worst case, every second one in a space that is orthogonal to the
    first; with functions of two variables x is in one space and y in the other. Nothing that is
    asked or known has a product of vectors of several parts, unless they are linked.

    Its value is ``much`` times how large V has to be, and V may be as many times as large as the
    first of ``rooms`` with a proof: the C of V ≤ C‖x‖² where all points are x, and F has curvature
    L everywhere, or μ everywhere.
    """
    first, count, sized = parts[0].case, len(parts), names(parts[0].case)
    size, values, saddle = len(first.vectors), len(first.values), any(first.second)
    movers = [_mover(k * size, k * values, None if saddle else k % 2 == 1) for k in range(count)]
    every = list(zip(parts, movers, strict=True))
    relations = [moved(r) for part, moved in every for r in part.case.relations]
    basis = [Vector.basis(j) for j in range(size)]
    for k, (part, moved) in enumerate(every):
        for u, v in product(basis, basis) if part.linked else ():
            apart = movers[k - 1](u) * movers[k + 1](v) - moved(u) * moved(v)
            relations.append(Constraint("link", apart, equality=True))
    conditions = len(first.constraints) - len(first.relations)
    end = conditions * count + len(relations)
    curvatures = [of.parameters.get("L", Fraction(1)), of.parameters.get("mu", Fraction(0))]
    shares = [GramForm.value(count * values + k) for k in (0, 1)]
    for k in range(len(parts[0].quantities)):
        equation = sum((moved(part.quantities[k]) for part, moved in every), GramForm())
        for share, curvature in zip(shares, curvatures, strict=True) if k < len(sized) else ():
            equation = equation - share * _at_rest(sized[k], curvature)
        relations.append(Constraint("weight", equation, equality=True))
    relations += [Constraint("share", share * -1) for share in shares]
    program = replace(
        first,
        vectors=first.vectors * count,
        values=(*first.values * count, "share of L", "share of mu"),
        classes=first.classes * count,
        triples=tuple(tuple(map(moved, own)) for part, moved in every for own in part.case.triples),
        relations=(*relations, Constraint("size", shares[0] + shares[1], much)),
        objective=sum((moved(part.measured) for part, moved in every), GramForm()),
        second=first.second * count
        if saddle
        else tuple(k // size % 2 == 1 for k in range(count * size)),
        parts={},
    )
    try:
        solved = solve(program)
    except DriftproofError:  # there is none, or it is too large for doubles
        return None
    used: dict[int, fmpq] = {}
    for room in rooms:
        with suppress(DriftproofError):
            used = certify(program, solved, at_most=Fraction(solved.value) * room).multipliers
            break
    else:
        return None
    multipliers, place = [], conditions * count
    for k, part in enumerate(parts):
        here = place + len(part.case.relations)
        own = [*range(k * conditions, (k + 1) * conditions), *range(place, here)]
        multipliers.append({j: used[number] for j, number in enumerate(own) if number in used})
        place = here
    weights = [used.get(end + k, fmpq(0)) for k in range(len(parts[0].quantities))]
    return list(map(fraction, weights)), multipliers


def _mover(size: int, count: int, second: bool | None) -> Callable[[Any], Any]:
    """Return what moves things by some places, to the second space or not (None: as they are)."""

    def number(j: int) -> int:
        apart = isinstance(j, Second) if second is None else second
        return Second(j + size) if apart else int(j) + size

    def moved(of: Any) -> Any:
        if isinstance(of, Vector):
            return Vector({number(j): c for j, c in of.coefficients.items()})
        if isinstance(of, GramForm):
            gram = {(number(j), number(k)): q for (j, k), q in of.gram.items()}
            return GramForm(gram, {j + count: a for j, a in of.values.items()}, of.constant)
        if isinstance(of, Constraint):
            return replace(of, quantity=moved(of.quantity))
        parts = {name: moved(getattr(of, name)) for name in ("point", "gradient", "value")}
        return replace(of, **parts)

    return moved


def _part_of(whole: Any, like: Any) -> Any:
    """Return the part of vectors (x, y) that is in the space of one of x, or of y, alone."""
    spaces = {isinstance(j, Second) for v in like.entries.flat for j in v.coefficients}
    if len(spaces) != 1:
        return whole
    return GramVector(part_of(whole.entries, second=spaces == {True}))


def _differs(of: Any) -> bool:
    """Tell whether clients have different vectors in a field of the state."""
    entries = entries_of(of)
    return any(entries[0, 0, 0] != other for other in entries[:, 0, 0])


def names(case: WorstCase) -> list[str]:
    """Return the names of V's terms; a vector of x and one of y have no product."""
    every = [name.removeprefix("before ") for name in case.parts if name.startswith("before ")]
    nothing = GramForm()
    return [
        name
        for name in every
        if any(case.parts[f"{when} {name}"] != nothing for when in ("before", "after"))
    ]


def _at_rest(name: str, curvature: Fraction) -> Fraction:
    """Return a term of V where all points are one unit vector, and F = curvature/2·‖·‖²."""
    if name.startswith("(F"):
        return curvature / 2
    return curvature ** (name.count("∇") * (2 if name.startswith("‖") else 1))


def summed(parts: Mapping[str, GramForm], when: str, weights: Mapping[str, Fraction]) -> Any:
    """Return V before the round, or after it."""
    return sum((parts[f"{when} {name}"] * c for name, c in weights.items()), GramForm())
