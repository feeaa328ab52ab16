"""Certificates to test with: runs with known worst cases, an independent reader, and edits.

``read`` makes the program of a file by another route than the checkers; ``edits`` changes a part of
what a file means, by a grammar and not byte by byte.
"""

from __future__ import annotations

import copy
import json
import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from math import inf
from typing import Any

import numpy as np
from sympy import Rational, sympify

from driftproof.synthetic.classes.conditions import Constraint, FunctionClass, Triple
from driftproof.synthetic.classes.functions import (
    bounded_gradients,
    cocoercive,
    monotone_lipschitz,
    smooth,
    smooth_convex,
    smooth_strongly_convex,
    strongly_convex_concave,
)
from driftproof.synthetic.classes.inequalities import condition
from driftproof.synthetic.classes.relations import (
    shared_minimiser,
    similar,
    start_anywhere,
    start_gap,
    start_within,
)
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.algorithms.fedavg_s import FedAvgS
from driftproof.toolkit.algorithms.scaffold import Scaffold
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.gram.exact import GramForm, Second, Vector
from driftproof.toolkit.measure import each, sq
from driftproof.toolkit.ratios import Ratio
from driftproof.verifiers.papers.localsgd.claims._saddles import distance_at_end
from driftproof.verifiers.papers.localsgd.claims.scaffold import lyapunov as of_scaffold
from driftproof.verifiers.worst_case import check, check_counterexample
from driftproof.verifiers.worst_case.builder import build
from driftproof.verifiers.worst_case.certificate import certify
from driftproof.verifiers.worst_case.counterexample import simple
from driftproof.verifiers.worst_case.digest import sealed
from driftproof.verifiers.worst_case.exact import fraction
from driftproof.verifiers.worst_case.program import Solved, matrices
from driftproof.verifiers.worst_case.scaling import units
from driftproof.verifiers.worst_case.sdp import WorstCase
from driftproof.verifiers.worst_case.signs import Region
from driftproof.verifiers.worst_case.solve import UnboundedError, UnsolvedError, solve
from driftproof.verifiers.worst_case.witness import witness
from driftproof.verifiers.worst_case.written import Right, certificate, counterexample

UNREADABLE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    SyntaxError,
    TypeError,
    ValueError,
)
"""What a checker raises of a file that is no certificate."""


def distance(view):
    return each("round", "local_step", sq(view.mean("w") - view.minimiser))


def gap(view):
    return each("round", "local_step", view.gap(view.mean("w")))


def gradient(view):
    return each("round", "local_step", sq(view.gradient(view.mean("w"))))


