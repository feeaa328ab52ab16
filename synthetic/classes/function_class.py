"""A whole class of functions as a problem, on which an algorithm is run once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.classes.conditions import Constraint, FunctionClass
from driftproof.synthetic.classes.interpolation import InterpolationProblem, points_of
from driftproof.synthetic.classes.levels import ROLES as ROLES_OF_LEVEL
from driftproof.synthetic.classes.levels import Level, OneLevel, level_of
from driftproof.synthetic.classes.oracles import CompositionOfClass, FieldOfClass, SaddleOfClass
from driftproof.synthetic.classes.relations import (
    OF_CLIENTS,
    OF_MINIMISERS,
    OF_PLAIN,
    Relation,
    any_state,
    bounded_below,
)
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.cases import Case, cases_of
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.gram.exact import GramForm
from driftproof.toolkit.gram.tensor import SIZES, GramForms, GramVector, entries_of
from driftproof.toolkit.parameters import PositiveInt
from driftproof.toolkit.problem import Problem, Solution
from driftproof.toolkit.ratios import Ratio

ROLES = {
    "L": ("objective_smoothness", "field_smoothness"),
    "mu": ("strong_convexity",),
    "G": ("field_gradient_bound",),
    "G_f": ("inner_gradient_bound",),
    "G_g": ("outer_gradient_bound",),
    "zeta": ("gradient_dissimilarity",),
    "Gamma": ("minima_gap",),
    "D": ("diameter",),
    "R": ("initial_distance",),
    "delta": ("initial_gap",),
    "norm": ("initial_gradient",),
    "a": ("control_weight",),
}
"""The roles of the parameters of classes and relations."""
OF_SADDLES = {"R": "initial_distance_of_both", "zeta": "field_dissimilarity"}
OF_SADDLES["mu"] = "field_monotonicity"
"""What they are besides where the functions have two variables, x* being (x*, y*)."""
Conditions: TypeAlias = Sequence[FunctionClass | Relation]
"""One class of functions, and what relates clients and the start."""

MOST_STEPS = 1000
"""Local steps at most of a run over a class; far more than have been solved."""
OFF_LINE = "that a line search ends on its line is used in products with its last gradient alone"
"""Why a worst case may be too large where an algorithm searches along lines."""


@dataclass(frozen=True, kw_only=True)
class FunctionClassProblem(Problem):
    """Every federation whose clients' functions are of a class, in every dimension.

    A run of it is symbolic (``toolkit.engines.symbolic``); ``asked`` then holds what the run asked
    for. It is made afresh for each run (``fresh``).

    Args:
        conditions: one class of functions, and what relates clients and the start.
        clients: n.
        line_steps: of each line search the multiples of its directions (): they are unknown.
    """

    conditions: tuple[FunctionClass | Relation, ...] = ()
    clients: PositiveInt = 2
    line_steps: tuple[tuple[Fraction, ...], ...] = ()

    notation = {
        "L": "objective_smoothness",
        "mu": "strong_convexity",
        "zeta": "gradient_dissimilarity",
        "R": "initial_distance",
        "D": "diameter",
        "a": "control_weight",
        "n": "clients",
    }
    leaf_name = "class"

    def validate(self) -> None:
        """Refuse conditions that do not make one class."""
        parts = [part for part in self.conditions if isinstance(part, FunctionClass)]
        classes = [part for part in parts if not part.term]
        odd = [p for p in self.conditions if not isinstance(p, FunctionClass | Relation)]
        kinds = [part.kind for part in self.conditions if isinstance(part, Relation)]
        if len(classes) != 1 or len(parts) > 2 or odd or len(set(kinds)) < len(kinds):
            raise DriftproofError(
                f"classes = [{', '.join(map(str, self.conditions))}]",
                "one class of functions, and relations of clients and the start, each once",
                "write [smooth_strongly_convex(L=1, mu=0.1), similar(zeta=1), start_within(R=1)]",
            )
        of = classes[0]
        terms = [part for part in parts if part.term]
        valued = [any(part.conditions[0].values) for part in parts if not part.normals]
        if terms and (not of.solvable or of.saddle or len(set(valued)) > 1):
            raise DriftproofError(
                f"{terms[0]} beside {of}",
                "functions and a term, both convex, or two operators",
                "write [smooth_convex(L), plus(convex())], or [cocoercive(L), plus(monotone())]",
            )
        own = [kind for kind in kinds if kind in OF_PLAIN]
        plain = any(of.conditions[0].values) and not of.saddle and not of.composed
        if own and (not plain or len(parts) > 1 or "recurs" in kinds):
            raise DriftproofError(
                f"{own[0]} beside {', '.join(map(str, self.conditions))}",
                "clients' functions of one variable, without a term and without recurs()",
                f"write [smooth_strongly_convex(L=1, mu=0.5), {own[0].replace('-', '_')}(…), …]",
            )
        apart = "start-apart" in kinds
        unmet: tuple[str, ...] = OF_MINIMISERS if apart or not of.solvable else ()
        # a state that nothing bounds speaks of no x*; V needs that F is bounded below
        anywhere = not apart and "L" in of.parameters and any_state() in self.conditions
        unmet = tuple(kind for kind in unmet if kind != "start-anywhere" or not anywhere)
        lost = [kind for kind in kinds if kind in unmet or (apart and kind == "start-gap")]
        if lost:
            raise DriftproofError(
                f"{lost[0]} of {of}, functions that may have no minimiser x*",
                "a convex class, or conditions that do not speak of x*",
                "write smooth_convex(L), or start_gap(delta) alone",
            )
        if "start-gap" in kinds and "L" not in of.parameters:
            raise DriftproofError(
                f"start_gap(…) of {of}, of which nothing says how far they fall below F(x_0)",
                "functions with an L-Lipschitz gradient",
                "write smooth(L), or leave start_gap out",
            )

    @property
    def dim(self) -> int:  # type: ignore[override] # it is asked for once for each run
        """The stand-in for the dimension."""
        return int(SIZES["dimension"])

    @property
    def upper_dim(self) -> int:
        """The stand-in for the dimension of x in (x, y)."""
        return int(SIZES["upper"])

    @property
    def function_class(self) -> FunctionClass:
        """The class of each client's function."""
        parts = (part for part in self.conditions if isinstance(part, FunctionClass))
        return next(part for part in parts if not part.term)

    @property
    def term(self) -> FunctionClass | None:
        """The class of the term that all clients share (None: there is none)."""
        parts = (part for part in self.conditions if isinstance(part, FunctionClass))
        return next((part for part in parts if part.term), None)

    @property
    def relations(self) -> tuple[Relation, ...]:
        """What relates clients and the start."""
        return tuple(part for part in self.conditions if isinstance(part, Relation))

    @property
    def constants(self) -> Mapping[str, float]:
        """The parameters of the class by role; of letters nothing."""
        numbers = self.exact_constants.items()
        return {role: float(of) for role, of in numbers if not isinstance(of, Ratio)}

    @property
    def exact_constants(self) -> Mapping[str, Fraction]:
        """The same as fractions; a class has no noise."""
        of_level = ROLES_OF_LEVEL[self.level] if self.level else {}
        more = OF_SADDLES if self.function_class.saddle else {}
        return {"field_gradient_noise": Fraction(0)} | {
            role: value
            for part in self.conditions
            for name, value in part.parameters.items()
            for role in (*ROLES.get(name, ()), more.get(name, ""), *of_level.get(name, ()))
            if role
        }

    @property
    def level(self) -> Level | None:
        """The level of a bilevel problem that the functions are (None: of none)."""
        return level_of([relation.kind for relation in self.relations])

    @property
    def offers(self) -> str:
        """Those of losses, a composition, a saddle point, or a bilevel problem's one level."""
        if self.function_class.composed:
            return "composition"
        if self.function_class.saddle:
            return "minimax"
        return "bilevel" if self.level else "class"

    @cached_property
    def asked(self) -> InterpolationProblem:
        """The unknown functions of this run."""
        kinds = {relation.kind for relation in self.relations}
        alike = "equal" in kinds
        number = 1 if alike else self.clients
        functions = [0 if alike else client for client in range(self.clients)]
        return InterpolationProblem(
            [self.function_class] * number,
            functions,
            term=self.term,
            shared="shared-minimiser" in kinds,
            at_minimiser="start-at-minimiser" in kinds,
            minima="minima-apart" in kinds,
            anywhere="start-anywhere" in kinds,
            apart="start-apart" in kinds,
            from_start=not self.function_class.solvable and not self.bounded_below,
            line_steps=self.line_steps,
        )

    @property
    def begins_anywhere(self) -> bool:
        """Whether a run begins at any state that a round can begin with."""
        return any(of.kind in ("start-anywhere", "start-apart") for of in self.relations)

    @property
    def of_all_rounds(self) -> bool:
        """Whether what is said of a run's rounds is said of every round."""
        return any(relation.kind == "start-anywhere" for relation in self.relations)

    @property
    def recurs(self) -> bool:
        """Whether the last state of a run is its first."""
        return any(relation.kind == "recurs" for relation in self.relations)

    @property
    def bounded_below(self) -> bool:
        """Whether inf F, without a minimiser, restricts the functions: Δ is measured from it.

        Else it is as low as one likes: a smooth function can be bent upwards far from all points.
        """
        kinds = {relation.kind for relation in self.relations}
        measured = "start-gap" in kinds or any_state() in self.conditions
        return not self.function_class.solvable and measured

    def fresh(self) -> FunctionClassProblem:
        """Return the same class with nothing asked yet."""
        return replace(self)

    def constraints(self) -> Iterator[Constraint]:
        """Yield what relates the unknowns of a run that was made."""
        names: set[str] = set()
        for relation in self.relations:
            for constraint in relation.constraints(self.asked):
                if constraint.name in names:  # a start may be bounded in several ways
                    name = f"{constraint.name}, {relation.kind}"
                    constraint = replace(constraint, name=name)
                names.add(constraint.name)
                yield constraint
        if self.bounded_below:
            yield from bounded_below(self.asked)
        yield from self.asked.least

    @property
    def loose(self) -> str:
        """Why a worst case over the conditions may be too large ("": it is exact)."""
        one = self.asked.functions == 1  # then every gradient is the mean
        reasons = [
            part.loose
            for part in self.conditions
            if part.loose and not (one and getattr(part, "kind", "") == "similar-everywhere")
        ]
        if self.bounded_below and self.asked.functions > 1:
            reasons.append(
                "no exact conditions are known for several functions with a mean that "
                "is bounded below"
            )
        if self.asked.searched and not self.line_steps:
            reasons.append(OFF_LINE)
        return "; ".join(reasons)

    @property
    def beyond_points(self) -> bool:
        """Whether a condition speaks of all points, and is met at a run's by much more.

        A bound on all gradients, and on how far clients differ everywhere, is such a one: few
        linear fields that meet it at the points of a run meet it at every point.
        """
        everywhere = any(relation.kind == "similar-everywhere" for relation in self.relations)
        several = self.asked.functions > 1
        return "G" in self.function_class.parameters or (everywhere and several)

    @property
    def lacking(self) -> str:
        """What nothing bounds, and what would ("": start and clients are bounded)."""
        kinds = [relation.kind for relation in self.relations]
        bounded = self.term is not None and self.term.normals  # the start lies in the set
        if not bounded and not any(kind.startswith("start-") for kind in kinds):
            return "nothing bounds the start: add start_within(R), or start_gap(delta)"
        if self.asked.functions > 1 and not any(k in (*OF_CLIENTS, "start-apart") for k in kinds):
            return "nothing relates the clients: add similar(zeta), equal() or shared_minimiser()"
        return ""

    def oracles(
        self, dtype: torch.dtype, device: str = "cpu", clients: range | None = None
    ) -> FieldOfClass | OneLevel | CompositionOfClass:
        """Return the oracles that note what they are asked."""
        weights = torch.full((self.clients, 1, 1), 1 / self.clients, dtype=torch.float64)
        if self.function_class.saddle:
            return SaddleOfClass(self.asked, weights)
        if self.function_class.composed:
            return CompositionOfClass(self.asked, weights)
        field = FieldOfClass(self.asked, weights)
        return OneLevel(field, self.dim, self.level) if self.level else field

    def start(self) -> np.ndarray:
        """Return a stand-in: the context puts the unknown x_0 in its place."""
        return np.zeros(self.dim)

    @property
    def unknown_start(self) -> Tensor:
        """x_0, [dim, 1]; (x_0, y_0) where the functions have two variables."""
        return GramVector(_entries([[self.asked.start]]))

    @property
    def unknown_own(self) -> tuple[Tensor, ...]:
        """The vectors that each client remembers as a run begins anywhere, [clients, dim, 1]."""
        every = np.empty((len(self.asked.limits), self.clients, 1, 1), dtype=object)
        every.reshape(-1)[:] = self.asked.own
        return tuple(map(GramVector, every))

    @property
    def minimiser(self) -> Tensor:
        """x*, [dim, 1]; (x*, y*) where the functions have two variables.

        Raises:
            DriftproofError: there may be none.
        """
        if not self.asked.solvable:
            raise DriftproofError(
                f"the minimiser of functions of {self.function_class}",
                "a measure that needs none: there may be no minimiser",
                "measure view.gradient(x), or take smooth_convex(L)",
            )
        return GramVector(_entries([[self.asked.star]]))

    def objective(self, x: Tensor) -> Tensor:
        """Return F(x) at x of shape [dim, replicates]: F(x) − F*, and an F* that is unknown."""
        asked = self.asked
        least = sum(map(asked.at_star, asked.function_of), GramForm()) / self.clients
        term = GramForm() if asked.term is None else asked.at_star(asked.term)
        return GramForms(entries_of(self.gap(x)) + (least + term))

    def gap(self, x: Tensor) -> Tensor:
        """Return F(x) − F* at x of shape [dim, replicates].

        Raises:
            DriftproofError: nothing says how far F* is below.
        """
        if not (self.asked.solvable or self.bounded_below):
            raise DriftproofError(
                f"F − inf F of functions of {self.function_class}, which may be of any size",
                "a relation that bounds it at the start",
                "add start_gap(delta), or measure view.gradient(x)",
            )
        return GramForms(_entries([self.asked.gap(point) for point in points_of(x)[0]]))

    def loss_at(self, number: int, x: Tensor) -> Tensor:
        """Return f_number(x) − f_number(x*), of x [dim, replicates]: a step of the regret."""
        self.asked.regretted.add(number)
        weights = torch.ones(self.clients, 1, 1, dtype=torch.float64)
        one = FieldOfClass(self.asked, weights).at(number)
        least = self.asked.at_star(self.asked.function_of[one.number])
        return one.mean_loss(x[None])[0] - GramForms(_entries([least]))

    def gradient(self, x: Tensor) -> Tensor:
        """Return ∇F at x of shape [dim, replicates].

        Raises:
            DriftproofError: a term has none.
        """
        if self.term is not None:
            raise DriftproofError(
                f"∇F of a sum with {self.term}",
                "a sum that has a gradient",
                "measure view.gap(x), or the change x_{k+1} − x_k",
            )
        return GramVector(_entries([[self.asked.mean(point)[0] for point in points_of(x)[0]]]))

    def client_gradients(self, x: Tensor) -> Tensor:
        """Return each client's ∇f_i at x, [clients, dim, replicates]."""
        return self.own_gradients(x.expand(self.clients, *x.shape))

    def own_gradients(self, x: Tensor) -> Tensor:
        """Return each client's ∇f_i at its own point."""
        return self.asked.gradients(x)

    @property
    def solution(self) -> Solution:
        """There is none in numbers."""
        raise DriftproofError(
            "the solution of a whole class of functions",
            "what is known of all of them",
            "measure view.minimiser, view.gap(x) or view.gradient(x)",
        )

    @property
    def proven(self) -> Mapping[str, Any]:
        """What the conditions state: nothing else follows."""
        return self.constants

    def why_unproven(self, role: str) -> str:
        """Return that no condition bounds it, and which letters there are by themselves."""
        known = self.exact_constants
        own = ", ".join(f"{x} ({of})" for x, of in self.notation.items() if of in known)
        return (
            f"no condition of the class bounds it; over a class {own or 'no letters'} are there by "
            f"themselves: drop a letter that stands for {role} from notation or letters"
        )

    @cached_property
    def initial_gap(self) -> tuple[float, float]:
        """The bound on F(x_0) − inf F, where a relation states one in numbers."""
        return 0.0, self.constants.get("initial_gap", float("inf"))

    def __str__(self) -> str:
        return f"every federation of {', '.join(map(str, self.conditions))}, n = {self.clients}"

    def values(self) -> dict[str, Any]:
        """Return the conditions in words, and the number of clients."""
        return {"conditions": [str(part) for part in self.conditions], "clients": self.clients}

    def swept(self) -> list[str]:
        """Return nothing: a class is one value."""
        return []

    def expand(self) -> list[Self]:
        """Return the class alone."""
        return [self]

    def changed(self) -> dict[str, Any]:
        """Return the same: the conditions are its name."""
        return self.values()


