"""Classes of functions and their worst cases: ``from driftproof.classes import smooth, over``."""

from driftproof.whole import refuse_hidden

refuse_hidden()

from driftproof.synthetic.classes import (  # noqa: E402 - after the look at whose it is
    bounded_composition,
    bounded_gradients,
    cocoercive,
    equal,
    lower_level,
    monotone_lipschitz,
    over,
    shared_minimiser,
    similar,
    similar_everywhere,
    smooth,
    smooth_convex,
    smooth_strongly_convex,
    start_anywhere,
    start_at_minimiser,
    start_gap,
    start_gradient,
    start_within,
    strongly_convex_concave,
    upper_level,
)
from driftproof.verifiers.worst_case.found import Found, worst_case  # noqa: E402

__all__ = [
    "Found",
    "bounded_composition",
    "bounded_gradients",
    "cocoercive",
    "equal",
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
    "worst_case",
]
