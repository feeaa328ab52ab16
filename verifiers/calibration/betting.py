r"""The betting test by itself: claims whose comparisons have replicates of known means.

A simulated claim is a set of comparisons whose replicates have known means in [0, 1], and a right
side m. It is judged by ``judges.bounds.decide``, the function that judges real rows, after
every block of 64 replicates, and its verdict is final as soon as there is one: optional stopping,
as in ``driftproof verify``. At α = 0.05, where errors are common enough to be counted.

The same claims judged by a z-test after every block show what optional stopping does to a test
that is only valid at a fixed sample size.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from driftproof.toolkit.draws import BLOCK
from driftproof.toolkit.report.figures import canvas, finish, save
from driftproof.toolkit.statistics import log_wealth_path
from driftproof.toolkit.verdict import Verdict
from driftproof.verifiers.judges.bounds import LEVEL, decide

TEST_LEVEL = 0.05
"""The level of the tests that are calibrated: verdicts use a smaller one, where too few err."""
CLAIMS = 2_000
LOOKS = 16
COMPARISONS = 4
FALSE = {"just false": 1 + 1e-9, "2 % false": 1.02}
"""Mean over right side of false claims."""
Judge = Callable[[np.ndarray, float], Verdict]
Sampler = Callable[[np.random.Generator, np.ndarray, int], np.ndarray]


def coin(random: np.random.Generator, means: np.ndarray, size: int) -> np.ndarray:
    """0 or 1: the largest variance a mean allows."""
    return (random.random((len(means), size)) < means[:, None]).astype(float)


def beta(random: np.random.Generator, means: np.ndarray, size: int) -> np.ndarray:
    """Beta with a + b = 20: replicates that concentrate, as averages along a run do."""
    return np.stack([random.beta(20 * m, 20 * (1 - m), size) for m in means])


def rare(random: np.random.Generator, means: np.ndarray, size: int) -> np.ndarray:
    """Mostly half the mean, and now and then 1: what makes a z-test's variance too small."""
    chance = (means / 2) / (1 - means / 2)
    high = random.random((len(means), size)) < chance[:, None]
    return np.where(high, 1.0, means[:, None] / 2)


SAMPLERS: dict[str, Sampler] = {"coin": coin, "beta": beta, "rare": rare}
DISTANCES = {"at the boundary": 1.0, "near it": 0.98, "far from it": 0.6}
"""Mean over right side of true claims."""


def betting(x: np.ndarray, right: float) -> Verdict:
    """Judge as driftproof does."""
    return decide(x, right, right, TEST_LEVEL)


def peeking(x: np.ndarray, right: float) -> Verdict:
    """Judge by a one-sided z-test of each comparison, with Bonferroni's correction."""
    from scipy.stats import norm

    spread = np.maximum(x.std(1, ddof=1), 1e-12) / np.sqrt(x.shape[1])
    score = (x.mean(1) - right) / spread
    if np.any(score > norm.ppf(1 - TEST_LEVEL / len(x))):
        return Verdict.REFUTED
    return Verdict.SUPPORTED if np.all(score < norm.ppf(TEST_LEVEL)) else Verdict.INCONCLUSIVE


def outcome(x: np.ndarray, right: float, judge: Judge) -> Verdict:
    """Return the first verdict met while replicates come in, block by block."""
    for size in range(BLOCK, x.shape[1] + 1, BLOCK):
        verdict = judge(x[:, :size], right)
        if verdict is not Verdict.INCONCLUSIVE:
            return verdict
    return Verdict.INCONCLUSIVE


@dataclass(frozen=True)
class Rate:
    """How often claims of one kind got a wrong verdict."""

    sampler: str
    distance: str
    right: float
    claims: int
    wrong: int

    @property
    def share(self) -> float:
        """Wrong verdicts over claims."""
        return self.wrong / self.claims


def wrong_refutations(judge: Judge, claims: int = CLAIMS, seed: int = 0) -> Iterator[Rate]:
    """Judge true claims of each kind; every refutation is an error."""
    for number, (name, sample) in enumerate(SAMPLERS.items()):
        for far, (distance, factor) in enumerate(DISTANCES.items()):
            for at, right in enumerate((0.05, 0.5)):
                random = np.random.default_rng([seed, number, far, at])
                means = np.full(COMPARISONS, factor * right)
                wrong = 0
                for _ in range(claims):
                    x = sample(random, means, BLOCK * LOOKS)
                    wrong += outcome(x, right, judge) is Verdict.REFUTED
                yield Rate(name, distance, right, claims, wrong)


def wrong_supports(judge: Judge, claims: int = CLAIMS, seed: int = 1) -> Iterator[Rate]:
    """Judge false claims: one comparison's mean is above the right side by 1e-9 of it, or 2 %."""
    for number, (name, sample) in enumerate(SAMPLERS.items()):
        for far, (distance, factor) in enumerate(FALSE.items()):
            random = np.random.default_rng([seed, number, far])
            means = np.array([factor * 0.5] + [0.3] * (COMPARISONS - 1))
            wrong = 0
            for _ in range(claims):
                x = sample(random, means, BLOCK * LOOKS)
                wrong += outcome(x, 0.5, judge) is Verdict.SUPPORTED
            yield Rate(name, distance, 0.5, claims, wrong)


MARGINS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
SIZES = (64, 256, 1024, 4096, 16384)


def power(sample: Sampler, alpha: float, claims: int = 200, seed: int = 2) -> np.ndarray:
    """Return the share of false claims refuted at each size, [margins, sizes]; right side 0.3."""
    counts = np.zeros((len(MARGINS), len(SIZES)))
    for row, margin in enumerate(MARGINS):
        random = np.random.default_rng([seed, row])
        means = np.full(claims, 0.3 * (1 + margin))
        for x in sample(random, means, SIZES[-1]):
            seen = np.maximum.accumulate(log_wealth_path(x, 0.3)) >= -np.log(alpha)
            counts[row] += seen[np.array(SIZES) - 1]
    return counts / claims


def report(folder: Path) -> None:
    """Print the tables and draw the power curve."""
    write = sys.stdout.write
    for name, judge in (("betting", betting), ("peeking z-test", peeking)):
        for what, rates in (
            ("true claims refuted", wrong_refutations(judge)),
            ("false claims supported", wrong_supports(judge)),
        ):
            for rate in rates:
                write(
                    f"{name:15} {what:23} {rate.sampler:5} m={rate.right:<5g} {rate.distance:16}"
                    f" {rate.wrong:4d} of {rate.claims} = {rate.share:.3f}\n"
                )
    sheet, axes = canvas()
    points: dict[str, Sequence[float]] = {"replicates": SIZES}
    for colour, (sampler, sample) in enumerate({"coin": coin, "beta": beta}.items()):
        shares = power(sample, LEVEL)
        for margin, row in zip(MARGINS, shares, strict=True):
            cells = "".join(f"{share:7.2f}" for share in row)
            write(f"power at {LEVEL:g}, {sampler:5} margin {margin:5.0%}: {cells}\n")
            if margin in (0.02, 0.05, 0.1, 0.5):
                strength = min(1.0, 0.3 + 1.4 * margin)
                label = f"{sampler}, {margin:.0%} above"
                points[label] = row.tolist()
                axes.plot(SIZES, row, "o-", color=f"C{colour}", alpha=strength, label=label, ms=4)
    title = "Power: false claims refuted, by margin and replicates"
    finish(axes, title, "replicates", f"share refuted at level {LEVEL:g}", "x")
    save(sheet, folder / "calibration", points)
