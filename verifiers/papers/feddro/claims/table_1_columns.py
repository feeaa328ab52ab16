"""Table 1's columns "Setting" and "Update": what the algorithms solve, and what they remember.

**Kind.** Existence, read off the algorithms as they run here, which are the papers' pseudo-code
line by line: which oracles they ask for, and what their state carries from one step to the next.
SGD carries models and inner estimates, no gradient; momentum an averaged direction; variance
reduction a gradient at an earlier point and that point. What runs here as GCIVR is our own text of
it, since its paper is not at hand: its row stays undecided.
"""

from collections.abc import Mapping
from typing import NamedTuple

import torch

from driftproof.synthetic.problems.averaged_composition import AveragedComposition
from driftproof.synthetic.problems.quadratic_bilevel import QuadraticBilevel
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.algorithms.comfedl import ComFedL
from driftproof.toolkit.algorithms.feddro import FedDRO
from driftproof.toolkit.algorithms.fednest import FedNest
from driftproof.toolkit.algorithms.local_scgdm import LocalSCGDM
from driftproof.toolkit.federation import run, sampled_context
from driftproof.toolkit.problem import Problem
from driftproof.toolkit.readings import Stated, Undecided, literal
from driftproof.verifiers.algebra.symbolic import Step, computed
from driftproof.verifiers.claim_types.proof import proof

DIRECTIONS = {"m", "v", "x_direction", "y_direction"}
"""Fields of a state that carry a gradient from step to step."""
ANCHORS = {"x_start", "x_previous"}
"""Fields that carry an earlier point, at which a gradient is taken again."""
COMPOSITION = AveragedComposition()


class Columns(NamedTuple):
    """A row's columns Setting and Update, and a problem that the method is run on."""

    method: Algorithm
    needs: str
    update: str
    problem: Problem = COMPOSITION


READINGS: Mapping[str, Stated[Columns] | Stated[Undecided]] = {
    "ComFedL": literal(Columns(ComFedL(), "composition", "SGD"), part="ComFedL"),
    "Local-SCGDM": literal(
        Columns(LocalSCGDM(), "composition", "momentum SGD"), part="Local-SCGDM"
    ),
    "FedNest": literal(
        Columns(FedNest(), "bilevel", "variance reduction", QuadraticBilevel()), part="FedNest"
    ),
    "GCIVR": literal(
        Undecided(
            "the paper of GCIVR is not at hand, and to read our own text of it is a circle",
            by="the problem and the updates that its paper (arXiv 2203.09607) states",
        ),
        part="GCIVR",
    ),
    "FedDRO": literal(Columns(FedDRO(), "composition", "SGD"), part="FedDRO"),
}


@proof(
    name="feddro/table-1-columns",
    kind="existence",
    source="FedDRO (2023), Table 1, columns Setting and Update",
    statement=r"\text{ComFedL: CO-ND, SGD; Local-SCGDM: CO-ND, momentum SGD; FedNest: bilevel, VR; "
    r"GCIVR: CO + Non-CO, VR; FedDRO: CO + Non-CO, SGD}",
    readings=READINGS,
    false_siblings=[
        ("ComFedL has momentum", Columns(ComFedL(), "composition", "momentum SGD")),
        (
            "FedDRO reduces the variance of its gradients",
            Columns(FedDRO(), "composition", "variance reduction"),
        ),
        (
            "FedNest solves compositions",
            Columns(FedNest(), "composition", "variance reduction", QuadraticBilevel()),
        ),
    ],
    explain=(
        "As the table says. FedDRO's estimate of the inner value has momentum, its gradient has "
        "none: the table's 'SGD' is about the gradient. Of GCIVR nothing can be said without its "
        "paper."
    ),
)
def columns(row: Columns) -> list[Step]:
    """Return the steps: which oracles an algorithm asks for, and what its state remembers."""
    ctx = sampled_context(row.problem, ("table 1",), block=0, replicates=1, dtype=torch.float64)
    fields = set(run(row.problem, row.method, ctx, rounds=1).state._fields)
    gradients, points = fields & DIRECTIONS, fields & ANCHORS
    update = "SGD"
    if gradients:
        update = "variance reduction" if points else "momentum SGD"
    needs, name = row.method.needs, row.method.leaf_name
    told = f"its state carries {', '.join(sorted(fields))}"
    return [
        computed(
            rf"\text{{{name} asks for the oracles of a {row.needs} problem}}",
            needs == row.needs,
            f"it needs {needs}",
        ),
        computed(rf"\text{{the update of {name} is {row.update}}}", update == row.update, told),
    ]