NEAR = start_within(1)
LOCAL = FedAvg(local_steps=2, step_size=0.1)
RUNS = {
    "convex": (FedAvg(step_size=1.0), [smooth_convex(1), NEAR], 1, gap, 1),
    "convex, three steps": (FedAvg(step_size=1.0), [smooth_convex(1), NEAR], 3, gap, 1),
    "convex, another scale": (
        FedAvg(step_size=0.001), [smooth_convex(1000), start_within(30)], 1, gap, 1
    ),
    "strongly convex": (
        FedAvg(step_size=1.5), [smooth_strongly_convex(1, 0.1), NEAR], 1, distance, 1
    ),
    "strongly convex, L = 4": (
        FedAvg(step_size=0.25), [smooth_strongly_convex(4, 1), NEAR], 1, distance, 1
    ),
    "nonconvex": (FedAvg(step_size=0.5), [smooth(1), start_gap(1)], 2, gradient, 1),
    "local steps": (
        LOCAL, [smooth_strongly_convex(1, 0.1), similar(1), NEAR], 1, distance, 2
    ),
    "operator": (FedAvg(step_size=0.1), [monotone_lipschitz(1, 0.1), NEAR], 1, distance, 1),
    "operator, L = 2": (FedAvg(step_size=0.1), [monotone_lipschitz(2, 0.5), NEAR], 1, distance, 1),
    "fixed point": (FedAvg(step_size=0.75), [cocoercive(2), NEAR], 3, gradient, 1),
    "contraction": (
        FedAvg(step_size=0.5), [cocoercive(2, 0.5), start_within(2)], 1, distance, 1
    ),
    "values of two clients": (
        FedAvg(step_size=1.0), [smooth_convex(1), similar(1), NEAR], 1, gap, 2
    ),
    "bounded gradients": (
        LOCAL, [bounded_gradients(smooth_convex(1), 0.25), NEAR], 1, gap, 1
    ),
    "two variables": (
        FedAvgS(local_steps=2, inner_step_size=0.1, outer_step_size=0.1),
        [strongly_convex_concave(1, 0.1), shared_minimiser(), NEAR], 1, distance_at_end, 1,
    ),
    "any state": (
        Scaffold(local_steps=2, step_size=0.075),
        [smooth_strongly_convex(1, 0.1), start_anywhere(1, 0.0075)], 1, of_scaffold.left, 2,
    ),
}  # fmt: skip
KNOWN = {
    "convex": Fraction(1, 6),  # L R²/(4N + 2), Drori & Teboulle 2014
    "convex, three steps": Fraction(1, 14),
    "convex, another scale": Fraction(1000 * 30**2, 6),
    "strongly convex": Fraction(85, 100) ** 2,  # max(|1 − ημ|, |1 − ηL|)²
    "strongly convex, L = 4": Fraction(3, 4) ** 2,
    "fixed point": Fraction(9, 16),  # Lieder 2018, of T = I − A: 1/(n + 1)·(n/(n + 1))^n/(γ(1 − γ))
    "contraction": 4 * Fraction(3, 4) ** 2,  # (1 − ημ)² R²
    "values of two clients": Fraction(1, 6),  # one step of the mean is gradient descent's
    "two variables": Fraction(99, 100) ** 2,
    "operator": 1 - 2 * Fraction(1, 100) + Fraction(1, 100),  # 1 − 2ημ + η²L²
    "operator, L = 2": 1 - 2 * Fraction(5, 100) + Fraction(4, 100),
}


def last(name: str) -> WorstCase:
    """Return the program of the run's last comparison."""
    algorithm, classes, rounds, left, clients = RUNS[name]
    return build(algorithm, classes, rounds=rounds, left=left, clients=clients)[-1]


@dataclass(frozen=True)
class Made:
    """A worst case, what the solver says of it, what is proved of it, and the file."""

    case: WorstCase
    solved: Solved
    bound: Fraction
    text: str


def proved(case: WorstCase, solved: Solved | None = None, right: Right | None = None) -> Made:
    """Return a certificate of a right side, or of the smallest bound that can be proved."""
    solved = solved or solve(case)
    proof = certify(case, solved, at_most=right and right.low)
    text = certificate(case, right or Right(str(proof.bound)), proof.multipliers)
    return Made(case, solved, proof.bound, text)


@cache
def made(name: str) -> Made:
    """Return a run's certificate, made once."""
    return proved(last(name))


def read(text: str) -> tuple[WorstCase, Fraction]:
    """Return the program that a certificate speaks of, and its right side: without the checker."""
    file = json.loads(text)
    names, second = file["vectors"], []
    if isinstance(names, dict):
        second = [name for place, part in enumerate(names.values()) if place for name in part]
        names = [name for part in names.values() for name in part]

    def vector(written):
        numbers = {n: (Second if n in second else int)(names.index(n)) for n in written}
        return Vector({numbers[n]: Fraction(c) for n, c in written.items()})

    def quantity(written):
        total = GramForm(
            {}, {file["values"].index(n): Fraction(c) for n, c in written["values"].items()}
        )
        for c, u, v in written["products"]:
            total = total + vector(u) * vector(v) * Fraction(c)
        return total

    classes, triples = [], []
    for number, function in enumerate(file["functions"].values()):
        conditions, parameters = [], {}
        for kind, written in function["classes"].items():
            constants = {c: Fraction(x) for c, x in written.items()}
            conditions.append(condition(kind, **constants))
            parameters |= constants
        classes.append(FunctionClass("read", parameters, tuple(conditions)))
        triples.append(
            tuple(
                Triple(
                    number,
                    vector(t["x"]),
                    vector(t["g"]),
                    quantity({"products": [], "values": t["f"]}),
                    at,
                )
                for at, t in function["points"].items()
            )
        )
    relations = tuple(
        Constraint(
            name,
            quantity(written),
            Fraction(written.get("at_most", written.get("equals"))),
            "equals" in written,
        )
        for name, written in file["assumptions"].items()
    )
    ending = file["conclusion"]
    case = WorstCase(
        tuple(names),
        tuple(file["values"]),
        tuple(classes),
        tuple(triples),
        relations,
        quantity(ending) + Fraction(ending["constant"]),
        {},
        second=tuple(n in second for n in names),
    )
    letters = {name: Rational(value) for name, value in ending["letters"].items()}
    right = sympify(ending["right"], locals=letters)
    return case, Fraction(str(Rational(right) if right.is_Rational else right.evalf(40)))


