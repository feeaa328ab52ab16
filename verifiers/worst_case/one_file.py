"""The checker as one file, for somebody who does not install driftproof.

It needs Python and python-flint. Nothing of it is written a second time: it is the checker's own
files, one below the other, without what they import of each other.
"""

import ast
import re
from pathlib import Path

from driftproof.toolkit import __version__

ROOT = Path(__file__).parents[2]
FILES = (
    "toolkit/ratios.py",
    "verifiers/worst_case/classes.py",
    "verifiers/worst_case/expression.py",
    "verifiers/worst_case/statement.py",
    "verifiers/worst_case/signs.py",
    "verifiers/worst_case/check.py",
    "verifiers/worst_case/check_counterexample.py",
    "verifiers/worst_case/digest.py",
    "verifiers/worst_case/checking.py",
)
HEAD = f'''"""Checks certificates and counterexamples of driftproof {__version__}: check.py FILE ...

It needs Python 3.11 or newer, and python-flint (pip install python-flint). Exit status: 0 if every
file shows what it says, 1 if one does not, 2 if one cannot be read.
Written by ``driftproof check --standalone`` from the sources named below. MIT licence.
"""
'''
ERROR = '''

class DriftproofError(Exception):
    """A mistake with what was got, what was wanted, and the remedy."""
'''


def one_file() -> str:
    """Return the text of the checker."""
    imports: dict[str, set[str]] = {}
    bodies = [ERROR]
    for name in FILES:
        text = (ROOT / name).read_text(encoding="utf-8")
        nodes = ast.parse(text).body
        lines, taken = text.splitlines(), 0
        for node in nodes:
            if isinstance(node, ast.ImportFrom | ast.Import):
                taken = node.end_lineno or 0
                module = getattr(node, "module", "")
                if module.partition(".")[0] not in ("driftproof", "__future__"):
                    imports.setdefault(module, set()).update(a.name for a in node.names)
        about = (ast.get_docstring(ast.parse(text)) or "").splitlines()
        comment = "\n".join(f"# {line}".rstrip() for line in (f"-- {name}", *about))
        bodies.append("\n\n".join(["", comment, "\n".join(lines[taken:]).strip("\n")]))
    plain = [f"import {name}" for name in sorted(imports.pop("", ()))]
    named = [f"from {of} import {', '.join(sorted(its))}" for of, its in sorted(imports.items())]
    start = [HEAD, "from __future__ import annotations\n", *plain, *named]
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join([*start, *bodies]) + "\n")
