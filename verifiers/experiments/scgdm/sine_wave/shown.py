"""The panels of figures 1 to 5, and what is found beside the sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from verifiers.experiment import Panel, curve, over_seeds
from verifiers.experiments.scgdm.sine_wave import printed, tasks
from verifiers.experiments.scgdm.sine_wave.judged import (
    AFTER,
    BASELINES,
    LOSSES,
    OURS,
    OWN_U,
    PLAIN,
)
from verifiers.experiments.scgdm.sine_wave.run import Results, SineRun, end

BYTES = 4
"""Of a real in single precision."""
Axis = Callable[[Mapping[str, Any]], list[float]]


def panels(base: SineRun, runs: Mapping[Any, Results], main: Mapping[str, Results]) -> list[Panel]:
    """Return one panel for each side of a figure."""
    every = dict.fromkeys(main, base.local_steps)
    drawn = list(_curves("figure-2", "figure 2", main, every))
    axes: tuple[tuple[str, Axis], ...] = (
        ("rounds", lambda told: told["sent"]),
        ("bytes", lambda told: [BYTES * reals for reals in told["reals"]]),
    )
    for axis, along in axes:
        label = "round" if axis == "rounds" else "bytes that a client sent"
        curves = [
            _curve(name, of, "validation", along(max(of, key=lambda told: len(told["round"]))))
            for name, of in main.items()
        ]
        drawn.append(
            Panel(f"figure-2-{axis}", "figure 2, validation", label, "squared error", curves)
        )
    drawn += _fits(main)
    for letter, figure in (("γ", 3), ("p", 4), ("α", 5)):
        group = {f"{letter} = {k[1]:g}": of for k, of in runs.items() if k[0] == letter}
        steps = {
            f"{letter} = {k[1]:g}": k[1] if letter == "p" else base.local_steps
            for k in runs if k[0] == letter
        }  # fmt: skip
        drawn += _curves(f"figure-{figure}", f"figure {figure}", group, steps)
    scgd = {f"Local-SCGD, γ = {k[1]:g}": of for k, of in runs.items() if k[0] == "SCGD"}
    scgd["Local-SCGD, γ = 0.9"] = main["Local-SCGD"]
    scgd[f"γ = 0.9, {AFTER}"] = runs[AFTER]
    steps = dict.fromkeys(scgd, base.local_steps)
    drawn += [_losses("scgd-momentum", "Local-SCGD's momentum", scgd, steps, "training")]
    drawn += [_pre_training(runs[PLAIN])]
    for rate, layers in ((printed.RATES[1], 1), (printed.INNER_RATE, 2)):
        group = {method: runs[method, rate, layers] for method in main}
        what = f"inner rate {rate:g}" if layers == 1 else "two hidden layers"
        name = f"rate-{rate:g}" if layers == 1 else "two-layers"
        drawn += _curves(name, f"as figure 2, {what}", group, every)
    return drawn


def _curves(
    name: str, title: str, runs: Mapping[str, Results], steps: Mapping[str, int]
) -> Iterator[Panel]:
    for loss in LOSSES:
        yield _losses(f"{name}-{loss}", title, runs, steps, loss)


def _losses(
    name: str, title: str, runs: Mapping[str, Results], steps: Mapping[str, int], loss: str
) -> Panel:
    """Return a loss against local steps."""
    curves = []
    for label, results in runs.items():
        longest = max(results, key=lambda told: len(told["round"]))
        x = [steps[label] * at for at in longest["round"]]
        curves.append(_curve(label, results, loss, x))
    return Panel(name, f"{title}, {loss}", "local step", "squared error", curves, log="y")


def _curve(label: str, results: Results, loss: str, x: list[float]) -> dict[str, Any]:
    return curve(label, x, over_seeds(results, loss, len(x)))


def _fits(main: Mapping[str, Results]) -> list[Panel]:
    """Figure 1: fitted curves of the first seed, and the task."""
    x = tasks.GRID.tolist()
    truth = curve("the task", x, tasks.unseen_task().values(tasks.GRID)[0, 0])
    return [
        Panel(
            f"figure-1-{steps}", f"figure 1, first seed, adaptation steps: {steps}", "x", "y",
            [truth]
            + [
                curve(method, x, np.array([results[0][f"fitted {steps}"]]))
                for method, results in main.items()
                if f"fitted {steps}" in results[0]
            ],
        )
        for steps in printed.STEPS_SHOWN
    ]  # fmt: skip


def _pre_training(results: Results) -> Panel:
    x = tasks.GRID
    none = np.full(len(x), np.nan)  # of a run that diverged: a gap
    functions = np.array([told.get("function", none) for told in results], float)
    curves = [
        curve("FedAvg on all tasks", x.tolist(), functions),
        curve("mean of the 25 tasks", x.tolist(), tasks.mean_curve(x)[None]),
        curve("all zero", x.tolist(), np.zeros((1, len(x)))),
    ]
    return Panel("pre-training", "what plain pre-training gives", "x", "y", curves)


def theory_panels(theory: Mapping[float, list[dict[str, Any]]]) -> list[Panel]:
    """Return drift, bias and ‖∇F‖² beside the bound with estimated constants."""
    drawn = []
    for rate, (measured,) in theory.items():
        steps = [printed.LOCAL_STEPS * at for at in measured["round"]]
        curves = [
            curve(name, steps, _positive(measured[key]))
            for name, key in (
                ("drift of the clients in the last local step", "drift"),
                ("bias of the plug-in gradient", "bias"),
                ("‖∇F‖²", "left"),
            )
        ]
        if "right" in measured:
            right = np.array([[np.nan, *map(float, measured["right"])]])
            curves.append(curve("Theorem 3.4, corrected, estimated constants", steps, right))
        title = f"what the theorem speaks of, inner rate {rate:g}, first seed"
        drawn.append(Panel(f"theory-{rate:g}", title, "local step", "", curves, log="y"))
    return drawn


def _positive(values: Sequence[float]) -> np.ndarray:
    """Return a curve for a logarithmic axis, with gaps where nothing was seen."""
    numbers = np.array([values])
    return np.where(numbers > 0, numbers, np.nan)


def told(rate: float, measured: Mapping[str, Any]) -> str:
    """Say how far the bound is from what it bounds."""
    if "right" not in measured:
        return f"inner rate {rate:g}: the run diverged, so that no bound was computed."
    return (
        f"Inner rate {rate:g}, first seed: ‖∇F‖² is {np.mean(measured['left']):.3g} in the mean "
        "over the run's moments; the corrected right side of Theorem 3.4, with constants estimated "
        f"along the run (so at most the true ones), is {float(measured['right'][-1]):.3g}. "
        f"The theorem asks for β of at most {measured['largest β']:.2g}; the print has 0.01. "
        f"The plug-in gradient's bias is at most {max(measured['bias']):.2g}, where ‖∇F‖ ends at "
        f"{measured['left'][-1] ** 0.5:.2g}."
    )


def findings(runs: Mapping[Any, Results], main: Mapping[str, Results]) -> list[str]:
    """Return what was measured, in words."""
    slow, fast = printed.RATES
    best = runs[PLAIN]
    kept = [np.square(told["function"]).mean() for told in best if "function" in told]
    square = f"has {np.mean(kept):.2f}" if kept else "is lost, as it diverged on every seed"
    own = ", ".join(f"{loss} {_change(runs[OWN_U], main[OURS], loss)}" for loss in LOSSES)
    after = _change(runs[AFTER], main["Local-SCGD"], "training")
    plain = _change(main[OURS], best, "validation")
    return [
        f"One adaptation step at the inner rate {slow:g} lowers {OURS}'s validation loss by "
        f"{_gain(main[OURS]):.1%}; at {fast:g}, by {_gain(runs[OURS, fast, 1]):.1%}. The smaller "
        "the rate, the nearer is the objective to that of plain training, whose best function is "
        f"the tasks' mean: {OURS} ends {plain} FedAvg on the plain losses, tested after the same "
        f"step. On figure 1's task that mean has the squared error {_error_of_mean():.2f}: longer "
        "training does not mend that; a larger rate would, or more adaptation steps.",
        *_not_paired(runs),
        *(_ratios(runs, rate, layers) for rate, layers in ((slow, 1), (fast, 1), (slow, 2))),
        "With α = 0.8 and η = 1 the momentum keeps a fifth of the past, and βη = 0.01 is the other "
        "methods' step: by the printed settings the four methods' steps differ by little. A great "
        "margin would need other step lengths.",
        f"Pre-training does not give the zero function, and cannot: b in {{1, …, 5}} puts the "
        f"phases π/5 … π on half a circle, so the tasks' mean is {tasks.mean_amplitude():.3f} "
        f"sin(x + 3π/5), of mean square {np.square(tasks.mean_curve(tasks.GRID)).mean():.2f} on "
        f"[−5, 5]; FedAvg's function {square}. It would be zero with b in {{1, …, 10}}.",
        f"The average of u mixes the clients' i-th tasks, which are different ones. With u kept by "
        f"its client, {OURS} ends at: {own}, against its printed form.",
        f"Local-SCGD with {AFTER}, as in Wang, Fang & Liu 2017, ends {after} its printed form (2) "
        "in training loss: (2) uses an estimate that is a step old, or older where the task was "
        "not sampled.",
    ]


def _not_paired(runs: Mapping[Any, Results]) -> list[str]:
    """Name the runs that were repeated seed by seed, because a seed diverged."""
    alone = [str(key) for key, of in runs.items() if any(t["bad_step"] is not None for t in of)]
    if not alone:
        return []
    return [
        f"Repeated seed by seed, as a seed diverged: {'; '.join(alone)}. Seeds after the first "
        "then draw other training points than the other methods: comparisons with them are not "
        "paired in these points."
    ]


def _error_of_mean() -> float:
    """Return the squared error of the training tasks' mean on figure 1's task."""
    truth = tasks.unseen_task().values(tasks.GRID)[0, 0, 0]
    return float(np.square(tasks.mean_curve(tasks.GRID) - truth).mean())


def _gain(results: Results) -> float:
    """Return by which share one adaptation step lowers the validation loss at the end."""
    kept = [t["validation"][-1] / t["not adapted"][-1] for t in results if t["bad_step"] is None]
    return 1 - float(np.mean(kept)) if kept else 0.0


def _change(first: Results, second: Results, loss: str) -> str:
    """Say how much lower or higher the first ends."""
    ratio = float(np.exp(np.mean(end(first, loss) - end(second, loss))))
    return f"{abs(1 - ratio):.1%} {'below' if ratio < 1 else 'above'}"


def _ratios(runs: Mapping[Any, Results], rate: float, layers: int) -> str:
    ours = runs[OURS, rate, layers]
    said = [
        f"{_change(ours, runs[other, rate, layers], 'training')} {other} in training and "
        f"{_change(ours, runs[other, rate, layers], 'validation')} in validation loss"
        for other in BASELINES
    ]
    what = f"inner rate {rate:g}, {layers} hidden layer{'s' if layers > 1 else ''}"
    if (rate, layers) != (printed.INNER_RATE, 1):
        what = f"In a setting of our own, {what}"
    return f"{what}: {OURS} ends " + "; ".join(said) + "."
