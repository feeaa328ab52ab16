"""Jobs: what it takes to judge a claim, as generators that ask for tasks.

A job yields lists of tasks, is sent what they gave, and returns its rows. It computes nothing that
takes long itself, so any number of jobs share one pool of workers, and what a job decides
depends only on the tasks' results, in their order. Every judge goes through the same loop.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from typing import Any

from driftproof.toolkit.cases import Case
from driftproof.toolkit.constants import Letters, stated
from driftproof.toolkit.errors import UndecidableError
from driftproof.toolkit.verdict import Row
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.claim_types.sources import Source, blaming
from driftproof.verifiers.judges import assumptions, at_numbers, audit_gate
from driftproof.verifiers.judges.decide import inapplicable, undecided
from driftproof.verifiers.judges.ends import how_of
from driftproof.verifiers.judges.judge import (
    UNDECIDABLE,
    ClaimTask,
    Group,
    Judge,
    Result,
    Tasks,
    judges_of,
)
from driftproof.verifiers.judges.rows import case_entry, row_of


def jobs_for(
    source: Source, claim: Claim[Any], *, profile: str, seed: int, device: str, siblings: bool
) -> list[Tasks]:
    """Return the jobs that judge a claim's forms (with or instead of its false siblings)."""
    ask = ClaimTask(source, _attack, seed=seed, device=device)
    wanted = [k for k, form in enumerate(claim.forms) if siblings or form.form != "sibling"]
    jobs: list[Tasks] = []
    for judge in judges_of(claim):
        taken = [k for k in wanted if judge.takes(claim, claim.forms[k])]
        for group in judge.groups(claim, taken, profile) if taken else ():
            jobs.append(_guarded(_job(judge, claim, group, ask, profile), source))
    return jobs


def _guarded(job: Tasks, source: Source) -> Tasks:
    with blaming(source):
        return (yield from job)


def _job(judge: Judge, claim: Claim[Any], group: Group, ask: ClaimTask, profile: str) -> Tasks:
    """Judge a group: whatever of its cases is a user's own is attacked before."""
    found, tried = yield from _attacked(claim, group, ask, profile)
    rows: dict[int, Row] = {}
    for case, sentences in found:
        for k in group.forms:
            form = claim.forms[k]
            reason = audit_gate.refusal(claim, case, form, sentences)
            if reason is not None and k not in rows:
                rows[k] = row_of(claim, form, case_entry(case), inapplicable(), None, reason)
    kept = [k for k in group.forms if k not in rows]
    left = group._replace(forms=kept)
    judged = (yield from _judged(judge, claim, left, ask, profile)) if kept else []
    unused = [text for _, sentences in found for text in sentences.values()]
    if unused:  # a reader should know, though nothing here rests on it
        judged = [_beside(claim, group, row, unused[0]) for row in judged]
    return [replace(row, attacked=tried) for row in (*rows.values(), *judged)]


def _beside(claim: Claim[Any], group: Group, row: Row, sentence: str) -> Row:
    """Return a row that names a constant which is exceeded, though the statement has it nowhere."""
    form = next(form for form in (claim.forms[k] for k in group.forms) if form.key == row.form_key)
    if audit_gate.rests_on_constants(claim, form, row):
        return row_of(claim, form, row.case, inapplicable(), None, sentence)
    mistake = f"beside this, {sentence}: mend constants"
    return replace(row, reason=f"{row.reason}; {mistake}" if row.reason else mistake)


def _attacked(claim: Claim[Any], group: Group, ask: ClaimTask, profile: str) -> Any:
    """Return what attacks found of a user's own cases, one for each problem, and their points."""
    first: dict[str, int] = {}
    for number in group.cases:
        case = claim.every_case[number]
        if not case.over_class and audit_gate.to_check(case):
            first.setdefault(audit_gate.key_of(case), number)
    if not first:
        return [], 0
    cases, full = [claim.every_case[number] for number in first.values()], profile == "full"
    ask = replace(ask, do=_open, seed=0, device="cpu", kept=True, early=True)
    yield [
        replace(ask, number=number, case=key, form=k)
        for key, number in first.items()
        for k in group.forms
    ]
    ask = replace(ask, do=_attack, early=False, shared=True)
    results = yield [
        replace(ask, number=number, case=key, args=(full, audit_gate.said_by(case.problem)))
        for (key, number), case in zip(first.items(), cases, strict=True)
    ]
    found = [json.loads(blob) for blob, _ in results]
    told = [(case, sentences) for case, (sentences, _) in zip(cases, found, strict=True)]
    return told, sum(tried for _, tried in found)


