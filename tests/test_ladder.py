"""Whether a program is solved does not hang on its units, its last digits or the kernel."""

import os
from dataclasses import replace

import numpy as np
import pytest

from driftproof import average, bound, each
from driftproof.algorithms import FedAvg, ProximalGradient
from driftproof.classes import (
    bounded_gradients,
    convex,
    over,
    plus,
    smooth_convex,
    smooth_strongly_convex,
    start_within,
)
from driftproof.toolkit.errors import UndecidableError
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers.verify import Settings, judge
from driftproof.verifiers.worst_case import solve as solving
from driftproof.verifiers.worst_case.program import Forms, Matrices, Solved
from driftproof.verifiers.worst_case.scaling import equilibrated, units
from driftproof.verifiers.worst_case.solve import LADDER, UnsolvedError
from tests.programs import (
    CHANGES,
    answer,
    disturbed,
    in_other_units,
    kernels,
    on_record,
    size_of,
    solved_with,
    write,
)
from tests.test_limits import row_of

EVERY = 1 if os.environ.get("DRIFTPROOF_EVERY_PROGRAM") else 7
"""Of how many programs on record one is solved. All of them take some ten minutes."""


@pytest.fixture(scope="module")
def programs():
    made = on_record(EVERY)
    assert len(made) > 25
    return made


@pytest.fixture(scope="module")
def answers(programs):
    return {name: answer(program) for name, program in programs.items()}


def test_every_program_on_record_has_an_answer(answers):
    assert {of.kind for of in answers.values()} <= {"solved", "unbounded"}


def test_other_units_are_the_same_program(programs, answers):
    differ = []
    for k, (name, program) in enumerate(programs.items()):
        # they take turns, unless every program is wanted
        for change in CHANGES if EVERY == 1 else CHANGES[k % len(CHANGES) :][:1]:
            chosen = in_other_units(program, *change)
            other = chosen.scaled(program)
            found = answer(other)
            found = replace(found, value=found.value / chosen.objective)
            # of a program without a bound nothing says how large 1 is
            size = max(size_of(program), size_of(other) / chosen.objective)
            if not answers[name].agrees(found, size):
                differ.append((name, change, answers[name], found))
    assert not differ


def test_the_last_digits_do_not_count(programs, answers):
    differ = {
        name: (answers[name], found)
        for k, (name, program) in enumerate(programs.items())
        if not answers[name].agrees(found := answer(disturbed(program, k)), size_of(program))
    }
    assert not differ


@pytest.mark.parametrize("kernel", kernels())
def test_every_kernel_gives_the_same_answers(programs, answers, kernel, tmp_path):
    write(list(programs.values()), tmp_path / "programs")
    has, found = solved_with(kernel, tmp_path / "programs")
    assert has == kernel
    differ = [
        (name, answers[name], other)
        for (name, program), other in zip(programs.items(), found, strict=True)
        if not answers[name].agrees(other, size_of(program))
    ]
    assert not differ


def test_what_differs_is_noticed(programs, answers):
    """Negative control: a statement with a start that is 1 % larger is another one."""
    name, program = next(
        (n, p)
        for n, p in programs.items()
        if p.bounds.any() and answers[n].kind == "solved" and answers[n].value > 0
    )
    larger = answer(replace(program, bounds=1.01 * program.bounds))
    assert not answers[name].agrees(larger, 0.0)


def small(bounds, equal=None, objective=((1.0, 0.0), (0.0, 0.0)), gram=None):
    """Return a program of two vectors without values: ‖x‖² ≤ b_0, ‖g‖² ≤ b_1."""
    gram = np.array([np.diag([1.0, 0.0]), np.diag([0.0, 1.0])] if gram is None else gram)
    return Matrices(
        Forms.of(gram),
        np.zeros((len(gram), 0)),
        np.array(bounds),
        np.zeros(len(gram), dtype=bool) if equal is None else np.array(equal),
        (np.array(objective), np.zeros(0)),
        np.array([True, False]),
    )


@pytest.mark.parametrize("rung", LADDER, ids=range(len(LADDER)))
def test_each_rung_solves_what_is_solved_by_hand(rung):
    """max ⟨x, g⟩ with ‖x‖² ≤ 4 and ‖g‖² ≤ 9 is 6, with multipliers 3/4 and 1/3: two routes."""
    product = small([4.0, 9.0], objective=((0.0, 0.5), (0.5, 0.0)))
    found = rung.solved(product, solving.TOLERANCE)
    assert found.status == "Solved"
    assert found.value == pytest.approx(6, abs=1e-5)
    assert found.gram == pytest.approx(np.array([[4, 6], [6, 9]]), abs=1e-3)
    assert found.multipliers == pytest.approx([3 / 4, 1 / 3], abs=1e-3)
    tied = small([4.0, 9.0], equal=[True, False], objective=((-1.0, 0.5), (0.5, 0.0)))
    found = rung.solved(tied, solving.TOLERANCE)
    assert found.value == pytest.approx(2, abs=1e-5)
    assert found.multipliers == pytest.approx([-1 / 4, 1 / 3], abs=1e-3)  # of an equality


