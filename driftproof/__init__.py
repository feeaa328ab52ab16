"""driftproof: is a theorem of federated optimisation true as printed, and how tight is it?

What a user's file imports is here: ``from driftproof import claim, each, grid``, the problem
families in ``driftproof.problems`` and the algorithms in ``driftproof.algorithms``. A name is
imported when it is first used, so that importing driftproof costs next to nothing.

A new name is a line of the imports below, of ``__all__`` and of ``_DEFINED_IN``; a test holds the
three to each other.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from driftproof import algorithms, problems
    from toolkit.algorithm import Algorithm, algorithm
    from toolkit.claims import Assumption, Case, claim, grid
    from toolkit.draws import SignMean
    from toolkit.errors import DriftproofError
    from toolkit.measure import average, each, given_past, sq
    from toolkit.parameters import sweep
    from toolkit.problem import Problem, Solution, problem
    from toolkit.readings import (
        ByProof,
        Erratum,
        Stated,
        Undecided,
        intended,
        literal,
        narrower,
        wider,
    )
    from verifiers.asserting import assert_claim, verify

__all__ = [
    "Algorithm",
    "Assumption",
    "ByProof",
    "Case",
    "DriftproofError",
    "Erratum",
    "Problem",
    "SignMean",
    "Solution",
    "Stated",
    "Undecided",
    "algorithm",
    "algorithms",
    "assert_claim",
    "average",
    "claim",
    "each",
    "given_past",
    "grid",
    "intended",
    "literal",
    "narrower",
    "problem",
    "problems",
    "sq",
    "sweep",
    "verify",
    "wider",
]

_DEFINED_IN = {
    "driftproof": ("algorithms", "problems"),
    "toolkit.algorithm": ("Algorithm", "algorithm"),
    "toolkit.claims": ("Assumption", "Case", "claim", "grid"),
    "toolkit.draws": ("SignMean",),
    "toolkit.errors": ("DriftproofError",),
    "toolkit.measure": ("average", "each", "given_past", "sq"),
    "toolkit.parameters": ("sweep",),
    "toolkit.problem": ("Problem", "Solution", "problem"),
    "toolkit.readings": (
        "ByProof", "Erratum", "Stated", "Undecided", "intended", "literal", "narrower", "wider",
    ),
    "verifiers.asserting": ("assert_claim", "verify"),
}  # fmt: skip
_MODULE = {name: module for module, names in _DEFINED_IN.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module 'driftproof' has no attribute {name!r}")
    from driftproof.whole import refuse_hidden

    refuse_hidden()
    module = _MODULE[name]
    if module == "driftproof":
        return importlib.import_module(f"driftproof.{name}")
    return getattr(importlib.import_module(module), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
