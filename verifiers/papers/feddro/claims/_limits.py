"""Fixed points of a round on ``bias-amplification`` ("slopes"), by sympy, for other algorithms."""

from functools import cache

import sympy

from driftproof.toolkit.constants import Expression
from driftproof.verifiers.papers.feddro.claims import _bias as bias

eta, beta = sympy.symbols("eta beta", positive=True)
SLOPES, OFFSETS = (2, -1), (0, 1)


@cache
def local_scgdm(averaged: str, local_steps: int = 2) -> Expression:
    """Return x̄'s fixed point for Local-SCGDM with α = γ = 1, as an expression in η and β.

    f'(u) = u where the run stays, so a round is affine in x, m and the u_k.
    """
    x, m, u1, u2 = sympy.symbols("x m u_1 u_2")
    shared = "u" in averaged
    models, momenta, inner = [x, x], [m, m], [u1, u1 if shared else u2]
    for _ in range(local_steps):
        for k, (slope, offset) in enumerate(zip(SLOPES, OFFSETS, strict=True)):
            inner[k] = (1 - eta) * inner[k] + eta * (slope * models[k] + offset)
            momenta[k] = (1 - eta) * momenta[k] + eta * slope * inner[k]
            models[k] = models[k] - beta * eta * momenta[k]
    equations = [sum(models) / 2 - x, sum(momenta) / 2 - m]
    if shared:
        equations.append(sum(inner) / 2 - u1)
        unknown = [x, m, u1]
    else:
        equations += [inner[0] - u1, inner[1] - u2]
        unknown = [x, m, u1, u2]
    ((point, *_),) = sympy.linsolve([sympy.expand(e) for e in equations], unknown)
    return sympy.cancel(point)


def plug_in(local_steps: int = 2) -> Expression:
    """Return the fixed point of ComFedL and Local-BSGD without noise: Case I's."""
    return bias.limit_point("slopes", "case-1").subs(bias.period, local_steps).subs(bias.eta, eta)
