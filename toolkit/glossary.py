"""Letters and roles: what a letter of a paper stands for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Role:
    """One role.

    Attributes:
        kind: "constant" of a problem, "run", or "parameter" of an algorithm or a problem.
        letters: letter → the algorithms and problems in whose notation it stands for the role.
    """

    name: str
    kind: str
    meaning: str
    letters: Mapping[str, list[str]]


def meanings() -> Iterator[tuple[str, str, str]]:
    """Yield every role's name, kind and meaning."""
    for kind, table in (("constant", ROLES), ("run", RUN_ROLES), ("parameter", PARAMETERS)):
        for name, meaning in table.items():
            yield name, kind, meaning


def roles() -> list[Role]:
    """Return every role with its letters."""
    letters: dict[str, dict[str, list[str]]] = {}
    for owner, notation in notations().items():
        for letter, role in notation.items():
            letters.setdefault(role, {}).setdefault(letter, []).append(owner)
    return [
        Role(name, kind, meaning, dict(sorted(letters.get(name, {}).items())))
        for name, kind, meaning in meanings()
    ]


def notations() -> Mapping[str, Mapping[str, str]]:
    """Return the notation of every algorithm and problem: letter → role."""
    return {
        name: leaf.load().notation
        for kind in ("algorithm", "problem")
        for name, leaf in leaves(kind).items()
    }
