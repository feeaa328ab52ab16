"""``driftproof check``: does a certificate prove its bound, a counterexample refute its own?"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import click

from driftproof.commands import _shared as shared
from driftproof.toolkit.discover import text_of
from driftproof.toolkit.errors import DriftproofError

UNREADABLE = (
    ArithmeticError, AttributeError, LookupError, RecursionError, SyntaxError, TypeError,
    ValueError,
)  # fmt: skip
"""What a checker raises of a file that is no certificate."""
NOT_PROVED = (
    "not proved: that the points are those of an algorithm's text; anything at other numbers than "
    "those above, or with more clients; that some function reaches the bound"
)
NOT_SHOWN = (
    "not shown: that the points are those of an algorithm's text; anything at other numbers than "
    "those above; that nothing is worse"
)


@click.command()
@click.argument("certificates", nargs=-1, required=True, metavar="CERTIFICATE...")
def command(certificates: tuple[str, ...]) -> int:
    """Check certificates of worst cases: exactly, without a solver, by 540 lines in all.

    Where letters are free it takes 370 lines more. A counterexample's file is checked too: that
    its functions are of the class, and exceed the bound. The exit status is 0 if every file shows
    what it says, 1 if one does not, 2 if one cannot be read. docs/certificates.md says how to read
    them.
    """
    from driftproof.verifiers.worst_case.check import RefusedCertificateError

    held: Counter[str] = Counter()
    for name in certificates:
        text = text_of_certificate(Path(name))
        try:
            kind, lines = _checked(text)
            if not intact(text):
                raise RefusedCertificateError("it was changed after it was written")
        except RefusedCertificateError as reason:
            kind, lines = "", [str(reason)]
        except UNREADABLE as error:
            raise DriftproofError(
                f"{name} is no certificate: {shown(f'{type(error).__name__}: {error}')}",
                "a file as docs/certificates.md describes it",
                "let driftproof verify write it again",
            ) from None
        head = {"certificate": "PROVED", "counterexample": "COUNTEREXAMPLE"}.get(kind, "REFUSED")
        held.update([kind] if kind else [])
        shared.tell("\n".join([f"{name}: {head}", *(f"  {shown(line)}" for line in lines)]))
    refused = len(certificates) - held.total()
    if len(certificates) > 1:
        kinds = [f"{n} {kind}{'s' * (n != 1)}" for kind, n in held.items()] or ["0 certificates"]
        hold = "holds" if held.total() == 1 else "hold"
        shared.tell(
            f"{' and '.join(kinds)} {hold}, {refused} {'does' if refused == 1 else 'do'} not"
        )
    return 1 if refused else 0


def _checked(text: str) -> tuple[str, list[str]]:
    """Return what a file is, and lines that say what it shows."""
    from driftproof.verifiers.worst_case import check, check_counterexample

    if f'"{check_counterexample.SCHEMA}"' in text:
        return "counterexample", [*check_counterexample.check(text).said, NOT_SHOWN]
    about, *given, conclusion = check.check(text).said
    given = [f"  {line}" for line in given]
    proved = [about, "proved, in any dimension: if", *given, f"then {conclusion}"]
    return "certificate", [*proved, NOT_PROVED]


def text_of_certificate(path: Path) -> str:
    """Return what a file holds."""
    try:
        return text_of(path)
    except (OSError, UnicodeDecodeError) as error:
        raise DriftproofError(
            f"{path}: {error}", "a certificate, a JSON file", "check the path"
        ) from None


def intact(text: str) -> bool:
    """Tell whether the digest is that of the rest, which shows what was damaged by mistake."""
    from driftproof.verifiers.worst_case.digest import digest

    file = json.loads(text)
    return bool(file["digest"] == digest(file))


def shown(line: str) -> str:
    """Return a line without letters that would steer a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in line)
