"""Puts a script together: the run as it was noted, the right side, and how both are compared."""

import io
import re
import textwrap
from contextlib import redirect_stdout
from functools import wraps
from typing import Any

import numpy as np

from driftproof.toolkit.cases import Case
from driftproof.toolkit.draws import TooManyAtoms
from driftproof.toolkit.engines.enumerated import EnumeratedContext
from driftproof.toolkit.federation import Outcome, run
from driftproof.toolkit.measure import Reduction
from driftproof.verifiers.claim_types.bound import BoundClaim
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.judges.bounds import coefficients
from driftproof.verifiers.standalone import following
from driftproof.verifiers.standalone.following import (
    SAMPLED,
    Noted,
    SampledContext,
    TracedContext,
    TracedSamples,
)
from driftproof.verifiers.standalone.printed import Writer, array_text, repeated
from driftproof.verifiers.standalone.refusal import NoScriptError
from driftproof.verifiers.standalone.right import means_of, right_text
from driftproof.verifiers.standalone.texts import WIDEST, beside, used, wrapped
from driftproof.verifiers.standalone.traced import OUTCOMES

ENUMERATED = 2**16
"""Outcomes of all draws that a script goes through; if there are more, it samples."""
AGREES = 1e-12
"""How far a script's numbers may be from the engine's, relatively to the largest."""
FEW, MOST = 5, 5_000
"""Rounds of which a loop is guessed, and steps that are noted one by one at most."""
LONGEST = 60_000
"""Characters of a script."""


def script_of(claim: Any, form: Form, case: Case) -> str:
    """Return the script of a case that breaks a form of a claim.

    Raises:
        NoScriptError: with the reason why there is none.
    """
    if not claim.measures or case.algorithm is None:
        raise NoScriptError(f"no run decides it (@{claim.way}), so there is none to repeat")
    outcome, digits, until = outcome_of(claim, form, case)
    if digits is None and (outcome.names or outcome.how[0] == "given past"):
        raise NoScriptError("it compares means of more outcomes than can be listed")
    reasons = []
    for rounds in dict.fromkeys((min(FEW, until), until)):
        if rounds * case.algorithm.local_steps > MOST:
            reasons.append(f"more than {MOST:,} steps, which do not repeat each other")
            continue
        try:
            text = _traced(claim, form, case, until, outcome, digits, rounds)
        except NoScriptError:
            raise
        except Exception as error:  # with plain tensors it went well
            raise NoScriptError(f"its run cannot be noted: {error}") from error
        reasons.append(_differs(text, outcome))
        if not reasons[-1]:
            return text
    raise NoScriptError(reasons[-1])


def outcome_of(
    claim: Any, form: Form, case: Case, *, cut: bool = False
) -> tuple[Outcome, Any, int]:
    """Return what the engine's own run gives, the draws' digits, and how many rounds it takes.

    Digits are None where the draws are sampled.

    Args:
        cut: end the run with the round that refutes most, if each moment is compared. A run of
            more draws than can be listed ends there anyway: what is drawn later need not be listed.
    """
    left = form.left or claim.left
    assert left is not None
    outcome, digits, rounds_of = _run(case, left, case.rounds)
    each = outcome.how[0] in ("each", "given past")
    if not (cut or digits is None) or not each or not rounds_of:
        return outcome, digits, case.rounds
    measured, *parts = outcome.taken @ outcome.weights
    factors = coefficients(claim, case, form.right)
    over = measured - sum(
        (factors.get(name, 0.0) * part for name, part in zip(outcome.names, parts, strict=True)),
        0.0,
    )
    until = rounds_of[int(np.argmax(over))] + 1
    return (
        (*_run(case, left, until)[:2], until) if until < case.rounds else (outcome, digits, until)
    )


def _run(case: Case, left: Any, until: int) -> tuple[Outcome, Any, list[int]]:
    """Run some rounds; return the outcome, the digits, and the round of each comparison."""
    rounds_of: list[int] = []

    @wraps(left)
    def measure(view: Any) -> Any:
        made = left(view)
        if isinstance(made, Reduction):
            rounds_of.extend([view._moment.round] * (len(made.value) if made.by_client else 1))
        return made

    def watch(s: int, _: Any) -> bool:
        if s == 0:  # what was tried before is no part of the run
            rounds_of.clear()
        return s < until

    clients = case.problem.clients
    options: dict[str, Any] = {
        "rounds": case.rounds,
        "left": measure,
        "watch": watch,
        "kernels": False,
    }
    counting = EnumeratedContext(clients, limit=ENUMERATED)
    try:
        made = run(case.problem, case.algorithm, counting, **options)
    except TooManyAtoms:
        made = run(case.problem, case.algorithm, SampledContext(clients), **options)
        return made, None, rounds_of
    if counting.atom_count > 1:
        made = run(case.problem, case.algorithm, counting.enumerate(), **options)
    return made, counting.digits, rounds_of


