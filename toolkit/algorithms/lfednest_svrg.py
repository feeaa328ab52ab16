r"""LFedNest_SVRG: LFedNest with variance-reduced local steps on the lower level."""

from __future__ import annotations

from driftproof.toolkit.algorithm import algorithm
from driftproof.toolkit.algorithms._nested import Nested


@algorithm(
    name="lfednest-svrg",
    source="Tarzanagh et al. 2022 (FedNest, ICML), fourth row of the table that the slides shorten",
    statement=r"y^{k+1} = \mathrm{FedInn}(x^k, y^k, \beta^k),\; "
    r"x_{i,\nu+1} = x_{i,\nu} - \alpha\big(\nabla_x f_i - \nabla^2_{xy}g_i\,p_{i,N'}\big)"
    r"(x_{i,\nu}, y^{k+1})",
)
class LFedNestSVRG(Nested):
    r"""LFedNest_SVRG: FedSVRG on y, FedAvg with every client's own hypergradient on x.

    Rounds of communication a k: 2T and 1.

    Two clients alike take FedNest's steps: y = 2 − 0.1, x = 1 − 0.1·1.9/ℓ_{g,1}, ℓ_{g,1} = 1.61803:

    >>> from driftproof.synthetic.problems import QuadraticBilevel
    >>> from driftproof.toolkit.federation import numbers_after
    >>> problem = QuadraticBilevel(dim=1, lower_dim=1, offset=0.0, target=0.0)
    >>> numbers_after(problem, LFedNestSVRG(terms=1), "y", "x")
    [1.9, 0.88257]
    """

    local_hypergradient = True
