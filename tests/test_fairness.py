"""Equality of opportunity as a penalty, and FedDRO's figure 3 that is made of it."""

import json
from math import exp, log

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from driftproof.synthetic.network_problems.fairness import FairLosses
from driftproof.synthetic.network_problems.samples import ClientData
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.networks import SoftmaxRegression
from driftproof.verifiers.experiment import CHOOSING, Outcome, judge
from driftproof.verifiers.papers.feddro.experiments import adult_fairness
from driftproof.verifiers.papers.feddro.experiments._people import (
    CLIENTS,
    SPLITS,
    federation,
    people,
)
from driftproof.verifiers.papers.feddro.experiments.adult_fairness import FairRun, scored
from tests.once import experiment

SIZES = (5, 9)


def small(**given):
    random = np.random.default_rng(0)
    inputs = [random.normal(size=(n, 2)) for n in SIZES]
    labels = [np.arange(n) % 2 for n in SIZES]
    groups = [np.stack([np.arange(n) % 3 == 0, np.arange(n) % 3 != 0], 1) for n in SIZES]
    model = SoftmaxRegression().model((2,), 1)
    data = ClientData(inputs, labels)
    return FairLosses(model=model, data=data, loss="logistic", groups=groups, **given)


def by_hand(problem, x):
    """Φ at x, person by person."""
    losses = [
        [log(1 + exp(-(2 * y - 1) * (u @ x[:2] + x[2]))) for u, y in zip(*part, strict=True)]
        for part in zip(problem.data.inputs, problem.data.targets, strict=True)
    ]
    everybody = np.mean([np.mean(part) for part in losses])

    def mean_of(who):
        """The clients' mean sums over their mean shares."""
        total = np.mean([np.mean(np.array(part) * w) for part, w in zip(losses, who, strict=True)])
        return total / np.mean([np.mean(w) for w in who])

    positive = [y == 1 for y in problem.data.targets]
    reference = everybody if problem.reference == "everybody" else mean_of(positive)
    over = [
        mean_of([w & g[:, j] for w, g in zip(positive, problem.groups, strict=True)])
        - reference
        - problem.slack
        for j in range(2)
    ]
    inside = (1 + sum(exp(problem.sharpness * c) for c in over)) / 3
    return everybody + problem.penalty * log(inside)


@pytest.mark.parametrize("reference", ["everybody", "positives"])
@pytest.mark.parametrize(("penalty", "sharpness"), [(1.0, 1.0), (0.05, 20.0)])
def test_the_objective_is_the_formula_and_the_gradient_its_slope(reference, penalty, sharpness):
    problem = small(reference=reference, penalty=penalty, sharpness=sharpness)
    x = np.array([0.7, -0.4, 0.2])
    at = torch.from_numpy(x)[:, None]
    assert float(problem.objective(at)) == pytest.approx(by_hand(problem, x), rel=1e-12)
    step = 1e-6
    slopes = [
        (by_hand(problem, x + step * e) - by_hand(problem, x - step * e)) / (2 * step)
        for e in np.eye(3)
    ]
    np.testing.assert_allclose(problem.gradient(at)[:, 0], slopes, rtol=1e-6, atol=1e-9)


def test_minibatches_of_g_are_unbiased():
    """All pairs of one client's samples, equally likely: their mean is the exact inner value."""
    problem = small()
    oracles = problem.oracles(torch.float64)
    x = torch.tensor([0.7, -0.4, 0.2], dtype=torch.float64).expand(2, 3)[..., None]
    pairs = np.stack(np.meshgrid(*[np.arange(SIZES[0])] * 2), -1).reshape(-1, 2)
    draw = torch.from_numpy(pairs.T.copy()).expand(2, 2, -1)
    value, _ = oracles.inner(x.expand(2, 3, len(pairs)), draw)
    torch.testing.assert_close(value[0].mean(1), oracles.inner(x, None)[0][0, :, 0])


def test_a_group_without_positives_is_told():
    problem = small()
    empty = [np.zeros_like(rows) for rows in problem.groups]
    lacking = FairLosses(model=problem.model, data=problem.data, loss="logistic", groups=empty)
    with pytest.raises(DriftproofError, match="shares of positives"):
        lacking.oracles(torch.float64)
    short = FairLosses(
        model=problem.model, data=problem.data, loss="logistic", groups=problem.groups[::-1]
    )
    with pytest.raises(DriftproofError, match="groups of"):
        short.oracles(torch.float64)


