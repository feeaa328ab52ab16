"""Judges limits: a potential proves that an algorithm converges, a cycle or a quadratic refutes it.

What is judged is ‖x_t − x*‖². A claim of another measure m, as F(x_t) − F* or ‖∇F(x_t)‖², has its
verdict if certificates say that m ≤ c‖x − x*‖², where it is SUPPORTED, or ‖x − x*‖² ≤ cm, where it
is REFUTED: of rates, of → 0 and of what stays bounded no c matters (``_carried``).

Any state may be where a run begins. What is tried, in this order: the slowest mode where gradients
are linear, which no rate may undercut; fixed points that are not x*; potentials, of the stated ρ or
the smallest that is found; a V ≥ 0 that falls by m ≥ 0 in each round, so that m → 0 also where no
linear rate holds; such a V that is c‖x − x*‖² for each of several x*, so that x_t goes to one of
them; cycles of a few lengths. A class without minimisers has quadratics and such a V.
Of a rate in t that a claim states, a V_t is sought in place of all that comes after the first; if
none is found, the reason has worst cases after a few rounds, which decide nothing.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np

from driftproof.synthetic.classes.function_class import FunctionClassProblem, over
from driftproof.synthetic.classes.functions import smooth_strongly_convex
from driftproof.synthetic.classes.relations import (
    any_state,
    counted,
    recurs,
    shared_minimiser,
    start_anywhere,
    start_within,
)
from driftproof.toolkit.cases import Case
from driftproof.toolkit.errors import DriftproofError, UndecidableError
from driftproof.toolkit.gram.tensor import NotLinearError
from driftproof.toolkit.measure import Reduction, Steps, each, sq
from driftproof.toolkit.rationals import rounded
from driftproof.toolkit.verdict import Evidence, Row, Verdict
from driftproof.verifiers.claim_types.bound import BoundClaim
from driftproof.verifiers.claim_types.claim import Form
from driftproof.verifiers.claim_types.limit import POWERS, LimitClaim, converges
from driftproof.verifiers.judges import worst_cases
from driftproof.verifiers.judges.decide import Decision, settled, undecided
from driftproof.verifiers.judges.judge import ClaimTask, Judge, pack_rows
from driftproof.verifiers.worst_case.builder import (
    build,
    fields_of_iterate,
    iterate_of,
    name_of_iterate,
    round_from_any_state,
)
from driftproof.verifiers.worst_case.cycles import from_rest, in_motion
from driftproof.verifiers.worst_case.exact import rational
from driftproof.verifiers.worst_case.on_quadratics import Mode, runs, slowest
from driftproof.verifiers.worst_case.potential import (
    AnyRound,
    NoPotentialError,
    Potential,
    any_round,
    at_most,
    check_rounds,
    descent,
    potential,
)
from driftproof.verifiers.worst_case.sdp import WorstCase
from driftproof.verifiers.worst_case.statement import combined
from driftproof.verifiers.worst_case.sublinear import sublinear

LENGTHS = range(2, 9)
"""Lengths of cycles that are tried; one of one round is a fixed point."""
MOST_GRADIENTS = 40
"""Of a cycle of several rounds that is tried; a program of more takes minutes."""
ABOVE = 1e-6
"""By how much a run in doubles may exceed what is certified, relatively."""
FEW, FEW_GRADIENTS = (1, 2, 4), 8
"""Rounds after which worst cases are measured where no rate is proved, and gradients at most."""
DIGITS = 2, 4
"""Of ρ, where the smallest is sought: a method that needs the second is slow."""
OFF = "distance"
"""The name of ‖x − x*‖² beside what a claim measures."""


def judge(claim: LimitClaim, case: Case, form: Form) -> Row:
    """Return the row of one form over one class.

    Raises:
        DriftproofError: the class has letters; the function measures more than one number, or not
            after the round; or ρ is not in (0, 1].
    """
    one, declare = _check(claim, case, form)
    row = partial(_carried, claim, case, form, one)
    right = worst_cases.right_side(claim, case, form)
    if not 0 < right.low <= right.high <= 1:
        raise DriftproofError(
            f"limit {claim.name} with a factor of {float(right.low):g} in each round",
            "ρ in ‖x_t − x*‖² = O(ρ^t), above 0 and at most 1",
            "leave right out for x_t → x* alone",
        )
    whole = case.problem
    assert isinstance(whole, FunctionClassProblem)
    only_converges = form.right is converges
    mode = slowest_of(claim, case, form)
    bounded = not only_converges and right.low == 1  # no more than that is said
    least = float(mode.factor.lower()) if mode else None
    facts: dict[str, Any] = {
        "rhs": float(right.low),
        "comparisons": 1,
        "lhs": {"mean": None if only_converges else least, "low": least, "high": None},
    }
    if mode is not None and mode.exceeds(None if only_converges else right.high):
        facts |= {"lhs": facts["lhs"] | {"mean": least}, "series": mode.said}
        return row(settled(False), str(mode), Evidence.ENCLOSED, mode=mode, **facts)
    if claim.rate:
        return _in_t(claim, case, form, facts)
    solvable = whole.function_class.solvable
    parts = [of for of in (whole.function_class, whole.term) if of is not None]
    one_minimiser = any(of.parameters.get("mu") for of in parts)
    smooth = whole.term is None and "L" in whole.function_class.parameters
    fixed = one_minimiser or (solvable and smooth)  # where ∇F = 0 there is a minimiser
    if fixed and not bounded and (cycle := _cycle(claim, case, whole, [1])) is not None:
        return row(settled(False), **facts | cycle)
    found, why = None, "no linear rate holds where mu = 0"  # (λ/2)‖x‖² has none for all λ > 0
    if solvable and (one_minimiser or bounded):
        found, why = _potential(case, whole, None if only_converges else right.low)
    if solvable and bounded and found is None:
        found, why = _potential(case, whole, None, floor=True)
    if found is not None:
        rho = float(found.rho)
        facts["lhs"] = {"mean": rho if only_converges else least, "low": least, "high": rho}
        facts["attained"] = mode is not None and not only_converges and mode.reaches(right.high)
        facts["proofs"] = _named(claim, case, form, found.certificates)
        _check_runs(case, whole, found)
        reason = f"{found}\n  {worst_cases.REPLAYED}"
        return row(settled(True), reason, **facts)
    begun = round_from_any_state(case.algorithm, whole.conditions, whole.clients)
    one_path = solvable and begun.outcomes == 1
    if only_converges and not one_minimiser:
        if (summed := _summable(claim, case, form)) is not None:
            said, facts["proofs"] = summed
            return worst_cases.row(claim, case, form, settled(True), said, **facts)
        why += "; no V was found that falls by what is measured"
        if one_path and (nearer := _nearer_to_all(claim, case, form)) is not None:
            said, facts["proofs"] = nearer
            return row(settled(True), said, **facts)
    if not solvable and not only_converges:
        why = "where there may be no x*, no rate is sought: leave right out, for m → 0"
    if one_path and not bounded:
        each_round = whole.clients * int(case.algorithm.local_steps)
        each_round *= 1 + whole.function_class.saddle  # of x, and of y
        lengths = [n for n in LENGTHS if n * each_round <= MOST_GRADIENTS]
        if (cycle := _cycle(claim, case, whole, lengths)) is not None:
            return row(settled(False), **facts | cycle)
        tried = f"of {lengths[0]} to {lengths[-1]} rounds was found" if lengths else "was sought"
        why += f"; no cycle {tried}"
    return row(undecided(), why + f"; {declare}" * bool(declare), **facts)


def slowest_of(claim: LimitClaim, case: Case, form: Form) -> Mode | None:
    """Return the mode that breaks a limit, if one does, else the slowest; None: there is none."""
    factor = None
    if form.right is not converges:
        factor = worst_cases.right_side(claim, case, form).high
    with suppress(*[NotLinearError] * bool(claim.rate)):  # steps that calculate with t
        return slowest(case.algorithm, case.problem, factor)
    return None


def _in_t(claim: LimitClaim, case: Case, form: Form, facts: dict[str, Any]) -> Row:
    """Return the row of a rate O(1/t^n), which a V_t proves."""
    whole, why = case.problem, "without an x* no rate is sought: leave rate out, for m → 0"
    smooth = whole.term is None  # a sum with a term has no gradient that V could have
    left, n = form.left or claim.left, POWERS[claim.rate]
    for gradients in (False, True)[: (1 + smooth) * whole.function_class.solvable]:
        try:
            said, files = sublinear(case.algorithm, whole, left, n, gradients)
        except DriftproofError as error:
            why = error.got if not gradients else f"{why}; with gradients in V, {error.got}"
            continue
        facts["proofs"] = _named(claim, case, form, files)
        said += f"\n  {worst_cases.REPLAYED}"
        return worst_cases.row(claim, case, form, settled(True), said, **facts)
    why += _after_few_rounds(case, left, n) if whole.function_class.solvable else ""
    return worst_cases.row(claim, case, form, undecided(), why, **facts)


def _after_few_rounds(case: Case, left: Any, n: int) -> str:
    """Return how large t^n·m is at most after a few rounds ("": this is not known)."""
    whole, made = case.problem, dict[int, str]()
    begun = replace(whole, conditions=(*whole.conditions, start_within(R=1)))
    most = FEW_GRADIENTS // (whole.clients * int(case.algorithm.local_steps))
    for t in (t for t in FEW if t <= most):
        with suppress(DriftproofError):
            one = build(case.algorithm, begun, rounds=t, left=left)[-1]
            start = next(of.quantity for of in one.relations if of.name == "start")
            if found := at_most(one, one.objective * t**n, start):
                made[t] = rounded(found[0], 3, up=True)
    times, sizes = (", ".join(map(str, of)) for of in (made, made.values()))
    of, x = f"t^{n}·m" if n > 1 else "t·m", name_of_iterate(case.algorithm, whole.function_class)
    said = f"; measured at t = {times}: {of} is at most {sizes} times ‖{x}_0 − x*‖²"
    return f"{said}; this says nothing of larger t" * bool(made)


def _named(claim: LimitClaim, case: Case, form: Form, of: Mapping[str, str]) -> dict[str, str]:
    """Return certificates under the names of their files."""
    return {worst_cases.file_name(claim, case, form, name): text for name, text in of.items()}


def _check(claim: LimitClaim, case: Case, form: Form) -> tuple[WorstCase, str]:
    """Refuse letters, conditions on the start, and what is not measured after a round.

    Returns:
        What is measured after a round from any state, with ‖x − x*‖² beside it; and what the
        algorithm may declare, so that a potential is found ("": nothing).
    """
    if worst_cases.letters_in(case):
        raise DriftproofError(
            f"limit {claim.name} over {case.problem}",
            "numbers, since a potential is sought at numbers",
            "write smooth_strongly_convex(L=25, mu=1), say; for letters state a bound of one round",
        )
    whole = case.problem
    begin = [counted()] * bool(claim.rate and whole.function_class.solvable)
    conditions = (*whole.conditions, *begin)
    declare = check_rounds(f"limit {claim.name}", case.algorithm, conditions, whole.clients)
    stated = _measured(case, conditions, form.left or claim.left)
    wanted = _measured(case, conditions, _distance(case), ours=True)
    if [of.parts.get(OFF) for of in stated] != [of.objective for of in wanted]:
        parts = [
            f'view.mean("{x}")' for x in fields_of_iterate(case.algorithm, whole.function_class)
        ]
        iterate = f"torch.cat(({', '.join(parts)}))" if len(parts) > 1 else parts[0]
        name = name_of_iterate(case.algorithm, whole.function_class)
        raise DriftproofError(
            f"limit {claim.name}, whose function measures something else",
            f"one number after the round, as ‖{name} − x*‖²",
            f'return each("round", "local_step", sq({iterate} - view.minimiser)) if view.last else '
            "None; or view.gap(…), or sq(view.gradient(…))",
        )
    return stated[0], declare


def _distance(case: Case) -> Callable[[Steps], Reduction | None]:
    """Return the measure ‖x − x*‖² after a round; without an x*, how far the round goes."""

    def left(view: Steps) -> Reduction | None:
        problem: Any = view.problem
        iterate = partial(iterate_of, case.algorithm, case.problem)
        to = view.minimiser if problem.asked.solvable else iterate(view.round_start)
        return each("round", "local_step", sq(iterate(view.mean) - to)) if view.last else None

    return left


def _measured(
    case: Case, conditions: Sequence[Any], left: Any, ours: bool = False
) -> list[WorstCase]:
    """Return what a measure is after a round from any state, with the distance beside it."""
    begin = () if counted() in conditions else (any_state(),)
    whole = replace(case.problem, conditions=(*conditions, *begin))

    def beside(view: Steps) -> Reduction | None:
        made: Reduction | None = left(view)
        off = _distance(case)(view)
        if made is None or off is None or made.by_client:
            return made
        return replace(made, parts={OFF: off.value})

    return build(case.algorithm, whole, rounds=1, left=beside, ours=ours)


def _carried(
    claim: LimitClaim,
    case: Case,
    form: Form,
    one: WorstCase,
    decision: Decision,
    *said: Any,
    mode: Mode | None = None,
    **facts: Any,
) -> Row:
    """Return the row of what is decided of ‖x_t − x*‖², carried over to what the claim measures.

    Args:
        mode: what refutes, of functions of which more is known than of the class.
    """
    made = worst_cases.row(claim, case, form, decision, *said, **facts)
    supported = made.verdict is Verdict.SUPPORTED
    solvable = case.problem.function_class.solvable
    if made.verdict is Verdict.INCONCLUSIVE or (solvable and one.objective == one.parts[OFF]):
        return made
    clients = mode.clients if mode is not None else []
    sizes: list[Any] = [matrix[0][0] for matrix in clients if len(matrix) == 1]
    curved = bool(sizes) and min(sizes) > 0
    comparable = solvable or curved  # else x* may not be, and "distance" is how far a round goes
    if curved:  # quadratics, of these curvatures
        bent = smooth_strongly_convex(L=2 * max(sizes), mu=min(sizes) / 2)
        every = case.problem.conditions
        conditions = [bent if of == case.problem.function_class else of for of in every]
        (one,) = _measured(case, conditions, form.left or claim.left)
    left, off = one.objective, one.parts[OFF]
    # what goes to 0 is |m|
    pairs = [(left, off), (left * -1, off)] if supported else [(off, left)]
    found = list(filter(None, (at_most(one, *pair) for pair in pairs if comparable)))
    distance = f"‖{name_of_iterate(case.algorithm, case.problem.function_class)} − x*‖²"
    sides = ("|m|", distance) if supported else (distance, "m")
    if len(found) < len(pairs):
        said_of = f"{made.verdict} of {distance}, and no c is found with {sides[0]} ≤ c·{sides[1]}"
        return worst_cases.row(
            claim,
            case,
            form,
            undecided(),
            f"{said_of} of what is measured, m. Gradients of the class need a Lipschitz constant L "
            f"for what is SUPPORTED, and μ > 0 for what is REFUTED; or state it of {distance}. "
            f"{made.reason}",
            lhs={"mean": None, "low": None, "high": None},
            rhs=made.rhs,
            comparisons=1,
        )
    reason = (
        f"{made.reason}\n  so it is {made.verdict} of what is measured, m, since after a round "
    )
    files = {f"measure-{k}": text for k, (_, text) in enumerate(found, 1)}
    return replace(
        made,
        reason=f"{reason}{sides[0]} ≤ {rounded(max(found)[0], 6, up=True)}·{sides[1]}",
        proofs={**made.proofs, **_named(claim, case, form, files)},
    )


def _check_runs(case: Case, whole: FunctionClassProblem, found: Potential) -> None:
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
    case: Case, whole: FunctionClassProblem, rho: Fraction | None, floor: bool = False
) -> tuple[Potential | None, str]:
    """Return a potential, or why there is none.

    Args:
        floor: whether it may have a floor, which says that iterates stay bounded.
    """
    why = ""
    smooth = whole.term is None  # a sum with a term has no gradient that V could have
    classes, clients = whole.conditions, whole.clients

    @cache
    def known(gradients: bool) -> AnyRound:
        return any_round(case.algorithm, classes, clients=clients, gradients=gradients)

    for digits in DIGITS if rho is None else DIGITS[:1]:
        for gradients in (False, True)[: 1 + smooth]:
            try:
                found = potential(
                    case.algorithm,
                    classes,
                    clients=clients,
                    gradients=gradients,
                    digits=digits,
                    rho=rho,
                    known=known(gradients),
                )
            except NoPotentialError as error:
                why = error.got
                continue
            if floor or not found.constant:  # what is added at the start falls with the rest
                return found, ""
            why = f"a potential with ρ = {float(found.rho)} has a floor"
    return None, why


def _summable(claim: LimitClaim, case: Case, form: Form) -> tuple[str, dict[str, str]] | None:
    """Return why what is measured goes to 0 by a V that falls by it, and the certificates."""
    whole, left = case.problem, form.left or claim.left
    for gradients in (False, True)[: 1 + (whole.term is None)]:
        found = descent(
            case.algorithm, whole.conditions, left, clients=whole.clients, gradients=gradients
        )
        if found is not None:
            weights, files = found
            V = combined((name, rational(c)) for name, c in weights.items())
            return (
                f"what is measured, m ≥ 0, goes to 0, since its sum over all rounds is finite:\n"
                f"  a round from any state has V⁺ ≤ V − m, with V = {V},\n"
                f"  in any state V ≥ 0\n  {worst_cases.REPLAYED}",
                _named(claim, case, form, files),
            )
    return None


def _nearer_to_all(claim: LimitClaim, case: Case, form: Form) -> tuple[str, dict[str, str]] | None:
    """Return why x_t goes to some minimiser, and the certificates (Opial 1967).

    For every x* each round has c‖x⁺ − x*‖² ≤ c‖x − x*‖² − m, m ≥ 0. So ‖x_t − x*‖ has a limit for
    each x*, and m → 0. x_t is bounded, so it has a limit point. That is an x* if m = F(x_t) − F*,
    for a lower semicontinuous F, or m = ‖∇F(x_t)‖², for a continuous field ∇F. Then ‖x_t − x*‖,
    which has a limit, goes to 0 for this x*. F(x⁺) is finite: a certificate holds of maxima of
    affine functions below F, too.

    Not where a run is many paths, of which a certificate has means alone; nor where clients' fields
    share an x*, of which alone it speaks: their mean may have other zeros.
    """
    whole, x = case.problem, case.algorithm.iterate
    valued = any(whole.function_class.conditions[0].values)
    continuous = whole.term is None and "L" in whole.function_class.parameters
    if not valued and not (continuous and shared_minimiser() not in whole.relations):
        return None

    def left(view: Steps) -> Reduction | None:
        if not view.last:
            return None
        at = view.mean(x)
        return each("round", "local_step", view.gap(at) if valued else sq(view.gradient(at)))

    try:
        found = descent(
            case.algorithm, whole.conditions, left, clients=whole.clients, distance=True
        )
    except DriftproofError:  # the iterate may lie outside of a set
        return None
    if found is None or not (c := sum(found[0].values())):  # of V = 0 nothing follows
        return None
    what, m = ("minimiser", f"F({x}⁺) − F*") if valued else ("solution", f"‖∇F({x}⁺)‖²")
    return (
        f"x* is the {what} that {x}_t goes to; which one depends on the start:\n"
        f"  a round from any state has V⁺ ≤ V − m for every {what} x*, with\n"
        f"  V = {float(c):.6g}·‖{x} − x*‖² and m = {m} ≥ 0, so ‖{x}_t − x*‖ has a limit, m → 0,\n"
        f"  and a limit point of {x}_t is a {what}, which {x}_t then goes to (Opial 1967)\n"
        f"  {worst_cases.REPLAYED}",
        _named(claim, case, form, found[1]),
    )


def _cycle(
    claim: LimitClaim, case: Case, whole: FunctionClassProblem, lengths: Iterable[int]
) -> dict[str, Any] | None:
    """Return what a row says of a run that ends in its first state.

    Of one round, its iterate is not x*: ∇F is not 0 there where x* is one of several. Of several
    rounds, the iterate moves.
    """
    one_minimiser = whole.function_class.parameters.get("mu") or whole.term is not None
    for length in lengths:

        def left(view: Steps, length: int = length) -> Reduction | None:
            start, x = (
                iterate_of(case.algorithm, whole, of) for of in (view.round_start, view.mean)
            )
            if length > 1:
                off = sq(start - x)
            elif one_minimiser:
                off = sq(start - view.minimiser)
            else:
                off = sq(view.gradient(start))
            return each("round", "local_step", off) if view.last else None

        conditions = [*whole.conditions, start_anywhere(R=1, a=1), recurs()]
        made = BoundClaim(
            name=claim.name,
            source=claim.source,
            right=lambda c: 0,
            statement=r"x_{t+n} = x_t \Rightarrow x_{t+1} = x_t",
            classes=over(conditions, case.algorithm, rounds=length, clients=whole.clients),
        )(left)
        form, over_class = made.forms[0], made.classes[0]
        measured = worst_cases.measure(made, over_class, [form], any_dimension=True)
        found = worst_cases.judge(made, over_class, form, measured)
        if found.verdict is Verdict.REFUTED:
            what = f"a cycle of {length} rounds"
            if length == 1:
                what = f"a fixed point that is {'not x*' if one_minimiser else 'no minimiser'}"
            kept = {name: getattr(found, name) for name in ("lhs", "rhs", "proofs", "series")}
            said = found.reason
            files, method = [*map(json.loads, found.proofs.values())], case.algorithm
            if '"c_0"' in json.dumps([of["functions"] for of in files]):
                motion = length > 1 and in_motion(method)
                begins = "in motion, x_(−1) ≠ x_0" if motion else "in x_0 and c_0, what the method "
                begins += "remembers" * (not motion)
                other = f"{'rest' if motion else 'init'}, which need not come there, is not refuted"
                if rest := from_rest(files[0], length, method):
                    other = f"rest at x_0 = {rest[0]} comes to it too, on the f of --tex"
                said += f". It begins {begins}: a run from {other}"
            return kept | {"reason": f"{what}: {said}"}
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
