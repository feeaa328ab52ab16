"""Clients that fail, and an algorithm that averages once too often: what the wire must notice."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import torch

from driftproof.toolkit.algorithm import algorithm
from driftproof.toolkit.algorithms import FedAvg


@algorithm(name="failing", source="", statement="")
class Failing(FedAvg):
    """FedAvg in which one client fails at step ``at``, while ``folder`` holds a file "armed".

    Every process leaves a file named by its id in the folder.
    """

    fault: str = "exit"
    client: int = 2
    at: int = 3
    folder: str = ""

    def init(self, ctx, oracles, start):
        (Path(self.folder) / f"pid-{os.getpid()}").touch()
        return super().init(ctx, oracles, start)

    def step(self, ctx, oracles, state):
        here = ctx.own(torch.arange(ctx.clients)) == self.client
        armed = (Path(self.folder) / "armed").exists()
        if ctx.t == self.at and here.any() and armed:
            if self.fault == "exit":
                os._exit(0)
            elif self.fault == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            elif self.fault == "stalls":
                time.sleep(3600)
            elif self.fault == "raises":
                raise IndexError("no such sample")
            else:
                spoilt = torch.where(here[:, None, None], float(self.fault), state.w)
                state = state._replace(w=spoilt)
        return super().step(ctx, oracles, state)


@algorithm(name="twice", source="", statement="")
class Twice(FedAvg):
    """FedAvg that averages what it has averaged: the same iterates, twice the messages."""

    def step(self, ctx, oracles, state):
        made = super().step(ctx, oracles, state)
        if (ctx.t + 1) % self.local_steps == 0:
            (w,) = ctx.average(made.w)
            return made._replace(w=w)
        return made


@algorithm(name="unequal", source="", statement="")
class Unequal(FedAvg):
    """Client 1 averages another tensor than the others: its control flow is its own."""

    def step(self, ctx, oracles, state):
        made = super().step(ctx, oracles, state)
        first = ctx.own(torch.arange(ctx.clients))[0] == 1
        ctx.average(made.w[:, :1] if first else made.w)
        return made
