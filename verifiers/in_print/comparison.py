r"""Reads what stands after ≤ in a printed statement, to compare it with the right side judged.

What can be read are formulas of the claim's letters, and of what the statement itself defines
beside the inequality (``\rho = (1-\eta\mu)^\tau``, ``where \kappa = L/\mu``). Of any other
statement it is said that it was not compared, and why.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from html import unescape
from random import Random
from typing import Any

import sympy
from latex2mathml.converter import convert_to_element

from driftproof.toolkit.at_optimum import OF_BOTH, OF_X
from driftproof.toolkit.constants import Letters, latex
from driftproof.toolkit.readings import ReadingKind
from driftproof.verifiers.claim_types.claim import Claim
from driftproof.verifiers.in_print.formulas import right_sides_of

LESS = re.compile(r"\\le(?:q|qslant)?(?![A-Za-z])|≤")
BETWEEN = re.compile(
    r",?\s*\\q?quad\b|,\s*\\[,;: ]|\\;|\\Rightarrow|\\\\(?![A-Za-z])|[:\n]"
    r"|,?\s*\\(?:text|mbox|textrm)\s*\{\s*,?\s*(?:where|with|and|for)\s*\}"
)
"""What stands between the parts of a statement: the inequality, conditions, definitions."""
MEAN = r"(\\t?frac\s*\{?1\}?\s*\{?\w\}?\s*\\sum(_\w|_\{[^}]*\})?(\^\w|\^\{[^}]*\})?\s*)?"
MEAN += r"(\\mathbb\s*\{?E\}?(\\[a-zA-Z]+|[\[(])*\s*)?"
LEFT = re.compile(rf"\s*{MEAN}(\\\|.*\^\{{?2|(?!.*\\\|)(\\Phi|[A-Za-z]))")
"""Left sides that are judged as printed. A sum may be judged as a mean."""
PLAIN = r"\\\|(?!.*\^\{?2)"
NORM = re.compile(rf"{MEAN}\\\|")
"""Where a norm begins; before it may stand a factor, without which it may be judged."""
SYMBOL = re.compile(
    r"\s*(\\(tilde|bar|hat|mathcal)\b\s*)?(\\[a-zA-Z]+|[a-zA-Z])\s*(_\w|_\{\w*\})?\s*"
)
START, BEST = r"[_^](?:0|\{0\})", r"[_^](?:\*|\{\*\})"
GAP = rf"(F|\\Phi)(?:\([^()]*{START}\)|{START})\s*-\s*\1(?:{BEST}|\([^()]*{BEST}\))"
DISTANCE = rf"\\\|\s*(?:\\(?:bar|tilde|hat)(?:\s+\w|\{{\w\}})|\w){START}\s*-\s*\w{BEST}\s*\\\|"
NAMES = {r"\\[lr]?Vert(?![A-Za-z])": r"\\|", r"\\(?:star|ast)(?![A-Za-z])": "*"}
"""Commands that print the same, and the one that is read."""
SIGNS = dict(zip("−·×{}[]+-/(),", "-**()()+-/(),", strict=True)) | {"max": "Max", "min": "Min"}
OPERATORS = ")+-*/,"
FUNCTIONS = ("log", "ln", "exp")
STEPS = ("steps", "rounds", "local_steps")
"""Roles of which the first is the product of the others."""
INSTANCES = 4


def unlike(claim: Claim[Any], statement: str | None = None) -> dict[str, str] | str | None:
    """Return what a statement says, for each literal form of a bound that is judged otherwise.

    Where nothing is printed, the form is the one that we state. A norm may be judged as its square,
    and without a factor before it.

    Args:
        statement: LaTeX of a paper's, in place of the claim's own.

    Returns:
        Empty if one of them is what the statement says; why it was not compared, if something of it
        cannot be read; None if the claim has no one right side that is a formula.
    """
    forms = right_sides_of(claim)
    ours = all(form.form != "printed" for form, _ in forms)
    rights = {
        form.key: right
        for form, right in forms
        if (ours or form.reading_kind is ReadingKind.LITERAL) and not (form.part or form.left)
    }
    if not rights:
        return None
    letters = Letters(notation := claim.notation(claim.judged_on[0]))
    roles = {getattr(letters, x): role for x, role in notation.items()}
    of_role = {role: symbol for symbol, role in roles.items()}
    texts = {symbol: _text(latex(symbol)) for symbol in roles}
    known = {text: of_role[roles[symbol]] for symbol, text in texts.items()}
    called = {"initial_gap": GAP, "initial_distance": DISTANCE}
    called |= {OF_X: DISTANCE.replace(r"\w", "x"), OF_BOTH: DISTANCE.replace(r"\w", "z")}
    phrases = {words: of_role[role] for role, words in called.items() if role in of_role}
    for name, shown in getattr(claim, "measured", {}).items():
        phrases[re.escape(shown)] = letters.measured(name)
    known |= {f"ℵ{k}": symbol for k, symbol in enumerate(phrases.values())}

    def put(formula: str) -> str:
        for k, phrase in enumerate(phrases):
            formula = re.sub(phrase, rf"\\aleph_{{{k}}} ", formula)
        return formula

    def read(formula: str) -> Any:
        return _read(put(formula), known)

    whole = claim.statement if statement is None else statement
    for written, name in NAMES.items():
        whole = re.sub(written, name, whole)
    parts = [part.strip(" .,;") for part in BETWEEN.split(whole)]
    if of_role.keys() >= {*STEPS}:
        parts.append("{}={} {}".format(*(latex(of_role[x]) for x in STEPS)))
    for part in parts * 2:  # a definition may stand before what it uses
        name, _, value = part.partition("=")
        formula = read(value) if SYMBOL.fullmatch(name) else None
        with suppress(Exception):  # a command that lacks its argument is no name
            known |= {_text(name): formula} if formula is not None else {}
    defined = {symbol: known[text] for symbol, text in texts.items()}
    sides = [LESS.split(part) for part in parts if LESS.search(part)]
    formulas = [formula.subs(defined) for formula in rights.values()]
    first = [(_factor(left), left, side.strip()) for left, side, *_ in sides if _is_left(left)]
    unread, missing = "", list[str]()
    for factor, left, side in first or [("", "", tail.strip()) for *_, tail in sides]:
        said, before = read(side), read(factor) if factor else sympy.S.One
        if said is None or before is None:
            unread = side if said is None else left
            missing = _unknown(put(side if said is None else factor), known)
            continue
        plain, mean = (re.search(x, left) is not None for x in (PLAIN, r"\\sum|\\mathbb"))
        one_of = [said, said / before] if before else [said]
        one_of += [x**2 for x in one_of if plain and not mean]
        if any(_same(one, other) for one in one_of for other in formulas):
            return {}
        if plain and mean:
            unread, missing = left, []  # of which the mean of squares, perhaps, is judged
    if unread and missing:
        return f"cannot read {', '.join(missing)} in {unread}: no letter of the claim is called so"
    if unread or not first:
        return f"cannot read {unread or (sides[0][0].strip() if sides else 'a ≤ in it')}"
    return dict.fromkeys(rights, first[0][2])


def is_judged(left: str) -> bool:
    """Say whether a left side is judged as printed; a letter alone is a condition's: t ≤ τ."""
    return LEFT.match(left) is not None and not SYMBOL.fullmatch(left)


