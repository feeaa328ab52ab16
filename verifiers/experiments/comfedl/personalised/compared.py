r"""ComFedL-DAMAML beside FedAvg, FedMAML, TR-MAML and Ditto.

The journal version's figures 4, 5 and 6 (section 5.2) and the grids of its section 5.3.

Printed: CIFAR-10, the "4-layer convolutional neural network used in" Finn et al. 2017, 10 clients,
ρ = 0.28, τ = 5, and every method's hyper-parameters, found by grid search: ``printed.JOURNAL`` has
them, and they are run as they are. "For fair comparison, FedAvg is trained with one step at test
time." "We observe that when learning rate is 1, most methods just diverge" is said of the
distributionally robust experiments, whose grid of rates is the same; it is judged on these five
methods and on the four of comfedl/imbalanced, on the data that are run here.

DAMAML's printed step, η = 0.1 with γ = 0.5, is 0.1·10²/0.5 = 20 gradients long at the start, where
f is about log 10. Where it overflows, that run counts as one that knows nothing, and the best η of
the printed grid up to there, and of two rates below it, is judged beside it. It is searched on
other partitions of the same images: at quick size on the test images that are judged.

Chosen, because it is not printed: the values of τ (1, 5, 10) and of ρ (0.2, 0.28, 0.6); minibatches
of 10; numbers of images and rounds; "diverges": it is not finite at the end, or its validation loss
there is above what it was at the start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from verifiers.experiment import (
    Conclusion,
    Plan,
    Sentence,
    Steps,
    experiment,
    judged_by_seeds,
    results_of,
)
from verifiers.experiments.comfedl.imbalanced.run import LABELS, ImageRun, Results
from verifiers.experiments.comfedl.personalised.explained import explained
from verifiers.experiments.comfedl.personalised.judged import (
    Kind,
    Kinds,
    all_axes,
    better,
    ends,
    extreme,
    faster,
    kinds_of,
    over_shares,
    panel,
    robust,
    searched,
)
from verifiers.experiments.comfedl.personalised.printed import (
    JOURNAL,
    JOURNAL_SENTENCES,
    SHARE,
    SMALLER,
    STEP_SIZES,
    TEMPERATURE,
    TEMPERATURES,
)
from verifiers.experiments.comfedl.personalised.run import NAMES, PersonalisedRun
from verifiers.experiments.comfedl.personalised.sizes import (
    PAPER,
    SMOKE,
    Size,
    base_run,
    setting,
    shorter,
)

SIZES = {
    "smoke": SMOKE,
    "quick": Size(seeds=9, rounds=20, short=10, every=2, filters=8),
    "paper": PAPER,
}
LARGE = 1.0
"""The learning rate at which "most methods just diverge"."""
OTHERS = ("FedAvg", "FedMAML", "TR-MAML", "Ditto")


@experiment(
    name="comfedl/personalised-cifar",
    source="ComFedL, journal version, section 5.2, figures 4, 5 and 6, and section 5.3",
    statement="ComFedL-DAMAML is best and FedAvg worst; FedMAML and Ditto are better than FedAvg "
    "but noisy; TR-MAML is smoother than FedMAML; a larger τ is faster; γ does not matter much; "
    "FedAvg is beaten most at large ρ; at learning rate 1 most methods diverge",
)
def personalised(plan: Plan) -> Steps:
    """Run the methods as printed and DAMAML where it runs, vary τ, γ, ρ and the rate, and judge."""
    size = SIZES[plan.profile]
    plain = base_run(plan, size)
    methods = {NAMES[name]: plain.but(method=name, **given) for name, given in JOURNAL.items()}
    damaml = methods.pop("ComFedL-DAMAML")
    printed = f"ComFedL-DAMAML, η = {damaml.step_size:g} (printed)"
    rates = [*SMALLER, *(rate for rate in STEP_SIZES if rate <= damaml.step_size)]
    search = yield from searched(damaml, rates, size.tuned)
    best, ours = search.best, f"ComFedL-DAMAML, η = {search.best.step_size:g}"
    main = yield from kinds_of(methods | {printed: damaml, ours: best}, size.seeds)
    short = shorter(best, size)
    varied = yield from kinds_of(
        {
            **{
                f"τ = {tau}": short.but(local_steps=tau)
                for tau in size.gaps if tau != size.local_steps
            },
            **{
                f"γ = {gamma:g}": short.but(temperature=gamma)
                for gamma in TEMPERATURES if gamma != TEMPERATURE
            },
            **{
                _at(label, share): shorter(run, size).but(share=share)
                for label, run in ((ours, best), ("FedAvg", methods["FedAvg"]))
                for share in size.shares if share != SHARE
            },
            **{f"{NAMES[name]}, rates 1": _large(plain.but(method=name), size) for name in JOURNAL},
        },
        size.seeds,
    )  # fmt: skip
    robust_runs: Results = yield from results_of(
        {label: _robust(plan, name).over(size.seeds) for name, label in LABELS.items()}
    )
    theory, told = yield from explained(best, ours)
    reference = main[ours].until(size.short)
    varied |= {f"τ = {size.local_steps}": reference, f"γ = {TEMPERATURE:g}": reference}
    varied |= {_at(ours, SHARE): reference, _at("FedAvg", SHARE): main["FedAvg"].until(size.short)}
    gaps = {tau: varied[f"τ = {tau}"] for tau in size.gaps}
    gammas = {gamma: varied[f"γ = {gamma:g}"] for gamma in TEMPERATURES}
    shares = [{s: varied[_at(label, s)] for s in size.shares} for label in (ours, "FedAvg")]
    large = {NAMES[name]: varied[f"{NAMES[name]}, rates 1"] for name in JOURNAL}
    finite = {label: kind for label, kind in main.items() if len(kind.overflows) < size.seeds}
    by_share = {
        _at(label, s): varied[_at(label, s)] for label in (ours, "FedAvg") for s in size.shares
    }
    return Conclusion(
        setting=[
            *setting(plain, size, plan.profile != "paper"),
            "hyper-parameters as printed: " + "; ".join(_given(name) for name in JOURNAL),
        ],
        sentences=[
            *_compared(main, ours, printed),
            *faster(JOURNAL_SENTENCES["gap"], gaps),
            *robust(JOURNAL_SENTENCES["robust"], gammas, TEMPERATURE, ours.split(", ")[1]),
            *over_shares(JOURNAL_SENTENCES, *shares, label=ours),
            _diverging({label: _diverged(kind) for label, kind in large.items()}, "all rates 1"),
            _diverging(
                {label: _robust_diverged(results) for label, results in robust_runs.items()},
                "comfedl/imbalanced's methods and model on these data, η = 1",
            ),
        ],
        findings=[
            ends(main),
            f"{search.told}. As printed, a first step of DAMAML is {damaml.step_size:g}·10²/0.5 = "
            f"{damaml.step_size * 200:g} gradients long. For it to run, the losses would have to "
            "be scaled down, or the step taken along the gradient of γ log mean exp(f/γ), whose "
            "weights add up to 1: neither is in the text.",
            f"τ varied. {ends({f'τ = {tau}': kind for tau, kind in gaps.items()})}",
            f"γ varied. {ends({f'γ = {gamma:g}': kind for gamma, kind in gammas.items()})}",
            f"ρ varied. {ends(by_share)}",
            _fates(large),
            told,
        ],
        panels=[
            *all_axes(f"ρ = {SHARE:g}, τ = {size.local_steps}", finite),
            panel("gap", "τ varied: validation accuracy", {f"τ = {t}": k for t, k in gaps.items()}),
            panel("gamma", "γ varied: validation accuracy",
                  {f"γ = {g:g}": k for g, k in gammas.items() if len(k.overflows) < size.seeds}),
            panel("share", "ρ varied: validation accuracy", by_share),
            panel("large", "learning rates 1: validation loss", large, "loss"),
            theory,
        ],
        numbers={"DAMAML step size": best.step_size},
    )  # fmt: skip


def _compared(main: Kinds, ours: str, printed: str) -> list[Sentence]:
    """Judge the sentences about figure 4, with DAMAML as printed and with the searched η."""
    text, sentences = JOURNAL_SENTENCES, list[Sentence]()
    metrics = ("accuracy", "loss")
    baselines = {label: main[label] for label in OTHERS}
    for label in (printed, ours):
        kinds = baselines | {label: main[label]}
        sentences += [
            extreme(text["best"], label, kinds, by=by, best=True, comparisons=2 * len(metrics))
            for by in metrics
        ]
    kinds = baselines | {ours: main[ours]}
    sentences += [
        extreme(text["worst"], "FedAvg", kinds, by=by, best=False, comparisons=len(metrics))
        for by in metrics
    ]
    sentences += [
        better(text["better"], (label, main[label]), ("FedAvg", main["FedAvg"]), comparisons=2)
        for label in ("FedMAML", "Ditto")
    ]
    for name, noisy, calm, comparisons in (
        ("noisy", "FedMAML", ours, 2), ("noisy", "Ditto", ours, 2),
        ("smoother", "FedMAML", "TR-MAML", 1),
    ):  # fmt: skip
        where = f"noise of {noisy} against {calm}"
        pair = main[noisy].noise(), main[calm].noise()
        sentences.append(judged_by_seeds(text[name], where, *pair, comparisons=comparisons))
    return sentences


def _large(run: PersonalisedRun, size: Size) -> PersonalisedRun:
    """Return a run with every learning rate 1 and its other hyper-parameters as printed."""
    given = JOURNAL[run.method] | {"step_size": LARGE, "adaptation": LARGE}
    return shorter(run, size).but(**given | {"personal_step_size": LARGE})


def _diverged(kind: Kind) -> np.ndarray:
    """Return whether each seed's run diverged."""
    losses = kind.filled("loss")
    finite = np.array([result["bad_step"] is None for result in kind.results])
    return np.asarray(~finite | (losses[:, -1] > losses[:, 0]))


