"""Changes the judges in small ways, one at a time, and lists the changes that no test notices.

    python -m tests.mutation [--sample N] [--seed S] [--only PART_OF_A_PATH]

Each change is made in a copy of the checkout and tested in a process of its own: by the tests that
run the changed line, the quickest first. ``make coverage`` says which they are. A change that they
all pass *survives*. One that is explained in docs/mutation.md is counted, not listed.

The libraries, which no change touches, are imported once: the processes are forks. Before the first
change, tests are run without one: they have to pass.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import judges

SWAPPED = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
LEAVES = ast.Return | ast.Raise | ast.Continue | ast.Break
UNSEEN = ("annotation", "returns", "decorator_list", "format_spec")
"""Parts of the tree that are not changed: types; and what strings say is not changed either."""
LIBRARIES = "beartype", "cvxpy", "flint", "mpmath", "numba", "scipy.special", "sympy", "torch"
WAIT, SLOWER = 60.0, 10.0
"""The tests of one change may take so many seconds, and so many times what they take without one: a
change that makes them hang is noticed too."""


@dataclass
class Change:
    """One change: where it is, what takes the place of what, and the expression around it."""

    path: str
    tree: ast.Module
    holder: Any
    key: Any
    old: ast.AST
    new: ast.AST
    around: ast.AST

    def source(self) -> str:
        """Return the module with this change."""
        return self._changed(self.tree)

    def _changed(self, node: ast.AST) -> str:
        self._put(self.new)
        text = ast.unparse(node)
        self._put(self.old)
        return text

    def _put(self, node: ast.AST) -> None:
        if isinstance(self.holder, list):
            self.holder[self.key] = node
        else:
            setattr(self.holder, self.key, node)

    def __str__(self) -> str:
        texts = (ast.unparse(self.old), ast.unparse(self.new))
        if isinstance(self.old, ast.Constant):  # a number says more in the expression around it
            texts = (ast.unparse(self.around), self._changed(self.around))
        old, new = (" ".join(text.split()) for text in texts)
        return f"{self.path}: {old} → {new}"


def changes(path: str) -> Iterator[Change]:
    """Yield every change of one module."""
    tree = ast.parse((judges.ROOT / path).read_text(encoding="utf-8"))
    for holder, key, node, parent in _nodes(tree):
        for new in _instead(node):
            yield Change(path, tree, holder, key, node, new, parent)


def _nodes(parent: ast.AST) -> Iterator[tuple[Any, Any, ast.AST, ast.AST]]:
    for name, value in ast.iter_fields(parent):
        if name in UNSEEN or isinstance(parent, ast.JoinedStr):
            continue
        places = enumerate(value) if isinstance(value, list) else [(name, value)]
        for key, node in places:
            if isinstance(node, ast.AST):
                yield (value if isinstance(value, list) else parent), key, node, parent
                yield from _nodes(node)


def _instead(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may take a node's place."""
    match node:
        case ast.Compare():
            for place, op in enumerate(node.ops):
                ops = [*node.ops[:place], SWAPPED[type(op)](), *node.ops[place + 1 :]]
                yield _with(node, ops=ops)
        case ast.BoolOp() | ast.BinOp() if type(node.op) in SWAPPED:
            yield _with(node, op=SWAPPED[type(node.op)]())
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.Constant(value=bool()):
            yield _with(node, value=not node.value)
        case ast.Constant(value=int()):
            yield _with(node, value=2 * node.value or 1)
        case ast.Constant(value=float()):
            yield _with(node, value=10 * node.value or 1.0)
        case ast.Call(func=ast.Name(id=name)) if name in NAMES:
            yield _with(node, func=ast.Name(NAMES[name]))
        case ast.If(body=[only], orelse=[]) if isinstance(only, LEAVES):
            yield ast.Pass()
        case ast.If() | ast.IfExp() if isinstance(node.test, ast.Name | ast.Call | ast.Attribute):
            if ast.unparse(node.test) != "TYPE_CHECKING":
                yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))


def _with(node: ast.AST, **fields: Any) -> ast.AST:
    made = copy.copy(node)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def tests_of(change: Change, data: Any, seconds: dict[str, float]) -> list[str]:
    """Return the tests that run a changed line, the quickest first.

    What runs when the module is imported runs for all tests of it.
    """
    by_line = data.contexts_by_lineno(change.path)
    lines = range(change.old.lineno, change.old.end_lineno + 1)
    names = {name for line in lines for name in by_line.get(line, ())}
    if names == {""}:
        names = {name for held in by_line.values() for name in held}
    return sorted((name for name in names if name in seconds), key=lambda name: seconds[name])