def test_scores_are_those_of_a_fitted_model():
    """Two routes: scikit-learn's fit and its predictions; the generated table is unfair."""
    table = people(None).train
    fitted = LogisticRegression(C=1e6, max_iter=1000).fit(table.inputs, table.labels)
    point = torch.from_numpy(np.concatenate([fitted.coef_[0], fitted.intercept_]))
    accuracy, gaps = scored(table, point)
    guessed = fitted.predict(table.inputs)
    assert accuracy == pytest.approx((guessed == table.labels).mean())
    positive = table.labels == 1
    minority = positive & table.member[:, 1]
    assert gaps[1] == pytest.approx(guessed[positive].mean() - guessed[minority].mean())
    assert gaps[1] > 0.05


def test_clients_have_equal_parts_and_the_second_split_sorts():
    apart = {}
    for split in SPLITS:
        held = federation(None, split, 0)
        numbers = np.concatenate(held.parts)
        assert len(held.parts) == CLIENTS
        assert len(np.unique(numbers)) == len(numbers) == len(people(None).train.labels)
        assert max(map(len, held.parts)) - min(map(len, held.parts)) <= 1
        shares = np.array([member[:, 1].mean() for member in held.member])
        apart[split] = shares.max() - shares.min()
    assert apart[SPLITS[0]] < 0.2
    assert apart[SPLITS[1]] == 1.0


def test_in_a_search_a_fifth_of_the_people_validates_and_no_client_has_it():
    run = FairRun(rounds=1, partition=CHOOSING)
    everybody = len(people(None).train.labels)
    numbers = np.concatenate([run.dealt.others, *run.dealt.parts])
    assert len(run.dealt.others) == everybody // 5
    assert sorted(numbers) == list(range(everybody))
    assert len(run.but(partition=0).dealt.others) == 0


def test_methods_on_one_deal_see_the_same_people():
    runs = [FairRun(rounds=1, method=method) for method in adult_fairness.METHODS]
    assert len({run.keys for run in runs}) == 1
    assert runs[0].keys != runs[0].but(partition=1).keys
    assert [type(run.algorithm).__name__ for run in runs] == ["FedDRO", "GCIVR", "FedAvg"]


def ended(accuracy, violation):
    results = [
        {"accuracy": [accuracy * (1 + seed / 1e4)], "violation": [violation * (1 + seed / 1e4)]}
        for seed in range(8)
    ]
    return Outcome(FairRun(rounds=1, points=1), results)


@pytest.mark.parametrize(
    ("ours", "accuracy", "verdict"),
    [
        (0.1, 0.8, "reproduced"),
        (0.2, 0.8, "not reproduced"),
        (0.0, 0.8, "reproduced"),
        (0.0, 0.3, "undecided"),
    ],
)
def test_a_lower_violation_is_no_failure_and_a_trivial_model_none_at_all(ours, accuracy, verdict):
    runs = {
        (method, reading, split): ended(accuracy, ours if method == "FedDRO" else 0.1)
        for method in adult_fairness.METHODS
        for reading, split in adult_fairness.SETTINGS
    }
    (says,) = (says for says in adult_fairness.SAYS if "constraint violation" in says.text)
    assert [s.verdict for s in judge(says, runs)] == [verdict] * 4


def test_gcivr_differentiates_its_samples_twice_and_everybody_in_each_epoch():
    """By a second route: counted step by step."""
    run, everybody = FairRun(rounds=100, method="GCIVR"), len(people(None).train.labels)
    algorithm, total = run.algorithm, 0
    for t in range(90):
        whole = t % algorithm.epoch_steps == 0
        total += everybody if whole else 2 * algorithm.batch * CLIENTS
    assert adult_fairness.drawn(run, 90) == total
    assert adult_fairness.drawn(FairRun(rounds=100), 90) == 90 * 16 * CLIENTS


def test_images_are_refused(tmp_path):
    from driftproof.toolkit.datasets.mnist import MNIST

    MNIST.sample(tmp_path)
    with pytest.raises(DriftproofError, match="10 classes, 0 groups") as told:
        people(tmp_path)
    assert "Adult" in told.value.wanted


def test_every_sentence_of_the_paper_is_judged(tmp_path_factory):
    folder, _ = experiment(tmp_path_factory, "feddro/adult-fairness")
    head = json.loads((folder / "experiment.json").read_text())
    assert len(head["sentences"]) == 3 * 4 + 2 * 2
    assert any("not UCI Adult" in line for line in head["setting"])
    papers = dict.fromkeys(sentence["text"] for sentence in head["sentences"])
    assert head["statement"] == "; ".join(papers)
    assert head["command"] == "driftproof run feddro/adult-fairness"
