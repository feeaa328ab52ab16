r"""Local-SCGDM's figures 1 to 5: regression of sine waves by meta-learning.

**Printed** (section 5.1): 25 training tasks y = A sin(x + bπ/5), A and b in {1, …, 5}, "randomly
and evenly" distributed over 5 clients; 3 tasks a client and step, 10 points of x in [−5, 5] a task;
600 test tasks with A in [0.1, 5], b in [0, 5]; "a two-layer fully-connected neural network with 40
hidden units and ReLU"; inner learning rate 0.001; p = 5; the settings in ``_sine_run``.

**Chosen here**, before anything was run: the grids around the printed values; the number of steps;
the loss is the squared error; "a two-layer network with 40 hidden units" is read as one hidden
layer; every client has an estimate u of its own for
each task, and Local-SCGD and Local-SCGDM average the clients' i-th ones, as printed ("we average
the model states and inner states u"). Local-SCGD is (2), whose outer gradient is taken at the
estimate before the step. A model is tested after one adaptation step on 10 points, on an even grid
of 21. Plain pre-training is FedAvg with step 0.01 on all points of a client.

The print's adaptation step of 0.001 hardly moves a model, so everything is repeated at 0.01. With
α = 0.8 and η = 1 the momentum keeps a fifth of the past, and βη = 0.01 is the other methods' step:
by the printed settings the four methods' steps differ by little. Pre-training cannot give the zero
function: b in {1, …, 5} puts the phases on half a circle; with b in {1, …, 10} it could.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import log
from typing import Any

import numpy as np

from driftproof.verifiers import experiment as study
from driftproof.verifiers.experiment import (
    WORST,
    Figure,
    Outcome,
    Outcomes,
    Panel,
    Says,
    Sentence,
    curve,
    experiment,
)
from driftproof.verifiers.papers.scgdm.experiments import _sine_run as tasks
from driftproof.verifiers.papers.scgdm.experiments._sine_run import (
    INNER_RATE,
    LOCAL_STEPS,
    STEPS_SHOWN,
    SineRun,
    by_seed,
)

SIZES = {"smoke": (2, 4, 3), "quick": (8, 300, 21), "paper": (20, 10_000, 41)}
"""Seeds, rounds of five steps, moments. The print has no number of steps."""
GRIDS = {"γ": (0.3, 0.5, 0.7, 0.9), "α": (0.5, 0.7, 0.8, 0.9), "SCGD": (0.1, 0.3, 0.5, 0.7)}
"""Of γ and α of Local-SCGDM; of Local-SCGD's momentum, below the printed 0.9."""
PERIODS, RATES = (1, 5, 10, 20), (INNER_RATE, 0.01)
FITS_WELL = 0.1
"""A curve fits well if its squared error is at most this share of that of the zero function."""
GREAT = log(1.25)
""""A great margin": the other's loss is larger by a quarter, or more."""
ALIKE = round(log(1.1), 4)
""""Performs well in different p": losses differ by less than a tenth."""
ZERO = 0.1
""""All zero": the function's mean square is at most this share of the training tasks'."""
OURS, PLAIN = "Local-SCGDM", "FedAvg, plain losses"
BASELINES = ("Local-BSGD", "Local-SCGD", "Local-MOML")
LOSSES = ("training", "validation")


@experiment(
    name="scgdm/sine-wave",
    source="Local-SCGDM (2022), section 5.1 and figures 1 to 5",
    statement="Local-SCGDM fits an unseen sine wave, outperforms its baselines with a great "
    "margin, smaller γ fits faster and overfits, all p do well, α = 0.9 is best; Local-SCGD "
    "diverges with less momentum; pre-training gives the zero function",
)
def sine_wave(plan: study.Plan) -> study.Study:
    """Run the methods and the variations of their settings, and judge the sentences."""
    seeds, rounds, points = SIZES[plan.profile]
    base = SineRun.planned(plan, rounds=rounds, points=points)
    runs = _runs(base)
    main = {method: runs[method] for method in (*BASELINES, OURS)}
    return study.Study(
        methods=runs,
        seeds=seeds,
        ask=by_seed,
        says=SAYS,
        setting=[
            "data: generated as printed, 25 sine waves on 5 clients, 3 of 5 tasks a step, "
            "fresh points in each step (10 a task for the inner step, 10 others for the "
            "outer loss)",
            f"settings as printed, inner rate {INNER_RATE:g}, p = {LOCAL_STEPS}: "
            f"{study.methods(main)}",
            "loss: squared error after one adaptation step on 10 points, on "
            f"{tasks.TEST_GRID} even points; of the 25 training tasks, and of "
            f"{tasks.TEST_TASKS} others for each seed; compared by their logs",
            f'chosen before any run: "fits well" is an error of at most {FITS_WELL:g} of '
            'the zero function\'s, "a great margin" a quarter, "performs well" a '
            f'difference of at most a tenth, "zero" at most {ZERO:g} of the tasks\' mean '
            "square",
        ],
        shown=(*LOSSES, "not adapted"),
        figures=_figures(),
        more=_more,
    )


def _at_rate(method: str) -> str:
    return f"{method}, inner rate {RATES[1]:g}"


def _value(letter: str, value: float) -> str:
    return f"Local-SCGD, γ = {value:g}" if letter == "SCGD" else f"{letter} = {value:g}"


