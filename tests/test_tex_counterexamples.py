"""Counterexamples as LaTeX: what is printed is computed again, from the text alone."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, permutations
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from flint import arb
from sympy import Eq, Rational, Symbol, sqrt

from driftproof import Assumption, average, bound, each, grid, limit, smallest, sq
from driftproof.synthetic.classes import (
    monotone_lipschitz,
    over,
    similar,
    smooth_convex,
    smooth_strongly_convex,
    start_at_minimiser,
    start_gap,
    start_within,
    strongly_convex_concave,
)
from driftproof.synthetic.problems import (
    BoundedComposition,
    PiecewiseBilevel,
    PiecewiseComposition,
    PiecewiseLosses,
    PiecewiseMinimax,
)
from driftproof.toolkit.algorithms import (
    ComFedL,
    Extragradient,
    FedAvg,
    FedAvgS,
    FedNest,
    FedProx,
    HeavyBall,
    LocalSCGDM,
    Nesterov,
    Scaffold,
)
from driftproof.toolkit.at_optimum import constants_at_optimum
from driftproof.toolkit.balls.tensor import Balls, ball, lift
from driftproof.toolkit.cases import Case
from driftproof.toolkit.federation import run_exactly
from driftproof.toolkit.groups import grouped
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers.search.units import judged
from driftproof.verifiers.standalone import read_back
from driftproof.verifiers.standalone.files import agreed_tex, sides
from driftproof.verifiers.standalone.formulas import Curves, pieces_of, value_at
from driftproof.verifiers.standalone.of_class import script_of_class
from driftproof.verifiers.standalone.own import script_of_own
from driftproof.verifiers.standalone.read_back import LEFT, RIGHT, Reading, of_table
from driftproof.verifiers.standalone.refusal import NoScriptError
from driftproof.verifiers.standalone.script import script_of
from driftproof.verifiers.standalone.terms import Term, number_text
from driftproof.verifiers.standalone.tex import _at_least, _sides, tex_of
from driftproof.verifiers.standalone.tex_of_class import About, _exist, _name, tex_of_class
from driftproof.verifiers.standalone.tex_of_limit import tex_of_limit
from driftproof.verifiers.verify import Settings, judge, select
from driftproof.verifiers.worst_case import cycles
from tests.commands import driftproof

STEEP, SHALLOW = ((-1.0, -4.0), (1.0, 4.0)), ((2.0, -1.0), (4.0, 1.0))
PAIR = PiecewiseLosses(gradients=((STEEP,), (SHALLOW,)))
NEAR, FAR = ((0.0, -1.0), (1.0, 0.0)), ((0.0, -3.0), (1.0, -2.5))
QUADRATICS = PiecewiseLosses(gradients=((NEAR,), (FAR,)), tails="linear")
TORN = PiecewiseLosses(gradients=((((0.0, 9.0),),), (((0.0, -9.0), (5.0, 0.0)),)))


@bound(
    name="tests/descent",
    source="tests",
    statement="descent",
    cases=grid(PAIR, FedAvg(), rounds=1),
    right=lambda c: 2 * c.F_gap / (c.eta * c.tau * c.S),
)
def descent(view):
    return average("round", sq(view.gradient(view.mean("w"))))


def least(c):
    return -(10**9)


@bound(
    name="tests/moved",
    source="tests",
    statement="moved",
    right=least,
    cases=grid(PAIR, FedAvg(), rounds=1),
)
def moved(view):
    return each("transition", "client", sum(sq(x) + x.sum(1) for x in view.state))


def rows_of(text):
    return [
        line.strip().removesuffix(r" \\").removesuffix(".")
        for line in text.splitlines()
        if " &= " in line
    ]


def value(points, x):
    """Return a curve's value, in fractions, constant beyond its points."""
    points = [(Fraction(str(a)), Fraction(str(b))) for a, b in points]
    if x <= points[0][0]:
        return points[0][1]
    for (a, f), (b, g) in pairwise(points):
        if x <= b:
            return f + (g - f) * (x - a) / (b - a)
    return points[-1][1]


def test_every_number_of_a_text_is_that_of_gradient_descent_in_fractions():
    case = Case(PAIR, FedAvg(local_steps=4), 4)
    text, left, right, _ = tex_of(descent, descent.forms[0], case)
    reading = Reading()
    reading.read(rows_of(text))
    xs, squares = [Fraction(0)] * 2, []
    for t in range(1, 13):
        if t % 4 == 1:
            squares.append((sum(value(p, xs[0]) for p in (STEEP, SHALLOW)) / 2) ** 2)
        xs = [x - Fraction(1, 10) * value(p, x) for x, p in zip(xs, (STEEP, SHALLOW), strict=True)]
        xs = [sum(xs) / 2] * 2 if t % 4 == 0 else xs
        names = ["w"] * 2 if t % 4 == 0 else ["w_{1}", "w_{2}"]
        assert [reading.letters[f"{name}^{{({t})}}"] for name in names] == xs
    squares.append((sum(value(p, xs[0]) for p in (STEEP, SHALLOW)) / 2) ** 2)
    assert [reading.letters[f"M_{{{s}}}"] for s in range(4)] == squares
    assert "M_{3} &= " in text
    assert r"\pm" in text
    assert reading.letters[LEFT] == sum(squares) / 4
    assert float(sum(squares) / 4) == pytest.approx(left, rel=1e-11)
    # inf F, at 1/4, where 4x = 1
    assert reading.letters[RIGHT] == 2 * Fraction(1, 16) / (Fraction(1, 10) * 16)
    assert right == float(reading.letters[RIGHT])


def members(random):
    def curves(rising=False):
        def points():
            xs, ys = np.sort(random.normal(size=3)), random.normal(size=3)
            return tuple(zip(xs.round(2), (np.sort(ys) if rising else ys).round(2), strict=True))

        return tuple((tuple((float(a), float(b)) for a, b in points()),) for _ in range(2))

    yield PiecewiseLosses(gradients=curves()), FedAvg(local_steps=2)
    yield PiecewiseLosses(gradients=curves(), noise=0.5), FedAvg()
    yield PiecewiseLosses(gradients=curves(), tails="linear"), FedAvg(participation=0.5)
    two = tuple(a + b for a, b in zip(curves(), curves(), strict=True))
    yield PiecewiseLosses(dim=2, gradients=two), FedAvg()
    composed = PiecewiseComposition(inner=curves(), outer=curves(), plain=curves())
    yield composed, ComFedL(local_steps=2)
    yield composed, LocalSCGDM(momentum=4.0, inner_momentum=6.0)
    minimax = PiecewiseMinimax(
        plain=curves(), lower=curves(rising=True), coupling=((2.0,), (-0.5,))
    )
    yield minimax, FedNest(terms=0)
    yield PiecewiseBilevel(plain=curves(), upper=curves()), FedNest(terms=1)


@pytest.mark.parametrize("kind", range(8))
@pytest.mark.parametrize("seed", range(2))
def test_a_text_comes_to_what_the_engine_computes(kind, seed):
    problem, method = list(members(np.random.default_rng(seed)))[kind]
    case = Case(problem, method, 2)
    text, left, right, _ = tex_of(moved, moved.forms[0], case)
    ours = run_exactly(problem, method, rounds=2, left=moved.left, limit=256)
    assert left == pytest.approx((ours.values @ ours.weights).max(), rel=1e-9)
    assert right == -(10.0**9)
    assert max(map(len, text.splitlines())) < 2000
    assert not re.search(r"\^\{[^{}]*\}\^", text)  # LaTeX takes no second exponent


def test_fields_of_a_state_have_their_own_names():
    """No index is put on what has one already, which LaTeX refuses."""
    text, *_ = tex_of(moved, moved.forms[0], Case(TORN, Scaffold(local_steps=1), 2))
    assert r"\text{own\_control}_{1}^{(1)}" in text
    assert r"At the start $\text{own\_control} = 0$ (its own control variate c\_i, near" in text
    assert not re.search(r"[a-z]_\{[a-z]+\}_", text)
    assert _name("own_control_1(0)") == r"\text{own\_control}_{1}(0)"


def test_a_changed_number_is_not_read_back():
    text, *_ = tex_of(descent, descent.forms[0], Case(TORN, FedAvg(participation=0.5), 2))
    rows = rows_of(text)
    Reading().read(rows)
    changed = 0
    for k, row in enumerate(rows):
        subject, _, said = row.partition(" &&")[0].partition(" &= ")
        for other in (f"{said} + 1", f"2 + {said}") if " = " in said else ():
            with pytest.raises(NoScriptError, match="does not say what was computed"):
                Reading().read([*rows[:k], f"{subject} &= {other}", *rows[k + 1 :]])
            changed += 1
    assert changed >= 12


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (r"\frac{1}{2", "read back"),
        (r"1 + \zeta", "zeta"),
        ("(1 + 2", "read back"),
        ("1 )", "from"),
    ],
)
def test_what_is_no_formula_is_refused(text, reason):
    with pytest.raises(NoScriptError, match=reason):
        Reading().value(text)


