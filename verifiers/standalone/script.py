"""Puts a script together from the texts of a finding's problem, algorithm and claim."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np

from driftproof.toolkit.cases import Case
from driftproof.toolkit.measure import Measure
from driftproof.verifiers.claim_types.bound import BoundClaim
from driftproof.verifiers.claim_types.claim import Claim, Form
from driftproof.verifiers.standalone.families import numbers_in
from driftproof.verifiers.standalone.left import Shown, followed, measured_text, moments
from driftproof.verifiers.standalone.numbers import asked, numbers_of
from driftproof.verifiers.standalone.refusal import NoScriptError
from driftproof.verifiers.standalone.right import means_of, right_text
from driftproof.verifiers.standalone.texts import (
    FOLDER,
    WIDEST,
    assigned,
    continued,
    names_in,
    rendered,
    used,
)

ENUMERATED, SAMPLED = 2**16, 20_000
"""Outcomes of all draws that a script goes through, and how many it samples if there are more."""
IMPORTS = """\
import math
from itertools import combinations, islice
from types import SimpleNamespace as State

import numpy as np
"""


def script_of(claim: Claim[Any], form: Form, case: Case) -> str:
    """Return the script of a case that breaks a form of a claim: by texts, else by its numbers.

    Raises:
        NoScriptError: with the reason why there is none.
    """
    try:
        return _of_texts(claim, form, case)
    except NoScriptError as reason:
        if not isinstance(claim, BoundClaim) or case.algorithm is None:
            raise
        try:
            return _of_numbers(claim, form, case)
        except NoScriptError as other:
            raise NoScriptError(f"{reason}; nor as the run's own numbers: {other}") from None


def _of_numbers(claim: BoundClaim, form: Form, case: Case) -> str:
    """Return the script that has a run's own numbers."""
    left = _left_of(claim, form)
    given, means = asked(left), means_of(claim, case, form.right)
    measure, expression = measured_text(left, means, given)
    facts = _of_measure(left) | {"means": means, "sampled": False, "skips": False}
    lines, chances = numbers_of(left, given, case)
    facts["enumerated"] = len(chances) > 1
    chance = [f"chance = np.array({chances.tolist()})  # of each outcome of the draws"]
    body = "\n".join((
        "import math", "", "import numpy as np", "", "# what a run answers, moment by moment",
        *lines, *chance, measure, "taken = []", "for answer in zip(*map(np.array, answers)):",
        *continued(f"    taken.append({expression})"),
        right_text(claim, case, form.right, {}), "", rendered("sides.j2", facts),
    ))  # fmt: skip
    made = [*_docstring(claim, form), *used(body).splitlines(), _printed(form)]
    return "\n".join(made) + "\n"


def _of_texts(claim: Claim[Any], form: Form, case: Case) -> str:
    """Return the script that runs the texts of a problem and an algorithm.

    Raises:
        NoScriptError: with the reason why there is none.
    """
    if not isinstance(claim, BoundClaim) or case.algorithm is None:
        raise NoScriptError("a function of the claim computes both its sides, and runs nothing")
    left = _left_of(claim, form)
    texts = [_template("problems", case.problem), _template("algorithms", case.algorithm)]
    values = _values(case)
    facts = values | _facts(case, values) | _of_measure(left)
    inside = "\n".join(rendered(text, facts) for text in texts)
    if case.problem.dim == 1:  # the first coordinate is all of them
        inside = inside.replace(" e * ", " ")
    means = means_of(claim, case, form.right)
    shown = _shown(inside, facts, case)
    measure, expression = measured_text(left, means, shown)
    facts["asked"] = names_in(f"{measure}\n{expression}")
    facts["fields"] = set(re.findall(r"\.(\w+)", f"{measure}\n{expression}"))
    facts["counted"] = bool({"s"} & facts["asked"])
    facts["skips"], facts["means"] = "if " in measure, means
    inside, seen = _yields(inside, facts)
    drawn = _drawn(inside, values, facts)
    facts |= {"enumerated": 1 < drawn <= ENUMERATED, "sampled": drawn > ENUMERATED}
    if facts["sampled"] and (means or facts["how"] == "given past"):
        raise NoScriptError("it compares means of more outcomes than can be listed")
    loop = rendered("loop.j2", facts).replace("MEASURED", expression).replace("SEEN", seen)
    loop = "\n".join(x for line in loop.splitlines() for x in continued(line))
    parts = [rendered("draws.j2", facts), inside, measure, loop, rendered("sides.j2", facts)]
    outcomes = 1 if drawn == 1 else drawn if facts["enumerated"] else SAMPLED
    known = values | {"OUTCOMES": outcomes}
    whole = used("\n".join((IMPORTS, *parts)))
    read = names_in(whole) - set(re.findall(r"^(?:def )?(\w+)(?:\(| = )", whole, re.MULTILINE))
    header = {name: x for name, x in known.items() if name in read}
    right = right_text(claim, case, form.right, header)
    body = used("\n".join((IMPORTS, "HERE", *parts[:3], right, *parts[3:])))
    body = _with_counts(body, case, header)
    if "combinations(" not in body:
        body = body.replace("import combinations, islice", "import islice")
    if "islice(" not in body:
        body = body.replace("import combinations, islice", "import combinations")
    lines = [*_docstring(claim, form), *_laid_out(body, assigned(header)), _printed(form)]
    return "\n".join(lines) + "\n"


