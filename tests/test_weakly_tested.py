"""A bound that is met with room to spare on every case is marked, in every output."""

from __future__ import annotations

from dataclasses import replace

import pytest

from driftproof.toolkit.groups import Group
from driftproof.toolkit.verdict import Row, Verdict

PLAIN = Row("own/x", "printed", "–", "", "bound", {"key": "k"}, Verdict.SUPPORTED, None, "",
            lhs={"mean": 1.0, "low": 1.0, "high": 1.0}, rhs=100.0)  # fmt: skip


def group(*rows):
    return Group("own/x", "printed", "", "–", rows)


@pytest.mark.parametrize(
    ("rows", "weak"),
    [
        ([PLAIN], True),  # 1 of 100
        ([PLAIN, replace(PLAIN, rhs=10.0)], False),  # one case is tight enough
        ([replace(PLAIN, rhs=2.0)], False),
        ([replace(PLAIN, rhs=2.0)] + 2 * [replace(PLAIN, rhs=2.0, vacuous=True)], True),
        (2 * [replace(PLAIN, rhs=2.0)] + 2 * [replace(PLAIN, rhs=2.0, vacuous=True)], False),
        ([replace(PLAIN, rhs=0.0, lhs={"mean": 0.0})], False),  # 0 ≤ 0 leaves no room
        ([replace(PLAIN, verdict=Verdict.REFUTED)], False),
        ([replace(PLAIN, kind="identity")], False),
        ([replace(PLAIN, lhs=None)], False),  # a proof
        ([replace(PLAIN, rhs=2.0, vacuous=True), PLAIN], True),
        ([replace(PLAIN, kind="rate", evidence="asymptotic")], True),  # slopes on one family
        ([replace(PLAIN, kind="rate", evidence=x) for x in ("asymptotic", "symbolic")], False),
    ],
)
def test_a_bound_with_room_to_spare_is_weakly_tested(rows, weak):
    assert group(*rows).weakly_tested is weak


def test_it_is_said_on_the_terminal_on_the_page_and_in_the_results(tmp_path, capsys):
    from driftproof.commands.verify import summary
    from driftproof.toolkit.groups import statements
    from driftproof.verifiers.verify import Settings, judge
    from tests.test_claims import make

    loose = make(right=lambda c: 1000 * c.tau**2 * c.G_g**2 * c.G_f**2)
    rows = judge([loose], Settings())
    head = {"profile": "quick", "union_bound": 0.0, "claims": {"own/drift": {"unlike": {}}}}
    summary(head, rows, tmp_path)
    assert "weakly tested" in capsys.readouterr().out
    (found,) = statements(head, rows)
    assert found.weakly_tested
    assert found.public()["weakly_tested"] is True
    (found,) = statements(head, judge([make()], Settings()))  # attained
    assert not found.weakly_tested
