r"""Hyperparameter tuning for label imbalance.

Printed: label-imbalanced data; the upper level minimises a class-balanced validation loss over
x = (Δ, l), the lower one the parametric training loss log(1 + Σ_{s≠t} e^{l_s − l_t} e^{Δ_s y_s(u) −
Δ_t y_t(u)}) over the model y, which is the cross entropy of the logits Δ∘y(u) + l. Not printed:
data set, network, imbalance, clients, step sizes; ucr-optml/FedNest (main_imbalance.py,
reproduce/fig3.sh) has MNIST, class c with 6,000·100^{−c/9} images, 100 clients of which 10 are
sampled, T = 3, five epochs of batches of 10, N = 3, steps 0.01 and 0.02, and a perceptron with 200
hidden units and dropout.

Here: softmax regression (a linear model, not the paper's network) on scikit-learn's digits, or on
MNIST with --data; the images and the clients are as in ``dealt``, the ridge of
``label_imbalance`` makes the lower level strongly convex. Every method chooses its (β, α) from one
grid by the validation loss on splits of its own, by as many runs, and is then judged on others, by
test images that no search has seen. The algorithm is the slides', with (Δ, l) and N' sampled; the
public code's is run beside it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from driftproof.verifiers import experiment as study
from driftproof.verifiers.experiment import Outcome, Outcomes, Panel, Sentence, curve, experiment
from driftproof.verifiers.papers.fednest.experiments._tuning_run import RIDGE, TuningRun

MARGIN = 0.02
"""Class-balanced accuracies within two percentage points count as similar; set before any run."""
LAST = 0.1
"""The share of the axis, at its end, over which accuracies are averaged."""
AXES = {"rounds": "at equal k", "communication": "at equal communication"}

DIGITS = {
    "rounds": 50,
    "clients": 20,
    "sampled": 10,
    "largest": 120,
    "ratio": 20.0,
    "per_class": 25,
}
MNIST = {
    "rounds": 20,
    "clients": 10,
    "sampled": 5,
    "largest": 4800,
    "ratio": 100.0,
    "per_class": 500,
    "batch": 10,
}
FEW = {"clients": 4, "sampled": 2, "inner_steps": 3}
SIZES: dict[str, list[tuple[int, int, dict[str, Any]]]] = {
    "smoke": [
        (2, 2, DIGITS | FEW | {"rounds": 4}),
        (2, 1, MNIST | FEW | {"rounds": 3, "largest": 200, "ratio": 20.0, "per_class": 20}),
    ],
    "quick": [(8, 12, DIGITS), (7, 12, MNIST)],
    "paper": [
        (20, 12, DIGITS | {"rounds": 200}),
        (
            10,
            12,
            MNIST
            | {"rounds": 250, "clients": 100, "sampled": 10, "inner_steps": 40, "largest": 5000},
        ),
    ],
}
"""On digits and on MNIST: seeds, runs of each method's search, and what runs have."""
GRIDS = (
    {"beta": (0.3, 1.0), "alpha": (0.1, 1.0, 10.0)},
    {"beta": (0.1, 0.3), "alpha": (1.0, 10.0, 100.0)},
)
SMOKE = {"beta": (0.3,), "alpha": (1.0, 10.0)}, {"beta": (0.1,), "alpha": (10.0,)}
"""On digits and on MNIST: the step sizes that every method may choose from."""
PUBLIC_SCALE = 10.0, 100.0
"""What α is divided by with the public code's series, whose p is about that much longer:
(1 + Σ_{n≤N} 1/n) against N/ℓ_{g,1}, to a power of ten."""

IID, SORTED = "i.i.d.", "not i.i.d."
FIXED = "not tuned"
MACHINE, MACHINE_FIXED = "non-federated bilevel", "non-federated, not tuned"
PUBLIC, PUBLIC_SGD, PUBLIC_LIGHT = (
    "public code: FedNest",
    "public code: FedNest_SGD",
    "public code: LFedNest",
)
ALL_SHARED = "FedSVRG shares gradients of all images"
LABELS = {
    "FedNest": "fednest",
    "FedNest_SGD": "fednest-sgd",
    "LFedNest": "lfednest",
    FIXED: "fixed",
    PUBLIC: "public",
}
OF_ONE = {
    IID: {PUBLIC_LIGHT: "public-light"},
    SORTED: {PUBLIC_SGD: "public-sgd", ALL_SHARED: "all-shared"},
}
"""Methods by label: on both kinds of clients, and on one."""
HARDER = ("all clients take part", "T = 1, as many local steps")
"""More settings for FedNest against FedNest_SGD."""


