"""Cases of the one-step lemmas: short ones, whose noise is enumerated."""

from math import pi

from synthetic.problems.bias_amplification import BiasAmplification
from synthetic.problems.bounded_composition import BoundedComposition
from toolkit.algorithms.local_scgdm import LocalSCGDM
from toolkit.cases import grid
from toolkit.parameters import sweep

NOISE = {"inner_value_noise": 0.3, "inner_gradient_noise": 0.4, "outer_gradient_noise": 0.2}
BENT = BoundedComposition(clients=1, inner_curvature=1.0, outer_curvature=1e-3, distance=3000.0)
"""f is a line where the run stays, g is not: L_f is small and L_F is not."""
FAR = {"clients": 1, "distance": 50.0}
ONE_NOISE = [{"inner_value_noise": 0.3}, {"inner_gradient_noise": 0.4},
             {"outer_gradient_noise": 0.2}]  # fmt: skip


def spread(step_factor, momentum, inner_momentum):
    """Return two clients that differ, with one noise each, past their first communication.

    Four steps of two clients with one sign each have 256 outcomes, which are enumerated: the past
    is not sampled.
    """
    made = []
    for noise in ONE_NOISE:
        made += grid(
            BoundedComposition(
                clients=2,
                dim=2,
                inner_dim=2,
                inner_curvature=1.0,
                heterogeneity=1.0,
                distance=0.8,
                inner_offset=sweep(0.0, 0.5),
                **noise,
            ),
            LocalSCGDM(
                local_steps=2,
                step_size=0.1,
                momentum=momentum,
                inner_momentum=inner_momentum,
                step_factor=step_factor,
            ),
            rounds=2,
        )
    return made  # fmt: skip


CASES = [
    *grid(BiasAmplification(), LocalSCGDM(step_size=sweep(0.1, 0.5)), rounds=3),
    *grid(
        BoundedComposition(clients=1, inner_curvature=sweep(0.0, 1.0), distance=0.8, **NOISE),
        LocalSCGDM(step_size=0.5, momentum=sweep(0.1, 1.9), inner_momentum=sweep(0.1, 1.9)),
        rounds=2,
    ),
    # one noise alone, and nearly all of the past forgotten
    *grid(
        BoundedComposition(inner_value_noise=0.3, **FAR),
        LocalSCGDM(step_size=0.5, momentum=1.9, inner_momentum=1.9, step_factor=0.01), rounds=1,
    ),
    *grid(
        BoundedComposition(outer_gradient_noise=0.3, **FAR),
        LocalSCGDM(step_size=0.5, momentum=1.9, inner_momentum=1.9, step_factor=0.01), rounds=1,
    ),
    *grid(
        BoundedComposition(clients=1, inner_gradient_noise=0.3, distance=16 * pi),
        LocalSCGDM(step_size=0.5, momentum=1.9, inner_momentum=1.9, step_factor=0.01), rounds=1,
    ),
    # one sample: at cos(x) = −1 the noise of z_t cancels and its bias stays
    *grid(
        BoundedComposition(clients=1, inner_gradient_noise=0.5, outer_gradient_noise=0.5,
                           distance=pi),
        LocalSCGDM(step_size=0.01, step_factor=0.001, samples="one"), rounds=2,
    ),
    *grid(BENT, LocalSCGDM(step_size=0.5), rounds=1),
    *spread(3.0, [0.5, 9.0], 9.0),
]  # fmt: skip
FULL = [
    case for case in spread([0.03], [0.5], [0.5, 9.0]) if case not in CASES
]  # fmt: skip
