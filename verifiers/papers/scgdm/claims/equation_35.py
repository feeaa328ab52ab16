r"""(32) and (35): a double sum is turned round with one term too many.

**Kind.** Symbolic: the coefficient of each vector before and after, for a round of a few steps.
"""

from collections.abc import Mapping
from typing import NamedTuple

import sympy

from driftproof.toolkit.readings import Erratum, Stated, intended, literal
from driftproof.verifiers.algebra.symbolic import Step, vanishes
from driftproof.verifiers.claim_types.proof import proof

r = sympy.Symbol("r", positive=True)  # 1 − αη in (35), 1 − γη in (32)
STEPS = (2, 3, 4)
"""t − s_t p: how many steps of the round are done."""


class Turned(NamedTuple):
    """The powers of r in a display.

    Attributes:
        after: how many steps later than its own a vector first stands in the double sum.
        upto: the last power that is printed for the vector of step t', less t − t'.
    """

    after: int
    upto: int


NEXT = "the bound on the next line is that of the right sum, and holds"
READINGS: Mapping[str, Stated[Turned]] = {
    "(35), to t − t'": literal(Turned(0, 0), part="(35)"),
    "(35), to t − 1 − t'": intended(Turned(0, -1), part="(35)", quote=NEXT),
    "(32), to t − t' − 1": literal(Turned(1, -1), part="(32)"),
    "(32), to t − t' − 2": intended(Turned(1, -2), part="(32)", quote=NEXT),
}


@proof(
    name="scgdm/equation-35",
    source="Local-SCGDM (2022), (35), third line, and (32), second line",
    display=True,
    statement=r"\sum_{t'=s_tp}^{t-1}\sum_{t''=s_tp}^{t'}(1-\alpha\eta)^{t'-t''}d_{t''} = "
    r"\sum_{t'=s_tp}^{t-1}d_{t'}\sum_{t''=0}^{t-t'}(1-\alpha\eta)^{t''}"
    "\n"
    r"\sum_{t'=s_tp}^{t-1}\sum_{t''=s_tp}^{t'-1}(1-\gamma\eta)^{t'-1-t''}D_{t''} = "
    r"\sum_{t'=s_tp}^{t-1}D_{t'}\sum_{t''=0}^{t-t'-1}(1-\gamma\eta)^{t''}",
    readings=READINGS,
    erratum=Erratum(
        "misprint",
        changes="Let the inner sums end at t − 1 − t' in (35) and at t − 2 − t' in (32). The "
        "bounds that follow hold.",
        depends="nothing",
    ),
    false_siblings=[
        ("(35), one power too few", Turned(0, -2)),
        ("(32), one power too few", Turned(1, -3)),
    ],
    explain="The vector of step t' stands in the terms of the later steps alone, one fewer.",
)
def coefficients(of: Turned) -> list[Step]:
    steps = []
    for n in STEPS:
        for at in range(n):
            before = sum(r ** (later - at - of.after) for later in range(at + of.after, n))
            after = sum(r**power for power in range(n - at + of.upto + 1))
            steps.append(
                vanishes(
                    sympy.expand(sympy.sympify(before) - after),
                    rf"t - s_tp = {n}: \text{{ the vector of step }} {at + 1}",
                )
            )
    return steps
