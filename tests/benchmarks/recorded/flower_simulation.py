"""Flower's simulation on W1, beside driftproof.

In an environment of its own (its pins contradict driftproof's), from the root of the checkout:

    python3.11 -m venv flower
    flower/bin/pip install "flwr[simulation]" torch numba scipy jaxtyping
    export FLWR_TELEMETRY_ENABLED=0
    flower/bin/python -m tests.benchmarks.recorded.flower_simulation

Flower's Simulation Runtime: Ray, one actor a core, all clients in every round, its own FedAvg
without evaluation, messages of one float64 array. The first rounds, in which actors start and
import, are not timed; a round is from one ``configure_train`` to the next.
"""

from __future__ import annotations

import os
import time

import numpy as np
from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg

from tests.benchmarks.recorded import beside

WARM_UP, ROUNDS, CORES = 3, 60, 2

client_app = ClientApp()


@client_app.train()  # type: ignore[untyped-decorator]
def train(message: Message, context: Context) -> Message:
    """Take one client's local steps."""
    (z,) = message.content["arrays"].to_numpy_ndarrays()
    end = beside.local_steps(int(context.node_config["partition-id"]), z)
    content = {"arrays": ArrayRecord([end]), "metrics": MetricRecord({"num-examples": 1})}
    return Message(content=RecordDict(content), reply_to=message)


class Timed(FedAvg):  # type: ignore[misc]
    """Flower's FedAvg, which notes when each round begins."""

    def __init__(self) -> None:
        super().__init__(fraction_evaluate=0.0, min_available_nodes=beside.CLIENTS)
        self.began: list[float] = []

    def configure_train(self, server_round, arrays, config, grid):  # type: ignore[no-untyped-def]
        """Note the time; the rest is Flower's."""
        self.began.append(time.perf_counter())
        return super().configure_train(server_round, arrays, config, grid)


def main() -> None:
    """Simulate, compare with driftproof, record."""
    from flwr.simulation import run_simulation

    from tests.benchmarks.recorded.flower_simulation import client_app  # sent to actors by its name

    ours, strategy, ended = beside.ours(), Timed(), []
    server_app = ServerApp()

    @server_app.main()  # type: ignore[untyped-decorator]
    def serve(grid: Grid, context: Context) -> None:
        made = strategy.start(
            grid=grid, initial_arrays=ArrayRecord([beside.start()]), num_rounds=WARM_UP + ROUNDS + 1
        )
        ended.extend(made.arrays.to_numpy_ndarrays())

    run_simulation(
        server_app, client_app, num_supernodes=beside.CLIENTS,
        backend_config={
            "init_args": {"num_cpus": CORES}, "client_resources": {"num_cpus": 1, "num_gpus": 0.0},
        },
    )  # fmt: skip
    beside.record(
        "flower", "flwr", ours, np.diff(strategy.began)[WARM_UP:], ended[0],
        WARM_UP + ROUNDS + 1,
        engine=f"run_simulation, Ray, {CORES} actors of one core each",
        command="python -m tests.benchmarks.recorded.flower_simulation",
    )  # fmt: skip


if __name__ == "__main__":
    if os.environ.get("FLWR_TELEMETRY_ENABLED") != "0":  # read when flwr is imported
        raise SystemExit("export FLWR_TELEMETRY_ENABLED=0 first: a benchmark sends nothing")
    main()
