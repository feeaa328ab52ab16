"""Where an implementation first differs from an algorithm on one instance, in words."""

import re
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from driftproof.toolkit.case_text import expression
from driftproof.toolkit.cases import Case
from driftproof.toolkit.discover import typed
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.tolerances import COMPUTED
from driftproof.verifiers.conform.clients import SHORT, Client, Place
from driftproof.verifiers.conform.reference import Instance, Round, Run, averaged, played, stable
from driftproof.verifiers.conform.round_function import Cohorts, Draws, RoundFunction, State
from driftproof.verifiers.search.structure import altered

STEP, LEFT, ASKED = ", local step ", " was not asked of ", " was asked of "
"""What messages say of a point that differs, and of questions too few, or too many or of others."""
SIMPLE = 12
"""Ratios whose numerator and denominator are at most so large are told."""
AGAIN = 20
"""Runs of a user's code that differs: all have to leave the same."""
WAYS = ((False, 0), (True, 200), (False, 100))
"""Searches for a way to deal the draws: whether to all clients alike, and how many more."""


def explained(code: RoundFunction, instance: Instance, drawn: Collection[str]) -> str:
    """Return where the two first differ on an instance, whose drawn fields may be changed.

    A slip that shows after the last local step alone moves the point of one step more. Questions
    that change no iterate are left aside if there are more than the algorithm's. A problem as it
    is comes first: on many of them a slip shows.

    Raises:
        DriftproofError: it leaves now this and now that.
    """
    every = [_left(code, replace(instance, apart=True))[0] for _ in range(AGAIN)]
    if not all(np.array_equal(every[0], x, equal_nan=True) for x in every):
        raise code.two_results
    told = departure(code, instance) or ""
    if not told:
        instance = replace(instance, apart=True)
        told = departure(code, instance) or ""
    for name in sorted(name for name in drawn if name.endswith("steps")):
        if STEP in told or LEFT in told:
            break
        more = altered(instance.algorithm, {name: getattr(instance.algorithm, name) + 1})
        longer = replace(instance, algorithm=more or instance.algorithm)
        with suppress(DriftproofError):  # a user's code may be for fewer
            if STEP in (there := departure(code, longer, quick=True) or ""):
                told, instance = there, longer
    idle = _idle(code, instance) if ASKED in told else []
    told = (departure(code, instance, idle=idle) if idle else "") or told
    if not told:  # it did differ, after other calls
        raise code.two_results
    return _of_update(code, instance, drawn, told)


def _of_update(code: RoundFunction, instance: Instance, drawn: Collection[str], told: str) -> str:
    """Return what is told, of the update before the point that differs if a round shows that.

    A step asks at what the update before it left, or elsewhere than it should. If a round that ends
    with this update differs, too, and its questions do not, it is the update.
    """
    at = re.search(rf"(first in round \d+, ).*{STEP}(\d+)\n.*", told)
    if at is None:
        return told
    of, last = instance.algorithm, int(at[2]) - 1
    for name in sorted({"local_steps", "outer_steps"} & {*drawn}):  # a round ends with them
        fewer = altered(of, {name: getattr(of, name) - of.local_steps + last})
        with suppress(DriftproofError):
            there = fewer and departure(code, replace(instance, algorithm=fewer), True, brief=True)
            if there and at[1] in there and STEP not in there and LEFT not in there:
                named = at[0].replace(f"{STEP}{at[2]}\n", f", in the update of local step {last}\n")
                return told.replace(at[0], f"{named} in local step {at[2]}", 1)
    return told


def _idle(code: RoundFunction, instance: Instance) -> list[Place]:
    """Return the questions whose answers change no iterate: what differs has other reasons."""
    (usual, asked), idle = _left(code, instance), []
    for place in asked:
        with suppress(Exception):  # a user's code may refuse NaN
            idle += [place] * np.array_equal(_left(code, instance, place)[0], usual)
    return idle


