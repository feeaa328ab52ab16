"""The experiment on real data: digits, IDX files, both engines, and sentences judged by seeds."""

import gzip
import json
from dataclasses import dataclass, replace
from shutil import copytree

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from driftproof.synthetic.image_problems.imbalanced import ImbalancedImages
from driftproof.toolkit.dataset import read
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.idx import as_idx
from driftproof.verifiers.experiment import (
    CHOOSING,
    Outcome,
    Run,
    Says,
    curve,
    ends,
    judge,
    judged_by_seeds,
    outcomes,
    packed,
    similar_by_seeds,
    smaller,
    tuned,
)
from driftproof.verifiers.experiment.sentence import interval
from driftproof.verifiers.papers.comfedl.experiments._imbalanced import ImageRun
from tests.commands import driftproof, started
from tests.once import experiment


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    folder, printed = experiment(tmp_path_factory, "comfedl/imbalanced")
    return folder, printed, json.loads((folder / "experiment.json").read_text())


def test_the_printed_step_overflows_and_counts_as_the_worst(smoke):
    _, _, head = smoke
    for where in ("preprint", "journal"):
        own = [s for s in head["sentences"] if s["setting"].startswith(f"ComFedL, {where} (")]
        assert len(own) == 16
        assert all("diverged on 2 of 2 seeds, in local step" in s["setting"] for s in own)
        assert all(s["effect"] < 0 for s in own)


def test_clients_have_their_own_images_and_a_search_others():
    problem = ImbalancedImages(large=200, validation=25)
    features, labels, validation, _ = problem.parts
    assert [len(part) for part in labels] == [200] + [20] * 9
    assert {len(part) for part in validation} == {25}
    search = ImbalancedImages(large=200, validation=25, choosing=True)
    assert {len(part) for part in search.parts[2]} == {14}  # there are fewer
    rows = np.concatenate([*features, *validation, *search.parts[2]])
    held = read(None).train.scaled()
    # digits repeat no image, so that a row stands for one image
    assert len(np.unique(held, axis=0)) == len(held)
    assert len(np.unique(rows, axis=0)) == len(rows)
    again = ImbalancedImages(large=200, validation=25, partition=1).parts[0][0]
    assert not np.array_equal(features[0], again)


def test_the_trivial_model_answers_one_class():
    """By a second route: a model whose constant speaks for one class, whatever the pixels."""
    run = ImageRun(rounds=1, large=200)
    problem, best = run.in_form("log"), {}
    for c in range(10):
        model = np.zeros((10, 65))
        model[c, -1] = 1.0
        for part in ("training", "validation"):
            shares = problem.accuracy(model.reshape(-1, 1), validation=part == "validation")
            for what, value in (("average", shares.mean()), ("worst", shares.min())):
                best[f"{part} {what}"] = max(best.get(f"{part} {what}", 0), value)
    assert run.trivial == pytest.approx(best)


def test_the_wire_engine_gives_the_same_curves():
    run = ImageRun(temperature=1.0, rounds=2, large=60)
    made = [run.but(engine=engine).measured() for engine in ("batched", "wire")]
    assert made[0]["round"] == made[1]["round"]
    np.testing.assert_allclose(made[0]["objective"], made[1]["objective"], rtol=1e-12)
    assert made[0]["validation average"] == made[1]["validation average"]


def test_a_folder_of_idx_files_is_run(tmp_path):
    """MNIST's format with other images: digits enlarged, as many as the smoke size needs."""
    train = read(None).train
    pixels = np.kron(train.scaled().reshape(-1, 8, 8), np.ones((1, 2, 2)))
    pixels, labels = (pixels * 255).repeat(3, 0), train.labels.repeat(3)
    for name, array in (("train-images-idx3-ubyte", pixels), ("train-labels-idx1-ubyte", labels)):
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(as_idx(array)))
    run = ImageRun(method="fedavg", rounds=3, data=tmp_path, large=1000, validation=100)
    accuracies = run.measured()["validation average"]
    assert accuracies[-1] > accuracies[0]


