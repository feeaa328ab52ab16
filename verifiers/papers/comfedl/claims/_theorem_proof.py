"""The displays that the proofs of Theorems 1 and 2 share, for either one's sum of roots."""

from collections.abc import Sequence

import sympy

from driftproof.toolkit.constants import Expression
from driftproof.verifiers.algebra.symbolic import Step, nonnegative, vanishes
from driftproof.verifiers.claim_types.bound import RightSide
from driftproof.verifiers.papers import _proof_steps as elementary

c = elementary.POSITIVE
sigma = sympy.Symbol("sigma", positive=True)


def squared(lemma: RightSide) -> Expression:
    """Return a lemma's right side with the letter σ for the maximum of σ_1, σ_2, σ_3."""
    return lemma(c).replace(lambda e: isinstance(e, sympy.Max), lambda e: sigma)


def displays(bracket: Expression, lemma: RightSide) -> list[Step]:
    """Return the proof's displays as steps.

    Args:
        bracket: what multiplies G_fG_g in the last display, in the letters ``c`` and ``sigma``.
        lemma: the lemma's bound on E‖ū − U‖², whose root the bracket has to bound.
    """
    at, anchor, step, mean = (sympy.symbols(f"{name}_1:3", real=True) for name in "psuv")
    # ∇F(w̄_{s,t}), ∇F(w̄_s), ū, U

    def dot(x: Sequence[Expression], y: Sequence[Expression]) -> Expression:
        return sum(i * j for i, j in zip(x, y, strict=True))

    def less(x: Sequence[Expression], y: Sequence[Expression]) -> list[Expression]:
        return [i - j for i, j in zip(x, y, strict=True)]

    split = -dot(at, less(step, mean)) - dot(less(at, anchor), mean) - dot(anchor, mean)
    values = sympy.symbols("F_0:7", positive=True)  # of two rounds of three steps, end to end
    telescope = sum(values[k] - values[k + 1] for k in range(6)) - (values[0] - values[6])
    drifted = c.eta * c.L * c.G_f * c.G_g * (c.tau * c.eta * c.G_g * c.G_f)
    return [
        elementary.descent(),
        vanishes(
            sympy.expand(-dot(at, step) - split),
            r"-\langle\nabla F(\bar w_{s,t}),\bar u\rangle \text{ split in three}",
        ),
        elementary.cauchy_schwarz(),
        elementary.mean_over_cohorts(),
        elementary.root_of_a_mean(),
        nonnegative(
            sympy.expand(bracket**2 - squared(lemma)),
            r"\sqrt{\text{the lemma's bound}} \le \text{the bracket}",
        ),
        vanishes(
            drifted - c.L * c.tau * c.eta**2 * c.G_g**2 * c.G_f**2,
            r"\eta LG_fG_g\sqrt{\text{the bound of Lemma 2}} = L\tau\eta^2G_g^2G_f^2",
        ),
        vanishes(
            telescope,
            r"\sum_{s,t}\big(F(\bar w_{s,t})-F(\bar w_{s,t+1})\big) = F(\bar w_0)-F(\bar w_S)"
            r"\;(S=2,\,\tau=3)",
        ),
    ]
