"""The command: ``python -m driftproof.verifiers.calibration FOLDER [STATEMENTS]``."""

from __future__ import annotations

import sys
from pathlib import Path

from driftproof.verifiers.calibration import betting
from driftproof.verifiers.calibration.kinds import STATEMENTS, table

if __name__ == "__main__":
    for line in table(int(sys.argv[2]) if len(sys.argv) > 2 else STATEMENTS):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    betting.report(Path(sys.argv[1]))