def test_a_text_needs_formulas_and_the_judges_numbers():
    case = Case(BoundedComposition(), ComFedL(), 1)
    with pytest.raises(NoScriptError, match="BoundedComposition have no formula"):
        tex_of(descent, descent.forms[0], case)
    case = Case(TORN, FedAvg(participation=0.5), 2)
    row = judged(descent, descent.forms[0], case, 0)
    text = agreed_tex(descent, descent.forms[0], case, row.lhs, row.rhs)
    assert r"\text{left} &> \text{right}" in text
    with pytest.raises(NoScriptError, match="not the judge's numbers"):
        agreed_tex(descent, descent.forms[0], case, row.lhs, row.rhs + 1e-3)
    with pytest.raises(NoScriptError, match="2,002 numbers, too many to follow"):
        tex_of(descent, descent.forms[0], Case(PAIR, FedAvg(), 1001))
    true = Case(QUADRATICS, FedAvg(step_size=0.01), 1)
    with pytest.raises(NoScriptError, match="not above the right side"):
        tex_of(descent, descent.forms[0], true)


@bound(
    name="tests/early",
    source="tests",
    statement="moves little",
    right=lambda c: c.eta / 1000,
    cases=grid(PAIR, FedAvg(), rounds=1),
)
def early(view):
    """Speak of the first two rounds alone."""
    return each("round", sq(view.mean("w"))) if view.round < 2 else None


def test_a_run_ends_where_it_refutes(tmp_path):
    case = Case(PiecewiseLosses(gradients=PAIR.gradients, noise=1.0), FedAvg(participation=0.5), 30)
    path = tmp_path / "c.py"
    path.write_text(script_of(early, early.forms[0], case), encoding="utf-8")
    left, right, error = sides(path)
    assert error == 0  # the draws of 30 rounds could not be listed
    assert "the run ends with round 2, which refutes it" in " ".join(path.read_text().split())
    text, *both, _ = tex_of(early, early.forms[0], case)
    assert both == pytest.approx([left, right], rel=1e-9)
    assert "for 30 rounds" in text
    assert "^{(2)}" not in text


MET = Assumption("step", r"\\eta L \\le 1", relation=lambda c: c.eta * c.L <= 1)


@bound(
    name="tests/best",
    source="tests",
    statement="best",
    right=lambda c: c.R**2 / (2 * c.eta * c.tau * c.S),
    letters={"R": "initial_distance", "L": "field_smoothness"},
    assumes=[MET],
    cases=grid(PAIR, FedAvg(), rounds=1),
)
def best(view):
    return smallest("round", view.gap(view.mean("w")))


def test_what_follows_from_the_formulas_is_exact_and_a_minimum_has_all_its_parts():
    steep, shallow = ((-1.7, -4.0), (0.3, 4.0)), ((1.3, -1.0), (3.3, 1.0))
    problem = PiecewiseLosses(gradients=((steep,), (shallow,)), tails="linear")
    text, left, *_ = tex_of(best, best.forms[0], Case(problem, FedAvg(local_steps=4), 2))
    reading = Reading()
    reading.read(rows_of(text))
    assert (reading.letters["x^{*}"], reading.letters["R"]) == (Fraction(-1, 10), Fraction(1, 10))
    assert reading.letters[LEFT] == reading.letters["M_{0}"] == Fraction(1, 80)
    assert left == pytest.approx(1 / 80)
    assert float(ball(reading.letters["M_{1}"]).mid()) > left
    assert r"M_{0} = \frac{1}{80} && \text{the smallest}" in text
    assert r"with $\tau = 4$ local steps" in text
    assert reading.letters["L"] == 4
    assert "tails" not in text
    one = PiecewiseLosses(clients=1, gradients=((steep,),), tails="linear", noise=4.0)
    text, *_ = tex_of(best, best.forms[0], Case(one, FedAvg(step_size=0.25), 2))
    assert "one client, a sampled gradient" in text
    assert r"with either sign as likely, the true one $\pm 4$, where" in text
    with pytest.raises(NoScriptError, match=r"an assumption is not met \(step\)"):
        tex_of(best, best.forms[0], Case(problem, FedAvg(step_size=0.3), 9))


def test_a_line_that_goes_on_is_one_piece():
    """Its slope beyond the points was rounded."""
    points = ((0.4323819930651667, -9.207254228505935), (0.9071641101463223, 26.723241461944948))
    linear = PiecewiseLosses(gradients=((points,), (STEEP,)), tails="linear")
    assert [len(pieces_of(linear.parts.plain, k, 0)) for k in range(2)] == [1, 1]
    flat = PiecewiseLosses(gradients=((points,), (STEEP,)))
    assert len(pieces_of(flat.parts.plain, 0, 0)) == 3


@bound(
    name="tests/falls",
    source="tests",
    statement="falls",
    measured={"g": r"\|\nabla F(w_s)\|^2"},
    right=lambda c: -c.eta * c.tau * c.measured("g") / 2,
    cases=grid(PAIR, FedAvg(), rounds=1),
)
def falls(view):
    start, end = view.round_start("w"), view.mean("w")
    fallen, steps = view.objective(end) - view.objective(start), sq(view.gradient(start))
    return each("round", "local_step", fallen, g=steps) if view.last else None


def test_functions_are_0_at_0_and_a_measured_mean_has_its_own_latex():
    """F had a constant of where a client's knots begin, which cancels."""
    off = ((((0.0, 0.9),),), (((-0.8, -2.3), (7.0, 10.0)),))
    problem = PiecewiseLosses(gradients=off, tails="linear")
    text, *_ = tex_of(
        falls, falls.forms[0], Case(problem, FedAvg(local_steps=4, step_size=0.05), 1)
    )
    assert r"{2} - \frac{f_{1}(0) + f_{2}(0)}{2} = [-0.000150211010560 \pm" in text
    assert r"\frac{81}{16900} && \text{$\|\nabla F(w_s)\|^2$}" in text
    x, c = Term(Fraction(2), "x"), Term(Fraction(1, 3), bare=True)
    moved = x.moved_by(Fraction(1, 3))
    assert [(of.text, of.value) for of in (moved - c, moved + c)] == [
        ("x", 2),
        (r"x + \frac{2}{3}", Fraction(8, 3)),
    ]


FILE = """
from driftproof import bound, each, grid, sq
from driftproof.algorithms import ComFedL, FedAvg
from driftproof.problems import {family}

@bound(name="mine/step", source="mine", statement=r"\\|w_1\\| \\le 0", right=lambda c: 0,
       cases=grid({family}(), {method}(), rounds=1))
def step(view):
    return each("transition", sq(view.mean("w")))
"""


def test_the_command_prints_it(tmp_path):
    own = tmp_path / "mine.py"
    own.write_text(FILE.format(family="PiecewiseLosses", method="FedAvg"))
    made = driftproof("counterexample", "mine.py", "--tex", cwd=tmp_path)
    assert made.stdout.startswith("% mine/step, printed: a counterexample"), made.stderr
    assert r"w^{(1)} &= 0 - \eta \cdot" in made.stdout.replace(r"\frac{", "")
    searched = driftproof("falsify", "mine.py", "--climbs", "1", "--out", "s", cwd=tmp_path)
    assert searched.returncode == 1
    (finding,) = json.loads((tmp_path / "s" / "search.json").read_text())["findings"]
    made = driftproof("counterexample", "s", "--tex", cwd=tmp_path)
    assert made.stdout == (tmp_path / "s" / finding["tex"]).read_text()
    both = driftproof("counterexample", "s", "--tex", "--run", cwd=tmp_path)
    assert (both.returncode, "take one of them" in both.stderr) == (2, True)


SEVERAL = """
from driftproof import bound, each, grid, sq, sweep
from driftproof.algorithms import FedAvg
from driftproof.problems import PiecewiseLosses

@bound(name="mine/step", source="mine", statement=r"\\|w\\| \\le 1/4", right=lambda c: 1 / 16,
       cases=grid(PiecewiseLosses(), FedAvg(local_steps=sweep(4, 1), step_size=sweep(0.123, 0.5,
                  0.251)), rounds=sweep(4, 1)))
def step(view):
    return each("transition", sq(view.mean("w")))
"""


def test_every_output_shows_the_clearest_refutation_in_whichever_order_rows_come(tmp_path):
    (tmp_path / "mine.py").write_text(SEVERAL)
    claims = select([str(tmp_path / "mine.py")])
    made = judge(claims, Settings())
    for rows in (made, made[::-1]):
        (group,) = grouped(rows)["mine/step"]
        assert len([row for row in rows if row.verdict is Verdict.REFUTED]) > 3
        # one step of 0.251 exceeds 1/16 by less than 1 %
        assert group.deciding.case["label"] == "PiecewiseLosses(), FedAvg(step_size=0.5), rounds=1"
        script, _ = script_of_own(claims, rows, "*", tmp_path)
        assert group.deciding.case["label"] in script.read_text()
        text, _ = script_of_own(claims, rows, "*", tmp_path, tex=True)
        assert r"\eta &= \frac{1}{2}" in text.read_text()
        assert r"\text{left} &= \left(\frac{1}{2}\right)^{2}" in text.read_text()


