"""The curves of a bound's plot: what was measured along the run, and the right side beside it."""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from driftproof.toolkit.cases import Case, roles_of
from driftproof.toolkit.groups import drawable
from driftproof.toolkit.series import Curve
from driftproof.toolkit.verdict import Row
from driftproof.verifiers.claim_types.bound import BoundClaim
from driftproof.verifiers.judges.bounds import coefficients, right_side, split_right
from driftproof.verifiers.judges.evidence import Measured


def curves(claim: BoundClaim, case: Case, row: Row, measured: Measured) -> Curve | None:
    """Return both sides' curves: of measures by client, of the one that comes nearest to failing.

    The trace has the points of all clients at one moment beside each other.
    """
    clients = int(np.sum(measured.at == measured.at[0])) if len(measured.at) else 1
    by_client = []
    for k in range(clients):
        own = replace(measured, at=measured.at[k::clients], trace=measured.trace[:, k::clients])
        curve = measured_curve(case, own)
        if curve is not None:
            by_client.append(replace(curve, bound=bound_curve(claim, case, row, curve, own)))
    return max(by_client, key=_excess, default=None)


def _excess(curve: Curve) -> float:
    pairs = zip(curve.mean, curve.bound, strict=False)
    return max((a - b for a, b in pairs if a is not None and b is not None), default=0.0)


def measured_curve(case: Case, measured: Measured) -> Curve | None:
    """Return x, mean and (for sampled cases) a band; x counts local steps."""
    if not len(measured.at) or case.algorithm is None:
        return None
    tau = case.algorithm.local_steps if measured.how == ("average", "round") else 1
    trace = measured.trace[0]
    mean = trace @ measured.weights
    curve = Curve((measured.at * tau).tolist(), _finite(mean), how=list(measured.how))
    if measured.kind == "sampled" and np.all(drawable(trace)):
        low, high = map(_finite, band(trace))
        return replace(curve, low=low, high=high)
    return curve


def _finite(values: Any) -> list[float | None]:
    """JSON has no infinity: what is not finite is not drawn."""
    return [value if drawable(value) else None for value in map(float, values)]


def band(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return pointwise 95 % bands of the mean, by the normal approximation; for plots only.

    Verdicts and the rows' intervals use the finite-sample test of ``toolkit.statistics``.
    """
    half = 1.96 * values.std(-1, ddof=1) / np.sqrt(values.shape[-1])
    return values.mean(-1) - half, values.mean(-1) + half


def bound_curve(
    claim: BoundClaim, case: Case, row: Row, curve: Curve, measured: Measured
) -> list[float | None]:
    """Return the right side at every x of a curve: at its horizon if an average, else constant."""
    form = next(f for f in claim.forms if (f.form, f.reading) == (row.form, row.reading))
    if row.rhs is None or case.algorithm is None:
        return []
    notation = claim.notation(case)
    expression, named = split_right(form.right, notation)
    if named:
        factors = coefficients(claim, case, form.right)
        weights = np.array([factors.get(name, 0.0) for name in measured.names])
        moved = np.tensordot(weights, measured.trace[1:] @ measured.weights, (0, 0))
        return _finite(right_side(claim, case, form.right)[1] + moved)
    if measured.how[0] != "average":
        return _finite([row.rhs] * len(curve.x))
    letters, compiled = _compiled(expression)
    tau, bounds = case.algorithm.local_steps, []
    for steps in curve.x:
        roles = roles_of(case, rounds=-(-steps // tau)) | {"steps": steps}
        bounds.append(float(compiled(*(roles[notation[letter.name]] for letter in letters))))
    return _finite(bounds)


@lru_cache(maxsize=64)
def _compiled(expression: Any) -> tuple[list[Any], Callable[..., float]]:
    """Return an expression's letters and a function of their numbers: a form's cases share it."""
    import sympy

    letters = sorted(expression.free_symbols, key=str)
    return letters, sympy.lambdify(letters, expression, "numpy")
