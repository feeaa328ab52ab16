"""Checks that a benchmark's JSON holds timings of everything, and prints the speed-ups.

python tests/benchmarks/timings_present.py FILE
"""

import json
import sys
from pathlib import Path

WANTED = (
    "a_round[w1",
    "a_round[w2",
    "a_round[w3",
    "a_round[w4",
    "a_round[fednest-minimax",
    "a_round_of_the_baseline[w1",
    "a_round_of_the_baseline[w2",
    "fednest_minimax_as",
    "one_local_step",
    "one_round",
    "one_verification",
    "start",
)


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
    groups: dict[str, dict[str, float]] = {}
    for benchmark in found:
        groups.setdefault(benchmark["group"] or "", {})[benchmark["name"]] = medians[
            benchmark["name"]
        ]
    for group, members in sorted(groups.items()):
        ours = [m for name, m in members.items() if "driftproof]" in name]
        loop = [m for name, m in members.items() if "baseline" in name]
        if ours and loop:
            sys.stdout.write(f"{loop[0] / ours[0]:10.1f} times the baseline  {group}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
