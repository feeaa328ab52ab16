"""The wire engine: one process a client, averages by torch.distributed."""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from toolkit.algorithm import Algorithm
from toolkit.draws import Words
from toolkit.engines.batched import BatchedContext, combined
from toolkit.errors import DriftproofError
from toolkit.problem import Problem

PATIENCE = timedelta(minutes=2)
"""How long a process waits for the others."""


class WireContext(BatchedContext):
    """Holds only this process's clients; an average is one all-reduce.

    Draws are keyed by client, so this process draws what the batched engine would draw for them.
    Needs an initialised process group.
    """

    fusable = False
    replayable = False  # the processes would leave a repeated round at different steps

    def means(
        self, mask: Tensor | None, xs: tuple[Tensor, ...], weights: Tensor | None
    ) -> list[Tensor]:
        """Return the means over the clients of all processes, by one all-reduce of the sums."""
        share = combined(mask, weights)
        if share is None:
            share = torch.ones((len(self.local), 1, 1), dtype=self.dtype, device=self.device)
        share = share.expand(len(self.local), 1, self.replicates)
        sums = [(share * x).sum(0) for x in xs] + [share.sum(0)]
        sent = torch.cat(sums)
        dist.all_reduce(sent)
        *totals, count = torch.split(sent, [x.shape[1] for x in xs] + [1])
        return [(total / count)[None] for total in totals]


def run_on_wire(
    problem: Problem,
    algorithm: Algorithm,
    names: tuple[str, ...],
    *,
    rounds: int,
    processes: int,
    replicates: int = 1,
    block: int = 0,
) -> tuple[np.ndarray, int]:
    """Run with the clients spread over processes that talk by gloo on this machine.

    Args:
        names: what keys the draws; with the names of a batched run, the noise is the same.
        processes: how many; one a client, or fewer (more than clients are not started).
        replicates, block: as in the batched engine.

    Returns:
        Client 0's iterate at each round's start and at the end, [rounds + 1, dim, replicates]
        (shorter if it stopped being finite), and the counted rounds of communication.

    Raises:
        DriftproofError: a process failed, or did not answer in time.
    """
    processes = min(processes, problem.clients)
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        shares = np.array_split(np.arange(problem.clients), processes)
        common = (problem, algorithm, names, rounds, replicates, block, folder)
        started = [
            context.Process(
                target=_process, args=(rank, processes, range(share[0], share[-1] + 1), *common)
            )
            for rank, share in enumerate(shares)
        ]
        for process in started:
            process.start()
        for process in started:
            process.join()
        failed = [rank for rank, process in enumerate(started) if process.exitcode != 0]
        if failed:
            raise DriftproofError(
                f"client processes {failed} failed",
                f"{processes} processes that reach each other on the loopback device",
                "read what they printed above, or use --engine batched",
            )
        with np.load(Path(folder) / "out.npz") as held:
            return held["iterates"], int(held["rounds"])


def _process(
    rank: int,
    world: int,
    local: range,
    problem: Problem,
    algorithm: Algorithm,
    names: tuple[str, ...],
    rounds: int,
    replicates: int,
    block: int,
    folder: str,
) -> None:
    """One process of a run on the wire."""
    from toolkit.federation import run

    torch.set_num_threads(1)
    if sys.platform == "linux":
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group(
        "gloo", init_method=f"file://{folder}/store", rank=rank, world_size=world, timeout=PATIENCE
    )
    kept: list[np.ndarray] = []
    ctx = WireContext(
        Words(*names), problem.clients, replicates=replicates, block=block, local=local
    )
    run(
        problem, algorithm, ctx, rounds=rounds, kernels=False,
        watch=lambda s, state: kept.append(getattr(state, algorithm.iterate)[0].numpy().copy()),
    )  # fmt: skip
    if rank == 0:
        np.savez(Path(folder) / "out.npz", iterates=np.array(kept), rounds=ctx.rounds)
    dist.barrier()
    dist.destroy_process_group()
