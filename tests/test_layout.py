"""Laws of the source: literal metadata, no circle of imports, nothing of one machine."""

import ast
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import torch
from jaxtyping import TypeCheckError

import driftproof
from driftproof.synthetic.problems import OpposedClients
from driftproof.toolkit.discover import KINDS, claim_types, find, leaves
from driftproof.toolkit.errors import DriftproofError, MissingError
from driftproof.toolkit.kernels.registry import kernel_of, names
from driftproof.verifiers.verify import select
from tests import shapes
from tests.commands import driftproof as command
from tests.commands import started

ROOT = Path(__file__).parents[1]
SOURCES = [
    p
    for d in ("driftproof", "toolkit", "synthetic", "verifiers", "gpu_bench")
    for p in sorted((ROOT / d).rglob("*.py"))
]


@pytest.mark.parametrize("kind", list(KINDS))
def test_leaves_say_what_they_are(kind):
    found = leaves(kind)
    assert found
    for leaf in found.values():
        assert leaf.summary
        assert not computed(leaf)
        # two literals that were glued together
        assert not re.search(r"\\q?quad[a-zA-Z]", str(leaf.metadata.get("statement", "")))


def test_a_claim_type_is_found_by_its_file(tmp_path):
    assert KINDS["claim"].decorators == ("bound", "comparison", "limit", "proof", "rate")
    assert {*KINDS["claim"].decorators} <= {*driftproof.__all__}
    (tmp_path / "odd.py").write_text("class OddClaim:\n    pass\n\n\nodd = OddClaim\n")
    (tmp_path / "claim.py").write_text("class Claim:\n    pass\n")
    (tmp_path / "terms.py").write_text("from odd import OddClaim\n\nodd = OddClaim\n")
    assert claim_types(tmp_path) == ("odd",)


def computed(leaf):
    """Return the words of a leaf's decorator that would be listed as source code."""
    tree = ast.parse(leaf.path.read_text(encoding="utf-8"))
    (node,) = (node for node in tree.body if getattr(node, "name", "") == leaf.symbol)
    return [
        word.arg
        for call in node.decorator_list
        if isinstance(call, ast.Call)
        for word in call.keywords
        if word.arg in ("name", "source", "statement")
        and not (isinstance(word.value, ast.Constant) and isinstance(word.value.value, str))
    ]


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("'x ≤ ' 'y'", []),
        ("f'x ≤ {Y}'", ["statement"]),
        ("'x ≤ ' + Y", ["statement"]),
        ("Y", ["statement"]),
    ],
)
def test_a_statement_that_is_computed_is_found(statement, found, tmp_path):
    (tmp_path / "own.py").write_text(
        f"@bound(name='a/b', source='', statement={statement}, right=1)\n"
        "def own(view):\n    return None"
    )
    assert computed(find("claim", str(tmp_path / "own.py"))) == found


def imported(tree, known, late=True):
    """Yield the modules that a module imports: as it loads, for annotations, and in functions."""
    todo = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (n if n in known else str(node.module) for n in names)
        elif late or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            todo.extend(ast.iter_child_nodes(node))  # a class's body, an if, a try


def circle(imports):
    """Return the first circle of module → imported modules, by a depth-first search, or []."""
    done, path = set(), []

    def visit(module):
        if module in path:
            return [*path[path.index(module) :], module]
        if module in done:
            return []
        path.append(module)
        for other in sorted(imports[module]):
            if found := visit(other):
                return found
        path.pop()
        done.add(module)
        return []

    return next((found for module in sorted(imports) if (found := visit(module))), [])


@cache
def modules():
    """Return the syntax tree of every module, by its name."""
    names = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in SOURCES}
    names = {p: n if n.startswith("driftproof") else f"driftproof.{n}" for p, n in names.items()}
    return {
        name.removesuffix(".__init__"): ast.parse(path.read_text(encoding="utf-8"))
        for path, name in names.items()
    }


def test_no_modules_import_each_other_in_a_circle():
    """As they load, under TYPE_CHECKING or inside a function."""
    trees = modules()
    imports = {
        name: set(imported(tree, trees)) & trees.keys() - {name} for name, tree in trees.items()
    }
    assert imports["driftproof.synthetic.attacks.search"] > {
        "driftproof.synthetic.attacks.scores",
        "driftproof.toolkit.problem",
    }
    assert not circle(imports), " imports ".join(circle(imports))


LATE = {
    "driftproof.pytest_plugin",  # loaded by every run of pytest, whatever it tests
    "driftproof.toolkit.algorithm",  # torch
    "driftproof.toolkit.engines.batched",  # numba, where a kernel draws
    "driftproof.toolkit.problem",  # torch
    "driftproof.toolkit.recorded_run",  # the page's parts, in a notebook
    "driftproof.verifiers.latex_sync.compare",  # torch, where nothing changed
    "driftproof.verifiers.running.jobs",  # attacks and audits, of what is a user's own
    "driftproof.verifiers.verify",  # Coq
    "driftproof.gpu_bench.roofline",  # numba
    "driftproof.synthetic.kernels.kl_dro_local_steps",  # Triton
    "driftproof.synthetic.kernels.minimax_local_steps",  # Triton, and numba's compiler
}


