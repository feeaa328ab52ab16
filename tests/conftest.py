"""The flag --benchmark, two markers, shapes checked at run time, one thread a process."""

import os
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, settings

from tests import shapes, thorough

shapes.install()
os.environ.setdefault("NUMBA_NUM_THREADS", "2")
if not torch.cuda.is_available():  # read by triton when it is imported
    os.environ.setdefault("TRITON_INTERPRET", "1")

settings.register_profile(
    "driftproof",
    deadline=None,  # wall-clock limits belong in benchmarks
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
settings.load_profile("driftproof")
BENCHMARKS = Path(__file__).parent / "benchmarks"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--benchmark", action="store_true", help="Run the benchmarks, and only them.")
    parser.addoption(
        "--part", default="0/1", help="K/N: of the tests that are marked each Nth, from K on."
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--benchmark"):
        config.option.benchmark_only = True


@pytest.hookimpl(tryfirst=True)  # before -m looks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is no benchmark: of a doctest without a line pytest cannot say "skipped"."""
    thorough.mark(config, items)
    thorough.keep_part(config, items)
    if config.getoption("--benchmark"):
        timed = [item for item in items if "benchmark" in getattr(item, "fixturenames", ())]
        config.hook.pytest_deselected(items=[item for item in items if item not in timed])
        items[:] = timed


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if collection_path == BENCHMARKS:
        wanted = config.getoption("--benchmark") or config.getoption("benchmark_only", False)
        named = any(Path(arg).resolve().is_relative_to(BENCHMARKS) for arg in config.args)
        return None if wanted or named else True
    return None


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Begin each test on one thread of torch and of numba.

    A test that starts numba's threads changes torch's number too. On two, small operations of later
    tests waited for each other's processes: the searches of constants took 25 times as long.
    """
    from driftproof.verifiers.running.scheduler import compute_on

    compute_on(1, 1)
