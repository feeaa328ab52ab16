"""Inputs that are wrong in every way, and the command run on them under a guard.

``make`` draws one input of a kind from a seed: a real file or command line, mutated. ``attempts``
runs the command on some of them in a child of this process, and tells of each what it came to, how
long it took, how much memory, and what it wrote outside ``--out``.
"""

from __future__ import annotations

import io
import json
import os
import random
import re
import resource
import select
import shutil
import signal
import sqlite3
import sys
import tokenize
import traceback
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from toolkit.ledger import digest_of

ROOT = Path(__file__).parents[1]
STATUSES = (0, 1, 2, 3, 130)
"""What the commands' help says of exit statuses."""
PATIENCE = 60
"""Seconds of work after which an input counts as one that hangs."""
MEMORY = 2**31
"""Bytes that an input may take."""
PROGRESS = re.compile(r"\b\d+ of \d+\b")
TRACES = ("Traceback (most recent call last)", "internal error", "leaked semaphore")


@dataclass(frozen=True)
class Input:
    """What the command is run on.

    Attributes:
        words: the command line; a file is named relative to the folder that it is run in.
        made: writes the files into that folder.
        python: what is called in place of the command, with the folder.
        may_write: names in the folder, beside those of ``made``, that may be written.
        whole: the command runs from its entry on, in a process of its own.
    """

    words: Sequence[str]
    made: Callable[[Path], None] = lambda folder: None
    python: Callable[[Path], object] | None = None
    may_write: Sequence[str] = ("out",)
    whole: bool = False


@dataclass
class Outcome:
    """What became of an input.

    Attributes:
        status: the exit status; minus the signal's number if one ended it.
        told: what was written to standard output and error.
        seconds: of processor time.
        memory: bytes, at most, of the process and what it shares with its parent.
        written: what was written, run or asked of a network outside of what it may.
    """

    status: int
    told: str
    seconds: float = 0.0
    memory: int = 0
    written: list[str] = field(default_factory=list)

    @property
    def long(self) -> bool:
        """Whether it was asked for much, as by ``controls *``, and told how far it had come."""
        return self.seconds > PATIENCE and PROGRESS.search(self.told) is not None

    @property
    def wrong(self) -> str:
        """What is wrong with it, in words ("": nothing)."""
        if any(trace in self.told for trace in TRACES):
            return "traceback"
        if self.status == -signal.SIGXCPU or self.seconds > PATIENCE:
            return "" if self.long else "hang"
        if self.status not in STATUSES:
            return f"status {self.status}"
        if self.memory > MEMORY:
            return "memory"
        if self.written:
            return "written outside"
        helped = any(word in self.told for word in ("remedy:", "Error: ", "Usage: "))
        if self.status in (2, 3) and not helped:
            return "no remedy"
        return ""


# ---- mutations -------------------------------------------------------------------------------

HOSTILE = (
    "", " ", "../../x", "/etc/passwd", "a/../../../x", "\0", "a\0b", "\u202etxt.exe", "\ud800",
    "<script>document.title='ERROR'</script>", '"><img src=x onerror=alert(1)>', "</script>",
    "</style>", "javascript:alert(1)", r"\input{/etc/passwd}", r"\text{<img src=x>}",
    r"$\frac{$",
    "%s%n{}{0}", "{{ 7 * 7 }}", "$(id)", "`id`", "; id", "-", "--", "-x", "--help", "*", "[",
    "**/*",
    "~", ".",
    "..", "con", "é" * 60, "x" * 300, "x" * 100_000, "\n", "\r\n", "\x1b[31m", "NaN", "inf",
    "1e999", "-0", "null", "None", "\N{SNOWMAN}", "𝒪", "1_000", "0x10", "1/0", "9" * 5000,
)  # fmt: skip
NUMBERS = (
    0, 1, -1, 2, 3, 64, 255, 256, 2**31, 2**32 - 1, 2**53 + 1, 2**63, 2**64, -(2**63), 10**30,
    10**400, 0.5, -0.5, 1e-300, 5e-324, 1e300, -1e300, 0.1, 1e16, float("inf"), float("-inf"),
    float("nan"),
)  # fmt: skip
DEEP = 100_000


