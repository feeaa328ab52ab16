"""Compares the marked theorems of a paper with their claims, and both with what was bound."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from driftproof.toolkit.discover import Leaf
from driftproof.toolkit.report.claim_view import views
from driftproof.toolkit.verdict import Row
from driftproof.verifiers import baseline
from driftproof.verifiers.latex_sync.latex import Source, compact
from driftproof.verifiers.latex_sync.lockfile import ALGEBRA, EYE, Binding
from driftproof.verifiers.latex_sync.stated import stated
from driftproof.verifiers.latex_sync.theorems import COMMAND, Theorem

BOUND = re.compile(r"\$ ([^$]*?\\le(?:qslant)?) ([^$]*) \$")
SEVERAL = re.compile(r",|\\le|\\ge|\\text")
"""What shows that a formula says more behind ≤ than one right side."""
AROUND, SHOWN = 3, 3
"""Tokens around a change, and changes, that a message has."""


@dataclass(frozen=True)
class Problem:
    """Why a theorem cannot be taken for verified, and where that shows."""

    file: Path
    line: int
    text: str


@dataclass(frozen=True)
class Found:
    """A marked theorem with what is known of it now.

    Attributes:
        now: what would be bound.
        problems: what stands against it.
        said: the right side that was read, where it is not the claim's.
        uncompared: why nothing here has compared the two right sides ("": algebra did, or an
            author, by eye).
        proved: over which class, if the verdict is of one ("": of cases, or of several classes).
    """

    theorem: Theorem
    now: Binding
    problems: tuple[Problem, ...]
    said: str = ""
    uncompared: str = ""
    proved: str = ""

    @property
    def verdict(self) -> str:
        """The claim's verdict, if the theorem is what the claim judged."""
        return "NOT COMPARED" if self.uncompared else "DIFFERS" if self.said else self.now.verdict

    def public(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        problems = [{"file": str(p.file), "line": p.line, "text": p.text} for p in self.problems]
        return {
            "label": self.theorem.label,
            "file": str(self.theorem.file),
            "line": self.theorem.line,
            **asdict(self.now),
            "problems": problems,
        }


def compared(theorem: Theorem, leaf: Leaf, rows: Sequence[Row], bound: Binding | None) -> Found:
    """Return what is known of a theorem.

    Args:
        leaf: its claim.
        rows: what became of the claim.
        bound: what was bound under its label.
    """
    view = views({"claims": {leaf.name: {}}}, rows)[leaf.name]
    verdict = view.verdict
    group = next((form for form in view.forms if form.verdict is verdict), None)
    code = stated(leaf)
    found: list[tuple[int, str]] = []
    unchanged = bound is not None and (theorem.source, code, theorem.right) == (
        bound.source,
        bound.stated,
        bound.right,
    )
    if unchanged and bound is not None:
        how, said, unread = bound.compared, "", ""
    else:
        how, said, unread = _by_algebra(theorem, leaf)
    if unread:
        text = f"NOT COMPARED with {theorem.claim}: {unread}; compare them, then --bind --by-eye"
        found.append((theorem.bound_at, text))
    if said:
        found.append((theorem.bound_at, f"the theorem says ≤ {said}, and {theorem.claim} does not"))
    if bound is None and not unread:
        found.append((theorem.line, f"not bound yet: compare it with {theorem.claim}, then --bind"))
    elif bound is not None and bound.claim != theorem.claim:
        found.append(
            (theorem.line, f"the theorem was bound to {bound.claim}, and names {theorem.claim}")
        )
    elif bound is not None:
        sources = theorem.source, bound.source
        if theorem.source != bound.source and (said or how != ALGEBRA or not _rewritten(*sources)):
            found.append(_change(theorem, bound.source))
        if code != bound.stated:
            changed, _ = _changes(bound.stated.split(), code.split())
            text = f"{theorem.claim} changed since it was bound: {changed}"
            found.append((theorem.line, text))
        if verdict != bound.verdict:
            was = f"{theorem.claim} was {bound.verdict} since {bound.since}, and is {verdict}"
            found.append((theorem.line, was))
    if not baseline.as_expected(rows):
        found.append((theorem.line, f"{theorem.claim} is {verdict}: driftproof verify says why"))
    now = Binding(
        theorem.claim,
        theorem.source,
        code,
        theorem.right,
        how,
        str(verdict),
        group.evidence if group else "",
        group.cases if group else "0",
        date.today().isoformat(),
    )
    if bound is not None and replace(now, since=bound.since, cases=bound.cases) == bound:
        now = replace(now, since=bound.since)
    problems = tuple(Problem(theorem.file, line, text) for line, text in found)
    alone = group is not None and len(group.rows) == 1
    proved = _whole(group.deciding.case) if group is not None and alone else ""
    return Found(theorem, now, problems, said, unread, proved)


def _by_algebra(theorem: Theorem, leaf: Leaf) -> tuple[str, str, str]:
    """Return how the right sides can be compared, the theorem's where they differ, or why not."""
    # sympy and torch, where something changed
    from driftproof.verifiers.in_print.comparison import unlike

    claim = leaf.load()
    if measured := getattr(claim, "measured", None):
        claim = replace(claim, measured={k: _as_read(shown) for k, shown in measured.items()})
    for name in COMMAND.findall(theorem.statement):
        if name in theorem.opaque:
            return EYE, "", rf"\{name} is defined twice, or in a way that is not read"
    said = unlike(claim, theorem.statement)
    if isinstance(said, dict):
        return ALGEBRA, next(iter(said.values()), ""), ""
    return EYE, "", said or "the claim judges no single formula"


def _as_read(formula: str) -> str:
    source = Source(formula)
    return compact(source.tokens(source.nodes, formula=True))


def _rewritten(one: str, other: str) -> bool:
    """Say whether two sources differ in nothing but how their one right side is written."""
    return _without_bound(one) == _without_bound(other)


def _without_bound(source: str) -> str:
    """Return a source without its one right side; as it is, where it has none or several."""
    from driftproof.verifiers.in_print.comparison import is_judged

    bounds = [
        match
        for match in BOUND.finditer(source)
        if is_judged(match[1].rpartition("\\le")[0].replace(" ", ""))
    ]
    if len(bounds) != 1 or SEVERAL.search(bounds[0][2].strip(" .,;")):
        return source
    return source[: bounds[0].start(2)] + source[bounds[0].end(2) :]


def _change(theorem: Theorem, before: str) -> tuple[int, str]:
    """Return the line of the first change of a theorem, and what it is."""
    tokens = [token for token in theorem.tokens if not token.spacing]
    said, first = _changes(before.split(" "), theorem.source.split(" "))
    line = tokens[min(first, len(tokens) - 1)].line if tokens else theorem.line
    return line, f"the theorem changed since it was bound: {said}"


def _changes(old: list[str], new: list[str]) -> tuple[str, int]:
    """Return the first changes from one list of words to another, and where the first is."""
    changes = [
        op
        for op in SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        if op[0] != "equal"
    ]
    said = []
    for _, a, b, c, d in changes[:SHOWN]:
        was, now = (
            " ".join(words[max(0, start - AROUND) : end + AROUND])
            for words, start, end in ((old, a, b), (new, c, d))
        )
        said.append(f"“{was}” became “{now}”")
    return "; ".join(said), changes[0][3] if changes else 0


def unmarked(bindings: Mapping[str, Binding], theorems: Sequence[Theorem]) -> list[str]:
    """Return the labels that were bound and that no marked theorem has now."""
    return [label for label in bindings if label not in {theorem.label for theorem in theorems}]


def _whole(case: Mapping[str, Any]) -> str:
    """Return the class of a case with the numbers of its method, those that are defaults too."""
    label = str(case.get("label", ""))
    numbers = {k: x for k, x in (case.get("algorithm") or {}).items() if isinstance(x, int | float)}
    defaults = [f"{name} = {x:g}" for name, x in numbers.items() if f"{name}=" not in label]
    return ", ".join(filter(None, [label, *defaults]))
