"""Looks for an instance on which a user's implementation is not the algorithm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.errors import DriftproofError
from driftproof.verifiers.conform.compared import departure
from driftproof.verifiers.conform.reference import Instance, fields_of
from driftproof.verifiers.conform.round_function import RoundFunction
from driftproof.verifiers.search.strategies import conditions, examples_of, failing


def assert_conforms(
    implementation: Callable[..., Any], *, algorithm: Algorithm | type[Algorithm],
    instances: int = 100, seed: int = 0,
) -> None:  # fmt: skip
    """Raise AssertionError where an implementation first differs from an algorithm.

    Both run on problems that Hypothesis draws, with clients of unequal sizes, over up to three
    rounds, with the same noise and the same cohorts. They have to agree after each round, to 10⁻⁶
    of the size of the numbers. Instances on which rounding alone would show are left out.

    Args:
        implementation: a function of (state, clients, cohort) that returns the next state; a class
            with ``step(clients, cohort)``, whose attributes are the state; or a class with
            ``fit(parameters, client)`` and ``aggregate(results)``. Parameters are given by name:
            a field of the algorithm, such as step_size, may be among them.
        algorithm: a member; or a class, whose fields are drawn if the implementation asks for them.
        instances: how many are tried.
        seed: of what is drawn.

    Raises:
        DriftproofError: the two cannot be compared, for example since the implementation draws
            numbers of its own, or does not ask for what the algorithm draws.
    """
    __tracebackhide__ = True  # pytest shows the test's line, not ours
    told = first_departure(implementation, algorithm, instances, seed)
    if told:
        raise AssertionError(told)


def first_departure(
    implementation: Callable[..., Any], algorithm: Algorithm | type[Algorithm], instances: int,
    seed: int,
) -> str:  # fmt: skip
    """Return where an implementation first differs from an algorithm, in words ("": nowhere)."""
    plain: Algorithm = algorithm() if isinstance(algorithm, type) else algorithm
    fields, own = fields_of(plain, examples_of(plain.needs))
    diverges = DriftproofError(
        f"{plain} diverges, or rounding shows, on every instance",
        "an instance on which the two can be compared", "take smaller steps, or another seed",
    )  # fmt: skip
    if not fields:
        raise diverges
    code = RoundFunction(implementation, plain.iterate, fields, own)
    if not code.samples and plain.participation < 1:
        raise DriftproofError(
            f"{code.name}, which asks for no cohort, beside {plain}",
            "a parameter called cohort: the clients that the algorithm samples",
            "take it in place of a draw of your own",
        )
    refused: list[DriftproofError] = []
    compared: list[str | None] = []

    def differs(drawn: tuple[Any, ...]) -> bool:
        try:
            compared.append(departure(code, Instance(*drawn)) if not refused else "")
        except DriftproofError as error:
            refused.append(error)
        return bool(refused or compared[-1])

    drawn = conditions(algorithm, code.takes, cohorts=code.samples)
    found = failing(drawn, differs, instances=instances, seed=seed)
    if refused:
        raise refused[0]
    if found is not None:
        return departure(code, Instance(*found)) or ""
    if not any(told is not None for told in compared):
        raise diverges
    return ""
