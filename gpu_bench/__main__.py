"""``python -m gpu_bench``: the benchmark as JSON, where torch, numpy and numba are installed.

A machine with a GPU that was lent for an hour needs no command line library and no page: run this
there with ``--device cuda``, keep what it prints as docs/benchmarks/cuda.json, and ``driftproof
bench`` shows it in the target table.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

from gpu_bench.exported import exported
from gpu_bench.run import Plan, conduct
from gpu_bench.workload import chosen
from toolkit.errors import DriftproofError


def main() -> int:
    """Print the JSON of ``driftproof bench --json``, without the target table."""
    words = argparse.ArgumentParser(prog="python -m gpu_bench", description=__doc__)
    words.add_argument("kernel", nargs="*")
    words.add_argument("--device", default="cpu")
    words.add_argument("--peers", action="store_true")
    given = words.parse_args()
    try:
        plan = Plan(
            cases=chosen(given.kernel), device=given.device, peers=given.peers,
            seed=time.time_ns() % 2**32,
        )  # fmt: skip
        head = conduct(plan, ended=lambda name: print(name, file=sys.stderr, flush=True))  # noqa: T201
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; the same command begins anew\n")
        return 130
    except DriftproofError as error:
        sys.stderr.write(f"{error.got}\n    wanted: {error.wanted}\n    remedy: {error.remedy}\n")
        return error.exit_code
    json.dump(exported(head), sys.stdout, indent=1, allow_nan=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
