"""Generated controls: siblings of every right side, and what became of them.

A sibling that survives need not be false: the claim may be true with room to spare. So survivors
are listed with how near they were to being refused, and only a true claim that is refused is a
failure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from math import isfinite
from typing import Any

from driftproof.toolkit.discover import Leaf
from driftproof.toolkit.groups import number
from driftproof.toolkit.readings import ByProof, Undecided
from driftproof.toolkit.verdict import Row, Verdict
from driftproof.verifiers import record
from driftproof.verifiers.claim_types.claim import Claim
from driftproof.verifiers.controls import checked
from driftproof.verifiers.judges.bounds import unmet
from driftproof.verifiers.running.jobs import blaming
from driftproof.verifiers.siblings import UNASSUMED, Control, controls_of, removable
from driftproof.verifiers.verify import Settings, judge, union_bound

AnyClaim = Claim[Any]


@dataclass(frozen=True)
class Altered(Leaf):
    """A claim that is judged otherwise than its file says.

    Attributes:
        change: makes it of the claim; it is called again in every process.
    """

    change: Callable[[AnyClaim], AnyClaim] = lambda claim: claim

    def load(self) -> AnyClaim:
        """Return the changed claim."""
        return self.change(super().load())


@dataclass(frozen=True)
class Judged:
    """A generated sibling and what became of it.

    Attributes:
        claim, form: of which right side it is a sibling.
        kind, change: what was changed.
        cases: on how many cases of the claim it differs so that it could be refused.
        refused: whether a case refuted it.
        ratio: the largest left / right that was met (None: none was).
        reason: why it survived.
    """

    claim: str
    form: str
    kind: str
    change: str
    cases: int
    refused: bool = False
    ratio: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class Outcome:
    """What became of the generated controls.

    Attributes:
        siblings: each of them.
        by_hand: the claims of whose right sides no sibling can be made.
        forms: how many of the claims' own forms were judged that are not on record as refuted.
        wrong: those of them, claim and form, that were refuted and are on record otherwise.
        unrecorded: those that were refuted and are not on record at all, as a user's are not.
        promised: the probability, at most, that chance refutes a true one.
    """

    siblings: list[Judged]
    by_hand: list[str]
    forms: int
    wrong: list[tuple[str, str]]
    unrecorded: list[tuple[str, str]]
    promised: float

    @property
    def good(self) -> bool:
        """Whether no true claim is refused."""
        return not self.wrong and not self.unrecorded


def check(
    chosen: Sequence[Leaf],
    *,
    seed: int,
    workers: int,
    started: Callable[[int], None] = lambda total: None,
    ended: Callable[[str], None] = lambda claim: None,
    told: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Make controls of the selected claims and judge them."""
    refuted = record.refuted_on_record()
    plans = []
    for count, leaf in enumerate(chosen, 1):
        told(f"making siblings, {count} of {len(chosen)}")
        plans.append(_plan(leaf, refuted))
    settings = Settings(seed=seed, workers=workers, siblings=True)
    sources = [source for plan in plans for source in plan.sources()]
    rows = judge(sources, settings, started=started, ended=ended)
    by_form: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        by_form.setdefault((row.claim, row.form_key), []).append(row)
    siblings = [judged for plan in plans for judged in plan.judged(by_form)]
    names = {plan.claim.name for plan in plans}
    own = [
        row for row in rows
        if row.form != "sibling" and row.claim in names and (row.claim, row.form_key) not in refuted
    ]  # fmt: skip
    checks = checked(own)
    return Outcome(
        siblings,
        [plan.claim.name for plan in plans if not plan.controls],
        len(checks),
        [(c.claim, c.control) for c in checks if not c.good and c.recorded],
        [(c.claim, c.control) for c in checks if not c.recorded],
        union_bound(own),
    )


