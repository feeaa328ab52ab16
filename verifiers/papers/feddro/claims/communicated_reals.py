"""The reals that FedDRO sends (text after Corollary 5.3).

**Kind.** Complexity, by algebra, and by the bytes that are counted on the wire, one process a
client: T·d_g + ⌊T/I⌋·d reals of 8 bytes.

**Reading.** Embeddings are scalars, d_g = 1, as the text says of DRO; else K⁻¹ε⁻²d_g.
"""

from collections.abc import Callable

import sympy

from driftproof.synthetic.problems.averaged_composition import AveragedComposition
from driftproof.toolkit.algorithms.feddro import FedDRO
from driftproof.toolkit.cases import Case, grid
from driftproof.toolkit.constants import Expression
from driftproof.toolkit.parameters import sweep
from driftproof.verifiers.algebra.symbolic import Step, nonnegative, vanishes
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.papers._wire import counted
from driftproof.verifiers.papers.feddro.claims.corollary_5_3 import (
    LOCAL,
    REAL,
    STEPS,
    batch,
    clients,
    epsilon,
)

d = sympy.symbols("d", positive=True)


Reals = Callable[[Expression, Expression, Expression, Expression], Expression]
"""From steps, rounds that share models, d and d_g to the reals that one client sends."""


def models_and_embeddings(
    steps: Expression, rounds: Expression, dim: Expression, inner: Expression
) -> Expression:
    """Return the reals of T steps and ⌊T/I⌋ rounds that share models."""
    return steps * inner + rounds * dim


def steps_of_reals(reals: Reals) -> list[Step]:
    sent = reals(STEPS, STEPS / LOCAL, d, 1)
    stated = epsilon ** sympy.Rational(-3, 2) * d + epsilon**-2 / (batch * clients)
    # K⁻¹ε⁻² over ε^{−3/2}d is ε^{−1/2}/(bdK)
    share = epsilon**-2 / (batch * clients) / (epsilon ** sympy.Rational(-3, 2) * d)
    least = share.subs(d, epsilon ** sympy.Rational(-1, 2) / clients)
    return [
        vanishes(
            sympy.powsimp(sympy.expand(sent - stated), force=True),
            r"T + \tfrac TI d = \epsilon^{-3/2}d + \epsilon^{-2}/(|b|K)",
        ),
        vanishes(
            least - 1 / batch,
            r"\text{at } dK = \epsilon^{-1/2}: \quad K^{-1}\epsilon^{-2} = "
            r"\epsilon^{-3/2}d \text{ up to } |b|",
        ),
        nonnegative(-share.diff(d), r"\text{and their ratio falls with } d"),
    ]


@comparison(
    name="feddro/communicated-reals",
    kind="complexity",
    source="FedDRO (2023), text after Corollary 5.3",
    statement=r"\mathcal O(\epsilon^{-3/2}d+K^{-1}\epsilon^{-2}) \text{ reals a client},\quad "
    r"\mathcal O(\epsilon^{-3/2}d) \text{ if } dK\ge\mathcal O(\epsilon^{-1/2})",
    cases=grid(
        AveragedComposition(clients=2, dim=sweep(1, 5), inner_dim=sweep(1, 3)),
        FedDRO(local_steps=sweep(1, 4)),
        rounds=6,
    ),
    right=models_and_embeddings,
    false_siblings=[
        ("models alone", lambda steps, rounds, dim, inner: rounds * dim),
        ("a model at each step", lambda steps, rounds, dim, inner: steps * (dim + inner)),
    ],
    prove=steps_of_reals,
    explain="As stated, for scalar embeddings; the engine counts the same.",
)
def communicated(case: Case[AveragedComposition, FedDRO], reals: Reals) -> list[Comparison]:
    method, problem = case.algorithm, case.problem
    sent = counted(case).bytes_up / REAL / problem.clients
    steps = case.rounds * method.local_steps
    stated = float(reals(steps, case.rounds, problem.dim, problem.inner_dim))
    return [Comparison("reals that one client sends", sent, sent, stated)]