def over(
    conditions: Conditions, algorithm: Algorithm, *, rounds: int | list[int] = 1, clients: int = 2
) -> list[Case[FunctionClassProblem, Any]]:
    """Return a case over a whole class for every combination of an algorithm's swept values.

    >>> from driftproof.synthetic.classes import smooth_convex, start_within
    >>> from driftproof.toolkit.algorithms import FedAvg
    >>> from driftproof.toolkit.parameters import sweep
    >>> made = over([smooth_convex(L=1), start_within(R=1)], FedAvg(step_size=sweep(0.5, 1.0)),
    ...             rounds=[1, 2], clients=1)
    >>> len(made), made[0].problem.constants["initial_distance"]
    (4, 1.0)

    Args:
        conditions: one class of functions, and what relates clients and the start.
    """
    whole = FunctionClassProblem(conditions=tuple(conditions), clients=clients)
    made = cases_of(whole, algorithm, rounds, "over(conditions, algorithm, rounds=20)")
    for case in made:
        steps = case.rounds * getattr(case.algorithm, "local_steps", 1)
        if steps > MOST_STEPS:
            raise DriftproofError(
                f"{steps:,} steps of {type(case.algorithm).__name__} over a whole class",
                f"at most {MOST_STEPS:,}: every step adds a row to a semidefinite programme",
                "take fewer rounds, or a problem of the class",
            )
    return made


def _entries(listed: Any) -> np.ndarray:
    """Return nested lists of vectors or quantities as an array."""
    shape = (len(listed), len(listed[0])) if isinstance(listed[0], list) else (len(listed),)
    array = np.empty(shape, dtype=object)
    for place in np.ndindex(shape):
        entry = listed
        for index in place:
            entry = entry[index]
        array[place] = entry
    return array
