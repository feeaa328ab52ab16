"""Counterexamples as scripts: small programs, of numpy alone, that recompute a refutation.

``papers/<paper>/counterexamples/<claim>.py`` belongs to the claim ``paper/claim``, with ``_`` for
every character of its name other than letters and digits; ``<claim>_2.py``, ``<claim>_3.py``, …
are further scripts of it. One instance that refutes several claims is one script, with a part for
each, which begins with a line ``# -- claim``; all else is common to them.
Each is written from the paper, imports nothing of driftproof, and prints a line for each form that
it refutes::

    REFUTED <form>: left = 0.25 > right = 0.05

(a script of several claims writes ``<claim>, <form>``). The form is written out in the script as
the record has it, so that ``refutes`` need not run it. The scripts are data, not modules.
"""

from __future__ import annotations

import re
from pathlib import Path

from driftproof.verifiers import baseline

REFUTED = re.compile(r"^REFUTED (?:(\S+), )?(printed.*?): left = (\S+) (>|!=) right = (\S+)$", re.M)
"""A line that a script prints: of which claim, if it is of several, its form, and both sides."""


def refuted(claim: str) -> list[str]:
    """Return the printed forms of a claim that are on record as REFUTED."""
    recorded = baseline.refuted_on_record()
    return [form for of, form in recorded if of == claim and form.startswith("printed")]


def folder(paper: str) -> Path:
    """Return the folder of a paper's scripts."""
    return baseline.folder() / paper / "counterexamples"


def scripts(claim: str) -> list[Path]:
    """Return the scripts of a claim: those of its name by their numbers, then those with others."""
    paper, _, name = claim.partition("/")
    # lemma-4.2 is no second script of lemma-4
    others = {_stem(other) for other in baseline.read() if other.startswith(f"{paper}/")}
    paths, number = [folder(paper) / f"{_stem(claim)}.py"], 2
    while (path := paths[0].with_stem(f"{_stem(claim)}_{number}")).exists():
        if path.stem in others:
            break
        paths.append(path)
        number += 1
    own = paths if paths[0].exists() else []
    every = sorted(folder(paper).glob("*.py"))
    return [*own, *(path for path in every if path not in own and name in parts(path))]


def parts(script: Path) -> dict[str, str]:
    """Return the part of a script for each claim, by name; nothing if it is of one claim alone."""
    _, *marked = re.split(r"^# -- (\S+)\n", script.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(marked[::2], marked[1::2], strict=True))


def part(script: Path, claim: str) -> str:
    """Return what a script has for a claim: all of it, if it is of that claim alone."""
    several = parts(script)
    return several[claim.partition("/")[2]] if several else script.read_text(encoding="utf-8")


def printed(output: str, claim: str) -> list[tuple[str, str, str, str]]:
    """Return what a script printed of a claim: form, left side, > or !=, right side."""
    name = claim.partition("/")[2]
    return [line for of, *line in REFUTED.findall(output) if of in ("", name)]


def refutes(script: Path, claim: str) -> list[str]:
    """Return the forms of its claim that a script refutes: those that it writes out."""
    text, written = part(script, claim), set()
    for form in sorted(refuted(claim), key=len, reverse=True):  # one may begin like another
        if form in text:
            written.add(form)
            text = text.replace(form, "")
    return [form for form in refuted(claim) if form in written]


def _stem(claim: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "_", claim.partition("/")[2])