@experiment(
    name="fednest/tuning",
    source="FedNest, slides on hyperparameter tuning for label imbalance",
    statement="i.i.d.: FedNest behaves similarly to LFedNest; not i.i.d.: FedNest (with SVRG) is "
    "significantly better than FedNest_SGD; tuned is better than not tuned",
)
def tuning(plan: study.Plan) -> study.Study:
    """Choose step sizes, run every method on every split, and judge the sentences."""
    mnist = plan.data is not None
    seeds, budget, _ = SIZES[plan.profile][mnist]
    methods = everything(plan)
    base = methods["FedNest", SORTED]
    problem = base.problem
    images = problem.split["train"][1].shape[1] + problem.split["validation"][1].shape[1]
    smaller = study.smaller(
        {
            "images of class 0": (base.largest, 6000),
            "clients": (base.clients, 100),
            "hidden units": (0, 200),
        }
    )
    return study.Study(
        methods=methods,
        seeds=seeds,
        grids={
            key: grid(
                run, (SMOKE if plan.profile == "smoke" else GRIDS)[mnist], PUBLIC_SCALE[mnist]
            )
            for key, run in methods.items()
        },
        budget=budget,
        by="late loss",
        size=smaller,
        setting=[
            f"{problem.counts[0]:,} images of class 0 down to {problem.counts[-1]} of class 9 "
            f"(ratio {base.ratio:g}), over {base.clients} clients of {images} images, half of them "
            f"for validation; test: {base.per_class} other images of every class; not i.i.d.: a "
            "client has two shards of the images sorted by class",
            "model: softmax regression, where the public code has a perceptron with dropout",
            f"T = {base.inner_calls}, τ = {base.inner_steps} below and 1 above, N = {base.terms}, "
            f"minibatches of {base.batch}, {base.sampled} of {base.clients} clients a call, "
            f"ridge ν = {RIDGE:g}",
            "late loss: the mean log of the class-balanced validation loss over the last quarter "
            "of K; what is judged runs on to the communication that FedNest has at K",
            "accuracies: class-balanced test accuracy of argmax y(u), mean over the last tenth of "
            "the axis; straight lines: accuracy at K on one machine that has all images",
            "sizes in print are those of the public code, the slides have none",
        ],
        more=lambda runs: study.Conclusion(
            sentences=sentences(runs, smaller), panels=_panels(runs)
        ),
    )


def everything(plan: study.Plan) -> dict[Any, TuningRun]:
    """Return every run by (label, IID or SORTED), and one machine's; step sizes still open."""
    base = TuningRun.planned(plan, **SIZES[plan.profile][plan.data is not None][2])
    runs: dict[Any, TuningRun] = {
        (label, where): base.but(method=method, alike=where == IID)
        for where, own in OF_ONE.items()
        for label, method in {**LABELS, **own}.items()
    }
    long = {"inner_calls": 1, "inner_steps": base.inner_calls * base.inner_steps}
    for how, changed in zip(HARDER, ({"sampled": base.clients}, long), strict=True):
        for label in ("FedNest", "FedNest_SGD"):
            runs[f"{label}, {how}", SORTED] = base.but(method=LABELS[label], **changed)
    # one machine holds all images, so that only the split differs with ``alike``
    machine = base.but(method="machine-fixed", alike=True)
    return runs | {MACHINE: machine.but(method="machine"), MACHINE_FIXED: machine}


def grid(
    run: TuningRun, every: Mapping[str, tuple[float, ...]], scale: float
) -> dict[str, tuple[float, ...]]:
    """Return the step sizes from which a method chooses."""
    alphas = (1.0,) if run.fixed else every["alpha"]
    if run.coded:
        alphas = tuple(alpha / scale for alpha in alphas)
    return {"beta": every["beta"], "alpha": alphas}


