"""A user's own problem, right or with one mistake, and claims of a user's, true or false."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from driftproof.toolkit.algorithms import FedAvg
from driftproof.toolkit.cases import Assumption, grid
from driftproof.toolkit.draws import SignMean
from driftproof.toolkit.measure import each, sq
from driftproof.toolkit.problem import Problem, Solution, problem
from driftproof.verifiers.claim_types.bound import bound


class Oracles:
    """Gradients of (L/2)‖x − c_k‖², c_k = ±1 in every entry, with a sign added to each entry."""

    def __init__(self, of: Any, dtype: Any, device: str, clients: range) -> None:
        self.of, self.clients = of, len(clients)
        shares = torch.full((self.clients, 1, 1), 1.0 / of.clients, dtype=dtype, device=device)
        self.client_weights = shares
        kept = list(range(self.clients) if of.mistake == "slice" else clients)
        centres = np.where(np.arange(of.clients) % 2, -1.0, 1.0)[kept]
        wrong = torch.float64 if of.mistake == "dtype" else dtype
        self.centres = torch.tensor(centres, dtype=wrong, device=device)[:, None, None]

    def field_law(self, batch: int) -> Any:
        if self.of.mistake == "probabilities":
            return Unlikely(batch, (1,))
        return SignMean(batch, (1,)) if self.of.noise else None

    def field_grad(self, x: Any, xi: Any) -> Any:
        made = self.of.curvature * (x - self.centres)
        if self.of.mistake == "oracle sign":
            made = -made
        if self.of.mistake == "oracle shape":
            made = made.mean(0, keepdim=True)
        if xi is None:
            return made
        return made + self.of.noise * (xi + (0.01 if self.of.mistake == "bias" else 0.0))


class Unlikely(SignMean):
    """A law whose probabilities add up to 0.9."""

    def support(self, client: int) -> Any:
        values, chances = super().support(client)
        return values, 0.9 * chances


@problem(name="user/quadratic", source="a test", statement="F")
class UsersQuadratic(Problem):
    """F(x) = (L/2)(‖x‖² + d) on two clients, L = curvature; L and μ are declared times a factor."""

    clients: int = 2
    dim: int = 2
    curvature: float = 2.0
    declared: float = 1.0
    modulus: float = 1.0
    noise: float = 0.1
    mistake: str = ""

    @property
    def constants(self) -> dict[str, float]:
        return {
            "objective_smoothness": self.declared * self.curvature,
            "strong_convexity": self.modulus * self.curvature,
        }

    @property
    def solution(self) -> Solution:
        point = np.full(self.dim, 0.5 if self.mistake == "stationary" else 0.0)
        value = float(self.objective(torch.from_numpy(point)[:, None]))
        low = value + (0.5 if self.mistake == "low" else 0.0)
        high = value + (0.5 if self.mistake in ("low", "high") else 0.0)
        named = None if self.mistake == "low" else point
        return Solution(low, high, named, {"method": "closed form"})

    def start(self) -> Any:
        shapes = {"start length": (self.dim + 1,), "start shape": (self.dim, 1)}
        made = np.ones(shapes.get(self.mistake, (self.dim,)))
        return made * np.nan if self.mistake == "start nan" else made

    def oracles(self, dtype: Any, device: str = "cpu", clients: range | None = None) -> Oracles:
        return Oracles(self, dtype, device, clients or range(self.clients))

    def objective(self, x: Any) -> Any:
        made = self.curvature / 2 * ((x * x).sum(0) + self.dim)
        return made.mean() if self.mistake == "objective shape" else made

    def gradient(self, x: Any) -> Any:
        made = self.curvature * x
        if self.mistake == "gradient shape":
            return made[:1]
        return -made if self.mistake == "gradient sign" else made


SMOOTH = Assumption("smoothness", "L", roles=("objective_smoothness",))
CONVEX = Assumption("strong convexity", r"\mu", roles=("strong_convexity",))


def smooth_claim(member: Problem, algorithm: Any = None, *, factor: float = 2.0) -> Any:
    """Return ‖∇F(w̄)‖² ≤ factor·L(F_0 − F*): true from 2 on, for small steps without noise."""

    def right(c):
        return factor * c.L * c.F_gap

    @bound(
        name="user/smooth",
        source="a test",
        statement="x",
        assumes=[SMOOTH],
        cases=grid(member, algorithm or FedAvg(step_size=0.1), rounds=2),
        right=right,
    )
    def smooth(view):
        return each("round", sq(view.gradient(view.round_start("w"))))

    return smooth


def convex_claim(member: Problem) -> Any:
    """Return ‖w̄_s‖² ≤ (2/μ)(F_0 − F*) at s = 0: true with equality for the true modulus."""

    def right(c):
        return 2 * c.F_gap / c.mu

    @bound(
        name="user/convex",
        source="a test",
        statement="x",
        assumes=[CONVEX],
        cases=grid(member, FedAvg(step_size=0.1), rounds=1),
        right=right,
    )
    def convex(view):
        return each("round", sq(view.round_start("w")))

    return convex


DRIFT = """
from driftproof import bound, each, grid, sq
from driftproof.algorithms import ComFedL
from driftproof.problems import BoundedComposition

def right(c):
    return c.tau * (c.eta * c.G_f * c.G_g) ** 2

@bound(name="mine/drift", source="x", statement="x", right=right,
       cases=grid(BoundedComposition(), ComFedL(), rounds=2))
def drift(view):
    return each("round", "local_step", sq(view.mean("w") - view.round_start("w")))
"""
"""A file with a claim that holds on its case and is false: τ local steps drift τη, not √τη."""
