"""Classes of functions, by the conditions under which given points have a function in the class."""

from driftproof.synthetic.classes.functions import (
    bounded_composition,
    bounded_gradients,
    cocoercive,
    monotone_lipschitz,
    smooth,
    smooth_convex,
    smooth_strongly_convex,
    strongly_convex_concave,
)
from driftproof.synthetic.classes.relations import (
    equal,
    lower_level,
    shared_minimiser,
    similar,
    similar_everywhere,
    start_anywhere,
    start_at_minimiser,
    start_gap,
    start_gradient,
    start_within,
    upper_level,
)
from driftproof.synthetic.classes.whole import over
from driftproof.toolkit.letters import for_all

__all__ = [
    "bounded_composition",
    "bounded_gradients",
    "cocoercive",
    "equal",
    "for_all",
    "lower_level",
    "monotone_lipschitz",
    "over",
    "shared_minimiser",
    "similar",
    "similar_everywhere",
    "smooth",
    "smooth_convex",
    "smooth_strongly_convex",
    "start_anywhere",
    "start_at_minimiser",
    "start_gap",
    "start_gradient",
    "start_within",
    "strongly_convex_concave",
    "upper_level",
]
