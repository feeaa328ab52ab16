"""Judges limits: a potential proves that an algorithm converges, a cycle or a quadratic refutes it.

Any state may be where a run begins. What is tried, in this order: the slowest mode where gradients
are linear, which no rate may undercut; fixed points that are not x*; potentials, of the stated ρ or
the smallest that is found; cycles of a few lengths.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from driftproof.synthetic.classes.relations import any_state, recurs, start_anywhere
from driftproof.synthetic.classes.whole import WholeClass, over
from driftproof.toolkit.cases import Case
from driftproof.toolkit.errors import DriftproofError, UndecidableError
from driftproof.toolkit.measure import Reduction, Steps, each, sq
from driftproof.toolkit.verdict import Evidence, Row, Verdict
from driftproof.verifiers.claim_types.bound import BoundClaim
from driftproof.verifiers.claim_types.claim import Form
from driftproof.verifiers.claim_types.limit import LimitClaim, converges
from driftproof.verifiers.judges import worst_cases
from driftproof.verifiers.judges.decide import settled, undecided
from driftproof.verifiers.judges.judge import ClaimTask, Judge, pack_rows
from driftproof.verifiers.worst_case.builder import build
from driftproof.verifiers.worst_case.on_quadratics import runs, slowest
from driftproof.verifiers.worst_case.potential import (
    NoPotentialError,
    Potential,
    check_rounds,
    potential,
)

LENGTHS = range(2, 9)
"""Lengths of cycles that are tried; one of one round is a fixed point."""
ABOVE = 1e-6
"""By how much a run in doubles may exceed what is certified, relatively."""
DIGITS = 2, 4
"""Of ρ, where the smallest is sought: a method that needs the second is slow."""


def judge(claim: LimitClaim, case: Case, form: Form) -> Row:
    """Return the row of one form over one class.

    Raises:
        DriftproofError: the class has letters; the function measures something else than how far
            the iterate is; or ρ is not in (0, 1].
    """
    row = partial(worst_cases.row, claim, case, form)
    _check(claim, case, form)
    right = worst_cases.right_side(claim, case, form)
    if not 0 < right.low <= right.high <= 1:
        raise DriftproofError(
            f"limit {claim.name} with a factor of {float(right.low):g} in each round",
            "ρ in ‖x_t − x*‖² = O(ρ^t), above 0 and at most 1",
            "leave right out for x_t → x* alone",
        )
    whole = case.problem
    assert isinstance(whole, WholeClass)
    only_converges = form.right is converges
    mode = slowest(case.algorithm, whole, None if only_converges else right.high)
    bounded = not only_converges and right.low == 1  # no more than that is said
    least = float(mode.factor.lower()) if mode else None
    facts: dict[str, Any] = {
        "rhs": float(right.low), "comparisons": 1,
        "lhs": {"mean": None if only_converges else least, "low": least, "high": None},
    }  # fmt: skip
    if mode is not None and mode.exceeds(None if only_converges else right.high):
        facts["lhs"] = facts["lhs"] | {"mean": least}
        return row(settled(False), str(mode), Evidence.ENCLOSED, **facts)
    one_minimiser = whole.function_class.parameters.get("mu")
    if one_minimiser and not bounded and (cycle := _cycle(claim, case, whole, [1])) is not None:
        return row(settled(False), **facts | cycle)
    found, why = None, "no linear rate holds where mu = 0"  # (λ/2)‖x‖² has none for all λ > 0
    if one_minimiser or bounded:
        found, why = _potential(case, whole, None if only_converges else right.low)
    if bounded and found is None:
        found, why = _potential(case, whole, None, floor=True)
    if found is not None:
        rho = float(found.rho)
        facts["lhs"] = {"mean": rho if only_converges else least, "low": least, "high": rho}
        facts["attained"] = mode is not None and not only_converges and mode.reaches(right.high)
        facts["proofs"] = {
            worst_cases.file_name(claim, case, form, name): text
            for name, text in found.certificates.items()
        }
        _check_runs(case, whole, found)
        reason = f"{found}\n  {worst_cases.REPLAYED}"
        return row(settled(True), reason, **facts)
    sampled = case.algorithm.cohort_size(whole.clients) < whole.clients  # a run is many paths
    if not bounded and not sampled:
        if (cycle := _cycle(claim, case, whole, LENGTHS)) is not None:
            return row(settled(False), **facts | cycle)
        why += f"; no cycle of {LENGTHS[0]} to {LENGTHS[-1]} rounds was found"
    return row(undecided(), why, **facts)


def _check(claim: LimitClaim, case: Case, form: Form) -> None:
    """Refuse letters, conditions on the start, and what measures something else."""
    if worst_cases.letters_in(case):
        raise DriftproofError(
            f"limit {claim.name} over {case.problem}",
            "numbers, since a potential is sought at numbers",
            "write smooth_strongly_convex(L=25, mu=1), say; for letters state a bound of one round",
        )
    whole = case.problem
    check_rounds(f"limit {claim.name}", case.algorithm, whole.conditions, whole.clients)
    free = replace(whole, conditions=(*whole.conditions, any_state()))

    def distance(view: Steps) -> Reduction | None:
        off = sq(view.mean(case.algorithm.iterate) - view.minimiser)
        return each("round", "local_step", off) if view.last else None

    measures: list[Any] = [form.left or claim.left, distance]
    stated, wanted = ([p.objective for p in build(case.algorithm, free, rounds=1, left=left)]
                      for left in measures)  # fmt: skip
    if stated != wanted:
        raise DriftproofError(
            f"limit {claim.name}, whose function measures something else",
            f"‖{case.algorithm.iterate} − x*‖² after the round",
            f'return each("round", "local_step", sq(view.mean("{case.algorithm.iterate}") - '
            "view.minimiser)) if view.last else None",
        )


def _check_runs(case: Case, whole: WholeClass, found: Potential) -> None:
    """Raise UndecidableError if a run on a quadratic of the class does not do what was certified.

    That refutes no limit, but that the certificate is one of this text.
    """
    for where, squares in runs(case.algorithm, whole):
        powers = float(found.rho) ** np.arange(len(squares))
        start, floor = float(found.size + found.at_start), 0.0
        if found.constant:
            floor = float(found.floor)
        above = squares > (start * powers + floor * (1 - powers)) * (1 + ABOVE) + ABOVE**2
        if above.any():
            t = int(above.argmax())
            raise UndecidableError(
                f"{case.algorithm} {where}: ‖x_{t} − x*‖² is {squares[t]:.6g} in doubles, more "
                f"than the {start * powers[t] + floor * (1 - powers[t]):.6g} that is certified",
                "a text that does the same with oracles of a problem",
                "leave out what tells one run from another",
            )


def _potential(
    case: Case, whole: WholeClass, rho: Fraction | None, floor: bool = False
) -> tuple[Potential | None, str]:
    """Return a potential, or why there is none.

    Args:
        floor: whether it may have a floor, which says that iterates stay bounded.
    """
    why = ""
    smooth = whole.term is None  # a sum with a term has no gradient that V could have
    for digits in DIGITS if rho is None else DIGITS[:1]:
        for gradients in (False, True)[: 1 + smooth]:
            try:
                found = potential(
                    case.algorithm, whole.conditions, clients=whole.clients, gradients=gradients,
                    digits=digits, rho=rho,
                )  # fmt: skip
            except NoPotentialError as error:
                why = error.got
                continue
            if floor or not found.constant:  # what is added at the start falls with the rest
                return found, ""
            why = f"a potential with ρ = {float(found.rho)} has a floor"
    return None, why


def _cycle(
    claim: LimitClaim, case: Case, whole: WholeClass, lengths: Iterable[int]
) -> dict[str, Any] | None:
    """Return what a row says of a run that ends in its first state.

    Of one round, its iterate is not x*; of several, the iterate moves.
    """
    for length in lengths:

        def left(view: Steps, length: int = length) -> Reduction | None:
            start, x = view.round_start(case.algorithm.iterate), view.mean(case.algorithm.iterate)
            off = start - (view.minimiser if length == 1 else x)
            return each("round", "local_step", sq(off)) if view.last else None

        conditions = [*whole.conditions, start_anywhere(R=1, a=1), recurs()]
        made = BoundClaim(
            name=claim.name, source=claim.source, right=lambda c: 0,
            statement=r"x_{t+n} = x_t \Rightarrow x_{t+1} = x_t",
            classes=over(conditions, case.algorithm, rounds=length, clients=whole.clients),
        )(left)  # fmt: skip
        form, over_class = made.forms[0], made.classes[0]
        measured = worst_cases.measure(made, over_class, [form])
        found = worst_cases.judge(made, over_class, form, measured)
        if found.verdict is Verdict.REFUTED:
            what = f"a cycle of {length} rounds" if length > 1 else "a fixed point that is not x*"
            kept = {name: getattr(found, name) for name in ("lhs", "rhs", "proofs", "series")}
            return kept | {"reason": f"{what}: {found.reason}"}
    return None


def limit(claim: LimitClaim, task: ClaimTask) -> bytes:
    """Do the task of judging a limit over a class."""
    case, form = task.of(claim)
    return pack_rows([judge(claim, case, form)])


class Limits(Judge):
    """Judges whether an algorithm converges on every function of a class."""

    task = staticmethod(limit)

    def numbers(self, claim: LimitClaim, profile: str) -> Sequence[int]:
        """Return its classes."""
        return claim.class_numbers(profile)


JUDGE = Limits()
