r"""The table of ``docs/literature.md``: what is published of each statement, and what we say of it.

``python -m driftproof.verifiers.measured report-search/search.json`` writes what ``driftproof
falsify 'literature/*' --no-controls`` found, 30 seconds each, and the time of each verdict, into
``papers/literature/measured.json``.
``python -m driftproof.verifiers.pages docs/literature.md`` makes the table of it, of the verdicts
on record and of the claims' docstrings, which have lines ``Text:`` and ``Truth:``. Cases that a
file calls ``KNOWN`` are the published counterexample: a verdict without them rests on natural
cases.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from driftproof.toolkit.discover import Leaf, leaves
from driftproof.toolkit.verdict import Verdict, together
from driftproof.verifiers import record
from driftproof.verifiers.errata import PUBLISHED
from driftproof.verifiers.verify import Settings, judge

FILE = record.folder() / PUBLISHED / "measured.json"
HEAD = """\
| statement | source | published truth | `verify`, natural cases | with the known instance \
| `falsify` | s | lines |
|---|---|---|---|---|---|---|---|"""
NOTHING, FOUND = "not searched", ("verified", "confirmed")


def statements() -> dict[str, Leaf]:
    """Return the statements of the literature, by name."""
    return {name: leaf for name, leaf in leaves("claim").items() if name.startswith(PUBLISHED)}


def read(leaf: Leaf) -> tuple[str, str]:
    """Return the text that a statement was read in, and what is published of it."""
    (text,), (truth,) = (
        re.findall(rf"^{what}: (.*)$", leaf.about, re.M) for what in ("Text", "Truth")
    )
    return text, truth


def measured_block(_: str) -> str:
    """Return the table, and recall and precision below it."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    rows, said = [], []
    for name, leaf in statements().items():
        text, truth = read(leaf)
        natural, all_of = (verdict(leaf, known=known) for known in (False, True))
        one = found[name]
        short = name.removeprefix(PUBLISHED)
        said.append((truth.startswith("false"), natural, all_of, one["falsify"]))
        source = linked(str(leaf.metadata["source"]), text)
        known = all_of if all_of is not natural else "–"
        rows.append(
            f"| `{short}` | {source} "
            f"| {truth} | {natural} | {known} | {one['falsify']} | {one['seconds']:.1f} "
            f"| {leaf.lines} |"
        )
    false = [one for one in said if one[0]]
    true = [one for one in said if not one[0]]
    searched = [one for one in false if one[3] != NOTHING]
    refuted, proved = count(false, 2), count(true, 2, Verdict.SUPPORTED)
    recall, informed = count(false, 1) / len(false), refuted / len(false)
    precision = refuted / (refuted + count(true, 2))
    hits, wrong = (sum(one[3] in FOUND for one in of) for of in (searched, true))
    summary = (
        f"**{len(false)} are false, {len(true)} true.** Of the false ones `verify` refutes "
        f"{count(false, 1)} on natural cases and whole classes, and {refuted} with the known "
        f"instances: a recall of {recall:.0%} and {informed:.0%}. Of the true ones it refutes "
        f"{count(true, 2)}, a precision of {precision:.0%}, and supports {proved}. `falsify` finds "
        f"a violation of {hits} of the {len(searched)} false ones that have cases, and of {wrong} "
        "true ones; a whole class leaves it nothing to search."
    )
    return "\n".join([HEAD, *rows, "", summary])


def count(said: list[tuple[Any, ...]], place: int, verdict: Verdict = Verdict.REFUTED) -> int:
    """Return how many have a verdict."""
    return sum(one[place] is verdict for one in said)


def linked(source: str, text: str) -> str:
    """Return a source with a link to the text, where it was at hand."""
    address = re.search(r"https://\S+", text)
    shown = f"[{source}]({address[0]})" if address else source
    return f"{shown} (not at hand)" if text.startswith("not at hand") else shown


def verdict(leaf: Leaf, *, known: bool) -> Verdict:
    """Return the verdict on record on the print, with or without the known instance."""
    module = importlib.import_module(leaf.module or "")
    left_out = () if known else {case.key for case in getattr(module, "KNOWN", ())}
    cases: Mapping[str, str] = record.read()[leaf.name]["printed"]
    return together(Verdict(one) for key, one in cases.items() if key not in left_out)


def measure(search: Path) -> None:
    """Time every verdict, read what ``driftproof falsify`` found, and write the file."""
    found = {one["claim"]: one["status"] for one in json.loads(search.read_text())["findings"]}
    made = {}
    for name, leaf in statements().items():
        started = time.process_time()
        judge([leaf.load()], Settings())
        seconds = round(time.process_time() - started, 2)
        made[name] = {"seconds": seconds, "falsify": found[name]}
    text = json.dumps(made, indent=1, sort_keys=True)
    FILE.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    measure(Path(sys.argv[1]))
