r"""A subgradient step lowers the objective, if it is short.

Text: https://github.com/shailesh1729/tisp/blob/49e59c57a29e9609e620baf1d57d2ef6822a23f6/book/subgradient_methods/basic_subgradient.md

Truth: false: Boyd, Xiao & Mutapcic (2003); the text's first observation
"""

from driftproof.synthetic.classes import bounded_gradients, convex, over, start_within
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.readings import Erratum
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import change_of, unchanged


@bound(
    name="literature/subgradient-descent",
    source="a belief; Boyd et al. 2003, Subgradient methods, refute it",
    statement=r"f(x_1)-f^* \le f(x_0)-f^*",
    classes=over(
        [bounded_gradients(convex(), G=1), start_within(R=1)],
        FedAvg(step_size=0.01),
        rounds=1,
        clients=1,
    ),
    measured={"before": r"f(x_0)-f^*"},
    right=unchanged,
    erratum=Erratum(
        "false",
        changes="Boyd et al. (2003): a negative subgradient need not be a direction of descent.",
        depends="theorem",
    ),
)
def subgradient_descent(view: Steps) -> Reduction | None:
    return change_of(view.gap, view)
