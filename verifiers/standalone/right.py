"""The right side of a script: its expression, and a number for each of its letters."""

from collections.abc import Mapping
from typing import Any

import sympy

from driftproof.toolkit.cases import roles_of
from driftproof.toolkit.constants import MEASURED, ROLES, RUN_ROLES, Letters, expressed
from driftproof.verifiers.standalone.printed import free
from driftproof.verifiers.standalone.refusal import NoScriptError


def means_of(claim: Any, case: Any, right: Any) -> list[str]:
    """Return the measured means that a right side names."""
    expression = expressed(right, Letters(claim.notation(case)))
    names = (symbol.name for symbol in expression.free_symbols)
    return sorted(name.removeprefix(MEASURED) for name in names if name.startswith(MEASURED))


def right_text(claim: Any, case: Any, right: Any, known: Mapping[str, Any]) -> str:
    """Return the right side as text: ``right = …``, or ``right_side`` of the measured means.

    Args:
        known: names that have a value in the script.

    Raises:
        NoScriptError: the expression has something that Python's math has not.
    """
    notation, roles = claim.notation(case), roles_of(case)
    expression = expressed(right, Letters(notation))
    means = means_of(claim, case, right)
    symbols = {symbol.name: symbol for symbol in expression.free_symbols}
    letters = sorted(name for name in symbols if not name.startswith(MEASURED))
    if set(letters) & set(means):
        raise NoScriptError("a letter and a measured mean of its right side have one name")
    own = {x: _plain(roles[notation[x]]) for x in letters}
    new = {x: value for x, value in own.items() if known.get(free(x)) != value}
    lines = []
    for letter, value in new.items():
        role = notation[letter]
        meaning = ROLES.get(role) or RUN_ROLES.get(role) or role.replace("_", " ")
        lines.append(f"{free(letter)} = {value!r}  # {meaning}")
    names = {x: free(name.removeprefix(MEASURED)) for name, x in symbols.items()}
    shown = expression.subs(
        {x: sympy.Symbol(name) for x, name in names.items() if name != x.name}, simultaneous=True
    )
    code = sympy.pycode(shown)
    if "Not supported" in code:
        raise NoScriptError("its right side has a function that Python's math has not")
    if not means:
        return "\n".join([*lines, f"right = {code}"])
    return "\n".join(
        [*lines, f"def right_side({', '.join(map(free, means))}):", f"    return {code}"]
    )


def _plain(number: Any) -> float | int:
    return int(number) if isinstance(number, int) else float(number)
