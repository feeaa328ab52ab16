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

from driftproof.verifiers import experiment as study
from driftproof.verifiers.experiment import experiment
from driftproof.verifiers.papers.comfedl.experiments import _personalised as personalised
from driftproof.verifiers.papers.comfedl.experiments._personal_models import (
    all_axes,
    better,
    ends,
    kinds_of,
    panel,
    robust,
    searched,
)
from driftproof.verifiers.papers.comfedl.experiments._personalised import (
    SHARE,
    SMALLER,
    STEP_SIZE,
    STEP_SIZES,
    TEMPERATURE,
    TEMPERATURES,
    Size,
    shorter,
)

SIZES = personalised.sizes(quick=Size(seeds=8, rounds=24, short=12, every=2, filters=8))
STUDIED = 0.01
"""η in the preprint's study of γ (figure 8)."""
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
def damaml(plan: study.Plan) -> study.Steps:
    """Run DAMAML as printed and where it runs, vary γ, and judge the sentences."""
    size = SIZES[plan.profile]
    plain = personalised.base_run(plan, size)
    base, classes = plain.but(method="damaml"), plain.dealt.classes
    tried = (*SMALLER, *(rate for rate in STEP_SIZES if rate <= STEP_SIZE))
    found, said = yield from searched(base, tried, size.tuned)
    best, printed = f"{OURS}, η = {found.step_size:g}", f"{OURS}, η = {STEP_SIZE:g} (printed)"
    same = found.step_size * gradients(TEMPERATURE, classes)
    maml, other = f"{MAML}, η = {STEP_SIZE:g}", f"{MAML}, η = {same:g} (same first step)"
    runs = {printed: base, best: found, maml: plain, other: plain.but(step_size=same)}
    main = yield from kinds_of(runs, size.seeds)
    studied = {
        f"γ = {gamma:g}": shorter(base, size).but(step_size=STUDIED, temperature=gamma)
        for gamma in TEMPERATURES
    }
    as_printed = yield from kinds_of(studied, size.seeds)
    equal = yield from kinds_of(
        {
            name: run.but(step_size=FIRST_STEP / gradients(run.temperature, classes))
            for name, run in studied.items()
        },
        size.seeds,
    )
    texts = {
        "loss": "ComFedL-DAMAML has a lower validation loss than ComFedL-MAML",
        "accuracy": "ComFedL-DAMAML has a better validation accuracy than ComFedL-MAML",
    }
    studies = {
        f"η = {STUDIED:g} as printed": as_printed,
        f"first steps of equal length, {FIRST_STEP:g} gradients": equal,
    }
    first = "; ".join(f"γ = {g:g}: {STUDIED * gradients(g, classes):.3g}" for g in TEMPERATURES)
    return study.Conclusion(
        setting=[*personalised.setting(plain, size), said],
        sentences=[
            *(
                better(text, {one: main[one], two: main[two]}, by=by, comparisons=3)
                for one, two in ((printed, maml), (best, maml), (best, other))
                for by, text in texts.items()
            ),
            *(
                sentence
                for how, kinds in studies.items()
                for sentence in robust(
                    "ComFedL-DAMAML is robust to γ",
                    {gamma: kinds[f"γ = {gamma:g}"] for gamma in TEMPERATURES},
                    TEMPERATURE,
                    how,
                    studies=len(studies),
                )
            ),
        ],
        findings=[
            ends(main),
            f"A first step of the printed one is {STEP_SIZE * gradients(TEMPERATURE, classes):g} "
            f"gradients long; where γ is varied at η = {STUDIED:g}: {first}.",
            *(f"{how}: {ends(kinds)}" for how, kinds in studies.items()),
        ],
        panels=[
            *all_axes(
                f"ρ = {SHARE:g}, γ = {TEMPERATURE:g}",
                {label: kind for label, kind in main.items() if not kind.lost},
            ),
            panel("gamma", f"γ varied, η = {STUDIED:g}",
                  {name: kind for name, kind in as_printed.items() if not kind.lost}),
            panel("gamma-equal", "γ varied, first steps of equal length", equal),
        ],
        numbers={"step size": found.step_size},
    )  # fmt: skip
