"""The sentences and the plots of fednest/minimax."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from verifiers.experiment import Panel, Sentence, curve, judged_by_seeds
from verifiers.experiments.fednest.minimax.run import SINGLE, WITHOUT, Setting

Runs = Mapping[tuple[Setting, float, str], list[dict[str, Any]]]
"""Setting, participation and method → its result for each seed."""
SMALL = 1e-22
"""Share of the first squared distance under which rounding begins to be seen."""
BETTER = "LFedNest performs better than FedAvg-S"
LINEAR = "FedNest converges linearly despite heterogeneity"


def distances(result: Mapping[str, Any]) -> np.ndarray:
    """Return ‖x_k − x*‖² + ‖y_k − y*‖² of each round."""
    return _sum(result, "x", "y")


def norms(result: Mapping[str, Any]) -> np.ndarray:
    """Return ‖x_k‖² + ‖y_k‖²: what the public notebook calls convergence."""
    return _sum(result, "norm of x", "norm of y")


def expectations(result: Mapping[str, Any]) -> np.ndarray:
    """Return the predicted mean of the squared distances."""
    return _sum(result, "predicted x", "predicted y")


def _sum(result: Mapping[str, Any], *names: str) -> np.ndarray:
    total: np.ndarray = np.sum([result[name] for name in names], 0)
    return total


def last_quarter(values: np.ndarray) -> float:
    """Return the mean over the last quarter of the rounds."""
    return float(values[-max(1, len(values) // 4) :].mean())


def steepness(values: np.ndarray, rate: float) -> float:
    """Return the slope of log(squared distance) over that of rate^{2k}: 1 is linear as predicted.

    Over the last quarter of the rounds before rounding is seen.
    """
    end = int(np.flatnonzero(values > SMALL * values[0])[-1])
    first = end - max(2, end // 4)
    slope = np.polyfit(np.arange(first, end + 1), np.log(values[first : end + 1]), 1)[0]
    return float(slope / (2 * np.log(rate)))


def where(setting: Setting, participation: float) -> str:
    """Name a setting."""
    share = "all clients" if participation == 1 else f"{100 * participation:g} % of clients sampled"
    return f"{setting.label}; {share}"


def sentences(runs: Runs) -> list[Sentence]:
    """Judge both sentences in every setting, and the second of the notebook's own variant."""
    places = list(dict.fromkeys((setting, share) for setting, share, _ in runs))
    judgements = []
    for setting, share in places:
        ours, theirs = runs[setting, share, "LFedNest"], runs[setting, share, "FedAvg-S"]
        near, far = (
            np.array([last_quarter(distances(r)) for r in results]) for results in (ours, theirs)
        )
        judged = judged_by_seeds(
            BETTER, where(setting, share), -np.log10(near), -np.log10(far), comparisons=8
        )
        told = f"squared distance {near.mean():.3g} against {far.mean():.3g} over the last quarter"
        judgements.append(replace(judged, why=f"{told}; in powers of ten: {judged.why}"))
    for setting, share in places:
        results = runs[setting, share, "FedNest"]
        slopes = np.array([steepness(distances(r), r["rate"]) for r in results])
        judgements.append(_linear(where(setting, share), slopes, results))
    for setting, share, method in runs:
        if method == WITHOUT:
            results = runs[setting, share, method]
            slopes = np.array([steepness(norms(r), r["rate"]) for r in results])
            place = f"b left out of y's step and distance from 0; {where(setting, share)}"
            judgements.append(_linear(place, slopes, results))
    return judgements


def _linear(place: str, slopes: np.ndarray, results: Sequence[Mapping[str, Any]]) -> Sentence:
    half = np.full_like(slopes, 0.5)
    judged = judged_by_seeds(LINEAR, place, slopes, half, comparisons=8)
    rate = float(np.mean([r["rate"] for r in results]))
    told = (
        f"log distance falls {slopes.mean():.3f} times as fast as the predicted rate, {rate:.4f} "
        "a round, at the end (linear: more than half as fast)"
    )
    return replace(judged, why=f"{told}; {judged.why}")


def panels(runs: Runs) -> list[Panel]:
    """Return a plot of the distances in every setting, and of the notebook's norms."""
    plots = []
    for setting, share in dict.fromkeys((s, p) for s, p, _ in runs):
        of_place = {m: r for (s, p, m), r in runs.items() if (s, p) == (setting, share)}
        rounds = range(len(next(iter(of_place.values()))[0]["x"]))
        curves = [
            curve(m, rounds, np.array([distances(r) for r in rs])) for m, rs in of_place.items()
        ]
        for method in ("FedNest", "FedAvg-S"):
            mean = np.mean([expectations(r) for r in of_place[method]], 0)[None]
            curves.append(curve(f"{method}, predicted mean", rounds, mean))
        plots.append(
            Panel(
                _short(setting, share), where(setting, share), "round",
                "squared distance from the saddle point", curves, log="y",
            )
        )  # fmt: skip
    for setting, share in dict.fromkeys((s, p) for s, p, m in runs if m == WITHOUT):
        for name in ("x", "y"):
            curves = [
                curve(
                    method, range(len(rs[0]["x"])), np.array([r[f"norm of {name}"] for r in rs])
                )
                for (s, p, method), rs in runs.items()
                if (s, p) == (setting, share) and method != SINGLE
            ]  # fmt: skip
            plots.append(
                Panel(
                    f"norm-{name}-{_short(setting, share)}",
                    f"as the public code plots: {where(setting, share)}", "round",
                    f"‖{name}‖²", curves, log="y",
                )
            )  # fmt: skip
    return plots


def _short(setting: Setting, share: float) -> str:
    """Return a name for files: what differs from the slides' objective."""
    parts = ["slides" if setting.form == "printed" else "code", f"s{setting.spread:g}"]
    for name, short in (("regulariser", "lambda"), ("coupling", "t")):
        if getattr(setting, name) != getattr(Setting, name):
            parts.append(f"{short}{getattr(setting, name):g}")
    for name in ("matrices_drawn", "centring"):
        if getattr(setting, name) != getattr(Setting, name):
            parts.append(getattr(setting, name))
    return "-".join([*parts, "all" if share == 1 else "sampled"])
