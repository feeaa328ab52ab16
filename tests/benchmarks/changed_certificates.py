"""Changes every number of every certificate in a folder, one at a time, and counts what is refused.

    driftproof verify 'localsgd/*' --out OUT
    python -m tests.benchmarks.changed_certificates OUT/certificates

Each change is one in the last digit of a numerator, up and down, a sign, or another point of a
multiplier; the digest is made anew. A certificate that is taken all the same has to prove something
true: the same by other multipliers, a larger bound, or a statement that the solver confirms. About
a tenth of a second for each change of the longest certificates.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import click

from tests.test_certificates import UNREADABLE, mutations, read, true, weaker
from verifiers.worst_case.check import RefusedCertificateError, check
from verifiers.worst_case.digest import sealed


def counted(text: str) -> tuple[Counter[str], list[object]]:
    """Return how many changes end how, and those that the solver does not confirm."""
    file, found, open_ = json.loads(text), Counter[str](), list[object]()
    for what, changed in mutations(file):
        found["changed"] += 1
        try:
            check(sealed(changed))
        except (RefusedCertificateError, *UNREADABLE):
            found["refused"] += 1
            continue
        if weaker(file, changed):
            found["same" if what[0][0] == "multipliers" else "larger bound"] += 1
        elif true(*read(sealed(changed))):
            found["true otherwise"] += 1
        else:
            open_.append(what)
    return found, open_


if __name__ == "__main__":
    total = Counter[str]()
    for path in sorted(Path(sys.argv[1]).glob("*.json")):
        found, open_ = counted(path.read_text(encoding="utf-8"))
        total += found
        click.echo(f"{path.name} {dict(found)} {open_ or ''}")
    click.echo(dict(total))
