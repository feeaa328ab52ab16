"""What a way of judging is: a file of this folder that has a ``JUDGE``, and that a claim lists.

A judge says what it judges together (``groups``) and how (``rows``): a generator that asks for
tasks, which workers do, and returns a row for each form. It computes nothing itself that takes
long, and its rows depend only on the tasks' results, in their order. What holds of every verdict,
whichever judge makes it, is done where all of them meet (``verifiers.running.jobs``): constants of
a user's own are attacked, an assumption that a case meets by rounding alone is named, what cannot
be decided costs its row alone.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from driftproof.toolkit.cases import Case
from driftproof.toolkit.errors import UndecidableError
from driftproof.toolkit.readings import ByProof, Undecided
from driftproof.toolkit.verdict import Row, row_from
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.claim_types.sources import Source, blaming, loaded, users_file

BUDGETS = {"smoke": 4, "quick": 16, "full": 256}
"""The most blocks of 64 replicates that a case may take, by profile."""
UNDECIDABLE = b"undecidable: "
"""How the result of a task begins that cannot be had; its reason follows."""
OUTSIDE = -1.0
"""The score of a case on which a form says nothing."""
Result = tuple[bytes, float]
"""What a task gave, and the seconds it took."""


@dataclass(frozen=True)
class ClaimTask:
    """One task of judging a claim.

    Attributes:
        claim: the claim, or the leaf it can be loaded from in another process.
        do: a function of a module, from the claim and this task to bytes.
        number: which of the claim's cases (``Claim.every_case``).
        case: the case's key (part of the task's name).
        form: which form, by position.
        args: what else the function needs, as words and numbers.
        effort: the steps of its run: longer ones are started first.
        early: whether it is done before whatever waits: it tells mistakes.
        shared: whether its result is the same for every claim.
        kept: whether it is the same in every run, with whatever claims beside it in its file: then
            a ledger's is taken without being asked to resume.
    """

    claim: Source
    do: Callable[[Any, ClaimTask], bytes]
    number: int = 0
    case: str = ""
    form: int = 0
    args: tuple[int | str, ...] = ()
    seed: int = 0
    device: str = "cpu"
    effort: float = 0.0
    early: bool = False
    shared: bool = False
    kept: bool = False

    @property
    def path(self) -> Path | None:
        """The user's file that the claim is in, if it is one."""
        return users_file(self.claim)

    @property
    def kind(self) -> str:
        """What it does, in words."""
        return self.do.__name__.strip("_").replace("_", " ")

    @property
    def name(self) -> str:
        """Everything but the code that the task's result depends on."""
        of = "" if self.shared else self.claim.name
        parts = (of, self.kind, self.case, self.form, self.seed, *self.args, self.device)
        return "\0".join(map(str, parts))

    def of(self, claim: Claim[Any]) -> tuple[Case, Form]:
        """Return its case and its form."""
        return claim.every_case[self.number], claim.forms[self.form]

    def work(self) -> bytes:
        """Do the task."""
        claim = loaded(self.claim)
        with blaming(self.claim):
            try:
                return self.do(claim, self)
            except UndecidableError as error:  # the case costs its row, and no other
                return UNDECIDABLE + error.told.encode()


Tasks = Generator[list[ClaimTask], list[Result], list[Row]]
"""Yields tasks, is sent their results in the same order, and returns rows."""


class Group(NamedTuple):
    """What is judged together: forms, and cases (none, where algebra decides), by their numbers."""

    forms: Sequence[int]
    cases: Sequence[int] = ()


class Judge:
    """A way of judging.

    Attributes:
        task: from the claim and a task to rows, where one task judges a form (else ``rows`` says
            which tasks it takes).
        clock: what its work is measured by.
        elsewhere: whether what a case far from the claim's own raises may be the claim's fault.
        edges: whether a row names the assumptions that its one case meets within rounding.
        on_numbers: whether a form is judged only where it says something of the group's one case
            (``assumed.outside``); else the judge asks itself.
    """

    clock = staticmethod(time.process_time)
    elsewhere: ClassVar[bool] = True
    edges: ClassVar[bool] = True
    on_numbers: ClassVar[bool] = True
    task: ClassVar[Any] = None

    def takes(self, claim: Claim[Any], form: Form) -> bool:
        """Return whether a form is judged so: those that cases decide, unless said otherwise."""
        return not isinstance(form.right, Undecided | ByProof)

    def numbers(self, claim: Any, profile: str) -> Sequence[int] | None:
        """Return which cases of the claim it judges (None: it needs none)."""
        return range(len(claim.cases_for(profile)))

    def groups(self, claim: Any, forms: Sequence[int], profile: str) -> Iterator[Group]:
        """Yield what is judged together: each form on each case, unless said otherwise."""
        numbers = self.numbers(claim, profile)
        for cases in [()] if numbers is None else [(number,) for number in numbers]:
            for form in forms:
                yield Group([form], cases)

    def rows(self, claim: Any, group: Group, ask: ClaimTask, profile: str) -> Tasks:
        """Judge a group: by one task for its one form, on its first case, unless said otherwise.

        Args:
            ask: the task from which others are made by ``replace``: it has claim, seed and device.
        """
        assert self.task is not None
        ask = replace(ask, do=self.task, form=group.forms[0])
        for number in group.cases[:1]:
            ask = replace(ask, number=number, case=claim.every_case[number].key)
        ((blob, _),) = yield [ask]
        return unpack_rows(blob)

    def score(self, claim: Any, form: Form, case: Case, seed: int) -> float:
        """Return how near a form is to being broken on a case: left / right, above 1 if it is.

        It is ``OUTSIDE`` where the form says nothing, as on every case if no search asks the judge.
        """
        return OUTSIDE

    def check(self, claim: Any, form: Form, case: Case) -> None:
        """Raise what is wrong with a form's functions on a case of the claim's own."""

    def enclosed(self, claim: Any, case: Case, form: Form) -> Row | None:
        """Return the row of a case in exact arithmetic, if the case can be judged so."""
        return None


def judge_named(name: str) -> Judge:
    """Return the judge of a file of this folder."""
    judge: Judge = import_module(f"driftproof.verifiers.judges.{name}").JUDGE
    return judge


def judges_of(claim: Claim[Any]) -> list[Judge]:
    """Return the judges that may judge a claim."""
    return [judge_named(name) for name in claim.judges]


def pack_rows(rows: Sequence[Row]) -> bytes:
    """Return rows as JSON."""
    return json.dumps([row.stored() for row in rows]).encode()


def unpack_rows(blob: bytes) -> list[Row]:
    """Return what ``pack_rows`` was given."""
    return [row_from(entry) for entry in json.loads(blob)]
