"""What figures 1 and 2 share: learning rates, settings, and the theory beside the accuracy."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from synthetic.network_problems.samples import piece_of
from verifiers.claims.feddro import _theorem as theorem_5_1
from verifiers.experiment import Panel, Plan, Sentence, curve, over_seeds, results_of
from verifiers.experiment.theory import right_side
from verifiers.experiments.feddro.step_imbalance.clients import CLIENTS, SHARE
from verifiers.experiments.feddro.step_imbalance.run import (
    BATCH,
    DUAL_STEP,
    LEARNED,
    LEARNING_RATES,
    MOMENTUM,
    PENALTY,
    TUNED_ON,
    ImbalancedRun,
    Net,
)
from verifiers.running.scheduler import Result, Task

Results = Sequence[Mapping[str, Any]]
"""What each seed's run measured."""
BYTES = 4
"""Of a single-precision number."""


@dataclass(frozen=True)
class Size:
    """How much is run.

    Attributes:
        rounds: in which the model is sent.
        seeds, tuned: partitions that are judged, and on which learning rates are chosen.
        points: moments at which a run is measured.
        shown: training and test images, of each so many at most, on which it is measured.
        rates: the learning rates that are tried.
    """

    rounds: int
    seeds: int
    tuned: int
    points: int
    shown: int
    net: Net
    rates: tuple[float, ...] = LEARNING_RATES

    def base(self, plan: Plan) -> ImbalancedRun:
        """Return FedDRO with I = 1, at this size."""
        return ImbalancedRun(
            rounds=self.rounds, points=self.points, seed=plan.seed, engine=plan.engine,
            net=self.net, device=plan.device, data=plan.data, shown=self.shown,
        )  # fmt: skip


class Tuned(NamedTuple):
    """What was tried, what was chosen of it, and what that measured, by label."""

    tried: dict[tuple[str, float], list[dict[str, Any]]]
    chosen: dict[str, ImbalancedRun]
    runs: dict[str, list[dict[str, Any]]]

    @property
    def rates(self) -> str:
        """The chosen learning rates, in words."""
        return "; ".join(f"{label}: {run.step_size:g}" for label, run in self.chosen.items())

    def found(self) -> list[str]:
        """Return what every run came to, and what the search met."""
        found = [
            f"{label}: after the last round training accuracy "
            f"{ends(results, 'training').mean():.3f}, test accuracy "
            f"{ends(results, 'test').mean():.3f} ({ends(results, 'rare').mean():.3f} on the rare "
            f"classes, {ends(results, 'other').mean():.3f} on the others), {_objective(results)}"
            f"client drift (1/K) Σ ‖x_k − x̄‖ before the last average "
            f"{np.mean([r['drift'][-1] for r in results]):.3g}, mean over seeds"
            f"{diverged(results)}."
            for label, results in self.runs.items()
        ]
        tried = [rate for _, rate in self.tried]
        edges = [
            label for label, run in self.chosen.items()
            if len(set(tried)) > 1 and run.step_size in (min(tried), max(tried))
        ]  # fmt: skip
        if edges:
            found.append(f"The learning rate is at an end of the printed set: {', '.join(edges)}.")
        lost = [
            f"{label} at {rate:g}" for (label, rate), got in self.tried.items() if diverged(got)
        ]
        return found + ([f"Diverged in the search: {'; '.join(lost)}."] if lost else [])

    @property
    def numbers(self) -> dict[str, Any]:
        """What whoever goes on with them wants: accuracies of every seed, and of the search."""
        names = ("training", "test", "rare", "other")
        return {
            "learning rates": {label: run.step_size for label, run in self.chosen.items()},
            "last": {
                label: {name: ends(results, name).tolist() for name in names}
                for label, results in self.runs.items()
            },
            "tried": {
                f"{label} at {rate:g}": float(ends(results, "training").mean())
                for (label, rate), results in self.tried.items()
            },
        }


def tuned(
    wanted: Mapping[str, ImbalancedRun], size: Size
) -> Generator[Sequence[Task], list[Result], Tuned]:
    """Choose every run's learning rate, and run it on every partition (``yield from``)."""
    tried = yield from results_of(searched(wanted, size.rates, size.tuned))
    rates = best(tried, size.rates)
    chosen = {label: run.but(step_size=rates[label]) for label, run in wanted.items()}
    runs = yield from results_of({label: run.over(size.seeds) for label, run in chosen.items()})
    return Tuned(tried, chosen, runs)


