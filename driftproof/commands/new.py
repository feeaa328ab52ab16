"""``driftproof new``: a working file to start from."""

import ast
import re
from importlib.util import find_spec
from pathlib import Path

import click

import driftproof
from driftproof.toolkit.discover import Leaf, find, leaves, leaves_in
from driftproof.toolkit.errors import DriftproofError, unknown_name

ORIGINS = {
    "claim": "comfedl/lemma-2",
    "problem": "problem",
    "algorithm": "fedavg",
    "dataset": "mnist",
    "network": "softmax-regression",
    "split": "label-shards",
    "experiment": "worked-example/local-steps",
    "kernel": "nested-fedavg-s",
}
"""What a new leaf of each kind starts from: a short leaf, or a text of ``STARTS``."""
STARTS = {path.stem: path for path in sorted(Path(driftproof.__file__).parent.glob("starts/*.py"))}
"""Problems of the worked examples, which import from driftproof alone."""
BESIDE = ("problem", "algorithm")
"""Kinds that stand beside a claim, so that their files have the kind in their names."""
NEXT = {"claim": "driftproof verify {path}", "experiment": "driftproof run {path} --profile smoke"}
"""The command to type next, where it is not ``driftproof show``."""
THEN = {
    "problem": "in a claim beside it, from {stem} import {symbol}",
    "algorithm": "in a claim beside it, from {stem} import {symbol}",
    "dataset": "from {stem} import {symbol}, and {symbol}.load(folder); in toolkit/datasets/ it is "
    "found by its files",
    "network": "from {stem} import {symbol}, and {symbol}().model(example, outputs)",
    "split": "from {stem} import {symbol}, and {symbol}().parts(labels, clients, random)",
    "kernel": "name your algorithm and your problem in it; in synthetic/kernels/ it is found and "
    "tested",
}
"""What to do with the file after that."""
LINE_LENGTH = 100
FOLDERS = (
    ("driftproof.synthetic", "problems"),
    ("driftproof.toolkit", "algorithms"),
    ("driftproof.toolkit", "networks"),
    ("driftproof.toolkit", "splits"),
)
"""Packages whose leaves users import from driftproof."""


@click.command()
@click.argument("kind")
@click.argument("name")
@click.option("--from", "origin", help="Which leaf to start from (default: a short one).")
def command(kind: str, name: str, origin: str | None) -> None:
    """Write a file to start from, into this folder: a real leaf of KIND to change.

    The file is called as NAME ends: the claim mine/drift-bound is written into drift_bound.py, a
    problem of that name into drift_bound_problem.py. KIND is claim, problem, algorithm, dataset,
    network, split, experiment or kernel. --from bilevel and --from minimax write a problem with a
    method and a claim.
    """
    if kind == "case":
        raise DriftproofError(
            f"a new case {name!r}, which is no file of its own",
            f"one of {', '.join(ORIGINS)}",
            "write a case into a claim's file, cases=grid(problem, algorithm, rounds=…); "
            f"driftproof new claim {name} writes a file that has some. To time a kernel, copy a "
            "file of gpu_bench/cases",
        )
    if kind not in ORIGINS:
        raise unknown_name("kind", kind, ORIGINS)
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]*(/[a-z0-9][a-z0-9-]*)?", name):
        raise DriftproofError(
            f"name {name!r}", "lower-case words and digits, as in mine/drift-bound", "rename it"
        )
    stem = name.split("/")[-1].replace("-", "_")
    path = Path(f"{stem}_{kind}.py" if kind in BESIDE else f"{stem}.py")
    begun = origin or ORIGINS[kind]
    start = STARTS.get(begun) if kind == "problem" else None
    chosen = find(kind, begun) if start is None else next(leaves_in(start, kind))
    text = renamed(chosen, name)
    try:
        with path.open("x", encoding="utf-8") as file:  # never over what is there
            file.write(text)
    except FileExistsError as error:
        raise DriftproofError(
            f"{path.absolute()} exists", "a new file", "choose another name, or move it"
        ) from error
    except OSError as error:
        raise DriftproofError(
            f"{path}: {error.strerror}", "a folder that can be written to", "change folder"
        ) from error
    click.echo(f"wrote {path.absolute()}: the {kind} {name}")
    if name.count("/") and Path(name).parent.is_dir():
        click.echo(
            f"it is not in the folder {Path(name).parent}: a {kind}'s name is no path; "
            "move the file where you like"
        )
    kind = "claim" if start and [*leaves_in(start, "claim")] else kind
    click.echo(f"now: {NEXT.get(kind, 'driftproof show {path}').format(path=path)}")
    if kind in THEN:
        click.echo(f"then: {THEN[kind].format(stem=path.stem, symbol=symbol_of(chosen, name))}")


