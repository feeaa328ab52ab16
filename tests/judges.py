"""The modules that decide verdicts, the tests that exercise them, and which branches these miss.

python -m tests.judges [TEST_FILE …]
"""

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "judges"
DATA, SECONDS = BUILD / "coverage.sqlite", BUILD / "seconds.json"

MODULES = (
    "toolkit/groups.py",
    "toolkit/statements.py",
    "toolkit/statistics.py",
    "toolkit/verdict.py",
    "verifiers/judges/assumptions.py",
    "verifiers/judges/bands.py",
    "verifiers/claim_types/order_in_statement.py",
    "verifiers/claim_types/compared.py",
    "verifiers/algebra/conditioned.py",
    "verifiers/judges/attacked.py",
    "verifiers/judges/audit_gate.py",
    "verifiers/claim_types/derived.py",
    "verifiers/algebra/domains.py",
    "verifiers/algebra/fractions.py",
    "verifiers/judges/bounds.py",
    "verifiers/judges/enclosed.py",
    "verifiers/judges/evidence.py",
    "verifiers/judges/schedule_check.py",
    "verifiers/judges/limits.py",
    "verifiers/judges/comparisons.py",
    "verifiers/judges/growth.py",
    "verifiers/algebra/orders.py",
    "verifiers/judges/proofs.py",
    "verifiers/judges/rates.py",
    "verifiers/baseline.py",
    "toolkit/engines/second_moments.py",
    "verifiers/judges/slope.py",
    "verifiers/algebra/symbolic.py",
    "verifiers/worst_case/check.py",
    "verifiers/worst_case/check_counterexample.py",
    "verifiers/worst_case/expression.py",
    "verifiers/worst_case/on_quadratics.py",
    "verifiers/worst_case/statement.py",
)
TESTS = (
    "judges", "statistics", "domains", "evidence", "rates",
    "readings", "ground_truth_bounds", "measured_means", "declared", "enclosed",
    "signs", "schedules", "comparisons", "constants", "judged_branches", "recorded",
    "certificates", "worst_counterexamples", "limits", "fednest_minimax",
)  # fmt: skip
LONG = "tests/test_statistics.py::test_verdicts_on_simulated_claims_err_no_more_often_than_promised"
"""It judges thousands of claims to count verdicts, and takes minutes with every line counted."""


class ByTest:
    """A plugin that tells coverage which test runs, and sums what each one takes.

    Tests of one function with other parameters are one test.
    """

    def __init__(self, switch: Callable[[str], None]) -> None:
        self.switch, self.seconds = switch, Counter[str]()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.switch(nodeid.split("[")[0])

    def pytest_runtest_logfinish(self) -> None:
        self.switch("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid.split("[")[0]] += report.duration


def main(files: list[str]) -> int:
    """Run the tests, keep which test ran which line, and print the branches that were missed."""
    import coverage  # here, so that pytest finds this file's examples without it

    BUILD.mkdir(parents=True, exist_ok=True)
    # the configuration is this call's: paths relative to the checkout, for tests/mutation.py
    measured = coverage.Coverage(
        data_file=str(DATA), branch=True, include=list(MODULES), config_file=False
    )
    measured.set_option("run:relative_files", True)
    measured.set_option(
        "report:exclude_also", ["if TYPE_CHECKING:", r"^\s*\.\.\.$", "raise AssertionError"]
    )
    by_test = ByTest(measured.switch_context)
    measured.erase()
    measured.start()
    words = ["-q", "-p", "no:cacheprovider", "--deselect", LONG, *files]
    status = pytest.main(words, plugins=[by_test])
    measured.stop()
    measured.save()
    SECONDS.write_text(json.dumps(by_test.seconds, indent=1), encoding="utf-8")
    share = measured.report(show_missing=True)
    sys.stdout.write(f"lines and branches of the judges that the tests take: {share:.1f} %\n")
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or [str(ROOT / "tests" / f"test_{name}.py") for name in TESTS]))