def _left(
    code: RoundFunction, instance: Instance, lost: Place | None = None
) -> tuple[np.ndarray, list[Place]]:
    """Return all that the rounds of the user's code leave, and what they ask."""
    made: Any = played(instance)
    states, asked, after = list[np.ndarray](), list[Place](), None
    for number in range(instance.rounds):
        clients, after = _after(code, instance, made, number, after, {}, {}, False, lost=lost)
        states += [x.ravel() for x in code.state(after).values()]
        asked += [place for client in clients for place in client.places]
    return np.concatenate(states), asked


def _after(
    code: RoundFunction, instance: Instance, made: Run, number: int, *of: Any, **marks: Any
) -> tuple[list[Client], Any]:
    """Return the clients of one round of the user's code, and what it leaves."""
    before, *dealt = of
    clients = [Client(k, instance, made, number, *dealt) for k in range(len(instance.sizes))]
    for client in clients:
        vars(client).update(marks)
    given = _given(code, instance, number, made.rounds[number])  # it may be written to
    before = before if number else code.begin(given)
    return clients, code.after(before, given | {"clients": clients})


def departure(
    code: RoundFunction,
    instance: Instance,
    quick: bool = False,
    idle: Collection[Place] = (),
    brief: bool = False,
) -> str | None:
    """Return where the two first differ ("": nowhere; None: rounding would show, or it is unclear).

    They do not if they agree in one way to deal the draws of a point to the questions asked there.
    Each point gets one draw if no way is found at once: what differs then does for other reasons.

    Args:
        quick, idle: whether to look no further then; questions that are left aside.
        brief: whether to leave out what the algorithm asks, which takes long.
    """
    made = played(instance)
    if made is None or not stable(instance, made):
        return None
    alike, more = False, iter(range(0))

    def since(number: int, before: Any) -> str | None:
        """Return the first way's difference from a round on, if each has one (None: too many)."""
        told, ways = "", [dict[Any, int]()]
        if number == instance.rounds:
            return told
        for way in ways:
            if way and next(more, None) is None:
                return None
            left, choices = [], dict[Any, int]()
            for _ in range(1 if way else 2):
                of = before, way, choices, alike
                clients, after = _after(code, instance, made, number, *of, idle=idle)
                left.append(code.state(after))
            state = left[-1]
            if not all(np.array_equal(x, state[k], equal_nan=True) for k, x in left[0].items()):
                raise code.two_results
            wrong = _first(code, state, made, number + 1)
            this: str | None = "here" if wrong else since(number + 1, after)
            if not this:
                return this
            if wrong and not told:
                this = _told(code, instance, number, made, clients, wrong, state, brief)
            told, keys = told or this, list(choices)
            later = keys[max((k for k, key in enumerate(keys, 1) if key in way), default=0) :]
            ways += [way | {key: k} for key in later for k in range(1, choices[key] + 1)]
        return told

    for alike, most in WAYS[:1] if quick else WAYS:
        more = iter(range(most))
        told = since(0, None)
        if told == "" or (told and not alike):  # if alike, other ways are left
            return told
        once = replace(instance, once=True)
        if most == instance.once == 0 and (told := departure(code, once, quick, idle, brief)):
            return told
    code.unclear += not instance.once
    return None


def _given(code: RoundFunction, instance: Instance, number: int, now: Round) -> dict[str, Any]:
    """Return what a round may ask for, by name, but for its clients."""
    cohorts = deepcopy(list(now.cohorts.values())) or [list(range(instance.problem.clients))]
    several = any(cohort != cohorts[0] for cohort in cohorts)
    draws = Draws()
    for (name, _), x in now.draws.items():
        each = np.atleast_1d(x[..., 0].numpy())
        draws[name] = np.append(draws.get(name, each[:0]), each, 0)
    for name, drawn in (("cohorts", ["several cohorts"] * several), ("draws", list(draws))):
        if drawn and name not in code.takes:
            raise DriftproofError(
                f"{instance.algorithm} draws {', '.join(drawn)} in a round, and {code.name} does "
                "not ask for them",
                f"a parameter called {name}: all that the algorithm draws, in its order",
                "take it in place of draws of your own, or choose values at which none is drawn",
            )
    state = {name: x if name in code.own else x[0] for name, x in now.state.items()}
    return instance.algorithm.in_use(instance.oracles) | {
        "state": State({name: state[name].copy() for name in code.fields}),
        "round": number,
        "cohort": cohorts[0],
        "cohorts": Cohorts(cohorts),
        "start": instance.start.copy(),
        "draws": draws,
    }


