"""Judges a proof by its steps: ``algebra.symbolic`` decided each, or it is argued in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.readings import ByProof
from driftproof.toolkit.series import ProofSteps
from driftproof.toolkit.verdict import Evidence, Row
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.judges.decide import settled
from driftproof.verifiers.judges.judge import ClaimTask, Judge, pack_rows
from driftproof.verifiers.judges.rows import row_of

if TYPE_CHECKING:
    from driftproof.verifiers.algebra.symbolic import Step


def judge(claim: Claim[Any], form: Form, steps: Sequence[Step]) -> Row:
    """Return the row of a proof: SUPPORTED if every step holds, REFUTED if a computed one fails.

    Steps in words alone decide nothing: then the row is INCONCLUSIVE.

    Raises:
        DriftproofError: there are no steps.
    """
    if not steps:
        raise DriftproofError(
            f"prove(right) of claim {claim.name} returned no steps",
            "one step or more",
            "return [vanishes(left - right, 'left = right')], say; driftproof has vanishes",
        )
    failed = [step for step in steps if step.holds is False and step.computed]
    said = [step for step in steps if step.holds is False and not step.computed]
    open_ = [step for step in steps if step.holds is None]
    holds, reason = None, ""
    if failed:
        holds, reason = False, f"{_step(steps, failed[0])} fails: {failed[0].why}"
    elif said:
        reason = f"{_step(steps, said[0])} fails by an argument, not by a computation: "
        reason += said[0].why
    elif open_:
        reason = f"{_step(steps, open_[0])} is {open_[0].why}"
    elif not any(step.computed for step in steps):
        reason = "every step is argued in words, and none is computed"
    else:
        holds = True
    return row_of(
        claim,
        form,
        {"key": "proof", "label": "algebra, step by step"},
        settled(holds),
        Evidence.SYMBOLIC,
        reason,
        comparisons=len(steps),
        series=ProofSteps([[step.says, step.holds, _reason(step)] for step in steps]),
    )


def _reason(step: Step) -> str:
    if step.computed or step.holds is None:
        return step.why
    return f"argued, not computed: {step.why}" if step.why else "argued, not computed"


def _step(steps: Sequence[Step], step: Step) -> str:
    """Name a step in a sentence; the page typesets it."""
    return f"step {steps.index(step) + 1} of {len(steps)} of the check"


def steps_of(claim: Claim[Any], form: Form) -> Sequence[Step]:
    """Return the steps that decide a form: its own, or the claim's."""
    if isinstance(form.right, ByProof):
        return form.right.steps()
    assert claim.prove is not None
    return claim.prove(form.right)


def proof(claim: Claim[Any], task: ClaimTask) -> bytes:
    """Do the task of deciding a form's steps, which may say nothing of a form that cases decide."""
    form = claim.forms[task.form]
    steps = steps_of(claim, form)
    silent = not steps and claim.judged_on and not isinstance(form.right, ByProof)
    return pack_rows([] if silent else [judge(claim, form, steps)])


class Proofs(Judge):
    """Judges by algebra, on no case."""

    task = staticmethod(proof)

    def takes(self, claim: Claim[Any], form: Form) -> bool:
        """Return whether there are steps."""
        usual = claim.prove is not None and super().takes(claim, form)
        return usual or isinstance(form.right, ByProof)

    def numbers(self, claim: Claim[Any], profile: str) -> None:
        """Return that it needs no case."""


JUDGE = Proofs()
