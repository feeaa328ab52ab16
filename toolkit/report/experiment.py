"""The page and the plots of an experiment."""

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from driftproof.toolkit.report.files import write_all
from driftproof.toolkit.report.page import document
from driftproof.toolkit.report.panels import colours_of, draw, drawn_panels


def write_experiment(out: Path, head: Mapping[str, Any]) -> None:
    """Write ``experiment.json``, ``index.html`` and ``plots/`` to a folder."""
    texts = {
        "experiment.json": json.dumps(head, indent=1, ensure_ascii=False, allow_nan=False),
        "index.html": document(
            "experiment.html.j2",
            head=head,
            panels=drawn_panels(head["panels"], partial(file_name, head)),
        ),
    }

    colours = colours_of(head["panels"])

    def plots(folder: Path) -> None:
        for panel in head["panels"]:
            draw(panel, file_name(head, panel), folder, colours)

    write_all(out, texts, plots)


def file_name(head: Mapping[str, Any], panel: Mapping[str, Any]) -> str:
    """Return a panel's file name without ending."""
    return f"{head['experiment']}-{panel['name']}".replace("/", "-")
