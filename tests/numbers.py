"""Which tests solve, judge or print numbers: ``.ci/run`` repeats them with other kernels.

They are not listed. A run notes which files of tests reach a solver, a judge or the command line,
and keeps that in pytest's cache; at the next collection all tests of these files get the marker
``numbers``, and so have tests that no run has seen. A fixture that solves serves all tests of its
file, so files are what is noted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

KEY = "driftproof/numbers"
"""Of pytest's cache: file → whether its tests reach numbers."""

_reached: list[str] = []


def note(what: str) -> None:
    """Note that a test reaches numbers, by a solver, a judge or a command."""
    _reached.append(what)


def taken() -> bool:
    """Tell whether numbers were reached since this was asked before."""
    found = bool(_reached)
    _reached.clear()
    return found


def install() -> None:
    """Have the solvers and the judges note that they are called."""
    import clarabel
    import scipy.optimize

    from driftproof.verifiers.running.jobs import ClaimTask

    for owner, name in (
        (clarabel, "DefaultSolver"), (scipy.optimize, "minimize"), (scipy.optimize, "linprog"),
        (ClaimTask, "work"),
    ):  # fmt: skip
        setattr(owner, name, _noting(getattr(owner, name), name))


def _noting(of: Callable[..., Any], name: str) -> Callable[..., Any]:
    @wraps(of)
    def noting(*args: Any, **options: Any) -> Any:
        note(name)
        return of(*args, **options)

    return noting
