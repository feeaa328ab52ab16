r"""Robust averaging on one large and nine small clients: ComFedL beside other methods.

The preprint's figure 3 and the journal version's figure 2.

Printed: MNIST, logistic regression, ten workers of which one has 5,000 images and nine have 20;
lr 0.01, τ = 5; ComFedL with γ = 0.5 (preprint) or 0.2 (journal version; its own grid has no 0.2),
DRFL with 0.08 for the weights, q-FedAvg with q = 0.2; these were found by a "grid search", whose
grids are ``GRIDS`` (journal version, section 5.3). FedAvg weighs clients by their samples (5.1).

Here: every method is searched over its printed grid, each by as many runs, and run as printed
besides. FedAvg runs with equal weights too, since the others weigh clients, not samples. Softmax
regression on raw pixels and a constant, from w = 0; minibatches of 20 drawn with replacement, and
the number of rounds, are not printed; on scikit-learn's digits the large client has 1,000 images.

ComFedL's printed step is η exp(f_B/γ)/γ·∇f_B. At w = 0, f = log 10, so the first step is
η·10^{1/γ}/γ times a gradient: 5,000 gradients at γ = 0.2 and 2 at γ = 0.5, for η = 0.01. A run that
overflows counts as the worst.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from driftproof.verifiers import experiment as study
from driftproof.verifiers.experiment import Figure, Outcome, Outcomes, Says, experiment
from driftproof.verifiers.papers.comfedl.experiments._imbalanced import (
    METRICS,
    PRINTED,
    ImageRun,
    base_run,
    setting,
    smaller,
)

SIZES = {"smoke": (2, 10, 2), "quick": (10, 200, 35), "paper": (20, 1000, 70)}
"""Profile: seeds, rounds, and the runs of each method's search."""
RATES = (0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 1.0)
NAMES = {
    "ComFedL": "comfedl",
    "FedAvg": "fedavg",
    "FedAvg, equal weights": "fedavg-uniform",
    "q-FedAvg": "q-fedavg",
    "DRFL": "drfl",
}
OTHERS = tuple(NAMES)[1:]
GAMMAS = (0.1, 0.5, 1.0, 5.0)
"""The printed grid."""
AT_RATE = f"ComFedL, η = {PRINTED}"
_RATE: dict[str, tuple[float, ...]] = {"step_size": RATES}
GRIDS: dict[str, dict[str, tuple[float, ...]]] = {
    "ComFedL": _RATE | {"temperature": GAMMAS},
    AT_RATE: {"temperature": GAMMAS},
    "FedAvg": _RATE,
    OTHERS[1]: _RATE,
    "q-FedAvg": _RATE | {"fairness": (0.1, 0.2, 0.5, 1.0, 2.0)},
    "DRFL": _RATE | {"weight_step": (0.008, 0.08, 0.8)},
}
DEFAULTS = {"preprint": 0.5, "journal": 0.2}
"""γ in print."""


@experiment(
    name="comfedl/imbalanced",
    source="ComFedL, preprint figure 3, journal version figure 2",
    statement="ComFedL beats FedAvg, q-FedAvg and DRFL in average and in worst accuracy, training "
    "and validation, and converges faster; q-FedAvg and DRFL beat FedAvg; FedAvg is bad for small "
    "clients; at learning rate 1 most methods diverge",
)
def imbalanced(plan: study.Plan) -> study.Study:
    """Search the printed grids, run the best and the printed settings, judge the sentences."""
    seeds, rounds, budget = SIZES[plan.profile]
    base = base_run(plan, rounds)
    methods = {name: base.but(method=method) for name, method in NAMES.items()}
    methods[AT_RATE] = base.but(temperature=GAMMAS[0])
    printed = {_printed(name): methods[name] for name in OTHERS}
    printed |= {f"ComFedL, {where}": base.but(temperature=g) for where, g in DEFAULTS.items()}

    def besides(chosen: Mapping[Any, Any]) -> dict[Any, ImageRun]:
        return printed | {f"{name}, η = 1": chosen[name].but(step_size=1.0) for name in NAMES}

    return study.Study(
        methods=methods,
        seeds=seeds,
        grids=GRIDS,
        budget=budget,
        by="validation average",
        besides=besides,
        says=SAYS,
        size=smaller(base),
        setting=[*setting(base), "as printed: η = 0.01, q = 0.2, DRFL's weights 0.08"],
        shown=METRICS,
        figures=[
            *(Figure(of.replace(" ", "-"), f"{of} accuracy", of) for of in METRICS),
            Figure("as-printed", "as printed: validation average", METRICS[0], list(printed)),
        ],
        more=lambda runs: _more(runs, base),
    )


def _printed(name: str) -> str:
    return f"{name}, as printed"


SAYS = [
    Says(
        text="our algorithm significantly outperforms all baselines in both metrics",
        pairs=[("ComFedL", other) for other in OTHERS],
        of=METRICS,
    ),
    *(
        Says(
            text=f"… with the settings in print ({where}: γ = {gamma:g})",
            pairs=[(f"ComFedL, {where}", _printed(other)) for other in OTHERS],
            of=METRICS,
        )
        for where, gamma in DEFAULTS.items()
    ),
    Says(
        text=f"… with the learning rate in print ({PRINTED}), γ searched over the printed grid",
        pairs=[(AT_RATE, _printed(other)) for other in OTHERS],
        of=METRICS,
    ),
    Says(
        text="our algorithm converges much faster than other baselines",
        pairs=[("ComFedL", other) for other in OTHERS],
        of=METRICS[:1],
        by=Outcome.throughout,
        how="mean over all rounds",
    ),
    *(
        Says(
            text=f"both q-FedAvg and DRFL outperform the FedAvg algorithm{how}",
            pairs=[(one, other) for one in ("q-FedAvg", "DRFL")],
            of=METRICS[:2],
        )
        for other, how in (("FedAvg", ""), (OTHERS[1], " with equal weights (reading)"))
    ),
    Says(
        text="FedAvg's weights by samples might lead to bad validation performance for clients "
        "with smaller number of images",
        pairs=[(OTHERS[1], "FedAvg")],
        of=("validation of the small clients",),
    ),
]


def _more(runs: Outcomes, base: ImageRun) -> study.Conclusion:
    """Return how many methods diverge at η = 1."""
    methods = [name for name in NAMES if name != OTHERS[1]]  # the paper's four
    diverged = np.sum([_diverged(runs[f"{name}, η = 1"]) for name in methods], 0)
    where = (
        f"number of {len(methods)} methods that overflow, or end with a larger objective (5) than "
        "at the start, against half of them"
    )
    return study.Conclusion(
        sentences=study.judged(
            "when learning rate is 1, most methods just diverge",
            {where: (diverged, np.full_like(diverged, len(methods) / 2))},
            size=smaller(base),
        )
    )


def _diverged(of: Outcome[ImageRun]) -> np.ndarray:
    """Return 1.0 for each seed whose run diverged."""
    objective = of.good("objective")
    return (objective[:, -1] < objective[:, 0]).astype(float)
