"""Laws of all federated splits, and of each what its heterogeneity should be."""

from __future__ import annotations

import doctest
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftproof.synthetic.image_problems.imbalanced import ImbalancedImages
from driftproof.toolkit.dataset import read
from driftproof.toolkit.discover import leaves
from driftproof.toolkit.errors import DriftproofError
from driftproof.toolkit.heterogeneity import heterogeneity
from driftproof.toolkit.split import FederatedSplit, cut, split
from driftproof.toolkit.splits import (
    IID,
    Dirichlet,
    DominantClass,
    LabelShards,
    OneLarge,
    ReducedClasses,
)
from tests.leaves import members

CLASSES, EXAMPLES = 10, 2400
EVERY = members("split")


def generator(seed):
    return np.random.Generator(np.random.Philox(key=seed))


def balanced(of, examples=EXAMPLES, seed=1):
    """Return numbers 0 … of − 1, equally often, in random order."""
    return generator(seed).permutation(np.arange(examples) % of)


LABELS = balanced(CLASSES)


def assert_lawful(parts, clients, examples, *, whole):
    assert len(parts) == clients
    assert all(len(part) for part in parts)
    dealt = np.concatenate(parts).tolist()
    assert len(set(dealt)) == len(dealt)
    assert set(dealt) <= set(range(examples))
    assert not whole or len(dealt) == examples


@pytest.mark.parametrize("member", EVERY)
@given(clients=st.integers(1, 12), seed=st.integers(0, 2**32))
def test_every_example_is_at_one_client_at_most_and_the_generator_decides(member, clients, seed):
    parts = member.parts(LABELS, clients, generator(seed))
    assert_lawful(parts, clients, EXAMPLES, whole=member.uses_all)
    again = member.parts(LABELS, clients, generator(seed))
    other = member.parts(LABELS, clients, generator(seed + 1))
    assert all(map(np.array_equal, parts, again))
    if len(np.concatenate(parts)) > clients * 2:  # of few draws, two may be the same
        assert not all(map(np.array_equal, parts, other))


@pytest.mark.parametrize("member", EVERY)
@given(
    labels=st.lists(st.integers(0, 4), min_size=1, max_size=40),
    clients=st.integers(1, 12),
    seed=st.integers(0, 99),
)
def test_whatever_the_labels_a_split_is_lawful_or_an_error(member, labels, clients, seed):
    labels = np.array(labels)
    try:
        parts = member.parts(labels, clients, generator(seed))
    except DriftproofError as error:
        told = (error.got, error.wanted, error.remedy)
    else:
        told = ()
        assert_lawful(parts, clients, len(labels), whole=member.uses_all)
    assert all(told)


@pytest.mark.parametrize("member", EVERY)
def test_the_first_examples_of_a_client_are_a_random_sample_of_it(member):
    """The mean rank of the first half of a part is ½, to five standard errors."""
    ranks, halves = [], 0
    for seed in range(40):
        for part in member.parts(LABELS, 4, generator(seed)):
            half = len(part) // 2
            if len(part) > 20:
                ranks.append((np.argsort(np.argsort(part))[:half].mean() + 0.5) / len(part) - 0.5)
                halves += half
    if ranks:  # the members of one example a client have none
        error = np.std(ranks) / np.sqrt(len(ranks))
        assert error < 0.02
        assert abs(np.mean(ranks)) < 5 * error


def test_total_variation_and_effective_classes_by_hand():
    labels = np.array([0, 0, 1, 1, 2])
    measured = heterogeneity(labels, [np.array([0, 1]), np.array([2, 3])], 3)
    assert measured.sizes == (2, 2)
    assert measured.mean_variation == measured.largest_variation == 0.5
    assert measured.effective_classes == 1
    assert measured.effective_classes_of_all == pytest.approx(2)
    alike = heterogeneity(labels, [np.array([0, 2]), np.array([1, 3])], 3)
    assert alike.largest_variation == 0
    assert "0 on average, 0 at most; 2 examples a client; 2 effective" in str(alike)
    with pytest.raises(DriftproofError, match="labels from 0 to 1"):
        heterogeneity(labels, [np.array([0])], 2)
    with pytest.raises(DriftproofError, match="some examples of each client"):
        heterogeneity(labels, [np.array([0]), np.array([], int)], 3)


@given(data=st.data(), clients=st.integers(1, 4))
def test_heterogeneity_by_loops(data, clients):
    labels = np.array(data.draw(st.lists(st.integers(0, 3), min_size=clients, max_size=30)))
    parts = np.array_split(np.arange(len(labels)), clients)
    measured = heterogeneity(labels, parts, 4)
    largest = 0.0
    for part in parts:
        distance = sum(
            abs(sum(labels[i] == c for i in part) / len(part) - sum(labels == c) / len(labels))
            for c in range(4)
        )
        largest = max(largest, distance / 2)
    assert measured.largest_variation == pytest.approx(largest)
    assert 1 - 1e-9 <= measured.effective_classes <= 4 + 1e-9