def _differs(text: str, outcome: Outcome) -> str:
    """Return in which way a script gives other numbers than the engine ("": it gives the same)."""
    scope: dict[str, Any] = {}
    try:
        with redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
            exec(text.replace("\nassert left > right", ""), scope)
    except Exception as error:  # noqa: BLE001 - of the script, whose text is ours
        return f"its script fails ({type(error).__name__}: {error}); please report it"
    wanted = np.moveaxis(outcome.taken @ outcome.weights, 0, -1)  # [comparisons, 1 + parts]
    means = [
        np.atleast_2d(np.transpose(of)) if outcome.names else np.ravel(of)[:, None]
        for of in scope["means"]
    ]
    made = np.concatenate(means)
    if outcome.how[0] == "average":
        made = made.mean(0, keepdims=True)
    if made.shape != wanted.shape:
        return "its script measures at other moments; please report it"
    away = np.abs(made - wanted).max()
    if not away <= AGREES * np.abs(wanted).max():
        return f"its script is {away:.1e} from driftproof's numbers; please report it"
    return ""


def _traced(
    claim: BoundClaim,
    form: Form,
    case: Case,
    until: int,
    outcome: Outcome,
    digits: Any,
    rounds: int,
) -> str:
    """Return the script by a trace of some rounds; the others are as the last of these."""
    left = form.left or claim.left
    clients = case.problem.clients
    if digits is None:
        ctx: Any = TracedSamples(clients)
    else:
        ctx = TracedContext(clients, limit=ENUMERATED, atoms=digits)
    OUTCOMES[0], following.RECORDED[:] = ctx.replicates, []
    made = Noted(case, left, ctx, outcome.how[1:], rounds)
    of_states = [of + name for name in made.start.ends for of in ("begun_", "before_", "previous_")]
    writer = Writer(made.raw, [*made.numbers, *of_states], made.start.ends)
    says = (case.algorithm.step.__doc__ or "local step").partition("\n")[0]
    init = [*writer.lines(made.start), *(f"before_{name} = {name}" for name in made.start.ends)]
    blocks, kept = [], writer.of_round
    for of_round in made.rounds[:rounds]:
        writer.of_round = set(kept)
        head, *steps = map(writer.lines, of_round)
        blocks.append([*head, *repeated(steps, says)])
    times = [1] * (len(blocks) - 1) + [1 + until - len(blocks)]
    body = [
        *init,
        "s = -1",
        "taken = []  # what the claim measures, moment by moment",
        *repeated(blocks, "round", times),
    ]
    functions = [
        line
        for (head, *of), name in writer.functions.items()
        for line in (f"def {name}{head}", *of)
    ]
    draws = SAMPLES if digits is None else OUTCOMES_ALL if digits else "chance = np.ones(1)"
    helpers = [draws.format(SAMPLED), *HELPERS]
    start = f"start = np.array({case.problem.start().tolist()})"
    constants = [f"{name} = {array_text(x)}" for name, x in writer.constants.items()]
    numbers = [f"{name} = {value!r}" for name, value in made.numbers.items()]
    means = means_of(claim, case, form.right)
    tail = _sides(outcome, means, sampled=digits is None, several=bool(digits))
    pieces = ["import math", "from itertools import combinations", "from math import inf, nan",
              "import numpy as np", "",
              f"clients, OUTCOMES = {clients}, {ctx.replicates}", *numbers, start, *constants,
              *helpers, "", *functions, "", *body]  # fmt: skip
    right = right_text(claim, case, form.right, made.numbers)
    whole = used("\n".join([*pieces, right, *tail, _printed(form)]))
    whole = re.sub(r"(?m)(?:^\w+ = [-\d.e+]+\n)+", beside, whole)
    text = "\n".join([*_docstring(claim, form, case, until), *map(wrapped, whole.splitlines()), ""])
    if len(text) > LONGEST:
        raise NoScriptError(f"its script would have {len(text):,} characters")
    return text


OUTCOMES_ALL = """\
index, chance = np.arange(OUTCOMES), np.ones(OUTCOMES)  # every outcome of all draws
def one_of(chances):  # in every outcome
    global index, chance
    chosen, index = index % len(chances), index // len(chances)
    chance = chance * np.array(chances)[chosen]
    return chosen"""
SAMPLES = """\
random, chance = np.random.default_rng(0), np.full(OUTCOMES, 1 / OUTCOMES)
def one_of(chances):  # in every sample
    return random.choice(len(chances), OUTCOMES, p=chances)"""