def solved_by_scs(case: WorstCase) -> Solved:
    """Return what another solver says, to some six digits."""
    import cvxpy as cp

    own = matrices(case)
    chosen = units(own)
    program = chosen.scaled(own)
    size, count = program.gram.shape[1], program.values.shape[1]
    gram, values = cp.Variable((size, size), PSD=True), cp.Variable(count)
    parts = zip(program.gram.dense, program.values, program.bounds, program.equal, strict=True)
    sides = [(cp.trace(q @ gram) + a @ values, b, equal) for q, a, b, equal in parts]
    conditions = [left == b if equal else left <= b for left, b, equal in sides]
    objective = cp.trace(program.objective[0] @ gram) + program.objective[1] @ values
    problem = cp.Problem(cp.Maximize(objective), conditions)
    with warnings.catch_warnings(action="ignore"):  # it says that it may be inaccurate
        problem.solve(solver=cp.SCS, eps=1e-8, max_iters=100_000)
    multipliers = np.array([float(of.dual_value) for of in conditions])
    found = chosen.from_these(
        Solved(problem.value, gram.value, values.value, multipliers, problem.status, 0.0)
    )
    return replace(found, value=found.value + float(case.objective.constant))


@dataclass(frozen=True)
class Accepted:
    """A file that a checker accepts.

    Attributes:
        refutes: whether it is a counterexample.
        side: the right side of a certificate; the left side of a counterexample's functions.
    """

    text: str
    refutes: bool
    side: Fraction

    def differs_from(self, file: dict[str, Any]) -> bool:
        """Tell whether it states something else than another file."""
        here = json.loads(self.text)
        stated = ("vectors", "values", "functions", "assumptions", "conclusion")
        return any(here[key] != file[key] for key in stated)


def accepted(file: dict[str, Any]) -> Accepted | None:
    """Return a file, its digest made again, if a checker accepts it."""
    text = sealed({key: value for key, value in file.items() if key != "digest"})
    refutes = file["schema"] == check_counterexample.COUNTEREXAMPLE
    try:
        constant = Fraction(file["conclusion"]["constant"])
        if refutes:
            side = fraction(check_counterexample.functions_of(text).left) + constant
        else:
            side = fraction(check.check(text).conclusion.right) + constant
    except (check.RefusedCertificateError, *UNREADABLE):
        return None
    return Accepted(text, refutes, side)


def worst(text: str) -> float | None:
    """Return the worst case of what a file speaks of, by a solver and another reader.

    None: the solver gave up.
    """
    try:
        return solve(read(text)[0]).value
    except UnboundedError:
        return inf
    except UnsolvedError:
        return None
    except DriftproofError as error:
        if "PrimalInfeasible" not in error.got:
            raise
        return -inf  # nothing meets the conditions: all follows, and there is no counterexample


def room(side: Fraction) -> float:
    """Return how exactly a solver knows a worst case."""
    return 1e-6 * max(1.0, abs(float(side)))


def true(of: Accepted) -> bool | None:
    """Tell whether what a file shows is so; None if the solver gave up."""
    value = worst(of.text)
    if value is None:
        return None
    if of.refutes:
        return value >= of.side - room(of.side)
    return value <= of.side + room(of.side)


@cache
def counterexamples() -> list[str]:
    """Return counterexamples of bounds that are too small by a tenth, of one run each."""
    texts = []
    for name in ("convex", "nonconvex", "local steps", "operator", "fixed point", "two variables"):
        of = made(name)
        right = Right(str(Fraction(of.solved.value).limit_denominator(1000) * Fraction(9, 10)))
        found = simple(of.case, of.solved, right.high) or witness(of.case, of.solved, digits=False)
        assert found is not None
        texts.append(counterexample(of.case, right, found))
    return texts


