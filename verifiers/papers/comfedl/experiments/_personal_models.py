"""What is taken of the personalised runs: ends, speeds, noise; sentences on them; plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf, log
from typing import TypeAlias

import numpy as np

from driftproof.verifiers import experiment as study
from driftproof.verifiers.experiment import Axis, Outcome, Panel, Sentence
from driftproof.verifiers.papers.comfedl.experiments._personalised import (
    MARGIN,
    NAMES,
    PersonalisedRun,
)

TUNING = 900
"""The first partition on which step sizes are searched; no sentence is judged there.

It is dealt from the same images. At quick size its validation images are those that sentences are
judged on, all of the test images: ``setting`` says so."""
PASSES = {"fedavg": 1, "ditto": 2, "maml": 2, "damaml": 2, "tr-maml": 2, "fedmaml": 3}
"""Minibatches that a client draws for a local step."""
LATE = 0.75
"""The share of the rounds after which what a curve still gains says whether it is early."""
AXES = {
    "round": study.ROUNDS,
    "iteration": study.STEPS,
    "sent": Axis(
        "megabytes that a client has sent", "reals", lambda run, at: at * study.BYTES / 1e6
    ),
    "images": Axis(
        "images that a client has drawn",
        place=lambda run, at: float(at * PASSES[run.method] * run.batch * run.local_steps),
    ),
}


@dataclass(frozen=True)
class Kind(Outcome[PersonalisedRun]):
    """One kind of run on every seed; what is not finite counts as no knowledge."""

    def filled(self, name: str) -> np.ndarray:
        """Return what was measured, [seeds, moments], as of no knowledge where it is not finite."""
        values = self.over(name, len(self.run.moments))
        finite, classes = np.isfinite(values), self.run.dealt.classes
        if name != "loss":
            return np.where(finite, values, 1 / classes)
        before = np.fmax(np.nanmax(np.where(finite, values, np.nan), 1), log(classes))
        return np.where(finite, values, before[:, None])

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
        points, steps = sum(m <= rounds for m in self.run.moments), rounds * self.run.local_steps
        cut = [
            {name: value[:points] for name, value in result.items() if isinstance(value, list)}
            | {"bad_step": bad if (bad := result["bad_step"]) is not None and bad < steps else None}
            for result in self.results
        ]
        return Kind(self.run.but(rounds=rounds, points=points), cut)

    @property
    def lost(self) -> bool:
        """Whether it was not finite on any seed."""
        return len(self.bad_steps) == len(self.results)

    @property
    def fate(self) -> str:
        """Where it was not finite, in words; empty if it was everywhere."""
        if not self.bad_steps:
            return ""
        first, last = min(self.bad_steps), max(self.bad_steps)
        steps = f"{first} to {last}" if last > first else f"{first}"
        return f"not finite from local step {steps} on {len(self.bad_steps)} seeds"

    @property
    def in_brackets(self) -> str:
        """Its fate behind its name."""
        return f" ({self.fate})" if self.fate else ""


Kinds: TypeAlias = Mapping[str, Kind]
"""By what a plot calls them."""


def kinds_of(runs: Mapping[str, PersonalisedRun], seeds: int) -> study.Asked:
    """Run each on every seed (``yield from``) and return Kinds."""
    made = yield from study.outcomes(runs, seeds)
    return {label: Kind(of.run, of.results) for label, of in made.items()}


def searched(run: PersonalisedRun, step_sizes: Sequence[float], partitions: int) -> study.Asked:
    """Return the run at the step size whose last accuracy is best, and what was tried, in words."""
    found = yield from study.tuned(
        {NAMES[run.method]: [run.but(step_size=rate) for rate in step_sizes]},
        range(TUNING, TUNING + partitions),
        lambda of: -inf if of.bad_steps else float(Kind(of.run, of.results).last().mean()),
    )
    return found.chosen[NAMES[run.method]], found.told("step_size")


def _measure(by: str) -> tuple[float, str]:
    """Return the sign with which larger is better, and what it is called."""
    return (-1.0, "validation loss, sign turned") if by == "loss" else (1.0, "validation accuracy")


def better(
    text: str, pair: Kinds, *, comparisons: int, by: str = "accuracy", at: str = ""
) -> Sentence:
    """Judge whether the first kind ends with the better accuracy, or the lower loss.

    Args:
        at: what stands before the first one's name.
    """
    sign, measure = _measure(by)
    where = " against ".join(f"{label}{kind.in_brackets}" for label, kind in pair.items())
    values = [sign * kind.filled(by) for kind in pair.values()]
    return _at_the_end(text, f"{at}{where}; {measure}", *values, comparisons=comparisons)


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
    sign, measure = _measure(by)
    where = f"{one}{kinds[one].in_brackets} against each of the others; {measure}"
    values = {label: sign * kind.filled(by) for label, kind in kinds.items()}
    own = values.pop(one)
    for verdict, share, needed in (
        ("reproduced", comparisons, len(values)),
        ("not reproduced", comparisons * len(values), 1),
        ("undecided", comparisons * len(values), 0),
    ):
        pairs = {label: (own, other) if best else (other, own) for label, other in values.items()}
        said = {
            label: _at_the_end(text, where, *pair, comparisons=share)
            for label, pair in pairs.items()
        }
        whys = [f"{label}: {of.why}" for label, of in said.items() if of.verdict == verdict]
        if len(whys) >= needed:
            break
    return Sentence(text, where, verdict, "; ".join(whys))


def _at_the_end(
    text: str, where: str, one: np.ndarray, other: np.ndarray, *, comparisons: int
) -> Sentence:
    """Judge by the last values of two measures [seeds, moments], unless it is too early."""
    last = one[:, -1], other[:, -1]
    sentence = study.judged_by_seeds(text, where, *last, comparisons=comparisons)
    return _unless_early(sentence, one, other)


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
    where = "mean validation accuracy over all rounds"
    return study.judged(
        text,
        {
            f"τ = {large} against {small}, {where}": (by_gap[large].speed(), by_gap[small].speed())
            for small, large in pairwise(by_gap)
        },
    )


def robust(
    text: str, by_gamma: Mapping[float, Kind], reference: float, how: str, *, studies: int = 1
) -> list[Sentence]:
    """Judge whether every other γ ends as the reference does.

    Args:
        studies: how many studies of γ share the sentence's level.
    """
    own, sentences = by_gamma[reference], []
    comparisons = studies * (len(by_gamma) - 1)
    for gamma, kind in by_gamma.items():
        if gamma == reference:
            continue
        where = f"γ = {gamma:g}{kind.in_brackets} against {reference:g}{own.in_brackets}; {how}"
        (sentence,) = study.judged(
            text, {where: (kind.last(), own.last())}, comparisons=comparisons,
            test=study.similar_by_seeds, margin=MARGIN,
        )  # fmt: skip
        neither = sum(
            of["bad_step"] is not None and other["bad_step"] is not None
            for of, other in zip(kind.results, own.results, strict=True)
        )
        if neither:  # two runs that know nothing are alike, and say nothing of γ
            why = f"on {neither} of {len(own.results)} seeds neither of the two runs stays finite"
            sentence = replace(sentence, verdict="undecided", why=why)
        elif sentence.verdict == "not reproduced":
            sentence = _unless_early(sentence, kind.filled("accuracy"), own.filled("accuracy"))
        sentences.append(sentence)
    return sentences


def over_shares(
    text: str, largest: str, label: str, ours: Mapping[float, Kind], fedavg: Mapping[float, Kind]
) -> list[Sentence]:
    """Judge the advantage over FedAvg at every ρ, and at the largest against the smallest."""
    sentences = [
        better(text, {label: kind, "FedAvg": fedavg[share]}, comparisons=len(ours),
               at=f"ρ = {share:g}: ")
        for share, kind in ours.items()
    ]  # fmt: skip
    low, high = (
        (share, ours[share].last() - fedavg[share].last()) for share in (min(ours), max(ours))
    )
    where = f"{label}, ρ = {high[0]:g} against {low[0]:g}; difference of validation accuracies"
    return [*sentences, *study.judged(largest, {where: (high[1], low[1])})]


def panel(name: str, title: str, kinds: Kinds, by: str = "accuracy", axis: str = "round") -> Panel:
    """Return a plot of a metric against "round", "iteration", "sent" or "images"."""
    return study.plot(name, f"{title}: validation {by}", kinds, by, f"validation {by}", AXES[axis])


def all_axes(title: str, kinds: Kinds) -> list[Panel]:
    """Return the loss against rounds, and the accuracy against every axis."""
    every = [panel(f"accuracy-{axis}", title, kinds, axis=axis) for axis in AXES]
    return [panel("loss", title, kinds, "loss"), *every]


def ends(kinds: Kinds) -> str:
    """Say where each kind ends, the mean over seeds."""
    return study.ends(kinds, "accuracy", "worst", "loss")