def test_the_command_says_why_there_is_none(tmp_path):
    (tmp_path / "mine.py").write_text(FILE.format(family="BoundedComposition", method="ComFedL"))
    made = driftproof("counterexample", "mine.py", "--tex", cwd=tmp_path)
    assert made.returncode == 2
    assert "have no formula" in made.stderr
    assert "prints a script" in made.stderr


CLASS = """
from driftproof import bound, each
from driftproof.algorithms import FedAvg
from driftproof.classes import over, smooth_convex, start_within

@bound(name="mine/descent", source="textbook", statement=r"F(x_T)-F^* \\le \\frac{LR^2}{4T+4}",
       right=lambda c: c.L * c.R**2 / (4 * c.T + 4),
       classes=over([smooth_convex(L=1), start_within(R=1)], FedAvg(step_size=1.0), rounds=2,
                    clients=1))
def gap(view):
    return each("round", "local_step", view.gap(view.mean("w"))) if view.last else None
"""


def test_functions_of_a_class_are_written_with_their_points(tmp_path):
    (tmp_path / "mine.py").write_text(CLASS)
    made = driftproof("counterexample", "mine.py", "--tex", cwd=tmp_path)
    formulas = Reading()
    formulas.read(rows_of(made.stdout))
    claim = select([str(tmp_path / "mine.py")])[0].load()
    (row,) = judge(select([str(tmp_path / "mine.py")]), Settings())
    found = json.loads(next(iter(row.proofs.values())))
    found["fields"] = {}  # functions of one variable have formulas, others have points
    reading = Reading()
    reading.read(rows_of(tex_of_class(claim, "printed", json.dumps(found))))
    assert [formulas.letters[side] for side in (LEFT, RIGHT)] == [
        reading.letters[side] for side in (LEFT, RIGHT)
    ]
    names = ["x^{*}", "x_{0}", "x_{1}", "x_{2}"]
    points = [
        [reading.letters[of] for of in (x, rf"\nabla f_{{1}}({x})", f"f_{{1}}({x})")] for x in names
    ]
    for (x, g, f), (y, h, e) in permutations(points, 2):  # smooth and convex, L = 1
        assert f >= e + h * (x - y) + (g - h) ** 2 / 2
    for (x, g, _), (y, _, _) in pairwise(points[1:]):
        assert y == x - g
    assert points[0][:2] == [0, 0]
    assert abs(points[1][0]) <= 1
    assert reading.letters[LEFT] == points[-1][2] > reading.letters[RIGHT] == Fraction(1, 12)
    # in the plane the same functions take two coordinates
    for name, (x,) in found["coordinates"].items():
        found["coordinates"][name] = [
            str(c * Fraction(x)) for c in (Fraction(3, 5), Fraction(4, 5))
        ]
    flat = Reading()
    flat.read(rows_of(tex_of_class(claim, "printed", json.dumps(found))))
    assert flat.letters["[x_{1}]_{2}"] == Fraction(4, 5) * points[2][0]
    assert [flat.letters[side] for side in (LEFT, RIGHT)] == [
        reading.letters[side] for side in (LEFT, RIGHT)
    ]
    found["numbers"]["f_0(x_2)"] = "0"
    with pytest.raises(NoScriptError, match="not above the right side"):
        tex_of_class(claim, "printed", json.dumps(found))


GAP = """
from driftproof import bound, each, sq
from driftproof.algorithms import FedAvg
from driftproof.classes import over, smooth, start_gap

@bound(name="mine/gap", source="mine", statement="half", right=lambda c: c.F_gap / (c.eta * c.T),
       classes=over([smooth(L=1), start_gap(delta=1)], FedAvg(step_size=1.0), rounds=1, clients=1))
def left(view):
    return each("transition", sq(view.gradient(view.before.w.mean(0))))
"""


def test_the_size_of_a_condition_is_not_called_what_it_bounds(tmp_path):
    """F(x_0) − F* of the functions shown may be less than Δ."""
    (tmp_path / "mine.py").write_text(GAP)
    claims = select([str(tmp_path / "mine.py")])
    (row,) = judge(claims, Settings())
    found = next(iter(row.proofs.values()))
    text = tex_of_class(claims[0].load(), "printed", found)
    assert r"\Delta &= 1 && \text{$F_0-F^* \le \Delta$}" in text
    assert "F_0-F^*" not in text.replace(r"$F_0-F^* \le \Delta$", "")
    reading, value = Reading(), Fraction(json.loads(found)["numbers"]["f_0(x_0)"])
    reading.read(rows_of(text))
    assert reading.letters[RIGHT] == reading.letters[r"\Delta"] == 1 >= value
    both = json.loads(found)
    both["conclusion"]["letters"]["Delta"] = "3"
    assert r"\Delta_{0} &= 1 &&" in tex_of_class(claims[0].load(), "printed", json.dumps(both))


LIMIT = """
from driftproof import each, limit, sq
from driftproof.algorithms import HeavyBall
from driftproof.classes import over, smooth_strongly_convex

@limit(name="mine/polyak", source="mine", statement="faster", right=lambda c: (c.mu * 4 / 9),
       classes=over([smooth_strongly_convex(L=25, mu=1)],
                    HeavyBall(step_size=1/9, momentum=4/9), clients=1))
def off(view):
    return each("round", "local_step", sq(view.mean("w") - view.minimiser)) if view.last else None
"""


def test_what_is_not_searched_points_to_the_text_of_what_verify_refutes(tmp_path):
    (tmp_path / "mine.py").write_text(LIMIT)
    driftproof("falsify", "mine.py", "--out", "s", cwd=tmp_path)
    made = driftproof("counterexample", "s", "--tex", cwd=tmp_path)
    assert made.returncode == 2
    assert "driftproof counterexample mine.py --tex writes what" in " ".join(made.stderr.split())


def test_a_limit_that_a_quadratic_refutes_is_written_and_the_script_points_to_it(tmp_path):
    (tmp_path / "mine.py").write_text(LIMIT)
    made = driftproof("counterexample", "mine.py", "--tex", cwd=tmp_path)
    assert r"x_{t+2} = \frac{4}{3} \cdot x_{t+1} - \frac{4}{9} \cdot x_{t}" in made.stdout, (
        made.stderr
    )
    assert r"$t^{2} \rho^{t}$ with $\rho = \frac{4}{9}$" in made.stdout
    made = driftproof("counterexample", "mine.py", cwd=tmp_path)
    assert made.returncode == 2
    assert "no run is computed" in made.stderr
    assert "mine.py --tex writes it" in made.stderr


CYCLE = LIMIT.replace(" right=lambda c: (c.mu * 4 / 9),", "")


APART = (
    CYCLE.replace("HeavyBall", "FedAvg")
    .replace("step_size=1/9, momentum=4/9), clients=1", "local_steps=2, step_size=1/25)")
    .replace("polyak", "apart")
)


def test_a_fixed_point_is_no_cycle_and_what_remembers_nothing_begins_with_nothing(tmp_path):
    """Two local steps end where they began, away from x*: a run converges, but not to x*."""
    (tmp_path / "mine.py").write_text(APART)
    claims = select([str(tmp_path / "mine.py")])
    (row,) = judge(claims, Settings())
    text = tex_of_class(claims[0].load(), "printed", next(iter(row.proofs.values())))
    assert "The round ends where it began, at $x_{0}$, which is not $x^{*}$" in text
    assert not re.search("cycle|c_{|c_0|method's own start", text)
    assert "$x_{i,k}$ is the $k$-th point at which client $i$ alone takes its gradient" in text
    (reading := Reading()).read(rows_of(text))
    x = [reading.letters[name] for name in ("x_{0}", "x_{1,1}", "x_{2,1}", "x_{1,2}", "x_{2,2}")]
    for client in (1, 2):  # local steps by hand, and their mean
        slopes = [reading.value(f"f_{{{client}}}'({number_text(of)})") for of in (x[0], x[client])]
        assert [x[client], x[2 + client]] == [x[0] - slopes[0] / 25, x[client] - slopes[1] / 25]
    assert (x[3] + x[4]) / 2 == x[0] == reading.letters["x_{1}"]
    assert reading.letters["F'(x_{0})"] == reading.value("(f_{1}'(x_{0}) + f_{2}'(x_{0}))") / 2 != 0
    numbers = [*x, *(reading.value(f"f_{{{i}}}'(0)") for i in (1, 2))]
    assert max(len(str(of)) for of in numbers) <= 5  # as 1897/270 was not


