"""``python -m docs.generate``: write what stands between marks of pages, and errata as data.

All pages are written, or those that are named. ``--tex FOLDER`` writes the notes on errata as LaTeX
too. ``--runs FOLDER …`` takes runs of experiments, as ``driftproof run`` has written them, into the
gallery, with their plots. ``--falsified search.json`` takes what ``driftproof falsify
'literature/*' --no-controls`` found, and times each verdict, for the table of the literature.
"""

import argparse
import json
from pathlib import Path

from docs.generate import literature, runs
from docs.generate.pages import DOCS, PAGES, written
from docs.generate.tex import tex
from driftproof.verifiers import baseline
from driftproof.verifiers.in_print import errata

parser = argparse.ArgumentParser(prog="python -m docs.generate", description=__doc__)
parser.add_argument("pages", type=Path, nargs="*", default=PAGES)
parser.add_argument("--tex", type=Path)
parser.add_argument("--runs", type=Path, nargs="+", default=[])
parser.add_argument("--falsified", type=Path)
given = parser.parse_args()
if given.falsified:
    literature.measure(given.falsified)
made = runs.runs_in(given.runs)
for page in given.pages:
    text = written(page.read_text(encoding="utf-8"), made if page.stem == "gallery" else {})
    page.write_text(text, encoding="utf-8")
    if given.tex and page.parent.name == "errata":
        given.tex.mkdir(parents=True, exist_ok=True)
        (given.tex / f"{page.stem}.tex").write_text(tex(text), encoding="utf-8")
if made:
    runs.copy_plots(DOCS / "gallery.md", made)
entries = json.dumps(errata.errata(), indent=1, ensure_ascii=False)
(baseline.folder() / baseline.ERRATA).write_text(entries + "\n", encoding="utf-8")