def test_a_run_is_resumed(smoke, tmp_path):
    folder, _, head = smoke
    out = copytree(folder, tmp_path / "again")
    words = ("--profile", "smoke", "--workers", "1", "--json", "--quiet", "--resume")
    made = driftproof("run", "comfedl/imbalanced", *words, "--out", str(out))
    assert made.returncode == 0, made.stderr
    again = json.loads(made.stdout)
    assert again["sentences"] == head["sentences"]
    assert again["findings"] == head["findings"]


def test_a_report_of_an_experiment_is_rebuilt(smoke, tmp_path):
    folder, _, _ = smoke
    again = copytree(folder, tmp_path / "again")
    (again / "index.html").unlink()
    made = started("report", str(again))
    assert made.returncode == 0, made.stderr
    assert (again / "index.html").read_bytes() == (folder / "index.html").read_bytes()


@pytest.mark.parametrize(
    ("better", "worse", "verdict"),
    [
        (np.arange(8) + 1.0, np.zeros(8), "reproduced"),
        (np.zeros(8), np.arange(8) + 1.0, "not reproduced"),
        (np.array([1, -1, 1, -1, 1, -1, 1, -1.5]), np.zeros(8), "undecided"),
        (np.ones(8), np.ones(8), "undecided"),
        (np.array([1.0, 2.0]), np.zeros(2), "undecided"),
    ],
)
def test_a_sentence_is_judged_by_a_paired_test(better, worse, verdict):
    assert judged_by_seeds("s", "x", better, worse, comparisons=10).verdict == verdict


RANKS = np.arange(1.0, 9.0)
NEARLY = RANKS * [-1, -1, 1, 1, 1, 1, 1, 1]  # 5 of 256 sign patterns are as extreme: p = 0.0195
LESS = RANKS * [1, 1, 1, -1, 1, 1, 1, 1]  # 7 of 256: p = 0.0273


def test_the_level_is_shared_by_comparisons():
    def better(comparisons, sign=1):
        given = sign * NEARLY, np.zeros(8)
        return judged_by_seeds("s", "x", *given, comparisons=comparisons).verdict

    def similar(comparisons):
        given = NEARLY / 1000 - 0.1, np.zeros(8)  # far below 0.1, and above −0.1 by p = 0.0195
        return similar_by_seeds("s", "x", *given, margin=0.1, comparisons=comparisons).verdict

    assert [better(1), better(2), better(3)] == ["reproduced", "reproduced", "undecided"]
    assert [better(2, -1), better(3, -1)] == ["not reproduced", "undecided"]
    assert [similar(1), similar(2), similar(3)] == ["reproduced", "reproduced", "undecided"]


@pytest.mark.parametrize("sign", [1, -1])
def test_a_difference_has_two_sides_to_be_beyond_a_margin(sign):
    def similar(beyond):
        given = sign * (0.1 + beyond / 1000), np.zeros(8)
        return similar_by_seeds("s", "x", *given, margin=0.1, comparisons=1).verdict

    assert similar(NEARLY) == "not reproduced"  # 0.0195 < 0.05/2
    assert similar(LESS) == "undecided"  # 0.05/2 < 0.0273 < 0.05


@pytest.mark.parametrize(
    ("difference", "verdict"),
    [
        (0.5, "reproduced"),
        (0.01, "reproduced"),
        (-0.05, "reproduced"),
        (-0.1, "undecided"),
        (-0.2, "not reproduced"),
    ],
)
def test_no_worse_has_one_side(difference, verdict):
    values = RANKS + difference + RANKS * [1, -1, -1, 1, -1, 1, 1, -1] / 1000
    made = judged_by_seeds("s", "x", values, RANKS, margin=0.1, comparisons=4)
    assert made.verdict == verdict
    ends = f"[{made.low:+.4g}, {made.high:+.4g}]"
    said = f"mean difference {difference:+.4f} {ends} over 8 seeds, margin 0.1"
    assert said in made.why
    # by a second route: the first against the second lowered by the margin
    assert judged_by_seeds("s", "x", values, RANKS - 0.1, comparisons=4).verdict == verdict