def noticed(change: Change, nodes: list[str], folder: Path, wait: float) -> bool:
    """Say whether one of the tests fails, or they do not end in so many seconds."""
    path = folder / change.path
    unchanged, times = path.read_bytes(), (path.stat().st_atime, path.stat().st_mtime)
    path.write_text(change.source(), encoding="utf-8")
    os.utime(path, (0, 0))  # not the time of the unchanged file, whose bytecode is kept
    try:
        return failed(nodes, folder, wait)
    finally:
        path.write_bytes(unchanged)
        os.utime(path, times)


def failed(
    nodes: list[str], folder: Path, wait: float | None = None, *, keep_bytecode: bool = False
) -> bool:
    """Say whether a test fails on the copy, or they do not end in time (None: no limit)."""
    fork = multiprocessing.get_context("fork")
    process = fork.Process(target=_tested, args=(nodes, folder, keep_bytecode))
    process.start()
    process.join(wait)
    if process.is_alive():
        os.killpg(process.pid, signal.SIGKILL)
        process.join()
    return process.exitcode != 0


def _tested(nodes: list[str], folder: Path, keep_bytecode: bool) -> None:
    """Run the tests on the copy, in a process that has imported nothing of the checkout yet."""
    os.setsid()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.chdir(folder)
    os.environ |= {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = not keep_bytecode
    sys.path[:] = [str(folder), *(path for path in sys.path if path not in ("", str(judges.ROOT)))]
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    os._exit(int(pytest.main(["-q", "-x", "-p", "no:cacheprovider", *nodes])))


def copied(folder: Path) -> None:
    """Copy the checkout, without what git ignores; a link to a folder stays a link."""
    words = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(words, cwd=judges.ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        source = judges.ROOT / name
        if source.is_file() or source.is_symlink():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, folder / name, follow_symlinks=False)


def main() -> int:
    """Print the changes that survive; the exit status is 1 if one is not explained."""
    import coverage  # here, so that pytest finds this file's examples without it

    words = argparse.ArgumentParser(prog="python -m tests.mutation")
    words.add_argument("--sample", type=int, help="so many changes, drawn at random")
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("--only", default="", help="modules whose path has this in it")
    given = words.parse_args()
    if not judges.DATA.is_file():
        sys.exit(
            f"got: no {judges.DATA}; wanted: which test runs which line; remedy: make coverage"
        )
    data = coverage.CoverageData(str(judges.DATA))
    data.read()
    seconds = json.loads(judges.SECONDS.read_text(encoding="utf-8"))
    explained = (judges.ROOT / "docs" / "mutation.md").read_text(encoding="utf-8")
    every = [c for path in judges.MODULES if given.only in path for c in changes(path)]
    drawn = random.Random(given.seed).sample(every, min(given.sample or len(every), len(every)))
    count = dict.fromkeys(("noticed", "explained", "survived"), 0)
    began = time.monotonic()
    for library in LIBRARIES:
        importlib.import_module(library)
    with tempfile.TemporaryDirectory() as name:
        copied(Path(name))
        tests = [tests_of(change, data, seconds) for change in drawn]
        first = list(dict.fromkeys(nodes[0] for nodes in tests if nodes))
        if failed(first, Path(name), keep_bytecode=True):
            sys.exit(
                "got: tests that fail without a change; wanted: none; "
                f"remedy: mend {' '.join(first)}"
            )
        for change, nodes in zip(drawn, tests, strict=True):
            wait = WAIT + SLOWER * sum(seconds[node] for node in nodes)
            if nodes and noticed(change, nodes, Path(name), wait):
                count["noticed"] += 1
            elif f"`{change}`" in explained:
                count["explained"] += 1
            else:
                count["survived"] += 1
                what = "" if nodes else "  (no test runs this line)"
                told = str(change).replace(": ", f":{change.old.lineno}: ", 1)
                sys.stdout.write(f"{told}{what}\n")
                sys.stdout.flush()
    took = time.monotonic() - began
    sys.stdout.write(f"{len(drawn)} of {len(every)} changes in {took:.0f} s: {count}\n")
    return int(count["survived"] > 0)


if __name__ == "__main__":
    sys.exit(main())
