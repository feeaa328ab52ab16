"""Says at which moment of a run a comparison was made."""

from collections.abc import Sequence

from driftproof.toolkit.cases import Case


def place(case: Case, how: Sequence[str], at: Sequence[int], number: int, total: int) -> str:
    """Return where in its run comparison ``number`` of ``total`` lies, in words ("": there is one).

    Rounds and steps are counted from 1 in words; ``view.round`` and ``view.t`` are from 0.

    Args:
        how: how moments became comparisons, as ("each", "round").
        at: the moments of the trace, in which one stands as often as it has comparisons.
        number: counted from 0.

    >>> from driftproof.synthetic.problems import BoundedComposition
    >>> from driftproof.toolkit.algorithms import ComFedL
    >>> case = Case(BoundedComposition(clients=2), ComFedL(local_steps=3), rounds=2)
    >>> place(case, ("each", "round", "local_step"), range(1, 7), 4, 6)
    'at round 2, local step 2'
    >>> place(case, ("each", "step"), [1, 1, 2, 2], 7, 12), place(case, ("each", "step"), [1], 1, 2)
    ('at step 4, client 1', 'at comparison 2 of 2')
    """
    if total <= 1:
        return ""
    tau = case.algorithm.local_steps if case.algorithm is not None else 1
    axes = tuple(how[1:])
    moments = case.rounds if axes == ("round",) else case.rounds * tau
    beside = list(at).count(at[0]) if len(at) else 1
    if tuple(how[:1]) != ("each",) or total != moments * beside:  # some moments had none
        return f"at comparison {number + 1} of {total}"
    moment, client = divmod(number, beside)
    where = f"at {'round' if axes == ('round',) else 'step'} {moment + 1}"
    if axes == ("round", "local_step"):
        where = f"at round {moment // tau + 1}, local step {moment % tau + 1}"
    return where + (f", client {client}" if beside > 1 else "")