SADDLE_STEP = """
import torch
from driftproof import Assumption, bound, each, sq
from driftproof.algorithms import FedAvgS
from driftproof.classes import over, similar, start_within, strongly_convex_concave

@bound(name="mine/saddle", source="mine", statement="s", letters={"eta": "inner_step_size"},
       assumes=[Assumption("step size", r"\\eta \\le \\mu/L^2",
                           relation=lambda c: c.eta * c.L**2 <= c.mu)],
       classes=over([strongly_convex_concave(L=1, mu=0.5), similar(zeta=1), start_within(R=3)],
                    FedAvgS(local_steps=2, inner_step_size=0.5, outer_step_size=0.5), rounds=1),
       right=lambda c: (1 - c.eta * c.mu) ** (2 * c.tau) * c.R**2)
def distance(view):
    z = torch.cat((view.mean("x"), view.mean("y")))
    return each("round", "local_step", sq(z - view.minimiser)) if view.last else None
"""


def test_saddle_functions_come_first_with_few_digits_and_the_run_is_on_them(tmp_path):
    """μ = 1/2 and L = 1 have √3/2, of which 4/5 is enough; the partial derivatives are f's."""
    (tmp_path / "mine.py").write_text(SADDLE_STEP)
    claims = select([str(tmp_path / "mine.py")])
    (row,) = judge(claims, Settings())
    text = tex_of_class(claims[0].load(), "printed", next(iter(row.proofs.values())))
    rows = rows_of(text)
    assert rows[0] == (r"f_{1}(x, y) &= \frac{1}{4} x^{2} + \frac{4}{5} x y - \frac{1}{4} y^{2}")
    assert text.index("f_{1}(x, y)") < text.index("Run FedAvgS")
    assert not re.search(r"A_|mathcal|sum_\{i\} A|\[x|moments", text)
    assert r"since $L^{2} \eta = \frac{1}{2} \le \mu = \frac{1}{2}$" in text
    (reading := Reading()).read(rows)
    z = {}
    for k in ("0", "1,1", "2,1", "1"):
        z[k] = [reading.letters[f"{of}_{{{k}}}"] for of in "xy"]
    for client in "12":
        f = f"f_{{{client}}}"
        for x, y in ((0, 0), (1, 0), (0, 1)):  # of a quadratic, differences are exact
            ends = [reading.value(f"{f}({of})") for of in (f"{x + 1}, {y}", f"{x} - 1, {y}")]
            ends += [reading.value(f"{f}({of})") for of in (f"{x}, {y + 1}", f"{x}, {y} - 1")]
            slopes = [reading.value(rf"\partial_{{{of}}} {f}({x}, {y})") for of in "xy"]
            assert slopes == [(ends[0] - ends[1]) / 2, (ends[2] - ends[3]) / 2]
        x, y = z["0"]
        assert z[f"{client},1"] == [x - (x / 2 + y * 4 / 5) / 2, y + (x * 4 / 5 - y / 2) / 2]
    steps = [[x - (x / 2 + y * 4 / 5) / 2, y + (x * 4 / 5 - y / 2) / 2] for x, y in [z["1,1"]]]
    assert z["1"] == steps[0]  # the clients are alike
    assert reading.letters[LEFT] == sum(x**2 for x in z["1"]) > reading.letters[RIGHT]


BEGUN = """
from driftproof import average, bound
from driftproof.algorithms import FedAvg
from driftproof.classes import over, similar, smooth_convex, start_within

@bound(name="mine/begun", source="mine", statement="s", right=lambda c: c.R**2 / (c.eta * c.tau),
       classes=over([smooth_convex(L=1), similar(zeta=1), start_within(R=1)],
                    FedAvg(local_steps=16, step_size=0.25), rounds=1))
def begun(view):
    return average("round", view.gap(view.round_start("w")))
"""


def test_points_that_no_side_uses_are_left_out_and_the_mean_of_one_moment_is_not_said(tmp_path):
    (tmp_path / "mine.py").write_text(BEGUN)
    claims = select([str(tmp_path / "mine.py")])
    (row,) = judge(claims, Settings())
    text = tex_of_class(claims[0].load(), "printed", next(iter(row.proofs.values())))
    assert {*re.findall(r"x_\{[\d,]+\}", text)} == {"x_{0}"}
    assert "moment" not in text
    (reading := Reading()).read(rows_of(text))
    assert reading.letters[LEFT] > reading.letters[RIGHT]


def test_points_stand_in_the_order_of_the_run():
    """Each point is numbered after those before it, and of several clients each has its own."""
    given = [smooth_strongly_convex(L=1, mu=0.5), similar(zeta=1), start_within(R=1)]
    claim = bound(
        name="tests/order",
        source="tests",
        statement="s",
        classes=over(given, FedAvg(local_steps=3, step_size=0.5), rounds=1),
        right=lambda c: c.R**2 / 100,
    )(off)
    (row,) = judge([claim], Settings())
    text = tex_of_class(claim, "printed", next(iter(row.proofs.values())))
    told = re.findall(r"^  x_\{(\d),(\d)\} &=", text, re.MULTILINE)
    assert told == [(i, k) for k in "12" for i in "12"]


COMPOSITE = """
from driftproof import bound, each
from driftproof.algorithms import ProximalGradient
from driftproof.classes import convex, over, plus, smooth_convex, start_within

@bound(name="mine/composite", source="mine", statement="s", right=lambda c: c.R**2 / 10,
       classes=over([smooth_convex(L=1), plus(convex()), start_within(R=1)],
                    ProximalGradient(step_size=1.0), rounds=2, clients=1))
def composite(view):
    return each("transition", view.gap(view.mean("w"))) if view.last else None
"""
OPERATORS = (
    SADDLE_STEP.replace("strongly_convex_concave", "monotone_lipschitz")
    .replace('torch.cat((view.mean("x"), view.mean("y")))', 'view.mean("w")')
    .replace("inner_step_size=0.5, outer_step_size", "step_size")
    .replace(', letters={"eta": "inner_step_size"}', "")
    .replace("FedAvgS", "FedAvg")
)


@pytest.mark.parametrize(
    "name", ["GAP", "CYCLE", "APART", "PULLED", "SADDLE_STEP", "BEGUN", "COMPOSITE", "OPERATORS"]
)
def test_scripts_of_class_refutations_run_where_warnings_are_errors(name, tmp_path):
    """And their texts are read back."""
    (tmp_path / "mine.py").write_text(globals()[name])
    claims = select([str(tmp_path / "mine.py")])
    (row,) = judge(claims, Settings())
    found = next(iter(row.proofs.values()))
    given = [sys.executable, "-W", "error", "-c", script_of_class("mine", "printed", found)]
    made = subprocess.run(given, capture_output=True, text=True, check=False)
    assert made.stdout.startswith("REFUTED"), made.stderr
    text = tex_of_class(claims[0].load(), "printed", found)
    Reading().read([*rows_of(text), *of_table(text)])


def cycle_text(tmp_path, source=None):
    (tmp_path / "mine.py").write_text(source or CYCLE)
    claims = select([str(tmp_path / "mine.py")])
    (row,) = judge(claims, Settings())
    return row, tex_of_class(claims[0].load(), "printed", next(iter(row.proofs.values())))


def test_a_cycle_is_a_rule_and_a_table_and_says_of_rest_what_the_judge_says(tmp_path):
    row, text = cycle_text(tmp_path)
    assert r"with step size $\alpha = \frac{1}{9}$ and momentum $\beta = \frac{4}{9}$" in text
    assert not re.search(r"c_\{|left}|\\text\{start\}|in doubles|f_\{0\}", text)
    assert "The iterates repeat with period 3, so $x_{t}$ does not converge to $x^{*}$." in text
    assert row.reason.endswith("a run from rest at x_0 = 1 comes to it too, on the f of --tex")
    assert r"\paragraph{Counterexample} to" in text
    assert r"since $1 \le f_{1}'' \le 25$" in text
    reading = Reading()
    reading.read([*rows_of(text), *of_table(text)])
    x = [reading.letters[f"x_{{{t}}}"] for t in range(-1, 4)]
    assert x[:2] == x[3:]
    for before, here, after in zip(x[:-2], x[1:], x[2:], strict=False):
        slope = reading.value(f"f_{{1}}'({number_text(here)})")
        assert after == here - slope / 9 + Fraction(4, 9) * (here - before)
    after = int(re.search(r"y_\{t\+(\d+)\}", text)[1])  # from rest, on the text's f alone
    before, here = Fraction(1), Fraction(1)
    for t in range(after + 60):
        near = abs(here - x[1 + (t - after) % 3])
        assert t < after or near < 0.02
        slope = reading._at("f_{1}'", here)
        before, here = here, here - slope / 9 + Fraction(4, 9) * (here - before)
    assert near < 1e-6
    wrongs = [(r"{359}{50}", r"{358}{50}"), (r"1}{9} \cdot f", r"1}{8} \cdot f"), ("= -", "= ")]
    for other in (text.replace(here, wrong) for here, wrong in wrongs):
        with pytest.raises(NoScriptError, match="does not say what was computed"):
            Reading().read([*rows_of(other), *of_table(other)])
    with pytest.raises(NoScriptError, match="does not say what was computed"):
        Reading().read([r"f'(x) &= 2 \cdot x", "x_{1} &= 3", "f'(x_{1}) &= 7"])


