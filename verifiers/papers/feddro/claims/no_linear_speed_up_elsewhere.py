"""The text beside Table 1: no earlier work guarantees linear speed-up.

**Kind.** Complexity, by algebra: the guarantee that a text states is a formula, and the number of
clients is or is not in it. This checks what the cited texts state, not what is true of their
algorithms: Local-SCGDM's corrected bound does gain from more clients in its noise term.

**Sources.** ComFedL, Theorem 1; Local-SCGDM, (6); FedNest's slides, "Theory". Haddadpour et al. is
not among the texts that driftproof has read.
"""

from collections.abc import Mapping
from typing import NamedTuple

from driftproof.toolkit.constants import Letters
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.readings import Stated, Undecided, literal
from driftproof.verifiers.algebra.symbolic import Step, computed
from driftproof.verifiers.claim_types.proof import proof

ROLES = ("clients", "cohort_size")


class Guarantee(NamedTuple):
    """What a text guarantees: a form of a claim."""

    claim: str
    form: str


READINGS: Mapping[str, Stated[Guarantee] | Stated[Undecided]] = {
    "Huang et al., as their text states it": literal(
        Guarantee("comfedl/theorem-1", "printed: a plus sign is missing"), part="Huang"
    ),
    "Gao et al., as their text states it": literal(
        Guarantee("scgdm/theorem-3.4", "printed: two samples, as in the proofs"), part="Gao"
    ),
    "Tarzanagh et al., as their slides state it": literal(
        Guarantee("fednest/theorem-single-level", "printed"), part="Tarzanagh"
    ),
    "Haddadpour et al.": literal(
        Undecided(
            "their text is not among those that driftproof has read",
            by="how the rate that Haddadpour et al. state depends on the number of clients",
        ),
        part="Haddadpour",
    ),
}


@proof(
    name="feddro/no-linear-speed-up-elsewhere",
    kind="complexity",
    source="FedDRO (2023), section 2, Related work",
    statement=r"\text{none of Huang et al., Haddadpour et al., Tarzanagh et al., Gao et al. "
    r"guarantee linear speed-up with the number of clients}",
    readings=READINGS,
    false_siblings=[
        (
            "FedDRO's own theorem has no number of clients",
            Guarantee("feddro/theorem-5.1", "printed"),
        ),
        (
            "Local-SCGDM's corrected theorem has no number of clients",
            Guarantee("scgdm/theorem-3.4", "corrected"),
        ),
    ],
    explain=(
        "Three of the four texts state bounds without the number of clients. The fourth is not "
        "among the texts that driftproof has read."
    ),
)
def elsewhere(guarantee: Guarantee) -> list[Step]:
    """Return the step: the number of clients is no letter of the guarantee's right side."""
    claim = leaves("claim")[guarantee.claim].load()
    right = next(form.right for form in claim.forms if form.key == guarantee.form)
    notation = claim.notation(claim.cases[0])
    if callable(right):
        letters = {notation[s.name]: s.name for s in right(Letters(notation)).free_symbols}
        met = [letters[role] for role in ROLES if role in letters]
    else:
        letters = {s.name: s.name for s in right.order.free_symbols}
        met = [letters[name] for name in ("m", "n") if name in letters]
    told = f"its letters are {', '.join(sorted(letters.values()))}"
    says = rf"\text{{the number of clients is no letter of the guarantee in {guarantee.claim}}}"
    return [computed(says, not met, told)]
