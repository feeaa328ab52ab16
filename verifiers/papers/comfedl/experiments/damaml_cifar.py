r"""ComFedL-DAMAML beside ComFedL-MAML, and the regularisation γ.

The preprint's figures 7 and 8 (section 5.2).

Printed: the clients, the network and ρ = 0.28 of comfedl/maml-cifar; γ = 0.5 and η = 0.05 in figure
7 ("sub-optimal for the task"), η = 0.01 in figure 8, where γ is varied.

ComFedL's step on the robust objective (10) is η exp(f/γ)/γ times a gradient. At the start f is
about log 10, so η = 0.05 with γ = 0.5 is a first step of 10 gradients: 0.05·10²/0.5. Where that
overflows, the printed run counts as the worst; beside it both methods run with the best settings of
the journal's grids.

Chosen, because it is not printed: ComFedL-MAML's η = 0.05 (as in figures 5 and 6); the inner
learning rate 0.05; the values of γ, the journal's grid; and γ varied once more with the η that
makes each first step FIRST_STEP gradients long.
"""

from math import exp, log

from driftproof.verifiers import experiment as study
from driftproof.verifiers.experiment import experiment
from driftproof.verifiers.papers.comfedl.experiments import _personalised as personalised
from driftproof.verifiers.papers.comfedl.experiments._personalised import STEP_SIZE, TEMPERATURES

STUDIED = 0.01
"""η in the preprint's study of γ (figure 8)."""
FIRST_STEP = 0.1
"""Gradients."""
OURS, MAML = "ComFedL-DAMAML", "ComFedL-MAML"
AS_PRINTED, EQUAL = "ComFedL-DAMAML, η = 0.01", "ComFedL-DAMAML, first step of equal length"


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
def damaml(plan: study.Plan) -> study.Study:
    """Run both methods as printed and searched, vary γ, and judge the sentences."""
    of = personalised.SIZES[plan.profile]
    plain = of.base(plan)
    base, classes = plain.but(method=OURS), plain.dealt.classes
    printed = {f"{OURS}, as printed": base, f"{MAML}, η = {STEP_SIZE:g}": plain}
    gammas = personalised.varied(
        {AS_PRINTED: base.but(step_size=STUDIED)}, "temperature", TEMPERATURES
    )
    for (_, gamma), run in list(gammas.items()):
        step = FIRST_STEP / gradients(run.temperature, classes)
        gammas[EQUAL, gamma] = run.but(step_size=step)
    first = "; ".join(f"γ = {g:g}: {STUDIED * gradients(g, classes):.3g}" for g in TEMPERATURES)
    robust = "our algorithm is pretty robust with different values of γ"
    return study.Study(
        methods={OURS: base, MAML: plain},
        seeds=of.seeds,
        grids=personalised.GRIDS,
        budget=of.budget,
        besides=lambda chosen: printed | gammas,
        says=[
            *(
                study.Says(
                    text="ComFedL-DAMAML achieves lower validation loss and better accuracy"
                    f" than ComFedL-MAML{how}",
                    pairs=[(pair[0], pair[1])],
                    of=("loss", "accuracy"),
                )
                for pair, how in ((tuple(printed), ""), ((OURS, MAML), " (both searched)"))
            ),
            personalised.robust(robust, AS_PRINTED),
            personalised.robust(robust, EQUAL, " (with first steps of equal length)"),
        ],
        size=personalised.smaller(base),
        setting=[
            *personalised.setting(plain),
            "a first step of the printed DAMAML is "
            f"{STEP_SIZE * gradients(0.5, classes):g} gradients long; where γ is varied at "
            f"η = {STUDIED:g}: {first}; of equal length: {FIRST_STEP:g}",
        ],
        shown=("accuracy", "worst", "loss"),
        figures=[
            *personalised.figures("ρ = 0.28", [OURS, MAML, *printed]),
            *(
                study.Figure(
                    name, f"γ varied, {label}", "accuracy", [k for k in gammas if k[0] == label]
                )
                for name, label in (("gamma", AS_PRINTED), ("gamma-equal", EQUAL))
            ),
        ],
    )
