"""The gallery: finished runs of experiments, and one table of their sentences.

The table is made of the page's own sections, since no run is kept.
"""

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.report.experiment import file_name

ROW = re.compile(
    r"^\| (?P<text>.+?) \| (?P<where>.+?) \| \**(?P<verdict>(?:not )?reproduced|undecided)\** "
    r"\| (?P<why>.*) \|$",
    re.M,
)
EFFECT = re.compile(
    r"mean difference (?P<mean>[+-][\d.e+-]+)(?: (?P<interval>\[[^]]+\]))?"
    r"(?:.*?, margin (?P<sign>-?)(?P<margin>[\d.e+-]+))?"
)
NUMBER = re.compile(r"[+-][\d.e+-]+")
FATE = re.compile(r" \(diverged on [^)]*\)")
VERDICTS = ("not reproduced", "undecided", "reproduced")
"""Of its comparisons a sentence has the first of these that one of them has."""
KINDS = (
    "not reproduced",
    "no difference shown",
    "neither shown",
    "trivial models",
    "not run",
    "reproduced",
)
"""What runs show of a comparison; of a sentence, the first that one of its comparisons shows."""
SHOWN = 4
"""Plots of an experiment that the page shows; the run's own page has all of them."""


Head = dict[str, Any]
"""What ``experiment.json`` holds of a run, and its folder."""


def runs_in(folders: Sequence[Path]) -> dict[str, Head]:
    """Return the runs in some folders, or in the folders inside them, by experiment.

    Raises:
        DriftproofError: a folder has no run, or two have the same experiment.
    """
    runs: dict[str, Head] = {}
    for folder in folders:
        files = sorted(folder.rglob("experiment.json"))
        if not files:
            raise DriftproofError(
                f"no experiment.json in {folder}", "a finished run", "driftproof run NAME --out DIR"
            )
        for file in files:
            head = json.loads(file.read_text(encoding="utf-8"))
            name = head["experiment"]
            if name in runs:
                raise DriftproofError(
                    f"{name} in {runs[name]['folder']} and in {file.parent}",
                    "one run of each experiment",
                    "leave out one of them",
                )
            runs[name] = head | {"folder": file.parent}
    return runs


def plots(head: Head) -> dict[str, str]:
    """Return the plots that the page shows: their files with their titles."""
    return {f"{file_name(head, panel)}.svg": panel["title"] for panel in head["panels"][:SHOWN]}


def copy_plots(page: Path, runs: Mapping[str, Head]) -> None:
    """Copy the plots of runs that the page shows, and remove those that it does not."""
    folder = page.parent / "figures" / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    for head in runs.values():
        for name in plots(head):
            shutil.copyfile(head["folder"] / "plots" / name, folder / name)
    text = page.read_text(encoding="utf-8")
    for plot in folder.glob("*.svg"):
        if f"figures/gallery/{plot.name})" not in text:
            plot.unlink()


def at_hand(row: re.Match[str]) -> str:
    """Return what the runs show of a comparison, one of KINDS.

    Of an undecided one that is what it would be if it were neither too small nor too early.

    >>> at_hand(ROW.match("| x | y | undecided | size: 8 of 32 (it would be reproduced: …) |"))
    'reproduced'
    """
    if row["verdict"] != "undecided":
        return row["verdict"]
    if "trivial: " in row["why"]:
        return "trivial models"
    if would := re.search(r"\(it would be (reproduced|not reproduced): ", row["why"]):
        return would[1]
    effect = EFFECT.search(row["why"])
    if effect is None:
        return "not run"
    return "neither shown" if effect["margin"] else "no difference shown"


def summary(sections: Mapping[str, str]) -> dict[str, Any]:
    """Return a row for each printed sentence, and counts of verdicts and of what is undecided.

    Beside a sentence's verdict stands what the runs at hand show, whatever their size
    (``at_hand``), and the effect in the comparison that is nearest to another answer, or that gave
    this one.

    Args:
        sections: what the page says of each experiment.
    """
    rows = []
    for name, section in sections.items():
        found = [row.groupdict() | {"kind": at_hand(row)} for row in ROW.finditer(section)]
        for text in dict.fromkeys(row["text"] for row in found):
            own = [row for row in found if row["text"] == text]
            kind = min((row["kind"] for row in own), key=KINDS.index)
            shown = [row for row in own if row["kind"] == kind]
            effects = [of for row in shown for of in _effect(row)]
            most = max if kind == "not reproduced" else min
            rows.append(
                {
                    "experiment": name,
                    "text": text,
                    "verdict": min((row["verdict"] for row in own), key=VERDICTS.index),
                    "kind": kind,
                    "count": f"{len(shown)} of {len(own)}",
                    "effect": most(effects, key=lambda one: one[0], default=(0.0, "–"))[1],
                }
            )
    undecided = Counter(row["kind"] for row in rows if row["verdict"] == "undecided")
    return {
        "rows": rows,
        "verdicts": Counter(row["verdict"] for row in rows),
        "undecided": {kind: undecided[kind] for kind in KINDS if undecided[kind]},
    }


def _effect(row: Mapping[str, str]) -> Iterator[tuple[float, str]]:
    """Yield how far an effect is from the least that its test asks for, and a cell about it."""
    if effect := EFFECT.search(row["why"]):
        mean, sign, margin = effect["mean"], effect["sign"], effect["margin"]
        far = abs(float(mean) + float(f"{sign}{margin}" if margin else 0))
        asked = f" ({'has to exceed' if sign else 'margin'} {margin})" if margin else ""
        numbers = f"{mean} {effect['interval'] or '(no interval)'}"
        short = NUMBER.sub(lambda number: f"{float(number[0]):+.2g}", numbers)
        yield far, f"{short}{asked}: {FATE.sub(' (diverged)', row['where'])}"