def _runs(base: SineRun) -> dict[str, SineRun]:
    """Return what is run; the printed run stands under several names."""
    scgd, steps = base.but(method="Local-SCGD"), base.rounds * base.local_steps
    runs: dict[str, SineRun] = {}
    for method in (*BASELINES, OURS):
        own = base.but(method=method)
        runs |= {method: own, _at_rate(method): own.but(rate=RATES[1])}
    runs |= {_value("γ", gamma): base.with_(inner_momentum=gamma) for gamma in GRIDS["γ"]}
    runs |= {_value("α", alpha): base.with_(momentum=alpha) for alpha in GRIDS["α"]}
    runs |= {_value("p", p): base.but(local_steps=p, rounds=steps // p) for p in PERIODS}
    runs |= {_value("SCGD", gamma): scgd.with_(inner_momentum=gamma) for gamma in GRIDS["SCGD"]}
    return runs | {PLAIN: base.but(method="FedAvg")}


def growth(of: Outcome[Any], name: str) -> np.ndarray:
    """Return by how much the log of each seed's loss has grown, [seeds]."""
    values = of.good(name)
    return np.asarray(values[:, 0] - values[:, -1])


def _against_others(letter: str, values: Sequence[float], chosen: float) -> list[tuple[str, str]]:
    return [(_value(letter, chosen), _value(letter, other)) for other in values if other != chosen]


ZERO_ERROR = float(np.square(tasks.unseen_task().values(tasks.GRID)).mean())
"""The zero function's, on figure 1's task."""


def outperforms(own: str, named: Any) -> list[Says]:
    """Local-SCGDM against each of the others; at another inner rate, in a setting of our own."""
    pairs = [(named(OURS), named(other)) for other in BASELINES]
    return [
        Says(text=f"Local-SCGDM outperforms the other baselines{own}", pairs=pairs, of=LOSSES),
        Says(text=f"… with a great margin{own}", pairs=pairs, of=LOSSES, margin=-GREAT),
    ]


SAYS = [
    Says(
        text="our algorithm fits the sinusoid curve well",
        pairs=[(OURS, FITS_WELL * ZERO_ERROR)],
        of=[f"error {steps}" for steps in STEPS_SHOWN],
    ),
    *outperforms("", lambda method: method),
    *outperforms(f" (in a setting of our own, inner rate {RATES[1]:g})", _at_rate),
    Says(
        text="smaller γ leads to faster fitting to the training tasks",
        pairs=[(_value("γ", a), _value("γ", b)) for a, b in pairwise(GRIDS["γ"])],
        of=("training",),
        by=Outcome.throughout,
        how="mean log over all rounds",
    ),
    Says(
        text="it overfits for very small γ, and generalises best at γ = 0.7",
        pairs=_against_others("γ", GRIDS["γ"], 0.7),
        of=("validation",),
    ),
    Says(
        text="Local-SCGDM performs well in different p values",
        pairs=[(other, one) for one, other in _against_others("p", PERIODS, LOCAL_STEPS)],
        of=LOSSES,
        test=study.similar_by_seeds,
        margin=ALIKE,
    ),
    Says(
        text="Local-SCGDM gets best performance at α = 0.9",
        pairs=_against_others("α", GRIDS["α"], 0.9),
        of=LOSSES,
    ),
    Says(
        text="Local-SCGD diverges with smaller values of its momentum than 0.9",
        pairs=[(_value("SCGD", gamma), 0.0) for gamma in GRIDS["SCGD"]],
        of=("training",),
        by=growth,
        how="growth of its log from the start to the end",
        guarded=False,
    ),
]


def _figures() -> list[Figure]:
    """Return one plot for each side of figures 2 to 5."""
    groups = {
        2: [*BASELINES, OURS],
        3: [_value("γ", v) for v in GRIDS["γ"]],
        4: [_value("p", v) for v in PERIODS],
        5: [_value("α", v) for v in GRIDS["α"]],
    }
    return [
        Figure(
            f"figure-{number}-{loss}", f"figure {number}, {loss}", loss, labels, study.STEPS, "y"
        )
        for number, labels in groups.items()
        for loss in LOSSES
    ]


def _more(runs: Outcomes) -> study.Conclusion:
    """Return what plain pre-training gives, and the curves of figure 1."""
    main = {method: runs[method] for method in (*BASELINES, OURS)}
    alone = [study.called(key) for key, of in runs.items() if of.bad_steps]
    repeated = (
        f"Repeated seed by seed, as a seed diverged: {'; '.join(alone)}. Seeds after the first "
        "then draw other training points: comparisons with them are not paired in these points."
    )
    return study.Conclusion(
        sentences=pre_training(runs[PLAIN]),
        findings=[repeated] if alone else [],
        panels=[_fitted(main, steps) for steps in STEPS_SHOWN],
    )


def pre_training(plain: Outcome[SineRun]) -> list[Sentence]:
    """Judge that plain pre-training gives the zero function."""
    square = np.array([np.square(t.get("function", [WORST])).mean() for t in plain.results])
    limit = ZERO * float(np.square(tasks.training_tasks(range(1)).values(tasks.GRID)).mean())
    where = f"FedAvg on all tasks together; its function's mean square is at most {limit:.3f}"
    return study.judged(
        "simple pre-training over all of the tasks leads to a degenerated all zero solution",
        {where: (-square, np.full_like(square, -limit))},
    )


def _fitted(main: Outcomes, steps: int) -> Panel:
    """Figure 1: fitted curves of the first seed, and the task."""
    x = tasks.GRID.tolist()
    shown = {name: of.results[0].get(f"fitted {steps}") for name, of in main.items()}
    curves = [curve("the task", x, tasks.unseen_task().values(tasks.GRID)[0, 0])]
    curves += [curve(name, x, np.array([of])) for name, of in shown.items() if of]
    title = f"figure 1, first seed, adaptation steps: {steps}"
    return Panel(f"figure-1-{steps}", title, "x", "y", curves, note=study.note("", 1))
