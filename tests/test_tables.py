"""Tables of a user's own: the same in three formats, and what is wrong is told with its place."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from driftproof.toolkit.dataset import digest, read
from driftproof.toolkit.errors import DriftproofError
from driftproof.verifiers.papers.worked_example.experiments.local_steps import FedAvgRun
from tests.commands import driftproof
from tests.test_datasets import ROOT, documented

ROWS = st.lists(
    st.tuples(st.integers(-3, 3), st.floats(-9, 9, width=16), st.booleans()), min_size=2
)


def written(folder: Path, rows, suffix: str) -> Path:
    """Write two columns of numbers and a class, and return how the table is named."""
    path = folder / f"table{suffix}"
    if suffix == ".libsvm":
        part = np.array(rows, float)
        dump_svmlight_file(part[:, :2], part[:, 2], str(path), zero_based=False)
        return path
    head = {
        ".csv": "a, b, class\n",
        ".csv.gz": '"a";"b";"class"\n',
        ".arff": "% said\n@RELATION r\n@attribute 'a' numeric\n@attribute b real\n"
        "@ATTRIBUTE class {False, True}\n@DATA\n",
    }[suffix]
    mark = ";" if suffix == ".csv.gz" else ","
    text = head + "\n".join(mark.join(map(str, row)) for row in rows)  # no end of the last line
    path.write_bytes(gzip.compress(text.encode()) if suffix.endswith("gz") else text.encode())
    return Path(f"{path}::class")


@settings(max_examples=20, deadline=None)
@given(rows=ROWS.filter(lambda rows: len({row[2] for row in rows}) == 2))
def test_a_table_is_the_same_in_each_format(tmp_path_factory, rows):
    folder, part = tmp_path_factory.mktemp("table"), np.array(rows, float)
    wide = np.ptp(part[:, :2], axis=0)
    wanted = (part[:, :2] - part[:, :2].min(0)) / np.where(wide > 0, wide, 1)
    for suffix in (".csv", ".csv.gz", ".arff", ".libsvm"):
        made = read(written(folder, rows, suffix))
        used = slice(made.shape[0])  # libsvm leaves out what is 0 at the end
        np.testing.assert_allclose(made.train.features, wanted[:, used], atol=1e-12)
        assert made.train.labels.tolist() == [row[2] for row in rows]
        assert made.classes == 2


def test_words_are_a_feature_each(tmp_path):
    (tmp_path / "t.csv").write_text("class,of\n1,red\n10,?\n2,blue\n1,red\n")
    made = read(tmp_path / "t.csv::class")
    assert made.train.features.tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert sorted(set(made.train.labels.tolist())) == [0, 1, 2]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("t.csv::y", "x,y\n1,a\n2\n", "line 3: 1 columns"),
        ("t.csv::y", 'x,y\n1,a\n"2,b\n', "line 3: unexpected end of data"),
        ("t.csv::y", "x,y\n1,a\n?,b\n", "line 3, column 'x': no value"),
        ("t.csv::y", "x,y\n1,a\n2,a\n", "column 'y': 1 different values"),
        ("t.csv::y", "x,y\n", "0 examples"),
        ("t.csv::y", "x,x\n1,2\n", "a name for each column"),
        ("t.csv::z", "x,y\n1,a\n2,b\n", "did you mean|one of x, y|wanted: x, y"),
        ("t.csv", "x,y\n1,a\n2,b\n", "add --label y"),
        ("t.csv::y", "x,y\n" + "".join(f"w{k},{k % 2}\n" for k in range(1001)), "1,001 different"),
        ("t.arff::y", "@attribute y {a}\n1\n", "0 examples"),
        ("t.libsvm", "1 1:2 x:3\n", "t.libsvm, one of its lines"),
        ("t.libsvm", "1 1:2\n0 999999999:1\n", "t.libsvm, its end|t.libsvm, one of its lines"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path, name, text, told):
    (tmp_path / name.partition("::")[0]).write_text(text)
    with pytest.raises(DriftproofError, match=told):
        read(tmp_path / name)


def test_a_data_set_of_ones_own_file_is_read_and_digested(tmp_path):
    text = (ROOT / "docs" / "datasets.md").read_text(encoding="utf-8")
    (tmp_path / "letters.py").write_text(text.split("```python\n")[1].split("```")[0])
    (tmp_path / "data").mkdir()
    documented().sample(tmp_path / "data")
    named = Path(f"{tmp_path / 'letters.py'}::{tmp_path / 'data'}")
    assert read(named).title == "EMNIST letters"
    before = digest(named)
    digest.cache_clear()
    next((tmp_path / "data").iterdir()).write_bytes(b"other")
    assert digest(named) != before
    assert digest(tmp_path / "nothing") == ""


def test_an_experiment_runs_on_a_table(tmp_path):
    random = np.random.default_rng(0)
    rows = [f"{x},{y},{x * y > 0}" for x, y in random.normal(size=(400, 2))]
    (tmp_path / "mine.csv").write_text("\n".join(["x,y,class", *rows]))
    words = ("run", "worked-example/local-steps", "--profile", "smoke", "--workers", "1", "--data")
    made = driftproof(*words, "mine.csv", "--label", "class", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "mine.csv" in made.stdout
    assert "judged by 6 examples" in made.stdout  # of 25, for which it is too small
    each = FedAvgRun(rounds=1, data=Path(f"{tmp_path / 'mine.csv'}::class")).over(2)
    judging = [{tuple(x) for part in run.problem.parts[2] for x in part} for run in each]
    assert len(judging[0]) == 60  # of 80, so that another seed has others
    assert judging[0] != judging[1]
    made = driftproof(*words, "mine.csv", cwd=tmp_path)
    assert made.returncode == 2
    assert "mine.csv without --label" in made.stderr