def test_what_is_said_of_rest_is_computed_once_more_from_the_text(tmp_path, monkeypatch):
    known = cycles.from_rest
    for n, other in ((1, 13), (2, Fraction(1, 50)), (4, Fraction(-5, 4)), (6, Fraction(17))):

        def wrong(*of, n=n, other=other):
            made = known(*of)
            return made if len(of) > 3 and n < 3 else (*made[:n], other, *made[n + 1 :])

        monkeypatch.setattr(cycles, "from_rest", wrong)
        with pytest.raises(NoScriptError, match="does not say what a run from rest does"):
            cycle_text(tmp_path)


def test_an_equality_is_printed_of_fractions_alone(tmp_path):
    """1/9 is no 0.111111111111111, and a tolerance made it one."""
    ties = "ties={'alpha': lambda c: 1 / 9, 'beta': lambda c: 4 / 9},"
    tied = CYCLE.replace("step_size=1/9, momentum=4/9", "")
    _, text = cycle_text(tmp_path, tied.replace('"faster",', f'"faster", {ties}'))
    assert r"are met: $\alpha = \frac{1}{9}$; $\beta = \frac{4}{9}$" in text
    assert not re.search(r"0\.1|\\pm", text)
    with pytest.raises(NoScriptError, match="does not show that it holds"):
        _sides(Eq(Symbol("a"), sqrt(2)), Reading({"a": Fraction("1.41421356237")}))


def test_a_bound_on_a_cycle_keeps_its_sides(tmp_path):
    """Only x_t → x* has none: a bound on runs that come back is no limit."""
    moves = CYCLE.replace("limit", "bound").replace("view.minimiser", 'view.round_start("w")')
    for one, other in {
        "@bound(": "@bound(right=lambda c: 0, ",
        "clients=1": "rounds=3, clients=1",
        "mu=1)]": "mu=1), start_anywhere(R=1, a=1), recurs()]",
        "import over": "import over, recurs, start_anywhere",
    }.items():
        moves = moves.replace(one, other)
    _, text = cycle_text(tmp_path, moves)
    assert r"\text{left} &> \text{right}" in text
    assert "The iterates repeat with period 3." in text


def test_a_cycle_of_several_clients_in_the_plane_has_a_table_too(tmp_path):
    row, text = cycle_text(tmp_path, CYCLE.replace("clients=1", "clients=2"))
    said = "a run from rest, which need not come there, is not refuted"
    assert row.reason.endswith(f"It begins in motion, x_(−1) ≠ x_0: {said}")
    assert r"{Counterexample for a start in motion, $x_{-1} \ne x_{0}$} to" in text
    assert "In doubles a run may\nleave the cycle, if it is not attracting." in text
    (reading := Reading()).read(of_table(text))
    for j in (1, 2):  # the gradients at x* have mean 0, and x_3 is x_0
        slopes = [reading.letters[rf"[\nabla f_{{{i}}}(x^{{*}})]_{{{j}}}"] for i in (1, 2)]
        assert sum(slopes) == 0
        assert reading.letters[f"[x_{{3}}]_{{{j}}}"] == reading.letters[f"[x_{{0}}]_{{{j}}}"]


def test_what_is_measured_of_the_mean_is_said_of_the_mean():
    """½F'(x_0)² − F(x_0) + F(x_1), and not the clients' sums."""

    @bound(
        name="tests/mean",
        source="tests",
        statement="s",
        right=lambda c: c.eta**2 * c.tau**2 * c.L * c.zeta**2 * 2,
        classes=over(
            [smooth_convex(L=1), similar(zeta=1), start_within(R=10)],
            FedAvg(local_steps=2, step_size=0.5),
            rounds=1,
        ),
    )
    def mean(view):
        w = view.round_start("w")
        fallen = view.gap(view.mean("w")) - view.gap(w) + sq(view.gradient(w)) / 2
        return each("round", "local_step", fallen) if view.last else None

    (row,) = judge([mean], Settings())
    text = tex_of_class(mean, "printed", next(iter(row.proofs.values())))
    assert r"\text{left} &= \frac{1}{2} \cdot F'(x_{0})^{2} - F(x_{0}) + F(x_{1})" in text
    assert r"F'(x_{0}) &= \frac{1}{2} \cdot (f_{1}'(x_{0}) + f_{2}'(x_{0}))" in text
    assert (
        r"= \frac{1}{2} \cdot (f_{1}'(x^{*})^{2} + f_{2}'(x^{*})^{2}) = 1 && \text{at most" in text
    )


@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize("begins", [start_at_minimiser(), start_within(R=0.5)])
def test_clients_points_are_named_by_what_they_are_and_so_is_the_start(begins, steps):
    """A client's first point was called x_0, as if the run began there."""
    base = "minimiser" if "minimiser" in str(begins) else "start"

    @bound(
        name="tests/ends",
        source="tests",
        statement="s",
        right=lambda c: c.eta * c.tau * c.zeta**2 / 2,
        classes=over(
            [smooth_convex(L=1), similar(zeta=1), begins],
            FedAvg(local_steps=steps, step_size=1.0),
            rounds=1,
        ),
    )
    def ends(view):
        origin = view.minimiser if base == "minimiser" else view.round_start("w")
        squares = sq(view.client("w") - origin)
        return each("round", "local_step", view.cohort_mean(squares[:, None])[0])

    (row,) = judge([ends], Settings())
    text = tex_of_class(ends, "printed", next(iter(row.proofs.values())))
    start, x = ("x_{0} = x^{*} = 0", "x^{*}") if base == "minimiser" else ("x_{0}", "x_{0}")
    assert f"from ${start}$ for one round" in text
    named = [rf"(x_{{{i},{steps}}} - {x})^{{2}}" for i in (1, 2)]
    assert rf"\text{{left}} &= \frac{{1}}{{2}} \cdot ({' + '.join(named)})" in text
    (reading := Reading()).read(rows_of(text))
    begun, squares = reading.letters[x], []
    for i in (1, 2):  # the run by hand
        at = begun
        for _ in range(steps):
            at -= reading.value(f"f_{{{i}}}'({number_text(at)})")
        squares.append((at - begun) ** 2)
    assert reading.letters[LEFT] == sum(squares) / 2 > reading.letters[RIGHT]


PULLED = """
from driftproof import bound, each, sq
from driftproof.algorithms import FedProx
from driftproof.classes import any_state, over, smooth_strongly_convex

@bound(name="mine/pulled", source="mine", statement="faster", measured={"b": "b"},
       classes=over([smooth_strongly_convex(L=1, mu=0.1), any_state()],
                    FedProx(local_steps=2, proximity=1.0), rounds=1, clients=1),
       right=lambda c: (1 - c.eta) ** 4 * c.measured("b"))
def pulled(view):
    start, end = (sq(x - view.minimiser) for x in (view.round_start("w"), view.mean("w")))
    return each("round", "local_step", end, b=start) if view.last else None
"""


def test_a_rounds_start_is_no_part_of_a_state_and_a_letter_means_one_thing(tmp_path):
    (tmp_path / "mine.py").write_text(PULLED)
    claims = select([str(tmp_path / "mine.py")])
    (row,) = judge(claims, Settings())
    found = json.loads(next(iter(row.proofs.values())))
    text = tex_of_class(claims[0].load(), "printed", json.dumps(found))
    assert r"The right side is $b \left(1 - \eta\right)^{4}$: its terms with $b$" in text
    assert r"are brought to the left, so that $\text{left}$ has all that is measured." in text
    assert not re.search(r"c_\{0\}|\\text\{start\}", text)
    assert "The left side is taken after step 2 of round 1." in text
    about = About(claims[0].load(), found)
    said = " ".join(_exist(found, {}, about))
    assert r"with $L = 1$ and $\mu_{f} = \frac{1}{10}$" in said  # the proximal term has \mu
    assert r"\mu \|" not in said
    about.notation |= {"mu": "strong_convexity", "mu_p": "proximity"}  # as letters= of a claim
    assert r"$\mu = \frac{1}{10}$" in " ".join(_exist(found, {}, about))
    assert r"proximity $\mu_{p} = 1$" in about.told()[0]
    text, *_ = tex_of(moved, moved.forms[0], Case(QUADRATICS, FedProx(local_steps=2), 2))
    assert "anchor" not in text


