"""``falsify`` as a user types it: to findings, and past failures; .ci/run has every form."""

import ast
import json
import os
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from driftproof import Assumption, average, bound, each, grid, sq, verify
from driftproof.algorithms import ComFedL, FedAvg, Scaffold
from driftproof.cli import INTERRUPTED, status
from driftproof.problems import BoundedComposition, PiecewiseMinimax, QuadraticMinimax
from driftproof.synthetic.problems.piecewise_losses import PiecewiseLosses
from driftproof.toolkit.case_text import case_of
from driftproof.toolkit.discover import leaves
from driftproof.verifiers.claim_types.sources import claims_in, loaded
from driftproof.verifiers.search.equalities import given
from driftproof.verifiers.search.families import FAMILIES
from driftproof.verifiers.search.finding import CANDIDATE, NOTHING, remade
from driftproof.verifiers.search.search import Effort, falsify, spaces_of
from driftproof.verifiers.search.structure import MOST_STEPS, with_values
from driftproof.verifiers.search.units import Climb, judged
from tests.commands import driftproof
from tests.test_search_families import CANDIDATES, column, decoded, structure_of
from tests.users import DRIFT


def data(folder):
    return json.loads((folder / "search.json").read_text())["findings"]


def quiet(done):
    """Whether a command wrote nothing that a user cannot use."""
    return not any(word in done.stderr for word in ("Traceback", "Warning", "Terminating"))


REFUTED = {
    "scgdm/lemma-[4a]*": {
        ("scgdm/lemma-4.1", "printed: two samples, as in the proofs"),
        ("scgdm/lemma-4.1", "printed: one sample, as in Algorithm 1"),
        ("scgdm/lemma-4.1", "printed: two samples, and L_F as in the proof"),
        ("scgdm/lemma-4.1-proof", "printed: two samples, as written there"),
        ("scgdm/lemma-4.1-proof", "printed: one sample"),
        ("scgdm/lemma-4.2", "printed: as printed"),
        ("scgdm/lemma-4.3", "printed: as printed"),
        ("scgdm/lemma-a.1", "printed: as printed"),
    },
    "scgdm/potential*": {
        ("scgdm/potential", "printed: (40), and (16) as (40)"),
        ("scgdm/potential", "printed: (17) and (41)"),
        ("scgdm/potential-descent", "printed: as printed"),
    },
}


@pytest.mark.parametrize("select", REFUTED)
def test_what_is_refuted_on_record_is_found_again(select, tmp_path):
    words = ("falsify", select, "--climbs", "10", "--no-controls", "--out", "s")
    done = driftproof(*words, cwd=tmp_path)
    assert done.returncode == 0, "whatever is found is refuted on record"
    assert quiet(done), done.stderr
    found = {(f["claim"], f["form"]) for f in data(tmp_path / "s") if f["lhs"] is not None}
    assert found >= REFUTED[select]


LAYER = """
import sys
import numba, numpy as np
from driftproof.toolkit.workers import pool

@numba.njit(parallel=True)
def total(x):
    s = 0.0
    for k in numba.prange(len(x)):
        s += x[k]
    return s

if __name__ == "__main__":
    try:
        total(np.ones(9))
    except ValueError:
        sys.exit(77)
    sys.exit(pool(1).submit(lambda: total(np.ones(9))).result() != 9)
"""


@pytest.mark.parametrize("layer", ["omp", "tbb", "workqueue"])
def test_workers_start_where_numba_has_threads(layer, tmp_path):
    pytest.importorskip("numba")
    path = tmp_path / "layer.py"
    path.write_text(LAYER)
    done = subprocess.run(
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"NUMBA_THREADING_LAYER": layer, "NUMBA_NUM_THREADS": "2"},
    )
    if done.returncode == 77:
        pytest.skip(f"numba's layer {layer} is not installed")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", leaves("claim"))
