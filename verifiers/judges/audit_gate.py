"""What becomes of verdicts that rest on what a user's problem and algorithm declare.

Driftproof's own leaves are checked in its tests; any other is attacked before (``attacked``). A
form that uses a constant which is exceeded is INAPPLICABLE; the rows of others say so beside their
verdict.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from driftproof.toolkit.at_optimum import AT_OPTIMUM
from driftproof.toolkit.cases import Case
from driftproof.toolkit.constants import Letters, stated
from driftproof.toolkit.user_traceback import is_shipped
from driftproof.toolkit.verdict import Evidence, Row, Verdict
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.judges.assumptions import relation_of

GAP = "initial_gap"

DECLARED = " is declared "
"""What follows the role in the reason of a row whose constant is exceeded."""


def to_check(case: Case) -> bool:
    """Say whether something of a case is a user's own."""
    parts = (case.problem, case.algorithm)
    return any(part is not None and not is_shipped(part) for part in parts)


def key_of(case: Case) -> str:
    """Return a name of the problem and algorithm of a case, whatever its horizon."""
    parts = [part for part in (case.problem, case.algorithm) if part is not None]
    named = [[type(part).__qualname__, part.leaf_name, part.changed()] for part in parts]
    return json.dumps(named, sort_keys=True, default=str)


def said_by(problem: Any) -> str:
    """Return a digest of a user's problem: of its constants and of F at some points.

    Its code may be the same, and the data that it reads another: what was found of it does not
    count then.
    """
    import torch

    if is_shipped(problem):
        return ""
    x = torch.from_numpy(np.random.default_rng(0).standard_normal((problem.dim, 4)))
    said = [repr(sorted(problem.constants.items()))]
    with suppress(Exception):  # what is wrong with it the audit says
        said.append(repr(problem.objective(x).tolist()))
    return hashlib.blake2b("".join(said).encode(), digest_size=16).hexdigest()


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
        return roles | {*case.problem.proven, GAP}  # what those look at is theirs to choose
    for formula in formulas:
        letters = Letters(notation)
        stated(formula, letters)
        roles |= {notation[letter] for letter in letters.used}
    related = (a for a in assumed if a.relation is not None)
    roles = roles.union(*(relation_of(assumption, notation.key).roles for assumption in related))
    if roles & AT_OPTIMUM - set(case.problem.constants):
        return roles | {*case.problem.proven, GAP}  # these were derived from the others
    return roles


def refusal(claim: Claim[Any], case: Case, form: Form, sentences: Mapping[str, str]) -> str | None:
    """Return why a form cannot be judged on a case, if a constant that it uses is exceeded."""
    roles = used_roles(claim, case, form)
    reasons = [sentence for role, sentence in sentences.items() if role in roles]
    return "; ".join(reasons) or None
