"""Finds leaves (claims, problems, algorithms, …): the folder is the registry.

A leaf is a class or function under a decorator call such as ``@bound(name="…", …)``. Its metadata
are literals in that call, so they are read from the syntax tree and nothing is imported (no torch)
until a leaf is used. A package outside driftproof contributes leaves by an entry point of the group
``driftproof`` whose value is the package's name; a single file is named on the command line.
"""

import ast
import errno
import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from driftproof.toolkit.errors import DriftproofError, MissingError, unknown_name
from driftproof.toolkit.names import check_name
from driftproof.toolkit.user_traceback import is_users, user_traceback


def package_folder(package: str) -> Path:
    """Return the folder of ``package`` while importing only its (light) top package."""
    top, *rest = package.split(".")
    spec = importlib.util.find_spec(top)
    if spec is None or not spec.submodule_search_locations:
        raise DriftproofError(
            f"no package {top!r} on the path", "an installed driftproof", "pip install -e ."
        )
    # in a checkout most rooms are links to folders beside the package
    return Path(next(iter(spec.submodule_search_locations)), *rest).resolve()


def claim_types(folder: Path) -> tuple[str, ...]:
    """Return the decorators of claims: a file of the folder ends in ``name = …Claim`` of its name.

    They are read from the text, since the classes need torch.
    """
    return tuple(
        path.stem
        for path in sorted(folder.glob("*.py"))
        if re.search(rf"^{path.stem} = \w+Claim$", path.read_text(encoding="utf-8"), re.M)
    )


@dataclass(frozen=True)
class Kind:
    """One kind of leaf: which decorators mark it, and where driftproof's own are.

    Papers, with claims and experiments, come in by entry points alone, driftproof's like others'.
    """

    name: str
    plural: str
    package: str
    decorators: tuple[str, ...]


CLAIM_TYPES = "driftproof.verifiers.claim_types"
"""The package whose files are the ways of stating a claim."""

KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("claim", "claims", "", claim_types(package_folder(CLAIM_TYPES))),
        Kind("problem", "problems", "driftproof.synthetic.problems", ("problem",)),
        Kind("algorithm", "algorithms", "driftproof.toolkit.algorithms", ("algorithm",)),
        Kind("dataset", "datasets", "driftproof.toolkit.datasets", ("dataset",)),
        Kind("network", "networks", "driftproof.toolkit.networks", ("network",)),
        Kind("split", "splits", "driftproof.toolkit.splits", ("split",)),
        Kind("experiment", "experiments", "", ("experiment",)),
        Kind("kernel", "kernels", "driftproof.synthetic.kernels", ("fused",)),
        Kind("case", "cases", "driftproof.gpu_bench.cases", ("case",)),
    )
}


OWN = "driftproof_user"
"""The package that users' own files are imported into."""


@dataclass(frozen=True)
class Leaf:
    """A leaf as its file states it, before anything is imported.

    Attributes:
        about: the docstring of the file; of the leaf itself where the file has several leaves.
        lines: of the file, or of the leaf, likewise.
    """

    kind: str
    name: str
    symbol: str
    path: Path
    module: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    about: str = ""
    lines: int = 0
    decorator: str = ""

    @property
    def summary(self) -> str:
        """The first paragraph of what is said about the leaf, on one line."""
        return self.about.split("\n\n")[0].replace("\n", " ").strip()

    @property
    def typed(self) -> str:
        """What a command calls the leaf: its name, or a user's own file as seen from here."""
        return self.name if self.module else path_from_here(self.path)

    def load(self) -> Any:
        """Import the leaf's file and return the object that its decorator made.

        Raises:
            DriftproofError: a user's file, or a file of another package, raises while imported.
            MissingError: another package asks for something that is not installed.
        """
        if self.module is None:
            made = claims_of(self.path)[0] if self.kind == "claim" else {}
            known = made.get(self.name)
            return getattr(import_path(self.path), self.symbol) if known is None else known
        try:
            return getattr(importlib.import_module(self.module), self.symbol)
        except (Exception, SystemExit) as error:
            if self.module.startswith("driftproof."):
                raise
            raise _told_of_a_package(self.module, self.path, error) from error