def _first(
    code: RoundFunction, got: dict[str, np.ndarray], made: Run, number: int
) -> tuple[str, int, int] | None:
    """Return the field, the client and the entry that differ first (None: none does).

    Fields that the algorithm has equal to its iterate between all rounds, as a client's model and
    the server's, stand for each other: one has to be right.
    """
    wanted = made.rounds[number].state
    wrong: dict[str, list[tuple[str, int, int]]] = {}
    for name, x in got.items():
        if x.shape not in (wanted[name].shape, wanted[name].shape[1:]):
            raise DriftproofError(
                f"{name} of shape {x.shape} after a round of {code.name}",
                f"{wanted[name].shape[not code.own.get(name) :]}, as the state has it",
                "return one vector, or one for each client",
            )
        apart = ~(np.abs(x - wanted[name]) <= made.allowed(*made.of(name)))
        wrong[name] = [(name, client, entry) for client, entry in np.argwhere(apart).tolist()]
    equal = _equal(code, made)
    iterates = [name for name in equal if name in got]
    code.unseen |= dict.fromkeys(name for name in code.fields if name not in {*got, *equal})
    if not iterates:
        raise DriftproofError(
            f"{code.name} gives {', '.join(got) or 'no field of the state'}",
            f"{code.iterate}, the iterate, among {', '.join(code.fields)}",
            "return a dictionary with it, or have it as an attribute",
        )
    if not all(wrong[name] for name in iterates):
        wrong |= {name: [] for name in iterates}
    return next((places[0] for places in wrong.values() if places), None)


def _equal(code: RoundFunction, made: Run) -> list[str]:
    """Return the fields that the algorithm has equal to its iterate between all rounds."""
    iterate = made.of(code.iterate)
    return [name for name in code.fields if all(map(np.array_equal, made.of(name), iterate))]


