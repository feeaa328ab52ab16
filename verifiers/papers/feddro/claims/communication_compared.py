r"""The comparison after Corollary 5.3: O(ε^{−3/2}d) reals, and those of other papers.

**Kind.** Complexity, by algebra. Each paper that is named is a part: how many reals its rounds send
for a mean squared gradient of ε (Definition 3.6), by its own rate and period, as it prints them.

**Finding.** ComFedL sends O(ε^{−2}d): better than that it is. Local-SCGDM, with p = T^{1/4} and a
mean squared gradient of O(T^{−1/2}), sends O(ε^{−3/2}d): the same order. Its "O(1/ε³)" has ε on the
norm. That Corollary 3.5 of Local-SCGDM is false (scgdm/corollary-3.5) is another matter: FedDRO
does not say so. Guo et al. (2022) is not among the papers at hand.
"""

from collections.abc import Mapping
from typing import NamedTuple

import sympy

from driftproof.toolkit.readings import Erratum, Stated, Undecided, literal
from driftproof.verifiers.algebra.symbolic import Step, computed, vanishes
from driftproof.verifiers.claim_types.proof import proof

epsilon, T = sympy.symbols("epsilon T", positive=True)
OURS = sympy.Rational(-3, 2)
"""The power of ε in the reals that FedDRO sends, ε on the square."""


class Other(NamedTuple):
    """Another algorithm: the power of T in its rate and its period, and what is said of it."""

    name: str
    rate: sympy.Rational
    period: sympy.Rational
    better: bool = True


READINGS: Mapping[str, Stated[Other] | Stated[Undecided]] = {
    "Huang et al.": literal(
        Other("ComFedL", sympy.Rational(-1, 2), sympy.Rational(0)), part="Huang et al. (2021)"
    ),
    "Gao et al.": literal(
        Other("Local-SCGDM", sympy.Rational(-1, 2), sympy.Rational(1, 4)), part="Gao et al. (2022)"
    ),
    "Guo et al.": literal(
        Undecided(
            "the text of Guo et al. is not among the papers at hand",
            by="the rounds of communication that Guo et al. (2022) state, and for which ε",
        ),
        part="Guo et al. (2022)",
    ),
}


@proof(
    name="feddro/communication-compared",
    kind="complexity",
    source="FedDRO (2023), text after Corollary 5.3",
    statement=r"\mathcal O(\epsilon^{-3/2}d) \text{ ``is better than any Federated CO algorithm "
    r"proposed in the literature'',}\quad "
    r"\text{Huang et al. (2021); Gao et al. (2022); Guo et al. (2022)}",
    readings=READINGS,
    erratum=Erratum(
        "false",
        changes="FedDRO's order equals the one that Gao et al. print, whose ε bounds the norm and "
        "not its square. It is better than that of Huang et al.",
        depends="nothing",
    ),
    corrected=Other("Local-SCGDM", sympy.Rational(-1, 2), sympy.Rational(1, 4), better=False),
    correction="T^{−1/2} = ε gives T = ε^{−2}, and T/p = T^{3/4} = ε^{−3/2} rounds of O(d) reals.",
    false_siblings=[
        ("without a period", Other("–", sympy.Rational(-1, 2), sympy.Rational(0), False)),
        ("with p = √T", Other("–", sympy.Rational(-1, 2), sympy.Rational(1, 2), False)),
    ],
    explain="Both send models T^{3/4} times for a mean squared gradient of order T^{−1/2}.",
)
def reals(of: Other) -> list[Step]:
    steps = epsilon ** (1 / of.rate)
    rounds = sympy.powsimp(steps ** (1 - of.period), force=True)
    power = sympy.simplify(epsilon * rounds.diff(epsilon) / rounds)
    says = rf"\text{{{of.name} sends }} O(\epsilon^{{{power}}}d)"
    if not of.better:
        return [vanishes(power - OURS, rf"{says} \text{{, the same order}}")]
    why = f"−3/2 against {power}"
    return [computed(rf"{says} \text{{, a larger order}}", bool(power < OURS), why)]
