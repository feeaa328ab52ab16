r"""ComFedL's local steps on KL-DRO with the logistic loss, fused.

**Blocked**: one loop a (client, replicate), with w in the first-level cache for all steps. A step
draws its sample numbers, takes the scores of their rows, all losses at once, and combines the rows,
by now in the first-level cache, into ∇f_B; the step u = exp(f_B/γ)/γ · ∇f_B is taken in place.
Neither draws nor anything of size [clients, batch, dim, replicates] is written, which is what the
plain step spends its time on. Rows are taken four at a time, which share the loads of w and of
∇f_B; draws are made for ``TAKEN`` replicates together.

**Numbers** are the plain steps' to the tolerance below: sums may be reordered here ("reassoc"), or
they would not vectorise, and the logistic loss is ``_logistic``'s. Each loop is one thread's, so
they do not depend on the threads.

Cost of a step: 4·batch·dim flops and an exponential a sample, for each client and replicate; it
reads batch·dim gathered reals. The limit is taken as if they came from memory; a client's samples
stay in the second-level cache, so a kernel may pass it.
"""

from typing import Any

import numba
import numpy as np
import torch

from driftproof.synthetic.kernels._logistic import losses
from driftproof.toolkit.kernels.device import has_triton
from driftproof.toolkit.kernels.registry import Cost, fused
from driftproof.toolkit.stream_values import draw
from driftproof.toolkit.streams import Stream

TAKEN = 16
"""Replicates of a client whose draws are made together."""


def _accepts(algorithm: Any, problem: Any) -> bool:
    served = (algorithm.samples, problem.form, problem.loss)
    return served == ("shared", "exp", "logistic")


def _cost(algorithm: Any, problem: Any, replicates: int, real: int) -> Cost:
    """A sample's row is read once a step, for its score and for ∇f_B; w once a round, and written.

    A loss is counted as five operations: label, exponential, sum, logarithm, quotient.
    """
    steps = algorithm.local_steps * problem.clients * replicates
    samples, dim = steps * algorithm.batch, problem.dim
    return Cost(
        flops=samples * (4 * dim + 5) + 2 * steps * dim,
        bytes=real * (samples * (dim + 1) + 2 * problem.clients * replicates * dim),
        words=samples,
    )


@fused(
    name="kl-dro-local-steps",
    algorithm="comfedl",
    problem="kl-dro",
    rows=lambda oracles: {"w": oracles.model.rows.shape[1]},
    accepts=_accepts,
    cost=_cost,
    # sums in another order and other elementary functions: f_B is off by about 4 units, which
    # exp(f_B/γ) magnifies by f_B/γ, 64 units at f_B/γ = 16; the rest is for several steps
    tolerance=256.0,
)
def advance(ctx: Any, oracles: Any, algorithm: Any, state: Any, steps: int) -> tuple[Any, float]:
    """Equal to ``steps`` repetitions of ``ComFedL.step`` from the start of a round."""
    first = ctx.t
    cohort = ctx.cohort(algorithm.cohort_size(ctx.clients), since=first)
    stream = ctx.stream(oracles.inner_law(algorithm.batch), "xi", first, steps)
    model = oracles.model
    w = np.array(state.w.permute(0, 2, 1).numpy(), order="C")  # a copy, to be moved in place
    real, mean = w.dtype.type, algorithm.batch * oracles.temperature
    norms = _local_steps(
        model.rows.numpy(),
        model.row_labels.numpy(),
        model.starts.numpy().ravel(),
        stream,
        first,
        steps,
        w,
        real(algorithm.step_size / mean),
        real(1 / mean),
        real(1),
    )
    ctx.t = first + steps - 1
    moved = torch.from_numpy(w).permute(0, 2, 1)
    (moved,) = cohort.average(moved)
    return type(state)(moved), float(np.sqrt(norms.max()))


def _fits(algorithm: Any, problem: Any, ctx: Any) -> bool:
    """Say whether a row of the data fits in a tile."""
    return has_triton() and problem.dim <= 1024