def symbol_of(leaf: Leaf, name: str) -> str:
    """Return what a leaf's class or function is called under another name.

    >>> symbol_of(find("algorithm", "fedavg"), "mine/first-try")
    'FirstTry'
    """
    words = name.split("/")[-1].split("-")
    called = "".join(map(str.capitalize, words)) if leaf.symbol[0].isupper() else "_".join(words)
    return called if called.isidentifier() else leaf.symbol


def renamed(leaf: Leaf, name: str) -> str:
    """Return a leaf's file under another name."""
    text = as_a_user(_without_radii(leaf.path.read_text(encoding="utf-8")))
    text = text.replace(f'name="{leaf.name}"', f'name="{name}"', 1)
    called = rf"\b{leaf.symbol}\b" if leaf.symbol[0].isupper() else rf"(?<=^def ){leaf.symbol}\b"
    text = re.sub(called, symbol_of(leaf, name), text, flags=re.MULTILINE)
    return f"# Started from driftproof's {leaf.name}: change what it says and does.\n{text}"


def _without_radii(text: str) -> str:
    """Return a file without ``radii``, what is said of them, and what they alone import.

    They are of its own steps.
    """
    text = text.replace("    in_mean = True\n", "")
    lines, body = text.splitlines(keepends=True), ast.parse(text).body
    proofs = [
        method
        for of in body
        if isinstance(of, ast.ClassDef)
        for method in of.body
        if isinstance(method, ast.FunctionDef) and method.name == "radii"
    ]
    if not proofs:
        return text
    (proof,) = proofs
    del lines[proof.lineno - 1 : (proof.end_lineno or 0) + 1]  # and the empty line below
    left = "".join(lines)
    named = {node.id for node in ast.walk(ast.parse(left)) if isinstance(node, ast.Name)}
    for node in reversed(ast.parse(left).body):
        if isinstance(node, ast.ImportFrom) and node.module != "__future__":
            names = [alias.name for alias in node.names if alias.name in named]
            if len(names) < len(node.names):
                made = [_import(str(node.module), names)] if names else []
                lines[node.lineno - 1 : node.end_lineno] = made
    return "".join(lines)


def as_a_user(text: str) -> str:
    r"""Return a leaf's file with what ``driftproof`` offers imported from there.

    >>> print(as_a_user("from driftproof.toolkit.measure import each, reduced, sq").rstrip())
    from driftproof import each, sq
    from driftproof.toolkit.measure import reduced
    """
    offered, lines = _offered(), text.splitlines(keepends=True)
    wanted: dict[str, list[str]] = {}
    first = len(lines)
    for node in reversed(ast.parse(text).body):
        if not isinstance(node, ast.ImportFrom):
            continue
        homes = {alias.name: offered.get((str(node.module), alias.name)) for alias in node.names}
        kept = [name for name, home in homes.items() if home is None]
        if len(kept) == len(homes) or any(alias.asname for alias in node.names):
            continue
        for name, home in homes.items():
            if home is not None:
                wanted.setdefault(home, []).append(name)
        first = node.lineno - 1
        lines[first : node.end_lineno] = [_import(str(node.module), kept)] if kept else []
    lines[first:first] = [_import(home, names) for home, names in sorted(wanted.items())]
    text = "".join(lines)
    for old, new in FOLDERS:  # in examples
        text = text.replace(f">>> from {old}.{new} import ", f">>> from driftproof.{new} import ")
    return text


def _import(module: str, names: list[str]) -> str:
    """Return a line that imports, or as many as it takes."""
    ordered = sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    line = f"from {module} import {', '.join(ordered)}"
    if len(line) > LINE_LENGTH:
        line = f"from {module} import (\n    " + ",\n    ".join(ordered) + ",\n)"
    return line + "\n"


def _offered() -> dict[tuple[str, str], str]:
    """Return where users import a name from, by the module that defines it and the name."""
    homes = {}
    for kind in ("problem", "algorithm", "network", "split"):
        for leaf in leaves(kind).values():
            homes[str(leaf.module), leaf.symbol] = f"driftproof.{kind}s"
    for part in ("", ".datasets", ".experiments", ".networks"):
        for node in ast.walk(_tree(f"driftproof{part}")):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("driftproof."):
                module, names = str(node.module), [alias.name for alias in node.names]
                if names == ["*"]:
                    every = _tree(module).body[-1]  # its __all__
                    names = ast.literal_eval(every.value) if isinstance(every, ast.Assign) else []
                homes |= {(module, name): f"driftproof{part}" for name in names}
    return homes


def _tree(module: str) -> ast.Module:
    """Return a module's syntax tree; importing it would import torch."""
    found = find_spec(module)
    assert found is not None
    return ast.parse(Path(str(found.origin)).read_text("utf-8"))
