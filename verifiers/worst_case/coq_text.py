"""Writes what all files of Coq have: the first lines, statements, lists, right sides."""

import ast
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from flint import fmpq

from driftproof.toolkit.errors import DriftproofError
from driftproof.verifiers.worst_case.expression import evaluate
from driftproof.verifiers.worst_case.statement import number


class UntranslatedError(DriftproofError):
    """A certificate that is right, of a kind of which no theorem is written."""

    def __init__(self, got: str, wanted: str) -> None:
        super().__init__(got, wanted, "driftproof check FILE checks it without Coq")


class Written(NamedTuple):
    """A Coq file.

    Attributes:
        about: what the certificate says that it is of.
        theorem: the lines of the statement that is proved, as Coq has it.
        conclusion: its conclusion, as ``driftproof check`` has it.
        points: what the theorem says that its points are.
        right: "", or the fraction that stands in the theorem for an irrational right side.
    """

    text: str
    about: str
    theorem: tuple[str, ...]
    conclusion: str
    points: str
    right: str


def text(of: fmpq) -> str:
    """Return a fraction as Coq reads it."""
    whole = f"({of.p})" if of.p < 0 else str(of.p)
    return whole if of.q == 1 else f"{whole}/{of.q}"


def bracketed(of: str) -> str:
    """Return a sum in brackets."""
    return f"({of})" if " - " in of or " + " in of else of


def argument(of: str) -> str:
    """Return an expression as the argument of a function."""
    return of if of.replace("_", "").isalnum() else f"({of})"


def renamed(of: str, names: Mapping[str, str]) -> str:
    """Return a text with others in place of some names, one after the other."""
    for name, other in names.items():
        of = re.sub(rf"(?<![\w.]){re.escape(name)}(?!\w)", other, of)
    return of


def trimmed(of: Iterable[int]) -> list[str]:
    """Return a row without the zeros at its end."""
    made = list(of)
    while made and made[-1] == 0:
        made.pop()
    return [str(x) for x in made]


def whole(of: int) -> str:
    """Return a whole number as Coq reads it fast: long ones by their hexadecimal digits."""
    return str(of) if abs(of) < 10**9 else hex(of)


def heading(said: Iterable[str], library: str) -> list[str]:
    """Return the first lines of a file, which say in words what is proved."""
    words = [x.replace("(*", "( *").replace("*)", "* )").replace('"', "'") for x in said]
    return [
        "(* Written by driftproof prove. The last statement is proved. In words:",
        *(f"     {line}" for line in words),
        "*)",
        f"From Driftproof Require Import algorithms {library}.",
        "From Coq Require Import Lra.",
        "",
    ]


def statement(first: str, given: Iterable[tuple[str, str]], ending: str) -> list[str]:
    """Return the lines of a statement, and that its proof begins."""
    return [first, *(f"  ({said}) ->" for _, said in given), f"  {ending}.", "Proof."]


def listed(items: Iterable[object]) -> str:
    """Return a list as Coq reads it."""
    return f"[{'; '.join(map(str, items))}]"


def fractions(right: str, letters: dict[str, str], free: Mapping[str, str] | None = None) -> str:
    """Return a right side as an expression of fractions, its letters given values.

    Letters that are ``free`` have names in Coq.

    Raises:
        UntranslatedError: it has a function, or a power that is no whole number.
    """
    values = {name: number(value) for name, value in letters.items()}

    def written(node: ast.expr, above: int = 0) -> str:
        """Return a part, in brackets where what is above it binds as tightly."""
        binds = 0
        match node:
            case ast.Constant(int() as whole):
                return str(whole)
            case ast.Name(name) if name in values:
                return name
            case ast.Name(name) if free and name in free:
                return free[name]
            case ast.UnaryOp(ast.USub(), of):
                made, binds = f"- {written(of, 3)}", 1
            case ast.BinOp(one, ast.Pow(), two):
                used = {n.id for n in ast.walk(two) if isinstance(n, ast.Name)}
                inside = {name: value for name, value in values.items() if name in used}
                power = evaluate(ast.unparse(two), inside)
                if not isinstance(power, fmpq) or power.q != 1:
                    raise UntranslatedError(ast.unparse(node), "a whole power")
                made, binds = f"{written(one, 4)} ^ {text(power)}", 3
            case ast.BinOp(one, operator, two) if type(operator) in SIGNS:
                sign, binds = SIGNS[type(operator)]
                made = f"{written(one, binds)} {sign} {written(two, binds + 1)}"
            case _:
                raise UntranslatedError(f"{ast.unparse(node)} in a right side", "a fraction")
        return f"({made})" if binds < above else made

    made = written(ast.parse(right.strip(), mode="eval").body)
    return "".join(f"let {n} := {text(value)} in " for n, value in values.items()) + made


SIGNS = {ast.Add: ("+", 1), ast.Sub: ("-", 1), ast.Mult: ("*", 2), ast.Div: ("/", 2)}
