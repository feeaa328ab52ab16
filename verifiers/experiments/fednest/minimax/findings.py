"""What the runs of fednest/minimax show beside the sentences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from verifiers.experiments.fednest.minimax.report import (
    Runs,
    distances,
    expectations,
    last_quarter,
    norms,
    where,
)
from verifiers.experiments.fednest.minimax.run import SINGLE, WITHOUT, MinimaxRun


def findings(runs: Runs, first: MinimaxRun) -> list[str]:
    """Return what the runs show beside the sentences."""
    return [_identity(runs), *_left_out(runs), *_floors(runs), *_single(runs), _written(first)]


def _identity(runs: Runs) -> str:
    gap = max(
        float(np.abs(np.subtract(one["end"], other["end"])).max())
        for (setting, share, method), results in runs.items()
        if method == "FedNest"
        for one, other in zip(results, runs[setting, share, "LFedNest"], strict=True)
    )
    return (
        "FedNest and LFedNest are the same method here: all Hessians are equal, so that variance "
        "reduction changes no average. On the same cohorts their last iterates differ by at most "
        f"{gap:.2g} in any entry, over all settings and seeds."
    )


def _left_out(runs: Runs) -> list[str]:
    told = []
    for (setting, share, method), results in runs.items():
        if method != WITHOUT:
            continue
        x, y = (np.mean([r[f"norm of {v}"][-1] for r in results]) for v in ("x", "y"))
        there = np.mean([r["saddle"] for r in results], 0)
        whole = runs[setting, share, "FedNest"]
        floor = np.mean([last_quarter(norms(r)) for r in whole])
        told.append(
            f"{where(setting, share)}: with b left out of y's step FedNest goes to 0 (‖x‖² = "
            f"{x:.2g}, ‖y‖² = {y:.2g} at the end) and not to the saddle point (‖x*‖² = "
            f"{there[0]:.2g}, ‖y*‖² = {there[1]:.2g}); with it ‖x‖² + ‖y‖² stays at {floor:.2g}."
        )
    ends = [
        [r["norm of y"] for r in results]
        for (s, _, method), results in runs.items()
        if method == WITHOUT and s.form == "halved"
    ]
    if len(ends) > 1:
        apart = float(np.abs(np.subtract(ends[0], ends[1])).max())
        told.append(
            "With b left out, s is not in the iteration: the curves for s = 1 and s = 10 differ by "
            f"{apart:.2g}."
        )
    return told


def _floors(runs: Runs) -> list[str]:
    told = []
    for (setting, share, method), results in runs.items():
        if method not in ("FedNest", "FedAvg-S") or (share == 1 and method == "FedNest"):
            continue
        measured, expected = (
            np.mean([last_quarter(of(r)) for r in results]) for of in (distances, expectations)
        )
        floor = np.mean([r["floor x"] + r["floor y"] for r in results])
        told.append(
            f"{where(setting, share)}: {method} has a squared distance of {measured:.3g} over the "
            f"last quarter, {expected:.3g} predicted; its limit is {floor:.3g}."
        )
    return told


def _single(runs: Runs) -> list[str]:
    told = []
    for (setting, share, method), results in runs.items():
        if method != SINGLE:
            continue
        floors = [
            np.mean([r["floor x"] + r["floor y"] for r in rs])
            for rs in (runs[setting, share, "LFedNest"], results, runs[setting, share, "FedAvg-S"])
        ]
        told.append(
            f"{where(setting, share)}: LFedNest's lower floor is that of new cohorts at every "
            f"FedInn: {floors[0]:.3g}; with one cohort and as many steps {floors[1]:.3g}, "
            f"FedAvg-S {floors[2]:.3g}."
        )
    return told


def _written(first: MinimaxRun) -> str:
    """What the notebook calls x* and y*, on the first seed's data."""
    problem = first.but(setting=replace(first.setting, form="printed")).problem
    a, b, lam = problem.matrices, problem.offsets, problem.regulariser
    squares, product = (a.mT @ a).mean(0), (a.mT @ b[..., None]).mean(0)[:, 0]
    x = np.linalg.solve(squares + lam * np.eye(problem.dim), product)
    y = a.mean(0) @ x
    right = problem.saddle
    return (
        "The notebook's x* (in a plot that it leaves out) has the means of A_i² and A_i b_i where "
        "the mean objective has Ā² and Āb̄: it solves the problem in which every client has a y of "
        f"its own, and its y* is Āx* where b̄ − Āx* belongs: ‖x*‖² = {x @ x:.3g} and ‖y*‖² = "
        f"{y @ y:.3g} where {right[0] @ right[0]:.3g} and {right[1] @ right[1]:.3g} are right."
    )
