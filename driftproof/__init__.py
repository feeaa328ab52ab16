"""driftproof: is a theorem of federated optimisation true as printed, and how tight is it?

What a user's file imports is here: ``from driftproof import bound, each, grid``, the problem
families in ``driftproof.problems``, the algorithms in ``driftproof.algorithms``, the federated
splits in ``driftproof.splits``, networks and the problems on them in ``driftproof.networks``. What
a data set or an experiment is written with is in ``driftproof.datasets`` and
``driftproof.experiments``. A name is imported when it is first used, so that importing driftproof
costs next to nothing.

A new name is a line of the imports below, of ``__all__`` and of ``_DEFINED_IN``; a test holds the
three to each other.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from driftproof import (
        algorithms,
        datasets,
        experiments,
        networks,
        problems,
        splits,
        strategies,
    )
    from synthetic.attacks import attack
    from synthetic.audit import audit_algorithm, audit_problem
    from toolkit.algorithm import Algorithm, Collective, Context, algorithm, descended
    from toolkit.autograd_bilevel import AutogradBilevel
    from toolkit.bilevel import BilevelProblem
    from toolkit.cases import Assumption, Case, grid
    from toolkit.composition import CompositionProblem, NoPlainPart
    from toolkit.constants import Expression, Letters
    from toolkit.draws import Law, SignMean
    from toolkit.errors import DriftproofError
    from toolkit.flower_split import from_flower
    from toolkit.heterogeneity import Heterogeneity, heterogeneity
    from toolkit.measure import Reduction, States, Steps, average, each, given_past, sq
    from toolkit.oracles import (
        Bilevel,
        ClientVectors,
        Composition,
        GradientField,
        InnerVectors,
        Losses,
        Pullback,
    )
    from toolkit.parameters import (
        BelowOne,
        Flag,
        NonNegative,
        NonNegativeInt,
        One,
        Positive,
        PositiveInt,
        Real,
        Share,
        UnitInterval,
        sweep,
    )
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
    from toolkit.recorded_run import run
    from toolkit.report.results_table import frame
    from toolkit.split import FederatedSplit, split
    from verifiers.algebra.symbolic import (
        Step,
        argued,
        computed,
        convex_with_minimum,
        differs,
        finite_limit,
        nonnegative,
        vanishes,
    )
    from verifiers.asserting import assert_claim, assert_holds
    from verifiers.claim_types.bound import bound
    from verifiers.claim_types.compared import Comparison, components
    from verifiers.claim_types.comparison import comparison
    from verifiers.claim_types.derived import Derived
    from verifiers.claim_types.proof import proof
    from verifiers.claim_types.rate import Floor, Schedule, rate
    from verifiers.verification import verify

__all__ = [
    "Algorithm",
    "Assumption",
    "AutogradBilevel",
    "BelowOne",
    "Bilevel",
    "BilevelProblem",
    "ByProof",
    "Case",
    "ClientVectors",
    "Collective",
    "Comparison",
    "Composition",
    "CompositionProblem",
    "Context",
    "Derived",
    "DriftproofError",
    "Erratum",
    "Expression",
    "FederatedSplit",
    "Flag",
    "Floor",
    "GradientField",
    "Heterogeneity",
    "InnerVectors",
    "Law",
    "Letters",
    "Losses",
    "NoPlainPart",
    "NonNegative",
    "NonNegativeInt",
    "One",
    "Positive",
    "PositiveInt",
    "Problem",
    "Pullback",
    "Real",
    "Reduction",
    "Schedule",
    "Share",
    "SignMean",
    "Solution",
    "Stated",
    "States",
    "Step",
    "Steps",
    "Undecided",
    "UnitInterval",
    "algorithm",
    "algorithms",
    "argued",
    "assert_claim",
    "assert_holds",
    "attack",
    "audit_algorithm",
    "audit_problem",
    "average",
    "bound",
    "comparison",
    "components",
    "computed",
    "convex_with_minimum",
    "datasets",
    "descended",
    "differs",
    "each",
    "experiments",
    "finite_limit",
    "frame",
    "from_flower",
    "given_past",
    "grid",
    "heterogeneity",
    "intended",
    "literal",
    "narrower",
    "networks",
    "nonnegative",
    "problem",
    "problems",
    "proof",
    "rate",
    "run",
    "split",
    "splits",
    "sq",
    "strategies",
    "sweep",
    "vanishes",
    "verify",
    "wider",
]

_DEFINED_IN = {
    "driftproof": (
        "algorithms", "datasets", "experiments", "networks", "problems", "splits", "strategies",
    ),
    "synthetic.attacks": ("attack",),
    "synthetic.audit": ("audit_algorithm", "audit_problem"),
    "toolkit.algorithm": ("Algorithm", "Collective", "Context", "algorithm", "descended"),
    "toolkit.autograd_bilevel": ("AutogradBilevel",),
    "toolkit.bilevel": ("BilevelProblem",),
    "toolkit.cases": ("Assumption", "Case", "grid"),
    "toolkit.composition": ("CompositionProblem", "NoPlainPart"),
    "toolkit.constants": ("Expression", "Letters"),
    "toolkit.draws": ("Law", "SignMean"),
    "toolkit.errors": ("DriftproofError",),
    "toolkit.flower_split": ("from_flower",),
    "toolkit.heterogeneity": ("Heterogeneity", "heterogeneity"),
    "toolkit.measure": ("Reduction", "States", "Steps", "average", "each", "given_past", "sq"),
    "toolkit.oracles": (
        "Bilevel", "ClientVectors", "Composition", "GradientField", "InnerVectors", "Losses",
        "Pullback",
    ),
    "toolkit.parameters": (
        "BelowOne", "Flag", "NonNegative", "NonNegativeInt", "One", "Positive", "PositiveInt",
        "Real", "Share", "UnitInterval", "sweep",
    ),
    "toolkit.problem": ("Problem", "Solution", "problem"),
    "toolkit.readings": (
        "ByProof", "Erratum", "Stated", "Undecided", "intended", "literal", "narrower", "wider",
    ),
    "toolkit.recorded_run": ("run",),
    "toolkit.report.results_table": ("frame",),
    "toolkit.split": ("FederatedSplit", "split"),
    "verifiers.asserting": ("assert_claim", "assert_holds"),
    "verifiers.claim_types.bound": ("bound",),
    "verifiers.claim_types.comparison": ("comparison",),
    "verifiers.claim_types.proof": ("proof",),
    "verifiers.claim_types.rate": ("Floor", "Schedule", "rate"),
    "verifiers.claim_types.compared": ("Comparison", "components"),
    "verifiers.claim_types.derived": ("Derived",),
    "verifiers.algebra.symbolic": (
        "Step", "argued", "computed", "convex_with_minimum", "differs", "finite_limit",
        "nonnegative", "vanishes",
    ),
    "verifiers.verification": ("verify",),
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
