"""The notebooks of the documentation run, write nothing, and show what their text says."""

import json
import os
import re
import sys
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="an extra: driftproof[docs]")
nbclient = pytest.importorskip("nbclient", reason="an extra: driftproof[docs]")
pytest.importorskip("ipykernel", reason="an extra: driftproof[docs]")

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def kernel_of_this_python(folder: Path, monkeypatch) -> str:
    """Write a kernel that is this interpreter and this checkout; all its files go to a folder."""
    spec = folder / "kernels" / "this" / "kernel.json"
    spec.parent.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    spec.write_text(
        json.dumps(
            {
                "argv": command,
                "display_name": "this",
                "language": "python",
                "env": {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
            }
        )
    )
    monkeypatch.setenv("JUPYTER_PATH", str(folder))
    for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR"):
        (folder / name).mkdir()
        monkeypatch.setenv(name, str(folder / name))
    return spec.parent.name


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def executed(request, tmp_path, monkeypatch):
    """Execute a notebook: its name, and each cell's source with what the cell showed."""
    name = kernel_of_this_python(tmp_path / "jupyter", monkeypatch)
    here = tmp_path / "here"
    here.mkdir()
    notebook = nbformat.read(request.param, as_version=4)
    client = nbclient.NotebookClient(
        notebook, kernel_name=name, timeout=600, resources={"metadata": {"path": str(here)}}
    )
    client.execute()  # raises if a cell does
    assert list(here.iterdir()) == []
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return request.param.stem, {cell.source: shown(cell) for cell in cells}


def shown(cell) -> dict[str, str]:
    """Return what a cell showed: type → text, with printed lines among the plain text."""
    made: dict[str, str] = {}
    for output in cell.outputs:
        is_stream = output.output_type == "stream"
        data = {"text/plain": output.text} if is_stream else output.data
        for kind, text in data.items():
            made[kind] = made.get(kind, "") + text
    return made


def after(cells, line: str) -> dict[str, str]:
    """Return what the one cell showed that has a line in it."""
    (found,) = (made for source, made in cells.items() if line in source)
    return found


def test_what_the_text_says_is_shown(executed):
    name, cells = executed
    {"a_theorem_of_your_own": of_a_theorem, "what_drift_looks_like": of_drift}[name](cells)


def of_a_theorem(cells):
    first = after(cells, "made = verify(drift)")
    assert "REFUTED   enclosed   16      5\n" in first["text/plain"]
    assert '<span class="driftproof-badge REFUTED">REFUTED</span>' in first["text/html"]
    assert first["text/html"].count("<math") == 1
    assert first["text/html"].count("<img") == 3  # both sides; a refutation; a case that holds
    simplest = after(cells, "made.counterexample()")["text/plain"]
    assert simplest == "BoundedComposition(clients=1), ComFedL(local_steps=2), rounds=1\n"
    lines = after(cells, "made.frame()")["text/plain"].splitlines()[2:]
    ratios = {words[0]: words[1:] for words in map(str.split, lines)}
    assert ratios == {"1": ["SUPPORTED", "8", "1.0", "1.0"], "5": ["REFUTED", "8", "5.0", "5.0"]}
    mended = after(cells, "mended = verify(corrected)")
    assert re.search("SUPPORTED +exact +16 +1 +attained", mended["text/plain"])
    assert ">REFUTED</span>" not in mended["text/html"]
    assert after(cells, "wider = ")["text/plain"] == "SUPPORTED on 24 cases\n"


def of_drift(cells):
    assert "<img" in after(cells, "def fedavg(")["text/html"]
    assert "image/png" in after(cells, "axes.legend()")
    printed = after(cells, "in ends.items():")["text/plain"]
    ends = {
        (float(apart), int(steps)): float(end)
        for apart, steps, end in re.findall(r"apart (\S+), +(\d+) local steps: (\S+)", printed)
    }
    assert ends.keys() == {(apart, steps) for apart in (0.0, 2.0) for steps in (1, 4, 16)}
    noise = max(ends[0.0, steps] for steps in (1, 4, 16))
    assert ends[2.0, 1] <= noise  # one local step has no bias
    assert ends[2.0, 4] > 5 * noise
    assert ends[2.0, 16] > 5 * ends[2.0, 4]
    bias = after(cells, 'verify("localsgd/bias"')["text/plain"]
    assert re.search("SUPPORTED +theorem,( class)? +7 +1 +attained", bias)  # the table is narrow
    assert "attained" in after(cells, '"comfedl/lemma-2"')["text/plain"]
    tightest = after(cells, "ratio.max()")["text/plain"]
    assert re.findall(r"(\d+) +(\d\.\d+)$", tightest, re.M) == [("1", "1.0"), ("5", "1.0")] * 2


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_was_shown_is_not_kept(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        assert cell.cell_type == "markdown" or (cell.outputs, cell.execution_count) == ([], None)


def test_there_are_two():
    assert len(NOTEBOOKS) == 2