def edits(file: dict[str, Any], choose: random.Random) -> Iterator[dict[str, Any]]:
    """Yield copies of a file of which one to three parts were changed, without end."""
    grammar = GRAMMAR + (_letters,) * (4 if "region" in file else 0)
    while True:
        changed = copy.deepcopy(file)
        try:
            for _ in range(choose.choice((1, 1, 1, 2, 3))):
                choose.choice(grammar)(changed, choose)
        except (IndexError, ValueError):  # nothing is left to choose from, or letters are free
            continue
        yield changed


def _places(part: Any, of: Callable[[Any], bool]) -> list[tuple[Any, Any]]:
    """Return (holder, key) of all that is ``of`` in a file."""
    found = []
    for key, value in part.items() if isinstance(part, dict) else enumerate(part):
        if of(value):
            found.append((part, key))
        if isinstance(value, dict | list):
            found += _places(value, of)
    return found


def expressions(file: Any) -> list[tuple[Any, Any]]:
    """Return (holder, key) of all numbers of a statement, of free letters too, and multipliers."""
    stated = [file["functions"], file["assumptions"], file["conclusion"]]
    used = [(of, 0) for of in file.get("multipliers", [])]
    return _places(stated, lambda value: isinstance(value, str)) + used


def at_point(file: dict[str, Any], point: dict[str, Fraction]) -> dict[str, Any]:
    """Return a certificate of a region as one with numbers for the letters."""
    made = copy.deepcopy(file)
    region, right = Region(made.pop("region")), made["conclusion"].pop("right")
    for holder, key in expressions(made):
        value = region.number(holder[key])
        holder[key] = str(value.at(point) if isinstance(value, Ratio) else value)
    made["conclusion"]["right"] = right
    made["conclusion"]["letters"] |= {name: str(of) for name, of in point.items()}
    return made | {"schema": check.SCHEMA}


def _is_number(value: Any) -> bool:
    return isinstance(value, str) and value.lstrip("-").replace("/", "", 1).isdigit()


def _number(file: Any, choose: random.Random) -> None:
    """Another number: one in the last place, a sign, a factor, 0, or one from elsewhere."""
    places = _places(file, _is_number)
    holder, key = choose.choice(places)
    value = Fraction(holder[key])
    unit = Fraction(1, value.denominator)
    holder[key] = str(
        choose.choice(
            [
                value + unit,
                value - unit,
                -value,
                value * 2,
                value / 2,
                Fraction(0),
                value * Fraction(10**9 - 1, 10**9),
                value * Fraction(10**9 + 1, 10**9),
                Fraction((at := choose.choice(places))[0][at[1]]),
            ]
        )
    )


def _combination(file: Any, choose: random.Random) -> None:
    """A vector of a combination becomes another, is left out, or joins it."""
    sums = [holder[key] for holder, key in _places(file["functions"], _is_sum)]
    sums += [
        part
        for of in [file["conclusion"], *file["assumptions"].values()]
        for product in of["products"]
        for part in product[1:]
    ]
    of, names = choose.choice(sums), choose.choice(list(_spaces(file).values()))
    if of and choose.random() < 0.7:
        times = of.pop(choose.choice(list(of)))
        if choose.random() < 0.6:
            of[choose.choice(names)] = times
    else:
        of[choose.choice(names)] = choose.choice(["1", "-1", "1/2"])


def _is_sum(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_number(of) for of in value.values())


def _spaces(file: Any) -> dict[str, list[str]]:
    vectors = file["vectors"]
    return vectors if isinstance(vectors, dict) else {"x": vectors}


def _names(file: Any, choose: random.Random) -> None:
    """A name twice, a name gone, a new space, or another's name."""
    spaces = _spaces(file)
    names = choose.choice([*spaces.values(), file["values"] or ["f"]])
    way = choose.randrange(4)
    if way == 0:
        names.append(choose.choice([n for of in spaces.values() for n in of]))
    elif way == 1 and names:
        names.remove(choose.choice(names))
    elif way == 2:
        # the reader knows two spaces
        letter = choose.choice(["", "y", "x", "X"] if len(spaces) == 1 else ["", *spaces])
        file["vectors"] = {**spaces, letter: [choose.choice(next(iter(spaces.values())))]}
    elif names:
        names[0] = choose.choice([names[0].upper(), names[0] + " ", "х_0", "", names[-1]])


