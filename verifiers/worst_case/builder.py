"""Builds the semidefinite program of a worst case from one symbolic run of an algorithm."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from driftproof.synthetic.classes.conditions import FunctionClass
from driftproof.synthetic.classes.function_class import FunctionClassProblem
from driftproof.synthetic.classes.relations import Relation, any_state, counted
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.engines.symbolic import SymbolicRun, keep, run_symbolically
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.gram.tensor import sizes
from driftproof.toolkit.measure import Reduction, Steps, each, sq
from driftproof.verifiers.worst_case.sdp import WorstCase

OTHER_SIZES = (1000, 300, 1e6), (2, 1, 1e-6), (1, 0, 1.0)
"""Dimensions, of the whole and of x in (x, y), for which the program has to be the same; and sizes
of vectors, for which its replay has. A pair (x, y) has no dimension of 1."""
ALIKE: dict[Any, None] = {}
"""The texts of which that was seen."""


def build(
    algorithm: Algorithm,
    classes: Sequence[FunctionClass | Relation] | FunctionClassProblem,
    *,
    rounds: int,
    left: Callable[[Any], Any],
    clients: int = 2,
    ours: bool = False,
    any_dimension: bool = False,
) -> list[WorstCase]:
    """Return the program of every comparison that a measure makes, of one run.

    Args:
        classes: one class of functions, and what relates clients and the start.
        left: the measure, as a claim has it.
        ours: whether the measure may know that x* is put at the origin.
        any_dimension: whether it is known to have no dimension in it, as what is ours; a text of
            which that is known as well is then not run again.

    Raises:
        NotLinearError: the algorithm or the measure leaves what can be followed; it names the line.
        DriftproofError: the measure says nothing at any moment, or not with this class; it or the
            algorithm depends on the dimension.
    """
    whole = classes
    if not isinstance(whole, FunctionClassProblem):
        whole = FunctionClassProblem(conditions=tuple(whole), clients=clients)
    programs, texts = _built(whole, algorithm, rounds, left, ours)
    if (ours or any_dimension) and texts and texts[0] in ALIKE:
        return programs
    again = []
    for size in OTHER_SIZES[: 2 if whole.function_class.saddle else 3]:
        with sizes(*size):
            again.append(_built(whole, algorithm, rounds, left, ours)[0])
    if any(other != programs for other in again):
        raise DriftproofError(
            "a measure, or an algorithm, with the dimension or a shape in it",
            "the same steps in every dimension, since a class has functions in all of them",
            "leave dim, shape and len out, or judge it on cases",
        )
    keep(ALIKE, texts if whole.of_all_rounds else [])
    return programs


def fields_of_iterate(algorithm: Algorithm, of: FunctionClass) -> tuple[str, ...]:
    """Return the fields that are the iterate: x and y, of a method that holds them apart."""
    apart = of.saddle and algorithm.needs != "field"
    return ("x", "y") if apart else (algorithm.iterate,)


def name_of_iterate(algorithm: Algorithm, of: FunctionClass) -> str:
    """Return what the iterate is called: w, or (x, y)."""
    parts = fields_of_iterate(algorithm, of)
    return f"({', '.join(parts)})" if len(parts) > 1 else parts[0]


def iterate_of(algorithm: Algorithm, problem: Any, field: Callable[[str], Any]) -> Any:
    """Return the iterate, [dim, replicates], made of fields of a state; (x, y) of two."""
    parts = tuple(map(field, fields_of_iterate(algorithm, problem.function_class)))
    return torch.cat(parts) if len(parts) > 1 else parts[0]


def round_from_any_state(
    algorithm: Algorithm, conditions: Sequence[Any], clients: int, *, ours: bool = False
) -> SymbolicRun:
    """Return a round from any state that a round can begin with, and how far it goes."""

    def left(view: Steps) -> Reduction | None:
        moved = sq(view.mean(algorithm.iterate) - view.round_start(algorithm.iterate))
        return each("round", "local_step", moved) if view.last else None

    begin = () if counted() in conditions else (any_state(),)
    whole = FunctionClassProblem(conditions=(*conditions, *begin), clients=clients)
    return run_symbolically(whole, algorithm, rounds=1, left=left, ours=ours)


def _built(
    whole: FunctionClassProblem,
    algorithm: Algorithm,
    rounds: int,
    left: Callable[[Any], Any],
    ours: bool,
) -> tuple[list[WorstCase], Sequence[Any]]:
    """Return the programs, and the texts of their run."""
    made = run_symbolically(whole, algorithm, rounds=rounds, left=left, ours=ours)
    if not made.measures:
        raise DriftproofError(
            "left(view) gave no value at any moment",
            "a value at one moment at least",
            'return each("round", "local_step", …) where view.last, say',
        )
    asked = made.problem.asked
    if not asked.vectors:
        raise DriftproofError(
            "a run that begins at x* with every ∇f_i(x*) = 0: it does not move",
            "something that is not known: a start, or a gradient",
            "leave out start_at_minimiser(), or shared_minimiser()",
        )
    relations = tuple(made.problem.constraints())
    programs = [
        WorstCase(
            vectors=tuple(asked.vectors),
            values=tuple(asked.values),
            classes=asked.classes,
            triples=tuple(map(tuple, asked.triples)),
            relations=relations,
            objective=objective,
            about={
                "algorithm": {"name": algorithm.leaf_name, **algorithm.values()},
                "rounds": rounds,
                "clients": whole.clients,
                "conditions": [str(part) for part in whole.conditions],
                "moment": where,
            },
            loose=made.problem.loose,
            beyond_points=made.problem.beyond_points,
            lacking=made.problem.lacking,
            second=tuple(asked.second),
            own=tuple(asked.own),
            parts=parts,
            inexact=made.inexact,
            lines=() if whole.recurs else tuple(asked.searched.values()),
            replay=made.replay,
        )
        for where, objective, parts in made.measures
    ]
    return programs, made.texts
