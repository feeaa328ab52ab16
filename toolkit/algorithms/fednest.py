r"""FedNest: FedSVRG on the lower level, FedSVRG and a federated hypergradient on the upper."""

from __future__ import annotations

from toolkit.algorithm import algorithm
from toolkit.algorithms._nested import Nested


@algorithm(
    name="fednest",
    source="002, Proposed Algorithm: FedNest, with FedInn, FedOut and FedIHGP",
    statement=r"y^{k+1} = \mathrm{FedInn}(x^k, y^k, \beta^k),\; "
    r"x^{k+1} = \mathrm{FedOut}(x^k, y^{k+1}, \alpha^k)",
)
class FedNest(Nested):
    r"""FedNest: T calls of FedInn on y, then one of FedOut on x.

    Rounds of communication a k: 2T (gradient and iterate of each FedInn), N' + 1 (FedIHGP) and 2
    (hypergradient and iterate); with ``terms=0`` 2T + 2.
    """

    @classmethod
    def examples(cls) -> list[FedNest]:
        """Return members with each series, without one, and with some clients sampled."""
        return [
            cls(inner_calls=2, inner_steps=2, outer_steps=2, terms=3),
            cls(inner_steps=2, terms=2, series="summed", participation=0.5, batch=2),
            cls(outer_steps=2, terms=0),
        ]
