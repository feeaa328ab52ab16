"""Minimax problems: bilevel ones whose lower level maximises what the upper one minimises."""

from __future__ import annotations

from typing import ClassVar

from driftproof.toolkit.bilevel import BilevelProblem
from driftproof.toolkit.oracles import SharedVector, UpperVector


class MinimaxProblem(BilevelProblem):
    r"""min_x max_y (1/m) Σ f_i(x, y): the bilevel problem with g_i = −f_i.

    F is Φ(x) = max_y f(x, y), and ``lower_solution`` is y*(x), where f(x, ·) is largest. Oracles
    are those of a bilevel problem and the field (∇_x f_i, −∇_y f_i);
    ``toolkit.autograd_minimax.AutogradMinimax`` makes both of f alone.
    """

    asserts: ClassVar[frozenset[str]] = frozenset({"zero-sum"})

    @property
    def offers(self) -> str:
        """A minimax problem's oracles: bilevel ones, and the field of both gradients."""
        return "minimax"

    def gradient(self, x: SharedVector) -> UpperVector:
        """Return ∇Φ(x) = ∇_x f(x, y*(x)) (Danskin): ∇_y f is 0 there, and no Hessian is needed.

        Raises:
            DriftproofError: if x has the length of neither x nor (x, y).
        """
        oracles, every, y = self._solved(self._upper(x))
        return oracles.upper_grad_x(every, y, None).mean(0)
