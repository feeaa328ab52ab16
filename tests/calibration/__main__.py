"""The command: ``python -m tests.calibration FOLDER [STATEMENTS]``.

It prints a table of both errors of every kind of judge, then the tables of the betting test, and
draws its power curve into the folder. ``python -m tests.calibration.rates`` prints that of rates.
"""

import sys
from pathlib import Path

from tests.calibration import betting, bounds, identities, proofs
from tests.calibration.table import counted

KINDS = {
    "bound, exact": bounds.exact,
    "bound, sampled": bounds.sampled,
    "bound, given sampled pasts": bounds.given_pasts,
    "identity": identities.identities,
    "symbolic": proofs.proofs,
}
"""What is judged → the synthetic statements, judged."""

if __name__ == "__main__":
    statements = int(sys.argv[2]) if len(sys.argv) > 2 else 510
    print("| judge | true | refuted | undecided | false | supported | undecided |")
    print("|---|---|---|---|---|---|---|")
    for name, judged in KINDS.items():
        print(f"| {name} | {' | '.join(map(str, counted(judged(statements, 0))))} |", flush=True)
    betting.report(Path(sys.argv[1]))
