"""Laws of the source: small files, literal metadata, imports one way, nothing of one machine."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from toolkit.discover import KINDS, leaves
from toolkit.errors import DriftproofError
from toolkit.kernels.registry import names
from verifiers.verify import select

ROOT = Path(__file__).parents[1]
SOURCES = [p for d in ("driftproof", "toolkit", "synthetic", "verifiers", "gpu_bench") for p in
           sorted((ROOT / d).rglob("*.py"))]  # fmt: skip


@pytest.mark.parametrize("kind", list(KINDS))
def test_leaves_are_small_and_say_what_they_are(kind):
    found = leaves(kind)
    assert found
    for leaf in found.values():
        assert leaf.lines <= 225, f"{leaf.path} has {leaf.lines} lines"
        assert leaf.summary
        # two literals that were glued together
        assert not re.search(r"\\q?quad[a-zA-Z]", str(leaf.metadata.get("statement", "")))


def test_no_file_is_a_stub_or_silences_an_error():
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        caught = re.sub(r"except [^\n]*:", "", text)  # sympy raises it where it finds no answer
        assert "NotImplementedError" not in caught, path
        assert not re.search(r"\b(TODO|FIXME|XXX)\b", text), path
        assert not re.search(r"except[^\n]*:\s*\n\s*pass\b", text), path
        assert "pickle.load" not in text, path
        assert "allow_pickle=True" not in text, path


def test_nothing_of_one_machine_is_in_the_project():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        names = [str(p.relative_to(ROOT)) for p in SOURCES]  # not a checkout
    else:
        names = listed.stdout.split()
    for name in names:
        path = ROOT / name
        if path.suffix in (".js", ".pdf", ".png", ".svg") or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(?<![\w/.(|])/(home|Users|root|work|farm)/\w", text), name


def test_no_two_leaves_of_whatever_kind_share_a_name():
    """``driftproof show NAME`` takes a name of any kind."""
    names = [name for kind in KINDS for name in leaves(kind)]
    assert len(names) == len(set(names))


def test_a_name_is_given_once(tmp_path):
    text = "from driftproof import bound\n" + "\n".join(
        f"@bound(name='a/b', source='', statement='', right=1)\ndef c{k}(view):\n    return None"
        for k in range(2)
    )
    (tmp_path / "twice.py").write_text(text)
    with pytest.raises(DriftproofError, match="two claims called 'a/b'"):
        select([str(tmp_path / "twice.py")])


def test_another_package_contributes_leaves_by_an_entry_point(tmp_path, monkeypatch):
    package = tmp_path / "theirs"
    package.mkdir()
    (package / "__init__.py").write_text("")
    source = leaves("claim")["comfedl/lemma-2"].path.read_text()
    (package / "drift.py").write_text(source.replace("comfedl/lemma-2", "theirs/drift"))
    info = tmp_path / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[driftproof]\nclaims = theirs\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    leaves.cache_clear()
    try:
        leaf = leaves("claim")["theirs/drift"]
        assert leaf.load().name == "theirs/drift"
    finally:
        leaves.cache_clear()


def test_metadata_of_every_kernel_names_its_pair():
    for leaf in leaves("kernel").values():
        for part in ("algorithm", "problem"):
            assert set(names(leaf.metadata[part])) <= set(leaves(part))
