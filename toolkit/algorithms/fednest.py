r"""FedNest: FedSVRG on the lower level, FedSVRG and a federated hypergradient on the upper."""

from __future__ import annotations

from driftproof.toolkit.algorithm import algorithm
from driftproof.toolkit.algorithms._nested import Nested


@algorithm(
    name="fednest",
    source="FedNest (2022), slides, Proposed Algorithm: FedNest, with FedInn, FedOut and FedIHGP",
    statement=r"y^{k+1} = \mathrm{FedInn}(x^k, y^k, \beta^k),\; "
    r"x^{k+1} = \mathrm{FedOut}(x^k, y^{k+1}, \alpha^k)",
)
class FedNest(Nested):
    r"""FedNest: T calls of FedInn on y, then one of FedOut on x.

    Rounds of communication a k: 2T (gradient and iterate of each FedInn), N' + 1 (FedIHGP) and 2
    (hypergradient and iterate); with ``terms=0`` 2T + 2.

    One round where f = ½y², g = ½y² − xy and (x_0, y_0) = (1, 2): y = 2 − 0.1, then
    x = 1 − 0.1·1.9/ℓ_{g,1}, ℓ_{g,1} = (1 + √5)/2:

    >>> from driftproof.synthetic.problems import QuadraticBilevel
    >>> from driftproof.toolkit.federation import numbers_after
    >>> problem = QuadraticBilevel(dim=1, lower_dim=1, offset=0.0, target=0.0)
    >>> numbers_after(problem, FedNest(terms=1), "y", "x")
    [1.9, 0.88257]
    """

    @classmethod
    def examples(cls) -> list[FedNest]:
        """Return members with each series, without one, and with some clients sampled."""
        return [
            cls(inner_calls=2, inner_steps=2, outer_steps=2, terms=3),
            cls(inner_steps=2, terms=2, series="summed", participation=0.5, batch=2),
            cls(outer_steps=2, terms=0),
        ]
