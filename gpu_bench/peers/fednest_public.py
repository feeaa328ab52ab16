"""FedNest's minimax update, written as its authors' public code has it.

Source: github.com/ucr-optml/FedNest, minmax_synthetic.ipynb, the cell that makes
``result_fednest``, read at commit 13b5e20. A client has A_i = t_i I and no b_i. In each call of
FedInn the server averages t over the cohort in a Python loop; each client in turn copies y and
takes its local steps y ← y + (lr/d)(−y − ½ t x), one numpy expression each; the ends are averaged.
FedOut is the same in x, with x ← x − (lr/d)(λx − ½ t y).

Here the cohort is everyone, and a replicate is a run, as there. The notebook's copies of a variable
that it does not move and its look-ups of data that it does not use are left out, in its favour.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from driftproof.gpu_bench.peer import arrays, peer

if TYPE_CHECKING:
    from driftproof.gpu_bench.workload import Round


@peer(
    name="FedNest's public update",
    workload="fednest-minimax",
    extra=None,
    source="github.com/ucr-optml/FedNest, minmax_synthetic.ipynb",
)
def fednest_minimax(data: Mapping[str, Any]) -> Round:
    """T ``calls`` of FedInn and one of FedOut, from ``starts`` (x, y) in R^{2d}."""
    couplings, starts = arrays(data, "couplings", "starts")
    clients, d = len(couplings), len(starts) // 2
    lam, rate = data["regulariser"], data["rate"]

    def mean_coupling() -> Any:
        total = 0.0
        for coupling in couplings:
            total += coupling
        return total / clients

    def run() -> np.ndarray:
        points = np.empty_like(starts)
        ends = np.zeros((clients, d), starts.dtype)
        for r in range(starts.shape[1]):
            x, y = starts[:d, r].copy(), starts[d:, r].copy()
            for _ in range(data["calls"]):
                t = mean_coupling()
                for k in range(clients):
                    own = y.copy()
                    for _ in range(data["inner_steps"]):
                        own += rate * (1.0 / d) * (-own - 0.5 * t * x)
                    ends[k] = own
                y = ends.mean(axis=0)
            t = mean_coupling()
            for k in range(clients):
                own = x.copy()
                for _ in range(data["outer_steps"]):
                    own -= rate * (1.0 / d) * (lam * own - 0.5 * y * t)
                ends[k] = own
            points[:, r] = np.concatenate([ends.mean(axis=0), y])
        return points

    return run
