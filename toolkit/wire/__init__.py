"""The wire: one process a client, messages through a server, counted where they are sent.

``run_on_wire`` starts the processes on this machine.
"""

from driftproof.toolkit.wire.context import WireContext
from driftproof.toolkit.wire.failure import WireFailure
from driftproof.toolkit.wire.local import run_on_wire
from driftproof.toolkit.wire.results import Traffic, WireRun

__all__ = ["Traffic", "WireContext", "WireFailure", "WireRun", "run_on_wire"]