BYTES = tuple(text.replace("\ud800", "\udcff") for text in HOSTILE)
"""The same of a command line: a lone surrogate stands for a byte that is no UTF-8."""


def mutated_bytes(data: bytes, rng: random.Random, others: Sequence[bytes] = ()) -> bytes:
    """Return bytes with one to four changes: flips, cuts, repeats, splices, numbers."""
    made = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at = rng.randrange(len(made) + 1)
        near = min(len(made), rng.choice((at, rng.randrange(33))))
        end = min(len(made), near + rng.choice((1, 2, 4, 8, 64, 1000)))
        match rng.randrange(9):
            case 0 if made:
                made[min(near, len(made) - 1)] ^= 1 << rng.randrange(8)
            case 1 if made:
                made[min(near, len(made) - 1)] = rng.choice((0, 1, 10, 32, 127, 128, 255))
            case 2:
                del made[at:]
            case 3:
                del made[near:end]
            case 4:
                made[near:near] = made[near:end] * rng.choice((1, 2, 100))
            case 5 if others:
                other = rng.choice(others)
                cut = rng.randrange(len(other) + 1)
                made[at:] = other[cut : cut + 100_000]
            case 6:
                made[near:near] = rng.randbytes(rng.choice((1, 4, 100)))
            case 7:
                width = rng.choice((1, 2, 4, 8))
                number = rng.choice((0, 1, 2 ** (8 * width - 1), 2 ** (8 * width) - 1))
                made[near : near + width] = number.to_bytes(width, rng.choice(("little", "big")))
            case _:
                digits = list(re.finditer(rb"\d+", bytes(made[:200_000])))
                if digits:
                    chosen = rng.choice(digits)
                    made[chosen.start() : chosen.end()] = _written(rng.choice(NUMBERS)).encode()
    return bytes(made)


def _written(number: float) -> str:
    return str(number) if not isinstance(number, int) else f"{number:d}"


def hostile(rng: random.Random) -> Any:
    """Return a value that nobody expects."""
    return rng.choice(
        (
            lambda: rng.choice(HOSTILE),
            lambda: rng.choice(NUMBERS),
            lambda: rng.choice((None, True, False, [], {}, [[]], {"": ""}, [None], [[], {}])),
            lambda: [rng.choice(NUMBERS)] * rng.choice((1, 3, 1000)),
            lambda: {rng.choice(HOSTILE): rng.choice(NUMBERS)},
        )
    )()


def mutated_json(value: Any, rng: random.Random) -> Any:
    """Return a copy of a JSON value in which one to three places are others."""
    value = json.loads(json.dumps(value))
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        places = list(_places(value))
        if not places:
            return hostile(rng)
        holder, key = rng.choice(places)
        match rng.randrange(8):
            case 0 if isinstance(holder, dict):
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[rng.choice(HOSTILE)] = holder.pop(key)
            case 2 if isinstance(holder, dict):
                holder[rng.choice((*HOSTILE, *map(str, holder)))] = hostile(rng)
            case 3 if isinstance(holder, list):
                holder.insert(rng.randrange(len(holder) + 1), holder[key])
            case 4 if isinstance(holder, list):
                del holder[key]
            case 5:
                other, name = rng.choice(places)
                with suppress(LookupError):  # it was taken away with what held it
                    holder[key] = json.loads(json.dumps(other[name]))
            case _:
                holder[key] = hostile(rng)
    return value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place of a JSON value: what holds it, and where."""
    keys = list(value) if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])


def json_text(value: Any, rng: random.Random) -> str:
    """Return JSON as text, now and then nested too deep or not JSON any more."""
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5)
    match rng.randrange(20):
        case 0:
            text = "[" * DEEP + text
        case 1:
            text = '{"a":' * DEEP
        case 2:
            text = text[: rng.randrange(len(text) + 1)]
        case 3:
            text = re.sub(r"\d+", lambda m: rng.choice((m[0], "9" * 5000)), text, count=9)
    return text


def mutated_python(text: str, rng: random.Random, pool: Sequence[str]) -> str:
    """Return Python in which a few tokens were taken away, doubled, swapped or replaced.

    Args:
        pool: names that may come in the place of one. What could write files is not among them.
    """
    try:
        tokens = [
            (t.type, t.string, t.start, t.end)
            for t in tokenize.generate_tokens(io.StringIO(text).readline)
        ]
    except (tokenize.TokenError, SyntaxError):
        return text
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    spots = [
        (kind, starts[start[0] - 1] + start[1], starts[end[0] - 1] + end[1], string)
        for kind, string, start, end in tokens
        if string.strip() and end[0] <= len(lines)
    ]
    changes: dict[int, tuple[int, str]] = {}
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        kind, begin, end, string = rng.choice(spots)
        match rng.randrange(10):
            case 0:
                new = ""
            case 1:
                new = f"{string} {string}"
            case 2:
                new = rng.choice(spots)[3]
            case 3:
                nested = rng.choice((5, 150, 300, 5000))
                new = "(" * nested + string + ")" * nested
            case 4:
                new = "-" * rng.choice((1, 3, 5000)) + string
            case _ if kind == tokenize.NUMBER:
                number = rng.choice(NUMBERS)
                new = f"float('{number}')" if number in SPECIAL or number != number else f"{number}"
            case _ if kind == tokenize.STRING:
                new = repr(rng.choice(HOSTILE))
            case _ if kind == tokenize.NAME:
                new = rng.choice(pool)
            case _:
                new = rng.choice(("+", "-", "*", "/", "**", "(", ")", "[", "]", ",", ":", "=", "@"))
        changes[begin] = (end, new)
    for begin in sorted(changes, reverse=True):
        end, new = changes[begin]
        text = text[:begin] + new + text[end:]
    return text


SPECIAL = (float("inf"), float("-inf"))

# ---- kinds -----------------------------------------------------------------------------------

MINE = """\
from driftproof import bound, each, grid, narrower, sq
from driftproof.algorithms import ComFedL
from driftproof.problems import BoundedComposition

