"""What is taken of the personalised runs: ends, speeds, noise; sentences on them; plots."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log
from typing import Any

import numpy as np

from verifiers.experiment import (
    Panel,
    Sentence,
    curve,
    judged_by_seeds,
    over_seeds,
    results_of,
    similar_by_seeds,
)
from verifiers.experiments.comfedl.personalised.printed import MARGIN
from verifiers.experiments.comfedl.personalised.run import NAMES, PersonalisedRun
from verifiers.running.scheduler import Result, Task

TUNING = 900
"""The first partition on which step sizes are searched; no sentence is judged there.

It is dealt from the same images. At quick size its validation images are those that sentences are
judged on, all of the test images: ``sizes.setting`` says so."""
PASSES = {"fedavg": 1, "ditto": 2, "maml": 2, "damaml": 2, "tr-maml": 2, "fedmaml": 3}
"""Minibatches that a client draws for a local step."""
BYTES = 4
"""Of a number that is sent, in single precision."""
LATE = 0.75
"""The share of the rounds after which what a curve still gains says whether it is early."""


@dataclass(frozen=True)
class Kind:
    """One kind of run on every seed.

    Attributes:
        run: on the first partition.
        results: what each seed measured.
    """

    run: PersonalisedRun
    results: Sequence[Mapping[str, Any]]

    @property
    def moments(self) -> list[int]:
        """The rounds at which it is measured."""
        return self.run.moments

    def filled(self, name: str) -> np.ndarray:
        """Return what was measured, [seeds, moments], as of no knowledge where it is not finite."""
        values = over_seeds(self.results, name, len(self.moments))
        classes = self.run.dealt.classes
        if name != "loss":
            return np.where(np.isfinite(values), values, 1 / classes)
        before = np.fmax(np.nanmax(np.where(np.isfinite(values), values, np.nan), 1), log(classes))
        return np.where(np.isfinite(values), values, before[:, None])

    def last(self, name: str = "accuracy") -> np.ndarray:
        """Return each seed's value at the end."""
        return np.asarray(self.filled(name)[:, -1])

    def speed(self) -> np.ndarray:
        """Return each seed's mean accuracy over all rounds."""
        return np.asarray(self.filled("accuracy").mean(1))

    def noise(self) -> np.ndarray:
        """Return each seed's root mean square of the second differences of its loss."""
        seconds = np.diff(self.filled("loss"), 2, axis=1)
        return np.asarray(np.sqrt(np.square(seconds).mean(1)))

    def until(self, rounds: int) -> Kind:
        """Return the run's beginning, which is the run of so many rounds."""
        points = sum(moment <= rounds for moment in self.moments)
        names = ("round", "sent", "reals", "loss", "accuracy", "worst", "drift")
        cut = [{name: result[name][:points] for name in names} for result in self.results]
        ended = [
            bad if (bad := result["bad_step"]) is not None and bad < rounds * self.run.local_steps
            else None for result in self.results
        ]  # fmt: skip
        results = [told | {"bad_step": bad} for told, bad in zip(cut, ended, strict=True)]
        return Kind(self.run.but(rounds=rounds, points=points), results)

    @property
    def overflowed(self) -> list[bool]:
        """Whether it was not finite at some step, for each seed."""
        return [result["bad_step"] is not None for result in self.results]

    @property
    def overflows(self) -> list[int]:
        """The first local step that was not finite, of each seed with one."""
        return [r["bad_step"] for r in self.results if r["bad_step"] is not None]

    @property
    def fate(self) -> str:
        """Where it was not finite, in words; empty if it was everywhere."""
        if not self.overflows:
            return ""
        steps = f"{min(self.overflows)}" + (
            f" to {max(self.overflows)}" if max(self.overflows) > min(self.overflows) else ""
        )
        return f"not finite from local step {steps} on {len(self.overflows)} seeds"


Kinds = Mapping[str, Kind]
"""By what a plot calls them."""
Asking = Generator[Sequence[Task], list[Result], Any]


def kinds_of(runs: Mapping[str, PersonalisedRun], seeds: int) -> Asking:
    """Run each on every seed (``yield from``) and return Kinds."""
    results = yield from results_of({label: run.over(seeds) for label, run in runs.items()})
    return {label: Kind(run, results[label]) for label, run in runs.items()}


