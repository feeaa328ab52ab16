"""Corollary 5.2: local updates.

**Kind.** Bound, judged without noise and with Δ_h = Δ_g = 0 (the constants are not in the text),
and by algebra: with that I, 𝒞 = 1/√(|b|KT).
"""

import sympy

from driftproof.synthetic.problems.averaged_composition import AveragedComposition
from driftproof.toolkit.measure import Reduction, States
from driftproof.toolkit.readings import Erratum, Stated
from driftproof.verifiers.algebra.symbolic import Step, vanishes
from driftproof.verifiers.claim_types.bound import RightSide, bound
from driftproof.verifiers.papers.feddro.claims import _theorem as parts
from driftproof.verifiers.papers.feddro.claims import assumptions as given


def steps_of_local_updates(right: RightSide) -> list[Step]:
    samples, steps = sympy.symbols("n T", positive=True)  # n = |b|K
    local = steps ** sympy.Rational(1, 4) / samples ** sympy.Rational(3, 4)
    says = r"I=T^{1/4}/(|b|K)^{3/4}: \quad |b|K I^2/T = 1/\sqrt{|b|KT}"
    return [vanishes(samples * local**2 / steps - 1 / sympy.sqrt(samples * steps), says)]


@bound(
    name="feddro/corollary-5.2",
    source="FedDRO (2023), Corollary 5.2",
    assumes=[*given.ASSUMED, given.QUIET, given.AVERAGED, parts.SCHEDULE, parts.STEP_SIZE],
    statement=r"I\le\mathcal O\big(T^{1/4}/(|b|K)^{3/4}\big):\quad "
    r"\mathbb{E}\|\nabla\Phi(\bar x^{a(T)})\|^2 \le \frac{2[\Phi(\bar x^0)-\Phi(x^*)+"
    r"\|\bar y^0-g(\bar x^0)\|^2]}{\sqrt{|b|KT}} + \frac{C_{\sigma_h}\sigma_h^2+C_{\sigma_g}"
    r"\sigma_g^2}{\sqrt{|b|KT}} + \frac{C_{\Delta_h}\Delta_h^2+C_{\Delta_g}\Delta_g^2}"
    r"{\sqrt{|b|KT}}",
    cases=[
        parts.run(parts.flat(0.1, 10.0), 6**4, local_steps=6, embedding_error=1.0),
        *(
            parts.run(
                AveragedComposition(clients=k, inner_offset=1.0, plain_slope=plain),
                steps,
                local_steps=local,
                batch=b,
                embedding_error=0.2,
            )
            for k, b, local, steps, plain in ((1, 1, 4, 256, 0.0), (16, 1, 1, 16**3, 1.0))
        ),
    ],
    range=parts.largest,
    right=parts.printed,
    erratum=Erratum(
        "false",
        changes="The choice of I is right; the term for the first embedding has the mistake of "
        "Theorem 5.1.",
        same_as="feddro/theorem-5.1",
    ),
    corrected=Stated(parts.corrected, part="σ = Δ = 0"),
    correction="The corrected Theorem 5.1 (feddro/theorem-5.1); 𝒞 is 1/√(|b|KT) for such I.",
    false_siblings=[
        ("half of the embedding's error", lambda c: parts.corrected(c, sympy.Rational(1, 2))),
        ("0.4 of the first term", lambda c: parts.corrected(c, gap=sympy.Rational(4, 5))),
        ("nothing for the embedding's error", lambda c: parts.corrected(c, 0)),
        ("a tenth of the embedding's error", lambda c: parts.corrected(c, sympy.Rational(1, 10))),
    ],
    prove=steps_of_local_updates,
    explain=(
        "The choice of I makes the two parts of 𝒞 equal, as stated; the bound inherits the false "
        "initial term of Theorem 5.1."
    ),
)
def local_updates(view: States) -> Reduction:
    return parts.squared_gradient(view)
