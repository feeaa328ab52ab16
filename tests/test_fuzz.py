"""Law: whatever is in a file or on the command line, the command ends in order.

Real files of every kind, spoilt: a status that the command documents, no traceback, and a remedy
wherever something is refused.
"""

import json
import random
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from driftproof.synthetic.classes import over, smooth_convex
from driftproof.toolkit.algorithms.fedavg import FedAvg
from driftproof.toolkit.discover import find
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.report.files import write_text
from driftproof.toolkit.report.text_table import NARROW, lay_out
from driftproof.toolkit.verdict import Row, Verdict, row_from
from tests.commands import driftproof
from tests.once import once

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
SMOKE = ("--profile", "smoke", "--workers", "1", "--out")
DATA = ("mnist", "cifar-10", "cifar-100", "omniglot", "adult")
READ = {
    "certificates": (("check", "certificates"), "class/certificates/*.json"),
    "a search": (("counterexample", "search"), "search/search.json"),
    "a ledger": (("report", "own"), "own/ledger.sqlite"),
    "a claim": (("show", "own.py"), "own.py"),
    "data": (("run", "worked-example/local-steps", "--device", "cuda:99", "--data"), "data/*/*"),
}
"""The command that reads each kind of file, and the files.

Data are read before anything is run; no machine has that device, so that nothing is.
"""
HOSTILE = (
    None, True, -1, 2**64, 1e308, -0.0, float("nan"), float("inf"), "", "x" * 1000, "../../x",
    "/etc/passwd", "\ud800", "\0", "1e999", "1/0", "9" * 4000, [], {}, [[]], {"": None},
)  # fmt: skip


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Real files of every kind, made by the command itself."""

    def make(folder):
        (folder / "own.py").write_text(MINE)
        for words in (
            ("verify", "own.py", *SMOKE, "own"),
            ("verify", "localsgd/gradient-descent", *SMOKE, "class"),
            ("falsify", "own.py", "--climbs", "1", "--workers", "1", "--out", "search"),
        ):
            assert driftproof(*words, cwd=folder).returncode in (0, 1)
        for name in DATA:
            (folder / "data" / name).mkdir(parents=True)
            find("dataset", name).load().sample(folder / "data" / name)

    return once(tmp_path_factory, "corpus", make)


def spoilt(data: bytes, chance: random.Random) -> bytes:
    """Return bytes that are cut, flipped, repeated, or have others in their midst."""
    at, end = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    match chance.randrange(4):
        case 0:
            return data[:at]
        case 1:
            return (
                data[:at]
                + bytes(b ^ 1 << chance.randrange(8) for b in data[at : at + 4])
                + data[at + 4 :]
            )
        case 2:
            return data[:at] + data[at:end][:1000] * chance.choice((2, 50)) + data[end:]
        case _:
            return data[:at] + chance.randbytes(chance.randrange(1, 9)) + data[end:]


def spoilt_json(text: str, chance: random.Random) -> str:
    """Return JSON in which one value, at any depth, is another or is missing."""
    value = json.loads(text)
    places = list(_places(value))
    holder, key = chance.choice(places)
    if chance.random() < 0.2:
        del holder[key]
    else:
        other, name = chance.choice(places)
        holder[key] = chance.choice((*HOSTILE, [json.loads(json.dumps(other[name]))]))
    return json.dumps(value)


def _places(value: Any) -> Any:
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


def spoilt_python(text: str, chance: random.Random) -> str:
    """Return a file in which some words changed places."""
    words = text.split(" ")
    for _ in range(chance.choice((1, 1, 3))):
        words[chance.randrange(len(words))] = chance.choice((*words, "(" * 300, "None", "'"))
    return " ".join(words)


def spoil(file: Path, chance: random.Random) -> None:
    """Spoil a file in place."""
    data = file.read_bytes()
    if file.suffix == ".json" and chance.random() < 0.7:
        text = spoilt_json(data.decode(), chance)
        file.write_bytes(text.encode(errors="replace"))
    elif file.suffix == ".py":
        file.write_text(spoilt_python(data.decode(), chance))
    else:
        file.write_bytes(spoilt(data, chance))


def ends_in_order(ended) -> None:
    assert ended.returncode in (0, 1, 2, 3), ended.stderr
    for trace in ("Traceback (most recent call last)", "internal error"):
        assert trace not in ended.stdout + ended.stderr
    refused = ended.returncode in (2, 3)
    assert not refused or "remedy: " in ended.stderr or "Usage: " in ended.stderr


@pytest.mark.parametrize("kind", READ)
@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_a_file_that_is_spoilt_is_told(kind, seed, corpus, tmp_path_factory):
    words, pattern = READ[kind]
    chance = random.Random(f"{kind} {seed}")
    chosen = chance.choice(sorted(path for path in corpus.glob(pattern) if path.is_file()))
    folder = tmp_path_factory.mktemp("spoilt")
    try:
        if kind == "certificates":
            shutil.copytree(chosen.parent, folder / "certificates")
            file = folder / "certificates" / chosen.name
            words = ("check", f"certificates/{chosen.name}")
        else:
            top = chosen.relative_to(corpus).parts[0]
            copy = shutil.copytree if (corpus / top).is_dir() else shutil.copy
            copy(corpus / top, folder / top)
            file = folder / chosen.relative_to(corpus)
        spoil(file, chance)
        if kind == "data":
            words = (*words, str(file.parent.relative_to(folder)))
        ends_in_order(driftproof(*words, cwd=folder))
    finally:
        shutil.rmtree(folder)


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_command_line_ends_in_order(data, tmp_path_factory):
    """Commands that compute are given a name that there is not."""
    import click

    from driftproof.cli import cli

    names = cli.list_commands(click.Context(cli))
    name = data.draw(st.sampled_from([n for n in names if n not in ("new", "controls")]))
    command = cli.get_command(click.Context(cli), name)
    options = [opt for parameter in command.params for opt in parameter.opts if opt[:1] == "-"]
    values = ["", "-1", "1e999", "0", "a=b", "[", "*/", "x" * 500, "\x1b[0m", "../.."]
    words = data.draw(st.lists(st.sampled_from([*options, *values, "--help"]), max_size=5))
    words = [word for word in words if word not in ("--record", "--all")]
    folder = tmp_path_factory.mktemp("options")
    ends_in_order(driftproof(name, *words, "no/such-name", cwd=folder))
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("status", "told"), [(17, "remedy: x"), (2, "no"), (0, "Traceback (most recent call last)")]
)
def test_what_does_not_end_in_order_is_seen(status, told):
    """A negative control."""
    import subprocess

    with pytest.raises(AssertionError):
        ends_in_order(subprocess.CompletedProcess([], status, "", told))


def test_a_table_with_a_word_of_a_thousand_letters_is_laid_out():
    """It was widened by one letter at a time, each in a call of its own."""
    heads, cells, widths, left_out = lay_out(["a", "b"], [["x" * 2000, "y"]], 80, ("b",))
    assert heads == ["a"]
    assert left_out == ["b"]
    assert cells[1] == [["x" * 2000]]
    _, _, widths, _ = lay_out(["a", "b"], [["x" * 2000, "some words"]], 80)
    assert sum(widths) == 2000 + NARROW + len("words") + NARROW


@pytest.mark.parametrize(
    ("good", "bad", "told"),
    [
        ("return c.tau**2", "return c/tau**2", "in right: NameError: name 'tau' is not defined"),
        ("right=right", "right=int", "TypeError: int()"),
        ("right=right", "right=2 * tau", "write right=lambda c: …, with c.tau for tau"),
        ('why="less"', "why=bound", "for its quote or its why"),
    ],
)
def test_what_a_users_claim_says_is_told_before_it_is_judged(tmp_path, good, bad, told):
    assert good in MINE
    (tmp_path / "mine.py").write_text(MINE.replace(good, bad, 1))
    made = driftproof("show", "mine.py", cwd=tmp_path)
    assert made.returncode == 2
    assert told in made.stderr
    assert "mine.py" in made.stderr


def test_a_run_over_a_class_has_no_more_steps_than_can_be_solved():
    with pytest.raises(DriftproofError, match="2,000 steps of FedAvg"):
        over([smooth_convex(L=1)], FedAvg(local_steps=20), rounds=[1, 100], clients=1)


def test_half_a_letter_of_a_ledger_is_written_as_what_it_is(tmp_path):
    write_text(tmp_path / "page.html", "half: \ud800")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == r"half: \ud800"


@pytest.mark.parametrize("seconds", ["inf", "nan", "0", "-1"])
def test_seconds_of_a_search_are_a_number_above_zero(seconds):
    made = driftproof("falsify", "localsgd/gradient-descent", "--budget", seconds)
    assert made.returncode == 2
    assert "Invalid value for '--budget'" in made.stderr


def test_a_certificate_of_a_ledger_is_text():
    row = Row("c", "printed", "e", "", "bound", {}, Verdict.SUPPORTED, None, "why")
    assert row_from(asdict(row)) == row
    with pytest.raises(TypeError, match="a certificate that is no text"):
        row_from(asdict(row) | {"proofs": {"a.json": 1}})
