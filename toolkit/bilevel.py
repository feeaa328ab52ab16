"""Bilevel problems: exact values, hypergradients and lower-level solutions from the oracles."""

from __future__ import annotations

from abc import abstractmethod

import torch
from jaxtyping import Float
from torch import Tensor

from driftproof.toolkit.autograd_bilevel import AutogradBilevel
from driftproof.toolkit.balls.root import enclosed_minimiser
from driftproof.toolkit.balls.tensor import Balls, RefusedError
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.oracles import (
    Bilevel,
    ClientVectors,
    LowerVector,
    LowerVectors,
    SharedVector,
    UpperVector,
    Values,
    on_every_client,
)
from driftproof.toolkit.problem import Problem

TOGETHER = 2**16
"""Entries of y of all the columns of a Hessian that are made in one call."""


class BilevelProblem(Problem):
    """min_x F(x) = (1/m) Σ f_i(x, y*(x)), y*(x) = argmin_y (1/m) Σ g_i(x, y).

    What an algorithm moves is z = (x, y); ``objective`` and ``gradient`` are F and ∇F, of x or of
    a z whose y does not count.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dim and not self.swept():  # 0: only the data say what it is
            wanted = f"equal to upper_dim = {self.upper_dim}: F is a function of x alone"
            self.require("dim", wanted, self.dim == self.upper_dim)

    @property
    def offers(self) -> str:
        """A bilevel problem's oracles."""
        return "bilevel"

    @property
    @abstractmethod
    def upper_dim(self) -> int:
        """d_1, the dimension of x."""

    @abstractmethod
    def lower_solution(self, x: UpperVector) -> LowerVector:
        """Return y*(x), [lower_dim, replicates].

        A measure may ask with balls: ``enclosed_solution`` answers those.
        """

    def objective(self, x: SharedVector) -> Values:
        """Return F(x), exactly.

        Raises:
            DriftproofError: if x has the length of neither x nor (x, y).
        """
        x = self._upper(x)
        oracles, every, y = self._solved(x)
        return oracles.upper_value(every, y).mean(0)

    def gradient(self, x: SharedVector) -> UpperVector:
        """Return ∇F(x) = ∇_x f − ∇²_xy g [∇²_yy g]^{-1} ∇_y f at y*(x), f and g the means.

        Raises:
            DriftproofError: if x has the length of neither x nor (x, y).
        """
        x = self._upper(x)
        return self.hypergradient(x, self._solution(x))

    def client_gradients(self, x: SharedVector) -> Float[Tensor, "clients upper_dim replicates"]:
        """Return each client's ∇f_i(x, y*(x)), y*(x) that of all clients; their mean is ∇F."""
        oracles, every, y = self._solved(self._upper(x))
        own = oracles.upper_grad_y(every, y, None)
        p = self.solve_hessian(every, y, own)
        indirect = torch.stack(
            [
                oracles.lower_cross_product(every, y, on_every_client(v, len(y)), None).mean(0)
                for v in p
            ]
        )
        return oracles.upper_grad_x(every, y, None) - indirect

    def hypergradient(self, x: UpperVector, y: LowerVector) -> UpperVector:
        """Return ∇_x f − ∇²_xy g [∇²_yy g]^{-1} ∇_y f of the means f and g, at any (x, y)."""
        oracles = self._oracles(x)
        every, others = (on_every_client(v, self.clients) for v in (x, y))
        p = self.inverse_hessian_gradient(x, y)
        indirect = oracles.lower_cross_product(
            every, others, on_every_client(p, self.clients), None
        )
        return (oracles.upper_grad_x(every, others, None) - indirect).mean(0)

    def inverse_hessian_gradient(self, x: UpperVector, y: LowerVector) -> LowerVector:
        """Return p(x, y) = [∇²_yy g]^{-1} ∇_y f of the means: what FedIHGP estimates."""
        every, others = (on_every_client(v, self.clients) for v in (x, y))
        mean = self._oracles(x).upper_grad_y(every, others, None).mean(0, keepdim=True)
        return self.solve_hessian(every, others, mean)[0]

    def solve_hessian(self, x: ClientVectors, y: LowerVectors, v: Tensor) -> Tensor:
        """Return [∇²_yy g(x, y)]^{-1} v for v of [n, lower_dim, replicates], g the mean."""
        solved: Tensor = torch.linalg.solve(self.lower_hessian(x, y), v.permute(2, 1, 0))
        return solved.permute(2, 1, 0)

    def lower_hessian(self, x: ClientVectors, y: LowerVectors) -> Tensor:
        """Return ∇²_yy g(x, y) of the mean g, [replicates, lower_dim, lower_dim]."""
        oracles, columns, (_, entries, count) = self._oracles(x), list[Tensor](), y.shape
        # what automatic differentiation does costs by the call, so columns stand beside each other
        automatic = isinstance(oracles, AutogradBilevel) and not isinstance(y, Balls)
        step = max(1, TOGETHER // y.numel()) if automatic else 1
        for some in (range(entries)[k : k + step] for k in range(0, entries, step)):
            at, others = (torch.cat([v] * len(some), 2) if automatic else v for v in (x, y))
            unit, places = torch.zeros_like(others), range(0, len(some) * count, count)
            for j, k in zip(some, places, strict=True):
                unit[:, j, k : k + count] = 1.0
            made = oracles.lower_hessian_product(at, others, unit, None).mean(0)
            columns += [made[:, k : k + count] for k in places]
        return torch.stack(columns, 1).permute(2, 0, 1)

    def _solved(self, x: UpperVector) -> tuple[Bilevel, ClientVectors, LowerVectors]:
        y = on_every_client(self._solution(x), self.clients)
        return self._oracles(x), on_every_client(x, self.clients), y

    def _upper(self, x: Tensor) -> Tensor:
        """Return x, of x or of z = (x, y)."""
        if len(x) not in (self.upper_dim, len(self.start())):
            raise DriftproofError(
                f"a point of {len(x)} entries for F of {self.leaf_name}",
                f"x of {self.upper_dim}, or (x, y) of {len(self.start())}",
                'pass view.round_start("x"), the upper level\'s variable',
            )
        return x[: self.upper_dim]

    def _solution(self, x: UpperVector) -> LowerVector:
        """Return y*(x); the first time, after a look at whether it is one."""
        if isinstance(x, Balls):
            return self.enclosed_solution(x)
        y = self.lower_solution(x)
        if not self._held.get("looked") and x.dtype == torch.float64:
            every, others = (on_every_client(v, self.clients) for v in (x, y))
            q = self._oracles(x).lower_grad(every.detach(), others.detach(), None).mean(0)
            slope = float(q.norm(dim=0).max())
            if not slope <= 1e-6 * (1 + float(y.detach().norm(dim=0).max())):
                raise DriftproofError(
                    f"{self.leaf_name}: ∇_y g = {slope:.3g} at lower_solution(x)",
                    "0, as y*(x) minimises the clients' mean g(x, ·)",
                    "mend lower_solution, or lower_grad",
                )
            hessian = self.lower_hessian(every.detach(), others.detach())
            least = float(torch.linalg.eigvalsh((hessian + hessian.mT) / 2).min())
            if least < -1e-6 * (1 + float(hessian.abs().max())):
                raise DriftproofError(
                    f"{self.leaf_name}: ∇²_yy g has the eigenvalue {least:.3g} at y*(x)",
                    "none below 0, as y*(x) minimises the clients' mean g(x, ·)",
                    "mend lower_solution, or the signs of f and g",
                )
            self._held["looked"] = True
        return y

    def enclosed_solution(self, x: Tensor) -> Balls:
        """Return balls that contain y*(x) of balls: a formula is rounded, a gradient is not."""
        assert isinstance(x, Balls)
        modulus = self.constants.get("lower_strong_convexity")
        if not modulus:
            raise RefusedError("y*(x) is enclosed by lower_strong_convexity, and none is proven")
        every = on_every_client(x, self.clients)
        return enclosed_minimiser(
            self.lower_solution(x.middles),
            lambda y: self._oracles(x).lower_grad(every, self._every(y), None).mean(0),
            lambda y: self.lower_hessian(every, self._every(y)),
            modulus,
        )

    def _every(self, y: Tensor) -> Tensor:
        return on_every_client(y, self.clients)

    def _oracles(self, x: Tensor) -> Bilevel:
        oracles: Bilevel = self.oracles_for(x)
        return oracles
