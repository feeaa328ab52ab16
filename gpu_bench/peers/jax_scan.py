"""jax: ``scan`` over the local steps of ``grad`` of the loss, compiled before it is timed.

How clients or replicates are best laid out for XLA depends on the sizes: all at once by ``vmap``,
or one after the other by ``scan`` or ``lax.map`` inside the same program. Both are compiled, each
is run a few times, and the round is the faster one. Double precision is enabled for the compilation
alone. XLA computes on all cores of the machine; jax offers no setting for fewer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from driftproof.gpu_bench.peer import arrays, peer

if TYPE_CHECKING:
    from driftproof.gpu_bench.workload import Round

TRIALS = 5


@peer(name="jax", workload="w1", extra="jax", source="jax.lax.scan, jax.vmap, jax.grad")
def w1(data: Mapping[str, Any]) -> Round:
    """Replicates are columns; clients by ``vmap`` or by ``scan``."""
    return fastest(compiled(w1_forms(data), arrays(data, "matrices", "offsets", "starts")))


@peer(name="jax", workload="w2", extra="jax", source="jax.lax.scan, jax.vmap, jax.grad")
def w2(data: Mapping[str, Any]) -> Round:
    """Clients by ``vmap``; replicates, with minibatches of their own, by ``vmap`` or ``map``."""
    features, labels, starts = arrays(data, "features", "labels", "starts")
    chosen = np.ascontiguousarray(np.transpose(data["chosen"], (3, 1, 0, 2)), np.int32)
    return fastest(compiled(w2_forms(data), (features, labels, starts.T, chosen)))


def w1_forms(data: Mapping[str, Any]) -> list[Callable[..., Any]]:
    """Return the ways to write a round of (matrices, offsets, starts)."""
    import jax
    import jax.numpy as jnp

    lam, eta, steps = data["regulariser"], data["step_size"], data["local_steps"]
    clients, d, _ = data["matrices"].shape

    def loss(x: Any, y: Any, a: Any, b: Any) -> Any:
        return lam / 2 * (x * x).sum() - (y * (0.5 * y - b[:, None] + a @ x)).sum()

    def client(a: Any, b: Any, start: Any) -> Any:
        def step(z: Any, _: Any) -> Any:
            down, up = jax.grad(loss, (0, 1))(*z, a, b)
            return (z[0] - eta * down, z[1] + eta * up), None

        end, _ = jax.lax.scan(step, (start[:d], start[d:]), length=steps)
        return jnp.concatenate(end)

    def at_once(matrices: Any, offsets: Any, starts: Any) -> Any:
        return jax.vmap(client, (0, 0, None))(matrices, offsets, starts).mean(0)

    def in_turn(matrices: Any, offsets: Any, starts: Any) -> Any:
        def add(total: Any, of: Any) -> Any:
            matrix, offset = of
            return total + client(matrix, offset, starts), None

        return jax.lax.scan(add, jnp.zeros_like(starts), (matrices, offsets))[0] / clients

    return [at_once, in_turn]


def w2_forms(data: Mapping[str, Any]) -> list[Callable[..., Any]]:
    """Return the ways to write a round of (features, labels, starts.T, chosen [R, K, τ, batch])."""
    import jax
    import jax.numpy as jnp

    gamma, eta = data["temperature"], data["step_size"]

    def loss(w: Any, drawn: Any, sign: Any) -> Any:
        return jnp.exp(jax.nn.softplus(-sign * (drawn @ w)).mean() / gamma)

    def client(rows: Any, signs: Any, start: Any, numbers: Any) -> Any:
        def step(w: Any, minibatch: Any) -> Any:
            return w - eta * jax.grad(loss)(w, rows[minibatch], signs[minibatch]), None

        return jax.lax.scan(step, start, numbers)[0]

    everyone = jax.vmap(client, (0, 0, None, 0))

    def at_once(features: Any, labels: Any, starts: Any, chosen: Any) -> Any:
        return jax.vmap(lambda w, n: everyone(features, labels, w, n).mean(0))(starts, chosen).T

    def in_turn(features: Any, labels: Any, starts: Any, chosen: Any) -> Any:
        def replicate(of: Any) -> Any:
            return everyone(features, labels, *of).mean(0)

        return jax.lax.map(replicate, (starts, chosen)).T

    return [at_once, in_turn]


def compiled(forms: list[Callable[..., Any]], inputs: tuple[np.ndarray, ...]) -> list[Round]:
    """Compile each form for these inputs, which are put where jax computes."""
    import jax

    with jax.enable_x64(inputs[0].dtype == np.float64):
        on_device = [jax.device_put(x) for x in inputs]
        programs = [jax.jit(form).lower(*on_device).compile() for form in forms]
    return [_round(program, on_device) for program in programs]


def _round(program: Any, on_device: list[Any]) -> Round:
    return lambda: np.asarray(program(*on_device))


def fastest(rounds: list[Round]) -> Round:
    """Return the round whose best time of a few is the least."""
    best = []
    for run in rounds:
        run()
        times = []
        for _ in range(TRIALS):
            began = time.perf_counter()
            run()
            times.append(time.perf_counter() - began)
        best.append(min(times))
    return rounds[int(np.argmin(best))]