def test_what_a_claim_does_not_bound_is_no_assumption_and_a_mean_is_of_outcomes():
    given = [smooth_strongly_convex(L=1, mu=0.5), start_within(R=1)]
    method = FedAvg(step_size=1.0, participation=0.5)

    @bound(
        name="tests/drawn",
        source="tests",
        statement="drawn",
        classes=over([*given, similar(zeta=1)], method, rounds=1, clients=2),
        right=lambda c: c.R**2 / 2,
    )
    def drawn(view):
        return each("transition", sq(view.mean("w") - view.minimiser))

    (row,) = judge([drawn], Settings())
    found = next(iter(row.proofs.values()))
    text = tex_of_class(drawn, "printed", found)
    assert r"\frac{1}{2} \sum_{i} \|\nabla f_{i}(x^{*})\|^{2}" in text
    assert text.count("at most $1$") == text.count("at most $R^{2} = 1$") == 1
    assert r"one client of the 2 is drawn, each with probability $\frac{1}{2}$" in text
    assert r"\frac{1}{2} \cdot ((x_{0} - f_{2}'(x_{0}))^{2} + (x_{0} - f_{1}'(x_{0}))^{2})" in text
    wide = replace(drawn, classes=over(given, method, rounds=1, clients=2))
    text = tex_of_class(wide, "printed", found)
    assert "of these functions; no condition of the claim bounds it" in text
    assert text.count(r"at most $R^{2} = 1$") == 1
    assert "for one round on 2 clients" in text


def off(view):
    parts = [view.mean(name) for name in ("w", "x", "y") if name in view.state._fields]
    x = torch.cat(parts) if len(parts) > 1 else parts[0]
    return each("round", "local_step", sq(x - view.minimiser)) if view.last else None


def gap(view):
    return each("round", "local_step", view.gap(view.mean("w"))) if view.last else None


def rate(of):
    return lambda c: Rational(of)


STEEP_ONE, SADDLE = smooth_strongly_convex(L=25, mu=1), strongly_convex_concave(L=1, mu=0.1)
GDA = {"inner_step_size": 0.5, "outer_step_size": 0.5}
LIMITS = [  # conditions, method, right side, what is measured
    ([SADDLE], FedAvgS(inner_step_size=0.05, outer_step_size=0.03), rate("0.994"), off),
    ([SADDLE], FedAvgS(**GDA), None, off),
    ([SADDLE], FedAvgS(local_steps=2, **GDA), rate(1), off),
    ([SADDLE], FedAvgS(inner_step_size=2.1, order="alternating"), None, off),
    ([SADDLE], Extragradient(step_size=1.0), None, off),
    ([monotone_lipschitz(L=1, mu=0.1)], FedAvg(step_size=0.5), None, off),
    ([STEEP_ONE], HeavyBall(step_size=1 / 9, momentum=4 / 9), lambda c: c.mu * 4 / 9, off),
    ([STEEP_ONE], FedAvg(step_size=0.04), lambda c: (1 - c.eta * c.mu) ** 4, off),
    ([STEEP_ONE], FedAvg(step_size=0.04), lambda c: 1 - sqrt(c.eta * 2), gap),
    ([STEEP_ONE], FedAvg(local_steps=2, step_size=0.0801), None, off),
    ([smooth_convex(L=25)], FedAvg(step_size=0.08), None, gap),
]


@pytest.mark.parametrize("number", range(len(LIMITS)))
def test_a_limit_is_refuted_by_the_functions_the_round_and_the_rates_that_its_text_has(number):
    conditions, method, right, left = LIMITS[number]
    claim = limit(
        name="tests/limit",
        source="tests",
        statement="s",
        classes=over(conditions, method, clients=1 + (method.local_steps > 1)),
        **({"right": right} if right else {}),
    )(left)
    (row,) = judge([claim], Settings())
    text = tex_of_limit(claim, row)
    assert text.isascii()
    assert not re.search(r"Fraction|_size=|\(L = |\br\b", text)
    (functions,) = re.findall(r"\[ (?:f|A|f_\{i\})\((?:x|x, y)\) = (.*), \\\]", text)
    (obeyed,) = re.findall(r"([xz])_\{t\+(\d)\} = (.*)\. \\\]", text)

    def at(of, **where):
        return Reading({name: Fraction(x) for name, x in where.items()}).value(of)

    if obeyed[0] == "z":  # the round, by hand, of what the text says of the functions
        if conditions[0] is SADDLE:
            of = [[at(functions, x=x, y=y) for x, y in ((1, 0), (0, 1), (1, 1))]][0]
            p, r, b = 2 * of[0], -2 * of[1], of[2] - of[0] - of[1]
            M = np.array([[p, b], [-b, r]])
        else:
            rows = functions[1:-1].split(", ")
            M = np.array([[at(row, x=x, y=1 - x) for x in (1, 0)] for row in rows])
        steps = np.diag([Fraction(str(x)) for x in step_sizes(method)])
        one = np.eye(2, dtype=int) - steps @ M
        if getattr(method, "order", "") == "alternating":
            assert M[0, 1] == 0  # so the order makes no difference
        if isinstance(method, Extragradient):
            one = np.eye(2, dtype=int) - steps @ M @ one
        one = np.linalg.matrix_power(one, method.local_steps)
        printed = re.findall(r"[xy]_\{t\+1\} = ([^\\\\]*(?:\\(?!quad)[^\\\\]*)*?), ?\\", text)
        told = [[at(row, **{"x_{t}": x, "y_{t}": 1 - x}) for x in (1, 0)] for row in printed]
        assert told == one.tolist()
        sizes = np.abs(np.linalg.eigvals(one.astype(float)))
    else:
        k = int(obeyed[1])
        q = [
            at(obeyed[2], **{f"x_{{t{f'+{j}' * (j > 0)}}}": j == n for j in range(k)})
            for n in range(k)
        ]
        sizes = np.abs(np.roots([1, *(-float(c) for c in reversed(q))]))
        curvature = 2 * at(functions, x=1)
        eta = Fraction(step_sizes(method)[0]).limit_denominator(10**4)
        own = (1 - eta * curvature) ** method.local_steps
        assert q == ([own] if k == 1 else [Fraction(-4, 9), 1 - eta * curvature + Fraction(4, 9)])
    size = max(sizes) ** 2
    rho, a = (re.findall(rf"\${x} (?:=|\\[lg]e) (.*?)\$", text) for x in (r"\\rho", "a"))
    if rho:
        assert float(at(rho[0])) <= size * (1 + 1e-9)
        assert float(at(rho[0])) == pytest.approx(size, rel=1e-5)
    else:
        assert size == pytest.approx(1)
    if a:
        ours = float(row.rhs)
        assert ours * (1 - 1e-12) <= float(at(a[0])) < ours * (1 + 1e-5)
        assert at(a[0]) < at(rho[0]) or (at(a[0]) == at(rho[0]) and "t^{2}" in text)
    assert ("m$ being what the claim" in text) == (left is gap)


def step_sizes(method):
    return (getattr(method, "outer_step_size", 0) or method.step_size), (
        getattr(method, "inner_step_size", 0) or method.step_size
    )


def test_what_else_refutes_a_limit_has_no_linear_gradients():
    row = SimpleNamespace(reason="a cycle", series=None, case={"key": ""}, form_key="printed")
    with pytest.raises(NoScriptError, match="no functions to write down"):
        tex_of_limit(descent, row)


LONG = """
from driftproof import bound, each, grid, sq
from driftproof.algorithms import FedAvg
from driftproof.problems import PiecewiseLosses

@bound(name="mine/long", source="mine", statement="0", right=lambda c: 10 ** (6 - 3 * c.T),
       cases=grid(PiecewiseLosses(), FedAvg(), rounds=40))
def moved(view):
    return each("round", sq(view.mean("w")))
"""


def test_a_case_is_written_with_the_fewest_rounds_that_refute(tmp_path):
    """Of 1, 2, 3, 5, … rounds."""
    (tmp_path / "mine.py").write_text(LONG)
    tex = driftproof("counterexample", "mine.py", "--tex", cwd=tmp_path).stdout
    assert re.search("for [35] rounds", tex)
    assert "The claim's case has 40 rounds; this one has fewer, all else equal." in tex


SMALLEST = """
from driftproof import bound, smallest
from driftproof.algorithms import FedAvg
from driftproof.classes import over, smooth_convex, start_within

@bound(name="mine/best", source="mine", statement="s", right=lambda c: c.R**2 / (2 * c.tau * c.S),
       classes=over([smooth_convex(L=1), start_within(R=1)],
                    FedAvg(local_steps=2, step_size=1.0), rounds=1))
def best(view):
    if view.local_step == view.local_steps:
        return smallest("round", "local_step", view.gap(view.mean("w")))
"""


def test_the_smallest_of_rounds_is_a_number_of_the_script_too(tmp_path):
    """m is no value of a function: a script of functions in formulas had not said what it is."""
    (tmp_path / "mine.py").write_text(SMALLEST)
    made = driftproof("counterexample", "mine.py", "--tex", cwd=tmp_path)
    assert r"m &= \frac{9}{16} \\" in made.stdout, made.stderr
    assert r"m - M_{0} &= " in made.stdout