def test_no_worse_is_undecided_on_the_margin_and_shares_the_level():
    exact = judged_by_seeds("s", "x", RANKS, RANKS + 0.5, margin=0.5, comparisons=1)
    assert (exact.verdict, exact.why[-13:]) == ("undecided", "on every seed")
    verdicts = [
        judged_by_seeds(
            "s", "x", NEARLY - 100, np.zeros(8), margin=100.0, comparisons=comparisons
        ).verdict
        for comparisons in (2, 3)
    ]
    assert verdicts == ["reproduced", "undecided"]


@dataclass(frozen=True, kw_only=True)
class Told(Run):
    """A run that is not run: its results are given."""

    scales = {"loss": "loss"}
    problem = algorithm = keys = None
    trivial = {"accuracy": 0.1}

    def measured(self):
        raise NotImplementedError


def told(end, *, rise=0.0, bad=False, seeds=8):
    """Return an outcome whose accuracy ends near a number, and rose by so much in the end."""
    results = [
        {
            "accuracy": [0.0, 0.0, 0.0, end - rise, end + seed / 1e4][: 2 if bad else None],
            "loss": [2.0, 2.0, 2.0, 2.0, 2.5 - end][: 2 if bad else None],
            "bad_step": 9 if bad else None,
        }
        for seed in range(seeds)
    ]
    return Outcome(Told(rounds=4), results)


SAYS = Says(text="a is better", pairs=[("a", "b")], of=("accuracy", "loss"))


@pytest.mark.parametrize(
    ("a", "b", "verdict", "why"),
    [
        (told(0.5), told(0.4), "reproduced", ""),
        (told(0.4), told(0.5), "not reproduced", ""),
        (told(0.5), told(0.4, rise=0.2), "undecided", "early"),
        (told(0.5, rise=0.2), told(0.4), "reproduced", ""),
        (told(0.09), told(0.05), "undecided", "trivial"),
        (told(0.5), told(0.4, bad=True), "reproduced", ""),
        (told(0.5, bad=True), told(0.4), "not reproduced", ""),
        (told(0.5, bad=True), told(0.4, bad=True), "undecided", "no difference"),
    ],
)
def test_one_rule_for_what_diverges_is_early_or_trivial(a, b, verdict, why):
    made = judge(SAYS, {"a": a, "b": b})[0]
    assert made.verdict == verdict
    assert why in made.why
    (small, _) = judge(SAYS, {"a": a, "b": b}, smaller({"filters": (8, 32)}))
    assert small.verdict == "undecided"


def test_seeds_that_change_nothing_count_once():
    """In the runs of a study, and in the comparison of two of them."""

    def same(end, seeds=8):
        return Outcome(Told(rounds=4), told(end).results[:1] * seeds)

    made = judge(
        replace(SAYS, pairs=[("a", "b"), ("a", "c")]),
        {"a": same(0.5), "b": same(0.4), "c": told(0.4)},
    )
    assert [s.verdict for s in made] == ["undecided"] * 2 + ["reproduced"] * 2
    assert "7 seeds only repeat others" in made[0].setting
    assert "p =" not in made[0].why

    def results(*of_runs):
        asking = outcomes({name: Told(rounds=4, seed=k) for k, name in enumerate("ab")}, 8)
        asked = next(asking)
        assert len(asked) == 16
        with pytest.raises(StopIteration) as stop:
            asking.send([(packed(x), 0.0) for of in of_runs for x in of.results])
        return stop.value.value

    first = results(same(0.5), same(0.4))
    assert [len(of.results) for of in first.values()] == [1, 1]
    assert "7 seeds only repeat others" in ends(first, "accuracy")
    assert [len(of.results) for of in results(same(0.5), told(0.4)).values()] == [8, 8]


def test_a_similar_sentence_is_not_early():
    says = replace(SAYS, test=similar_by_seeds, margin=0.2, of=("accuracy",))
    assert judge(says, {"a": told(0.5), "b": told(0.4, rise=0.3)})[0].verdict == "reproduced"
    apart = {"a": told(0.9), "b": told(0.4, rise=0.6)}
    assert "early" in judge(says, apart)[0].why


