"""Searches for points at which a problem's declared constants are exceeded.

A search is a job of passes; each looks at other lines and starts, by its seed, and is a unit of
work that the ledger keeps.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from driftproof.synthetic.attacks import Attack, searched
from driftproof.synthetic.attacks.scores import Scores
from driftproof.toolkit.discover import Leaf, leaves, leaves_in
from driftproof.toolkit.ledger import Ledger
from driftproof.toolkit.located import telling_the_method
from driftproof.toolkit.problem import Problem
from driftproof.verifiers.judges.declared import GAP, is_shipped
from driftproof.verifiers.running.jobs import blaming, loaded, users_file
from driftproof.verifiers.running.scheduler import Cache, Result, run_jobs
from driftproof.verifiers.search.search import Effort
from driftproof.verifiers.verify import select as select_claims

PATIENCE = 2
"""Passes without gain after which a constant's search ends."""
GAIN = 1e-6
"""What a pass has to add to the ratio, to be a gain."""


@dataclass(frozen=True)
class Members:
    """Problems to search: a family's examples, or those of a claim's cases that are a user's.

    Attributes:
        source: the leaf of the family, or of the claim.
    """

    source: Leaf

    def load(self) -> list[Problem]:
        """Return the problems, each once."""
        with blaming(self.source):
            if self.source.kind == "problem":
                members: list[Problem] = self.source.load().examples()
            else:
                cases = loaded(self.source).cases_for("full")
                members = [case.problem for case in cases if not is_shipped(case.problem)]
        return list({str(member): member for member in members}.values())


@dataclass(frozen=True)
class Pass:
    """One look at one constant of a problem.

    Attributes:
        members, number: the problem.
        role: the constant, or "initial_gap".
        seed: of the lines and starts.
    """

    members: Members
    number: int
    role: str
    seed: int
    problem: str

    @property
    def path(self) -> Path | None:
        """The user's file that the problem is in, if it is one."""
        return users_file(self.members.source)

    @property
    def name(self) -> str:
        """Everything but the code that the result depends on."""
        return "\0".join(map(str, ("constant", self.problem, self.role, self.seed)))

    def work(self) -> bytes:
        """Search, and return what was found as JSON."""
        problem = self.members.load()[self.number]
        with blaming(self.members.source), telling_the_method(type(problem)):
            return json.dumps(asdict(searched(problem, self.role, seed=self.seed))).encode()


@dataclass(frozen=True)
class Reached:
    """How near the search got to one constant.

    Attributes:
        problem: the problem in words.
        attack: the best of the passes.
        passes, seconds: how many, and how long they took on one core.
    """

    problem: str
    attack: Attack
    passes: int = 0
    seconds: float = 0.0


def reach(
    every: Sequence[Members],
    effort: Effort,
    *,
    workers: int = 1,
    ledger: Ledger | None = None,
    resume: bool = False,
    started: Callable[[int], None] = lambda total: None,
    ended: Callable[[str], None] = lambda problem: None,
) -> list[Reached]:
    """Search every constant of problems, each once, and return how closely each was reached.

    Args:
        started: called with the number of constants.
        ended: called with the problem when the search of one of its constants ends.
    """
    first: dict[tuple[str, str], Pass] = {}
    for members in every:
        for number, problem in enumerate(members.load()):
            scores, name = Scores(problem), str(problem)
            for role in (*problem.constants, GAP):
                if scores.has(role):
                    look = Pass(members, number, role, effort.seed, name)
                    first.setdefault((name, role), look)
    started(len(first))
    looks = list(first.values())
    reached: list[Reached] = run_jobs(
        [_search(look, effort.seconds, effort.climbs) for look in looks],
        Cache(ledger, resume=resume), workers=max(1, min(workers, len(looks))),
        done=lambda number: ended(looks[number].problem),
    )  # fmt: skip
    return reached


def _search(
    first: Pass, seconds: float, passes: int | None
) -> Generator[Sequence[Pass], list[Result], Reached]:
    """Look at a constant until it is exceeded or met, or looks gain nothing, or time is up."""
    best: Attack | None = None
    spent, done, waited = 0.0, 0, 0
    while best is None or (spent < seconds if passes is None else done < passes):
        ((blob, took),) = yield [replace(first, seed=first.seed + done)]
        attack = _from(json.loads(blob))
        spent, done = spent + took, done + 1
        gained = best is None or attack.ratio > best.ratio + GAIN
        waited = 0 if gained else waited + 1
        if best is None or (attack.exceeded, attack.ratio) > (best.exceeded, best.ratio):
            best = attack
        if best.exceeded or abs(best.ratio - 1) < GAIN or waited >= PATIENCE:
            break
    return Reached(first.problem, best, done, spent)


def _from(data: dict[str, Any]) -> Attack:
    return Attack(**data | {"points": tuple(map(tuple, data["points"]))})


def chosen(select: Sequence[str]) -> tuple[list[Leaf], list[Members]]:
    """Return the claims that names, globs or files select, and the problems.

    A problem is named, or is in a user's file, or in the cases of a claim that is in one.
    """
    known = leaves("problem")
    claims: list[str] = []
    problems: list[Members] = []
    for pattern in select:
        families = [known[pattern]] if pattern in known else []
        if pattern.endswith(".py"):
            families = list(leaves_in(Path(pattern), "problem"))
        problems += map(Members, families)
        own = pattern.endswith(".py") and any(leaves_in(Path(pattern), "claim"))
        if own or not families:
            claims.append(pattern)
    leaves_of = select_claims(claims) if claims else []
    return leaves_of, problems + [Members(leaf) for leaf in leaves_of if leaf.module is None]
