r"""LFedNest: local hypergradients and plain local steps on both levels."""

from __future__ import annotations

from driftproof.toolkit.algorithm import algorithm
from driftproof.toolkit.algorithms._nested import Nested


@algorithm(
    name="lfednest",
    source="FedNest (2022), slides, Light-FedNest",
    statement=r"y_{i,\nu+1} = y_{i,\nu} - \beta\nabla_y g_i(x^k, y_{i,\nu}; \zeta_{i,\nu}),\; "
    r"x_{i,\nu+1} = x_{i,\nu} - \alpha\big(\nabla_x f_i - \nabla^2_{xy}g_i\,p_{i,N'}\big)"
    r"(x_{i,\nu}, y^{k+1})",
)
class LFedNest(Nested):
    r"""LFedNest: FedAvg on y, FedAvg with every client's own hypergradient on x.

    Rounds of communication a k: T and 1. The clients' series draw one N' at each local step.

    Two clients alike take FedNest's steps: y = 2 − 0.1, x = 1 − 0.1·1.9/ℓ_{g,1}, ℓ_{g,1} = 1.61803:

    >>> from driftproof.synthetic.problems import QuadraticBilevel
    >>> from driftproof.toolkit.federation import numbers_after
    >>> problem = QuadraticBilevel(dim=1, lower_dim=1, offset=0.0, target=0.0)
    >>> numbers_after(problem, LFedNest(terms=1), "y", "x")
    [1.9, 0.88257]
    """

    reduces_inner = False
    local_hypergradient = True
