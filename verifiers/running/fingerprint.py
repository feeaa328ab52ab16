"""The code that a unit's result rests on: driftproof's sources, the libraries, a user's file."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from driftproof.toolkit.discover import package_folder
from driftproof.toolkit.located import is_users

PACKAGES = ("driftproof.toolkit", "driftproof.synthetic", "driftproof.verifiers")
LIBRARIES = (
    "numpy", "scipy", "torch", "cvxpy", "clarabel", "cma", "sympy", "python-flint", "numba",
    "triton", "scikit-learn",
)  # fmt: skip
SOURCES = "driftproof's sources"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


@cache
def fingerprint() -> Mapping[str, str]:
    """Return what every unit's result rests on: versions by name, and a digest of the sources.

    They are looked at once a process: what was imported by then stays as it was.
    """
    digest = hashlib.blake2b(digest_size=8)
    for file in _own_sources():
        digest.update(file.read_bytes())
    python = ".".join(map(str, sys.version_info[:2]))
    versions = {name: _version(name) for name in LIBRARIES}
    return {SOURCES: digest.hexdigest(), "Python": python, **versions}


@cache
def _own_sources() -> list[Path]:
    return sorted(file for name in PACKAGES for file in package_folder(name).rglob("*.py"))


@cache
def code_of(path: Path | None) -> str:
    """Return a digest of the code that a unit's result rests on.

    Args:
        path: the user's file that the unit is in, if any. Then that file counts, and every module
            of the user's that is loaded by now: what the file imports.
    """
    digest = hashlib.blake2b(repr(sorted(fingerprint().items())).encode(), digest_size=16)
    if path is not None:
        for file in sorted({path, *users_modules()} - set(_own_sources())):
            digest.update(file.read_bytes())
    return digest.hexdigest()


def users_modules() -> set[Path]:
    """Return the files of the modules that are loaded and are neither ours nor installed."""
    origins = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    # some modules made by a library say that they come from a file that is not there
    files = (Path(name) for name in origins if name and is_users(name))
    return {file for file in files if file.is_absolute() and file.exists()}
