r"""Searches a potential that knows the number t of the round, which proves a rate O(1/t^n).

Of V_t(s) = Σ w_kd t^d q_k(s), with the terms q_k of ``potential``, wanted are weights w such that
for t = 0, 1, … round number t takes any state s to one with

    V_{t+1}(s⁺) ≤ V_t(s),    and (t + 1)^n m ≤ V_t(s) for what is measured after it, m.

So m ≤ V_0(s_0)/t^n after t rounds. A multiplier is Σ_j λ_j t^j over a common denominator, λ_j ≥ 0:
each power of t is a part (``potential.proved``), and Σ_j t^j S_j ⪰ 0. What is found is written as a
theorem in the letter t, and checked as any other. Where q_k(s⁺) has a denominator p(t), V has
p(t − 1)q_k in its place: (t + 2)y beside w, as Nesterov's potential needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

from driftproof.synthetic.classes.conditions import FunctionClass
from driftproof.synthetic.classes.function_class import FunctionClassProblem
from driftproof.synthetic.classes.relations import counted
from driftproof.toolkit.algorithm import Algorithm
from driftproof.toolkit.engines.round_number import ROUND
from driftproof.toolkit.gram.exact import GramForm
from driftproof.toolkit.ratios import Ratio
from driftproof.verifiers.worst_case import potential
from driftproof.verifiers.worst_case.builder import name_of_iterate
from driftproof.verifiers.worst_case.region import at
from driftproof.verifiers.worst_case.sdp import WorstCase
from driftproof.verifiers.worst_case.statement import combined
from driftproof.verifiers.worst_case.written import Right, theorem

(T,) = ROUND.letters
ALL = [["0", "<=", T]]
ONE = ROUND * 0 + 1
ROOMS = (Fraction(4), Fraction(30), Fraction(200))
"""How many times as large as the smallest V one may be, which may be irrational."""


def sublinear(
    algorithm: Algorithm, whole: FunctionClassProblem, measure: Any, power: int, gradients: bool
) -> tuple[str, dict[str, str]]:
    """Prove m = O(1/t^power) of what is measured after a round; return how, and certificates.

    These are "decrease" and "above" of both inequalities, for all t ≥ 0, and "start" of
    V_0 ≤ C‖x_0 − x*‖² where the algorithm begins at x_0.

    Raises:
        DriftproofError: no V_t was found, or a step does more with t than calculate.
    """
    x, n = name_of_iterate(algorithm, whole.function_class), f"^{power}" * (power > 1)
    any_round = replace(whole, conditions=(*whole.conditions, counted()))
    why = "a gradient or a value is needed at a point that changes with t"
    for values in (True, False):
        made = potential.one_round(algorithm, any_round, gradients, values, measure)
        one = potential.without_sizes(made)
        if any(isinstance(c, Ratio) for c in _numbers(of.quantity for of in one.constraints)):
            continue  # a multiplier times a condition is no combination of unknowns
        why = f"no V_t of degree {power} was found that never grows and has (t + 1){n}·m ≤ V_t"
        begin = potential.one_round(algorithm, whole, gradients, values)
        for weights, files in _proved(one, whole.function_class, power):
            first = potential.summed(begin.parts, "before", at(weights, {T: Fraction(0)}))
            if start := potential.at_most(begin, first, begin.objective):
                size = f"{float(start[0]):.6g}·‖{x}_0 − x*‖²"
                return (
                    f"what is measured, m, is at most {size}/t{n} after every number t of rounds:\n"
                    f"  at the start V_0 ≤ {size}; for t = 0, 1, … a round from any state has\n"
                    f"  V_(t+1) ≤ V_t, and after it (t + 1){n}·m ≤ V_t, with points measured from\n"
                    f"  x*, where V_t = {combined(weights.items())}"
                ), {**files, "start": start[1]}
        break
    raise potential.NoPotentialError(why, "a V_t that shows the rate", "take other step sizes")


def _proved(
    one: WorstCase, kind: FunctionClass, power: int
) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    """Yield the weights of a V_t, and certificates in t of both of its inequalities."""
    terms = potential.names(one)
    before, after = ([one.parts[f"{of} {name}"] for name in terms] for of in ("before", "after"))
    cleared = [_denominator([part]) for part in after]
    kinds = (cleared, [ONE] * len(terms))[: 1 + any(map(_degree, cleared))]
    # with a term h nothing bounds F(x_0) − F*: a V_0 without it is sought first
    for bottoms, values in product(kinds, (False, True)):
        earlier = [ONE * 0 + bottom.put({T: ROUND - 1}) for bottom in bottoms]
        every = [(k, d) for d in range(power + 1) for k in range(len(terms))]
        every = [(k, d) for k, d in every if d == 0 or d + _degree(bottoms[k]) <= power]
        every = [(k, d) for k, d in every if d or values or "F(" not in terms[k]]
        now = [before[k] * (earlier[k] * ROUND**d) for k, d in every]
        then = [after[k] * (bottoms[k] * (ROUND + 1) ** d) for k, d in every]
        fall = [*(q - r for q, r in zip(now, then, strict=True)), GramForm()]
        above = [*now, one.objective * (ROUND + 1) ** power]
        powers = [_by_power(forms) for forms in (fall, above)]
        parts = [potential.Part(one, q[:-1], q[-1]) for _, made in powers for q in made]
        first = len(powers[0][1])
        linked = [replace(q, linked=first < k < len(parts) - 1) for k, q in enumerate(parts)]
        for tried in (parts, linked)[: 1 + (linked != parts)]:
            found = potential.proved(tried, kind, Fraction(1), ROOMS)
            if found is None:
                continue
            weights, files = dict[str, Any](), dict[str, str]()
            for (k, d), w in zip(every, found[0], strict=True):
                if w:
                    weights[terms[k]] = weights.get(terms[k], 0) + earlier[k] * ROUND**d * w
            named = zip(("decrease", "above"), (fall, above), powers, strict=True)
            for name, forms, (bottom, made) in named:
                left = sum((q * -w for q, w in zip(forms, found[0], strict=False)), forms[-1])
                used = dict.fromkeys(range(len(one.constraints)), ONE * 0)
                for j, k in product(range(len(made)), used):
                    used[k] += found[1][j].get(k, 0) * ROUND**j / bottom
                del found[1][: len(made)]
                files[name] = theorem(replace(one, objective=left), Right("0"), ALL, used)
            yield weights, files


def _numbers(forms: Iterable[GramForm]) -> list[Any]:
    return [c for of in forms for c in (*of.gram.values(), *of.values.values())]


def _degree(of: Any) -> int:
    return int((ONE * of).top.total_degree())


def _denominator(forms: Sequence[GramForm]) -> Any:
    """Return the least polynomial whose product with each coefficient is one."""
    bottom = ONE
    for c in _numbers(forms):
        bottom = bottom * Ratio((bottom * c).bottom)
    return bottom


def _by_power(forms: Sequence[GramForm]) -> tuple[Any, list[list[GramForm]]]:
    """Return a denominator p, and the coefficients of 1, t, t², … in p times some forms."""
    bottom, made = _denominator(forms), list[list[GramForm]]()
    rest = [of * bottom for of in forms]
    while _numbers(rest):
        made.append([GramForm() + of for of in at(rest, {T: Fraction(0)})])
        rest = [(of - c) * (1 / ROUND) for of, c in zip(rest, made[-1], strict=True)]
    return bottom, made
