r"""A limit that linear gradients refute as LaTeX: the functions, the round, how iterates go."""

import re
from fractions import Fraction
from itertools import count
from typing import Any

from driftproof.synthetic.classes.conditions import FunctionClass
from driftproof.toolkit.balls.tensor import fraction
from driftproof.toolkit.rationals import rounded
from driftproof.toolkit.series import Recurrence
from driftproof.toolkit.verdict import Row
from driftproof.verifiers.claim_types.limit import converges
from driftproof.verifiers.judges.limits import slowest_of
from driftproof.verifiers.judges.worst_cases import right_side
from driftproof.verifiers.standalone import tex
from driftproof.verifiers.standalone.refusal import NoScriptError
from driftproof.verifiers.standalone.terms import number_text
from driftproof.verifiers.worst_case.on_quadratics import Mode

DIGITS = 6
"""Of a rate, at least: as many as show which of two is the larger."""


def tex_of_limit(claim: Any, row: Row) -> str:
    """Return the LaTeX of a run on linear gradients that breaks a limit.

    Raises:
        NoScriptError: something else refutes it.
    """
    classes = claim.classes if isinstance(row.series, Recurrence) else ()
    case = next((case for case in classes if case.key == row.case["key"]), None)
    form = next(form for form in claim.forms if form.key == row.form_key)
    mode = slowest_of(claim, case, form) if case else None
    if case is None or mode is None:
        raise NoScriptError(f"what refutes it has no functions to write down: {row.reason}")
    right = right_side(claim, case, form)
    goes, limit = _goes(mode, right.low, right.high, converging=form.right is converges)
    limit = f"is $O({claim.rate})$" if claim.rate else limit
    end = f"{goes}, while the claim says that it {limit}."
    if carried := re.search(r"≤ (\S+)·m$", row.reason):
        most = rf"After a round it is at most ${carried[1]}\,m$, $m$ being what the claim measures,"
        end = f"{goes}. {most}\nof which it says that it {limit}."
    method, clients = case.algorithm, tex.counted(case.problem.clients, "client")
    first, _, *made = tex.heading(claim, row.form_key)
    called = tex.of_method(method, notation={**method.notation, **claim.letters})
    made += _functions(mode, case.problem.function_class, case.problem.term)
    update = tex.update_of(method)
    made += [f"Run {called} on {clients}{':' if update else '.'}", *update, *_round(mode)]
    made += [f"There is an initial state from which {end}"]
    made += [*tex.rounding_of(method, "\n".join(made)), ""]
    return "\n".join([first, *made])


def _functions(mode: Mode, of: FunctionClass, term: FunctionClass | None) -> list[str]:
    """Return the functions or operators, of which class they are, and where the solution is."""
    turns = len(mode.clients[0]) > 1
    at, name = ("(x, y)", "f" if mode.saddle else "A") if turns else ("(x)", "f")
    made = [tex.linear(matrix, mode.saddle) for matrix in mode.clients]
    said = [f"{name}_{{{k}}}{at} = {text}" for k, text in enumerate(made, 1)]
    if len(set(made)) == 1:
        said = [f"{name}{'_{i}' * (len(made) > 1)}{at} = {made[0]}"]
    kind = tex.kind_of({one.name: one.constants for one in of.conditions}, operator=turns)
    if turns:
        field = r"A = (\nabla_x f, -\nabla_y f)" if mode.saddle else "A"
        kind = f"the field ${field}$, along which steps go, is {kind}"
    share = term.parameters.get("mu", Fraction(0)) if term else 0
    own = rf"\nabla h = {number_text(share)} \cdot" if share else "h = 0"
    h = f", and ${own}{' x' * bool(share)}$" * (term is not None)
    solution = "saddle point" if mode.saddle else "zero" if turns else "minimiser"
    which = "where" if turns else "which is"
    return ["Let", rf"\[ {', '.join(said)}, \]", f"{which} {kind}{h}. The {solution} is $0$."]


def _round(mode: Mode) -> list[str]:
    """Return what a round does, and the recurrence."""
    k, z = len(mode.recurrence), "z" if len(mode.clients[0]) > 1 else "x"
    powers = [f"{z}_{{t+{j}}}" if j else f"{z}_{{t}}" for j in range(k)]
    terms = reversed([*zip(mode.recurrence, powers, strict=True)])
    obeyed = rf"\[ {z}_{{t+{k}}} = {tex.multiples(terms)}. \]"
    if z == "x" or not mode.step:
        return [rf"The iterates ${z}_{{t}}$ after $t$ rounds obey", obeyed]
    rows = [tex.multiples(zip(row, ("x_{t}", "y_{t}"), strict=True)) for row in mode.step]
    made = [f"{name}_{{t+1}} = {row}" for name, row in zip("xy", rows, strict=True)]
    step = rf"\[ {made[0]}, \quad {made[1]}, \]"
    return [r"A round takes $z_{t} = (x_{t}, y_{t})$ to", step, "so that", obeyed]


def _goes(mode: Mode, low: Fraction, high: Fraction, *, converging: bool) -> tuple[str, str]:
    """Return how ‖z_t‖² goes, and what is claimed of it: rounded, the larger one is so still."""
    size = rf"$\|{'z' if len(mode.clients[0]) > 1 else 'x'}_{{t}}\|^{{2}}$"
    limit = "goes to $0$" if converging else "stays bounded"
    twice = "t^{2} " * mode.has_largest_twice
    if mode.reaches(Fraction(1)):
        return f"{size} grows like $t^{{2}}$" if twice else f"{size} does not go to $0$", limit
    least, exact = fraction(mode.factor.lower()), mode.short_factor
    for digits in count(DIGITS):
        rho, a = (rounded(x, digits, up=up) for x, up in ((least, False), (high, True)))
        if Fraction(rho) > Fraction(a) or mode.reaches(high):
            break
    rho = rf"\ge {rho}" if exact is None else f"= {number_text(exact)}"
    goes = rf"{size} goes like ${twice}\rho^{{t}}$ with $\rho {rho}$"
    if converging or high == 1:
        return goes, limit
    short = low == high and len(f"{high}") <= 2 * DIGITS
    a = f"= {number_text(high)}" if short else rf"\le {a}"
    return goes, f"is $O(a^{{t}})$ with $a {a}$"
