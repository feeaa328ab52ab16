"""Proofs: algebra alone decides a statement, on no case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from driftproof.toolkit.readings import R
from driftproof.verifiers.claim_types.claim import Claim

if TYPE_CHECKING:
    from driftproof.verifiers.algebra.symbolic import Step


@dataclass(frozen=True, kw_only=True, eq=False)
class ProofClaim(Claim[R]):
    r"""A statement that algebraic steps decide; sympy decides each step.

    It stands above the function that returns the steps for a right side, which may be of any type
    that this function takes::

        @proof(name="mine/square", source="my notes, (1)", statement=r"…", right=2 * a * b)
        def square(right: Expression) -> list[Step]:
            return [vanishes((a + b) ** 2 - a**2 - b**2 - right, "…")]

    Attributes:
        kind: "symbolic", or "complexity" or "existence" for statements of those kinds.
        prove: the decorated function.
    """

    way: ClassVar[str] = "proof"
    function: ClassVar[str] = "prove"
    kinds: ClassVar[tuple[str, ...]] = ("symbolic", "complexity", "existence")

    kind: Literal["symbolic", "complexity", "existence"] = "symbolic"

    def __call__(self, prove: Callable[[R], Sequence[Step]]) -> Self:
        """Return the claim that the steps of ``prove`` decide."""
        return replace(self, prove=prove).checked()

    @property
    def needs_cases(self) -> bool:
        """Whether cases are needed: never."""
        return False


proof = ProofClaim