def right(c):
    return c.tau**2 * c.eta**2 * c.G_f**2 * c.G_g**2

@bound(
    name="mine/drift", source="my draft", statement=r"\\|w - \\bar w\\|^2 \\le \\tau^2\\eta^2G^2",
    cases=grid(BoundedComposition(distance=20.0, dim=2), ComFedL(local_steps=[1, 2]), rounds=2),
    right=right, readings={"half": narrower(lambda c: right(c) / 2, why="less")}, range=right,
    false_siblings=[("tenth", lambda c: right(c) / 10)], explain="Said of it.",
)
def drift(view):
    return each("round", "local_step", sq(view.mean("w") - view.round_start("w")))
"""
CLAIMS = {
    "own": MINE,
    "class": "verifiers/claims/localsgd/gradient_descent.py",
    "proof": "verifiers/claims/comfedl/lemma_1_proof_journal.py",
    "comparison": "verifiers/claims/comfedl/section_3.py",
    "bound": "verifiers/claims/comfedl/lemma_2.py",
}
POOL = (
    "c", "view", "right", "bound", "each", "grid", "sq", "None", "True", "lambda", "def", "return",
    "import", "from", "class", "yield", "await", "raise", "bound", "rate", "proof", "comparison",
    "ComFedL", "BoundedComposition", "float", "int", "str", "list", "type", "object", "self", "in",
    "tau", "eta", "G_f", "round", "mean", "w", "x", "print", "len", "Exception", "SystemExit",
)  # fmt: skip
DATA = ("mnist", "cifar-10", "cifar-100", "omniglot", "adult")
EXPERIMENT = "worked-example/local-steps"
KINDS = ("options", "claim", "data", "ledger", "certificate", "results")


class Corpus:
    """Real files, made by the command itself: what is mutated.

    Args:
        folder: where they are, or are made.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names = ("own", "class", EXPERIMENT.replace("/", "-"))
        if not (folder / "ready").exists():
            self._make()

    def _make(self) -> None:
        from tests.commands import driftproof
        from toolkit.discover import find

        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        smoke = ("--profile", "smoke", "--workers", "1", "--out")
        for name in self.names[:2]:
            (self.folder / f"{name}.py").write_text(claim_text(name), encoding="utf-8")
            words = ["verify", f"{name}.py" if name == "own" else "localsgd/gradient-descent"]
            made = driftproof(*words, *smoke, name, cwd=self.folder)
            assert made.returncode in (0, 1), made.stderr
        made = driftproof("run", EXPERIMENT, *smoke, self.names[2], cwd=self.folder)
        assert made.returncode == 0, made.stderr
        words = ["falsify", "own.py", "--climbs", "1", "--workers", "1", "--out", "search"]
        made = driftproof(*words, cwd=self.folder)
        assert made.returncode in (0, 1), made.stderr
        for name in DATA:
            (self.folder / "data" / name).mkdir(parents=True)
            find("dataset", name).load().sample(self.folder / "data" / name)
        (self.folder / "ready").touch()

    @cache  # noqa: B019 - there is one
    def ledger(self, name: str) -> tuple[Any, list[Any], list[tuple[Any, ...]]]:
        """Return the head, the rows and the units of a ledger."""
        with sqlite3.connect(self.folder / name / "ledger.sqlite") as db:
            head, rows = map(json.loads, db.execute("SELECT head, rows FROM runs").fetchone())
            return head, rows, list(db.execute("SELECT key, blob, seconds FROM tasks"))

    @cache  # noqa: B019 - there is one
    def texts(self, pattern: str) -> list[tuple[str, bytes]]:
        """Return names and contents of files."""
        found = sorted(path for path in self.folder.glob(pattern) if path.is_file())
        return [(path.name, path.read_bytes()) for path in found]


