"""Checks that a benchmark's JSON holds timings of everything, and prints the speed-ups.

python tests/benchmarks/timings_present.py FILE
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

WANTED = (
    "fednest_minimax", "one_local_step", "one_round", "one_verification", "w1", "w2", "start",
    "verify_quick",
)  # fmt: skip


def main(path: Path) -> int:
    """Return 0 if every benchmark was timed."""
    found = json.loads(path.read_text())["benchmarks"]
    medians = {b["name"]: b["stats"]["median"] for b in found}
    missing = [name for name in WANTED if not any(f"test_{name}" in key for key in medians)]
    idle = [key for key, median in medians.items() if not median > 0]
    if missing or idle:
        sys.stderr.write(f"no timings of {missing}, no time in {idle}\n")
        return 1
    for name, median in sorted(medians.items()):
        sys.stdout.write(f"{median * 1e3:12.3f} ms  {name}\n")
    for name, median in sorted(medians.items()):
        loop = name.replace("driftproof]", "numpy loop]")
        if loop != name and loop in medians:
            sys.stdout.write(f"{medians[loop] / median:10.1f} times the numpy loop  {name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
