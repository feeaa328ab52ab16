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
choices of the public code are run beside it, one at a time and together.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np

from driftproof.toolkit.dataset import read
from driftproof.verifiers import experiment as study
from driftproof.verifiers.experiment import Outcome, Panel, Sentence, curve, experiment
from driftproof.verifiers.papers.fednest.experiments._tuning_run import (
    RIDGE,
    Series,
    Size,
    TuningRun,
)

MARGIN = 0.02
"""Class-balanced accuracies within two percentage points count as similar; set before any run."""
LAST = 0.1
"""The share of the axis, at its end, over which accuracies are averaged."""
AXES = {"rounds": "at equal k", "communication": "at equal communication"}

DIGITS = Size(
    rounds=50, seeds=8, clients=20, sampled=10, largest=120, ratio=20.0, per_class=25,
    betas=(0.3, 1.0), alphas=(0.1, 1.0, 10.0), public_scale=10.0,
)  # fmt: skip
MNIST = Size(
    rounds=20, seeds=7, clients=10, sampled=5, largest=4800, ratio=100.0, per_class=500, batch=10,
    betas=(0.1, 0.3), alphas=(1.0, 10.0, 100.0), public_scale=100.0,
)  # fmt: skip
SIZES = {
    ("smoke", False): replace(
        DIGITS, rounds=4, seeds=2, clients=4, sampled=2, inner_steps=3, betas=(0.3,),
        alphas=(1.0, 10.0), budget=2,
    ),
    ("quick", False): DIGITS,
    ("paper", False): replace(DIGITS, rounds=200, seeds=20),
    ("smoke", True): replace(
        MNIST, rounds=3, seeds=2, clients=4, sampled=2, largest=200, ratio=20.0, per_class=20,
        inner_steps=3, betas=(0.1,), alphas=(10.0,), budget=1,
    ),
    ("quick", True): MNIST,
    ("paper", True): replace(
        MNIST, rounds=250, seeds=10, clients=100, sampled=10, inner_steps=40, largest=5000,
    ),
}  # fmt: skip

TUNED = {"FedNest": "fednest", "FedNest_SGD": "fednest-sgd", "LFedNest": "lfednest"}
FIXED = "not tuned"
MACHINE, MACHINE_FIXED, PRIOR = (
    "non-federated bilevel", "non-federated, not tuned", "non-federated, l = log frequency",
)  # fmt: skip
PUBLIC, PUBLIC_SGD, PUBLIC_LIGHT = (
    "public code: FedNest", "public code: FedNest_SGD", "public code: LFedNest",
)  # fmt: skip
ALL_SHARED = "FedSVRG shares gradients of all images"
CODED: dict[str, Any] = {"squash": True, "normalised": True}
ONE_AT_A_TIME: dict[str, dict[str, Any]] = {
    ALL_SHARED: {"method": "all-shared"},
    "sigmoid of Δ": {"method": "fednest", "squash": True},
    "summed series": {"method": "fednest", "summed": True},
    "all images, public code's series": {"method": "public"},
    "weights normalised in a minibatch": {"method": "fednest", "normalised": True},
}
"""FedNest with one of the public code's choices in place of the slides'."""


HARDER = {"all clients take part": "all", "T = 1, as many local steps": "long"}
"""More settings for FedNest against FedNest_SGD."""


WHERE = {True: "i.i.d.", False: "not i.i.d."}
Runs = Mapping[tuple[str, bool], Outcome[TuningRun]]
"""By label and by whether the clients' data are i.i.d."""


