"""``python -m gpu_bench``: ``driftproof bench --json`` with torch, numpy and numba alone.

A machine with a GPU that was lent for an hour needs no more: run this there with ``--device cuda``.
"""

from __future__ import annotations

import argparse
import json
import sys

from driftproof.gpu_bench.run import planned, run_benchmark, status
from driftproof.toolkit.errors import DriftproofError


def main() -> int:
    """Print the document and return the exit status, both as ``driftproof bench --json`` does."""
    words = argparse.ArgumentParser(prog="python -m gpu_bench", description=__doc__)
    words.add_argument("kernel", nargs="*")
    words.add_argument("--device", default="cpu")
    words.add_argument("--peers", action="store_true")
    given = words.parse_args()
    try:
        plan = planned(given.kernel, device=given.device, peers=given.peers)
        head = run_benchmark(plan, ended=lambda name: print(name, file=sys.stderr, flush=True))  # noqa: T201
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; the same command begins again\n")
        return 130
    except DriftproofError as error:
        sys.stderr.write(f"{error.got}\n    wanted: {error.wanted}\n    remedy: {error.remedy}\n")
        return error.exit_code
    json.dump(head, sys.stdout, indent=1, allow_nan=False)
    return status(head)


if __name__ == "__main__":
    sys.exit(main())
