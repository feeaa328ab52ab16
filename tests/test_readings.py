"""How the verdict on a print is made of its readings, and what the claims say of errata."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftproof.synthetic.problems import BoundedComposition
from driftproof.toolkit.algorithms import ComFedL
from driftproof.toolkit.cases import grid
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.groups import grouped
from driftproof.toolkit.readings import (
    SEVERITIES,
    Erratum,
    ReadingKind,
    Undecided,
    intended,
    literal,
    narrower,
    wider,
)
from driftproof.toolkit.statements import (
    ReadingVerdict,
    Statement,
    at_odds,
    by_severity,
    mistakes,
    sentences,
    verdict_on,
    worst_first,
)
from driftproof.toolkit.verdict import Row, Verdict
from driftproof.verifiers.claim_types.bound import bound
from driftproof.verifiers.in_print import errata
from driftproof.verifiers.verify import Settings, judge
from tests.leaves import claims
from tests.test_claims import drift

SUPPORTED, REFUTED = Verdict.SUPPORTED, Verdict.REFUTED
INCONCLUSIVE, INAPPLICABLE = Verdict.INCONCLUSIVE, Verdict.INAPPLICABLE
KINDS = [str(kind) for kind in ReadingKind]
READINGS = st.lists(
    st.builds(
        ReadingVerdict,
        reading=st.just(""),
        reading_kind=st.sampled_from(KINDS),
        part=st.sampled_from(["", "second part"]),
        verdict=st.sampled_from(list(Verdict)),
    ),
    max_size=6,
)
ON_RECORD = {one.claim: one for one in errata.statements()}


@given(READINGS)
def test_a_print_is_refuted_only_if_every_admissible_reading_of_some_part_is(readings):
    parts = {r.part for r in readings if r.admissible}
    refuted = any(  # a reading that no case meets is no defence
        {r.verdict for r in readings if r.admissible and r.part == part} - {INAPPLICABLE}
        == {REFUTED}
        for part in parts
    )
    assert (verdict_on(readings) is REFUTED) == refuted


@given(READINGS)
def test_a_study_never_changes_the_verdict_on_the_print(readings):
    own = [reading for reading in readings if reading.admissible]
    assert verdict_on(readings) is verdict_on(own)


@given(READINGS)
def test_a_print_is_supported_only_if_every_part_that_applies_is(readings):
    if verdict_on(readings) is SUPPORTED:
        for part in {r.part for r in readings if r.admissible}:
            assert SUPPORTED in {r.verdict for r in readings if r.admissible and r.part == part}


@pytest.mark.parametrize(
    ("verdicts", "wanted"),
    [
        ([("", REFUTED), ("", INAPPLICABLE)], REFUTED),  # an intended reading that is never run
        ([("a", SUPPORTED), ("b", INAPPLICABLE)], INCONCLUSIVE),  # a part that is never run
        ([("a", SUPPORTED), ("b", REFUTED)], REFUTED),
        ([("a", INAPPLICABLE), ("b", INAPPLICABLE)], INAPPLICABLE),
        ([("a", SUPPORTED), ("a", REFUTED), ("b", SUPPORTED)], SUPPORTED),
    ],
)
def test_what_was_never_run_neither_saves_a_print_nor_supports_it(verdicts, wanted):
    readings = [ReadingVerdict("", "literal", part, verdict) for part, verdict in verdicts]
    assert verdict_on(readings) is wanted


@given(st.lists(st.sampled_from(list(Verdict)), min_size=1, max_size=5), st.data())
def test_a_sentence_is_as_bad_as_its_worst_part_whichever_comes_last(verdicts, data):
    lead = data.draw(st.integers(0, len(verdicts) - 1))
    parts = [
        Statement(f"a/{k}", verdict, sentence="" if k == lead else f"a/{lead}")
        for k, verdict in enumerate(verdicts)
    ]
    (one,) = sentences(parts)
    worst = next(v for v in (REFUTED, INCONCLUSIVE, SUPPORTED, INAPPLICABLE) if v in verdicts)
    assert (one.claim, one.verdict) == (f"a/{lead}", worst)


@pytest.mark.parametrize("other", Verdict)
def test_a_form_is_attained_only_if_it_is_supported(other):
    """Equality on one case tells nothing of how tight a bound is that another case refutes."""
    rows = [
        Row(
            "a/b",
            "printed",
            "",
            "",
            "bound",
            {"key": verdict},
            verdict,
            None,
            "",
            attained=verdict is SUPPORTED,
        )
        for verdict in (SUPPORTED, other)
    ]
    (group,) = grouped(rows)["a/b"]
    assert group.attained == (other in (SUPPORTED, INAPPLICABLE))


def test_errata_are_sorted_by_severity_and_one_mistake_counts_once():
    made = [
        Statement("a/one", SUPPORTED, "misprint", "x"),
        Statement("a/two", SUPPORTED, "misprint", "x", same_as="a/one"),
        Statement("a/three", REFUTED, "false", "x", "theorem"),
        Statement("a/proof", REFUTED, "false", "x", "nothing"),
        Statement("a/step", REFUTED, "false", "x", same_as="a/three"),
        Statement("a/four", SUPPORTED),
    ]
    order = ["a/three", "a/proof", "a/step", "a/one", "a/two"]
    assert [one.claim for one in worst_first(made)] == order
    assert mistakes(made)["false", "theorem"] == mistakes(made)["false", "nothing"] == 1
    assert by_severity(made) == {"false": 2, "incomplete": 0, "misprint": 1, "overstated": 0}


@pytest.mark.parametrize("made", claims())
def test_an_erratum_is_on_file_where_the_print_fails_and_nowhere_else(made):
    """Its severity is what the verdicts on record say, not what somebody chose."""
    one = ON_RECORD.get(made.name)
    if one is None:
        assert made.erratum is None
        return
    assert at_odds(one) == ""
    if made.erratum is not None:
        assert len(made.erratum.changes) > 20
        assert bool(made.erratum.depends) != bool(made.erratum.same_as)


@pytest.mark.parametrize("made", claims())
def test_a_sentence_is_counted_with_one_that_is_printed(made):
    if made.sentence:
        lead = ON_RECORD[made.sentence]
        assert made.name in ON_RECORD
        assert not lead.sentence


def test_an_erratum_that_is_counted_elsewhere_names_one_that_is_counted():
    for one in ON_RECORD.values():
        if one.same_as:
            assert ON_RECORD[one.same_as].severity == one.severity
            assert not ON_RECORD[one.same_as].same_as


def make(readings):
    """Return a claim about the drift of one case, with these readings."""
    cases = grid(BoundedComposition(distance=50.0), ComFedL(local_steps=3), rounds=2)
    decorate = bound(name="own/drift", source="–", statement="x", cases=cases, readings=readings)
    return decorate(drift)


def exactly(c):
    return (c.tau * c.eta * c.G_g * c.G_f) ** 2


def test_a_reading_that_does_not_say_what_it_is_is_refused():
    with pytest.raises(DriftproofError, match="does not say how it stands to the print"):
        make({"some": exactly})
    with pytest.raises(DriftproofError, match="narrower and wider readings alone"):
        make({"some": narrower(exactly, why="one choice")})
    with pytest.raises(DriftproofError, match="empty quote"):
        intended(exactly, quote=" ")
    with pytest.raises(DriftproofError, match="unknown severity of an erratum 'wrong'"):
        Erratum("wrong", changes="all")
    with pytest.raises(DriftproofError, match="without changes"):
        Erratum("false", changes="")
    for severity, change in itertools.product(SEVERITIES, ["the bound is larger"]):
        assert Erratum(severity, changes=change).severity == severity


def test_what_nothing_decides_is_inconclusive_and_says_what_is_known():
    made = make(
        {
            "for some step size": literal(
                Undecided("no constant step size does it", by="one that changes")
            ),
            "this step size": narrower(exactly, why="one choice"),
            "every step size": wider(lambda c: exactly(c) / 2, why="a universal reading"),
        }
    )
    rows = {row.reading: row for row in judge([made], Settings())}
    assert rows["for some step size"].verdict is INCONCLUSIVE
    assert rows["for some step size"].reason == (
        "no constant step size does it. To decide it: one that changes"
    )
    assert rows["this step size"].verdict is SUPPORTED
    assert rows["every step size"].verdict is REFUTED
    readings = [ReadingVerdict(r.reading, r.reading_kind, r.part, r.verdict) for r in rows.values()]
    assert verdict_on(readings) is INCONCLUSIVE