@experiment(
    name="fednest/tuning",
    source="FedNest, slides on hyperparameter tuning for label imbalance",
    statement="i.i.d.: FedNest behaves similarly to LFedNest; not i.i.d.: FedNest (with SVRG) is "
    "significantly better than FedNest_SGD; tuned is better than not tuned",
)
def tuning(plan: study.Plan) -> study.Steps:
    """Choose step sizes, run every method on every split, and judge the sentences."""
    size = SIZES[plan.profile, plan.data is not None]
    methods = everything(plan)
    found = yield from study.tuned(
        methods, {key: grid(run) for key, run in methods.items()}, size.budget, "loss",
        score=late_loss, rounds=size.rounds, engine="batched",
    )  # fmt: skip
    runs = yield from study.outcomes(
        {key: long_enough(run, plan.engine) for key, run in found.chosen.items()}, size.seeds
    )
    compared = yield from study.results_of(
        {alike: [Series(runs["FedNest", alike].run)] for alike in WHERE}
    )
    series = {WHERE[alike]: of_first_split for alike, (of_first_split,) in compared.items()}
    ends = {key: at_the_end(of, "rounds", size.rounds) for key, of in runs.items()}
    problem = found.chosen["FedNest", False].problem
    images = problem.split["train"][1].shape[1] + problem.split["validation"][1].shape[1]
    smaller = study.smaller(
        {
            "images of class 0": (size.largest, 6000),
            "clients": (size.clients, 100),
            "hidden units": (0, 200),
        }
    )
    return study.Conclusion(
        setting=[
            f"data: {read(plan.data).title}, {problem.counts[0]:,} images of class 0 down to "
            f"{problem.counts[-1]} of class 9 (ratio {size.ratio:g}), over {size.clients} clients "
            f"of {images} images, half of them for validation; test: {size.per_class} other images "
            "of every class; not i.i.d.: a client has two shards of the images sorted by class",
            "model: softmax regression, where the public code has a perceptron with dropout",
            f"T = {size.inner_calls}, τ = {size.inner_steps} below and 1 above, N = {size.terms}, "
            f"minibatches of {size.batch}, {size.sampled} of {size.clients} clients a call, "
            f"ridge ν = {RIDGE:g}, K = {size.rounds}, {size.seeds} seeds (split and minibatches)",
            f"search: up to {size.budget} runs of each method on splits that judge nothing, by the "
            "mean log of the class-balanced validation loss over the last quarter of K",
            *found._replace(
                **{
                    part: {_named(key): of for key, of in getattr(found, part).items()}
                    for part in found._fields
                }
            ).lines(),
            "accuracies: class-balanced test accuracy of argmax y(u), mean over the last tenth of "
            "the axis; straight lines: accuracy at K on one machine that has all images",
            f"{smaller} (sizes of the public code, the slides have none)",
        ],
        sentences=sentences(runs, smaller),
        findings=_findings(runs, ends),
        panels=_panels(runs, ends),
        numbers={
            "accuracy at K": {_named(key): values.tolist() for key, values in ends.items()},
            "step sizes": {_named(key): [r.beta, r.alpha] for key, r in found.chosen.items()},
            "series": series,
        },
    )


def _named(key: tuple[str, bool]) -> str:
    return key[0] if key[0].startswith("non-federated") else f"{key[0]}, {WHERE[key[1]]}"


def everything(plan: study.Plan) -> dict[tuple[str, bool], TuningRun]:
    """Return every run by (label, whether the clients' data are i.i.d.), step sizes still open."""
    size = SIZES[plan.profile, plan.data is not None]
    # references hold all images, so that only the split differs with ``alike``
    base = TuningRun.planned(plan, size=size)
    machine = base.but(method="machine-fixed", alike=True)
    runs = {
        (MACHINE, True): machine.but(method="machine"),
        (MACHINE_FIXED, True): machine,
        (PRIOR, True): machine.but(prior=True),
    }
    for alike in WHERE:
        for label, method in {**TUNED, FIXED: "fixed"}.items():
            runs[label, alike] = base.but(method=method, alike=alike)
        runs[PUBLIC, alike] = base.but(method="public", alike=alike, **CODED)
    runs[PUBLIC_LIGHT, True] = base.but(method="public-light", alike=True, **CODED)
    runs[PUBLIC_SGD, False] = base.but(method="public-sgd", **CODED)
    runs |= {(label, False): base.but(**changes) for label, changes in ONE_AT_A_TIME.items()}
    others = {
        "all": replace(size, sampled=size.clients),
        "long": replace(size, inner_calls=1, inner_steps=size.inner_calls * size.inner_steps),
    }
    for how, kind in HARDER.items():
        for label in ("FedNest", "FedNest_SGD"):
            runs[f"{label}, {how}", False] = base.but(method=TUNED[label], size=others[kind])
    return runs


