r"""Local-SCGDM's figures 1 to 5: regression of sine waves by meta-learning.

**Printed** (section 5.1): 25 training tasks y = A sin(x + bπ/5), A and b in {1, …, 5}, "randomly
and evenly" distributed over 5 clients; 3 tasks a client and step, 10 points of x in [−5, 5] a task;
600 test tasks with A in [0.1, 5], b in [0, 5]; "a two-layer fully-connected neural network with 40
hidden units and ReLU"; inner learning rate 0.001; p = 5; the settings in ``_sine_run``.

**Chosen here**, before anything was run: the grids around the printed values; the number of steps;
the loss is the squared error; "a two-layer network with 40 hidden units" is read as one hidden
layer, and the main comparison is repeated with two; every client has an estimate u of its own for
each task, and Local-SCGD and Local-SCGDM average the clients' i-th ones, as printed ("we average
the model states and inner states u"). Local-SCGD is (2), whose outer gradient is taken at the
estimate before the step. A model is tested after one adaptation step on 10 points, on an even grid
of 21. Plain pre-training is FedAvg with step 0.01 on all points of a client.

The print's adaptation step of 0.001 hardly moves a model, so everything is repeated at 0.01. With
α = 0.8 and η = 1 the momentum keeps a fifth of the past, and βη = 0.01 is the other methods' step:
by the printed settings the four methods' steps differ by little. Pre-training cannot give the zero
function: b in {1, …, 5} puts the phases on half a circle; with b in {1, …, 10} it could.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import log
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from driftproof.verifiers import experiment as study
from driftproof.verifiers.experiment import (
    Axis,
    Outcome,
    Panel,
    Sentence,
    curve,
    experiment,
    judged,
)
from driftproof.verifiers.papers.scgdm.experiments import _sine_tasks as tasks
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
WORST = float(np.finfo(np.float32).max)
"""The loss that a run counts as which diverged: it is a result, and no other is worse."""

OURS, PLAIN = "Local-SCGDM", "FedAvg, plain losses"
BASELINES = ("Local-BSGD", "Local-SCGD", "Local-MOML")
OWN_U, AFTER = "u kept by its client", "outer gradient at the new u"
LOSSES = ("training", "validation")
LOG = "log of the loss at the end"
Runs = Mapping[Any, Outcome[SineRun]]


@experiment(
    name="scgdm/sine-wave",
    source="Local-SCGDM (2022), section 5.1 and figures 1 to 5",
    statement="Local-SCGDM fits an unseen sine wave, outperforms its baselines with a great "
    "margin, smaller γ fits faster and overfits, all p do well, α = 0.9 is best; Local-SCGD "
    "diverges with less momentum; pre-training gives the zero function",
)
def sine_wave(plan: study.Plan) -> study.Steps:
    """Run the methods and the variations of their settings, and judge the sentences."""
    seeds, rounds, points = SIZES[plan.profile]
    base = SineRun.planned(plan, rounds=rounds, seeds=seeds, points=points)
    asked = _asked(base)
    made = yield from by_seed(dict.fromkeys(asked.values()))
    runs = {key: made[run] for key, run in asked.items()}
    main = {method: runs[method, INNER_RATE, 1] for method in (*BASELINES, OURS)}
    waves = tasks.training_tasks(base.numbers)
    means = waves.values(tasks.GRID).mean(1)  # of each client
    apart = float(np.sqrt(np.square(means - means.mean(0)).mean((0, 2))).mean())
    return study.Conclusion(
        setting=study.setting(
            base,
            seeds,
            "data: generated as printed, 25 sine waves on 5 clients, 3 of 5 tasks a step, fresh "
            "points in each step (10 a task for the inner step, 10 others for the outer loss)",
            f"heterogeneity: the clients' mean curves lie {apart:.2f} from their common mean "
            "(root mean square over clients, x and seeds)",
            f"settings as printed, inner rate {INNER_RATE:g}, p = {LOCAL_STEPS}: "
            f"{study.methods({method: of.run for method, of in main.items()})}",
            f"loss: squared error after one adaptation step on 10 points, on {tasks.TEST_GRID} even"
            f" points; of the 25 training tasks, and of {tasks.TEST_TASKS} others for each seed",
            "a run that diverges, or whose loss overflows, is a result: it counts as the worst, "
            "the largest number of single precision",
            f'chosen before any run: "fits well" is an error of at most {FITS_WELL:g} of the zero '
            'function\'s, "a great margin" a quarter, "performs well" a difference of at most a '
            f'tenth, "zero" at most {ZERO:g} of the tasks\' mean square',
        ),
        sentences=_sentences(runs, main),
        findings=[
            study.ends(runs, *LOSSES, "not adapted"),
            *_not_paired(runs),
        ],
        panels=_panels(runs, main),
        numbers={
            f"{loss} at the end": {
                str(key): np.exp(end(of, loss)).tolist() for key, of in runs.items()
            }
            for loss in LOSSES
        },
    )


def _asked(base: SineRun) -> dict[Any, SineRun]:
    """Return what is run; the printed run stands under several names."""
    scgd, steps = base.but(method="Local-SCGD"), base.rounds * base.local_steps
    asked: dict[Any, SineRun] = {
        (method, rate, layers): base.but(method=method, rate=rate, hidden_layers=layers)
        for rate, layers in ((INNER_RATE, 1), (RATES[1], 1), (INNER_RATE, 2))
        for method in (*BASELINES, OURS)
    }
    asked |= {("γ", gamma): base.with_(inner_momentum=gamma) for gamma in GRIDS["γ"]}
    asked |= {("α", alpha): base.with_(momentum=alpha) for alpha in GRIDS["α"]}
    asked |= {("p", p): base.but(local_steps=p, rounds=steps // p) for p in PERIODS}
    asked |= {("SCGD", gamma): scgd.with_(inner_momentum=gamma) for gamma in GRIDS["SCGD"]}
    asked[PLAIN] = base.but(method="FedAvg")
    asked[OWN_U] = base.with_(averaged="mx")
    asked[AFTER] = scgd.with_(evaluate_at="after")
    return asked


def _group(runs: Runs, letter: str) -> dict[Any, Outcome[SineRun]]:
    """Return the runs of a setting's values."""
    return {key[1]: of_key for key, of_key in runs.items() if key[0] == letter}


