r"""ComFedL-DAMAML beside FedAvg, FedMAML, TR-MAML and Ditto.

The journal version's figures 4, 5 and 6 (section 5.2) and the grids of its section 5.3.

Printed: CIFAR-10, the "4-layer convolutional neural network used in" Finn et al. 2017, 10 clients,
ρ = 0.28, τ = 5, and every method's hyper-parameters, found by grid search: ``JOURNAL`` has
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

from collections.abc import Mapping
from typing import Any

import numpy as np

from driftproof.verifiers import experiment as study
from driftproof.verifiers.experiment import experiment
from driftproof.verifiers.papers.comfedl.experiments import _personalised as personalised
from driftproof.verifiers.papers.comfedl.experiments._imbalanced import LABELS, ImageRun
from driftproof.verifiers.papers.comfedl.experiments._personal_models import (
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
from driftproof.verifiers.papers.comfedl.experiments._personalised import (
    NAMES,
    SHARE,
    SMALLER,
    STEP_SIZES,
    TEMPERATURE,
    TEMPERATURES,
    Size,
    shorter,
)

SIZES = personalised.sizes(quick=Size(seeds=9, rounds=20, short=10, every=2, filters=8))
JOURNAL: dict[str, dict[str, float]] = {
    "fedavg": {"step_size": 0.1},
    "fedmaml": {"adaptation": 0.1, "step_size": 0.1},
    "tr-maml": {"adaptation": 0.05, "step_size": 0.1, "weight_step": 0.08},
    "ditto": {"step_size": 0.2, "personal_step_size": 0.2, "proximity": 0.1},
    "damaml": {"adaptation": 0.05, "step_size": 0.1, "temperature": 0.5},
}
"""The journal's hyper-parameters of each method."""
OTHERS = ("FedAvg", "FedMAML", "TR-MAML", "Ditto")


@experiment(
    name="comfedl/personalised-cifar",
    source="ComFedL, journal version, section 5.2, figures 4, 5 and 6, and section 5.3",
    statement="ComFedL-DAMAML is best and FedAvg worst; FedMAML and Ditto are better than FedAvg "
    "but noisy; TR-MAML is smoother than FedMAML; a larger τ is faster; γ does not matter much; "
    "FedAvg is beaten most at large ρ; at learning rate 1 most methods diverge",
)
def compared(plan: study.Plan) -> study.Steps:
    """Run the methods as printed and DAMAML where it runs, vary τ, γ, ρ and the rate, and judge."""
    size = SIZES[plan.profile]
    plain = personalised.base_run(plan, size)
    methods = {NAMES[name]: plain.but(method=name, **given) for name, given in JOURNAL.items()}
    damaml = methods.pop("ComFedL-DAMAML")
    printed = f"ComFedL-DAMAML, η = {damaml.step_size:g} (printed)"
    rates = [*SMALLER, *(rate for rate in STEP_SIZES if rate <= damaml.step_size)]
    best, said = yield from searched(damaml, rates, size.tuned)
    ours = f"ComFedL-DAMAML, η = {best.step_size:g}"
    main = yield from kinds_of(methods | {printed: damaml, ours: best}, size.seeds)
    short, fedavg = shorter(best, size), shorter(methods["FedAvg"], size)
    wanted = {f"τ = {tau}": short.but(local_steps=tau) for tau in size.gaps}
    wanted |= {f"γ = {gamma:g}": short.but(temperature=gamma) for gamma in TEMPERATURES}
    for label, run in ((ours, short), ("FedAvg", fedavg)):
        wanted |= {_at(label, share): run.but(share=share) for share in size.shares}
    main_ones = {short, fedavg}  # the beginnings of runs that are done already
    wanted = {label: run for label, run in wanted.items() if run not in main_ones}
    wanted |= {f"{NAMES[name]}, rates 1": _large(plain, name, size) for name in JOURNAL}
    varied = yield from kinds_of(wanted, size.seeds)
    small = ImageRun(rounds=20, seed=plan.seed, data=plan.data, large=500, validation=20)
    robust_runs = yield from study.outcomes(
        {label: small.but(method=name, step_size=1.0) for name, label in LABELS.items()},
        size.seeds,
    )
    reference = main[ours].until(size.short)
    varied |= {f"τ = {size.local_steps}": reference, f"γ = {TEMPERATURE:g}": reference}
    varied |= {_at(ours, SHARE): reference, _at("FedAvg", SHARE): main["FedAvg"].until(size.short)}
    gaps = {tau: varied[f"τ = {tau}"] for tau in size.gaps}
    gammas = {gamma: varied[f"γ = {gamma:g}"] for gamma in TEMPERATURES}
    shares = [{s: varied[_at(label, s)] for s in size.shares} for label in (ours, "FedAvg")]
    large = {NAMES[name]: varied[f"{NAMES[name]}, rates 1"] for name in JOURNAL}
    by_tau = {f"τ = {tau}": kind for tau, kind in gaps.items()}
    by_gamma = {f"γ = {gamma:g}": kind for gamma, kind in gammas.items()}
    by_share = {
        _at(label, s): kind
        for label, kinds in zip((ours, "FedAvg"), shares, strict=True)
        for s, kind in kinds.items()
    }
    return study.Conclusion(
        setting=[*personalised.setting(plain, size), said, _printed()],
        sentences=[
            *_compared(main, ours, printed),
            *faster("ComFedL-DAMAML converges much faster when τ is increased", gaps),
            *robust("ComFedL-DAMAML is robust to γ", gammas, TEMPERATURE, ours.split(", ")[1]),
            *over_shares(
                "ComFedL outperforms FedAvg at every ρ",
                "ComFedL's advantage over FedAvg is larger at the largest ρ than at the smallest",
                ours,
                *shares,
            ),
            *_diverging({label: _diverged(kind) for label, kind in large.items()}, "all rates 1"),
            *_diverging(
                {label: _robust_diverged(of) for label, of in robust_runs.items()},
                "comfedl/imbalanced's methods and model on these data, η = 1",
            ),
        ],
        findings=[ends(main), *map(ends, (by_tau, by_gamma, by_share, large))],
        panels=[
            *all_axes(f"ρ = {SHARE:g}, τ = {size.local_steps}", _finite(main)),
            panel("gap", "τ varied", by_tau),
            panel("gamma", "γ varied", _finite(by_gamma)),
            panel("share", "ρ varied", by_share),
            panel("large", "learning rates 1", large, "loss"),
        ],
        numbers={"DAMAML step size": best.step_size},
    )