def test_what_is_drawn_obeys_the_checks_of_an_algorithm(name):
    """As 3 sampled tasks of 1 block did not: the search of each Local-SCGDM claim ended at it."""
    claim, random = loaded(leaves("claim")[name]), np.random.default_rng(0)
    for space in spaces_of(claim)[0]:
        structure = space.choices.draw(random, MOST_STEPS, 0)
        for number in range(30):
            algorithm = space.choices.algorithm
            if algorithm is not None:
                drawn = with_values(algorithm, dict(structure.options))
                fields = {"local_steps": structure.local_steps} | (
                    {"participation": structure.taking_part / structure.clients}
                )
                fields = {key: x for key, x in fields.items() if key in algorithm.values()}
                assert replace(drawn, **fields).values() is not None
            structure = (
                space.choices.changed(structure, random, MOST_STEPS)
                if number % 3
                else space.choices.draw(random, MOST_STEPS, number)
            )


def test_an_equality_with_0_gives_a_hyperparameter():
    """Letters were taken to be above 0, and β = 0 had no solution: nothing met the assumption."""
    claim = leaves("claim")["literature/adam-regret"].load()
    notation = claim.notation(claim.cases[0])
    assert given(claim.assumes, notation, {"momentum", "memory"}) == {"momentum": 0}


def own(right, left, problem=None, algorithm=None, **fields):
    return bound(
        name="tests/own",
        source="tests",
        statement="x",
        right=right,
        cases=grid(problem or PiecewiseLosses(), algorithm or FedAvg(local_steps=2), rounds=2),
        **fields,
    )(left)


@pytest.mark.parametrize("wanted", ["gap", "minimiser"])
def test_a_measure_of_the_solution_is_searched_on_the_piecewise_family(wanted):
    """Piecewise members know their solutions, many beside each other too."""

    def left(view):
        at = view.mean("w")
        return each("transition", view.gap(at) if wanted == "gap" else sq(at - view.minimiser))

    (finding,) = falsify([own(lambda c: c.F_gap / 10, left)], Effort(climbs=6))
    assert not finding.left_out
    assert finding.case["problem"]["name"] == "piecewise-losses"
    # of the minimiser no judge knows how far it is off
    assert finding.found or (wanted == "minimiser" and finding.status == CANDIDATE)


