"""The gallery: every experiment's figures with its sentences, written from finished runs.

``python -m driftproof.verifiers.gallery docs/gallery.md FOLDER …`` takes folders that ``driftproof
run`` has written and writes what stands between ``<!-- figure: NAME -->`` and ``<!-- end -->`` on
the page: setting, sentences with their verdicts, plots, and the command. An experiment that has no
mark gets one at the end. Between ``<!-- sentences -->`` and ``<!-- end -->`` stands one table of
all sections, a row a printed sentence. What stands outside the marks is written by hand. The plots
are copied beside the page, to ``figures/gallery/``; an older one that no section shows is removed.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.report.experiment import file_name

MARK = re.compile(r"<!-- figure: (\S+) -->\n(.*?)<!-- end -->", re.S)
LEAD = re.compile(r"<!-- sentences -->\n.*?<!-- end -->", re.S)
ROW = re.compile(
    r"^\| (?P<text>.+?) \| (?P<where>.+?) \| (?P<verdict>\**(?:not )?reproduced\**|undecided) "
    r"\| (?P<why>.*) \|$",
    re.M,
)
EFFECT = re.compile(r"mean difference ([+-][\d.e+-]+)(?: (\[[^]]+\]))?")
NUMBER = re.compile(r"[+-][\d.e+-]+")
MARGIN = re.compile(r", margin (-?)([\d.e+-]+)")
WOULD = re.compile(r"\(it would be (reproduced|not reproduced): ")
FATE = re.compile(r" \(diverged on [^)]*\)")
KINDS = (
    "not reproduced", "no difference shown", "neither shown", "trivial models", "not run",
    "reproduced",
)  # fmt: skip
"""What runs show of a comparison; of a sentence, the first that one of its comparisons shows."""
SHOWN = 4
"""Plots of an experiment that the page shows; the run's own page has all of them."""
SHAPES = {"reproduced": "**reproduced**", "not reproduced": "***not reproduced***"}


def runs_in(folders: Sequence[Path]) -> dict[str, tuple[Path, dict[str, Any]]]:
    """Return the runs in some folders, or in the folders inside them, by experiment.

    Raises:
        DriftproofError: a folder has no run, or two have the same experiment.
    """
    runs: dict[str, tuple[Path, dict[str, Any]]] = {}
    for folder in folders:
        files = sorted(folder.rglob("experiment.json"))
        if not files:
            raise DriftproofError(
                f"no experiment.json in {folder}", "a finished run", "driftproof run NAME --out DIR"
            )
        for file in files:
            head = json.loads(file.read_text(encoding="utf-8"))
            if head["experiment"] in runs:
                other = runs[head["experiment"]][0]
                raise DriftproofError(
                    f"{head['experiment']} in {other} and in {file.parent}",
                    "one run of each experiment",
                    "leave out one of them",
                )
            runs[head["experiment"]] = file.parent, head
    return runs


def block(head: Mapping[str, Any]) -> str:
    """Return what the page says of a run."""
    rows = [
        f"| {_cell(s['text'])} | {_cell(s['setting'])} | {SHAPES.get(s['verdict'], s['verdict'])} "
        f"| {_cell(_with_interval(s))} |"
        for s in head["sentences"]
    ]
    data = " --data DIR" if head["data"] else ""
    command = f"driftproof run {head['experiment']} --profile {head['profile']}{data}"
    machine = head["environment"]
    return "\n".join(
        [
            f"**{head['source']}.** “{head['statement']}”",
            "",
            *(f"- {line}" for line in head["setting"]),
            "",
            "| sentence | setting | verdict | why |",
            "|---|---|---|---|",
            *rows,
            "",
            *(
                f"![{panel['title']}](figures/gallery/{file_name(head, panel)}.svg)"
                for panel in head["panels"][:SHOWN]
            ),
            "",
            *(f"- {finding}" for finding in head["findings"]),
            "",
            f"`{command} --seed {head['seed']}`, {machine['workers']} "
            f"process{'es' * (machine['workers'] > 1)} ({machine['machine']}), {head['memory']}.",
        ]
    )


def written_into(text: str, runs: Mapping[str, tuple[Path, dict[str, Any]]]) -> str:
    """Return the page with the runs' sections made afresh."""
    marked = {name for name, _ in MARK.findall(text)}
    for name in sorted(set(runs) - marked):
        text = f"{text.rstrip()}\n\n## {name}\n\n<!-- figure: {name} -->\n<!-- end -->\n"

    def made(mark: re.Match[str]) -> str:
        if mark[1] not in runs:
            return mark[0]
        return f"<!-- figure: {mark[1]} -->\n{block(runs[mark[1]][1])}\n<!-- end -->"

    return LEAD.sub(lambda mark: lead(MARK.sub(made, text)), MARK.sub(made, text))


