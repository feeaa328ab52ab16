"""Looks for an instance on which a user's implementation is not the algorithm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.discover import typed
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.parameters import constraints
from driftproof.verifiers.conform.compared import departure, explained
from driftproof.verifiers.conform.reference import Instance, fields_of
from driftproof.verifiers.conform.round_function import RoundFunction
from driftproof.verifiers.search.strategies import conditions, examples_of, failing

ROUNDS = 8
"""Rounds of an instance at most, unless more are asked for."""


def assert_conforms(
    implementation: Callable[..., Any],
    *,
    algorithm: Algorithm | type[Algorithm],
    instances: int = 100,
    rounds: int = ROUNDS,
    seed: int = 0,
) -> str:
    """Raise AssertionError where an implementation first differs; return what was compared.

    Both run on problems that Hypothesis draws, with clients of unequal sizes, with the same
    noise and the same cohorts. They have to agree after each round, to 10⁻⁶ of the size of the
    numbers; a difference that begins in a later round than the last one is not found. Instances on
    which rounding alone would show are left out.

    Args:
        implementation: a function of (state, clients, cohort) that returns the next state; a class
            with ``step(clients, cohort)``, whose attributes are the state; or a class with
            ``fit(parameters, client)`` and ``aggregate(results)``. Parameters are given by name:
            a field of the algorithm, such as step_size, may be among them.
        algorithm: a class, whose fields are drawn if the implementation asks for them; or a member,
            whose words stay, and whose numbers that are not their defaults.
        instances: how many are tried.
        rounds: of an instance, at most.
        seed: of what is drawn.

    Returns:
        The algorithm, the instances, and which fields of the state were not compared.

    Raises:
        DriftproofError: the two cannot be compared, for example since the implementation draws
            numbers of its own, or does not ask for what the algorithm draws.
    """
    __tracebackhide__ = True  # pytest shows the test's line, not ours
    told, agreed = first_departure(implementation, algorithm, instances, seed, rounds=rounds)
    if told:
        raise AssertionError(told)
    return agreed


def first_departure(
    implementation: Callable[..., Any],
    algorithm: Algorithm | type[Algorithm],
    instances: int,
    seed: int,
    given: Mapping[str, Any] | None = None,
    rounds: int = ROUNDS,
) -> tuple[str, str]:
    """Return where an implementation first differs from an algorithm ("": nowhere), or what agreed.

    Of a class it also says which other member the implementation agrees with, one whose clients are
    weighted in another way, say: a name does not tell which of them is meant.

    Args:
        given: fields of a class that are not drawn, with their values.

    Returns:
        The difference in words; and what was compared: the algorithm with every value that was not
        drawn, how many instances, of how many rounds at most, and which fields were not.
    """
    cls: Any = algorithm if isinstance(algorithm, type) else type(algorithm)
    if not issubclass(cls, Algorithm):
        raise DriftproofError(
            f"{algorithm!r:.60} as an algorithm",
            "a class of driftproof.algorithms or of your own, or a member of one",
            "write algorithm=driftproof.algorithms.FedProx, say",
        )
    limits, usual = constraints(cls), cls().values()
    fixed = dict(given or {})
    if isinstance(algorithm, Algorithm):
        stays = {name for name in usual if name not in limits or limits[name].choices}
        values = algorithm.values().items()
        fixed = {name: x for name, x in values if name in stays or x != usual[name]}
    told, agreed = _departure(implementation, cls, fixed, instances, seed, rounds)
    others = [(name, x) for name, of in limits.items() for x in of.choices if x != usual[name]]
    for name, value in others if told and not fixed else []:
        try:
            apart, same = _departure(implementation, cls, {name: value}, instances, seed, rounds)
        except DriftproofError:  # it is not for this member
            continue
        if not apart:
            member = named(cls, {name: value})
            told += f"\nagrees: {same}\n        if you mean this one, compare with {member}"
    return told, agreed


def named(algorithm: type[Algorithm], values: Mapping[str, Any]) -> str:
    """Return a class with some values as ``driftproof conform`` takes it."""
    given = ", ".join(f"{name}={value!r}" for name, value in values.items())
    name = typed(algorithm)
    name += f"::{algorithm.__name__}" * name.endswith(".py")
    return name + f"({given})" * bool(given)


def _departure(
    implementation: Callable[..., Any],
    algorithm: type[Algorithm],
    given: Mapping[str, Any],
    instances: int,
    seed: int,
    rounds: int,
) -> tuple[str, str]:
    plain = algorithm(**given)
    fields, own = fields_of(plain, examples_of(plain.needs))
    diverges = DriftproofError(
        f"{plain} diverges, or rounding shows, on every instance",
        "an instance on which the two can be compared",
        "take smaller steps, or another seed",
    )
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
    failed: list[tuple[Any, ...]] = []
    compared: list[tuple[int, ...]] = []  # rounds, local steps and clients; (): it is left out

    def differs(drawn: tuple[Any, ...]) -> bool:
        if drawn in failed:  # it is tried again, and has to fail again
            return True
        try:
            quick = bool(failed)
            instance = replace(Instance(*drawn), apart=True)
            told = departure(code, instance, quick, brief=True) if not refused else ""
            failed.extend([drawn] if told else [])
            problem, member, lasts, *_ = drawn
            tried = lasts, member.local_steps, problem.clients
            compared.append(() if told is None else tried)
        except DriftproofError as error:
            refused.append(error)
        return bool(refused or told)

    asked = code.takes | {"participation"} if code.samples else code.takes
    drawn = (asked & set(constraints(algorithm))) - set(given)
    beside = named(algorithm, {k: x for k, x in plain.values().items() if k not in drawn})
    every = conditions(plain, drawn, rounds)
    found = failing(every, differs, instances=instances, seed=seed)
    if refused:
        raise refused[0]
    if found is not None:
        return explained(code, Instance(*found), drawn), ""
    left = {
        "where it diverges, or rounding shows": compared.count(()) - code.unclear,
        "where its draws can be dealt to your questions in too many ways": code.unclear,
    }
    out = "".join(f"\n        {n} left out, {why}" for why, n in left.items() if n)
    if not any(compared):
        raise DriftproofError(f"{plain}{out}", *diverges.args[1:]) if code.unclear else diverges
    kinds = ("round", "local step", "client")
    most = zip(kinds, map(max, zip(*filter(None, compared), strict=True)), strict=True)
    first, *last = (f"{n} {what}{'s' * (n > 1)}" for what, n in most)
    but = f", {' and '.join(code.unseen)} left aside," * bool(code.unseen)
    agreed = f"no difference from {beside}{but} in {len(compared) - compared.count(())} instances"
    return "", f"{agreed} of at most {first}, {' and '.join(last)}{out}{code.unseen_told}"
