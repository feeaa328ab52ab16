"""Letters and roles: what a letter of a paper stands for, and what has a number for it.

``driftproof show roles`` prints them; ``python -m driftproof.toolkit.glossary FILE`` writes
the tables of docs/glossary.md between the marks that are there.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from driftproof.toolkit.constants import ROLES, RUN_ROLES
from driftproof.toolkit.discover import leaves

PARAMETERS: Mapping[str, str] = {
    "adaptation": "step of a task's own adaptation, inside the objective",
    "ball": "radius of the ball on which the constants are proven",
    "batch": "samples of one draw",
    "distance": "distance of the start from the origin",
    "dual_penalty": "weight of the divergence of the samples' weights from equal ones",
    "dual_step": "step size of the samples' weights",
    "embedding_error": "error of an embedding that is given at the start",
    "epoch_steps": "steps from one large minibatch to the next",
    "fairness": "exponent that weighs clients with large losses more",
    "feature_bound": "largest norm of a feature vector",
    "inner_calls": "calls of the lower level's method in a round",
    "inner_momentum": "weight of the new sample in the estimate of the inner value",
    "inner_step_size": "step size of the lower level",
    "inner_steps": "local steps of the lower level in a call",
    "local_steps": "local steps between two averages",
    "lower_start": "distance of the lower level's start from its solution",
    "memory": "weight of the past in a running mean of squares",
    "momentum": "weight of the new sample in a running mean",
    "outer_batch": "samples of one draw of the outer function",
    "outer_step_size": "step size of the upper level",
    "outer_steps": "local steps of the upper level in a call",
    "penalty": "weight of a penalty in the objective",
    "period": "steps from one average to the next, on average: 1/p of a coin that decides",
    "personal_step_size": "step size of a client's personal model",
    "proximity": "weight of the distance of a personal model from the common one",
    "radius": "half the width of the box that the steps stay in",
    "regulariser": "weight of a quadratic regulariser in the objective",
    "series_step": "step of the Neumann series",
    "server_step_size": "length of the server's step, as a multiple of the mean move",
    "step_factor": "factor of the step that the model takes",
    "step_numerator": "numerator of a step size that decays like 1/t",
    "step_offset": "what is added to t in the denominator of such a step size",
    "step_size": "length of a local step, as a multiple of the direction",
    "tasks": "tasks of each client",
    "temperature": "temperature of a logarithm of mean exponentials",
    "terms": "terms of the Neumann series",
    "weight_step": "step size of the clients' weights",
}
"""The parameters of algorithms and problems that some notation has a letter for."""
MARKS = ("<!-- made by `python -m driftproof.toolkit.glossary` -->", "<!-- end -->")


@dataclass(frozen=True)
class Role:
    """One role.

    Attributes:
        kind: "constant" of a problem, "run", or "parameter" of an algorithm or a problem.
        letters: letter → the algorithms and problems in whose notation it stands for the role.
        proven_by: the problems that have a number for a constant, some member of them at least.
    """

    name: str
    kind: str
    meaning: str
    letters: Mapping[str, tuple[str, ...]]
    proven_by: tuple[str, ...] = ()


def meanings() -> Iterator[tuple[str, str, str]]:
    """Yield every role's name, kind and meaning."""
    for kind, table in (("constant", ROLES), ("run", RUN_ROLES), ("parameter", PARAMETERS)):
        for name, meaning in table.items():
            yield name, kind, meaning


@cache
def roles() -> tuple[Role, ...]:
    """Return every role with its letters and the problems that have it."""
    letters: dict[str, dict[str, list[str]]] = {}
    for owner, notation in notations().items():
        for letter, role in notation.items():
            letters.setdefault(role, {}).setdefault(letter, []).append(owner)
    proven: dict[str, list[str]] = {}
    for name, leaf in leaves("problem").items():
        for role in {role for member in leaf.load().examples() for role in member.constants}:
            proven.setdefault(role, []).append(name)
    return tuple(
        Role(
            name, kind, meaning,
            {letter: tuple(owners) for letter, owners in sorted(letters.get(name, {}).items())},
            tuple(proven.get(name, ())),
        )
        for name, kind, meaning in meanings()
    )  # fmt: skip


@cache
def notations() -> Mapping[str, Mapping[str, str]]:
    """Return the notation of every algorithm and problem that has one: letter → role."""
    by_name = {
        name: dict(leaf.load().notation)
        for kind in ("algorithm", "problem")
        for name, leaf in leaves(kind).items()
    }
    return {name: notation for name, notation in by_name.items() if notation}


def alike() -> dict[str, Mapping[str, str]]:
    """Return the notations, those who share one named together."""
    by_owners: dict[str, Mapping[str, str]] = {}
    for notation in notations().values():
        owners = [name for name, other in notations().items() if other == notation]
        by_owners[", ".join(owners)] = dict(sorted(notation.items()))
    return by_owners


HEADS: Mapping[str, str] = {
    "constant": "Constants that a problem proves",
    "run": "What a run adds",
    "parameter": "Parameters of algorithms and problems",
}


def rendered() -> str:
    """Return the tables of docs/glossary.md."""
    parts = []
    for kind, head in HEADS.items():
        parts += [f"### {head}", "", "| role | meaning | letters |", "|---|---|---|"]
        parts += [
            f"| `{role.name}` | {role.meaning} | {_cell(role.letters)} |"
            for role in roles()
            if role.kind == kind
        ]
        parts.append("")
    parts += ["### Each paper's letters", "", "| algorithm or problem | letters |", "|---|---|"]
    parts += [
        f"| {owners} | {', '.join(f'{x} = {role}' for x, role in notation.items())} |"
        for owners, notation in alike().items()
    ]
    return "\n".join(parts)


def _cell(letters: Mapping[str, tuple[str, ...]]) -> str:
    return "; ".join(f"{letter}: {', '.join(owners)}" for letter, owners in letters.items()) or "–"


def written_into(text: str) -> str:
    """Return a page with its tables replaced by current ones."""
    begin, end = map(re.escape, MARKS)
    section = f"{MARKS[0]}\n{rendered()}\n{MARKS[1]}"
    return re.sub(f"{begin}.*{end}", lambda _: section, text, flags=re.S)


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(written_into(page.read_text(encoding="utf-8")), encoding="utf-8")
