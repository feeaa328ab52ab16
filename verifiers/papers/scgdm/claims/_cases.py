"""Cases of several claims: those of the one-step lemmas are short, their noise is enumerated."""

from dataclasses import replace
from math import pi

from driftproof.synthetic.problems.bias_amplification import BiasAmplification
from driftproof.synthetic.problems.bounded_composition import BoundedComposition
from driftproof.toolkit.algorithms.local_scgdm import LocalSCGDM
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.parameters import sweep

BENT = BoundedComposition(clients=1, inner_curvature=1.0, outer_curvature=1e-3, distance=3000.0)
"""f is a line where the run stays, g is not: L_f is small and L_F is not."""
FAR = BoundedComposition(clients=1, distance=50.0)
DIFFERENT = BoundedComposition(
    clients=2,
    dim=2,
    inner_dim=2,
    inner_curvature=1.0,
    heterogeneity=1.0,
    distance=0.8,
    inner_offset=sweep(0.0, 0.5),
)
NOISY = BoundedComposition(
    clients=3,
    dim=2,
    inner_dim=2,
    inner_curvature=0.5,
    heterogeneity=1.0,
    inner_value_noise=0.2,
    inner_gradient_noise=0.1,
    outer_gradient_noise=0.3,
)
ONE_NOISE = [
    replace(DIFFERENT, inner_value_noise=0.3),
    replace(DIFFERENT, inner_gradient_noise=0.4),
    replace(DIFFERENT, outer_gradient_noise=0.2),
]
FORGETFUL = LocalSCGDM(step_size=0.5, momentum=1.9, inner_momentum=1.9, step_factor=0.01)
"""Nearly all of the past is forgotten."""


def differing(
    step_factor: float, momentum: float, inner_momentum: float
) -> list[Case[BoundedComposition, LocalSCGDM]]:
    """Return two clients that differ, with one noise each, past their first communication.

    Four steps of two clients with one sign each have 256 outcomes, which are enumerated: the past
    is not sampled.
    """
    method = LocalSCGDM(
        local_steps=2,
        step_size=0.1,
        momentum=momentum,
        inner_momentum=inner_momentum,
        step_factor=step_factor,
    )
    return [case for members in ONE_NOISE for case in grid(members, method, rounds=2)]


CASES = [
    *grid(BiasAmplification(), LocalSCGDM(step_size=sweep(0.1, 0.5)), rounds=3),
    *grid(
        BoundedComposition(
            clients=1,
            inner_curvature=sweep(0.0, 1.0),
            distance=0.8,
            inner_value_noise=0.3,
            inner_gradient_noise=0.4,
            outer_gradient_noise=0.2,
        ),
        LocalSCGDM(step_size=0.5, momentum=sweep(0.1, 1.9), inner_momentum=sweep(0.1, 1.9)),
        rounds=2,
    ),
    # one noise alone
    *grid(replace(FAR, inner_value_noise=0.3), FORGETFUL, rounds=1),
    *grid(replace(FAR, outer_gradient_noise=0.3), FORGETFUL, rounds=1),
    *grid(replace(FAR, inner_gradient_noise=0.3, distance=16 * pi), FORGETFUL, rounds=1),
    # one sample: at cos(x) = −1 the noise of z_t cancels and its bias stays
    *grid(
        replace(FAR, inner_gradient_noise=0.5, outer_gradient_noise=0.5, distance=pi),
        LocalSCGDM(step_size=0.01, step_factor=0.001, samples="one"),
        rounds=2,
    ),
    *grid(BENT, LocalSCGDM(step_size=0.5), rounds=1),
    *differing(3.0, sweep(0.5, 9.0), 9.0),
]
FULL = [case for case in differing(0.03, 0.5, sweep(0.5, 9.0)) if case not in CASES]
