"""The claims of docs/closed_forms.py, at numbers."""

from dataclasses import replace
from fractions import Fraction

from driftproof.toolkit.discover import claims_of, import_path
from driftproof.verifiers.judges.theorems import with_numbers
from tests.commands import ROOT

FILE = ROOT / "docs" / "closed_forms.py"
FORMS = import_path(FILE)
distance, gap, gradient = FORMS.distance, FORMS.gap, FORMS.gradient
CLAIMS = {name.removeprefix("pepit/"): claim for name, claim in claims_of(FILE)[0].items()}


def at(name, rounds, own=(), **letters):
    """Return a claim of the file on one case: of these rounds, with numbers for its letters.

    Args:
        own: fields of the method that are no letters.
    """
    case = CLAIMS[name].classes[0]
    case = replace(case, rounds=rounds, algorithm=replace(case.algorithm, **dict(own)))
    numbers = {letter: Fraction(value) for letter, value in letters.items()}
    return replace(CLAIMS[name], classes=[with_numbers(case, numbers)])