@dataclass(frozen=True)
class Search:
    """A step size that was searched.

    Attributes:
        best: the run with the best one.
        accuracies: by step size, the mean over the partitions searched on; nan: not finite.
    """

    best: PersonalisedRun
    accuracies: Mapping[float, float]

    @property
    def told(self) -> str:
        """What was searched and chosen."""
        tried = ", ".join(
            f"{rate:g}: {'not finite' if np.isnan(value) else f'{value:.3f}'}"
            for rate, value in self.accuracies.items()
        )
        return (
            f"η of {NAMES[self.best.method]}, searched on other partitions of the same images "
            f"(validation accuracy at the end): {tried}; chosen {self.best.step_size:g}"
        )


def searched(run: PersonalisedRun, step_sizes: Sequence[float], partitions: int) -> Asking:
    """Return the Search for the step size whose last accuracy is best (``yield from``)."""
    runs = {
        rate: [run.but(step_size=rate, partition=TUNING + k) for k in range(partitions)]
        for rate in step_sizes
    }
    results = yield from results_of(runs)
    ends = {rate: Kind(run, results[rate]) for rate in step_sizes}
    means = {
        rate: float("nan") if kind.overflows else float(kind.last().mean())
        for rate, kind in ends.items()
    }
    best = max(means, key=lambda rate: -1.0 if np.isnan(means[rate]) else means[rate])
    return Search(run.but(step_size=best), means)


def better(
    text: str, one: tuple[str, Kind], other: tuple[str, Kind], *, comparisons: int,
    by: str = "accuracy",
) -> Sentence:  # fmt: skip
    """Judge whether one kind ends with the better accuracy, or the lower loss."""
    sign = -1.0 if by == "loss" else 1.0
    measure = "validation loss, sign turned" if by == "loss" else "validation accuracy"
    where = " against ".join(f"{label}{_in_brackets(kind.fate)}" for label, kind in (one, other))
    pair = [sign * kind.filled(by) for _, kind in (one, other)]
    return _at_the_end(text, f"{where}; {measure}", *pair, comparisons=comparisons)


def extreme(
    text: str, one: str, kinds: Kinds, *, by: str, best: bool, comparisons: int
) -> Sentence:
    """Judge whether one kind is better than each other kind, or worse than each.

    Reproduced if every comparison with another kind says so at level 0.05/comparisons: all of them
    have to, so they need not share it. Not reproduced if one of them says the opposite at that
    level divided by the number of others: any of them may. Else undecided.

    The best of the others *on each seed* would be no fair opponent: of equal methods, noise makes
    it better than each.
    """
    sign = -1.0 if by == "loss" else 1.0
    measure = "validation loss, sign turned" if by == "loss" else "validation accuracy"
    where = f"{one}{_in_brackets(kinds[one].fate)} against each of the others; {measure}"
    values = {label: sign * kind.filled(by) for label, kind in kinds.items()}
    own = values.pop(one)

    def against(other: np.ndarray, share: int) -> Sentence:
        pair = (own, other) if best else (other, own)
        return _at_the_end(text, where, *pair, comparisons=share)

    for verdict, share, needed in (
        ("reproduced", comparisons, len(values)),
        ("not reproduced", comparisons * len(values), 1),
    ):
        judged = {label: against(other, share) for label, other in values.items()}
        whys = [f"{label}: {said.why}" for label, said in judged.items() if said.verdict == verdict]
        if len(whys) >= needed:
            return Sentence(text, where, verdict, "; ".join(whys))
    whys = [f"{label}: {said.why}" for label, said in judged.items() if said.verdict == "undecided"]
    return Sentence(text, where, "undecided", "; ".join(whys))


def _at_the_end(
    text: str, where: str, one: np.ndarray, other: np.ndarray, *, comparisons: int
) -> Sentence:
    """Judge by the last values of two measures [seeds, moments], unless it is too early."""
    last = one[:, -1], other[:, -1]
    return _unless_early(judged_by_seeds(text, where, *last, comparisons=comparisons), one, other)


def _unless_early(sentence: Sentence, one: np.ndarray, other: np.ndarray) -> Sentence:
    """Return a sentence, undecided if the one behind may yet catch up.

    It may if in the last quarter of the rounds it gained as much as it lacks: the number of rounds
    then is the reason of the verdict.
    """
    lead = float((one - other)[:, -1].mean())
    behind = other if lead > 0 else one
    gain = float((behind[:, -1] - behind[:, int(LATE * (behind.shape[1] - 1))]).mean())
    if sentence.verdict == "undecided" or gain < abs(lead):
        return sentence
    why = f"size: the one behind gained {gain:.4f} in the last quarter of the rounds, more than it "
    return replace(sentence, verdict="undecided", why=f"{why}lacks; {sentence.why}")