@pytest.mark.parametrize("name", FAMILIES)
def test_many_members_know_their_solutions(name):
    """Each replicate of a batch has its own member's minimiser, gap, and constants."""
    family, random = FAMILIES[name], np.random.default_rng(5)
    structure = structure_of(name, random, dim=1, noises=())
    parts, _ = decoded(family, structure, 5)
    copies = 2 if name in ("piecewise-minimax", "piecewise-bilevel") else 1
    many = family.members(parts, copies)
    x = torch.from_numpy(random.normal(size=(1, copies * CANDIDATES)))
    gaps, minimisers = many.gap(x), many.minimiser
    for replicate in range(copies * CANDIDATES):
        member = family.member(column(parts, replicate // copies), structure)
        at = x[:, replicate : replicate + 1]
        size = 1e-9 * max(1.0, float(member.objective(at).abs()))
        assert float(gaps[replicate]) == pytest.approx(float(member.gap(at)), rel=1e-7, abs=size)
        value = float(member.objective(minimisers[:, replicate : replicate + 1]))
        assert value == pytest.approx(member.solution.low, rel=1e-9, abs=size)


def test_strongly_convex_members_are_drawn():
    convex = Assumption("strong convexity", r"\mu > 0", relation=lambda c: c.mu > 0)
    claim = own(
        lambda c: c.eta**2 * c.L**2 / 1000,
        lambda view: each("transition", sq(view.mean("w"))),
        assumes=[convex],
    )
    (finding,) = falsify([claim], Effort(climbs=6))
    assert finding.found
    assert finding.case["problem"]["name"] == "piecewise-losses"
    assert finding.case["problem"]["tails"] == "linear"


POSITIVE = Assumption("strong monotonicity", r"\mu > 0", relation=lambda c: c.mu > 0)
MONOTONE = {"assumed": ([POSITIVE], lambda c: c.eta / 1000), "right": ([], lambda c: c.eta * c.mu)}


@pytest.mark.parametrize("named", MONOTONE)
def test_strongly_monotone_saddles_are_drawn(named):
    """A theorem over strongly convex, strongly concave problems is searched on the family."""
    assumes, right = MONOTONE[named]
    claim = own(
        right,
        lambda view: each("transition", sq(view.mean("w"))),
        QuadraticMinimax(regulariser=0.5),
        letters={"mu": "field_monotonicity"},
        assumes=assumes,
    )
    drawn = {space.choices.family: dict(space.choices.fixed) for space in spaces_of(claim)[0]}
    assert drawn["piecewise-minimax"].items() >= FAMILIES["piecewise-minimax"].convex.items()
    if assumes:
        (finding,) = falsify([claim], Effort(climbs=2))
        problem = remade(finding, claim).problem
        assert finding.found
        assert type(problem) is PiecewiseMinimax
        assert problem.constants["field_monotonicity"] > 0


def test_a_finding_on_another_problem_says_which_assumption_excludes_it():
    def claim(*assumes):
        return own(
            lambda c: c.F_gap / (50 * c.eta * c.T),
            lambda view: average("round", sq(view.gradient(view.mean("w")))),
            BoundedComposition(),
            ComFedL(),
            assumes=assumes,
        )

    (finding,) = falsify([claim()], Effort(climbs=4))
    assert finding.elsewhere.startswith("no case has a PiecewiseComposition")
    how = re.search(r"Assumption\(…, (.*?)\)\. --same-problem", finding.elsewhere)[1]
    excluding = eval(f"Assumption('own problems', '', {how})")
    case = remade(finding, claim())
    kept = claim(excluding)
    assert judged(claim(), kept.forms[0], case, 0).verdict == "REFUTED"
    assert judged(kept, kept.forms[0], case, 0).verdict == "INAPPLICABLE"
    assert judged(kept, kept.forms[0], kept.cases[0], 0).verdict != "INAPPLICABLE"
    (finding,) = falsify([claim()], Effort(climbs=4, same_problem=True))
    assert finding.case["problem"]["name"] == "bounded-composition"
    assert (finding.found, finding.elsewhere) == (True, "")


def test_a_number_that_no_case_has_and_the_claim_never_names_is_told():
    def found(**values):
        def gradient(view):
            return average("round", sq(view.gradient(view.round_start("y"))))

        def right(c):
            return 2 * c.F_gap / (c.eta_l * c.K * c.R) / values.get("of", 1)

        steps = Assumption("small steps", "", relation=lambda c: c.eta_l * c.K * c.beta <= 1)
        claim = own(right, gradient, PiecewiseLosses(), Scaffold(), assumes=[steps])
        (finding,) = falsify([claim], Effort(climbs=4))
        return finding, remade(finding, claim).algorithm

    finding, algorithm = found()
    assert finding.found
    new = {k: v for k, v in algorithm.values().items() if isinstance(v, float)}
    new = [
        f"{k} = {v!r}" for k, v in new.items() if k != "step_size" and v != getattr(Scaffold(), k)
    ]
    assert finding.elsewhere.startswith(" and ".join(new) + ": no case has that")
    finding, algorithm = found(of=1e6)  # false with the cases' numbers, too
    assert (finding.found, finding.elsewhere) == (True, "")
    assert algorithm.server_step_size == Scaffold().server_step_size


def test_where_no_candidate_is_a_case_the_nearest_assumption_is_named():
    never = Assumption("never so", "x", relation=lambda c: c.eta * c.L < 0)
    (finding,) = falsify(
        [own(lambda c: c.L, lambda view: each("transition", sq(view.mean("w"))), assumes=[never])],
        Effort(climbs=4),
    )
    assert finding.status == "not searched"
    assert "met every assumption; the nearest: " in finding.reason
    assert "never so" in finding.reason


def test_a_family_without_an_oracle_is_left_out_in_a_line():
    def left(view):
        size = view.problem.distance  # which bounded-composition alone has
        return each("round", "local_step", sq(view.mean("w") - view.round_start("w")) + 0 * size)

    claim = own(
        lambda c: (c.tau * c.eta * c.G_f * c.G_g) ** 2, left, BoundedComposition(), ComFedL()
    )
    (finding,) = falsify([claim], Effort(climbs=12))
    assert finding.status == NOTHING
    assert finding.case["problem"]["name"] == "bounded-composition"
    assert "distance" in finding.left_out["piecewise-composition"]
    assert "\n" not in finding.left_out["piecewise-composition"]


BROKEN = """

@bound(name="mine/broken", source="x", statement="x", right=right,
       cases=grid(BoundedComposition(), ComFedL(), rounds=2))
def broken(view):
    return each("round", sq(view.mean("w")) / (1 // 0))
"""


def test_one_claim_that_fails_costs_one_row(tmp_path):
    (tmp_path / "mine.py").write_text(DRIFT + BROKEN)
    done = driftproof(
        "falsify", "mine.py", "--climbs", "1", "--no-controls", "--out", "s", cwd=tmp_path
    )
    assert done.returncode == 2, done.stderr
    assert quiet(done)
    status = {f["claim"]: f["status"] for f in data(tmp_path / "s")}
    assert status.keys() == {"mine/drift", "mine/broken"}
    assert [claim for claim in status if status[claim] == "failed"] == ["mine/broken"]
    assert "mine.py" in done.stdout
    assert "ZeroDivisionError" in done.stdout


def test_a_violation_is_printed_as_a_case_to_be_pasted(tmp_path):
    (tmp_path / "mine.py").write_text(DRIFT)
    done = driftproof("falsify", "mine.py", "--climbs", "2", "--out", "s", cwd=tmp_path)
    (found,) = json.loads((tmp_path / "s" / "search.json").read_text())["findings"]
    assert f"\n{found['python']}\n" in done.stdout
    *imports, last = ast.parse(found["python"]).body
    names = {}
    exec(compile(ast.Module(imports, []), "pasted", "exec"), names)
    case = eval(compile(ast.Expression(last.value), "pasted", "eval"), names)
    assert case == case_of(found["case"])


OWN = """
from driftproof import Assumption, Comparison, comparison, sweep

HERE = Assumption("the draft's numbers", "x", applies=lambda case: case.rounds == 2
                  and case.algorithm.step_size == 0.0625 and case.problem == BoundedComposition())
HELD = dict(source="x", statement="x", assumes=[HERE],
            cases=grid(BoundedComposition(), ComFedL(step_size=sweep(0.0625, 0.5)), rounds=2))

@bound(name="mine/false", right=lambda c: right(c) / 1e4, **HELD,
       false_siblings=[("less", lambda c: right(c) / 1e5)])
def false(view):
    return moved.left(view)

@bound(name="mine/true", right=right, **HELD)
def true(view):
    return moved.left(view)

@comparison(name="mine/unlike", right=lambda c: 2.0, **HELD)
def unlike(case, right):
    return [Comparison("a number", 1.0, 1.0, 1.0 + case.algorithm.step_size)]
"""


def test_a_search_begins_with_the_claims_own_cases(tmp_path):
    """No candidate meets an assumption that holds of one of them alone."""
    text = DRIFT.replace("def drift", "def moved") + OWN
    (path := tmp_path / "mine.py").write_text(text)
    sources = [leaf for leaf in claims_in(path) if leaf.name != "mine/drift"]
    found = {(f.claim, f.form): f for f in falsify(sources, Effort(climbs=2))}
    false, sibling, true, unlike = found.values()
    assert (false.status, unlike.status) == ("verified", "confirmed")
    assert false.climbs == unlike.climbs == 0, "the judge of the case ends the search"
    assert false.case["algorithm"]["step_size"] == 0.0625
    assert not sibling.found, "what the climbs find is the power"
    rows = {row.claim: row for row in verify(str(path)) if row.verdict == "SUPPORTED"}
    assert true.ratio == pytest.approx(rows["mine/true"].ratio)


def test_an_interruption_leaves_the_table_of_what_was_searched(tmp_path, monkeypatch, capsys):
    whole, done = Climb.work, []

    def interrupted(unit):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(unit)
        return whole(unit)

    (tmp_path / "mine.py").write_text(DRIFT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Climb, "work", interrupted)
    words = ("falsify", "mine.py", "--workers", "1", "--budget", "9", "--no-controls")
    assert status(words) == INTERRUPTED
    told = capsys.readouterr()
    assert re.search(r"mine/drift +printed +candidate", told.out)  # the third unit judges
    assert "9 s of work for 1 form, in all about 9 s with --workers 1" in told.err
