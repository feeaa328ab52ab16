"""Bounds judged by certified enclosures of their left side, and how they are drawn."""

import json
from dataclasses import replace

import pytest

from driftproof.synthetic.problems import BoundedComposition
from driftproof.toolkit.cases import Assumption, grid
from driftproof.toolkit.groups import grouped
from driftproof.toolkit.report.figures import draw, headline
from driftproof.toolkit.report.files import results_of
from driftproof.toolkit.report.page import figures, render
from driftproof.toolkit.verdict import Evidence, Verdict
from driftproof.verifiers.claim_types.compared import Comparison
from driftproof.verifiers.claim_types.comparison import comparison
from driftproof.verifiers.judges.comparisons import judge
from driftproof.verifiers.judges.judge import pack_rows, unpack_rows
from driftproof.verifiers.verify import Settings, header
from driftproof.verifiers.verify import judge as judge_claims


def bound(comparisons, *, assumes=()):
    """Return a claim of kind bound whose comparisons are given, for each of its cases."""

    @comparison(
        name="own/bound",
        kind="bound",
        source="",
        statement="x \\le 1",
        assumes=assumes,
        cases=grid(BoundedComposition(heterogeneity=[0.0, 1.0])),
        right=lambda c: 1.0,
    )
    def made(case, right):
        return comparisons

    return made


def row_of(*enclosures, value=1.0, scale=0.0):
    made = bound([])
    compared = [
        Comparison(f"number {k}", *e, value, float(k), scale=scale)
        for k, e in enumerate(enclosures)
    ]
    return judge(made, made.cases[0], made.forms[0], compared)


@pytest.mark.parametrize(
    ("low", "high", "verdict", "attained"),
    [
        (0.5, 0.6, Verdict.SUPPORTED, False),
        (1.0, 1.0, Verdict.SUPPORTED, True),
        (1.0, 1.0 + 5e-7, Verdict.SUPPORTED, True),  # within the margin, 1e-6
        (0.5, 1.0 + 5e-7, Verdict.SUPPORTED, False),
        (0.5, 1.0 + 2e-6, Verdict.INCONCLUSIVE, False),
        (0.9, 1.1, Verdict.INCONCLUSIVE, False),
        (1.0 + 2e-6, 1.1, Verdict.REFUTED, False),
        (3.0, float("inf"), Verdict.REFUTED, False),
        (-5.0, float("inf"), Verdict.INCONCLUSIVE, False),
        (float("nan"), float("nan"), Verdict.INCONCLUSIVE, False),
        (2.0, 0.5, Verdict.INCONCLUSIVE, False),  # an empty enclosure decides nothing
        (0.6, 0.5, Verdict.INCONCLUSIVE, False),
        (0.5 + 1e-15, 0.5, Verdict.SUPPORTED, False),  # one point, computed twice
    ],
)
def test_a_bound_is_judged_by_the_ends_of_its_left_side(low, high, verdict, attained):
    row = row_of((low, high))
    assert (row.verdict, row.attained) == (verdict, attained)
    decided = verdict in (Verdict.SUPPORTED, Verdict.REFUTED)
    assert row.evidence == (Evidence.ENCLOSED if decided else None)


@pytest.mark.parametrize("scale", [1e-3, 1e5])
def test_the_margin_is_relative(scale):
    for low, verdict in ((1 + 2e-6, Verdict.REFUTED), (1 + 1e-7, Verdict.SUPPORTED)):
        assert row_of((scale * low, scale * low), value=scale).verdict is verdict


def test_sides_that_are_zero_agree_but_are_not_called_attained():
    row = row_of((0.0, 0.0), value=0.0)
    assert row.verdict is Verdict.SUPPORTED
    assert not row.attained
    # what is small enough to count as 0 is said by the comparison, not by the judge
    assert row_of((0.0, 1e-15), value=0.0).verdict is Verdict.INCONCLUSIVE
    assert row_of((1e-15, 1e-15), value=0.0).verdict is Verdict.REFUTED
    assert row_of((1e-15, 1e-15), value=0.0, scale=1e-3).verdict is Verdict.SUPPORTED
    assert row_of((1e-9, 1e-9), value=0.0).verdict is Verdict.REFUTED


