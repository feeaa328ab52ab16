r"""Nesterov's method lowers the objective in each step.

Text: https://github.com/convex-optimization-for-all/convex-optimization-for-all.github.io/blob/49a1ec731e6171c48aff5039e17ee65adabf970f/contents/chapter09/_posts/20-01-08-09_05_01_accelerated_proximal_gradient_method.md

Truth: false: 'Nesterov ripples' in the text; O'Donoghue & Candès (2015)
"""

from driftproof.synthetic.classes import over, smooth_convex, start_within
from driftproof.toolkit.algorithms.nesterov import Nesterov
from driftproof.toolkit.measure import Reduction, Steps
from driftproof.toolkit.readings import Erratum
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.papers.literature.claims._measures import change_of, unchanged


@bound(
    name="literature/nesterov-descent",
    source="a belief; O'Donoghue & Candès 2015 show the ripples",
    statement=r"f(x_{k+1})-f^* \le f(x_k)-f^*",
    classes=over(
        [smooth_convex(L=1), start_within(R=1)],
        Nesterov(step_size=1.0),
        rounds=4,
        clients=1,
    ),
    measured={"before": r"f(x_k)-f^*"},
    right=unchanged,
    erratum=Erratum(
        "false",
        changes="O'Donoghue and Candès (2015): the values ripple, and a restart removes it.",
        depends="theorem",
    ),
)
def nesterov_descent(view: Steps) -> Reduction | None:
    return change_of(view.gap, view)
