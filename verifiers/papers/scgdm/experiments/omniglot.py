r"""Local-SCGDM's figures 6 and 7: few-shot classification of Omniglot's characters.

**Printed** (sections 5.2 and A.1): Omniglot, 33/5/12 alphabets to train, validate and test (after
Vinyals et al. 2016); one alphabet a client; a task is N characters of the client's alphabet, K
drawings to train and 15 to validate; "we augment the characters by performing rotation operations
(multipliers of 90 degrees)"; "a 4-layer convolutional neural network where each convolutional layer
has 64 filters of 3×3 and it is followed by a batch-normalization layer" (Finn et al. 2017); inner
learning rate 0.4; settings "e.g. for the 5-way-1-shot case". N is 5 in figure 6, 20 in figure 7; K
1 and 5.

**Chosen here**, before anything was run: the settings serve for all cases; how many steps; p = 5,
as in 5.1; a rotated character is a class of its own; the division of the alphabets is drawn for
each seed, in the printed shares, and the validation is on all alphabets that no client trains on
(nothing is chosen by it); batch statistics are those of the task's own support and of its query, as
in Finn et al. 2017; a model is tested after one step at the inner rate, on other tasks of every
alphabet. Every method takes the outer gradient on the query of the task of the inner step:
Algorithm 1's one sample. For Local-SCGD two readings are run: (2) takes the outer gradient at the
estimate *before* the step, which the last task made, at its labels, so that its direction is not
the gradient of this task's loss; "new u" takes it after.

With γη = 0.99 the estimate u forgets all but a hundredth, and α = 0.9 keeps a tenth of the
momentum: Local-SCGDM, Local-SCGD with the new u and Local-BSGD take nearly the same steps by their
printed settings, whatever the data. ‖∇F‖² is not computed: an alphabet has too many tasks.
"""

from math import log
from typing import Any

from driftproof.verifiers import experiment as study
from driftproof.verifiers.experiment import Axis, Figure, Says, experiment
from driftproof.verifiers.papers.scgdm.experiments._few_shot_run import (
    FILTERS,
    METHODS,
    NEW_U,
    QUERIES,
    SIDE,
    FewShotRun,
    alphabets,
)

OURS, PRINTED = "Local-SCGDM", (5, 1)
"""Ways and shots of the case that the settings are printed for."""
METRICS = ("training loss", "validation accuracy")
"""What figures 6 and 7 show."""
GREAT = {"training loss": log(1.25), "validation accuracy": 0.05}
""""A great margin": the other's loss is larger by a quarter, or more; five points of accuracy."""
SIZES: dict[str, tuple[list[tuple[int, int]], int, dict[str, int]]] = {
    "smoke": (
        [(5, 1)],
        2,
        {"rounds": 2, "points": 3, "filters": 4, "side": 14, "queries": 3, "test_tasks": 2},
    ),
    "quick": (
        [(5, 1), (5, 5)],
        7,
        {"rounds": 35, "points": 8, "filters": 8, "side": 14, "queries": 5, "test_tasks": 10},
    ),
    "paper": (
        [(5, 1), (5, 5), (20, 1), (20, 5)],
        7,
        {"rounds": 4000, "points": 41, "test_tasks": 20},
    ),
}
"""Cases (ways, shots), seeds, and what runs have. With fewer filters, smaller images and fewer
drawings in the query than printed, a step takes about 30 ms; else seconds."""


@experiment(
    name="scgdm/omniglot",
    source="Local-SCGDM (2022), section 5.2, figures 6 and 7",
    statement="Local-SCGDM outperforms Local-BSGD and Local-SCGD with a great margin for both "
    "training loss and validation accuracy",
)
def omniglot(plan: study.Plan) -> study.Study:
    """Run every method on every case, and judge the sentence."""
    cases, seeds, size = SIZES[plan.profile]
    base = FewShotRun.planned(plan, **size)
    methods = {
        (method, _name(case)): base.but(method=method, ways=case[0], shots=case[1])
        for case in cases
        for method in METHODS
    }
    training, others = base.dealt
    alike = {method: base.but(method=method) for method in METHODS}
    return study.Study(
        methods=methods,
        seeds=seeds,
        says=[says for case in cases for says in sentences(case, len(cases))],
        size=smaller(base),
        setting=[
            f"data: {alphabets(plan.data, base.side).title}; {len(training)} clients of "
            f"one alphabet each, validation on the other {len(others)}",
            f"{base.queries} drawings a class in the query; tested on {base.test_tasks} tasks an "
            "alphabet",
            f"settings as printed for 5-way 1-shot, no grid is: {study.methods(alike)}",
            '"a great margin": a quarter in loss, 5 points of accuracy, chosen before any '
            f"run; {NEW_U} is a second reading of Local-SCGD",
        ],
        shown=METRICS,
        figures=[
            Figure(
                f"{_name(case)}-{of}-{name}".replace(" ", "-"),
                f"{_name(case)}, {of}",
                of,
                [(method, _name(case)) for method in METHODS],
                axis,
            )
            for case in cases
            for of, name, axis in FIGURES
        ],
    )


FIGURES = (
    ("training loss", "step", study.STEPS),
    ("validation accuracy", "step", study.STEPS),
    ("validation accuracy", "rounds", Axis("round of communication", along="sent")),
    ("validation accuracy", "bytes", study.SENT),
)


def _name(case: tuple[int, int]) -> str:
    return f"{case[0]}-way {case[1]}-shot"


def smaller(base: FewShotRun) -> str:
    """Say what is smaller than printed."""
    return study.smaller(
        {
            "filters": (base.filters, FILTERS),
            "pixels a side": (base.side, SIDE),
            "drawings in the query": (base.queries, QUERIES),
            "clients": (len(base.dealt[0]), 33),
        }
    )


def sentences(case: tuple[int, int], cases: int = 1) -> list[Says]:
    """Say that Local-SCGDM beats the two baselines, and the other reading of one, in a case.

    The level is shared by all comparisons in the printed case, or by all in the other cases: those
    are settings of our own, where nothing is decided.
    """
    others = [name for name in METHODS if name != OURS]
    own = case != PRINTED
    reason = f"settings are printed for {_name(PRINTED)}, other cases have others" if own else ""
    given: Any = {"studies": max(cases - 1, 1) if own else 1, "reason": reason}
    pairs = [((OURS, _name(case)), (other, _name(case))) for other in others]
    text = f"our algorithm outperforms the baselines ({_name(case)})"
    great = f"… with a great margin ({_name(case)})"
    return [
        Says(text=text, pairs=pairs, of=METRICS, **given),
        *(
            Says(
                text=great,
                pairs=pairs,
                of=(metric,),
                margin=-GREAT[metric],
                **given | {"studies": given["studies"] * len(METRICS)},
            )
            for metric in METRICS
        ),
    ]