def sentences(runs: Outcomes, size: str = "") -> list[Sentence]:
    """Return every sentence, on the slides' algorithm and on the public code's."""
    similar: dict[str, Any] = {"test": study.similar_by_seeds, "margin": MARGIN}
    better = "FedNest (with SVRG) is significantly better than FedNest_SGD"
    tuned = "tuned is better than not tuned"
    asked: list[tuple[str, str, str, str, dict[str, Any]]] = [
        ("FedNest behaves similarly to LFedNest", "FedNest", "LFedNest", IID, similar),
        ("… by the public code", PUBLIC, PUBLIC_LIGHT, IID, similar),
        (better, "FedNest", "FedNest_SGD", SORTED, {}),
        (f"… where {ALL_SHARED}", ALL_SHARED, "FedNest_SGD", SORTED, {}),
        ("… by the public code: FedNest and FedNest_SGD", PUBLIC, PUBLIC_SGD, SORTED, {}),
        *(
            (f"… where {how}", f"FedNest, {how}", f"FedNest_SGD, {how}", SORTED, {})
            for how in HARDER
        ),
        *((f"{tuned} (FedNest, {where})", "FedNest", FIXED, where, {}) for where in OF_ONE),
    ]
    made = [
        sentence
        for text, one, other, where, test in asked
        for sentence in _compared(runs, text, [(one, where), (other, where)], AXES, size, **test)
    ]
    only_k = {"rounds": AXES["rounds"]}
    text = f"{tuned} (the references, one machine)"
    return [*made, *_compared(runs, text, [MACHINE, MACHINE_FIXED], only_k, size)]


def _compared(
    runs: Outcomes, text: str, keys: Sequence[Any], axes: Mapping[str, str], size: str, **test: Any
) -> list[Sentence]:
    """Judge two runs' accuracies at the end of what both have reached, along some axes."""
    one, other = (runs[key] for key in keys)
    names, values = [study.named(runs, key) for key in keys], {}
    for axis, how in axes.items():
        end = min(reached(one, axis), reached(other, axis))
        where = f"{' against '.join(names)}, {how}"
        values[where] = at_the_end(one, axis, end), at_the_end(other, axis, end)
    reasons = (
        study.trivial([one, other], "accuracy"),
        study.early(one.good("accuracy"), other.good("accuracy")),
    )
    return [
        study.undecided_if(sentence, *reasons)
        for sentence in study.judged(text, values, size=size, **test)
    ]


def reached(of: Outcome[Any], axis: str) -> float:
    """Return how far along an axis every seed has come that did not diverge."""
    ended = [result for result in of.results if result["bad_step"] is None] or of.results
    return float(min(result[axis][-1] for result in ended))


def at_the_end(of: Outcome[Any], axis: str, end: float) -> np.ndarray:
    """Return each seed's test accuracy, averaged over the last LAST of [0, end]."""
    return np.array(
        [
            0.0 if r["bad_step"] is not None else _between(r, axis, (1 - LAST) * end, end)
            for r in of.results
        ]
    )


def _between(result: Mapping[str, Any], axis: str, low: float, high: float) -> float:
    at, accuracy = np.array(result[axis]), np.array(result["accuracy"])
    inside = (at > low) & (at <= high)
    if not inside.any():  # the last k before the end of the axis
        inside = at == at[at <= high].max()
    return float(accuracy[inside].mean())


def _panels(runs: Outcomes) -> list[Panel]:
    """Return the slides' plots: their methods along both axes, and one machine as its level."""
    levels = {
        label: at_the_end(runs[label], "rounds", runs[label].run.rounds)
        for label in (MACHINE, MACHINE_FIXED)
    }
    drawn = []
    for where, name, more in ((IID, "iid", []), (SORTED, "non-iid", [ALL_SHARED])):
        own = {label: runs[label, where] for label in [*LABELS, *more] if label != PUBLIC}
        title = f"{where}, slides' algorithm"
        drawn += [
            panel(f"{name}-{axis}", title, axis, own, levels)
            for axis in ("communication", "rounds")
        ]
    return drawn


def panel(
    name: str, title: str, axis: str, runs: Outcomes, levels: Mapping[str, np.ndarray]
) -> Panel:
    """Return accuracy along an axis as far as all have come, and references as straight lines.

    Args:
        levels: references: the accuracy of each seed at the end.
    """
    end = min(reached(of, axis) for of in runs.values())
    x = np.linspace(0, end, int(min(end, 100)) + 1)

    def followed(result: Mapping[str, Any]) -> np.ndarray:
        """Return the accuracy of the last k before each point of the axis."""
        at = np.searchsorted(result[axis], x, side="right") - 1
        lost = (result["bad_step"] is not None) & (x > result[axis][-1])
        return np.where(lost, np.nan, np.asarray(result["accuracy"])[at])

    curves = [
        curve(label, x.tolist(), np.array([followed(r) for r in of.results]))
        for label, of in runs.items()
    ]
    curves += [
        curve(label, [0.0, end], np.repeat(values[:, None], 2, 1))
        for label, values in levels.items()
    ]
    label = "round k" if axis == "rounds" else "rounds of communication"
    title = f"softmax (not the paper's network): {title}"
    some = next(iter(runs.values()))
    note = study.note(some.run.sizes, len(some.results))
    return Panel(name, title, label, "class-balanced test accuracy (share)", curves, note=note)
