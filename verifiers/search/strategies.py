"""Hypothesis strategies: cases inside a claim's assumptions, members of families, algorithms.

Numbers are whole ones over a power of ten, so that what a test fails on can be read and typed.
Everything shrinks: towards one client, one knot, one step, no noise and the defaults. Where a drawn
case is outside the assumptions, hyperparameters are moved to round numbers inside them; if that
does not do, parameters go back to plain ones, one after another, until the case is inside.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any, TypeVar, cast

import numpy as np

try:
    from hypothesis import HealthCheck, Phase, assume, find, settings
    from hypothesis import strategies as st
    from hypothesis.errors import NoSuchExample
except ImportError:
    from driftproof.toolkit.errors import MissingError

    raise MissingError(
        "driftproof.strategies without Hypothesis",
        "the package hypothesis",
        "pip install hypothesis pytest",
    ) from None

from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.cases import Case
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError, unknown_name
from driftproof.toolkit.oracles import OFFERS
from driftproof.toolkit.parameters import Constraint, Parameters, constraints
from driftproof.toolkit.problem import Problem
from driftproof.toolkit.readings import ByProof, Undecided
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.search.inside import is_quick, moved_inside
from driftproof.verifiers.search.members import (
    POWERS,
    choices_of,
    members,
    plain_and_examples,
    with_both_tails,
)
from driftproof.verifiers.search.search import Space, spaces_of
from driftproof.verifiers.search.structure import Choices, altered
from driftproof.verifiers.search.units import judged

T = TypeVar("T")
P = TypeVar("P", bound=Parameters)
A = TypeVar("A", bound=Algorithm)
KINDS = ("field", "composition", "minimax", "bilevel")
SMALL = (-2, -3, -5)
MOST = 20
"""A number is at most so many units."""
SIMPLER = 100
"""Instances that are tried for being simpler than one that fails."""
SIZES = 4
"""A client has at most so many samples."""
MANY = 5
"""An implementation is run with at most so many clients."""
STEPS = (1, 2, 3, 5, 10)
HORIZONS = (1, 2, 3, 5, 10)


def instances(claim: Claim[Any]) -> st.SearchStrategy[Case]:
    """Return a strategy of cases that meet what a claim assumes.

    From the piecewise family of the oracles that the algorithm asks for, if there is one, and from
    the families of the claim's own cases. Numbers are anything that annotations and assumptions
    allow, whatever the cases have; words and flags (``branch="special"``) are those of a case.

    Args:
        claim: a bound or a comparison.

    Raises:
        DriftproofError: the claim is a rate or a proof, or no family has a member inside its
            assumptions.
    """
    forms = [form for form in claim.forms if decides(form)]
    if not forms or not claim.searched:
        raise DriftproofError(
            f"instances of {claim.name}, a {claim.way} with {len(forms)} right sides for cases",
            "a @bound or a @comparison",
            "assert_claim judges rates and proofs",
        )
    drawn = [
        strategy
        for space in spaces_of(claim)[0]
        for form in forms
        if (strategy := _instances(claim, form, space)) is not None
    ]
    if not drawn:
        row = judged(claim, forms[0], claim.cases_for("smoke")[0], seed=0)
        raise DriftproofError(
            f"no instance of {claim.name}; on its first case the judge says: {row.reason}",
            "a case that meets every assumption",
            "add one to cases; driftproof verify tells what each lacks",
        )
    return st.one_of(drawn)


def problems(kind: str) -> st.SearchStrategy[Problem]:
    """Return a strategy of members of the piecewise family of one kind.

    Args:
        kind: "field" (gradient fields), "composition", "minimax" or "bilevel", as
            ``toolkit.oracles.OFFERS`` calls them.

    Raises:
        DriftproofError: there is no such kind, or no piecewise family of it.
    """
    every = choices_of(kind)
    if not every:
        raise unknown_name("kind of piecewise problems", kind, KINDS)
    return st.one_of([members(choices) for choices in every])


def hyperparameters(algorithm: A | type[A]) -> st.SearchStrategy[A]:
    """Return a strategy of one algorithm with parameters inside their annotations' ranges.

    Args:
        algorithm: its class; or a member, whose fields without a range are kept.
    """
    start: Any = algorithm() if isinstance(algorithm, type) else algorithm
    return _redrawn(start)


def examples_of(needs: str) -> list[Problem]:
    """Return the shipped problems with some oracles: of the piecewise family, if it has them."""
    families = {choices.family for choices in choices_of(needs)} or leaves("problem")
    members = [x for name in families for x in leaves("problem")[name].load().examples()]
    return [member for member in members if needs in OFFERS[member.offers]]


@st.composite
def conditions(
    draw: st.DrawFn, algorithm: A, drawn: Collection[str], rounds: int
) -> tuple[Problem, A, int, tuple[int, ...], int]:
    """Draw what an implementation runs under: problem, algorithm, rounds, sizes and a seed.

    Args:
        drawn: which of the algorithm's fields are drawn; the others stay.
        rounds: at most so many.
    """
    needs = algorithm.needs
    every = [members(choices, MANY) for choices in choices_of(needs)]
    problem = draw(st.one_of(every) if every else st.sampled_from(examples_of(needs)))
    member = draw(_redrawn(algorithm, names=set(drawn) - {"participation"}))
    if "participation" in drawn and draw(st.booleans()):  # else many clients seldom take part
        member = _with_cohorts(draw, member, problem.clients)
    sizes = draw(st.tuples(*[st.integers(1, SIZES)] * problem.clients))
    return problem, member, draw(st.integers(1, rounds)), sizes, draw(st.integers(0, SIZES))


class _Enough(BaseException):
    """Ends a search: Hypothesis takes any other exception for one more failure."""


def failing(
    drawn: st.SearchStrategy[T],
    fails: Callable[[T], bool],
    *,
    instances: int,
    seed: int,
    simpler: int = SIMPLER,
) -> T | None:
    """Return a draw that fails, the simplest that is found (None: none does).

    Args:
        instances: how many are tried.
        simpler: how many more, after the first that fails.
    """
    options = settings(
        max_examples=instances,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    failed: list[T] = []
    since = 0

    def found(one: T) -> bool:
        nonlocal since
        since += bool(failed)
        if it := fails(one):
            failed.append(one)
        if failed and since >= simpler:
            raise _Enough
        return it

    try:
        return find(drawn, found, settings=options, random=Random(seed))
    except _Enough:
        return failed[-1]
    except NoSuchExample:
        return None


def decides(form: Form) -> bool:
    """Say whether a form is judged on cases, and a print or a correction stands and falls by it."""
    if form.form == "sibling" or isinstance(form.right, ByProof | Undecided):
        return False
    return form.reading_kind is None or form.reading_kind.admissible


# -- cases


def _instances(claim: Claim[Any], form: Form, space: Space) -> st.SearchStrategy[Case] | None:
    """Return the cases of one space (None: none of its examples is inside the assumptions)."""
    every = [claim.cases_for("full")[k] for k in space.templates]
    # those of the full profile take long
    templates = [case for case in every if case in claim.cases] or every
    drawn = []
    for choices in with_both_tails(space.choices):
        some = plain_and_examples(choices)
        starts = [replace(case, problem=x) for case in templates for x in some] or templates
        if any(moved_inside(claim, form, case, in_ball=False) is not None for case in starts):
            drawn.append(_cases(claim, form, templates, choices, next(iter(some), None)))
    return st.one_of(drawn) if drawn else None


def _cases(
    claim: Claim[Any],
    form: Form,
    templates: Sequence[Case],
    choices: Choices,
    plain: Problem | None,
) -> st.SearchStrategy[Case]:
    """Return cases: a member, hyperparameters and a horizon, moved into the assumptions.

    Args:
        plain: the simplest member (None: members are those of the templates' family).
    """

    @st.composite
    def cases(draw: st.DrawFn) -> Case:
        template = templates[draw(st.integers(0, len(templates) - 1))]
        own = plain is None
        problem = draw(_redrawn(template.problem, options=False) if own else members(choices))
        case = Case(problem)
        if template.algorithm is not None:
            algorithm = draw(_redrawn(template.algorithm, options=False))
            algorithm = _with_cohorts(draw, algorithm, problem.clients)
            case = Case(problem, algorithm, draw(st.sampled_from(HORIZONS)))
        start = template
        if plain is not None:
            shaped = altered(plain, {"clients": problem.clients, "dim": problem.dim})
            start = replace(template, problem=shaped or plain)
        settled = None
        for tried in _plainer(case, start):
            settled = moved_inside(claim, form, tried)
            if settled is not None and (tried == start or is_quick(claim, form, settled)):
                break
        assume(settled is not None)
        return cast(Case, settled)

    return cases()  # without arguments, which Hypothesis would write out: claims are long


def _with_cohorts(draw: st.DrawFn, algorithm: A, clients: int) -> A:
    """Return an algorithm that samples any number of clients, if it samples."""
    if "participation" not in constraints(type(algorithm)):
        return algorithm
    share = (clients - draw(st.integers(0, clients - 1))) / clients
    return altered(algorithm, {"participation": share}) or algorithm


def _plainer(case: Case, start: Case) -> Iterator[Case]:
    """Yield a case, then ones with more and more parameters as in another, and that one."""
    yield case
    for part in ("algorithm", "problem"):
        end = getattr(start, part)
        for name in reversed(list(end.values() if end is not None else ())):
            now = getattr(case, part)
            changed = altered(now, {name: getattr(end, name)})
            if changed is not None and changed != now:
                case = replace(case, **{part: changed})
                yield case
    yield start


# -- parameters by their annotations


@st.composite
def _redrawn(
    draw: st.DrawFn, part: P, options: bool = True, names: Collection[str] | None = None
) -> P:
    """Draw every parameter that has a range, one after another; what does not fit stays.

    Args:
        options: whether words and flags are drawn too.
        names: of those that are drawn (None: all).
    """
    kept: frozenset[str] = getattr(part, "fitted", frozenset())
    for name, constraint in constraints(type(part)).items():
        drawn = name not in kept and (names is None or name in names)
        if drawn and (options or not constraint.choices):
            value = draw(_values(constraint, getattr(part, name), name))
            part = altered(part, {name: value}) or part
    return part


def _values(constraint: Constraint, now: Any, name: str) -> st.SearchStrategy[Any]:
    """Return what a parameter may be: counts from the smallest, all else from what it is now."""
    if constraint.choices:
        others = [choice for choice in constraint.choices if choice != now]
        return st.sampled_from([now, *others])
    if constraint.integer:
        low = int(constraint.low) if np.isfinite(constraint.low) else 0
        counts = {*range(low, low + 4), *(STEPS if name == "local_steps" else ())}
        allowed = sorted(count for count in counts if constraint.allows(count))
        return st.sampled_from(allowed or [now])
    return st.one_of(st.just(now), _numbers(constraint))


def _numbers(constraint: Constraint) -> st.SearchStrategy[float]:
    """Return real numbers in a range, whole ones over a power of ten above its lower end."""
    low, high = constraint.low, constraint.high
    first = 0 if constraint.allows(low) else 1
    if np.isfinite(low) and np.isfinite(high):
        tenths = st.integers(first, 10).map(lambda k: round(low + (high - low) * k / 10, 12))
        parts = st.builds(decimal, st.integers(first, MOST), st.sampled_from(SMALL))
        small = parts.map(lambda share: round(low + (high - low) * share, 12))
        return st.one_of(tenths, small).filter(constraint.allows)
    if np.isfinite(low):
        return sizes(first).map(lambda x: low + x).filter(constraint.allows)
    return sizes(-MOST).filter(constraint.allows)


def sizes(low: int) -> st.SearchStrategy[float]:
    """Return a strategy of numbers of ``low`` units or more, of every size."""
    return st.builds(decimal, st.integers(low, MOST), st.sampled_from(POWERS))


def decimal(units: int, power: int) -> float:
    """Return units·10^power, the nearest double to it.

    >>> decimal(3, -1), decimal(-12, 2)
    (0.3, -1200.0)
    """
    return float(f"{units}e{power}")
