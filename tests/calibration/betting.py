r"""The betting test by itself: claims whose comparisons have replicates of known means.

A simulated claim is a set of comparisons whose replicates have known means in [0, 1], and a right
side m. It is judged by ``judges.decide``, the function that judges real rows, after
every block of 64 replicates, and its verdict is final as soon as there is one: optional stopping,
as in ``driftproof verify``. At α = 0.05, where errors are common enough to be counted.

The same claims judged by a z-test after every block show what optional stopping does to a test
that is only valid at a fixed sample size.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from driftproof.toolkit.draws import BLOCK
from driftproof.toolkit.report.canvas import canvas, finish, save
from driftproof.toolkit.statistics import Tail, log_wealth_path
from driftproof.toolkit.tolerances import LEVEL
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers.judges.bounds import Replicates
from driftproof.verifiers.judges.decide import Comparisons, Interval, decide

TEST_LEVEL = 0.05
"""The level of the tests that are calibrated: verdicts use a smaller one, where too few err."""
CLAIMS, LOOKS, COMPARISONS = 2_000, 16, 4


def coin(random, means, size):
    """0 or 1: the largest variance a mean allows."""
    return (random.random((len(means), size)) < means[:, None]).astype(float)


def beta(random, means, size):
    """Beta with a + b = 20: replicates that concentrate, as averages along a run do."""
    return np.stack([random.beta(20 * m, 20 * (1 - m), size) for m in means])


def rare(random, means, size):
    """Mostly half the mean, and now and then 1: what makes a z-test's variance too small."""
    chance = (means / 2) / (1 - means / 2)
    high = random.random((len(means), size)) < chance[:, None]
    return np.where(high, 1.0, means[:, None] / 2)


SAMPLERS = {"coin": coin, "beta": beta, "rare": rare}
TRUE = {"at the boundary": 1.0, "near it": 0.98, "far from it": 0.6}
FALSE = {"just false": 1 + 1e-9, "2 % false": 1.02}
"""Mean over right side."""


def betting(x, right):
    """Judge as driftproof does."""
    made = Comparisons(Replicates(x, tails=[Tail(1.0)] * len(x)), Interval(right, right))
    return decide(made, level=TEST_LEVEL).verdict


def peeking(x, right):
    """Judge by a one-sided z-test of each comparison, with Bonferroni's correction."""
    spread = np.maximum(x.std(1, ddof=1), 1e-12) / np.sqrt(x.shape[1])
    score = (x.mean(1) - right) / spread
    if np.any(score > norm.ppf(1 - TEST_LEVEL / len(x))):
        return Verdict.REFUTED
    return Verdict.SUPPORTED if np.all(score < norm.ppf(TEST_LEVEL)) else Verdict.INCONCLUSIVE


class Rate(NamedTuple):
    """How often claims of one kind got a wrong verdict."""

    sampler: str
    distance: str
    right: float
    claims: int
    wrong: int

    @property
    def share(self):
        return self.wrong / self.claims


def wrong_refutations(judge, claims=CLAIMS):
    """Judge true claims of each kind; every refutation is an error."""
    for number, sampler in enumerate(SAMPLERS):
        for far, (distance, factor) in enumerate(TRUE.items()):
            for at, right in enumerate((0.05, 0.5)):
                means = np.full(COMPARISONS, factor * right)
                yield _rate(judge, sampler, distance, right, means, claims, [0, number, far, at])


def wrong_supports(judge, claims=CLAIMS):
    """Judge false claims, of which one comparison's mean is above the right side."""
    for number, sampler in enumerate(SAMPLERS):
        for far, (distance, factor) in enumerate(FALSE.items()):
            means = np.array([factor * 0.5] + [0.3] * (COMPARISONS - 1))
            yield _rate(judge, sampler, distance, 0.5, means, claims, [1, number, far])


def _rate(judge, sampler, distance, right, means, claims, seed):
    random, error = np.random.default_rng(seed), (Verdict.REFUTED, Verdict.SUPPORTED)[seed[0]]
    sizes = range(BLOCK, BLOCK * LOOKS + 1, BLOCK)

    def first(x):
        """Return the first verdict while replicates come in, block by block."""
        verdicts = (judge(x[:, :size], right) for size in sizes)
        return next((v for v in verdicts if v is not Verdict.INCONCLUSIVE), None)

    samples = (SAMPLERS[sampler](random, means, BLOCK * LOOKS) for _ in range(claims))
    return Rate(sampler, distance, right, claims, sum(first(x) is error for x in samples))


MARGINS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
SIZES = (64, 256, 1024, 4096, 16384)


def power(sample, claims=200):
    """Return the share of false claims refuted at each size, [margins, sizes]; right side 0.3."""
    counts = np.zeros((len(MARGINS), len(SIZES)))
    for row, margin in enumerate(MARGINS):
        random = np.random.default_rng([2, row])
        for x in sample(random, np.full(claims, 0.3 * (1 + margin)), SIZES[-1]):
            seen = np.maximum.accumulate(log_wealth_path(x, 0.3)) >= -np.log(LEVEL)
            counts[row] += seen[np.array(SIZES) - 1]
    return counts / claims


def report(folder):
    """Print the tables and draw the power curve."""
    for name, judge in (("betting", betting), ("peeking z-test", peeking)):
        for what, rates in (
            ("true claims refuted", wrong_refutations(judge)),
            ("false claims supported", wrong_supports(judge)),
        ):
            for r in rates:
                print(
                    f"{name}, {what}, {r.sampler}, m = {r.right}, {r.distance}: "
                    f"{r.wrong} of {r.claims} = {r.share:.3f}",
                    flush=True,
                )
    sheet, axes = canvas()
    points = {"replicates": SIZES}
    for colour, sampler in enumerate(("coin", "beta")):
        for margin, row in zip(MARGINS, power(SAMPLERS[sampler]), strict=True):
            print(f"power at {LEVEL:g}, {sampler}, margin {margin:.0%}: {row.round(2).tolist()}")
            if margin in (0.02, 0.05, 0.1, 0.5):
                strength, label = min(1.0, 0.3 + 1.4 * margin), f"{sampler}, {margin:.0%} above"
                points[label] = row.tolist()
                axes.plot(SIZES, row, "o-", color=f"C{colour}", alpha=strength, label=label, ms=4)
    title = "Power: false claims refuted, by margin and replicates"
    finish(axes, title, "replicates", f"share refuted at level {LEVEL:g}", "x")
    save(sheet, folder / "calibration", points)