@cache
def claim_text(name: str) -> str:
    """Return a small claim file."""
    text = CLAIMS[name]
    text = text if "\n" in text else (ROOT / text).read_text(encoding="utf-8")
    return re.sub('name="[a-z]+/', 'name="mine/', text)


def make(kind: str, rng: random.Random, corpus: Corpus) -> Input:
    """Return an input of a kind."""
    return globals()[f"_{kind}"](rng, corpus)


def _claim(rng: random.Random, corpus: Corpus) -> Input:
    text = claim_text(rng.choice(list(CLAIMS)))
    data = text.encode()
    if rng.random() < 0.2:
        data = mutated_bytes(data, rng, [claim_text(n).encode() for n in CLAIMS])
    else:
        data = mutated_python(text, rng, POOL).encode(errors="surrogatepass")
    smoke = ["--profile", "smoke", "--workers", "1", "--out", "out"]
    words = rng.choice(
        (
            *[["verify", "mine.py", *smoke]] * 6,
            ["show", "mine.py"],
            ["controls", "mine.py", "--workers", "1"],
            ["verify", "mine.py", "--json", *smoke],
        )
    )
    return Input(words, lambda f: _write(f / "mine.py", data) or None, whole=True)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _data(rng: random.Random, corpus: Corpus) -> Input:
    name = rng.choice(DATA)
    files = dict(corpus.texts(f"data/{name}/*"))
    chosen = rng.choice(list(files))
    if chosen.endswith(".zip") and rng.random() < 0.5:
        files[chosen] = _mutated_zip(files[chosen], rng)
    else:
        files[chosen] = mutated_bytes(files[chosen], rng, list(files.values()))
    if rng.random() < 0.05:
        files[f"{chosen}.gz"] = files.pop(chosen)

    def made(folder: Path) -> None:
        for name, data in files.items():
            _write(folder / "data" / name, data)

    # read before anything is run; no machine has that device, so that nothing is
    return Input(["run", EXPERIMENT, "--data", "data", "--device", "cuda:99"], made)