def grid(run: TuningRun) -> dict[str, tuple[float, ...]]:
    """Return the step sizes from which a method chooses."""
    alphas = (1.0,) if run.fixed else run.size.alphas
    if run.method.startswith("public"):  # its p is that much longer than the slides'
        alphas = tuple(alpha / run.size.public_scale for alpha in alphas)
    return {"beta": run.size.betas, "alpha": alphas}


def late_loss(of: Outcome[TuningRun]) -> np.ndarray:
    """Return minus the mean log of the validation loss over the last quarter of K, [splits]."""
    loss = of.good("loss")
    return np.asarray(loss[:, -max(1, loss.shape[1] // 4) :].mean(1))


def long_enough(run: TuningRun, engine: str) -> TuningRun:
    """Return a run long enough for K and for FedNest's communication at K.

    One machine does not communicate; it has no wire.
    """
    size, budget = run.size, run.size.rounds * cost(run.but(method="fednest", summed=False))
    rounds = size.rounds if run.alone else max(size.rounds, ceil(budget / cost(run)))
    return run.but(rounds=rounds, engine="batched" if run.alone else engine)


def cost(run: TuningRun) -> float:
    """Return the expected rounds of communication of one k: the slides' table with N' for N."""
    size = run.size
    light = run.method in ("lfednest", "public-light")
    lower = size.inner_calls * (1 if light or run.method.endswith("sgd") else 2)
    if run.fixed or light:
        return lower + light
    whole = run.summed or run.method.startswith("public")
    return lower + 3 + (size.terms if whole else (size.terms - 1) / 2)


def sentences(runs: Runs, size: str = "") -> list[Sentence]:
    """Return every sentence, on the slides' algorithm and on the public code's."""
    similar: dict[str, Any] = {"test": study.similar_by_seeds, "margin": MARGIN}
    better = "FedNest (with SVRG) is significantly better than FedNest_SGD"
    tuned = "tuned is better than not tuned"
    asked: list[tuple[str, str, str, bool, dict[str, Any]]] = [
        ("FedNest behaves similarly to LFedNest", "FedNest", "LFedNest", True, similar),
        ("… by the public code", PUBLIC, PUBLIC_LIGHT, True, similar),
        (better, "FedNest", "FedNest_SGD", False, {}),
        (f"… where {ALL_SHARED}", ALL_SHARED, "FedNest_SGD", False, {}),
        ("… by the public code: FedNest and FedNest_SGD", PUBLIC, PUBLIC_SGD, False, {}),
        *((f"… where {how}", f"FedNest, {how}", f"FedNest_SGD, {how}", False, {})
          for how in HARDER),
        *((f"{tuned} (FedNest, {where})", "FedNest", FIXED, alike, {})
          for alike, where in WHERE.items()),
    ]  # fmt: skip
    made = [
        sentence
        for text, one, other, alike, test in asked
        for sentence in _compared(runs, text, (one, alike), (other, alike), AXES, size, **test)
    ]
    machines = (MACHINE, True), (MACHINE_FIXED, True)
    only_k = {"rounds": AXES["rounds"]}
    text = f"{tuned} (the references, one machine)"
    return [*made, *_compared(runs, text, *machines, only_k, size)]


def _compared(
    runs: Runs,
    text: str,
    one: tuple[str, bool],
    other: tuple[str, bool],
    axes: Mapping[str, str],
    size: str,
    **test: Any,
) -> list[Sentence]:
    """Judge two runs' accuracies at the end of what both have reached, along some axes."""
    pair = runs[one], runs[other]
    values = {}
    for axis, how in axes.items():
        end = min(reached(of, axis) for of in pair)
        names = [_named(key) + (f" ({f})" if (f := runs[key].fate) else "") for key in (one, other)]
        where = f"{' against '.join(names)}, {how}"
        values[where] = at_the_end(pair[0], axis, end), at_the_end(pair[1], axis, end)
    reasons = study.trivial(pair, "accuracy"), study.early(*(of.good("accuracy") for of in pair))
    return [
        study.undecided_if(sentence, *reasons)
        for sentence in study.judged(text, values, size=size, **test)
    ]


def reached(of: Outcome[TuningRun], axis: str) -> float:
    """Return how far along an axis every seed has come that did not diverge."""
    ended = [result for result in of.results if result["bad_step"] is None] or of.results
    return float(min(result[axis][-1] for result in ended))


def at_the_end(of: Outcome[TuningRun], axis: str, end: float) -> np.ndarray:
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


def _panels(runs: Runs, ends: Mapping[tuple[str, bool], np.ndarray]) -> list[Panel]:
    main, slides = (*TUNED, FIXED), "slides' algorithm"
    shown = []
    for alike, name in ((True, "iid"), (False, "non-iid")):
        labels = main if alike else (*main, ALL_SHARED)
        shown += [
            (f"{name}-communication", slides, "communication", alike, labels),
            (f"{name}-rounds", slides, "rounds", alike, labels),
        ]
    losses = (ALL_SHARED, "sigmoid of Δ", "weights normalised in a minibatch")
    terms = ("summed series", "all images, public code's series")
    shown += [
        ("choices", "choices of the public code", "rounds", False, ("FedNest", *losses, PUBLIC)),
        ("public-iid", "public code's choices", "communication", True, (PUBLIC, PUBLIC_LIGHT)),
        ("public-non-iid", "public code's choices", "communication", False, (PUBLIC, PUBLIC_SGD)),
        ("series", "the series", "rounds", False, ("FedNest", *terms)),
    ]
    levels = {label: ends[label, True] for label in (MACHINE, MACHINE_FIXED)}
    drawn = [
        panel(name, f"{WHERE[alike]}, {title}", axis, {k: runs[k, alike] for k in labels}, levels)
        for name, title, axis, alike, labels in shown
    ]
    for how, kind in HARDER.items():
        own = {label: runs[f"{label}, {how}", False] for label in ("FedNest", "FedNest_SGD")}
        drawn.append(panel(f"non-iid-{kind}", f"not i.i.d., {how}", "communication", own, levels))
    return drawn


def panel(
    name: str,
    title: str,
    axis: str,
    runs: Mapping[str, Outcome[TuningRun]],
    levels: Mapping[str, np.ndarray],
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


def _findings(runs: Runs, ends: Mapping[tuple[str, bool], np.ndarray]) -> list[str]:
    largest = [
        max((abs(v) for r in runs["FedNest", alike].results for v in r["x"][: len(r["x"]) // 2]),
            default=0.0)
        for alike in WHERE
    ]  # fmt: skip
    return [
        "Accuracy at K, mean over seeds: "
        + "; ".join(
            f"{_named(key)} {values.mean():.3f}"
            + (f" ({fate})" if (fate := runs[key].fate) else "")
            for key, values in ends.items()
        )
        + ".",
        "With Δ unbounded as in the slides, ∇_y g is Lipschitz with a constant that grows with "
        "max Δ², so ℓ_{g,1} of the theory does not exist; under the public code's sigmoid it "
        f"does in y. At the end of FedNest's runs max |Δ| is {largest[0]:.3g} (i.i.d.) and "
        f"{largest[1]:.3g} (not i.i.d.); 0: the wire does not tell it.",
    ]