def path_from_here(path: Path) -> str:
    """Return a path as it can be typed in this folder."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def kind_named(text: str) -> Kind:
    """Return the kind called ``text`` in the singular or the plural."""
    for kind in KINDS.values():
        if text in (kind.name, kind.plural):
            return kind
    raise unknown_name("kind", text, [*(kind.plural for kind in KINDS.values()), "roles"])


def _folder_of(point: EntryPoint) -> Path:
    """Return the folder of the package that an entry point names."""
    try:
        return package_folder(point.value)
    except DriftproofError as error:
        package = point.dist.name if point.dist is not None else point.value
        raise MissingError(
            f"{error.got}, which the entry point {point.name} of {package} names",
            "the name of a package that is installed",
            f"install {package} again, or uninstall it",
        ) from error


def _told_of_a_package(module: str, path: Path, error: BaseException) -> DriftproofError:
    """Return what a file of another package raised, with the entry point that names it."""
    point = next(p for p in _points() if f"{module}.".startswith(f"{p.value}."))
    package = point.dist.name if point.dist is not None else point.value
    shown = user_traceback(error, path)
    missing = isinstance(error, ModuleNotFoundError)
    return (MissingError if missing else type(shown))(
        f"{shown.got}\n      in the package {package}, whose entry point "
        f"{point.name} = {point.value} adds leaves to driftproof",
        "a package whose files can be imported" if missing else shown.wanted,
        f"{'install what it asks for, or another version of it' if missing else shown.remedy}; "
        f"without the package, pip uninstall {package}, driftproof runs as before",
    )


def _points() -> list[EntryPoint]:
    """Return the entry points by which other packages add leaves."""
    return list(entry_points(group="driftproof"))


@cache
def leaves(kind: str, name: str = "") -> Mapping[str, Leaf]:
    """Return every leaf of one kind by name, in the order of names.

    Args:
        name: if it is given, only files whose text has it are parsed.
    """
    folders = {point.value: _folder_of(point) for point in _points()}
    if package := KINDS[kind].package:
        folders = {package: package_folder(package)} | folders
    by_name: dict[str, Leaf] = {}
    for package, folder in folders.items():
        for path in _files(folder):
            text = _text(path)
            if name not in text or not any(f"{of}(" in text for of in KINDS[kind].decorators):
                continue
            module = ".".join((package, *path.relative_to(folder).with_suffix("").parts))
            for leaf in leaves_in(path, kind, module=module):
                if leaf.name in by_name:
                    raise DriftproofError(
                        f"two {KINDS[kind].plural} are called {leaf.name!r}: "
                        f"{by_name[leaf.name].path} and {path}",
                        "a name of its own for each leaf",
                        "rename one of them",
                    )
                by_name[leaf.name] = leaf
    return dict(sorted(by_name.items(), key=lambda item: _natural(item[0])))


@cache
def _files(folder: Path) -> list[Path]:
    """Return the files of a package in which leaves may be."""
    return sorted(path for path in folder.rglob("*.py") if not path.name.startswith("_"))


@cache
def _text(path: Path) -> str:
    """Return a file's text, read once: only the files that name a decorator are parsed."""
    return path.read_text(encoding="utf-8")


def find(kind: str, name: str) -> Leaf:
    """Return the leaf called ``name``, the only one of a user's file, or ``FILE::CLASS`` of it.

    Raises:
        DriftproofError: there is none (the nearest names are offered), or the file has several.
    """
    file, _, within = name.partition("::")
    if file.endswith(".py"):
        choices = {leaf.symbol: leaf for leaf in leaves_in(Path(file), kind)}
        if within and within not in choices:
            raise unknown_name(f"{kind} of {file}", within, choices)
        if not within and len(choices) != 1:
            raise DriftproofError(
                f"{name} has {len(choices)} {KINDS[kind].plural}", "one", "name FILE::CLASS"
            )
        return choices[within or next(iter(choices))]
    known = leaves(kind)
    if name not in known:
        raise unknown_name(kind, name, known, or_file=True)
    return known[name]


def typed(cls: Any) -> str:
    """Return what a command calls a leaf's class: its name, or a user's own file."""
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return path_from_here(Path(file)) if file and is_users(file) else str(cls.leaf_name)