def _robust(plan: Plan, method: str) -> ImageRun:
    """Return a short run of a method of comfedl/imbalanced at the learning rate 1."""
    return ImageRun(
        method=method, step_size=LARGE, rounds=20, seed=plan.seed, data=plan.data, large=500,
        validation=20,
    )  # fmt: skip


def _robust_diverged(results: Sequence[Mapping[str, Any]]) -> np.ndarray:
    """Return whether each seed's run overflowed or ended with a larger objective."""
    return np.array([bool(r["overflow"]) or r["objective"][-1] > r["objective"][0]
                     for r in results])  # fmt: skip


def _diverging(diverged: Mapping[str, np.ndarray], how: str) -> Sentence:
    """Judge whether more than half of the methods diverge, of one of two groups of methods."""
    count = np.sum(list(diverged.values()), 0)
    where = f"number of {len(diverged)} methods that diverge, against half of them; {how}"
    half = np.full_like(count, len(diverged) / 2, dtype=float)
    return judged_by_seeds(JOURNAL_SENTENCES["diverge"], where, count, half, comparisons=2)


def _fates(large: Kinds) -> str:
    told = "; ".join(
        f"{label} diverges on {int(_diverged(kind).sum())} of {len(kind.results)} seeds"
        + (f" ({kind.fate})" if kind.fate else "")
        for label, kind in large.items()
    )
    return (
        f"With every learning rate 1: {told}. Batch statistics make the outputs independent of the "
        "length of a convolution's weights, which keeps large steps finite."
    )


def _given(name: str) -> str:
    words = {
        "step_size": "η", "adaptation": "inner", "weight_step": "weights",
        "personal_step_size": "personal", "proximity": "λ", "temperature": "γ",
    }  # fmt: skip
    given: Mapping[str, Any] = JOURNAL[name]
    return f"{NAMES[name]} " + ", ".join(f"{words[k]} {v:g}" for k, v in given.items())


def _at(label: str, share: float) -> str:
    return f"{label.split(', ')[0]}, ρ = {share:g}"