def counted(losses: ArrayLike) -> np.ndarray:
    """Return losses, with the worst where one is not finite."""
    values = np.asarray(losses, float)
    return np.where(np.isfinite(values), np.minimum(values, WORST), WORST)


def end(of: Outcome[SineRun], loss: str) -> np.ndarray:
    """Return the log of each seed's last loss; the worst where it diverged."""
    last = [np.nan if told["bad_step"] is not None else told[loss][-1] for told in of.results]
    return np.asarray(np.log(counted(last)))


def _mean_log(of: Outcome[SineRun]) -> np.ndarray:
    points = max(len(told["training"]) for told in of.results)
    return np.asarray(np.log(counted(of.over("training", points))).mean(1))


def _sentences(runs: Runs, main: Runs) -> list[Sentence]:
    faster = {method: runs[method, RATES[1], 1] for method in main}
    zero = float(np.square(tasks.unseen_task().values(tasks.GRID)).mean())
    errors = {
        steps: counted([told.get(f"error {steps}", np.inf) for told in main[OURS].results])
        for steps in STEPS_SHOWN
    }
    gammas, scgd, periods = _group(runs, "γ"), _group(runs, "SCGD"), _group(runs, "p")
    square = counted([np.square(t.get("function", np.inf)).mean() for t in runs[PLAIN].results])
    limit = ZERO * float(np.square(tasks.training_tasks(range(1)).values(tasks.GRID)).mean())
    return [
        *judged(
            "our algorithm fits the sinusoid curve well",
            {
                f"adaptation steps: {steps}; squared error at most {FITS_WELL * zero:.3f}": (
                    -error,
                    np.full_like(error, -FITS_WELL * zero),
                )
                for steps, error in errors.items()
            },
        ),
        *of_methods(main, INNER_RATE),
        *of_methods(faster, RATES[1]),
        *judged(
            "smaller γ leads to faster fitting to the training tasks",
            {
                f"γ = {small:g} against {large:g}; mean log training loss over the run": (
                    -_mean_log(gammas[small]),
                    -_mean_log(gammas[large]),
                )
                for small, large in pairwise(sorted(gammas))
            },
        ),
        *_against_others(
            "it overfits for very small γ, and generalises best at γ = 0.7",
            "γ", gammas, 0.7, ("validation",),
        ),
        *_against_others(
            "Local-SCGDM performs well in different p values",
            "p", periods, LOCAL_STEPS, alike=True,
        ),
        *_against_others(
            "Local-SCGDM gets best performance at α = 0.9", "α", _group(runs, "α"), 0.9
        ),
        *judged(
            "Local-SCGD diverges with smaller values of its momentum than 0.9",
            {
                f"γ = {gamma:g}: log training loss at the end against that at the start": (
                    end(of, "training"),
                    np.log([told["training"][0] for told in of.results]),
                )
                for gamma, of in scgd.items()
            },
        ),
        *judged(
            "simple pre-training over all of the tasks leads to a degenerated all zero solution",
            {
                "FedAvg on all tasks together; its function's mean square is at most "
                f"{limit:.3f}": (-square, np.full_like(square, -limit))
            },
        ),
    ]  # fmt: skip


