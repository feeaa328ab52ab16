"""Which tests solve or judge: ``.ci/run`` repeats them with other kernels.

They are not listed. A run notes which tests reach a solver or a judge in their process, and keeps
that in pytest's cache; at the next collection they get the marker ``numbers``; so do tests that
no run has seen. What a fixture or a cached function solves serves all tests of its file: where one
does, the whole file is noted.
"""

from collections.abc import Callable, Generator
from functools import cache, wraps
from pathlib import Path
from typing import Any

import pytest

from tests import thorough

KEY = "driftproof/numbers"
"""Of pytest's cache: a test → whether it reaches numbers; a file → whether all its tests may."""

ROOT = Path(__file__).parents[1]

_reached: list[str] = []


def note(what: str) -> None:
    """Note that a test reaches numbers, by a solver or a judge."""
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

    from driftproof.verifiers.judges.judge import ClaimTask

    for owner, name in (
        (clarabel, "DefaultSolver"),
        (scipy.optimize, "minimize"),
        (scipy.optimize, "linprog"),
        (ClaimTask, "work"),
    ):
        setattr(owner, name, _noting(getattr(owner, name), name))


def _noting(of: Callable[..., Any], name: str) -> Callable[..., Any]:
    @wraps(of)
    def noting(*args: Any, **options: Any) -> Any:
        note(name)
        return of(*args, **options)

    return noting


class Notes:
    """The plugin: of doctests, too, which lie outside of the tests' folder."""

    def __init__(self, config: pytest.Config) -> None:
        self._cache = config.cache
        self._known: dict[str, bool] = self._cache.get(KEY, {}) if self._cache else {}
        self._seen: dict[str, bool] = {}
        self._leads = not hasattr(config, "workerinput")

    @pytest.hookimpl(tryfirst=True)  # before -m looks
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Mark what reaches numbers."""
        for item in thorough.repeated(items):
            known = self._known.get
            found = known(_test(item.nodeid), True) or known(_file(item.nodeid), False)
            if found or item.nodeid.startswith(thorough.DECIDED):
                item.add_marker("numbers")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Write into a test's report whether it reached numbers; workers send their reports."""
        item.user_properties.append((KEY, taken()))
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Read the reports."""
        test, file = _test(report.nodeid), _file(report.nodeid)
        reached = any(found for name, found in report.user_properties if name == KEY)
        self._seen[test] = self._seen.get(test, self._known.get(test, False)) or reached
        if reached and (report.when == "setup" or _caches(file)):
            self._seen[file] = True

    def pytest_sessionfinish(self) -> None:
        """Keep which tests reach numbers; one that did once is one, whichever were chosen."""
        if self._cache and self._leads:
            self._cache.set(KEY, self._known | self._seen)


def _file(node: str) -> str:
    return node.split("::")[0]


def _test(node: str) -> str:
    return node.split("[")[0]


@cache
def _caches(file: str) -> bool:
    return "cache" in (ROOT / file).read_text(encoding="utf-8")  # a test may be in another folder
