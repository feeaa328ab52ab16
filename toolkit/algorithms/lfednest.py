r"""LFedNest: local hypergradients and plain local steps on both levels."""

from __future__ import annotations

from toolkit.algorithm import algorithm
from toolkit.algorithms._nested import Nested


@algorithm(
    name="lfednest",
    source="002, Light-FedNest",
    statement=r"y_{i,\nu+1} = y_{i,\nu} - \beta\nabla_y g_i(x^k, y_{i,\nu}; \zeta_{i,\nu}),\; "
    r"x_{i,\nu+1} = x_{i,\nu} - \alpha\big(\nabla_x f_i - \nabla^2_{xy}g_i\,p_{i,N'}\big)"
    r"(x_{i,\nu}, y^{k+1})",
)
class LFedNest(Nested):
    r"""LFedNest: FedAvg on y, FedAvg with every client's own hypergradient on x.

    Rounds of communication a k: T and 1. The clients' series draw one N' at each local step.
    """

    reduces_inner = False
    local_hypergradient = True

    @classmethod
    def examples(cls) -> list[LFedNest]:
        """Return members with all clients and with some."""
        return [
            cls(inner_calls=2, inner_steps=2, outer_steps=2, terms=3),
            cls(inner_steps=2, terms=2, participation=0.5),
        ]