def _told(
    code: RoundFunction,
    instance: Instance,
    number: int,
    made: Run,
    clients: list[Client],
    wrong: tuple[str, int, int],
    state: dict[str, np.ndarray],
    brief: bool,
) -> str:
    """Return the first difference in words: at a point that was asked, or after the round."""
    now, (name, client, entry) = made.rounds[number], wrong
    left = state[name]
    before, wanted = (float(made.of(name)[number + k][client, entry]) for k in (0, 1))
    got = float(left[(client, entry)[-left.ndim :]])
    place = f"client {client}" if code.own.get(name) else "in the shared state"
    lines = [f"got:    {name}[{entry}] = {got} after the round", f"wanted: {wanted}"]
    given = _given(code, instance, number, now)["state"]
    rest = [x for x in code.fields if x not in _equal(code, made) and number == 0]
    begins = ", ".join(f"{x} = {given[x].tolist()}" for x in rest)
    ratio = _ratio(got - before, wanted - before)
    if ratio:
        lines.append(f"        its change in this round is {ratio} times the algorithm's")
    cohorts = [*now.cohorts.values()] or [list(range(len(clients)))]
    cohort = sorted(set().union(*cohorts))
    several = any(of != cohorts[0] for of in cohorts)
    elsewhere = [
        (q.step, k, q.name, *row)
        for k in cohort
        for q, row in clients[k].elsewhere.items()
        if q not in clients[k].found or q.name not in clients[k].more  # that was one more
    ]
    always = set(cohort).intersection(*cohorts)  # of the others nobody need be asked
    logs = Counter(name for x in clients for at, name in x.places.items() if at in x.idle)
    left_out = [(q.step, k, q.name) for k in always for q in clients[k].open if q.name not in logs]
    if elsewhere:
        step, k, oracle, argument, asked, meant = min(elsewhere, key=lambda row: row[:2])
        place = f"client {k}{STEP}{step}"
        point = f" at {argument} = {asked}"
        if oracle in clients[k].more:  # which one of them is this step's is not known
            point = ", but not where the algorithm asks"
        lines = [
            f"got:    {oracle} asked{point}",
            f"wanted: {argument} = {meant}",
            *(f"        {x}" for x in lines),
        ]
    elif left_out:
        step, k, oracle = min(left_out)
        lines.append(f"        {oracle}{LEFT}client {k} in local step {step}")
    often = [(k, *of) for k in cohort for of in clients[k].more.items()]
    for k, word, more in often[:1]:
        lines.append(
            f"        {word}{ASKED}client {k} {clients[k].asked[word]} times in this round, "
            f"{more} more than by the algorithm"
        )
    fewer = [
        (name, k, clients[k].asked[name], n)
        for k in sorted(always)
        for name, n in clients[k].often.items()
        if 0 < clients[k].asked[name] < n
    ]
    for name, k, times, n in fewer[:1] if elsewhere else ():  # else the step says it
        lines.append(f"        {name}{ASKED}client {k} {times} of {n} times in this round")
    if logs:
        what = " and ".join(f"{n} {word}" for word, n in logs.items())
        lines.append(f"        {what} asked change no iterate; without them the two differ as told")
    case = Case(instance.problem, instance.algorithm, instance.rounds)
    remedy = (
        "compare this step with the update that driftproof show "
        f"{typed(type(instance.algorithm))} prints"
    )
    asked = set().union(*(clients[k].asked for k in cohort))
    noted, short = {q.name for q in now.questions}, {full: word for word, full in SHORT.items()}
    never, other = (
        " and ".join(sorted(short.get(word, word) for word in some))
        for some in (noted - asked, asked - noted)
    )
    if never and other:
        remedy = f"ask {never}, as the algorithm does: its noise is drawn there, not for {other}"
    elif not elsewhere and not left_out and instance.algorithm.values().get("local_steps") == 1:
        remedy += "; with local_steps=2 the end of a local step is compared, too"
    return "\n".join(
        [
            f"{code.name} does not match {instance.algorithm}: "
            f"first in round {number + 1}, {place}",
            *lines,
            *[f"        round 1 begins with {begins}"] * bool(begins),
            *(_order(instance, now, number, clients) if not brief else ()),
            *code.unseen_told.splitlines()[1:],
            f"on:     {expression(case)}",
            f"        clients of sizes {list(instance.sizes)}, "
            + (f"cohorts {cohorts}" if several else f"cohort {cohort}"),
            *[
                f"        from {instance.start.tolist()}, each derivative times 1 + s/(8 + 8|s|), "
                "where s is the sum of x and 2y: this problem's are the same at many points"
            ]
            * instance.apart,
            f"remedy: {remedy}",
        ]
    )


def _order(instance: Instance, now: Round, number: int, clients: list[Client]) -> list[str]:
    """Return what the algorithm asks in a round, if several things, and who was asked instead."""
    lines = ["order:  what the algorithm asks in a round, by the cohort that averages the answers"]
    by, whom = averaged(instance, now, number), dict[str, set[int]]()
    for k, (key, of) in enumerate(by.items()):
        members = now.cohorts.get(key, range(len(clients)))
        often = Counter(q.name for q in of)
        whom |= {name: whom.get(name, set()).union(members) for name in often}
        asked = ", ".join(name + f" {n} times" * (n > 1) for name, n in often.items())
        steps = " to ".join(dict.fromkeys(str(q.step) for q in of[:1] + of[-1:]))
        who = f"cohorts[{k}] = {members}" if key else "each client"
        lines.append(f"        {who} in local step{'s' * (' ' in steps)} {steps}: {asked}")
    lines = lines if len(by) > 1 or len(whom) > 1 else []
    for name, meant in whom.items():
        asked_of = [k for k, client in enumerate(clients) if client.asked[name]]
        if asked_of != sorted(meant):
            lines.append(f"        {name}{ASKED}clients {asked_of}, not of {sorted(meant)}")
    return lines


def _ratio(got: float, wanted: float) -> str:
    """Return which simple fraction of a number another is ("": none)."""
    ratio = got / wanted if wanted else np.nan
    near = Fraction(ratio).limit_denominator(SIMPLE) if abs(ratio) <= SIMPLE else Fraction(0)
    return str(near) if near and abs(got - near * wanted) <= COMPUTED.apart * abs(wanted) else ""