@pytest.mark.parametrize("share", [0.1, 0.28, 0.6, 1.0, 0.01])
def test_a_dominant_class_makes_the_variation_that_its_share_says(share):
    """ρ m and (1 − ρ)m/9 are whole numbers for m = 900 and ρ = 0.28 (252, 72), 0.6 …"""
    parts = DominantClass(share=share, size=900).parts(
        balanced(CLASSES, 10_000), CLASSES, generator(3)
    )
    measured = heterogeneity(balanced(CLASSES, 10_000), parts, CLASSES)
    assert measured.mean_variation == pytest.approx(abs(share - 0.1), abs=1e-12)
    assert measured.largest_variation == pytest.approx(abs(share - 0.1), abs=1e-12)
    assert set(measured.sizes) == {900}
    assert measured.effective_classes_of_all == pytest.approx(CLASSES)


def test_a_dominant_class_needs_so_many_of_each_class():
    rule = DominantClass(share=0.5, size=400)
    with pytest.raises(DriftproofError) as told:
        rule.parts(LABELS, CLASSES, generator(0))
    assert "240 examples of class 0" in told.value.got
    assert "400 of them" in told.value.wanted  # 200 of its own client, 9 × 22 or 23 of the others
    parts = DominantClass(share=0.5, size=18).parts(LABELS, 12, generator(0))
    own = [np.bincount(LABELS[part], minlength=CLASSES).argmax() for part in parts]
    assert own == [*range(CLASSES), 0, 1]


def test_alike_clients_become_alike_as_they_grow():
    """A multinomial's mean |share − p| is about √(2p(1 − p)/(πm)), for m examples."""
    for rule in (IID(), OneLarge(large=4000, small=4000)):
        for examples in (4_000, 40_000):
            labels = balanced(2, examples)
            size = examples // 10
            chosen = OneLarge(large=size, small=size) if rule.changed() else rule
            mean = np.mean(
                [
                    heterogeneity(
                        labels, chosen.parts(labels, 10, generator(seed)), 2
                    ).mean_variation
                    for seed in range(60)
                ]
            )
            # without replacement: of m among n, the variance is (n − m)/(n − 1) times as large
            assert mean == pytest.approx(np.sqrt(0.9 * 0.5 / np.pi / size), rel=0.1)


