r"""A quadratic bilevel family: different Hessians, exact constants, closed-form hypergradient.

**Levels**, clients in pairs with signs ± (0 for an odd one out), u = U e_1, E the embedding of the
first coordinates and S the exchange of the first two coordinates, 1 on the others (1 if d_2 = 1):

* g_i(x, y) = ½ yᵀH_i y − yᵀ(C_i x + e_i), H_i = U(diag(s) ± hS)Uᵀ, s equally spaced from
  ``smallest`` to ``largest``, C_i = (c ± k)UE, e_i = ē ± o u. The H_i do not commute for h > 0 and
  d_2 ≥ 2;
* f_i(x, y) = φ(y − a_i) + ((λ ± l)/2)‖x‖² + (γ ± κ)x_1, a_i = ā ± q u, φ(v) = (w/2)‖v‖², or with
  ``upper_slope`` G > 0 the radial Huber function of slope G and curvature w.

**Noise**, signs ±1: ∇_x f_i + (σ_f/√2)ξ_1 e, ∇_y f_i + (σ_f/√2)ξ_2 u; ∇_y g_i + vζ_1 u +
aζ_2 sin(u·y)u, the gradient of a sample of g_i, whose Hessian is H_i + aζ_2 cos(u·y)uuᵀ; the cross
derivative's oracle is −C_iᵀ + bζ_3 e uᵀ.

**Constants**: μ_g and ℓ_{g,1} are extreme eigenvalues of the H_i and of the blocks
[[0, −C_iᵀ], [−C_i, H_i]] (symmetric eigenvalue problems, backward stable; attained);
ℓ_{f,1} = max(w, |λ ± l|); ℓ_{f,0} = √(G² + (γ + κ)²) where f is Lipschitz: G > 0, λ = l = 0.
ℓ_{g,2} = 0.

**Solution.** y*(x) = Bx + H̄^{-1}ē with B = cH̄^{-1}UE, and ∇F(x) = Bᵀ(1/m)Σ∇φ(y* − a_i) + λx + γe.
F is (w‖B‖² + λ)-smooth and convex; where it is flat, (wBᵀB + λI)x = wBᵀ(ā − H̄^{-1}ē) − γe, in the
quadratic part of every φ.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from driftproof.synthetic.building_blocks.huber import huber_gradient, huber_value
from driftproof.synthetic.building_blocks.pairs import pair_signs
from driftproof.synthetic.building_blocks.reflections import reflections
from driftproof.toolkit.balls.tensor import Balls
from driftproof.toolkit.bilevel import BilevelProblem
from driftproof.toolkit.draws import Law, SignMean
from driftproof.toolkit.oracles import LowerVector, UpperVector
from driftproof.toolkit.parameters import NonNegative, Positive, PositiveInt, Real
from driftproof.toolkit.problem import Solution, problem
from driftproof.toolkit.tolerances import CANCELLED


class QuadraticBilevelOracles:
    """Oracles of some clients in one dtype; tensors are [clients, …, replicates]."""

    def __init__(
        self, of: QuadraticBilevel, dtype: torch.dtype, device: str, clients: range
    ) -> None:
        chosen = list(clients)

        def tensor(letter: str) -> Tensor:
            return torch.tensor(of.parts[letter][chosen], dtype=dtype, device=device)

        self._of = of
        self.clients = len(chosen)
        self.upper_dim = of.dim
        self.lower_smoothness = float(of.constants["lower_smoothness"])
        self._hessian, self._cross = tensor("H"), tensor("C")
        self._offset, self._target = tensor("e")[..., None], tensor("a")[..., None]
        self._regulariser, self._tilt = tensor("lambda")[:, None, None], tensor("kappa")
        self._tilted = torch.zeros((self.clients, of.dim, 1), dtype=dtype, device=device)
        self._tilted[:, 0, 0] = self._tilt
        sizes = {"v": of.lower_value_noise, "a": of.lower_curvature_noise, "b": of.cross_noise}
        self._noises = [letter for letter, size in sizes.items() if size]
        self._along = torch.tensor(of.parts["u"], dtype=dtype, device=device)[None, :, None]
        self._upper_along = of.upper_noise / 2**0.5 * self._along
        self._bent_along = of.lower_curvature_noise * self._along
        self._value_along = of.lower_value_noise * self._along

    def upper_law(self, batch: int) -> Law | None:
        """Two signs, one for x and one for y."""
        return SignMean(batch, (2,)) if self._of.upper_noise else None

    def lower_law(self, batch: int) -> Law | None:
        """One sign for each noise that there is: value, curvature, cross derivative."""
        return SignMean(batch, (len(self._noises),)) if self._noises else None

    def upper_value(self, x: Tensor, y: Tensor) -> Tensor:
        """Return f_i(x, y), [clients, replicates]."""
        of, away = self._of, y - self._target
        if of.upper_slope:
            value = huber_value(away, of.upper_slope, of.upper_curvature)
        else:
            value = of.upper_curvature / 2 * (away * away).sum(1)
        plain = self._regulariser[..., 0] / 2 * (x * x).sum(1)
        return value + plain + self._tilt[:, None] * x[:, 0]

    def upper_grad_x(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return (λ ± l)x + (γ ± κ)e and the noise."""
        grad = torch.addcmul(self._tilted, self._regulariser, x)
        if xi is not None:
            grad[:, 0].add_(xi[:, 0], alpha=self._of.upper_noise / 2**0.5)
        return grad

    def upper_grad_y(self, x: Tensor, y: Tensor, xi: Tensor | None) -> Tensor:
        """Return ∇φ(y − a_i) and the noise."""
        of, away = self._of, y - self._target
        if of.upper_slope:
            grad = huber_gradient(away, of.upper_slope, of.upper_curvature)
        else:
            grad = of.upper_curvature * away
        if xi is not None:
            grad = torch.addcmul(grad, xi[:, 1:2], self._upper_along)
        return grad

    def lower_grad(self, x: Tensor, y: Tensor, zeta: Tensor | None) -> Tensor:
        """Return H_i y − C_i x − e_i and the noise."""
        grad = torch.baddbmm(-self._offset - torch.bmm(self._cross, x), self._hessian, y)
        if zeta is not None and self._of.lower_curvature_noise:
            bent = torch.sin(self._share(y)) * self._sign(zeta, "a")
            grad = torch.addcmul(grad, bent, self._bent_along)
        if zeta is not None and self._of.lower_value_noise:
            grad = torch.addcmul(grad, self._sign(zeta, "v"), self._value_along)
        return grad

    def lower_grad_x(self, x: Tensor, y: Tensor) -> Tensor:
        """Return ∇_x g_i = −C_iᵀy, exactly."""
        return -torch.bmm(self._cross.mT, y)

    def lower_hessian_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return H_i v and the noise."""
        product = torch.bmm(self._hessian, v)
        if zeta is not None and self._of.lower_curvature_noise:
            bent = torch.cos(self._share(y)) * self._sign(zeta, "a")
            product = torch.addcmul(product, bent * self._share(v), self._bent_along)
        return product

    def lower_cross_product(self, x: Tensor, y: Tensor, v: Tensor, zeta: Tensor | None) -> Tensor:
        """Return −C_iᵀv and the noise."""
        product = -torch.bmm(self._cross.mT, v)
        if zeta is not None and self._of.cross_noise:
            product[:, :1].addcmul_(
                self._sign(zeta, "b"), self._share(v), value=self._of.cross_noise
            )
        return product

    def _sign(self, zeta: Tensor, letter: str) -> Tensor:
        """Return the sign of a noise that there is, [clients, 1, replicates]."""
        at = self._noises.index(letter)
        return zeta[:, at : at + 1]

    def _share(self, v: Tensor) -> Tensor:
        """Return u·v, [clients, 1, replicates]."""
        return (self._along * v).sum(1, keepdim=True)


@problem(
    name="quadratic-bilevel",
    source="FedNest (2022), slides, assumptions of the slide Theory",
    statement=r"f_i = \varphi(y-a_i) + \tfrac{\lambda_i}2\|x\|^2 + \kappa_i x_1, \quad "
    r"g_i = \tfrac12 y^\top H_i y - y^\top(C_i x + e_i)",
)
class QuadraticBilevel(BilevelProblem):
    """Quadratic in y below, quadratic or Huber above.

    In one dimension [[0, −1], [−1, 1]] has the eigenvalue ℓ_{g,1} = (1 + √5)/2:

    >>> round(QuadraticBilevel(dim=1, lower_dim=1).constants["lower_smoothness"], 5)
    1.61803

    Args:
        clients: m.
        dim, lower_dim: d_1 and d_2.
        smallest, largest: the extreme eigenvalues of the mean Hessian (d_2 = 1: ``largest``).
        hessian_heterogeneity: h, below ``smallest``.
        cross, cross_heterogeneity: c and k.
        offset, offset_heterogeneity: ‖ē‖ and o.
        upper_slope, upper_curvature: G (0: φ is quadratic) and w.
        target, target_heterogeneity: ‖ā‖ and q.
        regulariser, regulariser_heterogeneity: λ and l.
        tilt, slope: κ and γ; with γ > 0, ∇_y f is not 0 at the solution.
        upper_noise, lower_value_noise, lower_curvature_noise, cross_noise: σ_f, v, a and b.
        distance, lower_start: x_0 = distance·e_1; y_0 = y*(x_0) + lower_start·u.
    """

    clients: PositiveInt = 2
    dim: PositiveInt = 2
    lower_dim: PositiveInt = 2
    smallest: Positive = 0.5
    largest: Positive = 1.0
    hessian_heterogeneity: NonNegative = 0.0
    cross: NonNegative = 1.0
    cross_heterogeneity: NonNegative = 0.0
    offset: NonNegative = 0.5
    offset_heterogeneity: NonNegative = 0.0
    upper_slope: NonNegative = 0.0
    upper_curvature: Positive = 1.0
    target: NonNegative = 1.0
    target_heterogeneity: NonNegative = 0.0
    regulariser: NonNegative = 0.0
    regulariser_heterogeneity: NonNegative = 0.0
    tilt: NonNegative = 0.0
    slope: NonNegative = 0.0
    upper_noise: NonNegative = 0.0
    lower_value_noise: NonNegative = 0.0
    lower_curvature_noise: NonNegative = 0.0
    cross_noise: NonNegative = 0.0
    distance: NonNegative = 1.0
    lower_start: Real = 1.0

    notation = {"m": "clients", "mu_g": "lower_strong_convexity", "ell_g1": "lower_smoothness"}
    oracle_type = QuadraticBilevelOracles

    def validate(self) -> None:
        """Refuse indefinite Hessians and unknown optima."""
        self.require("smallest", "at most largest", self.smallest <= self.largest)
        least = float(self.spectrum.min())
        wanted = f"below {least:g}, the mean Hessian's least eigenvalue"
        self.require("hessian_heterogeneity", wanted, self.hessian_heterogeneity < least)
        left = least >= CANCELLED * self.largest  # else x* keeps too few digits
        self.require("smallest", "1 % of largest or more, for x* to be known", left)
        if self.upper_slope:
            plain = self.regulariser == self.regulariser_heterogeneity == 0
            onto = self.cross > 0 and self.dim >= self.lower_dim
            wanted = (
                "0 unless regulariser = regulariser_heterogeneity = 0, cross > 0, dim ≥ lower_dim"
            )
            self.require("upper_slope", wanted + " (then inf F is known)", plain and onto)
        if self.slope or self.upper_slope:
            wanted = "small enough, with (wBᵀB + λI)x = … solvable, for a known inf F"
            self.require("slope", wanted, self._flat_and_inside())

    @classmethod
    def examples(cls) -> list[QuadraticBilevel]:
        """Return members with equal and different clients, a Huber upper level, and noise."""
        return [
            cls(),
            cls(
                clients=3, dim=2, lower_dim=3, hessian_heterogeneity=0.3, cross_heterogeneity=0.4,
                offset_heterogeneity=0.3, target_heterogeneity=0.5, regulariser=0.3,
                regulariser_heterogeneity=0.2, tilt=0.2,
            ),
            cls(
                clients=2, dim=2, lower_dim=2, hessian_heterogeneity=0.2, upper_slope=0.7,
                slope=0.1, target_heterogeneity=0.4, tilt=0.1, upper_noise=0.1,
                lower_value_noise=0.2, lower_curvature_noise=0.1, cross_noise=0.1,
            ),
        ]  # fmt: skip

    @property
    def upper_dim(self) -> int:
        """d_1."""
        return self.dim

    @cached_property
    def signs(self) -> np.ndarray:
        """+1 and −1 within a pair, 0 for an odd client out, [clients]."""
        return pair_signs(self.clients)

    @cached_property
    def spectrum(self) -> np.ndarray:
        """s, the eigenvalues of the mean Hessian, [lower_dim]."""
        if self.lower_dim == 1:
            return np.array([self.largest])
        return np.linspace(self.smallest, self.largest, self.lower_dim)

    @cached_property
    def parts(self) -> dict[str, np.ndarray]:
        """The arrays of the formulas above, by letter; client axes first."""
        d, signs = self.lower_dim, self.signs[:, None, None]
        u = reflections(np.arange(1.0, d + 1), np.cos(np.arange(1.0, d + 1)))
        swap = np.eye(d)
        swap[:2, :2] = swap[:2, :2][::-1]
        flat, column = u @ np.full(d, d**-0.5), signs[..., 0]
        return {
            "H": u @ (np.diag(self.spectrum) + self.hessian_heterogeneity * signs * swap) @ u.T,
            "C": (self.cross + self.cross_heterogeneity * signs) * (u @ np.eye(d, self.dim)),
            "e": self.offset * flat + self.offset_heterogeneity * column * u[:, 0],
            "a": self.target * flat + self.target_heterogeneity * column * u[:, 0],
            "lambda": self.regulariser + self.regulariser_heterogeneity * self.signs,
            "kappa": self.slope + self.tilt * self.signs,
            "u": u[:, 0],
        }

    @cached_property
    def response(self) -> tuple[np.ndarray, np.ndarray]:
        """B and H̄^{-1}ē of y*(x) = Bx + H̄^{-1}ē."""
        parts = self.parts
        mean = parts["H"].mean(0)
        cross, offset = parts["C"].mean(0), parts["e"].mean(0)
        return np.linalg.solve(mean, cross), np.linalg.solve(mean, offset)

    @cached_property
    def constants(self) -> Mapping[str, float]:
        """The constants as derived above."""
        parts, w = self.parts, self.upper_curvature
        lower = np.linalg.eigvalsh(parts["H"])
        corner = np.zeros((self.clients, self.dim, self.dim))
        cross = -parts["C"]
        blocks = np.block([[corner, cross.transpose(0, 2, 1)], [cross, parts["H"]]])
        lambdas, noise = parts["lambda"], self.lower_curvature_noise
        bend = np.linalg.svd(self.response[0], compute_uv=False)
        tilted = self.slope + self.tilt * float(np.abs(self.signs).max())
        least = w * float(bend[-1]) ** 2 if len(bend) == self.dim else 0.0
        constants = {
            "lower_strong_convexity": float(lower.min()),
            "lower_smoothness": float(np.abs(np.linalg.eigvalsh(blocks)).max()),
            "lower_hessian_smoothness": 0.0,
            "lower_sample_smoothness": float(lower.max()) + noise,
            "lower_sample_convexity": float(lower.min()) - noise,
            "upper_smoothness": max(w, float(np.abs(lambdas).max())),
            "upper_sample_smoothness": float(np.abs(lambdas).max()),
            "upper_gradient_noise": self.upper_noise,
            "lower_gradient_noise": float(np.hypot(self.lower_value_noise, noise)),
            "lower_hessian_noise": noise,
            "lower_cross_noise": self.cross_noise,
            "upper_noise_bound": self.upper_noise,
            "lower_noise_bound": self.lower_value_noise + noise,
            "lower_cross_noise_bound": self.cross_noise,
            "objective_smoothness": w * float(bend[0]) ** 2 + self.regulariser,
        }
        if self.upper_slope:
            constants["upper_gradient_bound"] = float(np.hypot(self.upper_slope, tilted))
        elif least + self.regulariser > 0:
            constants["strong_convexity"] = least + self.regulariser
        return constants

    def lower_solution(self, x: UpperVector) -> LowerVector:
        """Return Bx + H̄^{-1}ē."""
        if isinstance(x, Balls):  # the response is rounded, the clients' matrices are not
            return self.enclosed_solution(x[: self.dim])
        b, shift = (torch.from_numpy(part).to(x) for part in self.response)
        return b @ x[: self.dim] + shift[:, None]

    @cached_property
    def solution(self) -> Solution:
        """Inf F in closed form."""
        x = self._minimiser()
        value = float(self.objective(torch.from_numpy(x)[:, None]))
        return Solution(value, value, x, {"method": "closed form", "gap": 0.0})

    def start(self) -> np.ndarray:
        """Return (x_0, y_0), [dim + lower_dim]."""
        x = np.zeros(self.dim)
        x[0] = self.distance
        b, shift = self.response
        return np.concatenate([x, b @ x + shift + self.lower_start * self.parts["u"]])

    def _minimiser(self) -> np.ndarray:
        """Return the x of least norm with (wBᵀB + λI)x = wBᵀ(ā − H̄^{-1}ē) − γe, [dim]."""
        system, right = self._normal()
        minimiser: np.ndarray = np.linalg.lstsq(system, right, rcond=None)[0]
        return minimiser

    def _flat_and_inside(self) -> bool:
        """Say whether ∇F is 0 there: it is solvable, and no φ is beyond its quadratic part."""
        (system, right), (b, shift) = self._normal(), self.response
        x = self._minimiser()
        flat = np.allclose(system @ x, right, rtol=0, atol=1e-12 * max(1.0, np.abs(right).max()))
        away = np.linalg.norm(b @ x + shift - self.parts["a"], axis=1).max()
        inside = not self.upper_slope or away * self.upper_curvature <= self.upper_slope
        # two φ beyond theirs may cancel: with equal curvature and signs in pairs, at y* = ā
        return bool(flat and (inside or not self.slope))

    def _normal(self) -> tuple[np.ndarray, np.ndarray]:
        (b, shift), w = self.response, self.upper_curvature
        system = w * b.T @ b + self.regulariser * np.eye(self.dim)
        right = w * b.T @ (self.parts["a"].mean(0) - shift)
        right[0] -= self.slope
        return system, right
