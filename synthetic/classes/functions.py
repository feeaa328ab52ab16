"""Classes of functions with a Lipschitz gradient, and others, as conditions on triples."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Any

from driftproof.synthetic.classes.conditions import FunctionClass
from driftproof.synthetic.classes.inequalities import condition
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.rationals import decimal
from driftproof.toolkit.ratios import Ratio


def smooth_strongly_convex(L: float, mu: float) -> FunctionClass:
    """Return the class of L-smooth and μ-strongly convex functions.

    >>> str(smooth_strongly_convex(1, 0.1))
    'smooth-strongly-convex(L = 1, mu = 1/10)'

    Raises:
        DriftproofError: unless 0 < μ < L.
    """
    high, low = positive("L", L), positive("mu", mu)
    if not _letters(low, high) and low >= high:
        raise DriftproofError(f"mu = {mu} with L = {L}", "mu below L", "take a smaller mu")
    return _of_one("smooth-strongly-convex", L=high, mu=low)


def convex() -> FunctionClass:
    """Return the class of convex functions, smooth or not, whose mean has a minimiser.

    Gradients are subgradients: at each point the oracle has one, the worst. Triples can be
    interpolated if and only if f_j ≥ f_k + ⟨g_k, x_j − x_k⟩ for all j, k.
    """
    return _of_one("convex")


def strongly_convex(mu: float) -> FunctionClass:
    """Return the class of functions with f − (μ/2)‖·‖² convex, smooth or not.

    Gradients are subgradients, as those of ``convex()``. Triples can be interpolated if and only if
    f_j ≥ f_k + ⟨g_k, x_j − x_k⟩ + (μ/2)‖x_j − x_k‖² for all j, k (Taylor et al. 2017).

    Raises:
        DriftproofError: μ is not above 0.
    """
    return _of_one("strongly-convex", mu=positive("mu", mu))


def indicator(D: float = inf) -> FunctionClass:
    """Return the indicators of convex sets of diameter D at most: 0 in the set, infinite outside.

    Gradients are normals, ⟨g_k, x_j − x_k⟩ ≤ 0. Points within D of each other, with such normals,
    are those of their convex hull, so the conditions are exact (Taylor, Hendrickx & Glineur 2017).
    """
    normal = condition("normal-cone")
    if not _letters(D) and inf == D:
        return FunctionClass("indicator", {}, (normal,), normals=True)
    width = positive("D", D)
    within = condition("diameter", D=width)
    return FunctionClass("indicator", {"D": width}, (normal, within), normals=True)


def plus(of: FunctionClass) -> FunctionClass:
    """Return h of F = (1/n) Σ f_i + h: one term of a class, which all clients know.

    An algorithm asks it by ``oracles.prox(x, t)``, ``project(x)`` and ``linear_minimiser(g)``. The
    start lies in the set, where h is an indicator. Beside operators it is one itself, the set's
    normal cone or a monotone one: 0 ∈ (1/n) Σ A_i(x*) + h(x*).

    >>> str(plus(indicator(1)))
    'plus(indicator(D = 1))'

    Raises:
        DriftproofError: the functions of the class need not be convex.
    """
    if of.name not in (
        "convex",
        "indicator",
        "monotone",
        "smooth-convex",
        "smooth-strongly-convex",
        "strongly-convex",
    ):
        raise DriftproofError(
            f"plus({of})",
            "a class of convex functions, or monotone operators",
            "write plus(convex()), or indicator(D)",
        )
    return replace(of, term=True)


def smooth_convex(L: float) -> FunctionClass:
    """Return the class of L-smooth and convex functions, whose mean has a minimiser.

    With L = inf it is ``convex()``.
    """
    if not _letters(L) and inf == L:
        return convex()
    return _of_one("smooth-convex", L=positive("L", L))


def smooth(L: float) -> FunctionClass:
    """Return the class of L-smooth functions, convex or not, whose mean is bounded below.

    Nothing is measured against a minimiser: there may be none.
    """
    return replace(_of_one("smooth", L=positive("L", L)), solvable=False)


def bounded_gradients(of: FunctionClass, G: float) -> FunctionClass:
    """Return the functions of a class with ‖∇f‖ ≤ G everywhere.

    Of ``convex()`` it is exact (Taylor, Hendrickx & Glineur 2017); else a worst case is an upper
    bound.
    """
    bound = positive("G", G)
    return replace(
        of,
        name=f"{of.name}-with-bounded-gradients",
        parameters={**of.parameters, "G": bound},
        conditions=(*of.conditions, condition("bounded-gradients", G=bound)),
        loose=""
        if of.name == "convex"
        else f"conditions of {of.name} functions and short gradients are together necessary alone",
    )


def bounded_composition(G_f: float, G_g: float) -> FunctionClass:
    """Return the compositions g ∘ f with ‖∇f‖ ≤ G_f and ‖∇g‖ ≤ G_g, each of any smoothness.

    The direction ∇f(w)ᵀ∇g(f(w)) is no longer than G = G_f·G_g, which is all that is said of it; and
    it suffices. Let w_k be points and u_k directions, ‖u_k‖ ≤ G. Put v_k = G_g u_k/‖u_k‖ (any, if
    u_k = 0), and f(w_k) = y_k at points so near to each other that f may be G_f-Lipschitz. Near w_k
    let f be affine with the Jacobian v_k u_kᵀ/G_g², of norm ‖u_k‖/G_g ≤ G_f, and near y_k let g
    have the gradient v_k, with the value 0 at y_k. On small enough balls around the points both are
    Lipschitz with these constants; they are so extended (Kirszbraun, McShane) and made smooth by a
    mean over small shifts, which keeps the constants and what is affine near w_k and y_k. A g that
    is cut off below −1 before that bounds the composition below.
    """
    inner, outer = positive("G_f", G_f), positive("G_g", G_g)
    return FunctionClass(
        "bounded-composition",
        {"G_f": inner, "G_g": outer, "G": inner * outer},
        (condition("bounded-gradients", G=inner * outer),),
        solvable=False,
        composed=True,
    )


def monotone_lipschitz(L: float, mu: float) -> FunctionClass:
    """Return the class of L-Lipschitz and μ-strongly monotone operators; an upper bound.

    The two conditions hold for every pair of points, but three points that meet them in pairs need
    not belong to one such operator (Ryu, Taylor, Bergeling & Giselsson 2020).

    Raises:
        DriftproofError: unless 0 ≤ μ ≤ L.
    """
    high, low = positive("L", L), decimal(mu)
    if not _letters(low, high) and not 0 <= low <= high:
        raise DriftproofError(f"mu = {mu} with L = {L}", "0 <= mu <= L", "take a smaller mu, or 0")
    return FunctionClass(
        "monotone-lipschitz",
        {"L": high, "mu": low},
        (condition("strongly-monotone", mu=low), condition("lipschitz", L=high)),
        loose="conditions on pairs of points are necessary for monotone Lipschitz operators, and "
        "not sufficient",
    )


def monotone(mu: float = 0.0) -> FunctionClass:
    """Return the operators with ⟨ΔA, Δx⟩ ≥ μ‖Δx‖², Lipschitz or not.

    Any points that meet it in pairs belong to a maximal one (Minty 1962).

    Raises:
        DriftproofError: μ is below 0.
    """
    low = decimal(mu)
    if not _letters(low) and low < 0:
        raise DriftproofError(f"mu = {mu}", "mu of at least 0", "take monotone(0)")
    return FunctionClass("monotone", {"mu": low}, (condition("strongly-monotone", mu=low),))


def cocoercive(L: float, mu: float = 0.0) -> FunctionClass:
    """Return the operators A with A − μI 1/(L − μ)-cocoercive: ⟨ΔA − μΔx, LΔx − ΔA⟩ ≥ 0.

    Equivalently, A = (L + μ)/2·I + (L − μ)/2·N for some N with Lipschitz constant 1. So x − T(x) is
    one, with L = 1 + c and μ = 1 − c, if and only if T has Lipschitz constant c. Any points that
    meet the condition in pairs belong to one such operator (Kirszbraun 1934, Valentine 1945).
    Gradients of ``smooth_strongly_convex(L, mu)`` are among them.

    >>> str(cocoercive(2))
    'cocoercive(L = 2, mu = 0)'

    Raises:
        DriftproofError: unless 0 ≤ μ < L.
    """
    high, low = positive("L", L), decimal(mu)
    if not _letters(low, high) and not 0 <= low < high:
        raise DriftproofError(
            f"mu = {mu} with L = {L}", "mu of at least 0 and below L", "take a smaller mu"
        )
    return _of_one("cocoercive", L=high, mu=low)


def strongly_convex_concave(L: float, mu: float) -> FunctionClass:
    """Return the functions f(x, y), μ-strongly convex in x and concave in y, of L-Lipschitz ∇f.

    They are known by the field (∇_x f, −∇_y f), which is μ-strongly monotone and L-Lipschitz: a
    worst case is one over such fields (``monotone_lipschitz``), so an upper bound. Products are
    those of x-parts plus those of y-parts.

    Raises:
        DriftproofError: unless 0 ≤ μ ≤ L.
    """
    return replace(
        monotone_lipschitz(L, mu),
        name="strongly-convex-concave",
        loose="the field (∇_x f, −∇_y f) is used as any monotone Lipschitz operator, and by "
        "conditions on pairs of points: both are necessary, and not sufficient",
        saddle=True,
    )


def _of_one(name: str, **constants: Any) -> FunctionClass:
    """Return a class of one condition, which has its name."""
    return FunctionClass(name, constants, (condition(name, **constants),))


def _letters(*of: Any) -> bool:
    """Tell whether a letter is among some constants."""
    return any(isinstance(x, Ratio) for x in of)


def positive(name: str, value: float) -> Any:
    """Return a parameter of a class, exactly.

    Raises:
        DriftproofError: it is not above 0.
    """
    if isinstance(value, Ratio):  # what proves a statement of all its values checks its sign
        return value
    if isinstance(value, list):
        raise DriftproofError(
            f"{name} = {value}",
            f"one {name}, or for_all",
            "write over(…) for each, and add the lists",
        )
    if not 0 < value < inf:
        raise DriftproofError(
            f"{name} = {value}", f"{name} above 0, and finite", f"pass a positive {name}"
        )
    return decimal(value)
