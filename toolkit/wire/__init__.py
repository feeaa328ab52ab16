"""The wire: one process a client, messages through a server, counted where they arrive."""

from driftproof.toolkit.wire.client import WireContext
from driftproof.toolkit.wire.server import WireFailure, WireRun, run_on_wire

__all__ = ["WireContext", "WireFailure", "WireRun", "run_on_wire"]
