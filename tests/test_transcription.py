"""Right sides, orders and assumptions a second time, in numbers, from the papers' displays.

``tests/transcribed/<paper>.py`` has the formulas; here they meet the claims. Each letter is a
number that no product of others equals.
"""

import math
from importlib import import_module
from math import exp
from random import Random

import pytest

from driftproof.toolkit.constants import MEASURED, Letters, evaluate
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.readings import Undecided
from driftproof.toolkit.verdict import form_key
from tests.transcribed import comfedl, feddro, fednest, literature, localsgd, scgdm

PAPERS = {
    "comfedl": comfedl,
    "feddro": feddro,
    "fednest": fednest,
    "literature": literature,
    "localsgd": localsgd,
    "scgdm": scgdm,
}
FUNCTIONS = {name: getattr(math, name) for name in ("sqrt", "exp", "log")} | {
    "max": max,
    "min": min,
    "sum": sum,
    "range": range,
}
FORMS = dict.fromkeys(("fednest", "localsgd"), ("printed", "corrected"))
"""Forms that are written a second time: printed ones, and more where prints are orders or ours."""
ELSEWHERE = (
    # ``test_feddro`` runs the pseudo-code of these
    "feddro/theorem-4.1",
    "feddro/remark-2.1",
    # and ``test_fednest`` samples long runs of this
    "fednest/minimax-linear",
    # the closed form is that of a run's end on its cases, and of two scalars by algebra
    "fednest/fedavg-fixed-point",
)
"""Existence statements that are judged by where a run comes to rest."""
POINTS = range(8)


def names(formula):
    """Return the letters of a formula, those inside a sum included."""
    code = compile(formula, formula, "eval")
    inner = [c.co_names for c in code.co_consts if hasattr(c, "co_names")]
    return {name for group in (code.co_names, *inner) for name in group}


class Point:
    """A number for each letter of a paper: the value of any of its formulas there."""

    def __init__(self, paper, point, **fixed):
        tables = [paper.WHERE, paper.BOUNDS, paper.ORDERS]
        ends = [f"{letter} + {end}" for letter, _, end in paper.CONDITIONS.values()]
        formulas = [*ends, *(formula for table in tables for formula in table.values())]
        letters = set().union(*map(names, formulas)) - set(FUNCTIONS) - set(paper.WHERE)
        self.where = paper.WHERE
        self.letters = {
            letter: exp(Random(f"{letter} {point}").uniform(-1.5, 1.5)) for letter in letters
        }
        self.letters |= paper.FIXED | fixed

    def value(self, formula):
        """Return a formula's value, in floats."""
        known = FUNCTIONS | self.letters
        for name, part in self.where.items():
            known[name] = eval(part, known)
        return eval(formula, known)

    def evaluated(self, right):
        """Return the value of a claim's expression, or function of letters."""
        values = self.letters | {MEASURED + name: v for name, v in self.letters.items()}
        same = {name: name for name in values}
        return evaluate(right(Letters(same)) if callable(right) else right, same, values)


def rows(table):
    """Return paper, claim, form and formula, one row a form."""
    return [
        (name, f"{name}/{claim}", form, formula)
        for name, paper in PAPERS.items()
        for (claim, *forms), formula in getattr(paper, table).items()
        for form in forms
    ]


def forms(claim):
    return {form_key(f.form, f.reading): f for f in leaves("claim")[claim].load().forms}


def test_every_bound_is_written_here_once():
    written = [(claim, form) for _, claim, form, _ in rows("BOUNDS")]
    assert len(written) == len(set(written))
    bounds = {
        (name, key)
        for name, leaf in leaves("claim").items()
        if leaf.load().kind in ("bound", "existence") and leaf.load().way != "proof"
        for key, form in forms(name).items()
        if form.form in FORMS.get(name.split("/")[0], ("printed",)) and name not in ELSEWHERE
        if callable(form.right)
    }
    assert bounds <= set(written)


@pytest.mark.parametrize(("paper", "claim", "form", "formula"), rows("BOUNDS"))
def test_a_right_side_is_the_papers(paper, claim, form, formula):
    right = forms(claim)[form].right
    for number in POINTS:
        point = Point(PAPERS[paper], number)
        assert point.evaluated(right) == pytest.approx(point.value(formula), rel=1e-12)


@pytest.mark.parametrize(("paper", "claim", "form", "formula"), rows("ORDERS"))
def test_an_order_is_the_papers(paper, claim, form, formula):
    orders = [
        own.right.in_horizon
        for own in leaves("claim")[claim].load().forms
        if own.form == form and not isinstance(own.right, Undecided)
    ]
    assert orders
    point = Point(PAPERS[paper], 0)
    for order in orders:
        assert point.evaluated(order) == pytest.approx(point.value(formula), rel=1e-12)


def test_the_corollary_of_local_scgdm_is_its_theorem_on_its_schedule():
    values = Point(scgdm, 0).letters
    on_schedule = Point(scgdm, 0, eta=values["T"] ** -0.5, p=values["T"] ** 0.25)
    assert on_schedule.value("theorem") == pytest.approx(on_schedule.value("corollary"), rel=1e-12)


@pytest.mark.parametrize(
    ("paper", "file", "name", "row"),
    [(paper, *at, row) for paper in PAPERS for at, row in PAPERS[paper].CONDITIONS.items()],
)
def test_a_condition_holds_up_to_its_boundary_and_not_beyond(paper, file, name, row):
    letter, relation, largest = row
    condition = getattr(import_module(f"driftproof.verifiers.papers.{paper}.claims.{file}"), name)
    for number in POINTS:
        end = Point(PAPERS[paper], number).value(largest)
        for share, holds in ((0.3, True), (1 - 1e-9, True), (1 + 1e-9, False), (3.0, False)):
            point = Point(PAPERS[paper], number, **{letter: share * end})
            stated = condition.relation(Letters({name: name for name in point.letters}))
            assert stated.rel_op == relation
            left, right = point.evaluated(stated.lhs), point.evaluated(stated.rhs)
            assert bool(stated.func(left, right)) is holds


@pytest.mark.parametrize(
    ("claim", "assumed"),
    [
        (f"{name}/{claim}", assumed)
        for name, paper in PAPERS.items()
        for claims, assumed in paper.ASSUMED
        for claim in claims.split()
    ],
)
def test_every_statement_assumes_what_the_paper_does(claim, assumed):
    own = {a.name: set(a.roles) for a in leaves("claim")[claim].load().assumes if a.roles}
    assert own == {name: set(roles.split()) for name, roles in assumed.items()}
