"""Finds folders, files and distributions that hide one of driftproof's packages.

Python takes the first ``toolkit`` on its path. A folder of that name beside a user's file, or
another distribution that installed one, would be imported in the place of ours, and the mistake
would show as something else much later. This file imports the standard library alone: the entry
point loads it by its path, before it trusts any package's name.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

PACKAGES = ("driftproof", "toolkit", "verifiers", "synthetic", "gpu_bench")
"""The packages that driftproof installs."""
ROOT = Path(__file__).resolve().parents[1]
"""The folder that holds them."""

Complaint = tuple[str, str, str]
"""What was got, what was wanted, and the remedy."""


def hidden(root: Path = ROOT) -> Complaint | None:
    """Say which package of ours Python would take from elsewhere, or None.

    Args:
        root: the folder that holds our packages.
    """
    for package in PACKAGES:
        if not (root / package).is_dir():
            continue  # not installed, as gpu_bench may be left out
        spec = _first_found(package)
        if spec is None:
            continue  # whoever imports it is told so
        folders = [Path(place).resolve() for place in spec.submodule_search_locations or ()]
        if root / package not in folders:
            hiding = folders[0] if folders else Path(spec.origin or package)
            return _shadowing(package, hiding, "which Python finds before it")
        marked = root / package / "__init__.py"
        if not marked.is_file() or "driftproof" not in marked.read_text(encoding="utf-8")[:200]:
            return _overwritten(package, marked)
    return None


def beside(path: Path) -> Complaint | None:
    """Say whether something beside a user's file has the name of one of our packages.

    What lies beside the file may be imported by it, so it would be found before ours.
    """
    folder = path.resolve().parent
    if folder == ROOT:
        return None
    for package in PACKAGES:
        spec = PathFinder.find_spec(package, [str(folder)])
        if spec is None or (spec.loader is None and PathFinder.find_spec(package) is not None):
            continue  # a folder without __init__.py comes after every package
        hiding = folder / package
        if not hiding.is_dir():
            hiding = Path(spec.origin or hiding)
        return _shadowing(package, hiding, f"which {path.name} would import in its place")
    return None


def _shadowing(package: str, hiding: Path, how: str) -> Complaint:
    kind = "file" if hiding.suffix == ".py" else "folder"
    return (
        f"{hiding} has the name of driftproof's package {package!r}, {how}",
        f"a name of its own for the {kind}: driftproof has {', '.join(PACKAGES)}",
        f"rename {hiding}, or move your file into another folder"
        if hiding.exists()
        else f"rename {hiding}",
    )


def _overwritten(package: str, marked: Path) -> Complaint:
    from importlib.metadata import packages_distributions

    others = set(packages_distributions().get(package, ())) - {"driftproof"}
    named = f" ({', '.join(sorted(others))})" if others else ""
    return (
        f"{marked} is not driftproof's: another distribution{named} has written over it",
        f"driftproof's own package {package!r}",
        "install driftproof in a virtual environment of its own, without the other distribution",
    )


def _first_found(package: str) -> ModuleSpec | None:
    """Return what an import would find that knows nothing of what is loaded already."""
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)
        spec: ModuleSpec | None = find(package, None) if find is not None else None
        if spec is not None:
            return spec
    return None
