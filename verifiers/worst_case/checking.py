"""Checks files of certificates and counterexamples, and says what each of them shows.

``driftproof check`` and the file that ``driftproof check --standalone`` writes both end here.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from driftproof.verifiers.worst_case.check import RefusedCertificateError, check
from driftproof.verifiers.worst_case.check_counterexample import COUNTEREXAMPLE, functions_of
from driftproof.verifiers.worst_case.digest import digest

UNREADABLE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    SyntaxError,
    TypeError,
    ValueError,
)
"""What a checker raises of a file that is no certificate."""
NOT_PROVED = (
    "not proved: that the points are those of an algorithm's text; anything at other numbers than "
    "those above, or with more clients; that some function reaches the bound"
)
NOT_SHOWN = (
    "not shown: that the points are those of an algorithm's text; anything at other numbers than "
    "those above; that nothing is worse"
)
HEADS = {"PROVED": "certificate", "COUNTEREXAMPLE": "counterexample"}
"""What a file is said to be, and what it is if that is so; else it is REFUSED."""


def checked(text: str) -> tuple[str, list[str]]:
    """Return what a file turns out to be, and lines that say what it shows.

    Raises:
        ArithmeticError, LookupError, SyntaxError, TypeError, ValueError: it is no certificate.
    """
    try:
        head, lines = _checked(text)
        if not intact(text):
            raise RefusedCertificateError("it was changed after it was written")
    except RefusedCertificateError as reason:
        head, lines = "REFUSED", [str(reason)]
    return head, [printable(line) for line in lines]


def _checked(text: str) -> tuple[str, list[str]]:
    if f'"{COUNTEREXAMPLE}"' in text:
        return "COUNTEREXAMPLE", [*functions_of(text).said, NOT_SHOWN]
    about, *given, conclusion = check(text).said
    given = [f"  {line}" for line in given]
    proved = [about, "proved, in any dimension: if", *given, f"then {conclusion}"]
    return "PROVED", [*proved, NOT_PROVED]


def intact(text: str) -> bool:
    """Tell whether the digest is that of the rest, which shows what was damaged by mistake."""
    file = json.loads(text)
    return bool(file["digest"] == digest(file))


def printable(line: str) -> str:
    """Return a line without letters that would steer a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in line)


def main(
    names: Sequence[str],
    text_of: Callable[[str], str] = lambda name: Path(name).read_text(encoding="utf-8"),
    tell: Callable[[str], Any] = print,
) -> int:
    """Check files, print what each shows, and return 0 if all hold, 1 if one does not.

    Raises:
        ValueError: a file is no certificate, or there is none.
    """
    if not names:
        raise ValueError(
            "no file; wanted: certificates or counterexamples, one name after the other"
        )
    held: Counter[str] = Counter()
    for name in names:
        text = text_of(name)
        try:
            head, lines = checked(text)
        except UNREADABLE as error:
            what = printable(f"{type(error).__name__}: {error}")
            raise ValueError(f"{name} is no certificate: {what}") from None
        held[head] += 1
        tell("\n".join([f"{name}: {head}", *(f"  {line}" for line in lines)]))
    refused = held.pop("REFUSED", 0)
    if len(names) > 1:
        kinds = [f"{n} {HEADS[head]}{'s' * (n != 1)}" for head, n in held.items()]
        hold = "holds" if held.total() == 1 else "hold"
        tell(
            f"{' and '.join(kinds) or '0 certificates'} {hold}, {refused} "
            f"{'does' if refused == 1 else 'do'} not"
        )
    return 1 if refused else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (OSError, ValueError) as problem:
        print(problem, file=sys.stderr)  # noqa: T201
        sys.exit(2)
