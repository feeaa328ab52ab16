"""The table of ``docs/literature.md``: what is published of each statement, and what we say of it.

It is made of the verdicts on record, of the claims' docstrings, which have lines ``Text:`` and
``Truth:``, and of what ``driftproof falsify`` found, 30 seconds each (``measured.json``). Cases
that a file calls ``KNOWN`` are the published counterexample: a verdict without them rests on
natural cases.
"""

import importlib
import json
import re
import time
from pathlib import Path
from typing import Any

from driftproof.toolkit.discover import Leaf, leaves
from driftproof.toolkit.verdict import Verdict, together
from driftproof.verifiers import baseline
from driftproof.verifiers.in_print.citations import PUBLISHED
from driftproof.verifiers.verify import Settings, judge

FILE = baseline.folder() / PUBLISHED / "measured.json"


def statements() -> dict[str, Leaf]:
    """Return the statements of the literature, by name."""
    return {name: leaf for name, leaf in leaves("claim").items() if name.startswith(PUBLISHED)}


def table() -> list[dict[str, Any]]:
    """Return a row for each statement."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    return [row(leaf) | found[name] for name, leaf in statements().items()]


def row(leaf: Leaf) -> dict[str, Any]:
    """Return what a statement's docstring says, and the verdicts on record on its print."""
    about = leaf.about
    text, truth = (re.findall(rf"^{what}: (.*)$", about, re.M)[0] for what in ("Text", "Truth"))
    address = re.search(r"https://\S+", text)
    known = {case.key for case in getattr(importlib.import_module(leaf.module or ""), "KNOWN", ())}
    cases = baseline.read()[leaf.name]["printed"]
    natural = [Verdict(verdict) for key, verdict in cases.items() if key not in known]
    return {
        "name": leaf.name.removeprefix(PUBLISHED),
        "source": leaf.metadata["source"],
        "address": address[0] if address else "",
        "at_hand": not text.startswith("not at hand"),
        "truth": truth,
        "false": truth.startswith("false"),
        "natural": together(natural),
        "informed": together(map(Verdict, cases.values())),
        "lines": leaf.lines,
    }


def measure(search: Path) -> None:
    """Time every verdict, read what ``driftproof falsify`` found, and write the file."""
    found = {one["claim"]: one["status"] for one in json.loads(search.read_text())["findings"]}
    made = {}
    for name, leaf in statements().items():
        started = time.process_time()
        judge([leaf.load()], Settings())
        seconds = round(time.process_time() - started, 2)
        made[name] = {"seconds": seconds, "falsify": found[name]}
    FILE.write_text(json.dumps(made, indent=1, sort_keys=True) + "\n", encoding="utf-8")