def test_modules_of_ours_are_imported_late_for_start_up_time_alone():
    """By the commands, and by the modules above, whose costly part few need."""
    trees = modules()
    late = {
        name
        for name, tree in trees.items()
        if not name.startswith("driftproof.commands.")
        and any(
            module.startswith("driftproof.")
            for module in Counter(imported(tree, trees))
            - Counter(imported(tree, trees, late=False))
        )
    }
    assert late == LATE


def test_a_circle_is_found():
    assert circle({"a": {"b", "c"}, "b": set(), "c": {"d"}, "d": {"c"}}) == ["c", "d", "c"]
    assert circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_oracles_and_certificates_know_no_problem():
    for path in sorted((ROOT / "synthetic").rglob("*.py")):
        if path.parent.name in ("oracles", "certificates", "pieces"):
            assert "from driftproof.synthetic.problems" not in path.read_text(encoding="utf-8"), (
                path
            )


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
        if path.suffix in (".js", ".pdf", ".png", ".svg", ".woff2") or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(?<![\w/.(|])/(home|Users|root|work|farm)/\w", text), name


def test_no_two_leaves_of_whatever_kind_share_a_name():
    """``driftproof show NAME`` takes a name of any kind."""
    drawn = {name for name in leaves("experiment") if name in leaves("claim")}
    names = [name for kind in KINDS for name in leaves(kind)]
    assert len(names) == len(set(names)) + len(drawn)
    for name in drawn:  # an experiment that draws a claim; show tells both
        told = command("show", name).stdout
        assert f"claim {name}\n" in told
        assert f"experiment {name}\n" in told


def test_a_name_is_given_once(tmp_path):
    text = "from driftproof import bound\n" + "\n".join(
        f"@bound(name='a/b', source='', statement='', right=1)\ndef c{k}(view):\n    return None"
        for k in range(2)
    )
    (tmp_path / "twice.py").write_text(text)
    with pytest.raises(DriftproofError, match="two claims called 'a/b'"):
        select([str(tmp_path / "twice.py")])


@pytest.fixture
def theirs(tmp_path, monkeypatch):
    """Return a function that installs the package ``theirs`` with one file, drift.py."""

    def install(text, package="theirs"):
        folder = tmp_path / "theirs"
        folder.mkdir()
        (folder / "__init__.py").write_text("")
        (folder / "drift.py").write_text(text)
        info = tmp_path / "theirs-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[driftproof]\nclaims = {package}\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        leaves.cache_clear()

    yield install
    leaves.cache_clear()
    for name in ("theirs", "theirs.drift"):
        sys.modules.pop(name, None)


THEIRS = leaves("claim")["comfedl/lemma-2"].path.read_text().replace("comfedl/lemma-2", "theirs/a")


def test_another_package_contributes_leaves_by_an_entry_point(theirs):
    theirs(THEIRS)
    assert leaves("claim")["theirs/a"].load().name == "theirs/a"


@pytest.mark.parametrize(
    ("line", "status", "told"),
    [
        ("1 / 0", 2, [": ZeroDivisionError: division by zero", "1 / 0"]),
        ("import nowhere", 3, ["ModuleNotFoundError", "install what it asks for"]),
        ("raise SystemExit(0)", 2, ["drift.py:", ": SystemExit: 0"]),
        ("from driftproof import grid\ngrid(1)", 2, ["drift.py:", "grid(1)"]),
    ],
)
def test_what_another_package_raises_is_told_with_its_entry_point(line, status, told, theirs):
    theirs(f"{THEIRS}\n{line}\n")
    with pytest.raises(DriftproofError) as failed:
        leaves("claim")["theirs/a"].load()
    assert failed.value.exit_code == status
    for part in (*told, "package theirs", "entry point claims = theirs", "pip uninstall theirs"):
        assert part in str(failed.value)


def test_an_entry_point_without_a_package_is_told(theirs):
    theirs(THEIRS, package="gone")
    with pytest.raises(MissingError, match=r"'gone' .*, which the entry point claims of theirs"):
        leaves("claim")


def test_two_kernels_of_one_pair_are_an_error_that_names_both_files(monkeypatch):
    leaf = leaves("kernel")["nested-fedavg-s"]
    algorithm, problem = (find(p, names(leaf.metadata[p])[0]) for p in ("algorithm", "problem"))
    pair = algorithm.load()(), problem.load()()
    assert kernel_of(*pair) is leaf.load()
    again = replace(leaf, name="again", path=Path("again.py"))
    monkeypatch.setattr(
        "driftproof.toolkit.kernels.registry.leaves",
        lambda kind: {leaf.name: leaf, again.name: again},
    )
    with pytest.raises(DriftproofError, match=r"2 kernels for .*_fedavg_s\.py and again in"):
        kernel_of(*pair)


def test_metadata_of_every_kernel_names_its_pair():
    for leaf in leaves("kernel").values():
        for part in ("algorithm", "problem"):
            assert set(names(leaf.metadata[part])) <= set(leaves(part))


# -- what tests of the command rest on: a fork does as a new process


LINUX = pytest.mark.skipif(sys.platform != "linux", reason="commands are forked on Linux")
CLAIM = """
from driftproof import bound

@bound(name="own/claim", source="", statement="", right=1)
def claim(view):
    return None
"""
WORDS = ("verify", "comfedl/lemma-2", "--profile", "smoke", "--workers", "1")


@pytest.mark.parametrize("words", [WORDS, ("verify", "gone.py"), ("list", "--json", "problems")])
def test_a_fork_says_what_a_new_process_says(words, tmp_path):
    one, other = (run(*words, cwd=tmp_path) for run in (command, started))
    assert (one.returncode, one.stdout, one.stderr) == (
        other.returncode,
        other.stdout,
        other.stderr,
    )


@LINUX
def test_forks_leave_nothing_to_each_other(tmp_path, monkeypatch):
    told = "import sys, os\nsys.exit(os.environ.get('OWN', 'not set'))\n"
    (tmp_path / "own.py").write_text(told + CLAIM)
    monkeypatch.setenv("OWN", "set")
    assert "SystemExit: set" in command("verify", "own.py", cwd=tmp_path).stderr
    monkeypatch.delenv("OWN")
    assert "SystemExit: not set" in command("verify", "own.py", cwd=tmp_path).stderr


# -- law: a shape that an annotation names is checked, in whichever package, in the first calls


def test_leaves_are_checked_too(monkeypatch):
    monkeypatch.setattr(shapes, "CALLS", 10**9)  # other tests have made the first calls
    names = [
        name for name in shapes.checked if name.startswith("driftproof.synthetic.problems.opposed")
    ]
    assert names
    oracles = OpposedClients().oracles(torch.float64)
    with pytest.raises(TypeCheckError):
        oracles.outer_value(torch.ones(3))


# -- what a user imports: its three lists agree, and each name is there


def test_every_name_is_imported_from_where_it_is_said_to_be():
    assert set(driftproof.__all__) <= set(dir(driftproof))
    assert "run" in driftproof.__all__
    assert "TYPE_CHECKING" not in driftproof.__all__


@pytest.mark.parametrize("name", driftproof.__all__)
def test_every_name_is_there(name):
    assert getattr(driftproof, name) is not None


@pytest.mark.parametrize("part", ["datasets", "experiments", "networks"])
def test_what_leaves_are_written_with_is_there(part):
    offered = getattr(driftproof, part)
    assert len(set(offered.__all__)) == len(offered.__all__)
    assert all(getattr(offered, name) is not None for name in offered.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'clam'"):
        driftproof.clam  # noqa: B018


@pytest.mark.parametrize("kind", ["problem", "algorithm", "network", "split"])
def test_leaves_are_given_by_their_class_names(kind):
    offered = getattr(driftproof, f"{kind}s")
    for leaf in leaves(kind).values():
        assert leaf.symbol in dir(offered)
    some = next(iter(leaves(kind).values()))
    assert getattr(offered, some.symbol) is some.load()


def parsed(*rooms):
    paths = [p for room in rooms for p in sorted((ROOT / "verifiers" / room).rglob("*.py"))]
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def test_verdicts_are_made_by_decide_alone():
    """Elsewhere a verdict is compared with; what takes one back goes through ``withdrawn``."""
    made = Counter()
    for path, tree in parsed("judges", "running", "search", "worst_case", "claim_types").items():
        asked = {
            id(x)
            for node in ast.walk(tree)
            if isinstance(node, ast.Compare)
            for x in ast.walk(node)
        }
        made[path.name] += sum(
            ast.unparse(node).startswith("Verdict.") and id(node) not in asked
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
        )
    assert +made == Counter({"decide.py": 6})


def test_nobody_asks_of_which_type_a_claim_is():
    """A claim says by its properties what holds of it, and lists the judges that may judge it."""
    found = [
        f"{path.name}, line {node.lineno}: {ast.unparse(node)}"
        for path, tree in parsed(".").items()
        if path.parent.name != "claim_types" and "papers" not in path.parts
        for node in ast.walk(tree)
        if (isinstance(node, ast.Call) and re.match(r"isinstance\(.*\wClaim\b", ast.unparse(node)))
        or (isinstance(node, ast.Compare) and re.match(r"claim\.(kind|way)\b", ast.unparse(node)))
    ]
    assert found == []
