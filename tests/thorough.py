"""What ``make test`` leaves to ``make test-thorough``, and what another BLAS kernel has to repeat.

Nothing is lost: ``.ci/run`` runs both, and a file or a test that is named on the command line runs
whole. To leave something out, add a line to ``LEFT`` with its reason.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Left:
    """Tests that ``make test`` leaves out.

    Attributes:
        tests: how the ids of their nodes begin.
        why: what has to change before they can fail.
        sample: whether a sample stays, in which each kind of parameter occurs (``sampled``).
        one_kernel: whether no other BLAS kernel can decide them otherwise.
    """

    tests: str
    why: str
    sample: bool = False
    one_kernel: bool = False


VERDICTS = "tests/test_claims.py::test_verdicts_are_those_on_record_and_siblings_are_refused"
PAGE = "tests/test_pages_that_run.py::test_a_page_is_true_from_top_to_bottom"
LEFT = (
    Left(
        VERDICTS, "engines and judges; `verify --profile smoke` of every claim stays", sample=True
    ),
    Left("tests/test_known_by_enclosure.py", "a family's enclosures", sample=True),
    Left("tests/test_constants.py", "a family's constants", sample=True),
    Left("tests/test_engines.py", "an algorithm or a family", sample=True),
    Left("tests/test_balls_engine.py", "an algorithm or a family", sample=True),
    Left("tests/test_devices.py", "an algorithm or a family", sample=True),
    Left("tests/test_experiments.py::test_a_run_judges_its", "an experiment", one_kernel=True),
    Left("tests/test_fairness.py::test_every_sentence", "the experiment", one_kernel=True),
    Left("tests/test_ends.py::test_smooth_strongly_convex", "the betting test, by six verdicts"),
    *(
        Left(f"{PAGE}[{page}]", "the page, or a command that it shows")
        for page in (
            "own_bilevel",
            "minimax",
            "sets_and_terms",
            "ground_truth",
            "assistant",
            "tutorial",
        )
    ),
    Left("tests/test_bench.py::test_every_way_agrees", "a kernel or a peer", sample=True),
    Left("tests/test_triton.py::test_a_launch", "a kernel for a GPU, interpreted", one_kernel=True),
    Left("tests/test_cluster.py", "how tasks are sent to other machines", one_kernel=True),
    Left("tests/test_kills.py", "the ledger and the workers", one_kernel=True),
    Left("tests/test_fuzz.py::test_a_file_that_is_spoilt_is_told", "readers", one_kernel=True),
    Left("tests/test_prove.py::test_coq_", "what is written for Coq", one_kernel=True),
    Left("tests/test_coq_region.py", "what is written for Coq", one_kernel=True),
    Left("tests/test_site.py", "docs/, which `make docs` builds", one_kernel=True),
    Left("tests/test_notebooks.py::test_what_the_text_says_is_shown", "the notebooks"),
    Left("tests/test_hostile_names.py::test_nothing_of_a", "the page's templates", one_kernel=True),
    Left("tests/test_hostile_names.py::test_the_watch_sees", "the browser", one_kernel=True),
    Left("tests/test_browser.py", "the page's script and its templates", one_kernel=True),
)
DECIDED = (VERDICTS, "tests/test_certificates.py", f"{PAGE}[README]")
"""Tests that are repeated with another BLAS kernel whole, and by a command too."""


def kinds(item: pytest.Item) -> set[Hashable]:
    """Return what a test's parameters stand for: a member for its leaf, a claim for its paper."""
    spec = getattr(item, "callspec", None)
    if spec is None:
        return {""}
    made: set[Hashable] = set()
    for name, value in spec.params.items():
        if hasattr(value, "way"):
            made.add((name, value.way, value.name.partition("/")[0]))
        else:
            made.add((name, getattr(value, "leaf_name", id(value))))
    return made


def sampled(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """Return of each test the first parameters in which a kind occurs that has not yet occurred."""
    met: dict[str, set[Hashable]] = defaultdict(set)
    kept = set()
    for item in items:
        of = met[item.nodeid.partition("[")[0]]
        if not kinds(item) <= of:
            kept.add(item)
            of |= kinds(item)
    return kept


def mark(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is left out as ``thorough``, unless the command line names its file."""
    kept = sampled(items)
    named = {Path(arg.partition("::")[0]).resolve() for arg in config.args}
    for item in items:
        line = line_of(item)
        if line and not (line.sample and item in kept) and item.path not in named:
            item.add_marker(pytest.mark.thorough(line.why))


def repeated(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return what may be repeated with another BLAS kernel: of most tests a sample."""
    kept = sampled(items)
    of = (item for item in items if item in kept or item.nodeid.startswith(DECIDED))
    return [item for item in of if not ((line := line_of(item)) and line.one_kernel)]


def line_of(item: pytest.Item) -> Left | None:
    """Return the line that leaves a test out."""
    return next((line for line in LEFT if item.nodeid.startswith(line.tests)), None)
