r"""Local-SCGDM's figures 1 to 5: regression of sine waves by meta-learning.

What is printed of the setting, and the grids, stand in ``printed``; the tasks in ``tasks``.

Chosen here: the loss is the squared error; "a two-layer network with 40 hidden units" is read as
one hidden layer, and the main comparison is repeated with two; every client has an estimate u of
its own for each task, and Local-SCGD and Local-SCGDM average the clients' i-th ones, as printed
("we average the model states and inner states u"). Local-SCGD is (2), whose outer gradient is
taken at the estimate before the step. A model is tested after one adaptation step on 10 points,
on an even grid of 21. Plain pre-training is FedAvg with step 0.01 on all points of a client.

The print's adaptation step of 0.001 hardly moves a model, so everything is repeated at 0.01.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from verifiers.experiment import (
    Conclusion,
    Plan,
    Sentence,
    Steps,
    experiment,
    results_of,
)
from verifiers.experiments.scgdm.sine_wave import judged, printed, tasks
from verifiers.experiments.scgdm.sine_wave.judged import AFTER, BASELINES, OURS, OWN_U, PLAIN
from verifiers.experiments.scgdm.sine_wave.run import (
    SETTINGS,
    Results,
    SineRun,
    end,
    results_by_seed,
)
from verifiers.experiments.scgdm.sine_wave.shown import findings, panels, theory_panels, told
from verifiers.experiments.scgdm.sine_wave.theory import TheoryRun

SIZES = {"smoke": (2, 4, 3), "quick": (8, 300, 21), "paper": (20, 10_000, 41)}
"""Seeds, rounds of five steps, moments. The print has no number of steps."""
METHODS = (*BASELINES, OURS)
THEORY_POINTS = 11


@experiment(
    name="scgdm/sine-wave",
    source="Local-SCGDM (2022), section 5.1 and figures 1 to 5",
    statement="Local-SCGDM fits an unseen sine wave, outperforms its baselines with a great "
    "margin, smaller γ fits faster and overfits, all p do well, α = 0.9 is best; Local-SCGD "
    "diverges with less momentum; pre-training gives the zero function",
)
def sine_wave(plan: Plan) -> Steps:
    """Run the methods and the variations of their settings, and judge the sentences."""
    seeds, rounds, points = SIZES[plan.profile]
    base = SineRun(
        rounds=rounds, seeds=seeds, points=points, seed=plan.seed, engine=plan.engine,
        device=plan.device,
    )  # fmt: skip
    asked = _asked(base)
    made = yield from results_by_seed(dict.fromkeys(asked.values()))
    theory = yield from results_of({rate: [_theory(base, rate)] for rate in printed.RATES})
    runs = {key: made[run] for key, run in asked.items()}
    main = {method: runs[method, printed.INNER_RATE, 1] for method in METHODS}
    return Conclusion(
        setting=_setting(base),
        sentences=_sentences(runs, main),
        findings=[*findings(runs, main), *(told(rate, theory[rate][0]) for rate in theory)],
        panels=[*panels(base, runs, main), *theory_panels(theory)],
        numbers={
            f"{loss} at the end": {str(key): np.exp(end(of_key, loss)).tolist()
                                   for key, of_key in runs.items()}
            for loss in judged.LOSSES
        },
    )  # fmt: skip


def _asked(base: SineRun) -> dict[Any, SineRun]:
    """Return what is run; the printed run stands under several names."""
    scgd = base.but(method="Local-SCGD")
    compared = ((printed.INNER_RATE, 1), (printed.RATES[1], 1), (printed.INNER_RATE, 2))
    asked: dict[Any, SineRun] = {
        (method, rate, layers): base.but(method=method, rate=rate, hidden_layers=layers)
        for rate, layers in compared
        for method in METHODS
    }
    asked |= {("γ", gamma): base.with_(inner_momentum=gamma) for gamma in printed.GAMMAS}
    asked |= {("α", alpha): base.with_(momentum=alpha) for alpha in printed.ALPHAS}
    asked |= {("p", p): _at_period(base, p) for p in printed.PERIODS}
    asked |= {("SCGD", g): scgd.with_(inner_momentum=g) for g in printed.SCGD_GAMMAS}
    return asked | {
        PLAIN: base.but(method="FedAvg"),
        OWN_U: base.with_(averaged="mx"),
        AFTER: scgd.with_(evaluate_at="after"),
    }


def _at_period(base: SineRun, period: int) -> SineRun:
    """Return the run of as many steps at another p."""
    steps = base.rounds * base.local_steps
    return base.but(local_steps=period, rounds=steps // period)


def _theory(base: SineRun, rate: float) -> TheoryRun:
    return TheoryRun(
        rounds=base.rounds, points=THEORY_POINTS, seed=base.seed, rate=rate, device=base.device
    )


def _group(runs: Mapping[Any, Results], letter: str) -> dict[Any, Results]:
    """Return the runs of a setting's values."""
    return {key[1]: of_key for key, of_key in runs.items() if key[0] == letter}


def _sentences(runs: Mapping[Any, Results], main: Mapping[str, Results]) -> list[Sentence]:
    faster = {method: runs[method, printed.RATES[1], 1] for method in METHODS}
    return [
        *judged.of_fit(main[OURS]),
        *judged.of_methods(main, printed.INNER_RATE),
        *judged.of_methods(faster, printed.RATES[1]),
        *judged.of_gammas(_group(runs, "γ")),
        *judged.of_periods(_group(runs, "p")),
        *judged.best(printed.BEST_ALPHA, "α", _group(runs, "α"), 0.9),
        *judged.of_scgd(_group(runs, "SCGD")),
        judged.of_plain(runs[PLAIN]),
    ]


def _setting(base: SineRun) -> list[str]:
    waves = tasks.training_tasks(base.numbers)
    means = waves.values(tasks.GRID).mean(1)  # of each client
    apart = float(np.sqrt(np.square(means - means.mean(0)).mean((0, 2))).mean())
    return [
        "data: generated as printed, 25 sine waves on 5 clients, 3 of 5 tasks a step, fresh points "
        "in each step (10 a task for the inner step, 10 others for the outer loss)",
        f"heterogeneity: the clients' mean curves lie {apart:.2f} from their common mean "
        "(root mean square over clients, x and seeds)",
        f"model: {base.model.title}, {base.model.dim} parameters, no normalisation; squared error",
        f"settings as printed ({_printed()}), inner rate {printed.INNER_RATE:g}, p = "
        f"{printed.LOCAL_STEPS}; {base.rounds} rounds, {base.rounds * base.local_steps:,} steps "
        "(chosen here)",
        f"loss: squared error after one adaptation step on 10 points, on {tasks.TEST_GRID} even "
        f"points; of the 25 training tasks, and of {printed.TEST_TASKS} others drawn for each seed",
        f"{base.seeds} seeds (deal of the tasks, start of the network, points, test tasks); band: "
        "smallest and largest seed",
        "a run that diverges, or whose loss overflows, is a result: it counts as the worst, the "
        "largest number of single precision",
        f'chosen before any run: "fits well" is an error of at most {printed.FITS_WELL:g} of the '
        'zero function\'s, "a great margin" a quarter, "performs well" a difference of at most a '
        f'tenth, "zero" at most {printed.ZERO:g} of the tasks\' mean square',
    ]


def _printed() -> str:
    return "; ".join(
        f"{method} " + ", ".join(f"{name} {value:g}" for name, value in SETTINGS[method].items())
        for method in METHODS
    )
