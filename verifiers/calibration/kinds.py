"""The table: each kind of judge is one function from (statements, seed) to judged statements.

A further kind is a further entry of ``KINDS``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from driftproof.verifiers.calibration import bounds, identities, proofs
from driftproof.verifiers.calibration.counts import Count, Judged

STATEMENTS = 510
KINDS: dict[str, Callable[[int, int], Iterable[Judged]]] = {
    "bound, exact": bounds.exact,
    "bound, sampled": bounds.sampled,
    "bound, given sampled pasts": bounds.given_pasts,
    "identity": identities.identities,
    "symbolic": proofs.proofs,
}
"""What is judged → the synthetic statements, judged."""


def table(statements: int = STATEMENTS, seed: int = 0) -> Iterator[str]:
    """Yield the lines of the table, in Markdown."""
    yield "| judge | true | refuted | undecided | false | supported | undecided |"
    yield "|---|---|---|---|---|---|---|"
    for name, judged in KINDS.items():
        c = Count.of(judged(statements, seed))
        cells = (c.true, c.refuted, c.true_open, c.false, c.supported, c.false_open)
        yield f"| {name} | {' | '.join(map(str, cells))} |"