def test_a_lower_rung_takes_over(programs, answers, monkeypatch):
    """Whatever ends the rungs above; the last one, of another program, is nearly as good."""
    few = list(programs.items())[::5]
    for k in range(1, len(LADDER)):
        monkeypatch.setattr(solving, "LADDER", LADDER[k:])
        for name, program in few:
            if answers[name].kind == "solved":
                found = answer(program)
                near = 2e-4 * max(abs(found.value), size_of(program))
                assert abs(found.value - answers[name].value) <= near, (k, name)


def test_a_measure_that_grows_like_a_root_is_unbounded():
    """max ⟨x, g⟩ with ‖x‖² ≤ 1 is the length of g: no ray shows that nothing bounds it."""
    program = small([1.0], objective=((0.0, 0.5), (0.5, 0.0)), gram=[np.diag([1.0, 0.0])])
    assert answer(program).kind == "unbounded"
    assert solving._grows(program)
    assert not solving._grows(small([4.0, 1e4]))
    assert not solving._grows(small([1e8, 1e-8]))  # large numbers are not growth


def test_where_the_ladder_ends_the_row_says_so(monkeypatch):
    """Nothing is known then, of this row: the claim is judged."""

    def lost(cones, *settings):
        read = cones.read(np.zeros(len(cones.cost)), np.zeros(len(cones.right)))
        return Solved(np.nan, *read, status="NumericalError", seconds=0.0)

    monkeypatch.setattr(solving.Cones, "solved", lost)
    (row,) = judge([textbook(1, 1, 1, "lost")], Settings())
    assert row.verdict is Verdict.INCONCLUSIVE
    assert "the solver says NumericalError" in row.reason
    row = row_of([smooth_strongly_convex(L=1, mu=0.5)], FedAvg(step_size=1.0))
    assert row.verdict is Verdict.INCONCLUSIVE
    assert issubclass(UnsolvedError, UndecidableError)  # wherever else it is raised


def test_units_and_equilibration_leave_numbers_near_1():
    """In letters: R = 10⁵ and G = 10⁻³ are R = G = 1."""
    program = small([1e10, 1e-6], objective=((0.0, 1e-9), (1e-9, 0.0)))
    for of in (units, equilibrated):
        made = of(program).scaled(program)
        assert np.abs(made.gram.q) == pytest.approx(1, rel=7)
        assert answer(made).kind == "solved"


def mean_gap(view):
    return average("round", view.gap(view.mean("w")))


def textbook(R, G, share, name):
    """The subgradient method with η = R/(G√T): the mean gap is at most RG/√T, and that is met."""
    return bound(
        name=f"own/{name}",
        source="a textbook",
        statement=r"\bar f - f^* \le RG/\sqrt T",
        classes=over(
            [bounded_gradients(convex(), G=G), start_within(R=R)],
            FedAvg(step_size=R / G / 2),
            rounds=4,
            clients=1,
        ),
        right=lambda c: share * c.R * c.G / 2,
    )(mean_gap)


@pytest.mark.parametrize(("R", "G"), [(1, 1), (10**5, 1), (1, 10**5), (0.001, 1), (10**4, 0.001)])
def test_a_statement_has_one_verdict_in_all_units(R, G):
    claims = [textbook(R, G, share, f"share-{k}") for k, share in enumerate((1, 2, 0.75))]
    rows = judge(claims, Settings())
    assert [row.verdict for row in rows] == [Verdict.SUPPORTED, Verdict.SUPPORTED, Verdict.REFUTED]
    assert rows[0].attained
    assert [row.lhs["mean"] / R / G for row in rows] == pytest.approx([0.5] * 3, rel=1e-5)


def gap_at_end(view):
    return each("round", "local_step", view.gap(view.mean("w"))) if view.last else None


@pytest.mark.parametrize("eta", [1, 0.1, 0.001])
def test_a_false_bound_is_refuted_however_short_the_steps(eta):
    """LR²/(4ηLT + 2) is the worst case. Short steps leave the conditions little room, about η²."""
    false = bound(
        name="own/short-steps",
        source="a textbook",
        statement="x",
        classes=over(
            [smooth_convex(L=1), start_within(R=1)], FedAvg(step_size=eta), rounds=4, clients=1
        ),
        right=lambda c: 0.9 * c.L * c.R**2 / (4 * c.eta * c.L * c.T + 2),
    )(gap_at_end)
    (row,) = judge([false], Settings())
    assert row.verdict is Verdict.REFUTED
    assert row.lhs["low"] > 1 / (16 * eta + 2) * 0.9


@pytest.mark.parametrize("mu", [0.1, 0.05, 0.01])
def test_a_limit_of_a_sum_has_a_potential_whatever_its_condition_number(mu):
    """Nothing bounds h at the start, so F − F* is no part of V, and ‖w‖² alone is enough."""
    classes = [smooth_strongly_convex(L=1, mu=mu), plus(convex())]
    row = row_of(classes, ProximalGradient(step_size=1.0))
    assert row.verdict is Verdict.SUPPORTED
    assert (1 - mu) ** 2 <= row.lhs["high"] <= (1 - mu) ** 2 + 0.011