def _open(claim: Any, task: ClaimTask) -> bytes:
    """Do the task of telling a mistake before an attack, which may take a minute.

    It audits a user's own parts, and asks for the right side and for the first of the left side.
    """
    from driftproof.verifiers.judges.attacked import audited

    case, form = task.of(claim)
    audited(case)
    with suppress(UndecidableError):
        if claim.measures and assumptions.outside(claim, case, form) is None:
            stated(form.right, Letters(claim.notation(case)))
            how_of(form.left or claim.left, case)
    return b""


def _attack(claim: Any, task: ClaimTask) -> bytes:
    """Do the task of attacking the constants that a case declares."""
    from driftproof.verifiers.judges.attacked import FULL, QUICK, look

    full, _ = task.args
    return json.dumps(look(task.of(claim)[0], FULL if full else QUICK)).encode()


def _judged(judge: Judge, claim: Claim[Any], group: Group, ask: ClaimTask, profile: str) -> Tasks:
    """Return a judge's rows: with its time, and with what its case meets by rounding alone."""
    cases = [claim.every_case[number] for number in group.cases]
    silent = _silent(claim, group, cases) if judge.on_numbers else {}
    group = group._replace(forms=[k for k in group.forms if k not in silent])
    if not group.forms:
        return [*silent.values()]
    forms = {form.key: form for form in (claim.forms[k] for k in group.forms)}
    tasks, results, seconds = judge.rows(claim, group, ask, profile), None, 0.0
    while True:
        try:
            asked = next(tasks) if results is None else tasks.send(results)
        except StopIteration as end:
            rows: list[Row] = end.value
            break
        results = yield asked
        seconds += sum(took for _, took in results)
        told = _why_undecidable(results)
        if told is not None:
            rows = [_undecidable(claim, form, cases, told) for form in forms.values()]
            break
    if judge.edges and len(cases) == 1:
        rows = [
            assumptions.flag_edge_cases(claim, cases[0], forms[row.form_key], row) for row in rows
        ]
    if len(cases) == 1:
        rows = [assumptions.flag_numbers(claim, cases[0], forms[row.form_key], row) for row in rows]
    return [*silent.values(), *(replace(row, seconds=row.seconds or seconds) for row in rows)]


def _silent(claim: Claim[Any], group: Group, cases: Sequence[Case]) -> dict[int, Row]:
    """Return the rows of the forms that say nothing of a case, or of which nobody can tell."""
    rows: dict[int, Row] = {}
    for case, k in product(cases, group.forms):
        form = claim.forms[k]
        try:
            told, decision = assumptions.outside(claim, case, form), inapplicable()
            if told is None:
                at_numbers.check(claim, form, case)
        except UndecidableError as error:
            told, decision = error.told, undecided()
        if told is not None:
            rows.setdefault(k, row_of(claim, form, case_entry(case), decision, None, told))
    return rows


def _undecidable(claim: Claim[Any], form: Form, cases: Sequence[Case], told: str) -> Row:
    """Return the row of a form whose judge cannot say anything."""
    case = case_entry(cases[0]) if cases else {"key": "proof", "label": "for all choices"}
    return row_of(claim, form, case, undecided(), None, told)


def _why_undecidable(results: Sequence[Result]) -> str | None:
    """Return why a result cannot be had, of the first that cannot (None: all can)."""
    for blob, _ in results:
        if blob.startswith(UNDECIDABLE):
            return blob.removeprefix(UNDECIDABLE).decode()
    return None
