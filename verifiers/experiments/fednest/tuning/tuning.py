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
``label_imbalance`` makes the lower level strongly convex, and sizes are in ``plans``. Every
method chooses its (β, α) from one grid by the validation loss on a split of its own, and is then
judged on others. The algorithm is the slides', with (Δ, l) and N' sampled; the choices of the
public code are run beside it, one at a time and together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from toolkit.dataset import read
from verifiers.experiment import Conclusion, Panel, Plan, Steps, experiment, results_of
from verifiers.experiments.fednest.tuning import plans
from verifiers.experiments.fednest.tuning.judged import Results, Runs, finals, judged, panel
from verifiers.experiments.fednest.tuning.run import RIDGE, TuningRun
from verifiers.experiments.fednest.tuning.series import Series


@experiment(
    name="fednest/tuning",
    source="FedNest, slides on hyperparameter tuning for label imbalance",
    statement="i.i.d.: FedNest behaves similarly to LFedNest; not i.i.d.: FedNest (with SVRG) is "
    "significantly better than FedNest_SGD; tuned is better than not tuned",
)
def tuning(plan: Plan) -> Steps:
    """Choose step sizes, run every method on every split, and judge the sentences."""
    grids = {key: plans.grid(run) for key, run in plans.everything(plan).items()}
    tried = yield from results_of(grids)
    chosen = {key: plans.best(runs, tried[key]) for key, runs in grids.items()}
    whole = {key: plans.over_seeds(run, plan.engine) for key, run in chosen.items()}
    results = yield from results_of(whole)
    compared = yield from results_of(
        {alike: [Series(whole["FedNest", alike][0])] for alike in (True, False)}
    )
    series = {alike: of_first_split for alike, (of_first_split,) in compared.items()}
    size = plans.size_of(plan)
    ends = {key: finals(of_key, size.rounds) for key, of_key in results.items()}
    return Conclusion(
        setting=_setting(plan, chosen),
        sentences=judged(results),
        findings=_findings(results, ends, chosen, series),
        panels=_panels(results, ends),
        numbers={
            "accuracy at K": {_named(key): values.tolist() for key, values in ends.items()},
            "step sizes": {_named(key): [run.beta, run.alpha] for key, run in chosen.items()},
            "series": {_where(alike): of_key for alike, of_key in series.items()},
        },
    )


def _where(alike: bool) -> str:
    return "i.i.d." if alike else "not i.i.d."


def _title(what: str) -> str:
    return f"softmax (not the paper's network): {what}"


def _named(key: tuple[str, bool]) -> str:
    return key[0] if key[0].startswith("non-federated") else f"{key[0]}, {_where(key[1])}"


def _setting(plan: Plan, chosen: dict[tuple[str, bool], TuningRun]) -> list[str]:
    size = plans.size_of(plan)
    problem = chosen["FedNest", False].problem
    steps = "; ".join(f"{_named(key)} ({run.beta:g}, {run.alpha:g})" for key, run in chosen.items())
    images = problem.split["train"][1].shape[1] + problem.split["validation"][1].shape[1]
    return [
        f"data: {read(plan.data).title}, {problem.counts[0]:,} images of class 0 down to "
        f"{problem.counts[-1]} of class 9 (ratio {size.ratio:g}), over {size.clients} clients of "
        f"{images} images, half of them for validation; test: {size.per_class} other images of "
        "every class",
        "model: softmax regression; the paper's network differs (the public code: a perceptron "
        "with 200 hidden units and dropout)",
        "not i.i.d.: a client has two shards of the images sorted by class",
        f"T = {size.inner_calls}, τ = {size.inner_steps} below and 1 above, N = {size.terms}, "
        f"minibatches of {size.batch}, {size.sampled} of {size.clients} clients a call, "
        f"ridge ν = {RIDGE:g}, K = {size.rounds}, {size.seeds} seeds (split and minibatches)",
        f"(β, α) chosen for every method alike from β in {list(size.betas)} and α in "
        f"{list(size.alphas)} (over {size.public_scale:g} with the public code's series) by the "
        "class-balanced validation loss of the last quarter of K, mean over two splits that no "
        f"sentence is judged on: {steps}",
        "accuracies: class-balanced test accuracy of argmax y(u), mean over the last tenth of the "
        "axis; a run that overflows counts as 0.1",
        "references (straight lines): accuracy at K on one machine that has all images",
        "band: smallest and largest seed",
    ]


