"""Algorithm 1 of Local-SCGDM, line by line and client by client, with every step's values kept."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from driftproof.toolkit.algorithms.local_scgdm import LocalSCGDM
from driftproof.toolkit.federation import sampled_context
from driftproof.toolkit.oracles import OneSample
from driftproof.toolkit.problem import Problem


@dataclass(frozen=True)
class Lines:
    """How the lines are read; false siblings change one of them.

    Attributes:
        stale: whether z_t is made of u_t, not u_{t+1}.
        first_momentum: whether line 5 sets m_1 = z_0; else m_1 = αηz_0, as at any other step.
        averaged: which of u, m and x are averaged, as one word.
        late: how many steps after the p-th they are.
    """

    stale: bool = False
    first_momentum: bool = True
    averaged: str = "umx"
    late: int = 0


class Kept(NamedTuple):
    """What a step makes, [clients, dim] each.

    Attributes:
        x, u, m: as the step leaves them, after an average where there is one.
        z: the direction.
        g: the inner value g(x_t; ·).
    """

    x: np.ndarray
    u: np.ndarray
    m: np.ndarray
    z: np.ndarray
    g: np.ndarray


def steps(
    problem: Problem, given: LocalSCGDM, rounds: int, name: str, lines: Lines | None = None
) -> list[Kept]:
    """Run the pseudo-code, t = 0 … T − 1; the numbers in the comments are its lines.

    Args:
        name: of the draws.
        lines: how they are read (None: as printed).
    """
    lines = lines or Lines()
    draws = sampled_context(problem, (name,), replicates=1)
    oracles = [
        problem.oracles(torch.float64, clients=range(k, k + 1)) for k in range(problem.clients)
    ]
    everyone = range(problem.clients)
    inner, outer = oracles[0].inner_law(1), oracles[0].outer_law(1)
    eta, s, a = given.step_size, given.inner_momentum, given.momentum
    x = [problem.start() for _ in everyone]
    u: list[np.ndarray] = []
    m = [0 * start for start in x]
    kept = []
    for t in range(rounds * given.local_steps):  # 1
        draws.t = t
        xi = draws.draw(inner, "xi")
        if given.samples == "one" and xi is not None and outer is not None:
            zeta: Tensor | None = _joined(oracles, xi)  # the proofs' ζ_t is its own draw
        else:
            zeta = draws.draw(outer, "zeta")
        evaluated = [oracles[k].inner(_column(x[k]), _own(xi, k)) for k in everyone]
        g = [_vector(value) for value, _ in evaluated]
        if t == 0:  # 2
            old = u = list(g)  # 3
        else:
            old, u = u, [(1 - s * eta) * u[k] + s * eta * g[k] for k in everyone]  # 7
        z = []
        for k, (_, pullback) in enumerate(evaluated):
            at = _column(old[k] if lines.stale else u[k])
            z.append(_vector(pullback(oracles[k].outer_grad(at, _own(zeta, k)))))  # 4, 8
        if t == 0 and lines.first_momentum:
            m = list(z)  # 5
        else:
            m = [(1 - a * eta) * m[k] + a * eta * z[k] for k in everyone]  # 9
        x = [x[k] - given.step_factor * eta * m[k] for k in everyone]  # 11
        if (t + 1 - lines.late) % given.local_steps == 0 and t + 1 > lines.late:  # 12
            u, m, x = (  # 13, 14, 15
                [np.mean(held, 0) for _ in everyone] if field in lines.averaged else held
                for field, held in (("u", u), ("m", m), ("x", x))
            )
        kept.append(Kept(*(np.array(held) for held in (x, u, m, z, g))))
    return kept


def _joined(oracles: list[OneSample], xi: Tensor) -> Tensor:
    return torch.cat([one.same_sample(xi[k : k + 1]) for k, one in enumerate(oracles)])


def _own(draw: Tensor | None, k: int) -> Tensor | None:
    return None if draw is None else draw[k : k + 1]


def _column(vector: np.ndarray) -> Tensor:
    return torch.from_numpy(vector)[None, :, None]


def _vector(tensor: Tensor) -> np.ndarray:
    vector: np.ndarray = tensor[0, :, 0].numpy()
    return vector