def _function(file: Any, choose: random.Random) -> None:
    """Another class, a point gone, or a point with what belongs to another."""
    functions = file["functions"]
    of = functions[choose.choice(list(functions))]
    way = choose.randrange(4)
    if way == 0:
        kinds = [
            ("smooth", "L"),
            ("smooth-convex", "L"),
            ("smooth-strongly-convex", "L mu"),
            ("lipschitz", "L"),
            ("cocoercive", "L mu"),
            ("strongly-monotone", "mu"),
            ("strongly-convex", "mu"),
            ("bounded-gradients", "G"),
        ]
        kind, letters = choose.choice(kinds)
        known = next(iter(of["classes"].values()), {})
        of["classes"] = {kind: {c: known.get(c, "1/3") for c in letters.split()}}
    elif way == 1 and of["points"]:
        del of["points"][choose.choice(list(of["points"]))]
    elif of["points"]:
        here, there = (of["points"][choose.choice(list(of["points"]))] for _ in range(2))
        part = choose.choice("xgf")
        here[part] = copy.deepcopy(there[part])
        if way == 3:
            here["g"], here["x"] = here["x"], here["g"]


def _assumption(file: Any, choose: random.Random) -> None:
    """An assumption gone, the other way round, an equality, or taken for the conclusion."""
    if not file["assumptions"]:
        return
    name = choose.choice(list(file["assumptions"]))
    of, way = file["assumptions"][name], choose.randrange(4)
    if way == 0:
        del file["assumptions"][name]
    elif way == 1:
        of["equals"] = of.pop("at_most", "0")
    elif way == 2:
        of["products"] = [[str(-Fraction(c)), u, v] for c, u, v in of["products"]]
    else:
        file["conclusion"]["products"] = copy.deepcopy(of["products"])


def _conclusion(file: Any, choose: random.Random) -> None:
    """Another right side, or another left side."""
    of = file["conclusion"]
    way = choose.randrange(4)
    if way == 0:
        ways = [
            "({})*(1 - 1/10**9)",
            "({})**2",
            "sqrt({})",
            "-({})",
            "({})/2",
            "({}) + 1",
            "Min({}, 1/10)",
        ]
        of["right"] = choose.choice(ways).format(of["right"])
    elif way == 1:
        of["constant"] = choose.choice(["1/10", "-1/10", "1"])
    elif way == 2 and file["values"]:
        of["values"] = {choose.choice(file["values"]): choose.choice(["1", "-1"])}
    else:
        of["products"] = of["products"] * 2


def _multiplier(file: Any, choose: random.Random) -> None:
    """A multiplier gone, twice, below 0, or of another condition."""
    used = file.get("multipliers")
    if not used:
        return
    place, way = choose.randrange(len(used)), choose.randrange(5)
    if way == 0:
        del used[place]
    elif way == 1:
        used.append(list(used[place]))
    elif way == 2:
        used[place][0] = str(-Fraction(used[place][0]))
    elif len(used[place]) > 3:
        points = list(next(iter(file["functions"].values()))["points"])
        used[place][choose.randrange(3, len(used[place]))] = choose.choice(points or ["x*"])
        if way == 4:
            used[place][3:] = used[place][:2:-1]
    else:
        used[place][1:] = choose.choice(used)[1:]


def _coordinates(file: Any, choose: random.Random) -> None:
    """A vector of a counterexample with another's coordinates, or without its last."""
    where = file.get("coordinates")
    if not where:
        return
    name = choose.choice(list(where))
    where[name] = choose.choice([where[choose.choice(list(where))], where[name][:-1]])


def _letters(file: Any, choose: random.Random) -> None:
    """An end of a region, its right side, or another expression of letters, is a little other."""
    ends = [(row, k) for row in file["region"] for k in range(0, len(row), 4)]
    places = choose.choice([ends, [(file["conclusion"], "right")], expressions(file)])
    holder, key = choose.choice(places)
    ways = ["({})*99/100", "({})*101/100", "({}) + 1/100", "({}) - 1/100", "2*({})", "-({})"]
    holder[key] = choose.choice(ways).format(holder[key])


GRAMMAR = (
    _number,
    _number,
    _combination,
    _names,
    _function,
    _assumption,
    _conclusion,
    _multiplier,
    _coordinates,
)
