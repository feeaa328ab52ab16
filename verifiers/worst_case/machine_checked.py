"""Certificates and counterexamples as theorems that Coq accepts: one, or all those of some rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from driftproof.toolkit.verdict import Row
from driftproof.verifiers.worst_case import check_counterexample, coqc
from driftproof.verifiers.worst_case.coq_file import Written, coq
from driftproof.verifiers.worst_case.refutation import refuted
from driftproof.verifiers.worst_case.theorem import UntranslatedError


def written(text: str) -> Written:
    """Return the Coq file of a certificate, or of a counterexample (``coq``, ``refuted``)."""
    return (refuted if f'"{check_counterexample.SCHEMA}"' in text else coq)(text)


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
