r"""Judges the measured half of a rate: which orders do the left sides on a grid of T exclude?

𝒪(·) is one-sided. A faster decay than the claimed order supports it, a slower one does not. The
row is SUPPORTED if every order that is slower than the claimed one by more than T^resolution is
excluded (``growth``), and the claimed order, or a faster one, is not. It is ``attained``
if faster orders are excluded by the resolution too. Powers of log T that the grid cannot tell apart
are named. Finite horizons never refute a rate: that takes a floor.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from driftproof.toolkit.cases import Case
from driftproof.toolkit.series import Slope
from driftproof.toolkit.statistics import exceeds
from driftproof.toolkit.tolerances import BAND, LEVEL, Tolerance
from driftproof.toolkit.verdict import Evidence, Row, Verdict
from driftproof.verifiers.algebra.orders import Order, leading
from driftproof.verifiers.claim_types.claim import Form
from driftproof.verifiers.claim_types.order_in_statement import has_order
from driftproof.verifiers.claim_types.rate import RateClaim
from driftproof.verifiers.judges.advice import what_would_do
from driftproof.verifiers.judges.bands import bands
from driftproof.verifiers.judges.bounds import right_side
from driftproof.verifiers.judges.decide import (
    Comparisons,
    Decision,
    Interval,
    decide,
    settled,
    undecided,
)
from driftproof.verifiers.judges.evidence import Measured
from driftproof.verifiers.judges.growth import FEWEST, SPAN, STEP, Possible, possible
from driftproof.verifiers.judges.rows import row_of
from driftproof.verifiers.judges.schedule_check import measured_order, off_schedule, steps


@dataclass(frozen=True)
class Grid:
    """Left sides over a grid of horizons, and bands that hold all at once."""

    x: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray


def judge_slope(
    claim: RateClaim,
    form: Form,
    cases: Sequence[Case],
    measured: Sequence[Measured],
    exact: Mapping[int, tuple[float, float]] | None = None,
) -> Row:
    """Return the asymptotic row of a form: what the left side over a grid of T excludes.

    Args:
        exact: the left side where it is known exactly, by horizon, those of the cases among them.
    """
    size = claim.size or steps
    # listed by what a shorter profile takes first, drawn and judged in order
    order = sorted(range(len(cases)), key=lambda k: size(cases[k]))
    cases, measured = [cases[k] for k in order], [measured[k] for k in order]
    values, x = list(map(_last, measured)), np.array([size(case) for case in cases], dtype=float)
    claimed = leading(measured_order(claim, form.right), claim.horizon)
    sampled = Grid(x, *bands(values, LEVEL))
    grid, differs = with_exact(sampled, exact or {})
    entry = {"key": "slope", "label": f"T = {x[0]:g} … {x[-1]:g}, {cases[0]}"}
    odd = np.flatnonzero(~((grid.mean > 0) & (grid.mean < np.inf)))
    if len(odd):
        reason = f"the left side at T = {grid.x[odd[0]]:g} is {grid.mean[odd[0]]:.6g}: an order "
        reason += "needs left sides that are finite and above 0; choose an instance that has them"
        return row_of(claim, form, entry, undecided(), None, reason)
    bounds, over = _bounds(claim, cases, values)
    refuted = f"above the bound of {claim.derived} at T = {over[0]:g}" if over else ""
    few = f"{len(grid.x)} horizons from {grid.x[0]:g} to {grid.x[-1]:g}: it takes at least "
    few += f"{FEWEST}, the last of them {SPAN:g} times the first or more"
    if len(grid.x) < FEWEST:  # of so few no order can be told at all
        return row_of(
            claim,
            form,
            entry,
            settled(False if over else None),
            Evidence.ASYMPTOTIC,
            refuted or few,
            comparisons=len(grid.x),
            alpha=LEVEL,
            replicates=len(values[0]),
        )
    left = possible(grid.x, grid.low, grid.high, claimed)
    decision, reason = order_decided(left, claimed, claim.resolution)
    strays = off_schedule(claim, form, cases)
    if over:
        decision, reason = settled(False), refuted
    elif grid.x[-1] < SPAN * grid.x[0]:
        decision, reason = undecided(), few
    elif differs or strays:
        decision, reason = undecided(), differs or strays
    elif (
        decision.verdict is Verdict.INCONCLUSIVE and left.exponents and not _too_slow(left, claimed)
    ):
        widths = (sampled.high - sampled.low) / 2 / sampled.mean
        reason += f"; {what_would_do(grid.x, widths, len(values[0]), claimed, claim, bool(exact))}"
    slope, offset = np.polyfit(
        np.log(grid.x), np.log(grid.mean / np.log(grid.x) ** claimed.logs), 1
    )
    ends = left.exponents or (None, None)
    return row_of(
        claim, form,
        {"key": "slope", "label": f"T = {grid.x[0]:g} … {grid.x[-1]:g}, {cases[0].problem}, "
         f"{type(cases[0].algorithm).__name__}", "possible_exponents": left.exponents,
         "possible_logs": left.logs, "claimed_logs": claimed.logs, "used_from": left.first},
        decision, Evidence.ASYMPTOTIC, reason,
        lhs={"mean": float(slope), "low": ends[0], "high": ends[1]}, rhs=claimed.exponent,
        margin=claim.resolution,
        comparisons=len(grid.x), alpha=LEVEL, replicates=len(values[0]),
        series=Slope(
            x=grid.x.tolist(), mean=grid.mean.tolist(),
            low=grid.low.tolist(), high=grid.high.tolist(),
            bound=bounds if len(bounds) == len(grid.x) else (),
            fit=(np.exp(offset) * grid.x**slope * np.log(grid.x) ** claimed.logs).tolist(),
            reference=(grid.mean[-1] * claimed(grid.x) / claimed(grid.x[-1:])).tolist(),
            size=claim.size_name, left=has_order(claim.statement),
            order=[claimed.exponent, claimed.logs],
        ),
    )  # fmt: skip


def order_decided(left: Possible, claimed: Order, resolution: float) -> tuple[Decision, str]:
    """Return the verdict on a claimed order and what the data say.

    𝒪(·) is one-sided, and a finite grid refutes nothing: the exponents that are possible are
    compared with the claimed one as far as they are slower.
    """
    orders = _orders_in_words(left, claimed)
    if left.exponents is None:
        return undecided(), (
            f"no T^e with a transient T^-0.25 or faster passes through the left sides ({orders}): "
            "start the grid at a longer horizon"
        )
    if _too_slow(left, claimed):
        return undecided(), (
            f"slower than the claimed {claimed} on this grid: {orders}; only a floor refutes a rate"
        )
    low, high = left.exponents
    exponents = Interval(min(low, claimed.exponent), max(high, claimed.exponent))
    right = Interval(claimed.exponent, claimed.exponent)
    tolerance = Tolerance(apart=resolution + STEP / 2)  # a step beyond it is tried
    decision = decide(Comparisons(exponents, right, size=1.0), tolerance)
    if decision.verdict is Verdict.SUPPORTED:
        return decision, orders
    return decision, (
        f"orders slower than the claimed {claimed} by more than T^{resolution:g} are not "
        f"excluded: {orders}"
    )


def _too_slow(left: Possible, claimed: Order) -> bool:
    """Say whether the claimed order, and each faster one, is excluded."""
    return left.exponents is not None and left.exponents[0] > claimed.exponent - STEP / 2


def _orders_in_words(left: Possible, claimed: Order) -> str:
    logs = f" times (log T)^{claimed.logs:g}" if claimed.logs else ""
    said = []
    if left.exponents is not None:
        low, high = left.exponents
        said.append(f"the data leave T^e{logs} with e between {low:.3f} and {high:.3f}")
    if left.logs is None:
        said.append(f"and exclude T^{claimed.exponent:g} with whatever power of log T")
    else:
        low, high = left.logs
        said.append(
            f"at T^{claimed.exponent:g} powers of log T between {low:.2f} and {high:.2f} "
            "cannot be told apart"
        )
    return ", ".join(said)


def _last(block: Measured) -> np.ndarray:
    """Return the replicates of a left side: of ``each``, at its last moment (nan: it has none)."""
    last: np.ndarray = block.values[-1] if len(block.values) else np.array([np.nan])
    return last


def with_exact(sampled: Grid, exact: Mapping[int, tuple[float, float]]) -> tuple[Grid, str]:
    """Return the grid with the exact left sides, and where they contradict the runs ("": nowhere).

    An exact left side replaces what was sampled at the cases' horizons, if it lies in the band.
    """
    if not exact:
        return sampled, ""
    x = np.array(sorted(exact), dtype=float)
    low, high = np.array([exact[at] for at in sorted(exact)], dtype=float).T
    mean = (low + high) / 2
    differs = ""
    for at, least, most in zip(sampled.x, sampled.low, sampled.high, strict=True):
        k = int(np.searchsorted(x, at))
        if high[k] < least or low[k] > most:
            differs = (
                f"the exact left side at T = {at:g} is {mean[k]:.6g}, but the runs measure "
                f"{least:.6g} to {most:.6g}: one of the two is of another instance"
            )
            break
    return Grid(x, mean, low * (1 - BAND), high * (1 + BAND)), differs


def _bounds(
    claim: RateClaim, cases: Sequence[Case], values: Sequence[np.ndarray]
) -> tuple[list[float], list[float]]:
    """Return the bound that a rate is derived from on each case, and the horizons above it."""
    derived = claim.derived
    if derived is None:
        return [], []
    bounds, over = [], []
    claim = replace(claim, letters={**claim.letters, **derived.letters})
    for case, x in zip(cases, values, strict=True):
        bounds.append(right_side(claim, case, derived.right)[1])
        if np.ptp(x) <= BAND * abs(x.mean()):
            above = x.mean() > bounds[-1] * (1 + BAND)
        elif claim.range is None:
            above = False
        else:
            top = right_side(claim, case, claim.range)[1]
            scaled = np.clip(x / top, 0.0, 1.0)
            above = exceeds(scaled, bounds[-1] / top, LEVEL / len(cases))
        if above:
            over.append((claim.size or steps)(case))
    return bounds, over
