"""A plugin for pytest: ``pytest --driftproof mine.py`` makes a test of each claim of a file.

Without the option it does nothing. Torch and the judges are imported when the first claim is run.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from driftproof.toolkit.discover import Leaf


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options ``--driftproof``, ``--driftproof-search`` and ``--driftproof-profile``."""
    group = parser.getgroup("driftproof", "claims of driftproof as tests")
    group.addoption(
        "--driftproof", action="store_true", help="Judge the claims of Python files, each a test."
    )
    group.addoption(
        "--driftproof-search",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="Search each claim for a counterexample for so long.",
    )
    group.addoption(
        "--driftproof-profile",
        choices=("smoke", "quick", "full"),
        default="quick",
        help="How much each claim is given: smoke, quick (the default) or full.",
    )


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(
    parser: pytest.Parser, args: list[str]
) -> Generator[None, Any, Any]:
    """Say where ``--benchmark`` works: the option is one of the tests in driftproof's clone."""
    loaded = yield
    if "--benchmark" in args and "--benchmark" in parser.parse_known_and_unknown_args(args)[1]:
        raise pytest.UsageError(
            "pytest --benchmark times driftproof's kernels in a clone of its repository: run it in "
            "the clone's folder, after make test. An installed driftproof has driftproof bench."
        )
    return loaded


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ClaimFile | None:
    """Return a collector for a Python file that names driftproof, or that pytest was given."""
    if not parent.config.getoption("--driftproof") or file_path.suffix != ".py":
        return None
    given = parent.session.isinitpath(file_path)
    if not given and b"driftproof" not in file_path.read_bytes():
        return None
    collector: ClaimFile = ClaimFile.from_parent(parent, path=file_path)
    return collector


class ClaimFile(pytest.File):
    """A file whose claims are tests."""

    def collect(self) -> Iterator[ClaimItem]:
        """Yield a test for each claim."""
        from driftproof.toolkit.errors import DriftproofError
        from driftproof.verifiers.claim_types.sources import claims_in

        try:
            found = claims_in(self.path)
        except DriftproofError as error:
            raise self.CollectError(str(error)) from None
        for leaf in found:
            yield ClaimItem.from_parent(self, name=leaf.name, leaf=leaf)


class ClaimError(Exception):
    """A claim does not hold, or cannot be judged; its text says all."""


class ClaimItem(pytest.Item):
    """One claim: it passes if ``driftproof.assert_claim`` does."""

    def __init__(self, *, leaf: Leaf, **more: Any) -> None:
        super().__init__(**more)
        self.leaf = leaf

    def runtest(self) -> None:
        """Judge the claim, and search it if that is asked for."""
        from driftproof.toolkit.errors import DriftproofError
        from driftproof.verifiers.asserting import failure
        from driftproof.verifiers.claim_types.sources import blaming

        option = self.config.getoption
        try:
            with blaming(self.leaf):
                wrong = failure(
                    self.leaf.load(),
                    profile=option("--driftproof-profile"),
                    seed=0,
                    search=option("--driftproof-search"),
                )
        except DriftproofError as error:
            raise ClaimError(str(error)) from None
        if wrong:
            raise ClaimError(wrong)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show the table and the counterexample, without a traceback."""
        if isinstance(excinfo.value, ClaimError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the file and the claim's name, for the headline of a failure."""
        return self.path, None, self.name