def _mutated_zip(data: bytes, rng: random.Random) -> bytes:
    """Return a whole archive whose members have other names or contents."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w") as new:
        members = old.infolist()
        wrong = rng.randrange(len(members))
        for number, member in enumerate(members):
            name, content = member.filename, old.read(member)
            if number == wrong and rng.random() < 0.5:
                name = rng.choice(HOSTILE)[:1000].replace("\ud800", "?").replace("\0", "?") or "x"
            elif number == wrong:
                content = mutated_bytes(content, rng)
            new.writestr(name, content, rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))
    return made.getvalue()


def _ledger(rng: random.Random, corpus: Corpus) -> Input:
    """A ledger that somebody changed, digests included, so that it is read."""
    name = rng.choice(corpus.names)
    head, rows, tasks = corpus.ledger(name)
    kind = rng.randrange(7)
    what = rng.choice(("head", "rows")) if rows else "head"
    if what == "head":
        head = mutated_json(head, rng)
    else:
        at = rng.randrange(len(rows))
        rows = [*rows[:at], mutated_json(rows[at], rng), *rows[at + 1 :]]
    texts = [json_text(part, rng).encode(errors="replace").decode() for part in (head, rows)]
    if kind == 6:  # resume: tasks count, not rows
        at = rng.randrange(len(tasks))
        key, blob, seconds = tasks[at]
        if blob[:1] in (b"{", b"["):
            blob = json_text(mutated_json(json.loads(blob), rng), rng).encode(errors="replace")
        else:
            blob = mutated_bytes(blob, rng)
        tasks = [*tasks[:at], (key, blob, seconds), *tasks[at + 1 :]]

    def made(folder: Path) -> None:
        for out in ("out", "other"):
            (folder / out).mkdir()
            shutil.copy(corpus.folder / name / "ledger.sqlite", folder / out)
        with sqlite3.connect(folder / "out" / "ledger.sqlite") as db:
            run = "UPDATE runs SET head = ?, rows = ?, digest = ?"
            db.execute(run, (*texts, digest_of(*texts)))
            changed = "INSERT OR REPLACE INTO tasks VALUES (?, ?, ?, ?)"
            db.executemany(changed, [(*task, digest_of(*task)) for task in tasks])
        db.close()
        if name == "own":
            _write(folder / "own.py", MINE.encode())

    smoke = ["--profile", "smoke", "--workers", "1", "--resume", "--out", "out"]
    resumed = {
        "own": ["verify", str(corpus.folder / "own.py"), *smoke],
        "class": ["verify", "localsgd/gradient-descent", *smoke],
    }.get(name, ["run", EXPERIMENT, *smoke])
    words = (
        [["report", "out"]] * 3
        + [["report", "out", "other"], ["report", "other", "out"], ["report", "out", "--parquet"]]
        + [resumed]
    )[kind]
    return Input(words, made, may_write=("out", "other"), whole=kind == 6 and name == "own")


def _certificate(rng: random.Random, corpus: Corpus) -> Input:
    files = [data for _, data in corpus.texts("class/certificates/*")]
    data = rng.choice(files)
    if rng.random() < 0.3:
        data = mutated_bytes(data, rng, files)
    else:
        text = json_text(mutated_json(json.loads(data), rng), rng)
        data = text.encode(errors=rng.choice(("replace", "surrogatepass")))
    return Input(["check", "c.json"], lambda folder: _write(folder / "c.json", data))


def _results(rng: random.Random, corpus: Corpus) -> Input:
    where = rng.choice(("own", "class", "search"))
    file = "search.json" if where == "search" else "results.json"
    ((_, data),) = corpus.texts(f"{where}/{file}")
    if rng.random() < 0.3:
        data = mutated_bytes(data, rng)
    else:
        text = json_text(mutated_json(json.loads(data), rng), rng)
        data = text.encode(errors=rng.choice(("replace", "surrogatepass")))

    def made(folder: Path) -> None:
        _write(folder / "out" / file, data)
        for name, text in corpus.texts("search/*.py"):
            _write(folder / "out" / name, text)

    if where == "search":
        return Input(["counterexample", "out"], made, may_write=())
    return Input(["frame", "out"], made, python=_frame, may_write=())


def _frame(folder: Path) -> object:
    from driftproof import frame

    return frame(folder / "out")


@cache
def _commands() -> dict[str, Any]:
    import click

    from driftproof.cli import cli

    ctx = click.Context(cli)
    return {name: cli.get_command(ctx, name) for name in cli.list_commands(ctx)}


SMALL = {
    "select": ("localsgd/gradient-descent", "comfedl/remark-2", "comfedl/lemma-1-proof-v1"),
    "experiment": ("no/such", "worked-example/local", "fednest/minimax "),
    "kernel": ("no-such-kernel", "w1 ", "W"),
    "claim": ("comfedl/equation-10", "localsgd/gradient-descent", "scgdm/lemma-a-2"),
    "kind": ("claims", "claim", "roles", "problem", "kernels"),
    "name": ("comfedl/lemma-2", "mine/x", "fedavg", "lemma-2"),
    "folders": ("own", "class"), "folder": ("own", "class"), "other": ("class", "own"),
    "certificates": ("class/certificates/x.json", "class"),
    "profile": ("smoke",), "engine": ("batched", "wire"), "device": ("cpu", "cuda:99", "tpu"),
    "out": ("out", "out/deep/er"), "workers": ("1",), "climbs": ("1",), "budget": ("0.01",),
    "cluster": ("dask=", "dusk", "dask=tcp://", "=", "dask=:", "dask=nohost.invalid"),
    "problem": ("dim=2", "heterogeneity=0,1", "=", "dim=", "dim=1e999", "a=b=c", ",", "dim=-1"),
    "algorithm": ("local_steps=1,2", "local_steps=0", "step_size=nan", "x=1"),
    "replicates": ("64",), "data": ("own", "no"), "seed": ("1",), "search": ("0", "0.01"),
    "origin": ("comfedl/lemma-2", "fedavg"), "form": ("*", "[", "corrected*"),
}  # fmt: skip
"""Values by parameter that are right, or nearly, and lead to little work."""
COSTLY = {"bench", "controls", "falsify", "run", "verify"}
"""Commands that compute: they always get what bounds the work."""
BOUNDS = {
    "bench": ["no-such-kernel"],
    "controls": ["localsgd/gradient-descent", "--workers", "1"],
    "falsify": ["localsgd/gradient-descent", "--climbs", "1", "--workers", "1"],
    "run": ["no/such"],
    "verify": ["localsgd/gradient-descent", "--profile", "smoke", "--workers", "1"],
}


def _options(rng: random.Random, corpus: Corpus) -> Input:
    import click

    if rng.random() < 0.05:
        words = [_word(rng, "select") for _ in range(rng.randrange(4))]
        return Input([*words, *rng.choice(([], ["--help"], ["--version"]))], may_write=("out",))
    name, command = rng.choice(list(_commands().items()))
    words = []
    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            wanted = parameter.name != "folders" or rng.random() < 0.9
            words += [_word(rng, parameter.name)] * wanted * rng.choice((0, 1, 1, 1, 1, 1, 2))
        elif rng.random() < 0.25 and parameter.name not in ("record", "run"):
            words.append(rng.choice((*parameter.opts, *parameter.secondary_opts)))
            if not getattr(parameter, "is_flag", False) and rng.random() < 0.95:
                words.append(_word(rng, parameter.name))
    if name in COSTLY and rng.random() < 0.97:  # what is said last counts
        words += BOUNDS[name]
        words = [w for w in words if w == "localsgd/gradient-descent" or w not in SMALL["select"]]
    elif name in COSTLY:
        words = [w for w in words if not w.startswith("-")] + ["--no-such-option"]
    for _ in range(rng.choice((0, 0, 0, 1, 2))):
        at = rng.randrange(len(words) + 1)
        words[at:at] = [rng.choice((*BYTES, "--debug", "--quiet", "--out", "--seed=-1", "-p"))]
    words = ["--out" if word == "--record" else word for word in words]

    def made(folder: Path) -> None:
        for name in corpus.names[:2]:
            (folder / name).mkdir()
            shutil.copy(corpus.folder / name / "ledger.sqlite", folder / name)

    own = [word for word in words if word not in ("--debug", "--quiet")]  # allowed anywhere
    outs = [own[k + 1] for k, word in enumerate(own[:-1]) if word == "--out"]
    outs += [word.partition("=")[2] for word in words if word.startswith("--out=")]
    return Input([name, *words], made, may_write=("out", "own", "class", "report*", *outs, "*.py"))


def _word(rng: random.Random, name: str | None) -> str:
    if rng.random() < 0.6 and name in SMALL:
        return rng.choice(SMALL[name])
    match rng.randrange(3):
        case 0:
            return _written(rng.choice(NUMBERS))
        case 1:
            return rng.choice([w for words in SMALL.values() for w in words])
        case _:
            return rng.choice(BYTES)[:50_000]


# ---- running ---------------------------------------------------------------------------------


def attempts(inputs: Sequence[Input], folder: Path) -> list[Outcome]:
    """Run the command on some inputs, one after the other, in a child of this process.

    What ends the child is told of the input that it was at; the rest go on in another child.
    """
    done: list[Outcome] = []
    while len(done) < len(inputs):
        done += _in_child(inputs[len(done) :], folder, len(done))
    return done


def _in_child(inputs: Sequence[Input], folder: Path, first: int) -> list[Outcome]:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    read, write = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.setpgid(0, 0)
        try:
            _child(inputs, folder, write)
        except BaseException:  # noqa: BLE001 - a defect of the harness
            traceback.print_exc()
        finally:
            os._exit(99)
    os.close(write)
    with os.fdopen(read) as pipe:
        lines = _lines(pipe, child)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    _, ended, used = os.wait4(child, 0)
    outcomes = [Outcome(**json.loads(line)) for line in lines]
    if len(outcomes) < len(inputs):
        at = folder / f"{len(outcomes)}"
        told = (at / "told").read_text(errors="replace") if (at / "told").exists() else ""
        status = os.waitstatus_to_exitcode(ended)
        memory = used.ru_maxrss * 1024
        outcomes.append(Outcome(status, told, used.ru_utime + used.ru_stime, memory, _asked(at)))
        if status == -signal.SIGKILL:  # we did, after ten times the patience
            outcomes[-1].seconds = 10.0 * PATIENCE
    for number, (outcome, one) in enumerate(zip(outcomes, inputs, strict=False)):
        outcome.written += _strays(folder / f"{number}", one)
    return outcomes


def _lines(pipe: Any, child: int) -> list[str]:
    """Return what the child tells; it ends where it says nothing for ten times the patience."""
    lines = []
    while True:
        ready, _, _ = select.select([pipe], [], [], 10 * PATIENCE)
        if not ready:
            os.killpg(child, signal.SIGKILL)
            return lines
        line = pipe.readline()
        if not line.endswith("\n"):
            return lines
        lines.append(line)


def _child(inputs: Sequence[Input], folder: Path, pipe: int) -> None:
    virtual = int(re.search(r"VmSize:\s+(\d+)", Path("/proc/self/status").read_text())[1]) * 1024
    resource.setrlimit(resource.RLIMIT_AS, (virtual + 2 * MEMORY, virtual + 2 * MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    guard, process = Guard(), os.getpid()
    for number, one in enumerate(inputs):
        place = folder / f"{number}"
        here = place / "here"
        for name in ("here", "home", "temporary"):
            (place / name).mkdir(parents=True)
        one.made(here)
        told = os.open(place / "told", os.O_RDWR | os.O_CREAT)
        for stream in (1, 2):
            os.dup2(told, stream)
        os.close(told)
        # pytest may have put others in their place
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(  # noqa: SIM115
            2, "w", encoding="utf-8", errors="backslashreplace", closefd=False
        )
        _environment(place)
        os.chdir(here)
        guard.begin(place, one)
        began = _used()
        allowed = began + PATIENCE + 1
        resource.setrlimit(resource.RLIMIT_CPU, (int(allowed) + 1, resource.RLIM_INFINITY))
        status = _status(one, here)
        if os.getpid() != process:  # the child that a user's file runs in
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
        used = _used() - began
        guard.end()
        sys.stdout.flush()
        sys.stderr.flush()
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        memory = 1024 * max(memory, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
        text = (place / "told").read_text(encoding="utf-8", errors="replace")
        if "--debug" in one.words:  # asked for
            text = text.replace("Traceback (most recent call last)", "Traceback")
        text = text if len(text) < 20_000 else f"{text[:10_000]} … {text[-10_000:]}"
        outcome = Outcome(status, text, used, memory, _asked(place))
        os.write(pipe, json.dumps(asdict(outcome)).encode() + b"\n")
    os._exit(0)


def _used() -> float:
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def _environment(place: Path) -> None:
    import tempfile

    os.environ |= {
        "HOME": str(place / "home"), "TMPDIR": str(place / "temporary"), "COLUMNS": "100",
        "XDG_CACHE_HOME": str(place / "home"), "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    tempfile.tempdir = None


def _status(one: Input, here: Path) -> int:
    from driftproof.cli import main, status
    from toolkit.errors import DriftproofError

    try:
        if one.python is not None:
            try:
                one.python(here)
            except DriftproofError as error:
                sys.stderr.write(f"{error}\n")
                return error.exit_code
            return 0
        if not one.whole:
            return status(list(one.words))
        sys.argv = ["driftproof", *one.words]
        sys.path[0] = str(here)
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    except BaseException:  # noqa: BLE001 - what would be a traceback
        traceback.print_exc()
        return 1
    return 0


class Guard:
    """Notes what a process asks the system to write, run or connect outside of what it may."""

    EVENTS: dict[str, tuple[int, ...]] = {
        "os.mkdir": (0,), "os.rename": (0, 1), "os.remove": (0,), "os.rmdir": (0,),
        "os.link": (0, 1), "os.symlink": (1,), "os.truncate": (0,), "os.chmod": (0,),
        "os.chown": (0,), "os.utime": (0,), "os.mkfifo": (0,),
    }  # fmt: skip
    NEVER = (
        "socket.connect", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn",
        "pickle.find_class",
    )  # fmt: skip
    WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

    def __init__(self) -> None:
        self.file = -1
        self.allowed: tuple[str, ...] = ()
        sys.addaudithook(self._hook)

    def begin(self, place: Path, one: Input) -> None:
        """Watch what is done from now on."""
        self.file = os.open(place / "asked", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.here, self.one = str(place / "here"), one
        self.temporary = str(place / "temporary")

    def end(self) -> None:
        """Watch no longer."""
        os.close(self.file)
        self.file = -1

    def _hook(self, event: str, details: tuple[Any, ...]) -> None:
        if self.file < 0:
            return
        if event == "open":
            path, _, flags = details
            if isinstance(path, int) or not (flags or 0) & self.WRITING:
                return
            paths = [path]
        elif event in self.EVENTS:
            paths = [details[k] for k in self.EVENTS[event]]
            opened = [d for d in details[len(paths) :] if isinstance(d, int) and d >= 0]
            if event in ("os.remove", "os.rmdir") and opened:  # relative to an open folder
                paths = [os.path.join(os.readlink(f"/proc/self/fd/{opened[0]}"), paths[0])]
        elif event in self.NEVER:
            if event == "pickle.find_class" and str(details[0]).partition(".")[0] != "os":
                return
            self._note(f"{event} {details!r}")
            return
        else:
            return
        for path in paths:
            if not isinstance(path, int) and not self._may(os.fsdecode(path)):
                self._note(f"{event} {os.fsdecode(path)}")

    def _note(self, text: str) -> None:
        line = f"{text[:300]!r}\n".encode(errors="replace")
        if self.file >= 0:
            os.write(self.file, line)

    def _may(self, path: str) -> bool:
        full = os.path.normpath(os.path.join(self.here, path))
        if full.startswith(self.temporary) or full in ("/dev/null", "/dev/tty"):
            return True
        inside = os.path.relpath(full, self.here)
        return _allowed(inside, self.one)


def _allowed(inside: str, one: Input) -> bool:
    """Say whether a path, as seen from the folder of the command, may be written."""
    from fnmatch import fnmatchcase

    for may in one.may_write:
        named = os.path.normpath(may)
        if named == "/":
            continue
        if named == "." and not inside.startswith(".."):
            return True
        if fnmatchcase(inside, may) or inside == named or inside.startswith(f"{named}/"):
            return True
        if named.startswith(f"{inside}/") or fnmatchcase(inside.partition("/")[0], may):
            return True
    return False


def _asked(place: Path) -> list[str]:
    file = place / "asked"
    return file.read_text(errors="replace").splitlines() if file.exists() else []


def _strays(place: Path, one: Input) -> list[str]:
    """Return what lies in the folders of an input that should not, and take it away."""
    given: set[str] = set()
    fresh = place.with_name(f"{place.name}-given")
    fresh.mkdir(exist_ok=True)
    one.made(fresh)
    given = {str(path.relative_to(fresh)) for path in fresh.rglob("*")}
    here = place / "here"
    strays = [
        str(path.relative_to(here))
        for path in (here.rglob("*") if here.exists() else ())
        if str(path.relative_to(here)) not in given
        and not _allowed(str(path.relative_to(here)), one)
    ]
    for name in ("home", "temporary"):
        strays += [f"{name}/{path.name}" for path in (place / name).glob("*")]
    shutil.rmtree(place, ignore_errors=True)
    shutil.rmtree(fresh, ignore_errors=True)
    return [f"left: {stray}" for stray in strays]
