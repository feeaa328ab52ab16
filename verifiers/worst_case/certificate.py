"""Proves a bound on a worst case by multipliers in fractions (``face``, ``proof``).

Nothing of this has to be believed: ``verifiers.worst_case.check`` checks what is written.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import islice

from flint import fmpq_mat

from driftproof.toolkit.errors import DriftproofError
from driftproof.verifiers.worst_case.exact import Exact
from driftproof.verifiers.worst_case.face import Kernel, Optimum, kernels, optimum
from driftproof.verifiers.worst_case.program import Solved
from driftproof.verifiers.worst_case.proof import Proof, approach, prove
from driftproof.verifiers.worst_case.sdp import WorstCase
from driftproof.verifiers.worst_case.solve import solve

ROOM = Fraction(1, 10**7)
"""How much larger than the solver's value a bound has to be to be proved with a margin; a smaller
one takes the multipliers of the worst case itself. Relative to the value, or to the size of the
program's numbers where it is 0, like all of the following."""
SHARP = Fraction(1, 100)
"""How much larger than the worst case a bound is that is proved where the right side has room."""
WIDER = (Fraction(1, 10**4), SHARP)
"""The same where neither the worst case itself nor what is nearly it can be proved."""


def certify(
    case: WorstCase | Exact,
    solved: Solved | None = None,
    *,
    at_most: Fraction | None = None,
    at: Callable[[], Optimum] | None = None,
) -> Proof:
    """Return a proof of a bound; it need not be as small as was asked for.

    Args:
        solved: what ``solve(case)`` gave, if it was solved before.
        at_most: the bound that is wanted (None: the smallest that can be proved).
        at: what ``optimum`` gives near ``solved``, if others ask for it, too.

    Raises:
        DriftproofError: nothing could be proved.
    """
    exact = case if isinstance(case, Exact) else Exact(case)
    found = solved or solve(exact.case)
    best: Proof | None = None
    for proof in _tried(exact, found, at_most, at):
        if best is None or proof.bound < best.bound:
            best = proof
        if at_most is not None and proof.bound <= at_most:
            return proof
    if best is None:
        raise DriftproofError(
            f"a worst case of about {found.value:.9g}, of which no bound could be proved",
            "multipliers in fractions",
            "take a class or a start that bounds every point, or hyper-parameters of few digits",
        )
    return best


def _tried(
    exact: Exact, solved: Solved, at_most: Fraction | None, at: Callable[[], Optimum] | None
) -> Iterator[Proof]:
    """Yield proofs, the first that are likely to do first."""
    value = Fraction(solved.value)
    size = max(abs(value), exact.scale)
    every, zero = range(len(exact.rows)), Kernel(fmpq_mat(exact.size, 0), ())
    bounds: list[Fraction] = []  # that a margin may be enough for
    if at_most is not None and at_most > value + ROOM * size:
        bounds = [min(at_most, value + SHARP * size), at_most]
    elif abs(value) < ROOM * exact.scale:
        bounds = [Fraction(0)]  # no multiplier of a bound is needed
    for bound in bounds:
        if (proof := prove(exact, zero, every, exact.value(bound))) is not None:
            yield proof
    near = exact.near(solved)
    of_face = at() if at is not None else optimum(exact, near)

    def proofs(**of: bool) -> Iterator[Proof]:
        used, every = list(of_face.multipliers), kernels(of_face, **of)
        return filter(None, (prove(exact, kernel, used, None) for kernel in every))

    proof = None
    for proof in proofs(guessed=not of_face.solved):
        yield proof
    if (nearly := approach(exact, of_face, near)) is not None:
        yield nearly
        if of_face.solved and at_most is None:  # the rest is no nearer than some sixty digits
            return
    if proof is None and of_face.solved:
        yield from islice(proofs(told=False), 1)
    for bound in [value + share * size for share in WIDER]:
        if nearly is not None and nearly.bound <= bound:  # a wider one is no better
            break
        if (proof := prove(exact, zero, every, exact.value(bound))) is not None:
            yield proof
