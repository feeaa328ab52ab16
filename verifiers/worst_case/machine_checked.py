"""Certificates and counterexamples as theorems that Coq accepts: one, or all those of some rows."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from driftproof.toolkit.verdict import Row
from driftproof.verifiers.worst_case import check, check_counterexample, coqc
from driftproof.verifiers.worst_case.coq_file import AtNumbers
from driftproof.verifiers.worst_case.coq_region import OverRegion
from driftproof.verifiers.worst_case.coq_region_proof import InRegion
from driftproof.verifiers.worst_case.coq_text import UntranslatedError, Written
from driftproof.verifiers.worst_case.refutation import refuted
from driftproof.verifiers.worst_case.theorem import Theorem


def written(text: str) -> Written:
    """Return the Coq file of a certificate, or of a counterexample (``coq``, ``refuted``)."""
    return (refuted if f'"{check_counterexample.COUNTEREXAMPLE}"' in text else coq)(text)


def coq(certificate: str) -> Written:
    """Return a Coq file whose last theorem is what a certificate proves.

    Raises:
        UntranslatedError: it is of a kind that is not translated.
        RefusedCertificateError: it does not prove what it says.
        ArithmeticError, LookupError, SyntaxError, TypeError, ValueError: it is no certificate.
    """
    about, *given, conclusion = check.check(certificate).said
    file = theorem_of(json.loads(certificate))
    points = "points that obey the equations of the theorem"
    if file.algorithm:
        points = f"iterates of {file.algorithm} of algorithms.v"
    theorem = tuple(file.statements()[-1][:-1])
    if theorem[0].startswith("Theorem every_round"):
        points += ", and what follows after every number of rounds"
    said = (
        about,
        "for every real inner product space, all functions of the classes and all starts, "
        f"at {points}: if",
        *(f"  {line}" for line in given),
        f"then {conclusion}",
    )
    made = file.text(said)
    return Written(made, about, theorem, conclusion, points, file.instead)


def theorem_of(file: dict[str, Any]) -> AtNumbers | InRegion:
    """Return what writes the theorem of a certificate, which may be wrong."""
    one = one_space(file)
    return InRegion(OverRegion(one)) if "region" in one else AtNumbers(Theorem(one))


def one_space(file: dict[str, Any]) -> dict[str, Any]:
    """Return a certificate of pairs (x, y) that treats x and y alike as one of single vectors."""
    if not isinstance(file["vectors"], dict):
        return file
    refused = UntranslatedError(
        "two spaces that are not treated alike", "one space, or the same steps in x and in y"
    )
    spaces = list(file["vectors"].values())
    if len(spaces) != 2 or len(spaces[0]) != len(spaces[1]):
        raise refused
    other = dict(zip(spaces[1], spaces[0], strict=True))

    def one(of: Mapping[str, str]) -> dict[str, str]:
        x = {n: c for n, c in of.items() if n not in other}
        if x != {other[n]: c for n, c in of.items() if n in other}:
            raise refused
        return x

    def alone(of: dict[str, Any]) -> dict[str, Any]:
        xs = [p for p in of["products"] if not {*p[1], *p[2]} & set(other)]
        ys = [p for p in of["products"] if p not in xs]
        renamed = [[c, *({other.get(n, ""): a for n, a in u.items()} for u in uv)] for c, *uv in ys]
        if xs != renamed:
            raise refused
        return {**of, "products": xs}

    functions = {
        name: {
            **f,
            "points": {
                at: {**t, "x": one(t["x"]), "g": one(t["g"])} for at, t in f["points"].items()
            },
        }
        for name, f in file["functions"].items()
    }
    return {
        **file,
        "vectors": spaces[0],
        "functions": functions,
        "assumptions": {name: alone(of) for name, of in file["assumptions"].items()},
        "conclusion": alone(file["conclusion"]),
    }


def file_name(stem: str) -> str:
    """Return the name of a Coq file.

    >>> file_name("1 run")
    '_1_run.v'
    """
    name = re.sub(r"\W", "_", stem, flags=re.ASCII)  # what Coq takes
    return f"{'_' * name[:1].isdigit()}{name}.v"


def machine_checked(
    rows: Sequence[Row], workers: int, told: Callable[[str], None] = lambda text: None
) -> list[Row]:
    """Return rows with the theorems of their certificates, of those of which Coq accepts each.

    Args:
        workers: how many files Coq checks at a time.
        told: is called with what is not machine-checked, and why.

    Raises:
        MissingError: coqc is not on the path.
    """
    coqc.compiled()

    def checked(row: Row) -> Row:
        theorems = {}
        for name, text in row.proofs.items():
            try:
                made = written(text).text
                coqc.prove(made)
            except UntranslatedError as error:
                told(f"not machine-checked: {name}, of {error.got}")
                return row
            except coqc.RefusedTheoremError as error:
                told(f"not machine-checked: {name}, which Coq refuses: {error}")
                return row
            theorems[file_name(name.removesuffix(".json"))] = made
        return replace(row, theorems=theorems, coq=coqc.version() if theorems else "")

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(checked, rows))