def of_methods(runs: Runs, rate: float) -> list[Sentence]:
    """Local-SCGDM against each of the others; at another inner rate, in a setting of our own."""
    own = "" if rate == INNER_RATE else " (in a setting of our own)"
    return [
        sentence
        for text, margin in (
            ("Local-SCGDM outperforms the other baselines", 0.0),
            ("… with a great margin (a quarter or more)", GREAT),
        )
        for sentence in judged(
            text + own,
            {
                f"{OURS} against {other}, {loss} loss, inner rate {rate:g}; {LOG}": (
                    -end(runs[OURS], loss),
                    -(end(runs[other], loss) - margin),
                )
                for loss in LOSSES
                for other in BASELINES
            },
        )
    ]


def _against_others(
    text: str,
    letter: str,
    runs: Runs,
    chosen: float,
    losses: tuple[str, ...] = LOSSES,
    alike: bool = False,
) -> list[Sentence]:
    """Judge that one value of a setting gives the lowest losses of all; or that all are alike."""
    pairs = {}
    for loss in losses:
        own = end(runs[chosen], loss)
        for value, of in runs.items():
            if value == chosen:
                continue
            one, other = (value, chosen) if alike else (chosen, value)
            where = f"{letter} = {one:g} against {other:g}, {loss} loss; {LOG}"
            pairs[where] = (end(of, loss), own) if alike else (-own, -end(of, loss))
    if alike:
        return judged(text, pairs, test=study.similar_by_seeds, margin=ALIKE)
    return judged(text, pairs)


def _panels(runs: Runs, main: Runs) -> list[Panel]:
    """Return one panel for each side of a figure."""
    scgd = {f"Local-SCGD, γ = {gamma:g}": of for gamma, of in _group(runs, "SCGD").items()}
    scgd |= {"Local-SCGD, γ = 0.9": main["Local-SCGD"], f"γ = 0.9, {AFTER}": runs[AFTER]}
    groups = {"figure-2": ("figure 2", main)}
    for letter, figure in (("γ", 3), ("p", 4), ("α", 5)):
        named = {f"{letter} = {value:g}": of for value, of in _group(runs, letter).items()}
        groups[f"figure-{figure}"] = f"figure {figure}", named
    for name, what, rate, layers in (
        ("rate-0.01", "inner rate 0.01", RATES[1], 1),
        ("two-layers", "two hidden layers", INNER_RATE, 2),
    ):
        own = {method: runs[method, rate, layers] for method in main}
        groups[name] = f"as figure 2, {what}", own
    return [
        *(
            _losses(f"{name}-{loss}", title, of, loss)
            for name, (title, of) in groups.items()
            for loss in LOSSES
        ),
        _losses("scgd-momentum", "Local-SCGD's momentum", scgd, "training"),
        *(
            study.plot(f"figure-2-{name}", "figure 2", main, "validation", "squared error", axis)
            for name, axis in (("rounds", Axis(along="sent")), ("bytes", study.SENT))
        ),
        *(_fitted(main, steps) for steps in STEPS_SHOWN),
        _pre_training(runs[PLAIN]),
    ]


def _losses(name: str, title: str, runs: Runs, loss: str) -> Panel:
    return study.plot(name, f"{title}, {loss}", runs, loss, "squared error", study.STEPS, log="y")


def _fitted(main: Runs, steps: int) -> Panel:
    """Figure 1: fitted curves of the first seed, and the task."""
    x = tasks.GRID.tolist()
    shown = {name: of.results[0].get(f"fitted {steps}") for name, of in main.items()}
    curves = [curve("the task", x, tasks.unseen_task().values(tasks.GRID)[0, 0])]
    curves += [curve(name, x, np.array([of])) for name, of in shown.items() if of]
    title = f"figure 1, first seed, adaptation steps: {steps}"
    return Panel(f"figure-1-{steps}", title, "x", "y", curves)


def _pre_training(plain: Outcome[SineRun]) -> Panel:
    x = tasks.GRID
    none = np.full(len(x), np.nan)  # of a run that diverged: a gap
    functions = np.array([told.get("function", none) for told in plain.results], float)
    curves = [
        curve("FedAvg on all tasks", x.tolist(), functions),
        curve("mean of the 25 tasks", x.tolist(), tasks.mean_curve(x)[None]),
        curve("all zero", x.tolist(), np.zeros((1, len(x)))),
    ]
    return Panel("pre-training", "what plain pre-training gives", "x", "y", curves)


def _not_paired(runs: Runs) -> list[str]:
    """Name the runs that were repeated seed by seed, because a seed diverged."""
    alone = [str(key) for key, of in runs.items() if of.bad_steps]
    return [
        f"Repeated seed by seed, as a seed diverged: {'; '.join(alone)}. Seeds after the first "
        "then draw other training points than the other methods: comparisons with them are not "
        "paired in these points."
    ] * bool(alone)
