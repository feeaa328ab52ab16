r"""The optima of ``synthetic.problems.logistic_bilevel``, two ways each; samples are signed rows b.

inf F is enclosed. Above by F at a point. Below, if λ = 0, by min V, which is inf F if C̄ is onto, as
then each y is some y*(x); min V is bounded by convex duality (``entropy_bound``). If λ > 0, since
‖C̄‖‖x‖ ≥ ‖C̄x‖ ≥ ν‖y*(x) − y*(0)‖, by min W, W(y) = V(y) + (μ/2)‖y − y*(0)‖², μ = λν²/‖C̄‖², and
W(y) − ‖∇W(y)‖²/(2μ) ≤ min W for every y. And where F is m-strongly convex on a ball that holds its
minimisers and x, F(x) − ‖∇F(x)‖²/(2m) ≤ min F.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.certificates.smooth import Function, minimise_smooth_on_ball
from driftproof.toolkit.errors import UndecidableError
from driftproof.toolkit.problem import Solution

ITERATIONS = 100
"""After which Newton's method gives up; it takes about eight."""
FAR = 40.0
"""The margin at which log(1 + e^{−margin}) is nothing, 4·10⁻¹⁸."""


def newton(rows: Tensor, ridge: float, push: Tensor) -> Tensor:
    r"""Return argmin_y φ(y) = mean log(1 + e^{−b·y}) + (ν/2)‖y‖² − push·y, [dim, replicates].

    φ is generalised self-concordant, |D³φ[u,u,h]| ≤ R‖h‖ uᵀ∇²φu with R = max‖b‖, so the damped step
    log(1 + R‖d‖)/(R‖d‖) along Newton's direction d descends from anywhere, and the method converges
    quadratically (Sun & Tran-Dinh 2019, Theorem 2 with ν = 2). A longer step, up to 1, is taken as
    long as φ still falls at its end: it then fell all the way, by more than on the damped one.
    The last step, a whole one, is what autograd sees: its derivative is the implicit one,
    [∇²φ]^{-1}.

    Args:
        rows: b, [samples, dim].
        ridge: ν.
        push: [dim, replicates].

    Raises:
        UndecidableError: if the steps do not come to rest (see ``ITERATIONS``).
    """
    reach = float(torch.linalg.vector_norm(rows, dim=1).max())
    fine = torch.finfo(rows.dtype).eps ** 0.6  # what is left after a further step is its square
    with torch.no_grad():
        y = push / ridge
        for _ in range(ITERATIONS):
            step = _newton_step(rows, ridge, push, y)
            length = torch.linalg.vector_norm(step, dim=0)
            damped = torch.where(length > 0, torch.log1p(reach * length) / (reach * length), 1.0)
            share = torch.ones_like(damped)
            while True:
                falls = (_descent(rows, ridge, push, y + share * step) * step).sum(0) >= 0
                if bool((falls | ~(share > damped)).all()):
                    break
                share = torch.where(falls, share, torch.maximum(share / 2, damped))
            y = y + share * step
            # not a number, where x was none: comparisons with it are false
            if not bool((length > fine * (1 + torch.linalg.vector_norm(y, dim=0))).any()):
                break
        else:
            raise UndecidableError(
                f"Newton's method still moves after {ITERATIONS} steps, by {float(length.max()):g}",
                "the lower level's solution",
                "make ridge larger: the condition number is about feature_bound²/(4·ridge)",
            )
    return y + _newton_step(rows, ridge, push, y)


def _descent(rows: Tensor, ridge: float, push: Tensor, y: Tensor) -> Tensor:
    """Return −∇φ(y)."""
    return push + rows.T @ torch.sigmoid(-rows @ y) / len(rows) - ridge * y


def _newton_step(rows: Tensor, ridge: float, push: Tensor, y: Tensor) -> Tensor:
    """Return −[∇²φ]^{-1}∇φ at y."""
    at = rows @ y
    bend = torch.sigmoid(at) * torch.sigmoid(-at) / len(rows)
    hessian = torch.einsum("nr,nd,ne->rde", bend, rows, rows)
    hessian = hessian + ridge * torch.eye(len(y), dtype=y.dtype, device=y.device)
    right = _descent(rows, ridge, push, y).T[..., None]
    step: Tensor = torch.linalg.solve(hessian, right)[..., 0].T
    return step


