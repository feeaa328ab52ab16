r"""ComFedL-DAMAML beside ComFedL-MAML, and the regularisation γ.

The preprint's figures 7 and 8 (section 5.2).

Printed: the clients, the network and ρ = 0.28 of comfedl/maml-cifar; γ = 0.5 and η = 0.05 in figure
7 ("sub-optimal for the task"), η = 0.01 in figure 8, where γ is varied.

ComFedL's step on the robust objective (10) is η exp(f/γ)/γ times a gradient. At the start f is
about log 10, so η = 0.05 with γ = 0.5 is a first step of 10 gradients: 0.05·10²/0.5. Where that
overflows, the printed run counts as one that knows nothing, and the best η of the journal's grid up
to there, and of two rates below it, is searched on other partitions and judged beside it. Those
are dealt from the same images: at quick size they are validated on the test images that are judged.
So that "better" does not merely compare step sizes, ComFedL-MAML also runs with the first step that
ComFedL-DAMAML then has.

Chosen, because it is not printed: ComFedL-MAML's η = 0.05 (as in figures 5 and 6); the inner
learning rate 0.05; the values of γ, the journal's grid; and γ varied once more with the η that
makes each first step FIRST_STEP gradients long.
"""

from __future__ import annotations

from math import exp, log

from verifiers.experiment import Conclusion, Plan, Steps, experiment
from verifiers.experiments.comfedl.personalised.explained import explained
from verifiers.experiments.comfedl.personalised.judged import (
    all_axes,
    better,
    ends,
    kinds_of,
    panel,
    robust,
    searched,
)
from verifiers.experiments.comfedl.personalised.printed import (
    DAMAML_SENTENCES,
    SHARE,
    SMALLER,
    STEP_SIZE,
    STEP_SIZES,
    STUDIED_STEP_SIZE,
    TEMPERATURE,
    TEMPERATURES,
)
from verifiers.experiments.comfedl.personalised.sizes import (
    PAPER,
    SMOKE,
    Size,
    base_run,
    setting,
    shorter,
)

SIZES = {
    "smoke": SMOKE,
    "quick": Size(seeds=8, rounds=24, short=12, every=2, filters=8),
    "paper": PAPER,
}
STEP_SIZES_TRIED = (*SMALLER, *(rate for rate in STEP_SIZES if rate <= STEP_SIZE))
FIRST_STEP = 0.1
"""Gradients."""
OURS, MAML = "ComFedL-DAMAML", "ComFedL-MAML"


def gradients(temperature: float, classes: int) -> float:
    """Return exp(f/γ)/γ at f = log C: how many gradients η stands for.

    >>> round(gradients(0.5, 10))
    200
    """
    return exp(log(classes) / temperature) / temperature


@experiment(
    name="comfedl/damaml-cifar",
    source="ComFedL, preprint, section 5.2, figures 7 and 8",
    statement="ComFedL-DAMAML has a lower validation loss and a better accuracy than ComFedL-MAML, "
    "and is robust to γ",
)
def damaml(plan: Plan) -> Steps:
    """Run DAMAML as printed and where it runs, vary γ, and judge the sentences."""
    size = SIZES[plan.profile]
    plain = base_run(plan, size)
    base, classes = plain.but(method="damaml"), plain.dealt.classes
    search = yield from searched(base, STEP_SIZES_TRIED, size.tuned)
    best, printed = f"{OURS}, η = {search.best.step_size:g}", f"{OURS}, η = {STEP_SIZE:g} (printed)"
    same = search.best.step_size * gradients(TEMPERATURE, classes)
    other = f"{MAML}, η = {same:g} (same first step)"
    runs = {
        printed: base, best: search.best, f"{MAML}, η = {STEP_SIZE:g}": plain,
        other: plain.but(step_size=same),
    }  # fmt: skip
    main = yield from kinds_of(runs, size.seeds)
    studied = shorter(base, size).but(step_size=STUDIED_STEP_SIZE)
    as_printed = yield from kinds_of(
        {f"γ = {gamma:g}": studied.but(temperature=gamma) for gamma in TEMPERATURES}, size.seeds
    )
    equal = yield from kinds_of(
        {
            f"γ = {gamma:g}": studied.but(
                temperature=gamma, step_size=FIRST_STEP / gradients(gamma, classes)
            )
            for gamma in TEMPERATURES
        },
        size.seeds,
    )
    theory, told = yield from explained(search.best, best)
    labels = list(main)
    sentences = [
        better(DAMAML_SENTENCES[by], (ours, main[ours]), (theirs, main[theirs]), by=by,
               comparisons=3)
        for ours, theirs in ((printed, labels[2]), (best, labels[2]), (best, other))
        for by in ("loss", "accuracy")
    ]  # fmt: skip
    studies = {
        f"η = {STUDIED_STEP_SIZE:g} as printed": as_printed,
        f"first steps of equal length, {FIRST_STEP:g} gradients": equal,
    }
    for how, kinds in studies.items():
        by_gamma = {gamma: kinds[f"γ = {gamma:g}"] for gamma in TEMPERATURES}
        sentences += robust(
            DAMAML_SENTENCES["robust"], by_gamma, TEMPERATURE, how, studies=len(studies)
        )
    shown = {label: kind for label, kind in main.items() if len(kind.overflows) < size.seeds}
    return Conclusion(
        setting=[
            *setting(plain, size, plan.profile != "paper"),
            f"inner learning rate {plain.adaptation:g} (the journal's; the preprint gives none); "
            f"γ = {TEMPERATURE:g} unless said otherwise",
        ],
        sentences=sentences,
        findings=[
            ends(main),
            f"{search.told}. As printed, a first step is {STEP_SIZE:g}·exp(log {classes}/γ)/γ = "
            f"{STEP_SIZE * gradients(TEMPERATURE, classes):g} gradients long.",
            f"γ varied at η = {STUDIED_STEP_SIZE:g}, the first steps in gradients: "
            + "; ".join(
                f"γ = {gamma:g}: {STUDIED_STEP_SIZE * gradients(gamma, classes):.3g}"
                for gamma in TEMPERATURES
            )
            + f". {ends(as_printed)}",
            f"γ varied at first steps of {FIRST_STEP:g} gradients. {ends(equal)}",
            told,
            "For the printed step to run, the losses would have to be scaled down, or the step "
            "taken along the gradient of γ log mean exp(f/γ), whose weights add up to 1: neither "
            "is in the text.",
        ],
        panels=[
            *all_axes(f"ρ = {SHARE:g}, γ = {TEMPERATURE:g}", shown),
            panel("gamma", f"γ varied, η = {STUDIED_STEP_SIZE:g}: validation accuracy",
                  {k: v for k, v in as_printed.items() if len(v.overflows) < size.seeds}),
            panel("gamma-equal", "γ varied, first steps of equal length: validation accuracy",
                  equal),
            theory,
        ],
        numbers={"step size": search.best.step_size},
    )  # fmt: skip
