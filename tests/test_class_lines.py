"""Worst cases over classes as lines: which cases make one, and what stands on it."""

from __future__ import annotations

import re

import pytest

from driftproof.toolkit.groups import over_class
from driftproof.toolkit.report.class_lines import lines
from driftproof.toolkit.report.figures import draw, headline
from driftproof.toolkit.verdict import Evidence, Row, Verdict


def row(right=1.0, reason="", reading="", verdict=Verdict.SUPPORTED, form="printed", **letters):
    """Return a row whose left side tells its case."""
    letters = {
        "L": 1.0,
        "n": 2.0,
        "b": 1.0,
        "tau": 1.0,
        "eta": 0.1,
        "zeta": 1.0,
        "S": 1.0,
    } | letters
    letters["T"] = letters["tau"] * letters["S"]
    conditions = ["smooth-convex(L = 1)", f"similar(zeta = {letters['zeta']:g})"]
    left = letters["tau"] + 100 * letters["zeta"] + 10_000 * letters["S"]
    return Row(
        claim="mine/bound", form=form, edition="", reading=reading, kind="bound",
        case={
            "key": repr(sorted(letters.items())),
            "problem": {"name": "class", "conditions": conditions},
            "algorithm": {"name": "fedavg"},
        },
        verdict=verdict, evidence=Evidence.CLASS, reason=reason, instance=letters,
        lhs={"mean": left, "low": None, "high": left}, rhs=right * left,
    )  # fmt: skip


def along(letter, rows):
    (line,) = (line for line in lines(rows) if line.letter == letter)
    return line


def test_cases_that_differ_in_one_letter_make_a_line_in_its_order():
    rows = [row(zeta=z) for z in (4, 1, 2)]
    line = along("zeta", rows)
    assert line.row.series["x"] == [1, 2, 4]
    assert line.row.series["mean"] == [row(zeta=z).lhs["mean"] for z in (1, 2, 4)]
    assert line.row.series["bound"] == line.row.series["mean"]
    assert line.x_label.startswith("ζ")
    # what all have in common is said, what varies or means nothing is not
    assert line.row.case["label"] == "fedavg, every federation of smooth-convex(L = 1)"
    assert set(line.row.instance) == {"L", "n", "tau", "eta", "S"}


def test_along_local_steps_the_length_of_a_round_stays():
    rows = [row(tau=t, eta=0.3 / t) for t in (1, 2, 3)] + [row(tau=5, eta=0.7)]
    line = along("tau", rows)
    assert line.row.series["x"] == [1, 2, 3]
    assert line.x_label == "τ, local steps a round, with ητ = 0.3"
    assert "eta" not in line.row.instance
    same = along("tau", [row(tau=t) for t in (1, 2, 5, 7)])
    assert same.x_label == "τ, local steps a round"
    assert same.row.instance["eta"] == 0.1


def test_the_longest_line_is_drawn_and_two_points_are_none():
    rows = [row(S=s) for s in (1, 2, 4)] + [row(S=s, eta=0.2) for s in (1, 2, 4, 8)]
    assert [line.letter for line in lines(rows)] == ["S"]
    assert along("S", rows).row.series["x"] == [1, 2, 4, 8]
    assert lines(rows[:2]) == []
    assert lines([]) == []


def test_every_form_has_its_right_side():
    rows = [
        row(r, reading=name, zeta=z) for z in (1, 2, 3) for r, name in ((5, "book"), (2, "ours"))
    ]
    rows += [row(0.5, form="sibling", reading="half", zeta=z) for z in (1, 2, 3)]
    series = along("zeta", rows).row.series
    assert series["labels"] == {"mean": "worst case", "bound": "book", "reference": "ours"}
    assert series["bound"] == pytest.approx([5 * x for x in series["mean"]])
    assert series["reference"] == pytest.approx([2 * x for x in series["mean"]])
    assert "fit" not in series


def test_an_upper_bound_is_called_one():
    rows = [row(zeta=z, reason="conditions are necessary" if z > 2 else "") for z in (1, 2, 3)]
    assert along("zeta", rows).title == "upper bound of the worst case and right side along ζ"
    refuted = [row(zeta=z, reason="exceeds", verdict=Verdict.REFUTED) for z in (1, 2, 3)]
    assert along("zeta", refuted).title == "worst case and right side along ζ"


def test_axes_of_more_than_a_decade_are_logarithmic():
    assert along("zeta", [row(zeta=z) for z in (1, 2, 3)]).log == ""
    assert along("zeta", [row(zeta=z) for z in (1, 2, 30)]).log == "x"
    assert along("zeta", [row(20, zeta=z) for z in (1, 2, 3)]).log == "y"
    assert along("tau", [row(tau=t) for t in (1, 2, 30)]).log == ""


def test_what_was_not_computed_is_left_out_and_cases_are_no_lines():
    rows = [row(zeta=z) for z in (1, 2, 3)]
    unknown = Row(**{**vars(row(zeta=4)), "lhs": None})
    assert along("zeta", [*rows, unknown]).row.series["x"] == [1, 2, 3]
    case = Row(**{**vars(rows[0]), "case": {"key": "a", "problem": {"name": "bowls"}}})
    assert over_class(rows[0])
    assert not over_class(case)
    assert not over_class(Row(**{**vars(rows[0]), "case": {"key": "open"}}))


def test_a_line_is_drawn_with_a_tick_and_a_mark_at_each_case(tmp_path):
    (figure,) = headline([row(20, zeta=z) for z in (1, 2, 4)])
    assert figure.name == "mine-bound-zeta"
    draw(figure, tmp_path)
    drawn = (tmp_path / "mine-bound-zeta.svg").read_text(encoding="utf-8")
    assert "mine/bound: worst case and right side along ζ" in drawn
    assert {"1", "2", "4"} <= set(re.findall(r">([\d.]+)</text>", drawn))