def test_one_comparison_that_fails_refutes_and_the_worst_is_shown():
    row = row_of((0.5, 0.5), (1.1, 1.2), (4.0, 5.0), (0.9, 1.5))
    assert row.verdict is Verdict.REFUTED
    assert row.lhs == {"mean": 4.0, "low": 4.0, "high": 5.0}
    assert "number 2: left ≥ 4 exceeds right = 1" in row.reason
    assert row.ratio == 4.0
    row = row_of((0.5, 0.5), (0.9, 1.5))
    assert row.verdict is Verdict.INCONCLUSIVE
    assert "number 1" in row.reason
    assert row_of((0.2, 0.3), (0.5, 0.6)).ratio == 0.5


def test_an_identity_is_still_two_sided():
    made = replace(bound([]), kind="identity")
    low = Comparison("below", 0.5, 0.5, 1.0)
    assert judge(made, made.cases[0], made.forms[0], [low]).verdict is Verdict.REFUTED


def test_a_case_that_breaks_an_assumption_is_not_compared():
    small = Assumption("spread", "h < 1/2", relation=lambda c: c.h < 0.5)
    made = bound([Comparison("x", 3.0, 3.0, 1.0)], assumes=[small])
    letters = {"h": "heterogeneity"}
    made = replace(made, cases=tuple(replace(c, problem=lettered(c)) for c in made.cases))
    assert made.cases[0].problem.notation == letters
    rows = judge_claims([made], Settings())
    assert [row.verdict for row in rows] == [Verdict.REFUTED, Verdict.INAPPLICABLE]
    assert "spread states h < 0.5" in rows[1].reason
    assert "but here 1 and 0.5" in rows[1].reason
    assert rows[1].series is None


def lettered(case):
    """Return a case's problem with a letter for its heterogeneity."""
    made = replace(case.problem)
    object.__setattr__(made, "notation", {"h": "heterogeneity"})
    return made


def test_rows_survive_the_ledger_and_are_public():
    row = row_of((0.5, 0.6))
    assert unpack_rows(pack_rows([row])) == [row]
    head = header([], Settings())
    assert json.dumps(results_of(head | {"union_bound": 0.0}, [row]))


@pytest.mark.parametrize(
    "enclosures",
    [[(0.5, 0.6)], [(0.5, 0.6), (2.0, 3.0), (1e-4, 2e-4)], [(0.5, 0.6), (0.7, float("inf"))]],
)
def test_a_bound_of_certified_numbers_is_drawn(tmp_path, enclosures):
    row = row_of(*enclosures)
    (figure,) = headline([row, row])
    assert figure.labels["band"] == "its certified enclosure"
    assert figure.log == ("y" if len(enclosures) > 2 else "")
    finite = [high for _, high in enclosures if high < float("inf")]
    assert len(figure.points.x) == 2 * len(finite)  # JSON has no infinity
    shares = [a / b for a, b in zip(figure.points.mean, figure.points.bound, strict=True)]
    assert shares == sorted(shares)
    draw(figure, tmp_path)
    assert (tmp_path / f"{figure.name}.svg").stat().st_size > 1000
    (group,) = grouped([row])[row.claim]
    assert group.tightness == f"{row.ratio:.3g}"
    json.dumps({key: list(of) for key, of in figure.points.columns.items()}, allow_nan=False)
    head = header([], Settings()) | {"union_bound": 0.0}
    head["claims"] = {
        row.claim: {
            "kind": "bound",
            "source": "",
            "statement": "x",
            "assumes": [],
            "forms": {},
            "notes": {},
            "explain": "",
            "command": "c",
        }
    }
    page = render(head, [row])
    (shown,) = figures([row])[row.claim]
    assert shown.is_line == (len(finite) > 1)  # one comparison is two numbers, and no picture
    told = f'data-plot="plot-{shown.name}"' if shown.is_line else '<p class="point">'
    assert told in page
    assert ("by enclosed evidence" in page) == (row.evidence is Evidence.ENCLOSED)