HELPERS = [
    """\
def draw(values, chances, times, shape):  # the next draws, in every outcome
    rows = [np.array(values)[one_of(chances)].T for _ in range(times)]
    return np.reshape(rows, (*shape, OUTCOMES))""",
    """\
def some_of(n, m):  # a uniform set of m of n, as 0 and 1
    sets = [[float(k in of) for k in range(n)] for of in combinations(range(n), m)]
    return np.array(sets)[one_of([1 / len(sets)] * len(sets))].T""",
    """\
def everywhere(x):  # as each client holds it: [clients, dimension, outcomes]
    return np.tile(x[:, None], (clients, 1, OUTCOMES))""",
    """\
def average(x):  # the mean over the clients, for everyone
    return np.broadcast_to(x.mean(0), x.shape)""",
    """\
def weighted(x, share):  # the mean over those with a share, for everyone
    share = share * np.ones((clients, 1, 1))
    return np.broadcast_to((share * x).sum(0) / share.sum(0), x.shape)""",
    """\
def put(x, at, part):
    x = np.array(x)
    x[at] = part
    return x""",
    """\
def sq(x):  # ‖x‖²
    return (x * x).sum(-2)""",
    """\
def curve(points, x):  # of each client and coordinate: linear between the points, constant beyond
    at = [[np.interp(x[k, i], *zip(*p)) for i, p in enumerate(of)] for k, of in enumerate(points)]
    return np.array(at)""",
    """\
def area(points, x):  # the integral of such a curve from its first point to x
    knots, values = np.moveaxis(points, 3, 0)[..., None]
    beyond, widths = x[:, :, None] - knots, np.diff(knots, axis=2)
    inside = np.clip(beyond[:, :, :-1], 0, widths)
    risen = inside**2 / 2 + widths * np.maximum(beyond[:, :, 1:], 0)
    return values[:, :, 0] * beyond[:, :, 0] + (np.diff(values, axis=2) / widths * risen).sum(2)""",
]
"""What a script may call."""


def _sides(outcome: Outcome, means: list[str], *, sampled: bool, several: bool) -> list[str]:
    """Return the lines that compare the sides."""
    how = outcome.how[0]
    lines = ['assert abs(chance.sum() - 1) < 1e-9, "some outcome was not met"'] if several else []
    if sampled:
        lines += [
            "worst = sum(taken) / len(taken)"
            if how == "average"
            else "worst = max(taken, key=lambda value: value.mean(-1).max())",
            "error = worst.std() / OUTCOMES**0.5",
            'print(f"left is a mean of {OUTCOMES} samples: standard error {error}")',
        ]
    parts = outcome.names
    of = "np.array(values)" if parts else "value"
    lines += [
        f"means = [(chance * {of}).sum(-1) for {'values' if parts else 'value'} in taken]  "
        "# over all outcomes"
    ]
    if not means:
        reduce = {"average": "mean", "smallest": "min"}.get(how, "max")
        first = "[of[0] for of in means]" if parts else "means"
        return [*lines, f"left = float(np.{reduce}({first}))", "assert left > right"]
    picked = ", ".join(f"of[{1 + parts.index(name)}]" for name in means)
    moments = "[np.mean(means, 0)]" if how == "average" else "means"
    return [
        *lines,
        f"sides = [of for each in {moments} for of in np.atleast_2d(each.T)]",
        f"sides = [(of[0], right_side({picked})) for of in sides]",
        "left, right = map(float, max(sides, key=lambda side: side[0] - side[1]))",
        "assert left > right",
    ]


def _printed(form: Form) -> str:
    """Return the script's last line, which prints both sides."""
    said = f"REFUTED {' '.join(form.key.split())}: left ="
    pieces = textwrap.wrap(said, WIDEST - 20, drop_whitespace=False)
    return f"print({' '.join(map(repr, pieces))}, left, '> right =', right)"


def _docstring(claim: Claim[Any], form: Form, case: Case, until: int) -> list[str]:
    """Return the script's first lines: what it shows, and of what."""
    quotes = '"""'
    said = [
        f"{claim.name}, {form.key}: a case that breaks it, written by driftproof.",
        f"{claim.source}: {claim.statement}",
        f"{case}" + f"; the run ends with round {until}, which refutes it" * (until < case.rounds),
        "A trace of driftproof's own text of the algorithm and the problem, in numpy.",
    ]
    if following.RECORDED:
        said.append(f"Recorded during the run: {', '.join(dict.fromkeys(following.RECORDED))}.")
    lines = [
        line
        for x in said
        for line in textwrap.wrap(x.replace(quotes, "'''"), WIDEST - 4, break_on_hyphens=False)
    ]
    return [f"r{quotes}{lines[0]}", *lines[1:], quotes]
