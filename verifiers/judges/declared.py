"""What a user's problem and algorithm declare is checked and attacked before a verdict rests on it.

Driftproof's own leaves are checked in its tests. Of any other, one unit of work a problem and
algorithm audits both (``synthetic.audit``) and searches for points that exceed the constants
(``synthetic.attacks``). A form that uses a constant which is exceeded is INAPPLICABLE; the rows of
others say so beside their verdict.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from driftproof.synthetic.attacks import Attack, searched
from driftproof.synthetic.attacks.scores import Scores
from driftproof.synthetic.attacks.thorough import LEVEL
from driftproof.synthetic.audit import audit_algorithm, audit_problem
from driftproof.synthetic.audit.problem import shown
from driftproof.toolkit.cases import Case
from driftproof.toolkit.constants import MODULI, ROLES, RUN_ROLES, Letters, stated
from driftproof.toolkit.located import is_shipped, telling_the_method
from driftproof.toolkit.verdict import Evidence, Row, Verdict
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.judges.assumed import relation_of

EFFORT = 0.25
"""How much of ``falsify``'s search is made before a verdict."""
GAP = "initial_gap"

DECLARED = " is declared "
"""What follows the role in the reason of a row whose constant is exceeded."""

_found: dict[tuple[Any, ...], dict[str, str]] = {}


def to_check(case: Case) -> bool:
    """Say whether something of a case is a user's own."""
    parts = (case.problem, case.algorithm)
    return any(part is not None and not is_shipped(part) for part in parts)


def key_of(case: Case) -> str:
    """Return a name of the problem and algorithm of a case, whatever its horizon."""
    parts = [part for part in (case.problem, case.algorithm) if part is not None]
    named = [[type(part).__qualname__, part.leaf_name, part.changed()] for part in parts]
    return json.dumps(named, sort_keys=True, default=str)


def look(case: Case) -> dict[str, str]:
    """Audit a case's user's own parts; return the constants that are exceeded, and how.

    Raises:
        DriftproofError: something does not fit, say the gradient the objective.
    """
    key = (type(case.problem), type(case.algorithm), key_of(case))
    if key not in _found:
        if not is_shipped(case.problem):
            with telling_the_method(type(case.problem)):
                audit_problem(case.problem)
        if case.algorithm is not None:
            with telling_the_method(type(case.algorithm)):
                audit_algorithm(case.algorithm, case.problem)
        _found[key] = {} if is_shipped(case.problem) else exceeded(case)
    return _found[key]


def exceeded(case: Case) -> dict[str, str]:
    """Return the constants of a case's problem that a search exceeds: role → sentence."""
    scores, sentences = Scores(case.problem), {}
    for role in (*case.problem.constants, GAP):
        if not scores.has(role):
            continue
        worst = searched(case.problem, role, effort=EFFORT)
        if worst.exceeded:
            sentences[role] = f"{case.problem.leaf_name}: {in_words(worst)}"
    return sentences


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
    import torch

    tensors = [torch.tensor(p, dtype=torch.float64) for p in attack.points]
    points = [shown(p, digits=6) for p in tensors]
    if attack.exceeded or len(set(points)) < len(points):  # two close points are told apart
        points = [shown(p, digits=15) for p in tensors]
    at = f"between x = {points[0]} and z = {points[1]}" if points[1:] else f"at x = {points[0]}"
    return at if attack.client is None else f"{at} of client {attack.client}"


def exceeded_in(rows: Sequence[Row]) -> dict[str, int]:
    """Return the reasons that name an exceeded constant, with how many rows were left out for it.

    One for each problem and constant: the first member at which it is exceeded stands for others.
    """
    rows = [row for row in rows if row.verdict is Verdict.INAPPLICABLE and DECLARED in row.reason]
    heads = [row.reason.partition(DECLARED)[0] for row in rows]
    first = {head: row.reason for head, row in reversed([*zip(heads, rows, strict=True)])}
    return {first[head]: heads.count(head) for head in dict.fromkeys(heads)}


def rests_on_constants(claim: Any, form: Form, row: Row) -> bool:
    """Say whether a verdict rests on ends that were derived from a problem's constants."""
    sampled = row.evidence is Evidence.SEQUENTIAL and not claim.conditional
    return sampled and (form.range or claim.range) is None


def used_roles(claim: Claim[Any], case: Case, form: Form) -> set[str]:
    """Return the roles that a form's verdict on a case rests on."""
    notation = claim.notation(case)
    assumed = (*claim.assumes, *form.assumes)
    roles = {role for assumption in assumed for role in assumption.roles}
    free = any(assumption.applies is not None for assumption in assumed)
    formulas = claim.formulas(form)
    if free or formulas is None:
        return roles | {*case.problem.constants, GAP}  # what those look at is theirs to choose
    for formula in formulas:
        letters = Letters(notation)
        stated(formula, letters)
        roles |= {notation[letter] for letter in letters.used}
    related = (a for a in assumed if a.relation is not None)
    return roles.union(*(relation_of(assumption, notation.key).roles for assumption in related))


def refusal(claim: Claim[Any], case: Case, form: Form, sentences: Mapping[str, str]) -> str | None:
    """Return why a form cannot be judged on a case, if a constant that it uses is exceeded."""
    roles = used_roles(claim, case, form)
    reasons = [sentence for role, sentence in sentences.items() if role in roles]
    return "; ".join(reasons) or None
