"""What ``make test`` leaves to ``make test-thorough``, and what two BLAS kernels have to decide.

Nothing is lost: ``make test-thorough`` runs all of it, and a file or a test that is named on the
command line runs whole. ``.ci/run`` runs all of it on a fast machine, and on a slow one each Nth
test, from another one on each day. To leave something out, add a line to ``LEFT`` with its reason.
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
    """

    tests: str
    why: str
    sample: bool = False


VERDICTS = "tests/test_claims.py::test_verdicts_are_those_on_record_and_siblings_are_refused"
VARIANT = "tests/test_kernels_generated.py::test_every_variant_is_the_plain_steps_whatever"
PAGE = "tests/test_pages_that_run.py::test_a_page_is_true_from_top_to_bottom"
LEFT = (
    Left(VERDICTS, "engines and judges; `verify --profile smoke` of every claim stays"),
    Left("tests/test_known_by_enclosure.py", "a family's enclosures", sample=True),
    Left("tests/test_constants.py", "a family's constants", sample=True),
    Left("tests/test_engines.py", "an algorithm or a family", sample=True),
    Left("tests/test_balls_engine.py", "an algorithm or a family", sample=True),
    Left("tests/test_devices.py", "an algorithm or a family", sample=True),
    Left("tests/test_experiments.py::test_a_run_judges_its", "an experiment"),
    Left("tests/test_fairness.py::test_every_sentence", "the experiment"),
    Left("tests/test_claims.py::test_verdicts_hold_with_another_seed", "engines and judges"),
    Left(
        "tests/test_theorems.py::test_closed_forms_of",
        "the solvers, or what proves for all letters",
    ),
    Left("tests/test_theorems.py::test_a_bound_with_room", "the search for few multipliers"),
    Left("tests/test_thorough_attacks.py", "the attacks on constants"),
    Left("tests/test_ladder.py", "the solvers, and what is handed down from one to the next"),
    *(
        Left(f"tests/test_certified_optima.py::test_{name}", "a family's certificates")
        for name in ("a_wrong_gradient", "random_logistic_losses_by_cvxpy")
    ),
    Left("tests/test_maml_and_dro.py::test_a_supremum", "a certificate of a supremum"),
    Left("tests/test_enclosed.py::test_gradient_descent", "the arithmetic of balls"),
    Left("tests/test_enclosed.py::test_a_long_run", "the arithmetic of balls"),
    Left("tests/test_on_paper.py::test_a_changed_proof", "what reads a printed proof back"),
    Left("tests/test_on_paper.py::test_the_page_has_every", "docs/proofs.md, or what prints it"),
    *(
        Left(f"tests/test_minimax_kernel.py::test_{name}", "that kernel")
        for name in ("the_same_bits", "a_replicate_in_tiles", "a_round_of_other_data")
    ),
    *(
        Left(f"{VARIANT}_the_strides[{name}]", "the text of kernels; the other kernels stay")
        for name in ("minimax-local-steps", "nested-fedavg-s", "nested-fednest")
    ),
    *(
        Left(f"tests/test_bench.py::test_{name}", "the bench command")
        for name in ("the_commands_table", "a_wrong_variant_ends", "a_variant_that_is_wrong")
    ),
    Left("tests/test_ends.py::test_smooth_strongly_convex", "the betting test, by six verdicts"),
    Left("tests/test_ends.py::test_runs_stay_within", "an algorithm's radii"),
    Left("tests/test_statistics.py::test_verdicts_on_simulated", "the betting test"),
    Left("tests/test_statistics.py::test_a_peeking_z_test", "the simulation of a judge"),
    Left("tests/test_splits.py::test_dirichlet_shares", "what that split draws"),
    *(
        Left(f"tests/test_{name}", "what a search draws, or how it climbs")
        for name in (
            "falsify.py::test_what_is_refuted_on_record",
            "search_stays_inside.py::test_what_the_search_draws",
            "search.py::test_rare_noise",
            "search.py::test_the_case_that_is_shown",
            "search.py::test_the_command_tells",
            "search_stays_inside.py::test_verify_and_falsify_let",
            "search.py::test_an_equality_gives",
            "search_terms.py::test_a_tight_constant",
            "standalone.py::test_the_commands_write",
            "strategies.py::test_a_false_claim_of_two_levels",
            "strategies.py::test_claims_of_two_levels",
            "strategies.py::test_levels_",
            "strategies.py::test_members_bend",
            "strategies.py::test_the_page_does",
            "strategies.py::test_the_simplest_case",
        )
    ),
    *(
        Left(f"tests/test_{name}", "the search of potentials")
        for name in (
            "limits.py::test_values_and_gradients",
            "limits.py::test_what_a_potential_falls_by",
            "limits.py::test_each_method_is_judged",
            "limits.py::test_a_measure_that_is_no_multiple",
            "limits.py::test_iterates_that_stay_bounded",
            "potential.py::test_control_variates",
            "potential.py::test_files_of_clients",
            "potential.py::test_no_heavy_ball",
            "potential.py::test_runs_on_quadratics_obey_it[scaffold",
            "potential.py::test_the_page_has_an_example",
            "rates_in_t.py::test_classic_rates",
            "rates_in_t.py::test_what_is_false",
        )
    ),
    Left("tests/test_paper.py::test_forty_theorems", "what reads marked papers"),
    Left("tests/test_paper.py::test_the_steps_of_the_action", "the action, or the install"),
    *(
        Left(f"{PAGE}[{page}]", "the page, or a command that it shows")
        for page in (
            "conform",
            "own_bilevel",
            "minimax",
            "sets_and_terms",
            "ground_truth",
            "assistant",
            "tutorial",
            "worked_example",
        )
    ),
    Left("tests/test_bench.py::test_every_way_agrees", "a kernel or a peer"),
    Left("tests/test_triton.py::test_a_launch", "a kernel for a GPU, interpreted"),
    *(
        Left(f"tests/test_triton.py::test_{name}", "a kernel for a GPU")
        for name in ("kernels_compile", "matrices_of_several", "sample_numbers")
    ),
    *(
        Left(f"tests/test_experiment.py::test_{name}", "the experiment, or the wire")
        for name in ("the_wire_engine", "the_printed_step")
    ),
    Left("tests/test_cluster.py", "how tasks are sent to other machines"),
    Left("tests/test_kills.py", "the ledger and the workers"),
    Left("tests/test_tracked.py::test_a_killed_command", "the ledger of an experiment"),
    Left("tests/test_fuzz.py::test_a_file_that_is_spoilt_is_told", "readers"),
    Left("tests/test_prove.py::test_coq_", "what is written for Coq"),
    Left("tests/test_coq_region.py", "what is written for Coq"),
    Left("tests/test_wheel.py::test_mypy", "the install, or types"),
    Left("tests/test_site.py", "docs/, which `make docs` builds"),
    Left("tests/test_notebooks.py::test_what_the_text_says_is_shown", "the notebooks"),
    Left("tests/test_hostile_names.py::test_nothing_of_a", "the page's templates"),
    Left("tests/test_hostile_names.py::test_the_watch_sees", "the browser"),
    Left("tests/test_browser.py", "the page's script and its templates"),
)
DECIDED = (VERDICTS, "tests/test_certificates.py", "tests/test_class_verdicts.py")
"""Tests that ``.ci/run`` runs with the processor's kernels and with others, all of them."""


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
    """Mark what is left out as ``thorough``, unless the command line names its file.

    What ``DECIDED`` lists is ``decided`` as well.
    """
    kept = sampled(items)
    named = {Path(arg.partition("::")[0]).resolve() for arg in config.args}
    for item in items:
        line = line_of(item)
        if line and not (line.sample and item in kept) and item.path not in named:
            item.add_marker(pytest.mark.thorough(line.why))
        if item.nodeid.startswith(DECIDED):
            item.add_marker("decided")


def keep_part(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep each Nth of the marked tests, from the Kth on, as ``--part=K/N`` says."""
    start, size = map(int, config.getoption("--part").split("/"))
    if size == 1:
        return
    marked = [x for x in items if {"thorough", "decided"} & {m.name for m in x.own_markers}]
    kept = set(marked[start::size])
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


def line_of(item: pytest.Item) -> Left | None:
    """Return the line that leaves a test out."""
    return next((line for line in LEFT if item.nodeid.startswith(line.tests)), None)