def shares(rows: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return σ(−b·y) for every row, without overflow."""
    sigmoids: np.ndarray = 0.5 * (1 - np.tanh(rows @ y / 2))
    return sigmoids


def entropy_bound(rows: np.ndarray, y: np.ndarray) -> float:
    """Return a lower bound on min mean log(1 + e^{−b·y}), tight if y is near a minimiser.

    log(1 + e^s) = max_w ws + H(w) over w in [0, 1], H the binary entropy; so for weights with
    Σ w_j b_j = 0 the mean of the H(w_j) is a bound. Those of y, σ(−b_j·y), are moved to the nearest
    with that property; 0 is a bound always (and inf, if the rows can be separated).
    """
    weights = shares(rows, y)
    for _ in range(2):  # twice: the second removes the first one's rounding
        weights = weights - rows @ np.linalg.lstsq(rows.T @ rows, rows.T @ weights, rcond=None)[0]
    if weights.min() <= 0 or weights.max() >= 1:
        return 0.0
    entropies = -weights * np.log(weights) - (1 - weights) * np.log1p(-weights)
    return float(entropies.mean())


def lowest_mean(rows: np.ndarray) -> tuple[np.ndarray, float]:
    """Return a y near inf mean log(1 + e^{−b·y}), and a lower bound on it.

    A linear program, max Σ s_j over By ≥ s and 0 ≤ s ≤ 1, tells the rows that some y separates;
    b·y = 0 on the others, whose mean is attained and bounded by duality. From its minimiser y goes
    so far along the separating one that the rest weighs nothing. A program whose solver is wrong
    makes the enclosure wide, and no more.
    """
    from scipy.optimize import linprog

    count, dim = rows.shape
    found = linprog(
        [0.0] * dim + [-1.0] * count,
        A_ub=np.hstack([-rows, np.eye(count)]),
        b_ub=[0.0] * count,
        bounds=[(None, None)] * dim + [(0, 1)] * count,
    ).x
    found = np.zeros(dim + count) if found is None else found
    apart, y, low = found[dim:] > 0.5, np.zeros(dim), 0.0
    left = rows[~apart]

    def mean(y: np.ndarray) -> tuple[float, np.ndarray]:
        slope = -left.T @ shares(left, y) / count
        return float(np.logaddexp(0, -left @ y).sum()) / count, slope

    if left.any():
        y = minimise_smooth_on_ball(mean, y, 1e4 / float(np.abs(left).max()))
    if len(left):
        low = entropy_bound(left, y) * len(left) / count
    away = found[:dim] - np.linalg.lstsq(left, left @ found[:dim], rcond=None)[0]
    margins = rows[apart] @ away
    if (margins > 0).all() and apart.any():
        y = y + away * float(((FAR - rows[apart] @ y) / margins).max())
    return y, low


def enclosed(
    objective: Function,
    reaching: Callable[[np.ndarray], np.ndarray],
    rows: np.ndarray,
    centre: np.ndarray,
    modulus: float,
    convexity: Callable[[float], float],
) -> Solution:
    """Return an enclosure of inf F, as derived above.

    Args:
        objective: x → (F(x), ∇F(x)).
        reaching: y → an x with y*(x) near y.
        rows: of the validation samples of all clients, whose mean loss is V.
        centre: y*(0).
        modulus: μ.
        convexity: if λ > 0, F(x) less a lower bound on V → m on a ball that holds all points with F
            no larger (≤ 0: none).
    """

    def below(y: np.ndarray) -> tuple[float, np.ndarray]:
        value, away = float(np.logaddexp(0, -rows @ y).mean()), y - centre
        slope = -rows.T @ shares(rows, y) / len(rows)
        return value + modulus / 2 * float(away @ away), slope + modulus * away

    (y, low), how = lowest_mean(rows), "convex duality"
    if modulus:
        y = minimise_smooth_on_ball(below, centre, 1e3 * (1 + float(np.linalg.norm(y))))
    x = reaching(y)
    if objective(x)[0] - low > 1e-12:
        x = minimise_smooth_on_ball(objective, x, 1e3 * (1 + float(np.linalg.norm(x))))
    high, slope = objective(x)
    if modulus and (bend := convexity(high - low)) > 0:
        low, how = (
            high - float(slope @ slope) / (2 * bend),
            "strong convexity of F near its optimum",
        )
    elif modulus:
        value, turn = below(y)
        low, how = max(low, value - float(turn @ turn) / (2 * modulus)), "strong convexity of W"
    return Solution(
        min(low, high),
        high,
        x,
        {
            "method": f"Newton's method from above, {how} from below",
            "gap": high - low,
            "gradient_norm": float(np.linalg.norm(slope)),
        },
    )