def searched(
    runs: Mapping[str, ImbalancedRun], rates: Sequence[float], partitions: int
) -> dict[tuple[str, float], list[ImbalancedRun]]:
    """Return the search: each run at each learning rate, on other deals of the same images."""
    return {
        (label, rate): [
            run.but(step_size=rate, partition=TUNED_ON + k, points=2, theory=False)
            for k in range(partitions)
        ]
        for label, run in runs.items()
        for rate in rates
    }


def best(tried: Mapping[tuple[str, float], Results], rates: Sequence[float]) -> dict[str, float]:
    """Return each run's learning rate of the best training accuracy at the end."""
    labels = dict.fromkeys(label for label, _ in tried)
    return {
        label: max(rates, key=lambda rate: ends(tried[label, rate], "training").mean())
        for label in labels
    }


def ends(results: Results, name: str) -> np.ndarray:
    """Return an accuracy after the last round, [seeds]; 0 of a run that diverged."""

    def last(result: Mapping[str, Any]) -> float:
        value = result[name] if result["bad_step"] is None else 0.0
        return float(value[-1] if isinstance(value, list) else value)

    return np.array([last(result) for result in results])


def _objective(results: Results) -> str:
    values = [result["Φ"] for result in results if result["bad_step"] is None]
    return f"objective {np.mean(values):.3f}, " if values else ""


def diverged(results: Results) -> str:
    """Say on how many seeds a run diverged, if on any."""
    count = sum(result["bad_step"] is not None for result in results)
    return f"; diverged on {count} of {len(results)} seeds" if count else ""


def undecided_if_unlearned(sentence: Sentence, best_training: float) -> Sentence:
    """Return a sentence, undecided where no model has learned enough to be compared."""
    if best_training >= LEARNED or sentence.verdict == "undecided":
        return sentence
    why = (
        f"size: the best mean training accuracy is {best_training:.3f} < {LEARNED:g}, models have "
        f"hardly learned (it would be {sentence.verdict}: {sentence.why})"
    )
    return replace(sentence, verdict="undecided", why=why)


def common_setting(run: ImbalancedRun, size: Size) -> list[str]:
    """Return what was chosen, for the head of the page."""
    images, model, net = run.dealt, run.model, run.net
    _, height, width = model.example
    reduced = "" if (net.width, net.blocks) == (16, 3) else ", not ResNet-20: made small for time"
    counts = np.bincount(np.concatenate(images.train.targets), minlength=images.of.classes)
    kind = (
        "batch statistics of the client's own minibatch, in the test of "
        f"{piece_of(len(model.example))} images at a time"
    )
    return [
        f"data: {images.of.title}; of each of the first {images.rare} classes the last "
        f"{SHARE:.0%} are kept ({counts[0]} images of class 0, {counts[-1]} of the last), "
        f"{sum(counts):,} images dealt equally to {CLIENTS} clients; {len(images.classes):,} test "
        "images",
        f"measured heterogeneity: {images.unlike}. The clients differ by chance alone",
        f"model: residual network of {6 * net.blocks + 2} layers, {net.width} channels, "
        f"{model.dim:,} parameters, on images of {height} × {width} pixels{reduced}; "
        f"normalisation: {kind if net.normalisation == 'batch' else 'groups within an image'}",
        f"objective: λ log mean exp(ℓ/λ), λ = {PENALTY:g}; batch {BATCH} a client; FedDRO's β = "
        f"{MOMENTUM:g}; PDSGD's ρ = {DUAL_STEP:g} (λ, β and ρ are chosen here)",
        f"learning rates tuned over the printed set by training accuracy on {size.tuned} other "
        "deal(s) of the same images to clients",
        f"accuracies: of the mean of the clients' models, on at most {run.shown:,} training and "
        f"{run.shown:,} test images; {size.seeds} seeds (partition, start and minibatches); a "
        "run that diverged counts as 0; band: smallest and largest seed",
    ]


def panel(
    name: str,
    measured: str,
    x_label: str,
    runs: Mapping[str, tuple[Results, str, float]],
    y_label: str = "accuracy",
) -> Panel:
    """Return a plot with a curve for each label.

    Args:
        measured: what is drawn.
        runs: results, what they are drawn over, and what one of that is worth on the axis.
    """
    curves = []
    for label, (results, axis, worth) in runs.items():
        x = [worth * value for value in max((r[axis] for r in results), key=len)]
        curves.append(curve(label, x, over_seeds(results, measured, len(x))))
    title = f"{measured} accuracy" if y_label == "accuracy" else measured
    return Panel(name, title, x_label, y_label, curves)