@dataclass(frozen=True)
class _Plan:
    """The generated siblings of one claim.

    Attributes:
        leaf, claim: of what.
        forms: the keys of its forms that are not on record as refuted.
        controls: the siblings of their right sides.
    """

    leaf: Leaf
    claim: AnyClaim
    forms: frozenset[str]
    controls: Sequence[Control]

    def sources(self) -> Iterator[Leaf]:
        """Yield what is judged: the claim with its siblings, and without each assumption."""
        if self.controls:
            yield self._altered(partial(_with_siblings, forms=self.forms))
        for place in removable(self.claim):
            if _unassuming(self.claim, place).cases:
                yield self._altered(partial(_unassuming, place=place))

    def judged(self, rows: Mapping[tuple[str, str], list[Row]]) -> Iterator[Judged]:
        """Yield what became of each sibling, but of those of a form that was itself refuted."""
        name = self.claim.name
        own = {form: rows.get((name, form), []) for form in self.forms}
        for control in self.controls:
            if not _refuted(own[control.form]):
                met = _applied(rows.get((name, f"sibling: {control.name}"), []))
                yield _judged(
                    name, control.form, control.sibling.kind, control.sibling.what,
                    control.cases, met, own[control.form],
                )  # fmt: skip
        for place in removable(self.claim):
            for form in sorted(self.forms):
                if not _refuted(own[form]):
                    met = _applied(rows.get((_without(name, place), form), []))
                    yield _judged(
                        name, form, UNASSUMED, _said(self.claim, place), len(met), met, own[form]
                    )

    def _altered(self, change: Callable[[AnyClaim], AnyClaim]) -> Altered:
        leaf = self.leaf
        return Altered(
            leaf.kind, leaf.name, leaf.symbol, leaf.path, leaf.module, leaf.metadata, leaf.summary,
            leaf.lines, leaf.decorator, change,
        )  # fmt: skip


def _plan(leaf: Leaf, refuted: set[tuple[str, str]]) -> _Plan:
    with blaming(leaf):
        claim = leaf.load()
        forms = frozenset(
            form.key
            for form in claim.forms
            if form.form != "sibling"
            and (claim.name, form.key) not in refuted
            and not isinstance(form.right, ByProof | Undecided)
        )
        return _Plan(leaf, claim, forms, _controls(claim, forms))


_controls = cache(controls_of)


@cache
def _with_siblings(claim: AnyClaim, forms: frozenset[str]) -> AnyClaim:
    """Return a claim with generated siblings instead of those by hand."""
    siblings = [(control.name, control.stated) for control in _controls(claim, forms)]
    return replace(claim, false_siblings=siblings, prove=None)


@cache
def _unassuming(claim: AnyClaim, place: int) -> AnyClaim:
    """Return a claim without one assumption, on the cases that break it and no other one."""
    others = [a for k, a in enumerate(claim.assumes) if k != place]
    without = replace(
        claim, name=_without(claim.name, place), assumes=others, false_siblings=(), full=(),
        prove=None,
    )  # fmt: skip
    cases = [
        case for case in claim.cases_for("quick")
        if unmet(claim, case) is not None and unmet(without, case) is None
    ]  # fmt: skip
    return replace(without, cases=cases)


def _without(name: str, place: int) -> str:
    return f"{name}-without-{place + 1}"


def _said(claim: AnyClaim, place: int) -> str:
    assumption = claim.assumes[place]
    return f"{assumption.name}: {assumption.statement}"


def _refuted(rows: Sequence[Row]) -> bool:
    return any(row.verdict is Verdict.REFUTED for row in rows)


def _applied(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.verdict is not Verdict.INAPPLICABLE]


def _judged(
    claim: str, form: str, kind: str, change: str, cases: int, rows: Sequence[Row],
    own: Sequence[Row],
) -> Judged:  # fmt: skip
    judged = Judged(claim, form, kind, change, cases, ratio=largest(rows))
    if _refuted(rows):
        return replace(judged, refused=True)
    return replace(judged, reason=_why(judged, rows, largest(_applied(own))))


def _why(judged: Judged, rows: Sequence[Row], own: float | None) -> str:
    """Say why a sibling survived."""
    if not judged.cases:
        if judged.kind == UNASSUMED:
            return "every case meets it"
        return "on no case is it smaller than the claim"
    undecided = sum(row.verdict is Verdict.INCONCLUSIVE for row in rows)
    said = [f"undecided on {undecided} of {judged.cases} cases"] if undecided else []
    if judged.ratio is not None:
        beside = f" (of the claim itself {number(own)})" if own is not None else ""
        said.append(f"left / right is at most {number(judged.ratio)}{beside}")
    return ", ".join(said) or "nothing was compared"


def largest(rows: Sequence[Row]) -> float | None:
    """Return the largest left / right of some rows (None: none has one)."""
    ratios = [row.ratio for row in rows if row.ratio is not None and isfinite(row.ratio)]
    return max(ratios, default=None)