@bound(
    name="tests/rest",
    source="tests",
    statement="FedAvg comes to x*",
    right=lambda c: c.eta / 10**4,
    cases=grid(PAIR, FedAvg(), rounds=1),
)
def rest(view):
    return each("round", "local_step", sq(view.mean("w") - view.minimiser)) if view.last else None


def test_an_interval_of_a_long_run_agrees_with_the_judge_within_its_width(monkeypatch):
    """After 60 steps the text knows the left side to fewer digits than the judge."""
    monkeypatch.setattr(read_back, "EXACT", 1)  # as in runs whose fractions are longer yet
    slopes = ((((0.0, -1.0), (1.0, 0.0)),), (((0.0, -1.5), (1.0, -1.0)),))
    problem = PiecewiseLosses(gradients=slopes, tails="linear")
    case = Case(problem, FedAvg(local_steps=2, step_size=0.3), 30)
    row = judged(rest, rest.forms[0], case, 0)
    _, left, _, width = tex_of(rest, rest.forms[0], case)
    assert width > 1e-9 * left
    assert agreed_tex(rest, rest.forms[0], case, row.lhs, row.rhs)
    other = {key: 2 * x for key, x in row.lhs.items()}
    with pytest.raises(NoScriptError, match="not the judge's numbers"):
        agreed_tex(rest, rest.forms[0], case, other, row.rhs)


def test_sides_that_intervals_leave_open_have_more_digits():
    """It was said of a run that comes to x* that its left side is not above the right one."""
    bowl = (((0.0, -0.7), (0.9, 0.3)),)
    problem = PiecewiseLosses(clients=1, gradients=(bowl,), tails="linear")
    case = Case(problem, FedAvg(step_size=0.3), 60)
    claim = replace(rest, right=lambda c: c.eta / 10**25, cases=(case,))
    row = judged(claim, claim.forms[0], case, 0)
    text = agreed_tex(claim, claim.forms[0], case, row.lhs, row.rhs)
    assert r"\text{left} &> \text{right}" in text
    assert max(map(len, re.findall(r"\d+ \\pm", text))) > 20


def test_a_long_run_near_a_kink_has_intervals_of_as_many_digits_as_it_takes():
    """Intervals of twelve digits came to lie on two pieces."""
    bowl = ((-3.3, 0.0), (-2.3, 25.0), (-1.3, 26.0), (0.0, 58.5))
    problem = PiecewiseLosses(clients=1, gradients=((bowl,),), tails="linear")
    case = Case(problem, HeavyBall(step_size=1 / 9, momentum=4 / 9), 90)
    claim = replace(rest, right=lambda c: c.alpha / 10**4, cases=(case,))
    row = judged(claim, claim.forms[0], case, 0)
    assert agreed_tex(claim, claim.forms[0], case, row.lhs, row.rhs)
    text, left, _, width = tex_of(claim, claim.forms[0], case)
    assert max(map(len, re.findall(r"\d+ \\pm", text))) > 20
    before = x = Fraction(0)
    for _ in range(90):
        slope = Fraction(117, 2) + 25 * x
        if x < Fraction(-13, 10):
            slope = x + Fraction(273, 10) if x > Fraction(-23, 10) else 25 * x + Fraction(165, 2)
        before, x = x, x - slope / 9 + (x - before) * 4 / 9
    assert abs(left - float((x + Fraction(33, 10)) ** 2)) <= width < 1e-3
    with pytest.raises(NoScriptError, match=r"in step \d+: .* lies on two pieces of a function"):
        tex_of(claim, claim.forms[0], replace(case, rounds=400))


def off_both(view):
    x, y = view.mean("x") - view.minimiser, view.mean("y") - view.lower_minimiser
    return each("round", "local_step", (sq(x) + sq(y)).sqrt()) if view.last else None


BENT = PiecewiseMinimax(
    clients=1,
    plain=((((0.0, -1.0), (1.0, 0.0)),),),
    lower=((((0.0, -2.0), (1.0, 0.0), (2.0, 1.0)),),),
    coupling=((0.0,),),
    tails="linear",
)
"""h'(x) = x − 1, and k' bends at its zero: Newton's steps to y* ask on both sides."""
both = bound(
    name="tex/both",
    source="a draft",
    statement=r"\|z_T - z^*\| \le \tfrac1{10} (1 - \alpha\mu)^{T/2} R",
    cases=[Case(BENT, FedAvgS(), 3)],
    right=lambda c: (1 - c.alpha * c.mu) ** (c.T / 2) * c.R / 10,
    letters={"R": "initial_distance_of_both", "mu": "field_monotonicity", "T": "steps"},
)(off_both)


def test_a_saddle_point_is_exact_and_half_a_step_is_a_root():
    """‖z_0 − z*‖ = √2, and the right side is 0.1 · 0.9^{3/2} √2."""
    (case,) = both.cases
    row = judged(both, both.forms[0], case, 0)
    text = agreed_tex(both, both.forms[0], case, row.lhs, row.rhs)
    assert r"R &= \sqrt{(x^{*})^{2} + (y^{*})^{2}} = \sqrt{2} \\" in text
    assert r"\partial_{x} f(x^{*}, y^{*}) &= h'(x^{*}) = 0 \\" in text
    assert r"\partial_{y} f(x^{*}, y^{*}) &= -k'(y^{*}) = 0 \\" in text
    assert r"\sqrt{\left(\frac{271}{1000} - x^{*}\right)^{2} + " in text
    reading = Reading()
    reading.read(rows_of(text))
    assert (reading.letters["x^{*}"], reading.letters["y^{*}"]) == (1, 1)
    assert (reading.letters[RIGHT] ** 2).contains(ball(Fraction(2 * 9**3, 10**5)))
    assert r"k'(y) &= \begin{cases} 2 \cdot y - 2 & y \le 1 \\ y - 1 & 1 \le y" in text
    assert "k'(x)" not in text


def curves_of(problem):
    curves = Curves(problem)
    assert curves.least(problem.solution.minimiser)
    return curves


def exact_members():
    steep, other = ((-0.5, -3.0), (0.0, -2.0)), ((-1.0, 0.0), (0.5, 0.75), (2.0, 4.0))
    bent = ((((0.0, -1.0), (1.0, -0.5)),), (((0.0, 2.0), (1.0, 3.0), (2.0, 6.0)),))
    yield from (PAIR, QUADRATICS, BENT, PiecewiseLosses(clients=1, gradients=((STEEP,),)))
    yield PiecewiseLosses(gradients=((STEEP,), (((0.0, -1.0), (1.0, -0.5)),)))
    yield PiecewiseLosses(dim=2, gradients=((STEEP, SHALLOW), (SHALLOW, STEEP)))
    for coupling in (((1.0,), (0.5,)), ((-2.0,), (0.5,)), ((1.0,), (-1.0,))):
        lower = ((other,), (steep,))
        yield PiecewiseMinimax(plain=bent, lower=lower, coupling=coupling, tails="linear")
    levels = {"plain": ((*bent[0], *bent[1]),), "lower": ((steep, other),), "tails": "linear"}
    yield PiecewiseMinimax(clients=1, dim=2, coupling=((-1.0, 0.75),), **levels)


@pytest.mark.parametrize("problem", list(exact_members()))
def test_what_x_star_decides_follows_from_the_formulas_exactly(problem):
    """The judge has upper ends in doubles."""
    curves = Curves(problem)
    assert curves.least(problem.solution.minimiser + 1) == curves.best == []
    curves, case = curves_of(problem), Case(problem, FedAvg(), 1)
    ends = {role: float(x) for role, x in constants_at_optimum(problem).items()}
    assert len(ends) == 3
    _, high = problem.initial_gap
    for role, end in {**ends, "initial_gap": high}.items():
        size = _at_least(role, case, curves)
        if size is None:  # a client's own function has no minimum
            assert role == "minima_gap"
            continue
        assert isinstance(size.value, Fraction)
        root = role not in ("initial_gap", "minima_gap")
        assert float(size.value) ** (0.5 if root else 1) == pytest.approx(end, rel=1e-9, abs=1e-9)
    slopes = curves.slopes()
    assert all(sum(x.value for x in parts) == 0 for parts in zip(*slopes, strict=True))
    x = problem.dim * [0.3]
    exact = curves.above(Balls.of(np.array(x))[:, None])
    ours = float(problem.gap(torch.tensor(x, dtype=torch.float64)[:, None]))
    assert float(lift(exact)[0].mid()) == pytest.approx(ours, rel=1e-9)


@bound(
    name="tests/levels",
    source="tests",
    statement="levels",
    right=lambda c: c.F_gap * c.zeta**2 / 10**4,
    letters={"zeta": "field_dissimilarity"},
    cases=grid(BENT, FedAvgS(), rounds=1),
)
def levels(view):
    x = view.mean("x")
    return average("round", view.gap(x) + sq(view.gradient(x)))