def _printed(form: Form) -> str:
    """Return the script's last line, which prints both sides."""
    words = form.key.replace("\\", "\\\\").replace('"', '\\"')
    words = words.replace("{", "{{").replace("}", "}}")
    return f'print(f"REFUTED {words}: left = {{left!r}} > right = {{right!r}}")'


def _with_counts(body: str, case: Case, header: dict[str, Any]) -> str:
    """Return a body with the steps of a round and of the run by their letters, or as numbers."""
    steps = case.algorithm.local_steps
    letters = {role: letter for letter, role in case.algorithm.notation.items() if letter in header}
    last = (case.rounds - 1) * steps + 1
    body = re.sub(r"\bLAST\b", str(last), body)
    counts = {"ROUND": ("local_steps", steps), "STEPS": ("steps", case.rounds * steps)}
    for word, (role, number) in counts.items():
        body = re.sub(rf"\b{word}\b", letters.get(role, str(number)), body)
    return body


def _shown(inside: str, facts: dict[str, Any], case: Case) -> Shown:
    """Return what a claim's function can see, by the algorithm's text."""
    states = re.findall(r"yield State\((.*?)\)", inside)
    marks = re.findall(r"marks = \{(.*?)\}", inside)
    return Shown(
        frozenset(re.findall(r"(\w+)=", states[0])),
        frozenset(name for mark in marks for name in re.findall(r'"(\w+)":', mark)),
        "start" if facts["starts"] else "after" if facts["after"] else "step",
        facts["of_states"], facts["partial"], frozenset(re.findall(r"def (\w+)\(", inside)), case.algorithm.local_steps, case.rounds,
    )  # fmt: skip


def _yields(inside: str, facts: dict[str, Any]) -> tuple[str, str]:
    """Return a text that yields no more than the loop looks at, and what the loop calls it."""
    seen = ["state", *(name for name in ("marks", "cohort") if name in facts["asked"])]
    if "of_cohort" in facts["asked"]:
        seen.append("cohort")
    last = {"marks": "{}", "cohort": "everyone"}

    def changed(found: re.Match[str]) -> str:
        more = [last[x] if found[2].startswith("{}") else x for x in seen[1:]]
        return ", ".join([f"yield {found[1]}", *more])

    asked = facts["fields"]

    def fewer(found: re.Match[str]) -> str:
        pairs = found[1].split(", ")
        kept_ones = [pair for pair in pairs if asked is None or pair.partition("=")[0] in asked]
        return f"yield State({', '.join(kept_ones or pairs[:1])})"

    inside = re.sub(r"yield State\((.*?)\)", fewer, inside)
    if asked is not None and not asked & {"x_start", "y_start", "x_direction", "y_direction"}:
        inside = re.sub(r"\n *x_start, y_start, h, q = .*", "", inside)  # never looked at
    text = re.sub(r"yield (State\(.*?\)), (.*)", changed, inside)
    if "marks" not in seen:
        text = re.sub(r" *marks = .*\n", "", text)
    return text, ", ".join(seen) if len(seen) == 1 else f"({', '.join(seen)})"


def _template(folder: str, part: Any) -> str:
    """Return the name of the text of a problem family or an algorithm."""
    name = f"{folder}/{part.leaf_name.replace('-', '_')}.j2"
    if not (FOLDER / name).exists():
        raise NoScriptError(f"{part.leaf_name} is not written in numpy yet")
    return name


def _values(case: Case) -> dict[str, Any]:
    """Return a value for each name that the texts of a case may read."""
    of, method = case.problem, case.algorithm
    values: dict[str, Any] = dict(of.values()) | {"d": of.dim}
    values["rare"] = values.get("rare", 0.5)
    if method.needs == "field" and (values.get("x_noise") or values.get("y_noise")):
        raise NoScriptError("the field of a minimax problem is written in numpy without noise")
    if getattr(method, "sampled_tasks", 0) not in (0, getattr(method, "task_blocks", 0)):
        raise NoScriptError("steps on sampled tasks are not written in numpy yet")
    values.setdefault("noise", 0.0)
    values |= numbers_in(of)
    own = method.values() | {"local_steps": method.local_steps} | {
        "clients": of.clients, "rounds": case.rounds, "steps": case.rounds * method.local_steps,
        "cohort_size": method.cohort_size(of.clients),
    }  # fmt: skip
    letters = {x: own[role] for x, role in method.notation.items() if role in own}
    every: dict[str, Any] = own | values | letters
    return every


