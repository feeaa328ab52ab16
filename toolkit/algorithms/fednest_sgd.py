r"""FedNest_SGD: FedNest with plain local steps on the lower level."""

from __future__ import annotations

from toolkit.algorithm import algorithm
from toolkit.algorithms._nested import Nested


@algorithm(
    name="fednest-sgd",
    source="002, table of LFedNest",
    statement=r"y_{i,\nu+1} = y_{i,\nu} - \beta\nabla_y g_i(x^k, y_{i,\nu}; \zeta_{i,\nu}),\; "
    r"x^{k+1} = \mathrm{FedOut}(x^k, y^{k+1}, \alpha^k)",
)
class FedNestSGD(Nested):
    r"""FedNest_SGD: FedAvg on y, FedSVRG with the federated hypergradient on x.

    Rounds of communication a k: T, N' + 1 and 2.
    """

    reduces_inner = False

    @classmethod
    def examples(cls) -> list[FedNestSGD]:
        """Return members with all clients and with some."""
        return [
            cls(inner_calls=2, inner_steps=2, outer_steps=2, terms=3),
            cls(inner_steps=2, terms=2, participation=0.5),
        ]
