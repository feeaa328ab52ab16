"""How large the three experiments' runs are, and the run that all their runs are changed from."""

from __future__ import annotations

from dataclasses import dataclass

from synthetic.network_problems.samples import piece_of
from toolkit.dataset import read
from verifiers.experiment import Plan
from verifiers.experiments.comfedl.personalised.images import Images
from verifiers.experiments.comfedl.personalised.printed import CLIENTS, GAPS, LOCAL_STEPS, SHARES
from verifiers.experiments.comfedl.personalised.run import PersonalisedRun


@dataclass(frozen=True)
class Size:
    """How large a profile's runs are.

    Attributes:
        seeds: partitions that the sentences are judged on. With 7 the least p is 1/128, enough to
            refute one of three comparisons that two one-sided tests share; with 8, one of six; with
            9, one of the sixteen of "outperforms all", four readings against four methods.
        rounds, short: of the methods' comparison, and where a parameter is varied.
        every: rounds from one moment at which a run is measured to the next.
        filters: of each convolution; the papers' network has 32.
        gaps, shares: τ and ρ where they are varied.
        local_steps: τ elsewhere.
        tuned: partitions on which step sizes are searched, others than those judged.
    """

    seeds: int
    rounds: int
    short: int
    every: int
    filters: int
    gaps: tuple[int, ...] = GAPS
    shares: tuple[float, ...] = SHARES
    local_steps: int = LOCAL_STEPS
    tuned: int = 2

    def moments(self, rounds: int) -> int:
        """Return at how many moments a run of so many rounds is measured."""
        return rounds // self.every + 1


SMOKE = Size(
    seeds=2, rounds=2, short=1, every=1, filters=2, gaps=(1, 2), shares=(0.2, 0.6), local_steps=2,
    tuned=1,
)  # fmt: skip
PAPER = Size(seeds=9, rounds=500, short=500, every=25, filters=32)
IMAGES = {
    "smoke": Images(training=20, validation=10, adapting=20, side=8),
    "quick": Images(training=1000, validation=200, adapting=100, side=16),
    "paper": Images(training=5000, validation=1000, adapting=1000, side=32),
}
DIGITS = Images(training=100, validation=40, adapting=100, side=8)
"""Of scikit-learn's digits there are fewer."""


def base_run(plan: Plan, size: Size) -> PersonalisedRun:
    """Return ComFedL-MAML at the sizes of a plan."""
    few = plan.data is None and plan.profile != "smoke"
    return PersonalisedRun(
        rounds=size.rounds, points=size.moments(size.rounds), seed=plan.seed, engine=plan.engine,
        device=plan.device, data=plan.data, filters=size.filters, local_steps=size.local_steps,
        images=DIGITS if few else IMAGES[plan.profile],
    )  # fmt: skip


def shorter(run: PersonalisedRun, size: Size) -> PersonalisedRun:
    """Return a run of as many rounds as a varied parameter gets."""
    return run.but(rounds=size.short, points=size.moments(size.short))


def setting(base: PersonalisedRun, size: Size, reduced: bool) -> list[str]:
    """Return what was run and what was chosen, for the head of the page.

    Args:
        reduced: whether the profile's sizes are below the paper's.
    """
    images, held = base.images, base.dealt
    pixels = held.training.inputs[0].shape[1:]
    parameters = f"{base.model.title}, {base.model.dim:,} parameters"
    reason = (
        f"size reduced: {pixels[1]} × {pixels[2]} pixels and {size.filters} filters, where the "
        f"network of Finn et al. 2017 has 32; {size.rounds} rounds ({size.short} where τ, γ or ρ "
        "is varied)"
    )
    return [
        f"data: {read(base.data).title}; {images.training:,} training and {images.validation} "
        "validation images a client (the texts give no sizes), validation images of the test set "
        "where there is one, else of a part that is not trained on",
        f"split: dominant-class, ρ = {base.share:g} unless said otherwise; on the first partition "
        f"{held.told}",
        f"model: {parameters}; inputs {' × '.join(map(str, pixels))}, pixels scaled to [0, 1]; "
        "normalisation by the statistics of the client's own minibatch (in validation: of "
        f"{piece_of(len(pixels))} of its validation images at a time), as in Finn et al.",
        *([reason] if reduced else [f"{size.rounds} rounds (no number is printed)"]),
        f"personal models: one step on {images.adapting} training images of the client with the "
        "inner learning rate (FedAvg: with its own); Ditto: those that it trains",
        f"minibatch {base.batch} for the inner step and {base.batch} for the outer loss (chosen "
        f"here); τ = {base.local_steps} unless said otherwise; all 10 clients take part",
        f"{size.seeds} seeds (partition, start and minibatches, the same for all methods); band: "
        "smallest and largest seed",
        _searched_on(base),
        "a comparison at the end is undecided where the method behind gained more in the last "
        "quarter of the rounds than it lacks: size is then the reason",
        f"a run that is not finite counts as knowing nothing from there on: accuracy "
        f"1/{held.classes}, loss log {held.classes} or more",
    ]


def _searched_on(base: PersonalisedRun) -> str:
    """Say what the search for a step size has seen of what is judged."""
    test = read(base.data).splits.get("test")
    seen = (
        "validation images of one may be training images of another"
        if test is None
        else f"each is validated on {CLIENTS * base.images.validation:,} of the same "
        f"{len(test.labels):,} test images"
    )
    return (
        "step sizes are searched on other partitions, but of the same images: "
        f"{seen}, so the search is not blind to the images that sentences are judged on"
    )