def _facts(case: Case, values: dict[str, Any]) -> dict[str, Any]:
    """Return what else conditions ask for: which noise there is, and whether all take part."""

    def any_of(*names: str) -> bool:
        return any(bool(values.get(name)) for name in names)

    return {
        "partial": values["cohort_size"] < case.problem.clients,
        "inner_noise": any_of(
            "value_noise", "gradient_noise", "inner_value_noise", "inner_gradient_noise"
        ),
        "outer_noise": any_of("outer_noise", "outer_gradient_noise"),
        "plain_noise": any_of("plain_noise"),
        "plain": any_of("plain", "plain_noise"),
        "g_noise": any_of("value_noise", "curvature_noise", "cross_noise")
        or (any_of("y_noise") and case.problem.offers == "minimax"),
        "of_field": case.algorithm.needs == "field",
        "reduced": getattr(case.algorithm, "reduces_inner", False),
        "quiet": not any_of(*(name for name in values if name.endswith("noise"))),
    }


def _left_of(claim: BoundClaim, form: Form) -> Callable[..., Any]:
    left = form.left or claim.left
    assert left is not None
    return followed(left)


def _of_measure(left: Any) -> dict[str, Any]:
    """Return when and how a claim's function is taken."""
    how, axes = moments(left)
    return {
        "how": how, "axes": axes, "starts": axes == ("round",), "averages": how == "average",
        "after": "local_step" in axes or axes == ("transition",),
        "of_states": Measure(left).of_states, "seen": not Measure(left).of_states,
    }  # fmt: skip


def states_of(case: Case) -> tuple[list[Any], np.ndarray]:
    """Return the states of a run by the texts of a case, and the outcomes' chances.

    At the start, and after each local step, in every outcome of all draws.

    Raises:
        NoScriptError: there is no text, or more outcomes than can be listed.
    """
    texts = [_template("problems", case.problem), _template("algorithms", case.algorithm)]
    values = _values(case)
    facts = values | _facts(case, values) | {"of_states": False, "starts": False, "asked": set()}
    facts["fields"] = None
    facts |= {"enumerated": True, "sampled": False}
    inside, _ = _yields("\n".join(rendered(text, facts) for text in texts), facts)
    drawn = _drawn(inside, values, facts)
    if drawn > ENUMERATED:
        raise NoScriptError("more outcomes than can be listed")
    scope = values | {"OUTCOMES": drawn}
    exec("\n".join((IMPORTS, rendered("draws.j2", facts), inside)), scope)
    return list(scope["run"]()), scope["chance"]


def _drawn(inside: str, values: dict[str, Any], facts: dict[str, Any]) -> int:
    """Return how many outcomes all draws of a run have together, by running the texts once."""
    number = 1

    def draw(chances: Any) -> np.ndarray:
        nonlocal number
        number *= len(chances)
        return np.zeros(1, dtype=int)

    scope = values | {"OUTCOMES": 1}
    counting = facts | {"enumerated": True, "sampled": False}
    exec(IMPORTS + rendered("draws.j2", counting), scope)
    scope["draw"] = draw
    exec(inside, scope)
    moments = values["rounds"] * values["local_steps"] + 1
    if facts["starts"]:
        moments -= values["local_steps"]
    with np.errstate(all="ignore"):
        for _ in islice(scope["run"](), moments):
            pass
    return number


def _docstring(claim: Claim[Any], form: Form) -> list[str]:
    """Return the script's first lines: what it shows, and of what."""
    quotes = '"""'
    statement = f"{claim.source}: {claim.statement}".replace(quotes, "'''")
    lines = textwrap.wrap(statement, WIDEST, break_on_hyphens=False)
    title = f"{claim.name}, {form.key}: a case that breaks it, written by driftproof."
    first, *more = textwrap.wrap(title, WIDEST - 4)
    return [f"r{quotes}{first}", *more, *lines, quotes, ""]


SECTIONS = ("def run", "taken = []")
"""Before what a line is left empty."""


def _laid_out(body: str, header: list[str]) -> list[str]:
    """Return the lines of a script, its numbers after the imports, with few empty ones."""
    lines: list[str] = []
    for line in body.splitlines():
        if line == "HERE":
            lines += ["", *header, ""]
        elif line.strip():
            lines += ["", line] if line.startswith(SECTIONS) else [line]
    return lines
