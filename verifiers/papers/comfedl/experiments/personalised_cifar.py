r"""ComFedL-DAMAML beside FedAvg, FedMAML, TR-MAML and Ditto.

The journal version's figures 4, 5 and 6 (section 5.2) and the grids of its section 5.3.

Printed: CIFAR-10, the "4-layer convolutional neural network used in" Finn et al. 2017, 10 clients,
ρ = 0.28, τ = 5, and every method's hyper-parameters (``JOURNAL``), found by a grid search whose
grids are printed too. They are run as printed, and searched here over the same grids, each method
by as many runs. "For fair comparison, FedAvg is trained with one step at test time."

DAMAML's printed step, η = 0.1 with γ = 0.5, is 0.1·10²/0.5 = 20 gradients long at the start, where
f is about log 10. Where it overflows, that run counts as the worst.

Chosen, because it is not printed: the values of τ (1, 5, 10) and of ρ (0.2, 0.28, 0.6); minibatches
of 10; numbers of images and rounds.
"""

from typing import Any

import numpy as np

from driftproof.verifiers import experiment as study
from driftproof.verifiers.experiment import Outcome, Says, experiment
from driftproof.verifiers.papers.comfedl.experiments import _personalised as personalised
from driftproof.verifiers.papers.comfedl.experiments._personalised import TEMPERATURES

JOURNAL: dict[str, dict[str, float]] = {
    "FedAvg": {"step_size": 0.1},
    "FedMAML": {"adaptation": 0.1, "step_size": 0.1},
    "TR-MAML": {"adaptation": 0.05, "step_size": 0.1, "weight_step": 0.08},
    "Ditto": {"step_size": 0.2, "personal_step_size": 0.2, "proximity": 0.1},
    "ComFedL-DAMAML": {"adaptation": 0.05, "step_size": 0.1, "temperature": 0.5},
}
"""The journal's hyper-parameters of each method."""
OURS, FEDAVG = "ComFedL-DAMAML", "FedAvg"
OTHERS = ("FedAvg", "FedMAML", "TR-MAML", "Ditto")
BOTH = ("accuracy", "loss")


def noise(of: Outcome[Any], name: str) -> np.ndarray:
    """Return the root mean square of the second differences, [seeds]."""
    return np.asarray(np.sqrt(np.square(np.diff(of.good(name), 2, axis=1)).mean(1)))


NOISE: Any = {"of": ("loss",), "by": noise, "how": "noise of its log", "guarded": False}
SAYS = [
    Says(
        text="our method outperforms all these methods",
        pairs=[(OURS, other) for other in OTHERS],
        of=BOTH,
    ),
    Says(
        text="… with the settings in print",
        pairs=[(f"{OURS}, as printed", f"{other}, as printed") for other in OTHERS],
        of=BOTH,
    ),
    Says(
        text="FedAvg gets the worst validation loss (accuracy)",
        pairs=[(other, FEDAVG) for other in (OURS, *OTHERS[1:])],
        of=BOTH,
    ),
    Says(
        text="FedMAML and Ditto perform better",
        pairs=[(other, FEDAVG) for other in ("FedMAML", "Ditto")],
        of=BOTH,
    ),
    Says(
        text="… but the loss (accuracy) curve is very noisy: noisier than ComFedL-DAMAML's",
        pairs=[(other, OURS) for other in ("FedMAML", "Ditto")],
        **NOISE,
    ),
    Says(
        text="TR-MAML gets a smoother curve compared to FedMAML",
        pairs=[("FedMAML", "TR-MAML")],
        **NOISE,
    ),
    personalised.robust("our algorithm is pretty robust with different values of γ", OURS),
]


@experiment(
    name="comfedl/personalised-cifar",
    source="ComFedL, journal version, section 5.2, figures 4, 5 and 6, and section 5.3",
    statement="ComFedL-DAMAML is best and FedAvg worst; FedMAML and Ditto are better than FedAvg "
    "but noisy; TR-MAML is smoother than FedMAML; a larger τ is faster; γ does not matter much; "
    "FedAvg is beaten most at large ρ",
)
def compared(plan: study.Plan) -> study.Study:
    """Search and run all methods, vary τ, γ and ρ, and judge the sentences."""
    of = personalised.SIZES[plan.profile]
    plain = of.base(plan)
    methods = {name: plain.but(method=name, **given) for name, given in JOURNAL.items()}
    size, varied = personalised.smaller(plain), personalised.varied
    keys = {
        "gap": [(OURS, f"τ = {tau}") for tau in of.gaps],
        "gamma": [(OURS, f"γ = {gamma:g}") for gamma in TEMPERATURES],
        "share": [(label, f"ρ = {s:g}") for label in (OURS, FEDAVG) for s in of.shares],
    }
    return study.Study(
        methods=methods,
        seeds=of.seeds,
        grids=personalised.GRIDS,
        budget=of.budget,
        besides=lambda chosen: {
            **{f"{name}, as printed": run for name, run in methods.items()},
            **varied({OURS: chosen[OURS]}, "local_steps", of.gaps),
            **varied({OURS: chosen[OURS]}, "temperature", TEMPERATURES),
            **varied({name: chosen[name] for name in (OURS, FEDAVG)}, "share", of.shares),
        },
        says=[
            *SAYS,
            personalised.faster(
                "ComFedL-DAMAML converges much faster when we increase τ", OURS, of.gaps
            ),
            personalised.at_every_share(
                "it consistently outperforms the FedAvg method over different ρ", OURS, of.shares
            ),
        ],
        size=size,
        setting=[*personalised.setting(plain), f"as printed: {study.methods(methods)}"],
        shown=("accuracy", "worst", "loss"),
        figures=[
            *personalised.figures(f"ρ = {plain.share:g}, τ = {plain.local_steps}"),
            *(
                study.Figure(name, f"{name} varied", "accuracy", labels)
                for name, labels in keys.items()
            ),
        ],
        more=personalised.most_at_large_shares(
            "… especially when ρ is large", OURS, of.shares, size
        ),
    )
