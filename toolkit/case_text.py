"""A case as Python that makes it again, to be pasted into a test or a session."""

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from driftproof.toolkit.cases import Case
from driftproof.toolkit.discover import OWN, leaves
from driftproof.toolkit.parameters import Parameters

HOMES = {
    "driftproof.synthetic.": "driftproof.problems",
    "driftproof.toolkit.": "driftproof.algorithms",
}
"""Where users import driftproof's own leaves from, by the package that they are in."""


def expression(case: Case) -> str:
    """Return the case as an expression.

    >>> from driftproof.synthetic.problems import BoundedComposition
    >>> from driftproof.toolkit.algorithms import ComFedL
    >>> expression(Case(BoundedComposition(clients=1), ComFedL(step_size=0.5), rounds=2))
    'Case(BoundedComposition(clients=1), ComFedL(step_size=0.5), rounds=2)'
    """
    parts = [_called(part) for part in (case.problem, case.algorithm) if part is not None]
    if case.rounds:
        parts.append(f"rounds={case.rounds}")
    return f"Case({', '.join(parts)})"


def repetition(claim: Callable[..., Any], case: Case) -> list[str]:
    """Return lines of Python that judge a claim on the case.

    Args:
        claim: the function that the claim's decorator stands above. The claim has its name, or,
            where another function made it, that of a variable of its module.
    """
    held = vars(sys.modules[claim.__module__]).items()
    ours = (n for n, v in held if any(getattr(v, f, None) is claim for f in ("left", "compare")))
    name = next(ours, claim.__name__)
    return [
        "from driftproof import Case, assert_holds",
        f"from {_home(claim.__module__)} import {name}",
        *_imports(case),
        f"assert_holds({name}, {expression(case)})",
    ]


def pasted(case: Case) -> str:
    """Return lines of Python that can be pasted: imports, and the case as the last of them.

    >>> from driftproof.synthetic.problems import BoundedComposition
    >>> print(pasted(Case(BoundedComposition(clients=1))))
    from driftproof import Case
    from driftproof.problems import BoundedComposition
    Case(BoundedComposition(clients=1))
    """
    return "\n".join(["from driftproof import Case", *_imports(case), expression(case)])


def case_of(parameters: Mapping[str, Any], types: Iterable[type[Parameters]] = ()) -> Case:
    """Return the case of which ``Case.parameters`` are given, also after JSON made lists of tuples.

    Args:
        types: families and algorithms that it may be of, beside those that driftproof has.

    Raises:
        KeyError: nobody has a family or an algorithm of that name.
        DriftproofError, TypeError: it takes no such parameters.
    """
    by_name = {cls.leaf_name: cls for cls in types}
    parts = {}
    for part in ("problem", "algorithm"):
        if part in parameters:
            values = {name: _tuples(value) for name, value in parameters[part].items()}
            name = values.pop("name")
            cls = by_name[name] if name in by_name else leaves(part)[name].load()
            parts[part] = cls(**values)
    return Case(**parts, rounds=parameters.get("rounds", 0))


def _imports(case: Case) -> list[str]:
    parts = (case.problem, case.algorithm)
    return [_imported(type(part)) for part in parts if part is not None]


def _imported(one: Any) -> str:
    return f"from {_home(one.__module__)} import {one.__name__}"


def _called(part: Parameters) -> str:
    inside = ", ".join(f"{name}={value!r}" for name, value in part.changed().items())
    return f"{type(part).__name__}({inside})"


def _home(module: str) -> str:
    """Return the module that a user imports a name from."""
    own = module.removeprefix(f"{OWN}.")
    return next((home for room, home in HOMES.items() if module.startswith(room)), own)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value
