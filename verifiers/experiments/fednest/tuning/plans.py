"""How large fednest/tuning is at each profile, and what it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, inf
from typing import Any

import numpy as np

from verifiers.experiment import Plan
from verifiers.experiments.fednest.tuning.run import Size, TuningRun

TUNED_ON = (998, 999)
"""The splits on which step sizes are chosen; no sentence is judged on them."""

DIGITS = Size(
    rounds=50, seeds=8, clients=20, sampled=10, largest=120, ratio=20.0, per_class=50,
    betas=(0.3, 1.0), alphas=(0.1, 1.0, 10.0), public_scale=10.0,
)  # fmt: skip
MNIST = Size(
    rounds=20, seeds=7, clients=10, sampled=5, largest=4800, ratio=100.0, per_class=500, batch=10,
    betas=(0.1, 0.3), alphas=(1.0, 10.0, 100.0), public_scale=100.0,
)  # fmt: skip
SIZES = {
    ("smoke", False): replace(
        DIGITS, rounds=4, seeds=2, clients=4, sampled=2, inner_steps=3, betas=(0.3,),
        alphas=(1.0, 10.0),
    ),
    ("quick", False): DIGITS,
    ("paper", False): replace(DIGITS, rounds=200, seeds=20),
    ("smoke", True): replace(
        MNIST, rounds=3, seeds=2, clients=4, sampled=2, largest=200, ratio=20.0, per_class=20,
        inner_steps=3, betas=(0.1,), alphas=(10.0,),
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
LIGHT_MIDDLE = "LFedNest, α in the middle of the grid"
"""Beside LFedNest with the chosen α, whose largest value fails on some splits and not on others."""
CODED: dict[str, Any] = {"squash": True, "normalised": True}
ONE_AT_A_TIME: dict[str, dict[str, Any]] = {
    ALL_SHARED: {"method": "all-shared"},
    "sigmoid of Δ": {"method": "fednest", "squash": True},
    "summed series": {"method": "fednest", "summed": True},
    "all images, public code's series": {"method": "public"},
    "weights normalised in a minibatch": {"method": "fednest", "normalised": True},
}
"""FedNest with one of the public code's choices in place of the slides'."""
LOSSES = (ALL_SHARED, "sigmoid of Δ", "weights normalised in a minibatch")
SERIES = ("summed series", "all images, public code's series")


HARDER = {"all clients take part": "all", "T = 1, as many local steps": "long"}
"""More settings for FedNest against FedNest_SGD."""


def harder(label: str, how: str) -> str:
    """Return what a method is called in one of them."""
    return f"{label}, {how}"


def size_of(plan: Plan) -> Size:
    """Return the size of a plan's runs."""
    return SIZES[plan.profile, plan.data is not None]


def everything(plan: Plan) -> dict[tuple[str, bool], TuningRun]:
    """Return every run by (label, whether the clients' data are i.i.d.), step sizes still open."""
    size = size_of(plan)
    # references hold all images, so that only the split differs with ``alike``
    base = TuningRun(size=size, seed=plan.seed, data=plan.data, engine=plan.engine)
    runs = {
        (MACHINE, True): base.but(method="machine", alike=True),
        (MACHINE_FIXED, True): base.but(method="machine-fixed", alike=True),
        (PRIOR, True): base.but(method="machine-fixed", alike=True, prior=True),
    }
    for alike in (True, False):
        for label, method in TUNED.items():
            runs[label, alike] = base.but(method=method, alike=alike)
        runs[FIXED, alike] = base.but(method="fixed", alike=alike)
        runs[PUBLIC, alike] = base.but(method="public", alike=alike, **CODED)
    runs[PUBLIC_LIGHT, True] = base.but(method="public-light", alike=True, **CODED)
    middle = sorted(size.alphas)[(len(size.alphas) - 1) // 2]
    only = replace(size, alphas=(middle,))
    runs[LIGHT_MIDDLE, True] = base.but(method="lfednest", alike=True, size=only)
    runs[PUBLIC_SGD, False] = base.but(method="public-sgd", **CODED)
    runs |= {(label, False): base.but(**changes) for label, changes in ONE_AT_A_TIME.items()}
    others = {
        "all": replace(size, sampled=size.clients),
        "long": replace(size, inner_calls=1, inner_steps=size.inner_calls * size.inner_steps),
    }
    for how, kind in HARDER.items():
        for label in ("FedNest", "FedNest_SGD"):
            runs[harder(label, how), False] = base.but(method=TUNED[label], size=others[kind])
    return runs


def grid(run: TuningRun) -> list[TuningRun]:
    """Return the runs among which a method's step sizes are chosen: K rounds on each TUNED_ON."""
    size, alphas = run.size, (1.0,) if run.fixed else run.size.alphas
    if run.method.startswith("public"):  # its p is that much longer than the slides'
        alphas = tuple(alpha / size.public_scale for alpha in alphas)
    return [
        run.but(beta=beta, alpha=alpha, rounds=size.rounds, partition=split, engine="batched")
        for beta in size.betas
        for alpha in alphas
        for split in TUNED_ON
    ]


def best(runs: Sequence[TuningRun], results: Sequence[dict[str, Any]]) -> TuningRun:
    """Return the run with the least validation loss: of the last quarter of K, mean over splits."""
    losses: dict[tuple[float, float], float] = {}
    for run, result in zip(runs, results, strict=True):
        loss = np.mean(result["loss"][-len(result["loss"]) // 4 :]) if result["ended"] else inf
        key = run.beta, run.alpha
        losses[key] = losses.get(key, 0.0) + float(loss)
    beta, alpha = min(losses, key=lambda key: losses[key])
    return runs[0].but(beta=beta, alpha=alpha)


def over_seeds(run: TuningRun, engine: str) -> list[TuningRun]:
    """Return the run on every split, long enough for K and for FedNest's communication at K.

    One machine does not communicate; it has no wire.
    """
    size, budget = run.size, run.size.rounds * cost(run.but(method="fednest", summed=False))
    rounds = size.rounds if run.alone else max(size.rounds, ceil(budget / cost(run)))
    return run.but(rounds=rounds, engine="batched" if run.alone else engine).over(size.seeds)


def cost(run: TuningRun) -> float:
    """Return the expected rounds of communication of one k: the slides' table with N' for N."""
    size = run.size
    light = run.method in ("lfednest", "public-light")
    lower = size.inner_calls * (1 if light or run.method.endswith("sgd") else 2)
    if run.fixed or light:
        return lower + light
    whole = run.summed or run.method.startswith("public")
    return lower + 3 + (size.terms if whole else (size.terms - 1) / 2)
