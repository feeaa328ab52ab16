"""A counterexample over a class as a script: functions that exceed a bound, in fractions.

It shares nothing with ``verifiers.worst_case``: one inequality serves all smooth functions, the
interpolation condition of Taylor, Hendrickx & Glineur (2017) with μ = −L where they need not be
convex; operators are linear fields that turn and pull, or meet their condition in pairs.
"""

import json
import re
import textwrap
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, Template

from driftproof.verifiers.standalone.of_formulas import HEAD, script
from driftproof.verifiers.standalone.texts import used, wrapped

WIDTH = 100
"""Letters of a line."""


def script_of_class(claim: str, form: str, counterexample: str) -> str:
    """Return a script of Python alone that checks a counterexample over a class.

    Args:
        counterexample: its file, as ``driftproof check`` takes it.
    """
    found = json.loads(counterexample)
    ending = found["conclusion"]
    letters = [f"{name} = Fraction({value!r})" for name, value in ending.pop("letters").items()]
    said = (
        f"{claim}, {form}: functions of the class on which it is false, in exact fractions.",
        f"Of {found['about']}.",
        "What is not checked: that each point x is the algorithm's, as one can read off below.",
    )
    kept = ("functions", "assumptions", "conclusion", "coordinates", "numbers", "fields")
    parts = {
        "said": "\n".join(line for part in said for line in _comment(part)),
        "data": _written({name: found[name] for name in kept}),
        "form": json.dumps(form, ensure_ascii=False),
        "letters": "\n".join(letters),
        "right": re.sub(r"\b\d+\b", lambda n: f"Fraction({n[0]})", ending.pop("right")),
    }
    if "knot" in str(found["fields"]):
        sides = '": left = {float(left)} > right = {float(right)}")'
        lines = [
            HEAD,
            *script(found),
            *letters,
            f"right = {parts['right']}",
            "assert left > right",
            f'print("REFUTED", {parts["form"]} + f{sides}',
        ]
        lines = used("\n".join(lines)).splitlines()
        return "\n".join([parts["said"], *map(wrapped, lines), ""])
    text = Path(__file__).with_name("of_class.j2").read_text(encoding="utf-8")
    template = Template(text, undefined=StrictUndefined, keep_trailing_newline=True)
    return str(template.render(parts))


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(" ".join(text.split()), WIDTH - 2)]


def _written(data: Any, inset: str = "", before: int = 8) -> str:
    """Return a literal, on one line if it fits."""
    line = json.dumps(data, ensure_ascii=False)
    if len(inset) + before + len(line) < WIDTH or not isinstance(data, dict | list):
        return line
    deeper = inset + "    "
    if isinstance(data, list):
        rows = [_written(part, deeper, 1) for part in data]
    else:
        names = [json.dumps(name, ensure_ascii=False) + ": " for name in data]
        parts = zip(names, data.values(), strict=True)
        rows = [name + _written(part, deeper, len(name) + 1) for name, part in parts]
    opening, closing = "{}" if isinstance(data, dict) else "[]"
    return f"{opening}\n{''.join(f'{deeper}{row},' + chr(10) for row in rows)}{inset}{closing}"
