"""One level of a bilevel problem as a field: the other level is held, so nothing is known of it."""

from collections.abc import Collection, Mapping
from typing import Literal

from torch import Tensor

from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.oracles import GradientField

Level = Literal["lower", "upper"]

ROLES: Mapping[Level, Mapping[str, tuple[str, ...]]] = {
    "lower": {"L": ("lower_smoothness",), "mu": ("lower_strong_convexity",)},
    "upper": {"L": ("upper_smoothness", "upper_sample_smoothness")},
}
"""The roles of a class's parameters beside those that they have on a field."""


def level_of(kinds: Collection[str]) -> Level | None:
    """Return the level that a class's conditions name (None: the functions are no level's)."""
    return next((level for level in ROLES if f"{level}-level" in kinds), None)


class OneLevel:
    """The oracles of a bilevel problem of which one level is held.

    FedInn moves y by ∇_y g_i(x, y) alone, and x stays: so y ↦ g_i(x, y) is a function like any
    other. FedOut moves x by ∇_x f_i(x, y). The level that is held gets no coordinates.

    Args:
        field: the functions' gradients.
        dim: their dimension.
        level: the level that moves.
    """

    def __init__(self, field: GradientField, dim: int, level: Level) -> None:
        self._field, self._level = field, level
        self.clients, self.client_weights = field.clients, field.client_weights
        self.upper_dim = 0 if level == "lower" else dim

    @property
    def lower_smoothness(self) -> float:
        """Refused: the series of FedOut takes Hessians of the level that is held."""
        raise DriftproofError(
            "a series of Hessians over one level of a bilevel problem",
            "FedOut without the indirect part",
            "write FedOut(terms=0)",
        )

    def lower_law(self, batch: int) -> None:
        """Return None: there is no noise."""

    def lower_grad(self, x: Tensor, y: Tensor, zeta: Tensor | None) -> Tensor:
        """Return each client's ∇_y g_i(x, y) at its own y."""
        self._check("lower", x)
        return self._field.field_grad(y, zeta)

    def upper_law(self, batch: int) -> None:
        """Return None: there is no noise."""

    def upper_grad_x(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return each client's ∇_x f_i(x, y) at its own x."""
        self._check("upper", y)
        return self._field.field_grad(x, xi)

    def _check(self, level: Level, held: Tensor) -> None:
        """Raise unless a gradient is of the level that moves, at the other one as it is held."""
        if level != self._level or held.shape[1]:
            raise DriftproofError(
                f"a gradient of the {level} level with a vector of {held.shape[1]} entries for the "
                f"other one, over {self._level}_level()",
                f"gradients of the {self._level} level alone: the other one has no entries",
                "pass x and y in their order, each as init was given it",
            )