def test_dirichlet_shares_of_a_client_have_their_moments():
    """Hsu et al.: E = p, Var = p(1 − p)/(α + 1), and of a sample of m: + p(1 − p) α/(α + 1)/m."""
    labels = np.sort(LABELS)[: EXAMPLES // 4].repeat(8)  # classes 0 and 1 of 2, 3: 240, 240, 120
    prior = np.bincount(labels) / len(labels)
    clients, concentration = 60, 1.5
    rule, size = Dirichlet(concentration=concentration), len(labels) // 60
    assert size < np.bincount(labels).min()  # no class is used up at the first client
    shares = np.array(
        [
            np.bincount(
                labels[rule.parts(labels, clients, generator(seed))[0]], minlength=len(prior)
            )
            / size
            for seed in range(1500)
        ]
    )
    for c, p in enumerate(prior):
        spread = p * (1 - p) / (concentration + 1)
        assert_moments(shares[:, c], p, spread * (1 + concentration / size))


def assert_moments(values, mean, variance):
    errors = [(values - mean), (values - mean) ** 2 - variance]
    for error in errors:
        assert abs(error.mean()) < 5 * error.std() / np.sqrt(len(values))
    assert errors[1].std() / np.sqrt(len(values)) < variance / 4  # so it could fail


def test_dirichlet_concentrations_go_from_one_class_to_alike():
    variations = [
        heterogeneity(
            LABELS, Dirichlet(concentration=a).parts(LABELS, 10, generator(4)), CLASSES
        ).mean_variation
        for a in (1e-6, 0.01, 1.0, 100.0, 1e6)
    ]
    assert variations == sorted(variations, reverse=True)
    assert variations[0] > 0.8  # 0.9 is the most, one class a client
    assert variations[-1] < 0.1


def test_reduced_classes_keep_the_last_of_the_first_half():
    labels = balanced(CLASSES, 50_000)  # as many as CIFAR-10
    parts = ReducedClasses().parts(labels, 8, generator(0))
    dealt = np.sort(np.concatenate(parts))
    assert np.bincount(labels[dealt]).tolist() == [100] * 5 + [5000] * 5
    for c in range(CLASSES):
        numbers = np.flatnonzero(labels == c)
        assert dealt[labels[dealt] == c].tolist() == numbers[-100 if c < 5 else 0 :].tolist()
    assert {len(part) for part in parts} == {3187, 3188}
    shares = np.repeat([100 / 25_500, 5000 / 25_500], 5)
    measured = heterogeneity(labels, parts, CLASSES)
    assert measured.effective_classes_of_all == pytest.approx(np.exp(-shares @ np.log(shares)))


def test_label_shards_give_few_classes():
    """MNIST's numbers in small: 200 shards of 12, of one class each; each of 100 clients has 2."""
    labels = balanced(CLASSES, 2400)
    parts = LabelShards().parts(labels, 100, generator(0))
    assert {len(part) for part in parts} == {24}
    assert max(len(set(labels[part])) for part in parts) == 2
    # both shards are of one class with probability 19/199, so 1 + 180/199 classes on average
    means = [
        np.mean([len(set(labels[p])) for p in LabelShards().parts(labels, 100, generator(s))])
        for s in range(100)
    ]
    error = np.std(means) / 10
    assert abs(np.mean(means) - 1 - 180 / 199) < 5 * error < 0.05


FEW = np.array([0, 1, 1, 2])


@pytest.mark.parametrize(
    ("rule", "labels", "clients", "got", "remedy"),
    [
        (IID(), FEW, 5, "client 4 without an example", "fewer clients"),
        (IID(), FEW, 0, "0 clients", "clients=10"),
        (IID(), FEW * 1.0, 2, "labels of type float64", "integers"),
        (IID(), FEW[:0], 1, "no labels", "number the classes"),
        (IID(), FEW - 1, 1, "labels from -1", "number the classes"),
        (OneLarge(large=4, small=1), FEW, 2, "4 examples", "fewer examples"),
        (DominantClass(share=1, size=2), FEW, 1, "1 examples of class 0", "fewer examples"),
        (LabelShards(shards=1), FEW, 6, "without an example", "fewer clients"),
        (ReducedClasses(), FEW, 5, "without an example", "fewer clients"),
    ],
)
def test_what_cannot_be_split_is_told(rule, labels, clients, got, remedy):
    with pytest.raises(DriftproofError) as told:
        rule.parts(labels, clients, generator(0))
    assert got in told.value.got
    assert remedy in told.value.remedy


@dataclass(frozen=True, kw_only=True)
class Given(FederatedSplit):
    """A rule that deals what it was given."""

    dealt: tuple = ()

    def deal(self, labels, clients, random):
        return [np.array(part) for part in self.dealt]


@pytest.mark.parametrize(
    ("dealt", "said"),
    [
        (((0, 1), (1,)), "example 1 dealt 2 times"),
        (((0, 1), (4,)), "example numbers from 0 to 4"),
        (((0, -1), (2,)), "example numbers from -1 to 2"),
        (((0.5,), (2,)), "numbers of type float64"),
        (((0,),), "parts of 1 clients"),
        (((0,), ()), "client 1 without an example"),
    ],
)
def test_a_rule_of_ones_own_that_is_wrong_is_told(dealt, said):
    with pytest.raises(DriftproofError, match=said):
        Given(dealt=dealt).parts(FEW, 2, generator(0))
    assert len(Given(dealt=((0, 1), (3,))).parts(FEW, 2, generator(0))) == 2


def test_a_class_that_is_no_split_is_refused():
    with pytest.raises(DriftproofError, match="does not derive from FederatedSplit"):
        split(name="mine", source="", statement="")(dict)
    with pytest.raises(DriftproofError, match="has no deal"):
        split(name="mine", source="", statement="")(type("Mine", (FederatedSplit,), {}))


def test_one_large_client_is_what_the_imbalanced_images_have():
    problem = ImbalancedImages(clients=4, large=100, small=7, validation=30, partition=5)
    train, _, judging = read(None).apart
    random, ends = generator(5), np.cumsum([100, 7, 7])
    order = random.permutation(len(train.labels))[:121]
    wanted = np.split(order, ends)
    own = OneLarge(large=100, small=7).parts(train.labels, 4, generator(5))
    assert all(map(np.array_equal, wanted, own))
    for rows, labels, part in zip(*problem.parts[:2], wanted, strict=True):
        np.testing.assert_array_equal(rows[:, :-1], train.scaled(part))
        np.testing.assert_array_equal(labels, train.labels[part])
    held = random.permutation(len(judging.labels))[:120].reshape(4, 30)
    for labels, part in zip(problem.parts[3], held, strict=True):
        np.testing.assert_array_equal(labels, judging.labels[part])


def test_cut_leaves_what_is_not_asked_for():
    assert [part.tolist() for part in cut(np.arange(5), [2, 0, 1])] == [[0, 1], [], [2]]
    assert [part.tolist() for part in cut(np.arange(3), [1, 2])] == [[0], [1, 2]]


PAGE = Path(__file__).parents[1] / "docs" / "splits.md"


def test_the_page_names_every_split_and_its_example_runs():
    rows = re.findall(r"^\| `([\w-]+)` \|", PAGE.read_text(encoding="utf-8"), re.M)
    assert sorted(rows) == sorted(leaves("split"))
    ran = doctest.testfile(str(PAGE), module_relative=False)
    assert ran.attempted >= 5
    assert not ran.failed
