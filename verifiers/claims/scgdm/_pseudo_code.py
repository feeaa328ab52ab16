"""Algorithm 1 of Local-SCGDM, line by line and client by client, with every step's values kept."""

import numpy as np
import torch

from toolkit.federation import sampled_context


def steps(problem, given, rounds, name, *, stale=False, first="line 5", averaged="umx", late=0):
    """Run the pseudo-code; the numbers in the comments are its lines.

    Args:
        name: of the draws.
        stale, first, averaged, late: what false siblings change.

    Returns:
        For t = 0 … T − 1, a dict: "x", "u", "m" as the step leaves them, after an average where
        there is one, "z" and g(x_t; ·) as "g"; [clients, dim] each.
    """
    draws = sampled_context(problem, (name,), replicates=1)
    oracles = [
        problem.oracles(torch.float64, clients=range(k, k + 1)) for k in range(problem.clients)
    ]
    everyone = range(problem.clients)
    inner, outer = oracles[0].inner_law(1), oracles[0].outer_law(1)
    eta, s, a = given.step_size, given.inner_momentum, given.momentum
    x = [problem.start() for _ in everyone]
    u, m = [None for _ in everyone], [None for _ in everyone]
    kept = []
    for t in range(rounds * given.local_steps):  # 1
        draws.t = t
        xi = draws.draw(inner, "xi")
        if given.samples == "one" and xi is not None and outer is not None:
            zeta = _joined(oracles, xi)  # the proofs' ζ_t is its own draw
        else:
            zeta = draws.draw(outer, "zeta")
        g: list[np.ndarray] = []
        z: list[np.ndarray] = []
        for k in everyone:
            value, pullback = oracles[k].inner(_column(x[k]), _own(xi, k))
            g.append(_vector(value))
            old = u[k]
            if t == 0:  # 2
                u[k] = g[k]  # 3
            else:
                u[k] = (1 - s * eta) * u[k] + s * eta * g[k]  # 7
            at = old if stale and old is not None else u[k]
            z.append(_vector(pullback(oracles[k].outer_grad(_column(at), _own(zeta, k)))))  # 4, 8
            if t == 0 and first == "line 5":
                m[k] = z[k]  # 5
            else:
                m[k] = (1 - a * eta) * (0 * z[k] if t == 0 else m[k]) + a * eta * z[k]  # 9
            x[k] = x[k] - given.step_factor * eta * m[k]  # 11
        if (t + 1 - late) % given.local_steps == 0 and t + 1 > late:  # 12
            held = {"u": u, "m": m, "x": x}
            for field in averaged:  # 13, 14, 15
                held[field] = [np.mean(held[field], 0) for _ in everyone]
            u, m, x = held["u"], held["m"], held["x"]
        values = {"x": x, "u": u, "m": m, "z": z, "g": g}
        kept.append({field: np.array(value) for field, value in values.items()})
    return kept


def _joined(oracles, xi):
    return torch.cat([one.same_sample(xi[k : k + 1]) for k, one in enumerate(oracles)])


def _own(draw, k):
    return None if draw is None else draw[k : k + 1]


def _column(vector):
    return torch.from_numpy(vector)[None, :, None]


def _vector(tensor):
    return tensor[0, :, 0].numpy()
