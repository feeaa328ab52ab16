r"""Table 1's columns "Setting" and "Update": what the algorithms solve, and what they remember.

**Statement.** ComFedL: CO-ND (a composition of each client's own), SGD. Local-SCGDM: CO-ND,
momentum SGD. FedNest: bilevel, variance reduction. GCIVR: CO + Non-CO, variance reduction.
FedDRO: CO + Non-CO, SGD.

**Kind.** Existence, read off the algorithms as they run here, which are the papers' pseudo-code
line by line: which oracles they ask for, and what their state carries from one step to the next.
SGD carries models and inner estimates, no gradient; momentum an averaged direction; variance
reduction a gradient at an earlier point and that point.
"""

from typing import Any

import torch

from synthetic.problems.averaged_composition import AveragedComposition
from synthetic.problems.quadratic_bilevel import QuadraticBilevel
from toolkit.algorithms.comfedl import ComFedL
from toolkit.algorithms.feddro import FedDRO
from toolkit.algorithms.fednest import FedNest
from toolkit.algorithms.gcivr import GCIVR
from toolkit.algorithms.local_scgdm import LocalSCGDM
from toolkit.federation import run, sampled_context
from toolkit.readings import literal
from verifiers.claim_types.proof import proof
from verifiers.symbolic import Step, computed

DIRECTIONS = {"m", "v", "x_direction", "y_direction"}
"""Fields of a state that carry a gradient from step to step."""
ANCHORS = {"x_start", "x_previous"}
"""Fields that carry an earlier point, at which a gradient is taken again."""
COMPOSITION = AveragedComposition()


def _row(method, needs, update, problem=COMPOSITION):
    """Return the steps: which oracles an algorithm asks for, and what its state remembers."""

    def steps():
        ctx = sampled_context(problem, ("table 1",), block=0, replicates=1, dtype=torch.float64)
        fields = set(run(problem, method, ctx, rounds=1).state._fields)
        gradients, points = fields & DIRECTIONS, fields & ANCHORS
        found = "SGD"
        if gradients:
            found = "variance reduction" if points else "momentum SGD"
        told = f"its state carries {', '.join(sorted(fields))}"
        name = method.leaf_name
        return [
            computed(rf"\text{{{name} asks for the oracles of a {needs} problem}}",
                 method.needs == needs, f"it needs {method.needs}"),
            computed(rf"\text{{the update of {name} is {update}}}", found == update, told),
        ]  # fmt: skip

    return steps


@proof(
    name="feddro/table-1-columns",
    kind="existence",
    source="004, Table 1, columns Setting and Update",
    statement=r"\text{ComFedL: CO-ND, SGD; Local-SCGDM: CO-ND, momentum SGD; FedNest: bilevel, VR; "
    r"GCIVR: CO + Non-CO, VR; FedDRO: CO + Non-CO, SGD}",
    readings={
        "ComFedL": literal(_row(ComFedL(), "composition", "SGD"), part="ComFedL"),
        "Local-SCGDM": literal(
            _row(LocalSCGDM(), "composition", "momentum SGD"), part="Local-SCGDM"
        ),
        "FedNest": literal(
            _row(FedNest(), "bilevel", "variance reduction", QuadraticBilevel()), part="FedNest"
        ),
        "GCIVR": literal(_row(GCIVR(), "composition", "variance reduction"), part="GCIVR"),
        "FedDRO": literal(_row(FedDRO(), "composition", "SGD"), part="FedDRO"),
    },
    false_siblings=[
        ("ComFedL has momentum", _row(ComFedL(), "composition", "momentum SGD")),
        (
            "FedDRO reduces the variance of its gradients",
            _row(FedDRO(), "composition", "variance reduction"),
        ),
        (
            "FedNest solves compositions",
            _row(FedNest(), "composition", "variance reduction", QuadraticBilevel()),
        ),
    ],
    explain=(
        "As the table says. FedDRO's estimate of the inner value has momentum, its gradient has "
        "none: the table's 'SGD' is about the gradient."
    ),
)
def columns(steps: Any) -> list[Step]:
    return steps()
