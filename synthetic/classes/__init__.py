"""Classes of functions, by the conditions under which given points have a function in the class."""

from typing import TYPE_CHECKING

from driftproof.toolkit.exports import exports

if TYPE_CHECKING:
    from driftproof.synthetic.classes.function_class import over as over
    from driftproof.synthetic.classes.functions import bounded_composition as bounded_composition
    from driftproof.synthetic.classes.functions import bounded_gradients as bounded_gradients
    from driftproof.synthetic.classes.functions import cocoercive as cocoercive
    from driftproof.synthetic.classes.functions import convex as convex
    from driftproof.synthetic.classes.functions import indicator as indicator
    from driftproof.synthetic.classes.functions import monotone as monotone
    from driftproof.synthetic.classes.functions import monotone_lipschitz as monotone_lipschitz
    from driftproof.synthetic.classes.functions import plus as plus
    from driftproof.synthetic.classes.functions import smooth as smooth
    from driftproof.synthetic.classes.functions import smooth_convex as smooth_convex
    from driftproof.synthetic.classes.functions import (
        smooth_strongly_convex as smooth_strongly_convex,
    )
    from driftproof.synthetic.classes.functions import strongly_convex as strongly_convex
    from driftproof.synthetic.classes.functions import (
        strongly_convex_concave as strongly_convex_concave,
    )
    from driftproof.synthetic.classes.relations import any_state as any_state
    from driftproof.synthetic.classes.relations import bounded_steps as bounded_steps
    from driftproof.synthetic.classes.relations import equal as equal
    from driftproof.synthetic.classes.relations import lower_level as lower_level
    from driftproof.synthetic.classes.relations import minima_apart as minima_apart
    from driftproof.synthetic.classes.relations import polyak_step as polyak_step
    from driftproof.synthetic.classes.relations import recurs as recurs
    from driftproof.synthetic.classes.relations import shared_minimiser as shared_minimiser
    from driftproof.synthetic.classes.relations import similar as similar
    from driftproof.synthetic.classes.relations import similar_everywhere as similar_everywhere
    from driftproof.synthetic.classes.relations import start_anywhere as start_anywhere
    from driftproof.synthetic.classes.relations import start_apart as start_apart
    from driftproof.synthetic.classes.relations import start_at_minimiser as start_at_minimiser
    from driftproof.synthetic.classes.relations import start_gap as start_gap
    from driftproof.synthetic.classes.relations import start_gradient as start_gradient
    from driftproof.synthetic.classes.relations import start_within as start_within
    from driftproof.synthetic.classes.relations import upper_level as upper_level
    from driftproof.toolkit.letters import for_all as for_all

__getattr__, __dir__, __all__ = exports(__name__, __file__)