def _finite(kinds: Kinds) -> Kinds:
    return {label: kind for label, kind in kinds.items() if not kind.lost}


def _compared(main: Kinds, ours: str, printed: str) -> list[study.Sentence]:
    """Judge the sentences about figure 4, with DAMAML as printed and with the searched η."""
    baselines, metrics = {label: main[label] for label in OTHERS}, ("accuracy", "loss")
    kinds = {label: baselines | {label: main[label]} for label in (printed, ours)}
    best = "ComFedL-DAMAML outperforms all the other methods"
    worst = "FedAvg gets the worst validation loss and accuracy"
    sentences = [
        extreme(best, label, kinds[label], by=by, best=True, comparisons=4)
        for label in (printed, ours)
        for by in metrics
    ]
    sentences += [
        extreme(worst, "FedAvg", kinds[ours], by=by, best=False, comparisons=2) for by in metrics
    ]
    sentences += [
        better(
            "FedMAML and Ditto perform better than FedAvg",
            {label: main[label], "FedAvg": main["FedAvg"]},
            comparisons=2,
        )
        for label in ("FedMAML", "Ditto")
    ]
    for text, noisy, calm in (
        (
            "FedMAML's and Ditto's loss curves are noisy: noisier than ComFedL-DAMAML's",
            ("FedMAML", "Ditto"),
            ours,
        ),
        ("TR-MAML gets a smoother curve than FedMAML", ("FedMAML",), "TR-MAML"),
    ):
        quiet = main[calm].noise()
        sentences += study.judged(
            text, {f"noise of {name} against {calm}": (main[name].noise(), quiet) for name in noisy}
        )
    return sentences


def _large(plain: personalised.PersonalisedRun, method: str, size: Size) -> Any:
    """Return a run with every learning rate 1 and its other hyper-parameters as printed."""
    rates = dict.fromkeys(("step_size", "adaptation", "personal_step_size"), 1.0)
    return shorter(plain, size).but(method=method, **JOURNAL[method] | rates)


def _diverged(kind: Kind) -> np.ndarray:
    """Return whether each seed's run diverged."""
    losses = kind.filled("loss")
    finite = np.array([result["bad_step"] is None for result in kind.results])
    return np.asarray(~finite | (losses[:, -1] > losses[:, 0]))


def _robust_diverged(of: study.Outcome[ImageRun]) -> np.ndarray:
    """Return whether each seed's run overflowed or ended with a larger objective."""
    grown = [bool(r["overflow"]) or r["objective"][-1] > r["objective"][0] for r in of.results]
    return np.array(grown)


def _diverging(diverged: Mapping[str, np.ndarray], how: str) -> list[study.Sentence]:
    """Judge whether more than half of the methods diverge, of one of two groups of methods.

    Said in section 5.3 of the distributionally robust experiments, whose grid of rates is the same.
    """
    count = np.sum(list(diverged.values()), 0)
    where = f"number of {len(diverged)} methods that diverge, against half of them; {how}"
    half = np.full_like(count, len(diverged) / 2, dtype=float)
    text = "when the learning rate is 1, most methods just diverge"
    return study.judged(text, {where: (count, half)}, comparisons=2)


def _at(label: str, share: float) -> str:
    return f"{label.split(', ')[0]}, ρ = {share:g}"


def _printed() -> str:
    methods = (
        f"{NAMES[name]} " + ", ".join(f"{what} {value:g}" for what, value in given.items())
        for name, given in JOURNAL.items()
    )
    return "hyper-parameters as printed: " + "; ".join(methods)
