r"""ALSET, alternating SGD without a federation, on the clients' mean problem.

Chen, Sun and Yin (2021): y ← y − β∇_y g(x, y; ζ) several times, then x ← x − α(∇_x f − ∇²_xy g p),
with p of one random product of Neumann factors. Here f and g are the means over the clients of a
``QuadraticBilevel``, put together from its arrays and not from its clients' oracles; a sample is
one sample of every client.
"""

import numpy as np

from driftproof.synthetic.problems.quadratic_bilevel import QuadraticBilevel
from driftproof.toolkit.algorithms.fednest import FedNest
from driftproof.toolkit.draws import Indices, Law
from driftproof.toolkit.federation import sampled_context


class MeanProblem:
    """The means over all clients, and ALSET on them, on the draws of one name.

    Attributes:
        x, y: where it is, [dim] and [lower_dim].
        hessian, cross, offset, target, regulariser, tilt: the clients' means of H, C, e, a, λ, κ.
    """

    def __init__(self, problem: QuadraticBilevel, given: FedNest, name: str) -> None:
        self.problem, self.given = problem, given
        self.draws = sampled_context(problem, (name,), replicates=1)
        parts = problem.parts
        self.hessian, self.cross = parts["H"].mean(0), parts["C"].mean(0)
        self.offset, self.target = parts["e"].mean(0), parts["a"].mean(0)
        self.regulariser, self.tilt = parts["lambda"].mean(), parts["kappa"].mean()
        self.u, self.step = parts["u"], 1 / problem.constants["lower_smoothness"]
        start, d = problem.start(), problem.upper_dim
        self.x, self.y = start[:d], start[d:]
        laws = problem.oracles(self.draws.dtype)
        self.upper, self.lower = laws.upper_law(given.batch), laws.lower_law(given.batch)

    def sample(self, law: Law | None, name: str) -> np.ndarray:
        """Return the means over clients of a law's signs: for ∇_x f and ∇_y f, or v, a, b."""
        drawn = self.draws.draw(law, name)
        assert drawn is not None, "this problem has every noise"
        signs: np.ndarray = drawn.mean(0)[:, 0].numpy()
        return signs

    def lower_step(self) -> None:
        """Apply y ← y − β∇_y g(x, y; ζ)."""
        value, bend, _ = self.sample(self.lower, "zeta-shared")
        of, u = self.problem, self.u
        noise = of.lower_value_noise * value + of.lower_curvature_noise * bend * np.sin(u @ self.y)
        gradient = self.hessian @ self.y - self.cross @ self.x - self.offset + noise * u
        self.y = self.y - self.given.inner_step_size * gradient
        self.draws.t += 1

    def series(self) -> np.ndarray:
        """Return p_{N'}."""
        of, u, terms = self.problem, self.u, self.given.terms
        size = of.upper_noise / 2**0.5
        gradient = of.upper_curvature * (self.y - self.target)
        p = terms * self.step * (gradient + size * self.sample(self.upper, "xi-series")[1] * u)
        left = self.draws.server_draw(Indices((terms,), 1), "left-out", self.draws.t)
        for n in range(1, terms - int(left[0, 0])):
            bend = self.sample(self.lower, f"zeta-series-{n}")[1] * np.cos(u @ self.y)
            product = self.hessian @ p + of.lower_curvature_noise * bend * (u @ p) * u
            p = p - self.step * product
        estimate: np.ndarray = p
        return estimate

    def upper_step(self) -> None:
        """Apply x ← x − α(∇_x f − ∇²_xy g p)."""
        of, first = self.problem, np.eye(len(self.x))[0]
        xi, p = self.sample(self.upper, "xi-shared"), self.series()
        chi = self.sample(self.lower, "chi")
        direct = self.regulariser * self.x + self.tilt * first
        direct = direct + of.upper_noise / 2**0.5 * xi[0] * first
        indirect = -self.cross.T @ p + of.cross_noise * chi[2] * (self.u @ p) * first
        self.x = self.x - self.given.outer_step_size * (direct - indirect)
        self.draws.t += 1

    def run(self, rounds: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (x, y) after so many rounds."""
        for _ in range(rounds):
            for _ in range(self.given.inner_calls):
                self.lower_step()
            self.upper_step()
        return self.x, self.y
