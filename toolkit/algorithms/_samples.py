"""What compositional methods share: whether the outer function sees the inner one's sample."""

from __future__ import annotations

from typing import Literal, TypeAlias

from torch import Tensor

from driftproof.toolkit.algorithm import Context
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.oracles import Composition, OneSample

Samples: TypeAlias = Literal["one", "two"]
""""two": the outer minibatch ζ is drawn on its own. "one": it is what belongs to the inner draw ξ,
the query images of the task whose support images ξ has, say."""


def outer_draw(
    ctx: Context, oracles: Composition, samples: Samples, xi: Tensor | None, batch: int
) -> Tensor | None:
    """Return ζ (None: the outer function is not random).

    Args:
        samples: how it is drawn.
        xi: the inner draw.
        batch: samples of an outer minibatch where it is drawn on its own.

    Raises:
        DriftproofError: samples="one", and the problem samples its two functions apart.
    """
    law = oracles.outer_law(batch)
    if samples == "two" or xi is None or law is None:
        return ctx.draw(law, "zeta")
    if not isinstance(oracles, OneSample):
        raise DriftproofError(
            'samples="one" on a problem whose inner and outer functions are sampled apart',
            "a problem with a common sample, BoundedComposition say",
            'use samples="two"',
        )
    return oracles.same_sample(xi)
