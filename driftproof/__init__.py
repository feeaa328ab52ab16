"""driftproof: is a theorem of federated optimisation true as printed, and how tight is it?

What a user's file imports is here: ``from driftproof import bound, each, grid``, the problem
families in ``driftproof.problems``, the algorithms in ``driftproof.algorithms``, the federated
splits in ``driftproof.splits``, networks and the problems on them in ``driftproof.networks``. What
a data set or an experiment is written with is in ``driftproof.datasets`` and
``driftproof.experiments``. A name is imported when it is first used, so that importing driftproof
costs next to nothing.

A new name is a line of the imports below (``toolkit/exports.py``).
"""

from typing import TYPE_CHECKING

from driftproof.toolkit.exports import exports

if TYPE_CHECKING:
    from driftproof import algorithms as algorithms
    from driftproof import datasets as datasets
    from driftproof import experiments as experiments
    from driftproof import networks as networks
    from driftproof import problems as problems
    from driftproof import splits as splits
    from driftproof import strategies as strategies
    from driftproof.synthetic.attacks.search import attack as attack
    from driftproof.synthetic.audit.algorithm import audit_algorithm as audit_algorithm
    from driftproof.synthetic.audit.problem import audit_problem as audit_problem
    from driftproof.synthetic.certificates.robust import robust_optimum as robust_optimum
    from driftproof.toolkit import __version__ as __version__
    from driftproof.toolkit.algorithm import Algorithm as Algorithm
    from driftproof.toolkit.algorithm import Collective as Collective
    from driftproof.toolkit.algorithm import Context as Context
    from driftproof.toolkit.algorithm import algorithm as algorithm
    from driftproof.toolkit.algorithm import descended as descended
    from driftproof.toolkit.autograd_bilevel import AutogradBilevel as AutogradBilevel
    from driftproof.toolkit.autograd_losses import AutogradLosses as AutogradLosses
    from driftproof.toolkit.autograd_losses import LossesProblem as LossesProblem
    from driftproof.toolkit.autograd_minimax import AutogradMinimax as AutogradMinimax
    from driftproof.toolkit.bilevel import BilevelProblem as BilevelProblem
    from driftproof.toolkit.cases import Assumption as Assumption
    from driftproof.toolkit.cases import Case as Case
    from driftproof.toolkit.cases import grid as grid
    from driftproof.toolkit.composition import CompositionProblem as CompositionProblem
    from driftproof.toolkit.composition import NoPlainPart as NoPlainPart
    from driftproof.toolkit.constants import Expression as Expression
    from driftproof.toolkit.constants import Letters as Letters
    from driftproof.toolkit.draws import Law as Law
    from driftproof.toolkit.draws import SignMean as SignMean
    from driftproof.toolkit.draws import Subset as Subset
    from driftproof.toolkit.errors import DriftproofError as DriftproofError
    from driftproof.toolkit.heterogeneity import Heterogeneity as Heterogeneity
    from driftproof.toolkit.heterogeneity import heterogeneity as heterogeneity
    from driftproof.toolkit.measure import Reduction as Reduction
    from driftproof.toolkit.measure import States as States
    from driftproof.toolkit.measure import Steps as Steps
    from driftproof.toolkit.measure import average as average
    from driftproof.toolkit.measure import dot as dot
    from driftproof.toolkit.measure import each as each
    from driftproof.toolkit.measure import given_past as given_past
    from driftproof.toolkit.measure import smallest as smallest
    from driftproof.toolkit.measure import sq as sq
    from driftproof.toolkit.minimax import MinimaxProblem as MinimaxProblem
    from driftproof.toolkit.oracles import Bilevel as Bilevel
    from driftproof.toolkit.oracles import ClientVectors as ClientVectors
    from driftproof.toolkit.oracles import Composition as Composition
    from driftproof.toolkit.oracles import GradientField as GradientField
    from driftproof.toolkit.oracles import InnerVectors as InnerVectors
    from driftproof.toolkit.oracles import Losses as Losses
    from driftproof.toolkit.oracles import Proximal as Proximal
    from driftproof.toolkit.oracles import Pullback as Pullback
    from driftproof.toolkit.parameters import BelowOne as BelowOne
    from driftproof.toolkit.parameters import Flag as Flag
    from driftproof.toolkit.parameters import NonNegative as NonNegative
    from driftproof.toolkit.parameters import NonNegativeInt as NonNegativeInt
    from driftproof.toolkit.parameters import One as One
    from driftproof.toolkit.parameters import Positive as Positive
    from driftproof.toolkit.parameters import PositiveInt as PositiveInt
    from driftproof.toolkit.parameters import Real as Real
    from driftproof.toolkit.parameters import Share as Share
    from driftproof.toolkit.parameters import UnitInterval as UnitInterval
    from driftproof.toolkit.parameters import sweep as sweep
    from driftproof.toolkit.problem import Problem as Problem
    from driftproof.toolkit.problem import Solution as Solution
    from driftproof.toolkit.problem import problem as problem
    from driftproof.toolkit.readings import ByProof as ByProof
    from driftproof.toolkit.readings import Erratum as Erratum
    from driftproof.toolkit.readings import Stated as Stated
    from driftproof.toolkit.readings import Undecided as Undecided
    from driftproof.toolkit.readings import intended as intended
    from driftproof.toolkit.readings import literal as literal
    from driftproof.toolkit.readings import narrower as narrower
    from driftproof.toolkit.readings import wider as wider
    from driftproof.toolkit.recorded_run import run as run
    from driftproof.toolkit.report.results_table import frame as frame
    from driftproof.toolkit.split import FederatedSplit as FederatedSplit
    from driftproof.toolkit.split import split as split
    from driftproof.verifiers.algebra.symbolic import Step as Step
    from driftproof.verifiers.algebra.symbolic import argued as argued
    from driftproof.verifiers.algebra.symbolic import computed as computed
    from driftproof.verifiers.algebra.symbolic import convex_with_minimum as convex_with_minimum
    from driftproof.verifiers.algebra.symbolic import differs as differs
    from driftproof.verifiers.algebra.symbolic import finite_limit as finite_limit
    from driftproof.verifiers.algebra.symbolic import nonnegative as nonnegative
    from driftproof.verifiers.algebra.symbolic import vanishes as vanishes
    from driftproof.verifiers.asserting import assert_claim as assert_claim
    from driftproof.verifiers.asserting import assert_holds as assert_holds
    from driftproof.verifiers.claim_types.bound import bound as bound
    from driftproof.verifiers.claim_types.compared import Comparison as Comparison
    from driftproof.verifiers.claim_types.compared import components as components
    from driftproof.verifiers.claim_types.comparison import comparison as comparison
    from driftproof.verifiers.claim_types.derived import Derived as Derived
    from driftproof.verifiers.claim_types.limit import limit as limit
    from driftproof.verifiers.claim_types.proof import proof as proof
    from driftproof.verifiers.claim_types.rate import Floor as Floor
    from driftproof.verifiers.claim_types.rate import Schedule as Schedule
    from driftproof.verifiers.claim_types.rate import rate as rate
    from driftproof.verifiers.conform.conforming import assert_conforms as assert_conforms
    from driftproof.verifiers.verification import verify as verify

__getattr__, __dir__, __all__ = exports(__name__, __file__)
