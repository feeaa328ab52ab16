r"""The synchronisation gap and the regularisation of ComFedL.

The preprint's figure 2 and the journal version's figure 3.

Printed: the data of comfedl/imbalanced, τ varied (the text gives no values; 1, 5, 10 and 20 here)
and γ ∈ {0.1, 0.2, 2, 5}. ComFedL's step is η exp(f/γ)/γ times a gradient, so one η cannot serve all
γ: at w = 0 it is 10^{11}·η gradients long for γ = 0.1 and 0.3·η for γ = 5. Each γ runs at the
printed η = 0.01, and at the η that makes its first step FIRST_STEP gradients long, so that speeds
are compared at equal first steps as well; τ is varied with γ = 0.5 and that η.
"""

from itertools import pairwise

from driftproof.verifiers.experiment import Figure, Outcome, Plan, Says, Study, experiment
from driftproof.verifiers.papers.comfedl.experiments._imbalanced import (
    METRICS,
    PRINTED,
    base_run,
    setting,
    smaller,
)

SIZES = {"smoke": (2, 10), "quick": (10, 100), "paper": (20, 1000)}
GAMMAS, GAPS = (0.1, 0.2, 2.0, 5.0), (1, 5, 10, 20)
FIRST_STEP = 0.05
GOOD = 0.8
"""Mean accuracy that counts as good, on ten balanced classes."""
BOTH = (METRICS[0], METRICS[2])
FASTER = {"of": BOTH, "by": Outcome.throughout, "how": "mean over all rounds"}


def _tau(tau: int) -> str:
    return f"τ = {tau}"


def _gamma(gamma: float, how: str) -> str:
    return f"γ = {gamma:g}, {how}"


AS_PRINTED, EQUAL = "η = 0.01", "first step of equal length"
SAYS = [
    Says(
        text=f"our algorithm can get good train and validation accuracy ({GOOD:g} or more) with "
        "different values of τ",
        pairs=[(_tau(tau), GOOD) for tau in GAPS],
        of=BOTH,
    ),
    Says(
        text="the algorithm converges much faster when we increase τ",
        pairs=[(_tau(more), _tau(fewer)) for fewer, more in pairwise(GAPS)],
        **FASTER,  # type: ignore[arg-type]
    ),
    *(
        Says(
            text="the algorithm converges much faster when we choose γ = 0.1/0.2 compared to that "
            f"of 2/5{reading}",
            pairs=[
                (_gamma(small, how), _gamma(large, how))
                for small in GAMMAS[:2]
                for large in GAMMAS[2:]
            ],
            **FASTER,  # type: ignore[arg-type]
        )
        for how, reading in ((AS_PRINTED, ""), (EQUAL, " (with first steps of equal length)"))
    ),
    Says(
        text="the larger γ is, the closer the weights r_i are to 1/n",
        pairs=[(_gamma(large, EQUAL), _gamma(small, EQUAL)) for small, large in pairwise(GAMMAS)],
        of=("distance of r from 1/n",),
        guarded=False,
    ),
]


@experiment(
    name="comfedl/imbalanced-parameters",
    source="ComFedL, preprint figure 2, journal version figure 3",
    statement="ComFedL reaches good accuracy at every τ, much faster at larger τ; γ = 0.1 and 0.2 "
    "converge much faster than 2 and 5; larger γ brings r_i nearer 1/n",
)
def parameters(plan: Plan) -> Study:
    """Vary τ and γ, and judge the sentences."""
    seeds, rounds = SIZES[plan.profile]
    base = base_run(plan, rounds)
    step = _equal_first_step(0.5)
    gaps = {_tau(tau): base.but(local_steps=tau, step_size=step) for tau in GAPS}
    printed = {_gamma(g, AS_PRINTED): base.but(temperature=g) for g in GAMMAS}
    equal = {
        _gamma(g, EQUAL): base.but(temperature=g, step_size=_equal_first_step(g)) for g in GAMMAS
    }
    return Study(
        methods=gaps | printed | equal,
        seeds=seeds,
        says=SAYS,
        size=smaller(base),
        setting=[
            *setting(base),
            f"τ varied at γ = 0.5; printed: η = {PRINTED:g}; first steps of equal length: "
            f"{FIRST_STEP:g} gradients",
        ],
        shown=BOTH,
        figures=[
            Figure(f"{name}-{of.split()[0]}", f"{title}: {of}", of, list(labels))
            for name, title, labels in (
                ("tau", "τ varied", gaps),
                ("gamma", "γ varied, η = 0.01", printed),
                ("gamma-equal", "γ varied, first steps of equal length", equal),
            )
            for of in BOTH
        ],
    )


def _equal_first_step(gamma: float) -> float:
    """Return the η with which the first step, at f = log 10, is FIRST_STEP gradients long."""
    return float(FIRST_STEP * gamma * 10.0 ** (-1 / gamma))