def _panels(results: Runs, ends: dict[tuple[str, bool], np.ndarray]) -> list[Panel]:
    levels = {label: ends[label, True] for label in (plans.MACHINE, plans.MACHINE_FIXED)}
    panels = []
    main = (*plans.TUNED, plans.FIXED)
    for alike, name in ((True, "iid"), (False, "non-iid")):
        for axis in ("communication", "rounds"):
            more = () if alike else (plans.ALL_SHARED,)
            shown = {label: results[label, alike] for label in (*main, *more)}
            title = _title(f"{_where(alike)}, slides' algorithm")
            panels.append(panel(f"{name}-{axis}", title, axis, shown, levels))
    title = _title("not i.i.d., choices of the public code")
    shown = {label: results[label, False] for label in ("FedNest", *plans.LOSSES, plans.PUBLIC)}
    panels.append(panel("choices", title, "rounds", shown, levels))
    for other, alike, name in (
        (plans.PUBLIC_LIGHT, True, "iid"), (plans.PUBLIC_SGD, False, "non-iid")
    ):  # fmt: skip
        shown = {label: results[label, alike] for label in (plans.PUBLIC, other)}
        title = _title(f"{_where(alike)}, public code's choices")
        panels.append(panel(f"public-{name}", title, "communication", shown, levels))
    shown = {label: results[label, False] for label in ("FedNest", *plans.SERIES)}
    panels.append(panel("series", _title("not i.i.d., the series"), "rounds", shown, levels))
    for how, kind in plans.HARDER.items():
        shown = {label: results[plans.harder(label, how), False] for label in main[:2]}
        title = _title(f"not i.i.d., {how}")
        panels.append(panel(f"non-iid-{kind}", title, "communication", shown, levels))
    return panels


def _findings(
    results: Runs,
    ends: dict[tuple[str, bool], np.ndarray],
    chosen: dict[tuple[str, bool], TuningRun],
    series: dict[bool, dict[str, Any]],
) -> list[str]:
    terms = chosen["FedNest", True].size.terms
    findings = [
        "Accuracy at K, mean over seeds: "
        + "; ".join(f"{_named(key)} {values.mean():.3f}" for key, values in ends.items())
        + "."
    ]
    edges = [
        _named(key) for key, run in chosen.items()
        if not run.fixed and _at_edge(run)
    ]  # fmt: skip
    if edges:
        findings.append("α at an end of the grid: " + "; ".join(edges) + ".")
    lost = {key: sum(not r["ended"] for r in held) for key, held in results.items()}
    if any(lost.values()):
        told = "; ".join(f"{_named(key)} on {count} seeds" for key, count in lost.items() if count)
        findings.append(f"Overflowed: {told}.")
    for alike, held in series.items():
        cosines = ", ".join(
            f"{held[key]['cosine']:.3f} (N = {key})" for key in held if key.isdigit()
        )
        findings.append(
            f"{_where(alike)}, first split, at x⁰ and y*(x⁰): the cosine of the series' mean with "
            f"the exact hypergradient is {cosines}; of the public code's with N = {terms} it "
            f"is {held['public']['cosine']:.3f}. Lengths relative to the exact one: "
            f"{held[str(terms)]['length']:.2g} (N = {terms}) and "
            f"{held['public']['length']:.2g}."
        )
    largest = [_largest_delta(results["FedNest", alike]) for alike in (True, False)]
    if all(largest):  # the wire engine does not tell x
        findings.append(
            "With Δ unbounded as in the slides, ∇_y g is Lipschitz with a constant that grows with "
            "max Δ², so ℓ_{g,1} of the theory does not exist; under the public code's sigmoid it "
            f"does in y. At the end of FedNest's runs max |Δ| is {largest[0]:.3g} (i.i.d.) and "
            f"{largest[1]:.3g} (not i.i.d.)."
        )
    return findings


def _at_edge(run: TuningRun) -> bool:
    tried = {other.alpha for other in plans.grid(run)}
    return len(tried) > 1 and run.alpha in (min(tried), max(tried))


def _largest_delta(results: Results) -> float:
    """Return max |Δ| over seeds (0: not told)."""
    return max((abs(v) for r in results for v in r["x"][: len(r["x"]) // 2]), default=0.0)
