"""A user's problem and algorithm are audited, and their constants attacked, before any verdict.

That is one unit of work for each problem and algorithm: an audit of both (``synthetic.audit``), and
a search for points that exceed the constants (``synthetic.attacks``).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import torch

from driftproof.synthetic.attacks.scores import Scores
from driftproof.synthetic.attacks.search import Attack
from driftproof.synthetic.attacks.thorough import LEVEL, searched
from driftproof.synthetic.audit.algorithm import audit_algorithm
from driftproof.synthetic.audit.problem import audit_problem, shown
from driftproof.toolkit.cases import Case
from driftproof.toolkit.constants import MODULI, ROLES, RUN_ROLES
from driftproof.toolkit.user_traceback import is_shipped, telling_the_method
from driftproof.verifiers.judges.audit_gate import DECLARED, GAP, key_of

QUICK, FULL = 0.0125, 0.25
"""How much of ``falsify``'s search is made before a verdict: by default, and in the profile full.

These say how many points are looked at, whatever the time that takes.
"""
_audited = set[tuple[Any, ...]]()
_attacked: dict[tuple[Any, ...], Found] = {}


class Found(NamedTuple):
    """What an attack on a problem's constants found.

    Attributes:
        exceeded: the constants that are exceeded, role → sentence.
        tried: the points that were looked at, of all constants.
    """

    exceeded: dict[str, str]
    tried: int = 0


def audited(case: Case) -> None:
    """Audit a case's user's own parts.

    Raises:
        DriftproofError: something does not fit, say the gradient the objective.
    """
    key = type(case.problem), type(case.algorithm), key_of(case)
    if key not in _audited:
        if not is_shipped(case.problem):
            with telling_the_method(type(case.problem)):
                audit_problem(case.problem)
        if case.algorithm is not None:
            with telling_the_method(type(case.algorithm)):
                audit_algorithm(case.algorithm, case.problem)
        _audited.add(key)


def look(case: Case, effort: float = QUICK) -> Found:
    """Audit a case's user's own parts; return the constants that are exceeded, and how.

    Raises:
        DriftproofError: as ``audited``.
    """
    audited(case)
    key = type(case.problem), key_of(replace(case, algorithm=None)), effort
    if key not in _attacked:  # once for all the algorithms that run on it
        _attacked[key] = Found({}) if is_shipped(case.problem) else exceeded(case, effort)
    return _attacked[key]


def exceeded(case: Case, effort: float = QUICK) -> Found:
    """Return the constants of a case's problem that a search exceeds."""
    scores, sentences, tried = Scores(case.problem), dict[str, str](), 0
    for role in (*case.problem.proven, GAP):
        if not scores.has(role):
            continue
        worst = searched(case.problem, role, effort=effort)
        tried += worst.tried
        if worst.exceeded:
            sentences[role] = f"{case.problem.leaf_name}: {in_words(worst)}"
    return Found(sentences, tried)


def in_words(attack: Attack) -> str:
    """Return the sentence that names a constant, where it is exceeded, and its true size."""
    at = where(attack)
    size = "only " if attack.role in MODULI else ""
    meaning = {**ROLES, **RUN_ROLES}[attack.role]
    if attack.draws:
        meaning += f"; {attack.draws} draws, tested at level {LEVEL:g}"
    return (
        f"{attack.role}{DECLARED}{attack.declared:g}, but {at} it is {size}{attack.found:.6g} "
        f"({meaning})"
    )


def where(attack: Attack) -> str:
    """Return the point, or the two, of an attack, and whose they are."""
    tensors = [torch.tensor(p, dtype=torch.float64) for p in attack.points]
    points = [shown(p, digits=6) for p in tensors]
    if attack.exceeded or len(set(points)) < len(points):  # two close points are told apart
        points = [shown(p, digits=15) for p in tensors]
    at = f"between x = {points[0]} and z = {points[1]}" if points[1:] else f"at x = {points[0]}"
    return at if attack.client is None else f"{at} of client {attack.client}"