def theory_panels(runs: Mapping[str, Results], chosen: Mapping[str, ImbalancedRun]) -> list[Panel]:
    """Draw what the theorem speaks of, on the first seed, where it was measured."""
    looked = {label: results[0] for label, results in runs.items() if _looked(results)}
    if not looked:
        return []

    def drawn(
        name: str, measured: Mapping[str, Sequence[float]], title: str, y: str, log: str = "y"
    ) -> Panel:
        curves = [
            curve(label, looked[label]["round"], np.array([values]))
            for label, values in measured.items()
        ]
        return Panel(name, title, "rounds of the model", y, curves, log)

    left = drawn(
        "left", {label: got["squared gradient"] for label, got in looked.items()},
        "‖∇Φ‖², whose mean Theorem 5.1 bounds, and the bound's first term (Φ* taken as 0)",
        "‖∇Φ(x̄)‖²",
    )  # fmt: skip
    bounds = [
        curve(f"first term, {label}", got["round"][1:], np.array([_first_term(got, chosen[label])]))
        for label, got in looked.items()
        if chosen[label].method == "FedDRO"
    ]
    errors = {
        label: [e / g for e, g in zip(got["embedding error"], got["embedding"], strict=True)]
        for label, got in looked.items()
    }
    return [
        replace(left, curves=[*left.curves, *bounds]),
        drawn(
            "bias", {label: got["bias"] for label, got in looked.items()},
            "bias of the plug-in gradient of one minibatch (first seed)", "‖E u − ∇Φ(x̄)‖",
            log="",  # 0 where none is seen above the noise
        ),
        drawn(
            "embedding", errors, "relative error of the embedding (first seed)",
            "|ȳ − g| / g",
        ),
    ]  # fmt: skip


def _looked(results: Results) -> bool:
    return "squared gradient" in results[0]


def _first_term(got: Mapping[str, Any], run: ImbalancedRun) -> list[float]:
    """Return 2(Φ(x⁰) + |ȳ⁰ − g(x⁰)|²)/√(|b|KT) for the moments after the start; Φ* ≥ 0."""
    measured = {
        "initial_gap": got["objective"][0], "embedding_error": got["embedding error"][0]
    }  # fmt: skip
    problem, algorithm = run.problem, run.algorithm
    return [
        right_side(theorem_5_1.printed, problem, algorithm, rounds, measured)
        for rounds in got["round"][1:]
    ]


def theory_told(runs: Mapping[str, Results], chosen: Mapping[str, ImbalancedRun]) -> list[str]:
    """Say what was measured, and of FedDRO what Theorem 5.1 asks for, with estimated constants."""
    found = []
    for label, results in runs.items():
        if not _looked(results) or "constants" not in results[0]:
            continue
        got, run = results[0], chosen[label]
        error = got["embedding error"][-1] / got["embedding"][-1]
        said = (
            f"{label}, first seed: ‖∇Φ(x̄)‖² is {got['squared gradient'][0]:.3g} at the start and "
            f"{got['squared gradient'][-1]:.3g} at the end, where the bias of the plug-in gradient "
            f"is {got['bias'][-1]:.3g} and the embedding's relative error {error:.2g}."
        )
        found.append(said + (_asked(got, run) if run.method == "FedDRO" else ""))
    return found


def _asked(got: Mapping[str, Any], run: ImbalancedRun) -> str:
    eta = (BATCH * CLIENTS / (got["round"][-1] * run.local_steps)) ** 0.5
    seen = got["constants"]
    slope, bend = seen["inner_gradient_moment"], seen["outer_smoothness"]
    beta = 4 * slope**4 * bend**2 * eta
    return (
        f" Theorem 5.1 asks for η = √(|b|K/T) = {eta:.3g} and β = 4B_g⁴L_f²η, which is {beta:.3g} "
        f"with B_g = {slope:.3g} and L_f = {bend:.3g} (estimated: the largest values seen at three "
        "points, at most the true ones)"
        + (": no β in (0, 1), so it does not speak of this run." if beta >= 1 else ".")
    )
