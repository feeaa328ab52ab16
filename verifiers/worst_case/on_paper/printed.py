"""The whole way from a certificate's file to a proof on paper that was read back."""

import json
from contextlib import suppress
from copy import copy
from dataclasses import replace
from typing import Any

from driftproof.toolkit.ratios import vanishes
from driftproof.toolkit.verdict import Row
from driftproof.verifiers.worst_case.check import RefusedCertificateError, check
from driftproof.verifiers.worst_case.check_counterexample import COUNTEREXAMPLE
from driftproof.verifiers.worst_case.checking import intact
from driftproof.verifiers.worst_case.coq_text import UntranslatedError
from driftproof.verifiers.worst_case.machine_checked import one_space
from driftproof.verifiers.worst_case.on_paper.fewest import fewest
from driftproof.verifiers.worst_case.on_paper.formulas import UnreadError
from driftproof.verifiers.worst_case.on_paper.latex import UnprintableError, name_of
from driftproof.verifiers.worst_case.on_paper.read_back import read_back
from driftproof.verifiers.worst_case.on_paper.text import Key, OnPaper
from driftproof.verifiers.worst_case.statement import ONE, ZERO, Combination, Condition, Statement

LARGEST = 64
"""The most inequalities of a certificate of which some are left out."""


def on_paper(certificate: str) -> str:
    """Return the theorem that a certificate proves, and its proof, in LaTeX.

    Raises:
        UnprintableError: a person could not check the proof; it says why, and what would do.
        UntranslatedError: it speaks of two spaces that are not treated alike.
        RefusedCertificateError: it does not prove what it says.
        ArithmeticError, LookupError, SyntaxError, TypeError, ValueError: it is no certificate.
    """
    _, it, multipliers = proved(certificate)
    if len(multipliers) > LARGEST:
        raise UnprintableError(
            f"a certificate of {len(multipliers)} inequalities",
            f"at most {LARGEST}",
            "take fewer steps, rounds or clients; driftproof prove FILE has Coq check it",
        )
    if not it.numbers.free:
        multipliers = dict(fewest(it, multipliers))
    paper = OnPaper(in_means(it), multipliers)
    text = paper.latex()
    checked(text, it, paper)
    return text


def proved(certificate: str) -> tuple[dict[str, Any], Statement, dict[Key, Any]]:
    """Return a certificate's fields in one space, what it proves and its multipliers."""
    if f'"{COUNTEREXAMPLE}"' in certificate:
        raise UnprintableError(
            "a counterexample",
            "a certificate, which proves a bound",
            "driftproof check FILE shows points, gradients and both sides",
        )
    check(certificate)
    if not intact(certificate):
        raise RefusedCertificateError("it was changed after it was written")
    file = one_space(json.loads(certificate))
    it = check(json.dumps(file))
    if not vanishes(it.upper - it.conclusion.right):
        raise UnprintableError(
            f"the right side {file['conclusion']['right']}, which is irrational",
            "a fraction, or a rational function of letters",
            "square it, or take hyper-parameters for which it is a fraction",
        )
    multipliers: dict[Key, Any] = {}
    for written, *key in file["multipliers"]:
        multipliers[tuple(key)] = multipliers.get(tuple(key), 0) + it.numbers.number(written)
    return file, it, multipliers


def checked(text: str, it: Statement, paper: OnPaper) -> None:
    """Read a printed proof back."""
    letters = {letter: name_of(letter) for letter in it.numbers.free}
    basis = [*(called.short for called in paper.called.values()), *letters.values()]
    names = {v: called.short for v, called in OnPaper(it, {}).called.items()} | letters
    try:
        read_back(text, it, names, basis, [paper.called[v].short for v in paper.weights])
    except UnreadError as error:
        raise UnprintableError(
            f"a proof that reads otherwise than it was meant: {error}",
            "a text that sympy finds to be what the certificate says",
            "report the certificate; driftproof check FILE says what it proves",
        ) from error


def with_proofs(row: Row) -> Row:
    """Return a row with the proofs on paper of those of its certificates that can be printed."""
    made = {}
    for name, text in row.proofs.items():
        with suppress(UnprintableError, UntranslatedError):
            made[name.replace(".json", ".tex")] = on_paper(text)
    return replace(row, on_paper=made)


def in_means(it: Statement) -> Statement:
    """Return a statement about two clients in means and half differences of their gradients.

    Squares then fall apart into those of means and those of differences
    (``written.in_means`` does the same of a worst case).
    """
    if len(it.triples) != 2:
        return it
    one, other = (list(points.values()) for points in it.triples.values())
    new: dict[str, Combination] = {}
    for t, u in zip(one, other, strict=False):
        lone = [*t.g, *u.g]
        ones = all(vanishes(c - 1) for c in [*t.g.values(), *u.g.values()])
        if len({*lone}) == len(lone) == 2 and ones and not {*lone} & {*new}:
            m, d = f"m_{len(new) // 2}", f"d_{len(new) // 2}"
            new |= {lone[0]: {m: ONE, d: ONE}, lone[1]: {m: ONE, d: -ONE}}
    own = [name for of in list(new.values())[::2] for name in of]
    if {*own} & {*it.vectors}:
        return it

    def put(of: Combination) -> Combination:
        made: Combination = {}
        for v, c in of.items():
            for w, x in new.get(v, {v: ONE}).items():
                made[w] = made.get(w, ZERO) + c * x
        return {w: c for w, c in made.items() if not vanishes(c)}

    def condition(of: Condition) -> Condition:
        return of._replace(products=[(c, put(u), put(v)) for c, u, v in of.products])

    made = copy(it)
    made.vectors = [*own, *(v for v in it.vectors if v not in new)]
    made.triples = {
        name: {at: t._replace(x=put(t.x), g=put(t.g)) for at, t in points.items()}
        for name, points in it.triples.items()
    }
    made.assumptions = {name: condition(of) for name, of in it.assumptions.items()}
    made.conclusion = condition(it.conclusion)
    return made