def _with_interval(sentence: Mapping[str, Any]) -> str:
    """Return why, with the confidence interval behind the mean difference."""
    why, low, high = (sentence.get(key) for key in ("why", "low", "high"))
    if low is None or high is None:
        return str(why)
    return EFFECT.sub(lambda found: f"{found[0]} [{low:+.4g}, {high:+.4g}]", str(why), count=1)


def at_hand(row: Mapping[str, str]) -> str:
    """Return what the runs show of a comparison, one of KINDS.

    Of an undecided one that is what it would be if it were neither too small nor too early.

    >>> at_hand({"verdict": "undecided", "why": "size: 8 of 32 (it would be reproduced: …)"})
    'reproduced'
    """
    verdict, would = row["verdict"].strip("*"), WOULD.search(row["why"])
    if verdict != "undecided":
        return verdict
    if "trivial: " in row["why"]:
        return "trivial models"
    if would:
        return would[1]
    if not EFFECT.search(row["why"]):
        return "not run"
    return "neither shown" if MARGIN.search(row["why"]) else "no difference shown"


def lead(page: str) -> str:
    """Return the table that leads the page: a row a printed sentence, of all sections.

    A sentence is reproduced if each of its comparisons is, not reproduced if one is not. Beside
    that stands what the runs at hand show, whatever their size (``at_hand``), and the effect in the
    comparison that is nearest to another answer, or that gave this one. Counts come first.
    """
    rows, counts = [], Counter[str]()
    for name, section in MARK.findall(page):
        sentences: dict[str, list[re.Match[str]]] = {}
        for row in ROW.finditer(section):
            sentences.setdefault(row["text"], []).append(row)
        for text, own in sentences.items():
            verdicts = [row["verdict"].strip("*") for row in own]
            verdict = next(
                k for k in ("not reproduced", "undecided", "reproduced") if k in verdicts
            )
            kinds = [at_hand(row.groupdict()) for row in own]
            kind = min(kinds, key=KINDS.index)
            told = [
                _effect(row)
                for row, its in zip(own, kinds, strict=True)
                if its == kind and EFFECT.search(row["why"])
            ]
            most = max if kind == "not reproduced" else min
            effect = most(told, key=lambda one: one[0])[1] if told else "–"
            counts.update([verdict, *([f"{verdict}: {kind}"] if verdict == "undecided" else [])])
            said = kind if kind == "not run" else f"{kind}, {kinds.count(kind)} of {len(kinds)}"
            link = f"[{name}](#{name.replace('/', '')})"
            rows.append(f"| {link} | {text} | {SHAPES.get(verdict, verdict)} | {said} | {effect} |")
    verdicts = [f"{counts[k]} {k}" for k in ("reproduced", "not reproduced", "undecided")]
    open_ones = [f"{counts[f'undecided: {k}']} {k}" for k in KINDS if counts[f"undecided: {k}"]]
    return "\n".join([
        "<!-- sentences -->",
        f"**{len(rows)} sentences: {', '.join(verdicts)}.** What the runs at hand show of the "
        f"undecided ones: {', '.join(open_ones)}.",
        "",
        "| experiment | sentence | verdict | the run shows | effect [95 % interval] |",
        "|---|---|---|---|---|",
        *rows,
        "<!-- end -->",
    ])  # fmt: skip


def _effect(row: re.Match[str]) -> tuple[float, str]:
    """Return how far an effect is from the least that its test asks for, and a cell about it."""
    effect, margin = EFFECT.search(row["why"]), MARGIN.search(row["why"])
    assert effect is not None
    asked = f" ({'has to exceed' if margin[1] else 'margin'} {margin[2]})" if margin else ""
    far = abs(float(effect[1]) + (float(margin[1] + margin[2]) if margin else 0.0))
    where = FATE.sub(" (diverged)", row["where"])
    numbers = NUMBER.sub(
        lambda n: f"{float(n[0]):+.2g}", f"{effect[1]} {effect[2] or '(no interval)'}"
    )
    return far, f"{numbers}{asked}: {where}"


def copied(page: Path, runs: Mapping[str, tuple[Path, dict[str, Any]]]) -> None:
    """Copy the plots that the page shows, and remove those that it does not."""
    folder = page.parent / "figures" / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    for run, head in runs.values():
        for panel in head["panels"][:SHOWN]:
            name = f"{file_name(head, panel)}.svg"
            shutil.copyfile(run / "plots" / name, folder / name)
    text = page.read_text(encoding="utf-8")
    for plot in folder.glob("*.svg"):
        if f"figures/gallery/{plot.name})" not in text:
            plot.unlink()


def _cell(text: str) -> str:
    """Return a text as a cell of a table."""
    return text.replace("|", "\\|").replace("\n", " ")


def main(arguments: Sequence[str]) -> int:
    """Write the page named first from the runs in the folders named after it."""
    page, *folders = map(Path, arguments)
    runs = runs_in(folders)
    text = "# Gallery\n\n<!-- sentences -->\n<!-- end -->\n"
    text = page.read_text(encoding="utf-8") if page.exists() else text
    page.write_text(written_into(text, runs), encoding="utf-8")
    copied(page, runs)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
