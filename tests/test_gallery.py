"""The gallery is written from finished runs, and keeps what is written by hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError
from driftproof.verifiers.gallery import MARK, main, runs_in
from tests.commands import driftproof
from tests.once import once

ROOT = Path(__file__).parents[1]
GALLERY = ROOT / "docs" / "gallery.md"


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """Return the folder of a run."""

    def make(folder):
        words = ("--profile", "smoke", "--workers", "1", "--out", str(folder))
        assert driftproof("run", "worked-example/local-steps", *words).returncode == 0

    return once(tmp_path_factory, "gallery", make)


def test_every_experiment_is_in_the_gallery_with_its_plots():
    text = GALLERY.read_text(encoding="utf-8")
    sections = dict(MARK.findall(text))
    known = {name for name in leaves("experiment") if not name.startswith("worked-example/")}
    assert set(sections) == known
    for name, section in sections.items():
        assert f"driftproof run {name}" in section
        plots = re.findall(r"!\[[^]]*\]\(([^)]*)\)", section)
        assert plots, name
        for plot in plots:
            assert (GALLERY.parent / plot).is_file()


def test_a_section_is_made_anew_and_the_rest_kept(tmp_path, smoke):
    run = smoke
    page = tmp_path / "gallery.md"
    page.write_text("# Mine\n\nBy hand.\n", encoding="utf-8")
    (tmp_path / "figures" / "gallery").mkdir(parents=True)
    (tmp_path / "figures" / "gallery" / "old.svg").write_text("<svg/>")
    assert main([str(page), str(run)]) == 0
    first = page.read_text(encoding="utf-8")
    assert first.startswith("# Mine\n\nBy hand.\n\n## worked-example/local-steps\n")
    assert "| more local steps a round give a better model" in first
    names = [path.name for path in (tmp_path / "figures" / "gallery").iterdir()]
    assert names
    assert "old.svg" not in names
    page.write_text(first.replace("| undecided |", "| made up |"), encoding="utf-8")
    main([str(page), str(run)])
    assert page.read_text(encoding="utf-8") == first


def test_a_folder_without_a_run_is_told(tmp_path, smoke):
    with pytest.raises(DriftproofError, match=r"no experiment\.json"):
        runs_in([tmp_path])
    with pytest.raises(DriftproofError, match="one run of each"):
        runs_in([smoke, smoke])
