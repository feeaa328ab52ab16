"""The code that a unit's result rests on: driftproof's sources, the libraries, a user's file."""

import ast
import hashlib
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from driftproof.toolkit.discover import KINDS, package_folder, parse
from driftproof.toolkit.user_traceback import is_users

PACKAGES = ("driftproof.toolkit", "driftproof.synthetic", "driftproof.verifiers")
LIBRARIES = (
    "numpy",
    "scipy",
    "torch",
    "cvxpy",
    "clarabel",
    "cma",
    "sympy",
    "python-flint",
    "numba",
    "triton",
    "scikit-learn",
)
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
def code_of(path: Path | None, *, claims: bool = True) -> str:
    """Return a digest of the code that a unit's result rests on.

    Args:
        path: the user's file that the unit is in, if any. Then that file counts, and every module
            of the user's that is loaded by now: what the file imports.
        claims: whether claims and comments of the file count: what is said of a problem alone does
            not change with them.
    """
    digest = hashlib.blake2b(repr(sorted(fingerprint().items())).encode(), digest_size=16)
    if path is not None:
        for file in sorted({path, *users_modules()} - set(_own_sources())):
            whole = claims or file.suffix != ".py"
            digest.update(file.read_bytes() if whole else _without_claims(file).encode())
    return digest.hexdigest()


def _without_claims(file: Path) -> str:
    """Return a file's syntax without the claims that nothing else in it names."""
    tree, ways = parse(file), KINDS["claim"].decorators
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}

    def is_claim(node: ast.stmt) -> bool:
        called = (x.func for x in getattr(node, "decorator_list", ()) if isinstance(x, ast.Call))
        words = {getattr(x, "attr", getattr(x, "id", "")) for x in called}
        return bool(words & {*ways}) and getattr(node, "name", "") not in named

    return "\n".join(ast.dump(node) for node in tree.body if not is_claim(node))


def users_modules() -> set[Path]:
    """Return the files of the modules that are loaded and are neither ours nor installed."""
    origins = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    # some modules made by a library say that they come from a file that is not there
    files = (Path(name) for name in origins if name and is_users(name))
    return {file for file in files if file.is_absolute() and file.exists()}