@advance.variant("triton", device="cuda", fits=_fits)
def _in_triton(*of: Any) -> Any:
    """The local steps in one launch, their samples drawn where they are gathered."""
    from driftproof.synthetic.kernels._triton_kl_dro import advance

    return advance(*of)


@numba.njit(parallel=True, cache=True, error_model="numpy")
def _local_steps(
    rows: np.ndarray,
    labels: np.ndarray,
    starts: np.ndarray,
    stream: Stream,
    first: int,
    steps: int,
    w: np.ndarray,
    move: float,
    mean: float,
    one: float,
) -> np.ndarray:
    """Move w [clients, replicates, dim] in place; return the largest ‖w‖² met by each.

    Each (client, replicate) is one loop, so the result does not depend on the number of threads.

    Args:
        move, mean: η/(bγ) and 1/(bγ).
        one: 1 in the precision of the run, in which all is computed.
    """
    clients, replicates, dim = w.shape
    groups, batch = (replicates + TAKEN - 1) // TAKEN, stream.elements
    largest = np.zeros((clients, replicates), w.dtype)
    for task in numba.prange(clients * groups):
        k, start = task // groups, task % groups * TAKEN
        taken = min(TAKEN, replicates - start)
        drawn = np.empty((1, 1, batch, taken), np.int64)
        at, gradient = np.empty(batch, np.int64), np.empty(dim, w.dtype)
        scores, signs = np.empty(batch, w.dtype), np.empty(batch, w.dtype)
        for t in range(steps):
            draw(stream, first + t, k, start, drawn)
            for r in range(taken):
                for j in range(batch):
                    at[j] = starts[k] + drawn[0, 0, j, r]
                    signs[j] = labels[at[j]]
                x = w[k, start + r]
                _dot(rows, at, x, one - one, scores)
                value = losses(scores, signs, one)
                _combine(rows, at, scores, one - one, gradient)
                norm = _step(x, gradient, move * np.exp(value * mean))
                largest[k, start + r] = max(largest[k, start + r], norm)
    return largest


@numba.njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _step(x: np.ndarray, gradient: np.ndarray, scale: float) -> float:
    """Add scale·gradient to x and return ‖x‖²."""
    norm = scale - scale
    for i in range(len(x)):
        x[i] += scale * gradient[i]
        norm += x[i] * x[i]
    return norm


@numba.njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _dot(rows: np.ndarray, at: np.ndarray, x: np.ndarray, nothing: float, out: np.ndarray) -> None:
    """Put the scores of the rows ``at`` in out: four rows share the loads of x."""
    whole = len(at) // 4 * 4
    for j in range(0, whole, 4):
        a, b, c, d = rows[at[j]], rows[at[j + 1]], rows[at[j + 2]], rows[at[j + 3]]
        for_a, for_b, for_c, for_d = nothing, nothing, nothing, nothing
        for i in range(len(x)):
            for_a += a[i] * x[i]
            for_b += b[i] * x[i]
            for_c += c[i] * x[i]
            for_d += d[i] * x[i]
        out[j], out[j + 1], out[j + 2], out[j + 3] = for_a, for_b, for_c, for_d
    for j in range(whole, len(at)):
        a, for_a = rows[at[j]], nothing
        for i in range(len(x)):
            for_a += a[i] * x[i]
        out[j] = for_a


@numba.njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _combine(
    rows: np.ndarray, at: np.ndarray, shares: np.ndarray, nothing: float, out: np.ndarray
) -> None:
    """Put Σ shares·rows in out: four rows share its load and store."""
    whole = len(at) // 4 * 4
    for i in range(len(out)):
        out[i] = nothing
    for j in range(0, whole, 4):
        a, b, c, d = rows[at[j]], rows[at[j + 1]], rows[at[j + 2]], rows[at[j + 3]]
        of_a, of_b, of_c, of_d = shares[j], shares[j + 1], shares[j + 2], shares[j + 3]
        for i in range(len(out)):
            out[i] += of_a * a[i] + of_b * b[i] + of_c * c[i] + of_d * d[i]
    for j in range(whole, len(at)):
        a, of_a = rows[at[j]], shares[j]
        for i in range(len(out)):
            out[i] += of_a * a[i]
