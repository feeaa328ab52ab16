"""What the statements measure, at the end of a run and across a step, and what they share."""

from collections.abc import Callable

from torch import Tensor

from driftproof.toolkit.cases import Assumption
from driftproof.toolkit.constants import Expression, Letters
from driftproof.toolkit.measure import Reduction, Steps, each, sq
from driftproof.toolkit.readings import Erratum

ONE_COORDINATE = Assumption("one coordinate", "", applies=lambda case: case.problem.dim == 1)


def false(changes: str) -> Erratum:
    """Return the erratum of a statement that others have refuted."""
    return Erratum("false", changes=changes, depends="theorem")


def gap_at_end(view: Steps) -> Reduction | None:
    """Measure F(x_T) − F*."""
    return each("round", "local_step", view.gap(view.mean("w"))) if view.last else None


def distance_at_end(view: Steps) -> Reduction | None:
    """Measure ‖x_T − x*‖²."""
    off = sq(view.mean("w") - view.minimiser)
    return each("round", "local_step", off) if view.last else None


def distance_at_start(view: Steps) -> Reduction | None:
    """Measure ‖x_0 − x*‖²: where the last state is the first, of a point where the method rests."""
    off = sq(view.round_start("w") - view.minimiser)
    return each("round", "local_step", off) if view.last else None


def gradient_at_end(view: Steps) -> Reduction | None:
    """Measure ‖∇F(x_T)‖²; of an operator T, given as x − T(x), ‖x_T − T(x_T)‖²."""
    return each("round", "local_step", sq(view.gradient(view.mean("w")))) if view.last else None


def moved(view: Steps) -> Reduction:
    """Measure ‖x_{k+1} − x_k‖² of every step: where the last state is the first, of a cycle."""
    return each("transition", sq((view.state.w - view.before.w).mean(0)))


def change_of(value: Callable[[Tensor], Tensor], view: Steps) -> Reduction:
    """Measure a value after a step, and before it."""
    after, before = value(view.state.w.mean(0)), value(view.before.w.mean(0))
    return each("transition", after, before=before)


def nothing(c: Letters) -> Expression:
    """Return 0: what is measured vanishes."""
    return 0 * c.R


def unchanged(c: Letters) -> Expression:
    """Return the value before the step: it does not grow."""
    return c.measured("before")
