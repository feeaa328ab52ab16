"""What every view of a claim says of it before anything is run."""

import re
from collections.abc import Iterable
from typing import Any

from driftproof.toolkit.constants import latex
from driftproof.toolkit.discover import Leaf
from driftproof.toolkit.verdict import Row
from driftproof.verifiers.claim_types.claim import Claim
from driftproof.verifiers.claim_types.rate import Schedule
from driftproof.verifiers.claim_types.sources import Source, blaming, loaded
from driftproof.verifiers.counterexamples import scripts
from driftproof.verifiers.in_print.citations import PUBLISHED, cited
from driftproof.verifiers.in_print.comparison import unlike
from driftproof.verifiers.in_print.formulas import right_sides_of

EXPECTED = re.compile(
    r"\\(mathbb|mathbf|mathrm|mathsf|operatorname|Bbb|bf|rm)\*?[\s{]*E(?![A-Za-z])|𝔼"
    r"|\\(E|EE|Exp|Expect)(?![A-Za-z])|[Ee]xpect"
    r"|(?<![\\A-Za-z])E\s*(_\w|_\{[^}]*\})?\s*(\\left|\\[bB]igg?l?)?\s*(\[|\(|\\[|{]|\\[lV])"
)
"""What shows that a statement is one in expectation."""


def over_draws(source: Source, rows: Iterable[Row]) -> str:
    """Say that means were judged of a user's statement that has no expectation ("": it has)."""
    claim = loaded(source)
    drawn = any(row.replicates > 1 and row.expected is None for row in rows)
    given_past = getattr(claim, "conditional", False)
    if not drawn or not claim.measures or given_past or EXPECTED.search(claim.statement):
        return ""
    return (
        "the statement has no expectation. Where noise or clients are drawn, the mean over the "
        "draws was judged, not each run."
    )


def _right_sides(claim: Claim[Any]) -> dict[str, str]:
    """Return the LaTeX of each form's right side, by the form's key."""
    orders = {form.key: form.right for form in claim.forms if form.form != "sibling"}
    orders = {key: x.latex() for key, x in orders.items() if isinstance(x, Schedule)}
    if orders:
        return {key: rf"\mathcal{{O}}\left({order}\right)" for key, order in orders.items()}
    measured = getattr(claim, "measured", {})
    return {form.key: latex(right, measured) for form, right in right_sides_of(claim)}


def claim_entry(source: Source) -> dict[str, Any]:
    """Return what the page says of a claim: all of it is known before anything is run."""
    leaf = source if isinstance(source, Leaf) else None
    with blaming(source):
        claim = loaded(source)
        notation = claim.notation(claim.judged_on[0]) if claim.judged_on else {}
        forms, said = _right_sides(claim), unlike(claim)
    return {
        "kind": claim.kind,
        "source": claim.source,
        "statement": claim.statement,
        "assumes": [
            [a.name, a.statement, [x for x, role in notation.items() if role in a.roles]]
            for a in claim.assumes
        ],
        "forms": forms,
        "unlike": said if isinstance(said, dict) else {},
        "unread": said if isinstance(said, str) and claim.bounds and not claim.is_existence else "",
        "notes": {form.form: form.note for form in claim.forms if form.note},
        "readings": {form.key: form.quote for form in claim.forms if form.quote},
        "erratum": None if claim.erratum is None else vars(claim.erratum),
        "counted": {
            "sentence": claim.sentence,
            "display": claim.display,
            "published": claim.name.startswith(PUBLISHED),
        },
        "explain": claim.explain,
        "papers": cited(leaf.path, claim.source) if leaf else [],
        # a claim that was handed over as an object has no file that is known
        "command": f"driftproof verify {leaf.typed if leaf else 'FILE.py'}",
        "counterexample": f"driftproof counterexample {claim.name}"
        if scripts(claim.name)
        else None,
    }
