r"""FedNest_SGD: FedNest with plain local steps on the lower level."""

from __future__ import annotations

from driftproof.toolkit.algorithm import algorithm
from driftproof.toolkit.algorithms._nested import Nested


@algorithm(
    name="fednest-sgd",
    source="FedNest (2022), slides, table of LFedNest",
    statement=r"y_{i,\nu+1} = y_{i,\nu} - \beta\nabla_y g_i(x^k, y_{i,\nu}; \zeta_{i,\nu}),\; "
    r"x^{k+1} = \mathrm{FedOut}(x^k, y^{k+1}, \alpha^k)",
)
class FedNestSGD(Nested):
    r"""FedNest_SGD: FedAvg on y, FedSVRG with the federated hypergradient on x.

    Rounds of communication a k: T, N' + 1 and 2.

    Two clients alike take FedNest's steps: y = 2 − 0.1, x = 1 − 0.1·1.9/ℓ_{g,1}, ℓ_{g,1} = 1.61803:

    >>> from driftproof.synthetic.problems import QuadraticBilevel
    >>> from driftproof.toolkit.federation import numbers_after
    >>> problem = QuadraticBilevel(dim=1, lower_dim=1, offset=0.0, target=0.0)
    >>> numbers_after(problem, FedNestSGD(terms=1), "y", "x")
    [1.9, 0.88257]
    """

    reduces_inner = False