def _is_left(left: str) -> bool:
    """Say whether a left side is compared, perhaps with its square or without its factor."""
    condition = re.fullmatch(rf"\s*{DISTANCE}(\^\{{?2\}}?)?\s*", left)  # on the start
    return condition is None and (is_judged(left) or NORM.search(left) is not None)


def _factor(left: str) -> str:
    """Return what stands before a norm; a sum in which it is a term has no factor."""
    norm = NORM.search(left)
    before = "" if norm is None else left[: norm.start()].strip()
    outside = before
    while (less := re.sub(r"\{[^{}]*\}|\([^()]*\)", "", outside)) != outside:
        outside = less
    return "" if re.search(".[+-]", outside) else before


def _same(one: Any, other: Any) -> bool:
    """Say whether two formulas agree to 12 digits on some instances, letters below 1 and above."""
    symbols = sorted(one.free_symbols | other.free_symbols, key=str)
    for seed in range(INSTANCES):
        draw, most = Random(seed).randint, 99 if seed % 2 else 999
        at = {
            x: draw(2, 9) if x.is_integer else sympy.Rational(draw(1, most), 100) for x in symbols
        }
        apart, size = (abs(sympy.N(formula.subs(at), 30)) for formula in (one - other, one))
        if apart.is_finite and apart > size / 10**12:
            return False
    return True