@pytest.mark.parametrize("problem", list(exact_members())[-4:])
def test_a_largest_value_over_y_is_exact(problem):
    """F(x) = f(x, y*(x)), and y* is a function of the text."""
    method = FedAvgS(local_steps=2)
    text, left, right, _ = tex_of(levels, levels.forms[0], Case(problem, method, 2))
    ours = run_exactly(problem, method, rounds=2, left=levels.left, limit=256)
    assert left == pytest.approx(float(ours.values.mean()), rel=1e-9)
    assert right >= 0
    assert re.search(r"  y\^\{\*\}(_\{1\})?\(x\) &= ", text)
    reading = Reading()
    reading.read(rows_of(text))
    gap = next(x for name, x in reading.letters.items() if name.startswith(r"\left(F"))
    assert isinstance(gap, Fraction)
    assert float(gap) == pytest.approx(problem.initial_gap[1], rel=1e-9)


@bound(
    name="tests/apart",
    source="tests",
    statement="apart",
    right=lambda c: c.R**2 / 2 + c.eta**2 * c.L * c.zeta**2 / 10 - c.n / 10,
    letters={
        "R": "initial_distance",
        "zeta": "gradient_dissimilarity",
        "n": "clients",
        "L": "field_smoothness",
    },
    cases=grid(PAIR, FedAvg(), rounds=1),
)
def apart(view):
    return average("round", view.gap(view.mean("w")))


def test_an_exact_zero_is_one_and_an_irrational_root_has_its_square():
    one = PiecewiseLosses(clients=1, gradients=((STEEP,),))
    text, *_ = tex_of(apart, apart.forms[0], Case(one, FedAvg(), 1))
    assert r"\zeta &= \left|F'(x^{*})\right| = 0 \\" in text
    assert r"R &= \left|x^{*}\right| = 0 \\" in text
    assert r"L &= 4 && \text{Lipschitz constant of $\nabla F$}" in text
    assert not re.search(r"  n &|linear}|f_|descent-ascent", text)
    slopes = (
        (((0.0, -1.0), (1.0, 0.0)),),
        (((0.0, -2.0), (1.0, 1.0)),),
        (((0.0, 0.0), (1.0, 1.0)),),
    )
    three = PiecewiseLosses(clients=3, gradients=slopes, tails="linear")
    text, *_ = tex_of(apart, apart.forms[0], Case(three, FedAvg(), 1))
    assert (
        r"\zeta^{2} &= \frac{f_{1}'(x^{*})^{2} + f_{2}'(x^{*})^{2} + f_{3}'(x^{*})^{2}}{3}" in text
    )
    assert r"where $F(x) = \frac{1}{3}\sum_{i=1}^{3} f_i(x)$" in text.replace("with $F", "where $F")
    assert r"each $\nabla f_{i}$" in text
    assert r"\pm" not in text.partition("two sides")[2]


@bound(
    name="tests/where",
    source="tests",
    statement="where",
    right=lambda c: c.R - 9,
    letters={"R": "initial_distance"},
    cases=grid(PAIR, FedAvg(), rounds=1),
)
def where(view):
    return average("round", sq(view.mean("w")))


def test_what_is_known_by_an_enclosure_is_an_upper_end():
    """No formula says where a composition is least."""
    case = Case(PiecewiseComposition(dim=2), ComFedL(), 2)
    text, *_ = tex_of(where, where.forms[0], case)
    most = Fraction(re.search(r"  R &\\le ([\d.]+) &&", text)[1])
    assert 0 < most**2 - 8 <= Fraction(1, 10**9)
    assert re.search(r"right} &= R - 9 \\le -\d", text)


def test_steps_and_terms_that_repeat_are_told_once():
    opposed = PiecewiseLosses(gradients=((NEAR,), (((0.0, 1.0), (1.0, 2.0)),)), tails="linear")
    text, *_ = tex_of(where, where.forms[0], Case(opposed, FedAvg(local_steps=2), 40))
    rows = rows_of(text)
    assert sum("w_{1}" in row for row in rows) == 1
    assert r"w^{(k)} &= " in text
    assert r"&& \text{for $k = 2, 4, \dots, 78$}" in text
    assert r"M_{s} &= 0 && \text{for $s = 0, 1, \dots, 39$}" in text
    assert r"\text{left} &= \frac{1}{40} \sum_{s=0}^{39} M_{s} = 0 \\" in text
    assert r"where $M_{s}$ is term $s$ of the mean on the left, one for each round:" in text
    reading = Reading()
    reading.read(rows)
    assert {reading.letters[f"w_{{1}}^{{({k})}}"] for k in range(1, 78, 2)} == {Fraction(1, 10)}
    assert {reading.letters[f"M_{{{s}}}"] for s in range(40)} == {0}
    for k, row in enumerate(rows):
        if "for $k" in row:
            with pytest.raises(NoScriptError, match="does not say what was computed"):
                Reading().read([*rows[:k], row.replace(" &&", " + 1 &&"), *rows[k + 1 :]])


@bound(
    name="tests/drift",
    source="tests",
    statement="s",
    letters={"zeta": "field_heterogeneity"},
    assumes=[
        Assumption("no noise", r"\sigma = 0", relation=lambda c: c.sigma <= 0),
        Assumption("five steps", r"\tau = 5", relation=lambda c: Eq(c.tau, 5)),
    ],
    cases=grid(PAIR, FedAvg(), rounds=1),
    right=lambda c: c.eta**2 * c.zeta**2,
)
def drift(view):
    return each("round", "local_step", sq(view.mean("w"))) if view.last else None


def test_even_steps_are_told_once_no_noise_is_a_clause_and_zeta_is_exact():
    """A client with f' = −1 walks on by η in each step, and max |f_i' − F'| is 1."""
    rests, walks = ((-1.0, -1.0), (1.0, 1.0)), ((1.0, -1.0), (3.0, 1.0))
    walk = PiecewiseLosses(gradients=((rests,), (walks,)))
    text, *_ = tex_of(drift, drift.forms[0], Case(walk, FedAvg(local_steps=5), 1))
    reading = Reading()
    reading.read(rows_of(text))
    assert [reading.letters[f"w_{{2}}^{{({k})}}"] for k in range(1, 5)] == [
        Fraction(k, 10) for k in range(1, 5)
    ]
    assert sum(row.startswith("w_{2}") for row in rows_of(text)) == 1
    assert r"no noise, $\sigma = 0$; five steps, $\tau = 5$;" in text
    assert r"\sigma &=" not in text
    assert reading.letters[r"\zeta"] == 1


def test_a_power_of_an_interval_around_0_is_a_number():
    """Its middle is 0, of which flint's own power is nan: a mean over clients that are opposed."""
    around = ball(Fraction(0)) + arb(0, 1)
    assert float(value_at([(None, (Fraction(1), Fraction(2)))], around).mid()) == 1
    assert (Term(around) ** 2).value.is_finite()
    assert Reading({"x": around}).value("x^{2}").is_finite()


def test_what_adds_nothing_is_not_written_and_no_exponent_has_two():
    x, zero = Term(Fraction(3), "w^{(2)}"), Term(Fraction(0))
    slope = Term(Fraction(4), "k'(0)")
    assert (zero + Term(Fraction(1), r"\eta") * -(slope - x * zero)).text == r"0 - \eta \cdot k'(0)"
    assert (slope - slope + x).text == "0 + w^{(2)}"
    assert (x**2).text == "(w^{(2)})^{2}"
    assert ((x**2).sqrt().text, (slope**2).text) == (r"\left|w^{(2)}\right|", "k'(0)^{2}")


def test_nesterovs_points_are_those_of_his_method():
    """Gradients were said to be taken at x_k, with no update beside them."""
    classes = over(
        [smooth_strongly_convex(L=1, mu=0.01), start_gap(delta=1)],
        Nesterov(step_size=1.0, form="constant", momentum=9 / 11),
        rounds=[4],
        clients=1,
    )

    @bound(
        name="tests/nesterov",
        source="tests",
        statement="rate",
        letters={"Delta": "initial_gap"},
        classes=classes,
        right=lambda c: (1 - (c.mu / c.L) ** Fraction(1, 2)) ** c.T * c.Delta,
    )
    def rate(view):
        return each("round", "local_step", view.gap(view.mean("w"))) if view.last else None

    (row,) = judge([rate], Settings())
    text = tex_of_class(rate, "printed", next(iter(row.proofs.values())))
    assert r"y_{k+1} = x_{k+1} + m_k(x_{k+1} - x_k)" in text
    assert r"x_{4} &= y_{3} - f_{1}'(y_{3})" in text
    assert r"\text{at most $\Delta = 1$}" in text
    assert "Here $y_{0} = x_{0}$." in text
