"""The wire: one process a client, messages through a server, counted where they are sent.

``run_on_wire`` starts the processes on this machine; ``python -m toolkit.wire`` is one of the
processes that torchrun starts, on any number of machines.
"""

from toolkit.wire.context import WireContext
from toolkit.wire.failure import WireFailure
from toolkit.wire.local import run_on_wire
from toolkit.wire.results import Traffic, WireRun

__all__ = ["Traffic", "WireContext", "WireFailure", "WireRun", "run_on_wire"]