def _read(formula: str, known: Mapping[str, Any]) -> Any:
    """Return a formula in LaTeX as sympy's, or None if something in it is not known."""
    names = {text: f"x{k}" for k, text in enumerate(known)}
    values = {f"x{k}": value for k, value in enumerate(known.values())}
    try:
        text = _python(convert_to_element(formula), names)
        value = sympy.sympify(text, locals=values, rational=True)
    except Exception:  # noqa: BLE001 - parsers raise many kinds, and it need not be a formula
        return None
    number = isinstance(value, sympy.Expr) and not value.has(sympy.zoo, sympy.nan, sympy.I)
    return value if number else None


def _unknown(formula: str, known: Mapping[str, Any]) -> list[str]:
    """Return the names in a formula that are not known; none, if that is not why it is not read."""

    def names(element: Any) -> Iterator[str]:
        parts, text = list(element), _inside(element)
        if element.tag == "msubsup":
            parts, text = parts[2:], "".join(map(_inside, parts[:2]))
        named = element.tag in ("mi", "msub", "mover", "msubsup")
        if named and text not in known and text not in FUNCTIONS:
            yield "_".join(map(_inside, element)) if element.tag == "msub" else text
        if element.tag == "msup" and _inside(parts[0]) == "e":
            parts = parts[1:]
        for part in parts if element.tag not in ("mi", "msub", "mover") else ():
            yield from names(part)

    with suppress(Exception):  # parsers raise many kinds
        return list(dict.fromkeys(names(convert_to_element(formula))))
    return []


def _python(element: Any, names: Mapping[str, str]) -> str:
    """Return a formula as Python has it; raise an error for what is not among the names."""
    tag, text = element.tag, _inside(element)
    if tag in ("mi", "msub", "mover"):
        return names[text]
    if tag in ("mo", "mn"):
        return SIGNS[text] if tag == "mo" else f"({sympy.Rational(text)})"
    if tag == "msup" and _inside(element[0]) == "e" and "e" not in names:
        return f"exp({_python(element[1], names)})"
    members = [part for part in element if tag != "msubsup" and part.tag != "mspace"]
    parts = []
    while members:
        part = members.pop(0)
        if (name := _inside(part)) not in FUNCTIONS or name in names:
            parts.append(_python(part, names))
        elif members and _inside(members[0]).startswith("("):
            parts.append(name)
        else:
            parts.append(f"{name}({_python(members.pop(0), names)})")
            if members and _inside(members[0]) not in (*"+-−),",):
                raise ValueError("log a b, which may be log(ab) or b log(a)")
    if tag == "mfrac":
        return "(({})/({}))".format(*parts)
    if tag == "msup":
        return "{}**({})".format(*parts)
    if tag == "msubsup":
        *base, power = element
        return f"{names[''.join(map(_inside, base))]}**({_python(power, names)})"
    text = re.sub(r"(?<=[\d)]) +(?=[\w(])", "*", " ".join(parts))
    below = [parts[k + 1 : k + 3] for k, part in enumerate(parts) if part == "/"]
    if not text or any(of[0] != "(" and of[1:] and of[1][0] not in OPERATORS for of in below):
        raise ValueError("nothing, or a/bc, which may be (a/b)c or a/(bc)")
    return f"sqrt({text})" if tag == "msqrt" else text


def _text(formula: str) -> str:
    return _inside(convert_to_element(formula))


def _inside(element: Any) -> str:
    return unescape("".join(element.itertext()))
