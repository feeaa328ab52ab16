"""The numbers that the text of a problem family reads beside its fields."""

from __future__ import annotations

from typing import Any

from driftproof.verifiers.standalone.refusal import NoScriptError

ZERO, BOWL = ((0.0, 0.0),), ((1.0, -1.0), (3.0, 1.0))
CURVES: dict[str, dict[str, tuple[str, Any]]] = {
    "piecewise-bilevel": {"plain": ("dh", ZERO), "upper": ("du", BOWL)},
    "piecewise-composition": {
        "inner": ("df", ((0.0, 1.0),)), "outer": ("dg", BOWL), "plain": ("dh", ZERO),
    },
    "piecewise-losses": {"gradients": ("dF", BOWL)},
    "piecewise-minimax": {"plain": ("dh", ZERO), "lower": ("dk", ((0.0, 2.0), (1.0, 3.0)))},
}  # fmt: skip
"""Each field of curves: what it is called in a script, and what an empty one stands for."""


def numbers_in(problem: Any) -> dict[str, Any]:
    """Return numbers by the names that the family's text has for them.

    Raises:
        NoScriptError: the text is of other members.
    """

    def filled(vectors: Any, default: Any) -> Any:
        return vectors or ((default,) * problem.dim,) * problem.clients

    name = problem.leaf_name
    made: dict[str, Any] = {}
    if name in ("piecewise-bilevel", "piecewise-minimax"):  # the step of a Neumann series
        made["ell_g1"] = problem.constants["lower_smoothness"]
    if name == "piecewise-minimax":
        made["factors"] = filled(problem.coupling, 1.0)
    if name == "piecewise-bilevel":
        if problem.curvature_noise or problem.cross_noise:
            raise NoScriptError(f"{name} is written in numpy without noise of second order")
        made["levels"] = (
            filled(problem.curvature, 1.0), filled(problem.cross, 1.0),
            filled(problem.offsets, 0.0), filled(problem.coupling, 0.0),
        )  # fmt: skip
    if name == "bounded-composition":
        made |= _of_bounded_composition(problem)
    return made | {
        called: filled(getattr(problem, field), default)
        for field, (called, default) in CURVES.get(name, {}).items()
    }


def _of_bounded_composition(problem: Any) -> dict[str, Any]:
    """Return each client's numbers, and refuse a member of several coordinates."""
    if max(problem.dim, problem.inner_dim) > 1:
        raise NoScriptError("bounded-composition is written in numpy for one coordinate")
    if problem.inner_value_noise and problem.inner_gradient_noise:
        raise NoScriptError("bounded-composition is written in numpy for one inner noise at a time")
    signs = problem.signs
    return {
        "slopes": tuple(problem.scales.tolist()), "signs": tuple(signs.tolist()),
        "targets": tuple((problem.heterogeneity * signs).tolist()),
        "offsets": tuple((problem.inner_offset * signs).tolist()),
    }  # fmt: skip