def faster(text: str, by_gap: Mapping[int, Kind]) -> list[Sentence]:
    """Judge whether each larger τ has the better mean accuracy over as many rounds."""
    return [
        judged_by_seeds(
            text, f"τ = {large} against {small}, mean validation accuracy over all rounds",
            by_gap[large].speed(), by_gap[small].speed(), comparisons=len(by_gap) - 1,
        )
        for small, large in pairwise(by_gap)
    ]  # fmt: skip


def robust(
    text: str, by_gamma: Mapping[float, Kind], reference: float, how: str, *, studies: int = 1
) -> list[Sentence]:
    """Judge whether every other γ ends as the reference does.

    Args:
        studies: how many studies of γ share the sentence's level.
    """
    own, sentences = by_gamma[reference], []
    for gamma, kind in by_gamma.items():
        if gamma == reference:
            continue
        where = f"γ = {gamma:g}{_in_brackets(kind.fate)} against {reference:g}"
        sentence = similar_by_seeds(
            text, f"{where}{_in_brackets(own.fate)}; {how}", kind.last(), own.last(),
            margin=MARGIN, comparisons=studies * (len(by_gamma) - 1),
        )  # fmt: skip
        neither = sum(np.logical_and(kind.overflowed, own.overflowed))
        if neither:  # two runs that know nothing are alike, and say nothing of γ
            why = f"on {neither} of {len(own.results)} seeds neither of the two runs stays finite"
            sentence = replace(sentence, verdict="undecided", why=why)
        elif sentence.verdict == "not reproduced":
            sentence = _unless_early(sentence, kind.filled("accuracy"), own.filled("accuracy"))
        sentences.append(sentence)
    return sentences


def over_shares(
    texts: Mapping[str, str],
    ours: Mapping[float, Kind],
    fedavg: Mapping[float, Kind],
    *,
    label: str,
) -> list[Sentence]:
    """Judge the advantage over FedAvg at every ρ, and at the largest against the smallest."""
    sentences = [
        better(
            texts["share"], (f"ρ = {share:g}: {label}", ours[share]), ("FedAvg", fedavg[share]),
            comparisons=len(ours),
        )
        for share in ours
    ]  # fmt: skip
    low, high = min(ours), max(ours)
    gain = {share: ours[share].last() - fedavg[share].last() for share in (low, high)}
    where = f"{label}, ρ = {high:g} against {low:g}; difference of validation accuracies"
    pair = gain[high], gain[low]
    return [*sentences, judged_by_seeds(texts["large"], where, *pair, comparisons=1)]


def panel(name: str, title: str, kinds: Kinds, by: str = "accuracy", axis: str = "round") -> Panel:
    """Return a plot of a metric against "round", "iteration", "megabytes sent" or "images"."""
    label = {
        "round": "round", "iteration": "local step", "sent": "megabytes that a client has sent",
        "images": "images that a client has drawn",
    }  # fmt: skip
    curves = []
    for called, kind in kinds.items():
        points = len(kind.moments)
        whole = max(kind.results, key=lambda r: len(r["reals"]))
        drawn = PASSES[kind.run.method] * kind.run.batch * kind.run.local_steps
        x = {
            "round": [float(m) for m in kind.moments],
            "iteration": [float(m * kind.run.local_steps) for m in kind.moments],
            "sent": [reals * BYTES / 1e6 for reals in whole["reals"]],
            "images": [float(m * drawn) for m in kind.moments],
        }[axis]
        values = over_seeds(kind.results, by, points)[:, : len(x)]
        curves.append(curve(called, x, values))
    return Panel(name, title, label[axis], f"validation {by}", curves)


def all_axes(title: str, kinds: Kinds) -> list[Panel]:
    """Return the loss against rounds, and the accuracy against every axis."""
    return [
        panel("loss", f"{title}: validation loss", kinds, "loss"),
        *(
            panel(f"accuracy-{axis}", f"{title}: validation accuracy", kinds, axis=axis)
            for axis in ("round", "iteration", "sent", "images")
        ),
    ]


def ends(kinds: Kinds) -> str:
    """Say where each kind ends, the mean over seeds."""
    told = "; ".join(
        f"{label}: {kind.fate}" if len(kind.overflows) == len(kind.results) else
        f"{label} {kind.last().mean():.3f} (worst client {kind.last('worst').mean():.3f}, loss "
        f"{kind.last('loss').mean():.3f}{kind.fate and ', ' + kind.fate})"
        for label, kind in kinds.items()
    )  # fmt: skip
    return f"Validation accuracy at the end, mean over seeds: {told}."


def _in_brackets(text: str) -> str:
    return f" ({text})" if text else ""
