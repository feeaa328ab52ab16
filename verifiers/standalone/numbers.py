"""The script of a run whose problem or algorithm has no text in numpy: the run's own numbers.

What the claim's function asks of its view is written out as arrays, for each moment and outcome;
what it makes of them, and the right side, is recomputed.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import numpy as np
from torch import Tensor

from driftproof.toolkit.cases import Case
from driftproof.toolkit.draws import TooManyAtoms
from driftproof.toolkit.engines.enumerated import EnumeratedContext
from driftproof.toolkit.federation import run
from driftproof.verifiers.standalone.left import Given, source_of
from driftproof.verifiers.standalone.refusal import NoScriptError
from driftproof.verifiers.standalone.texts import continued

OUTCOMES = 64
"""Outcomes of all draws that are written out at most."""


def asked(left: Callable[..., Any]) -> Given:
    """Return the expressions of a claim's function that ask its view, in their order."""
    given = Given()
    given.find(source_of(left))
    return given


def numbers_of(left: Callable[..., Any], given: Given, case: Case) -> tuple[list[str], np.ndarray]:
    """Return the lines of what was asked at each moment, and the chances of the outcomes.

    Raises:
        NoScriptError: there are too many outcomes, or something was not asked at each moment.
    """
    assert case.algorithm is not None
    try:
        ctx = EnumeratedContext(case.problem.clients, limit=OUTCOMES)
        noting = _Noting(left, given)
        run(case.problem, case.algorithm, ctx, rounds=case.rounds, left=noting.left)
        if ctx.atom_count > 1:
            ctx, noting = ctx.enumerate(), _Noting(left, given)
            run(case.problem, case.algorithm, ctx, rounds=case.rounds, left=noting.left)
    except TooManyAtoms:
        raise NoScriptError(f"its draws have more than {OUTCOMES} outcomes") from None
    return list(_written(given, noting.moments[2:])), ctx.weights.numpy()


def _written(given: Given, moments: list[dict[int, Any]]) -> Iterator[str]:
    """Yield the lines of a list with an array for each expression, its moments first."""
    yield "answers = ["
    for number, text in enumerate(given.texts):
        if any(number not in answers for answers in moments):
            raise NoScriptError(f"{text} is not asked at each moment")
        values = np.array([answers[number] for answers in moments])
        if values.dtype == object:
            raise NoScriptError(f"{text} is no number: call it where it stands")
        shape = " of shape " + " × ".join(map(str, values.shape)) if values.ndim > 1 else ""
        yield f"    # {text}{shape}"
        yield from continued(f"    {values.tolist()},")
    yield "]"


class _Noting:
    """A claim's function that notes what it was answered.

    Attributes:
        left: the function.
        moments: the answers at each moment that it spoke of, by their numbers. The first two are
            of a trial step, before the run.
    """

    def __init__(self, left: Callable[..., Any], given: Given) -> None:
        node = source_of(left)
        node.decorator_list, node.returns = [], None
        node.args = ast.arguments([], [ast.arg("view")], None, [], [], None, [])
        node.body = [_Noted(given).visit(statement) for statement in node.body]
        module = ast.fix_missing_locations(ast.Module([node], []))
        scope = {**getattr(left, "__globals__", {}), **inspect.getclosurevars(left).nonlocals}
        self.moments: list[dict[int, Any]] = []
        answered: dict[int, Any] = {}

        def note(number: int, value: Any) -> Any:
            answer = value.numpy().copy() if isinstance(value, Tensor) else value
            if not np.array_equal(answered.setdefault(number, answer), answer):
                raise NoScriptError(f"{given.texts[number]} has several values at one moment")
            return value

        scope["note_"] = note
        exec(compile(module, "<noting>", "exec"), scope)
        noting = scope[node.name]

        @wraps(left)
        def taken(view: Any) -> Any:
            answered.clear()
            made = noting(view)
            if made is not None:
                self.moments.append(dict(answered))
            return made

        self.left = taken


class _Noted(ast.NodeTransformer):
    """Puts ``note_(number, …)`` around what asks the view."""

    def __init__(self, given: Given) -> None:
        self._given = given

    def visit(self, node: ast.AST) -> Any:
        """Wrap an expression that is given; look into any other."""
        number = self._given.number(node)
        if number is None:
            return self.generic_visit(node)
        assert isinstance(node, ast.expr)
        name = ast.Name("note_", ast.Load())
        return ast.Call(name, [ast.Constant(number), node], [])