def test_an_effect_has_its_interval():
    """By a second route: scipy's own t interval of the differences."""
    first, second = np.array([0.5, 0.6, 0.9]), np.array([0.4, 0.7, 0.3])
    made = judged_by_seeds("s", "x", first, second, comparisons=1)
    wanted = ttest_1samp(first - second, 0).confidence_interval(0.95)
    assert (made.effect, made.low, made.high) == pytest.approx((0.2, *wanted))


def test_every_method_has_as_many_runs_in_a_search():
    grids = {"few": {"rounds": (1, 2)}, "many": {"rounds": range(1, 9), "seed": range(9)}}
    methods = dict.fromkeys(grids, Told(rounds=3, seed=4))
    search = tuned(methods, grids, 6, "accuracy")
    asked = next(search)
    runs = [len({one for one in asked if one.rounds == n and one.seed == 4}) for n in (1, 2)]
    assert runs[0] >= 3  # each of two settings on three partitions
    assert len(asked) == 12
    assert methods["many"].but(partition=CHOOSING) in asked  # what is in print is tried
    answers = [
        (packed({"accuracy": [one.rounds / 10] * (one.rounds + 1), "bad_step": None}), 0.0)
        for one in asked
    ]
    with pytest.raises(StopIteration) as ended:
        search.send(answers)
    found = ended.value.value
    assert found.chosen["few"].rounds == 2
    few, many = found.lines()
    assert few == "few: 2 of 2 settings tried, chosen rounds 2 (AN END of the grid) of 1, 2"
    assert "seed" in many


def test_a_curve_goes_on_where_one_seed_diverged():
    values = np.array([[1.0, 2.0, 3.0], [3.0, 4.0, np.nan], [np.nan] * 3])
    shown = curve("a", [0, 1, 2], values)
    assert shown["mean"] == [2.0, 3.0, 3.0]
    assert shown["told"] == " (diverged: 2 of 3 seeds)"
    low, high = interval(np.array([1.0, 3.0]))
    assert (shown["low"][0], shown["high"][0]) == (low, high)
    assert curve("a", [0], np.array([[1.0], [100.0]]), "y")["mean"] == pytest.approx([10.0])


def test_a_number_that_is_not_finite_decides_nothing():
    fine, lost = np.arange(8.0), np.array([np.nan, *range(7)])
    for judged in (
        judged_by_seeds("better", "here", lost, fine, comparisons=1),
        similar_by_seeds("alike", "here", fine, lost, margin=0.1, comparisons=1),
        judged_by_seeds("as good", "here", lost, fine, margin=0.1, comparisons=1),
    ):
        assert judged.verdict == "undecided"
        assert "no finite number on" in judged.why
    assert (
        "1 of 8 seeds of the first"
        in judged_by_seeds("better", "here", lost, fine, comparisons=1).why
    )
    with pytest.raises(DriftproofError, match="of 3 points x and values of shape"):
        curve("mine", [0, 1, 2], np.zeros((2, 4)))


MISTAKEN = """
from dataclasses import dataclass
from driftproof.verifiers.experiment import Conclusion, Run, experiment

@dataclass(frozen=True)
class Part(Run):
    problem = algorithm = keys = None
    number: int

    def measured(self):
        return {"number": self.nummer}

@experiment(name="mine/mistaken", source="of this test", statement="")
def mistaken(plan):
    parts = [Part(number, rounds=0) for number in range(2)]
    results = yield parts
    return Conclusion([], [], [], [])
"""


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("source", "where", "remedy"),
    [
        (MISTAKEN, "mistaken.py:11: in measured: AttributeError", "did you mean number"),
        (
            MISTAKEN.replace("yield parts", "1 / 0"),
            "mistaken.py:16: in mistaken: ZeroDivisionError",
            "mend the line",
        ),
    ],
)
def test_a_mistake_in_a_users_experiment_is_told_with_its_line(
    tmp_path, source, where, remedy, workers
):
    file = tmp_path / "mistaken.py"
    file.write_text(source)
    made = driftproof("run", str(file), "--workers", str(workers), "--out", str(tmp_path / "out"))
    assert made.returncode == 2
    assert where in made.stderr
    assert remedy in made.stderr
    assert "Traceback" not in made.stderr + made.stdout
