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
    from driftproof.synthetic.attacks import attack
    from driftproof.synthetic.audit import audit_algorithm, audit_problem
    from driftproof.toolkit.algorithm import Algorithm, Collective, Context, algorithm, descended
    from driftproof.toolkit.autograd_bilevel import AutogradBilevel
    from driftproof.toolkit.bilevel import BilevelProblem
    from driftproof.toolkit.cases import Assumption, Case, grid
    from driftproof.toolkit.composition import CompositionProblem, NoPlainPart
    from driftproof.toolkit.constants import Expression, Letters
    from driftproof.toolkit.draws import Law, SignMean
    from driftproof.toolkit.errors import DriftproofError
    from driftproof.toolkit.heterogeneity import Heterogeneity, heterogeneity
    from driftproof.toolkit.measure import Reduction, States, Steps, average, each, given_past, sq
    from driftproof.toolkit.oracles import (
        Bilevel,
        ClientVectors,
        Composition,
        GradientField,
        InnerVectors,
        Losses,
        Pullback,
    )
    from driftproof.toolkit.parameters import (
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
    from driftproof.toolkit.problem import Problem, Solution, problem
    from driftproof.toolkit.readings import (
        ByProof,
        Erratum,
        Stated,
        Undecided,
        intended,
        literal,
        narrower,
        wider,
    )
    from driftproof.toolkit.recorded_run import run
    from driftproof.toolkit.report.results_table import frame
    from driftproof.toolkit.split import FederatedSplit, split
    from driftproof.verifiers.algebra.symbolic import (
        Step,
        argued,
        computed,
        convex_with_minimum,
        differs,
        finite_limit,
        nonnegative,
        vanishes,
    )
    from driftproof.verifiers.asserting import assert_claim, assert_holds
    from driftproof.verifiers.claim_types.bound import bound
    from driftproof.verifiers.claim_types.compared import Comparison, components
    from driftproof.verifiers.claim_types.comparison import comparison
    from driftproof.verifiers.claim_types.derived import Derived
    from driftproof.verifiers.claim_types.proof import proof
    from driftproof.verifiers.claim_types.rate import Floor, Schedule, rate
    from driftproof.verifiers.verification import verify

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
    "driftproof.synthetic.attacks": ("attack",),
    "driftproof.synthetic.audit": ("audit_algorithm", "audit_problem"),
    "driftproof.toolkit.algorithm": (
        "Algorithm", "Collective", "Context", "algorithm", "descended",
    ),
    "driftproof.toolkit.autograd_bilevel": ("AutogradBilevel",),
    "driftproof.toolkit.bilevel": ("BilevelProblem",),
    "driftproof.toolkit.cases": ("Assumption", "Case", "grid"),
    "driftproof.toolkit.composition": ("CompositionProblem", "NoPlainPart"),
    "driftproof.toolkit.constants": ("Expression", "Letters"),
    "driftproof.toolkit.draws": ("Law", "SignMean"),
    "driftproof.toolkit.errors": ("DriftproofError",),
    "driftproof.toolkit.heterogeneity": ("Heterogeneity", "heterogeneity"),
    "driftproof.toolkit.measure": (
        "Reduction", "States", "Steps", "average", "each", "given_past", "sq",
    ),
    "driftproof.toolkit.oracles": (
        "Bilevel", "ClientVectors", "Composition", "GradientField", "InnerVectors", "Losses",
        "Pullback",
    ),
    "driftproof.toolkit.parameters": (
        "BelowOne", "Flag", "NonNegative", "NonNegativeInt", "One", "Positive", "PositiveInt",
        "Real", "Share", "UnitInterval", "sweep",
    ),
    "driftproof.toolkit.problem": ("Problem", "Solution", "problem"),
    "driftproof.toolkit.readings": (
        "ByProof", "Erratum", "Stated", "Undecided", "intended", "literal", "narrower", "wider",
    ),
    "driftproof.toolkit.recorded_run": ("run",),
    "driftproof.toolkit.report.results_table": ("frame",),
    "driftproof.toolkit.split": ("FederatedSplit", "split"),
    "driftproof.verifiers.asserting": ("assert_claim", "assert_holds"),
    "driftproof.verifiers.claim_types.bound": ("bound",),
    "driftproof.verifiers.claim_types.comparison": ("comparison",),
    "driftproof.verifiers.claim_types.proof": ("proof",),
    "driftproof.verifiers.claim_types.rate": ("Floor", "Schedule", "rate"),
    "driftproof.verifiers.claim_types.compared": ("Comparison", "components"),
    "driftproof.verifiers.claim_types.derived": ("Derived",),
    "driftproof.verifiers.algebra.symbolic": (
        "Step", "argued", "computed", "convex_with_minimum", "differs", "finite_limit",
        "nonnegative", "vanishes",
    ),
    "driftproof.verifiers.verification": ("verify",),
}  # fmt: skip
_MODULE = {name: module for module, names in _DEFINED_IN.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module 'driftproof' has no attribute {name!r}")
    module = _MODULE[name]
    if module == "driftproof":
        return importlib.import_module(f"driftproof.{name}")
    return getattr(importlib.import_module(module), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
