"""Counterexamples as scripts: small programs, of numpy alone, that recompute a refutation.

``papers/<paper>/counterexamples/<claim>.py`` belongs to the claim ``paper/claim``, with ``_`` for
every character of its name other than letters and digits; ``<claim>_2.py``, ``<claim>_3.py``, …
are further scripts of it.
Each is written from the paper, imports nothing of driftproof, and prints a line for each form that
it refutes::

    REFUTED <form>: left = 0.25 > right = 0.05

The form is written out in the script as the record has it, so that ``refutes`` need not run it.
The scripts are data, not modules.
"""

from __future__ import annotations

import re
from pathlib import Path

from driftproof.verifiers import record


def refuted(claim: str) -> list[str]:
    """Return the printed forms of a claim that are on record as REFUTED."""
    recorded = record.refuted_on_record()
    return [form for of, form in recorded if of == claim and form.startswith("printed")]


def folder(paper: str) -> Path:
    """Return the folder of a paper's scripts."""
    return record.folder() / paper / "counterexamples"


def scripts(claim: str) -> list[Path]:
    """Return the scripts of a claim, in the order of their numbers."""
    paper = claim.partition("/")[0]
    # lemma-4.2 is no second script of lemma-4
    others = {_stem(other) for other in record.read() if other.startswith(f"{paper}/")}
    paths, number = [folder(paper) / f"{_stem(claim)}.py"], 2
    while (path := paths[0].with_stem(f"{_stem(claim)}_{number}")).exists():
        if path.stem in others:
            break
        paths.append(path)
        number += 1
    return paths if paths[0].exists() else []


def refutes(script: Path, claim: str) -> list[str]:
    """Return the forms of its claim that a script refutes: those that it writes out."""
    text, written = script.read_text(encoding="utf-8"), set()
    for form in sorted(refuted(claim), key=len, reverse=True):  # one may begin like another
        if form in text:
            written.add(form)
            text = text.replace(form, "")
    return [form for form in refuted(claim) if form in written]


def _stem(claim: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "_", claim.partition("/")[2])
