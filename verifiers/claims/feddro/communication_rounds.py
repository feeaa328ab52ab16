r"""Section 4.1: "The algorithm executes for a total of ⌈T/I⌉ communication rounds" (Algorithm 1).

**Kind.** Complexity: line 6 of the pseudo-code, "if t + 1 mod I = 0", counted for t = 0 … T − 1.

**Finding.** Overstated: the algorithm communicates ⌊T/I⌋ times. Where I does not divide T, a last
block of local steps is begun and never shared; ⌈T/I⌉ counts the blocks.
"""

from __future__ import annotations

from enum import Enum

from driftproof.toolkit.readings import Erratum, intended, literal
from driftproof.verifiers.algebra.symbolic import Step, computed
from driftproof.verifiers.claim_types.proof import proof

RUNS = ((10, 3), (12, 3), (7, 7), (5, 8))
"""T and I."""


class Count(Enum):
    """What is counted, and what it is said to be."""

    SHARED = "communications, ⌈T/I⌉"
    BLOCKS = "blocks of local steps, ⌈T/I⌉"
    MENDED = "communications, ⌊T/I⌋"
    ONE_MORE = "communications, ⌊T/I⌋ + 1"


@proof(
    name="feddro/communication-rounds",
    kind="complexity",
    source="FedDRO (2023), section 4.1, Algorithm 1",
    statement=r"\text{communication rounds of Algorithm 1: } \lceil T/I\rceil",
    readings={
        "communications": literal(Count.SHARED),
        "blocks of local steps": intended(
            Count.BLOCKS,
            quote="“each agent performs multiple local updates within each communication round”",
        ),
    },
    erratum=Erratum(
        "overstated",
        changes="Algorithm 1 communicates ⌊T/I⌋ times: 3 times for T = 10 and I = 3.",
        depends="nothing",
    ),
    corrected=Count.MENDED,
    correction="t + 1 runs through 1 … T, of which ⌊T/I⌋ are multiples of I.",
    false_siblings=[("one more", Count.ONE_MORE)],
    explain="The two agree where I divides T.",
)
def communications(count: Count) -> list[Step]:
    steps = []
    for total, local in RUNS:
        found = sum((t + 1) % local == 0 for t in range(total))
        if count is Count.BLOCKS:
            found = sum(t % local == 0 for t in range(total))
        stated = total // local + (count is Count.ONE_MORE)
        if count in (Count.SHARED, Count.BLOCKS):
            stated = -(-total // local)
        why = f"{found}, stated {stated}"
        steps.append(computed(rf"T = {total},\; I = {local}", found == stated, why))
    return steps