def symbols_of(kind: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a module whose names are a kind's leaves."""

    def get(symbol: str) -> Any:
        for leaf in leaves(kind).values():
            if leaf.symbol == symbol:
                return leaf.load()
        raise AttributeError(symbol)

    return get, lambda: sorted(leaf.symbol for leaf in leaves(kind).values())


def _natural(name: str) -> list[tuple[int, str]]:
    """Order names as a reader would: equation-7 before equation-10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def leaves_in(path: Path, kind: str | None = None, *, module: str | None = None) -> Iterator[Leaf]:
    """Yield the leaves of one file, reading only its syntax tree."""
    if module is None:  # a user's own; unlike Path.resolve, this leaves a loop of links to parse
        path = Path(os.path.realpath(path))
    tree = parse(path)
    decorators = {
        decorator: k.name
        for k in KINDS.values()
        if kind in (None, k.name)
        for decorator in k.decorators
    }
    ours = _names_of_driftproof(tree)
    marked = [
        (node, call)
        for node in tree.body
        if isinstance(node, ast.ClassDef | ast.FunctionDef)
        for call in node.decorator_list
        if _called(call, ours) in decorators
    ]
    for node, call in marked:
        decorator = _called(call, ours)
        if not isinstance(call, ast.Call):
            raise DriftproofError(
                f"{path}:{call.lineno}: @{decorator} without brackets, above {node.name}",
                f"@{decorator}(name=…, source=…, statement=…, …)",
                f"write its fields: driftproof new {decorators[decorator]} NAME shows which",
            )
        metadata = {word.arg: _literal(word.value) for word in call.keywords if word.arg}
        literal = {word.arg for word in call.keywords if isinstance(word.value, ast.Constant)}
        name = metadata.get("name")
        if "name" not in literal or not isinstance(name, str):
            raise DriftproofError(
                f"{path}:{call.lineno}: @{decorator} has no literal name",
                'name="paper/statement" written out in the call',
                "give the leaf a literal name; listing reads it without importing the file",
            )
        check_name(decorators[decorator], name, f"{path}:{call.lineno}")
        of_file, own = ast.get_docstring(tree), ast.get_docstring(node)
        several = len(marked) > 1
        rows = (node.end_lineno or 0) - call.lineno + 1
        yield Leaf(
            kind=decorators[decorator],
            name=name,
            symbol=node.name,
            path=path,
            module=module,
            metadata=metadata,
            about=(several and own) or of_file or own or "",
            lines=rows if several else len(path.read_text(encoding="utf-8").splitlines()),
            decorator=decorator,
        )


def _names_of_driftproof(tree: ast.Module) -> set[str]:
    """Return what a file calls driftproof: ``dp`` after ``import driftproof as dp``."""
    imported = (name for node in tree.body if isinstance(node, ast.Import) for name in node.names)
    return {name.asname or name.name for name in imported if name.name == "driftproof"}


def _called(decorator: ast.expr, ours: set[str]) -> str:
    """Return a decorator's name, with or without brackets, written ``bound`` or ``dp.bound``."""
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        return function.attr if function.value.id in ours else ""
    return function.id if isinstance(function, ast.Name) else ""


def text_of(path: Path) -> str:
    """Return the text of a user's file; a pipe, for which one might wait for ever, is refused."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "a pipe or a device, no file")
    return path.read_text(encoding="utf-8")


def parse(path: Path) -> ast.Module:
    """Return the syntax tree of a Python file; a file that is none is a usage error."""
    try:
        return ast.parse(text_of(path), filename=str(path))
    except OSError as error:
        raise DriftproofError(
            f"{path}: {error.strerror}", "a readable Python file", "check the path"
        ) from error
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        where = f"{path}:{line}" if line else str(path)
        reason = getattr(error, "msg", None) or str(error) or type(error).__name__
        raise DriftproofError(
            f"{where}: {reason}", "a Python file", "mend the line, or name another file"
        ) from error


_MADE: dict[Path, dict[str, Any]] = {}
"""Of each file the claims that it made as it was imported, by name."""


def note_made(name: str, claim: Any) -> None:
    """Note a claim that a file makes as it is imported, in a loop or a function too.

    Raises:
        DriftproofError: a user's file that a command names has made another one of this name.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    if frame is None:
        return
    made = _MADE.setdefault(Path(frame.f_code.co_filename), {})
    if name in made and is_own(frame.f_globals.get("__name__", "")):
        raise DriftproofError(
            f"two claims called {name!r}", "a name of its own for each claim", "rename one of them"
        )
    made[name] = claim


def claims_of(path: Path) -> tuple[dict[str, Any], list[str]]:
    """Return the claims that a user's file makes, or holds without a decorator above a function.

    Returns:
        The claims by name; and the names of those that it imports from other files.
    """
    module = import_path(path)
    made = dict(_MADE.get(path, {}))
    values = list(vars(module).values())
    listed = [
        v.values() if isinstance(v, dict) else v
        for v in values
        if type(v) in (dict, list, tuple, set)
    ]
    every = (*values, *(of for some in listed for of in some))
    held = [of for of in every if type(of).__module__.startswith(f"{CLAIM_TYPES}.")]
    elsewhere = {
        id(of) for file, of_file in _MADE.items() if file != path for of in of_file.values()
    }
    for of in held:
        if id(of) not in elsewhere:
            made.setdefault(of.name, of)
    return made, sorted({of.name for of in held if id(of) in elsewhere})


def is_own(module: str) -> bool:
    """Return whether a module is a user's own file, imported by its path."""
    return module.startswith(f"{OWN}.")


@cache
def import_path(path: Path) -> ModuleType:
    """Import a user's own file; what it raises is reported with its own line."""
    parse(path)
    name = f"{OWN}.{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise DriftproofError(f"{path} is no Python file", "a file ending in .py", "rename it")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    _MADE.pop(path, None)  # of an import that failed
    folder = str(path.resolve().parent)
    if folder not in sys.path:  # what lies beside the file may be imported, as in a script
        sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # an exit would end the command without a verdict
        raise user_traceback(error, path) from error
    return module


def _literal(node: ast.expr) -> Any:
    """Return a literal's value; for a list of names, the names; else the source text."""
    if isinstance(node, ast.List | ast.Tuple):
        return [_literal(item) for item in node.elts]
    try:
        return ast.literal_eval(node)
    except ValueError:
        return ast.unparse(node)
